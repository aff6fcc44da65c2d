"""The numbers of a report: a row for each strategy and control, means over sessions with intervals, what to know."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import msgspec

from compactlab.records import Manifest, Record
from compactlab.results import Results
from compactlab.stats import Estimate
from compactlab.summary.budgets import Missed
from compactlab.summary.cells import Cell, cells
from compactlab.summary.pool import (
    CONTROLS,
    OF_A_SIZE,
    Chance,
    Group,
    Place,
    Pool,
    by_session,
    mean_of,
    session_means,
    writers,
)
from compactlab.summary.pooled import Sums, sums
from compactlab.summary.power import Power, power

FELL_BACK = "fell back"
"""Outcome of a pass that was applied without what its model was to write."""


@dataclass(frozen=True)
class Row:
    """One strategy or control. Estimates are means over sessions; `probes` counts verdicts, pooled.

    `rules` are constraints of people that stand as they were meant. `same_size` holds the bound retention of the
    controls that were cut to the size of this row's results; `over_random` is the mean of the sessions' differences to
    random units of that size, with the interval of the paired differences, and `skill` which share of the way from luck
    to all that is: (R - R_rand) / (1 - R_rand), of the means (M4). `over_chance` takes the chance rate as known.
    `answers` are the shares of the hand-made probes whose current answer stands (kept), of which only an older one does
    (stale), or none (lost), pooled over sessions; `checked` counts the results that `valid` is the share of.
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
    rules: Estimate | None
    by_use: dict[str, Estimate | None]
    by_family: dict[str, Estimate | None]
    same_size: dict[str, Estimate | None]
    over_random: Estimate | None
    skill: Estimate | None
    over_chance: Estimate | None
    probes: dict[str, float]
    asked: int
    answers: dict[str, Estimate | None]
    valid: float | None
    checked: int
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
    """All rows of a run in case order, chance and decoys by family, and the counts that the signature names."""

    manifest: Manifest
    rows: tuple[Row, ...]
    chance: dict[str, Chance]
    decoys: dict[str, Chance]
    overall_chance: float | None
    supplied_again: float | None
    sessions: int
    clusters: int
    cuts: int
    needed: int
    at_risk: int
    power: Power | None
    skipped: tuple[str, ...]
    errors: tuple[str, ...]
    unfinished: tuple[str, ...] = ()

    @property
    def families(self) -> tuple[str, ...]:
        """Families that count."""
        return tuple(family for family, chance in self.chance.items() if not chance.refused)

    @property
    def detectable(self) -> float | None:
        """The largest smallest difference: what the least certain pair of strategies could have shown."""
        return self.power and self.power.detectable


def summarise(results: Results) -> Summary:
    """Pool the records of a run."""
    return summary_of(Pool(results))


def summary_of(pool: Pool) -> Summary:
    """Make the rows of a pool and what stands under them."""
    supplied = pool.of_facts("supplied_again")
    recurring = sum(record.n for record in supplied)
    heads = [record for record in pool.facts if record.metric == "outcome"]
    return Summary(
        manifest=pool.manifest,
        rows=tuple(_row(pool, group) for group in pool.groups if group.strategy not in OF_A_SIZE),
        chance=pool.chance,
        decoys=pool.decoys,
        overall_chance=pool.overall_chance,
        supplied_again=sum(record.value for record in supplied) / recurring if recurring else None,
        sessions=len({record.session for record in heads}),
        clusters=len({record.cluster for record in heads}),
        cuts=sum(record.outcome == "applied" for record in heads),
        needed=sum(record.n for record in pool.any_row("needed_loose") if pool.acted(record)),
        at_risk=sum(record.n for record in pool.any_row("retention_loose")),
        power=power(pool),
        skipped=tuple(f"{r.session}: {r.reason}" for r in heads if r.outcome == "skipped"),
        errors=tuple(_error(r) for r in pool.records if r.outcome == "failed"),
        unfinished=_unfinished(pool),
    )


