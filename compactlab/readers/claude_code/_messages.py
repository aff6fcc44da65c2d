"""Messages and recorded compactions of a live branch: pieces of one response together, results after their calls."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from compactlab.readers.claude_code._boundaries import compactions
from compactlab.readers.claude_code._injected import injected
from compactlab.shapes import anthropic
from compactlab.transcript import Block, Message, Messages, RecordedCompaction, Text, ToolCall

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from compactlab.readers.claude_code._tree import Record

MARKERS = {"fallback"}  # blocks that say which model took over, no part of what was said


class Built(NamedTuple):
    """What a branch became, and what in it was left out, counted by kind."""

    messages: Messages
    compactions: tuple[RecordedCompaction, ...]
    skipped: dict[str, int]


class Made(NamedTuple):
    """A message, the records that it was made of, and whether a compaction's summary is what it says."""

    message: Message
    uuids: frozenset[str]
    summary: bool = False


@dataclass
class _Turn:
    """One response of the model, growing piece by piece, and the results of its calls."""

    first: Record
    blocks: list[Block] = field(default_factory=list)
    uuids: set[str] = field(default_factory=set)
    results: list[Made] = field(default_factory=list)

    def add(self, record: Record) -> None:
        known = {block.id for block in self.blocks if isinstance(block, ToolCall) and block.id}
        for block in _assistant_blocks(record):
            if not (isinstance(block, ToolCall) and block.id in known):
                self.blocks.append(block)
        self.uuids.add(record.uuid)

    def made(self) -> Iterator[Made]:
        if self.blocks:
            made_up = self.first.message.get("model") == "<synthetic>"
            spoken = Message("assistant", tuple(self.blocks), source=self.first.index, synthetic=made_up)
            yield Made(replace(spoken, timestamp=_timestamp(self.first)), frozenset(self.uuids))
        yield from self.results


def build(records: Sequence[Record], nodes: Mapping[str, Record]) -> Built:
    """Make the messages of a live branch, and its recorded compactions; *nodes* are all records of the file."""
    made: list[Made] = []
    boundaries: list[tuple[int, Record]] = []
    skipped: dict[str, int] = {}
    for entry in _entries(records, skipped):
        if isinstance(entry, _Turn):
            made += entry.made()
        elif isinstance(entry, Made):
            made.append(entry)
        else:
            boundaries.append((len(made), entry))
    found, left = compactions(made, boundaries, nodes)
    for kind in left:
        skipped[kind] = skipped.get(kind, 0) + 1
    return Built(tuple(entry.message for entry in made), found, skipped)


def _entries(records: Iterable[Record], skipped: dict[str, int]) -> list[_Turn | Made | Record]:
    """Put the records in the order of the conversation; a boundary, as a record, parts what was before from after."""
    entries: list[_Turn | Made | Record] = []
    responses: dict[str, _Turn] = {}
    owners: dict[str, _Turn] = {}
    for record in records:
        left_out = _left_out(record)
        if left_out:
            skipped[left_out] = skipped.get(left_out, 0) + 1
        elif record.kind == "boundary":
            entries.append(record)
            responses, owners = {}, {}
        elif record.kind == "assistant":
            if record.response not in responses:
                responses[record.response] = _Turn(record)
                entries.append(responses[record.response])
            responses[record.response].add(record)
            owners |= dict.fromkeys(record.ids("tool_use", "id"), responses[record.response])
        else:
            entries += _heard(record, owners)
    return entries


def _left_out(record: Record) -> str:
    """Name the kind of a message that the model was never sent; empty for one that it was."""
    if record.value.get("isApiErrorMessage"):
        return "api error shown to the user"
    if record.value.get("isVisibleInTranscriptOnly") and not record.value.get("isCompactSummary"):
        return "message shown to the user only"
    return ""


def _heard(record: Record, owners: Mapping[str, _Turn]) -> list[Made]:
    """Make the messages of a user record; results of a known response go to it, the rest is given back."""
    made = [Made(message, frozenset({record.uuid}), _is_summary(record)) for message in _user_messages(record)]
    rest: list[Made] = []
    for entry in made:
        results = entry.message.results
        owner = owners.get(results[0].call_id) if results else None
        (rest if owner is None else owner.results).append(entry)
    return rest


def _user_messages(record: Record) -> Iterator[Message]:
    flagged = bool(record.value.get("isMeta") or record.value.get("isCompactSummary"))
    blocks = anthropic.blocks(record.message.get("content"))
    for message in anthropic.split("user", blocks, record.index):
        timed = replace(message, timestamp=_timestamp(record))
        if message.role == "tool":
            yield timed
            continue
        for synthetic, run in groupby(message.blocks, key=lambda block: flagged or _is_injected(block)):
            yield replace(timed, blocks=tuple(run), synthetic=synthetic)


def _is_injected(block: Block) -> bool:
    return isinstance(block, Text) and injected(block.text)


def _is_summary(record: Record) -> bool:
    return bool(record.value.get("isCompactSummary"))


def _assistant_blocks(record: Record) -> tuple[Block, ...]:
    content = record.message.get("content")
    if isinstance(content, list):
        content = [part for part in content if not (isinstance(part, dict) and str(part.get("type")) in MARKERS)]
    return tuple(block for block in anthropic.blocks(content) if not _is_empty(block))


def _is_empty(block: Block) -> bool:
    return isinstance(block, Text) and not block.text


def _timestamp(record: Record) -> str | None:
    timestamp = record.value.get("timestamp")
    return timestamp if isinstance(timestamp, str) else None
