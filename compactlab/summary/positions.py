"""What is kept of each tenth of a history and of each age, pooled over cuts, and the age at which half is gone (M9)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import pairwise

from compactlab.summary.pool import Group, Pool

Kept = Mapping[str, tuple[float, int]]
"""Kept and counted facts by tenth or by span of ages."""


def by_tenth(pool: Pool, group: Group) -> Kept:
    """Facts at risk that stand bound in a row, and all, by the tenth of the history that told them first."""
    return _pooled(pool, group, "position_bound", int)


def by_age(pool: Pool, group: Group) -> Kept:
    """The same by the span of turns since they were last mentioned, young ones first."""
    return _pooled(pool, group, "age_bound", youngest)


def _pooled(pool: Pool, group: Group, metric: str, order: Callable[[str], int]) -> Kept:
    found = {key: at for (name, _, key), at in pool.sums(group).items() if name == metric}
    return {key: found[key] for key in sorted(found, key=order)}


def youngest(span: str) -> int:
    """The lowest age of a span.

    >>> youngest("16-31")
    16
    """
    return int(span.partition("-")[0])


def middle(span: str) -> float:
    """The middle of a span of ages.

    >>> middle("2-3")
    2.5
    """
    return sum(map(int, span.split("-"))) / 2


def half_age(spans: Kept) -> float | None:
    """The age in turns at which a falling fit of retention crosses one half; None if it stays on one side.

    *spans* gives kept and counted facts by span of ages, as `age_span` names them. The fit is the isotonic regression,
    weighted by the facts, at the middle of each span, with straight lines between (M9).

    >>> round(half_age({"0-1": (9, 10), "2-3": (7, 10), "4-7": (3, 10), "8-15": (4, 10)}), 2)
    4.21
    """
    from scipy.optimize import isotonic_regression

    ordered = sorted(spans, key=youngest)
    if len(ordered) < 2:
        return None
    ages = [middle(span) for span in ordered]
    weights = [spans[span][1] for span in ordered]
    fit = isotonic_regression([spans[s][0] / spans[s][1] for s in ordered], weights=weights, increasing=False).x
    for (age, kept), (next_age, left) in pairwise(zip(ages, fit, strict=True)):
        if kept >= 0.5 > left:
            return float(age + (kept - 0.5) / (kept - left) * (next_age - age))
    return None
