"""The numbers of a report: one row a strategy or control, means over sessions with intervals, and what to know of them.

A session's value is the mean over its cuts; the mean of sessions is the row's. The headline counts facts whose first
later use is an action, of families whose chance rate is at most 10 %.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import NamedTuple

from compactlab.budgets import Missed, missed
from compactlab.records import Manifest, Record
from compactlab.results import Results
from compactlab.stats import Estimate, clustered, detectable

CONTROLS = frozenset({"bag", "null"})
OF_A_SIZE = ("random", "random_lines", "regex_lines", "oracle")
REFUSED_ABOVE = 0.10
"""Share of a family's needed facts that unrelated sessions would need as well, above which the family is refused."""

_Group = tuple[str, str, str]


class Chance(NamedTuple):
    """Of a family's needed facts, how many an unrelated session would need just so; None: nothing to compare with."""

    needed: int
    rate: float | None

    @property
    def refused(self) -> bool:
        return self.rate is not None and self.rate > REFUSED_ABOVE


@dataclass(frozen=True)
class Row:
    """One strategy or control. Estimates are means over sessions; `probes` counts verdicts, pooled.

    `same_size` holds the bound retention of the controls that were cut to the size of this row's results; `over_random`
    is the mean of the sessions' differences to random units of that size, with the interval of the paired differences.
    """

    label: str
    budget: str
    before: float
    after: float
    saved: Estimate
    bound: Estimate | None
    loose: Estimate | None
    irrecoverable: Estimate | None
    reobtainable: Estimate | None
    by_use: dict[str, Estimate | None]
    by_family: dict[str, Estimate | None]
    same_size: dict[str, Estimate | None]
    over_random: Estimate | None
    over_chance: float | None
    probes: dict[str, float]
    asked: int
    valid: float | None
    outcomes: dict[str, int]
    errors: int
    model: str
    missed: Missed

    @property
    def is_control(self) -> bool:
        return self.label in CONTROLS

    @property
    def name(self) -> str:
        """The label, the budget, and by which model or stand-in its text was written."""
        name = f"{self.label} at {self.budget} %" if self.budget else self.label
        return f"{name} ({self.model})" if self.model else name


@dataclass(frozen=True)
class Summary:
    """All rows of a run in case order, chance by family, and the counts that the signature names."""

    manifest: Manifest
    rows: tuple[Row, ...]
    chance: dict[str, Chance]
    overall_chance: float | None
    supplied_again: float | None
    sessions: int
    clusters: int
    cuts: int
    needed: int
    at_risk: int
    detectable: float | None
    skipped: tuple[str, ...]
    errors: tuple[str, ...]

    @property
    def families(self) -> tuple[str, ...]:
        """Families that count."""
        return tuple(family for family, chance in self.chance.items() if not chance.refused)


def summarise(results: Results) -> Summary:
    """Pool the records of a run."""
    return _Pool(results).summary


