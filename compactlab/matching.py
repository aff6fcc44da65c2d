"""Is this fact in this text, and is it bound to what it was about; the closed list of verdicts.

A value is *present* where one of its forms stands as a whole: `12` is not in `1.2`, nor `/a/b` in `/a/bc`. It is
*bound* where, in the same block and within `WINDOW` words of it, stands a content word that stood that near it at one
of its homes and is itself no part of any fact: a bare list of values binds nothing (DESIGN 5). All texts are compared
in canonical form: Unicode NFKC, white space collapsed; prose without regard to case.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple

import ahocorasick_rs

from compactlab.facts.text import canonical
from compactlab.facts.words import STOP_WORDS
from compactlab.tokens import clean
from compactlab.transcript import Block, readable

WINDOW = 8
"""Words on either side of a value that count as near it; a wider window binds by accident (metric study 2)."""

Verdict = Literal["kept", "stale", "both", "mutated", "weakened", "contradicted", "lost"]
VERDICTS: tuple[Verdict, ...] = ("kept", "stale", "both", "mutated", "weakened", "contradicted", "lost")

_WORD = re.compile(r"\w+")
_ESCAPE = re.compile(r"\\[ntr]\Z")
_GROUP = re.compile(r"\d{3}(?!\d)")
_NO_SPACES = "\u2e80"  # from here on scripts are written without spaces: any place is a word's edge
_JOINERS = {
    "number": ".,:/-",
    "quantity": ".,:/-",
    "date": ".,:/-",
    "path": "/.-~",
    "url": "/.-~?&=#:%",
    "identifier": "-/",
    "hash": "-",
    "command": "/.-=",
    "answer": ".,:/-",
}
_WHOLE_DATE = re.compile(r"\d{4}-\d\d-\d\d|\d\d?:\d\d(?::\d\d)?")  # complete by itself: `-` and `/` begin a range


class Pattern(NamedTuple):
    """What to look for: surface forms, whether case counts, and the family that says where a value ends."""

    forms: tuple[str, ...]
    exact: bool
    family: str


class Hit(NamedTuple):
    """A pattern found in a text, by its index, and the content words within the window around it."""

    pattern: int
    words: frozenset[str]


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
        if block not in self._known:
            self._known[block] = tuple(self.hits(readable(block)))
        return self._known[block]

    def hits(self, text: str) -> list[Hit]:
        """Hits in a text, in the order in which they stand."""
        text = clean(canonical(text))
        spans = self.spans(text)
        if not spans:
            return []
        words = _Words(fold(text), spans)
        return [Hit(pattern, words.around(start, end)) for start, end, pattern in spans]

    def spans(self, text: str) -> list[tuple[int, int, int]]:
        """Start, end and pattern of every hit in a text that is in canonical form."""
        folded = fold(text)
        return sorted(
            span for search, form in zip(self._searches, (text, folded), strict=True) for span in search(form)
        )


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
        self._joiners = [_joiners(form, patterns[index].family) for form, index in forms]
        self._owner = [index for _, index in forms]
        self._automaton = ahocorasick_rs.AhoCorasick([form for form, _ in forms]) if forms else None

    def __call__(self, text: str) -> Iterable[tuple[int, int, int]]:
        if self._automaton is None:
            return
        for form, start, end in self._automaton.find_matches_as_indexes(text, overlapping=True):
            if is_whole(text, start, end, self._joiners[form]):
                yield start, end, self._owner[form]


def _joiners(form: str, family: str) -> str:
    joiners = _JOINERS.get(family, "")
    return joiners.replace("-", "").replace("/", "") if family == "date" and _WHOLE_DATE.fullmatch(form) else joiners


def is_whole(text: str, start: int, end: int, joiners: str = "") -> bool:
    r"""Tell whether `text[start:end]` is no part of a longer value that letters, digits or *joiners* make.

    A comma joins only as it groups thousands, so that the cells of a table stand apart; a written `\n` parts words.

    >>> is_whole("v1.2", 3, 4, ".,"), is_whole("a 2.", 2, 3, ".,"), is_whole("/a/bc", 0, 4, "/.")
    (False, True, False)
    """
    before = text[max(0, start - 3) : start]
    after = text[end : end + 5]
    if before and _word(before[-1]) and (_word(text[start]) or text[start] in joiners) and not _ESCAPE.search(before):
        return False
    if after and _word(after[0]) and (_word(text[end - 1]) or text[end - 1] in joiners):
        return False
    if before and before[-1] in joiners and _joined(before, text[start : start + 4], joiners):
        return False
    if len(after) < 2 or after[0] not in joiners or not _word(after[1]):
        return True
    return after[0] == "," and _GROUP.match(after[1:]) is None


def _joined(before: str, value: str, joiners: str) -> bool:
    """A joiner before a value joins it to a word; before a path a slash does even alone, but a free `./` does not."""
    if "~" in joiners and before[-1] == "." and value[:1] == "/":
        return True
    if "~" in joiners and before[-1] in "/~":
        return not (before.endswith("./") and (len(before) == 2 or not (_word(before[0]) or before[0] in "./")))
    if before[-1] == ",":
        return before[-2:-1].isdigit() and _GROUP.match(value) is not None
    return len(before) > 1 and _word(before[-2])


def _word(character: str) -> bool:
    return (character.isalnum() or character == "_") and character < _NO_SPACES


def fold(text: str) -> str:
    """Lower case, length preserved, so that positions in both forms agree.

    >>> fold("Straße İx")
    'straße İx'
    """
    lower = text.lower()
    if len(lower) == len(text):
        return lower
    return "".join(low if len(low := character.lower()) == 1 else character for character in text)


class _Words:
    """The words of a folded text, with those that may anchor a value told apart."""

    def __init__(self, folded: str, spans: Sequence[tuple[int, int, int]]) -> None:
        found = [(match.start(), match.end()) for match in _WORD.finditer(folded)]
        self._starts = [start for start, _ in found]
        self._ends = [end for _, end in found]
        covered = _merged(spans)
        self._content: list[str | None] = []
        at = 0
        for start, end in found:
            while at < len(covered) and covered[at][1] <= start:
                at += 1
            free = at == len(covered) or covered[at][0] >= end
            word = folded[start:end]
            self._content.append(word if free and is_content(word) else None)

    def around(self, start: int, end: int) -> frozenset[str]:
        """Content words among the nearest `WINDOW` words on either side of a span."""
        left = bisect_right(self._ends, start)
        right = bisect_left(self._starts, end)
        near = self._content[max(0, left - WINDOW) : left] + self._content[right : right + WINDOW]
        return frozenset(word for word in near if word)


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

    >>> is_content("port"), is_content("the"), is_content("x1")
    (True, False, False)
    """
    return len(word) >= 3 and word.isalpha() and word not in STOP_WORDS


def content_words(text: str) -> frozenset[str]:
    """The content words of a text, folded.

    >>> sorted(content_words("How much does the garden key weigh?"))
    ['garden', 'key', 'weigh']
    """
    return frozenset(word for word in _WORD.findall(fold(clean(canonical(text)))) if is_content(word))
