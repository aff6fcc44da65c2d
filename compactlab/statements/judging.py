"""What a compacted history still makes of each statement: one of the verdicts of `matching`.

A statement is kept where a block that says it still stands, or a sentence that says the same. `mutated`, `weakened` and
`contradicted` come only from text that compaction made or edited, and only where the statement is kept nowhere;
`stale` is a history in which only what it took the place of still stands, `both` one in which both do.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from typing import NamedTuple

import ahocorasick_rs

from compactlab.facts.text import normal
from compactlab.matching import Verdict, fold
from compactlab.statements.reading import read
from compactlab.statements.segment import Segment, Words, ready
from compactlab.statements.statement import Statement
from compactlab.statements.wording import plain, sentences
from compactlab.tokens import clean
from compactlab.transcript import Block, Message, readable

_MARK = re.compile(r"^(?:> ?)+", re.MULTILINE)
_WRAP = re.compile(r"(?<=[^\n]{45})(?<!:)\n[ \t]{0,8}(?=[^\W_])(?!\d{1,3}[.)]\s)")
_HEADING = re.compile(r"(?:#{1,6} |\d{1,2}\. |\*\*|\[)?[^\n.!?;-]{2,60}:?(?:\*\*|\])?")


class Found(NamedTuple):
    """Which statements a block keeps, in what older form, and what it does to others: bit sets over their indices."""

    kept: int = 0
    stale: int = 0
    mutated: int = 0
    weakened: int = 0
    contradicted: int = 0

    def __or__(self, other: object) -> Found:
        if not isinstance(other, Found):
            return NotImplemented
        return Found(*(a | b for a, b in zip(self, other, strict=True)))


_NOTHING = Found()
_FIELDS = Found._fields


class Judge:
    """Judges histories by the statements of one; each block is read once. `own` are the blocks that stood before.

    >>> from compactlab.statements import mine_statements
    >>> from compactlab.transcript import Text
    >>> history = [Message("user", (Text("Never push to main."),))]
    >>> judge = Judge(mine_statements(history), {history[0].blocks[0]})
    >>> [judge.verdicts([Message("user", (Text(t),))]) for t in ("Never push to main.", "Push to main.", "Hello.")]
    [('kept',), ('contradicted',), ('lost',)]
    """

    def __init__(self, statements: Sequence[Statement], own: AbstractSet[Block]) -> None:
        self.statements = tuple(statements)
        self._own = own
        self._homes: dict[Block, Found] = {}
        self._words: list[tuple[int, bool, Words]] = []
        for index, statement in enumerate(self.statements):
            for is_old, one in ((False, statement), *((True, old) for old in statement.earlier)):
                self._words.append((index, is_old, ready(one)))
                here = Found(stale=1 << index) if is_old else Found(kept=1 << index)
                for block in one.homes:
                    self._homes[block] = self._homes.get(block, _NOTHING) | here
        self._by_key = self._keyed()
        keys = sorted(self._by_key)
        self._search = ahocorasick_rs.AhoCorasick(keys) if keys else None
        self._known: dict[Block, Found] = {}

    def _keyed(self) -> dict[str, list[tuple[int, bool, Words]]]:
        """Each statement under the words of which its sentence must hold one: the rarest that may not be missing.

        Pieces of names come last: a sentence that has another name in their place is to be read too.
        """
        counts = Counter(stem for _, _, words in self._words for stem in words.statement.objects)
        keyed: dict[str, list[tuple[int, bool, Words]]] = {}
        for item in self._words:
            objects = item[2].statement.objects
            core = item[2].core
            rare = sorted(objects, key=lambda stem: (stem not in core, counts[stem], -len(stem), stem))
            keys = rare[: len(objects) - item[2].needed + 1] or item[2].statement.numbers[:1]
            for key in keys:
                keyed.setdefault(key, []).append(item)
        return keyed

    def found(self, messages: Iterable[Message]) -> Found:
        """What *messages* say of the statements, all blocks together."""
        whole = _NOTHING
        for message in messages:
            for block in message.blocks:
                here = self._known.get(block)
                if here is None:
                    here = self._known[block] = self._read(block)
                if here is not _NOTHING:
                    whole |= here
        return whole

    def verdicts(self, messages: Iterable[Message]) -> tuple[Verdict, ...]:
        """The verdict on each statement, in their order."""
        found = self.found(messages)
        return tuple(verdict(found, index) for index in range(len(self.statements)))

    def _read(self, block: Block) -> Found:
        here = self._homes.get(block, _NOTHING)
        said = [0] * len(_FIELDS)
        for (index, is_old), finding in self._sentences(readable(block)):
            if is_old:
                said[1] |= (finding == "kept") << index
            else:
                said[_FIELDS.index(finding)] |= 1 << index
        kept, stale, *made = said
        here |= Found(kept, stale) if block in self._own else Found(kept, stale, *made)
        return here if any(here) else _NOTHING

    def _sentences(self, text: str) -> Iterable[tuple[tuple[int, bool], str]]:
        """What the sentences of a text say of statements; one that says a statement is no changed copy of another."""
        folded = fold(clean(normal(text)))
        if self._search is None or not self._search.find_matches_as_indexes(folded):
            return
        folded = _WRAP.sub(" ", _MARK.sub("", folded))
        heading = ""
        for start, end in sentences(folded):
            line = folded[start:end]
            if _HEADING.fullmatch(line):
                heading = line
            said = plain(line)
            if not self._search.find_matches_as_indexes(said):  # a stem is a part of its word
                continue
            segment = Segment(said, heading if heading != line else "")
            items = {id(item): item for stem in segment.stems for item in self._by_key.get(stem, ())}
            found = [(words, index, is_old, read(words, segment)) for index, is_old, words in items.values()]
            copied = {words.worded.pattern for words, _, _, finding in found if finding == "kept"}
            for words, index, is_old, finding in found:
                if finding and not (finding == "mutated" and words.worded.pattern in copied):
                    yield (index, is_old), finding


def verdict(found: Found, index: int) -> Verdict:
    """The verdict on the statement *index*: the worst that was done to it, unless it is kept.

    >>> [verdict(Found(kept=1, stale=1), 0), verdict(Found(weakened=1, contradicted=1), 0), verdict(Found(), 0)]
    ['both', 'contradicted', 'lost']
    """
    bit = 1 << index
    if found.kept & bit:
        return "both" if found.stale & bit else "kept"
    if found.contradicted & bit:
        return "contradicted"
    if found.mutated & bit:
        return "mutated"
    if found.weakened & bit:
        return "weakened"
    return "stale" if found.stale & bit else "lost"
