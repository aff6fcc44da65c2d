"""Tokens saved against load-bearing retention: up and to the right is better, under grey is no better than luck."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from compactlab.plots.canvas import GREY, WIDE, Named, begun, finished, key, reach, tidy, titled, write
from compactlab.plots.palette import CONTROLS, Style, styles
from compactlab.signature import signature
from compactlab.stats import Estimate
from compactlab.summary import Row, Summary

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_ASIDE = 0.012  # random draws have their strategy's size; drawn a little beside it they can be seen
_SIZE = 6.5  # of a point, in units of print
_RINGS = 14.0  # how much larger the first of several points at one place is


def figure(summary: Summary, width: float = WIDE) -> Figure:
    """Draw every row that has a headline as a point with its interval over sessions; shares from 0 to 1.

    Beside each strategy stand random units and the oracle of its size: the height over luck, and what was possible. The
    points of a strategy at several budgets are joined; those that it cannot meet are left out. *width* is in inches.
    """
    made = begun(width, 5.6)
    named = draw(made.add_subplot(), summary)
    return finished(made, signature(summary), named)


def draw(axes: Any, summary: Summary) -> list[Named]:  # noqa: ANN401  # matplotlib is untyped
    """Draw into axes that are there; what is drawn is given back with its names, for a legend."""
    named: list[Named] = []
    rows: dict[str, list[Row]] = {}
    for row in summary.rows:
        if row.bound and not _never_met(row):
            rows.setdefault(row.label, []).append(row)
    looks = styles(rows)
    sizes = _sizes([row for found in rows.values() for row in found])
    for label, found in rows.items():
        found.sort(key=lambda row: row.saved.mean)
        style = looks[label]
        if len(found) > 1:
            axes.plot(*zip(*map(_at, found), strict=True), **style.line, lw=0.9, alpha=0.6)
        for row in found:
            _beside(axes, row)
            _point(axes, _at(row)[0], row.bound, style, sizes[row.label, row.budget])
        model = f" ({found[0].model})" if found[0].model else ""
        named.append(key(style, f"{label}{model}", line=len(found) > 1))
    _dressed(axes, summary)
    return [*named, *_luck(summary)]


def _at(row: Row) -> tuple[float, float]:
    return row.saved.mean, row.bound.mean if row.bound else 0.0


def _sizes(rows: Sequence[Row]) -> dict[tuple[str, str], float]:
    """How large each point is drawn, by label and budget: of those at one place all but the last are rings."""
    places: dict[tuple[float, float], list[Row]] = {}
    for row in rows:
        places.setdefault(_at(row), []).append(row)
    return {
        (row.label, row.budget): _SIZE + _RINGS * (len(same) - 1 - i) / max(2, len(same) - 1)
        for same in places.values()
        for i, row in enumerate(same)
    }


def _point(axes: Any, x: float, estimate: Estimate | None, style: Style, size: float = _SIZE) -> None:  # noqa: ANN401  # same
    if estimate is not None:
        caps = 0 if style in CONTROLS.values() else 3  # a cap in grey would be taken for the oracle
        bars = {"ecolor": style.colour, "elinewidth": 1.1, "capsize": caps, "ms": size, "linestyle": "none"}
        look = style.point(full=size == _SIZE) | {"markeredgewidth": 1.2 if size == _SIZE else 2.0}
        axes.errorbar(x, estimate.mean, yerr=reach(estimate), **look, **bars)


def _never_met(row: Row) -> bool:
    """True of a row none of whose cells met its budget: it is no point of a curve."""
    return bool(row.budget) and row.missed.unreachable == sum(row.outcomes.values())


def _beside(axes: Any, row: Row) -> None:  # noqa: ANN401  # same
    if luck := row.same_size.get("random"):
        _point(axes, row.saved.mean - _ASIDE, luck, CONTROLS["random"])
    if best := row.same_size.get("oracle"):
        axes.plot(row.saved.mean, best.mean, "_", color=GREY, ms=11, mew=1.6)


def _luck(summary: Summary) -> list[Named]:
    """The entries of the grey marks that are there."""
    said = {"random": "random units, same size (mean of 20 draws)", "oracle": "oracle, same size"}
    there = {name for row in summary.rows for name, found in row.same_size.items() if found}
    return [key(CONTROLS[name], words, line=False) for name, words in said.items() if name in there]


def _dressed(axes: Any, summary: Summary) -> None:  # noqa: ANN401  # same
    axes.set_xlim(-0.03, 1.03)
    axes.set_ylim(-0.03, 1.06)
    axes.set_xlabel("tokens saved (share of the weight before)")
    axes.set_ylabel("load-bearing retention, bound\n(share of needed facts)")
    n = f"{summary.sessions} sessions, {summary.cuts} cuts, {summary.needed} facts needed"
    titled(axes, f"What compaction kept: {n}")
    tidy(axes)


def save(summary: Summary, path: str | Path) -> None:
    """Write the figure; the ending of *path* (png, svg, pdf) says how."""
    write(figure(summary), path)
