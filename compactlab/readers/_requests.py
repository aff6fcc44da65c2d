"""Requests that each repeat the conversation so far: the story that they tell, told once, and its compactions.

Traces of model calls and checkpoints of graphs hold one copy of the context a step. A step that starts with all that
was there before goes on with the story; one that lost or changed some of it shows what a harness did: a recorded
compaction; one that leaves the story at a point and goes on otherwise is another branch. Messages are compared by their
content, without reasoning, because histories are sent back without it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from dataclasses import replace as with_fields
from typing import NamedTuple

from msgspec.structs import replace

from compactlab.readers._items import Item, digest, split
from compactlab.shapes.call_ids import with_ids
from compactlab.transcript import Message, Messages, Reasoning, RecordedCompaction, Usage


class Told(NamedTuple):
    """What became of a story."""

    messages: Messages
    compactions: tuple[RecordedCompaction, ...]
    usage: tuple[Usage, ...]


Entry = int | Item


@dataclass
class Story:
    """One agent's story, growing request by request; *context* is what stood in the last request, then what came."""

    items: list[Item] = field(default_factory=list)
    context: list[Entry] = field(default_factory=list)
    compactions: list[RecordedCompaction] = field(default_factory=list)
    waiting: list[Item] = field(default_factory=list)
    answers: set[int] = field(default_factory=set)
    others: int = 0
    prompts: int = 0

    def entry(self, entry: Entry) -> Item:
        """The item of an entry of the context."""
        return self.items[entry] if isinstance(entry, int) else entry

    @property
    def body(self) -> list[Entry]:
        """The context without its leading system messages."""
        return self.context[self._led() :]

    @property
    def lead(self) -> list[Item]:
        """The leading system messages of the context."""
        return [self.entry(entry) for entry in self.context[: self._led()]]

    def _led(self) -> int:
        return next((i for i, entry in enumerate(self.context) if not self.entry(entry).leads), len(self.context))

    def shared(self, body: Sequence[Item]) -> int:
        """How many entries of the context a request repeats from the start, system messages left aside."""
        own = self.body
        count = 0
        for entry, item in zip(own, body, strict=False):
            if not self._same(entry, item, last=count == len(own) - 1):
                break
            count += 1
        return count

    def _same(self, entry: Entry, item: Item, *, last: bool) -> bool:
        known = self.entry(entry)
        if known is item or known.content == item.content:
            return True
        if last and known.key and known.key == item.key:
            return True
        return isinstance(entry, int) and entry in self.answers and _alike(known.message, item.message)

    def keeps(self, items: Sequence[Item]) -> int:
        """How many of *items* stand in the context, system messages left aside."""
        known = {self.entry(entry).content for entry in self.body}
        keys = {key for entry in self.body if (key := self.entry(entry).key)}
        return sum(item.content in known or item.key in keys for item in items)

    def take(self, given: Sequence[Item]) -> None:
        """Take in the context of the next request."""
        lead, body = split(given)
        if not self.items:
            self._append(given)
            return
        shared = self.shared(body)
        goes_on = shared == len(self.body)
        if goes_on or self.branches(body, shared):
            self.prompts += [item.content for item in lead] != [item.content for item in self.lead]
            self._confirm(body[:shared])
            if not goes_on:
                self._leave(shared)
            self._append(body[shared:])
        else:
            self._compact(lead, body, shared)

    def branches(self, body: Sequence[Item], shared: int) -> bool:
        """Whether a request leaves the story after *shared* entries, to ask or to answer once more."""
        rest, own = body[shared:], self.body[shared:]
        if not shared or self.keeps(rest) or any(item.summary for item in rest) or not self._is_loose(own):
            return False
        return not rest or rest[0].message.role == self.entry(own[0]).message.role

    def _is_loose(self, entries: Sequence[Entry]) -> bool:
        """Whether entries came after the last compaction, so that they can be left."""
        floor = self.compactions[-1].position if self.compactions else 0
        return all(isinstance(entry, int) and entry >= floor for entry in entries)

    def _leave(self, shared: int) -> None:
        """Forget what another branch said."""
        left = [entry for entry in self.body[shared:] if isinstance(entry, int)]
        self.others += len(left)
        del self.context[len(self.context) - len(left) :]
        del self.items[left[0] :]
        self.answers = {index for index in self.answers if index < left[0]}
        self.waiting = []

    def _confirm(self, body: Sequence[Item]) -> None:
        """Take from a request what it says fuller than the record of the answer that it repeats."""
        for entry, item in zip(self.body, body, strict=False):
            if isinstance(entry, int) and self.items[entry].content != item.content:
                self.items[entry] = _fuller(self.items[entry], item)
            if isinstance(entry, int):
                self.answers.discard(entry)

    def _append(self, items: Sequence[Item]) -> None:
        if items:
            self.waiting = []
        for item in items:
            self.context.append(len(self.items))
            self.items.append(item)

    def answer(self, items: Sequence[Item], usage: Usage | None = None) -> None:
        """Take in what the model answered to the last request."""
        if items:
            self._append((*items[:-1], with_fields(items[-1], usage=usage or items[-1].usage)))
            self.answers.add(len(self.items) - 1)

    def flush(self) -> None:
        """Take in the results that tools gave and that no request has shown."""
        self._append(tuple(self.waiting))

    def _compact(self, lead: Sequence[Item], body: Sequence[Item], shared: int) -> None:
        """Record what a harness made of the context; what follows the last of it that was kept is new.

        Where nothing but the start was kept, the message after that stands for the rest.
        """
        self.flush()
        known = _Known(self)
        entries = [known.entry(item) for item in (*lead, *body)]
        last = max((i for i, entry in enumerate(entries) if entry is not None), default=-1)
        headed = len(lead) + shared if last < len(lead) + shared else -1
        after: list[Entry] = []
        at = 0
        for at, item in enumerate((*lead, *body)):
            entry = entries[at]
            stands = at == headed and item.message.role in {"user", "system"}
            if entry is None and not (at < max(last, len(lead)) or item.summary or stands):
                break
            after.append(_made(item) if entry is None else entry)
        else:
            at += 1
        self._record(after)
        self._append((*lead, *body)[at:])

    def _record(self, after: list[Entry]) -> None:
        made = [entry for entry in after if isinstance(entry, Item) and entry not in self.context]
        told = next((entry.message.text for entry in made if not entry.message.results), "")
        shown = tuple(entry if isinstance(entry, int) else entry.message for entry in after)
        self.compactions.append(RecordedCompaction(len(self.items), after=shown, summary=told))
        self.context = after

    def told(self) -> Told:
        """The whole story; calls and results that were recorded without ids have made ones."""
        self.flush()
        names = {index: item.name for index, item in enumerate(self.items)}
        messages = with_ids([item.message for item in self.items], names)
        counted = [replace(item.usage, position=i) for i, item in enumerate(self.items) if item.usage is not None]
        return Told(messages, tuple(self.compactions), tuple(counted))


