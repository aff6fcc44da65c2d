"""What tuning is worth on sessions that it did not see: one story is left out at a time.

For each story a policy is chosen by the other ones alone, and tried on the sessions of that story. With many stories
several are left out at once, so that there are at most ten rounds. Regret is what the best policy of each session
itself would have saved more: the best of those tried that keep, on that session, what the goal asks for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from compactlab.stats import Estimate, clustered
from compactlab.tuning.candidates import complexity
from compactlab.tuning.choosing import Bounds, Goal, bounds
from compactlab.tuning.tried import Tried

MOST_FOLDS = 10


def folds_of(stories: Iterable[str]) -> list[tuple[str, ...]]:
    """The stories that are left out together, each story once.

    >>> folds_of(["b", "a", "b"]), len(folds_of(map(str, range(25))))
    ([('a',), ('b',)], 10)
    """
    ordered = sorted(set(stories))
    return [tuple(ordered[start::MOST_FOLDS]) for start in range(min(MOST_FOLDS, len(ordered)))]


@dataclass(frozen=True)
class Row:
    """One line of a table: what it is called, and what one policy, or several, came to on some sessions."""

    label: str
    tried: tuple[Tried, ...]

    @property
    def policy(self) -> str:
        """The policy, with what wrote its text; how many there are where it is not one."""
        names = {row.policy: row.model for row in self.tried}
        if len(names) > 1:
            return f"{len(names)} policies"
        model = next((row.model for row in self.tried if row.model), "")
        return "".join(names) + (f" ({model})" if model else "")

    @cached_property
    def saved(self) -> Estimate | None:
        """Mean net savings of the sessions that finished, as a share of what they would have sent unbounded."""
        return clustered([(row.story, row.saved) for row in self.tried if row.saved is not None])

    @cached_property
    def kept(self) -> Estimate | None:
        """Mean share of the needed facts that was kept."""
        return clustered([(row.story, row.retention) for row in self.tried])

    @cached_property
    def rules(self) -> Estimate | None:
        """Mean share of the standing rules that was kept."""
        return clustered([(row.story, row.obedience) for row in self.tried])

    @cached_property
    def bounds(self) -> Bounds:
        """What constraints look at."""
        return bounds(self.tried)

    @property
    def counts(self) -> dict[str, int]:
        """Sessions, those in which the policy fired, those that overflowed; uses and rules behind a fire; faults."""
        return {
            "sessions": len(self.tried),
            "fired": sum(row.fires > 0 for row in self.tried),
            "overflows": sum(not row.finished for row in self.tried),
            "uses": sum(row.uses for row in self.tried),
            "rules": sum(row.rules for row in self.tried),
            "faults": sum(row.faults for row in self.tried),
        }


class Fold(NamedTuple):
    """One round: the stories left out and their sessions, the policy that the others chose, what it came to there.

    `policy` is None where none held the constraints. `best` are the best policies of these sessions themselves, for
    those that have one.
    """

    stories: tuple[str, ...]
    sessions: tuple[str, ...]
    policy: str | None
    tried: tuple[Tried, ...]
    best: tuple[Tried, ...]


def best_of(rows: Iterable[Tried], goal: Goal) -> Tried | None:
    """The best of all that was tried on one session: most savings of those that keep what the goal asks for there."""
    sound = [
        row
        for row in rows
        if row.saved is not None
        and not row.faults
        and row.retention >= goal.quality
        and row.obedience >= goal.constraints
    ]
    return max(sorted(sound, key=lambda row: complexity(row.policy)), key=lambda row: row.saved or 0.0, default=None)


def regret(folds: Sequence[Fold]) -> Estimate | None:
    """Mean over held-out sessions of what their own best policy saves more than the chosen one; None without any.

    Sessions count that have both and finished under both.
    """
    best = {row.session: row.saved for fold in folds for row in fold.best}
    pairs = [(row.story, best.get(row.session), row.saved) for fold in folds for row in fold.tried]
    return clustered([(story, high - got) for story, high, got in pairs if high is not None and got is not None])


class Cell(NamedTuple):
    """A policy tuned on one type of agent and tried on another's sessions, in that one's window.

    On the type's own sessions (`held_out`) those are counted that were left out when it was chosen.
    """

    tuned_on: str
    tried_on: str
    row: Row
    holds: bool
    held_out: bool


class Held(NamedTuple):
    """What was held out of a type: the row of it, and the stories for which no policy was chosen."""

    row: Row
    unchosen: tuple[str, ...]


Measure = Callable[[str, str], list[Tried]]
"""Tries a policy on all sessions of a type of agent."""


def transfer(
    chosen: Mapping[str, str], held: Mapping[str, Held], types: Iterable[str], attempt: Measure, goal: Goal
) -> tuple[Cell, ...]:
    """Try the policy of each type on the sessions of every type; rows are in the order of *chosen*.

    On its own type it holds only if every round chose a policy.
    """
    cells = []
    of = list(types)
    for tuned_on, policy in chosen.items():
        for tried_on in of:
            own = held.get(tuned_on) if tuned_on == tried_on else None
            row = own.row if own else Row(tuned_on, tuple(attempt(policy, tried_on)))
            holds = row.bounds.holds(goal) and not (own and own.unchosen)
            cells.append(Cell(tuned_on, tried_on, row, holds, own is not None))
    return tuple(cells)