class _Pool:
    """Records by row, and what is pooled over all of them."""

    def __init__(self, results: Results) -> None:
        self.manifest = results.manifest
        self.records = results.records
        self.groups: dict[_Group, list[Record]] = defaultdict(list)
        for record in self.records:
            self.groups[record.strategy, record.size_of, record.budget].append(record)
        self.facts = self.groups.pop(("facts", "", ""), [])
        self.cluster = {record.session: record.cluster for record in self.records}

    @cached_property
    def chance(self) -> dict[str, Chance]:
        by_chance: dict[str, float] = defaultdict(float)
        measured: Counter[str] = Counter()
        for record in self._facts("needed_by_chance"):
            by_chance[record.family] += record.value
            measured[record.family] += record.n
        needed = Counter(self._needed_by_family())
        return {
            family: Chance(needed[family], min(1.0, by_chance[family] / measured[family]) if measured[family] else None)
            for family in self.manifest.families
            if needed[family] or measured[family]
        }

    def _facts(self, metric: str) -> list[Record]:
        return [record for record in self.facts if record.metric == metric]

    def _needed_by_family(self) -> dict[str, int]:
        counts: dict[str, int] = defaultdict(int)
        for record in self._any_row("needed_loose"):
            counts[record.family] += record.n
        return counts

    def _any_row(self, metric: str) -> list[Record]:
        """Records of one row that scored every case: the null control, which the harness builds without fail."""
        return [record for record in self.groups.get(("null", "", ""), []) if record.metric == metric]

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
        shares = _by_session(record for record in records if record.metric == metric and counts(record))
        return clustered([(self.cluster[session], value) for session, value in shares.items()])

    def headline(self, records: Iterable[Record]) -> dict[str, float]:
        """Bound retention of each session, for paired differences."""
        return _by_session(record for record in records if record.metric == "needed_bound" and self._acted(record))

    def _acted(self, record: Record) -> bool:
        return record.use == "action" and record.family in self.admitted

    def row(self, group: _Group) -> Row:
        records = self.groups[group]
        bound = self.mean(records, "needed_bound", self._acted)
        outcomes = Counter(record.outcome for record in records if record.metric == "outcome")
        probes: dict[str, float] = defaultdict(float)
        asked = sum(record.n for record in records if record.metric == "probe_kept")
        for record in records:
            if record.metric.startswith("probe_"):
                probes[record.metric.removeprefix("probe_")] += record.value
        values = {m: [r.value for r in records if r.metric == m] for m in ("tokens_before", "tokens_after", "valid")}
        return Row(
            label=group[0],
            budget=group[2],
            before=_mean(values["tokens_before"]),
            after=_mean(values["tokens_after"]),
            saved=self._saved(records),
            bound=bound,
            loose=self.mean(records, "needed_loose", self._acted),
            irrecoverable=self.mean(records, "needed_bound", lambda r: self._acted(r) and r.home == "irrecoverable"),
            reobtainable=self.mean(records, "needed_bound", lambda r: self._acted(r) and r.home == "reobtainable"),
            by_family={family: self.mean(records, "needed_bound", self._of_family(family)) for family in self.chance},
            over_random=self._over_random(group),
            same_size={name: self._at_size_of(group, name) for name in OF_A_SIZE},
            by_use={use: self.mean(records, "needed_bound", self._of_use(use)) for use in ("action", "bulk", "text")},
            over_chance=_over(bound, self.overall_chance),
            probes=dict(probes),
            asked=asked,
            valid=_mean(values["valid"]) if values["valid"] else None,
            outcomes=dict(outcomes),
            errors=outcomes["failed"],
            model=next((record.model for record in records if record.model), ""),
            missed=missed(records),
        )

    def _at_size_of(self, group: _Group, control: str) -> Estimate | None:
        return self.mean(self.groups.get((control, group[0], group[2]), ()), "needed_bound", self._acted)

    def _of_family(self, family: str) -> Callable[[Record], bool]:
        return lambda record: record.use == "action" and record.family == family

    def _over_random(self, group: _Group) -> Estimate | None:
        own = self.headline(self.groups[group])
        luck = self.headline(self.groups.get(("random", group[0], group[2]), ()))
        both = sorted(own.keys() & luck.keys())
        return clustered([(self.cluster[session], own[session] - luck[session]) for session in both])

    def _of_use(self, use: str) -> Callable[[Record], bool]:
        return lambda record: record.use == use and record.family in self.admitted

    def _saved(self, records: Sequence[Record]) -> Estimate:
        before = {(r.session, r.cut): r.value for r in records if r.metric == "tokens_before"}
        shares: dict[str, list[float]] = defaultdict(list)
        for record in records:
            if record.metric == "tokens_after" and before[record.session, record.cut]:
                shares[record.session].append(1 - record.value / before[record.session, record.cut])
        found = clustered([(self.cluster[s], _mean(values)) for s, values in shares.items()])
        return found or Estimate(0.0, None, 0, 0)

    @property
    def summary(self) -> Summary:
        rows = tuple(self.row(group) for group in self.groups if group[0] not in OF_A_SIZE)
        supplied = self._facts("supplied_again")
        recurring = sum(record.n for record in supplied)
        heads = [record for record in self.facts if record.metric == "outcome"]
        return Summary(
            manifest=self.manifest,
            rows=rows,
            chance=self.chance,
            overall_chance=self.overall_chance,
            supplied_again=sum(record.value for record in supplied) / recurring if recurring else None,
            sessions=len({record.session for record in heads}),
            clusters=len({record.cluster for record in heads}),
            cuts=sum(record.outcome == "applied" for record in heads),
            needed=sum(record.n for record in self._any_row("needed_loose") if self._acted(record)),
            at_risk=sum(record.n for record in self._any_row("retention_loose")),
            detectable=self._detectable(),
            skipped=tuple(f"{r.session}: {r.reason}" for r in heads if r.outcome == "skipped"),
            errors=tuple(_error(r) for r in self.records if r.outcome == "failed"),
        )

    def _detectable(self) -> float | None:
        """The largest smallest difference: what the least certain pair of strategies could have shown."""
        found = []
        plain = [group for group in self.groups if group[0] not in {*CONTROLS, *OF_A_SIZE}]
        for one, other in (pair for pair in combinations(plain, 2) if pair[0][2] == pair[1][2]):
            first, second = self.headline(self.groups[one]), self.headline(self.groups[other])
            both = [(self.cluster[s], first[s] - second[s]) for s in first.keys() & second.keys()]
            found.append(detectable(sorted(both)))
        known = [value for value in found if value is not None]
        return max(known) if known else None


def _by_session(records: Iterable[Record]) -> dict[str, float]:
    """For each session the mean over its cuts of the pooled share of some records."""
    cells: dict[tuple[str, str], list[float]] = defaultdict(lambda: [0.0, 0.0])
    for record in records:
        cells[record.session, record.cut][0] += record.value
        cells[record.session, record.cut][1] += record.n
    shares: dict[str, list[float]] = defaultdict(list)
    for (session, _), (kept, n) in cells.items():
        if n:
            shares[session].append(kept / n)
    return {session: _mean(values) for session, values in shares.items()}


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0


def _over(bound: Estimate | None, chance: float | None) -> float | None:
    """(R - c) / (1 - c): retention on a scale where chance is 0."""
    if bound is None or chance is None or chance >= 1:
        return None
    return (bound.mean - chance) / (1 - chance)


def _error(record: Record) -> str:
    return f"{record.session} at {record.cut}, {record.strategy}: {record.reason}"
