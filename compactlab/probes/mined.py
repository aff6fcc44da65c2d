"""Mined probes: which facts were at risk at a cut, and which of them the agent later needed.

A fact is **at risk** at a cut if it stands before it and nowhere in the protected set: one set a cut, the same for
every strategy. It is **load-bearing** if its value occurs in a later assistant block before a person or a tool supplies
it again; the first use alone counts, with weight 1. A study on our own sessions set these definitions.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from operator import or_
from typing import Literal, NamedTuple

from compactlab import history
from compactlab.facts import Fact
from compactlab.facts.text import canonical
from compactlab.markers import without_markers
from compactlab.matching import Hit, Matcher, Pattern
from compactlab.tokens import clean
from compactlab.tools import is_read_only
from compactlab.transcript import Block, Message, Messages, ToolCall, ToolResult, readable

UseKind = Literal["action", "bulk", "text"]
Home = Literal["reobtainable", "irrecoverable"]
SHORT_CALL = 800
"""Characters of arguments from which a call counts as bulk: a file body, not an action."""


class Use(NamedTuple):
    """The first use of a fact after the cut: what kind of block, and which later message (0 is the one at the cut)."""

    kind: UseKind
    after: int


class Future(NamedTuple):
    """Facts at risk that recur: those the agent used first (load-bearing), and those that were supplied again first."""

    uses: dict[int, Use]
    supplied: frozenset[int]


class Presence(NamedTuple):
    """Which facts stand in some messages, as bit sets over the indices of the facts."""

    loose: int
    bound: int

    def __or__(self, other: object) -> Presence:
        if not isinstance(other, Presence):
            return NotImplemented
        return Presence(self.loose | other.loose, self.bound | other.bound)


def matcher_of(facts: Sequence[Fact]) -> Matcher:
    """Make the matcher whose pattern indices are the indices of *facts*."""
    return Matcher([Pattern(fact.forms, fact.exact, fact.family) for fact in facts])


@dataclass(frozen=True)
class AtRisk:
    """The facts at risk before a cut, in the repaired messages *base*; `excluded` are facts that are not admitted."""

    base: Messages
    facts: tuple[Fact, ...]
    matcher: Matcher
    excluded: frozenset[int] = frozenset()

    @cached_property
    def anchors(self) -> dict[int, set[str]]:
        """For each fact at risk, the content words near its homes."""
        held = history.protected(self.base)
        safe = {hit.pattern for i in held for hit in self._hits(self.base[i])}
        near: dict[int, set[str]] = {}
        for message in self.base:
            for hit in self._hits(message):
                if hit.pattern not in safe and hit.pattern not in self.excluded:
                    near.setdefault(hit.pattern, set()).update(hit.words)
        return near

    @cached_property
    def reobtainable(self) -> frozenset[int]:
        """Facts with a home in the result of a read-only call."""
        pairing = history.pair(self.base).call_of
        found: set[int] = set()
        for result, call in pairing.items():
            made_by = self.base[call.message].blocks[call.block]
            if isinstance(made_by, ToolCall) and is_read_only(made_by):
                block = self.base[result.message].blocks[result.block]
                found.update(hit.pattern for hit in self.matcher.block(block))
        return frozenset(found & self.anchors.keys())

    def home(self, fact: int) -> Home:
        """Where a fact could be had again, if anywhere."""
        return "reobtainable" if fact in self.reobtainable else "irrecoverable"

    def future(self, messages: Iterable[Message]) -> Future:
        """Which facts at risk recur in the messages after the cut, and who came first: the agent, or someone else."""
        waiting = dict(self.anchors)
        uses: dict[int, Use] = {}
        supplied: set[int] = set()
        for after, message in enumerate(messages):
            for block in message.blocks:
                for hit in self.matcher.block(block):
                    near = waiting.get(hit.pattern)
                    if near is None or (self.facts[hit.pattern].needs_anchor and near.isdisjoint(hit.words)):
                        continue
                    del waiting[hit.pattern]
                    if message.role == "assistant" and not isinstance(block, ToolResult):
                        uses[hit.pattern] = Use(kind_of(block), after)
                    else:
                        supplied.add(hit.pattern)
        return Future(uses, frozenset(supplied))

    def presence(self, messages: Iterable[Message]) -> Presence:
        """Which facts at risk stand in *messages*: at all, and bound to a content word of a home of theirs."""
        return self.presence_of(block for message in messages for block in message.blocks)

    def presence_of(self, blocks: Iterable[Block]) -> Presence:
        """The same for single blocks."""
        loose = bound = 0
        for block in blocks:
            here = self._present.get(block) or self._learn(block)
            loose |= here.loose
            bound |= here.bound
        return Presence(loose, bound)

    def presence_of_start(self, block: Block, text: str) -> Presence:
        """Which facts at risk stand in a block of the history that was cut off behind *text*.

        A value that the cut goes through does not stand, though its first part may look like one.
        """
        if block not in self._starts:
            self._starts[block] = _Starts(block, self.matcher, self.anchors)
        return self._starts[block].within(len(clean(canonical(text))))

    @cached_property
    def _starts(self) -> dict[Block, _Starts]:
        return {}

    @cached_property
    def _present(self) -> dict[Block, Presence]:
        return {}

    def _learn(self, block: Block) -> Presence:
        loose = bound = 0
        anchors = self.anchors
        for hit in self._read(block):
            near = anchors.get(hit.pattern)
            if near is not None:
                bit = 1 << hit.pattern
                loose |= bit
                if not bound & bit and not near.isdisjoint(hit.words):
                    bound |= bit
        here = Presence(loose, bound)
        self._present[block] = here
        return here

    @cached_property
    def _own(self) -> frozenset[Block]:
        return frozenset(block for message in self.base for block in message.blocks)

    def _read(self, block: Block) -> Sequence[Hit]:
        """Hits in a block; the markers of one that a compaction made are no words of it."""
        if block not in self._own:
            text = readable(block)
            bare = without_markers(text)
            if bare != text:
                return self.matcher.hits(bare)
        return self.matcher.block(block)

    def _hits(self, message: Message) -> Iterator[Hit]:
        return (hit for block in message.blocks for hit in self.matcher.block(block))


class _Starts:
    """For a block, which facts its starts hold: where each fact first ends, and where it is first bound."""

    def __init__(self, block: Block, matcher: Matcher, anchors: dict[int, set[str]]) -> None:
        loose: list[tuple[int, int]] = []
        bound: list[tuple[int, int]] = []
        for hit in matcher.block(block):
            near = anchors.get(hit.pattern)
            if near is not None:
                loose.append((hit.end, 1 << hit.pattern))
                reach = hit.reach(near)
                if reach is not None:
                    bound.append((reach, 1 << hit.pattern))
        self._loose, self._bound = _Rising(loose), _Rising(bound)

    def within(self, characters: int) -> Presence:
        """What stands in the first *characters*."""
        return Presence(self._loose.at(characters), self._bound.at(characters))


class _Rising:
    """Bit sets that begin to count at some place, and all those up to another."""

    def __init__(self, pairs: list[tuple[int, int]]) -> None:
        pairs.sort()
        self._places = [place for place, _ in pairs]
        self._sets: list[int] = [0, *accumulate((bits for _, bits in pairs), or_)]

    def at(self, place: int) -> int:
        return self._sets[bisect_right(self._places, place)]


def kind_of(block: Block) -> UseKind:
    """What kind of use a block of the agent is: a short call acts, a long one carries a file body, all else is text."""
    if isinstance(block, ToolCall):
        return "action" if len(block.arguments) < SHORT_CALL else "bulk"
    return "text"


def mask(facts: Iterable[int]) -> int:
    """Bit set of fact indices.

    >>> mask([0, 3])
    9
    """
    return sum(1 << fact for fact in set(facts))
