"""Tokens saved against load-bearing retention: up and to the right is better, under grey is no better than luck."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Any

from compactlab.summary import Row, Summary, signature

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_GREY = "#9a9a9a"
_ASIDE = 0.012  # random draws have their strategy's size; drawn a little beside it they can be seen
_COLOURS = ("#0b5fa5", "#c2410c", "#15803d", "#7c3aed", "#b91c1c", "#0e7490", "#a16207", "#be185d", "#374151")


def figure(summary: Summary) -> Figure:
    """Draw every row that has a headline as a point with its interval over sessions; shares from 0 to 1.

    Beside each strategy stand random units of the same size, so that its height over luck can be seen.
    """
    from matplotlib.figure import Figure as Canvas

    canvas = Canvas(figsize=(8, 5.6), layout="constrained")
    axes = canvas.add_subplot()
    luck = {row.size_of: row for row in summary.rows if row.size_of}
    strategies = [row for row in summary.rows if not row.is_control and row.bound]
    for row, colour in zip(strategies, _COLOURS * len(strategies), strict=False):
        _point(axes, row, colour, row.label)
        if row.label in luck and (other := luck[row.label]).bound and row.bound:
            _point(axes, other, _GREY, "")
    for n, row in enumerate(row for row in summary.rows if row.is_control and not row.size_of):
        _point(axes, row, _GREY, row.label, lift=6 + 11 * n)
    _dressed(axes, summary)
    canvas.supxlabel("\n".join(textwrap.wrap(signature(summary), 130)), fontsize=6, color="#555555")
    return canvas


def _point(axes: Any, row: Row, colour: str, label: str, lift: int = 6) -> None:  # noqa: ANN401  # matplotlib is untyped here
    if row.bound is None:
        return
    x, y = row.saved.mean - (_ASIDE if row.size_of else 0), row.bound.mean
    half = row.bound.half or 0.0
    low, high = min(half, y), min(half, 1 - y)
    marker = "o" if not row.is_control else "x" if row.size_of else "s"
    axes.errorbar(x, y, yerr=[[max(low, 0)], [max(high, 0)]], fmt=marker, color=colour, capsize=3, ms=6, lw=1.2)
    if label:
        left = x > 0.8
        offset = (-8 if left else 8, lift)
        axes.annotate(label, (x, y), offset, textcoords="offset points", ha="right" if left else "left", color=colour)


def _dressed(axes: Any, summary: Summary) -> None:  # noqa: ANN401  # same
    axes.set_xlim(-0.03, 1.03)
    axes.set_ylim(-0.03, 1.06)
    axes.set_xlabel("tokens saved (share of the weight before)")
    axes.set_ylabel("load-bearing retention, bound (share of needed facts)")
    axes.set_title(
        f"What compaction kept: {summary.sessions} sessions, {summary.cuts} cuts, {summary.needed} facts needed",
        fontsize=11,
    )
    axes.grid(color="#e5e5e5", lw=0.6)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    axes.plot([], [], "x", color=_GREY, label="random units, same size (mean of 20 draws)")
    axes.plot([], [], "s", color=_GREY, label="controls")
    axes.legend(frameon=False, fontsize=8, loc="lower left")


def save(summary: Summary, path: str | Path) -> None:
    """Write the figure; the ending of *path* (png, svg, pdf) says how."""
    figure(summary).savefig(path, dpi=150)
