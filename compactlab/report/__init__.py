"""From a run to what people read: tables for terminals, a page of Markdown, figures, the files in a run's folder."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

from compactlab.records import Mode
from compactlab.report import answers, modes, pairs
from compactlab.report.section import Section, markdown
from compactlab.report.table import to_markdown
from compactlab.results import Results
from compactlab.summary import Summary, summary_of
from compactlab.summary.curves import Curves, curves
from compactlab.summary.pool import Pool


class Report:
    """What can be told of a run: the summary, the tables behind it, sentences, figures; each is made when asked for."""

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

    def save_figures(self, folder: Path) -> None:
        """Draw `savings.png`, `positions.png`, and for a run with budgets `front.png`, into *folder*.

        A run that does not cut sessions has no such figures.
        """
        if self.mode != "cuts":
            return
        from compactlab.plots import front, savings
        from compactlab.plots import positions as of_positions

        savings.save(self.summary, folder / "savings.png")
        of_positions.save(self.pool, self.summary, folder / "positions.png")
        if self.summary.manifest.budgets:
            front.save(self.curves, self.summary, folder / "front.png")


def publish(results: Results) -> Report:
    """Write `report.md` and the figures into the folder of a run, and give back the report that they show."""
    report = Report(results)
    folder = Path(results.folder)
    (folder / "report.md").write_text(report.markdown(), encoding="utf-8")
    report.save_figures(folder)
    return report
