"""The command line: arguments only. Each command is a row of `COMMANDS` and calls one function, loaded when it is used.

Exit codes: 0 done, 2 wrong usage or input (one line on standard error says what), 3 not done yet (a run whose requests
wait for replies; the last lines on standard output say what to do), 130 interrupted.
"""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from collections.abc import Callable, Sequence

import compactlab
from compactlab.cli.commands import COMMANDS, FIGURES, TABLES, Command

__all__ = ["COMMANDS", "FIGURES", "TABLES", "Command", "main", "parser"]


class _Help(argparse.HelpFormatter):
    """Leaves the example in one piece, so that it can be copied."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        return indent + text if text.startswith("Example: ") else super()._fill_text(text, width, indent)


def parser() -> argparse.ArgumentParser:
    """Build the parser from `COMMANDS`."""
    top = argparse.ArgumentParser(
        prog="compactlab",
        description="Measure what an agent still knows after its context was compacted.",
        epilog="Start with: compactlab run fixtures/transcripts",
    )
    top.add_argument("--version", action="version", version=f"compactlab {compactlab.__version__}")
    commands = top.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for command in COMMANDS:
        added = commands.add_parser(
            command.name,
            help=command.help,
            description=command.help[0].upper() + command.help[1:] + ".",
            epilog=f"Example: {command.example}",
            formatter_class=_Help,
        )
        for names, options in command.arguments:
            added.add_argument(*names, **options)
    return top


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and give its exit code; the errors of compactlab become one line on standard error."""
    options = parser().parse_args(arguments)
    from compactlab.errors import CompactlabError
    from compactlab.sweeping import swept_seldom

    try:
        with swept_seldom():
            command: Callable[[argparse.Namespace], int | None] = importlib.import_module(
                f"compactlab.cli.{options.command}_command"
            ).main
            code = command(options)
        sys.stdout.flush()
    except CompactlabError as error:
        return _refuse(str(error))
    except OSError as error:
        if isinstance(error, BrokenPipeError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 0
        return _refuse(f"{error.filename or 'input'}: {error.strerror or error}")
    except KeyboardInterrupt:
        sys.stderr.write("compactlab: interrupted; a run goes on with the same command and --out its folder\n")
        return 130
    return code or 0


def _refuse(message: str) -> int:
    line = " ".join(message.split())
    sys.stderr.write(f"compactlab: {line}\n".encode(errors="backslashreplace").decode())
    return 2
