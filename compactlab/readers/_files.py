"""Files as readers see them: decompressed where they are compressed, each parsed at most once.

Writers of transcripts are killed while they write, pad with zero bytes, add a byte order mark, end lines as Windows
does, escape half a surrogate pair. All of that is read (`_lines`); what cannot be is reported with its line.
"""

from __future__ import annotations

import gzip
import io
import zlib
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import msgspec

from compactlab.errors import TranscriptError
from compactlab.readers import _archives
from compactlab.readers._lines import BOM, PADDING, Lines, read_json

if TYPE_CHECKING:
    from collections.abc import Iterator

HEAD_BYTES = 65_536
ZIP, SQLITE, PARQUET, ARROW = "a zip archive", "an SQLite database", "a parquet file", "an Arrow file"
_GZIP, _ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
_COMPRESSED = (".gz", ".zst", ".zstd")
_MAGIC = {
    b"PK\x03\x04": ZIP,
    b"PK\x05\x06": ZIP,
    b"SQLite format 3\0": SQLITE,
    b"PAR1": PARQUET,
    b"ARROW1": ARROW,
    b"%PDF": "a PDF",
    b"\xff\xfe": "UTF-16 text",
    b"\xfe\xff": "UTF-16 text",
}


@dataclass(frozen=True)
class Source:
    """One file, parsed at most once however many readers look at it; errors of the file system are `TranscriptError`.

    `used` are the files that readers opened beside it, because they belong to the same session.
    """

    path: Path
    used: list[Path] = field(default_factory=list, compare=False)

    def beside(self, path: Path) -> Source:
        """Another file that belongs to the same session; it is not read again when its folder is."""
        self.used.append(path)
        return Source(path, self.used)

    def sibling(self, name: str) -> Path | None:
        """The file of that name in the same folder; None if there is none, or the text cannot be a file's name."""
        if not name or "\0" in name or Path(name).name != name:
            return None
        try:
            path = self.path.parent / name
            return path if path.is_file() else None
        except OSError:
            return None

    @cached_property
    def stem(self) -> str:
        """Name of the file without its ending and without that of its compression.

        >>> Source(Path("runs/session-1.jsonl.gz")).stem
        'session-1'
        """
        path = Path(self.path.name)
        return Path(path.stem).stem if path.suffix in _COMPRESSED else path.stem

    @contextmanager
    def open(self) -> Iterator[IO[bytes]]:
        """Open the file, decompressed if it is gzip or zstd; what goes wrong in it is a `TranscriptError`."""
        try:
            with self.path.open("rb") as file:
                magic = file.read(4)
                file.seek(0)
                if magic.startswith(_GZIP):
                    yield from self._unpacked(gzip.GzipFile(fileobj=file), gzip.BadGzipFile)
                elif magic == _ZSTD:
                    import zstandard

                    unpacked = zstandard.ZstdDecompressor().stream_reader(file, read_across_frames=True)
                    yield from self._unpacked(io.BufferedReader(unpacked), zstandard.ZstdError)
                else:
                    yield file
        except OSError as error:
            raise unreadable(self.path, error) from error

    def _unpacked(self, file: Any, malformed: type[Exception]) -> Iterator[IO[bytes]]:  # noqa: ANN401  # what libraries call a file
        try:
            yield file
        except (EOFError, zlib.error, malformed) as error:
            raise TranscriptError(f"{self.path}: compressed data that breaks off or is malformed ({error})") from error

    @cached_property
    def head(self) -> bytes:
        """The first 65,536 bytes, less if the file is shorter, without a byte order mark."""
        with self.open() as file:
            return file.read(HEAD_BYTES).removeprefix(BOM)

    @property
    def data(self) -> bytes:
        """The whole file without a byte order mark; read anew each time, so that nobody holds it by chance."""
        if self._is_short:
            return self.head
        with self.open() as file:
            return file.read().removeprefix(BOM)

    def lines(self) -> Lines:
        """The file as JSON lines, read one by one; what was read past is known when they are at their end."""
        return Lines(self._pieces())

    def _pieces(self) -> Iterator[bytes]:
        with self.open() as file:
            yield from file

    @cached_property
    def binary(self) -> str:
        """What kind of binary file this is; empty for text."""
        for magic, kind in _MAGIC.items():
            if self.head.startswith(magic):
                return kind
        return "binary data" if b"\0" in self.head[:1024] and not self._is_json else ""

    @cached_property
    def document(self) -> dict[str, Any] | list[Any] | None:
        """The file as one JSON object or array; None if it is no such thing, as where several lines are one each."""
        if self.binary or not self._is_json or self._is_lines:
            return None
        try:
            value = read_json(self.data.strip(PADDING))
        except TranscriptError:
            return None
        return value if isinstance(value, dict | list) else None

    @cached_property
    def values(self) -> tuple[Any, ...]:
        """The objects and arrays that the file starts with: the document, or, of JSON lines, those within the head."""
        if self.binary or not self._is_json:
            return ()
        if self.document is not None:
            return (self.document,)
        whole = self.head if self._is_short else self.head.rpartition(b"\n")[0]
        if whole:
            return tuple(line.value for line in Lines(whole.split(b"\n")))
        first = next(iter(self.lines()), None)
        return () if first is None else (first.value,)

    @property
    def first(self) -> dict[str, Any]:
        """The first of `values`, if it is an object; else an empty one."""
        first = self.values[0] if self.values else None
        return first if isinstance(first, dict) else {}

    @property
    def _is_json(self) -> bool:
        return self.head.lstrip(PADDING)[:1] in {b"{", b"["}

    @property
    def _is_short(self) -> bool:
        return len(self.head) < HEAD_BYTES - len(BOM)

    @cached_property
    def _is_lines(self) -> bool:
        """Whether the first line is a value of its own, or the broken start of one, and another record follows it."""
        first, _, rest = self.head.lstrip(PADDING).partition(b"\n")
        if not rest and not self._is_short:
            with self.open() as file:
                first, rest = file.readline().removeprefix(BOM), file.read(1024)
        first, rest = first.strip(PADDING), rest.strip(PADDING)
        if not rest:
            return False
        try:
            return isinstance(msgspec.json.decode(first), dict | list)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return first[:2] == rest[:2] == b'{"'

    @cached_property
    def tables(self) -> dict[str, frozenset[str]]:
        """Names of the columns of each table of an SQLite database; empty for any other file."""
        return _archives.tables(self.path) if self.binary == SQLITE else {}

    @cached_property
    def members(self) -> tuple[str, ...]:
        """Names of the members of a zip archive; empty for any other file."""
        return _archives.members(self.path) if self.binary == ZIP else ()


def unreadable(path: Path, error: OSError) -> TranscriptError:
    """Word the error for a file that the system does not give us."""
    if isinstance(error, FileNotFoundError):
        return TranscriptError(f"{path}: no such file or folder")
    return TranscriptError(f"{path}: cannot be read ({(error.strerror or str(error)).lower()})")


def looks_like(source: Source) -> str:
    """Say in a few words what a file is that no reader knows."""
    if not source.head.strip(PADDING):
        return "an empty file"
    if source.binary:
        return source.binary
    if not source.values:
        is_json = source.head.lstrip(PADDING)[:1] in {b"{", b"["}
        return "JSON that breaks off or is malformed" if is_json else "text, not JSON"
    kind = "JSON lines" if source.document is None else "JSON"
    if isinstance(source.values[0], dict):
        shown = ", ".join(repr(key) for key in list(source.first)[:6]) or "no keys"
        return f"{kind} without messages of a known form (its first object has {shown})"
    return f"{kind} without messages of a known form"
