"""Words of a sentence as statements are compared: tokens, stems, numbers, sentences and clauses.

A stem is the start of a word without its common endings in English and German, so that `pushing to` and `pushed` meet
`push`. It is no linguist's stem: both sides are cut alike, and that is all it is for. A character of a script without
spaces is a word of its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from compactlab.facts.text import canonical
from compactlab.facts.words import STOP_WORDS
from compactlab.matching import fold
from compactlab.tokens import clean

_WIDE = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
_TOKEN = re.compile(
    rf"[{_WIDE}]|[^\W\d_{_WIDE}]{{1,12}}-\d++(?![\w-])|\d++(?:[.,:]\d++)*+(?![^\W{_WIDE}])"
    rf"|[^\W{_WIDE}]++(?:'[^\W\d_{_WIDE}]++)?"
)
_NUMBER = re.compile(
    r"\d[\d.,:]*|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty|forty|fifty|hundred"
    r"|zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn|elf|zwölf|zwanzig"
)
_ENDINGS = ("ings", "ing", "edly", "ies", "ied", "ern", "ed", "es", "en", "er", "em", "s", "e", "y")
_SENTENCE_END = re.compile(r"(?<=[.!?])[\"'”’»)\]]{0,2}(?:\s+|\Z)|(?<=[。！？])|\s*\n\s*|(?<=[.!?][\"'”’»)\]])\s+")
_CLAUSE_END = re.compile(
    r"(?:\s*[,;:—–]|\s-)\s+(?:(?:and|but|or|so|und|aber|oder)\s+)?(?:please\s+|bitte\s+)?"
    r"(?=(?:never|don't|do not|always|only|nothing|no|not|nie|niemals|immer|keine?n?|make sure|you must)\b)"
    r"|;\s+|\s+(?:and|but|und|aber)\s+(?=(?:never|don't|do not|always|nie|niemals|make sure|you must)\b)|[，；]"
    r"|,\s+(?:(?:and|but|so)\s+)?(?=(?:i|i've|i'd|i'll|i'm|he|he's|she|she's|it|it's|they|we|that's|because"
    r"|in case|since"
    r"|who|which|though)\b)|(?<=\w\w):\s+(?=(?:[^\s:]+\s+){3})|,\s+(?=(?:the|[A-Z]+-?\d*)\s[^,]*\b(?:is|was|has"
    r"|says|depends|needs?)\b)",
    re.IGNORECASE,
)
_CONDITION = re.compile(
    r"(?:if|when|whenever|before|after|once|unless|until|while|on \w+days?|things|wenn|bevor)\b", re.IGNORECASE
)
_ABBREVIATION = re.compile(r"\b(?:e\.g|i\.e|etc|vs|ch|cf|approx|no|nr|z\.b|bzw|usw|mr|mrs|dr|st)\.\Z", re.IGNORECASE)

# Words that say nothing of what a statement is about, beside the stop words.
_EMPTY = frozenset(
    """the not can't won't isn't don't doesn't didn't shouldn't mustn't needn't aren't wasn't it's i'm i'd i'll i've
    you're you'll you'd we're we'll we'd he's she's that's there's what's let's they're must should may might could
    ever even also too please really okay well yes sure need needs have has had want wants going just only always
    never without instead rather prefer bitte nie niemals immer nur keine keinen keiner muss musst müssen darf darfst
    dürfen soll sollst sollen sollte nichts niemand jemals auch""".split()
)


class Token(NamedTuple):
    """A word of a folded text, its stem (empty for a word that says nothing), and where it stands."""

    word: str
    stem: str
    start: int
    end: int


def plain(text: str) -> str:
    r"""Give *text* as statements are compared: canonical, folded, apostrophes and dashes of one kind.

    >>> plain("Don’t  touch\n  PROD")
    "don't touch prod"
    """
    return fold(clean(canonical(text))).replace("’", "'").replace("ʼ", "'")


@lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    """Cut the common endings off a folded word; at least three letters stay.

    >>> [stem(w) for w in ("pushing", "pushed", "push", "sheathing", "databases", "committed", "commit")]
    ['push', 'push', 'push', 'sheath', 'databas', 'commit', 'commit']
    """
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            word = word[: -len(ending)]
            break
    return word[:-1] if len(word) > 3 and word[-1] == word[-2] and word[-1].isalpha() else word


def tokens(text: str) -> list[Token]:
    """The words of a plain text, in order.

    >>> [(token.word, token.stem) for token in tokens("never touch the db7 of 不要")]
    [('never', ''), ('touch', 'touch'), ('the', ''), ('db7', 'db7'), ('of', ''), ('不', '不'), ('要', '要')]
    """
    return [Token(m[0], _telling(m[0]), m.start(), m.end()) for m in _TOKEN.finditer(text)]


@lru_cache(maxsize=65_536)
def _telling(word: str) -> str:
    """The stem of a word that says what a statement is about, else nothing."""
    if _NUMBER.fullmatch(word) or word in _EMPTY or word in STOP_WORDS:
        return ""
    if len(word) >= 3 or not word.isascii() or any(character.isdigit() for character in word):
        return stem(word.partition("'")[0]) if word.isalpha() or "'" in word else word
    return ""


def is_number(word: str) -> bool:
    """True of a word that is a number, in digits with their points and commas or in letters."""
    return _NUMBER.fullmatch(word) is not None


def sentences(text: str) -> Iterator[tuple[int, int]]:
    """Where the sentences and lines of a text stand, blank ones left out.

    >>> [("No. Keep e.g. this. 好。ok"[a:b]) for a, b in sentences("No. Keep e.g. this. 好。ok")]
    ['No.', 'Keep e.g. this.', '好。', 'ok']
    """
    start = 0
    for match in _SENTENCE_END.finditer(text):
        before = text[max(start, match.start() - 12) : match.start()].lstrip()
        if "\n" not in match[0] and before.casefold() != "no." and _ABBREVIATION.search(before):
            continue
        end = match.end() if "\n" not in match[0] else match.start()
        if text[start:end].strip():
            yield _trimmed(text, start, end)
        start = match.end()
    if text[start:].strip():
        yield _trimmed(text, start, len(text))


def clauses(text: str) -> Iterator[tuple[int, int]]:
    """Where the clauses of a sentence stand that each may be a demand of its own.

    >>> [("ok, but never touch prod; run it"[a:b]) for a, b in clauses("ok, but never touch prod; run it")]
    ['ok', 'never touch prod', 'run it']
    """
    start = 0
    for match in _CLAUSE_END.finditer(text):
        if _CONDITION.match(text, start):
            continue
        if text[start : match.start()].strip():
            yield _trimmed(text, start, match.start())
        start = match.end()
    if text[start:].strip():
        yield _trimmed(text, start, len(text))


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    piece = text[start:end]
    return start + len(piece) - len(piece.lstrip()), end - len(piece) + len(piece.rstrip())
