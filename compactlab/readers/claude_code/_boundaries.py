"""Compactions that Claude Code recorded: the two kinds of boundary, and older summaries that stand without one."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec.structs import replace

from compactlab.readers._fields import array, count, string, strings
from compactlab.readers.claude_code._tree import anchor, preserved
from compactlab.transcript import Message, RecordedCompaction, Text, ToolResult

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from compactlab.readers.claude_code._records import Record

CLEARED = "[Old tool result content cleared]"


class Seen(NamedTuple):
    """A message, the records that it was made of, and the token counts recorded with it."""

    message: Message
    uuids: frozenset[str]
    usage: Mapping[str, Any] | None = None


@dataclass
class Mark:
    """A place where the context was compacted: its boundary, if one was recorded, and what was put in its place.

    The first `head` of what was `made` are the summary and what stands before it.
    """

    boundary: Record | None
    made: list[Seen] = field(default_factory=list)
    summaries: list[str] = field(default_factory=list)
    head: int = 0

    @property
    def is_micro(self) -> bool:
        return self.boundary is not None and self.boundary.kind == "microcompact"

    @property
    def own(self) -> Mapping[str, Any] | None:
        return None if self.boundary is None else self.boundary.own

    def add(self, record: Record, made: Sequence[Seen]) -> bool:
        """Add what a record made; True if it is a summary that was written twice, which then counts once."""
        if record.is_summary and record.own is None and record.text in self.summaries:
            return True
        self.made += made
        if record.is_summary:
            self.summaries.append(record.text)
            self.head = len(self.made)
        return False


class _Entry(NamedTuple):
    """What stands in the context: the index of a message, or a message that a compaction made."""

    held: int | Message
    uuids: frozenset[str]


class Context:
    """The messages so far, and what of them stands in the context of the agent."""

    def __init__(self, nodes: Mapping[str, Record]) -> None:
        self.nodes = nodes
        self.messages: list[Message] = []
        self._entries: list[_Entry] = []
        self._found: list[RecordedCompaction] = []
        self._indices: dict[str, int] = {}
        self._pending: list[tuple[int, Mark]] = []

    def add(self, seen: Seen) -> None:
        index = len(self.messages)
        self.messages.append(seen.message)
        self._entries.append(_Entry(index, seen.uuids))
        self._indices |= dict.fromkeys(seen.uuids, index)

    def compact(self, mark: Mark) -> str:
        """Compact the context as a mark says; the kind of a mark that leaves no trace is given back."""
        if mark.own is not None:
            self._pending.append((len(self._found), mark))
            after = [_Entry(seen.message, seen.uuids) for seen in mark.made]
        else:
            after = self._cleared(mark) if mark.is_micro else self._replaced(mark)
            if after == self._entries:
                return "microcompact_boundary without effect" if mark.is_micro else "compact_boundary without effect"
        compaction = _recorded(mark, len(self.messages), after)
        if mark.own is None and self._is_known(compaction):
            return "compaction written twice"
        self._entries = after
        self._found.append(compaction)
        return ""

    def _is_known(self, compaction: RecordedCompaction) -> bool:
        last = self._found[-1] if self._found else None
        same = last is not None and (last.position, last.summary) == (compaction.position, compaction.summary)
        return same and bool(compaction.summary)

    def found(self) -> tuple[RecordedCompaction, ...]:
        """The compactions, now that all messages are known to which they may refer."""
        for place, mark in self._pending:
            made = {uuid: seen.message for seen in mark.made for uuid in seen.uuids}
            uuids = strings(array((mark.own or {}).get("after")))
            after = (made[uuid] if uuid in made else self._indices.get(uuid) for uuid in uuids)
            held = tuple(entry for entry in after if entry is not None)
            self._found[place] = replace(self._found[place], after=held)
        return tuple(self._found)

    def _replaced(self, mark: Mark) -> list[_Entry]:
        """What was kept and what was made; the summary is first unless what was kept is anchored at the boundary."""
        head = self._leading()
        uuids = frozenset() if mark.boundary is None else preserved(mark.boundary, self.nodes)
        kept = [entry for entry in self._entries[len(head) :] if not uuids.isdisjoint(entry.uuids)]
        made = [_Entry(seen.message, seen.uuids) for seen in mark.made]
        if mark.boundary is not None and anchor(mark.boundary) == mark.boundary.uuid:
            return [*head, *kept, *made]
        return [*head, *made[: mark.head], *kept, *made[mark.head :]]

    def _leading(self) -> list[_Entry]:
        leading = 0
        while leading < len(self._entries) and self._message(self._entries[leading]).role == "system":
            leading += 1
        return self._entries[:leading]

    def _message(self, entry: _Entry) -> Message:
        return entry.held if isinstance(entry.held, Message) else self.messages[entry.held]

    def _cleared(self, mark: Mark) -> list[_Entry]:
        metadata = {} if mark.boundary is None else mark.boundary.metadata
        calls = {*strings(metadata.get("compactedToolIds")), *strings(metadata.get("compacted_tool_ids"))}
        gone = {*strings(metadata.get("clearedAttachmentUUIDs")), *strings(metadata.get("cleared_attachment_uuids"))}
        kept = [entry for entry in self._entries if not (entry.uuids and entry.uuids <= gone)]
        return [self._without(entry, calls) for entry in kept]

    def _without(self, entry: _Entry, calls: Iterable[str]) -> _Entry:
        message = self._message(entry)
        cleared = (Text(CLEARED),)
        blocks = tuple(
            replace(block, content=cleared) if isinstance(block, ToolResult) and block.call_id in calls else block
            for block in message.blocks
        )
        return entry if blocks == message.blocks else _Entry(replace(message, blocks=blocks), entry.uuids)


def _recorded(mark: Mark, position: int, after: Sequence[_Entry]) -> RecordedCompaction:
    boundary = mark.boundary
    given = {} if boundary is None else boundary.metadata
    before = _tokens(given, "preTokens", "pre_tokens")
    saved = _tokens(given, "tokensSaved", "tokens_saved")
    left = _tokens(given, "postTokens", "post_tokens")
    own = mark.own or {}
    return RecordedCompaction(
        position,
        trigger="microcompact" if mark.is_micro else string(given.get("trigger")) or "unknown",
        tokens_before=before,
        tokens_after=before - saved if left is None and before is not None and saved is not None else left,
        after=tuple(entry.held for entry in after),
        summary=own["summary"] if isinstance(own.get("summary"), str) else "\n\n".join(mark.summaries),
        summariser=string(own.get("summariser")),
    )


def _tokens(given: Mapping[str, Any], *names: str) -> int | None:
    return next((found for name in names if (found := count(given.get(name))) is not None), None)
