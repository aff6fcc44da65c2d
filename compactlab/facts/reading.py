"""Reader: what the lines of a block say, the most specific family first.

No value of the families read here reaches beyond its line, and few beyond a word. So each distinct line is read once,
and each distinct word: what a line holds is what its words hold, unless a match may lie across the blank between two of
them; then the rules are let loose on the line itself. Both ways give the same, and a test holds them to it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

import msgspec

from compactlab.facts.code import ADDRESSES, ARGUMENTS
from compactlab.facts.compounds import COMPOUNDS
from compactlab.facts.counting import NUMBER_WORDS
from compactlab.facts.counts import COUNTS, FACTORS, SCALED
from compactlab.facts.dates import DATES, MONTH_NAMES, TIMES
from compactlab.facts.errors import ERRORS, LOGS
from compactlab.facts.fact import Fact
from compactlab.facts.identifiers import DEFINED, IDENTIFIERS
from compactlab.facts.lines import MONTH, NOTHING, NUMERAL, Look, Looks, Reading, Rules, signs_of
from compactlab.facts.numbers import NUMBERS
from compactlab.facts.prose import QUOTES
from compactlab.facts.quantities import CURRENCIES, QUANTITIES, THINGS, UNIT_STARTS
from compactlab.facts.sheet import Sheet
from compactlab.facts.text import FILLER, blank
from compactlab.transcript import ToolCall

STAGES = (ARGUMENTS, ADDRESSES, DATES, IDENTIFIERS, SCALED, QUANTITIES, NUMBERS)
"""Who reads in turn: who comes later sees only what was left."""
ALL = Rules(*(rule for stage in STAGES for rule in stage.rules))

# What a match across a blank may be: `9 cm`, `£ 9`, `2026-03-14 9:30`; in prose also `9 panes`, `9 am`, `9 3/8`.
MEASURE, PRICE, TIME, COUNT = 1, 2, 4, 8
_CROSS: frozenset[str] = frozenset("x×")
_HALF_DAYS: frozenset[str] = frozenset("a p am pm o O".split())
_COUNTED = THINGS | _HALF_DAYS | FACTORS.keys()
# Plain words that may be a part of something, outside prose.
_TELLING = MONTH_NAMES | UNIT_STARTS | CURRENCIES | _CROSS
_NO_MARKS: frozenset[str] = frozenset()

# A word of letters that is nothing by itself, whatever marks stand around it.
_PLAIN = re.compile(r"[\"'“„‘(*\[{<]*+([A-Za-z]?[a-z]*+)(?:['’](?:s|t|d|m|ll|re|ve|clock))?[\"'”“’)*\]}>.,;:!?…]*+")
_LETTERS = re.compile(r"[^\W\d_]++")
_START = re.compile(r"[^\W\d_]++|[x×]?\d|\W")


class Word(msgspec.Struct, frozen=True, gc=False):
    """What a word holds by itself, and how a longer match may reach beyond it.

    A match may lie across a blank if the `tail` of the word before it and the `head` of the one behind it share a bit.
    `marks` tells of a number in words or a month, which a rule cannot see in single characters.
    """

    reading: Reading
    tail: int
    head: int
    marks: frozenset[str]


@lru_cache(maxsize=262_144)
def read_word(text: str, *, prose: bool) -> Word | None:
    """What a word says; None for one that says nothing and goes together with none."""
    plain = _PLAIN.fullmatch(text)
    if plain and not prose and plain[1] not in _TELLING and text not in _TELLING:
        return None
    parts = [plain[1]] if plain else _LETTERS.findall(text)
    marks = _NO_MARKS if MONTH_NAMES.isdisjoint(parts) else frozenset(MONTH)
    counted = prose and not NUMBER_WORDS.isdisjoint(map(str.lower, parts))
    if counted:
        marks |= {NUMERAL}
    reading = NOTHING if plain else ALL(text, signs_of(text) | marks, prose=prose)
    tail, head = _tail(text, parts, counted=counted), _head(text)
    return Word(reading, tail, head, marks) if reading is not NOTHING or tail or head or marks else None


def _tail(text: str, parts: Sequence[str], *, counted: bool) -> int:
    last = text[-1]
    if last.isdecimal():
        return MEASURE | COUNT | (TIME if text[-3:-2] == "-" else 0)
    if last in CURRENCIES or (last in _CROSS and not text[-2:-1].isalpha()) or (parts and parts[-1] in CURRENCIES):
        return PRICE
    return COUNT if counted else 0


def _head(text: str) -> int:
    start = _START.match(text)
    first = start[0] if start else "_"
    if first[-1].isdecimal():
        return MEASURE if len(first) > 1 else PRICE | TIME | (COUNT if "/" in text else 0)
    if first in UNIT_STARTS or first in _CROSS:
        return MEASURE | COUNT
    return COUNT if first[-1] == "s" or first in _COUNTED or first[0].isupper() else 0


@lru_cache(maxsize=65_536)
def read_share(text: str, stage: int, *, prose: bool) -> Reading:
    """What the families of one stage make of a word."""
    return NOTHING if _PLAIN.fullmatch(text) else STAGES[stage](text, signs_of(text), prose=prose)


class Lines(dict[str, Reading]):
    """The readings of lines of one kind, in prose or not, each made once."""

    def __init__(self, looks: Looks, *, prose: bool, arguments: bool) -> None:
        super().__init__()
        self._prose = prose
        self._looks = looks
        self._stages = [(n, stage) for n, stage in enumerate(STAGES) if arguments or stage is not ARGUMENTS]
        self._arguments = ARGUMENTS.rules if arguments else ()
        self._edges = MEASURE | PRICE | TIME | (COUNT if prose else 0)
        self._words: dict[str, Word | None] = _Words(prose=prose)

    def __missing__(self, line: str) -> Reading:
        words = list(map(self._words.__getitem__, line.split()))
        seen = self._looks(line)
        reading = NOTHING
        if self._may_cross(words, line):
            reading = self._across(line, words)
        elif any(word and word.reading.taken for word in words):
            reading = _joined((start, word.reading) for start, _, word in _placed(line, words))
        self[line] = reading = Reading((*seen, *reading.found), reading.taken) if seen else reading
        return reading

    def _may_cross(self, words: Sequence[Word | None], line: str) -> bool:
        """Tell whether a match may reach over a blank."""
        tail = 0
        for word in words:
            if word is None:
                tail = 0
                continue
            if tail & word.head & self._edges or MONTH in word.marks:
                return True
            tail = word.tail
        return any(rule.pattern.match(line) for rule in self._arguments)

    def _across(self, line: str, words: Sequence[Word | None]) -> Reading:
        """Let the families read one after the other what those before them left of the line."""
        text = line
        placed = _placed(line, words)
        found: list[tuple[int, Fact]] = []
        taken: list[tuple[int, int]] = []
        signs = signs_of(line).union(*(word.marks for word in words if word))
        for number, stage in self._stages:
            whole = stage.across
            reading = stage(text, signs, prose=self._prose) if whole else self._shares(text, number, placed)
            if reading.taken:
                text = blank(text, reading.taken)
                found += reading.found
                taken += reading.taken
        return Reading(tuple(found), tuple(sorted(taken)))

    def _shares(self, text: str, stage: int, placed: Sequence[_Placed]) -> Reading:
        """What the families of a stage make of the words, as far as those before them left them."""
        shares = (
            (start, read_share(left, stage, prose=self._prose))
            for start, end, word in placed
            if (left := text[start:end]) and (word.reading is not NOTHING or FILLER in left)
        )
        return _joined((start, reading) for start, reading in shares if reading.taken)


_Placed = tuple[int, int, Word]


class _Words(dict[str, "Word | None"]):
    def __init__(self, *, prose: bool) -> None:
        super().__init__()
        self._prose = prose

    def __missing__(self, text: str) -> Word | None:
        self[text] = word = read_word(text, prose=self._prose)
        return word


def _placed(line: str, words: Sequence[Word | None]) -> list[_Placed]:
    """The words of a line that say something, and where they stand."""
    placed: list[_Placed] = []
    at = 0
    for text, word in zip(line.split(), words, strict=True):
        at = line.find(text, at)
        end = at + len(text)
        if word:
            placed.append((at, end, word))
        at = end
    return placed


def _joined(readings: Iterable[tuple[int, Reading]]) -> Reading:
    """What a line says whose words say this, each by itself."""
    found = []
    taken = []
    for at, reading in readings:
        found += [(at + start, fact) for start, fact in reading.found]
        taken += [(at + start, at + end) for start, end in reading.taken]
    return Reading(tuple(found), tuple(taken))


def _by_prose(looks: Iterable[Look], *, arguments: bool) -> dict[bool, Lines]:
    looks = tuple(looks)
    return {
        False: Lines(Looks(*looks, COMPOUNDS[False], COUNTS[False]), prose=False, arguments=arguments),
        True: Lines(Looks(*looks, *QUOTES, *TIMES, COMPOUNDS[True], COUNTS[True]), prose=True, arguments=arguments),
    }


class Reader:
    """Reads the lines of the blocks of one session: of calls, of results, and of what is said."""

    def __init__(self) -> None:
        said = (*DEFINED, *ERRORS)
        self._calls = _by_prose(DEFINED, arguments=True)
        self._results = _by_prose((*said, *LOGS), arguments=True)
        self._said = _by_prose(said, arguments=False)

    def read(self, sheet: Sheet) -> None:
        """Add to *sheet* what its lines say."""
        kind = self._said if sheet.spoken else self._calls if isinstance(sheet.block, ToolCall) else self._results
        for stretch in sheet.stretches:
            readings = kind[stretch.prose]
            start = stretch.start
            for line in stretch.text.split("\n"):
                reading = readings[line]
                if reading is not NOTHING:
                    sheet.add(start, reading)
                start += len(line) + 1
