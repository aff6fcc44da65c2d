"""`compactlab report`."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

from compactlab.cli.output import print_json, print_summary
from compactlab.report.table import to_markdown
from compactlab.results import Results
from compactlab.summary import summarise


def main(options: Namespace) -> None:
    """Print the summary of a run, or write it where it was asked for."""
    summary = summarise(Results(options.run))
    if options.markdown:
        Path(options.markdown).write_text(to_markdown(summary), encoding="utf-8")
    if options.figure:
        from compactlab.plots import savings

        savings.save(summary, options.figure)
    if options.json:
        print_json(summary)
    elif not (options.markdown or options.figure):
        print_summary(summary)
