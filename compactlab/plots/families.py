"""What is kept of each family of facts: a dot plot, a row a family, the ones that are needed most at the top.

To the right is better. Facts are those that an action needed, bound; the number of them stands behind each name. A
family that unrelated sessions would need as well is named in brackets: it counts nowhere else.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from compactlab.plots.canvas import (
    FAINT,
    INK,
    QUIET,
    WIDE,
    Named,
    begun,
    dodged,
    finished,
    key,
    reach,
    tidy,
    titled,
    write,
)
from compactlab.plots.palette import styles
from compactlab.signature import signature
from compactlab.summary import Row, Summary
from compactlab.summary.pool import Pool

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_DOT = 0.11  # inches of height for each strategy of a family


def figure(pool: Pool, summary: Summary, width: float = WIDE) -> Figure:
    """Draw bound retention by family, shares from 0 to 1 with intervals over sessions; *width* is in inches.

    Of several budgets the one nearest to 20 %. Strategies that save nothing are left out, but for `none`.
    """
    families, rows = needed(pool), shown_rows(summary)
    made = begun(width, 1.3 + len(families) * max(0.34, _DOT * (len(rows) + 1)))
    named = draw(made.add_subplot(), pool, summary)
    n = f"{summary.sessions} sessions, {summary.cuts} cuts, {sum(families.values()):,} facts needed by an action"
    titled(made, f"What is kept of each family: {n}")
    return finished(made, signature(summary), named)


def draw(axes: Any, pool: Pool, summary: Summary) -> list[Named]:  # noqa: ANN401  # matplotlib is untyped
    """Draw into axes that are there; what is drawn is given back with its names, for a legend."""
    families, rows = needed(pool), shown_rows(summary)
    looks = styles(row.label for row in rows)
    for row, aside in zip(rows, dodged(len(rows), _reach(len(rows))), strict=True):
        style = looks[row.label]
        for place, family in enumerate(families):
            estimate = row.by_family.get(family)
            if estimate is not None:
                bars = {"ecolor": style.colour, "elinewidth": 0.9, "capsize": 0, "ms": 4.5, "linestyle": "none"}
                axes.errorbar(estimate.mean, place + aside, xerr=reach(estimate), **style.point(), **bars)
    for place in range(1, len(families), 2):
        axes.axhspan(place - 0.5, place + 0.5, color="#f6f6f6", zorder=0)
    chance = summary.chance
    names = [f"({f})" if f in chance and chance[f].refused else f for f in families]
    axes.set_yticks(
        range(len(names)), [f"{name}\nn = {families[f]:,}" for name, f in zip(names, families, strict=True)]
    )
    axes.set_ylim(max(0.5, len(names) - 0.5), -0.5)
    axes.set_xlim(-0.02, 1.02)
    axes.set_xlabel("load-bearing retention, bound (share of needed facts)")
    tidy(axes, grid="x")
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="x", color=FAINT, lw=0.6)
    for label in axes.get_yticklabels():
        label.set_color(QUIET if label.get_text().startswith("(") else INK)
    return [key(looks[row.label], row.name, line=False) for row in rows]


def _reach(number: int) -> float:
    """How far the dots of a family reach from its middle: the band goes on for as much as there is between two dots.

    >>> round(_reach(7), 3), round(_reach(2), 3)
    (0.375, 0.167)
    """
    return 0.5 * (number - 1) / (number + 1)


def needed(pool: Pool) -> dict[str, int]:
    """Facts that an action needed, by family, the most needed first: pooled over all cuts."""
    counts: Counter[str] = Counter()
    for record in pool.any_row("needed_loose"):
        counts[record.family] += record.n if record.use == "action" else 0
    return {family: n for family, n in sorted(counts.items(), key=lambda item: (-item[1], item[0])) if n}


def shown_rows(summary: Summary) -> list[Row]:
    """`none`, and the strategies that saved anything, at one budget: that nearest to 20 %."""
    budgets = summary.manifest.budgets
    one = min(budgets, key=lambda budget: abs(float(budget) - 20)) if budgets else ""
    rows = [row for row in summary.rows if not row.is_control and row.budget in {"", one}]
    return [row for row in rows if row.label == "none" or row.saved.mean > 0]


def save(pool: Pool, summary: Summary, path: str | Path) -> None:
    """Write the figure; the ending of *path* (png, svg, pdf) says how."""
    write(figure(pool, summary), path)