class _Known:
    """The entries of a story's context, by what a later request may know them by; each is given once."""

    def __init__(self, story: Story) -> None:
        self._story = story
        self._left = dict.fromkeys(range(len(story.context)))
        self._keys: dict[str, int] = {}
        self._contents: dict[int, list[int]] = {}
        self._calls: dict[str, int] = {}
        self._results: set[str] = set()
        for place, entry in enumerate(story.context):
            item = story.entry(entry)
            self._contents.setdefault(item.content, []).append(place)
            self._results.update(result.call_id for result in item.message.results if result.call_id)
            if item.key:
                self._keys[item.key] = place
            if isinstance(entry, int) and entry in story.answers:
                self._calls.update((call.id, place) for call in item.message.calls if call.id)

    def entry(self, item: Item) -> Entry | None:
        """The entry that an item is; the changed item, if it is one with another content; None if it is new."""
        place = self._place(item)
        if place is not None and place in self._left:
            del self._left[place]
            return self._story.context[place]
        ids = {result.call_id for result in item.message.results}
        if item.key not in self._keys and self._results.isdisjoint(ids):
            return None
        return Item(replace(item.message, source=None), item.key, item.name)

    def _place(self, item: Item) -> int | None:
        by_key = self._keys.get(item.key)
        places = self._contents.get(item.content, [])
        if by_key is not None:
            return by_key if by_key in places else None
        left = next((place for place in places if place in self._left), None)
        if left is None and item.message.role == "assistant":
            left = next((self._calls[call.id] for call in item.message.calls if call.id in self._calls), None)
        return left


def _made(item: Item) -> Item:
    """A message that a harness made."""
    synthetic = item.message.role in {"user", "assistant"}
    return Item(replace(item.message, source=None, synthetic=synthetic), item.key, item.name, item.summary)


def _alike(known: Message, given: Message) -> bool:
    """Whether a request repeats an answer of which only a part was recorded, here or there."""
    if known.role != "assistant" or given.role != "assistant":
        return False
    calls = {digest(call) for call in known.calls} & {digest(call) for call in given.calls}
    return bool(calls) or (bool(known.text.strip()) and known.text.strip() == given.text.strip())


def _fuller(known: Item, given: Item) -> Item:
    """An answer with what either record says: the reasoning of the first, and the calls of the one that has more."""
    usage = known.usage or given.usage
    if known.key and known.key == given.key:
        return with_fields(given, usage=usage)
    thoughts = tuple(block for block in known.message.blocks if isinstance(block, Reasoning))
    has_thoughts = any(isinstance(block, Reasoning) for block in given.message.blocks)
    if len(given.message.calls) <= len(known.message.calls) and not (given.message.text and not known.message.text):
        return known
    blocks = given.message.blocks if has_thoughts else (*thoughts, *given.message.blocks)
    message = replace(known.message, blocks=blocks)
    return Item(message, known.key or given.key, known.name, usage=usage)
