"""Family `date`: days and times of day, in the ISO form, in English words, and German months.

A day with its year has the ISO form as its value; one without is "14 March". Time stamps of logs and tables are taken
away, so that no other family reads them, and make no fact of their own.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from compactlab.facts.fact import Fact, fact
from compactlab.facts.lines import MONTH, Look, Rule, Rules
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
# A year of four digits; before 1500 it is no number of things. One of three digits is read in prose alone.
_YEAR = (
    r"(?:,? ((?:1[5-9]|20)\d\d|1[0-4]\d\d(?! (?!(?:is|was|his|has|as|this)\b)[a-z]{2,24}s\b|[.,:/-]\d|%))"
    r"(?![\w\ufffc]))?"
)
_ISO = re.compile(
    r"(?<![\w.-])((?:1\d|20)\d\d-(?:0[1-9]|1[0-2])-[0-3]\d|20\d\d-(?:0[1-9]|1[0-2]))"
    r"(?P<time>[T ][0-2]\d(?::[0-5]\d(?::[0-5]\d(?:[.,]\d{1,9})?)?Z?|Z)(?:[+-]\d\d:?\d\d)?)?(?![\w-]|\.\d|:\d)"
)
_DAY_MONTH = re.compile(rf"(?<![\w.,/:-])(?:(\d{{1,2}})(?:st|nd|rd|th|\.)?|({_ORDINAL}))(?: of)? ({_MONTH})\b{_YEAR}")
_OLD_DAY = re.compile(
    rf"(?<![\w.,/:-])(\d{{1,2}})(?:st|nd|rd|th)?(?: of)? ({_MONTH})\b,? ([1-9]\d\d)(?![\w%\ufffc]|[ .,:/-]\w)"
)
_DAYS_MONTH = re.compile(
    rf"(?<![\w.,/:-])(\d{{1,2}})(?:st|nd|rd|th)?(?: ?[–-] ?| to | and )"
    rf"(?P<last>(\d{{1,2}})(?:st|nd|rd|th)?(?: of)? ({_MONTH})\b{_YEAR})"
)
_MONTH_DAYS = re.compile(
    rf"(?<!\w)(?P<first>({_MONTH})\.? (?:the )?(\d{{1,2}})(?:st|nd|rd|th)?)(?: ?[–-] ?| to )"
    rf"(\d{{1,2}})(?:st|nd|rd|th)?(?![\w:%]|[.,/-]\d){_YEAR}"
)
_MONTH_DAY = re.compile(rf"(?<!\w)({_MONTH})\.? (?:the )?(\d{{1,2}})(?:st|nd|rd|th)?(?![\w:%]|[.,/-]\d){_YEAR}")
_MONTH_YEAR = re.compile(rf"(?<!\w)({_MONTH})\.?(?= [12]){_YEAR}(?!-)")
_SLASHED = re.compile(r"(?<![\w./-])(?:[0-3]?\d)([/.])(?:[0-3]?\d)\1(?:19|20)\d\d(?![\w/-]|\.\d)")
_CLOCK = re.compile(
    r"(?<![\w:.,/+-])([01]?\d|2[0-3]):([0-5]\d)(?P<seconds>:[0-5]\d(?:\.\d{1,9}|,\d{3,9})?)?(?![\w:/]|[.,]\d)"
    r"(?P<half> ?[ap]\.?m\b\.?)?"
)
_HOUR = re.compile(r"(?<![\w:.,/$£€-])(1[0-2]|[1-9])(?:\.([0-5]\d))? ?([ap])\.?m\b")
_HOURS = "one two three four five six seven eight nine ten eleven twelve".split()
_OCLOCK = re.compile(rf"(?i)(?<!\w)({'|'.join(_HOURS)}|1[0-2]|[1-9]) o['’]clock(?!\w)")

_PARTS = ("half past", "quarter past", "quarter to", *(f"{n} past" for n in ("five", "ten", "twenty", "twenty-five")))
# "ten to nine" may be a range: a word before it says that it is a time.
_TO = tuple(f"{n} to" for n in ("five", "ten", "twenty", "twenty-five"))
_BEFORE_TO = "|".join(f"(?<={word} )" for word in "at by till until about around before after since".split())
_PAST = re.compile(
    rf"(?i)(?<![\w-])(?P<part>{'|'.join(_PARTS)}|(?:{_BEFORE_TO})(?:{'|'.join(_TO)})) "
    rf"(?P<hour>{'|'.join(_HOURS)}|1[0-2]|[1-9])(?![\w:/-])"
)


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
    return fact("date", f"{year:0>4}-{month:02}-{day:02}", *dated, written, exact=False, needs_anchor=True)


def _month(match: re.Match[str]) -> Sequence[Fact]:
    month, year = _NUMBERS[match[1]], match[2]
    if not year:
        return ()
    forms = (f"{MONTHS[month - 1]} {year}", f"{MONTHS[month - 1][:3]} {year}", canonical(match[0]))
    return (fact("date", f"{year}-{month:02}", *forms, exact=False, needs_anchor=True),)


def _from_to(match: re.Match[str]) -> Sequence[Fact]:
    """`13–21 January`: the first day goes by the whole of it, the last one stands there by itself."""
    first, last, month, year = match[1], match[3], match[4], match[5]
    if not int(first) < int(last) <= 31:
        return ()
    return (*_day(first, month, year, match[0]), *_day(last, month, year, match["last"]))


def _month_from_to(match: re.Match[str]) -> Sequence[Fact]:
    """`January 13–21`: the first day stands there by itself, the last one goes by the whole of it."""
    month, first, last, year = match[2], match[3], match[4], match[5]
    if not int(first) < int(last) <= 31:
        return ()
    return (*_day(first, month, year, match["first"]), *_day(last, month, year, match[0]))


def _clock(match: re.Match[str]) -> Sequence[Fact]:
    """A time with its seconds, and the parts of one, is another than the one without."""
    hour, minute = int(match[1]), match[2] + (match["seconds"] or "").replace(",", ".")
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


def _past(match: re.Match[str]) -> Sequence[Fact]:
    """`half past nine`, in the morning or in the evening."""
    part, hour = match["part"].lower(), match["hour"].lower()
    hour = _HOURS[int(hour) - 1] if hour.isdigit() else hour
    forms = (f"{part} {hour}", f"{part} {_HOURS.index(hour) + 1}", canonical(match[0]))
    return (fact("date", *forms, exact=False, needs_anchor=True),)


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
    Rule(_OLD_DAY, lambda match: _day(match[1], match[2], match[3], match[0]), (MONTH,), prose=True),
    Rule(_DAYS_MONTH, _from_to, (MONTH,)),
    Rule(_MONTH_DAYS, _month_from_to, (MONTH,)),
    Rule(_DAY_MONTH, lambda match: _day(match[1] or match[2], match[3], match[4], match[0]), (MONTH,)),
    Rule(_MONTH_DAY, lambda match: _day(match[2], match[1], match[3], match[0]), (MONTH,)),
    Rule(_MONTH_YEAR, _month, (MONTH,)),
    Rule(_SLASHED, lambda match: (fact("date", match[0], exact=False, needs_anchor=True),), ("0", "/.")),
    Rule(_CLOCK, _clock, ("0", ":"), prose=True),
    Rule(_OCLOCK, _oclock, ("'’",), prose=True),
    Rule(_HOUR, _hour, ("0", "m"), prose=True),
    across=True,
)
TIMES = (Look(_PAST, _past, (*_PARTS, *_TO, *(part.capitalize() for part in _PARTS))),)
