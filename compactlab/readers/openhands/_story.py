"""The story of one session of OpenHands while its events are read: messages, the view of them, condensations, tokens.

A condensation forgets events by their ids, and puts a summary at an offset of the events that stay; a summary without
an offset is not sent. What it leaves is the view; calls whose results were forgotten, and results whose calls were, are
not sent either.
"""

from __future__ import annotations

from collections import Counter
from itertools import takewhile
from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec.structs import replace

from compactlab.readers._fields import count, first_string, mapping
from compactlab.transcript import Block, Message, RecordedCompaction, Text, ToolCall, ToolResult, Usage

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

Key = int | str | None


class Event(NamedTuple):
    """One recorded event, and the number of the record that holds it."""

    source: int
    value: dict[str, Any]


class Built(NamedTuple):
    """What the events of one agent became, with those of the agents that it delegated to."""

    name: str
    story: Story
    header: dict[str, Any]
    tools: tuple[Any, ...]
    children: tuple[Built, ...] = ()


class Entry(NamedTuple):
    """One event of the view: its id, and the places of the messages that it became, or the summary that was made."""

    key: Key
    places: tuple[int, ...] = ()
    made: Message | None = None


class Condensation(NamedTuple):
    """What a recorded condensation says, and the name by which a later one may forget its summary."""

    forgotten: Collection[int | str]
    summary: str | None = None
    offset: int | None = None
    timestamp: str | None = None
    name: Key = None


class Story:
    """Messages of a session, and what was counted on the way; *keeps_task*: the first words of the user always stay.

    `spoken` are the places of the model's responses by their ids, `trigger` is why the next condensation comes.
    """

    def __init__(self, *, keeps_task: bool) -> None:
        self.messages: list[Message] = []
        self.compactions: list[RecordedCompaction] = []
        self.usage: list[Usage] = []
        self.skipped: Counter[str] = Counter()
        self.unknown: Counter[str] = Counter()
        self.spoken: dict[str, int] = {}
        self.trigger = "auto"
        self._keeps_task = keeps_task
        self._view: list[Entry] = []
        self._events: Counter[int] = Counter()
        self._called: set[str] = set()
        self._answered: set[str] = set()

    def add(self, message: Message, key: Key) -> int:
        """Take up a message that an event became, and give its place; an event may become several."""
        self.messages.append(message)
        place = len(self.messages) - 1
        self._heard(message.blocks)
        self.happened(key, place)
        return place

    def extend(self, place: int, blocks: tuple[Block, ...], key: Key) -> None:
        """Take up an event that is a further piece of the message at *place*, and what it adds to it."""
        held = self.messages[place]
        added = tuple(block for block in blocks if block not in held.blocks)
        if added:
            self.messages[place] = replace(held, blocks=(*held.blocks, *added))
            self._heard(added)
        self.happened(key, place)

    def _heard(self, blocks: tuple[Block, ...]) -> None:
        for block in blocks:
            if isinstance(block, ToolCall):
                self._called.add(block.id)
            elif isinstance(block, ToolResult):
                self._answered.add(block.call_id)

    def happened(self, key: Key, place: int | None = None) -> None:
        """Take up an event of the view that is a piece of the message at *place*, or no message."""
        places = () if place is None else (place,)
        last = self._view[-1] if self._view else Entry(None)
        if key is not None and last.key == key and last.made is None:
            self._view[-1] = last._replace(places=(*last.places, *places))
        else:
            self._view.append(Entry(key, places))
        self._events.update(places)

    def condensed(self, told: Condensation) -> None:
        """Take up a condensation."""
        kept = [entry for entry in self._view if not _is_in(entry.key, told.forgotten)]
        if told.summary is not None and told.offset is not None:
            kept = [entry for entry in kept if entry.made is None]
            made = Message("user", (Text(told.summary),), synthetic=True, timestamp=told.timestamp)
            kept.insert(told.offset, Entry(told.name, made=made))
        self._view = kept
        after = tuple(self._with_task(self._paired(list(self._standing(kept)))))
        found = RecordedCompaction(len(self.messages), self.trigger, after=after, summary=told.summary or "")
        self.compactions.append(found)
        self.trigger = "auto"

    def _standing(self, kept: Sequence[Entry]) -> Iterator[int | Message]:
        """Messages of the events that stay; one that several events became stays with all of them, or not at all."""
        pieces = Counter(place for entry in kept for place in entry.places)
        given: set[int] = set()
        for entry in kept:
            if entry.made is not None:
                yield entry.made
            for place in entry.places:
                if place not in given and pieces[place] == self._events[place]:
                    yield place
                given.add(place)

    def _paired(self, entries: list[int | Message]) -> list[int | Message]:
        """Leave out calls whose results were recorded but forgotten, and results whose calls were."""
        lost = self._answered - {result.call_id for entry in entries for result in self._message(entry).results}
        entries = [entry for entry in entries if not any(call.id in lost for call in self._message(entry).calls)]
        orphaned = self._called - {call.id for entry in entries for call in self._message(entry).calls}
        return [e for e in entries if not any(result.call_id in orphaned for result in self._message(e).results)]

    def _with_task(self, entries: list[int | Message]) -> list[int | Message]:
        """Put the system prompt and the task back where the agent does so itself."""
        if not self._keeps_task:
            return entries
        system = [place for place, _ in takewhile(lambda item: item[1].role == "system", enumerate(self.messages))]
        task = next((place for place, message in enumerate(self.messages) if message.by_person), None)
        entries = [*(place for place in system if place not in entries), *entries]
        if task is not None and task not in entries:
            entries.insert(len(system), task)
        return entries

    def _message(self, entry: int | Message) -> Message:
        return self.messages[entry] if isinstance(entry, int) else entry

    def count_responses(self, listed: Iterable[Mapping[str, Any]]) -> None:
        """Take up the tokens of responses, as the harness lists them by id, for those that have none yet."""
        known = {usage.position for usage in self.usage}
        for wire in listed:
            place = self.spoken.get(first_string(wire, "response_id"))
            if place is not None and place not in known:
                known.add(place)
                self.usage += _usage(place, wire)
        self.usage.sort(key=lambda usage: usage.position or 0)

    def count_all(self, metrics: object) -> None:
        """Take up the tokens of the whole session, where those of no response were recorded."""
        if not self.usage:
            self.usage += _usage(None, mapping(mapping(metrics).get("accumulated_token_usage")))


def _usage(place: int | None, wire: Mapping[str, Any]) -> list[Usage]:
    """Tokens as the harness counts them: the input includes what a cache gave."""
    sent, made = count(wire.get("prompt_tokens")) or 0, count(wire.get("completion_tokens")) or 0
    cached, thought = count(wire.get("cache_read_tokens")) or 0, count(wire.get("reasoning_tokens")) or 0
    return [Usage(place, sent, made, cached, thought)] if sent or made else []


def framed(text: str, metadata: object) -> str:
    """The output of a command with the harness's words around it, as the agent saw it.

    >>> framed("a.py", {"suffix": " [exit code 0]", "prefix": ""})
    'a.py [exit code 0]'
    """
    told = mapping(metadata)
    return f"{first_string(told, 'prefix')}{text}{first_string(told, 'suffix')}"


def _is_in(key: Key, forgotten: Collection[int | str]) -> bool:
    if isinstance(forgotten, range):
        return isinstance(key, int) and key in forgotten
    return key is not None and key in forgotten
