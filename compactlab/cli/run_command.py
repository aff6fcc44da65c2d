"""`compactlab run`."""

from __future__ import annotations

import sys
from argparse import Namespace
from pathlib import Path

from compactlab.cli.input import limit
from compactlab.cli.output import print_json, print_report, print_warnings, watched
from compactlab.errors import SpecError
from compactlab.harness import DEFAULT_STRATEGIES, Settings, run
from compactlab.harness.cuts import SHARES
from compactlab.report import publish
from compactlab.settings import load


def main(options: Namespace) -> None:
    """Run, publish the report into the run's folder, and print the table; the last line names the folder."""
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
        project=load(options.settings),
        agent_type=options.type,
        limit=limit(options),
    )
    with watched() as progress:
        results = run(options.paths, options.out, settings, progress)
    print_warnings(results.unread)
    report = publish(results)
    if options.json:
        print_json({"run": str(results.folder), "summary": report.summary})
    else:
        print_report(report)
        sys.stdout.write(f"run: {results.folder}\n")


def _numbers(text: str, option: str, expected: str) -> tuple[float, ...]:
    try:
        numbers = tuple(float(part) for part in text.split(",") if part.strip())
    except ValueError:
        numbers = ()
    if not numbers:
        raise SpecError(f"{option} {text!r}: expected {expected}")
    return numbers
