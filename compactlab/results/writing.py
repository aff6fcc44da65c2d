"""How a run is written: blocks in case order by one writer, flushed; what an earlier start left whole is kept."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import IO

import msgspec

from compactlab.errors import RunError
from compactlab.records import Block, Key, Manifest, Record, decoded, encode


class Writer:
    """Writes the blocks of a run in case order, one writer, flushed; takes up what an earlier start left complete."""

    def __init__(self, folder: Path, manifest: Manifest, made_by: Callable[[Key], str]) -> None:
        """Open or make *folder*; *made_by* gives the digest of the plug-ins behind a block.

        Raises `RunError` if the folder holds another run, or other files.
        """
        self.folder = folder
        _claim(folder, manifest)
        leavings = _lines_by_key(folder / "compactions.jsonl")
        blocks, in_place = _complete_blocks(folder / "records.jsonl", made_by, leavings.keys())
        self._held = {key: (leavings.get(key, b""), lines) for key, lines in blocks.items()}
        self._in_place = in_place
        self._passed: list[Key] = []
        self.done = frozenset(blocks)
        self._records = _truncated(folder / "records.jsonl", sum(len(blocks[key]) for key in in_place))
        self._compactions = _truncated(folder / "compactions.jsonl", sum(len(self._held[key][0]) for key in in_place))
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
        for file in (self._compactions, self._records, self._timings):
            file.close()

    def _end_behind_passed(self) -> None:
        """Cut off blocks that stand in place but come later: the order is that of the cases, whatever was first."""
        if len(self._passed) < len(self._in_place):
            self._in_place = frozenset(self._passed)
            for number, file in enumerate((self._compactions, self._records)):
                file.truncate(sum(len(self._held[key][number]) for key in self._passed))

    def _append(self, left: bytes, records: bytes) -> None:
        self._compactions.write(left)
        self._compactions.flush()
        self._records.write(records)
        self._records.flush()


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
) -> tuple[dict[Key, bytes], frozenset[Key]]:
    """The lines of each whole block made by today's plug-ins, and the keys of those before the first that is not.

    A block of a strategy is whole only if what it left, its line in the other file, is among *left*.
    """
    blocks: dict[Key, bytes] = {}
    in_place: set[Key] = set()
    lines = path.read_bytes().split(b"\n") if path.exists() else []
    at, unbroken = 0, True
    while at < len(lines) - 1:  # the last piece has no line end: empty, or cut off
        try:
            head = decoded(lines[at], Record)
        except RunError:
            break
        block = lines[at : at + 1 + head.n]
        if head.metric != "outcome" or at + 1 + head.n > len(lines) - 1 or not _rows_of(head, block):
            break
        if head.made_by == made_by(head.key) and (head.key in left or not _leaves_a_line(head)):
            blocks[head.key] = b"\n".join(block) + b"\n"
            in_place.update([head.key] if unbroken else [])
        else:
            unbroken = False
        at += 1 + head.n
    return blocks, frozenset(in_place)


def _rows_of(head: Record, lines: Sequence[bytes]) -> bool:
    """True if all *lines* are rows of the block of *head*."""
    try:
        return all(decoded(line, Record).key == head.key for line in lines)
    except RunError:
        return False


def _leaves_a_line(head: Record) -> bool:
    """True of a block that has a line in `compactions.jsonl`: a strategy's, and that of the facts of a cut."""
    if head.strategy == "facts":
        return head.outcome == "applied"
    return head.outcome != "failed" and not head.size_of and head.strategy not in {"bag", "null"}


def _lines_by_key(path: Path) -> dict[Key, bytes]:
    found: dict[Key, bytes] = {}
    for line in path.read_bytes().split(b"\n")[:-1] if path.exists() else []:
        try:
            found[decoded(line, _Keyed).key] = line + b"\n"
        except RunError:
            continue  # no line of ours: it is left out, and what it may have been is made again
    return found


class _Keyed(msgspec.Struct):
    key: Key


def _truncated(path: Path, size: int) -> IO[bytes]:
    file = path.open("ab")
    file.truncate(size)
    return file
