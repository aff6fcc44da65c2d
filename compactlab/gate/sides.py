"""One side of a comparison: what each case of a run came to, in the same form for a run and for a baseline.

A case is a session at a cut under a row: a strategy, or one at a budget, or a policy. The facts that a case needs are
the same, in the same order, for every run of one scorer version over one corpus; so a side holds their positions alone,
and a digest of them, by which a mismatch is seen.
"""

from __future__ import annotations

import hashlib
import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import msgspec

from compactlab.errors import RunError
from compactlab.gate.measures import Share, admitted_of, shares
from compactlab.records import Record
from compactlab.results import Results
from compactlab.summary.pool import CONTROLS, Place, Pool

FACTS = "facts"


class Case(NamedTuple):
    """Session, cut and row."""

    session: str
    cut: str
    row: str


class Found(msgspec.Struct, frozen=True):
    """What one pass over a case came to: its shares, which of the needed facts stand, and what no margin excuses.

    `bound` and `loose` are positions among the case's needed facts; a fact is in one of them at most. `outcome` is that
    of the pass; `invalid`, `inverted` and `overflow` count.
    """

    shares: dict[str, Share]
    bound: tuple[int, ...] = ()
    loose: tuple[int, ...] = ()
    outcome: str = "applied"
    invalid: int = 0
    inverted: int = 0
    overflow: int = 0


class Story(NamedTuple):
    """A needed fact of a case, as a run tells it."""

    family: str
    value: str
    home: int
    home_text: str
    used: int
    used_text: str
    use: str
    regain: str
    tenth: int
    age: int


class Side(NamedTuple):
    """All cases, each with what its replicates found, and the number and digest of the facts that each place needed."""

    found: dict[Case, tuple[Found, ...]]
    facts: dict[Place, str]

    @property
    def rows(self) -> tuple[str, ...]:
        """The rows, in case order."""
        return tuple(dict.fromkeys(case.row for case in self.found))


class Run(NamedTuple):
    """A run as a side, with what only a run knows: the facts' stories, types and stories of sessions, heads of rows."""

    side: Side
    pool: Pool
    stories: dict[Place, tuple[Story, ...]]
    types: dict[str, str]
    heads: tuple[Record, ...]
    strategies: dict[str, str]

    @property
    def admitted(self) -> frozenset[str] | None:
        """The families that count; None for all."""
        return admitted_of(self.pool)

    @property
    def writers(self) -> dict[str, frozenset[str]]:
        """By strategy the models that wrote text for it."""
        found: dict[str, set[str]] = defaultdict(set)
        for head in self.heads:
            if head.model:
                found[head.strategy].add(head.model)
        return {strategy: frozenset(models) for strategy, models in found.items()}


def row_of(strategy: str, budget: str) -> str:
    """The name of a row.

    >>> row_of("cull", ""), row_of("cull", "10")
    ('cull', 'cull at 10 %')
    """
    return f"{strategy} at {budget} %" if budget else strategy


def name_of(row: str) -> str:
    """The name of a row without the parameters of its strategy.

    >>> name_of("ladder(cull(keep=1), summary) at 10 %"), name_of("microcompact(keep_recent=3)@0.8+cull@0.9")
    ('ladder at 10 %', 'microcompact@0.8+cull@0.9')
    """
    before = None
    while before != row:
        before, row = row, re.sub(r"\([^()]*\)", "", row)
    return row


def taken(results: Results) -> Run:
    """Read a run that is finished; `RunError` says what it lacks otherwise."""
    pool = Pool(results)
    kept, stories = _left(results)
    by_case: dict[Case, dict[int, list[Record]]] = defaultdict(lambda: defaultdict(list))
    strategies: dict[str, str] = {}
    for record in pool.records:
        if record.size_of or record.strategy in CONTROLS or record.strategy == FACTS:
            continue
        case = Case(record.session, record.cut, row_of(record.strategy, record.budget))
        by_case[case][record.replicate].append(record)
        strategies[case.row] = record.strategy
    admitted, mode = admitted_of(pool), pool.manifest.mode
    found = {}
    for case, replicates in by_case.items():
        passes = []
        for number, records in sorted(replicates.items()):
            made = _found(records, shares(records, admitted, mode))
            passes.append(msgspec.structs.replace(made, **kept.get((case, number), {})))
        found[case] = tuple(passes)
    heads = tuple(record for record in pool.records if record.metric == "outcome")
    run = Run(
        Side(found, {place: told(told_there) for place, told_there in stories.items()}),
        pool,
        stories,
        {record.session: record.agent_type for record in heads},
        heads,
        strategies,
    )
    _check_finished(run)
    return run


def _found(records: Sequence[Record], of: dict[str, Share]) -> Found:
    head = next(record for record in records if record.metric == "outcome")
    values: dict[str, int] = defaultdict(int)
    for record in records:
        values[record.metric] += int(record.value)
    invalid = sum(record.metric == "valid" for record in records) - values["valid"]
    inverted, overflow = values["inverted_constraints"], values["overflow"]
    return Found(of, outcome=head.outcome, invalid=invalid, inverted=inverted, overflow=overflow)


def _left(results: Results) -> tuple[dict[tuple[Case, int], dict[str, Any]], dict[Place, tuple[Story, ...]]]:
    """By case and replicate the positions of the facts that stand, and by place the facts themselves."""
    kept: dict[tuple[Case, int], dict[str, Any]] = {}
    stories: dict[Place, tuple[Story, ...]] = {}
    for key, left in results.left:
        if key.strategy == FACTS:
            stories[key.session, key.cut] = tuple(Story(**story) for story in left["needed"])
        elif "needed" in left:
            case = Case(key.session, key.cut, row_of(key.strategy, key.budget))
            kept[case, key.replicate] = {
                name: tuple(i for i, fate in enumerate(left["needed"]) if fate == name) for name in ("bound", "loose")
            }
    return kept, stories


def told(stories: Iterable[Story]) -> str:
    """The number of a place's facts and their digest, wherever the words around them end.

    >>> told([])
    '0 e3b0c44298fc'
    """
    whole = hashlib.sha256()
    count = 0
    for story in stories:
        parts = (story.family, story.value, story.home, story.used, story.use, story.regain)
        whole.update(repr(parts).encode("utf-8", "surrogatepass"))
        count += 1
    return f"{count} {whole.hexdigest()[:12]}"


def _check_finished(run: Run) -> None:
    """Refuse a run that was not done to its end: what is not there would count for nothing."""
    manifest = run.pool.manifest
    seen = {record.session for record in run.heads}
    lacking = [session for session in manifest.sessions if session not in seen]
    places = {(record.session, record.cut): record for record in run.heads if record.outcome != "skipped"}
    rows = manifest.strategies
    have = {(record.session, record.cut, record.strategy) for record in run.heads}
    lacking += [f"{s} at {c}, {row}" for s, c in places for row in rows if (s, c, row) not in have]
    if lacking:
        more = f" and {len(lacking) - 1} more" if len(lacking) > 1 else ""
        raise RunError(f"the run is not finished: {lacking[0]}{more} has no rows; expected one that was run to its end")
