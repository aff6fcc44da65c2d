"""Slots: things whose value changed before the cut, with the latest value and those that it replaced (update pairs).

A slot is known by its scope and key. Its values come from calls that rewrite a line or add a row for the same key, and
from words of a person or the agent that name both values: `not A but B`, `moved from A to B`, `B, no longer A`, `B (was
A)`, `renamed A to B`. Few and right: where the two values are not of one kind, or the key is not clear, there is none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from compactlab.facts.artifacts import Paths
from compactlab.facts.changes import (
    DATE,
    NUMBER,
    TIME,
    Change,
    Written,
    changes_between,
    rows_in,
    values_in,
    words_of,
    written,
)
from compactlab.history import pair
from compactlab.transcript import Message, Text, ToolCall, ToolResult


class Slot(NamedTuple):
    """A thing by scope and key: its latest value, the older ones, and the words that stand by it."""

    scope: str
    key: str
    latest: str
    stale: tuple[str, ...]
    words: frozenset[str]


_NAME = r"`[^`\n]{2,60}`|(?<![\w./-])(?:[A-Za-z]\w*[-_./][\w./-]*\w|[A-Z][A-Z0-9]+-\d+)(?![\w/-])"
_ONE = rf"(?:{DATE}|{TIME}|{NUMBER}|{_NAME})"
_DAY = r"(?:(?:Mon|Tues?|Wed(?:nes)?|Thu(?:rs)?|Fri|Sat(?:ur)?|Sun)(?:day)?,? (?:the )?)?"
_OLD, _NEW = rf"(?:the )?{_DAY}(?P<old>{_ONE})", rf"(?:the )?{_DAY}(?P<new>{_ONE})"
_EDGE = r"(?![\w/-]|[.:,]\d)"
_CORRECTIONS = tuple(
    re.compile(pattern)
    for pattern in (
        rf"\b[Nn]ot (?:on |at |for )?{_OLD}{_EDGE},? but (?:on |at |for )?{_NEW}{_EDGE}",
        (
            rf"\b(?:[Mm]ov|[Cc]hang|[Rr]ais|[Rr]educ|[Ii]ncreas|[Dd]ecreas|[Rr]enam|[Uu]pdat|[Pp]ostpon)(?:e|ed|es|ing)\b"
            rf"[^.;\n]{{0,60}}?\bfrom {_OLD}{_EDGE} to {_NEW}{_EDGE}"
        ),
        (
            rf"\b(?:[Bb]ump|[Ll]ower|[Ss]hift|[Ss]witch|[Pp]ush|[Cc]ut|[Ss]et|went|goes|[Bb]rought)(?:ed|s|ing)?\b"
            rf"[^.;\n]{{0,60}}?\bfrom {_OLD}{_EDGE} to {_NEW}{_EDGE}"
        ),
        rf"\b(?:[Rr]enam|[Cc]hang)(?:ed|es|e|ing) (?P<old>{_NAME}) (?:in)?to (?P<new>{_NAME})",
        rf"{_NEW}{_EDGE}(?:,? then)?,?(?: and)? no longer (?:on |at |for )?{_OLD}{_EDGE}",
        rf"{_NEW}{_EDGE}[^.;()\n]{{0,20}} ?\((?:it )?was {_OLD}{_EDGE}",
        rf"\bis now {_NEW}{_EDGE}[^.;\n]{{0,20}}(?:, |\()(?:it )?was {_OLD}{_EDGE}",
        rf"(?P<new>{DATE}){_EDGE} instead of (?:the )?(?P<old>{DATE}){_EDGE}",
    )
)
_HINT = re.compile(r"\bnot |from |enam|no longer|was |instead of|hang")
_UNIT = re.compile(r" ?[a-z]{1,20}\b")
_CUES: frozenset[str] = frozenset(
    "longer instead moved move changed change changes renamed renames raised reduced increased updated postponed now"
    " from lowered set went cut switched pushed shifted bumped brought then today".split()
)
_LONGEST_TEXT = 100_000


def slots(messages: Sequence[Message]) -> tuple[Slot, ...]:
    """Give the slots of *messages* with two values and more, in the order in which they first changed.

    >>> [(s.key, s.latest, s.stale) for s in slots([Message("user", (Text("The port is not 5433 but 5434."),))])]
    [('port', '5434', ('5433',))]
    """
    found: dict[tuple[str, str], list[Change]] = {}
    for made in _changes(messages):
        if not made.new or made.new.casefold() != made.old.casefold():
            found.setdefault((made.scope, made.key), []).append(made)
    return tuple(slot for (scope, key), made in found.items() if (slot := _slot(scope, key, made)))


def _slot(scope: str, key: str, made: list[Change]) -> Slot | None:
    latest = made[-1].new
    older = dict.fromkeys(value for change in made for value in (change.old, change.new) if value)
    stale = tuple(value for value in older if value != latest and latest not in value and value not in latest)
    words = frozenset[str]().union(*(change.words for change in made))
    return Slot(scope, key, latest, stale, words) if latest and stale and words else None


def _changes(messages: Sequence[Message]) -> Iterator[Change]:
    paths = Paths(messages)
    failed = _failed(messages)
    rows: dict[str, dict[str, str]] = {}
    whole: dict[str, str] = {}
    for message in messages:
        for block in message.blocks:
            if isinstance(block, ToolCall) and block not in failed:
                for text in written(block, paths):
                    yield from _of_written(text, rows.setdefault(text.path, {}), whole)
            elif isinstance(block, Text) and message.role in {"user", "assistant"} and not message.synthetic:
                yield from corrections(block.text)


def _failed(messages: Sequence[Message]) -> frozenset[ToolCall]:
    failed: set[ToolCall] = set()
    for at, place in pair(messages).call_of.items():
        call, result = messages[place.message].blocks[place.block], messages[at.message].blocks[at.block]
        if isinstance(call, ToolCall) and isinstance(result, ToolResult) and result.is_error:
            failed.add(call)
    return frozenset(failed)


def _of_written(text: Written, rows: dict[str, str], whole: dict[str, str]) -> Iterator[Change]:
    if text.old:
        yield from changes_between(text.path, text.old, text.new)
        return
    if text.old is not None:
        before, whole[text.path] = whole.get(text.path), text.new
        if before is not None and len(before) + len(text.new) < _LONGEST_TEXT:
            yield from changes_between(text.path, before, text.new)
    for key, cell in rows_in(text.new).items():
        change = _of_row(text.path, key, rows.get(key), cell)
        rows[key] = cell
        if change:
            yield change


def _of_row(path: str, key: str, before: str | None, cell: str) -> Change | None:
    """A row for a key that was there: the first values of both cells, where they are of one kind and unit."""
    if before is None or before == cell:
        return None
    olds, news = values_in(before), values_in(cell)
    if not olds or not news or olds[0].kind != news[0].kind or min(len(olds[0].text), len(news[0].text)) < 2:
        return Change(path, key, "", "", words_of(key))
    units = [_UNIT.match(text[value.end :]) for text, value in ((before, olds[0]), (cell, news[0]))]
    differ = olds[0].kind == "number" and units[0] and units[1] and units[0][0] != units[1][0]
    return Change(path, key, olds[0].text, "" if differ else news[0].text, words_of(key))


@lru_cache(maxsize=8_192)
def corrections(text: str) -> tuple[Change, ...]:
    """Give the changes that words tell with both values, bound to the content words around them.

    >>> [(c.old, c.new) for c in corrections("The visit moved from 12 May to 19 May, and `run_a` was renamed.")]
    [('12 May', '19 May')]
    """
    return tuple(_corrections(text)) if len(text) < _LONGEST_TEXT and _HINT.search(text) else ()


def _corrections(text: str) -> Iterator[Change]:
    for pattern in _CORRECTIONS:
        for match in pattern.finditer(text):
            old, new = match["old"].strip("`"), match["new"].strip("`")
            around = f"{_sentence_before(text, match.start())} {_between(match)}"
            words = words_of(around) - _CUES
            if words and old != new and _shape(old) == _shape(new):
                yield Change("", " ".join(sorted(words)), old, new, words)


def _sentence_before(text: str, start: int) -> str:
    return re.split(r"[.;!?\n]\s|\n", text[max(0, start - 80) : start])[-1]


def _between(match: re.Match[str]) -> str:
    first, last = sorted((match.span("old"), match.span("new")))
    return match.string[match.start() : first[0]] + match.string[first[1] : last[0]]


def _shape(value: str) -> str:
    return next((found.kind for found in values_in(value) if found.text == value), "name")
