"""`compactlab report`."""

from __future__ import annotations

import sys
from argparse import Namespace
from pathlib import Path

from compactlab import catalog
from compactlab.cli.output import print_json, print_summary, print_table
from compactlab.errors import UnknownName
from compactlab.report.table import by_family, to_markdown
from compactlab.results import Results
from compactlab.summary import summarise


def main(options: Namespace) -> None:
    """Print the summary of a run, or write it where it was asked for; or list what a strategy lost."""
    results = Results(options.run)
    if options.lost:
        _lost(results, options.lost, as_json=options.json)
        return
    summary = summarise(results)
    if options.markdown:
        Path(options.markdown).write_text(to_markdown(summary), encoding="utf-8")
    if options.figure:
        from compactlab.plots import savings

        savings.save(summary, options.figure)
    if options.json:
        print_json(summary)
    elif not (options.markdown or options.figure):
        print_summary(summary)
        if options.by_family:
            families, rows = by_family(summary)
            print_table(("bound, by family", *families), rows, families)


def _lost(results: Results, strategy: str, *, as_json: bool) -> None:
    """Facts that a strategy lost, those that nothing brings back first: where each stood, and who needed it."""
    spec = repr(catalog.strategy(strategy))
    if spec not in results.manifest.strategies:
        raise UnknownName(catalog.unknown("strategy of this run", spec, results.manifest.strategies))
    lost = [fact for fact in results.needed if fact.strategy == spec and fact.fate == "lost"]
    lost.sort(key=lambda fact: (fact.regain, fact.use, fact.session, fact.cut, fact.used))
    if as_json:
        print_json(lost)
        return
    rows = [
        (f.session, f.cut, f.regain, f.use, f.family, f.value, f"{f.home}: {f.home_text}", f"{f.used}: {f.used_text}")
        for f in lost
    ]
    print_table(("session", "cut", "home", "use", "family", "value", "stood in message", "needed by message"), rows)
    gone = sum(fact.regain == "irrecoverable" for fact in lost)
    needed = sum(fact.strategy == spec for fact in results.needed)
    sys.stdout.write(f"{spec} lost {len(lost)} of {needed} needed facts, {gone} of them irrecoverable\n")
