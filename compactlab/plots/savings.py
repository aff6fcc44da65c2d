"""Tokens saved against load-bearing retention: up and to the right is better, under grey is no better than luck."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from compactlab.plots._canvas import COLOURS, GREY, signed, write
from compactlab.stats import Estimate
from compactlab.summary import Row, Summary

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_ASIDE = 0.012  # random draws have their strategy's size; drawn a little beside it they can be seen

_LINE = 0.045  # height of a line of text, in the units of the axis
_CROWDED = 0.8  # from here on names stand to the left of their points


class _Label(NamedTuple):
    """The name of a point, its colour and its sign."""

    name: str
    colour: str
    marker: str


def figure(summary: Summary) -> Figure:
    """Draw every row that has a headline as a point with its interval over sessions; shares from 0 to 1.

    Beside each strategy stand random units and the oracle of its size: the height over luck, and what was possible. The
    points of a strategy at several budgets are joined; those that it cannot meet are left out.
    """
    from matplotlib.figure import Figure as Canvas

    canvas = Canvas(figsize=(8, 5.6), layout="constrained")
    axes = canvas.add_subplot()
    labels: dict[tuple[float, float], list[_Label]] = {}
    curves: dict[str, list[Row]] = {}
    for row in summary.rows:
        if not row.is_control and row.bound and not _never_met(row):
            curves.setdefault(row.label, []).append(row)
    for rows, colour in zip(curves.values(), COLOURS * len(curves), strict=False):
        rows.sort(key=lambda row: row.saved.mean)
        axes.plot(
            [r.saved.mean for r in rows], [r.bound.mean for r in rows if r.bound], color=colour, lw=0.8, alpha=0.5
        )
        for row in rows:
            _beside(axes, row)
            _add(axes, row, _Label(row.name if not row.budget else "", colour, "o"), labels)
        if rows[0].budget:
            model = f" ({rows[0].model})" if rows[0].model else ""
            axes.plot([], [], "o-", color=colour, lw=0.8, label=f"{rows[0].label}{model}")
    for row in summary.rows:
        if row.is_control:
            _add(axes, row, _Label(row.name, GREY, "s"), labels)
    _named(axes, labels)
    _dressed(axes, summary)
    return signed(canvas, summary, 130)


def _point(axes: Any, at: tuple[float, Estimate], colour: str, marker: str) -> None:  # noqa: ANN401  # untyped library
    x, estimate = at
    y, half = estimate.mean, estimate.half or 0.0
    low, high = max(0.0, min(half, y)), max(0.0, min(half, 1 - y))
    axes.errorbar(x, y, yerr=[[low], [high]], fmt=marker, color=colour, capsize=3, ms=6, lw=1.2)


def _never_met(row: Row) -> bool:
    """True of a row none of whose cells met its budget: it is no point of a curve."""
    return bool(row.budget) and row.missed.unreachable == sum(row.outcomes.values())


def _beside(axes: Any, row: Row) -> None:  # noqa: ANN401  # matplotlib is untyped here
    if luck := row.same_size.get("random"):
        _point(axes, (row.saved.mean - _ASIDE, luck), GREY, "x")
    if best := row.same_size.get("oracle"):
        axes.plot(row.saved.mean, best.mean, "_", color=GREY, ms=9)


def _add(axes: Any, row: Row, label: _Label, labels: dict[tuple[float, float], list[_Label]]) -> None:  # noqa: ANN401  # same
    if row.bound is not None:
        _point(axes, (row.saved.mean, row.bound), label.colour, label.marker)
        if label.name:
            labels.setdefault((round(row.saved.mean, 2), round(row.bound.mean, 2)), []).append(label)


def _named(axes: Any, labels: dict[tuple[float, float], list[_Label]]) -> None:  # noqa: ANN401  # same
    """Write the names beside their points, those of one place together, none over another; thin lines lead to them."""
    lowest = {"left": -1.0, "right": -1.0}
    for (x, y), found in sorted(labels.items(), key=lambda item: item[0][1]):
        side = "right" if x > _CROWDED else "left"
        height = max(y + 0.02, lowest[side] + _LINE)
        lowest[side] = height
        away = x - 0.05 if side == "right" else x + 0.015
        lead = {"arrowstyle": "-", "color": found[0].colour, "lw": 0.5, "shrinkB": 4}
        text = "\n".join(textwrap.wrap(", ".join(label.name for label in found), 48))
        axes.annotate(text, (x, y), (away, height), ha=side, color=found[0].colour, fontsize=9, arrowprops=lead)


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
    axes.plot([], [], "x", color=GREY, label="random units, same size (mean of 20 draws)")
    axes.plot([], [], "_", color=GREY, ms=9, label="oracle, same size")
    axes.plot([], [], "s", color=GREY, label="controls of their own size")
    axes.legend(frameon=False, fontsize=8, loc="lower left")


def save(summary: Summary, path: str | Path) -> None:
    """Write the figure; the ending of *path* (png, svg, pdf) says how."""
    write(figure(summary), path)
