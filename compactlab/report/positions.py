"""Position and age as tables (M9)."""

from __future__ import annotations

from collections.abc import Iterable

from compactlab.metrics.position import TENTHS
from compactlab.report.section import Section, share
from compactlab.summary import Summary
from compactlab.summary.pool import Group, Pool
from compactlab.summary.positions import Kept, by_age, by_tenth, half_age, youngest


def of_positions(pool: Pool, summary: Summary) -> Section:
    """Bound retention of all facts at risk by the tenth of the history in which they were first told."""
    tenths = [str(n) for n in range(1, TENTHS + 1)]
    rows = [(row.name, *_shares(by_tenth(pool, Group(row.label, "", row.budget)), tenths)) for row in summary.rows]
    legend = (
        "Bound retention of all facts at risk, pooled over sessions and cuts, by the tenth of the weight before the cut"
        " in which a fact was first told: 1 is the oldest."
    )
    return Section("Position", ("strategy", *tenths), rows, legend)


def of_ages(pool: Pool, summary: Summary) -> Section:
    """Bound retention of all facts at risk by the turns since their last mention, and the half-age."""
    kept = [(row.name, by_age(pool, Group(row.label, "", row.budget))) for row in summary.rows]
    spans = sorted({span for _, found in kept for span in found}, key=youngest)
    rows = []
    for name, found in kept:
        age = half_age(found)
        rows.append((name, *_shares(found, spans), "-" if age is None else f"{age:.0f}"))
    legend = (
        "Bound retention of all facts at risk, pooled over sessions and cuts, by the turns of the agent since a fact"
        " was last mentioned. Half-age: the age in turns at which a falling (isotonic) fit crosses one half; a dash"
        " where it does not."
    )
    return Section("Age", ("strategy", *spans, "half-age"), rows, legend)


def _shares(found: Kept, keys: Iterable[str]) -> list[str]:
    return [share(found[key][0] / found[key][1]) if key in found else "-" for key in keys]
