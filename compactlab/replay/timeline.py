"""What all policies share of one session: its messages in split form, their weights, and where each fact stands.

Made once, in one pass over the session. A fact's occurrence in what the agent said is a use, any other one supplies it
(as in `probes.mined`, whose definitions hold: anchors, homes, kinds of use). Facts that stand in what no strategy may
ever touch, the anchor, later system messages and pinned ones, are left out from there on.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from compactlab import history
from compactlab.facts import Fact, mine
from compactlab.history import Place
from compactlab.markers import without_markers
from compactlab.matching import Matcher
from compactlab.probes.mined import Home, UseKind, kind_of, matcher_of
from compactlab.replay.reads import Reads
from compactlab.statements.tasks import todo_list
from compactlab.tokens import Meter
from compactlab.tools import decoded
from compactlab.transcript import Block, Message, Messages, ToolCall, ToolResult, Transcript, readable

UNDER_WAY = frozenset({"in_progress", "in progress", "in-progress", "inprogress", "doing", "active", "started"})
"""States of a todo item that somebody is at work on."""


class Said(NamedTuple):
    """A fact that a message says: by the agent in a block of that kind, or supplied (None).

    `home` is where it could be had again, `result` the newest result of a read-only call that held it before.
    `is_safe` where from now on it stands in what no strategy may touch.
    """

    fact: int
    kind: UseKind | None
    home: Home
    result: Place | None
    is_safe: bool


class Moment(NamedTuple):
    """A message of the session in split form, and what is known of it.

    `position` is the recorded message that it is, or is a part of, or stands behind. `standing` are the facts in it,
    and whether each stands near a content word. `answers` are the calls that its results answer, by message and number
    of the call in it. `relied` are results of reading calls that its own calls rely on: the newest of each path or URL
    that they touch without reading it again; `again` those that they read again. `tasks` are the todo items in progress
    before it.
    """

    message: Message
    position: int
    weight: int
    is_answer: bool
    said: tuple[Said, ...]
    standing: tuple[tuple[int, bool], ...]
    answers: tuple[tuple[int, int], ...]
    relied: tuple[Place, ...]
    again: frozenset[Place]
    tasks: int


@dataclass(frozen=True)
class Session:
    """One transcript, read for any number of replays.

    `facts` are mined from it where none are given; *common* values, found in other sessions too, are left out.

    >>> from compactlab.transcript import Text
    >>> roles, texts = ("user", "user", "assistant"), ("Hello!", "Use port 5433.", "Port 5433 it is.")
    >>> said = tuple(Message(role, (Text(text),)) for role, text in zip(roles, texts))
    >>> [[one.kind for one in moment.said] for moment in Session(Transcript("t", "", said)).moments]
    [[], [None], ['text']]
    """

    transcript: Transcript
    meter: Meter = field(default_factory=Meter)
    given: tuple[Fact, ...] | None = None
    common: frozenset[str] = frozenset()

    @cached_property
    def facts(self) -> tuple[Fact, ...]:
        """The facts of the session; uses name them by their index."""
        return mine(self.transcript.messages) if self.given is None else self.given

    @cached_property
    def matcher(self) -> Matcher:
        """Finds the facts in any text."""
        return matcher_of(self.facts)

    @cached_property
    def repaired(self) -> history.Repaired:
        """The recorded messages in split form, calls and results in pairs."""
        return history.repair(self.transcript.messages)

    @property
    def messages(self) -> Messages:
        """The messages that the session grows by."""
        return self.repaired.messages

    @cached_property
    def own(self) -> frozenset[Block]:
        """All recorded blocks: any other block was made or edited by compaction."""
        return frozenset(block for message in self.messages for block in message.blocks)

    @cached_property
    def moments(self) -> tuple[Moment, ...]:
        """The session, message by message."""
        self.meter.messages(self.messages)
        return tuple(_Reading(self).moments())

    @cached_property
    def first_near(self) -> dict[int, dict[str, int]]:
        """By fact, the content words near its places, each with the first message (in split form) where it is one."""
        return {}

    @cached_property
    def _made(self) -> dict[Block, dict[int, frozenset[str]]]:
        return {}

    def made(self, block: Block) -> dict[int, frozenset[str]]:
        """Facts in a block that compaction made or edited, each with the content words near it; markers are no words.

        A block that was recorded is read as it stands.
        """
        known = self._made.get(block)
        if known is None:
            text = readable(block)
            bare = text if block in self.own else without_markers(text)
            known = self._made[block] = self._read(bare) if bare.strip() else {}
        return known

    def _read(self, text: str) -> dict[int, frozenset[str]]:
        found: dict[int, frozenset[str]] = {}
        for hit in self.matcher.hits(text):
            found[hit.pattern] = found.get(hit.pattern, frozenset()) | hit.words
        return found

    def is_near(self, fact: int, words: Iterable[str], before: int) -> bool:
        """Whether one of *words* stood near the fact in a message before that place of the session in split form."""
        first = self.first_near.get(fact, {})
        return any(first.get(word, before) < before for word in words)


class _Reading:
    """One pass over the session, with what is known so far."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.near = session.first_near
        self.left_out = {i for i, fact in enumerate(session.facts) if fact.value in session.common}
        self.anchor = set(history.anchor(session.messages))
        self.call_of = history.pair(session.messages).call_of
        self.reads = Reads(session.messages, self.call_of)
        self.homes: dict[int, Place] = {}
        self.tasks = 0

    def moments(self) -> Iterator[Moment]:
        position = 0
        for at, message in enumerate(self.session.messages):
            origin = self.session.repaired.origins[at]
            position = position if origin is None else origin
            tasks = self.tasks
            said, standing = self._facts(at, message)
            yield Moment(
                message,
                position,
                self.session.meter.message(message),
                message.role == "assistant" and not message.synthetic,
                said,
                standing,
                tuple(self._call(at, i) for i, block in enumerate(message.blocks) if isinstance(block, ToolResult)),
                self.reads.relied(message),
                self.reads.again(message),
                tasks,
            )
            self._learn(at, message)

    def _facts(self, at: int, message: Message) -> tuple[tuple[Said, ...], tuple[tuple[int, bool], ...]]:
        """What a message says anew, and what stands in it."""
        by_agent = message.role == "assistant" and not message.synthetic
        is_safe = at in self.anchor or message.pinned or (message.role == "system" and not message.synthetic)
        said: dict[int, Said] = {}
        standing: dict[int, bool] = {}
        for block in message.blocks:
            for hit in self.session.matcher.block(block):
                fact, words = hit.pattern, hit.words
                if fact in self.left_out:
                    continue
                standing[fact] = standing.get(fact, False) or bool(words)
                if fact not in said and self._counts(fact, words):
                    kind = kind_of(block) if by_agent else None
                    home: Home = "reobtainable" if fact in self.homes else "irrecoverable"
                    said[fact] = Said(fact, kind, home, self.homes.get(fact), is_safe)
                near = self.near.setdefault(fact, {})
                for word in words:
                    near.setdefault(word, at)
        if is_safe:
            self.left_out.update(standing)
        return tuple(said.values()), tuple(standing.items())

    def _counts(self, fact: int, words: frozenset[str]) -> bool:
        """A value that is too common by itself counts again only where a word near it stood near it before."""
        near = self.near.get(fact)
        return near is None or not self.session.facts[fact].needs_anchor or not words.isdisjoint(near)

    def _call(self, at: int, block: int) -> tuple[int, int]:
        """The call that a result answers: its message, and which call of that it is."""
        call = self.call_of[Place(at, block)]
        blocks = self.session.messages[call.message].blocks[: call.block]
        return call.message, sum(isinstance(other, ToolCall) for other in blocks)

    def _learn(self, at: int, message: Message) -> None:
        """Take in what the next messages build on: results that can be read again, the todo list."""
        for index, block in enumerate(message.blocks):
            place = Place(at, index)
            if isinstance(block, ToolResult) and self.reads.learn(place):
                self.homes.update((hit.pattern, place) for hit in self.session.matcher.block(block))
            elif isinstance(block, ToolCall) and todo_list(block):
                self.tasks = _under_way(block)


def _under_way(call: ToolCall) -> int:
    """How many items of the list that a call sets are in progress."""
    lists = [value for value in decoded(call).values() if isinstance(value, list)]
    items = [item for items in lists for item in items if isinstance(item, dict)]
    return sum(str(item.get("status", item.get("state", ""))).casefold() in UNDER_WAY for item in items)
