"""The files in which the history of a session began: since 2026 a fork names another rollout and copies nothing.

The first record of such a rollout has a `history_base`: the id of the rollout in which its history began, and the first
ordinal of it that is no part of this one. So has a further rollout of the same session, behind turns that were taken
back; that session is then told by its last rollout.
"""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from compactlab.errors import TranscriptError
from compactlab.readers._fields import count, first_string, mapping
from compactlab.readers._files import Source

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Iterator
    from pathlib import Path

    from compactlab.readers import Line

GENERATIONS = 50
_FILES = 100_000
_STORES = ("sessions", "archived_sessions")


class Base(NamedTuple):
    """A rollout in which the history of another one began: how much of it, and what its first record told."""

    source: Source
    end: int | None
    meta: dict[str, Any]

    @property
    def size(self) -> int:
        """How many lines it has."""
        with self.source.open() as file:
            return sum(1 for _ in file)

    def lines(self, first: int, skipped: Counter[str]) -> Iterator[Line]:
        """The lines in which the history began, numbered from *first* on; the items behind them are counted."""
        for line in self.source.lines():
            value = mapping(line.value)
            ordinal = count(value.get("ordinal"))
            if value.get("type") == "session_meta":
                skipped["session_meta of another session"] += 1
            elif self.end is None or (line.number - 1 if ordinal is None else ordinal) < self.end:
                yield line._replace(number=first + line.number)
            elif value.get("type") == "response_item":
                skipped["item behind the part that was inherited"] += 1


def meta_of(source: Source) -> dict[str, Any]:
    """What the first record tells of the session; empty if it does not."""
    try:
        first = source.first
    except TranscriptError:
        return {}
    return mapping(first.get("payload")) if first.get("type") == "session_meta" else {}


def bases(source: Source) -> tuple[list[Base], str]:
    """The rollouts in which the history of one began, the oldest first, and the id of one that is not there."""
    found: list[Base] = []
    seen = {source.path}
    meta = meta_of(source)
    while named := mapping(meta.get("history_base")):
        name = first_string(named, "thread_id")
        path = next((path for path in _rollouts(source.path, name) if path not in seen), None)
        if path is None or len(found) == GENERATIONS:
            return found[::-1], name
        seen.add(path)
        held = Source(path)
        meta = meta_of(held)
        found.append(Base(held, count(named.get("end_ordinal_exclusive")), meta))
    return found[::-1], ""


def latest(source: Source) -> Path | None:
    """The last further rollout of the session of one, in the same folder; None if there is none."""
    own = meta_of(source)
    name = first_string(own, "id")
    if not name or name not in source.path.name or own.get("history_mode") != "paginated":
        return None
    pattern = re.compile(rf"rollout-.*-{re.escape(name)}_[^_]+\.jsonl(?:\.zst)?")
    for path in reversed(_listed(source.path.parent, pattern, "*")):
        meta = meta_of(Source(path))
        if path.name > source.path.name and first_string(meta, "id") == name and meta.get("history_base"):
            return path
    return None


def _rollouts(path: Path, name: str) -> list[Path]:
    """The files of the rollout with an id: beside *path*, or anywhere in the store that it lies in."""
    if not name:
        return []
    pattern = re.compile(rf"rollout-.*[-_]{re.escape(name)}\.jsonl(?:\.zst)?")
    beside = _listed(path.parent, pattern, "*")
    store = next((folder for folder in path.absolute().parents[:5] if folder.name in _STORES), None)
    if beside or store is None:
        return beside
    return [found for other in _STORES for found in _listed(store.with_name(other), pattern, "**/*")]


def _listed(folder: Path, pattern: re.Pattern[str], where: str) -> list[Path]:
    try:
        return sorted(path for path in islice(folder.glob(where), _FILES) if pattern.fullmatch(path.name))
    except OSError:
        return []
