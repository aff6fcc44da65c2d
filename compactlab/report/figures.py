"""Which figures a run has: one that cuts sessions or looks at recorded compactions, and one that replays them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from compactlab.errors import SpecError
from compactlab.plots import families, front, histories, kept, positions, savings, survival, timeline, windows
from compactlab.plots.canvas import WIDE, write
from compactlab.records import Mode
from compactlab.report.modes import signature_line
from compactlab.summary.replayed import rows

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from compactlab.report import Report

Figures = dict[str, Callable[["Report", float], "Figure"]]

ENDINGS = ("png", "svg")
"""How each figure is written into a run's folder."""

CUTS: Figures = {
    "savings": lambda report, width: savings.figure(report.summary, width),
    "front": lambda report, width: front.figure(report.curves, report.summary, width),
    "families": lambda report, width: families.figure(report.pool, report.summary, width),
    "positions": lambda report, width: positions.figure(report.pool, report.summary, width),
    "kept": lambda report, width: kept.figure(histories.of_run(report.results), signature_line(report), width),
}
"""The figures of a run that cuts sessions, by the name that asks for them, the main one first."""

REPLAY: Figures = {
    "survival": lambda report, width: survival.figure(rows(report.pool), signature_line(report), width),
    "survival_families": lambda report, width: survival.families(rows(report.pool), signature_line(report), width),
    "money": lambda report, width: windows.figure(windows.of_runs([report.pool]), signature_line(report), width),
    "timeline": lambda report, width: timeline.figure(timeline.of_run(report.results), signature_line(report), width),
}
"""Those of a run that replays whole sessions."""

FIGURES: dict[Mode, Figures] = {"cuts": CUTS, "recorded": CUTS, "replay": REPLAY}
LIVES = ("survival", "survival_families")
"""Figures that have nothing to show where no fact went through a fire."""
NEEDED = ("families", "kept")
"""Figures that have nothing to show where no fact was needed."""


def names(report: Report) -> list[str]:
    """Give the figures that a run has something to show in, the main one first."""
    if report.mode == "replay":
        empty = () if any(record.metric == "life_lost" for record in report.pool.records) else LIVES
    else:
        empty = () if report.results.needed else NEEDED
    return [name for name in FIGURES[report.mode] if name not in empty]


def figure(report: Report, name: str = "", width: float = WIDE) -> Figure:
    """Draw the figure of that name, or the main one; *width* is in inches. `SpecError` for one that the run has not."""
    known = names(report)
    name = name or known[0]
    if name not in known:
        raise SpecError(
            f"figure {name!r}: a run in the mode {report.mode} has none; expected one of {', '.join(known)}"
        )
    return FIGURES[report.mode][name](report, width)


def save(report: Report, folder: Path) -> None:
    """Write every figure that the run has into *folder*, as PNG and SVG."""
    for name in names(report):
        drawn = figure(report, name)
        for ending in ENDINGS:
            write(drawn, folder / f"{name}.{ending}")
