"""Numbers in words: English up to the millions, German up to 999; both ways."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

ONES = ("zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
        "seventeen eighteen nineteen").split()  # fmt: skip
TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
LARGE = {"hundred": 100, "thousand": 1_000, "million": 1_000_000}
_VALUES = {word: number for number, word in enumerate(ONES)} | {word: 10 * i + 20 for i, word in enumerate(TENS)}

_GERMAN_ONES = "null ein zwei drei vier fünf sechs sieben acht neun zehn elf zwölf".split()
_GERMAN_TENS = {20: "zwanzig", 30: "dreißig", 40: "vierzig", 50: "fünfzig", 60: "sechzig", 70: "siebzig", 80: "achtzig",
                90: "neunzig"}  # fmt: skip


def german(number: int) -> str:
    """Give *number*, from 0 to 999, as German writes it in one word.

    >>> german(47), german(16), german(212)
    ('siebenundvierzig', 'sechzehn', 'zweihundertzwölf')
    """
    if number >= 100:
        rest = german(number % 100) if number % 100 else ""
        return f"{_GERMAN_ONES[number // 100]}hundert{rest}"
    if number < len(_GERMAN_ONES):
        return _GERMAN_ONES[number]
    if number < 20:
        return {16: "sech", 17: "sieb"}.get(number, _GERMAN_ONES[number - 10]) + "zehn"
    tens = _GERMAN_TENS[number - number % 10]
    return f"{_GERMAN_ONES[number % 10]}und{tens}" if number % 10 else tens


_GERMAN_VALUES = {german(number): number for number in range(2, 1_000)} | {"hundert": 100, "tausend": 1_000}


def _one_of(words: Iterable[str]) -> str:
    """Give a pattern of *words*, the longest first, grouped by their first letters, so that it fails fast."""
    groups: dict[str, list[str]] = {}
    for word in sorted(words, key=len, reverse=True):
        groups.setdefault(word[0], []).append(word[1:])
    return "|".join(f"{letter}(?:{'|'.join(rest)})" for letter, rest in groups.items())


_ENGLISH_WORD = _one_of((*ONES[1:], *TENS, "hundred", "thousand", "million", "dozen"))
ENGLISH = rf"(?:a (?=hundred|thousand|million|dozen))?(?:{_ENGLISH_WORD})(?:(?:-| and | )(?:{_ENGLISH_WORD})\b){{0,9}}+"
# A word of these may be the whole of a number in words, or its last.
NUMBER_WORDS: frozenset[str] = frozenset(
    (*ONES[1:], *TENS, "hundred", "thousand", "million", "dozen", *map(german, range(2, 100)), "hundert", "tausend")
)
GERMAN = rf"(?:{_one_of((*map(german, range(2, 100)), 'hundert', 'tausend'))})"


@lru_cache(maxsize=4_096)
def digits_of(words: str) -> str | None:
    """Give the number that *words* name, in digits; None if they name none.

    >>> digits_of("two hundred and twelve"), digits_of("A dozen"), digits_of("siebenundvierzig"), digits_of("nine ten")
    ('212', '12', '47', None)
    """
    words = words.lower()
    if words in _GERMAN_VALUES:
        return str(_GERMAN_VALUES[words])
    if words in {"a dozen", "dozen", "one dozen"}:
        return "12"
    total = group = 0
    smallest = 1_000_000_000  # each word must be of a smaller kind than the one before it
    for word in words.replace("-", " ").split():
        if word in LARGE:
            group, smallest = (group or 1) * LARGE[word], LARGE[word]
            total, group = (total + group, 0) if smallest > 100 else (total, group)
        elif word not in {"a", "and"}:
            value = _VALUES.get(word, 0)
            kind = 10 if value >= 20 else 1
            if not value or kind >= smallest:
                return None
            group, smallest = group + value, kind
    return str(total + group) if total + group else None


@lru_cache(maxsize=4_096)
def words_of(digits: str) -> tuple[str, ...]:
    """Give the ways to write a whole number under a million in English words; none for any other.

    >>> words_of("212")
    ('two hundred and twelve', 'two hundred twelve')
    >>> words_of("100"), words_of("3.5")
    (('one hundred', 'a hundred'), ())
    """
    if not digits.isdecimal() or not 0 < int(digits) < 1_000_000:
        return ()
    first, second = _english(int(digits), " and "), _english(int(digits), " ")
    ways = [first, second]
    ways += [f"a {way.removeprefix('one ')}" for way in ways if way.startswith(("one hundred", "one thousand"))]
    return tuple(dict.fromkeys((*ways, *(["a dozen"] if digits == "12" else []))))


def _english(number: int, joint: str) -> str:
    if number >= 1_000:
        rest = number % 1_000
        tail = "" if not rest else (joint if rest < 100 else " ") + _english(rest, joint)
        return f"{_english(number // 1_000, joint)} thousand{tail}"
    if number >= 100:
        rest = number % 100
        return f"{ONES[number // 100]} hundred{joint + _english(rest, joint) if rest else ''}"
    if number < 20:
        return ONES[number]
    return TENS[number // 10 - 2] + (f"-{ONES[number % 10]}" if number % 10 else "")
