"""Rules and looks: how families say what they read in a line, and where it need not be tried at all.

A rule takes its matches: later rules no longer see them. A look leaves the text as it is. Each names the characters or
words without which it cannot match, so that most texts are tried by few of them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from string import ascii_lowercase, ascii_uppercase, digits
from typing import NamedTuple

import ahocorasick_rs
import msgspec

from compactlab.facts.fact import Fact
from compactlab.facts.text import FILLER, blank

Judge = Callable[[re.Match[str]], Sequence[Fact]]
Found = tuple[tuple[int, Fact], ...]

NUMERAL, MONTH = "\x01", "\x02"
"""Signs of a number in words and of the name of a month, which no single character shows."""
_KINDS = dict.fromkeys(digits, "0") | dict.fromkeys(ascii_uppercase, "A") | dict.fromkeys(ascii_lowercase, "a")
_SIGNS = str.maketrans(_KINDS | {"m": "m", "x": "x"})


class Rule(NamedTuple):
    """Let `judge` make facts of the matches of `pattern`, in texts that hold a character of each of the `signs`.

    `prose` True or False is a rule for prose alone or for all else. A rule that `hides` takes its matches even where
    it makes no facts of them.
    """

    pattern: re.Pattern[str]
    judge: Judge
    signs: tuple[str, ...]
    prose: bool | None = None
    hides: bool = False


class Look(NamedTuple):
    """Let `judge` make facts of the matches of `pattern` in lines that hold one of `words`."""

    pattern: re.Pattern[str]
    judge: Judge
    words: tuple[str, ...]


class Reading(msgspec.Struct, frozen=True, gc=False):
    """The facts of a text with their places in it, and the spans that they took."""

    found: Found = ()
    taken: tuple[tuple[int, int], ...] = ()


NOTHING = Reading()


def signs_of(text: str) -> frozenset[str]:
    """Give the characters of *text*, any digit as 0, any capital letter as A, any small one but m and x as a.

    >>> sorted(signs_of("Pump 12 max."))
    [' ', '.', '0', 'A', 'a', 'm', 'x']
    """
    signs = frozenset(text.translate(_SIGNS))
    return signs if text.isascii() or not any(map(str.isdecimal, signs)) else signs | {"0"}


class Rules:
    """Rules that take their shares of a text one after the other; `across` if a match of one may hold a blank."""

    def __init__(self, *rules: Rule, across: bool = False) -> None:
        self.rules = rules
        self.across = across
        self._signs = frozenset(sign for rule in rules for signs in rule.signs for sign in signs)
        self._known: dict[tuple[frozenset[str], bool], tuple[Rule, ...]] = {}

    def __call__(self, text: str, signs: frozenset[str], *, prose: bool) -> Reading:
        """Read *text*, which holds *signs*."""
        found: list[tuple[int, Fact]] = []
        taken: list[tuple[int, int]] = []
        for rule in self._fitting(signs & self._signs, prose=prose):
            spans = []
            for match in rule.pattern.finditer(text):
                made = rule.judge(match)
                if made:
                    found += [(match.start(), fact) for fact in made]
                if made or rule.hides:
                    spans.append(match.span())
            if spans:
                text = blank(text, spans)
                taken += spans
        return Reading(tuple(found), tuple(sorted(taken))) if taken else NOTHING

    def _fitting(self, signs: frozenset[str], *, prose: bool) -> tuple[Rule, ...]:
        """Which rules may match at all where only these signs stand."""
        known = self._known.get((signs, prose))
        if known is None:
            known = self._known[signs, prose] = tuple(
                rule
                for rule in self.rules
                if rule.prose is not (not prose) and not any(signs.isdisjoint(wanted) for wanted in rule.signs)
            )
        return known


class Looks:
    """Looks that are tried on the lines that hold a word of theirs, in one pass for all words."""

    def __init__(self, *looks: Look) -> None:
        self._looks = looks
        owners = [(word, number) for number, look in enumerate(looks) for word in look.words]
        self._owners = [number for _, number in owners]
        self._words = ahocorasick_rs.AhoCorasick([word for word, _ in owners])

    def __call__(self, line: str) -> Found:
        """What stands in *line*, with its places; nothing of which a part is masked."""
        signs = self._words.find_matches_as_indexes(line, overlapping=True)
        return tuple(self._found(line, {self._owners[sign] for sign, _, _ in signs})) if signs else ()

    def _found(self, line: str, numbers: set[int]) -> Iterable[tuple[int, Fact]]:
        for number in sorted(numbers):
            for match in self._looks[number].pattern.finditer(line):
                yield from (
                    (match.start(), fact) for fact in self._looks[number].judge(match) if FILLER not in fact.value
                )
