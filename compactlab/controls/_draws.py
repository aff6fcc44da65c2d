"""Draws of a control scored without building them: how much the first of a ranking weigh, and which facts they hold.

A control that keeps things at random (units, lines) ranks them and keeps the first that fit. One ranking serves every
size: its weights are summed once, and of each fact it is known with which thing it comes in. So a draw costs a look-up
and the cutting of the one thing that does not fit, and not a walk through all that it keeps.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from compactlab.metrics import Case, Trial
from compactlab.probes.mined import AtRisk, Presence
from compactlab.tokens import MESSAGE_OVERHEAD
from compactlab.transcript import Block, Messages, readable

MANY = 20_000
"""Things from which a ranking is made again for each size: those of a giant history would fill the memory."""

Numbers = NDArray[np.int64]


class Holders(NamedTuple):
    """Facts, and the things that hold each: those of `facts[i]` stand in `things` from `starts[i]` on."""

    facts: Numbers
    starts: Numbers
    things: Numbers

    @classmethod
    def of(cls, held: Sequence[int]) -> Holders:
        """Turn bit sets of facts, one a thing, round."""
        pairs = sorted((fact, thing) for thing, bits in enumerate(held) for fact in _bits(bits))
        facts, starts = np.unique(np.array([fact for fact, _ in pairs], np.int64), return_index=True)
        return cls(facts, starts.astype(np.int64), np.array([thing for _, thing in pairs], np.int64))

    def first(self, rank: Numbers) -> Numbers:
        """The rank of the first thing that holds each fact."""
        return np.minimum.reduceat(rank[self.things], self.starts) if len(self.facts) else self.facts


@dataclass(frozen=True)
class Things:
    """What a control chooses from: blocks and their weight, and the message that each stands in.

    The first that is kept of a message costs the overhead of the message as well. Without `places` the weights say all.
    """

    blocks: Sequence[tuple[Block, ...]]
    weights: Numbers
    places: Numbers | None = None

    def holders(self, risk: AtRisk) -> tuple[Holders, Holders]:
        """Which things hold which facts of *risk*: loose, and bound."""
        if id(risk) not in self._held:
            held = [risk.presence_of(blocks) for blocks in self.blocks]
            found = Holders.of([here.loose for here in held]), Holders.of([here.bound for here in held])
            self._held[id(risk)] = (risk, found)
        return self._held[id(risk)][1]

    @cached_property
    def _held(self) -> dict[int, tuple[AtRisk, tuple[Holders, Holders]]]:
        return {}


@dataclass(frozen=True)
class Ranking:
    """Things in an order: what the first of them weigh in tokens, and which facts they hold."""

    things: Things
    order: Numbers

    @cached_property
    def ends(self) -> Numbers:
        """What the first thing weighs, the first two, the first three, and so on."""
        prices = self.things.weights[self.order]
        if self.things.places is not None and len(self.order):
            places = self.things.places[self.order]
            first = np.zeros(places.max() + 1, np.int64)
            first[places[::-1]] = np.arange(len(places))[::-1]
            prices = prices + MESSAGE_OVERHEAD * (first[places] == np.arange(len(places)))
        return np.cumsum(prices)

    def fitting(self, room: int) -> int:
        """How many of the first fit *room* tokens together."""
        return int(np.searchsorted(self.ends, room, side="right"))

    def weight(self, count: int) -> int:
        """What the first *count* weigh together."""
        return int(self.ends[count - 1]) if count else 0

    def presence(self, risk: AtRisk, count: int) -> Presence:
        """Which facts of *risk* the first *count* hold."""
        if id(risk) not in self._firsts:
            rank = np.empty(len(self.order), np.int64)
            rank[self.order] = np.arange(len(self.order))
            self._firsts[id(risk)] = tuple((held.facts, held.first(rank)) for held in self.things.holders(risk))
        loose, bound = (_mask(facts[first < count]) for facts, first in self._firsts[id(risk)])
        return Presence(loose, bound)

    @cached_property
    def _firsts(self) -> dict[int, tuple[tuple[Numbers, Numbers], ...]]:
        return {}


class Rest(NamedTuple):
    """What a draw keeps beside the first of its ranking, cut to fit, and what that weighs there.

    `whole` gives the blocks of the history that some of it are starts of.
    """

    messages: Messages
    tokens: int
    whole: Mapping[Block, Block] = MappingProxyType({})

    def presence(self, risk: AtRisk) -> Presence:
        """Which facts of *risk* it holds."""
        found = Presence(0, 0)
        for block in (block for message in self.messages for block in message.blocks):
            if block in self.whole:
                found |= risk.presence_of_start(self.whole[block], readable(block))
            else:
                found |= risk.presence_of((block,))
        return found


class Drawn(Trial):
    """A trial of the first *count* of a ranking and a rest; its messages are built if anyone asks for them.

    What the protected set holds is at risk nowhere, so what a draw holds is what was drawn.
    """

    ranking: Ranking
    count: int
    rest: Rest
    build: Callable[[], Messages]

    def __init__(self, case: Case, ranking: Ranking, count: int, rest: Rest, build: Callable[[], Messages]) -> None:
        """*build* makes the messages of the very same draw."""
        vars(self).update(case=case, receipt=None, ranking=ranking, count=count, rest=rest, build=build)

    @cached_property
    def messages(self) -> Messages:
        return self.build()

    @cached_property
    def presence(self) -> Presence:
        return self.presence_in(self.case.risk)

    def presence_in(self, risk: AtRisk) -> Presence:
        """Which facts of *risk*, the case's own or another miner's, the draw holds."""
        return self.ranking.presence(risk, self.count) | self.rest.presence(risk)

    @cached_property
    def tokens(self) -> int:
        return floor(self.case) + self.ranking.weight(self.count) + self.rest.tokens


def floor(case: Case) -> int:
    """What the protected set alone weighs."""
    return case.cached("floor", lambda: case.meter.messages(case.protected))


def ranking_of(case: Case, name: str, things: Things, order: Callable[[], Iterable[int]]) -> Ranking:
    """The ranking of *things* that goes by *name*, made once a case unless they are very many."""

    def made() -> Ranking:
        return Ranking(things, np.fromiter(order(), np.int64, len(things.blocks)))

    return case.cached(f"ranking {name}", made) if len(things.blocks) <= MANY else made()


def _bits(held: int) -> Iterable[int]:
    while held:
        lowest = held & -held
        yield lowest.bit_length() - 1
        held ^= lowest


def _mask(facts: Numbers) -> int:
    if not len(facts):
        return 0
    bits = np.zeros(int(facts[-1]) + 1, np.uint8)
    bits[facts] = 1
    return int.from_bytes(np.packbits(bits, bitorder="little").tobytes(), "little")
