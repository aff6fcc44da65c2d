"""What is tuned on one type of agent, tried on another: a square a pair, darker is better.

Each row was tuned on one type and each column shows what that does on sessions of a type. The framed squares are those
of the type that it was tuned on, on sessions that were held out. Values stand in the squares with their intervals and
the number of sessions, and a word where the choice misses the goal there; a square without a value was not tried.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from compactlab.plots.canvas import INK, WIDE, begun, filled, finished, titled, write
from compactlab.stats import Estimate

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from compactlab.tuning.held_out import Cell

_CELL = 1.0  # inches of height of a square


class Measure(NamedTuple):
    """What a matrix shows: by what it was tuned on and what it was tried on, the estimate; and what that is.

    `name` stands over it, with its unit; `low` and `high` bound the colours. `misses` are the pairs (tuned on, tried
    on) at which the choice does not hold what was asked for.
    """

    name: str
    values: Mapping[str, Mapping[str, Estimate | None]]
    low: float = 0.0
    high: float = 1.0
    misses: frozenset[tuple[str, str]] = frozenset()


def of_cells(cells: Iterable[Cell]) -> tuple[Measure, ...]:
    """Make the matrices of a tuning over several types of agents: what was saved, and what was kept."""
    found = list(cells)
    misses = frozenset((cell.tuned_on, cell.tried_on) for cell in found if not cell.holds)
    values: dict[str, dict[str, dict[str, Estimate | None]]] = {"saved": {}, "kept": {}}
    for cell in found:
        values["saved"].setdefault(cell.tuned_on, {})[cell.tried_on] = cell.row.saved
        values["kept"].setdefault(cell.tuned_on, {})[cell.tried_on] = cell.row.kept
    names = {"saved": "net savings (share of the tokens sent)", "kept": "retention, bound (share of needed facts)"}
    return tuple(Measure(name, values[key], misses=misses) for key, name in names.items() if found)


def figure(measures: Measure | tuple[Measure, ...], signature: str, width: float = WIDE) -> Figure:
    """Draw one matrix, or several beside each other; *width* is in inches."""
    shown = (measures,) if isinstance(measures, Measure) else measures
    rows = max([1, *(len(measure.values) for measure in shown)])
    beside = width >= 3.2 * len(shown)
    made = begun(width, 1.6 + _CELL * rows * (1 if beside else max(1, len(shown))))
    lines, columns = (1, max(1, len(shown))) if beside else (len(shown), 1)
    for axes, measure in zip(made.subplots(lines, columns, squeeze=False).flat, shown, strict=False):
        draw(axes, measure)
    titled(made, "Tuned on one type of agent, tried on another")
    return finished(made, signature)


def draw(axes: Any, measure: Measure) -> None:  # noqa: ANN401  # matplotlib is untyped
    """Draw one matrix into axes that are there."""
    from matplotlib.patches import Rectangle

    columns = list(dict.fromkeys(name for row in measure.values.values() for name in row))
    rows = list(measure.values)
    for y, tuned in enumerate(rows):
        for x, tried in enumerate(columns):
            estimate = measure.values[tuned].get(tried)
            face, ink = _shade(measure, estimate)
            own = tuned == tried
            edge: dict[str, Any] = {
                "edgecolor": INK if own else "white",
                "linewidth": 2.2 if own else 1.5,
                "zorder": 3 if own else 1,
            }
            axes.add_patch(Rectangle((x - 0.47, y - 0.47), 0.94, 0.94, facecolor=face, **edge))
            words = _told(estimate) + ("\nmisses the goal" if (tuned, tried) in measure.misses else "")
            axes.text(x, y, words, ha="center", va="center", fontsize=8, color=ink, zorder=4)
    letters = 14 if len(columns) < 5 else 10
    axes.set_xticks(range(len(columns)), [filled(name, letters) for name in columns])
    axes.set_yticks(range(len(rows)), [filled(name, 22) for name in rows])
    axes.set_xlim(-0.5, max(0.5, len(columns) - 0.5))
    axes.set_ylim(max(0.5, len(rows) - 0.5), -0.5)
    axes.set_xlabel("tried on")
    axes.set_ylabel("tuned on")
    axes.set_title(measure.name, fontsize=9, color=INK)
    axes.tick_params(length=0, labelsize=8, colors=INK)
    for spine in axes.spines.values():
        spine.set_visible(False)


def _shade(measure: Measure, estimate: Estimate | None) -> tuple[Any, str]:
    """The colour of a square, from white to a dark blue by even steps of lightness, and that of the words in it."""
    if estimate is None:
        return "#f1f1f1", INK
    from matplotlib.colors import LinearSegmentedColormap

    span = measure.high - measure.low
    part = min(1.0, max(0.0, (estimate.mean - measure.low) / span if span > 0 else 0.5))
    shades = LinearSegmentedColormap.from_list("kept", ["#f7fbff", "#b6d0e8", "#5b8fc4", "#1d5a94", "#0b2f5c"])
    return shades(part), "white" if part > 0.45 else INK


def _told(estimate: Estimate | None) -> str:
    if estimate is None:
        return "-"
    half = "" if estimate.half is None else f" ± {estimate.half:.2f}"
    return f"{estimate.mean:.2f}{half}\nn = {estimate.n}"


def save(measures: Measure | tuple[Measure, ...], signature: str, path: str | Path) -> None:
    """Write the figure; the ending of *path* (png, svg, pdf) says how."""
    write(figure(measures, signature), path)
