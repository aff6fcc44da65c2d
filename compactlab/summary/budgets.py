"""Budgets: the size that a strategy is to meet, as a share of the weight before the cut, protected set included.

A cell over its budget is unreachable for the strategy; one under nine tenths of it could have kept more. Neither can be
ranked beside those that met it.
"""

from __future__ import annotations

from typing import NamedTuple

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
