"""Density and lift (M5): how many facts a kept token holds. Told beside the other numbers, never used to rank."""

from __future__ import annotations

from compactlab.report.section import Section
from compactlab.summary import Summary
from compactlab.summary.pool import Group, Pool


def section(pool: Pool, summary: Summary) -> Section:
    """Facts per thousand tokens before and after, lift, and facts lost per thousand tokens saved."""
    rows = []
    for row in summary.rows:
        sums = pool.sums(Group(row.label, "", row.budget)).items()
        total = {metric: sum(value for (name, *_), (value, _) in sums if name == metric) for metric in _METRICS}
        facts = sum(n for (name, *_), (_, n) in sums if name == "retention_bound")
        numbers = density(facts, total["retention_bound"], total["tokens_before"], total["tokens_after"])
        rows.append((row.name, *("-" if number is None else f"{number:.2f}" for number in numbers)))
    return Section("Density and lift", COLUMNS, rows, LEGEND)


COLUMNS = ("strategy", "facts/kT before", "after", "lift", "lost per kT saved")
_METRICS = ("retention_bound", "tokens_before", "tokens_after")
LEGEND = (
    "Facts at risk that stand bound, per thousand tokens, pooled over sessions and cuts; lift = density after /"
    " before = retention / keep ratio. No table is ordered by these: lift grows without bound as all is thrown away."
)


def density(facts: float, kept: float, before: float, after: float) -> tuple[float | None, ...]:
    """Give (density before, density after, lift, facts lost per thousand tokens saved); None for what divides by 0.

    rho = kept / (after / 1000), rho0 = facts / (before / 1000), lift = rho / rho0, cost of forgetting =
    (facts - kept) / ((before - after) / 1000): M5.

    >>> density(100, 40, 50_000, 10_000)
    (2.0, 4.0, 2.0, 1.5)
    """
    source = _over(facts * 1000, before)
    left = _over(kept * 1000, after)
    lift = None if source is None or left is None else _over(left, source)
    return source, left, lift, _over((facts - kept) * 1000, before - after)


def _over(number: float, divisor: float) -> float | None:
    return number / divisor if divisor > 0 else None
