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
from compactlab.llm.build import Spec
from compactlab.llm.extractive import Extractive
from compactlab.metrics.cache import PRICED
from compactlab.report import publish
from compactlab.report.answers import warnings
from compactlab.results import Results
from compactlab.settings import Project, load

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
    settings = _settings(options)
    with watched() as progress:
        results = run(options.paths, options.out, settings, progress)
    print_warnings(results.unread)
    if results.pending:
        return _waits(results, settings.project, as_json=options.json)
    _tell(results, as_json=options.json)
    return None


def _settings(options: Namespace) -> Settings:
    places = {
        "--cut": options.cut is not None,
        "--window": options.window is not None and not options.replay,
        "--replay": options.replay,
        "--recorded": options.recorded,
    }
    if len(given := [name for name, is_given in places.items() if is_given]) > 1:
        raise SpecError(f"{given[0]} and {given[1]} were both given; expected one of them")
    project = load(options.settings).examining(options.reader, options.judge)
    return Settings(
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
        executor=options.executor,
        probes=tuple(Path(file) for file in options.probes),
        pins=tuple(options.pin),
        project=project.asking(options.llm, options.model, options.base_url),
        agent_type=options.type,
        limit=limit(options),
        replicates=options.replicates,
        mode="replay" if options.replay else "recorded" if options.recorded else "cuts",
        policies=tuple(options.policy or ()),
        overhead=options.overhead,
        reserve=options.reserve,
        priced_as=options.priced_as or PRICED,
        peers=tuple(options.peers or ()),
        guard=options.guard,
    )


def _tell(results: Results, *, as_json: bool) -> None:
    """Publish the report and print it, with what must not be overlooked on standard error."""
    report = publish(results)
    for line in warnings(report.pool):
        sys.stderr.write(f"compactlab: {line}\n")
    if results.manifest.reader and not results.answers:
        sys.stderr.write("compactlab: no probe could be asked; expected NAME.probes.jsonl beside NAME.jsonl\n")
    if as_json:
        print_json({"run": str(results.folder), "summary": report.told})
    else:
        print_report(report)
        if any(record.model == Extractive.name for record in results.records):
            sys.stdout.write(f"{STAND_IN}\n")
        sys.stdout.write(f"run: {results.folder}\n")


def _waits(results: Results, project: Project, *, as_json: bool) -> int:
    """Say which requests wait, in which folders, and how the run goes on."""
    roles = (project, project.role("reader"), project.role("judge"))
    folders = {role.folder: 0 for role in roles if role and Spec(role.spec).kind == "batch"}
    found = {folder: waiting(folder) for folder in folders if (folder / REQUESTS).exists()}
    asked = {folder: requests for folder, requests in found.items() if requests}
    if as_json:
        files = [{"requests": requests, "file": folder / REQUESTS} for folder, requests in asked.items()]
        pending = {"requests": sum(asked.values()), "files": files, "cases": results.pending}
        print_json({"run": str(results.folder), "pending": pending})
        return WAITING
    of = f" of {len(results.pending)} cases"
    many = [f"{n} requests{of} wait" if n != 1 else "1 request waits" for n in asked.values()]
    lines = [f"not done yet: {what} in {folder / REQUESTS}" for what, folder in zip(many, asked, strict=True)]
    imports = ", ".join(f"compactlab llm import {shlex.quote(str(folder))} results.jsonl" for folder in asked)
    again = f"and the same command again with --out {shlex.quote(str(results.folder))}"
    lines += [f"next: have them answered as a batch, {imports}, {again}", f"run: {results.folder}"]
    sys.stdout.write("\n".join([*lines, ""]))
    return WAITING


def _numbers(text: str, option: str, expected: str) -> tuple[float, ...]:
    try:
        numbers = tuple(float(part) for part in text.split(",") if part.strip())
    except ValueError:
        numbers = ()
    if not numbers:
        raise SpecError(f"{option} {text!r}: expected {expected}")
    return numbers
