"""Spoiled copies of files, the same for the same seed: what crashes, bad disks and other versions leave behind.

`spoiled(data, seed)` gives one copy, with the words for what was done to it. Text is spoiled by bytes, by lines, and
by the values that stand in its JSON; what is compressed or a database by bytes alone.
"""

from __future__ import annotations

import gzip
import json
from copy import deepcopy
from random import Random
from typing import TYPE_CHECKING, Any, NamedTuple

import zstandard

if TYPE_CHECKING:
    from collections.abc import Callable

DEEP, WIDE, LONG = 3_000, 2_000, 50_000
BYTES = (b"\0", b"\xef\xbb\xbf", b"\r\n", "\u2028".encode(), b"\xff", b"\xc3", b'"', b"}", b"\\", b"\n", b"\0" * 500)
VALUES: tuple[Any, ...] = (
    None,
    True,
    False,
    0,
    -1,
    1.5,
    10**40,
    -(10**400),
    1e308,
    float("nan"),
    float("inf"),
    "",
    "x",
    "null",
    '{"a": 1',
    "[1, 2]",
    "user",
    "tool",
    "half \ud83d",
    "\u2028\x00",
    "data:image/png;base64,????",
    [],
    {},
    [None],
    [[]],
    {"": {}},
    {"type": "text"},
    {"role": "user", "content": []},
    [{"type": "text", "text": 5}],
)


class Spoiled(NamedTuple):
    """What became of a file, and what was done to it."""

    data: bytes
    deed: str


def spoiled(data: bytes, seed: int) -> Spoiled:
    """Spoil a file once, or, one time in four, two to four times."""
    rng = Random(seed)
    deeds = []
    for _ in range(1 if rng.random() < 0.75 else rng.randrange(2, 5)):
        binary = b"\0" in data[:200] or data[:2] in {b"PK", b"\x1f\x8b", b"\x28\xb5"}
        deed = rng.choice(_BYTES if binary else _ALL)
        made = deed(data, rng)
        if made is not None:
            data = made
            deeds.append(deed.__name__.strip("_").replace("_", " "))
    return Spoiled(data, ", ".join(deeds) or "nothing")


def _some_bytes_flipped(data: bytes, rng: Random) -> bytes:
    spoilt = bytearray(data)
    for _ in range(rng.choice((1, 1, 3, 30))):
        if spoilt:
            spoilt[rng.randrange(len(spoilt))] = rng.randrange(256)
    return bytes(spoilt)


def _bytes_put_in(data: bytes, rng: Random) -> bytes:
    at = rng.choice((0, len(data), rng.randrange(len(data) + 1)))
    return data[:at] + rng.choice(BYTES) + data[at:]


def _cut_off(data: bytes, rng: Random) -> bytes:
    return data[: rng.randrange(len(data) + 1)]


def _start_cut_off(data: bytes, rng: Random) -> bytes:
    return data[rng.randrange(len(data) + 1) :]


def _piece_cut_out(data: bytes, rng: Random) -> bytes:
    at = rng.randrange(len(data) + 1)
    return data[:at] + data[at + rng.randrange(400) :]


def _piece_doubled(data: bytes, rng: Random) -> bytes:
    at = rng.randrange(len(data) + 1)
    end = at + rng.randrange(400)
    return data[:end] + data[at:]


def _compressed_and_broken(data: bytes, rng: Random) -> bytes:
    packed = rng.choice((lambda raw: gzip.compress(raw, mtime=0), zstandard.ZstdCompressor().compress))(data)
    return rng.choice((_some_bytes_flipped, _cut_off, _piece_cut_out, lambda raw, _: raw))(packed, rng)


def _line_ends_of_windows(data: bytes, _: Random) -> bytes:
    return b"\xef\xbb\xbf" + data.replace(b"\n", b"\r\n")


def _line_cut_out(data: bytes, rng: Random) -> bytes:
    rows = data.split(b"\n")
    del rows[rng.randrange(len(rows))]
    return b"\n".join(rows)


def _line_doubled(data: bytes, rng: Random) -> bytes:
    rows = data.split(b"\n")
    rows.insert(rng.randrange(len(rows) + 1), rng.choice(rows))
    return b"\n".join(rows)


def _lines_shuffled(data: bytes, rng: Random) -> bytes:
    rows = data.split(b"\n")
    rng.shuffle(rows)
    return b"\n".join(rows)


def _lines_swapped(data: bytes, rng: Random) -> bytes:
    rows = data.split(b"\n")
    one, other = rng.randrange(len(rows)), rng.randrange(len(rows))
    rows[one], rows[other] = rows[other], rows[one]
    return b"\n".join(rows)


def _lines_glued(data: bytes, rng: Random) -> bytes:
    rows = data.split(b"\n")
    at = rng.randrange(len(rows))
    rows[at : at + 2] = [rows[at][: rng.randrange(len(rows[at]) + 1)] + b"".join(rows[at + 1 : at + 2])]
    return b"\n".join(rows)


