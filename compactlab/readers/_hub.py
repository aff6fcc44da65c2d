"""Rows of a Hugging Face data set: `OWNER/NAME[:SPLIT]`, or a folder that `datasets` saved.

Nothing is fetched unless `HF_HUB_OFFLINE` is set to 0: what lies in the cache is read, and all else fails at once.
"""

from __future__ import annotations

import importlib
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from compactlab.errors import TranscriptError
from compactlab.readers.trajectory_rows import Place, of_rows
from compactlab.readers.trajectory_rows._tables import plain

if TYPE_CHECKING:
    from collections.abc import Iterator

    from compactlab.transcript import Transcript

_OFFLINE = "HF_HUB_OFFLINE"


def read(spec: str) -> Iterator[Transcript]:
    """Read the rows of a data set, one after the other; without a split, all splits in their order.

    Raises `TranscriptError`, one line, if `datasets` is not installed or the data set cannot be loaded.
    """
    name, split = _parted(spec)
    found = _splits(name, split)
    for part, rows in found.items():
        stem = Path(name).name if len(found) == 1 else f"{Path(name).name}-{part}"
        yield from of_rows(_numbered(spec, rows), Place(f"hf:{name}:{part}", stem))


def _parted(spec: str) -> tuple[str, str]:
    """The name or path of a data set, and its split, empty where none is asked for."""
    name, _, split = spec.rpartition(":")
    if not name or Path(spec).exists() or os.sep in split:
        return spec, ""
    return name, split


def _splits(name: str, split: str) -> dict[str, Any]:
    """The rows of each split that is wanted, by its name."""
    datasets = _datasets(name)
    try:
        held = _loaded(datasets, name)
    except Exception as error:  # the library raises whatever its parts do; all of it means the same
        hint = "" if os.environ.get(_OFFLINE) == "0" or Path(name).exists() else f"; set {_OFFLINE}=0 to fetch it"
        reason = str(error).partition("\n")[0][:200] or type(error).__name__
        raise TranscriptError(f"hf:{name}: cannot be loaded ({reason}){hint}") from error
    splits = dict(held) if isinstance(held, dict) else {str(held.split or "train"): held}
    if split and split not in splits:
        raise TranscriptError(f"hf:{name}: has no split {split!r}; expected one of {', '.join(splits)}")
    return {split: splits[split]} if split else splits


def _datasets(name: str) -> Any:  # noqa: ANN401  # datasets is untyped
    os.environ.setdefault(_OFFLINE, "1")
    try:
        return importlib.import_module("datasets")
    except ImportError as error:
        hint = "install the extra with pip install 'compactlab[data]'"
        raise TranscriptError(f"hf:{name}: reading data sets needs the package datasets; {hint}") from error


def _loaded(datasets: Any, name: str) -> Any:  # noqa: ANN401  # datasets is untyped
    folder = Path(name)
    if any((folder / told).is_file() for told in ("dataset_dict.json", "state.json")):
        return datasets.load_from_disk(name)
    return datasets.load_dataset(name, streaming=True)


def _numbered(spec: str, rows: Any) -> Iterator[tuple[str, Any]]:  # noqa: ANN401  # datasets is untyped
    iterator = iter(rows)
    index = 0
    while True:
        try:
            row = next(iterator, None)
        except Exception as error:  # fetching goes on while rows are read, and fails in as many ways
            reason = str(error).partition("\n")[0][:200] or type(error).__name__
            raise TranscriptError(f"hf:{spec}: row {index} cannot be read ({reason})") from error
        if row is None:
            return
        yield f"row {index}: ", plain(row)
        index += 1
