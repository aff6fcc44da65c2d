"""From a summary to what people read: a table for terminals, a page of Markdown, the files in a run's folder."""

from __future__ import annotations

from pathlib import Path

from compactlab.report.table import to_markdown
from compactlab.results import Results
from compactlab.summary import Summary, summarise


def publish(results: Results) -> Summary:
    """Write `report.md` and `savings.png` into the folder of a run, and give back the summary that they show."""
    from compactlab.plots import savings

    summary = summarise(results)
    folder = Path(results.folder)
    (folder / "report.md").write_text(to_markdown(summary), encoding="utf-8")
    savings.save(summary, folder / "savings.png")
    return summary
