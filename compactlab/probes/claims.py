"""What made text claims: values in the text that compaction wrote or edited, and whether the history holds them.

Follows metric M7 of the reference. Three things are no claims. What stands word for word in the history is quoted, not
claimed, be it cut at an end. A remark of the compactor about itself, in square brackets (`[12 messages cut]`), counts
what it did. And a value cut in its middle, at the edge of the text or beside a remark, was shortened, not invented.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import NamedTuple

from compactlab.facts import Fact, Family, mine
from compactlab.facts.text import canonical
from compactlab.matching import fold, is_whole
from compactlab.tokens import clean
from compactlab.transcript import Block, Message, Messages, Text, ToolResult, readable

FAMILIES: frozenset[Family] = frozenset(("path", "url", "identifier", "hash", "number", "quantity", "date"))
"""Exact families: their values are right or wrong, never reworded."""

_REMARK = re.compile(
    r"^[ \t>]*+\[(?=[^\n]*[^\W\d_])[^\[\]\n]{1,200}+\][ \t]*+$|\[…[^\[\]\n]{0,200}+\]|\[[^\[\]\n…]{0,200}+…\]",
    re.MULTILINE,
)
_EDGE = re.compile(r"…|\.{3,}+")
_BULLET = re.compile(r"(?:> ?|[-*] ){1,3}+(?:\d{1,2}[.)] )?|\d{1,2}[.)] ")
_FIRST = re.compile(r"\S++")
_LAST = re.compile(r"(?<!\S)\S++\Z")
_JOINERS = {"number": ".,", "quantity": ".,", "path": ".-", "url": ".-"}
_PUNCTUATION = ".,;:!?()[]{}<>\"'`*_“”„‘’"


class Claims(NamedTuple):
    """Values of one made text: all mined from what it does not quote, and of these what the history does not hold."""

    mined: dict[str, Fact]
    fabricated: dict[str, Fact]


class Claimed:
    """Tells claims of made text from what *base*, the messages before the cut, says. One a case; remembers all.

    *known* are further ways to write what the history holds: forms of facts that stand in it.
    """

    def __init__(self, base: Messages, known: Iterable[Fact] = ()) -> None:
        self._base = base
        self._known = frozenset(form for fact in known for form in fact.forms)
        self._held: dict[tuple[str, str], bool] = {}
        self._said: dict[tuple[str, bool], bool] = {}
        self._claims: dict[tuple[bool, str], Claims] = {}

    def of(self, block: Block) -> Claims:
        """The claims of a block that compaction made."""
        key = (isinstance(block, ToolResult), readable(block))
        if key not in self._claims:
            fresh = "\n".join(self._fresh(key[1]))
            mined = {fact.value: fact for fact in _mined(fresh, is_result=key[0]) if fact.family in FAMILIES}
            made_up = {value: fact for value, fact in mined.items() if not self.holds(fact)}
            self._claims[key] = Claims(mined, made_up)
        return self._claims[key]

    def holds(self, fact: Fact) -> bool:
        """Tell whether any form of a value stands in the history as a whole, or as whole folders of a longer path."""
        key = (fact.family, fact.value)
        if key not in self._held:
            forms = (fact.value,) if fact.family == "path" else fact.forms  # its base name alone is another file's, too
            self._held[key] = not self._known.isdisjoint(forms) or self._holds_any(forms, fact)
        return self._held[key]

    def _holds_any(self, forms: Iterable[str], fact: Fact) -> bool:
        text = self._text if fact.exact else self._folded
        joiners = _JOINERS.get(fact.family, "")
        ways = forms if fact.exact else map(fold, forms)
        return any(_stands(form, text, joiners, dated=fact.family == "date") for form in ways)

    @cached_property
    def _text(self) -> str:
        blocks = dict.fromkeys(block for message in self._base for block in message.blocks)
        return "\n".join(clean(canonical(readable(block))) for block in blocks)

    @cached_property
    def _folded(self) -> str:
        return fold(self._text)

    def _fresh(self, text: str) -> Iterator[str]:
        """The lines of a text that are not quoted, without remarks and without values cut at an edge."""
        for piece in _EDGE.split(_REMARK.sub("…", text)):
            lines = filter(None, (_bare(line) for line in piece.split("\n")))
            for i, line in enumerate(lines):
                key, colon, rest = line.partition(": ")
                if self._says(line, is_first=i == 0):
                    continue
                yield self._uncut(key, is_first=i == 0)  # a ledger cuts its keys, too
                if colon and not self._says(rest, is_first=False):
                    yield self._uncut(rest, is_first=False)

    def _says(self, line: str, *, is_first: bool) -> bool:
        """Tell whether the history has a line word for word; its end, and the start of a first one, may be cut off."""
        known = (line, is_first)
        if known not in self._said:
            start = self._text.find(line)
            before = self._text[max(0, start - 3) : start + len(line)]
            self._said[known] = start >= 0 and (is_first or is_whole(before, min(3, start), len(before), "/.-~:,"))
        return self._said[known]

    def _uncut(self, line: str, *, is_first: bool) -> str:
        """A line without a last token that was cut; the first one behind an edge also without such a first token."""
        for applies, pattern in ((is_first, _FIRST), (True, _LAST)):
            found = pattern.search(line)
            if applies and found and self._is_piece(found[0].strip(_PUNCTUATION)):
                line = (line[: found.start()] + line[found.end() :]).strip()
        return line

    def _is_piece(self, token: str) -> bool:
        """Tell whether a token stands in the history, but only as a piece of something longer; digits are no piece of a
        number with more of them behind a point, since that is how a number is rounded.
        """
        if not token or token not in self._text or _stands(token, self._text, "/.-~:,", dated=False):
            return False
        return not (token[-1].isdigit() and f"{token}." in self._text)


def _bare(line: str) -> str:
    """A line in canonical form, without bullets and the marks of a quotation."""
    plain = clean(canonical(line))
    found = _BULLET.match(plain)
    return plain[found.end() :] if found else plain


def _mined(text: str, *, is_result: bool) -> Iterable[Fact]:
    if not text:
        return ()
    block = ToolResult("", (Text(text),)) if is_result else Text(text)
    return mine([Message("tool" if is_result else "user", (block,), synthetic=True)])


def _stands(form: str, text: str, joiners: str, *, dated: bool) -> bool:
    """Tell whether a form stands as a whole; a day also before the `T` of a time, a time also before its seconds."""
    start = text.find(form)
    while form and start >= 0:
        end = start + len(form)
        is_seconds = dated and text[max(0, start - 1) : start] == ":"
        if not is_seconds and (is_whole(text, start, end, joiners) or (dated and text[end : end + 1] in {"T", "t"})):
            return True
        start = text.find(form, start + 1)
    return False
