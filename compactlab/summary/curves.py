"""Each strategy's curve over the budgets of a run, the front of all of them, and what areas they span (M6).

A run without budgets has curves of one point, each strategy at its own size. Areas have intervals of the whole
quantity, from resampled stories (`compactlab.stats.bootstrap`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import log

import numpy as np

from compactlab.front import (
    Floats,
    additive_epsilons,
    aurc,
    hypervolume,
    losses,
    non_dominated,
    quality_at,
    tokens_at,
)
from compactlab.stats import Estimate
from compactlab.stats.bootstrap import Pooled, Statistic, whole_of
from compactlab.summary.points import Measured, Point, of_own_size, within_budget
from compactlab.summary.pool import Pool, writers

WANTED = 0.9
"""The quality q of tokens@q."""
AT = (10, 20, 30)
"""The budgets B of Q@B, in per cent."""
BESIDE = ("random", "regex_lines", "oracle")
"""Controls that have a curve of their own."""


@dataclass(frozen=True)
class Curve:
    """The points of a strategy by rising budget, and the quantities of M6 over those that are ranked.

    `contribution` is what the hypervolume of all strategies would lose without this one, without an interval where
    that is nothing; `behind` is the additive epsilon from the front of all to this curve, likewise; `aurc` runs over
    `Curves.common`; `at` is Q@B for the budgets of `AT` that lie between ranked points; `tokens` is tokens@.9, a keep
    ratio read off the means.
    """

    strategy: str
    name: str
    points: tuple[Point, ...]
    hypervolume: Estimate | None
    aurc: Estimate | None
    contribution: Estimate | None
    behind: Estimate | None
    at: dict[int, Estimate]
    tokens: float | None

    @property
    def ranked(self) -> tuple[Point, ...]:
        """The points that enough cells met."""
        return tuple(point for point in self.points if point.ranked)

    def quality_at(self, budget: float) -> float | None:
        """Q@B, read between ranked points; None outside of them."""
        return quality_at(budget, [(float(p.budget), p.quality.mean) for p in self.ranked if p.budget])


@dataclass(frozen=True)
class Curves:
    """All curves of a run in case order; `alone` are strategies that save nothing or meet no budget, at their own size.

    `front` are the non-dominated ranked points, by falling savings, as (place in `curves`, place among its ranked
    points); `hypervolume` is that of all of them; `common` the budgets at which every curve of two ranked points and
    more has one, in per cent; `controls` what each control of `BESIDE` keeps at each budget, the mean over the sizes of
    all strategies with a ranked point, empty without budgets.
    """

    curves: tuple[Curve, ...]
    alone: tuple[tuple[str, Point], ...]
    front: tuple[tuple[int, int], ...]
    hypervolume: Estimate | None
    common: tuple[str, ...]
    controls: dict[str, dict[str, Estimate]]

    @property
    def front_points(self) -> tuple[Point, ...]:
        """The points of the front, by falling savings."""
        return tuple(self.curves[i].ranked[j] for i, j in self.front)

    def control(self, name: str) -> dict[str, tuple[float, float]]:
        """Give a control's (saved, kept) at each budget: means over the sizes of all strategies with a ranked point.

        One entry a strategy in a run without budgets, where sizes have nothing in common.
        """
        at: dict[str, list[tuple[float, float]]] = defaultdict(list)
        for curve in self.curves:
            for point in curve.ranked:
                if name in point.controls:
                    at[point.budget or curve.name].append((point.saved.mean, point.controls[name]))
        columns = {budget: tuple(zip(*found, strict=True)) for budget, found in at.items()}
        return {budget: (sum(x) / len(x), sum(y) / len(y)) for budget, (x, y) in columns.items()}


def curves(pool: Pool) -> Curves:
    """Make the curves of a run. Linear in its records; the intervals take about 10 ms a quantity."""
    stories = sorted(set(pool.cluster.values()))
    measured: dict[str, tuple[Measured, ...]] = {}
    alone: list[tuple[str, Point]] = []
    for strategy in dict.fromkeys(group.strategy for group in pool.strategies):
        groups = sorted((g for g in pool.strategies if g.strategy == strategy), key=lambda g: float(g.budget or 0))
        found = tuple(m for group in groups if (m := within_budget(pool, group, stories)))
        if any(m.point.ranked and m.point.saved.mean > 0 for m in found):
            measured[strategy] = found
        elif lone := of_own_size(pool, groups[-1], stories):
            alone.append((name_of(pool, strategy), lone.point))
    return _Union(pool, measured, stories).curves(tuple(alone))


def name_of(pool: Pool, strategy: str) -> str:
    """Give a strategy's label, and by which model or stand-in its text was written."""
    groups = [group for group in pool.strategies if group.strategy == strategy]
    model = writers(record for group in groups for record in pool.groups[group])
    return f"{strategy} ({model})" if model else strategy


