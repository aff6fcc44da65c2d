"""Compactions that Claude Code recorded: the two kinds of boundary, and older summaries that stand without one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from compactlab.readers.claude_code._tree import preserved, strings
from compactlab.transcript import RecordedCompaction, Transcript

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from compactlab.readers.claude_code._messages import Made
    from compactlab.readers.claude_code._tree import Record


def compactions(
    made: Sequence[Made], boundaries: Iterable[tuple[int, Record]], nodes: Mapping[str, Record]
) -> tuple[tuple[RecordedCompaction, ...], list[str]]:
    """Give the compactions of a branch by position, and the kinds of those that left no trace in its messages.

    A boundary with nothing before or after it is left out. A summary without a boundary, from older versions, counts
    with trigger `unknown`. A microcompact counts if it names the results that it cleared: the rest stays in view.
    """
    found: list[RecordedCompaction] = []
    left: list[str] = []
    at = dict(boundaries)
    summaries = (i for i, entry in enumerate(made) if entry.summary and i not in at)
    for position in sorted({*at, *summaries}):
        boundary = at.get(position)
        kind = "" if boundary is None else str(boundary.value.get("subtype"))
        read = None
        if 0 < position < len(made):
            micro = kind == "microcompact_boundary"
            read = _micro(made, position, boundary, found) if micro else _full(made, position, boundary, nodes)
        if read is not None:
            found.append(read)
        elif kind:
            left.append(f"{kind} without effect")
    return tuple(found), left


def _full(
    made: Sequence[Made], position: int, boundary: Record | None, nodes: Mapping[str, Record]
) -> RecordedCompaction:
    given: dict[str, Any] = {} if boundary is None else _metadata(boundary, "compactMetadata")
    uuids = frozenset() if boundary is None else preserved(boundary, nodes)
    return RecordedCompaction(
        position,
        trigger=str(given.get("trigger") or "unknown"),
        tokens_before=_tokens(given, "preTokens"),
        tokens_after=_tokens(given, "postTokens"),
        kept=tuple(i for i in range(position) if not uuids.isdisjoint(made[i].uuids)),
        summarised=made[position].summary,
    )


def _micro(
    made: Sequence[Made], position: int, boundary: Record | None, before: Sequence[RecordedCompaction]
) -> RecordedCompaction | None:
    given: dict[str, Any] = {} if boundary is None else _metadata(boundary, "microcompactMetadata")
    cleared = set(strings(given.get("compactedToolIds")))
    messages = tuple(entry.message for entry in made)
    in_view = Transcript("", "", messages, compactions=tuple(before)).view(position)
    kept = tuple(i for i in in_view if not messages[i].results or {r.call_id for r in messages[i].results} - cleared)
    if len(kept) == len(in_view):
        return None
    tokens, saved = _tokens(given, "preTokens"), _tokens(given, "tokensSaved")
    return RecordedCompaction(
        position,
        trigger="microcompact",
        tokens_before=tokens,
        tokens_after=None if tokens is None or saved is None else tokens - saved,
        kept=kept,
        summarised=False,
    )


def _metadata(boundary: Record, name: str) -> dict[str, Any]:
    given = boundary.value.get(name)
    return given if isinstance(given, dict) else {}


def _tokens(given: Mapping[str, Any], name: str) -> int | None:
    value = given.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) else None
