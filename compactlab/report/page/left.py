"""What the passes of a run left, as its folder keeps it: their outcomes, kept stretches, messages of their own."""

from __future__ import annotations

from typing import Any, NamedTuple

import msgspec

from compactlab.records import Key
from compactlab.results import Results
from compactlab.transcript import Message


class Pass(NamedTuple):
    """One compaction. `entries` are what it left in order: a stretch of kept positions, or a message of its own.

    Positions are those of the repaired messages before the cut. `needed` are the fates of the facts of the cut, in
    their order: bound, loose, mutated or lost. All three are empty where the pass failed.
    """

    key: Key
    outcome: str
    reason: str
    model: str
    before: int
    after: int
    entries: tuple[tuple[int, int] | Message, ...] = ()
    needed: tuple[str, ...] = ()
    restored: tuple[int, ...] = ()


class Cut(NamedTuple):
    """A place where a session was cut: its name, the position behind it, the stories of what was needed, the passes."""

    session: str
    name: str
    position: int
    stories: tuple[dict[str, Any], ...]
    passes: tuple[Pass, ...]


class _Head(msgspec.Struct):
    """What the rows of a pass say of it as a whole."""

    position: int
    outcome: str
    reason: str
    model: str
    tokens: dict[str, int]


def cuts_of(results: Results) -> list[Cut]:
    """All cuts of a run with the passes of its strategies, in case order; controls leave nothing and are not there."""
    left = dict(results.left)
    found: dict[tuple[str, str], Cut] = {}
    for key, head in _heads(results).items():
        case = key.session, key.cut
        if key.strategy == "facts":
            stories = left.get(key, {}).get("needed", ())
            if head.outcome == "applied":
                found[case] = Cut(*case, head.position, tuple(stories), ())
        elif case in found and (key in left or head.outcome == "failed"):
            cut = found[case]
            found[case] = cut._replace(passes=(*cut.passes, _pass(key, head, left.get(key, {}))))
    return list(found.values())


def _heads(results: Results) -> dict[Key, _Head]:
    found: dict[Key, _Head] = {}
    for record in results.records:
        if record.size_of or record.strategy in {"bag", "null"}:
            continue
        if record.metric == "outcome":
            found[record.key] = _Head(record.index, record.outcome, record.reason, record.model, {})
        elif record.metric in {"tokens_before", "tokens_after"}:
            found[record.key].tokens[record.metric] = round(record.value)
    return found


def _pass(key: Key, head: _Head, left: dict[str, Any]) -> Pass:
    return Pass(
        key,
        head.outcome,
        head.reason,
        head.model,
        head.tokens.get("tokens_before", 0),
        head.tokens.get("tokens_after", 0),
        tuple(map(_entry, left.get("messages", ()))),
        tuple(left.get("needed", ())),
        tuple(left.get("restored", ())),
    )


def _entry(entry: list[int] | dict[str, Any]) -> tuple[int, int] | Message:
    return (entry[0], entry[1]) if isinstance(entry, list) else msgspec.convert(entry, Message)