def _all_doubled(data: bytes, _: Random) -> bytes:
    return data + b"\n" + data


def _read(data: bytes) -> list[Any] | None:
    """The values of JSON lines, or one document in a list; None of what is no JSON any more."""
    try:
        return [json.loads(data)]
    except (ValueError, RecursionError):
        pass
    try:
        return [json.loads(row) for row in data.split(b"\n") if row.strip()]
    except (ValueError, RecursionError):
        return None


def _written(values: list[Any]) -> bytes:
    return b"\n".join(json.dumps(value).encode() for value in values) + b"\n"


def _places(value: Any, found: list[tuple[Any, Any]]) -> list[tuple[Any, Any]]:
    """Every container with every key in it."""
    waiting = [value]
    while waiting and len(found) < 20_000:
        held = waiting.pop()
        inner = held.items() if isinstance(held, dict) else enumerate(held)
        for key, part in inner:
            found.append((held, key))
            if isinstance(part, dict | list):
                waiting.append(part)
    return found


def _with_place(change: Callable[[Any, Any, Random], None], data: bytes, rng: Random) -> bytes | None:
    values = _read(data)
    places = _places(values, []) if values else []
    if not values or not places:
        return None
    for _ in range(rng.choice((1, 1, 1, 2, 6))):
        held, key = rng.choice(places)
        if key < len(held) if isinstance(held, list) else key in held:
            change(held, key, rng)
    return _written(values)


def _values_replaced(data: bytes, rng: Random) -> bytes | None:
    def change(held: Any, key: Any, rng: Random) -> None:
        held[key] = deepcopy(rng.choice(VALUES))

    return _with_place(change, data, rng)


def _keys_removed(data: bytes, rng: Random) -> bytes | None:
    def change(held: Any, key: Any, _: Random) -> None:
        del held[key]

    return _with_place(change, data, rng)


def _keys_renamed(data: bytes, rng: Random) -> bytes | None:
    def change(held: Any, key: Any, rng: Random) -> None:
        if isinstance(held, dict):
            held[rng.choice(("", "type", "role", "content", "id", f"{key}_", "message"))] = held.pop(key)
        else:
            held.reverse()

    return _with_place(change, data, rng)


def _values_wrapped(data: bytes, rng: Random) -> bytes | None:
    def change(held: Any, key: Any, rng: Random) -> None:
        value = held[key]
        made = ([value], {"a": value}, [value] * 3, json.dumps(value), {"type": "text", "text": value}, str(value))
        held[key] = rng.choice(made)

    return _with_place(change, data, rng)


def _value_of_another_place(data: bytes, rng: Random) -> bytes | None:
    values = _read(data)
    places = _places(values, []) if values else []
    if not values or not places:
        return None
    (held, key), (other, name) = rng.choice(places), rng.choice(places)
    held[key] = deepcopy(other[name])
    return _written(values)


def _value_grown(data: bytes, rng: Random) -> bytes | None:
    """A place that holds something very deep, very long or very many."""
    values = _read(data)
    places = _places(values, []) if values else []
    if not values or not places:
        return None
    held, key = rng.choice(places)
    mark = "5e1f-mark"
    kept, held[key] = held[key], mark
    few = json.dumps(kept)[:200] if rng.random() < 0.5 else '{"role": "user", "content": "x"}'
    try:
        json.loads(few)
    except ValueError:
        few = "1"
    deep = rng.choice(('{"a":', '{"content":', "["))
    grown = rng.choice(
        (
            deep * DEEP + "1" + ("]" if deep == "[" else "}") * DEEP,
            '"' + "x" * LONG + '"',
            "[" + ",".join([few] * WIDE) + "]",
            "9" * 5_000,
        )
    )
    return _written(values).replace(f'"{mark}"'.encode(), grown.encode(), 1)


def _written_otherwise(data: bytes, rng: Random) -> bytes | None:
    values = _read(data)
    if not values:
        return None
    value = values[0] if len(values) == 1 else values
    return rng.choice(
        (
            lambda: json.dumps(value, indent=2).encode(),
            lambda: json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode("utf-8", "replace"),
            lambda: _written(value) if isinstance(value, list) else json.dumps([value, value]).encode(),
            lambda: json.dumps(json.dumps(value)).encode(),
            lambda: json.dumps(value).encode("utf-16"),
        )
    )()


_BYTES = (_some_bytes_flipped, _bytes_put_in, _cut_off, _start_cut_off, _piece_cut_out, _piece_doubled)
_LINES = (_line_cut_out, _line_doubled, _lines_shuffled, _lines_swapped, _lines_glued, _line_ends_of_windows)
_JSON = (_values_replaced, _keys_removed, _keys_renamed, _values_wrapped, _value_of_another_place, _value_grown)
_ALL = (*_BYTES, *_LINES, *_JSON, *_JSON, _values_replaced, _values_replaced, _written_otherwise)
_ALL = (*_ALL, _all_doubled, _compressed_and_broken)
