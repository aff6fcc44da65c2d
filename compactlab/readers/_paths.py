"""From a path to its transcripts: file, folder, pattern, standard input or data set; each session once, ids unique."""

from __future__ import annotations

import glob
import os
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from fnmatch import fnmatch
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, Protocol, TypeVar

from msgspec.structs import replace

from compactlab import catalog
from compactlab.errors import TranscriptError
from compactlab.readers._files import Source, looks_like, unreadable
from compactlab.readers._sessions import only_there

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from compactlab.transcript import Transcript

FLOOR = 0.3
PROBES = ".probes.jsonl"
DATA_SET = "hf:"


class Named(Protocol):
    """A transcript, or what is kept of one."""

    @property
    def id(self) -> str: ...
    @property
    def path(self) -> str: ...


Read = TypeVar("Read", bound=Named)


class Reading(NamedTuple, Generic[Read]):
    """What was read from a path, and, one line each, which files of a folder were not, and why."""

    transcripts: tuple[Read, ...]
    unread: tuple[str, ...]


class Wanted(NamedTuple):
    """How a path is to be read: by which reader (None: by content), as which agent type, how many transcripts.

    `progress` is told the path of each file before it is read.
    """

    format: str | None = None
    agent_type: str | Mapping[str, str] = ""
    limit: int | None = None
    progress: Callable[[str], None] | None = None


def collected(
    paths: Iterable[str | os.PathLike[str]], wanted: Wanted, keep: Callable[[Transcript], Read]
) -> list[Reading[Read]]:
    """What is kept of all transcripts of each path, with ids that are unique in it; `TranscriptError` if one has none.

    A file that another took up whole, such as a session that was resumed in another file, is not given twice.
    """
    walk = _Walk(wanted)
    found = [
        [(keep(read.transcript), read.file) for read in islice(walk.transcripts(str(path)), wanted.limit)]
        for path in paths
    ]
    return [
        Reading(_unique([kept for kept, file in part if walk.stands_alone(file)]), tuple(unread))
        for part, unread in zip(found, walk.unread, strict=True)
    ]


def streamed(path: str | os.PathLike[str], wanted: Wanted) -> Iterator[Transcript]:
    """The transcripts of a path, one after the other, with unique ids."""
    seen: Counter[str] = Counter()
    for transcript, _ in islice(_Walk(wanted).transcripts(str(path)), wanted.limit):
        yield _numbered(transcript if not seen[transcript.id] else _led(transcript), seen)


class _Read(NamedTuple):
    transcript: Transcript
    file: Path


class _Walk:
    """One reading of a path: what could not be read, and which files the sessions of which other files took up."""

    def __init__(self, wanted: Wanted) -> None:
        self.wanted = wanted
        self.unread: list[list[str]] = []
        self.taken_up: dict[Path, Path] = {}

    def stands_alone(self, file: Path) -> bool:
        return self.taken_up.get(file, file) == file

    def transcripts(self, path: str) -> Iterator[_Read]:
        self.unread.append([])
        if path.startswith(DATA_SET):
            from compactlab.readers import _hub

            rows = _hub.read(path.removeprefix(DATA_SET))
            yield from (_Read(_typed(transcript, self.wanted), Path(path)) for transcript in rows)
        elif path == "-":
            yield from self._standard_input()
        else:
            files = _files(path)
            yield from self._one(Path(path)) if files is None else self._several(path, files)

    def _one(self, file: Path) -> Iterator[_Read]:
        """The transcripts of one file, unless the session of another took it up."""
        if self.stands_alone(file):
            source = Source(file)
            yield from self._file(source)
            for used in source.used:
                self.taken_up.setdefault(used, file)

    def _several(self, path: str, files: Iterable[Path]) -> Iterator[_Read]:
        """The transcripts of several files; one that another file's session took up is not read again."""
        found = False
        for file in files:
            try:
                for read in self._one(file):
                    found = True
                    yield read
            except TranscriptError as error:
                self.unread[-1].append(str(error))
        if not found:
            unread = self.unread[-1]
            more = f", such as {unread[0]}" if unread else ""
            what = "folder" if Path(path).is_dir() else "pattern"
            raise TranscriptError(f"{path}: no transcript in this {what} ({len(unread)} files looked at{more})")

    def _standard_input(self) -> Iterator[_Read]:
        """Keep standard input in a file until it was read: some formats are no streams."""
        with tempfile.TemporaryDirectory(prefix="compactlab-") as folder:
            path = Path(folder, "stdin")
            with path.open("wb") as file:
                while piece := sys.stdin.buffer.read(1 << 20):
                    file.write(piece)
            try:
                for transcript, _ in self._file(Source(path)):
                    origins = tuple(replace(origin, path="-") for origin in transcript.origins)
                    yield _Read(replace(transcript, path="-", origins=origins), path)
            except TranscriptError as error:
                raise TranscriptError(str(error).replace(str(path), "-")) from error

    def _file(self, source: Source) -> Iterator[_Read]:
        """The transcripts of one file; every fault in it is an error that names it."""
        path = source.path
        if self.wanted.progress:
            self.wanted.progress(str(path))
        if path.exists() and not path.is_file():
            raise TranscriptError(f"{path}: expected a file or a folder")
        found = False
        with _faults_of(path):
            reader: Any = catalog.load("readers", self.wanted.format or recognised(source))
            for transcript in reader.read(source):
                if transcript.messages:
                    found = True
                    yield _Read(_typed(only_there(transcript), self.wanted), path)
                else:
                    self.unread[-1].append(f"{path}: session {transcript.id}: no messages in it")
        if not found:
            raise TranscriptError(f"{path}: no messages in it")


