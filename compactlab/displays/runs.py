"""A run and its report as a notebook shows them: the main table, what it says in a sentence, and its signature."""

from __future__ import annotations

from collections.abc import Iterator

from compactlab.displays import _page as page
from compactlab.displays import tables
from compactlab.report import Report
from compactlab.report.table import main_table
from compactlab.results import Results


def html(thing: Results | Report) -> str:
    """What was run, the main table of its mode, and the sentences that hold for it."""
    report = thing if isinstance(thing, Report) else Report(thing)
    is_replay = report.mode == "replay"
    shown = report.tables(["replay"]) if is_replay else [main_table(report.summary)]
    sentences = () if is_replay else report.sentences
    made = (part for section in shown for part in tables.parts(section._replace(title="")))
    return page.framed(page.head(_title(report.results), *_faults(report.results)), page.listed(sentences), *made)


def text(thing: Results | Report) -> str:
    """A line that says what was run, and where it lies."""
    results = thing.results if isinstance(thing, Report) else thing
    return f"{type(thing).__name__} {results.folder}: {_title(results)}"


def _title(results: Results) -> str:
    told = results.manifest
    sessions = page.counted(len(told.sessions), "session")
    if told.mode == "replay":
        policies = "1 policy" if len(told.strategies) == 1 else f"{len(told.strategies)} policies"
        return f"{sessions} replayed under {policies}: {', '.join(told.cuts)}"
    strategies = "1 strategy" if len(told.strategies) == 1 else f"{len(told.strategies)} strategies"
    if told.mode == "recorded":
        return f"the recorded compactions of {sessions}, beside {strategies}"
    return f"{sessions}, cut at {', '.join(told.cuts)}, under {strategies}"


def _faults(results: Results) -> Iterator[str]:
    failed = sum(record.outcome == "failed" for record in results.records if record.metric == "outcome")
    if failed:
        yield f"{page.counted(failed, 'case')} failed"
    if results.pending:
        yield f"{page.counted(len(results.pending), 'case')} without the reply of a model yet"
    if results.unread:
        yield f"{page.counted(len(results.unread), 'file')} passed over, since no reader knows them"
