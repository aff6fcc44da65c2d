"""Values for the places of the scenes, drawn by the chance of a session, so that hardly two sessions share one."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

_NOUNS = (
    "ledger meter invoice parcel ticket harvest roster tariff voucher cargo garden chapter signal archive depot border"
    " quarry lantern kettle saddle anchor bridge orchard pantry gallery workshop lecture concert festival workbook"
).split()
_VERBS = "merge rename settle filter rebuild trim gather align reorder backfill compare collect".split()
_AREAS = "billing intake routing storage reports accounts delivery planning".split()
_SYLLABLES = "ba ko ri mel ta sor vin du gra lem no pe ska tur wen zo hal ist or fen".split()
_COLOURS = "ochre teal ivory charcoal crimson walnut slate".split()
_ERRORS = "ValueError KeyError TimeoutError LookupError OverflowError".split()
_ENGINES = "parser loader exporter planner".split()


def _word(draw: Random, parts: int = 3) -> str:
    return "".join(draw.choice(_SYLLABLES) for _ in range(parts))


def _name(draw: Random) -> str:
    return f"{_word(draw).capitalize()} {_word(draw).capitalize()}"


def _date(draw: Random) -> str:
    return f"2026-{draw.randrange(1, 13):02}-{draw.randrange(1, 29):02}"


def _hex(draw: Random, digits: int) -> str:
    return f"{draw.randrange(10, 16):x}{draw.getrandbits(4 * digits):0{digits}x}"[:digits]


_MAKERS: dict[str, Callable[[Random], str]] = {
    "amount": lambda draw: str(draw.randrange(1100, 99000)),
    "small": lambda draw: str(draw.randrange(2, 90)),
    "port": lambda draw: str(draw.randrange(20000, 60000)),
    "decimal": lambda draw: f"{draw.randrange(10, 900)}.{draw.randrange(1000):03}",
    "seconds": lambda draw: f"{draw.randrange(5, 90)}.{draw.randrange(10)}",
    "money": lambda draw: f"{draw.randrange(40, 4000)}.{draw.randrange(100):02}",
    "room": lambda draw: f"{draw.choice('ABCDE')}{draw.randrange(100, 700)}",
    "phone": lambda draw: f"+47 {draw.randrange(400, 999)} {draw.randrange(10, 99)} {draw.randrange(100, 999)}",
    "date": _date,
    "date2": _date,
    "name": _name,
    "mail": lambda draw: f"{_word(draw)}@{_word(draw)}.example",
    "street": lambda draw: f"{_word(draw).capitalize()} Street {draw.randrange(2, 180)}",
    "venue": lambda draw: f"{_word(draw, 2).capitalize()} Hall",
    "shop": lambda draw: f"{_word(draw).capitalize()} & {_word(draw, 2).capitalize()}",
    "project": lambda draw: f"{_word(draw, 2)}-{draw.choice(_NOUNS)}",
    "repo": lambda draw: f"{_word(draw, 2)}/{_word(draw)}",
    "service": lambda draw: f"{draw.choice(_NOUNS)}-{_word(draw, 2)}",
    "host": lambda draw: f"{_word(draw, 2)}-{draw.randrange(2, 40)}.{_word(draw, 2)}.internal",
    "ticket": lambda draw: f"{_word(draw, 2).upper()}-{draw.randrange(200, 9000)}",
    "reference": lambda draw: f"{_word(draw, 1).upper()}{draw.randrange(10000, 99999)}",
    "article": lambda draw: f"{draw.choice('KLMNPQ')}{draw.choice('XYZ')}-{draw.randrange(1000, 9999)}",
    "tag": lambda draw: f"r{draw.randrange(10, 99)}.{draw.randrange(2, 30)}-{_hex(draw, 7)}",
    "hash": lambda draw: _hex(draw, 10),
    "hash2": lambda draw: _hex(draw, 10),
    "revision": lambda draw: _hex(draw, 12),
    "table": lambda draw: f"{draw.choice(_NOUNS)}_{_word(draw, 2)}_old",
    "column": lambda draw: f"{_word(draw, 2)}_{draw.choice(_NOUNS)}_id",
    "function": lambda draw: f"{draw.choice(_VERBS)}_{_word(draw, 2)}_{draw.choice(_NOUNS)}",
    "setting": lambda draw: f"{draw.choice(_NOUNS)}.{_word(draw, 2)}_{draw.choice(_AREAS)}",
    "bench": lambda draw: f"bench_{_word(draw, 2)}_{draw.choice(_NOUNS)}",
    "test": lambda draw: f"tests/{draw.choice(_AREAS)}/test_{_word(draw, 2)}.py::test_{_word(draw)}",
    "path": lambda draw: f"/workspace/tmp/{_word(draw)}-{draw.randrange(10, 99)}.db",
    "noun": lambda draw: draw.choice(_NOUNS),
    "Noun": lambda draw: draw.choice(_NOUNS).capitalize(),
    "verb": lambda draw: draw.choice(_VERBS),
    "area": lambda draw: draw.choice(_AREAS),
    "colour": lambda draw: draw.choice(_COLOURS),
    "error": lambda draw: draw.choice(_ERRORS),
    "engine": lambda draw: draw.choice(_ENGINES),
}


_SHARED = {"repo": 1, "venue": 2, "project": 2, "service": 2, "shop": 3, "area": 3, "name": 4}
"""Places for which a session has so many values and no more: the people, shops and services that it is about."""

Cast = dict[str, tuple[str, ...]]


def cast(draw: Random) -> Cast:
    """Draw whom and what a session is about."""
    return {place: tuple(_MAKERS[place](draw) for _ in range(count)) for place, count in _SHARED.items()}


class Values(dict[str, str]):
    """The values of one scene by the name of their place, each drawn when it is asked for, from the cast or anew.

    >>> draw = Random(1)
    >>> values = Values(draw, cast(draw))
    >>> "{port} {noun} {port}".format_map(values) == f"{values['port']} {values['noun']} {values['port']}"
    True
    """

    def __init__(self, draw: Random, of: Cast) -> None:
        super().__init__()
        self._draw, self._cast = draw, of

    def __missing__(self, place: str) -> str:
        shared = self._cast.get(place)
        self[place] = self._draw.choice(shared) if shared else _MAKERS[place](self._draw)
        return self[place]
