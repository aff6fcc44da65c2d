"""From a run to what people read: tables for terminals, a page of Markdown, figures, the files in a run's folder."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from compactlab import shown
from compactlab.plots.canvas import WIDE
from compactlab.records import Mode
from compactlab.report import answers, modes, pairs
from compactlab.report.section import Section, markdown
from compactlab.report.table import to_markdown
from compactlab.results import Results
from compactlab.summary import Summary, summary_of
from compactlab.summary.curves import Curves, curves
from compactlab.summary.pool import Pool

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Report:
    """What can be told of a run: the summary, the tables behind it, sentences, figures; each is made when asked for."""

    _repr_html_ = shown.html
    _repr_pretty_ = shown.pretty

    def __init__(self, results: Results) -> None:
        self.results: Results = results
        self.pool: Pool = Pool(results)

    @cached_property
    def summary(self) -> Summary:
        return summary_of(self.pool)

    @cached_property
    def curves(self) -> Curves:
        return curves(self.pool)

    @cached_property
    def sentences(self) -> tuple[str, ...]:
        """Which strategies keep more than `bag` and `regex_lines` do, or that none does; what a judge may be worth."""
        return (*pairs.sentences(self.pool), *answers.sentences(self.pool))

    def tables(self, names: Sequence[str] = ()) -> list[Section]:
        """Give the tables of these names, or all behind the main one, each signed; see `report.modes`."""
        return modes.tables(self, names)

    @property
    def mode(self) -> Mode:
        """What the run did with its sessions."""
        return self.results.manifest.mode

    @property
    def told(self) -> Summary | list[Section]:
        """What is told of the run as data: its summary, or for a replay its tables."""
        return self.tables() if self.mode == "replay" else self.summary

    def markdown(self) -> str:
        """Give the whole report as a page."""
        pages = [markdown(section) for section in self.tables()]
        if self.mode == "replay":
            return "\n".join(pages)
        return "\n".join([to_markdown(self.summary, self.sentences), *pages])

    @property
    def figures(self) -> list[str]:
        """Names of the figures that the run has something to show in, the main one first."""
        from compactlab.report import figures

        return figures.names(self)

    def figure(self, name: str = "", width: float = WIDE) -> Figure:
        """Draw the figure of that name, or the main one, *width* inches wide; see `report.figures`.

        `SpecError` for a name that the run has not.
        """
        from compactlab.report import figures

        return figures.figure(self, name, width)

    def save_figures(self, folder: Path) -> None:
        """Draw every figure that the run has into *folder*, as PNG and SVG."""
        from compactlab.report import figures

        figures.save(self, folder)


def publish(results: Results) -> Report:
    """Write `report.md` and the figures into the folder of a run, and give back the report that they show."""
    report = Report(results)
    folder = Path(results.folder)
    (folder / "report.md").write_text(report.markdown(), encoding="utf-8")
    report.save_figures(folder)
    return report
