"""Pins: messages that a person wants kept whatever happens, chosen by role, by index, or by what they say.

A pin is written `role:system`, `index:12` (or `12`), or `pattern:REGEX` (or `/REGEX/`). Pinned messages belong to the
protected set, with all of their unit; the receipt shows what they weigh.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import get_args

from msgspec.structs import replace

from compactlab.errors import SpecError
from compactlab.transcript import Message, Messages, Role, readable


def pinned(messages: Sequence[Message], pins: Iterable[str]) -> Messages:
    """Mark every message that a pin chooses; `SpecError` for a pin that cannot be read or an index out of range.

    An index counts the messages given, from 0. A pattern is searched in the words of all blocks, case counts.

    >>> from compactlab.transcript import Text
    >>> talk = [Message("user", (Text("never touch prod"),)), Message("assistant", (Text("understood"),))]
    >>> [message.pinned for message in pinned(talk, ["/never/"])]
    [True, False]
    """
    chosen: set[int] = set()
    for pin in pins:
        chosen |= _chosen(messages, pin)
    return tuple(replace(m, pinned=True) if i in chosen else m for i, m in enumerate(messages))


def check(pins: Iterable[object]) -> None:
    """Raise `SpecError` for the first pin that cannot be read."""
    for pin in pins:
        if not isinstance(pin, str):
            raise SpecError(f"pin {pin!r} is no text; expected role:ROLE, index:N or pattern:REGEX")
        _parsed(pin)


def _chosen(messages: Sequence[Message], pin: str) -> set[int]:
    kind, _, value = _parsed(pin).partition(":")
    if kind == "index":
        index = int(value)
        if index >= len(messages):
            raise SpecError(f"pin {pin!r}: there are {len(messages)} messages; the last has index {len(messages) - 1}")
        return {index}
    if kind == "role":
        return {i for i, message in enumerate(messages) if message.role == value}
    pattern = re.compile(value)
    return {i for i, m in enumerate(messages) if any(pattern.search(readable(block)) for block in m.blocks)}


def _parsed(pin: str) -> str:
    """Bring a pin into the form `kind:value`, or say what is wrong with it."""
    if pin.isdecimal():
        return f"index:{pin}"
    if len(pin) > 2 and pin.startswith("/") and pin.endswith("/"):
        pin = f"pattern:{pin[1:-1]}"
    kind, colon, value = pin.partition(":")
    fine = {
        "role": value in get_args(Role),
        "index": value.isdecimal(),
        "pattern": bool(value) and _compiles(value, pin),
    }
    if not colon or not fine.get(kind):
        roles = ", ".join(get_args(Role))
        raise SpecError(f"pin {pin!r} cannot be read; expected role:ROLE ({roles}), index:N or pattern:REGEX")
    return pin


def _compiles(pattern: str, pin: str) -> bool:
    try:
        re.compile(pattern)
    except re.error as error:
        raise SpecError(f"pin {pin!r}: the pattern cannot be read ({error})") from error
    return True
