"""The tree of records in a Claude Code file: parents, live branch, sidechains.

Records of all kinds stand in the chain of parents; those that are no messages are passed through, not cut at. A link
that leads nowhere, and the start of a new context after a compaction, go on at the record before them in the file.
"""

from __future__ import annotations

from bisect import bisect
from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from compactlab.readers._fields import mapping, string, strings
from compactlab.transcript import ToolCall, ToolResult

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from compactlab.readers.claude_code._records import Record


class Live(NamedTuple):
    """Records of the live branch in the order of the conversation, and how many stand on other branches, by kind."""

    records: tuple[Record, ...]
    others: dict[str, int]


def sidechains(nodes: Mapping[str, Record]) -> list[tuple[str, list[Record]]]:
    """Group the records of sidechains by agent, or by the root that they hang from; each with a name for its id."""
    groups: dict[str, list[Record]] = defaultdict(list)
    roots: dict[str, str] = {}
    for uuid, node in nodes.items():
        if node.sidechain:
            roots[uuid] = roots.get(node.parent or "", uuid)
            groups[f"agent-{node.agent}" if node.agent else f"side-{roots[uuid][:8]}"].append(node)
    return list(groups.items())


def branch(group: Sequence[Record], nodes: Mapping[str, Record]) -> Live:
    """Follow the parents of the last message of a group to its root.

    Pieces of a response of the branch, and results of its calls, belong to it wherever they hang: parallel calls fork
    the tree. What is left over stands on other branches.
    """
    climb = _Climb(group, nodes)
    chain = [record for record in climb.longest() if record.is_message or record.is_boundary]
    chain.reverse()
    held = {record.uuid for record in chain}
    off = [record for record in group if (record.is_message or record.is_boundary) and record.uuid not in held]
    rescued, doubles = _siblings(chain, off)
    boundaries = sum(record.is_boundary for record in off)
    others = {
        "message of another branch": len(off) - len(rescued) - doubles - boundaries,
        "boundary off the live branch": boundaries,
        "turn written again": doubles,
    }
    return Live(tuple(_ordered(chain, rescued)), others)


@dataclass(frozen=True)
class _Climb:
    """The way from a record of a group up to its root."""

    group: Sequence[Record]
    nodes: Mapping[str, Record]

    @cached_property
    def places(self) -> dict[str, int]:
        return {record.uuid: place for place, record in enumerate(self.group)}

    @cached_property
    def kept(self) -> list[tuple[Record, frozenset[str]]]:
        """The boundaries that preserved something, the last one first, and what."""
        boundaries = [record for record in reversed(self.group) if record.kind == "boundary"]
        return [(boundary, uuids) for boundary in boundaries if (uuids := preserved(boundary, self.nodes))]

    def longest(self) -> list[Record]:
        """The way from the last message; from what was attached after it, if it stands above that."""
        last = next((record for record in reversed(self.group) if _ends(record)), None)
        tail = next((record for record in reversed(self.group) if record.is_message), None)
        if tail is not None and tail is not last:
            way = list(self.up(tail))
            if last is None or any(record is last for record in way):
                return way
        return [] if last is None else list(self.up(last))

    def up(self, leaf: Record) -> Iterator[Record]:
        seen: set[str] = set()
        at: Record | None = leaf
        while at is not None and at.uuid not in seen:
            seen.add(at.uuid)
            if at.uuid in self.places:
                yield at
            at = self.reattached(at) or self.parent(at)

    def parent(self, record: Record) -> Record | None:
        named = record.parent or record.logical
        found = self.nodes.get(named) if named else None
        if found is not None and record.kind == "boundary" and found.index > record.index:
            found = self.kept_before(record)
        if found is not None and found is not record:
            return found
        starts_context = record.kind == "boundary" or record.is_summary
        place = self.places.get(record.uuid, 0)
        return self.group[place - 1] if place and (named or starts_context) else None

    def kept_before(self, boundary: Record) -> Record | None:
        """The last record before a boundary that it preserved; those that were written late stand behind it."""
        uuids = next((uuids for record, uuids in self.kept if record is boundary), frozenset())
        held = (self.nodes[uuid] for uuid in uuids if uuid in self.places)
        return max((record for record in held if record.index < boundary.index), key=lambda r: r.index, default=None)

    def reattached(self, record: Record) -> Record | None:
        """Lead a message after a boundary, whose parent was preserved across it, back through the summary."""
        parent = self.nodes.get(record.parent or "") if self.kept else None
        if parent is None:
            return None
        for boundary, uuids in self.kept:
            if parent.index < boundary.index < record.index and parent.uuid in uuids:
                after = self.group[self.places[boundary.uuid] + 1 : self.places.get(record.uuid, 0)]
                made = (node for node in reversed(after) if node.is_summary or _hangs(node, boundary, self.nodes))
                return next(made, boundary)
        return None


