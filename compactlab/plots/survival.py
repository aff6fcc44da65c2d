"""How long facts live in sessions that are compacted again and again: curves of Kaplan and Meier (M10).

A life begins when a fact stands anew and ends at the fire that leaves it nowhere. One figure has a curve a policy; its
intervals are over stories. The other has a part a family; its bands take each life as one observation, and are too
narrow, since the facts of a session fall together.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING, Any

from compactlab.plots.canvas import FAINT, WIDE, Named, begun, dodged, finished, key, reach, tidy, titled, write
from compactlab.plots.palette import Style, styles
from compactlab.summary.replayed import Row
from compactlab.survival import Survival

if TYPE_CHECKING:
    from matplotlib.figure import Figure

AT = (1, 2, 3, 5, 8)
"""Passes behind which a curve has an interval."""
PASSES = 12
"""Passes that are shown at the most."""
_COLUMNS = 4


def figure(rows: Sequence[Row], signature: str, width: float = WIDE) -> Figure:
    """Draw what share of all facts is alive behind each fire, a curve a policy; *width* is in inches."""
    made = begun(width, 5)
    named = draw(made.add_subplot(), rows)
    titled(made, f"How long facts live: {_sessions(rows)}")
    return finished(made, signature, named)


def draw(axes: Any, rows: Sequence[Row]) -> list[Named]:  # noqa: ANN401  # matplotlib is untyped
    """Draw into axes that are there; what is drawn is given back with its names, for a legend."""
    found = [(row, curve) for row in rows if (curve := row.survival()) is not None]
    looks = styles(row.label for row, _ in found)
    last = _last([curve for _, curve in found])
    named = []
    for (row, curve), aside in zip(found, dodged(len(found), 0.16), strict=True):
        style = looks[row.label]
        _steps(axes, curve, style, last)
        for passes in (k for k in AT if k <= min(last, curve.passes[-1])):
            estimate = row.alive(passes)
            if estimate is not None:
                bars = {"ecolor": style.colour, "elinewidth": 1, "capsize": 2, "ms": 5, "linestyle": "none"}
                axes.errorbar(passes + 0.5 + aside, estimate.mean, yerr=reach(estimate), **style.point(), **bars)
        named.append(key(style, f"{row.name}: {curve.lives:,} lives"))
    _dressed(axes, last)
    axes.set_xlabel("fires that a fact has gone through")
    axes.set_ylabel("alive (share of facts, needed or not)")
    return named


def families(rows: Sequence[Row], signature: str, width: float = WIDE) -> Figure:
    """Draw the same for each family of facts, the most frequent first; *width* is in inches."""
    lives = families_of(rows)
    columns = min(_COLUMNS if width >= 8 else 2, max(1, len(lives)))
    lines = max(1, ceil(len(lives) / columns))
    made = begun(width, 0.9 + 1.75 * lines)
    grid = made.subplots(lines, columns, sharex=True, sharey=True, squeeze=False)
    looks = styles(row.label for row in rows if row.of["life_lost"])
    last = _last([curve for row in rows if (curve := row.survival()) is not None])
    for axes, (family, number) in zip(grid.flat, lives.items(), strict=False):
        for row in (row for row in rows if row.label in looks):
            curve = row.survival(family)
            if curve is not None:
                _band(axes, curve, looks[row.label], last)
        axes.set_title(f"{family}, n = {number:,}", fontsize=9)
        _dressed(axes, last, 3)
    for axes in grid.flat[len(lives) :]:
        axes.set_axis_off()
    for axes in (axes for axes in grid[:, 0] if axes.axison):
        axes.set_ylabel("alive (share)", fontsize=8.5)
    for axes in (axes for axes in grid[-1, :] if axes.axison):
        axes.set_xlabel("fires gone through", fontsize=8.5)
    titled(made, f"How long facts of each family live, of n lives: {_sessions(rows)}")
    return finished(made, signature, [key(looks[row.label], row.name) for row in rows if row.label in looks])


def families_of(rows: Sequence[Row]) -> dict[str, int]:
    """Families by the number of their lives under the policy that has most of them, the most frequent first."""
    counts: dict[str, int] = {}
    for row in rows:
        for family in {record.family for record in row.of["life_lost"]}:
            counts[family] = max(counts.get(family, 0), sum(n for _, n in row.lives(family).values()))
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def _steps(axes: Any, curve: Survival, style: Style, last: int) -> None:  # noqa: ANN401  # same
    """The curve as steps: a fire happens at a whole number, and what it leaves is alive up to the next."""
    shown = [0, *(k for k in curve.passes if k <= last)]
    end = min(last, curve.passes[-1]) + 0.98
    alive = [1.0, *(curve.after(k) for k in shown[1:])]
    axes.step([*shown, end], [*alive, alive[-1]], where="post", lw=1.4, **style.line)


def _band(axes: Any, curve: Survival, style: Style, last: int) -> None:  # noqa: ANN401  # same
    """A curve with its band and a marker at each pass."""
    _steps(axes, curve, style, last)
    shown = [k for k in curve.passes if k <= last]
    places, alive = [k + 0.5 for k in shown], curve.alive[: len(shown)]
    axes.plot(places, alive, linestyle="none", ms=3.5, **style.point())
    lows, highs = (
        [mean if end is None else end for mean, end in zip(alive, ends, strict=False)]
        for ends in (curve.low, curve.high)
    )
    axes.vlines(places, lows, highs, color=style.colour, lw=1)


def _last(curves: Sequence[Survival]) -> int:
    return max(1, min(PASSES, max((curve.passes[-1] for curve in curves), default=1)))


def _sessions(rows: Sequence[Row]) -> str:
    fired = max((row.fired for row in rows), default=0)
    return f"{max((row.sessions for row in rows), default=0)} sessions, {fired} of them compacted"


def _dressed(axes: Any, last: int, step: int = 1) -> None:  # noqa: ANN401  # same
    axes.set_xlim(0, last + 1)
    axes.set_xticks(range(0, last + 1, step if last > step else 1))
    axes.set_ylim(-0.03, 1.05)
    tidy(axes)
    axes.grid(color=FAINT, lw=0.6)


def save(rows: Sequence[Row], signature: str, path: str | Path) -> None:
    """Write the figure of the policies; the ending of *path* (png, svg, pdf) says how."""
    write(figure(rows, signature), path)
