"""Readers, one transcript format a file: drop a module in here and every command reads its files.

A reader has `sniff(sample) -> float`, how sure it is from 0 to 1 that a file is its own, judged by content and never by
name, and `read(source)`, which yields the transcripts of one file. One whose format can be written also has
`write(transcripts) -> str`. Modules whose name starts with `_` are shared parts, not readers.
"""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec.structs import replace

from compactlab import catalog
from compactlab.errors import TranscriptError
from compactlab.readers._files import Line as Line
from compactlab.readers._files import Lines as Lines
from compactlab.readers._files import Sample as Sample
from compactlab.readers._files import Source as Source
from compactlab.readers._files import looks_like, sample, unreadable
from compactlab.readers._files import read_json as read_json
from compactlab.readers._files import read_lines as read_lines
from compactlab.transcript import Messages, Transcript

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from types import ModuleType

FLOOR = 0.3
PROBES = ".probes.jsonl"


class Reading(NamedTuple):
    """What was read from a path, and, one line each, which files of a folder were not, and why."""

    transcripts: tuple[Transcript, ...]
    unread: tuple[str, ...]


def read(path: str | os.PathLike[str], format: str | None = None) -> list[Transcript]:  # noqa: A002  # the field's word
    """Read the transcripts of a file, or of every file under a folder, in the order of their paths.

    *format* names a reader; without it each file is recognised by its content. In a folder, hidden files, probes and
    files that no reader knows are passed over; `survey` lists those. Ids are unique in what is given back: those that
    would collide are led by their file's name. Raises `TranscriptError`, one line, if there is nothing to be read.
    """
    return list(survey(path, format).transcripts)


def survey(path: str | os.PathLike[str], format: str | None = None) -> Reading:  # noqa: A002  # the field's word
    """Read as `read` does, and say also which files of a folder were passed over."""
    path = Path(path)
    if not path.is_dir():
        return Reading(_unique(_read_file(path, format)), ())
    found: list[Transcript] = []
    unread: list[str] = []
    for file in _files(path):
        try:
            found += _read_file(file, format)
        except TranscriptError as error:
            unread.append(str(error))
    if not found:
        more = f", such as {unread[0]}" if unread else ""
        raise TranscriptError(f"{path}: no transcript in this folder ({len(unread)} files looked at{more})")
    return Reading(_unique(found), tuple(unread))


def sniff(path: str | os.PathLike[str]) -> str:
    """Name the reader that knows a file; `TranscriptError` if none does, or if two are equally sure."""
    return _recognised(sample(Path(path)))


def write(
    transcripts: Transcript | Iterable[Transcript],
    path: str | os.PathLike[str],
    format: str = "compactlab",  # noqa: A002  # the field's word
) -> None:
    """Write one or more transcripts to a file in *format*; `TranscriptError` if that can only be read."""
    reader = catalog.load("readers", format)
    if not hasattr(reader, "write"):
        able = ", ".join(name for name in catalog.names("readers") if hasattr(catalog.load("readers", name), "write"))
        raise TranscriptError(f"format {format!r} can be read but not written; expected one of {able}")
    text: str = reader.write((transcripts,) if isinstance(transcripts, Transcript) else tuple(transcripts))
    try:
        Path(path).write_bytes(text.encode())
    except OSError as error:
        raise TranscriptError(f"{path}: cannot be written ({(error.strerror or str(error)).lower()})") from error


def default_agent_type(messages: Messages) -> str:
    """Guess the agent type where a format does not say: `subagent` for one request and tool traffic, else `primary`.

    An agent that calls tools and hears at most one message of a person was given a task; one that a person talks with
    in turns, or that calls nothing, is somebody's own.
    """
    heard = sum(message.by_person for message in messages)
    return "subagent" if heard <= 1 and any(message.calls for message in messages) else "primary"


def _files(folder: Path) -> Iterator[Path]:
    for where, folders, names in os.walk(folder, onerror=_refuse):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            if not name.startswith(".") and not name.endswith(PROBES):
                yield Path(where, name)


def _refuse(error: OSError) -> None:
    raise unreadable(Path(str(error.filename)), error)


def _read_file(path: Path, name: str | None) -> list[Transcript]:
    if path.exists() and not path.is_file():
        raise TranscriptError(f"{path}: expected a file or a folder")
    seen = sample(path)
    reader = catalog.load("readers", name or _recognised(seen))
    transcripts: list[Transcript] = list(reader.read(seen.source))
    if not transcripts:
        raise TranscriptError(f"{path}: no messages in it")
    return transcripts


def _recognised(seen: Sample) -> str:
    ranked = sorted(((_confidence(name, seen), name) for name in catalog.names("readers")), reverse=True)
    best = [name for confidence, name in ranked if confidence == ranked[0][0] and confidence >= FLOOR]
    if len(best) == 1:
        return best[0]
    if best:
        both = " and ".join(sorted(best))
        raise TranscriptError(f"{seen.path}: {both} are equally sure of this file; name the format")
    raise TranscriptError(f"{seen.path}: no reader knows this file; it is {looks_like(seen)}")


def _confidence(name: str, seen: Sample) -> float:
    reader: ModuleType | Any = catalog.load("readers", name)
    return float(reader.sniff(seen)) if seen.values else 0.0


def _unique(transcripts: Iterable[Transcript]) -> tuple[Transcript, ...]:
    """Lead ids that several transcripts have by their file's name; number those that are still equal."""
    transcripts = tuple(transcripts)
    held = Counter(transcript.id for transcript in transcripts)
    named = [t if held[t.id] == 1 else replace(t, id=f"{Path(t.path).stem}/{t.id}") for t in transcripts]
    seen: Counter[str] = Counter()
    unique = []
    for transcript in named:
        seen[transcript.id] += 1
        nth = seen[transcript.id]
        unique.append(transcript if nth == 1 else replace(transcript, id=f"{transcript.id}#{nth}"))
    return tuple(unique)
