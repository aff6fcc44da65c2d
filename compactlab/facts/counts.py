"""More counted things: with a word between, in what programs print, and in thousands.

What is counted with a word between ("11 damaged orders") counts only if the thing itself is counted somewhere: the word
may as well be a verb. Programs print no sentences, so of their counts only those of usual things are taken.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from string import ascii_lowercase, digits

from compactlab.facts.counting import NUMBER_WORDS
from compactlab.facts.evidence import Clue
from compactlab.facts.fact import Fact, fact
from compactlab.facts.lines import Look, Rule, Rules
from compactlab.facts.numbers import AMOUNT, BEFORE, bare, plain
from compactlab.facts.quantities import AFTER_UNIT, NAMES, THING, WAYS, count, counted, measure
from compactlab.facts.text import canonical
from compactlab.facts.words import NO_THINGS, STOP_WORDS

FACTORS: dict[str, int] = {"thousand": 3, "million": 6, "billion": 9}
"""Words behind a number, and how many zeros they stand for."""

_NOT_BETWEEN = STOP_WORDS | NO_THINGS | NUMBER_WORDS | FACTORS.keys() | NAMES.keys()
REPORTED: tuple[str, ...] = tuple(
    """rows lines records entries orders events files requests samples readings documents users items tables jobs
    batches messages commits tickets chunks examples steps epochs tokens images columns groups duplicates""".split()
)
"""What programs count."""
_DESCRIBED = re.compile(rf"{BEFORE}(?<![$£€] )(\d{{1,3}}(?:,\d{{3}})++|\d{{1,7}}) ([a-z]{{3,20}}) {THING}")
# `(122 rows)`, `186400 rows, 3 files`, `78 rows written`.
_REPORTED = re.compile(
    r"(?:(?<=[(\ufffc])|(?<=[,:;] )|(?<=  )|^)(\d{1,3}(?:,\d{3})++|\d{1,9}) "
    rf"({'|'.join(REPORTED)})"
    r"(?=[,;.)]|$|  | (?:in|of|from|with|written|read|loaded|affected|total|processed|skipped|deleted|inserted)\b)"
)
_SCALED = re.compile(rf"{BEFORE}({AMOUNT}) ((?i:{'|'.join(FACTORS)}))(?: ({WAYS}){AFTER_UNIT}| {THING})")


_FEET = re.compile(
    rf"{BEFORE}(\d{{1,3}})[ -]?(?:ft|feet|foot)\.? (\d{{1,2}})(?:[ -]?(?:in|inch|inches)\b\.?)?(?![\w/:-]|[.,]\d| ft)"
)


def _feet(match: re.Match[str]) -> Sequence[Fact]:
    """`3 ft 9 in` is one measure."""
    feet, inches = match[1], match[2]
    ways = (f"{feet} ft {inches} in", f"{feet} ft {inches}", f"{feet} foot {inches}", f"{feet}'{inches}\"")
    return (
        fact("quantity", f"{feet} feet {inches} inches", *ways, canonical(match[0]), exact=False, needs_anchor=True),
    )


def _described(match: re.Match[str]) -> Sequence[Fact]:
    number, word, thing = plain(match[1]), match[2], match[3]
    if word in _NOT_BETWEEN or word.endswith("ly"):
        return ()
    if thing in NO_THINGS or (len(number) == 4 and number[:2] in {"18", "19", "20"}):
        return ()
    return tuple(_between(made, word, thing) for made in count(number, thing, canonical(match[0])))


def _between(made: Fact, word: str, thing: str) -> Clue:
    """The count of a thing with a word set before the thing."""
    forms = [f"{form.removesuffix(thing)}{word} {thing}" for form in made.forms if form.endswith(f" {thing}")]
    shown = tuple(dict.fromkeys(form for form in forms if not form.endswith(f"{word} {word} {thing}")))
    return Clue(made.family, shown[0], shown, made.exact, made.needs_anchor, thing=thing)


def _scaled(match: re.Match[str]) -> Sequence[Fact]:
    """`30.7 thousand kWh`: not 30.7, and not a thousand."""
    number = times_thousands(plain(match[1]), FACTORS[match[2].lower()])
    written = canonical(match[0])
    return (measure(number, NAMES[match[3]], written),) if match[3] else count(bare(number), match[4], written)


def times_thousands(number: str, zeros: int) -> str:
    """Multiply *number* by ten to the power of *zeros*, digit by digit.

    >>> times_thousands("30.7", 3), times_thousands("1.23456", 3)
    ('30700', '1234.56')
    """
    whole, _, rest = number.partition(".")
    shifted = str(int(whole + rest[:zeros].ljust(zeros, "0")))
    return f"{shifted}.{rest[zeros:]}" if rest[zeros:] else shifted


SCALED = Rules(
    Rule(_SCALED, _scaled, ("0", "aAm"), prose=True, hides=True), Rule(_FEET, _feet, ("0",), prose=True), across=True
)
# A count with a word between in prose, and in all else the counts of usual things.
COUNTS = (
    Look(_REPORTED, counted, REPORTED),
    Look(_DESCRIBED, _described, tuple(f"{digit} {letter}" for digit in digits for letter in ascii_lowercase)),
)
