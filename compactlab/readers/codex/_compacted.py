"""What stood in the agent's context right after a compaction.

Follows what Codex does: the history is replaced by the recorded one; where none was recorded, by what it was given at
the start, the words of the user as far as 20,000 tokens of four bytes go, counted from the end, and the summary.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from typing import TYPE_CHECKING

from msgspec.structs import replace

from compactlab.readers.codex._injected import is_summary
from compactlab.transcript import Message, Text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

USER_TOKENS = 20_000
NO_SUMMARY = "(no summary available)"
_BYTES = 4
Entry = int | Message


class Known:
    """The messages of a story by what they say, so that a recorded history need not repeat them."""

    def __init__(self) -> None:
        self._places: dict[object, list[int]] = defaultdict(list)
        self._count = 0

    def entries(self, history: Sequence[Message], messages: Sequence[Message], first: int = 0) -> tuple[Entry, ...]:
        """Give a history, the messages of it that stand among *messages* by index: of equal ones the latest, in order.

        Those before *first* are no part of any history.

        >>> go, done = Message("user", (Text("go"),)), Message("assistant", (Text("done"),))
        >>> Known().entries([go, done], [go, done, go, done])
        (2, 3)
        """
        self._learn(messages, first)
        found: list[Entry] = []
        used: set[int] = set()
        later: dict[object, Iterator[int]] = {}
        limit = len(messages)
        for message in reversed(history):
            said = message.role, message.blocks
            places = self._places.get(said, [])
            before = bisect_left(places, limit)
            if before:
                limit = places[before - 1]
            spare = later.setdefault(said, reversed(places))
            chosen = limit if before else next((at for at in spare if at not in used), None)
            found.append(message if chosen is None else chosen)
            used.update(() if chosen is None else (chosen,))
        return tuple(reversed(found))

    def _learn(self, messages: Sequence[Message], first: int) -> None:
        if len(messages) < self._count:
            self._places.clear()
            self._count = 0
        for index in range(max(self._count, first), len(messages)):
            self._places[messages[index].role, messages[index].blocks].append(index)
        self._count = len(messages)


def rebuilt(context: Sequence[Entry], messages: Sequence[Message], summary: Message) -> tuple[Entry, ...]:
    """Give what replaced *context* where no history was recorded; a picture is no word, a text may be cut.

    >>> said = [Message(role, (Text(role),)) for role in ("system", "user", "assistant")]
    >>> rebuilt(range(3), said, Message("user", (Text("All done."),)))[:2]
    (0, 1)
    """
    first = next((at for at, entry in enumerate(context) if _is_heard(_message(entry, messages))), len(context))
    given = [entry for entry in context[:first] if not is_summary(_message(entry, messages))]
    heard = [entry for entry in context[first:] if _message(entry, messages).by_person]
    return (*given, *reversed(list(_within(reversed(heard), messages))), summary)


def _is_heard(message: Message) -> bool:
    return message.by_person or message.role in {"assistant", "tool"}


def _message(entry: Entry, messages: Sequence[Message]) -> Message:
    return entry if isinstance(entry, Message) else messages[entry]


def _within(heard: Iterable[Entry], messages: Sequence[Message]) -> Iterable[Entry]:
    left = USER_TOKENS
    for entry in heard:
        message = _message(entry, messages)
        text = "".join(block.text for block in message.blocks if isinstance(block, Text))
        tokens = -(-len(text.encode("utf-8", "surrogatepass")) // _BYTES)
        if tokens > left:
            if left:
                yield replace(message, blocks=(Text(_cut(text, left)),))
            return
        left -= tokens
        plain = all(isinstance(block, Text) for block in message.blocks)
        yield entry if plain else replace(message, blocks=(Text(text),))


def _cut(text: str, tokens: int) -> str:
    """Cut a text in its middle, so that its two ends have that many tokens together."""
    raw = text.encode("utf-8", "surrogatepass")
    half = tokens * _BYTES // 2
    left = -(-(len(raw) - 2 * half) // _BYTES)
    start, end = raw[:half].decode(errors="ignore"), raw[-half:].decode(errors="ignore")
    return f"{start}…{left} tokens truncated…{end}"
