"""Bytes on the disk: written whole, flushed, and found again where a path still leads to them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import IO


def write_whole(file: IO[bytes], data: bytes) -> None:
    """Write in one go, and have it on the disk; the rest of a write that the system broke off follows it."""
    rest = memoryview(data)
    while rest:
        rest = rest[file.write(rest) :]
    os.fsync(file.fileno())


def sync_folder(folder: Path) -> None:
    """Have the names in a folder on the disk too, where the system knows how."""
    if os.name == "nt":
        return
    opened = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)


def leads_to(path: Path, file: IO[bytes]) -> bool:
    """Whether a path still leads to an open file, or another was put in its place."""
    try:
        return os.path.samestat(path.stat(), os.fstat(file.fileno()))
    except FileNotFoundError:
        return False


def reason(error: OSError) -> str:
    """What the system says of an error, in small letters."""
    return (error.strerror or str(error)).lower()
