"""What separates from what: paired differences of the headline between two rows at the same budget (M16).

Two rows are compared cell by cell where both lie within their budgets: the mean over the cuts of a session is its
difference, sessions of one story are a cluster, the interval is that of the clustered t. A family is all pairs of
strategies at one budget, or all strategies against one control at one budget: `compactlab.stats.judged` corrects within
it. A difference of under `MARGIN` is told as equivalent where one of that size is ruled out.

More room keeps more: a row that kept more facts in over a ninth more tokens than the other is not called better. The
controls at a strategy's own size need no such care, and `bag` has one size of its own, whatever the budget.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Literal

from compactlab.stats import Compared, Estimate, Judged, clustered, compared, judged
from compactlab.summary.budgets import ENOUGH
from compactlab.summary.cells import Cell, cells, enough, possible
from compactlab.summary.curves import name_of
from compactlab.summary.pool import Group, Place, Pool, session_means

Verdict = Literal["better", "worse", "equivalent", "inconclusive", "unranked"]
"""What the first of a pair is; `unranked`: they differ, but the one that kept more had more room."""
AGAINST = ("bag", "regex_lines", "random")
"""Controls that every strategy is held against."""

_NOT_YET = Judged(None, None, None)


@dataclass(frozen=True)
class Pair:
    """Two rows at a budget ("" their own sizes), the first less the second, over *cells* that both met.

    `saved` is the difference of the shares saved in the same cells; `even` is False if the one that kept more weighs
    over a ninth more there. `found` holds the tests as they are, `judged` what Holm's correction makes of them and the
    verdict of the retention alone; both hold None where there are too few stories.
    """

    one: str
    other: str
    budget: str
    found: Compared
    saved: Estimate
    even: bool
    cells: int
    judged: Judged = _NOT_YET

    @property
    def difference(self) -> Estimate:
        """The mean difference of bound retention, with its interval."""
        return self.found.difference

    @property
    def verdict(self) -> Verdict | None:
        """The verdict, with a view to the room that both had."""
        differs = self.judged.verdict in {"better", "worse"}
        return "unranked" if differs and not self.even else self.judged.verdict


def between_strategies(pool: Pool) -> tuple[Pair, ...]:
    """Compare all pairs of strategies at each budget, in case order, those that take part."""
    compacting = [group for group in pool.strategies if takes_part(pool, group)]
    found: list[Pair] = []
    for budget in dict.fromkeys(group.budget for group in compacting):
        at = [group for group in compacting if group.budget == budget]
        pairs = [_pair(pool, one, other) for one, other in combinations(at, 2)]
        found += _judged([pair for pair in pairs if pair is not None])
    return tuple(found)


def against_controls(pool: Pool, controls: Sequence[str] = AGAINST) -> tuple[Pair, ...]:
    """Compare each strategy at each budget with `bag` and with controls of its own size, one family a control."""
    compacting = [group for group in pool.strategies if takes_part(pool, group)]
    found: list[Pair] = []
    for budget in dict.fromkeys(group.budget for group in compacting):
        at = [group for group in compacting if group.budget == budget]
        for name in controls:
            pairs = [_pair(pool, one, _control(name, one)) for one in at]
            found += _judged([pair for pair in pairs if pair is not None])
    return tuple(found)


def takes_part(pool: Pool, group: Group) -> bool:
    """Tell whether a row can be compared: it saved something, and met its budget in enough of the cells that it could.

    `none`, and what gave its input back in every cell, have nothing to show beside what compacted.
    """
    met = [cell for cell in cells(pool, group).values() if cell.reached]
    saved = group.strategy != "none" and any(cell.after < cell.before for cell in met)
    return saved and (not group.budget or enough(len(met), possible(pool, group.budget)))


def _control(name: str, of: Group) -> Group:
    return Group(name) if name == "bag" else Group(name, of.strategy, of.budget)


def _pair(pool: Pool, one: Group, other: Group) -> Pair | None:
    """The pair of two rows, not judged yet; None where no cell that both met needed a fact."""
    there = cells(pool, other)
    shared = {place: (cell, there[place]) for place, cell in cells(pool, one).items() if _both(cell, there.get(place))}
    by_session = session_means({place: _difference(*pair) for place, pair in shared.items()})
    found = compared(pool.by_cluster(by_session))
    if found is None:
        return None
    saved = session_means({place: first.saved - second.saved for place, (first, second) in shared.items()})
    return Pair(
        one=name_of(pool, one.strategy),
        other=other.strategy if other.strategy in AGAINST or other.size_of else name_of(pool, other.strategy),
        budget=one.budget,
        found=found,
        saved=clustered(pool.by_cluster(saved)) or found.difference,
        even=other.strategy == "bag" or _even(found, shared),
        cells=len(shared),
    )


def _both(cell: Cell, other: Cell | None) -> bool:
    return cell.reached and cell.needed > 0 and other is not None and other.reached and other.needed > 0


def _difference(one: Cell, other: Cell) -> float:
    return one.kept / one.needed - other.kept / other.needed


def _even(found: Compared, shared: dict[Place, tuple[Cell, Cell]]) -> bool:
    """True unless the one that kept more weighs over a ninth more, as a mean of the cells' keep ratios."""
    weigh = [sum(1 - pair[i].saved for pair in shared.values()) for i in (0, 1)]
    winner, loser = weigh if found.difference.mean > 0 else reversed(weigh)
    return loser >= ENOUGH * winner - 1e-9


def _judged(pairs: Sequence[Pair]) -> Iterable[Pair]:
    """The pairs of one family, judged together."""
    for pair, found in zip(pairs, judged([pair.found for pair in pairs]), strict=True):
        yield replace(pair, judged=found)
