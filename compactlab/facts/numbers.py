"""Family `number`: integers of four digits and more, decimals of three and more, versions. Shorter ones are no facts.

Numbers with a unit are in `quantities`, dates and times in `dates`; both take theirs first. Years are no facts.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from compactlab.facts.fact import Fact, fact
from compactlab.facts.lines import Rule, Rules

# Round or well-known numbers, which come up by themselves.
GUESSABLE_NUMBERS: frozenset[str] = frozenset(
    """1000 2000 5000 10000 20000 30000 50000 60000 100000 120000 180000 300000 600000 1000000 1024 2048 4096 8192 16384
    32768 65535 65536 8080 3000 8000 9000 3600 86400 31536000 1234 12345 123456 9999 99999 0000 3.14 3.14159 1.00 100.0
    0.001 0.0001 100.00 10.00""".split()
)
GUESSABLE_VERSIONS: frozenset[str] = frozenset(["1.0.0", "0.0.1", "0.1.0", "0.0.0", "2.0.0", "1.1.0", "1.2.3"])
YEARS = range(1700, 2100)

AMOUNT = r"(?<!\d,)\d{1,3}(?:[,'’]\d{3})++(?:\.\d++)?(?!,?\d)|\d++(?:\.\d++)?"
BEFORE = r"(?<![\w\ufffc.:/#@+-])(?<!\d,)"
AFTER = r"(?![\w\ufffc]|[.:/-][\d\ufffc]|/\w|,\d+p)"
_VERSION = re.compile(
    r"(?<![\w.\ufffc/-])v?(\d{1,4}(?:\.\d{1,5}){2,3}(?:-?(?:rc|alpha|beta|dev|post|a|b)\.?\d*)?)(?![\w-]|\.\d)"
)
_NUMBER = re.compile(rf"(?<![\w\ufffc.:/#@+-])(-?(?:{AMOUNT})){AFTER}")


def _version(match: re.Match[str]) -> Sequence[Fact]:
    value = match[1]
    return () if value in GUESSABLE_VERSIONS else (fact("number", value, f"v{value}"),)


def plain(number: str) -> str:
    """Give *number* without separators of thousands.

    >>> plain("1,204.50"), plain("12'000")
    ('1204.50', '12000')
    """
    return number.translate({ord(","): None, ord("'"): None, ord("’"): None})


def grouped(number: str) -> str:
    """Give *number* with commas between thousands.

    >>> grouped("1204.50"), grouped("-81")
    ('1,204.50', '-81')
    """
    whole, point, rest = number.partition(".")
    return f"{int(whole):,}{point}{rest}" if whole.lstrip("-").isdigit() and len(whole) < 25 else number


def significant(number: str) -> int:
    """Count the digits of *number* that say something: leading zeros do not.

    >>> significant("0.23"), significant("1204")
    (2, 4)
    """
    return len(number.lstrip("-0.").replace(".", ""))


def is_short(number: str) -> bool:
    """True for an integer under four digits and a decimal under three: too common to stand alone."""
    return significant(number) < (3 if "." in number else 4)


def bare(number: str) -> str:
    """Give *number* without zeros at the end of its decimals.

    >>> bare("105.60"), bare("120.00"), bare("120")
    ('105.6', '120', '120')
    """
    return number.rstrip("0").rstrip(".") if "." in number else number


def spellings(number: str) -> tuple[str, ...]:
    """Give the ways to write *number* in digits: as it is, with two decimals if it has one, with commas.

    >>> spellings("9385.6")
    ('9385.6', '9385.60', '9,385.6', '9,385.60')
    """
    ways = [number, f"{number}0"] if len(number.partition(".")[2]) == 1 else [number]
    return tuple(dict.fromkeys((*ways, *(grouped(way) for way in ways))))


def _number(match: re.Match[str]) -> Sequence[Fact]:
    written = match[1]
    value = plain(written)
    if is_short(value) or value in GUESSABLE_NUMBERS or len(value) > 40:
        return ()
    if value == written and value.isdigit() and (int(value) in YEARS if len(value) == 4 else value[0] == "0"):
        return ()
    short = bare(value)
    if is_short(short):
        return (fact("number", value, written, needs_anchor=True),)
    return (fact("number", short, written, *spellings(short)),)


# Versions, and the numbers that are long enough to mean one thing.
NUMBERS = Rules(Rule(_VERSION, _version, ("0", ".")), Rule(_NUMBER, _number, ("0",)))
