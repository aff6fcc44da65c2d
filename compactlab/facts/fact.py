"""Fact: one value that stands in a transcript, its family, and the ways of writing it."""

from __future__ import annotations

from typing import Literal

import msgspec

Family = Literal[
    "path", "url", "command", "identifier", "hash", "error", "number", "name", "quantity", "quote", "date", "setting"
]

# The most specific family first: a value that two families find belongs to the earlier one.
FAMILIES: tuple[Family, ...] = (
    "url",
    "path",
    "hash",
    "error",
    "command",
    "identifier",
    "setting",
    "date",
    "quantity",
    "number",
    "quote",
    "name",
)


class Fact(msgspec.Struct, frozen=True, gc=False):
    """A value of a family. `value` is its canonical form and its key; `forms` are all strings that count as it.

    Forms are `canonical` strings. `exact` facts are matched case-sensitively, the others case-folded. A fact that
    `needs_anchor` is too common by itself: it counts as needed only where its home and its use share another word.
    """

    family: Family
    value: str
    forms: tuple[str, ...]
    exact: bool = True
    needs_anchor: bool = False


def fact(family: Family, value: str, *others: str, exact: bool = True, needs_anchor: bool = False) -> Fact:
    """Give a fact whose forms are *value* and *others*, each once, in this order.

    >>> fact("path", "src/app.py", "app.py", "src/app.py").forms
    ('src/app.py', 'app.py')
    """
    return Fact(family, value, tuple(dict.fromkeys((value, *others))), exact, needs_anchor)
