"""The messages of a Codex session with what happened to them: compactions, and turns that were rolled back."""

from __future__ import annotations

from bisect import bisect_left
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec.structs import replace

from compactlab.readers._fields import count, first_string, string
from compactlab.readers.codex._compacted import NO_SUMMARY, Known, rebuilt
from compactlab.readers.codex._tokens import Before, Tokens
from compactlab.shapes.openai_responses import Assembly
from compactlab.transcript import Message, RecordedCompaction, Text, Transcript

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from compactlab.readers.codex._compacted import Entry

BRANCH = "message of another branch"
DOUBLED = "compaction item beside a compaction"
_COUNTED = Before(-1, 0)


class Place(NamedTuple):
    """Where a record stands, and when it was written."""

    source: int | None = None
    timestamp: str | None = None


class _Told(NamedTuple):
    """A compaction, what was counted before it, and whether it is known by an item of the provider alone."""

    compaction: RecordedCompaction
    before: Before
    inline: bool


class History:
    """What the assembly holds; `prompted` if its first message is the system prompt, which no compaction touches."""

    def __init__(self) -> None:
        self.assembly = Assembly()
        self.tokens = Tokens()
        self.prompted = False
        self._known = Known()
        self._told: list[_Told] = []
        self._estimated_at = -1

    @property
    def is_compacted_here(self) -> bool:
        """Whether nothing was said since the last compaction."""
        return bool(self._told) and self._told[-1].compaction.position == self._position

    @property
    def compactions(self) -> tuple[RecordedCompaction, ...]:
        """The compactions, with the tokens that were counted before each, where it does not tell them."""
        found: list[RecordedCompaction] = []
        last = -1
        for told, before, _ in self._told:
            known = told.tokens_before is not None or before.run == last
            found.append(told if known else replace(told, tokens_before=self.tokens.before(before)))
            last = before.run
        return tuple(found)

    @property
    def _position(self) -> int:
        self.assembly.close()
        return len(self.assembly.messages)

    def lead(self, message: Message, place: int) -> bool:
        """Put a message at the start; False if that is too late, since there was a compaction."""
        if self._told:
            return False
        self.assembly.insert(place, message)
        return True

    def compact(self, made: Sequence[Message] | None, place: Place, record: Mapping[str, Any]) -> None:
        """Note a compaction that left the messages *made*, or, if that is None, what Codex makes of a summary."""
        position = self._position
        summary = string(record.get("message"))
        after: tuple[Entry, ...]
        if made is None:
            said = Text(summary or NO_SUMMARY)
            told = Message("user", (said,), place.source, synthetic=True, timestamp=place.timestamp)
            after = rebuilt(self._entries(position), self.assembly.messages, told)
        else:
            after = self._known.entries(made, self.assembly.messages, int(self.prompted))
        if self.prompted and 0 not in after:
            after = (0, *after)
        if self.is_compacted_here and self._told[-1].inline:
            self._told.pop()
        self._add(after, summary, record)

    def compact_inline(self, left: Message) -> None:
        """Note a compaction of which only the provider's own item tells: *left* stands for all before it."""
        if self.is_compacted_here:
            self.assembly.skipped[DOUBLED] += 1
            return
        self._add((*((0,) if self.prompted else ()), left), left.text, {}, inline=True)

    def _add(self, after: tuple[Entry, ...], summary: str, record: Mapping[str, Any], *, inline: bool = False) -> None:
        position = self._position
        estimate = self.tokens.estimate if self._estimated_at == position else None
        compaction = RecordedCompaction(
            position,
            trigger=first_string(record, "trigger") or "unknown",
            tokens_before=count(record.get("tokens_before")),
            tokens_after=count(record.get("tokens_after")) or estimate,
            after=after,
            summary=summary,
        )
        self._told.append(_Told(compaction, self.tokens.compacted(len(self.assembly.responses)), inline))

    def _entries(self, position: int) -> tuple[Entry, ...]:
        so_far = tuple(told.compaction for told in self._told[-1:])
        return Transcript("", "", tuple(self.assembly.messages), compactions=so_far).entries(position)

    def count(self, info: object) -> bool:
        """Take a count of tokens; whether it is the first of a response. One without a response is an estimate."""
        if self.tokens.take(info, len(self.assembly.responses)):
            self.assembly.close()
            return True
        if self.tokens.estimate is not None:
            self._estimated_at = self._position
            if self.is_compacted_here and self._told[-1].compaction.tokens_after is None:
                last = self._told.pop()
                known = replace(last.compaction, tokens_after=self.tokens.estimate)
                self._told.append(last._replace(compaction=known))
        return False

    def roll_back(self, turns: int) -> None:
        """Take back the last *turns* turns of a person, and the compactions in them.

        What was put in just before the first of them goes too; what stood before the first turn of all stays.
        """
        messages = self.assembly.messages
        spoken = (at for at in range(self._position - 1, -1, -1) if messages[at].by_person)
        starts = list(islice(spoken, turns))
        if not starts:
            return
        cut = starts[-1]
        earlier = next(spoken, cut)
        while cut > earlier and _is_put_in(messages[cut - 1]):
            cut -= 1
        self.assembly.skipped[BRANCH] += len(messages) - cut
        settled = zip(self._told, self.compactions, strict=True)
        self._told = [told._replace(compaction=known, before=_COUNTED) for told, known in settled]
        self.tokens.settle(bisect_left(self.assembly.responses, cut))
        self.assembly.cut(cut)
        while self._told and self._told[-1].compaction.position > cut:
            self._told.pop()


def _is_put_in(message: Message) -> bool:
    return message.role == "system" or (message.role == "user" and message.synthetic)
