"""`compactlab validate`."""

from __future__ import annotations

import os
import sys
from argparse import Namespace
from collections import Counter
from pathlib import Path

from compactlab.cli.output import print_json, print_table, print_warnings, watched
from compactlab.errors import SpecError
from compactlab.gate import alarms
from compactlab.gate.alarms import told
from compactlab.readers import surveys
from compactlab.study import Study, disagreements, sessions_of, study
from compactlab.study.evidence import Evidence, cases, figure, gathered
from compactlab.study.finding import COLUMNS, VERDICTS, table, to_markdown

HERE = Path("fixtures", "transcripts")
CASES = "COMPACTLAB_GUARD_CASES"
"""Names the source distribution of compaction-guard, where `--cases` does not; else it is looked for in the folder."""


def main(options: Namespace) -> None:
    """Gather the evidence, or the findings of a study, or compare both kinds of probes; print, or write to a file."""
    wanted = [name for name in DONE_BY if getattr(options, name, False)]
    if len(wanted) > 1:
        raise SpecError(f"expected one of --{' and --'.join(wanted)}, or none of them")
    DONE_BY[wanted[0]](options) if wanted else _gather(options)


def _study(options: Namespace) -> None:
    paths = options.paths or [HERE]
    with watched() as progress:
        found = study(paths, options.jobs, progress)
    print_warnings(found.unread)
    if options.markdown:
        Path(options.markdown).write_text(to_markdown(found.findings), encoding="utf-8")
    if options.json:
        print_json(plain(found))
    elif not options.markdown:
        _print(found)


def _gather(options: Namespace) -> None:
    beside = Path(__file__).parents[2] / HERE
    paths = options.paths or [HERE if HERE.exists() or not beside.exists() else beside]
    with watched() as progress:
        found = gathered(paths, _labelled(options), options.jobs, progress)
    print_warnings(found.unread)
    if options.markdown:
        Path(options.markdown).write_text(figure.to_markdown(found.figures), encoding="utf-8")
    if options.json:
        print_json(as_data(found))
    elif not options.markdown:
        print_table(figure.COLUMNS, figure.table(found.figures), ("how many", "share", "95 %"))
        for line in found.missing:
            sys.stdout.write(f"not measured: {line}\n")
        sys.stdout.write(f"{counted(found)}\n")


def _labelled(options: Namespace) -> Path | None:
    """The source distribution that was named, or lies in the folder; None without one."""
    named = getattr(options, "cases", None) or os.environ.get(CASES)
    here = Path(f"{cases.PACKAGE.replace('-', '_')}-{cases.VERSION}.tar.gz")
    return Path(named) if named else here if here.exists() else None


def counted(found: Evidence) -> str:
    """How many figures are what they must be."""
    demanded = [f for f in found.figures if f.holds is not None]
    held = sum(f.holds is True for f in demanded)
    sessions = "1 session" if len(found.sessions) == 1 else f"{len(found.sessions)} sessions"
    return f"{len(found.figures)} figures on {sessions}; of {len(demanded)} that must be all or none, {held} are"


def as_data(found: Evidence) -> dict[str, object]:
    """The figures as plain data; `low` and `high` are null without an interval, `holds` where nothing is demanded."""
    figures = [f._asdict() | {"holds": f.holds} for f in found.figures]
    return {"sessions": found.sessions, "figures": figures, "missing": found.missing}


def _compare(options: Namespace) -> None:
    readings = surveys(options.paths or [HERE])
    print_warnings([line for reading in readings for line in reading.unread])
    found = disagreements.compared(sessions_of([t for reading in readings for t in reading.transcripts]))
    if options.markdown:
        Path(options.markdown).write_text(disagreements.to_markdown(found), encoding="utf-8")
    if options.json:
        print_json(found)
    elif not options.markdown:
        print_table(disagreements.COLUMNS, disagreements.table(found))
        for why, said in disagreements.REASONS.items():
            sys.stdout.write(f"{why}: {said}\n")
        sys.stdout.write(disagreements.sentence(found) + "\n")


def _count_alarms(options: Namespace) -> None:
    if options.paths:
        raise SpecError("--alarms makes its own sessions; expected no path")
    with watched() as progress:
        found = alarms.study(alarms.Plan(options.sessions, draws=options.draws), options.jobs, progress)
    if options.markdown:
        Path(options.markdown).write_text(told.to_markdown(found), encoding="utf-8")
    if options.json:
        print_json(told.as_data(found))
    elif not options.markdown:
        for table in told.tables(found):
            sys.stdout.write(f"{table.title}\n")
            print_table(table.columns, table.rows, [name for name in table.columns if name not in table.words])
        sys.stdout.writelines(f"{sentence}\n" for sentence in told.sentences(found))


DONE_BY = {"study": _study, "probes": _compare, "alarms": _count_alarms}
"""By option what it does."""


def plain(found: Study) -> dict[str, object]:
    """The findings as plain data; `now` holds the numbers as they are, null where one cannot be had."""
    findings = [
        {
            "number": finding.number,
            "question": finding.question,
            "verdict": finding.verdict,
            "sentence": finding.sentence,
            "rows": [{"what": r.line.what, "then": r.line.then, "now": r.now, "shown": r.shown} for r in finding.rows],
        }
        for finding in found.findings
    ]
    return {"sessions": found.sessions, "findings": findings}


def _print(found: Study) -> None:
    print_table(COLUMNS, table(found.findings), ("#", "then", "now"))
    for finding in found.findings:
        sys.stdout.write(f"{finding.number}. {finding.verdict}: {finding.sentence}\n")
    verdicts = Counter(finding.verdict for finding in found.findings)
    counts = ", ".join(f"{verdicts[verdict]} {verdict}" for verdict in VERDICTS)
    sessions = "1 session" if len(found.sessions) == 1 else f"{len(found.sessions)} sessions"
    sys.stdout.write(f"{len(found.findings)} findings on {sessions}: {counts}\n")