def _row(pool: Pool, group: Group) -> Row:
    from compactlab.summary.points import skill_of

    records = pool.groups[group]
    bound = pool.mean(records, "needed_bound", pool.acted)
    outcomes = Counter(_outcome(record) for record in records if record.metric == "outcome")
    probes: dict[str, float] = defaultdict(float)
    asked = sum(record.n for record in records if record.metric == "probe_kept")
    for record in records:
        if record.metric.startswith("probe_"):
            probes[record.metric.removeprefix("probe_")] += record.value
    found = cells(pool, group)
    values = {m: [r.value for r in records if r.metric == m] for m in ("tokens_before", "tokens_after", "valid")}
    return Row(
        label=group.strategy,
        budget=group.budget,
        before=mean_of(values["tokens_before"]),
        after=mean_of(values["tokens_after"]),
        saved=_saved(pool, found),
        bound=bound,
        loose=pool.mean(records, "needed_loose", pool.acted),
        irrecoverable=pool.mean(records, "needed_bound", lambda r: pool.acted(r) and r.home == "irrecoverable"),
        reobtainable=pool.mean(records, "needed_bound", lambda r: pool.acted(r) and r.home == "reobtainable"),
        rules=pool.estimate(_rules(records)),
        by_family={family: pool.mean(records, "needed_bound", _of_family(family)) for family in pool.chance},
        over_random=pool.estimate(pool.differences(group, Group("random", group.strategy, group.budget))),
        skill=skill_of(pool, group),
        same_size={name: _at_size_of(pool, group, name) for name in OF_A_SIZE},
        by_use={use: pool.mean(records, "needed_bound", _of_use(pool, use)) for use in ("action", "bulk", "text")},
        over_chance=_over(bound, pool.overall_chance),
        probes=dict(probes),
        asked=asked,
        answers=_answers(sums(pool, group)),
        valid=mean_of(values["valid"]) if values["valid"] else None,
        checked=len(values["valid"]),
        outcomes=dict(outcomes),
        errors=outcomes["failed"],
        model=writers(records),
        missed=Missed(sum(not c.reached for c in found.values()), sum(c.underfilled for c in found.values())),
    )


def _rules(records: Sequence[Record]) -> dict[str, float]:
    """For each session the share of the constraints at risk that stand, be it beside an older one: mean over cuts."""
    of = [record for record in records if record.metric == "statement" and record.family == "constraint"]
    both = (msgspec.structs.replace(record, n=0) for record in of if record.group == "both")  # n stands in kept
    return by_session((*(record for record in of if record.group == "kept"), *both))


def _at_size_of(pool: Pool, group: Group, control: str) -> Estimate | None:
    records = pool.groups.get(Group(control, group.strategy, group.budget), ())
    return pool.mean(records, "needed_bound", pool.acted)


def _of_family(family: str) -> Callable[[Record], bool]:
    return lambda record: record.use == "action" and record.family == family


def _of_use(pool: Pool, use: str) -> Callable[[Record], bool]:
    return lambda record: record.use == use and record.family in pool.admitted


def _saved(pool: Pool, found: Mapping[Place, Cell]) -> Estimate:
    shares = session_means({place: cell.saved if cell.before else None for place, cell in found.items()})
    return pool.estimate(shares) or Estimate(0.0, None, 0, 0)


def _answers(of: Sums) -> dict[str, Estimate | None]:
    """Shares of the probes asked by what stands: the current answer, be it beside an older one; only that one; none."""
    found = {verdict: of.parts(f"probe_{verdict}") for verdict in ("kept", "both", "stale", "lost")}
    both = found.pop("both")
    found["kept"] = {s: (value + both.get(s, (0.0, 0.0))[0], n) for s, (value, n) in found["kept"].items()}
    return {verdict: of.estimate(parts) for verdict, parts in found.items()}


def _over(bound: Estimate | None, chance: float | None) -> Estimate | None:
    """(R - c) / (1 - c): retention on a scale where chance is 0."""
    if bound is None or chance is None or chance >= 1:
        return None
    return bound.scaled(1 / (1 - chance), -chance / (1 - chance))


def _outcome(record: Record) -> str:
    """The outcome of a pass; one that was applied without what its model was to write is counted apart."""
    return FELL_BACK if record.fell_back else record.outcome


def _unfinished(pool: Pool) -> tuple[str, ...]:
    """Which sessions, and which strategies at a cut, have no rows yet, though the run is to make them."""
    have = {(record.session, record.cut, record.strategy) for record in pool.records if not record.size_of}
    seen = {session for session, _, _ in have}
    places = [(r.session, r.cut) for r in pool.facts if r.metric == "outcome" and r.outcome == "applied"]
    cases = (
        f"{place[0]} at {place[1]}, {s}"
        for place in places
        for s in pool.manifest.strategies
        if (*place, s) not in have
    )
    return (*(session for session in pool.manifest.sessions if session not in seen), *cases)


def _error(record: Record) -> str:
    return f"{record.session} at {record.cut}, {record.strategy}: {record.reason}"
