"""The tree of records in a Claude Code file: parents, live branch, sidechains.

Records of all kinds stand in the chain of parents; those that are no messages are passed through, not cut at. A link
that leads nowhere, and the start of a new context after a compaction, go on at the record before them in the file.
"""

from __future__ import annotations

from bisect import bisect
from collections import Counter, defaultdict
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from compactlab.readers._raw import keep_raw

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from compactlab.readers import Line

BOUNDARIES = ("compact_boundary", "microcompact_boundary")


@dataclass(frozen=True)
class Record:
    """One record that stands in the tree; `index` is its line in the file, from 0."""

    index: int
    uuid: str
    value: dict[str, Any]

    @property
    def kind(self) -> str:
        """`user`, `assistant`, `boundary`, or another type of record, which is no part of the context."""
        if self.value.get("type") == "system" and str(self.value.get("subtype")) in BOUNDARIES:
            return "boundary"
        if self.value.get("type") == "attachment" and _is_queued(self.value.get("attachment")):
            return "user"
        return str(self.value.get("type"))

    @property
    def is_message(self) -> bool:
        return self.kind in {"user", "assistant"}

    @property
    def sidechain(self) -> bool:
        return bool(self.value.get("isSidechain"))

    @cached_property
    def message(self) -> dict[str, Any]:
        """The message inside; for a prompt that was typed while the agent worked, one of the same form."""
        if self.value.get("type") == "attachment":
            return {"role": "user", "content": self.value["attachment"]["prompt"]}
        inner = self.value.get("message")
        return inner if isinstance(inner, dict) else {}

    @cached_property
    def parts(self) -> list[dict[str, Any]]:
        """The blocks of the message as they stand in the file, none for plain text."""
        content = self.message.get("content")
        return [part for part in content if isinstance(part, dict)] if isinstance(content, list) else []

    @property
    def response(self) -> str:
        """Id of the response that this is a piece of; its own, where none was recorded."""
        return str(self.message.get("id") or self.uuid)

    def ids(self, kind: str, key: str) -> list[str]:
        """Ids named by the blocks of one kind."""
        return [str(part.get(key)) for part in self.parts if part.get("type") == kind]


def _is_queued(attachment: object) -> bool:
    if not isinstance(attachment, dict) or attachment.get("type") != "queued_command":
        return False
    return isinstance(attachment.get("prompt"), str | list) and attachment.get("commandMode", "prompt") == "prompt"


class Live(NamedTuple):
    """Records of the live branch in the order of the conversation, and how many messages stand on other branches."""

    records: tuple[Record, ...]
    others: int


def tree(lines: Sequence[Line]) -> tuple[dict[str, Record], Counter[str]]:
    """Give the records of a file by uuid, first one first, and count by kind what is no part of any context."""
    nodes: dict[str, Record] = {}
    skipped: Counter[str] = Counter()
    for line in lines:
        value = line.value
        if not isinstance(value, dict):
            skipped["no object"] += 1
            continue
        uuid = value.get("uuid")
        record = Record(line.number - 1, str(uuid), value)
        if isinstance(uuid, str) and uuid in nodes:
            skipped["repeated uuid"] += 1
            continue
        if isinstance(uuid, str):
            nodes[uuid] = record
        if record.is_message:
            keep_raw(value, line.raw)
        left_out = _left_out(record, linked=isinstance(uuid, str))
        if left_out:
            skipped[left_out] += 1
    return nodes, skipped


def _left_out(record: Record, *, linked: bool) -> str:
    """Name a kind of record that is no part of any context; empty for one that may be."""
    if record.is_message or record.kind == "boundary":
        return "" if linked else f"{record.kind} without uuid"
    subtype = record.value.get("subtype") if record.value.get("type") == "system" else None
    return f"system {subtype}" if subtype else record.kind


def sidechains(nodes: Mapping[str, Record]) -> list[tuple[str, list[Record]]]:
    """Group the records of sidechains by agent, or by the root that they hang from; each with a name for its id."""
    groups: dict[str, list[Record]] = defaultdict(list)
    roots: dict[str, str] = {}
    for uuid, node in nodes.items():
        if not node.sidechain:
            continue
        parent = node.value.get("parentUuid")
        roots[uuid] = roots.get(str(parent), uuid)
        agent = node.value.get("agentId")
        groups[f"agent-{agent}" if isinstance(agent, str) else f"side-{roots[uuid][:8]}"].append(node)
    return list(groups.items())


