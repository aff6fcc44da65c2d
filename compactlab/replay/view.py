"""What stands in the agent's view as a session grows and is compacted, and which facts stand in it.

A compaction costs what it dropped and made, and the size of the view; never the length of the past.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from itertools import takewhile
from typing import NamedTuple

from msgspec.structs import replace

from compactlab import history
from compactlab.history import Place
from compactlab.replay.narrowing import Narrowed
from compactlab.replay.timeline import Session
from compactlab.transcript import Block, Message, Messages, ToolCall, ToolResult


class Entry:
    """A message of the view: which one of the session's it is or was (None: made), and the facts in it.

    `sure` are facts that stand as they were recorded, and whether near a content word; `made` those in a message that
    compaction made or edited, with the words near them.
    """

    __slots__ = ("at", "made", "message", "sure", "weight")

    def __init__(self, at: int | None, message: Message, weight: int, sure: Iterable[tuple[int, bool]]) -> None:
        self.at = at
        self.message = message
        self.weight = weight
        self.sure = tuple(sure)
        self.made: dict[int, frozenset[str]] = {}

    @property
    def facts(self) -> frozenset[int]:
        """All facts in the message."""
        return frozenset((*(fact for fact, _ in self.sure), *self.made))


class Rewritten(NamedTuple):
    """What an applied compaction changed: how many entries at the start are the same, and the facts of those gone."""

    shared: int
    gone: frozenset[int]


class View:
    """The messages that the next request holds; `stretch` is the list of them since the last applied compaction."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.entries: list[Entry] = []
        self.stretch: list[Message] = []
        self.weight = 0
        self._recorded: dict[int, Entry] = {}
        self._open: set[tuple[int, int]] = set()
        self._loose: Counter[int] = Counter()
        self._sure: Counter[int] = Counter()
        self._words: dict[int, list[frozenset[str]]] = defaultdict(list)

    def grow(self, at: int) -> Entry | None:
        """Append the session's message *at* that place.

        Results whose calls are gone, or were closed by a stand-in, do not come in; None if nothing is left.
        """
        moment = self.session.moments[at]
        message = self._answering(moment.message, moment.answers)
        if message is moment.message:
            return self._append(Entry(at, message, moment.weight, moment.standing))
        return self._append(self._edited(at, message)) if message.blocks else None

    def answer(self, at: int, cut: Narrowed | None = None) -> Entry:
        """Append the agent's answer *at* that place of the session, as recorded or as it was *cut*."""
        moment = self.session.moments[at]
        if cut is None or cut.message is moment.message:
            return self._append(Entry(at, moment.message, moment.weight, moment.standing))
        return self._append(Entry(at, cut.message, self.session.meter.message(cut.message), cut.standing))

    def _append(self, entry: Entry) -> Entry:
        self._open.update((entry.at or 0, number) for number in range(len(entry.message.calls)))
        self.entries.append(entry)
        self.stretch.append(entry.message)
        self._enter(entry)
        return entry

    def _answering(self, message: Message, answers: tuple[tuple[int, int], ...]) -> Message:
        """The message with the results that answer a call which still waits; itself if it has no others."""
        numbers = iter(answers)
        kept: list[Block] = []
        for block in message.blocks:
            if isinstance(block, ToolResult):
                call = next(numbers)
                if call not in self._open:
                    continue
                self._open.remove(call)
            kept.append(block)
        return message if len(kept) == len(message.blocks) else replace(message, blocks=tuple(kept))

    def numbered(self) -> Messages:
        """The messages, each with its place in the view as its source."""
        return tuple(replace(entry.message, source=i) for i, entry in enumerate(self.entries))

    def rewrite(self, compacted: Messages) -> Rewritten:
        """Take over what a compaction made of `numbered`."""
        before = self.entries
        after = [self._taken(message, before) for message in compacted]
        kept = set(map(id, after))
        gone: set[int] = set()
        for entry in before:
            if id(entry) not in kept:
                self._leave(entry)
                gone |= entry.facts
        known = set(map(id, before))
        for entry in after:
            if id(entry) not in known:
                self._enter(entry)
        same = takewhile(lambda pair: _is_sent_alike(*pair), zip(before, after, strict=False))
        shared = sum(1 for _ in same)
        self.entries, self.stretch = after, [entry.message for entry in after]
        self._open = set(self._waiting())
        return Rewritten(shared, frozenset(gone))

    def _taken(self, message: Message, before: list[Entry]) -> Entry:
        """The entry of a message that came out of a compaction: the same as before, edited, or new."""
        if message.source is None:
            return self._edited(None, message)
        old = before[message.source]
        if message.blocks == old.message.blocks:
            return old
        return self._edited(old.at, replace(message, source=old.message.source))

    def _edited(self, at: int | None, message: Message) -> Entry:
        """An entry whose blocks are, in part at least, not as they were recorded."""
        entry = Entry(at, message, self.session.meter.message(message), ())
        for block in message.blocks:
            for fact, words in self.session.made(block).items():
                entry.made[fact] = entry.made.get(fact, frozenset()) | words
        return entry

    def stands(self, fact: int) -> bool:
        """Whether a fact stands anywhere in the view."""
        return self._loose[fact] > 0

    def is_bound(self, fact: int, before: int) -> bool:
        """Whether a fact stands near a content word of one of its homes *before* that place of the session."""
        return self._sure[fact] > 0 or any(
            self.session.is_near(fact, words, before) for words in self._words.get(fact, ())
        )

    def holds(self, place: Place) -> bool:
        """Whether a block of the session stands in the view as it was recorded."""
        entry = self._recorded.get(place.message)
        return entry is not None and self.session.messages[place.message].blocks[place.block] in entry.message.blocks

    def _waiting(self) -> Iterator[tuple[int, int]]:
        """Calls in the view that nothing answers yet, by message of the session and number in it."""
        for place in history.pair(tuple(self.stretch)).open_calls:
            at = self.entries[place.message].at
            if at is not None:
                calls = self.stretch[place.message].blocks[: place.block]
                yield at, sum(isinstance(block, ToolCall) for block in calls)

    def _enter(self, entry: Entry) -> None:
        self.weight += entry.weight
        if entry.at is not None:
            self._recorded[entry.at] = entry
        self._loose.update(entry.facts)
        self._sure.update(fact for fact, bound in entry.sure if bound)
        for fact, words in entry.made.items():
            self._words[fact].append(words)

    def _leave(self, entry: Entry) -> None:
        self.weight -= entry.weight
        if entry.at is not None:
            self._recorded.pop(entry.at, None)
        self._loose.subtract(entry.facts)
        self._sure.subtract(fact for fact, bound in entry.sure if bound)
        for fact, words in entry.made.items():
            self._words[fact].remove(words)


def _is_sent_alike(one: Entry, other: Entry) -> bool:
    return one is other or (one.message.role, one.message.blocks) == (other.message.role, other.message.blocks)
