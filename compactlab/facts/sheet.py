"""Sheet: the text of one block while the families take their shares of it, the most specific first."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from compactlab.facts.fact import Fact
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
)
from compactlab.transcript import Block, Reasoning, Text, readable

Judge = Callable[[re.Match[str]], Iterable[Fact]]


def mineable(text: str) -> str:
    """Mask what is never a source of facts: blobs, secrets, line numbers, written escapes; the length stays."""
    return without_escapes(without_line_numbers(without_secrets(without_blobs(text))))


class Sheet:
    """`whole` is the text without what may never be mined; `text` is what no family has taken yet.

    Both have the same length, so a position means the same in both. `found` holds (position, fact).
    """

    def __init__(self, block: Block) -> None:
        self.block = block
        self.spoken = isinstance(block, Text | Reasoning)
        self.whole = mineable(normal(readable(block)))
        self.prose: Spans = prose(self.whole, spoken=self.spoken)
        self.whole = unwrapped(self.whole, self.prose)
        self.text = self.whole
        self.found: list[tuple[int, Fact]] = []

    def take(self, pattern: re.Pattern[str], judge: Judge, *, in_prose: bool = False) -> None:
        """Let *judge* make facts of the matches of *pattern* in what is left; what it makes one of is taken away."""
        taken: list[tuple[int, int]] = []
        for start, end in self._where(in_prose=in_prose):
            for match in pattern.finditer(self.text, start, end):
                made = [(match.start(), fact) for fact in judge(match)]
                if made:
                    taken.append(match.span())
                    self.found += made
        self.text = blank(self.text, taken)

    def look(self, pattern: re.Pattern[str], judge: Judge, *, in_prose: bool = False) -> None:
        """Let *judge* make facts of the matches of *pattern* in the whole text, and leave it to the others too."""
        for start, end in self._where(in_prose=in_prose):
            for match in pattern.finditer(self.whole, start, end):
                self.found += [(match.start(), fact) for fact in judge(match) if FILLER not in fact.value]

    def _where(self, *, in_prose: bool) -> Iterable[tuple[int, int]]:
        return self.prose if in_prose else ((0, len(self.text)),)

    def hide(self, pattern: re.Pattern[str]) -> None:
        """Take the matches of *pattern* away without making facts of them."""
        self.text = blank(self.text, [match.span() for match in pattern.finditer(self.text)])
