"""Which policy is best for some sessions: most net savings of those that hold the constraints (M18).

A policy holds a constraint if the lower one-sided 95 % bound of the mean over sessions is as high as was asked for.
The bound is that of t with the clustered standard error over stories, C - 1 degrees of freedom, and it is taken from
two stories on: as an interval it would be worth little there, but as a threshold it asks for more the less is known.
Of those that hold, the one with the highest mean savings is the best, and the simplest within one standard error of it
is chosen: the standard error of the paired differences, since all policies are tried on the same sessions.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import NamedTuple

from compactlab.errors import SpecError
from compactlab.stats import CONFIDENCE, t_quantile
from compactlab.tuning.candidates import complexity
from compactlab.tuning.tried import Tried

Values = Sequence[tuple[str, float]]
"""(story, value) pairs, one a session."""


@dataclass(frozen=True)
class Goal:
    """What a policy must keep, as shares: `quality` of the needed facts, `constraints` of the standing rules."""

    quality: float = 0.8
    constraints: float = 0.9

    def __post_init__(self) -> None:
        """Refuse what is no share."""
        for name in ("quality", "constraints"):
            if not 0 <= getattr(self, name) <= 1:
                raise SpecError(f"{name} {getattr(self, name)!r}: expected a share between 0 and 1, such as 0.8")


class Bounds(NamedTuple):
    """Of one policy on some sessions: mean savings of those that finished, lower bounds, and what must not be.

    `saved` is None where no session finished; a bound is None under two stories.
    """

    policy: str
    saved: float | None
    kept: float | None
    rules: float | None
    overflows: int
    faults: int

    def misses(self, goal: Goal) -> tuple[float, ...]:
        """By how much each constraint is missed; 0 or less where it holds."""
        bounds = ((goal.quality, self.kept), (goal.constraints, self.rules))
        shares = (wanted - bound if bound is not None else 1.0 for wanted, bound in bounds)
        return (*shares, float(self.overflows), float(self.faults))

    def holds(self, goal: Goal) -> bool:
        """True if it keeps all constraints and every session finished."""
        return all(miss <= _ROUNDING for miss in self.misses(goal))


_ROUNDING = 1e-9


class Choice(NamedTuple):
    """What was chosen on some sessions: the policy, the best one, how many hold, and the nearest where none does."""

    policy: str | None
    best: str | None
    holding: int
    nearest: Bounds


def mean(values: Values) -> float:
    """The mean over sessions."""
    return sum(value for _, value in values) / len(values)


def error(values: Values) -> float | None:
    """The clustered standard error of the mean over sessions (see `stats.means`), from two stories on.

    >>> round(error([("a", 0.2), ("a", 0.4), ("b", 0.9)]), 3), error([("a", 0.2)])
    (0.267, None)
    """
    centre, residuals = mean(values), defaultdict[str, float](float)
    for story, value in values:
        residuals[story] += value - centre
    stories = len(residuals)
    if stories < 2:
        return None
    return sqrt(sum(r * r for r in residuals.values()) * stories / (stories - 1)) / len(values)


def lower_bound(values: Values) -> float | None:
    """The lower one-sided 95 % bound of the mean over sessions; None under two stories.

    >>> round(lower_bound([("a", 0.9), ("b", 0.8), ("c", 0.85)]), 3), lower_bound([("a", 1.0), ("b", 1.0)])
    (0.766, 1.0)
    """
    spread = error(values)
    if spread is None:
        return None
    return mean(values) - t_quantile(len({story for story, _ in values}) - 1, CONFIDENCE) * spread


def bounds(rows: Sequence[Tried]) -> Bounds:
    """Sum up the rows of one policy, one a session."""
    finished = [(row.story, row.saved) for row in rows if row.saved is not None]
    return Bounds(
        rows[0].policy,
        mean(finished) if finished else None,
        lower_bound([(row.story, row.retention) for row in rows]),
        lower_bound([(row.story, row.obedience) for row in rows]),
        sum(not row.finished for row in rows),
        sum(row.faults for row in rows),
    )


def by_policy(rows: Iterable[Tried]) -> dict[str, list[Tried]]:
    """Rows by policy, each policy's in the order of its sessions' names."""
    found: dict[str, list[Tried]] = defaultdict(list)
    for row in sorted(rows, key=lambda row: row.session):
        found[row.policy].append(row)
    return dict(found)


def choose(rows: Iterable[Tried], goal: Goal) -> Choice:
    """Choose a policy by what all of them came to on the same sessions; None where none holds the constraints."""
    found = by_policy(rows)
    summed = {spec: bounds(of) for spec, of in found.items()}
    nearest = min(summed.values(), key=lambda one: (sum(max(0.0, m) for m in one.misses(goal)), complexity(one.policy)))
    holding = {spec: one.saved for spec, one in summed.items() if one.holds(goal) and one.saved is not None}
    if not holding:
        return Choice(None, None, 0, nearest)
    best = max(sorted(holding, key=complexity), key=lambda spec: round(holding[spec], 9))
    within = [spec for spec in holding if _is_within_one_error(found[best], found[spec])]
    return Choice(min(within, key=complexity), best, len(holding), nearest)


def _is_within_one_error(best: Sequence[Tried], other: Sequence[Tried]) -> bool:
    """Whether the second saves as much as the first but for one standard error of the paired differences."""
    pairs = zip(best, other, strict=True)
    lost = [(a.story, a.saved - b.saved) for a, b in pairs if a.saved is not None and b.saved is not None]
    return mean(lost) <= (error(lost) or 0.0) + _ROUNDING


QUALITIES = (0.5, 0.6, 0.7, 0.8, 0.9)


def levels(rows: Sequence[Tried], goal: Goal) -> tuple[tuple[Goal, Bounds | None], ...]:
    """What would be chosen at other qualities, the rules as the goal has them or not asked for; None: nothing holds."""
    found = by_policy(rows)
    wanted = [Goal(q, c) for c in dict.fromkeys((goal.constraints, 0.0)) for q in sorted({*QUALITIES, goal.quality})]
    chosen = [(one, choose(rows, one).policy) for one in wanted]
    return tuple((one, bounds(found[spec]) if spec else None) for one, spec in chosen)
