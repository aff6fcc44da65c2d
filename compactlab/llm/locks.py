"""Locks that hold over threads and processes of one machine, and fall when their holder dies."""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from typing import IO

from compactlab.llm import ModelError

LONGEST_NAP_SECONDS = 0.1
_FAR = 1 << 40
"""Where the locked byte lies on Windows, whose locks keep others from reading what they cover."""


def try_lock(file: IO[bytes]) -> bool:
    """Lock an open file for its holder alone; False where another holds it."""
    try:
        if sys.platform == "win32":
            import msvcrt

            file.seek(_FAR)
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def unlock(file: IO[bytes]) -> None:
    """Give a lock back, also for a child process that has inherited the open file."""
    if sys.platform == "win32":
        import msvcrt

        file.seek(_FAR)
        msvcrt.locking(file.fileno(), msvcrt.LK_UNLCK, 1)
    else:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_UN)


@contextmanager
def locked(path: Path) -> Iterator[IO[bytes]]:
    """A file, made if it is not there, open to read and append, for one holder at a time."""
    with path.open("a+b", buffering=0) as file:
        nap = 0.001
        while not try_lock(file):
            time.sleep(nap)
            nap = min(LONGEST_NAP_SECONDS, 2 * nap)
        try:
            yield file
        finally:
            unlock(file)


@contextmanager
def slot(name: str, places: int) -> Iterator[None]:
    """One of the *places* that all processes of this user on this machine share under a name; waits for a free one.

    `ModelError` where the folder for temporary files cannot be used.
    """
    user = os.getuid() if sys.platform != "win32" else os.environ.get("USERNAME", "")
    folder = Path(tempfile.gettempdir()) / f"compactlab-{user}"
    try:
        folder.mkdir(exist_ok=True, mode=0o700)
        path, file = _free(folder, sha256(name.encode()).hexdigest()[:16], places)
    except OSError as error:
        raise ModelError(f"{folder}: cannot be used to wait for a turn ({error.strerror})") from error
    try:
        yield
    finally:
        with suppress(OSError):  # Windows keeps a file that is open
            path.unlink()
        unlock(file)
        file.close()


def _free(folder: Path, name: str, places: int) -> tuple[Path, IO[bytes]]:
    nap = 0.001
    while True:
        for number in range(places):
            path = folder / f"{name}.{number}"
            file = path.open("ab")
            if try_lock(file) and _is_there(path, file):
                return path, file
            file.close()
        time.sleep(nap)
        nap = min(LONGEST_NAP_SECONDS, 2 * nap)


def _is_there(path: Path, file: IO[bytes]) -> bool:
    """Whether a path still leads to an open file, which the holder before may have removed."""
    try:
        return os.path.samestat(path.stat(), os.fstat(file.fileno()))
    except FileNotFoundError:
        return False
