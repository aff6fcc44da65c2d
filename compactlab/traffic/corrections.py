"""Corrections: words that name the old and the new value of one thing: `now B, not A`, `from A to B`, `B, no longer A`.

Some wordings tell a change by themselves, and `corrections` gives those. Others do so only where the old value was said
before (`Frame is 64, not 61`, `fee 12 % -> 8 %`): `claims` gives them, for a reader of the whole conversation. Either
way both values are of one kind and unit, neither is an end of a range, and names are alike in their first letters or
their last.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import pairwise, takewhile

from compactlab.traffic.changes import DATE, NUMBER, TIME, Change, values_in, words_of

_NAME = r"`[^`\n]{2,60}`|(?<![\w./-])(?:[A-Za-z]\w*[-_./][\w./-]*\w|[A-Z][A-Z0-9]+-\d+)(?![\w/-])"
_ONE = rf"(?:(?<![\w.,:/#$£€-])(?:{DATE}|{TIME}|{NUMBER})|{_NAME})"
_DAY = r"(?:(?:Mon|Tues?|Wed(?:nes)?|Thu(?:rs)?|Fri|Sat(?:ur)?|Sun)(?:day)?,? (?:the )?)?"
_LEAD = rf"(?:(?:on|at|in|for|to|after|within|port|version|the|EUR|USD|GBP|CHF|JPY) ){{0,2}}{_DAY}"
_EDGE = r"(?![\w/-]|[.:,]\d)"
_UNIT = r"(?: ?(?!(?:to|but|and|instead|rather|now|no|not|then|was)\b)(?:[A-Za-zµ°]{1,14}(?:/[a-z]{1,9})?|%)){0,2}+"
_OLD, _NEW = rf"{_LEAD}(?P<old>{_ONE}){_EDGE}", rf"{_LEAD}(?P<new>{_ONE}){_EDGE}"
_REST = r"(?:(?: (?!now\b|not\b|instead\b|rather\b|no\b|and\b|but\b)[A-Za-z]{1,14}| ?%){0,5})"
"""A few words behind a value: its unit, what it is of."""
_THERE = r"(?:not|no longer|instead of|rather than)"
_CALM = r"[^.,;:()\d\n]"
_CERTAIN = tuple(
    re.compile(pattern)
    for pattern in (
        rf"\b(?:[Nn]ot|[Nn]o longer) {_OLD}{_UNIT},? but {_NEW}",
        (
            rf"\b(?:[Mm]ov|[Cc]hang|[Rr]ais|[Rr]educ|[Ii]ncreas|[Dd]ecreas|[Rr]enam|[Uu]pdat|[Pp]ostpon)(?:e|ed|es|ing)\b"
            rf"[^.;\n]{{0,60}}?\bfrom {_OLD}{_UNIT} to {_NEW}"
        ),
        (
            rf"\b(?:[Bb]ump|[Ll]ower|[Ss]hift|[Ss]witch|[Pp]ush|[Cc]ut|[Ss]et|[Ee]xtend|went|goes|[Bb]rought)"
            rf"(?:ed|s|ing)?\b[^.;\n]{{0,60}}?\bfrom {_OLD}{_UNIT} to {_NEW}"
        ),
        rf"\b(?:[Rr]enam|[Cc]hang)(?:ed|e|ing) (?P<old>{_NAME}) (?:in)?to (?P<new>{_NAME})",
        rf"{_NEW}{_UNIT}(?:,? (?:then|now))?,?(?: and)? no longer {_OLD}",
        rf"{_NEW}{_CALM}{{0,20}} ?\((?:(?:it )?was|previously|formerly|up from|down from) {_OLD}",
        rf"{_NEW}{_UNIT}, (?:up|down) from {_OLD}",
        rf"\b[Nn]ow {_NEW}{_CALM}{{0,20}}(?:, |\()(?:it )?was {_OLD}",
        rf"\b[Nn]ow\b{_CALM}{{0,40}}? {_NEW}{_REST},?(?: and)? {_THERE} {_OLD}",
        rf"{_NEW}{_UNIT} now,?(?: and)? {_THERE} {_OLD}",
        (
            rf"(?:^|[.!?:;,] |\n|\b[Pp]lease |\b(?:should|must|shall) )(?:[Uu]se|[Tt]ake|[Ss]et|[Mm]ake|[Pp]ut)\b"
            rf"{_CALM}{{0,40}}? {_NEW}{_REST},?(?: and)? {_THERE} {_OLD}"
        ),
        (
            rf"\b(?:was|were|used to be) {_OLD}{_UNIT}(?:,|;|\.| and| but){{1,2}}"
            rf" (?:[Pp]lease )?(?:[Mm]ake|[Ss]et|[Pp]ut) (?:it|that|this|them) {_NEW}"
        ),
        rf"\b(?:was|were|used to be) {_OLD}{_UNIT}(?:,|;| and| but){{1,2}}(?: it)?(?: is|'s| are)? now {_NEW}",
        rf"(?P<new>{DATE}){_EDGE} instead of (?:the )?(?P<old>{DATE}){_EDGE}",
    )
)
_CLAIMS = tuple(  # an arrow in brackets tells what happened once, one of a chain how a figure went
    re.compile(pattern)
    for pattern in (
        rf"{_NEW}{_REST}(?:,| and|, and| \() ?not {_OLD}",
        rf"(?<!-> )(?<!→ ){_OLD}{_UNIT} (?:->|→) {_NEW}(?!{_UNIT}\s?(?:->|→|\)))",
    )
)
_HINT = re.compile(r"\b(?:not|from|no longer|instead of|rather than|was|were|be|previously|formerly) |enam|hang|->|→")
_RANGE = re.compile(r"(?:\d(?: ?[A-Za-z%]{1,12})? (?:to|and|or)|between|[<>]) (?:the )?\Z")
_RANGE_ON = re.compile(r"(?: ?[A-Za-z%]{1,12})? (?:to|or) \d")
_CONDITION = re.compile(r"[^.;\n]{0,20}?,? (?:if|when|unless|whenever)\b")
_SENTENCE = re.compile(r"[.;!?\n]\s|\n")
_CLAUSE = re.compile(r"[,:()\[\]]\s?|\b(?:and|but|because|so|while|which|that)\b")
_LABEL = re.compile(r"\A\W{0,3}[A-Z]{3,20}: ")
_NAMED = re.compile(r"[\w./-]")
_STOPS = frozenset(",.;:)")
_QUOTES = "`'\""
_AFTER = re.compile(r" ?([A-Za-zµ°%]{1,14})")
_NO_UNIT: frozenset[str] = frozenset(
    "to but and or instead rather now no not then was were is are in on at for from of with by per as so because the a"
    " an if when since until before after z".split()
)
CUES: frozenset[str] = frozenset(
    """longer instead rather previously formerly new old now then today from actually please moved move changed change
    changes renamed renames rename renaming raised reduced increased updated postponed lowered extended set went goes
    cut switched pushed shifted bumped brought becomes became need fix fixed add added use make take per line turn
    mon tue wed thu fri sat sun monday tuesday wednesday thursday friday saturday sunday jan feb mar apr jun jul aug sep
    sept oct nov dec january february march april june july august september october november december eur usd gbp chf
    jpy""".split()
)
"""Words that tell that something changed, when, or in which currency, and not what."""
LONGEST_TEXT = 100_000


@lru_cache(maxsize=8_192)
def corrections(text: str) -> tuple[Change, ...]:
    """Give the changes that words tell with both values, bound to the content words around them.

    >>> [(c.old, c.new) for c in corrections("The port of the database is now 54399, not 54330.")]
    [('54330', '54399')]
    """
    return _of_one_thing(_read(text, _CERTAIN)) if _may_hold(text) else ()


@lru_cache(maxsize=8_192)
def claims(text: str) -> tuple[Change, ...]:
    """Give the changes that words tell with both values if the old one was said before.

    >>> [(c.old, c.new, sorted(c.words)) for c in claims("Restocking fee 12 % -> 8 %. The frame is 64 cm, not 61.")]
    [('61', '64', ['frame']), ('12 %', '8 %', ['fee', 'restocking'])]
    """
    return _of_one_thing(_read(text, _CLAIMS)) if _may_hold(text) else ()


def _may_hold(text: str) -> bool:
    return len(text) < LONGEST_TEXT and _HINT.search(text) is not None


def _read(text: str, patterns: tuple[re.Pattern[str], ...]) -> Iterator[Change]:
    seen: set[tuple[int, int]] = set()
    for pattern in patterns:
        for match in pattern.finditer(text):
            places = match.start("old"), match.start("new")
            old, new = match["old"].strip(_QUOTES), match["new"].strip(_QUOTES)
            if places in seen or old == new or not _is_alike(match, old, new):
                continue
            words = _words_around(match) | (words_of(_stem(old, new)) if shape(old) == "name" else set())
            words = words or _words_behind(match)
            if words:
                seen.add(places)
                yield Change("", " ".join(sorted(words)), old, new, words)


def _of_one_thing(found: Iterable[Change]) -> tuple[Change, ...]:
    """Leave out changes of one key that do not go on from each other: a list of things that are called alike."""
    by_key: dict[str, list[Change]] = defaultdict(list)
    for change in found:
        by_key[change.key].append(change)
    return tuple(
        change
        for same in by_key.values()
        if all(one[2:4] == other[2:4] or one.new == other.old for one, other in pairwise(same))
        for change in same
    )


def _words_around(match: re.Match[str]) -> frozenset[str]:
    """The content words between the two values and of the clauses before them, two at least where there are as many.

    Clauses of the sentence are taken from the last one on; a label in capitals at its start says nothing.
    """
    first, last = sorted((match.span("old"), match.span("new")))
    text = match.string
    before = _SENTENCE.split(text[max(0, first[0] - 80) : first[0]])[-1]
    words = words_of(text[first[1] : last[0]]) - CUES
    for clause in reversed(_CLAUSE.split(_LABEL.sub("", before))):
        words |= words_of(clause) - CUES
        if len(words) >= 2:
            break
    return words


def _words_behind(match: re.Match[str]) -> frozenset[str]:
    end = max(match.end("old"), match.end("new"))
    behind = re.split(r"[.,;:!?()\n]", match.string[end : end + 40])[0]
    return words_of(behind if len(behind) < 40 else behind.rpartition(" ")[0]) - CUES


def _is_alike(match: re.Match[str], old: str, new: str) -> bool:
    """Tell whether two values may be of one thing: the same kind and unit, no ends of ranges, names that are alike."""
    kind = shape(old)
    if kind != shape(new):
        return False
    if kind == "name":
        if not (_NAMED.match(old) and _NAMED.match(new)):
            return False
        return "enam" in match[0] or bool(_stem(old, new))
    text = match.string
    units = [unit_after(text, match.end(name)) for name in ("old", "new")]
    if kind == "number" and all(units) and units[0] != units[1]:
        return False
    first, last = sorted((match.span("old"), match.span("new")))
    return not (
        _RANGE.search(text[max(0, first[0] - 24) : first[0]])
        or _RANGE_ON.match(text, last[1])
        or _CONDITION.match(text, last[1])
    )


def unit_after(text: str, end: int) -> str:
    """Give the word behind a value that may be its unit, without a plural's s; an empty string where there is none.

    >>> unit_after("within 24 hours", 9), unit_after("from 24 to 4", 7)
    ('hour', '')
    """
    match = _AFTER.match(text, end)
    word = match[1].lower() if match else ""
    is_inch = word == "in" and text[match.end() : match.end() + 1] in _STOPS if match else False
    return "" if word in _NO_UNIT and not is_inch else word.removesuffix("s") or word


def _stem(old: str, new: str) -> str:
    """What two names share at their start or their end, of three letters at least; empty where they share less."""
    start, end = _common(old, new), _common(old[::-1], new[::-1])[::-1]
    longest = max(start, end, key=len)
    return longest if sum(c.isalpha() for c in longest) >= 3 else ""


def _common(one: str, other: str) -> str:
    """The characters with which both begin."""
    same = takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False))
    return "".join(character for character, _ in same)


def shape(value: str) -> str:
    """Give the kind of a value: number, date, time, or else name."""
    return next((found.kind for found in values_in(value) if found.text == value), "name")
