"""Histories cut into lines: what the controls that keep single lines choose from.

Each kept line is a block of its own, so that a value binds to words of its own line only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from msgspec.structs import replace

from compactlab.controls._draws import Drawn, Ranking, Rest, Things, floor, ranking_of
from compactlab.metrics import Case, Trial
from compactlab.tokens import MESSAGE_OVERHEAD
from compactlab.transcript import Block, Message, Messages, Text, readable


class Line(NamedTuple):
    """One line of a message outside the protected set, as a block, with its weight in tokens."""

    position: int
    number: int
    block: Text
    tokens: int


def lines_of(case: Case) -> list[Line]:
    """All lines of the free units, blank ones left out, in order; made once a case, counted in one batch."""
    return case.cached("lines", lambda: _lines(case))


def _lines(case: Case) -> list[Line]:
    found = [
        (position, line)
        for unit in case.free
        for position in unit
        for block in case.base[position].blocks
        for line in _lines_in(block)
    ]
    found.sort(key=lambda item: item[0])
    case.meter.blocks(text for _, text in found)
    return [Line(position, n, text, case.meter.block(text)) for n, (position, text) in enumerate(found)]


@lru_cache(maxsize=2_048)
def _lines_in(block: Block) -> tuple[Text, ...]:
    """The lines of a block, remembered: each cut of a session has those of the cuts before it."""
    return tuple(Text(line) for line in readable(block).split("\n") if line.strip())


def chosen(case: Case, ranked: Iterable[Line], tokens: int) -> Messages:
    """The protected set and the first of *ranked* that fit *tokens* in all; the last one is cut to fit."""
    room = tokens - floor(case)
    kept: dict[int, list[Line]] = {}
    for line in ranked:
        price = line.tokens + (0 if line.position in kept else MESSAGE_OVERHEAD)
        if price > room:
            rest = case.meter.truncated(line.block.text, room - (price - line.tokens))
            if rest:
                kept.setdefault(line.position, []).append(line._replace(block=Text(rest)))
            break
        room -= price
        kept.setdefault(line.position, []).append(line)
    whole = {i: case.base[i] for i in case.held}
    for position, lines in kept.items():
        blocks = tuple(line.block for line in sorted(lines, key=lambda line: line.number))
        whole[position] = replace(case.base[position], role="user", blocks=blocks, synthetic=True)
    return tuple(whole[i] for i in sorted(whole))


def trial(case: Case, tokens: int, ranking: Ranking, build: Callable[[], Messages]) -> Trial:
    """What `chosen` makes of the lines of a ranking, ready to be scored; *build* makes its messages."""
    room = tokens - floor(case)
    count = ranking.fitting(room)
    return Drawn(case, ranking, count, _rest(case, ranking, count, room - ranking.weight(count)), build)


def ranked(case: Case, name: str, order: Callable[[list[Line]], Iterable[int]]) -> Ranking:
    """The lines of a case in an *order*, which goes by *name*."""
    lines = lines_of(case)
    return ranking_of(case, name, case.cached("things of lines", lambda: _things(lines)), lambda: order(lines))


def _rest(case: Case, ranking: Ranking, count: int, room: int) -> Rest:
    """The start of the first line that does not fit."""
    if count == len(ranking.order):
        return Rest((), 0)
    line = lines_of(case)[ranking.order[count]]
    overhead = ranking.weight(count + 1) - ranking.weight(count) - line.tokens
    start = case.meter.truncated(line.block.text, room - overhead)
    if not start:
        return Rest((), 0)
    return Rest((Message("user", (Text(start),)),), case.meter.text(start) + overhead)


def _things(lines: list[Line]) -> Things:
    weights, places = ([line.tokens for line in lines], [line.position for line in lines])
    return Things([(line.block,) for line in lines], np.array(weights, np.int64), np.array(places, np.int64))
