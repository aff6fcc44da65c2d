"""`compactlab report`."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path

from compactlab import catalog
from compactlab.cli.output import print_json, print_report, print_sections, print_table
from compactlab.errors import SpecError, UnknownName
from compactlab.records import NeededFact
from compactlab.report import Report
from compactlab.results import Results


def main(options: Namespace) -> None:
    """Print the report of a run, or write it where it was asked for; or list what a strategy lost."""
    results = Results(options.run)
    if options.lost:
        _lost(results, options.lost, as_json=options.json)
        return
    report = Report(results)
    _write(report, options)
    if options.table:
        _tables(report, options.table, as_json=options.json)
    elif options.json:
        print_json(report.told)
    elif not (options.markdown or options.html or options.figure):
        print_report(report)


def _write(report: Report, options: Namespace) -> None:
    """Write the pages and the figures that were asked for."""
    if options.html:
        from compactlab.report import page

        found = page.save(report, options.html, paths=options.transcripts, share=options.share)
        for session, why in found.missing.items():
            sys.stderr.write(f"compactlab: {session}: its messages are not shown, {why}\n")
    elif options.share or options.transcripts:
        raise SpecError("--share and --transcripts tell of a page; expected --html FILE too")
    if options.markdown:
        Path(options.markdown).write_text(report.markdown(), encoding="utf-8")
    if options.kind and not options.figure:
        raise SpecError(f"--kind {options.kind} names a figure; expected --figure FILE with it")
    if options.figure:
        from compactlab.plots.canvas import write

        write(report.figure(options.kind), options.figure)


def _tables(report: Report, names: Sequence[str], *, as_json: bool) -> None:
    """Print some tables, or give them as JSON."""
    sections = report.tables(names)
    if as_json:
        print_json(sections)
    else:
        print_sections(sections)


def _lost(results: Results, strategy: str, *, as_json: bool) -> None:
    """Facts that a strategy lost, those that nothing brings back first: where each stood, and who needed it."""
    if results.manifest.mode == "replay":
        raise SpecError("--lost tells of one cut; expected a run that cuts sessions (of a replay, --table decay)")
    known = (*results.manifest.strategies, *(["recorded"] if results.manifest.mode == "recorded" else []))
    spec = strategy if strategy in known else repr(catalog.strategy(strategy))
    if spec not in known:
        raise UnknownName(catalog.unknown("strategy of this run", spec, known))
    lost = [fact for fact in results.needed if fact.strategy == spec and fact.verdict != "kept"]
    lost.sort(key=lambda fact: (fact.regain, fact.use, fact.session, fact.cut, fact.used, fact.value))
    if as_json:
        print_json(lost)
        return
    budgets = bool(results.manifest.budgets)
    columns = ("session", "cut", *(["budget"] * budgets), "verdict", "home", "use", "family", "value")
    print_table((*columns, "stood in message", "needed by message"), [_told(fact, budgets=budgets) for fact in lost])
    gone = sum(fact.regain == "irrecoverable" for fact in lost)
    needed = sum(fact.strategy == spec for fact in results.needed)
    sys.stdout.write(f"{spec} lost {len(lost)} of {needed} needed facts, {gone} of them irrecoverable\n")


def _told(fact: NeededFact, *, budgets: bool) -> tuple[str, ...]:
    place = (fact.session, fact.cut, *([f"{fact.budget} %"] if budgets else []))
    what = (fact.verdict, fact.regain, fact.use, fact.family, fact.value)
    return (*place, *what, f"{fact.home}: {fact.home_text}", f"{fact.used}: {fact.used_text}")
