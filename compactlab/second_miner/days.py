"""Days and clock times, as one token (`2024-03-14`, `14.03.2024`, `07:40`) or as spoken (`14 March`, `March 14th`)."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date

from compactlab.facts.fact import Fact, fact

_NAMES = "January February March April May June July August September October November December".split()
_MONTHS = {name: i for i, name in enumerate(_NAMES, 1)} | {name[:3]: i for i, name in enumerate(_NAMES, 1)}
_MONTHS |= {"Sept": 9, "Januar": 1, "Februar": 2, "März": 3, "Mai": 5, "Juni": 6, "Juli": 7, "Oktober": 10,
            "Dezember": 12}  # fmt: skip
_EDGES = ".,;:!?()[]\"'*_"


def day(token: str) -> Fact | None:
    """Give the day that a token writes in digits, with or without a time behind a `T`; it needs an anchor.

    >>> day("2024-03-14T10:02:11Z").forms[:3], day("14.03.2024").value, day("2024-13-99")
    (('2024-03-14', '14 March 2024', 'March 14, 2024'), '2024-03-14', None)
    """
    head = token.partition("T")[0]
    for sign, order in (("-", (0, 1, 2)), (".", (2, 1, 0)), ("/", (0, 1, 2))):
        parts = head.split(sign)
        if len(parts) != 3 or not all(part.isdigit() and part.isascii() for part in parts):
            continue
        year, month, number = (parts[i] for i in order)
        if len(year) == 4 and len(month) <= 2 and len(number) <= 2:
            return _dated(int(year), int(month), int(number), head)
    return None


def clock(token: str) -> Fact | None:
    """Give the clock time, or the day, of a token with colons.

    >>> clock("07:40").value, clock("2024-03-14T10:02:11Z").value, clock("72:40"), clock("a:b")
    ('07:40', '2024-03-14', None, None)
    """
    if "T" in token and day(token):
        return day(token)
    parts = token.partition(".")[0].removesuffix("Z").split(":")
    if len(parts) not in {2, 3} or not all(part.isdigit() and part.isascii() and len(part) <= 2 for part in parts):
        return None
    if len(parts[1]) != 2 or int(parts[0]) > 23 or any(int(part) > 59 for part in parts[1:]):
        return None
    return fact("date", ":".join(parts), exact=False, needs_anchor=len(parts) == 2)


def spoken_days(tokens: list[str]) -> Iterator[Fact]:
    """Find days written with the name of a month among the tokens of a line.

    >>> [f.value for f in spoken_days("from the 3rd of March 2025 to April 9".split())]
    ['2025-03-03', '9 April']
    """
    for i, token in enumerate(tokens):
        month = _MONTHS.get(token.strip(_EDGES))
        if month is None:
            continue
        before = i - 2 if i > 1 and tokens[i - 1].casefold() == "of" else i - 1
        number = _number(tokens[before]) if before >= 0 else None
        after = i + 1
        if number is None and after < len(tokens):
            number, after = _number(tokens[after]), after + 1
        if number is None:
            continue
        year = tokens[after].strip(_EDGES) if after < len(tokens) else ""
        known = int(year) if len(year) == 4 and year.isdigit() and year.startswith(("19", "20")) else None
        made = _dated(known, month, number)
        if made:
            yield made


def _number(token: str) -> int | None:
    bare = token.strip(_EDGES).casefold()
    bare = bare[:-2] if bare.endswith(("st", "nd", "rd", "th")) else bare
    return int(bare) if bare.isdigit() and bare.isascii() and len(bare) <= 2 else None


def _dated(year: int | None, month: int, number: int, written: str = "") -> Fact | None:
    """A day of the calendar, and how it may be written; the year may be left out where a day is told again."""
    try:
        found = date(year if year is not None else 2000, month, number)
    except ValueError:
        return None
    full, short = _NAMES[month - 1], _NAMES[month - 1][:3]
    ends = {1: "st", 2: "nd", 3: "rd"}.get(number % 10 if number not in {11, 12, 13} else 0, "th")
    bare = [f"{number} {full}", f"{full} {number}", f"{number}{ends} {full}", f"{full} {number}{ends}",
            f"{number}{ends} of {full}", f"{number} {short}", f"{short} {number}", f"{number}. {full}"]  # fmt: skip
    if year is None:
        return fact("date", *bare, exact=False, needs_anchor=True)
    forms = [found.isoformat(), f"{number} {full} {year}", f"{full} {number}, {year}", *([written] if written else [])]
    return fact("date", *forms, *bare, exact=False, needs_anchor=True)
