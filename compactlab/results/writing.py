"""How a run is written: blocks in case order by one writer, flushed; what an earlier start left whole is kept."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from pathlib import Path
from typing import IO, NamedTuple

import msgspec

from compactlab.errors import RunError
from compactlab.records import Block, Key, Manifest, Record, decoded, encode


class _Place(NamedTuple):
    """Where something stands in a file, in bytes."""

    start: int
    end: int

    @property
    def size(self) -> int:
        return self.end - self.start

    def read(self, path: Path) -> bytes:
        if not self.size:
            return b""
        with path.open("rb") as file:
            file.seek(self.start)
            return file.read(self.size)


class Writer:
    """Writes the blocks of a run in case order, one writer, flushed; takes up what an earlier start left complete.

    Of what stands in its place already it holds the place only: its memory does not grow with the run that it goes on
    with.
    """

    def __init__(self, folder: Path, manifest: Manifest, made_by: Callable[[Key], str]) -> None:
        """Open or make *folder*; *made_by* gives the digest of the plug-ins behind a block.

        Raises `RunError` if the folder holds another run, or other files.
        """
        self.folder = folder
        _claim(folder, manifest)
        self._paths = (folder / "compactions.jsonl", folder / "records.jsonl")
        leavings = _lines_by_key(self._paths[0])
        blocks, self._in_place = _complete_blocks(self._paths[1], made_by, leavings.keys())
        self._places = {key: (leavings.get(key, _Place(0, 0)), place) for key, place in blocks.items()}
        self._held = self._taken(blocks.keys() - self._in_place)
        self._passed: list[Key] = []
        self.done = frozenset(blocks)
        self._files = [
            _truncated(path, size) for path, size in zip(self._paths, self._sizes(self._in_place), strict=True)
        ]
        self._timings = (folder / "timings.jsonl").open("ab")

    def write(self, block: Block) -> None:
        """Append a block that was just made; what an earlier start left behind this place is written again."""
        self._end_behind_passed()
        left = encode({"key": block.key, "left": block.compaction}) if block.compaction is not None else b""
        self._append(left, b"".join(encode(record) for record in block.records))
        if block.seconds is not None:
            fires = {"fires": [(round(seconds, 6), tokens) for seconds, tokens in block.fires]} if block.fires else {}
            self._timings.write(encode({"key": block.key, "seconds": round(block.seconds, 6)} | fires))

    def keep(self, key: Key) -> None:
        """Keep a block of `done` at this place of the order."""
        if key in self._in_place:
            self._passed.append(key)
        else:
            self._append(*self._held[key])

    def close(self) -> None:
        for file in (*self._files, self._timings):
            file.close()

    def _end_behind_passed(self) -> None:
        """Cut off blocks that stand in place but come later: the order is that of the cases, whatever was first."""
        if len(self._passed) < len(self._in_place):
            self._held |= self._taken(self._in_place - set(self._passed))
            self._in_place = frozenset(self._passed)
            for file, size in zip(self._files, self._sizes(self._passed), strict=True):
                file.truncate(size)

    def _taken(self, keys: Iterable[Key]) -> dict[Key, tuple[bytes, ...]]:
        """What some blocks left and their rows, out of the files before these are cut off."""
        return {
            key: tuple(place.read(path) for place, path in zip(self._places[key], self._paths, strict=True))
            for key in keys
        }

    def _sizes(self, keys: Collection[Key]) -> tuple[int, int]:
        """How many bytes of each file some blocks take."""
        places = [self._places[key] for key in keys]
        return sum(left.size for left, _ in places), sum(rows.size for _, rows in places)

    def _append(self, *pieces: bytes) -> None:
        for file, piece in zip(self._files, pieces, strict=True):
            file.write(piece)
            file.flush()


def _claim(folder: Path, manifest: Manifest) -> None:
    """Put the manifest into the folder; refuse one that holds another run or anything else."""
    path = folder / "manifest.json"
    if path.exists():
        old = read_manifest(folder)
        for field in Manifest.__struct_fields__:
            if field not in {"plugins", "compactlab", "asked_by"} and getattr(old, field) != getattr(manifest, field):
                raise RunError(f"{folder}: holds a run with another {field}; expected a new folder, or the same run")
    elif folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise RunError(f"{folder}: is not empty and holds no run; expected a new folder")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        path.write_bytes(msgspec.json.format(msgspec.json.encode(manifest, order="deterministic"), indent=1) + b"\n")
    except OSError as error:
        raise RunError(f"{folder}: cannot be written ({error.strerror})") from error


def read_manifest(folder: Path) -> Manifest:
    """Read the manifest of a run; `RunError` if there is none that this version can read."""
    try:
        return msgspec.json.decode((folder / "manifest.json").read_bytes(), type=Manifest)
    except OSError as error:
        raise RunError(f"{folder}: holds no run (manifest.json: {error.strerror})") from error
    except msgspec.DecodeError as error:
        raise RunError(f"{folder}: manifest.json cannot be read ({error})") from error


def _complete_blocks(
    path: Path, made_by: Callable[[Key], str], left: Collection[Key]
) -> tuple[dict[Key, _Place], frozenset[Key]]:
    """Where each whole block made by today's plug-ins stands, and the keys of those before the first that is not.

    A block of a strategy is whole only if what it left, its line in the other file, is among *left*.
    """
    blocks: dict[Key, _Place] = {}
    in_place: set[Key] = set()
    unbroken = True
    for head, place in _blocks(path):
        if head.made_by == made_by(head.key) and (head.key in left or not _leaves_a_line(head)):
            blocks[head.key] = place
            in_place.update([head.key] if unbroken else [])
        else:
            unbroken = False
    return blocks, frozenset(in_place)


def _blocks(path: Path) -> Iterator[tuple[Record, _Place]]:
    """The head of each block of a file up to the first that is not whole, and where the block stands."""
    head, start, missing = None, 0, 0
    for line, place in _lines(path):
        try:
            row = decoded(line, Record)
        except RunError:
            return
        if head is None:
            if row.metric != "outcome":
                return
            head, start, missing = row, place.start, row.n
        elif row.key != head.key:
            return
        else:
            missing -= 1
        if not missing:
            yield head, _Place(start, place.end)
            head = None


def _lines(path: Path) -> Iterator[tuple[bytes, _Place]]:
    """The lines of a file, one by one, and where each stands; what has no line end was cut off and is left out."""
    if not path.exists():
        return
    end = 0
    with path.open("rb") as file:
        for line in file:
            if line.endswith(b"\n"):
                start, end = end, end + len(line)
                yield line[:-1], _Place(start, end)


def _leaves_a_line(head: Record) -> bool:
    """True of a block that has a line in `compactions.jsonl`: a strategy's, and that of the facts of a cut."""
    if head.strategy == "facts":
        return head.outcome == "applied"
    return head.outcome != "failed" and not head.size_of and head.strategy not in {"bag", "null"}


def _lines_by_key(path: Path) -> dict[Key, _Place]:
    found: dict[Key, _Place] = {}
    for line, place in _lines(path):
        try:
            found[decoded(line, _Keyed).key] = place
        except RunError:
            continue  # no line of ours: it is left out, and what it may have been is made again
    return found


class _Keyed(msgspec.Struct):
    key: Key


def _truncated(path: Path, size: int) -> IO[bytes]:
    file = path.open("ab")
    file.truncate(size)
    return file
