"""Strategies that are worse by a known number of points than the one of the study: computed, then measured.

A unit stays with a known probability, apart from all others. So a fact that m units hold stands with the probability
1 - (1 - p_1)...(1 - p_m), and what a strategy keeps in truth can be computed; a share that loses so many points is
found by bisection. What its draws keep is measured all the same: a test holds the two against each other.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod
from typing import NamedTuple

from compactlab.errors import SpecError
from compactlab.gate.alarms.drawn import Drawn
from compactlab.gate.alarms.outcomes import Holders, Values
from compactlab.transcript import Messages

UNCHANGED = Drawn()
_HALVINGS = 20
_DIGITS = 4
"""Of the share that is found."""


class Loss(NamedTuple):
    """A strategy that keeps less by so many points: of all units alike, or of one kind alone."""

    points: float
    strategy: Drawn

    @property
    def name(self) -> str:
        """What it is called in the tables.

        >>> Loss(10, Drawn(kind="words", share=0.5)).name, Loss(5, Drawn(0.6)).name, Loss(0, Drawn()).name
        ('10 points in words', '5 points', 'unchanged')
        """
        if not self.points:
            return "unchanged"
        return f"{self.points:g} points" + (f" in {self.strategy.kind}" if self.strategy.kind else "")


class Truth(NamedTuple):
    """What a strategy keeps of the sessions, as computed and as the mean of all its draws; shares, as all that follows.

    `less` is by how much its draws keep less than the unchanged strategy's. `between` is the standard deviation of that
    from session to session, `within` that of one session's value from draw to draw.
    """

    loss: Loss
    computed: float
    measured: float
    less: float
    between: float
    within: float


def computed(held: Sequence[Holders], strategy: Drawn) -> float:
    """Compute what a strategy keeps in truth: the mean over sessions of the mean over cuts of the share of facts."""
    return _mean([_mean([_mean([_stands(units, strategy) for units in facts]) for facts in cuts]) for cuts in held])


def _stands(units: Sequence[Messages], strategy: Drawn) -> float:
    return 1 - prod(1 - strategy.chance(unit) for unit in units)


def sought(held: Sequence[Holders], points: float, kind: str = "") -> Loss:
    """Find the strategy that keeps less by so many points; `SpecError` where none does."""
    if not points:
        return Loss(0, UNCHANGED)
    aim = computed(held, UNCHANGED) - points / 100
    low, high = 0.0, UNCHANGED.keep
    if computed(held, _with(kind, low)) > aim:
        raise SpecError(f"no share loses {points:g} points of {kind or 'all units'}; expected fewer")
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if computed(held, _with(kind, middle)) < aim else (low, middle)
    return Loss(points, _with(kind, round(high, _DIGITS)))


def _with(kind: str, share: float) -> Drawn:
    return Drawn(kind=kind, share=share) if kind else Drawn(share)


def truth(loss: Loss, held: Sequence[Holders], kept: Values, unchanged: Values) -> Truth:
    """Tell what a strategy keeps, from all its draws and all those of the unchanged one."""
    less = list(_less(unchanged, kept))
    measured = _mean([_mean(values) for values in kept.values()])
    within = _mean([_variance(values) for values in kept.values()]) ** 0.5
    return Truth(loss, computed(held, loss.strategy), measured, _mean(less), _variance(less) ** 0.5, within)


def difference(base: Values, new: Values) -> float:
    """By how much *new* keeps less than *base* in truth: the mean over sessions of the means of all draws.

    >>> difference({"garden": [0.5, 1.0], "novel": [0.25]}, {"garden": [0.5], "novel": [0.25, 0.25]})
    0.125
    """
    return _mean(list(_less(base, new)))


def _less(base: Values, new: Values) -> Iterator[float]:
    return (_mean(base[name]) - _mean(values) for name, values in new.items())


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _variance(values: Sequence[float]) -> float:
    middle = _mean(values)
    return sum((value - middle) ** 2 for value in values) / max(1, len(values) - 1)
