"""Proper names, from how words are written: with a capital inside a sentence, and never in small letters elsewhere."""

from __future__ import annotations

from collections import Counter

from compactlab.facts.fact import Fact, fact
from compactlab.facts.words import GERMAN_WORDS, NO_NAMES, STOP_WORDS

_BEFORE = "\"'“„‘(*_"
_AFTER = "\"'”’)*_.,;:!?…"
_ENDS = (".", "!", "?", ":", "…", "—", "-", "|", "#", "*")
_LONGEST = 4
"""Words that one name may have."""
_PLAIN = 0.7
"""Share of a line's tokens that are plain words where it is prose."""


class Names:
    """Reads lines one by one; which of the capitalised words are names is known when all were read."""

    def __init__(self) -> None:
        self._small: set[str] = set()
        self._seen: Counter[tuple[str, ...]] = Counter()

    def read(self, tokens: list[str], *, is_said: bool) -> None:
        """Read the tokens of a line; of the result of a tool only a long line of prose."""
        words = [_bare(token) for token in tokens]
        plain = [word for word in words if word.isalpha()]
        self._small.update(word for word in plain if word.islower())
        if len(plain) < (3 if is_said else 8) or len(plain) < _PLAIN * len(words):
            return
        if sum(word.casefold() in GERMAN_WORDS for word in plain) > 0.15 * len(plain):
            return  # German writes every noun with a capital
        run: list[str] = []
        for i, word in enumerate(words):
            begins = i == 0 or tokens[i - 1].endswith(_ENDS) or tokens[i].startswith(('"', "“", "„", "*", "#"))
            if _is_capitalised(word) and (run or not begins):
                run.append(word)
                if not tokens[i].endswith((",", ";", ")", *_ENDS)):
                    continue
            self._keep(run)
            run = []
        self._keep(run)

    def facts(self) -> list[Fact]:
        """The names, in order of first appearance; each needs an anchor."""
        return [
            fact("name", " ".join(run), needs_anchor=True)
            for run in self._seen
            if not all(word.casefold() in self._small for word in run)
        ]

    def _keep(self, run: list[str]) -> None:
        if run and len(run) <= _LONGEST:
            self._seen[tuple(run)] += 1


def _bare(token: str) -> str:
    """A word without its punctuation and without the ending of a possessive."""
    word = token.lstrip(_BEFORE).rstrip(_AFTER)
    return word[:-2] if word.endswith(("'s", "’s")) else word


def _is_capitalised(word: str) -> bool:
    if len(word) < 3 or not word[0].isupper() or not word[1:].replace("-", "").isalpha():
        return False
    folded = word.casefold()
    return word[1:].islower() and folded not in NO_NAMES and folded not in STOP_WORDS
