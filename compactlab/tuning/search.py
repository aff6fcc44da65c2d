"""Which policies are tried: all of a space that is small enough, or those that a search comes to.

The search is NSGA-II (Deb et al. 2002, "A fast and elitist multiobjective genetic algorithm") as optuna has it: it
looks for most net savings and most retention at once, under the constraints of the goal, and sees only the sessions
that it is given. The same seed makes it propose the same policies.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from compactlab.errors import SpecError
from compactlab.tuning.candidates import NONE, Choice, Space, complexity
from compactlab.tuning.choosing import Goal, bounds, by_policy, mean
from compactlab.tuning.tried import Tried

if TYPE_CHECKING:
    import optuna

GENERATION = 24
"""Policies of one generation."""
Try = Callable[[Sequence[str]], list[Tried]]
"""Tries policies on the sessions that a search may see."""


def searched(space: Space, trials: int, goal: Goal, attempt: Try, seed: int = 0) -> tuple[str, ...]:
    """Give the policies that *trials* of a search came to, each once, the simpler ones first; `none` is among them.

    Raises `SpecError` where optuna is not installed.
    """
    study = _study(seed)
    for start in space.starts[:trials]:
        study.enqueue_trial(dict(start))
    seen: dict[str, None] = {NONE: None}
    for done in range(0, trials, GENERATION):
        asked = [study.ask() for _ in range(min(GENERATION, trials - done))]
        specs = [space.at(_point(trial, space)) for trial in asked]
        rows = by_policy(attempt(tuple(dict.fromkeys(specs))))
        for trial, spec in zip(asked, specs, strict=True):
            _tell(study, trial, rows[spec], goal)
        seen |= dict.fromkeys(specs)
    attempt((NONE,))
    return tuple(sorted(seen, key=complexity))


def _study(seed: int) -> optuna.Study:
    try:
        import optuna
    except ImportError:
        expected = "pip install 'compactlab[tune]', or enough --trials for a grid"
        raise SpecError(f"a search of more candidates than trials needs optuna; expected {expected}") from None
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    sampler = optuna.samplers.NSGAIISampler(population_size=GENERATION, seed=seed)
    return optuna.create_study(directions=["maximize", "maximize"], sampler=sampler)


def _point(trial: optuna.Trial, space: Space) -> Choice:
    return {name: trial.suggest_int(name, 0, size - 1) for name, size in space.dimensions.items()}


def _tell(study: optuna.Study, trial: optuna.Trial, rows: Sequence[Tried], goal: Goal) -> None:
    """Tell what a policy came to: mean savings and retention, and by how much it misses each constraint."""
    found = bounds(rows)
    for name, miss in zip(("quality", "constraints", "overflow", "faults"), found.misses(goal), strict=True):
        trial.set_constraint(name, miss)
    study.tell(trial, [-1.0 if found.saved is None else found.saved, mean([(r.story, r.retention) for r in rows])])
