"""From a run to what people read: tables for terminals, a page of Markdown, figures, the files in a run's folder."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path

from compactlab.report import answers, budgets, density, fidelity, pairs, positions, sessions
from compactlab.report.section import Section, markdown
from compactlab.report.table import families, to_markdown
from compactlab.results import Results
from compactlab.summary import Summary, summary_of
from compactlab.summary.curves import Curves, curves
from compactlab.summary.pool import Pool


class Report:
    """What can be told of a run: the summary, the tables behind it, sentences, figures; each is made when asked for."""

    def __init__(self, results: Results) -> None:
        self.results = results
        self.pool = Pool(results)

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
        """Give the tables of these names, or all of them in the order of `TABLES`; empty ones are left out."""
        found = [section for name in names or TABLES for section in TABLES[name](self)]
        return [section for section in found if section.rows]

    def markdown(self) -> str:
        """Give the whole report as a page."""
        return "\n".join([to_markdown(self.summary, self.sentences), *map(markdown, self.tables())])

    def save_figures(self, folder: Path) -> None:
        """Draw `savings.png`, `positions.png`, and for a run with budgets `front.png`, into *folder*."""
        from compactlab.plots import front, savings
        from compactlab.plots import positions as of_positions

        savings.save(self.summary, folder / "savings.png")
        of_positions.save(self.pool, self.summary, folder / "positions.png")
        if self.summary.manifest.budgets:
            front.save(self.curves, self.summary, folder / "front.png")


TABLES: dict[str, Callable[[Report], Sequence[Section]]] = {
    "budgets": lambda report: budgets.sections(report.curves),
    "answers": lambda report: answers.sections(report.pool, report.results),
    "pairs": lambda report: pairs.sections(report.pool),
    "sessions": lambda report: sessions.sections(report.pool),
    "families": lambda report: (families(report.summary),),
    "rules": lambda report: (fidelity.statements(report.pool, report.summary),),
    "distortion": lambda report: (fidelity.distortion(report.pool, report.summary),),
    "artifacts": lambda report: (fidelity.artifacts(report.pool, report.summary),),
    "position": lambda report: (positions.of_positions(report.pool, report.summary),),
    "age": lambda report: (positions.of_ages(report.pool, report.summary),),
    "density": lambda report: (density.section(report.pool, report.summary),),
    "miners": lambda report: (fidelity.second_opinion(report.pool, report.summary),),
}
"""The tables behind the main one, by the name that asks for them."""


def publish(results: Results) -> Report:
    """Write `report.md` and the figures into the folder of a run, and give back the report that they show."""
    report = Report(results)
    folder = Path(results.folder)
    (folder / "report.md").write_text(report.markdown(), encoding="utf-8")
    report.save_figures(folder)
    return report
