"""One living conversation on disk: JSON lines that are appended to, and replaced as a whole by a pass.

The file is a session of compactlab's own format (docs/format.md): a header with the key `memory`, then messages, each
with its identity. Lines of other types say what happened (`warning`, `rearmed`, `ignored`, `unfinished`).

- An append is one write of whole lines under a lock, flushed to the disk. What a killed writer left of a line is put
  aside, in a line of its own, before the next append.
- A pass writes the new list beside the old one and renames it over it: whoever reads finds the one or the other. The
  lock is on the file itself; who waited for it and got that of a list that is no longer there opens the new one.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any, NamedTuple

from compactlab.errors import TranscriptError
from compactlab.llm.locks import locked
from compactlab.memory.disk import leads_to, reason, sync_folder, write_whole
from compactlab.memory.lines import note, read_back
from compactlab.memory.parts import Kept
from compactlab.readers import Line, read_json
from compactlab.shapes.parts import json_text

VERSION = 1


class Note(NamedTuple):
    """A line that is no message: what it says (empty if it cannot be read), and its bytes."""

    record: dict[str, Any]
    line: bytes

    @property
    def kind(self) -> str:
        """The type of the line."""
        return str(self.record.get("type", ""))


class Standing(NamedTuple):
    """A conversation as it stood at one moment: header, messages, other lines, bytes of a line that has no end."""

    header: dict[str, Any]
    kept: tuple[Kept, ...]
    notes: tuple[Note, ...]
    unfinished: bytes = b""

    @property
    def memory(self) -> dict[str, Any]:
        """What the header says of passes."""
        memory: dict[str, Any] = self.header.get("memory", {})
        return memory

    @property
    def generation(self) -> int:
        """How often the list was replaced."""
        return int(self.memory.get("generation", 0))

    @property
    def entry(self) -> str:
        """The id of the journal's entry on the last pass; empty if there was none."""
        return str(self.memory.get("entry", ""))

    @property
    def agent_type(self) -> str:
        """The type of the agent whose conversation it is."""
        return str(self.header.get("agent_type", "primary"))


@dataclass
class _Read:
    """What was read of a file up to `end`, which is the end of a line."""

    first: bytes = b""
    inode: tuple[int, int] = (0, 0)
    end: int = 0
    lines: int = 0
    header: dict[str, Any] = field(default_factory=dict)
    kept: list[Kept] = field(default_factory=list)
    ids: set[str] = field(default_factory=set)
    notes: list[Note] = field(default_factory=list)

    def goes_on(self, file: IO[bytes], inode: tuple[int, int]) -> bool:
        """Whether a file is the one that was read, longer at the most."""
        file.seek(0)
        return bool(self.first) and inode == self.inode and file.read(len(self.first)) == self.first

    def take(self, raw: bytes, path: Path) -> None:
        """Take one more line, without its newline."""
        where = f"{path}: line {self.lines + 1}"
        try:
            value = read_json(raw)
        except TranscriptError:
            value = {}
        record = value if isinstance(value, dict) else {}
        if not self.first:
            self.header = _header(record, where)
            self.first = raw + b"\n"
        elif record.get("type") == "message":
            self._add(read_back(Line(self.lines + 1, record, raw), len(self.kept), where), where)
        else:
            self.notes.append(Note(record, raw))
        self.lines += 1
        self.end += len(raw) + 1

    def _add(self, one: Kept, where: str) -> None:
        if one.id in self.ids:
            raise TranscriptError(f"{where} has the id {one.id!r} of an earlier message")
        self.ids.add(one.id)
        self.kept.append(one)


@dataclass
class Conversation:
    """The conversation in the file *path*; remembers what it has read, so that only what is new is read again."""

    path: Path
    _known: _Read = field(default_factory=_Read, repr=False)
    _turn: threading.RLock = field(default_factory=threading.RLock, repr=False)

    def read(self) -> Standing:
        """Give the conversation as it stands, without waiting for anybody; `TranscriptError` if it cannot be read."""
        try:
            with self._turn, self.path.open("rb") as file:
                return self.read_from(file)
        except OSError as error:
            raise TranscriptError(f"{self.path}: cannot be read ({reason(error)})") from error

    @contextmanager
    def held(self) -> Iterator[Held]:
        """The conversation for one holder at a time; the file is made if it is not there, and is then empty."""
        while True:
            with self._turn, locked(self.path) as file:
                if leads_to(self.path, file):
                    yield Held(self, file)
                    return

    def read_from(self, file: IO[bytes]) -> Standing:
        """Read an open file of the conversation, from where the last reading ended if it is the same one."""
        found = os.fstat(file.fileno())
        inode = (found.st_dev, found.st_ino)
        if found.st_size < self._known.end or not self._known.goes_on(file, inode):
            self._known = _Read(inode=inode)
        file.seek(self._known.end)
        *lines, unfinished = file.read().split(b"\n")
        for line in lines:
            self._known.take(line, self.path)
        return Standing(self._known.header, tuple(self._known.kept), tuple(self._known.notes), unfinished)


