"""Identifiers made of plain words: `label-service`, `retry.budget`, `db-7`, `16-unsorted`.

Prose is full of words of this shape, and code of attributes. So a compound is a clue only: it counts where it stands in
backticks, or alone where a value stands (between quotes, in a cell, behind `=`), or as a column of a log, not where it
is a word among words. Words that are hyphenated in any text never count.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache, partial
from string import ascii_letters, ascii_lowercase, digits

from compactlab.facts.code import HOST_ENDINGS, path_of
from compactlab.facts.counting import NUMBER_WORDS
from compactlab.facts.evidence import Clue
from compactlab.facts.fact import Fact
from compactlab.facts.identifiers import GUESSABLE_IDENTIFIERS, LIBRARIES, ORDINARY_STARTS, of_token
from compactlab.facts.lines import Look
from compactlab.facts.text import FILLER
from compactlab.facts.words import STOP_WORDS

# Parts that make a word of any text, at its beginning and at its end.
STARTS: frozenset[str] = frozenset(
    """co re pre non anti semi multi half full mid ex cross self well ill high low long short left right north south
    east west great grand second third double triple single last next open hard soft cold hot old new best worst good
    bad early late free fully newly near far deep part ever by everyday day week month year night time hand head hot one
    light dark big small large fast slow built check kick live real drop stand sign log clean set start shut
    break pay pull push follow warm work read write front back side top bottom end face step word state machine user
    sub super inter intra extra ultra over under counter quasi pseudo mini micro macro auto ad de bi tri un vice war
    zero first equal human heavy wide thin thick load data""".split()
)
ENDS: frozenset[str] = frozenset(
    """only in out up off on to by based like free known wide old new made term level end side size hand house long
    style type proof ready specific aware safe time date day week month year hour minute second law down over under
    back away through ahead about around class rate scale first last less friendly fashioned minded eyed way fold
    letter word line page shaped sized looking sensitive insensitive oriented driven dependent independent the op
    call case east west north south heavy light dark deep high low empty null zero negative positive blocking""".split()
)
GUESSABLE_COMPOUNDS: frozenset[str] = frozenset(
    """content-type content-length user-agent cache-control set-cookie accept-encoding accept-language if-none-match
    x-request-id retry-after last-modified font-size font-family font-weight line-height background-color text-align
    border-radius max-width min-width max-height min-height margin-top margin-bottom z-index box-shadow flex-direction
    align-items justify-content e-mail t-shirt x-axis y-axis x-ray a-z data-id general-purpose allow-list block-list
    pre-commit docker-compose site-packages type-check dry-run trade-off trade-offs follow-up end-to-end key-value
    use-case command-line look-up copy-paste drop-down pop-up great-aunt""".split()
)
_STARTS = STARTS | STOP_WORDS
# Classes of style sheets, before a hyphen and a size.
_STYLES: frozenset[str] = frozenset(
    """px py pt pb pl pr mx my mt mb ml mr gap top left col row rows cols grid flex text font bg inset ring size scale
    space sm md lg xl""".split()
)
# Behind a number and a hyphen: `20-year-old`, `48-hour`.
_MEASURES: frozenset[str] = ENDS | frozenset(
    """years days months weeks hours minutes seconds mile miles foot inch metre meter gram page point step piece bit
    byte core year-old old part way fold pack digit character char column row th nd rd st min sec""".split()
)
_OBJECTS = (LIBRARIES - {"app"}) | {
    "args",
    "cls",
    "self",
    "this",
    "that",
    "module",
    "exports",
    "props",
    "state",
    "next",
}

_SUFFIXES = ("ed", "ing", "ly", "ish")
_COMPOUND = re.compile(
    r"(?<![\w./$@%+\\\ufffc-])(?:[a-z][a-z0-9]*+(?:-[a-zA-Z0-9]+)++|\d{1,3}(?:-[a-z][a-z0-9]*)++"
    r"|[a-z][a-z0-9_]*+(?:\.[a-z][a-z0-9_]*)++)(?![\w/(\\\ufffc-]|\.\w)"
)
_SHORT = re.compile(r"[a-z]{2,4}-\d{1,2}")
_LOG = re.compile(r"\W{0,2}(?:\d{4}-\d\d-\d\d[T ])?\d\d:\d\d:\d\d")
_LOG_HEAD = 40  # characters of a log line in which its columns stand
_YAML = re.compile(r"[\s-]*[\w.\"-]+: \Z")
_PAIRS: frozenset[str] = frozenset(("``", "''", '""', ",,", "\t\t", "||"))
_BLANKS = f" {FILLER}"


def _judge(match: re.Match[str], *, prose: bool) -> Sequence[Fact]:
    value = match[0]
    if not _may_be(value):
        return ()
    weight = _weight(match, prose=prose)
    return (Clue("identifier", value, (value,), needs_anchor=len(value) < 6, weight=weight),)


@lru_cache(maxsize=65_536)
def _may_be(value: str) -> bool:
    """Tell whether *value* may be a name at all: no word of any text, and nothing that other families take."""
    guessable = value in GUESSABLE_COMPOUNDS or value in GUESSABLE_IDENTIFIERS
    if len(value) > 60 or guessable or of_token(value) or path_of(value):
        return False
    return _may_be_dotted(value.split(".")) if "." in value else _may_be_hyphenated(value)


def _may_be_dotted(parts: list[str]) -> bool:
    if parts[0] in _OBJECTS or parts[-1] in HOST_ENDINGS:
        return False
    lengths = [len(part) for part in parts]
    return min(lengths) > 1 and max(lengths) > 3 and sum(lengths) > 4


def _may_be_hyphenated(value: str) -> bool:
    parts = value.lower().split("-")
    if _SHORT.fullmatch(value):
        return parts[0] not in _STYLES | ORDINARY_STARTS | STOP_WORDS
    if len(value) < 6 or not NUMBER_WORDS.isdisjoint(parts):
        return False
    if value[0].isdigit():
        return parts[1] not in _MEASURES and len(parts[1]) > 2
    ordinary = parts[0] in _STARTS or parts[-1] in ENDS or parts[-1].endswith(_SUFFIXES)
    return not ordinary and max(map(len, parts)) > 2


def _weight(match: re.Match[str], *, prose: bool) -> int:
    """How much a place says: 2 in backticks, 1 where only a value stands, else nothing."""
    line, (start, end) = match.string, match.span()
    around = line[start - 1 : start] + line[end : end + 1]
    if around == "``" or (around == "`=" and "." in match[0]):
        return 2
    if _SHORT.fullmatch(match[0]):
        return 1
    before, after = line[:start].strip(_BLANKS), line[end:].strip(_BLANKS)
    if not before and (line[end : end + 1] == "\t" or (not prose and after[:1] in {"", "|", ","})):
        return 1
    return 0 if prose else int(_is_value(line, start, end, "." in match[0]) or (before[-1:] + after[:1]) == "||")


def _is_value(line: str, start: int, end: int, dotted: bool) -> bool:
    """Tell whether a value stands there, outside prose: in quotes, a cell, beside `=`, in a column of a log."""
    before, after = line[start - 1 : start], line[end : end + 1]
    if before + after in _PAIRS or (after == "" and before in {",", "\t"}):
        return True
    if dotted:
        is_key = after == "=" and before in {" ", "", ","} and line[end + 1 : end + 2] not in {"=", " ", ""}
        return is_key or _is_column(line, start, 2 * _LOG_HEAD)
    if _is_column(line, start, _LOG_HEAD):
        return True
    if before == "=":
        return after in {"", " ", ",", ";"}
    if before + after == "[]":
        return not line[start - 2 : start - 1].isalnum()
    return after == "" and _YAML.match(line[:start]) is not None


def _is_column(line: str, start: int, most: int) -> bool:
    """Tell whether a word is one of the first of a line of a log, behind its time."""
    return start < most and line[start - 1 : start] in {" ", "["} and _LOG.match(line) is not None


_JOINTS = (*(f"-{letter}" for letter in ascii_letters + digits), *(f".{letter}" for letter in ascii_lowercase))
COMPOUNDS = tuple(Look(_COMPOUND, partial(_judge, prose=prose), _JOINTS) for prose in (False, True))
