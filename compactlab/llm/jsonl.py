"""A file of JSON lines that several processes append to, each key once: a line is there whole or not at all."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Generic, TypeVar

import msgspec

from compactlab.errors import TranscriptError
from compactlab.llm.locks import locked

Line = TypeVar("Line", bound=msgspec.Struct)


def first_counts(_new: object, _old: object) -> bool:
    """False: of two lines with one key the earlier counts."""
    return False


class Lines(Generic[Line]):
    """The lines of *path*, known by the *key* of each; of two with one key the later counts if *replaces* says so.

    A cut-off last line is no line; any other that is not a *kind* is a `TranscriptError` with its number.
    """

    def __init__(
        self,
        path: Path,
        kind: type[Line],
        key: Callable[[Line], str],
        replaces: Callable[[Line, Line], bool] = first_counts,
    ) -> None:
        self.path = path
        self._kind, self._key, self._replaces = kind, key, replaces
        self._mutex = threading.RLock()
        self._forget()
        self._refresh()

    def get(self, key: str) -> Line | None:
        """The line of a key, also one that another process has just written."""
        with self._mutex:
            if key not in self._found:
                self._refresh()
            return self._found.get(key)

    def values(self) -> tuple[Line, ...]:
        """All lines, each key once, as they stand now."""
        with self._mutex:
            self._refresh()
            return tuple(self._found.values())

    def add(self, line: Line, raw: bytes | None = None) -> Line:
        """Append a line, as *raw* if that says more, unless its key is there; give the line that stands."""
        key = self._key(line)
        with self._mutex, self._held() as file:
            self._refresh()
            old = self._found.get(key)
            if old is not None and not self._replaces(line, old):
                return old
            file.truncate(self._end)  # what a writer that was killed left of a line
            write_all(file, raw if raw is not None else encode(line))
            self._refresh()
        return line

    def keep(self, wanted: Callable[[Line], bool], order: Callable[[Line], Any] | None = None) -> int:
        """Write the file anew with the lines that are wanted, each key once, sorted by *order*; give how many."""
        with self._mutex, self._held():
            self._refresh()
            raw = self._raw_lines()
            kept = [(line, raw[key]) for key, line in self._found.items() if wanted(line)]
            if order is not None:
                kept.sort(key=lambda pair: order(pair[0]))
            self._replace(b"".join(text for _, text in kept))
        return len(kept)

    def _raw_lines(self) -> dict[str, bytes]:
        """The bytes of the line that counts, by key."""
        raw: dict[str, bytes] = {}
        for bare in self.path.read_bytes()[: self._end].split(b"\n")[:-1]:
            text = bare + b"\n"
            line = decoded(text, self._kind)
            if line == self._found[key := self._key(line)]:
                raw.setdefault(key, text)
        return raw

    def _replace(self, content: bytes) -> None:
        if content == self.path.read_bytes():
            return
        fresh = self.path.with_name(f".{self.path.name}.{os.getpid()}")
        fresh.write_bytes(content)
        fresh.replace(self.path)
        self._forget()

    @contextmanager
    def _held(self) -> Iterator[IO[bytes]]:
        """Hold the file against other processes; one that was written anew meanwhile is opened again."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        while True:
            with locked(self.path) as file:
                if self.path.exists() and os.path.samestat(os.fstat(file.fileno()), self.path.stat()):
                    yield file
                    return

    def _forget(self) -> None:
        self._found: dict[str, Line] = {}
        self._end = self._number = self._inode = 0

    def _refresh(self) -> None:
        """Read what was appended since the last look; all of it where the file was written anew."""
        try:
            file = self.path.open("rb")
        except FileNotFoundError:
            self._forget()
            return
        with file:
            status = os.fstat(file.fileno())
            if status.st_ino != self._inode or status.st_size < self._end:
                self._forget()
                self._inode = status.st_ino
            file.seek(self._end)
            for text in file:
                if not text.endswith(b"\n"):
                    break
                self._take(text)

    def _take(self, text: bytes) -> None:
        try:
            line = decoded(text, self._kind)
        except ValueError as error:
            raise TranscriptError(f"{self.path}: line {self._number + 1} cannot be read ({error})") from error
        key = self._key(line)
        if key not in self._found or self._replaces(line, self._found[key]):
            self._found[key] = line
        self._end += len(text)
        self._number += 1

    def __getstate__(self) -> dict[str, Any]:
        """Another process reads the file itself."""
        return {"path": self.path, "_kind": self._kind, "_key": self._key, "_replaces": self._replaces}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, _mutex=threading.RLock())
        self._forget()


def write_all(file: IO[bytes], content: bytes) -> None:
    """Write to an unbuffered file, which may take less than it is given."""
    while content:
        content = content[file.write(content) :]


def encode(value: object) -> bytes:
    """One line of JSON; lone surrogates, which msgspec refuses, come out escaped."""
    try:
        return msgspec.json.encode(value) + b"\n"
    except UnicodeEncodeError:
        return json.dumps(msgspec.to_builtins(value), separators=(",", ":")).encode() + b"\n"


def decoded(text: bytes, kind: type[Line]) -> Line:
    """Read a line that `encode` wrote; `ValueError` for one that it did not."""
    try:
        return msgspec.json.decode(text, type=kind)
    except msgspec.MsgspecError:
        return msgspec.convert(json.loads(text), kind)


def documents(path: Path) -> Iterable[tuple[int, Any]]:
    """The JSON values of a file of lines, with the number of each; `TranscriptError` for a line that is none."""
    for number, text in enumerate(path.read_bytes().removeprefix(b"\xef\xbb\xbf").split(b"\n"), 1):
        if text.strip():
            try:
                yield number, json.loads(text)
            except ValueError as error:
                raise TranscriptError(f"{path}: line {number} is not JSON ({error})") from error
