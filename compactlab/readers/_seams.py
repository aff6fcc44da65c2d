"""Where one recorded list of messages goes on from another: what was copied, what a harness made, what is new.

Some tools keep a session as lists of what stood in context: a child session after a compaction, a file that was rotated
away, rows that were archived and written anew. Each list begins with what was left of the one before it.
"""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from msgspec.structs import replace

from compactlab.transcript import Message, RecordedCompaction

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    Made = Callable[[Message], bool]

_LEAST_RUN = 3
_CANDIDATES = 50


class Story:
    """The whole story of a session, and its compactions, put together from the lists in which it was recorded.

    *made* tells the messages that a harness writes into a compacted list: the summary, and what it adds to it.
    """

    def __init__(self, made: Made) -> None:
        self._made = made
        self._context: list[int | Message] = []
        self.messages: list[Message] = []
        self.compactions: list[RecordedCompaction] = []
        self.copies = 0

    def add(self, messages: Iterable[Message]) -> None:
        """Go on with messages that are new."""
        for message in messages:
            self._context.append(len(self.messages))
            self.messages.append(message)

    def begin(self, listed: Sequence[Message]) -> None:
        """Go on with a list of which all stands in context: a summary in it took the place of what is not recorded."""
        for is_made, run in groupby(listed, key=self._made):
            if is_made:
                self._compacted([*self._context, *(replace(made, synthetic=True) for made in run)])
            else:
                self.add(run)

    def resume(self, listed: Sequence[Message]) -> None:
        """Go on with a list that begins with what was left of the context: all of it, or what a compaction kept."""
        if not self._context:
            self.begin(listed)
            return
        standing = self.standing
        places = carried(standing, listed, self._made)
        entries = [self._entry(place, message, standing) for place, message in zip(places, listed, strict=False)]
        self.copies += sum(place is not None for place in places)
        if entries != self._context:
            self._compacted(entries)
        self.begin(listed[len(places) :])

    @property
    def standing(self) -> list[Message]:
        """The messages that stand in context now."""
        return [self.messages[entry] if isinstance(entry, int) else entry for entry in self._context]

    def _entry(self, place: int | None, message: Message, standing: Sequence[Message]) -> int | Message:
        if place is not None and same(standing[place], message):
            return self._context[place]
        return replace(message, synthetic=message.synthetic or message.role in {"user", "system"})

    def _compacted(self, entries: list[int | Message]) -> None:
        made = (entry.text for entry in entries if isinstance(entry, Message) and self._made(entry))
        told = RecordedCompaction(len(self.messages), after=tuple(entries), summary=next(made, ""))
        self.compactions.append(told)
        self._context = entries


def same(one: Message, other: Message) -> bool:
    """Whether two messages say the same under the same role."""
    return one.role == other.role and one.blocks == other.blocks


def carried(context: Sequence[Message], listed: Sequence[Message], made: Made) -> list[int | None]:
    """Say of the first messages of a list where they stood in the context before it; None for those that were made.

    The list keeps the head of the context, then has what was made, then the tail. A message whose calls or results
    are those of another is that message, changed, and so is a system prompt.

    >>> from compactlab.transcript import Text
    >>> a, b, c, d, new = (Message("user", (Text(text),)) for text in ("a", "b", "c", "d", "new"))
    >>> summary = Message("user", (Text("SUMMARY"),))
    >>> carried([a, b, c, d], [a, summary, d, new], lambda message: message.text == "SUMMARY")
    [0, None, 3]
    """
    at = 0
    while at < min(len(context), len(listed)) and _alike(context[at], listed[at]):
        at += 1
    places: list[int | None] = list(range(at))
    if at == len(context):
        return places
    places += [None] * _made_run(listed, at, made)
    tail = _tail(context, at, listed, len(places))
    if tail is not None:
        places += range(tail, tail + _run(context, tail, listed, len(places)))
        places += [None] * _made_run(listed, len(places), made)
    return places


def _alike(one: Message, other: Message) -> bool:
    if one.role != other.role:
        return False
    return one.blocks == other.blocks or one.role == "system" or (bool(_ids(one)) and _ids(one) == _ids(other))


def _ids(message: Message) -> list[str]:
    found = [*(call.id for call in message.calls), *(result.call_id for result in message.results)]
    return [name for name in found if name]


def _made_run(listed: Sequence[Message], at: int, made: Made) -> int:
    count = 0
    while at + count < len(listed) and made(listed[at + count]):
        count += 1
    return count


def _tail(context: Sequence[Message], low: int, listed: Sequence[Message], at: int) -> int | None:
    """Where in the context the kept tail begins: the run from there ends with the context, or is the longest."""
    if at >= len(listed):
        return None
    places = [place for place in range(low, len(context)) if _alike(context[place], listed[at])][-_CANDIDATES:]
    runs = {place: _run(context, place, listed, at) for place in places}
    whole = next((place for place, run in runs.items() if place + run == len(context)), None)
    if whole is not None or not runs:
        return whole
    longest = max(runs, key=lambda place: runs[place])
    return longest if runs[longest] >= _LEAST_RUN else None


def _run(context: Sequence[Message], place: int, listed: Sequence[Message], at: int) -> int:
    """How many messages follow alike from two places; one between two that are alike may have been changed."""
    count, most = 0, min(len(context) - place, len(listed) - at)
    while count < most:
        if not _alike(context[place + count], listed[at + count]):
            after = count + 1
            known = after < most and _alike(context[place + after], listed[at + after])
            if not known or context[place + count].role != listed[at + count].role:
                break
        count += 1
    return count