def _ends(record: Record) -> bool:
    """Whether a branch may end with a record: a message, or a boundary that our own writer put last."""
    return (record.is_message and not record.attached) or (record.is_boundary and record.own is not None)


def _hangs(node: Record, boundary: Record, nodes: Mapping[str, Record]) -> bool:
    """Whether a record was attached by the compaction itself, and not to a later message."""
    at: Record | None = node
    for _ in range(100):
        if at is None or not (at.attached or at.is_summary):
            break
        at = nodes.get(at.parent or "")
    return at is boundary and node.attached


def preserved(boundary: Record, nodes: Mapping[str, Record]) -> frozenset[str]:
    """Uuids of the records that a compaction kept in context: listed, or a run from head to tail."""
    listed = mapping(_either(boundary, "preservedMessages", "preserved_messages"))
    uuids = (*strings(listed.get("uuids")), *strings(listed.get("allUuids")), *strings(listed.get("all_uuids")))
    if uuids:
        return frozenset(uuids)
    segment = mapping(_either(boundary, "preservedSegment", "preserved_segment"))
    head = string(segment.get("headUuid") or segment.get("head_uuid"))
    at = nodes.get(string(segment.get("tailUuid") or segment.get("tail_uuid")))
    found: dict[str, None] = {}
    while at is not None and at.uuid not in found:
        found[at.uuid] = None
        if at.uuid == head:
            return frozenset(found)
        at = nodes.get(at.parent or "")
    return frozenset()


def anchor(boundary: Record) -> str:
    """Uuid of the record that what was kept stands behind: the summary, or the boundary itself."""
    for names in (("preservedMessages", "preserved_messages"), ("preservedSegment", "preserved_segment")):
        given = mapping(_either(boundary, *names))
        found = string(given.get("anchorUuid") or given.get("anchor_uuid"))
        if found:
            return found
    return ""


def _either(boundary: Record, *names: str) -> object:
    return next((boundary.metadata[name] for name in names if name in boundary.metadata), None)


def called(record: Record) -> set[str]:
    """Ids of the calls in a record."""
    return {block.id for block in record.blocks if isinstance(block, ToolCall)}


def answered(record: Record) -> set[str]:
    """Ids of the calls whose results stand in a record."""
    return {block.call_id for block in record.blocks if isinstance(block, ToolResult)}


def _siblings(chain: Sequence[Record], off: Sequence[Record]) -> tuple[list[Record], int]:
    """Pick the records beside the chain that belong to it, and count those that say once more what stands in it."""
    spoken: dict[str, set[object]] = defaultdict(set)
    for record in chain:
        if record.kind == "assistant" and record.response:
            spoken[record.response].update(record.blocks)
    pieces: list[Record] = []
    doubles = 0
    for record in off:
        if record.kind == "assistant" and record.response in spoken and record.own is None:
            if spoken[record.response].issuperset(record.blocks):
                doubles += 1
            else:
                pieces.append(record)
    calls = {call for record in (*chain, *pieces) for call in called(record)}
    done = {call for record in chain for call in answered(record)}
    results: list[Record] = []
    for record in off:
        answers = answered(record)
        alone = all(isinstance(block, ToolResult) for block in record.blocks)
        if answers and alone and calls >= answers and not done & answers:
            results.append(record)
            done.update(answers)
    return [*pieces, *results], doubles


def _ordered(chain: Sequence[Record], rescued: Iterable[Record]) -> Iterator[Record]:
    """Place each rescued record after the last one of the chain that stands before it in the file."""
    after: dict[int, list[Record]] = defaultdict(list)
    places = sorted((held.index, place) for place, held in enumerate(chain))
    for record in rescued:
        before = bisect(places, (record.index,)) - 1
        after[places[max(0, before)][1]].append(record)
    for place, record in enumerate(chain):
        yield record
        yield from sorted(after[place], key=lambda held: held.index)
