"""Where in the history facts are lost, and at which age: one line a strategy, all facts at risk (M9).

On the left the tenths of the history, the oldest first: a U says that the middle is lost (Liu et al. 2023). On the
right the turns since a fact was last mentioned, each step twice as wide as the one before.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from compactlab.metrics.position import TENTHS
from compactlab.plots.canvas import WIDE, Named, begun, dodged, finished, key, tidy, titled, write
from compactlab.plots.families import shown_rows
from compactlab.plots.palette import Style, styles
from compactlab.signature import signature
from compactlab.stats import Estimate
from compactlab.summary import Row, Summary
from compactlab.summary.pool import Group, Pool
from compactlab.summary.positions import shares, youngest

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_BESIDE = 8.0  # inches from which on both parts stand in one row
_SHORT = 5  # letters of a span of turns that stand in one line


def figure(pool: Pool, summary: Summary, width: float = WIDE) -> Figure:
    """Draw bound retention by tenth and by age, shares from 0 to 1; of several budgets the one nearest to 20 %.

    *width* is in inches; a narrow figure has the two parts one under the other.
    """
    beside = width >= _BESIDE
    made = begun(width, 4.6 if beside else 8)
    first, second = made.subplots(1 if beside else 2, 2 if beside else 1, sharey=True, squeeze=False).flat
    named = draw((first, second), pool, summary)
    where = f"{summary.at_risk:,} facts at risk in {summary.cuts} cuts of {summary.sessions} sessions"
    titled(made, f"Where facts are lost: {where}")
    return finished(made, signature(summary), named)


def draw(axes: tuple[Any, Any], pool: Pool, summary: Summary) -> list[Named]:
    """Draw into two axes that are there, by tenth and by age; what is drawn is given back with its names."""
    first, second = axes
    rows = shown_rows(summary)
    looks = styles(row.label for row in rows)
    tenths = [str(n) for n in range(1, TENTHS + 1)]
    found = [tuple(shares(pool, _group(row), metric) for metric in ("position_bound", "age_bound")) for row in rows]
    spans = sorted({span for _, ages in found for span in ages}, key=youngest)
    for row, (places, ages), aside in zip(rows, found, dodged(len(rows)), strict=True):
        _line(first, places, tenths, (row, looks[row.label], aside))
        _line(second, ages, spans, (row, looks[row.label], aside))
    _dressed(first, tenths, "tenth of the weight before the cut, 1 the oldest")
    _dressed(second, spans, "turns of the agent since the last mention")
    first.set_ylabel("bound retention (share of facts at risk)")
    return [key(looks[row.label], row.name) for row in rows]


def _group(row: Row) -> Group:
    return Group(row.label, "", row.budget)


def _line(axes: Any, found: dict[str, Estimate], keys: list[str], of: tuple[Row, Style, float]) -> None:  # noqa: ANN401  # untyped library
    """A line with its intervals, a little aside of those of the others."""
    row, style, aside = of
    at = [(i + aside, found[key]) for i, key in enumerate(keys) if key in found]
    axes.plot([x for x, _ in at], [e.mean for _, e in at], lw=1.3, ms=4.5, label=row.name, **style.both())
    lows = [max(0.0, e.mean - (e.half or 0.0)) for _, e in at]
    highs = [min(1.0, e.mean + (e.half or 0.0)) for _, e in at]
    axes.vlines([x for x, _ in at], lows, highs, color=style.colour, lw=0.7, alpha=0.45)


def _dressed(axes: Any, keys: list[str], name: str) -> None:  # noqa: ANN401  # same
    axes.set_xticks(range(len(keys)), [key if len(key) <= _SHORT else key.replace("-", "-\n") for key in keys])
    axes.set_xlabel(name)
    axes.set_ylim(-0.03, 1.03)
    tidy(axes)
    axes.tick_params(axis="x", labelsize=7)


def save(pool: Pool, summary: Summary, path: str | Path) -> None:
    """Write the figure; the ending of *path* (png, svg, pdf) says how."""
    write(figure(pool, summary), path)
