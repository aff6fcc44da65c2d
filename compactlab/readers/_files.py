"""Files as readers see them: JSON that breaks the rules a little, lines that are split on line feeds alone.

Writers of transcripts are killed while they write, pad with zero bytes, add a byte order mark, end lines as Windows
does, and escape half a surrogate pair. All of that is read; what cannot be is reported with its line.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from compactlab.errors import TranscriptError

if TYPE_CHECKING:
    from pathlib import Path

HEAD_BYTES = 65_536
_BOM = b"\xef\xbb\xbf"
_PADDING = b"\0 \t\r\n"
_MAGIC = {
    b"PK\x03\x04": "a zip archive",
    b"SQLite format 3\0": "an SQLite database",
    b"\x1f\x8b": "gzip data",
    b"\x28\xb5\x2f\xfd": "zstd data",
    b"PAR1": "a parquet file",
    b"%PDF": "a PDF",
    b"\xff\xfe": "UTF-16 text",
    b"\xfe\xff": "UTF-16 text",
}


class Line(NamedTuple):
    """One JSON value of a file of JSON lines: its number (from 1), the value, and its bytes."""

    number: int
    value: Any
    raw: bytes


class Lines(NamedTuple):
    """What a file of JSON lines holds, what was left out quietly, and the faults that were read past."""

    lines: tuple[Line, ...]
    skipped: dict[str, int]
    problems: tuple[str, ...]


def read_json(raw: bytes) -> Any:  # noqa: ANN401  # JSON is any value
    r"""Read one JSON value, also with lone surrogates and NaN, which msgspec refuses; `TranscriptError` if it is none.

    >>> read_json(b'{"half": "\\ud83d"}')
    {'half': '\ud83d'}
    """
    try:
        return msgspec.json.decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        pass
    try:
        return json.loads(raw)
    except (ValueError, RecursionError) as error:
        raise TranscriptError(f"not JSON ({_reason(error)})") from error


def _reason(error: Exception) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"{error.msg} at character {error.pos}"
    return "bytes that are no UTF-8" if isinstance(error, UnicodeDecodeError) else "nested too deep"


def read_lines(data: bytes) -> Lines:
    r"""Read JSON lines, split on line feeds alone; a bad last line is skipped, a bad line before it is a problem.

    >>> read_lines(b'{"a": 1}\r\noops\n{"a": 2}\n{"a"').problems
    ('line 2: not JSON (Expecting value at character 0)',)
    """
    read: list[Line] = []
    faults: list[tuple[int, str]] = []
    last = 0
    for number, line in enumerate(data.removeprefix(_BOM).split(b"\n"), 1):
        raw = line.strip(_PADDING)
        if not raw:
            continue
        last = number
        try:
            read.append(Line(number, read_json(raw), raw))
        except TranscriptError as error:
            faults.append((number, f"line {number}: {error}"))
    cut = [number for number, _ in faults if number == last]
    problems = tuple(text for number, text in faults if number != last)
    return Lines(tuple(read), {"last line cut off": 1} if cut else {}, problems)


@dataclass(frozen=True)
class Source:
    """One file, read at most once however many readers look at it; errors of the file system are `TranscriptError`."""

    path: Path

    @cached_property
    def data(self) -> bytes:
        """The whole file without a byte order mark."""
        try:
            return self.path.read_bytes().removeprefix(_BOM)
        except OSError as error:
            raise unreadable(self.path, error) from error

    @cached_property
    def lines(self) -> Lines:
        """The file as JSON lines."""
        return read_lines(self.data)

    @cached_property
    def document(self) -> dict[str, Any] | list[Any] | None:
        """The file as one JSON object or array; None if it is no such thing."""
        try:
            value = read_json(self.data.strip(_PADDING))
        except TranscriptError:
            return None
        return value if isinstance(value, dict | list) else None


@dataclass(frozen=True)
class Sample:
    """What a reader looks at to tell whether a file is its own: the first bytes, and the first values in them."""

    source: Source
    head: bytes

    @property
    def path(self) -> Path:
        return self.source.path

    @cached_property
    def binary(self) -> str:
        """What kind of binary file this is; empty for text."""
        for magic, kind in _MAGIC.items():
            if self.head.startswith(magic):
                return kind
        return "binary data" if b"\0" in self.head[:1024] and self._start not in {b"{", b"["} else ""

    @cached_property
    def values(self) -> tuple[Any, ...]:
        """The objects and arrays that the file starts with: of JSON lines those within the head, else the document."""
        if self.binary or self._start not in {b"{", b"["}:
            return ()
        first = self._lines[0].value if self._lines else None
        if isinstance(first, dict | list) and self._text.startswith(self._lines[0].raw):
            return tuple(line.value for line in self._lines)
        document = self.source.document
        return tuple(line.value for line in self._lines) if document is None else (document,)

    @cached_property
    def _text(self) -> bytes:
        return self.head.removeprefix(_BOM).lstrip(_PADDING)

    @property
    def _start(self) -> bytes:
        return self._text[:1]

    @cached_property
    def _lines(self) -> tuple[Line, ...]:
        """The lines that lie whole in the head, or the first line, if it is longer than the head."""
        text = self._text
        if len(self.head) >= HEAD_BYTES:
            text, newline, _ = text.rpartition(b"\n")
            if not newline:
                text = self.source.data.lstrip(_PADDING).partition(b"\n")[0]
        return read_lines(text).lines


def sample(path: Path) -> Sample:
    """Take a sample of a file; `TranscriptError` if it cannot be opened."""
    try:
        with path.open("rb") as file:
            return Sample(Source(path), file.read(HEAD_BYTES))
    except OSError as error:
        raise unreadable(path, error) from error


def unreadable(path: Path, error: OSError) -> TranscriptError:
    """Word the error for a file that the system does not give us."""
    if isinstance(error, FileNotFoundError):
        return TranscriptError(f"{path}: no such file or folder")
    return TranscriptError(f"{path}: cannot be read ({(error.strerror or str(error)).lower()})")


def looks_like(seen: Sample) -> str:
    """Say in a few words what a file is that no reader knows."""
    if not seen.head.removeprefix(_BOM).strip(_PADDING):
        return "an empty file"
    if seen.binary:
        return seen.binary
    if not seen.values:
        starts = seen.head.removeprefix(_BOM).lstrip(_PADDING)[:1]
        return "JSON that breaks off or is malformed" if starts in {b"{", b"["} else "text, not JSON"
    kind = "JSON lines" if seen.source.document is None else "JSON"
    first = seen.values[0]
    if isinstance(first, dict):
        shown = ", ".join(repr(key) for key in list(first)[:6]) or "no keys"
        return f"{kind} without messages of a known form (its first object has {shown})"
    return f"{kind} without messages of a known form"
