"""Density and lift (M5): how many facts a kept token holds. Told beside the other numbers, never used to rank."""

from __future__ import annotations

from collections.abc import Mapping

from compactlab.report.section import INTERVAL, Section, sample
from compactlab.stats import Estimate
from compactlab.stats.bootstrap import Floats, Pooled, whole_of
from compactlab.summary import Summary
from compactlab.summary.pool import Group, Pool
from compactlab.summary.pooled import Part, sums

COLUMNS = ("strategy", "facts/kT before", "after", "lift", "lost per kT saved")
LEGEND = (
    "Facts at risk that stand bound, per thousand tokens, pooled over sessions and cuts; lift = density after /"
    " before = retention / keep ratio. No table is ordered by these: lift grows without bound as all is thrown away. A"
    f" dash where nothing was left or saved. {INTERVAL} That of lift is a bootstrap-t."
)


def section(pool: Pool, summary: Summary) -> Section:
    """Facts per thousand tokens before and after, lift, and facts lost per thousand tokens saved."""
    stories = sorted(set(pool.cluster.values()))
    found = [(row.name, density(pool, Group(row.label, "", row.budget), stories)) for row in summary.rows]
    rows = [(name, *map(_text, numbers)) for name, numbers in found]
    sizes = sample({name: [numbers[i] for _, numbers in found] for i, name in enumerate(COLUMNS[1:])})
    return Section("Density and lift", COLUMNS, rows, f"{LEGEND} {sizes}")


def density(pool: Pool, group: Group, stories: list[str]) -> tuple[Estimate | None, ...]:
    """Give (density before, density after, lift, facts lost per thousand tokens saved); None for what divides by 0.

    rho = kept / (after / 1000), rho0 = facts / (before / 1000), lift = rho / rho0, cost of forgetting =
    (facts - kept) / ((before - after) / 1000): M5. Sums over all sessions and cuts.
    """
    of = sums(pool, group)
    bound = of.parts("retention_bound")
    before, after = (_thousands(of.parts(f"tokens_{when}")) for when in ("before", "after"))
    kept = {session: (value, after[session]) for session, (value, _) in bound.items()}
    facts = {session: (float(n), before[session]) for session, (_, n) in bound.items()}
    lost = {session: (n - value, before[session] - after[session]) for session, (value, n) in bound.items()}
    left, there = Pooled(kept, pool.cluster, stories), Pooled(facts, pool.cluster, stories)

    def lift(weights: Floats) -> Floats:
        return left(weights) / there(weights)

    saved = sum(tokens for _, tokens in lost.values()) > 0
    return of.estimate(facts), of.estimate(kept), whole_of(lift, (there,)), of.estimate(lost) if saved else None


def _thousands(parts: Mapping[str, Part]) -> dict[str, float]:
    return {session: tokens / 1000 for session, (tokens, _) in parts.items()}


def _text(number: Estimate | None) -> str:
    if number is None:
        return "-"
    return f"{number.mean:.2f}" + ("" if number.half is None else f"±{number.half:.2f}")
