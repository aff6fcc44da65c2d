"""The story of a branch: its messages, and the compactions that were recorded on the way."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec.structs import replace

from compactlab.readers._fields import count, string
from compactlab.readers._times import iso
from compactlab.readers.pi._entries import RESET
from compactlab.readers.pi._messages import COMPACTED, Heard
from compactlab.transcript import Message, Messages, RecordedCompaction, Text, Usage

if TYPE_CHECKING:
    from collections.abc import Sequence

    from compactlab.readers.pi._entries import Entry


class Story(NamedTuple):
    """What a branch became; `left` compactions had nothing before them, or repeat the one before."""

    messages: Messages
    compactions: tuple[RecordedCompaction, ...]
    usage: tuple[Usage, ...]
    left: int


def story(branch: Sequence[Entry]) -> Story:
    """Make the messages of a branch, in order, and its compactions.

    A compaction keeps what stands from its first kept entry on, be it before an earlier compaction. The entry is named
    by its id, or, in the first version, by its place among all records of the file, the header being the first.
    """
    messages: list[Message] = []
    compactions: list[RecordedCompaction] = []
    usage: list[Usage] = []
    starts: dict[str | int, int] = {}
    left = 0
    last: Heard = Heard()
    for found in branch:
        starts[found.id or found.ordinal] = starts[found.ordinal] = len(messages)
        if found.compaction:
            made = _compaction(found, starts, messages)
            if made is None or _repeats(made, compactions):
                left += 1
            else:
                compactions.append(made)
        said = found.heard
        if said.message is None:
            continue
        last = Heard() if said.message.role == "user" else last
        if said.usage is not None and _is_copy(said, last):
            messages.append(replace(said.message, synthetic=True))
            continue
        if said.usage is not None:
            usage.append(replace(said.usage, position=len(messages)))
            last = said
        messages.append(said.message)
    return Story(tuple(messages), tuple(compactions), tuple(usage), left)


def _is_copy(said: Heard, last: Heard) -> bool:
    """Whether a client wrote the text of a response down once more, when the run had ended: same text, same tokens."""
    if said.usage != last.usage or said.message is None or last.message is None:
        return False
    return not said.message.calls and said.message.text == last.message.text


def _repeats(made: RecordedCompaction, before: Sequence[RecordedCompaction]) -> bool:
    return bool(before) and before[-1].position == made.position and before[-1].summary == made.summary


def _compaction(found: Entry, starts: dict[str | int, int], messages: Sequence[Message]) -> RecordedCompaction | None:
    position = len(messages)
    leading = next((i for i, message in enumerate(messages) if message.role != "system"), position)
    if leading == position:
        return None
    given: dict[str, Any] = found.compaction
    if given["type"] == RESET:
        return RecordedCompaction(position, trigger="clear", after=tuple(range(leading)))
    summary = string(given.get("summary"))
    kept = string(given.get("firstKeptEntryId")) or count(given.get("firstKeptEntryIndex"))
    first = position if kept is None else max(leading, starts.get(kept, position))
    made = Message("user", (Text(COMPACTED.format(summary)),), synthetic=True, timestamp=iso(given.get("timestamp")))
    return RecordedCompaction(
        position,
        trigger="hook" if given["hooked"] else "unknown",
        tokens_before=count(given.get("tokensBefore")),
        tokens_after=count(given.get("tokensAfter")),
        after=(*range(leading), made, *range(first, position)),
        summary=summary,
    )