def branch(group: Sequence[Record], nodes: Mapping[str, Record]) -> Live:
    """Follow the parents of the last message of a group to its root.

    Pieces of a response of the branch, and results of its calls, belong to it wherever they hang: parallel calls fork
    the tree. What is left over stands on other branches.
    """
    leaf = next((record for record in reversed(group) if record.is_message), None)
    if leaf is None:
        return Live((), 0)
    chain = [record for record in _up(leaf, group, nodes) if record.is_message or record.kind == "boundary"]
    chain.reverse()
    held = {record.uuid for record in chain}
    off = [record for record in group if record.is_message and record.uuid not in held]
    rescued = _siblings(chain, off)
    return Live(tuple(_ordered(chain, rescued)), len(off) - len(rescued))


def _up(leaf: Record, group: Sequence[Record], nodes: Mapping[str, Record]) -> Iterator[Record]:
    inside = {record.uuid: place for place, record in enumerate(group)}
    boundaries = [record for record in group if record.kind == "boundary"]
    seen: set[str] = set()
    at: Record | None = leaf
    while at is not None and at.uuid not in seen:
        seen.add(at.uuid)
        if at.uuid in inside:
            yield at
        at = _reattached(at, boundaries, group, nodes) or _parent(at, group, inside, nodes)


def _parent(
    record: Record, group: Sequence[Record], inside: Mapping[str, int], nodes: Mapping[str, Record]
) -> Record | None:
    named = record.value.get("parentUuid") or record.value.get("logicalParentUuid")
    found = nodes.get(str(named))
    if found is not None and found is not record:
        return found
    starts_context = record.kind == "boundary" or record.value.get("isCompactSummary")
    place = inside.get(record.uuid, 0)
    return group[place - 1] if place and (named or starts_context) else None


def _reattached(
    record: Record, boundaries: Sequence[Record], group: Sequence[Record], nodes: Mapping[str, Record]
) -> Record | None:
    """Lead a message after a boundary, whose parent was preserved across it, back through the summary."""
    parent = nodes.get(str(record.value.get("parentUuid")))
    if parent is None:
        return None
    for boundary in reversed(boundaries):
        if parent.index < boundary.index < record.index and parent.uuid in preserved(boundary, nodes):
            after = [node for node in group if boundary.index < node.index < record.index]
            summary = next((node for node in after if node.value.get("isCompactSummary")), None)
            return summary or boundary
    return None


def preserved(boundary: Record, nodes: Mapping[str, Record]) -> frozenset[str]:
    """Uuids of the records that a compaction kept in context: listed, or a run from head to tail."""
    given = boundary.value.get("compactMetadata")
    given = given if isinstance(given, dict) else {}
    listed = given.get("preservedMessages")
    if isinstance(listed, dict):
        return frozenset((*strings(listed.get("uuids")), *strings(listed.get("allUuids"))))
    segment = given.get("preservedSegment")
    if not isinstance(segment, dict):
        return frozenset()
    found: list[str] = []
    at = nodes.get(str(segment.get("tailUuid")))
    while at is not None and at.uuid not in found:
        found.append(at.uuid)
        if at.uuid == segment.get("headUuid"):
            return frozenset(found)
        at = nodes.get(str(at.value.get("parentUuid")))
    return frozenset()


def strings(value: object) -> list[str]:
    """The texts of a list; none of anything else."""
    return [inner for inner in value if isinstance(inner, str)] if isinstance(value, list) else []


def _siblings(chain: Sequence[Record], off: Sequence[Record]) -> list[Record]:
    responses = {record.response for record in chain if record.kind == "assistant"}
    pieces = [record for record in off if record.kind == "assistant" and record.response in responses]
    calls = {call for record in (*chain, *pieces) for call in record.ids("tool_use", "id")}
    answered = {call for record in chain for call in record.ids("tool_result", "tool_use_id")}
    results: list[Record] = []
    for record in off:
        answers = record.ids("tool_result", "tool_use_id")
        if answers and len(answers) == len(record.parts) and calls.issuperset(answers) and not answered & set(answers):
            results.append(record)
            answered.update(answers)
    return [*pieces, *results]


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
