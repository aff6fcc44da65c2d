"""Curves over the budgets and their front: up and to the right is better; grey is what needs no strategy.

A full point is on the front, no other saves and keeps as much; a hollow one is not. The band is the front as a
staircase, the edge of the area that is reported. Points that too few cells met are left out.
"""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Any

from compactlab.plots.canvas import FAINT, QUIET, WIDE, Named, begun, finished, key, reach, tidy, titled, write
from compactlab.plots.palette import CONTROLS, Style, styles
from compactlab.signature import signature
from compactlab.summary import Summary
from compactlab.summary.curves import Curve, Curves
from compactlab.summary.points import Point

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_BAND = "#f4d58d"
_BESIDE = ("oracle", "regex_lines", "random")
_APART = 0.04  # of the axis, between two names of budgets
_ROOM = 0.06  # of the axis, left of what saved least


def figure(curves: Curves, summary: Summary, width: float = WIDE) -> Figure:
    """Draw the curves of a run, shares from 0 to 1, with intervals over sessions, and the front of all of them.

    The horizontal axis begins a little before what saved least. A strategy without a curve is a lone hollow point, what
    saves nothing a line at its height. All names stand in the outside of the axes. *width* is in inches.
    """
    made = begun(width, 6)
    axes = made.add_subplot()
    named = draw(axes, curves)
    n = f"{summary.sessions} sessions, {summary.cuts} cuts, {summary.needed} facts needed"
    budgets = any(point.budget for curve in curves.curves for point in curve.points)
    titled(axes, f"What is kept{' at each budget' if budgets else ', each strategy at its own size'}: {n}")
    return finished(made, signature(summary), named)


def draw(axes: Any, curves: Curves) -> list[Named]:  # noqa: ANN401  # matplotlib is untyped
    """Draw into axes that are there; what is drawn is given back with its names, for a legend."""
    left = _left(curves)
    looks = styles([*(curve.strategy for curve in curves.curves), *(name for name, _ in curves.alone)])
    by_name = {curve.name: looks[curve.strategy] for curve in curves.curves}
    _budgets(axes, curves)
    named = _band(axes, curves.front_points, left)
    for i, curve in enumerate(curves.curves):
        full = {j for place, j in curves.front if place == i}
        named.append(_drawn(axes, curve, by_name[curve.name], full))
    named += _alone(axes, curves, looks)
    named += _controls(axes, curves)
    _dressed(axes, left)
    return named


def _left(curves: Curves) -> float:
    """Where the horizontal axis begins."""
    shown = [p for curve in curves.curves for p in curve.ranked] + [p for _, p in curves.alone if p.saved.mean > 0]
    return max(-0.03, min((point.saved.mean for point in shown), default=0.0) - _ROOM)


def _budgets(axes: Any, curves: Curves) -> None:  # noqa: ANN401  # same
    """A faint line at each budget, named where there is room."""
    named = -1.0
    for budget in sorted({p.budget for c in curves.curves for p in c.ranked if p.budget}, key=float, reverse=True):
        at = 1 - float(budget) / 100
        axes.axvline(at, color="#dddddd", lw=0.8, zorder=0)
        if at - named > _APART:
            text = f"{budget} %" if named >= 0 else f"budget {budget} %"
            axes.text(at, 1.05, text, ha="center", fontsize=8, color=QUIET)
            named = at


def _band(axes: Any, front: tuple[Point, ...], left: float) -> list[Named]:  # noqa: ANN401  # same
    """The front as a staircase: up to what each point saves, its height is there to be had."""
    xs: list[float] = []
    ys: list[float] = []
    for point in front:
        xs += [point.saved.mean, point.saved.mean]
        ys += [ys[-1] if ys else 0.0, point.quality.mean]
    if not xs:
        return []
    how = {"color": _BAND, "lw": 7, "alpha": 0.65, "zorder": 1, "solid_joinstyle": "round"}
    [band] = axes.plot([*xs, left], [*ys, ys[-1]], **how)
    return [Named(band, "front of all: the full points")]


def _controls(axes: Any, curves: Curves) -> list[Named]:  # noqa: ANN401  # same
    named = []
    for name in _BESIDE:
        line = sorted(curves.control(name).values())
        if line:
            [drawn] = axes.plot(*zip(*line, strict=True), **CONTROLS[name].line, lw=1.4, zorder=2)
            named.append(Named(drawn, f"{name}, same sizes"))
    return named


def _drawn(axes: Any, curve: Curve, style: Style, full: set[int]) -> Named:  # noqa: ANN401  # same
    """A curve with its points and their intervals; its name and its area for the legend."""
    if len(curve.ranked) > 1:
        axes.plot(*zip(*(p.at for p in curve.ranked), strict=True), **style.line, lw=1.3, alpha=0.85, zorder=3)
    for j, point in enumerate(curve.ranked):
        _marked(axes, point, style, full=j in full)
    area = curve.hypervolume
    half = f"±{area.half:.2f}" if area and area.half is not None else ""
    words = f"{curve.name}: area {area.mean:.2f}{half}" if area else curve.name
    return key(style, words, full=False, line=len(curve.ranked) > 1)


def _marked(axes: Any, point: Point, style: Style, *, full: bool) -> None:  # noqa: ANN401  # same
    """A point with the interval of its quality, within nought and one."""
    bars = {"ecolor": style.colour, "elinewidth": 0.9, "capsize": 2, "alpha": 0.5, "zorder": 2, "fmt": "none"}
    axes.errorbar(*point.at, yerr=reach(point.quality), **bars)
    axes.plot(*point.at, linestyle="none", **style.point(full=full), ms=6.5, zorder=4)


def _alone(axes: Any, curves: Curves, looks: dict[str, Style]) -> list[Named]:  # noqa: ANN401  # same
    """Strategies that meet no budget, at their own sizes; those that save nothing, as one line."""
    named = []
    for name, point in curves.alone:
        if point.saved.mean > 0:
            _marked(axes, point, looks[name], full=False)
            named.append(key(looks[name], f"{name}: meets no budget", full=False, line=False))
    idle = [(name, point.quality.mean) for name, point in curves.alone if point.saved.mean <= 0]
    if idle:
        names = textwrap.shorten(", ".join(name for name, _ in idle), 40, placeholder=" ...")
        named.append(Named(axes.axhline(idle[0][1], color="#777777", lw=0.8, zorder=0), f"nothing saved: {names}"))
    return named


def _dressed(axes: Any, left: float) -> None:  # noqa: ANN401  # same
    axes.set_xlim(left, 1.01)
    axes.set_ylim(-0.02, 1.09)
    axes.set_xlabel("tokens saved (share of the weight before)")
    axes.set_ylabel("load-bearing retention, bound\n(share of needed facts)")
    tidy(axes, grid="y")
    axes.grid(axis="y", color=FAINT, lw=0.6)


def save(curves: Curves, summary: Summary, path: str | Path) -> None:
    """Write the figure; the ending of *path* (png, svg, pdf) says how."""
    write(figure(curves, summary), path)
