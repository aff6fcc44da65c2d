"""One strategy at one budget: what it saved and what it kept, beside the controls of its size on the same cells.

A point is the mean over sessions of the cells that lie within the budget; those over it are left out and counted. Where
under three quarters of the cells that could meet the budget do, the sessions that remain are too few to stand for all:
the point is shown, and has no place in an area or the front.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from compactlab.front import Floats
from compactlab.stats import Estimate
from compactlab.stats.bootstrap import SessionMean, whole_of
from compactlab.summary.cells import Cell, cells, enough, possible
from compactlab.summary.pool import OF_A_SIZE, Group, Place, Pool, session_means


@dataclass(frozen=True)
class Point:
    """Means over sessions of the cells that lie within the budget ("": each strategy at its own size, all cells).

    `met` cells of `possible`, those whose protected set is no larger than the budget; `underfilled` of them are under
    nine tenths of it. `controls` holds the bound retention of the controls of the same size on the same cells, `skill`
    is (R - random) / (1 - random) of the means (M4), None where random units keep everything.
    """

    budget: str
    saved: Estimate
    quality: Estimate
    met: int
    possible: int
    underfilled: int
    controls: dict[str, float]
    skill: Estimate | None

    @property
    def ranked(self) -> bool:
        """True if enough cells met the budget for the point to stand in an area or the front."""
        return not self.budget or enough(self.met, self.possible)

    @property
    def flagged(self) -> bool:
        """True if some cells could not be used, or left room unused."""
        return bool(self.budget) and (self.met < self.possible or self.underfilled > 0)

    @property
    def at(self) -> tuple[float, float]:
        """Mean share saved and mean quality."""
        return self.saved.mean, self.quality.mean


class Measured(NamedTuple):
    """A point with the means that it is made of, for resampling."""

    point: Point
    saved: SessionMean
    quality: SessionMean
    controls: dict[str, SessionMean]

    def at(self, weights: Floats) -> Floats:
        """The point in each sample: (draws, 2)."""
        return np.stack([self.saved(weights), self.quality(weights)], axis=-1)


def within_budget(pool: Pool, group: Group, stories: Sequence[str]) -> Measured | None:
    """Give the point of a row's cells that lie within its budget; None where there are none that needed a fact."""
    reached = {place: cell for place, cell in cells(pool, group).items() if cell.reached}
    return _measured(pool, group, reached, stories)


def of_own_size(pool: Pool, group: Group, stories: Sequence[str]) -> Measured | None:
    """Give the point of all of a row's cells, whatever its budget was: for a strategy that meets none."""
    return _measured(pool, group, {p: c._replace(budget=None) for p, c in cells(pool, group).items()}, stories)


def _measured(pool: Pool, group: Group, of: Mapping[Place, Cell], stories: Sequence[str]) -> Measured | None:
    saved = session_means({place: cell.saved for place, cell in of.items()})
    quality = session_means({place: cell.quality for place, cell in of.items()})
    means = pool.estimate(saved), pool.estimate(quality)
    if means[0] is None or means[1] is None:
        return None
    budget = group.budget if any(cell.budget is not None for cell in of.values()) else ""
    found = dict(_controls(pool, group, of))
    controls = {name: SessionMean(values, pool.cluster, stories) for name, values in found.items()}
    kept = SessionMean(quality, pool.cluster, stories)
    point = Point(
        budget=budget,
        saved=means[0],
        quality=means[1],
        met=len(of),
        possible=possible(pool, budget),
        underfilled=sum(cell.underfilled for cell in of.values()),
        controls={name: sum(values.values()) / len(values) for name, values in found.items()},
        skill=_skill(kept, controls["random"]) if "random" in controls else None,
    )
    return Measured(point, SessionMean(saved, pool.cluster, stories), kept, controls)


def _controls(pool: Pool, group: Group, of: Iterable[Place]) -> Iterator[tuple[str, dict[str, float]]]:
    """By session the bound retention of each control that was cut to the size of a row, on some of its cells."""
    places = list(of)
    for name in OF_A_SIZE:
        there = cells(pool, Group(name, group.strategy, group.budget))
        if found := session_means({place: there[place].quality for place in places if place in there}):
            yield name, found


def skill_of(pool: Pool, group: Group) -> Estimate | None:
    """Give the skill of a row over all of its cells: (R - random) / (1 - random) of the means; None without random."""
    stories = sorted(set(pool.cluster.values()))
    luck = pool.headline(Group("random", group.strategy, group.budget))
    kept = SessionMean(pool.headline(group), pool.cluster, stories)
    return _skill(kept, SessionMean(luck, pool.cluster, stories)) if luck else None


def _skill(kept: SessionMean, luck: SessionMean) -> Estimate | None:
    def skill(weights: Floats) -> Floats:
        random = luck(weights)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(random < 1, (kept(weights) - random) / (1 - random), np.nan)

    return whole_of(skill, (kept,))
