"""What real harnesses did, pooled by harness: what their compactions kept, and what ours keep at the same size.

A harness is the format of the transcripts. A place is one recorded compaction. A session's value is the mean over its
places, the mean of sessions is the row's; sessions of one story are one cluster. A strategy that weighs more than the
harness left is unreachable at that place and not compared there, one under nine tenths of it is flagged, as for budgets
(see `compactlab.summary.budgets`); one that never meets the size is compared at its own, and says so.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass

from compactlab.records import Record
from compactlab.stats import Estimate
from compactlab.summary.budgets import ENOUGH
from compactlab.summary.cells import Cell, cells
from compactlab.summary.pool import Group, Place, Pool, by_session, mean_of, session_means, writers

RECORDED = Group("recorded")
LUCK = Group("random", "recorded")
ALL = "all"
IN_PART = "scored is the recorded part"
THINNED = "cleared without a record"
"""Words in the reason of a row `recorded` that say what its recording lacks."""
_SAME = 1.01
"""How far over the harness's size a control may lie that was cut to it."""


@dataclass(frozen=True)
class Harness:
    """One harness, or all of them: its places, mean tokens, and estimates over its sessions.

    `found` compactions, of which `scored`; `in_part` counts those after which more was sent than is recorded, `thinned`
    those before which less was sent than stood; `skipped` counts reasons.
    `told_*` are means of the figures that the harness itself recorded, None without any; `unseen` is the mean of what
    was sent beside what is recorded. `needed` facts of an action, and `again` more that were lost and fetched again.
    `whole` is bound retention with those. `held` is what stands of the needed facts that our guard always keeps.
    """

    name: str
    sessions: int
    stories: int
    found: int
    scored: int
    in_part: int
    thinned: int
    skipped: dict[str, int]
    before: float
    after: float
    told_before: float | None
    told_after: float | None
    unseen: float | None
    needed: int
    again: int
    bound: Estimate | None
    loose: Estimate | None
    irrecoverable: Estimate | None
    whole: Estimate | None
    rules: Estimate | None
    held: Estimate | None
    over_random: Estimate | None
    ours: tuple[Beside, ...]


@dataclass(frozen=True)
class Beside:
    """A strategy of ours at a harness's places: how many it `met`, lay over, filled less than nine tenths of.

    Differences are ours less the harness's, of bound retention and of that with facts fetched again, over `places` in
    which a fact was needed and the size was met; all at its own size (`own_size`) if it met none.
    """

    name: str
    after: float
    met: int
    over: int
    under: int
    own_size: bool
    places: int
    difference: Estimate | None
    whole: Estimate | None


def harnesses(pool: Pool) -> tuple[Harness, ...]:
    """Give a row for each harness of a run over recorded compactions, by name, and one for all if they are several."""
    by_name: dict[str, set[Place]] = defaultdict(set)
    for record in pool.of_facts("harness"):
        by_name[record.group].add((record.session, record.cut))
    rows = [_Places(pool, places).harness(name) for name, places in sorted(by_name.items())]
    if len(rows) > 1:
        rows.append(_Places(pool, set().union(*by_name.values())).harness(ALL))
    return tuple(rows)


