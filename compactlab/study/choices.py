"""Ways to fill a size that only the study uses: whole units, best or greedy, a bag, prose, and other random fills.

The best choice of units is a maximum coverage with a knapsack, solved exactly by integer programme; the greedy one
takes the unit with the most new facts a token, and again (Khuller, Moss and Naor 1999).
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from random import Random
from typing import NamedTuple

from compactlab import history
from compactlab.controls._lines import Line, chosen, lines_of
from compactlab.metrics import Case
from compactlab.strategies import note
from compactlab.tokens import MESSAGE_OVERHEAD
from compactlab.transcript import Message, Messages, Reasoning, Text

SECONDS = 20.0


class Unit(NamedTuple):
    """A unit outside the protected set: its positions, its weight, and the needed facts that stand in it."""

    positions: tuple[int, ...]
    tokens: int
    facts: frozenset[int]


class Choice(NamedTuple):
    """How many needed facts a choice of units holds, in how many seconds it was made, and whether it is the best."""

    facts: int
    seconds: float
    exact: bool


def units_of(case: Case) -> list[Unit]:
    """The units that may be chosen, with the needed facts that stand in them at all."""
    found = []
    for positions in case.free:
        messages = [case.base[i] for i in positions]
        loose = case.risk.presence(messages).loose
        facts = frozenset(fact for fact in case.needed if loose >> fact & 1)
        found.append(Unit(positions, case.meter.messages(messages), facts))
    return found


def best_units(units: Sequence[Unit], room: int) -> Choice:
    """The most needed facts that whole units of at most *room* tokens together can hold."""
    import numpy as np
    from scipy.optimize import Bounds, LinearConstraint, milp
    from scipy.sparse import lil_array

    started = time.perf_counter()
    useful = [unit for unit in units if unit.facts and unit.tokens <= room]
    facts = sorted(frozenset().union(*(unit.facts for unit in useful)))
    if not facts:
        return Choice(0, time.perf_counter() - started, exact=True)
    size = len(useful) + len(facts)
    rows = lil_array((1 + len(facts), size))
    rows[0, : len(useful)] = np.array([float(unit.tokens) for unit in useful])
    for row, fact in enumerate(facts, 1):
        rows[row, len(useful) + row - 1] = 1
        for column, unit in enumerate(useful):
            if fact in unit.facts:
                rows[row, column] = -1
    gain = np.concatenate([np.zeros(len(useful)), -np.ones(len(facts))])
    found = milp(
        gain,
        constraints=LinearConstraint(rows.tocsr(), ub=np.array([float(room)] + [0.0] * len(facts))),
        integrality=np.ones(size),
        bounds=Bounds(0, 1),
        options={"time_limit": SECONDS, "mip_rel_gap": 0.0},
    )
    kept = 0 if found.x is None else round(-found.fun)
    return Choice(kept, time.perf_counter() - started, exact=found.status == 0)


def greedy_units(units: Sequence[Unit], room: int) -> Choice:
    """What taking the unit with the most new facts a token, as long as one fits, comes to."""
    started = time.perf_counter()
    left = [unit for unit in units if unit.facts]
    held: set[int] = set()
    while True:
        fitting = [unit for unit in left if unit.tokens <= room and unit.facts - held]
        if not fitting:
            return Choice(len(held), time.perf_counter() - started, exact=False)
        best = max(fitting, key=lambda unit: len(unit.facts - held) / unit.tokens)
        held |= best.facts
        room -= best.tokens
        left.remove(best)


def with_note(case: Case, words: Sequence[str], tokens: int) -> Messages:
    """The protected set, and behind its anchor a note of as many of *words*, one a line, as fit *tokens* in all."""
    room = tokens - case.meter.messages(case.protected) - MESSAGE_OVERHEAD
    text = case.meter.truncated("\n".join(words), room)
    behind = len(history.anchor(case.protected))
    made = (note(text),) if text else ()
    return (*case.protected[:behind], *made, *case.protected[behind:])


def bag(case: Case, tokens: int) -> Messages:
    """The bare values of facts at risk, those whose last home is the newest first, as many as fit."""
    newest: dict[int, int] = {}
    for position, message in enumerate(case.base):
        for block in message.blocks:
            newest.update((hit.pattern, position) for hit in case.risk.matcher.block(block))
    ranked = sorted(case.risk.anchors, key=lambda fact: (-newest[fact], fact))
    return with_note(case, [case.risk.facts[fact].value for fact in ranked], tokens)


def prose_first(case: Case, tokens: int) -> Messages:
    """The lines of all that was said and thought, newest first, then those of calls and results, up to *tokens*."""
    said = {
        (position, line)
        for unit in case.free
        for position in unit
        for block in case.base[position].blocks
        if isinstance(block, Text | Reasoning)
        for line in block.text.split("\n")
    }
    lines = case.cached("lines", lambda: lines_of(case))
    return chosen(case, sorted(lines, key=lambda line: _prose(line, said)), tokens)


def _prose(line: Line, said: set[tuple[int, str]]) -> tuple[bool, int]:
    return ((line.position, line.block.text) not in said, -line.number)


def dropped_until_fits(case: Case, tokens: int, draw: Random) -> Messages:
    """Drop random units until the rest fits *tokens*: the result lies under the size by up to a whole unit."""
    free = list(case.free)
    draw.shuffle(free)
    weight = case.tokens
    while free and weight > tokens:
        weight -= case.meter.messages(case.base[i] for i in free.pop())
    return _with(case, free)


def filled(case: Case, tokens: int, draw: Random) -> Messages:
    """Take random units one after the other, each that still fits *tokens*: small units are taken more often."""
    free = list(case.free)
    draw.shuffle(free)
    room = tokens - case.meter.messages(case.protected)
    taken = []
    for unit in free:
        weight = case.meter.messages(case.base[i] for i in unit)
        if weight <= room:
            room -= weight
            taken.append(unit)
    return _with(case, taken)


def _with(case: Case, units: Iterable[tuple[int, ...]]) -> Messages:
    kept: dict[int, Message] = {i: case.base[i] for i in case.held}
    kept.update((i, case.base[i]) for unit in units for i in unit)
    return tuple(kept[i] for i in sorted(kept))
