"""One row of a table at one cut of one session: what it weighed, whether it met its budget, what it kept of the facts.

A cell over its budget is unreachable, one under nine tenths of it is underfilled (see `compactlab.summary.budgets`).
A case that failed is no cell. A cell that was repeated is the mean of its repetitions, and met its budget if each did.
"""

from __future__ import annotations

from collections import defaultdict
from typing import NamedTuple
from weakref import WeakKeyDictionary

from compactlab.summary.budgets import ENOUGH, budget_tokens
from compactlab.summary.pool import Group, Place, Pool, mean_of

MOST = 0.75
"""Share of the cells that could meet a budget under which those that do are too few to stand for all."""


class Cell(NamedTuple):
    """Tokens before and after, the tokens of the budget (None without one), and the needed facts that stand bound.

    `over` counts the repetitions, where there are some, that lie over the budget.
    """

    before: float
    after: float
    budget: int | None
    kept: float
    needed: int
    over: int = 0

    @property
    def saved(self) -> float:
        return 1 - self.after / self.before if self.before else 0.0

    @property
    def quality(self) -> float | None:
        """Share of the facts needed by an action that still stand bound; None where none was needed."""
        return self.kept / self.needed if self.needed else None

    @property
    def reached(self) -> bool:
        """True unless it lies over its budget."""
        return self.budget is None or (self.after <= self.budget and not self.over)

    @property
    def underfilled(self) -> bool:
        return self.budget is not None and self.after < ENOUGH * self.budget


_made: WeakKeyDictionary[Pool, dict[Group, dict[Place, Cell]]] = WeakKeyDictionary()


def cells(pool: Pool, group: Group) -> dict[Place, Cell]:
    """Give the cells of a row by session and cut, made once a pool; empty for a row that is not in the run."""
    rows = _made.setdefault(pool, {})
    if group not in rows:
        rows[group] = _cells(pool, group)
    return rows[group]


def _cells(pool: Pool, group: Group) -> dict[Place, Cell]:
    before_of: dict[Place, list[float]] = defaultdict(list)
    after_of: dict[Place, list[float]] = defaultdict(list)
    weights = {"tokens_before": before_of, "tokens_after": after_of}
    facts: dict[Place, list[float]] = defaultdict(lambda: [0.0, 0.0])
    for record in pool.groups.get(group, ()):
        place = record.session, record.cut
        if record.metric in weights:
            weights[record.metric][place].append(record.value)
        elif record.metric == "needed_bound" and pool.acted(record):
            facts[place][0] += record.value
            facts[place][1] += record.n
    found = {}
    for place, (before, *again) in before_of.items():
        after = after_of[place]
        budget = budget_tokens(group.budget, before) if group.budget else None
        kept, needed = (number / (1 + len(again)) for number in facts[place])
        over = sum(tokens > budget for tokens in after) if again and budget is not None else 0
        found[place] = Cell(before, mean_of(after), budget, kept, round(needed), over)
    return found


def possible(pool: Pool, budget: str) -> int:
    """Count the cells of a run in which *budget* could be met: those whose protected set is no larger."""
    floor = cells(pool, Group("null")).values()
    return sum(not budget or cell.after <= budget_tokens(budget, cell.before) for cell in floor)


def enough(met: int, of: int) -> bool:
    """Tell whether *met* cells of those that could be met stand for all: three quarters of them.

    >>> enough(39, 52), enough(38, 52), enough(0, 0)
    (True, False, False)
    """
    return met > 0 and met >= MOST * of
