"""What is kept of each tenth of a history and of each age, pooled over cuts, and the age at which half is gone (M9)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from itertools import pairwise
from typing import NamedTuple

from compactlab.stats import MIN_CLUSTERS, Estimate
from compactlab.summary.pool import Group, Pool
from compactlab.summary.pooled import sums

Kept = Mapping[str, tuple[float, float]]
"""Kept and counted facts by tenth or by span of ages."""


def by_tenth(pool: Pool, group: Group) -> Kept:
    """Facts at risk that stand bound in a row, and all, by the tenth of the history that told them first."""
    return _pooled(_by_session(pool, group, "position_bound"))


def by_age(pool: Pool, group: Group) -> Kept:
    """The same by the span of turns since they were last mentioned, young ones first."""
    return _pooled(_by_session(pool, group, "age_bound"))


def shares(pool: Pool, group: Group, metric: str) -> dict[str, Estimate]:
    """Give the share that stands bound, with its interval, by tenth (`position_bound`) or span (`age_bound`)."""
    of = sums(pool, group)
    found = {key: of.share(metric, groups=(key,)) for key in sorted(of.names(metric), key=youngest)}
    return {key: estimate for key, estimate in found.items() if estimate is not None}


class HalfAge(NamedTuple):
    """The age in turns at which half is gone, and the lowest and highest with one story left out; None if unknown."""

    turns: float
    low: float | None
    high: float | None


def half_age_of(pool: Pool, group: Group) -> HalfAge | None:
    """Give the half-age of a row; None where its fit stays on one side of one half.

    How far it moves with one story left out takes the place of an interval: a crossing is no mean. None of that under
    five stories, or where a fit without one of them crosses nowhere.
    """
    parts = _by_session(pool, group, "age_bound")
    whole = half_age(_pooled(parts))
    if whole is None:
        return None
    stories = {pool.cluster[session] for session in parts}
    without = [
        half_age(_pooled({session: of for session, of in parts.items() if pool.cluster[session] != story}))
        for story in sorted(stories)
    ]
    known = [age for age in without if age is not None]
    if len(stories) < MIN_CLUSTERS or len(known) < len(without):
        return HalfAge(whole, None, None)
    return HalfAge(whole, min(known), max(known))


def _by_session(pool: Pool, group: Group, metric: str) -> dict[str, dict[str, tuple[float, float]]]:
    found: dict[str, dict[str, tuple[float, float]]] = defaultdict(dict)
    of = sums(pool, group)
    for key in of.names(metric):
        for session, part in of.parts(metric, groups=(key,)).items():
            found[session][key] = part
    return found


def _pooled(parts: Mapping[str, Kept]) -> Kept:
    found: dict[str, tuple[float, float]] = {}
    for of in parts.values():
        for key, (value, n) in of.items():
            before = found.get(key, (0.0, 0.0))
            found[key] = before[0] + value, before[1] + n
    return {key: found[key] for key in sorted(found, key=youngest)}


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
