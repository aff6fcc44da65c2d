"""The story of an opencode session: one message a step of the model, its results behind it, and its compactions."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from compactlab.readers._fields import string
from compactlab.readers._times import iso
from compactlab.readers.opencode._compactions import Event, compactions
from compactlab.readers.opencode._projected import CHECKPOINT, COMPACTION
from compactlab.transcript import Block, Message, Messages, RecordedCompaction, Role, Text, ToolCall, ToolResult, Usage

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from compactlab.readers.opencode._parts import Part
    from compactlab.readers.opencode._records import Record


class Story(NamedTuple):
    """What the messages of a session became, and what was left out, by kind."""

    messages: Messages
    compactions: tuple[RecordedCompaction, ...]
    usage: tuple[Usage, ...]
    skipped: Counter[str]
    unknown: Counter[str]


@dataclass
class _Told:
    """The story as it grows; `pruned` are the places of results with the time at which each was cleared."""

    messages: list[Message] = field(default_factory=list)
    usage: list[Usage] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    pruned: list[tuple[int, int]] = field(default_factory=list)
    times: list[int | None] = field(default_factory=list)
    skipped: Counter[str] = field(default_factory=Counter)
    unknown: Counter[str] = field(default_factory=Counter)
    made_ids: int = 0

    def add(self, message: Message, created: int | None) -> None:
        self.messages.append(message)
        self.times.append(created)


def live(records: Sequence[Record], revert: Mapping[str, object]) -> list[Record]:
    """The messages before the point that a session was reverted to; of a message that it lies in, the parts before."""
    at = next((i for i, found in enumerate(records) if found.id and found.id == revert.get("messageID")), None)
    if at is None:
        return list(records)
    part_id = string(revert.get("partID"))
    places = [i for i, part in enumerate(records[at].parts) if part_id and part.id == part_id]
    if not places:
        return list(records[:at])
    return [*records[:at], records[at]._replace(parts=records[at].parts[: places[0]])]


def story(records: Sequence[Record]) -> Story:
    """Make the messages of a session in order, and its compactions."""
    told = _Told()
    summaries = {found.parent: found for found in records if found.is_summary and not found.failed}
    marked = {found.id for found in records if _mark(found) is not None}
    for found in records:
        if _mark(found) is not None:
            _compacted(told, found, summaries.get(found.id), records)
        elif found.is_summary and found.parent in marked:
            told.skipped["summary of a compaction" if not found.failed else "summary that failed"] += 1
        elif found.is_summary and not found.failed:
            told.events.append(Event(len(told.messages), found.created, (_summary(found),)))
            told.skipped["summary of a compaction"] += 1
        elif found.role in _TAKES:
            _TAKES[found.role](told, found)
        else:
            told.unknown[f"message of role {found.role}" if found.role else "message without role"] += 1
    made = compactions(told.messages, told.events, told.pruned, told.times)
    told.skipped.update(made.skipped)
    return Story(tuple(told.messages), made.compactions, tuple(told.usage), told.skipped, told.unknown)


def _mark(found: Record) -> Part | None:
    return next((part for part in found.parts if part.kind == "compaction"), None) if found.role == "user" else None


def _compacted(told: _Told, found: Record, summary: Record | None, records: Sequence[Record]) -> None:
    """Note a compaction: the question, the summary that answers it, and the messages from the first kept one on."""
    mark = _mark(found)
    if mark is None or summary is None:
        told.skipped["compaction without summary"] += 1
        return
    told.skipped["request for a summary"] += 1
    blocks = tuple(part.block for part in found.parts if part.block is not None)
    asked = Message("user", blocks, source=found.source, synthetic=True, timestamp=iso(found.created))
    tail = next((kept.source for kept in records if mark.tail and kept.id == mark.tail), None)
    first = len(told.messages)
    if tail is not None:
        first = next((i for i, message in enumerate(told.messages) if message.source == tail), first)
    told.events.append(Event(len(told.messages), found.created, (asked, _summary(summary)), first, mark.trigger))


def _summed_up(told: _Told, found: Record) -> None:
    """Note a compaction of version 2: one text stands for all before it."""
    if not found.summary:
        told.skipped["compaction without summary"] += 1
        return
    told.skipped["summary of a compaction"] += 1
    text = Text(CHECKPOINT.format(found.summary, found.recent))
    made = Message("user", (text,), source=found.source, synthetic=True, timestamp=iso(found.created))
    trigger = found.trigger or "unknown"
    told.events.append(Event(len(told.messages), found.created, (made,), trigger=trigger, summary=found.summary))


def _summary(found: Record) -> Message:
    blocks = tuple(
        part.block for part in found.parts if part.block is not None and not isinstance(part.block, ToolCall)
    )
    return Message("assistant", blocks, source=found.source, synthetic=True, timestamp=iso(found.created))


def _heard(told: _Told, found: Record) -> None:
    parts = [part for part in found.parts if part.block is not None]
    if not parts:
        told.skipped["user message without content"] += 1
    for synthetic, run in groupby(parts, key=lambda part: part.synthetic):
        blocks = tuple(part.block for part in run if part.block is not None)
        role: Role = "system" if found.role == "system" else "user"
        message = Message(role, blocks, source=found.source, synthetic=synthetic, timestamp=iso(found.created))
        told.add(message, found.created)


def _said(told: _Told, found: Record) -> None:
    """Add the steps of a response, each followed by its results; a system prompt that was recorded with it leads."""
    time = iso(found.created)
    if found.system and not told.messages:
        told.add(Message("system", (Text(found.system),), source=found.source, timestamp=time), found.created)
    elif found.system and not any(message.role == "system" for message in told.messages[:1]):
        told.messages.insert(0, Message("system", (Text(found.system),), source=found.source, timestamp=time))
        _shift(told)
    steps = list(_steps(found.parts))
    counted = any(part.usage for part in found.parts)
    if not any(part.block is not None for part in found.parts):
        told.skipped["failed response without content" if found.failed else "assistant message without content"] += 1
    for step in steps:
        _step(told, found, step)
        used = next((part.usage for part in reversed(step) if part.usage), None)
        if not counted and step is steps[-1]:
            used = found.usage
        if used is not None:
            told.usage.append(replace(used, position=_last_said(told)))


def _shift(told: _Told) -> None:
    """Move every place by one, since a system prompt came to stand at the head."""
    told.times.insert(0, None)
    told.usage[:] = [replace(used, position=(used.position or 0) + 1) for used in told.usage]
    told.events[:] = [event.moved() for event in told.events]
    told.pruned[:] = [(place + 1, time) for place, time in told.pruned]


def _last_said(told: _Told) -> int:
    return next(i for i in reversed(range(len(told.messages))) if told.messages[i].role == "assistant")


def _steps(parts: Sequence[Part]) -> Iterator[list[Part]]:
    """Split parts at the borders of steps; those that hold nothing are left out."""
    held: list[Part] = []
    for part in parts:
        if part.kind == "step-start" and any(inner.block is not None for inner in held):
            yield held
            held = []
        held.append(part)
    if any(inner.block is not None for inner in held):
        yield held


def _step(told: _Told, found: Record, step: Sequence[Part]) -> None:
    time = iso(found.created)
    blocks: list[Block] = []
    results: list[tuple[ToolResult, Part]] = []
    for part in step:
        block, result = part.block, part.result
        if isinstance(block, ToolCall) and not block.id:
            block = replace(block, id=f"call_{told.made_ids}")
            result = None if result is None else replace(result, call_id=block.id)
            told.made_ids += 1
        blocks += [] if block is None else [block]
        results += [] if result is None else [(result, part)]
    made_up = all(part.synthetic for part in step if part.block is not None)
    told.add(Message("assistant", tuple(blocks), source=found.source, synthetic=made_up, timestamp=time), found.created)
    for result, part in results:
        if part.compacted is not None:
            told.pruned.append((len(told.messages), part.compacted))
        told.add(Message("tool", (result,), source=found.source, timestamp=part.ended or time), found.created)


def _passed_over(told: _Told, found: Record) -> None:
    told.skipped[found.role] += 1


_TAKES: dict[str, Callable[[_Told, Record], None]] = {
    "user": _heard,
    "system": _heard,
    "assistant": _said,
    COMPACTION: _summed_up,
    **dict.fromkeys(("agent-switched", "model-switched", "location-switched", "idle"), _passed_over),
}