@dataclass(frozen=True)
class Held:
    """A conversation that nobody else may change meanwhile."""

    conversation: Conversation
    file: IO[bytes]

    def read(self) -> Standing:
        """Give the conversation as it stands; an empty header if there is none yet."""
        return self.conversation.read_from(self.file)

    def append(self, lines: Sequence[bytes]) -> int:
        """Write lines at the end, all or none; give how many bytes of an unfinished line were found before them.

        `TranscriptError` if the disk takes no more: the file is then as it was.
        """
        standing = self.read()
        cut = standing.unfinished
        end = os.fstat(self.file.fileno()).st_size
        start = b""
        if _is_whole(standing):
            start = b"\n"
        elif cut:
            end -= len(cut)
            os.ftruncate(self.file.fileno(), end)
            lines = [*_aside(standing), *lines]
        self._write(start + b"".join(line + b"\n" for line in lines), end)
        return len(cut)

    def _write(self, data: bytes, end: int) -> None:
        path = self.conversation.path
        try:
            write_whole(self.file, data)
            if not end:
                sync_folder(path.parent)
        except OSError as error:
            with suppress(OSError):
                os.ftruncate(self.file.fileno(), end)
                if not end:
                    path.unlink()
            raise TranscriptError(f"{path}: nothing was appended ({reason(error)})") from error

    def replace(self, standing: Standing) -> None:
        """Put another list in the place of the one that stands, at one stroke; the lock is still held after it.

        `TranscriptError` if the disk takes no more: the old list then stands as it was.
        """
        path = Path(os.path.realpath(self.conversation.path))
        for left in path.parent.glob(f".{path.name}.*.new"):  # of a holder that was killed
            left.unlink(missing_ok=True)
        fresh = path.with_name(f".{path.name}.{os.getpid()}.new")
        header = json_text(standing.header).encode()
        lines = (header, *(said.line for said in standing.notes), *(one.line for one in standing.kept))
        try:
            with fresh.open("xb", buffering=0) as file:
                fresh.chmod(os.fstat(self.file.fileno()).st_mode & 0o777)
                write_whole(file, b"".join(line + b"\n" for line in lines))
            fresh.replace(path)
            sync_folder(path.parent)
        except OSError as error:
            fresh.unlink(missing_ok=True)
            raise TranscriptError(f"{path}: the list stays as it was ({reason(error)})") from error


def now() -> str:
    """The time, UTC, to the second.

    >>> len(now()), now()[-1]
    (20, 'Z')
    """
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _header(record: dict[str, Any], where: str) -> dict[str, Any]:
    memory = record.get("memory")
    if record.get("type") != "session" or not isinstance(memory, dict):
        raise TranscriptError(
            f"{where} begins no living conversation; `compactlab memory append --file FILE` makes one of a transcript"
        )
    if memory.get("version") != VERSION:
        raise TranscriptError(f"{where} has memory version {memory.get('version')!r}; expected {VERSION}")
    return record


def _is_whole(standing: Standing) -> bool:
    """Whether the last line is a message that lacks nothing but its end."""
    raw = standing.unfinished
    try:
        record = read_json(raw) if standing.header and raw else None
        return (
            isinstance(record, dict)
            and record.get("type") == "message"
            and bool(read_back(Line(0, record, raw), 0, ""))
        )
    except TranscriptError:
        return False


def _aside(standing: Standing) -> list[bytes]:
    """What a killed writer left, as a line that says so; nothing where there is no header yet."""
    cut = standing.unfinished
    text = cut.decode("utf-8", "replace")
    return [note("unfinished", time=now(), bytes=len(cut), text=text)] if standing.header else []
