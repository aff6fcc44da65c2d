"""Readers, one transcript format a file: drop a module in here and every command reads its files.

A reader has

- `WHERE`: one line, where such files lie on a disk, empty if nowhere in particular;
- `sniff(source) -> float`: how sure it is, from 0 to 1, that a file is its own, judged by content and never by name;
- `read(source) -> Iterator[Transcript]`: the transcripts of one file, and of those that it opens `beside` it;
- if its format can be written, `write(transcripts) -> str`.

Modules whose name starts with `_` are shared parts, not readers.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from compactlab import catalog
from compactlab.errors import TranscriptError
from compactlab.readers._files import Source as Source
from compactlab.readers._lines import Line as Line
from compactlab.readers._lines import Lines as Lines
from compactlab.readers._lines import read_json as read_json
from compactlab.readers._paths import Read, Wanted, collected, streamed
from compactlab.readers._paths import Reading as Reading
from compactlab.readers._sessions import default_agent_type as default_agent_type

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from compactlab.transcript import Transcript


def read(
    path: str | os.PathLike[str],
    format: str | None = None,  # noqa: A002  # the field's word
    *,
    agent_type: str | Mapping[str, str] = "",
    limit: int | None = None,
) -> list[Transcript]:
    """Read the transcripts of a file, of every file under a folder or that a pattern matches, in the order of paths.

    *path* may also be `-` for standard input, and `hf:OWNER/NAME[:SPLIT]` for the rows of a data set. *format* names a
    reader; without it each file is recognised by its content. *agent_type* is that of all, or a mapping of patterns of
    paths to types. At most *limit* transcripts are read. In a folder, hidden files, probes and files that no reader
    knows are passed over; `survey` lists those. A session that lies over several files is given once. Ids are unique in
    what is given back: those that would collide are led by their file's name. Raises `TranscriptError`, one line, if
    there is nothing to be read.
    """
    return list(survey(path, format, agent_type=agent_type, limit=limit).transcripts)


def survey(
    path: str | os.PathLike[str],
    format: str | None = None,  # noqa: A002  # the field's word
    *,
    agent_type: str | Mapping[str, str] = "",
    limit: int | None = None,
    progress: Callable[[str], None] | None = None,
) -> Reading[Transcript]:
    """Read as `read` does, and say also which files of a folder were passed over.

    *progress* is called with the path of each file before it is read.
    """
    return collected([path], Wanted(format, agent_type, limit, progress), _whole)[0]


def surveys(
    paths: Iterable[str | os.PathLike[str]],
    *,
    agent_type: str | Mapping[str, str] = "",
    limit: int | None = None,
    progress: Callable[[str], None] | None = None,
) -> list[Reading[Transcript]]:
    """Survey several paths, each session once though several of them lead to it; *limit* is that of each path."""
    return collected(paths, Wanted(None, agent_type, limit, progress), _whole)


def sifted(
    paths: Iterable[str | os.PathLike[str]],
    keep: Callable[[Transcript], Read],
    *,
    agent_type: str | Mapping[str, str] = "",
    limit: int | None = None,
) -> list[Reading[Read]]:
    """Survey as `surveys` does, and hold of each transcript only what *keep* makes of it, a struct with id and path."""
    return collected(paths, Wanted(None, agent_type, limit), keep)


def _whole(transcript: Transcript) -> Transcript:
    return transcript


def stream(
    path: str | os.PathLike[str],
    format: str | None = None,  # noqa: A002  # the field's word
    *,
    agent_type: str | Mapping[str, str] = "",
    limit: int | None = None,
) -> Iterator[Transcript]:
    """Read as `read` does, one transcript after the other, so that a file of any number of them fits into memory.

    Files that cannot be read are passed over in a folder. A colliding id is led by its file's name only from the second
    transcript on that has it.
    """
    return streamed(path, Wanted(format, agent_type, limit))


def sniff(path: str | os.PathLike[str]) -> str:
    """Name the reader that knows a file; `TranscriptError` if none does, or if two are equally sure."""
    from pathlib import Path

    from compactlab.readers._paths import recognised

    return recognised(Source(Path(path)))


def writable() -> list[str]:
    """Names of the formats that can be written."""
    return [name for name in catalog.names("readers") if hasattr(catalog.load("readers", name), "write")]


def written(transcripts: Iterable[Transcript], format: str = "compactlab") -> str:  # noqa: A002  # the field's word
    """Give transcripts as the text of a file in *format*; `TranscriptError` if that can only be read."""
    reader: Any = catalog.load("readers", format)
    if not hasattr(reader, "write"):
        able = ", ".join(writable())
        raise TranscriptError(f"format {format!r} can be read but not written; expected one of {able}")
    return str(reader.write(tuple(transcripts)))


def write(
    transcripts: Transcript | Iterable[Transcript],
    path: str | os.PathLike[str],
    format: str = "compactlab",  # noqa: A002  # the field's word
) -> None:
    """Write one or more transcripts to a file in *format*; `TranscriptError` if that can only be read."""
    from pathlib import Path

    from compactlab.transcript import Transcript

    text = written((transcripts,) if isinstance(transcripts, Transcript) else transcripts, format)
    try:
        Path(path).write_bytes(text.encode())
    except OSError as error:
        raise TranscriptError(f"{path}: cannot be written ({(error.strerror or str(error)).lower()})") from error
