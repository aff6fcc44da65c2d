"""Where the line of a message is found again: in what is live, or among the originals of any pass."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property

from compactlab.memory.entry import Entry
from compactlab.memory.originals import Store
from compactlab.memory.parts import Kept


class Sources:
    """All lines of a conversation that are here, by identity and digest; read when the first is asked for."""

    def __init__(self, store: Store, entries: Sequence[Entry], live: Iterable[Kept]) -> None:
        self.store = store
        self.entries = entries
        self.live = {one.id: one.line for one in live}

    def find(self, identity: str, digest: str) -> tuple[bytes | None, bool]:
        """Give the line of a message and whether it is that very one; else the redacted one; else None."""
        line = self.live.get(identity)
        if line is not None and self.store.digests.fits(line, digest):
            return line, True
        found = self._stored.get((identity, digest))
        if found is not None:
            return found, True
        return self._redacted.get((identity, digest)), False

    @cached_property
    def _stored(self) -> dict[tuple[str, str], bytes]:
        return {(row.id, row.digest): line for entry in self.entries for row, line in self.store.lines(entry)}

    @cached_property
    def _redacted(self) -> dict[tuple[str, str], bytes]:
        found: dict[tuple[str, str], bytes] = {}
        for entry in self.entries:
            lines = self.store.redacted(entry)
            found |= {(row.id, row.digest): lines[row.id] for row in entry.stored if row.id in lines}
        return found
