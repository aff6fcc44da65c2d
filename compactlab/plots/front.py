"""Curves over the budgets and their front: up and to the right is better; grey is what needs no strategy.

A full point is on the front, no other saves and keeps as much; a hollow one is not. The band is the front as a
staircase, the edge of the area that is reported. Points that too few cells met are left out.
"""

from __future__ import annotations

import textwrap
from itertools import cycle, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from compactlab.plots._canvas import COLOURS, GREY, MARKERS, signed, write
from compactlab.summary import Summary
from compactlab.summary.curves import Curve, Curves
from compactlab.summary.points import Point

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_BAND = "#f4d58d"
_CONTROLS = {"oracle": (0, (5, 1.5)), "regex_lines": (0, (3, 1, 1, 1)), "random": (0, (1, 1.2))}
_WRAP = 44  # letters of a line in the legend
_APART = 0.04  # of the axis, between two names of budgets
_ROOM = 0.06  # of the axis, left of what saved least


def figure(curves: Curves, summary: Summary) -> Figure:
    """Draw the curves of a run, shares from 0 to 1, with intervals over sessions, and the front of all of them.

    The horizontal axis begins a little before what saved least. A strategy without a curve is a lone hollow point, what
    saves nothing a line at its height. All names stand in the legend, outside of the axes.
    """
    from matplotlib.figure import Figure as Canvas

    canvas = Canvas(figsize=(11, 6), layout="constrained")
    axes = canvas.add_subplot()
    left = _left(curves)
    _budgets(axes, curves)
    _band(axes, curves.front_points, left)
    for i, curve in enumerate(curves.curves):
        _drawn(axes, curve, _style(i), {j for place, j in curves.front if place == i})
    _alone(axes, curves)
    _controls(axes, curves)
    _dressed(axes, curves, summary)
    axes.set_xlim(left, 1.01)
    if axes.get_legend_handles_labels()[0]:
        canvas.legend(frameon=False, fontsize=8.5, loc="outside right upper", labelspacing=0.7, handlelength=2.8)
    return signed(canvas, summary)


def _left(curves: Curves) -> float:
    """Where the horizontal axis begins."""
    shown = [p for curve in curves.curves for p in curve.ranked] + [p for _, p in curves.alone if p.saved.mean > 0]
    return max(-0.03, min((point.saved.mean for point in shown), default=0.0) - _ROOM)


def _style(place: int) -> tuple[str, str]:
    """Colour and marker of the curve at a place: no two alike before both have run out."""
    return next(islice(zip(cycle(COLOURS), cycle(MARKERS + "<>"), strict=False), place, None))


def _budgets(axes: Any, curves: Curves) -> None:  # noqa: ANN401  # untyped library
    """A faint line at each budget, named where there is room."""
    named = -1.0
    for budget in sorted({p.budget for c in curves.curves for p in c.ranked if p.budget}, key=float, reverse=True):
        at = 1 - float(budget) / 100
        axes.axvline(at, color="#dddddd", lw=0.8, zorder=0)
        if at - named > _APART:
            text = f"{budget} %" if named >= 0 else f"budget {budget} %"
            axes.text(at, 1.05, text, ha="center", fontsize=8, color="#777777")
            named = at


def _band(axes: Any, front: tuple[Point, ...], left: float) -> None:  # noqa: ANN401  # same
    """The front as a staircase: up to what each point saves, its height is there to be had."""
    xs: list[float] = []
    ys: list[float] = []
    for point in front:
        xs += [point.saved.mean, point.saved.mean]
        ys += [ys[-1] if ys else 0.0, point.quality.mean]
    if xs:
        axes.plot([*xs, left], [*ys, ys[-1]], color=_BAND, lw=7, alpha=0.65, zorder=1, solid_joinstyle="round")
        axes.plot([], [], color=_BAND, lw=7, alpha=0.65, label="front of all: the full points")


def _controls(axes: Any, curves: Curves) -> None:  # noqa: ANN401  # same
    for name, dashes in _CONTROLS.items():
        line = sorted(curves.control(name).values())
        if line:
            axes.plot(*zip(*line, strict=True), color=GREY, lw=1.4, ls=dashes, zorder=2, label=f"{name}, same sizes")


def _drawn(axes: Any, curve: Curve, style: tuple[str, str], full: set[int]) -> None:  # noqa: ANN401  # same
    """A curve with its points and their intervals; its name and its area for the legend."""
    colour, marker = style
    area = curve.hypervolume
    half = f"±{area.half:.2f}" if area and area.half is not None else ""
    label = "\n".join(textwrap.wrap(f"{curve.name}: area {area.mean:.2f}{half}" if area else curve.name, _WRAP))
    if len(curve.ranked) > 1:
        axes.plot(*zip(*(p.at for p in curve.ranked), strict=True), color=colour, lw=1.3, alpha=0.85, zorder=3)
    for j, point in enumerate(curve.ranked):
        _interval(axes, point, colour)
        face = colour if j in full else "white"
        axes.plot(*point.at, marker, color=colour, mfc=face, mew=1.3, ms=6.5, zorder=4)
    axes.plot([], [], color=colour, lw=1.3, marker=marker, mfc="white", mew=1.3, ms=6, label=label)


def _interval(axes: Any, point: Point, colour: str) -> None:  # noqa: ANN401  # same
    """The interval of a point's quality, within nought and one."""
    x, y = point.at
    reach = point.quality.half or 0.0
    ends = [[max(0.0, min(reach, y))], [max(0.0, min(reach, 1 - y))]]
    axes.errorbar(x, y, yerr=ends, fmt="none", ecolor=colour, elinewidth=0.8, capsize=2, alpha=0.45, zorder=2)


def _alone(axes: Any, curves: Curves) -> None:  # noqa: ANN401  # same
    """Strategies that meet no budget, at their own sizes; those that save nothing, as one line."""
    for i, (name, point) in enumerate((n, p) for n, p in curves.alone if p.saved.mean > 0):
        colour, marker = _style(len(curves.curves) + i)
        _interval(axes, point, colour)
        label = "\n".join(textwrap.wrap(f"{name}: meets no budget", _WRAP))
        axes.plot(*point.at, marker, color=colour, mfc="white", mew=1.3, ms=6.5, zorder=4, label=label)
    idle = [(name, point.quality.mean) for name, point in curves.alone if point.saved.mean <= 0]
    if idle:
        names = textwrap.shorten(", ".join(name for name, _ in idle), 40, placeholder=" ...")
        axes.axhline(idle[0][1], color="#bbbbbb", lw=0.8, zorder=0, label=f"nothing saved: {names}")


def _dressed(axes: Any, curves: Curves, summary: Summary) -> None:  # noqa: ANN401  # same
    axes.set_ylim(-0.02, 1.09)
    axes.set_xlabel("tokens saved (share of the weight before)")
    axes.set_ylabel("load-bearing retention, bound (share of needed facts)")
    budgets = any(point.budget for curve in curves.curves for point in curve.points)
    title = "What is kept at each budget" if budgets else "What is kept, each strategy at its own size"
    axes.set_title(
        f"{title}: {summary.sessions} sessions, {summary.cuts} cuts, {summary.needed} facts needed", fontsize=11
    )
    axes.grid(axis="y", color="#eeeeee", lw=0.6)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)


def save(curves: Curves, summary: Summary, path: str | Path) -> None:
    """Write the figure; the ending of *path* (png, svg, pdf) says how."""
    write(figure(curves, summary), path)
