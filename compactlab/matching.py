"""Is this fact in this text, and is it bound to what it was about; the closed list of verdicts.

A value is *present* where one of its forms stands as a whole: `12` is not in `1.2`, nor `/a/b` in `/a/bc`. It is
*bound* where, in the same block and within `WINDOW` words of it, stands a content word that stood that near it at one
of its homes and is itself no part of any fact: a bare list of values binds nothing (DESIGN 5). All texts are compared
in canonical form: Unicode NFKC, white space collapsed; prose without regard to case.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from functools import lru_cache
from itertools import accumulate, chain, pairwise
from typing import Literal, NamedTuple

import ahocorasick_rs

from compactlab.facts.text import canonical, fold
from compactlab.facts.text.edges import (
    NO_SPACES,
    goes_on,
    is_clock,
    is_stamped,
    is_torn,
    is_whole,
    joiners_of,
    may_go_on,
)
from compactlab.facts.words import STOP_WORDS
from compactlab.tokens import clean
from compactlab.transcript import Block, readable

__all__ = [
    "VERDICTS",
    "WINDOW",
    "Hit",
    "Matcher",
    "Pattern",
    "Verdict",
    "content_words",
    "fold",
    "is_content",
    "is_whole",
]

WINDOW = 8
"""Words on either side of a value that count as near it; a wider window binds by accident (metric study 2)."""

Verdict = Literal["kept", "stale", "both", "mutated", "weakened", "contradicted", "lost"]
VERDICTS: tuple[Verdict, ...] = ("kept", "stale", "both", "mutated", "weakened", "contradicted", "lost")

_WORD = re.compile(r"(\w+)")
_UNSPACED = re.compile(r"[^\W\u0000-\u2e7f]+")
_PIECE = re.compile(r"[^\W\u2e80-\U0010ffff]+|[^\W\u0000-\u2e7f]{1,2}")
# Characters that say nothing by themselves, nor two of them together: hiragana, and function words of Chinese.
_FUNCTION = re.compile(
    "[\u3041-\u309f的了是在和有不就也都会會可以及与與或被把让讓给給对對从從到为為于之其而但如果若因所么麼吗嗎呢吧啊没沒"
    "一上下来來去说說要能这這那我你他她它们們个個些什很着著过過还還并並]+"
)
# What neither is a part of any value nor joins one to another, on either side; the edge of the text is such too.
_FREE = frozenset(("", *" !\"$'()*;<>@[]^`{|}"))


class Pattern(NamedTuple):
    """What to look for: surface forms, whether case counts, and the family that says where a value ends."""

    forms: tuple[str, ...]
    exact: bool
    family: str


class Hit:
    """A pattern found in a text, by its index, and the content words within the window around it, once asked for."""

    __slots__ = ("_end", "_near", "_start", "_words", "pattern")

    def __init__(self, pattern: int, start: int, end: int, near: _Words) -> None:
        self.pattern = pattern
        self._start, self._end, self._near = start, end, near
        self._words: frozenset[str] | None = None

    @property
    def words(self) -> frozenset[str]:
        """Content words among the nearest `WINDOW` words on either side that are no part of any value."""
        if self._words is None:
            self._words = self.within(WINDOW)
        return self._words

    def within(self, window: int) -> frozenset[str]:
        """The same for the nearest *window* words on either side."""
        return self._near.around(self._start, self._end, window)

    @property
    def start(self) -> int:
        """Where the value begins in the text in canonical form."""
        return self._start

    @property
    def end(self) -> int:
        """Where the value ends in the text in canonical form."""
        return self._end

    def reach(self, words: AbstractSet[str]) -> int | None:
        """How far the text must be read until one of *words* stands near the value; None if none does."""
        return self._near.reach(self._start, self._end, words)


class Matcher:
    """Finds many patterns in many texts, each block once; linear in the length of the text.

    >>> matcher = Matcher([Pattern(("5433",), True, "number"), Pattern(("/a/b",), True, "path")])
    >>> [(hit.pattern, sorted(hit.words)) for hit in matcher.hits("The database listens on port 5433, not /a/bc.")]
    [(0, ['database', 'listens', 'port'])]
    """

    def __init__(self, patterns: Sequence[Pattern]) -> None:
        self.patterns = tuple(patterns)
        self._searches = [_Search(self.patterns, exact=True), _Search(self.patterns, exact=False)]
        self._known: dict[Block, tuple[Hit, ...]] = {}

    def block(self, block: Block) -> tuple[Hit, ...]:
        """Hits in the words of a block, remembered."""
        known = self._known.get(block)
        if known is None:
            known = self._known[block] = tuple(self.hits(readable(block)))
        return known

    def hits(self, text: str) -> list[Hit]:
        """Hits in a text, in the order in which they stand."""
        text = clean(canonical(text))
        spans = self.spans(text)
        near = _Words(text, spans)
        return [Hit(pattern, start, end, near) for start, end, pattern in spans]

    def spans(self, text: str) -> list[tuple[int, int, int]]:
        """Start, end and pattern of every hit in a text that is in canonical form."""
        exact, folded = self._searches
        return sorted((*exact(text), *folded(fold(text))))


class _Search:
    """One automaton over the forms that are compared alike."""

    def __init__(self, patterns: Sequence[Pattern], *, exact: bool) -> None:
        forms = [
            (form if exact else fold(form), index)
            for index, pattern in enumerate(patterns)
            if pattern.exact is exact
            for form in pattern.forms
            if form
        ]
        self._joiners = [joiners_of(form, patterns[index].family) for form, index in forms]
        self._owner = [index for _, index in forms]
        dates = [i for i, (_, index) in enumerate(forms) if patterns[index].family == "date"]
        self._clocks = frozenset(i for i in dates if is_clock(forms[i][0]))
        measures = (i for i, (_, index) in enumerate(forms) if patterns[index].family == "quantity")
        self._open = frozenset(i for i in measures if may_go_on(forms[i][0]))
        self._in_words = frozenset(i for i in dates if forms[i][0][0].isalpha())
        self._automaton = ahocorasick_rs.AhoCorasick([form for form, _ in forms]) if forms else None

    def __call__(self, text: str) -> list[tuple[int, int, int]]:
        if self._automaton is None:
            return []
        return [
            (start, end, self._owner[form])
            for form, start, end in self._automaton.find_matches_as_indexes(text, overlapping=True)
            if (
                (text[start - 1 : start] in _FREE and text[end : end + 1] in _FREE)
                or is_whole(text, start, end, self._joiners[form])
                or (form in self._clocks and is_stamped(text, start, end))
            )
            and not (form in self._in_words and is_torn(text, start))
            and not (form in self._open and goes_on(text, end))
        ]


class _Words:
    """The words of a text in which values stand at *spans*; content is what says something and is part of none."""

    def __init__(self, text: str, spans: Sequence[tuple[int, int, int]]) -> None:
        self._text, self._spans = text, spans
        self._content: list[tuple[str, ...]] | None = None

    def _read(self) -> list[tuple[str, ...]]:
        """Cut the text into words, once a hit asks for those around it."""
        folded, covered = fold(self._text), _merged(self._spans)
        if folded.isascii() or not _UNSPACED.search(folded):
            parts = _WORD.split(folded)
            ends = list(accumulate(map(len, parts)))
            self._starts, self._ends = ends[0:-1:2], ends[1::2]
            content = list(map(_content, parts[1::2]))
        else:
            pieces = list(_pieces(folded, covered))
            self._starts = [start for start, _, _ in pieces]
            self._ends = [end for _, end, _ in pieces]
            content = [content for _, _, content in pieces]
        for start, end in covered:
            first, last = bisect_right(self._ends, start), bisect_left(self._starts, end)
            content[first:last] = [()] * (last - first)
        self._content = content
        return content

    def around(self, start: int, end: int, window: int) -> frozenset[str]:
        """Content words among the nearest *window* words on either side of a span."""
        content = self._read() if self._content is None else self._content
        left = bisect_right(self._ends, start)
        right = bisect_left(self._starts, end)
        near = content[max(0, left - window) : left] + content[right : right + window]
        return frozenset(chain.from_iterable(near))

    def reach(self, start: int, end: int, words: AbstractSet[str]) -> int | None:
        """Where the first of *words* behind a span ends, or the span itself where one stands before it."""
        content = self._read() if self._content is None else self._content
        left = bisect_right(self._ends, start)
        if not words.isdisjoint(chain.from_iterable(content[max(0, left - WINDOW) : left])):
            return end
        right = bisect_left(self._starts, end)
        behind = range(right, min(right + WINDOW, len(content)))
        return next((self._ends[i] for i in behind if not words.isdisjoint(content[i])), None)


def _pieces(folded: str, covered: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int, tuple[str, ...]]]:
    """The words of a text in a script without blanks, where two characters count as one: start, end, content.

    All pairs of neighbours are content, also those that begin with the second character of a word; none reaches into a
    value.
    """
    edges = [0, *(place for span in covered for place in span), len(folded)]
    for low, high in pairwise(edges):
        for match in _PIECE.finditer(folded, low, high):
            start, end = match.span()
            if folded[start] < NO_SPACES:
                yield start, end, _content(match[0])
            else:
                pairs = (folded[start:end], folded[start + 1 : min(start + 3, high)])
                yield start, end, tuple(pair for pair in pairs if is_content(pair))


@lru_cache(maxsize=131_072)
def _content(word: str) -> tuple[str, ...]:
    return (word,) if is_content(word) else ()


def _merged(spans: Sequence[tuple[int, int, int]]) -> list[tuple[int, int]]:
    merged: list[tuple[int, int]] = []
    for start, end, _ in spans:
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def is_content(word: str) -> bool:
    """Tell whether a lower-case word says what a value is about: three letters or more, no function word.

    In a script without blanks, two characters that are not both function characters.

    >>> is_content("port"), is_content("the"), is_content("x1"), is_content("端口"), is_content("のは")
    (True, False, False, True, False)
    """
    if len(word) == 2:
        return word.isalpha() and min(word) >= NO_SPACES and _FUNCTION.fullmatch(word) is None
    return len(word) >= 3 and word.isalpha() and word not in STOP_WORDS


def content_words(text: str) -> frozenset[str]:
    """The content words of a text, folded.

    >>> sorted(content_words("How much does the garden key weigh?"))
    ['garden', 'key', 'weigh']
    """
    folded = fold(clean(canonical(text)))
    if not _UNSPACED.search(folded):
        return frozenset(filter(is_content, _WORD.findall(folded)))
    return frozenset(word for _, _, content in _pieces(folded, ()) for word in content)
