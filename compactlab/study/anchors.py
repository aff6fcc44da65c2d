"""Other rules of binding than the product's: a wider window, and any word as an anchor.

The product asks for a content word within eight words that is no part of a fact (`matching.py`). Here both can be
changed, to see what each is worth. Slower than the product's own, which the rule `Rule()` agrees with.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from compactlab.facts.text import canonical
from compactlab.matching import WINDOW, fold
from compactlab.probes.mined import AtRisk
from compactlab.tokens import clean
from compactlab.transcript import Block, Messages, readable

_WORD = re.compile(r"\w+")


class Rule(NamedTuple):
    """How near an anchor must stand, in words, and whether any word will do, also one that is part of a fact."""

    window: int = WINDOW
    any_word: bool = False


class Near(NamedTuple):
    """A fact in a text, by its index, and the words near it that may be its anchor."""

    fact: int
    words: frozenset[str]


@dataclass
class Binding:
    """Binds the facts at risk of a cut by a rule; each block is read once."""

    risk: AtRisk
    rule: Rule
    _known: dict[Block, list[Near]] = field(default_factory=dict)

    def near(self, block: Block) -> list[Near]:
        """The facts of a block with the words near them."""
        if block not in self._known:
            self._known[block] = list(self._read(readable(block)))
        return self._known[block]

    def anchors(self) -> dict[int, set[str]]:
        """For each fact at risk, the words near its homes."""
        found: dict[int, set[str]] = defaultdict(set)
        for block in self.homes():
            for near in self.near(block):
                if near.fact in self.risk.anchors:
                    found[near.fact] |= near.words
        return found

    def homes(self) -> Iterator[Block]:
        """All blocks before the cut."""
        return (block for message in self.risk.base for block in message.blocks)

    def bound(self, messages: Messages, anchors: dict[int, set[str]]) -> frozenset[int]:
        """Facts that stand in *messages* within the window of one of their anchors."""
        blocks = (block for message in messages for block in message.blocks)
        return frozenset(
            near.fact
            for block in blocks
            for near in self.near(block)
            if not near.words.isdisjoint(anchors.get(near.fact, ()))
        )

    def _read(self, text: str) -> Iterator[Near]:
        hits = self.risk.matcher.hits(text)
        if not self.rule.any_word:
            yield from (Near(hit.pattern, hit.within(self.rule.window)) for hit in hits)
            return
        found = [(match.start(), match.end(), match[0]) for match in _WORD.finditer(fold(clean(canonical(text))))]
        starts, ends = [start for start, _, _ in found], [end for _, end, _ in found]
        for hit in hits:
            left, right = bisect_right(ends, hit.start), bisect_left(starts, hit.end)
            around = (*range(max(0, left - self.rule.window), left), *range(right, right + self.rule.window))
            yield Near(hit.pattern, frozenset(found[i][2] for i in around if i < len(found)))
