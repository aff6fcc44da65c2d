"""A run on disk: a folder that is written as it goes, survives being killed, and reads back as tables.

- `manifest.json`: versions, corpus digest, counter, seed, strategies, sessions; nothing that changes from run to run.
- `records.jsonl`: blocks of rows in case order. A block is one session at one cut under one strategy or control: first
  a row `outcome` that says how many rows follow, then a row a score.
- `compactions.jsonl`: the facts that each cut needed, with their stories; what each strategy kept, edited and made, so
  that a run can be scored again without running, and what became of each of those facts.
- `timings.jsonl`: seconds; it and `origins.jsonl`, where each session was read, hold all that is not repeatable.

A run that is killed and started again keeps its complete blocks, drops the unfinished one, goes on, and ends with the
same bytes. Blocks that a plug-in made whose source has changed since are made again. Blocks that wait for a model's
reply are not there; the next start makes them, in their place.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from compactlab import shown
from compactlab.answering import Answer
from compactlab.errors import RunError
from compactlab.matching import Verdict
from compactlab.records import Key, NeededFact, Record, columns, decoded
from compactlab.results.writing import Writer, read_manifest

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Answered", "Results", "Writer", "read_manifest"]


class _Timed(msgspec.Struct):
    key: Key
    fires: list[tuple[float, int]] = []


class _Left(msgspec.Struct):
    key: Key
    left: dict[str, Any]


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

    _repr_html_ = shown.html
    _repr_pretty_ = shown.pretty

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

    @property
    def left(self) -> Iterator[tuple[Key, dict[str, Any]]]:
        """What each block left, as `compactions.jsonl` holds it, in case order; an unfinished last line is left out."""
        for line in self._compactions:
            row = decoded(line, _Left)
            yield row.key, row.left

    @property
    def _compactions(self) -> list[bytes]:
        path = self.folder / "compactions.jsonl"
        return path.read_bytes().split(b"\n")[:-1] if path.exists() else []

    @cached_property
    def needed(self) -> tuple[NeededFact, ...]:
        """Every fact that a session needed after a cut, under every strategy: its story and what became of it."""
        told: dict[tuple[str, str], list[dict[str, Any]]] = {}
        found: list[NeededFact] = []
        for key, left in self.left:
            if key.strategy == "facts":
                told[key.session, key.cut] = left["needed"]
                continue
            if "needed" not in left:  # what a reader answered from a control
                continue
            for story, fate in zip(told[key.session, key.cut], left["needed"], strict=True):
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
        rows = [decoded(line, _Left) for line in self._compactions if b'"answers"' in line]
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
