"""Tokens saved against load-bearing retention: up and to the right is better, under grey is no better than luck."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Any

from compactlab.errors import SpecError
from compactlab.stats import Estimate
from compactlab.summary import Row, Summary, signature

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_GREY = "#9a9a9a"
_ASIDE = 0.012  # random draws have their strategy's size; drawn a little beside it they can be seen
_COLOURS = ("#0b5fa5", "#c2410c", "#15803d", "#7c3aed", "#b91c1c", "#0e7490", "#a16207", "#be185d", "#374151")


def figure(summary: Summary) -> Figure:
    """Draw every row that has a headline as a point with its interval over sessions; shares from 0 to 1.

    Beside each strategy stand random units and the oracle of its size: the height over luck, and what was possible.
    """
    from matplotlib.figure import Figure as Canvas

    canvas = Canvas(figsize=(8, 5.6), layout="constrained")
    axes = canvas.add_subplot()
    strategies = [row for row in summary.rows if not row.is_control and row.bound]
    for row, colour in zip(strategies, _COLOURS * len(strategies), strict=False):
        if luck := row.same_size.get("random"):
            _point(axes, (row.saved.mean - _ASIDE, luck), _GREY, "x")
        if best := row.same_size.get("oracle"):
            axes.plot(row.saved.mean, best.mean, "_", color=_GREY, ms=9)
        _named(axes, row, colour, "o")
    for n, row in enumerate(row for row in summary.rows if row.is_control):
        _named(axes, row, _GREY, "s", lift=6 + 11 * n)
    _dressed(axes, summary)
    canvas.supxlabel("\n".join(textwrap.wrap(signature(summary), 130)), fontsize=6, color="#555555")
    return canvas


def _point(axes: Any, at: tuple[float, Estimate], colour: str, marker: str) -> None:  # noqa: ANN401  # untyped library
    x, estimate = at
    y, half = estimate.mean, estimate.half or 0.0
    low, high = max(0.0, min(half, y)), max(0.0, min(half, 1 - y))
    axes.errorbar(x, y, yerr=[[low], [high]], fmt=marker, color=colour, capsize=3, ms=6, lw=1.2)


def _named(axes: Any, row: Row, colour: str, marker: str, lift: int = 6) -> None:  # noqa: ANN401  # same
    if row.bound is None:
        return
    x, left = row.saved.mean, row.saved.mean > 0.8
    _point(axes, (x, row.bound), colour, marker)
    offset, side = ((-8, lift), "right") if left else ((8, lift), "left")
    axes.annotate(row.name, (x, row.bound.mean), offset, textcoords="offset points", ha=side, color=colour, fontsize=9)


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
    axes.plot([], [], "_", color=_GREY, ms=9, label="oracle, same size")
    axes.plot([], [], "s", color=_GREY, label="controls of their own size")
    axes.legend(frameon=False, fontsize=8, loc="lower left")


def save(summary: Summary, path: str | Path) -> None:
    """Write the figure; the ending of *path* (png, svg, pdf) says how."""
    canvas = figure(summary)
    known = canvas.canvas.get_supported_filetypes()
    if Path(path).suffix.lstrip(".") not in known:
        raise SpecError(f"{path}: expected a figure's ending, one of {', '.join(sorted(known))}")
    canvas.savefig(path, dpi=150)
