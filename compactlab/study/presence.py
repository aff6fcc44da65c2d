"""Findings 1 to 3: what presence alone is worth, which anchor binds, and why there is one at-risk set for all."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from msgspec.structs import replace

from compactlab.controls import bag as whole_bag
from compactlab.study import choices
from compactlab.study.anchors import Binding, Rule
from compactlab.study.finding import Finding, judged, mean
from compactlab.study.session import Cell, Session
from compactlab.transcript import Messages, readable

SIZES = ("5", "10", "20")
RULES = {"product": Rule(), "any word": Rule(any_word=True), "window 20": Rule(window=20)}
DELETING = ("microcompact", "cull", "sliding_window")
WRITING = ("sliding_reflect", "summary", "key_value")
PAIRS = 400
APART = 0.7
"""How far apart a bag of tokens and the whole history must be for a rule that binds."""
_TOKEN = re.compile(r"[\w./:@#-]*(?:[\d_/@#]|[a-z][A-Z])[\w./:@#-]*\w")


class Seen(NamedTuple):
    """What one cell shows; dictionaries are by size, rule or strategy."""

    bag: dict[str, float]
    bag_beside: dict[str, float]
    best: dict[str, float]
    values: float
    none_bound: dict[str, float]
    bag_bound: dict[str, float]
    tokens_bound: dict[str, float]
    by_accident: dict[str, float]
    kept_at_risk: dict[str, float]


def look(session: Session) -> list[Seen]:
    """Look at each cell of a session."""
    return [_cell(cell) for cell in session.cells]


def _cell(cell: Cell) -> Seen:
    case = cell.case
    units = choices.units_of(case)
    floor = case.meter.messages(case.protected)
    sizes = {size: cell.tokens(size) for size in SIZES if cell.tokens(size) > floor}
    values = "\n".join(case.risk.facts[fact].value for fact in case.needed)
    found = {name: _bound(cell, rule) for name, rule in RULES.items()}
    return Seen(
        bag={size: cell.standing(choices.bag(case, tokens)).loose for size, tokens in sizes.items()},
        bag_beside={size: cell.standing(choices.bag(case, floor + cell.tokens(size))).loose for size in SIZES},
        best={
            size: choices.best_units(units, tokens - floor).facts / len(case.needed) for size, tokens in sizes.items()
        },
        values=case.meter.text(values) / case.tokens,
        none_bound={name: shares[0] for name, shares in found.items()},
        bag_bound={name: shares[1] for name, shares in found.items()},
        tokens_bound={name: shares[2] for name, shares in found.items()},
        by_accident={name: shares[3] for name, shares in found.items()},
        kept_at_risk=_kept_at_risk(cell),
    )


def _bound(cell: Cell, rule: Rule) -> tuple[float, float, float, float]:
    """Shares of needed facts that a rule binds in the whole, a bag, a bag of other tokens, and by accident."""
    binding = Binding(cell.case.risk, rule)
    anchors = binding.anchors()
    needed = cell.case.needed.keys()
    whole, bare, tokens = (
        len(binding.bound(messages, anchors) & needed) / len(needed)
        for messages in (cell.case.base, whole_bag.build(cell.case), _bag_of_tokens(cell))
    )
    return whole, bare, tokens, _accidental(cell, binding, anchors)


def _bag_of_tokens(cell: Cell) -> Messages:
    """A bag of everything that looks like a token of code or a number, chosen by a pattern and not by the miner."""
    text = "\n".join(readable(block) for message in cell.case.base for block in message.blocks)
    return choices.with_note(cell.case, list(dict.fromkeys(_TOKEN.findall(text))), cell.case.tokens)


def _accidental(cell: Cell, binding: Binding, anchors: dict[int, set[str]]) -> float:
    """How often the surroundings of some other fact hold an anchor of a needed one: seeded pairs of both."""
    draw = cell.draw("accident")
    places = [near for block in binding.homes() for near in binding.near(block)]
    needed = sorted(cell.case.needed)
    drawn = [(draw.choice(needed), draw.choice(places)) for _ in range(PAIRS)]
    strange = [(fact, near) for fact, near in drawn if near.fact != fact]
    return sum(not near.words.isdisjoint(anchors[fact]) for fact, near in strange) / max(1, len(strange))


def _kept_at_risk(cell: Cell) -> dict[str, float]:
    """For each strategy what it keeps of the needed facts that stand nowhere in what it kept word for word."""
    found = {}
    for spec in (*DELETING, *WRITING):
        left = cell.compacted(spec)
        verbatim = [replace(m, blocks=tuple(b for b in m.blocks if b in cell.case.own)) for m in left]
        at_risk = cell.all_needed & ~cell.case.risk.presence(verbatim).loose
        if at_risk:
            found[spec] = cell.standing(left, at_risk).loose
    return found


def findings(looked: Sequence[list[Seen]]) -> list[Finding]:
    """Findings 1 to 3 of all sessions."""
    cells = [cell for cells in looked for cell in cells]
    return [_first(cells), _second(cells), _third(cells)]


def _first(cells: Sequence[Seen]) -> Finding:
    bags = tuple(mean(c.bag[size] for c in cells if size in c.bag) for size in SIZES)
    beside = tuple(mean(c.bag_beside[size] for c in cells) for size in SIZES)
    bests = tuple(mean(c.best[size] for c in cells if size in c.best) for size in SIZES)
    values = max((c.values for c in cells), default=None)
    both = [(b, u) for b, u in zip(bags, bests, strict=True) if b is not None and u is not None]
    return judged(1, [bags, beside, bests, (values,)], holds=all(b > u for b, u in both) if both else None)


def _second(cells: Sequence[Seen]) -> Finding:
    bag, none, bare, strange = (
        [mean(getattr(cell, name)[rule] for cell in cells) for rule in RULES]
        for name in ("tokens_bound", "none_bound", "bag_bound", "by_accident")
    )
    numbers = [*zip(bag, none, strict=True), bare, strange]
    if bag[0] is None or bag[1] is None or none[0] is None:
        return judged(2, numbers, holds=None)
    return judged(2, numbers, holds=none[0] - bag[0] >= APART and bag[1] > 2 * bag[0])


def _third(cells: Sequence[Seen]) -> Finding:
    deleting = [share for cell in cells for spec, share in cell.kept_at_risk.items() if spec in DELETING]
    writing = [share for cell in cells for spec, share in cell.kept_at_risk.items() if spec in WRITING]
    zero = sum(share == 0 for share in deleting)
    numbers = [(zero, len(deleting)), (mean(writing),)]
    return judged(3, numbers, holds=zero == len(deleting) if deleting else None)
