"""`random`: the protected set and random units, cut to the very size of a strategy's result (within 1 %).

Units are drawn without replacement until the next does not fit; that one is cut, so that the size agrees.
The same seed gives the same draw in every process.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from random import Random

import numpy as np
from msgspec.structs import replace

from compactlab.controls._draws import Drawn, Rest, Things, floor, ranking_of
from compactlab.metrics import Case, Trial
from compactlab.tokens import MESSAGE_OVERHEAD, Meter
from compactlab.transcript import Block, Message, Messages, Reasoning, Text, ToolCall, ToolResult, readable

ENOUGH = 0.005
"""Share of the size that may be left unfilled."""


def build(case: Case, tokens: int, draw: Random) -> Messages:
    """Keep random units up to *tokens* in all; the whole history if it fits."""
    kept: dict[int, Message] = {i: case.base[i] for i in case.held}
    kept.update(_filled(case, _shuffled(case, draw), tokens, tokens - floor(case)))
    return tuple(kept[i] for i in sorted(kept))


def trial(case: Case, tokens: int, seed: str) -> Trial:
    """What `build` makes of `Random(seed)`, ready to be scored: nothing is built that is not cut."""
    units = case.cached("units", lambda: _units(case))
    ranking = ranking_of(case, f"random {seed}", units, lambda: _shuffled(case, Random(seed)))
    room = tokens - floor(case)
    count = ranking.fitting(room)
    filled = _filled(case, ranking.order[count:].tolist(), tokens, room - ranking.weight(count))
    more = tuple(filled.values())
    rest = Rest(more, case.meter.messages(more), dict(_starts(case, filled)))
    return Drawn(case, ranking, count, rest, lambda: build(case, tokens, Random(seed)))


def _starts(case: Case, filled: dict[int, Message]) -> Iterator[tuple[Block, Block]]:
    """The blocks that were cut, each with the one that it is a start of."""
    for position, message in filled.items():
        whole = case.base[position]
        if message is not whole and len(message.blocks) == len(whole.blocks):
            pairs = zip(message.blocks, whole.blocks, strict=True)
            yield from (
                (cut, block) for cut, block in pairs if cut != block and readable(block).startswith(readable(cut))
            )


def _units(case: Case) -> Things:
    blocks = [tuple(block for i in unit for block in case.base[i].blocks) for unit in case.free]
    weights = [case.meter.messages(case.base[i] for i in unit) for unit in case.free]
    return Things(blocks, np.array(weights, np.int64))


def _shuffled(case: Case, draw: Random) -> list[int]:
    order = list(range(len(case.free)))
    draw.shuffle(order)
    return order


def _filled(case: Case, order: Iterable[int], tokens: int, room: int) -> dict[int, Message]:
    """Units in their order until *room* is full: those that fit as they are, one that does not cut to fit."""
    base, meter = case.base, case.meter
    kept: dict[int, Message] = {}
    for at in order:
        unit = case.free[at]
        weight = meter.messages(base[i] for i in unit)
        if weight <= room:
            room -= weight
            kept.update((i, base[i]) for i in unit)
            continue
        cut = _cut([base[i] for i in unit], unit, room, meter)
        kept.update(cut)
        room -= meter.messages(cut.values())
        if room < ENOUGH * tokens:
            break
    return kept


def _cut(messages: list[Message], unit: tuple[int, ...], room: int, meter: Meter) -> dict[int, Message]:
    """Shorten the texts of a unit, last first, until it fits *room*."""
    excess = meter.messages(messages) - room
    cut = list(messages)
    for i in range(len(cut) - 1, -1, -1):
        for at in range(len(cut[i].blocks) - 1, -1, -1):
            if excess <= 0:
                return dict(zip(unit, cut, strict=True))
            block = cut[i].blocks[at]
            shorter = _shortened(block, max(0, meter.block(block) - excess), meter)
            excess -= meter.block(block) - meter.block(shorter)
            cut[i] = replace(cut[i], blocks=(*cut[i].blocks[:at], shorter, *cut[i].blocks[at + 1 :]))
    return dict(zip(unit, cut, strict=True)) if excess <= 0 else _as_text(messages, unit[0], room, meter)


def _as_text(messages: list[Message], position: int, room: int, meter: Meter) -> dict[int, Message]:
    """A unit whose calls alone do not fit, as the start of its plain words: no provider is ever sent a control."""
    blocks = [block for message in messages for block in message.blocks]
    words = "\n".join(f"{b.name} {b.arguments}" if isinstance(b, ToolCall) else readable(b) for b in blocks)
    start = meter.truncated(words, room - MESSAGE_OVERHEAD)
    return {position: Message("user", (Text(start),), synthetic=True)} if start else {}


def _shortened(block: Block, tokens: int, meter: Meter) -> Block:
    """The block with its text cut so that it weighs about *tokens*; calls and pictures stay whole."""
    if isinstance(block, Text):
        return replace(block, text=meter.truncated(block.text, tokens) or "…")
    if isinstance(block, Reasoning) and block.text:
        return replace(block, text=meter.truncated(block.text, tokens))
    if isinstance(block, ToolResult):
        overhead = meter.block(replace(block, content=()))
        return replace(block, content=(Text(meter.truncated(block.text, tokens - overhead)),))
    return block
