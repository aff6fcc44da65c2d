"""Where a value ends: what joins it to the characters beside it, by its family; days, times and ranges of them."""

from __future__ import annotations

import re

NO_SPACES = "\u2e80"  # from here on scripts are written without spaces: any place is a word's edge
_ESCAPES = frozenset(("\\n", "\\t", "\\r"))
_GROUP = re.compile(r"\d{3}(?!\d)")
_JOINERS = {
    "number": ".,:/-",
    "quantity": ".,:/-",
    "date": ".,:/-",
    "path": "/.-~",
    "url": "/.-~?&=#:%",
    "identifier": "-/",
    "hash": "-",
    "command": "/.-=",
    "setting": "-./:",
    "answer": ".,:/-",
}
# Days and times of day, as values are written.
_CLOCK = re.compile(r"\d\d?:\d\d(?::\d\d(?:[.,]\d+)?)?")
_MONTH_FIRST = re.compile(r"[^\W\d_]+\.? \d\d?(?:st|nd|rd|th)?(?:,? \d{3,4})?")
_DAY_FIRST = re.compile(r"\d\d?(?:st|nd|rd|th|\.)?(?: of)? [^\W\d_]+\.?(?:,? \d{3,4})?")
_COMPLETE = (re.compile(r"\d{4}-\d\d-\d\d"), _CLOCK, _MONTH_FIRST, _DAY_FIRST)
_DAY_BEFORE = re.compile(r"(?<![\w.,:/+-])\d\d?(?:st|nd|rd|th|\.)?(?: of)? \Z")
_LONGEST_DAY = len(" 31st of ")
_STAMP_END = re.compile(r"(?:[Zz]|[+-]\d\d:?\d\d)?(?![\w:]|[.,]\d)")

_FEET = ("ft", "feet", "foot")
_INCHES = re.compile(r" \d{1,2}(?:[ -]?in(?:ch|ches)?\b|(?![\w:/%-]|[.,]\d| [^\W\d_]))")
_SPREAD = re.compile(r"\d ?[x×] ?\d")
_ANOTHER_SIDE = re.compile(r" ?[x×] ?\d")


def joiners_of(form: str, family: str) -> str:
    """Give the characters that join a value of *family* that is written so to what stands beside it.

    >>> joiners_of("14:25", "date"), joiners_of("2026-03", "date"), joiners_of("Rowan", "name")
    ('.,:', '.,:/-', '')
    """
    joiners = _JOINERS.get(family, "")
    if family == "identifier" and ("-" in form or "." in form):
        return f"{joiners}."  # `edge-gateway.log` is a file, `db.pool.size` is another name than `db.pool`
    return joiners.replace("-", "").replace("/", "") if family == "date" and is_complete(form) else joiners


def is_whole(text: str, start: int, end: int, joiners: str = "") -> bool:
    r"""Tell whether `text[start:end]` is no part of a longer value that letters, digits or *joiners* make.

    A comma joins only as it groups thousands, so that the cells of a table stand apart; a written `\n` parts words.

    >>> is_whole("v1.2", 3, 4, ".,"), is_whole("a 2.", 2, 3, ".,"), is_whole("/a/bc", 0, 4, "/.")
    (False, True, False)
    """
    before, after = text[start - 1 : start], text[end : end + 1]  # most values that are parts of words end here
    if before and _word(before) and (_word(text[start]) or text[start] in joiners):
        if text[start - 2 : start] not in _ESCAPES:
            return False
    elif before and before in joiners and _joined(text[max(0, start - 3) : start], text[start : start + 4], joiners):
        return False
    if not after:
        return True
    if _word(after):
        return not (_word(text[end - 1]) or text[end - 1] in joiners)
    if after not in joiners or end + 1 == len(text) or not _word(text[end + 1]):
        return True
    return after == "," and _GROUP.match(text, end + 1) is None


def _joined(before: str, value: str, joiners: str) -> bool:
    """A joiner before a value joins it to a word; before a path a slash does even alone, but a free `./` does not.

    A key may have its section or its place before it: `retry.limit=3`, `app.toml:12:limit=3`.
    """
    if joiners == _JOINERS["setting"] and before[-1] != "-":
        return False
    if "~" in joiners and before[-1] == "." and value[:1] == "/":
        return True
    if "~" in joiners and before[-1] in "/~":
        return not (before.endswith("./") and (len(before) == 2 or not (_word(before[0]) or before[0] in "./")))
    if before[-1] == ",":
        return before[-2:-1].isdigit() and _GROUP.match(value) is not None
    return len(before) > 1 and _word(before[-2])


def _word(character: str) -> bool:
    return (character.isalnum() or character == "_") and character < NO_SPACES


def is_clock(form: str) -> bool:
    """Tell whether *form* is a time of day in digits with its seconds.

    >>> is_clock("14:25:06"), is_clock("14:25"), is_clock("2:25:06 pm")
    (True, False, False)
    """
    return form.count(":") > 1 and _CLOCK.fullmatch(form) is not None


def is_complete(form: str) -> bool:
    """Tell whether *form* is a day or a time that is complete by itself: a hyphen or a slash beside it is a range.

    >>> is_complete("2026-03-14"), is_complete("21 jan"), is_complete("2026-03")
    (True, True, False)
    """
    return any(pattern.fullmatch(form) for pattern in _COMPLETE)


def is_stamped(text: str, start: int, end: int) -> bool:
    """Tell whether the time of day `text[start:end]` is the whole of that in a time stamp.

    >>> is_stamped("2026-02-17T14:25:06Z", 11, 19), is_stamped("2026-02-17T14:25:06.031Z", 11, 19)
    (True, False)
    """
    led = start > 1 and text[start - 1] in "Tt" and text[start - 2].isdigit()
    return led and _STAMP_END.match(text, end) is not None


def is_torn(text: str, start: int) -> bool:
    """Tell whether the month at *start* belongs to a day before it, not to the number behind it.

    >>> is_torn("07 April 9 Friday", 3), is_torn("on April 9", 3)
    (True, False)
    """
    return _DAY_BEFORE.search(text, max(0, start - _LONGEST_DAY), start) is not None


def may_go_on(form: str) -> bool:
    """Tell whether *form* is a measure that another number may follow: feet, or the sides of a thing.

    >>> may_go_on("3 ft"), may_go_on("147 x 61"), may_go_on("3 metres")
    (True, True, False)
    """
    return form.endswith(_FEET) or _SPREAD.search(form) is not None


def goes_on(text: str, end: int) -> bool:
    """Tell whether a measure that ends there has another part: inches, or a third side.

    >>> goes_on("3 ft 9 in", 4), goes_on("147 x 61 x 124", 8), goes_on("3 ft of it", 4)
    (True, True, False)
    """
    part = _INCHES if text[end - 1].isalpha() else _ANOTHER_SIDE
    return part.match(text, end) is not None
