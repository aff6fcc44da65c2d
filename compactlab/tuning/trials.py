"""Tries policies on sessions, on one core or several, and keeps what came of each in a file.

The file is the journal of a search: one row a policy and session, appended as they come in. Killed and started again,
the search makes the same choices from its seed and finds these rows done, so that it ends as if it had never stopped.
Its name holds a digest of all that the rows rest on: rows of other sessions, windows, settings or code are never read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import ExitStack
from functools import cached_property
from pathlib import Path
from typing import Self

import msgspec

from compactlab.harness.workers import pool_of
from compactlab.tuning.tried import Material, Tried, tried_all

AT_ONCE = 24
"""Policies that are tried on a session before its rows are written."""
Watch = Callable[[int], None]
"""Told how many rows came in."""


class Trials:
    """What came of policies on sessions: from the journal where it is known, else tried now.

    Sessions are mined, and processes started, once something must be tried; these end with the block of a `with`.
    """

    def __init__(self, mined: Callable[[], Iterable[Material]], journal: Path, workers: int) -> None:
        """Take what mines the sessions, the file, and how many processes try."""
        self._mined = mined
        self.journal = journal
        self._workers = workers
        self._known = {(row.policy, row.session): row for row in _read(journal)}
        self._open = ExitStack()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._open.close()

    @cached_property
    def _materials(self) -> dict[str, Material]:
        return {material.transcript.id: material for material in self._mined()}

    @cached_property
    def _pool(self) -> ProcessPoolExecutor | None:
        return self._open.enter_context(pool_of(self._workers))

    def of(self, policies: Sequence[str], sessions: Sequence[str], watch: Watch | None = None) -> list[Tried]:
        """Give a row for each policy and session, those of a policy together, in the order that was asked for."""
        lacking = {
            session: [spec for spec in dict.fromkeys(policies) if (spec, session) not in self._known]
            for session in dict.fromkeys(sessions)
        }
        tasks = [
            (self._materials[session], specs[start : start + AT_ONCE])
            for session, specs in lacking.items()
            for start in range(0, len(specs), AT_ONCE)
        ]
        for rows in self._made(tasks):
            self._write(rows)
            if watch:
                watch(len(rows))
        return [self._known[spec, session] for spec in policies for session in sessions]

    def on(self, session: str) -> list[Tried]:
        """All that was tried on a session."""
        return [row for (_, where), row in self._known.items() if where == session]

    def _made(self, tasks: Sequence[tuple[Material, Sequence[str]]]) -> Iterator[list[Tried]]:
        if not tasks:
            return
        if self._pool is None:
            yield from (tried_all(material, specs) for material, specs in tasks)
            return
        futures = [self._pool.submit(tried_all, material, specs) for material, specs in tasks]
        for future in as_completed(futures):
            yield future.result()

    def _write(self, rows: Sequence[Tried]) -> None:
        self.journal.parent.mkdir(parents=True, exist_ok=True)
        with self.journal.open("ab") as file:
            file.write(b"".join(msgspec.json.encode(row) + b"\n" for row in rows))
        self._known |= {(row.policy, row.session): row for row in rows}


def _read(journal: Path) -> list[Tried]:
    """The whole rows of a journal; a last one that was cut off is taken out of the file."""
    if not journal.exists():
        return []
    text = journal.read_bytes()
    whole = text[: text.rfind(b"\n") + 1]
    if len(whole) < len(text):
        journal.write_bytes(whole)
    return [msgspec.json.decode(line, type=Tried) for line in whole.splitlines()]
