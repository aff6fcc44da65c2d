"""The records of a run, pooled: by row, by session, with the chance rate of each family. What every table is made of.

A session's value is the mean over its cuts; the mean of sessions is a row's. The headline counts facts whose first
later use is an action, of families whose chance rate is at most 10 %.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

from compactlab.records import Record
from compactlab.results import Results
from compactlab.stats import Estimate, clustered

CONTROLS = frozenset({"bag", "null"})
OF_A_SIZE = ("random", "random_lines", "regex_lines", "oracle")
REFUSED_ABOVE = 0.10
"""Share of a family's needed facts that unrelated sessions would need as well, above which the family is refused."""


Place = tuple[str, str]
"""Session and cut."""


class Group(NamedTuple):
    """Which row: a strategy or control, whose size a control has, and the budget."""

    strategy: str
    size_of: str = ""
    budget: str = ""


class Chance(NamedTuple):
    """Of a family's needed facts, how many an unrelated session would need just so; None: nothing to compare with."""

    needed: int
    rate: float | None

    @property
    def refused(self) -> bool:
        return self.rate is not None and self.rate > REFUSED_ABOVE


class Pool:
    """Records by row, and what is pooled over all of them."""

    def __init__(self, results: Results) -> None:
        self.manifest = results.manifest
        self.records = results.records
        self.groups: dict[Group, list[Record]] = defaultdict(list)
        for record in self.records:
            self.groups[Group(record.strategy, record.size_of, record.budget)].append(record)
        self.facts = self.groups.pop(Group("facts"), [])
        self.cluster = {record.session: record.cluster for record in self.records}

    @cached_property
    def chance(self) -> dict[str, Chance]:
        by_chance: dict[str, float] = defaultdict(float)
        measured: Counter[str] = Counter()
        for record in self.of_facts("needed_by_chance"):
            by_chance[record.family] += record.value
            measured[record.family] += record.n
        needed = Counter(self._needed_by_family())
        return {
            family: Chance(needed[family], min(1.0, by_chance[family] / measured[family]) if measured[family] else None)
            for family in self.manifest.families
            if needed[family] or measured[family]
        }

    @cached_property
    def decoys(self) -> dict[str, Chance]:
        """Decoys that look needed, by family, a needed fact: values near those at risk that never stood before."""
        sums: dict[str, list[float]] = defaultdict(lambda: [0.0, 0.0])
        for record in self.of_facts("decoys_needed"):
            sums[record.family][0] += record.value
            sums[record.family][1] += record.n
        return {family: Chance(int(n), found / n) for family, (found, n) in sorted(sums.items()) if n}

    def of_facts(self, metric: str) -> list[Record]:
        return [record for record in self.facts if record.metric == metric]

    def _needed_by_family(self) -> dict[str, int]:
        counts: dict[str, int] = defaultdict(int)
        for record in self.any_row("needed_loose"):
            counts[record.family] += record.n
        return counts

    def any_row(self, metric: str) -> list[Record]:
        """Records of one row that scored every case: the null control, which the harness builds without fail."""
        return [record for record in self.groups.get(Group("null"), []) if record.metric == metric]

    @cached_property
    def admitted(self) -> frozenset[str]:
        return frozenset(family for family, chance in self.chance.items() if not chance.refused)

    @cached_property
    def overall_chance(self) -> float | None:
        rates = [(c.needed, c.rate) for c in self.chance.values() if not c.refused and c.rate is not None]
        total = sum(needed for needed, _ in rates)
        return sum(needed * rate for needed, rate in rates) / total if total else None

    def mean(self, records: Iterable[Record], metric: str, counts: Callable[[Record], bool]) -> Estimate | None:
        """Mean over sessions of the mean over cuts of the pooled share of the records that count."""
        return self.estimate(by_session(r for r in records if r.metric == metric and counts(r)))

    def estimate(self, values: Mapping[str, float]) -> Estimate | None:
        """Mean of one value a session, with its interval; None where there are none."""
        return clustered(self.by_cluster(values))

    def by_cluster(self, values: Mapping[str, float]) -> list[tuple[str, float]]:
        """Values by session as (cluster, value) pairs, in the order of the sessions' names."""
        return [(self.cluster[session], value) for session, value in sorted(values.items())]

    @property
    def strategies(self) -> list[Group]:
        """The rows that are no controls, in case order."""
        return [group for group in self.groups if group.strategy not in {*CONTROLS, *OF_A_SIZE}]

    def headline(self, group: Group) -> dict[str, float]:
        """Bound retention of each session in a row: facts needed by an action, of families that count."""
        if group not in self._headlines:
            records = (r for r in self.groups.get(group, ()) if r.metric == "needed_bound" and self.acted(r))
            self._headlines[group] = by_session(records)
        return self._headlines[group]

    @cached_property
    def _headlines(self) -> dict[Group, dict[str, float]]:
        return {}

    def differences(self, one: Group, other: Group) -> dict[str, float]:
        """Paired differences of the headline, by session: the first row's less the second's."""
        first, second = self.headline(one), self.headline(other)
        return {session: first[session] - second[session] for session in first.keys() & second.keys()}

    def acted(self, record: Record) -> bool:
        return record.use == "action" and record.family in self.admitted


def by_session(records: Iterable[Record]) -> dict[str, float]:
    """For each session the mean over its cuts of the pooled share of some records."""
    cells: dict[Place, list[float]] = defaultdict(lambda: [0.0, 0.0])
    for record in records:
        cells[record.session, record.cut][0] += record.value
        cells[record.session, record.cut][1] += record.n
    return session_means({place: kept / n if n else None for place, (kept, n) in cells.items()})


def session_means(values: Mapping[Place, float | None]) -> dict[str, float]:
    """Give the mean over the cuts of each session; what has no value is left out.

    >>> session_means({("one", "0.4"): 0.5, ("one", "0.7"): 1.0, ("two", "0.4"): None})
    {'one': 0.75}
    """
    by_session: dict[str, list[float]] = defaultdict(list)
    for (session, _), value in values.items():
        if value is not None:
            by_session[session].append(value)
    return {session: mean_of(found) for session, found in by_session.items()}


def writers(records: Iterable[Record]) -> str:
    """Name the models that wrote what these records are about; more than one where types of agents have their own."""
    return ", ".join(sorted({record.model for record in records if record.model}))


def mean_of(values: Sequence[float]) -> float:
    """Give the mean of *values*, 0 of none."""
    return sum(values) / len(values) if values else 0.0
