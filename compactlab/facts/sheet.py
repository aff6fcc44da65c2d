"""Sheet: the text of one block as it is mined, and what was found in it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from typing import NamedTuple

from compactlab.facts.fact import Fact
from compactlab.facts.lines import Reading
from compactlab.facts.secrets import without_secrets
from compactlab.facts.text import (
    FILLER,
    Spans,
    blank,
    normal,
    prose,
    unwrapped,
    without_blobs,
    without_escapes,
    without_line_numbers,
    without_surrogates,
)
from compactlab.transcript import Block, Reasoning, Text, readable

Judge = Callable[[re.Match[str]], Iterable[Fact]]


def mineable(text: str, known: Iterable[str] = ()) -> str:
    """Mask what is never a source of facts: lone surrogates, blobs, secrets, line numbers, written escapes."""
    return without_escapes(without_line_numbers(without_secrets(without_blobs(without_surrogates(text)), known)))


class Stretch(NamedTuple):
    """A paragraph of prose, or what stands between two: where it starts, and its text."""

    start: int
    text: str
    prose: bool


class Sheet:
    """`whole` is the text without what may never be mined; `text` is what no line's reading has taken.

    Both have the same length, so a position means the same in both. `found` holds (position, fact). *known* are secrets
    that stand bare, since they had a label elsewhere.
    """

    def __init__(self, block: Block, known: Iterable[str] = ()) -> None:
        self.block = block
        self.spoken = isinstance(block, Text | Reasoning)
        masked = mineable(normal(readable(block)), known)
        self.prose: Spans = prose(masked, spoken=self.spoken)
        self.whole = unwrapped(masked, self.prose)
        self.found: list[tuple[int, Fact]] = []
        self._taken: list[tuple[int, Reading]] = []

    def add(self, start: int, reading: Reading) -> None:
        """Take in what the line that begins at *start* says; lines come in order."""
        if reading.found:
            self.found += [(start + at, fact) for at, fact in reading.found]
        if reading.taken:
            self._taken.append((start, reading))

    @cached_property
    def text(self) -> str:
        """What the lines' readings left, once all are added."""
        return blank(self.whole, [(at + start, at + end) for at, line in self._taken for start, end in line.taken])

    def look(self, pattern: re.Pattern[str], judge: Judge, *, in_prose: bool = False) -> None:
        """Let *judge* make facts of the matches of *pattern* in the whole text, and leave it to the others too."""
        for start, end in self.prose if in_prose else ((0, len(self.whole)),):
            for match in pattern.finditer(self.whole, start, end):
                self.found += [(match.start(), fact) for fact in judge(match) if FILLER not in fact.value]

    @property
    def stretches(self) -> Iterator[Stretch]:
        """The whole text cut where prose begins and ends, which is between two lines."""
        done = 0
        for start, end in self.prose:
            if done < start:
                yield Stretch(done, self.whole[done : start - 1], prose=False)
            yield Stretch(start, self.whole[start:end], prose=True)
            done = end
        if done < len(self.whole):
            yield Stretch(done, self.whole[done:], prose=False)
