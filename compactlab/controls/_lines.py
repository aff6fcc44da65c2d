"""Histories cut into lines: what the controls that keep single lines choose from.

Each kept line is a block of its own, so that a value binds to words of its own line only.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from msgspec.structs import replace

from compactlab.metrics import Case
from compactlab.tokens import MESSAGE_OVERHEAD
from compactlab.transcript import Messages, Text, readable


class Line(NamedTuple):
    """One line of a message outside the protected set, as a block, with its weight in tokens."""

    position: int
    number: int
    block: Text
    tokens: int


def lines_of(case: Case) -> list[Line]:
    """All lines of the free units, blank ones left out, in order; counted in one batch."""
    found = [
        (position, Text(line))
        for unit in case.free
        for position in unit
        for block in case.base[position].blocks
        for line in readable(block).split("\n")
        if line.strip()
    ]
    found.sort(key=lambda item: item[0])
    case.meter.blocks(text for _, text in found)
    return [Line(position, n, text, case.meter.block(text)) for n, (position, text) in enumerate(found)]


def chosen(case: Case, ranked: Iterable[Line], tokens: int) -> Messages:
    """The protected set and the first of *ranked* that fit *tokens* in all; the last one is cut to fit."""
    room = tokens - case.meter.messages(case.protected)
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
