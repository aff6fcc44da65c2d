"""Messages of a live branch: pieces of one response together, results after their calls, each turn once."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from compactlab.readers._fields import count, mapping
from compactlab.readers._usage import anthropic_usage
from compactlab.readers.claude_code._boundaries import Context, Mark, Seen
from compactlab.readers.claude_code._injected import injected
from compactlab.readers.claude_code._records import Record
from compactlab.readers.claude_code._tree import answered
from compactlab.shapes import anthropic
from compactlab.transcript import (
    Block,
    Message,
    Messages,
    RecordedCompaction,
    Role,
    Text,
    ToolCall,
    ToolResult,
    Usage,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

SYNTHETIC_MODEL = "<synthetic>"


class Built(NamedTuple):
    """What a branch became, and what in it was left out or mended, counted by kind."""

    messages: Messages
    compactions: tuple[RecordedCompaction, ...]
    usage: tuple[Usage, ...]
    skipped: dict[str, int]
    repaired: dict[str, int]


@dataclass
class _Turn:
    """One response of the model, growing piece by piece, and the results of its calls."""

    first: Record
    blocks: list[Block] = field(default_factory=list)
    uuids: set[str] = field(default_factory=set)
    results: list[Seen] = field(default_factory=list)
    usage: dict[str, object] = field(default_factory=dict)

    def add(self, record: Record) -> None:
        known = {block.id for block in self.blocks if isinstance(block, ToolCall) and block.id}
        self.blocks += [b for b in record.blocks if not (isinstance(b, ToolCall) and b.id in known)]
        self.uuids.add(record.uuid)
        if record.usage and (count(record.usage.get("output_tokens")) or 0) >= (
            count(self.usage.get("output_tokens")) or 0
        ):
            self.usage = record.usage

    def spoken(self) -> Seen:
        made_up = self.first.model == SYNTHETIC_MODEL
        message = Message("assistant", tuple(self.blocks), source=self.first.index, synthetic=made_up)
        return Seen(replace(message, timestamp=self.first.timestamp), frozenset(self.uuids))


def build(records: Sequence[Record], nodes: Mapping[str, Record], replaced: Mapping[str, str] | None = None) -> Built:
    """Make the messages of a live branch, its recorded compactions and its token counts.

    *nodes* are all records of the file; *replaced* the texts that the model was sent instead of results, by call.
    """
    skipped: Counter[str] = Counter()
    repaired: Counter[str] = Counter()
    context = Context(nodes)
    usage: list[Usage] = []
    story = _Story(skipped)
    for record in _once(records, skipped):
        story.take(record)
    for entry in story.entries:
        if isinstance(entry, Mark):
            kind = context.compact(entry)
            skipped[kind] += bool(kind)
            continue
        position = len(context.messages)
        counts = entry.usage if isinstance(entry, _Turn) else entry.usage or {}
        if not isinstance(entry, _Turn) or entry.blocks:
            context.add(entry.spoken() if isinstance(entry, _Turn) else entry)
            counted = anthropic_usage(position, counts)
            usage += [] if counted is None else [counted]
        for result in entry.results if isinstance(entry, _Turn) else ():
            context.add(result)
    for place, message in enumerate(context.messages if replaced else ()):
        context.messages[place] = _as_sent(message, replaced or {}, repaired)
    return Built(tuple(context.messages), context.found(), tuple(usage), dict(+skipped), dict(repaired))


def _as_sent(message: Message, replaced: Mapping[str, str], repaired: Counter[str]) -> Message:
    """Put the text that the model was sent in place of a result that was too large for it."""
    if not any(result.call_id in replaced for result in message.results):
        return message
    blocks = tuple(
        replace(block, content=(Text(replaced[block.call_id]),))
        if isinstance(block, ToolResult) and block.call_id in replaced
        else block
        for block in message.blocks
    )
    repaired["result as the model was sent it"] += 1
    return replace(message, blocks=blocks)


def _once(records: Iterable[Record], skipped: Counter[str]) -> Iterator[Record]:
    """Leave out the turns that a resumed session wrote once more, with new uuids but the old response ids.

    A user's words are such a copy if they stand before and lead again to a response that stands before.
    """
    records = list(records)
    spoken: dict[str, set[Block]] = defaultdict(set)
    heard: set[tuple[Block, ...]] = set()
    results: dict[str, tuple[Block, ...]] = {}
    leads = _leads(records)
    was_copy = False
    for record, lead in zip(records, leads, strict=True):
        copied = False
        if record.own is not None or not record.blocks:
            pass
        elif record.kind == "assistant":
            known = bool(record.response) and spoken[record.response].issuperset(record.blocks)
            copied = known and (was_copy or not _is_blank(record))
            spoken[record.response].update(record.blocks)
        elif answers := answered(record):
            copied = all(results.get(call) == record.blocks for call in answers)
            results |= dict.fromkeys(answers, record.blocks)
        elif record.kind == "user" and not record.is_summary:
            copied = record.blocks in heard and lead in spoken
            heard.add(record.blocks)
        was_copy = copied
        if copied:
            skipped["turn written again"] += 1
        else:
            yield record


def _leads(records: Sequence[Record]) -> list[str]:
    """For each record, the id of the next response after it."""
    leads: list[str] = []
    response = "\0"
    for record in reversed(records):
        if record.kind == "assistant" and record.response:
            response = record.response
        leads.append(response)
    return leads[::-1]


def _is_blank(record: Record) -> bool:
    return all(isinstance(block, Text) and not block.text.strip() for block in record.blocks)


class _Story:
    """The records in the order of the conversation; a mark parts what was before from after."""

    def __init__(self, skipped: Counter[str]) -> None:
        self.entries: list[_Turn | Seen | Mark] = []
        self.skipped = skipped
        self._responses: dict[str, _Turn] = {}
        self._owners: dict[str, _Turn] = {}

    def take(self, record: Record) -> None:
        last = self.entries[-1] if self.entries else None
        if record.hidden:
            self.skipped[record.hidden] += 1
        elif record.is_boundary:
            self._mark(Mark(record))
        elif _is_made(record, last):
            mark = last if isinstance(last, Mark) and not last.is_micro else self._mark(Mark(None))
            self.skipped["repeated summary"] += mark.add(record, _heard(record))
        elif record.own is not None:
            self.entries.append(_exact(record))
        else:
            self.skipped["message without content"] += not record.blocks
            self._say(record)

    def _mark(self, mark: Mark) -> Mark:
        self.entries.append(mark)
        if not mark.is_micro:
            self._responses, self._owners = {}, {}
        return mark

    def _say(self, record: Record) -> None:
        if record.kind != "assistant":
            self.entries += _unowned(_heard(record), self._owners)
            return
        turn = self._responses.setdefault(record.response or record.uuid, _Turn(record))
        if turn.first is record:
            self.entries.append(turn)
        turn.add(record)
        self._owners |= {block.id: turn for block in record.blocks if isinstance(block, ToolCall)}


def _is_made(record: Record, last: object) -> bool:
    """Whether a record is no part of the story but of what a compaction put in its place."""
    if record.own is not None:
        return bool(record.own.get("made"))
    return record.is_summary or (record.attached and isinstance(last, Mark) and not last.is_micro)


def _unowned(seen: Iterable[Seen], owners: Mapping[str, _Turn]) -> list[Seen]:
    """Give results of a known response to it; what is left is given back."""
    rest: list[Seen] = []
    for entry in seen:
        results = entry.message.results
        owner = owners.get(results[0].call_id) if results else None
        (rest if owner is None else owner.results).append(entry)
    return rest


def _heard(record: Record) -> list[Seen]:
    """Make the messages of a user record: results, and runs of what a person said and did not say."""
    if record.own is not None:
        return [_exact(record)]
    uuids = frozenset({record.uuid})
    made: list[Seen] = []
    for message in anthropic.split("user", record.blocks, record.index):
        timed = replace(message, timestamp=record.timestamp)
        if message.role == "tool":
            made.append(Seen(timed, uuids))
            continue
        runs = groupby(message.blocks, key=lambda block: record.synthetic or record.attached or _is_injected(block))
        made += [Seen(replace(timed, blocks=tuple(run), synthetic=synthetic), uuids) for synthetic, run in runs]
    return made


def _is_injected(block: Block) -> bool:
    return isinstance(block, Text) and injected(block.text)


def _exact(record: Record) -> Seen:
    """Make the message that our own writer wrote as this record."""
    own = mapping(record.own)
    role: Role = record.kind if record.kind in {"user", "assistant", "system"} else "user"
    if record.kind == "user" and own.get("role") == "tool":
        role = "tool"
    message = Message(
        role,
        record.blocks,
        source=record.index,
        synthetic=own.get("synthetic") is True,
        pinned=own.get("pinned") is True,
        timestamp=record.timestamp,
    )
    return Seen(message, frozenset({record.uuid}), record.usage)
