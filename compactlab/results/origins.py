"""Where the sessions of a run were read, so that their texts can be had again: `origins.jsonl`, beside the records.

The texts are no part of a run. Paths differ from machine to machine, so nothing here is repeatable or compared; a
digest of the messages tells whether a file still holds what was run.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import msgspec

from compactlab import readers
from compactlab.errors import CompactlabError
from compactlab.records import decoded, encode
from compactlab.transcript import Transcript

FILE = "origins.jsonl"


class Origin(msgspec.Struct, frozen=True):
    """A session, the absolute path of a file that holds it, and the digest of its messages."""

    session: str
    path: str
    digest: str


class Found(NamedTuple):
    """The transcripts of a run by session, and for each that was not found, why."""

    transcripts: dict[str, Transcript]
    missing: dict[str, str]


def digest(transcript: Transcript) -> str:
    """Digest of what was said, whatever is pinned and wherever the file lies.

    >>> digest(Transcript("a", "pi", ())) == digest(Transcript("b", "codex", (), path="elsewhere.jsonl"))
    True
    """
    said = [(m.role, m.blocks, m.source, m.synthetic) for m in transcript.messages]
    whole = repr((said, transcript.compactions)).encode("utf-8", "surrogatepass")
    return hashlib.sha256(whole).hexdigest()[:24]


def save(folder: Path, origins: Iterable[Origin]) -> None:
    """Write where the sessions of the run in *folder* were read."""
    with (folder / FILE).open("wb") as file:
        file.writelines(map(encode, origins))


def load(folder: Path, paths: Iterable[str | Path] = ()) -> Found:
    """Read the transcripts of the run in *folder* again: from *paths*, or where they were read.

    One that is gone, cannot be read or says something else now is missing. `TranscriptError` if nothing can be read at
    one of *paths*.
    """
    file = folder / FILE
    rows = [decoded(line, Origin) for line in file.read_bytes().splitlines()] if file.exists() else []
    given = {digest(transcript): transcript for path in paths for transcript in readers.read(path)}
    found: dict[str, Transcript] = {}
    missing: dict[str, str] = {}
    for row in rows:
        held = given or {digest(transcript): transcript for transcript in _held(row.path)}
        if row.digest in held:
            found[row.session] = msgspec.structs.replace(held[row.digest], id=row.session)
        else:
            missing[row.session] = "it is not among the given files" if given else _why(row.path, held)
    return Found(found, missing)


def _held(path: str) -> Iterator[Transcript]:
    """The transcripts of a file; none if there is no such file or it cannot be read."""
    if path and Path(path).exists():
        try:
            yield from readers.read(path)
        except CompactlabError:
            return


def _why(path: str, held: dict[str, Transcript]) -> str:
    if not path:
        return "it was not read from a file"
    return "its file says something else now" if held else "its file is not where it was read"
