"""A sentence of a history, and where in it the words of a statement stand: near each other, in order, in grammar."""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import dataclass
from functools import cached_property
from math import ceil
from typing import NamedTuple

from compactlab.statements import cues
from compactlab.statements.statement import Statement
from compactlab.statements.values import Wording, before_value, names, spoken, worded
from compactlab.statements.wording import Token, is_number, plain, tokens

NEAR = 6
"""Words from a cue to the words that it governs."""
SHARE = 0.75
"""Share of the content words of a statement of four and more that a sentence must hold; of fewer all."""

_LABEL = re.compile(
    r"^(?:[-*•>]+\s*|\d{1,2}[.)]\s*|(?:rules?|constraints?|note|user|decision|todo|requirements?|the user"
    r"|please|\w+ly,)\b:?\s*)*"
)
_BREAK = re.compile(r"[,;:.](?=\s)")
_POLITE = {"do", "please", "bitte"}
_NO_CUE = re.compile(r"\b(?:(?:don't|do not|never) forget to|not only|no matter)\b")


class Words(NamedTuple):
    """A statement made ready to be looked for.

    `verbatim` are its sentence and its clause word by word, `worded` the clause with slots for its values, `unvalued`
    its words before the first of these; `names` are those in it, `core` its content words that are no pieces of these;
    `verb` is the word right behind the cue that it opens with, empty where it opens otherwise.
    `has_grammar`: words of grammar stand between its content words; `cued`: it forbids; `is_bare`: it has one content
    word and no more.
    """

    statement: Statement
    text: str
    verbatim: tuple[Wording, ...]
    worded: Wording
    unvalued: Wording | None
    names: tuple[str, ...]
    core: frozenset[str]
    verb: str
    needed: int
    has_grammar: bool
    cued: bool
    is_bare: bool


def ready(statement: Statement) -> Words:
    """Make a statement ready to be looked for."""
    text = plain(statement.text).strip(" .!;:,-*")
    count = len(statement.objects)
    said = tokens(text)
    told = [at for at, word in enumerate(said) if word.stem in statement.objects]
    between = said[told[0] : told[-1]] if told else []
    has_grammar = any(not word.stem and not _is_cue(word.word) and not is_number(word.word) for word in between)
    cued = cues.FORBIDS.search(text) is not None
    is_bare = count == 1 and not statement.numbers + statement.scope
    needed = count if count <= 3 or statement.kind == "request" else ceil(SHARE * count)
    whole = plain(statement.sentence).strip(" .!;:,-*")
    by_clause = len(text) > 12 and statement.kind not in {"decision", "rejected", "todo"}
    verbatim = tuple(spoken(said) for said in dict.fromkeys((whole, text if by_clause else "")) if said)
    lead = said[: next((at for at, word in enumerate(said) if word.stem), 0)]
    verb = said[len(lead)].word if lead and all(_is_cue(w.word) or w.word in _POLITE for w in lead) else ""
    named = names(text)
    pieces = {token.stem for name in named for token in tokens(name)}
    return Words(
        statement,
        text,
        verbatim,
        worded(text),
        before_value(text),
        named,
        frozenset(statement.objects) - pieces,
        verb,
        needed,
        has_grammar,
        cued,
        is_bare,
    )


def _is_cue(word: str) -> bool:
    return any(cue.fullmatch(word) for cue in (cues.FORBIDS, cues.DEMANDS, cues.SOFTENS, cues.PERMITS, cues.CHOOSES))


@dataclass(frozen=True)
class Place:
    """Where the words of a statement stand in a sentence: first and last word, and whether in the statement's order."""

    first: int
    last: int
    in_order: bool


class Segment:
    """A sentence of a history, in plain form, with the heading that it stands under."""

    def __init__(self, text: str, heading: str = "") -> None:
        self.text = _NO_CUE.sub("always", text)
        self.heading = heading

    @cached_property
    def spoken(self) -> Wording:
        """The sentence word by word."""
        return spoken(self.text)

    @cached_property
    def worded(self) -> Wording:
        """The sentence word by word, values as one."""
        return worded(self.text)

    @cached_property
    def tokens(self) -> list[Token]:
        return tokens(self.text)

    @cached_property
    def stems(self) -> frozenset[str]:
        return frozenset(token.stem or token.word for token in self.tokens)

    @cached_property
    def opening(self) -> int:
        """Where the sentence begins behind bullets and labels."""
        found = _LABEL.match(self.text)
        return found.end() if found else 0

    def around(self, place: Place, before: int = NEAR, after: int = 3) -> str:
        """The text from some words before a place to some after it in the same clause."""
        first = self.tokens[max(0, place.first - before)].start
        end = self.tokens[place.last].end
        behind = self.text[end : self.tokens[min(len(self.tokens) - 1, place.last + after)].end]
        return self.text[first:end] + _BREAK.split(behind, maxsplit=1)[0]

    def clause(self, place: Place) -> str:
        """The text from a place to the end of its clause."""
        return _BREAK.split(self.text[self.tokens[place.first].start :], maxsplit=1)[0]

    def before(self, place: Place, words: int = NEAR) -> str:
        """The words before a place."""
        return self.text[self.tokens[max(0, place.first - words)].start : self.tokens[place.first].start]

    def place(self, words: Words) -> Place | None:
        """Where the content words of a statement stand, enough of them and near each other."""
        order = {stem: index for index, stem in enumerate(words.statement.objects)}
        found = [(at, order[token.stem]) for at, token in enumerate(self.tokens) if token.stem in order]
        if len({index for _, index in found}) < words.needed or not found:
            return None
        run = _longest_run(found)
        in_order = len(run) >= words.needed
        first, last = (run[0], run[-1]) if in_order else (found[0][0], found[-1][0])
        if last - first > 2 * len(tokens(words.text)) + 8:
            return None
        place = Place(first, last, in_order)
        told = words.statement.numbers + words.statement.scope
        is_thin = len(order) == 1 and bool(told) and self.stems.isdisjoint(told)
        return None if is_thin or (words.has_grammar and not self._has_grammar(place)) else place

    def _has_grammar(self, place: Place) -> bool:
        near = self.tokens[max(0, place.first - NEAR) : place.last + 4]
        return any(not t.stem and not is_number(t.word) and not _is_cue(t.word) for t in near)


def _longest_run(found: list[tuple[int, int]]) -> list[int]:
    """Positions of the longest stretch of words that stand in the order of the statement, each once."""
    tails: list[int] = []
    runs: list[list[int]] = []
    for at, index in found:
        cut = bisect_left(tails, index)
        run = [*(runs[cut - 1] if cut else []), at]
        if cut == len(tails):
            tails.append(index)
            runs.append(run)
        else:
            tails[cut], runs[cut] = index, run
    return runs[-1]
