"""The text that facts are mined from and matched on: normal forms, masks, and where it is prose.

`canonical` is the form of values, and of the text that they are matched against. Mining itself works on `normal` text,
which still has its lines, so that line numbers, code blocks and paragraphs can be told apart. What is no source of
facts (blobs, line numbers, secrets) is masked by a filler of the same length: positions stay what they were.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import pairwise

from compactlab.facts.words import STOP_WORDS

FILLER = "\ufffc"
LONGEST_TOKEN = 2_000  # a longer run without a blank is a blob or a minified line
BLOB = 40  # the shortest run of base64 letters that is tested for being one

_SURROGATE = re.compile("[\ud800-\udfff]")
_LONG = re.compile(rf"\S{{{BLOB},}}+")
_LONG_BLANK = re.compile(r"[ \t]{41,}+")
_LONG_GAP = re.compile(r"\n{41,}+")
_BASE64 = re.compile(r"[A-Za-z0-9+/_=-]+")
# Lines of the letters of base64, the first of them long: a blob as programs wrap one, with or without line numbers.
_LEAD = r"[ \t]{0,12}+(?:\d{1,7}[\t→])?+"
_WRAPPED = re.compile(
    rf"^{_LEAD}[A-Za-z0-9+/_-]{{{BLOB},}}+={{0,2}}(?:\r?\n{_LEAD}[A-Za-z0-9+/_-]++={{0,2}}(?=\r?$))+", re.MULTILINE
)
_LINE_NUMBER = re.compile(r"\n(?:[ \t]{0,12}+\d{1,7}[\t→]|\d{1,6}(?::(?!\d\d(?:\D|\Z))|-(?=[ \t])))")
_WRAP = re.compile(r"\n(?=[^\W\d_])")
SHORTEST_WRAPPED = 50  # letters of a line that may have been wrapped
_ESCAPE = re.compile(r"\\++[nrt](?=\w)")
_WINDOWS_PATH = re.compile(r"(?<!\w)[A-Za-z]:(?:\\[\w.-]{1,255}){1,40}")
_BLANK_LINE = re.compile(r"\n[ \t]*\n")
_PLAIN_WORD = re.compile(r"[\"'“„‘(*_]{0,3}[^\W\d_]+(?:['’-][^\W\d_]+)*[\"'”“’)*_.,;:!?]{0,4}")


def normal(text: str) -> str:
    """Bring *text* into Unicode normal form NFKC, lines kept.

    >>> normal("9½\u202fkWh")
    '91⁄2 kWh'
    """
    if text.isascii() or unicodedata.is_normalized("NFKC", text):
        return text
    return unicodedata.normalize("NFKC", text)


def canonical(text: str) -> str:
    r"""Give *text* as it is matched: NFKC, every run of white space one blank, none at the ends.

    >>> canonical("  Hollin\n\tEnd ")
    'Hollin End'
    """
    return " ".join(normal(text).split())


def fold(text: str) -> str:
    """Lower case, length preserved, so that positions in both forms agree.

    >>> fold("Straße İx")
    'straße İx'
    """
    lower = text.lower()
    if len(lower) == len(text):
        return lower
    return "".join(low if len(low := character.lower()) == 1 else character for character in text)


def blank(text: str, spans: Iterable[tuple[int, int]]) -> str:
    """Put fillers over *spans*, which are in order and do not overlap; the length stays.

    >>> blank("a secret b", [(2, 8)]).replace(FILLER, "*")
    'a ****** b'
    """
    parts: list[str] = []
    done = 0
    for start, end in spans:
        parts += (text[done:start], FILLER * (end - start))
        done = end
    return "".join((*parts, text[done:])) if parts else text


def without_surrogates(text: str) -> str:
    """Put a filler for each lone surrogate, which no tokenizer and no automaton takes."""
    return text if text.isascii() else _SURROGATE.sub(FILLER, text)


def without_blobs(text: str) -> str:
    """Put one filler for each run without a blank that is over 2,000 characters long or base64; shorten long blanks."""
    short = _LONG.sub(_shortened, text)
    if FILLER in short and "\n" in text and short != text:
        short = _LONG.sub(_shortened, _WRAPPED.sub(_unwrapped_blob, text))
    text = _LONG_BLANK.sub(lambda match: match[0][:40], short)
    return _LONG_GAP.sub("\n" * 40, text)


def _shortened(match: re.Match[str]) -> str:
    if match.end() - match.start() > LONGEST_TOKEN:
        return FILLER
    return FILLER if any(_is_base64(run) for run in _BASE64.findall(match[0]) if len(run) >= BLOB) else match[0]


def _unwrapped_blob(match: re.Match[str]) -> str:
    """Put one filler for the lines of a blob: all as long as the first, which are mostly base64, and a shorter last."""
    lines = match[0].split("\n")
    bare = [re.split("[\t→]", line.strip())[-1] for line in lines]
    whole = next((i for i, line in enumerate(bare) if len(line) != len(bare[0])), len(bare))
    if sum(map(_is_base64, bare[:whole])) <= whole / 2:
        return match[0]
    last = bare[whole] if whole < len(bare) else ""
    ends = last and len(last) < len(bare[0]) and len(last) % 4 == 0 and (last[-1] == "=" or whole > 1)
    return "\n".join([FILLER, *lines[whole + bool(ends) :]])


def _is_base64(run: str) -> bool:
    """True for a run whose kind of letter (capital, small, digit) changes as often as chance would have it."""
    kinds = ["d" if c.isdigit() else "u" if c.isupper() else "l" for c in run]
    changes = sum(a != b for a, b in pairwise(kinds))
    return len(set(kinds)) == 3 and changes > 0.42 * len(run)


def without_line_numbers(text: str) -> str:
    """Put one filler for each number that a reading tool sets before a line, so that the same line is the same text."""
    return _LINE_NUMBER.sub(f"\n{FILLER}", f"\n{text}")[1:]


def without_escapes(text: str) -> str:
    r"""Mask line ends and tabs written as escapes, as in `printf 'a\tb\n'`: no word begins with their letter."""
    if "\\" not in text:
        return text
    found = [match.span() for match in _ESCAPE.finditer(text) if len(match[0]) == 2]
    paths = Spans([match.span() for match in _WINDOWS_PATH.finditer(text)] if found and ":\\" in text else [])
    return blank(text, [(start, end) for start, end in found if start not in paths])


def unwrapped(text: str, spans: Iterable[tuple[int, int]]) -> str:
    """Turn the line ends inside the sentences of *spans* into blanks; the length stays."""
    parts: list[str] = []
    done = 0
    for start, end in spans:
        parts += (text[done:start], _WRAP.sub(_joint, text[start:end]))
        done = end
    return "".join((*parts, text[done:]))


def _joint(match: re.Match[str]) -> str:
    """A blank behind a line that is long enough to have been wrapped, a line end behind another, and behind cells."""
    before = match.string[max(0, match.start() - SHORTEST_WRAPPED) : match.start()]
    return " " if len(before) == SHORTEST_WRAPPED and "\n" not in before and "\t" not in before else "\n"


class Spans:
    """Sorted stretches of a text, to ask whether a position lies in one."""

    def __init__(self, spans: list[tuple[int, int]]) -> None:
        self._starts = [start for start, _ in spans]
        self._ends = [end for _, end in spans]

    def __contains__(self, position: int) -> bool:
        index = bisect_right(self._starts, position) - 1
        return index >= 0 and position < self._ends[index]

    def __iter__(self) -> Iterator[tuple[int, int]]:
        return iter(zip(self._starts, self._ends, strict=True))


def prose(text: str, *, spoken: bool) -> Spans:
    """Find the paragraphs of *text* that are prose: sentences, no code, no tables, no listings.

    A *spoken* text (what a person or the agent says) needs less evidence than the result of a tool.
    """
    found: list[tuple[int, int]] = []
    fenced = False
    start = 0
    for end in (*(match.end() for match in _BLANK_LINE.finditer(text)), len(text)):
        paragraph = text[start:end]
        fences = paragraph.count("```")
        if not fenced and not fences and _reads_as_prose(paragraph, spoken=spoken):
            found.append((start, end))
        fenced ^= bool(fences % 2)
        start = end
    return Spans(found)


def _reads_as_prose(paragraph: str, *, spoken: bool) -> bool:
    words = paragraph.split()
    if len(words) < (3 if spoken else 8):
        return False
    kinds = list(map(_kind_of_word, words))
    stops = kinds.count(2)
    return stops + kinds.count(1) >= 0.6 * len(words) and stops >= (0.08 if spoken else 0.15) * len(words)


@lru_cache(maxsize=131_072)
def _kind_of_word(word: str) -> int:
    """0 for what is no plain word, 1 for a plain one, 2 for a stop word."""
    if len(word) >= 40 or not _PLAIN_WORD.fullmatch(word):
        return 0
    return 2 if word.strip("\"'“”„‘’(*_.,;:!?)").lower() in STOP_WORDS else 1
