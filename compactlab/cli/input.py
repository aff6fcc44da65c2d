"""How commands read: the transcripts of a path, by the options and the settings that they have in common."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

from compactlab.cli.output import print_warnings, watched
from compactlab.errors import SpecError
from compactlab.readers import survey
from compactlab.settings import Project, load
from compactlab.transcript import Transcript


def transcripts(options: Namespace, project: Project | None = None) -> tuple[Transcript, ...]:
    """Read the transcripts at `options.path`, and say on standard error which files of a folder were passed over.

    *project* are the settings, if they were loaded already.
    """
    types = options.type or (project or load(options.settings)).agent_types
    with watched() as watch:
        progress = (lambda path: watch(0, 0, f"reading {Path(path).name}")) if watch else None
        reading = survey(options.path, options.format, agent_type=types, limit=limit(options), progress=progress)
    print_warnings(reading.unread)
    return reading.transcripts


def limit(options: Namespace) -> int | None:
    """How many transcripts to read at most; `SpecError` if that is none."""
    if options.limit is not None and options.limit < 1:
        raise SpecError(f"--limit {options.limit}: expected a number of transcripts above 0")
    return int(options.limit) if options.limit else None
