"""Where originals rest: lines of messages that a pass dropped or edited, byte for byte, in files of JSON lines.

`journal/originals/ID.jsonl` goes into git; a line with a secret stands there redacted. `journal/local/` stays on this
machine: the whole of such lines (`ID.secrets.jsonl`), with `originals = "local"` all others too (`ID.jsonl`), and the
key of their digests. Each folder has a `.gitignore` of its own, so that no command of git shows its files, sweeps them
away or stages them by the way, and `.gitattributes` that keep their bytes as they are in every clone.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from pathlib import Path

from compactlab.errors import TranscriptError
from compactlab.memory.digests import KEYED, Digests
from compactlab.memory.disk import sync_folder, write_whole
from compactlab.memory.entry import FOLDER as ENTRIES
from compactlab.memory.entry import Entry, Rests, Row
from compactlab.memory.git import JournalError
from compactlab.memory.lines import read_back
from compactlab.memory.repository import Repository, opened
from compactlab.readers import Line, read_json
from compactlab.transcript import Message

FOLDER = "journal/originals"
LOCAL = "journal/local"
_KEY = f"{LOCAL}/key"
_PLAIN = {".gitignore": b"*\n", ".gitattributes": b"* -text -filter -ident !working-tree-encoding\n"}
_FILES: dict[Rests, str] = {
    "git": f"{FOLDER}/{{}}.jsonl",
    "git, redacted": f"{LOCAL}/{{}}.secrets.jsonl",
    "local": f"{LOCAL}/{{}}.jsonl",
    "local, secret": f"{LOCAL}/{{}}.secrets.jsonl",
}


def originals_of(identity: str) -> str:
    """Where the originals of an entry lie that go into git.

    >>> originals_of("2026-11-30T10-00-00Z-5b1e77d0c4aa")
    'journal/originals/2026-11-30T10-00-00Z-5b1e77d0c4aa.jsonl'
    """
    return _FILES["git"].format(identity)


@dataclass(frozen=True)
class Laid:
    """Originals laid out in files: *lines* as they are, *veiled* without their secrets, both by identity."""

    stored: Sequence[Row]
    lines: Mapping[str, bytes]
    veiled: Mapping[str, bytes]

    def files(self, identity: str) -> dict[str, bytes]:
        """Give the whole content of each file of an entry, by path."""
        found: dict[str, bytes] = {}
        for row in self.stored:
            path = _FILES[row.rests].format(identity)
            found[path] = found.get(path, b"") + self.lines[row.id] + b"\n"
        return found | ({originals_of(identity): self.in_git} if self.in_git else {})

    @cached_property
    def in_git(self) -> bytes:
        """The content of the file that goes into git; empty if none does."""
        rows = (row for row in self.stored if row.rests in {"git", "git, redacted"})
        return b"".join((self.lines if row.rests == "git" else self.veiled)[row.id] + b"\n" for row in rows)


@dataclass(frozen=True)
class Store:
    """The journal's files in a memory repository."""

    folder: Path

    @cached_property
    def digests(self) -> Digests:
        """Digests under the key of this repository, as far as it is here."""
        try:
            return Digests((self.folder / _KEY).read_bytes())
        except OSError:
            return Digests()

    def prepare(self) -> list[str]:
        """Make the folders and what keeps git from changing their content; give the paths that belong into a commit."""
        for folder in (ENTRIES, FOLDER, LOCAL):
            place = self.folder / folder
            place.mkdir(parents=True, exist_ok=True)
            for name, content in _PLAIN.items():
                if not (place / name).is_file() or (place / name).read_bytes() != content:
                    self._put(f"{folder}/{name}", content)
        if not (self.folder / _KEY).exists():
            (self.folder / LOCAL).chmod(0o700)
            self._put(_KEY, secrets.token_bytes(32))
        return [f"{folder}/{name}" for folder in (ENTRIES, FOLDER) for name in _PLAIN]

    def write(self, files: Mapping[str, bytes]) -> list[str]:
        """Write files, in order, and have them on the disk; none of them if one cannot be written.

        Give the paths of those that were not there yet. A file that is there is never written over.
        """
        fresh: list[str] = []
        try:
            for path, content in files.items():
                if not self._lies(path, content):
                    fresh.append(path)
                    self._put(path, content)
        except OSError:
            self.remove(fresh)
            raise
        return fresh

    def remove(self, paths: Iterable[str]) -> None:
        """Take the files of an entry away that does not stand."""
        for path in paths:
            with suppress(OSError):
                (self.folder / path).unlink()

    def _lies(self, path: str, content: bytes) -> bool:
        """Whether a file is there; `JournalError` if it has another content."""
        place = self.folder / path
        if not place.exists():
            return False
        if place.read_bytes() != content:
            raise JournalError(f"{place}: is there already, and is another one")
        return True

    def secret_messages(self) -> Iterator[Message]:
        """Give the messages with secrets that earlier passes put aside."""
        for path in sorted((self.folder / LOCAL).glob("*.secrets.jsonl")):
            yield from (message for _, message in _messages(path.read_bytes()))

    def _put(self, path: str, content: bytes) -> None:
        place = self.folder / path
        with place.open("wb", buffering=0) as file:
            if path.startswith(LOCAL):
                place.chmod(0o600)
            write_whole(file, content)
        sync_folder(place.parent)

    @cached_property
    def _committed(self) -> tuple[Repository, dict[str, str]] | None:
        """The repository, and the journal's files in it; None where there is none, or no git."""
        try:
            repository = opened(self.folder)
            return repository, repository.names("journal")
        except JournalError:
            return None

    def copies(self, path: str) -> Iterator[bytes]:
        """Give the content of a file of the journal as it lies in the folder, then as it was committed."""
        with suppress(OSError):
            yield (self.folder / path).read_bytes()
        if path.startswith(LOCAL) or self._committed is None:
            return
        repository, names = self._committed
        if path in names:
            yield repository.content(names[path])

    def entries(self) -> list[str]:
        """Give the ids of all entries that lie in the folder or were committed, by time."""
        names = [path.name for path in (self.folder / ENTRIES).glob("*.md")]
        if self._committed is not None:
            names += [path.rpartition("/")[2] for path in self._committed[1] if path.startswith(f"{ENTRIES}/")]
        return sorted({name.removesuffix(".md") for name in names if name.endswith(".md")})

    def lines(self, entry: Entry) -> Iterator[tuple[Row, bytes]]:
        """Give the originals of an entry that are here as they were, by their digests."""
        for path in dict.fromkeys(_FILES[row.rests].format(entry.id) for row in entry.stored):
            wanted = [row for row in entry.stored if _FILES[row.rests].format(entry.id) == path]
            for copy in self.copies(path):
                lines = copy.split(b"\n")[:-1]
                found = dict(self._matched(wanted, lines))
                yield from found.items()
                wanted = [row for row in wanted if row not in found]
                if not wanted:
                    break

    def _matched(self, rows: Sequence[Row], lines: Sequence[bytes]) -> Iterator[tuple[Row, bytes]]:
        has_keyed = any(row.digest.startswith(KEYED) for row in rows)
        found = {self.digests.of(line, is_secret=kind): line for kind in {False, has_keyed} for line in lines}
        yield from ((row, found[row.digest]) for row in rows if row.digest in found)

    def redacted(self, entry: Entry) -> dict[str, bytes]:
        """Give the redacted lines of an entry, by identity: all that a clone has of them."""
        wanted = {row.id for row in entry.stored if row.rests == "git, redacted"}
        if not wanted:
            return {}
        for copy in self.copies(originals_of(entry.id)):
            if sha256(copy).hexdigest() == entry.head["originals_sha256"]:
                return {name: line for line in copy.split(b"\n")[:-1] if (name := _identity(line)) in wanted}
        return {}


def _identity(line: bytes) -> str:
    try:
        record = read_json(line)
    except TranscriptError:
        return ""
    return str(record.get("id", "")) if isinstance(record, dict) else ""


def _messages(data: bytes) -> Iterator[tuple[bytes, Message]]:
    for number, line in enumerate(data.split(b"\n")[:-1]):
        try:
            yield line, read_back(Line(number, read_json(line), line), 0, "").message
        except TranscriptError:
            continue