class _Places:
    """The records at some places."""

    def __init__(self, pool: Pool, places: Collection[Place]) -> None:
        self.pool = pool
        self.places = places
        self.heads = [r for r in pool.facts if r.metric == "outcome" and (r.session, r.cut) in places]
        self.scored = {(r.session, r.cut) for r in self.heads if r.outcome == "applied"}

    def harness(self, name: str) -> Harness:
        """Everything about the harness whose places they are."""
        recorded, pool = self.records(RECORDED), self.pool
        own = self.cells(RECORDED)
        return Harness(
            name=name,
            sessions=len({session for session, _ in self.scored}),
            stories=len({pool.cluster[session] for session, _ in self.scored}),
            found=len(self.places),
            scored=len(self.scored),
            in_part=sum(IN_PART in r.reason for r in recorded),
            thinned=sum(THINNED in r.reason for r in recorded),
            skipped=dict(Counter(r.reason.split(": ")[1] for r in self.heads if r.outcome == "skipped")),
            before=mean_of([cell.before for cell in own.values()]),
            after=mean_of([cell.after for cell in own.values()]),
            **{name: self.figure(name) for name in ("told_before", "told_after")},
            unseen=self.figure("told_unseen"),
            needed=sum(cell.needed for cell in own.values()),
            again=sum(n for _, n in self.again(RECORDED).values()),
            bound=self.mean("needed_bound", pool.acted),
            loose=self.mean("needed_loose", pool.acted),
            irrecoverable=self.mean("needed_bound", lambda r: pool.acted(r) and r.home == "irrecoverable"),
            whole=pool.estimate(session_means(self.wholes(RECORDED, own))),
            rules=pool.estimate(by_session(_standing(recorded))),
            held=self.mean("held_bound", pool.acted),
            over_random=self.over_random(own),
            ours=tuple(self.beside(group, own) for group in self.compacting),
        )

    def records(self, group: Group) -> list[Record]:
        return [r for r in self.pool.groups.get(group, ()) if (r.session, r.cut) in self.scored]

    def cells(self, group: Group) -> dict[Place, Cell]:
        return {place: cell for place, cell in cells(self.pool, group).items() if place in self.scored}

    def mean(self, metric: str, counts: Callable[[Record], bool]) -> Estimate | None:
        return self.pool.mean(self.records(RECORDED), metric, counts)

    def figure(self, metric: str) -> float | None:
        """The mean of a figure of the harness's own over the places that were scored and have one."""
        found = [r.value for r in self.pool.of_facts(metric) if (r.session, r.cut) in self.scored]
        return mean_of(found) if found else None

    def again(self, group: Group) -> dict[Place, tuple[float, int]]:
        """By place how many of the facts fetched again that an action then used stand bound, of how many."""
        sums: dict[Place, tuple[float, int]] = {}
        for record in self.records(group):
            if record.metric == "refetched_bound" and self.pool.acted(record):
                value, n = sums.get((record.session, record.cut), (0.0, 0))
                sums[record.session, record.cut] = value + record.value, n + record.n
        return sums

    def wholes(self, group: Group, own: Mapping[Place, Cell]) -> dict[Place, float | None]:
        """By place bound retention with the facts that were fetched again."""
        again = self.again(group)
        found: dict[Place, float | None] = {}
        for place, cell in own.items():
            kept, more = again.get(place, (0.0, 0))
            found[place] = (cell.kept + kept) / (cell.needed + more) if cell.needed + more else None
        return found

    def over_random(self, own: Mapping[Place, Cell]) -> Estimate | None:
        """Paired differences to random units, where those could be cut to the harness's size."""
        luck = {p: c for p, c in self.cells(LUCK).items() if p in own and c.after <= _SAME * own[p].after}
        qualities = {place: (own[place].quality, cell.quality) for place, cell in luck.items()}
        return self.pool.estimate(session_means({place: _less(*pair) for place, pair in qualities.items()}))

    def beside(self, group: Group, own: Mapping[Place, Cell]) -> Beside:
        """A strategy's row: at the places whose size it met, or at its own size at all of them.

        Where the harness left no less than stood before there is no size to meet.
        """
        ours = {p: cell for p, cell in self.cells(group).items() if p in own and own[p].after < own[p].before}
        met = {place for place, cell in ours.items() if cell.after <= own[place].after}
        shown = {place: ours[place] for place in sorted(met or ours)}
        wholes = (self.wholes(group, shown), self.wholes(RECORDED, own))
        plain = {place: _less(cell.quality, own[place].quality) for place, cell in shown.items()}
        return Beside(
            name=_named(self.pool, group),
            after=mean_of([cell.after for cell in shown.values()]),
            met=len(met),
            over=len(ours) - len(met),
            under=sum(ours[place].after < ENOUGH * own[place].after for place in met),
            own_size=not met,
            places=sum(value is not None for value in plain.values()),
            difference=self.pool.estimate(session_means(plain)),
            whole=self.pool.estimate(session_means({p: _less(wholes[0][p], wholes[1][p]) for p in shown})),
        )

    @property
    def compacting(self) -> list[Group]:
        """Strategies that saved something at one place or more, and `none`, the ceiling."""
        groups = [group for group in self.pool.strategies if group != RECORDED]
        found = {group: self.cells(group).values() for group in groups}
        return [g for g, of in found.items() if of and (g.strategy == "none" or any(cell.saved > 0 for cell in of))]


def _less(one: float | None, other: float | None) -> float | None:
    return None if one is None or other is None else one - other


def _standing(records: Iterable[Record]) -> Iterable[Record]:
    """Constraints of people that stand as they were meant, be it beside an older one; n stands once."""
    from msgspec.structs import replace

    for record in records:
        if record.metric == "statement" and record.family == "constraint" and record.group in {"kept", "both"}:
            yield record if record.group == "kept" else replace(record, n=0)


def _named(pool: Pool, group: Group) -> str:
    """A strategy and by which model its text was written."""
    model = writers(pool.groups[group])
    return f"{group.strategy} ({model})" if model else group.strategy
