"""What a run could have shown, and what it would take to show more: the pair of strategies that spreads most (M16)."""

from __future__ import annotations

from collections import defaultdict
from itertools import combinations
from typing import NamedTuple

from compactlab.stats import MARGIN, Spread, detectable, repeated, sessions_for, spread_of
from compactlab.stats.power import Repeated
from compactlab.summary.pool import Group, Pool, by_session


class Power(NamedTuple):
    """The pair of strategies whose differences spread most: what they are, and what they could have shown.

    `detectable` is the smallest true difference that this run had an 80 % chance to show, `spread` what the differences
    vary by, `replicates` how often the sessions of a strategy that asks a model were repeated.
    """

    one: str
    other: str
    detectable: float
    spread: Spread
    replicates: int

    def sessions(self, difference: float = MARGIN, replicates: int | None = None) -> int:
        """How many sessions of stories of their own a *difference* would take, by 80 % power, without a correction."""
        return sessions_for(difference, self.spread, replicates or self.replicates)


def power(pool: Pool) -> Power | None:
    """Find the least certain pair of strategies at one budget; None under five stories."""
    pairs = (pair for pair in combinations(pool.strategies, 2) if pair[0].budget == pair[1].budget)
    found = [at for at in (_of_pair(pool, *pair) for pair in pairs) if at is not None]
    return max(found, key=lambda at: at.detectable, default=None)


def _of_pair(pool: Pool, one: Group, other: Group) -> Power | None:
    differences = pool.by_cluster(pool.differences(one, other))
    seen = detectable(differences)
    sides = repetitions(pool, one), repetitions(pool, other)
    within = [side.within or 0.0 for side in sides]
    spread = spread_of(differences, sum(w / max(1.0, side.replicates) for w, side in zip(within, sides, strict=True)))
    if seen is None or spread is None:
        return None
    return Power(one.strategy, other.strategy, seen, spread._replace(first=within[0], second=within[1]), _most(sides))


def _most(sides: tuple[Repeated, Repeated]) -> int:
    return max(1, *(round(side.replicates) for side in sides))


def repetitions(pool: Pool, group: Group) -> Repeated:
    """Give the headline of each session and each repetition of a row: the mean over its cuts."""
    by_replicate = defaultdict(list)
    for record in pool.groups.get(group, ()):
        if record.metric == "needed_bound" and pool.acted(record):
            by_replicate[record.replicate].append(record)
    values: dict[str, list[float]] = defaultdict(list)
    for _, records in sorted(by_replicate.items()):
        for session, value in by_session(records).items():
            values[session].append(value)
    return repeated(values)
