"""Family `date`: days and times of day, in the ISO form, in English words, and German months.

A day with its year has the ISO form as its value; one without is "14 March". Time stamps of logs and tables are taken
away, so that no other family reads them, and make no fact of their own.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from compactlab.facts.fact import Fact, fact
from compactlab.facts.lines import MONTH, Rule, Rules
from compactlab.facts.text import canonical

MONTHS = ("January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
          "December")  # fmt: skip
GERMAN_MONTHS = ("Januar", "Februar", "März", "April", "Mai", "Juni", "Juli", "August", "September", "Oktober",
                 "November", "Dezember")  # fmt: skip
_NUMBERS = {name: i + 1 for names in (MONTHS, GERMAN_MONTHS) for i, name in enumerate(names)}
_NUMBERS |= {name[:3]: i + 1 for i, name in enumerate(MONTHS)} | {"Sept": 9}
ORDINALS = ("first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth "
            "fifteenth sixteenth seventeenth eighteenth nineteenth twentieth twenty-first twenty-second twenty-third "
            "twenty-fourth twenty-fifth twenty-sixth twenty-seventh twenty-eighth twenty-ninth thirtieth "
            "thirty-first").split()  # fmt: skip

_MONTH = "|".join(sorted(_NUMBERS, key=len, reverse=True))
_ORDINAL = "|".join(sorted(ORDINALS, key=len, reverse=True))
_ISO = re.compile(
    r"(?<![\w.-])((?:1[5-9]|20)\d\d-(?:0[1-9]|1[0-2])-[0-3]\d|20\d\d-(?:0[1-9]|1[0-2]))"
    r"(?P<time>[T ][0-2]\d(?::[0-5]\d(?::[0-5]\d(?:[.,]\d{1,9})?)?Z?|Z)(?:[+-]\d\d:?\d\d)?)?(?![\w-]|\.\d|:\d)"
)
_DAY_MONTH = re.compile(
    rf"(?<![\w.,/:-])(?:(\d{{1,2}})(?:st|nd|rd|th|\.)?|({_ORDINAL}))(?: of)? ({_MONTH})\b(?:,? ((?:1[5-9]|20)\d\d)\b)?"
)
_MONTH_DAY = re.compile(
    rf"(?<!\w)({_MONTH})\.? (?:the )?(\d{{1,2}})(?:st|nd|rd|th)?(?![\w:%]|[.,/-]\d)(?:,? ((?:1[5-9]|20)\d\d)\b)?"
)
_MONTH_YEAR = re.compile(rf"(?<!\w)({_MONTH})\.? ((?:1[5-9]|20)\d\d)(?![\w-])")
_SLASHED = re.compile(r"(?<![\w./-])(?:[0-3]?\d)([/.])(?:[0-3]?\d)\1(?:19|20)\d\d(?![\w/-]|\.\d)")
_CLOCK = re.compile(r"(?<![\w:.,/+-])([01]?\d|2[0-3]):([0-5]\d)(?::[0-5]\d)?(?![\w:/]|\.\d)(?P<half> ?[ap]\.?m\b\.?)?")
_HOUR = re.compile(r"(?<![\w:.,/$£€-])(1[0-2]|[1-9])(?:\.([0-5]\d))? ?([ap])\.?m\b")
_HOURS = "one two three four five six seven eight nine ten eleven twelve".split()
_OCLOCK = re.compile(rf"(?i)(?<!\w)({'|'.join(_HOURS)}|1[0-2]|[1-9]) o['’]clock(?!\w)")


def _iso(match: re.Match[str]) -> Sequence[Fact]:
    """A day outside prose: before a blank and a time it counts, as a part of a time stamp it does not."""
    return () if (match["time"] or " ")[0] == "T" else _iso_in_prose(match, timed=False)


def _iso_in_prose(match: re.Match[str], *, timed: bool = True) -> Sequence[Fact]:
    day, time = match[1], match["time"]
    if len(day) < 10:
        return (fact("date", day, exact=False, needs_anchor=True),)
    made = [_dated(int(day[8:]), int(day[5:7]), day[:4], day)] if not time or time[0] == " " else []
    if time and timed:
        made.append(fact("date", match[0], exact=False, needs_anchor=True))
    return tuple(made)


def _day(day: str, month: str, year: str | None, written: str) -> Sequence[Fact]:
    number = int(day) if day.isdigit() else ORDINALS.index(day) + 1
    if not 1 <= number <= 31:
        return ()
    return (_dated(number, _NUMBERS[month], year, canonical(written)),)


@lru_cache(maxsize=4_096)
def _dated(day: int, month: int, year: str | None, written: str) -> Fact:
    name = MONTHS[month - 1]
    tail = "th" if 10 < day < 20 else {1: "st", 2: "nd", 3: "rd"}.get(day % 10, "th")
    forms = [f"{day} {name}", f"{day}{tail} {name}", f"{day}{tail} of {name}", f"{name} {day}", f"{name} {day}{tail}"]
    forms += [f"{day} {name[:3]}", f"{name[:3]} {day}", f"{day}. {GERMAN_MONTHS[month - 1]}"]
    if not 1 <= day <= 31:
        return fact("date", written, exact=False, needs_anchor=True)
    if year is None:
        words = f"{ORDINALS[day - 1]} of {name}"
        return fact("date", forms[0], *forms[1:], words, written, exact=False, needs_anchor=True)
    dated = [f"{form}{mark} {year}" for form in forms for mark in ("", ",")]
    return fact("date", f"{year}-{month:02}-{day:02}", *dated, written, exact=False, needs_anchor=True)


def _month(match: re.Match[str]) -> Sequence[Fact]:
    month, year = _NUMBERS[match[1]], match[2]
    forms = (f"{MONTHS[month - 1]} {year}", f"{MONTHS[month - 1][:3]} {year}", canonical(match[0]))
    return (fact("date", f"{year}-{month:02}", *forms, exact=False, needs_anchor=True),)


def _clock(match: re.Match[str]) -> Sequence[Fact]:
    hour, minute = int(match[1]), match[2]
    half = (match["half"] or "").strip(" .").lower().replace(".", "")
    if half:
        return _time(hour % 12 + (12 if half == "pm" else 0), minute, match[0].strip())
    return _time(hour, minute, match[0])


def _hour(match: re.Match[str]) -> Sequence[Fact]:
    return _time(int(match[1]) % 12 + (12 if match[3] == "p" else 0), match[2] or "00", match[0])


def _oclock(match: re.Match[str]) -> Sequence[Fact]:
    hour = int(match[1]) if match[1].isdigit() else _HOURS.index(match[1].lower()) + 1
    ways = (f"{name} o{mark}clock" for name in (str(hour), _HOURS[hour - 1]) for mark in "'’")
    return (fact("date", f"{hour} o'clock", *ways, exact=False, needs_anchor=True),)


def _time(hour: int, minute: str, written: str) -> Sequence[Fact]:
    twelve, half = hour % 12 or 12, "pm" if hour >= 12 else "am"
    forms = [f"{hour}:{minute}", f"{twelve}:{minute} {half}", f"{twelve}.{minute} {half}", f"{twelve}:{minute}{half}"]
    forms += [f"{twelve} {half}", f"{twelve}{half}"] if minute == "00" else []
    return (fact("date", f"{hour:02}:{minute}", *forms, canonical(written), exact=False, needs_anchor=True),)


# Days everywhere; times of day in prose only.
MONTH_NAMES = frozenset(_NUMBERS)
DATES = Rules(
    Rule(_ISO, _iso_in_prose, ("0", "-"), prose=True, hides=True),
    Rule(_ISO, _iso, ("0", "-"), prose=False, hides=True),
    Rule(_DAY_MONTH, lambda match: _day(match[1] or match[2], match[3], match[4], match[0]), (MONTH,)),
    Rule(_MONTH_DAY, lambda match: _day(match[2], match[1], match[3], match[0]), (MONTH,)),
    Rule(_MONTH_YEAR, _month, (MONTH,)),
    Rule(_SLASHED, lambda match: (fact("date", match[0], exact=False, needs_anchor=True),), ("0", "/.")),
    Rule(_CLOCK, _clock, ("0", ":"), prose=True),
    Rule(_OCLOCK, _oclock, ("'’",), prose=True),
    Rule(_HOUR, _hour, ("0", "m"), prose=True),
    across=True,
)