@contextmanager
def _faults_of(path: Path) -> Iterator[None]:
    """Make one line that names the file of whatever is wrong in it."""
    try:
        yield
    except RecursionError as error:
        raise TranscriptError(f"{path}: nested too deep") from error
    except OSError as error:
        raise unreadable(path, error) from error
    except TranscriptError as error:
        if str(error).startswith((str(path), path.name)):
            raise
        raise TranscriptError(f"{path}: {error}") from error


def _files(path: str) -> Iterator[Path] | None:
    """The files of a folder or a pattern, in the order of their paths; None for a path that is one file."""
    if Path(path).is_dir():
        return _walked(Path(path))
    if Path(path).exists() or not glob.has_magic(path):
        return None
    matches = sorted(Path(match) for match in glob.iglob(path, recursive=True))  # noqa: PTH207  # a pattern may be absolute
    return (file for match in matches for file in (_walked(match) if match.is_dir() else (match,)))


def _walked(folder: Path) -> Iterator[Path]:
    for where, folders, names in os.walk(folder, onerror=_refuse):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            if not name.startswith(".") and not name.endswith(PROBES):
                yield Path(where, name)


def _refuse(error: OSError) -> None:
    raise unreadable(Path(str(error.filename)), error)


def _typed(transcript: Transcript, wanted: Wanted) -> Transcript:
    """Give a transcript the agent type that was asked for: of all, or of the first pattern that its path matches."""
    if isinstance(wanted.agent_type, str):
        return replace(transcript, agent_type=wanted.agent_type) if wanted.agent_type else transcript
    path = transcript.path.replace(os.sep, "/")
    for pattern, agent_type in wanted.agent_type.items():
        if fnmatch(path, pattern) or fnmatch(path, f"*/{pattern}"):
            return replace(transcript, agent_type=agent_type)
    return transcript


def recognised(source: Source) -> str:
    """Name the reader that is surest of a file; `TranscriptError` if none is, or two are alike."""
    ranked = sorted(((_confidence(name, source), name) for name in catalog.names("readers")), reverse=True)
    best = [name for confidence, name in ranked if confidence == ranked[0][0] and confidence >= FLOOR]
    if len(best) == 1:
        return best[0]
    if best:
        both = " and ".join(sorted(best))
        raise TranscriptError(f"{source.path}: {both} are equally sure of this file; name the format")
    raise TranscriptError(f"{source.path}: no reader knows this file; it is {looks_like(source)}")


def _confidence(name: str, source: Source) -> float:
    reader: Any = catalog.load("readers", name)
    return float(reader.sniff(source)) if source.values or source.binary else 0.0


def _unique(transcripts: Sequence[Read]) -> tuple[Read, ...]:
    """Lead ids that several transcripts have by their file's name; number those that are still equal."""
    held = Counter(transcript.id for transcript in transcripts)
    seen: Counter[str] = Counter()
    return tuple(_numbered(t if held[t.id] == 1 else _led(t), seen) for t in transcripts)


def _led(transcript: Read) -> Read:
    return _renamed(transcript, f"{Source(Path(transcript.path)).stem}/{transcript.id}")


def _renamed(transcript: Read, name: str) -> Read:
    struct: Any = transcript
    named: Read = replace(struct, id=name)
    return named


def _numbered(transcript: Read, seen: Counter[str]) -> Read:
    """Give an id that was not *seen* yet, and remember it."""
    given, number = transcript.id, seen[transcript.id]
    name = given
    while seen[name]:
        number += 1
        name = f"{given}#{number}"
    seen[name] += 1
    if name == given:
        return transcript
    seen[given] = number
    return _renamed(transcript, name)
