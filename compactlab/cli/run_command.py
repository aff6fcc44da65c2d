"""`compactlab run`."""

from __future__ import annotations

import shlex
import sys
from argparse import Namespace
from pathlib import Path

from compactlab.cli.input import limit
from compactlab.cli.output import print_json, print_report, print_warnings, watched
from compactlab.errors import SpecError
from compactlab.harness import DEFAULT_STRATEGIES, Settings, run
from compactlab.harness.cuts import SHARES
from compactlab.llm.batch import REQUESTS, waiting
from compactlab.llm.extractive import Extractive
from compactlab.report import publish
from compactlab.results import Results
from compactlab.settings import load

STAND_IN = (
    "extractive is no model but code that picks lines of what goes: a baseline for summaries;"
    " --model NAME or --llm SPEC asks a real one"
)
WAITING = 3
"""Exit code of a run that is not done, since requests wait for their replies."""


def main(options: Namespace) -> int | None:
    """Run, publish the report into the run's folder, and print the table; the last line names the folder.

    A run whose requests wait has no table yet: it says what to do instead.
    """
    if options.cut is not None and options.window is not None:
        raise SpecError("--cut and --window were both given; expected one of them")
    settings = Settings(
        strategies=tuple(options.strategies or DEFAULT_STRATEGIES),
        cuts=SHARES
        if options.cut is None
        else _numbers(options.cut, "--cut", "shares between 0 and 1, such as 0.4,0.55"),
        window=options.window,
        budgets=()
        if options.budgets is None
        else _numbers(options.budgets, "--budgets", "per cents between 0 and 100, such as 10,20"),
        counter=options.counter,
        seed=options.seed,
        jobs=options.jobs,
        probes=tuple(Path(file) for file in options.probes),
        pins=tuple(options.pin),
        project=load(options.settings).asking(options.llm, options.model, options.base_url),
        agent_type=options.type,
        limit=limit(options),
    )
    with watched() as progress:
        results = run(options.paths, options.out, settings, progress)
    print_warnings(results.unread)
    if results.pending:
        return _waits(results, settings.project.folder, as_json=options.json)
    report = publish(results)
    if options.json:
        print_json({"run": str(results.folder), "summary": report.summary})
    else:
        print_report(report)
        if any(row.model == Extractive.name for row in report.summary.rows):
            sys.stdout.write(f"{STAND_IN}\n")
        sys.stdout.write(f"run: {results.folder}\n")
    return None


def _waits(results: Results, folder: Path, *, as_json: bool) -> int:
    """Say which requests wait, and how the run goes on."""
    requests = waiting(folder)
    if as_json:
        pending = {"requests": requests, "file": folder / REQUESTS, "cases": results.pending}
        print_json({"run": str(results.folder), "pending": pending})
        return WAITING
    many = f"{requests} requests of {len(results.pending)} cases wait" if requests != 1 else "1 request waits"
    sys.stdout.write(
        f"not done yet: {many} in {folder / REQUESTS}\n"
        f"next: have them answered as a batch, compactlab llm import {shlex.quote(str(folder))} results.jsonl, and the"
        f" same command again with --out {shlex.quote(str(results.folder))}\n"
        f"run: {results.folder}\n"
    )
    return WAITING


def _numbers(text: str, option: str, expected: str) -> tuple[float, ...]:
    try:
        numbers = tuple(float(part) for part in text.split(",") if part.strip())
    except ValueError:
        numbers = ()
    if not numbers:
        raise SpecError(f"{option} {text!r}: expected {expected}")
    return numbers
