"""Findings 8 to 10: the best choice of units, how a random control meets a size, and what clearing results leaves."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import NamedTuple

from compactlab.compaction import Guard, compact
from compactlab.controls import random, random_lines, regex_lines
from compactlab.metrics import Case
from compactlab.strategies.microcompact import ClearToolResults
from compactlab.study import choices
from compactlab.study.finding import Finding, deviation, judged, known, mean, spread
from compactlab.study.session import BUDGETS, DRAWS, Cell, Session
from compactlab.transcript import Messages

SIZES = (*BUDGETS, "50")
FILLS: dict[str, Callable[[Case, int, Random], Messages]] = {
    "dropped until it fits": choices.dropped_until_fits,
    "filled with what fits": choices.filled,
    "cut to the very size": random.build,
}
TENTH = 0.1


class Best(NamedTuple):
    """At one size: needed facts in the best choice and in the greedy one, as shares; in kept lines; the seconds."""

    best: float
    greedy: float
    lines: float
    seconds: float
    exact: bool


class Seen(NamedTuple):
    """What one cell shows, by size: the choices, slide minus random by fill, and the spread of one random seed."""

    best: list[Best]
    differences: dict[tuple[str, str], float]
    seeds: dict[str, float]
    cleared: float


def look(session: Session) -> list[Seen]:
    """Look at each cell of a session."""
    return [_cell(cell) for cell in session.cells]


def _cell(cell: Cell) -> Seen:
    differences, seeds = _against_random(cell)
    return Seen(list(_choices(cell)), differences, seeds, _cleared(cell))


def _choices(cell: Cell) -> list[Best]:
    case, needed = cell.case, len(cell.case.needed)
    units = choices.units_of(case)
    floor = case.meter.messages(case.protected)
    found = []
    for tokens in (cell.tokens(size) for size in SIZES):
        if tokens <= floor:
            continue
        best = choices.best_units(units, tokens - floor)
        greedy = choices.greedy_units(units, tokens - floor)
        kept = [regex_lines.build(case, tokens), random_lines.build(case, tokens, cell.draw(tokens, "lines"))]
        lines = max(cell.standing(messages).loose for messages in kept)
        found.append(Best(best.facts / needed, greedy.facts / needed, lines, best.seconds, best.exact))
    return found


def _against_random(cell: Cell) -> tuple[dict[tuple[str, str], float], dict[str, float]]:
    """By fill and budget how much more a slide keeps than random units; by budget the spread of a seed."""
    differences: dict[tuple[str, str], float] = {}
    seeds: dict[str, float] = {}
    for budget in BUDGETS:
        slide = cell.compacted("sliding_window", budget)
        if cell.case.meter.messages(slide) > cell.tokens(budget):
            continue
        own = cell.case.meter.messages(slide)
        for name, fill in FILLS.items():
            tokens = own if fill is random.build else cell.tokens(budget)
            drawn = [cell.standing(fill(cell.case, tokens, cell.draw(tokens, draw))).loose for draw in range(DRAWS)]
            differences[name, budget] = cell.standing(slide).loose - sum(drawn) / DRAWS
            if fill is random.build:
                seeds[budget] = deviation(drawn) or 0.0
    return differences, seeds


def _cleared(cell: Cell) -> float:
    """The share of the weight that stays when every result outside the protected set is cleared."""
    tools = tuple(sorted({call.name for message in cell.case.base for call in message.calls}))
    clearing = ClearToolResults(keep_recent=0, tools=tools)
    receipt = compact(cell.case.base, clearing, guard=Guard(cell.case.meter)).receipt
    return receipt.tokens_after / cell.case.tokens


def findings(looked: Sequence[list[Seen]]) -> list[Finding]:
    """Findings 8 to 10 of all sessions."""
    cells = [cell for cells in looked for cell in cells]
    return [_eighth(cells), _ninth(cells), _tenth(cells)]


def _eighth(cells: Sequence[Seen]) -> Finding:
    found = [best for cell in cells for best in cell.best]
    exact = sum(best.exact for best in found)
    gaps = known(_gap_at(cells, at) for at in range(len(SIZES)))
    beaten = sum(best.lines > best.best + 1e-9 for best in found)
    slowest = max((best.seconds for best in found), default=None)
    numbers = [(exact, len(found)), (slowest,), spread(gaps), (beaten, len(found))]
    return judged(8, numbers, holds=exact == len(found) and beaten > 0 if found else None)


def _gap_at(cells: Sequence[Seen], at: int) -> float | None:
    """The mean gap at one size, counted from the largest: small sizes are out of reach in some cells."""
    return mean(cell.best[-1 - at].best - cell.best[-1 - at].greedy for cell in cells if at < len(cell.best))


def _ninth(cells: Sequence[Seen]) -> Finding:
    by_fill = [
        known(mean(c.differences[fill, b] for c in cells if (fill, b) in c.differences) for b in BUDGETS)
        for fill in FILLS
    ]
    seeds = known(mean(cell.seeds[b] for cell in cells if b in cell.seeds) for b in BUDGETS)
    means = known(mean(gaps) for gaps in by_fill)
    numbers = [*map(spread, by_fill), spread(seeds)]
    return judged(9, numbers, holds=min(means) < 0 < max(means) if means else None)


def _tenth(cells: Sequence[Seen]) -> Finding:
    left = [cell.cleared for cell in cells]
    over = sum(share > TENTH for share in left)
    return judged(10, [spread(left), (over, len(left))], holds=over > len(left) / 2 if left else None)
