"""The values in a statement, names and numbers, and sentences that say the same but for one of them.

A name is a word that means one thing and no other: it holds a digit, an underscore, an `@`, a dot between letters, or
a slash at an end or twice. A rule with another name or number is another rule, however alike the rest of it reads.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from compactlab.statements.wording import is_number

LEAST = 3
"""Words beside its values that a statement needs before a sentence with the same words counts as a copy of it."""

_LETTER = r"[^\W\u2e80-\U0010ffff]"
_SIGN = r"[$€£¥%]|(?<![^\s(])[-+](?=\d)"
_PIECE = re.compile(rf"{_SIGN}|[~.]?/?(?:{_LETTER}|(?<=\d),(?=\d)|[@/.+:-](?={_LETTER}|[/~]))++/?|\w+")
_WORD = re.compile(rf"[^\W_]+(?:_+[^\W_]+)*|{_SIGN}")
_NAME = re.compile(r".*[\d@].*|.*[^\W_]_+[^\W_].*|[.~/].*\w.*|.+/|.*/.*/.*|.*\w\w\.\w.*|.*\w\.\w\w.*")
_BOUNDS = re.compile(
    r"(?:\b(?:at (?:most|least)|(?:not? )?\w+ than|under|over|above|below|within|up to|only|exactly|to|by)|[$€£¥\s])+\Z"
)
_SLOT = "\0"


class Wording(NamedTuple):
    """A text word by word, each value as one: `pattern` has a slot for it; `words` says where each stands."""

    pattern: str
    words: tuple[tuple[str, int, int], ...]


def is_name(word: str) -> bool:
    """Tell whether a plain word is a name of one thing, and no number.

    >>> [is_name(w) for w in ("us-east-1", "orders_prod", "acme.com", ".env.local", "src/billing/", "and/or", "5")]
    [True, True, True, True, True, False, False]
    """
    return _NAME.fullmatch(word) is not None and not is_number(word)


def names(text: str) -> tuple[str, ...]:
    """The names in a plain text, in order, each once.

    >>> names("point queries at replica_02, not the primary. see config/prod.yaml.")
    ('replica_02', 'config/prod.yaml')
    """
    return tuple(dict.fromkeys(piece for piece, _, _ in _pieces(text) if is_name(piece)))


def stands(name: str, text: str) -> bool:
    """Tell whether a name stands in a plain text as a whole, or as a folder on the way to something.

    >>> [stands("src/billing/", t) for t in ("in src/billing only", "in src/billing/tax.py", "in src/billings")]
    [True, True, False]
    """
    bare = name.rstrip("/") or name
    return re.search(rf"(?<![\w@-]){re.escape(bare)}(?![\w-]|\.\w)", text) is not None


def worded(text: str) -> Wording:
    """Cut a plain text into words and values."""
    pieces = tuple(_pieces(text))
    return Wording(_joined(_SLOT if _is_value(piece) else piece for piece, _, _ in pieces), pieces)


def spoken(text: str) -> Wording:
    """Cut a plain text into words alone: punctuation between them does not count, signs of money and shares do.

    >>> spoken("keep it under $1 ,500 !").pattern == spoken("keep it under $1,500").pattern
    True
    """
    words = tuple((match[0], match.start(), match.end()) for match in _WORD.finditer(text))
    return Wording(_joined(word for word, _, _ in words), words)


def within(said: Wording, text: Wording) -> tuple[int, int] | None:
    """Which words of a text are those of another, one after the other: the first and the one behind the last."""
    at = text.pattern.find(said.pattern) if said.words else -1
    if at < 0:
        return None
    first = text.pattern.count(" ", 0, at + 1) - 1
    return first, first + len(said.words)


def has_other_values(said: Wording, text: Wording) -> bool:
    """Tell whether a text says the same words with another value in them.

    >>> rule = worded("writes to orders_prod need a ticket")
    >>> [has_other_values(rule, worded(t)) for t in ("all writes to orders_stage need a ticket.", rule.pattern)]
    [True, False]
    """
    plain = sum(not _is_value(word) for word, _, _ in said.words)
    place = within(said, text) if _SLOT in said.pattern and plain >= LEAST else None
    if place is None:
        return False
    pairs = zip(said.words, text.words[slice(*place)], strict=True)
    return any(_bare(one[0]) != _bare(other[0]) for one, other in pairs)


def before_value(text: str) -> Wording | None:
    """The words of a plain text before its first value, without those that bound it; None if they are fewer than three.

    >>> before_value("canary deployments get at most 5% of traffic").pattern
    ' canary deployments get '
    """
    first = next((start for piece, start, _ in _pieces(text) if _is_value(piece)), None)
    said = spoken(_BOUNDS.sub("", text[:first])) if first else None
    return said if said and len(said.words) >= LEAST else None


def _is_value(piece: str) -> bool:
    return is_number(piece) or is_name(piece)


def _bare(piece: str) -> str:
    return piece.rstrip("/") or piece


def _joined(words: Iterator[str]) -> str:
    return f" {' '.join(words)} "


def _pieces(text: str) -> Iterator[tuple[str, int, int]]:
    for match in _PIECE.finditer(text):
        yield match[0], match.start(), match.end()
