"""Findings 4, 5 and 7: where needed facts stood, what first needed them, and how unevenly later uses fall.

The kinds of homes are told apart by the first of these that holds: the result of a read-only call, any other result,
a call of the agent's own, words alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

from compactlab import history
from compactlab.probes.mined import mask
from compactlab.study.choices import prose_first
from compactlab.study.finding import Finding, judged, known, mean, ratio, spread
from compactlab.study.session import Cell, Session, Standing, average
from compactlab.tools import is_read_only
from compactlab.transcript import ToolCall, ToolResult

Home = Literal["read again", "one-off output", "own calls", "words"]
HOMES: tuple[Home, ...] = ("read again", "one-off output", "own calls", "words")
USES = ("bulk", "action", "text")
SLIDES = ("10", "20", "30")
PROSE = "20"
CLEAR = 0.1
"""By how much prose first must favour text uses."""
TOO_MUCH = 0.25
"""Share of the weight that a tenth of the facts may not carry in any cell."""
DECAY = 0.97
"""What a use one turn of the agent later weighs beside an earlier one, where all uses are counted."""


class Slide(NamedTuple):
    """What a slide, and random lines of its size, keep of the needed facts that can be read again, or of the rest."""

    can_be_read: bool
    slide: Standing
    lines: Standing


class Seen(NamedTuple):
    """What one cell shows: counts of facts by home and by use, slides, what prose first keeps by use, and all uses."""

    homes: dict[str, int]
    uses: dict[str, int]
    slides: list[Slide]
    prose: dict[str, float]
    top_tenth: float | None
    first_share: float


def look(session: Session) -> list[Seen]:
    """Look at each cell of a session."""
    return [_cell(cell) for cell in session.cells]


def _cell(cell: Cell) -> Seen:
    homes = homes_of(cell)
    weights, uses = weights_of_uses(cell)
    text, action = cell.needed("text"), cell.needed("action")
    prose = prose_first(cell.case, cell.tokens(PROSE))
    return Seen(
        homes=dict(Counter(homes.values())),
        uses=dict(Counter(use.kind for use in cell.case.needed.values())),
        slides=list(_slides(cell, homes)),
        prose={name: cell.standing(prose, bits).loose for name, bits in (("text", text), ("action", action)) if bits},
        top_tenth=top_tenth(weights),
        first_share=len(weights) / uses,
    )


def homes_of(cell: Cell) -> dict[int, Home]:
    """For each needed fact the kind of its homes before the cut."""
    case = cell.case
    reading = set()
    for result, call in history.pair(case.base).call_of.items():
        made_by = case.base[call.message].blocks[call.block]
        if isinstance(made_by, ToolCall) and is_read_only(made_by):
            reading.add(result)
    found: dict[int, int] = {}
    for position, message in enumerate(case.base):
        for at, block in enumerate(message.blocks):
            if isinstance(block, ToolResult):
                kind = 0 if (position, at) in reading else 1
            else:
                kind = 2 if isinstance(block, ToolCall) else 3
            for hit in case.risk.matcher.block(block):
                if hit.pattern in case.needed:
                    found[hit.pattern] = min(kind, found.get(hit.pattern, kind))
    return {fact: HOMES[kind] for fact, kind in found.items()}


def _slides(cell: Cell, homes: dict[int, Home]) -> Iterator[Slide]:
    again = mask(fact for fact, home in homes.items() if home == "read again")
    for budget in SLIDES:
        slide = cell.compacted("sliding_window", budget)
        lines = cell.drawn(cell.case.meter.messages(slide), 5, "random_lines")
        for can_be_read, bits in ((True, again), (False, cell.all_needed & ~again)):
            if bits:
                drawn = [cell.standing(messages, bits) for messages in lines]
                yield Slide(can_be_read, cell.standing(slide, bits), average(drawn))


def weights_of_uses(cell: Cell) -> tuple[dict[int, float], int]:
    """What each needed fact weighs if all its uses count, each a little less with every turn; and how many uses."""
    weights: dict[int, float] = {}
    uses = turn = 0
    for message in cell.future:
        if message.role != "assistant":
            continue
        for block in message.blocks:
            if isinstance(block, ToolResult):
                continue
            held = {hit.pattern for hit in cell.case.risk.matcher.block(block)} & cell.case.needed.keys()
            uses += len(held)
            weights.update((fact, weights.get(fact, 0.0) + DECAY**turn) for fact in held)
        turn += 1
    return weights, uses


def top_tenth(weights: dict[int, float]) -> float | None:
    """Which share of all weight the heaviest tenth of the facts carries; None for fewer than ten facts.

    >>> top_tenth({fact: 9.0 if fact == 3 else 1.0 for fact in range(10)})
    0.5
    """
    ranked = sorted(weights.values(), reverse=True)
    return sum(ranked[: len(ranked) // 10]) / sum(ranked) if len(ranked) >= 10 else None


def findings(looked: Sequence[list[Seen]]) -> list[Finding]:
    """Findings 4, 5 and 7 of all sessions."""
    cells = [cell for cells in looked for cell in cells]
    return [_fourth(cells), _fifth(cells), _seventh(cells)]


def _fourth(cells: Sequence[Seen]) -> Finding:
    homes = _pooled([cell.homes for cell in cells])
    again, rest = (
        [slide for cell in cells for slide in cell.slides if slide.can_be_read is kind] for kind in (True, False)
    )
    loose = [(mean(s.slide.loose for s in kind), mean(s.lines.loose for s in kind)) for kind in (again, rest)]
    bound = [(mean(s.slide.bound for s in kind), mean(s.lines.bound for s in kind)) for kind in (again, rest)]
    numbers = [[ratio(homes[home], homes.total()) for home in HOMES], *loose, *bound]
    first, second = _gap(loose[0]), _gap(loose[1])
    return judged(4, numbers, holds=None if first is None or second is None else first < 0 < second)


def _gap(means: Sequence[float | None]) -> float | None:
    return None if means[0] is None or means[1] is None else means[0] - means[1]


def _pooled(counts: Sequence[dict[str, int]]) -> Counter[str]:
    total: Counter[str] = Counter()
    for count in counts:
        total.update(count)
    return total


def _fifth(cells: Sequence[Seen]) -> Finding:
    uses = _pooled([cell.uses for cell in cells])
    kept = [mean(c.prose[kind] for c in cells if kind in c.prose) for kind in ("text", "action")]
    gap = _gap(kept)
    numbers = [[ratio(uses[use], uses.total()) for use in USES], kept]
    return judged(5, numbers, holds=None if gap is None else gap > CLEAR)


def _seventh(cells: Sequence[Seen]) -> Finding:
    tops = known(cell.top_tenth for cell in cells)
    numbers = [spread(tops), (mean(cell.first_share for cell in cells),)]
    return judged(7, numbers, holds=max(tops) > TOO_MUCH if tops else None)
