"""Lines of a rollout without those that a resumed or forked session copied from further up in the same file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from compactlab.readers._fields import mapping

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Iterable, Iterator

    from compactlab.readers import Line

COPIED = "copied record"
_START, _END = 512, 128
_LEAST = 3
"""So many items in a row that repeat the start of the session are a copy; fewer may have been said again."""


def fresh(lines: Iterable[Line], skipped: Counter[str]) -> Iterator[Line]:
    """Give the lines but for copies, which are counted: after a further `session_meta` the session is told anew."""
    told = _Told()
    for line in lines:
        kind = mapping(line.value).get("type")
        if kind == "session_meta" and told.items:
            yield from told.end(skipped)
            told.at = 0
        elif told.at is not None and told.holds(line, kind, skipped):
            continue
        elif kind == "response_item":
            yield from told.end(skipped)
            told.items.append(_fingerprint(line))
        yield line
    yield from told.end(skipped)


class _Told:
    """Items of the session so far, how many of them were told again, and the lines that may be copies."""

    def __init__(self) -> None:
        self.items: list[int] = []
        self.at: int | None = None
        self.held: list[Line] = []
        self.last = 0

    def holds(self, line: Line, kind: Any, skipped: Counter[str]) -> bool:  # noqa: ANN401  # JSON is any value
        at = self.at or 0
        if kind == "response_item":
            if at >= len(self.items) or self.items[at] != _fingerprint(line):
                return False
            self.at = at + 1
            self.last = len(self.held) + 1
        self.held.append(line)
        if self.at is not None and self.at >= _LEAST and self.last == len(self.held):
            skipped[COPIED] += len(self.held)
            self.held, self.last = [], 0
        return True

    def end(self, skipped: Counter[str]) -> list[Line]:
        """End the copy: what was held and is none is given back."""
        copied = self.last if self.at is not None and 1 < self.at == len(self.items) else 0
        if self.at is not None and self.at >= _LEAST:
            copied = self.last
        skipped[COPIED] += copied
        given = self.held[copied:]
        self.items += [_fingerprint(line) for line in given if mapping(line.value).get("type") == "response_item"]
        self.at, self.held, self.last = None, [], 0
        return given


def _fingerprint(line: Line) -> int:
    """A number for what an item says, whenever it was written: of its length, its start and its end."""
    payload = memoryview(line.raw)[max(line.raw.find(b'"payload"'), 0) :]
    return hash((len(payload), bytes(payload[:_START]), bytes(payload[-_END:])))