class _Union:
    """The ranked points of all strategies in one row, so that one resample gives all of them."""

    def __init__(self, pool: Pool, measured: dict[str, tuple[Measured, ...]], stories: Sequence[str]) -> None:
        self.pool = pool
        self.measured = measured
        self.stories = stories
        self.ranked = {s: [m for m in found if m.point.ranked] for s, found in measured.items()}
        self.owner = [s for s, found in self.ranked.items() for _ in found]
        self.all = [m for found in self.ranked.values() for m in found]

    def curves(self, alone: tuple[tuple[str, Point], ...]) -> Curves:
        points = [m.point.at for m in self.all]
        inside = {s: self.owner.index(s) for s in self.ranked}
        order = list(self.ranked)
        front = tuple((order.index(self.owner[i]), i - inside[self.owner[i]]) for i in non_dominated(points))
        common = self._common()
        found = tuple(self._curves(common))
        controls = {name: dict(self._kept_by(name)) for name in BESIDE}
        return Curves(found, alone, front, _area(self.all), common, controls)

    def _kept_by(self, control: str) -> Iterator[tuple[str, Estimate]]:
        """What a control keeps at each budget."""
        for budget in sorted({m.point.budget for m in self.all if m.point.budget}, key=float):
            at = [m.controls[control] for m in self.all if m.point.budget == budget and control in m.controls]
            if at and (found := whole_of(_mean_of(at), at)):
                yield budget, found

    def _common(self) -> tuple[str, ...]:
        """The budgets at which every curve of two ranked points and more has one."""
        have = [{m.point.budget for m in found} for found in self.ranked.values() if len(found) > 1]
        shared = set.intersection(*have) if have else set()
        return tuple(sorted(shared, key=float)) if len(shared) > 1 else ()

    def _curves(self, common: Sequence[str]) -> Iterator[Curve]:
        for strategy, found in self.ranked.items():
            own = [m.point.at for m in found]
            yield Curve(
                strategy=strategy,
                name=name_of(self.pool, strategy),
                points=tuple(m.point for m in self.measured[strategy]),
                hypervolume=_area(found),
                aurc=_under(found, common),
                contribution=_if_any(self._contribution(strategy)),
                behind=self._behind(found),
                at={budget: kept for budget in AT if (kept := _quality_at(budget, found))},
                tokens=tokens_at(WANTED, [(1 - saved, quality) for saved, quality in own]),
            )

    def _contribution(self, strategy: str) -> Estimate | None:
        own = np.array([owner == strategy for owner in self.owner])

        def lost(weights: Floats) -> Floats:
            return losses(np.stack([m.at(weights) for m in self.all], axis=1), [own])[:, 0]

        return whole_of(lost, [m.quality for m in self.all])

    def _behind(self, own: Sequence[Measured]) -> Estimate | None:
        """The additive epsilon from the points of all to some."""

        def behind(weights: Floats) -> Floats:
            first, second = (np.stack([m.at(weights) for m in found], axis=1) for found in (self.all, own))
            return additive_epsilons(first, second)

        return _if_any(whole_of(behind, [m.quality for m in self.all]))


def _if_any(found: Estimate | None) -> Estimate | None:
    """An estimate that cannot be under 0: without an interval where it is nothing."""
    return found if found is None or found.mean > 0 else found._replace(half=None)


def _mean_of(means: Sequence[Pooled]) -> Statistic:
    return lambda weights: np.mean([mean(weights) for mean in means], axis=0)


def _quality_at(budget: float, found: Sequence[Measured]) -> Estimate | None:
    """Q@B, straight over ln(budget) between the ranked points on both sides; None outside of them."""
    exact = next((m.point.quality for m in found if m.point.budget and float(m.point.budget) == budget), None)
    measured = [(float(m.point.budget), m.quality) for m in found if m.point.budget]
    low = max((at for at in measured if at[0] <= budget), key=_budget_of, default=None)
    high = min((at for at in measured if at[0] >= budget), key=_budget_of, default=None)
    if exact or low is None or high is None:
        return exact
    part = log(budget / low[0]) / log(high[0] / low[0])
    first, second = low[1], high[1]
    return whole_of(lambda weights: (1 - part) * first(weights) + part * second(weights), (first, second))


def _budget_of(at: tuple[float, Pooled]) -> float:
    return at[0]


def _area(found: Sequence[Measured]) -> Estimate | None:
    """The hypervolume of some points, with the interval of the whole."""

    def area(weights: Floats) -> Floats:
        return hypervolume(np.stack([m.at(weights) for m in found], axis=1))

    return whole_of(area, [m.quality for m in found]) if found else None


def _under(found: Sequence[Measured], common: Sequence[str]) -> Estimate | None:
    """AURC over the common budgets; None for a curve that lacks one of them."""
    of = {m.point.budget: m for m in found}
    if not common or not set(common) <= of.keys():
        return None

    def under(weights: Floats) -> Floats:
        kept = np.stack([of[budget].quality(weights) for budget in common], axis=-1)
        return aurc([float(budget) for budget in common], kept)

    return whole_of(under, [of[budget].quality for budget in common])
