"""`compactlab run`."""

from __future__ import annotations

import sys
import time
from argparse import Namespace
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from compactlab.cli.output import print_json, print_summary, print_warnings
from compactlab.errors import SpecError
from compactlab.harness import DEFAULT_STRATEGIES, Progress, Settings, run
from compactlab.harness.cuts import SHARES
from compactlab.report import publish
from compactlab.settings import load

if TYPE_CHECKING:
    from collections.abc import Iterator

QUIET_SECONDS = 2.0


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
    )
    with _progress() as progress:
        results = run(options.paths, options.out, settings, progress)
    print_warnings(results.unread)
    summary = publish(results)
    if options.json:
        print_json({"run": str(results.folder), "summary": summary})
    else:
        print_summary(summary)
        sys.stdout.write(f"run: {results.folder}\n")


def _numbers(text: str, option: str, expected: str) -> tuple[float, ...]:
    try:
        numbers = tuple(float(part) for part in text.split(",") if part.strip())
    except ValueError:
        numbers = ()
    if not numbers:
        raise SpecError(f"{option} {text!r}: expected {expected}")
    return numbers


@contextmanager
def _progress() -> Iterator[Progress | None]:
    """A bar on standard error once a run has taken two seconds; nothing where no one watches."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    bar = Progress(*columns, console=Console(stderr=True), transient=True)
    task = bar.add_task("reading", total=None)
    started = time.monotonic()

    def advance(done: int, total: int, session: str) -> None:
        if time.monotonic() - started > QUIET_SECONDS:
            bar.start()
        bar.update(task, completed=done, total=total, description=session)

    try:
        yield advance
    finally:
        bar.stop()
