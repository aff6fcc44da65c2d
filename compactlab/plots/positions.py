"""Where in the history facts are lost, and at which age: one line a strategy, all facts at risk (M9).

On the left the tenths of the history, the oldest first: a U says that the middle is lost (Liu et al. 2023). On the
right the turns since a fact was last mentioned, each step twice as wide as the one before.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from compactlab.metrics.position import TENTHS
from compactlab.plots._canvas import COLOURS, GREY, MARKERS, signed, write
from compactlab.summary import Row, Summary
from compactlab.summary.pool import Group, Pool
from compactlab.summary.positions import Kept, by_age, by_tenth, youngest

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def figure(pool: Pool, summary: Summary) -> Figure:
    """Draw bound retention by tenth and by age, shares from 0 to 1; of several budgets the one nearest to 20 %."""
    from matplotlib.figure import Figure as Canvas

    canvas = Canvas(figsize=(11, 4.8), layout="constrained")
    left, right = canvas.subplots(1, 2, sharey=True)
    rows = _shown(summary)
    tenths = [str(n) for n in range(1, TENTHS + 1)]
    spans = sorted({span for row in rows for span in by_age(pool, _group(row))}, key=youngest)
    for i, row in enumerate(rows):
        colour, marker = COLOURS[i % len(COLOURS)], MARKERS[i % len(MARKERS)]
        style = {"color": colour, "marker": marker} if row.label != "none" else {"color": GREY, "marker": None}
        _line(left, by_tenth(pool, _group(row)), tenths, {**style, "label": row.name})
        _line(right, by_age(pool, _group(row)), spans, style)
    _dressed(left, tenths, "tenth of the weight before the cut, 1 the oldest")
    _dressed(right, spans, "turns of the agent since the last mention")
    left.set_ylabel("bound retention (share of facts at risk)")
    canvas.suptitle(f"Where facts are lost: {summary.at_risk:,} at risk in {summary.cuts} cuts", fontsize=11)
    if left.get_legend_handles_labels()[0]:
        canvas.legend(frameon=False, fontsize=8.5, loc="outside right upper")
    return signed(canvas, summary)


def _group(row: Row) -> Group:
    return Group(row.label, "", row.budget)


def _shown(summary: Summary) -> list[Row]:
    """`none`, and the strategies that saved anything, at one budget."""
    budgets = summary.manifest.budgets
    one = min(budgets, key=lambda budget: abs(float(budget) - 20)) if budgets else ""
    rows = [row for row in summary.rows if not row.is_control and row.budget in {"", one}]
    return [row for row in rows if row.label == "none" or row.saved.mean > 0]


def _line(axes: Any, found: Kept, keys: list[str], style: dict[str, Any]) -> None:  # noqa: ANN401  # untyped library
    at = [(i, found[key][0] / found[key][1]) for i, key in enumerate(keys) if key in found]
    axes.plot([i for i, _ in at], [share for _, share in at], lw=1.3, ms=5, **style)


def _dressed(axes: Any, keys: list[str], name: str) -> None:  # noqa: ANN401  # same
    axes.set_xticks(range(len(keys)), keys, fontsize=6)
    axes.set_xlabel(name)
    axes.set_ylim(-0.03, 1.03)
    axes.grid(color="#e5e5e5", lw=0.6)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)


def save(pool: Pool, summary: Summary, path: str | Path) -> None:
    """Write the figure; the ending of *path* (png, svg, pdf) says how."""
    write(figure(pool, summary), path)
