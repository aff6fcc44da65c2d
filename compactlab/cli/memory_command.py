"""`compactlab memory`: the verbs of `compactlab.memory.Memory`.

Exit codes: 0 done; 1 asked for and not done, with the reason on standard output (a pass that was not applied, a journal
that does not hold); 2 wrong use, or a file that cannot be read or written.
"""

from __future__ import annotations

import sys
from argparse import Namespace
from pathlib import Path
from typing import Any

from compactlab.cli.memory_arguments import OWN
from compactlab.cli.output import print_json
from compactlab.errors import SpecError, TranscriptError
from compactlab.memory import Choices, Memory
from compactlab.settings import FILE, Project, load


def main(options: Namespace) -> int:
    """Do what one verb asks for; print what came of it as text, or as JSON."""
    _fitting(options)
    verbs = {
        "append": _append,
        "status": lambda memory, _: _told(memory.status()),
        "compact": _compact,
        "ignore": lambda memory, options: _told(memory.ignore(options.reason)),
        "restore": _restore,
        "log": _log,
    }
    found, code = verbs[options.verb](_memory(options), options)
    if options.json:
        print_json(getattr(found, "plain", found))
    else:
        sys.stdout.write(found.to_text().rstrip("\n").encode(errors="backslashreplace").decode() + "\n")
    return code


def _fitting(options: Namespace) -> None:
    """Refuse arguments that the verb does not take."""
    for name, verbs in OWN.items():
        if getattr(options, name) and options.verb not in verbs:
            shown = name.upper() if name in {"entry", "message"} else f"--{name.replace('_', '-')}"
            raise SpecError(f"memory {options.verb}: {shown} belongs to {' and '.join(verbs)}")
    if options.target is not None and options.target <= 0:
        raise SpecError(f"--target {options.target}: expected a number of tokens above 0")
    if options.window is not None and options.window <= 0:
        raise SpecError(f"--window {options.window}: expected a number of tokens above 0")


def _memory(options: Namespace) -> Memory:
    project = _settings(options).asking(options.llm, options.model, options.base_url)
    choices = Choices(
        window=options.window,
        overhead=options.overhead,
        reserve=options.reserve,
        counter=options.counter,
        wordings=options.wordings or project.wordings,
        originals=options.originals or project.originals,
    )
    return Memory(Path(options.repo), options.conversation, project, choices)


def _settings(options: Namespace) -> Project:
    """The settings that are named, else those of the repository, else those of the working folder."""
    own = Path(options.repo) / FILE
    return load(options.settings or (own if own.is_file() else None))


def _told(found: Any) -> tuple[Any, int]:  # noqa: ANN401  # what any verb gives back
    return found, 0


def _append(memory: Memory, options: Namespace) -> tuple[Any, int]:
    try:
        data = Path(options.file).read_bytes() if options.file else sys.stdin.buffer.read()
    except OSError as error:
        raise TranscriptError(f"{options.file}: cannot be read ({(error.strerror or str(error)).lower()})") from error
    return memory.append(data, options.type), 0


def _compact(memory: Memory, options: Namespace) -> tuple[Any, int]:
    found = memory.compact(options.strategy, target=options.target, focus=options.focus, dry_run=options.dry_run)
    if options.receipt and not options.dry_run:
        Path(options.receipt).write_text(found.receipt.to_json(), encoding="utf-8")
    if found.note:
        sys.stderr.write(f"compactlab: {found.note}\n")
    return found, int(not found.is_done)


def _restore(memory: Memory, options: Namespace) -> tuple[Any, int]:
    if not options.entry:
        raise SpecError("memory restore: ENTRY is missing; expected the id of a pass, as `memory log` lists them")
    found = memory.restore(options.entry, options.message, back=options.back)
    if options.output:
        Path(options.output).write_bytes(found.lines)
    is_whole = not (found.redacted or found.missing or found.why_not)
    return found, int(not is_whole)


def _log(memory: Memory, options: Namespace) -> tuple[Any, int]:
    found = memory.log(verify=options.verify)
    return found, int(not found.holds)
