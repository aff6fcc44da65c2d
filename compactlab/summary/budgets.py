"""Budgets: the size that a strategy is to meet, as a share of the weight before the cut, protected set included.

A cell over its budget is unreachable for the strategy; one under nine tenths of it could have kept more. Neither can be
ranked beside those that met it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from compactlab.records import Record

ENOUGH = 0.9
"""Share of a budget under which a result is flagged."""


class Missed(NamedTuple):
    """How many cells of a row lie over their budget, and how many far under it."""

    unreachable: int
    underfilled: int


def budget_tokens(budget: str, before: float) -> int:
    """Tokens of a budget in per cent of the weight before.

    >>> budget_tokens("12.5", 1000)
    125
    """
    return round(before * float(budget) / 100)


def missed(records: Sequence[Record]) -> Missed:
    """Count the cells of a row's records that missed their budget; a row without one missed none."""
    before = {r.key: r.value for r in records if r.metric == "tokens_before" and r.budget}
    after = {r.key: r.value for r in records if r.metric == "tokens_after" and r.budget}
    cells = [(after[key], budget_tokens(key.budget, weight)) for key, weight in before.items()]
    return Missed(
        sum(weight > budget for weight, budget in cells), sum(weight < ENOUGH * budget for weight, budget in cells)
    )
