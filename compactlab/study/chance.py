"""Findings 6 and 16: which facts an unrelated session would need as well, and what a pattern of numbers decides.

Chance is measured as in every run: a session's facts at risk at a cut are held against the future of sessions of other
stories. Here they are held against all of them, with no anchor asked for, with the product's rule, and with an anchor
asked of every fact. Numbers too short for the miner are found by a pattern of the study's own.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from msgspec.structs import replace

from compactlab.facts import Fact
from compactlab.facts.numbers import significant
from compactlab.facts.text import canonical
from compactlab.matching import Matcher
from compactlab.probes.mined import AtRisk, matcher_of
from compactlab.study.finding import Finding, judged, known, ratio, spread
from compactlab.study.session import Cell, Session, position
from compactlab.summary.pool import REFUSED_ABOVE
from compactlab.transcript import Messages, readable

FAMILIES = ("path", "identifier", "hash", "number", "date", "name", "quantity", "quote", "command", "error", "url")
INTEGERS = ("1", "2", "3", "4", "5")
DECIMALS = ("2.", "3.", "4.")
_NUMBER = re.compile(r"(?<![\w.,:/#@+-])\d{1,12}+(?:\.\d{1,6}+)?(?![\w%]|[.,:/-]\d)")


class Counts(NamedTuple):
    """Needed facts by family: in the session's own future, and in an unrelated one (a mean over those)."""

    own: dict[str, float]
    foreign: dict[str, float]


class Seen(NamedTuple):
    """What one cell shows, by rule, and of numbers by their length; `pairs` unrelated sessions were looked at."""

    bare: Counts
    product: Counts
    anchored: Counts
    numbers: Counts
    pairs: int


def look(session: Session) -> list[Seen]:
    """Look at each cell of a session."""
    numbers = numbers_in(session.transcript.messages)
    matcher = matcher_of(numbers)
    return [_cell(cell, numbers, matcher) for cell in session.cells]


def _cell(cell: Cell, numbers: tuple[Fact, ...], of_numbers: Matcher) -> Seen:
    base, risk, futures = cell.case.base, cell.case.risk, _foreign_futures(cell)
    bare, anchored = (
        AtRisk(base, _asking(risk.facts, needs_anchor=needs_anchor), risk.matcher) for needs_anchor in (False, True)
    )
    return Seen(
        bare=_counted(bare, cell, futures, _family),
        product=_counted(risk, cell, futures, _family),
        anchored=_counted(anchored, cell, futures, _family),
        numbers=_counted(AtRisk(base, numbers, of_numbers), cell, futures, _length),
        pairs=len(futures),
    )


def _asking(facts: Iterable[Fact], *, needs_anchor: bool) -> tuple[Fact, ...]:
    """The facts, all of which need an anchor, or none."""
    return tuple(replace(fact, needs_anchor=needs_anchor) for fact in facts)


def _foreign_futures(cell: Cell) -> list[Messages]:
    """What follows the same share of the weight in the sessions of other stories."""
    cuts = [(other, position(other, cell.share, cell.case.meter)) for other in cell.session.others]
    return [other.messages[before:] for other, before in cuts if before is not None]


def _counted(risk: AtRisk, cell: Cell, futures: Sequence[Messages], group: Callable[[Fact], str]) -> Counts:
    own = Counter(group(risk.facts[fact]) for fact in risk.future(cell.future).uses)
    foreign = Counter(group(risk.facts[fact]) for messages in futures for fact in risk.future(messages).uses)
    return Counts(dict(own), {name: count / len(futures) for name, count in foreign.items()})


def _family(fact: Fact) -> str:
    return fact.family


def _length(fact: Fact) -> str:
    """Digits of an integer, or significant digits (up to 4) and a point: `3` for 120, `3.` for 1.25."""
    return f"{min(4, significant(fact.value))}." if "." in fact.value else str(len(fact.value))


def numbers_in(messages: Messages) -> tuple[Fact, ...]:
    """All numbers of up to 12 digits that stand by themselves, short ones too, as facts, in order of appearance.

    >>> from compactlab.transcript import Message, Text
    >>> [fact.value for fact in numbers_in((Message("user", (Text("take 3 of 120, 0.25 each, not v2 or 1/2"),)),))]
    ['3', '120', '0.25']
    """
    texts = (canonical(readable(block)) for message in messages for block in message.blocks)
    values = dict.fromkeys(value for text in texts for value in _NUMBER.findall(text))
    return tuple(Fact("number", value, (value,)) for value in values)


def findings(looked: Sequence[list[Seen]]) -> list[Finding]:
    """Findings 6 and 16 of all sessions."""
    cells = [cell for cells in looked for cell in cells]
    return [_sixth(looked), _sixteenth(cells)]


def _sixth(looked: Sequence[list[Seen]]) -> Finding:
    cells = [cell for cells in looked for cell in cells if cell.pairs]
    bare, anchored, product, lengths = (
        [getattr(cell, name) for cell in cells] for name in ("bare", "anchored", "product", "numbers")
    )
    by_session = known(rate(cell.bare for cell in cells if cell.pairs) for cells in looked)
    stay = [ratio(_sum(counts, "own"), _sum(bare, "own")) for counts in (anchored, product)]
    before, after, admitted = rate(bare), rate(anchored), rate(product)
    numbers = [
        spread(by_session),
        *((rate(bare, family),) for family in FAMILIES),
        [rate(lengths, length) for length in INTEGERS],
        [rate(lengths, length) for length in DECIMALS],
        (before, after),
        stay[:1],
        (admitted, stay[1]),
    ]
    if before is None or after is None or admitted is None:
        return judged(6, numbers, holds=None)
    return judged(6, numbers, holds=admitted <= min(before, REFUSED_ABOVE))


def rate(counts: Iterable[Counts], name: str = "") -> float | None:
    """Facts of a group (or all) needed by an unrelated session over those needed by their own; None if none were.

    >>> rate([Counts({"path": 10}, {"path": 0.5}), Counts({"path": 10, "name": 4}, {})], "path")
    0.025
    """
    counts = list(counts)
    return ratio(_sum(counts, "foreign", name), _sum(counts, "own", name))


def _sum(counts: Iterable[Counts], side: str, name: str = "") -> float:
    found = (getattr(count, side) for count in counts)
    return sum(by_group.get(name, 0) if name else sum(by_group.values()) for by_group in found)


def _sixteenth(cells: Sequence[Seen]) -> Finding:
    found = [(admitted(cell.numbers.own, 4, 3), admitted(cell.numbers.own, 3, 2)) for cell in cells]
    moves = sorted(found, key=lambda move: move[0] - move[1])[:3]
    times = ratio(sum(after for _, after in found), sum(before for before, _ in found))
    shown = [float(number) for move in moves for number in move] if len(moves) == 3 else [None]
    return judged(16, [shown, (times,)], holds=None if times is None or len(moves) < 3 else times > 1.1)


def admitted(by_length: dict[str, float], integer: int, decimal: int) -> int:
    """How many numbers have at least so many digits; by length as in `Counts`.

    >>> admitted({"3": 5, "4": 2, "2.": 7, "3.": 1}, 4, 3)
    3
    """
    return sum(
        int(count)
        for length, count in by_length.items()
        if int(length.rstrip(".")) >= (decimal if "." in length else integer)
    )
