"""Where a quoted fact stands in the text that a page shows.

A run keeps the words around a fact, in canonical form, and not its place. In the text itself white space may be any
run of blanks and line ends; so a quotation is looked for word by word, and the value is what is between its margins.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from compactlab.facts.text import fold
from compactlab.harness.fates import AROUND

_CUT = "…"


class Place(NamedTuple):
    """Where a text is to be marked: from *start* up to *end*, in characters of Python."""

    start: int
    end: int


def place(text: str, quotation: str, value: str) -> Place | None:
    r"""Find the value of a quotation in *text*: as it stands there, which may be another form of it.

    >>> place("so it is\non 6  Feb, says he", "so it is on 6 Feb, says he", "6 Feb")
    Place(start=12, end=18)
    >>> place("nothing of it", "so it is", "6 Feb")
    """
    body, start, end = _body(quotation, value)
    for left, middle, right in ((body[:start], body[start:end], body[end:]), ("", value, "")):
        found = middle.strip() and re.search(
            f"{_spaced(left.lstrip())}({_spaced(middle)}){_spaced(right.rstrip())}", text
        )
        if found:
            return Place(*found.span(1))
    return None


def _body(quotation: str, value: str) -> tuple[str, int, int]:
    """The quotation without the signs that it goes on, and from where to where the value stands in it."""
    left, right = quotation.startswith(_CUT), quotation.endswith(_CUT)
    body = quotation[int(left) : len(quotation) - int(right)]
    start = AROUND if left else None
    end = len(body) - AROUND if right else None
    if start is not None and end is not None:
        return body, start, end
    for form in _forms(value):
        at = fold(body).find(fold(form), start or 0) if end is None else fold(body).rfind(fold(form), 0, end)
        if at >= 0:
            return body, at, at + len(form)
    if end is not None:
        found = re.search(r"[^\s\"'`(),]*$", body[:end])
        return body, found.start() if found and found[0] else 0, end
    found = re.compile(r"[^\s\"'`(),]+").search(body, start) if start is not None else None
    return body, start or 0, found.end() if found else len(body)


def _forms(value: str) -> Iterator[str]:
    """The value, and what of it may stand for it: the end of a path, a name without its brackets, a bare number.

    >>> list(_forms("/a/b/check.py")), list(_forms("run()")), list(_forms("105.6 pounds"))
    (['/a/b/check.py', 'a/b/check.py', 'b/check.py', 'check.py'], ['run()', 'run'], ['105.6 pounds', '105.6'])
    """
    yield value
    rest = value
    while "/" in rest[:-1]:
        rest = rest.partition("/")[2]
        yield rest
    if (bare := value.removesuffix("()")) != value:
        yield bare
    if value[:1].isdigit() and (number := value.partition(" ")[0]) != value:
        yield number


def _spaced(text: str) -> str:
    """A pattern for *text* in which a blank stands for any white space."""
    return r"\s+".join(map(re.escape, re.split(r"\s+", text)))


def units(text: str, at: int) -> int:
    r"""Give a place in characters of Python as one in UTF-16 units, as JavaScript counts.

    >>> units("a😀b", 2), units("\ud800b", 1)
    (3, 1)
    """
    return len(text[:at].encode("utf-16-le", "surrogatepass")) // 2
