"""What the records of a row come to, session by session: shares pooled over all, with the interval over stories.

A repeated case counts with all its repetitions: shares are theirs together, counts their mean.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping
from typing import NamedTuple
from weakref import WeakKeyDictionary

from compactlab.stats import Estimate, pooled
from compactlab.summary.pool import Group, Pool

Part = tuple[float, float]
"""A value and the size that it is of."""


class _Row(NamedTuple):
    session: str
    family: str
    group: str
    value: float
    n: float


class Sums:
    """Sums of values and of n of one row, by session, metric, family and group."""

    def __init__(self, pool: Pool, group: Group) -> None:
        """Add up the records of a row of a run, once."""
        self.cluster = pool.cluster
        made: dict[tuple[str, str, str, str], Part] = {}
        repetitions = {0}
        for record in pool.groups.get(group, ()):
            key = record.metric, record.session, record.family, record.group
            value, n = made.get(key, (0.0, 0.0))
            made[key] = value + record.value, n + record.n
            repetitions.add(record.replicate)
        self.repetitions = len(repetitions)
        self.by: dict[str, list[_Row]] = defaultdict(list)
        for (metric, session, family, name), (value, n) in made.items():
            self.by[metric].append(_Row(session, family, name, value, n))

    def parts(
        self, metric: str, families: Collection[str] | None = None, groups: Collection[str] | None = None
    ) -> dict[str, Part]:
        """By session the sum of the values and of the n of all records that agree; None agrees with every name."""
        found: dict[str, Part] = {}
        for row in self.by.get(metric, ()):
            if (families is None or row.family in families) and (groups is None or row.group in groups):
                value, n = found.get(row.session, (0.0, 0.0))
                found[row.session] = value + row.value, n + row.n
        return found

    def share(
        self, metric: str, families: Collection[str] | None = None, groups: Collection[str] | None = None
    ) -> Estimate | None:
        """Values over n of the records that agree; None where there are none."""
        return self.estimate(self.parts(metric, families, groups))

    def stands(self, metric: str, family: str) -> Estimate | None:
        """The share that is kept, be it beside an older one; n of the two is the same."""
        both = self.parts(metric, (family,), ("both",))
        kept = self.parts(metric, (family,), ("kept",))
        return self.estimate({s: (value + both.get(s, (0.0, 0.0))[0], n) for s, (value, n) in kept.items()})

    def estimate(self, parts: Mapping[str, Part]) -> Estimate | None:
        """Pool one value and one size a session."""
        return pooled((self.cluster[session], *part) for session, part in sorted(parts.items()))

    def names(self, metric: str) -> list[str]:
        """The groups that a metric tells apart."""
        return sorted({row.group for row in self.by.get(metric, ())})

    def total(self, metric: str) -> float | None:
        """The sum of the values of a metric, a mean over repetitions; None where it was never measured."""
        found = [row.value for row in self.by.get(metric, ())]
        return sum(found) / self.repetitions if found else None

    def size(self, metric: str, family: str) -> int:
        """How many things of a family a metric speaks of: its groups share them."""
        by_group: dict[str, float] = defaultdict(float)
        for row in self.by.get(metric, ()):
            if row.family == family:
                by_group[row.group] += row.n
        return round(max(by_group.values(), default=0) / self.repetitions)


_made: WeakKeyDictionary[Pool, dict[Group, Sums]] = WeakKeyDictionary()


def sums(pool: Pool, group: Group) -> Sums:
    """Give the sums of a row, made once a pool; empty for a row that is not in the run."""
    rows = _made.setdefault(pool, {})
    if group not in rows:
        rows[group] = Sums(pool, group)
    return rows[group]
