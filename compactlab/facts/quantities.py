"""Families `quantity` and `number`: numbers with their unit, and in prose with the thing that they count.

Everyday measures and counted things are quantities, written in digits or words; money, shares and technical units are
numbers. One value has one name for its unit, whatever was written: `212 g`, `212 grams` and "two hundred and twelve
grams" are all `212 grams`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from compactlab.facts.counting import ENGLISH, GERMAN, digits_of, words_of
from compactlab.facts.fact import Fact, Family, fact
from compactlab.facts.lines import NUMERAL, Rule, Rules
from compactlab.facts.numbers import AFTER, AMOUNT, BEFORE, bare, is_short, plain, spellings
from compactlab.facts.text import canonical
from compactlab.facts.words import NO_THINGS, STOP_WORDS

# name: (words for it, symbols for it). The name is what values show; the first word is its singular.
EVERYDAY: dict[str, tuple[str, str]] = {
    "grams": ("gram grams gramme grammes Gramm", "g"),
    "kilograms": ("kilogram kilograms kilo kilos Kilo Kilogramm", "kg"),
    "tonnes": ("tonne tonnes tons Tonnen", ""),
    "millimetres": ("millimetre millimetres millimeter millimeters Millimeter", "mm"),
    "centimetres": ("centimetre centimetres centimeter centimeters Zentimeter", "cm"),
    "metres": ("metre metres meter meters Meter", "m"),
    "kilometres": ("kilometre kilometres kilometer kilometers Kilometer", "km"),
    "inches": ("inch inches Zoll", ""),
    "feet": ("foot feet", "ft"),
    "yards": ("yard yards", "yd"),
    "miles": ("mile miles Meilen", "mi"),
    "litres": ("litre litres liter liters Liter", "l"),
    "millilitres": ("millilitre millilitres milliliter milliliters", "ml"),
    "pints": ("pint pints", ""),
    "seconds": ("second seconds Sekunden", "s sec secs"),
    "minutes": ("minute minutes Minuten", "min mins"),
    "hours": ("hour hours Stunden", "h hrs hr"),
    "days": ("day days Tage Tagen", ""),
    "nights": ("night nights Nächte", ""),
    "working days": ("", ""),
    "weeks": ("week weeks Wochen", ""),
    "months": ("month months Monate Monaten", ""),
    "years": ("year years Jahre Jahren", "yr yrs"),
    "degrees": ("degree degrees Grad", "°C °"),
    "square metres": ("sqm", "m2"),
}
TECHNICAL: dict[str, tuple[str, str]] = {
    "pounds": ("pound pounds quid", "£ GBP"),
    "euros": ("euro euros Euro", "€ EUR"),
    "dollars": ("dollar dollars", "$ USD"),
    "francs": ("franc francs Franken", "CHF"),
    "pence": ("penny pence", ""),
    "cents": ("cent cents Cent", ""),
    "%": ("percent Prozent", "%"),
    "ms": ("millisecond milliseconds", "ms msec"),
    "μs": ("microsecond microseconds", "μs us"),
    "ns": ("nanosecond nanoseconds", "ns"),
    "bytes": ("byte bytes", "B"),
    "kB": ("kilobyte kilobytes", "kB KB"),
    "MB": ("megabyte megabytes", "MB"),
    "GB": ("gigabyte gigabytes", "GB"),
    "TB": ("terabyte terabytes", "TB"),
    "KiB": ("", "KiB"),
    "MiB": ("", "MiB"),
    "GiB": ("", "GiB"),
    "kWh": ("", "kWh"),
    "MWh": ("", "MWh"),
    "Wh": ("", "Wh"),
    "watts": ("watt watts Watt", "W"),
    "kW": ("kilowatt kilowatts", "kW"),
    "volts": ("volt volts", "V"),
    "amps": ("amp amps", "A"),
    "mAh": ("", "mAh"),
    "Hz": ("hertz", "Hz"),
    "kHz": ("", "kHz"),
    "MHz": ("", "MHz"),
    "GHz": ("", "GHz"),
    "mg": ("milligram milligrams", "mg"),
    "mg/l": ("", "mg/l"),
    "mg/kg": ("", "mg/kg"),
    "km/h": ("", "km/h kmh"),
    "px": ("pixel pixels", "px"),
    "dpi": ("", "dpi"),
    "rpm": ("", "rpm"),
    "rps": ("", "rps req/s"),
    "fps": ("", "fps"),
    "Mbps": ("", "Mbps Mbit/s"),
}
# "503s" are answers of a server, "1920s" are years.
NO_SECONDS: frozenset[str] = frozenset(
    [str(code) for code in (*range(200, 209), *range(300, 309), *range(400, 430), *range(500, 512))]
    + [str(year) for year in range(1500, 2100, 10)]
)
_UNITS = EVERYDAY | TECHNICAL
NAMES = {way: name for name, ways in _UNITS.items() for part in ways for way in part.split(" ") if way}
NAMES |= {"per cent": "%", "working days": "working days"}
_CURRENCY = {
    "£": "pounds",
    "€": "euros",
    "$": "dollars",
    "GBP": "pounds",
    "EUR": "euros",
    "USD": "dollars",
    "CHF": "francs",
}

CURRENCIES: frozenset[str] = frozenset(_CURRENCY)
UNIT_STARTS: frozenset[str] = frozenset(
    start[0] for way in NAMES if (start := re.match(r"[^\W\d_]+|\W", way)) is not None
)

# Symbols of one letter mean a unit in prose only; in code and tables they are suffixes of anything.
WAYS = "|".join(re.escape(way) for way in sorted(NAMES, key=len, reverse=True))
AFTER_UNIT = r"(?![\w\ufffc/]|[-.]\w)"
_MEASURED = re.compile(rf"{BEFORE}({AMOUNT})(?: ?|-)({WAYS}){AFTER_UNIT}")
_PRICED = re.compile(rf"(?<![\w$])(£|€|\$|GBP |EUR |USD |CHF ) ?({AMOUNT}){AFTER}")
_WORDS = rf"(?<![\w-])((?i:{ENGLISH})|{GERMAN})"
_MEASURED_IN_WORDS = re.compile(rf"{_WORDS}[ -]({WAYS}){AFTER_UNIT}")
THINGS = frozenset("people men women children sheep feet".split())
THING = (
    rf"([a-z]{{2,24}}s|{'|'.join(sorted(THINGS))})(?![\w\ufffc'’/=-])"
    r"(?! (?:the|an?|its?|his|her|their|my|your|our|what|that|not|to be)\b)"
)
_COUNTED = re.compile(rf"{BEFORE}(?<![$£€] )({AMOUNT}) {THING}")
_COUNTED_IN_WORDS = re.compile(rf"{_WORDS} {THING}")
_GERMAN_THING = re.compile(rf"(?<![\w-])({GERMAN}) ([A-ZÄÖÜ][a-zäöüß]{{2,24}})(?!\w)")
_FRACTION = re.compile(rf"{BEFORE}\d{{1,4}} (\d{{1,2}})/(2|3|4|5|6|8|10|16|32)(?![\w/])")
_SIDE = r"(\d{2,5}(?:\.\d{1,6})?|[1-9]\.\d{1,6})"
_SPREAD = re.compile(rf"{BEFORE}{_SIDE} ?[x×] ?{_SIDE}(?: ?[x×] ?(\d{{1,5}}(?:\.\d{{1,6}})?))?(?! ?[x×] ?\d){AFTER}")


def _fraction(match: re.Match[str]) -> Sequence[Fact]:
    """`9 3/8`, as inches are written."""
    return (fact("quantity", match[0], needs_anchor=True),) if int(match[1]) < int(match[2]) else ()


def _number(written: str) -> str | None:
    return plain(written) if written[0].isdigit() else digits_of(written)


def _spread(match: re.Match[str]) -> Sequence[Fact]:
    sides = [side for side in match.groups() if side]
    forms = (sign.join(sides) for sign in (" x ", "x", " × ", "×", " by "))
    return (fact("quantity", " x ".join(sides), *forms, canonical(match[0]), exact=False),)


def _priced(match: re.Match[str]) -> Sequence[Fact]:
    """A price outside prose, where `$1` is a variable of a shell."""
    number = plain(match[2])
    return () if match[1] == "$" and "." not in number and is_short(number) else _priced_in_prose(match)


def _priced_in_prose(match: re.Match[str]) -> Sequence[Fact]:
    number = plain(match[2])
    return () if _is_trifle(number) else (measure(number, _CURRENCY[match[1].strip()], canonical(match[0])),)


def _measured(match: re.Match[str]) -> Sequence[Fact]:
    """A measure outside prose, where one letter is a suffix of anything."""
    return () if len(match[2]) == 1 and match[2].isalpha() else _measured_in_prose(match)


def _measured_in_prose(match: re.Match[str]) -> Sequence[Fact]:
    number, unit = _number(match[1]), match[2]
    if number is None or _is_trifle(number) or (match[0].endswith("s") and match[0][:-1] in NO_SECONDS):
        return ()
    return (measure(number, NAMES[unit], canonical(match[0])),)


def _is_trifle(number: str) -> bool:
    """None and one of a thing are in every text."""
    return number.rstrip("0").rstrip(".") in {"", "1"} and len(number) < 3


def counted(match: re.Match[str]) -> Sequence[Fact]:
    """Read a number and the thing behind it; a year counts nothing."""
    number, thing = _number(match[1]), match[2]
    if number is None or "." in number or thing in NO_THINGS:
        return ()
    if match[1].isdigit() and len(number) == 4 and number[:2] in {"18", "19", "20"}:
        return ()
    return count(number, thing, canonical(match[0]))


def count(number: str, thing: str, written: str) -> tuple[Fact, ...]:
    """Give the fact of a whole *number* of things; none, one and two of a thing are in every text and make none.

    >>> count("1204", "orders", "1,204 orders")[0].forms[:3], count("2", "orders", "two orders")
    (('1204 orders', '1,204 orders', 'one thousand two hundred and four orders'), ())
    """
    if thing.lower() in STOP_WORDS or thing.endswith(("ss", "us", "is")) or number[0] == "0" or number in {"1", "2"}:
        return ()
    ways = (f"{way} {thing}" for way in (*spellings(number), *words_of(number)))
    short = is_short(number)
    return (fact("quantity", f"{number} {thing}", *ways, written, exact=False, needs_anchor=short),)


@lru_cache(maxsize=8_192)
def measure(number: str, name: str, written: str) -> Fact:
    """Give the fact of *number* in the unit called *name*, with its usual spellings and the one that was *written*.

    >>> measure("212", "grams", "212g").forms[:4]
    ('212 grams', '212 gram', '212 gramme', '212 grammes')
    """
    words, symbols = (way.split() for way in _UNITS[name])
    if name == "%":
        words = [*words, "per cent"]
    number = bare(number)
    digits = spellings(number)
    forms = [f"{way} {word}" for way in (*digits, *words_of(number)) for word in (name, *words)]
    forms += [f"{way}{joint}{symbol}" for way in digits for symbol in symbols for joint in (" ", "")]
    forms += [
        f"{symbol}{joint}{way}" for way in digits for symbol in symbols if symbol in _CURRENCY for joint in ("", " ")
    ]
    forms += [f"{way}-{words[0]}" for way in digits if words]
    if name in _CURRENCY.values() and "." not in number:
        forms += [f"{symbol}{way}.00" for way in digits for symbol in symbols if not symbol.isalpha()]
    forms += [] if is_short(number) else digits
    family: Family = "quantity" if name in EVERYDAY else "number"
    return fact(family, f"{number} {name}", *forms, written, exact=False, needs_anchor=is_short(number))


# Sizes, prices and measures everywhere, and in prose what is counted or written in words.
_IN_UNITS = "".join({way[0] for way in NAMES if not way[0].isalpha()}) + "Aamxμ"
QUANTITIES = Rules(
    Rule(_SPREAD, _spread, ("0", "x×")),
    Rule(_PRICED, _priced_in_prose, ("0", "£€$A"), prose=True),
    Rule(_PRICED, _priced, ("0", "£€$A"), prose=False),
    Rule(_MEASURED, _measured_in_prose, ("0", _IN_UNITS), prose=True),
    Rule(_MEASURED, _measured, ("0", _IN_UNITS), prose=False),
    Rule(_MEASURED_IN_WORDS, _measured_in_prose, (NUMERAL,), prose=True),
    Rule(_COUNTED, counted, ("0", "ax"), prose=True),
    Rule(_COUNTED_IN_WORDS, counted, (NUMERAL,), prose=True),
    Rule(_GERMAN_THING, counted, (NUMERAL,), prose=True),
    Rule(_FRACTION, _fraction, ("0", "/"), prose=True),
    across=True,
)
