"""Position and age (M9): what is kept of each tenth of a history and of each age, and the age at which half is gone."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import pairwise

from compactlab.metrics.position import TENTHS
from compactlab.report.section import Section, share
from compactlab.summary import Summary
from compactlab.summary.pool import Group, Pool

_Spans = Mapping[str, tuple[float, int]]


def by_position(pool: Pool, summary: Summary) -> Section:
    """Bound retention of all facts at risk by the tenth of the history in which they were first told."""
    tenths = [str(n) for n in range(1, TENTHS + 1)]
    pooled = [(row.name, _pooled(pool, Group(row.label, "", row.budget), "position_bound")) for row in summary.rows]
    rows = [(name, *_shares(found, tenths)) for name, found in pooled]
    legend = (
        "Bound retention of all facts at risk, pooled over sessions and cuts, by the tenth of the weight before the cut"
        " in which a fact was first told: 1 is the oldest."
    )
    return Section("Position", ("strategy", *tenths), rows, legend)


def by_age(pool: Pool, summary: Summary) -> Section:
    """Bound retention of all facts at risk by the turns since their last mention, and the half-age."""
    pooled = [(row.name, _pooled(pool, Group(row.label, "", row.budget), "age_bound")) for row in summary.rows]
    spans = sorted({span for _, found in pooled for span in found}, key=_low)
    rows = []
    for name, found in pooled:
        age = half_age(found)
        rows.append((name, *_shares(found, spans), "-" if age is None else f"{age:.0f}"))
    legend = (
        "Bound retention of all facts at risk, pooled over sessions and cuts, by the turns of the agent since a fact"
        " was last mentioned. Half-age: the age in turns at which a falling (isotonic) fit crosses one half; a dash"
        " where it does not."
    )
    return Section("Age", ("strategy", *spans, "half-age"), rows, legend)


def _pooled(pool: Pool, group: Group, metric: str) -> dict[str, tuple[float, int]]:
    """Kept and counted facts by the group of their record."""
    sums: dict[str, list[float]] = defaultdict(lambda: [0.0, 0])
    for record in pool.groups[group]:
        if record.metric == metric:
            sums[record.group][0] += record.value
            sums[record.group][1] += record.n
    return {key: (kept, int(n)) for key, (kept, n) in sums.items()}


def _shares(found: _Spans, keys: Sequence[str]) -> list[str]:
    return [share(found[key][0] / found[key][1]) if key in found else "-" for key in keys]


def half_age(spans: _Spans) -> float | None:
    """The age in turns at which a falling fit of retention crosses one half; None if it stays on one side.

    *spans* gives kept and counted facts by span of ages, as `age_span` names them. The fit is the isotonic regression,
    weighted by the facts, at the middle of each span, with straight lines between (M9).

    >>> round(half_age({"0-1": (9, 10), "2-3": (7, 10), "4-7": (3, 10), "8-15": (4, 10)}), 2)
    4.21
    """
    from scipy.optimize import isotonic_regression

    ordered = sorted(spans, key=_low)
    if len(ordered) < 2:
        return None
    ages = [sum(map(int, span.split("-"))) / 2 for span in ordered]
    weights = [spans[span][1] for span in ordered]
    fit = isotonic_regression([spans[s][0] / spans[s][1] for s in ordered], weights=weights, increasing=False).x
    for (age, kept), (next_age, left) in pairwise(zip(ages, fit, strict=True)):
        if kept >= 0.5 > left:
            return float(age + (kept - 0.5) / (kept - left) * (next_age - age))
    return None


def _low(span: str) -> int:
    return int(span.partition("-")[0])
