"""Files that hold other files or tables: zip archives, also with zstd members, and SQLite databases."""

from __future__ import annotations

import sqlite3
import struct
import zipfile
import zlib
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from compactlab.errors import TranscriptError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

ZSTD = 93
_LOCAL_HEADER = struct.Struct("<4s5H3I2H")
_BROKEN = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, OSError, ValueError)


def members(path: Path) -> tuple[str, ...]:
    """Names of the members of a zip archive, in its order; `TranscriptError` if it is broken."""
    try:
        with zipfile.ZipFile(path) as archive:
            return tuple(archive.namelist())
    except _BROKEN as error:
        raise TranscriptError(f"{path}: a zip archive that cannot be read ({error})") from error


def read_members(path: Path, names: Sequence[str]) -> Iterator[tuple[str, bytes]]:
    """Give the bytes of members, one after the other; `TranscriptError`, with the member, if one is broken."""
    name = ""
    try:
        with zipfile.ZipFile(path) as archive:
            for name in names:
                yield name, _member(archive, archive.getinfo(name))
    except (*_BROKEN, KeyError, struct.error) as error:
        raise TranscriptError(f"{path}: member {name} cannot be read ({error})") from error


def _member(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> bytes:
    """Read one member, also of the method that the standard library does not know before Python 3.14."""
    if info.compress_type != ZSTD:
        return archive.read(info)
    import zstandard

    file = archive.fp
    if file is None:
        raise zipfile.BadZipFile("the archive is closed")
    file.seek(info.header_offset)
    header = _LOCAL_HEADER.unpack(file.read(_LOCAL_HEADER.size))
    file.seek(header[9] + header[10], 1)
    packed = file.read(info.compress_size)
    try:
        data = zstandard.ZstdDecompressor().decompressobj().decompress(packed)
    except zstandard.ZstdError as error:
        raise zipfile.BadZipFile(str(error)) from error
    if zlib.crc32(data) != info.CRC:
        raise zipfile.BadZipFile(f"bad CRC-32 of {info.filename}")
    return data


@contextmanager
def database(path: Path) -> Iterator[sqlite3.Connection]:
    """Open an SQLite database for reading alone, also one in use; `TranscriptError` if it cannot be read."""
    try:
        connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)
    except sqlite3.Error as error:
        raise TranscriptError(f"{path}: an SQLite database that cannot be opened ({error})") from error
    try:
        connection.row_factory = sqlite3.Row
        connection.text_factory = _text
        yield connection
    except (sqlite3.Error, OverflowError, UnicodeDecodeError) as error:
        raise TranscriptError(f"{path}: an SQLite database that cannot be read ({error})") from error
    finally:
        connection.close()


def _text(raw: bytes) -> str:
    return raw.decode(errors="replace")


def tables(path: Path) -> dict[str, frozenset[str]]:
    """Names of the columns of each table of an SQLite database; versions differ, so look before you ask."""
    with database(path) as connection:
        names = [row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        return {name: frozenset(columns(connection, name)) for name in names}


def columns(connection: sqlite3.Connection, table: str) -> list[str]:
    """Names of the columns of a table, in their order."""
    quoted = table.replace('"', '""')
    return [row["name"] for row in connection.execute(f'PRAGMA table_info("{quoted}")')]


def rows(connection: sqlite3.Connection, query: str, values: Sequence[Any] = ()) -> Iterator[dict[str, Any]]:
    """Rows of a query as dicts by column."""
    for row in connection.execute(query, tuple(values)):
        yield dict(row)
