"""Slots: things whose value changed before the cut, with the latest value and those that it replaced (update pairs).

A slot is known by its scope and key. Its values come from calls that rewrite a line or add a row for the same key, from
a file that holds another value when it is read again, and from what a person or the agent say (see `conversation`).
Changes that talk tells are of one slot if they go on from each other, or tell the same, near the same words. Few and
right: where the two values are not of one kind, or the key is not clear, there is none.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from compactlab.history import pair
from compactlab.traffic.artifacts import Paths
from compactlab.traffic.changes import (
    Change,
    Written,
    changes_between,
    read_whole,
    rows_in,
    values_in,
    words_of,
    written,
)
from compactlab.traffic.conversation import Conversation
from compactlab.traffic.corrections import shape
from compactlab.transcript import Message, Text, ToolCall, ToolResult


class Slot(NamedTuple):
    """A thing by scope and key: its latest value, the older ones, and the words that stand by it."""

    scope: str
    key: str
    latest: str
    stale: tuple[str, ...]
    words: frozenset[str]


_UNIT = re.compile(r" ?[a-z]{1,20}\b")
_LONGEST_TEXT = 100_000
_RECENT = 20
"""Things with one value that talk may go on from, the latest ones."""


def slots(messages: Sequence[Message]) -> tuple[Slot, ...]:
    """Give the slots of *messages* with two values and more, in the order in which they first changed.

    >>> [(s.key, s.latest, s.stale) for s in slots([Message("user", (Text("The port is not 5433 but 5434."),))])]
    [('port', '5434', ('5433',))]
    """
    found: dict[tuple[str, str], list[Change]] = {}
    talk = _Talk()
    for made in _changes(messages):
        if not made.new or made.new.casefold() != made.old.casefold():
            found.setdefault((made.scope, made.key if made.scope else talk.key(made)), []).append(made)
    made_of = [slot for (scope, key), made in found.items() if (slot := _slot(scope, key, made))]
    filed: dict[str, list[Slot]] = defaultdict(list)
    for slot in made_of:
        for value in (slot.latest, *slot.stale) if slot.scope else ():
            filed[_bare(value)].append(slot)
    return tuple(slot for slot in made_of if slot.scope or not _is_filed(slot, filed[_bare(slot.latest)]))


def _is_filed(told: Slot, filed: list[Slot]) -> bool:
    """Tell whether talk speaks of what a file holds: a word, the latest value and an older one are the same."""
    older = set(map(_bare, told.stale))
    return any(
        not told.words.isdisjoint(slot.words) and not older.isdisjoint(map(_bare, (slot.latest, *slot.stale)))
        for slot in filed
    )


def _bare(value: str) -> str:
    return value.lstrip("£$€").replace(",", "").casefold()


class _Talk:
    """Gives the changes that talk tells of one thing in other words the key of the first of them."""

    def __init__(self) -> None:
        self._renamed: dict[tuple[str, str], str] = {}
        self._told: dict[str, dict[str, frozenset[str]]] = defaultdict(dict)

    def key(self, made: Change) -> str:
        """The key under which *made* is told: of a rename always one, else that of what its values were told of."""
        if shape(made.new) == "name":
            return self._renamed.setdefault((made.old, made.new), made.key)
        known = next(self._alike(made), None)
        key, words = known or (made.key, made.words)
        for value in (made.old, made.new):
            self._told[value][key] = words | made.words
        return key

    def _alike(self, made: Change) -> Iterator[tuple[str, frozenset[str]]]:
        for value in (made.old, made.new):
            for key, words in islice(reversed(self._told[value].items()), _RECENT):
                if 2 * len(made.words & words) >= min(len(made.words), len(words)):
                    yield key, words


def _slot(scope: str, key: str, made: list[Change]) -> Slot | None:
    latest = made[-1].new
    older = dict.fromkeys(value for change in made for value in (change.old, change.new) if value)
    stale = tuple(value for value in older if not _stands_in(latest, value) and not _stands_in(value, latest))
    words = frozenset[str]().union(*(change.words for change in made))
    return Slot(scope, key, latest, stale, words) if latest and stale and words else None


def _stands_in(value: str, other: str) -> bool:
    """Tell whether *value* is *other*, or a part of it that may be taken for it: `12 May` in `12 May 2026`."""
    return value == other or re.search(rf"(?<!\w){re.escape(value)}(?!\w)", other) is not None


def _changes(messages: Sequence[Message]) -> Iterator[Change]:
    paths = Paths(messages)
    answers = _answers(messages)
    talk = Conversation()
    rows: dict[str, dict[str, str]] = {}
    whole: dict[str, str] = {}
    for message in messages:
        for block in message.blocks:
            if isinstance(block, ToolCall):
                for text in _texts(block, answers.get(block), paths):
                    yield from _of_written(text, rows.setdefault(text.path, {}), whole)
            elif isinstance(block, Text) and message.role in {"user", "assistant"} and not message.synthetic:
                yield from talk.changes(block.text)


def _texts(call: ToolCall, answer: ToolResult | None, paths: Paths) -> tuple[Written, ...]:
    """What a call put into files, or the file that it showed; nothing if it failed."""
    if answer is not None and answer.is_error:
        return ()
    shown = read_whole(call, answer, paths) if answer else None
    return (shown,) if shown else written(call, paths)


def _answers(messages: Sequence[Message]) -> dict[ToolCall, ToolResult]:
    answers: dict[ToolCall, ToolResult] = {}
    for at, place in pair(messages).call_of.items():
        call, result = messages[place.message].blocks[place.block], messages[at.message].blocks[at.block]
        if isinstance(call, ToolCall) and isinstance(result, ToolResult):
            answers[call] = result
    return answers


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
