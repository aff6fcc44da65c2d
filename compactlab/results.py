"""A run on disk: a folder that is written as it goes, survives being killed, and reads back as tables.

- `manifest.json`: versions, corpus digest, counter, seed, strategies, sessions; nothing that changes from run to run.
- `records.jsonl`: blocks of rows in case order. A block is one session at one cut under one strategy or control: first
  a row `outcome` that says how many rows follow, then a row a score.
- `compactions.jsonl`: the facts that each cut needed, with their stories; what each strategy kept, edited and made, so
  that a run can be scored again without running, and what became of each of those facts.
- `timings.jsonl`: seconds; all that is not repeatable stands here alone.

A run that is killed and started again keeps its complete blocks, drops the unfinished one, goes on, and ends with the
same bytes. Blocks that a plug-in made whose source has changed since are made again. Blocks that wait for a model's
reply are not there; the next start makes them, in their place.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple

import msgspec

from compactlab.answering import Answer
from compactlab.errors import RunError
from compactlab.matching import Verdict
from compactlab.records import Block, Key, Manifest, NeededFact, Record, columns, decoded, encode

if TYPE_CHECKING:
    import pandas as pd


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


class _Timed(msgspec.Struct):
    key: Key
    fires: list[tuple[float, int]] = []


class _Left(msgspec.Struct):
    key: Key
    left: dict[str, Any]


def _truncated(path: Path, size: int) -> IO[bytes]:
    file = path.open("ab")
    file.truncate(size)
    return file


class Answered(NamedTuple):
    """An answer of the reader, and the key of the case that it was read from."""

    key: Key
    answer: Answer


_VERDICTS: dict[str, Verdict] = {"bound": "kept", "loose": "kept", "mutated": "mutated", "lost": "lost"}


class Results:
    """A run read back: `manifest`, `records`, and tidy data frames.

    `unread` names, of a run just made, the files of its folders that no reader knew; `pending` the cases that wait for
    the reply of a model: they have no rows yet.
    """

    unread: tuple[str, ...] = ()
    pending: tuple[str, ...] = ()

    def __init__(self, folder: Path | str) -> None:
        self.folder = Path(folder)
        self.manifest = read_manifest(self.folder)

    @cached_property
    def records(self) -> tuple[Record, ...]:
        """All rows, in case order; an unfinished last line is left out."""
        path = self.folder / "records.jsonl"
        try:
            lines = path.read_bytes().split(b"\n")[:-1]
            return tuple(decoded(line, Record) for line in lines)
        except OSError as error:
            raise RunError(f"{path}: cannot be read ({error.strerror})") from error
        except RunError as error:
            raise RunError(f"{path}: {error}") from error

    def to_frame(self) -> pd.DataFrame:
        """One row a record; the columns are the fields of `Record`.

        `value` is a sum over `n` things (facts, probes, statements, calls), so that shares are value / n and can be
        pooled; tokens for the metrics `tokens_...`. `docs/scoring.md` says what each metric counts.
        """
        import pandas as pd

        return pd.DataFrame([columns(record) for record in self.records])

    def to_dataset(self) -> Any:  # noqa: ANN401  # datasets is untyped
        """The rows and columns of `to_frame` as a `datasets.Dataset`.

        Raises `RunError` if the package `datasets`, of the extra `data`, is not installed.
        """
        try:
            datasets = importlib.import_module("datasets")
        except ImportError as error:
            raise RunError("a data set needs the package datasets: pip install 'compactlab[data]'") from error
        return datasets.Dataset.from_pandas(self.to_frame(), preserve_index=False)

    @cached_property
    def needed(self) -> tuple[NeededFact, ...]:
        """Every fact that a session needed after a cut, under every strategy: its story and what became of it."""
        told: dict[tuple[str, str], list[dict[str, Any]]] = {}
        found: list[NeededFact] = []
        path = self.folder / "compactions.jsonl"
        for line in path.read_bytes().split(b"\n")[:-1] if path.exists() else []:
            row = decoded(line, _Left)
            key = row.key
            if key.strategy == "facts":
                told[key.session, key.cut] = row.left["needed"]
                continue
            if "needed" not in row.left:  # what a reader answered from a control
                continue
            for story, fate in zip(told[key.session, key.cut], row.left["needed"], strict=True):
                judged = _VERDICTS[fate], fate == "bound"
                found.append(NeededFact(key.session, key.cut, key.strategy, key.budget, *judged, **story))
        return tuple(found)

    @property
    def timed(self) -> Iterator[tuple[Key, list[tuple[float, int]]]]:
        """Of each replay, seconds and tokens of its fires: of the last time that it was made, on that machine."""
        path = self.folder / "timings.jsonl"
        lines = path.read_bytes().split(b"\n")[:-1] if path.exists() else []
        made = {row.key: row.fires for row in (decoded(line, _Timed) for line in lines)}
        yield from made.items()

    @cached_property
    def answers(self) -> tuple[Answered, ...]:
        """Every answer of the reader, in case order."""
        path = self.folder / "compactions.jsonl"
        lines = path.read_bytes().split(b"\n")[:-1] if path.exists() else []
        rows = [decoded(line, _Left) for line in lines if b'"answers"' in line]
        return tuple(
            Answered(row.key, msgspec.convert(answer, Answer)) for row in rows for answer in row.left.get("answers", ())
        )

    def answers_frame(self) -> pd.DataFrame:
        """One row an answer of the reader: the key of its case, then the fields of `Answer`, its verdict, its grades.

        `replicate` counts the repetitions of the question, `pass_replicate` those of the compaction that it is about.
        """
        import pandas as pd

        rows = []
        for key, answer in self.answers:
            plain = msgspec.structs.asdict(answer)
            grades = {f"grade_{name}": grade for name, grade in plain.pop("grades").items()}
            case = {"session": key.session, "cut": key.cut, "strategy": key.strategy, "budget": key.budget}
            rows.append(case | {"pass_replicate": key.replicate} | plain | {"verdict": answer.verdict} | grades)
        return pd.DataFrame(rows)

    def facts_frame(self) -> pd.DataFrame:
        """One row a needed fact and strategy; the columns are the fields of `NeededFact`.

        `home` and `used` are positions of messages, `age` counts turns of the agent, `tenth` goes from 1 to 10.
        """
        import pandas as pd

        return pd.DataFrame([msgspec.structs.asdict(fact) for fact in self.needed])
