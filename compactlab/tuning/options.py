"""How to tune: what `compactlab.tuning.tune` takes, checked before anything is tried; and the window it tunes for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from compactlab.errors import SpecError
from compactlab.llm.build import Spec
from compactlab.llm.extractive import Extractive
from compactlab.settings import Project
from compactlab.tokens import DEFAULT_COUNTER, counter
from compactlab.tuning.candidates import Space, listed
from compactlab.tuning.choosing import Goal

TRIALS = 1_200
TRIALS_ASKED = 60
"""Candidates where a real model is asked: each of them is many calls."""
LEAST_WINDOW = 1_000
OUTGROW = 0.75
"""The share of the sessions of a type that outgrow its default window."""
LEAST_SESSIONS = 4
LEAST_STORIES = 3


@dataclass(frozen=True)
class Options:
    """How to tune.

    `agent_type` names the one type to tune for; without it all types are, each for itself. `window` is in tokens;
    without it each type has that of the settings, or one of its own (`default_window`). `trials` is how many candidates
    a search may try: all, where there are no more; 0 is 1,200, or 60 where a real model is asked. `policies` are
    candidates that stand in for all others; without `writes` none takes part that asks a model, or the stand-in for
    one. `jobs` 0 is one process a core.
    """

    agent_type: str = ""
    window: int | None = None
    trials: int = 0
    writes: bool = True
    goal: Goal = field(default_factory=Goal)
    policies: tuple[str, ...] = ()
    project: Project = field(default_factory=Project)
    counter: str = DEFAULT_COUNTER
    seed: int = 0
    jobs: int = 0
    limit: int | None = None

    def __post_init__(self) -> None:
        """Refuse numbers out of range, and a model that cannot answer at once."""
        if self.trials < 0:
            raise SpecError(f"trials {self.trials}: expected a number of candidates, or 0 for the usual one")
        if self.window is not None and self.window <= 0:
            raise SpecError(f"window {self.window}: expected a number of tokens above 0")
        if self.jobs < 0:
            raise SpecError(f"jobs {self.jobs}: expected a number of processes, or 0 for one a core")
        if Spec(self.project.spec).kind == "batch":
            raise SpecError("a search asks as it goes and cannot wait for a batch; expected another kind of model")
        counter(self.counter)
        listed(self.policies)

    @property
    def space(self) -> Space:
        """All that could be tried."""
        return Space(self.writes)

    @property
    def most(self) -> int:
        """How many candidates a search may try."""
        is_asked = self.writes and self.project.spec != Extractive.name
        return self.trials or (TRIALS_ASKED if is_asked else TRIALS)


def default_window(weights: Sequence[int]) -> int:
    """A window that three quarters of the sessions outgrow: the largest of 1,000, 2,000, 4,000 ... tokens.

    *weights* are what each whole session weighs with the schemas that its requests carry. In a much larger window
    nothing fires and all policies are alike; a much smaller one is no agent's.

    >>> default_window([77_902, 117_925, 118_206, 126_193, 161_726]), default_window([9_000, 500, 700, 900])
    (64000, 1000)
    """
    window = LEAST_WINDOW
    while weights and sum(weight > 2 * window for weight in weights) >= OUTGROW * len(weights):
        window *= 2
    return window
