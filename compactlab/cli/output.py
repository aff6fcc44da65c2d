"""How commands print: tables by rich, JSON for programs."""

from __future__ import annotations

import dataclasses
import json
import shutil
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    from rich.console import Console

    from compactlab.report import Report
    from compactlab.report.section import Section

Watcher = Callable[[int, int, str], None]
QUIET_SECONDS = 2.0
PLAIN_WIDTH = 236
"""Columns where no terminal says how many it has: a table in a file or a pipe is not folded."""


def console() -> Console:
    """Standard output as rich sees it."""
    from rich.console import Console

    class Plain(Console):
        def on_broken_pipe(self) -> None:
            raise BrokenPipeError  # `main` ends quietly; rich itself would end with an error

    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else PLAIN_WIDTH
    return Plain(width=width, highlight=False, soft_wrap=False)


def print_report(report: Report) -> None:
    """What a run came to: the table, or with budgets what is kept at each, in sentences, its legend, its signature."""
    from compactlab.report.table import legend, to_rich
    from compactlab.signature import signature

    out = console()
    if report.mode != "cuts":
        print_sections(report.tables(["replay", "decay"] if report.mode == "replay" else ["recorded"]))
        return
    summary = report.summary
    if summary.manifest.budgets:
        print_sections(section._replace(signature="") for section in report.tables(["budgets"]))
    else:
        for table in to_rich(summary, out.width):
            out.print(table)
    for line in (*report.sentences, *legend(summary)):
        out.print(line, markup=False)
    out.print(signature(summary), style="dim", markup=False)


def print_sections(sections: Iterable[Section]) -> None:
    """Tables with their titles and legends; what signs several of them stands once, under the last."""
    from compactlab.report import terminal

    out = console()
    shown = list(sections)
    for section, following in zip_longest(shown, shown[1:]):
        out.print(section.title, style="bold", markup=False)
        for table in terminal.tables(section, out.width):
            out.print(table)
        out.print(section.legend, markup=False)
        if section.signature and (following is None or following.signature != section.signature):
            out.print(section.signature, style="dim", markup=False)
        out.print()


def print_table(headings: Sequence[str], rows: Iterable[Sequence[object]], numbers: Sequence[str] = ()) -> None:
    """A plain table; columns named in *numbers* stand to the right."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in headings:
        table.add_column(name, justify="right" if name in numbers else "left", overflow="fold")
    for row in rows:
        table.add_row(*(Text(str(cell)) for cell in row))
    console().print(table)


def print_json(value: object) -> None:
    """One JSON document, indented, ASCII, so that any text of a transcript survives any terminal."""
    sys.stdout.write(json.dumps(_plain(value), indent=1) + "\n")


def _plain(value: object) -> Any:  # noqa: ANN401  # JSON is any value
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: _plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if hasattr(value, "_asdict"):
        return {name: _plain(inner) for name, inner in value._asdict().items()}
    if isinstance(value, dict):
        return {str(name): _plain(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_plain(inner) for inner in value]
    if isinstance(value, Path):
        return str(value)
    return msgspec.to_builtins(value)


def print_warnings(lines: Sequence[str]) -> None:
    """Files passed over, on standard error: a few by name, the rest as a number."""
    for line in lines[:5]:
        sys.stderr.write(f"compactlab: passed over {line}\n")
    if len(lines) > 5:
        sys.stderr.write(f"compactlab: passed over {len(lines) - 5} more files\n")


@contextmanager
def watched() -> Iterator[Watcher | None]:
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
