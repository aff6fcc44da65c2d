"""Entries of a pi session: what each one is, and which of them stand on the active branch of the tree."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

from compactlab.readers._fields import first_string, mapping, string, strings
from compactlab.readers._times import iso
from compactlab.readers.pi._messages import Heard, Place, branch_summary, heard, injected, prompt

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

NOT_CONTEXT = {
    *("model_change", "thinking_level_change", "service_tier_change", "mode_change", "model_usage", "credential_pin"),
    *("custom", "label", "session_info", "title", "title_change", "archive", "ttsr_injection", "mcp_tool_selection"),
}
RESET = "reset_boundary"
_NAMES = {"session_info": "name", "title": "title", "title_change": "title"}


class Entry(NamedTuple):
    """One record: its place among the records, its line, its links, and what it became.

    `compaction` is the record of one, or of the point from which on the context began anew, else empty; `leaf` is where
    a leaf record points, `name` that of the session, `tools` those of an agent that another one started.
    """

    ordinal: int
    line: int
    id: str = ""
    parent: str = ""
    linked: bool = False
    heard: Heard = Heard()
    compaction: dict[str, Any] = {}  # noqa: RUF012  # a default that nobody changes
    leaf: str = ""
    name: str = ""
    tools: tuple[str, ...] = ()


def entry(ordinal: int, line: int, value: Mapping[str, Any]) -> Entry:
    """Read one record, the *ordinal*-th of the file, in line *line*, both counted from 0."""
    kind = string(value.get("type"))
    if kind == "session":
        return Entry(ordinal, line)
    own, parent, linked = string(value.get("id")), string(value.get("parentId")), "parentId" in value
    inner = mapping(value.get("message")) if kind == "message" else {}
    if kind == "compaction" or inner.get("role") == "compactionSummary":
        return Entry(ordinal, line, own, parent, linked, compaction=_compaction(value, inner))
    if kind == RESET:
        return Entry(ordinal, line, own, parent, linked, compaction={"type": kind})
    if kind == "leaf":
        leaf = first_string(value, "targetId", "leafId", "entryId")
        return Entry(ordinal, line, own, parent, linked, Heard(skipped=kind), leaf=leaf)
    name = string(value.get(_NAMES.get(kind, "")))
    tools = tuple(strings(value.get("tools"))) if kind == "session_init" else ()
    return Entry(ordinal, line, own, parent, linked, _heard(kind, line, value, inner), name=name, tools=tools)


def _heard(kind: str, line: int, value: Mapping[str, Any], inner: Mapping[str, Any]) -> Heard:
    if kind == "message":
        return heard(inner, line, value.get("timestamp"))
    if kind == "custom_message":
        return injected(value, Place(line, iso(value.get("timestamp"))))
    if kind == "session_init":
        return prompt(value, Place(line, iso(value.get("timestamp"))))
    if kind == "branch_summary":
        return branch_summary(value, Place(line, iso(value.get("timestamp"))))
    if kind in NOT_CONTEXT:
        return Heard(skipped=kind)
    return Heard(unknown=f"entry {kind}" if kind else "record without type")


def _compaction(value: Mapping[str, Any], inner: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a compaction that count, of an entry or of a message that holds its summary."""
    wanted = ("summary", "firstKeptEntryIndex", "firstKeptEntryId", "tokensBefore", "tokensAfter", "timestamp")
    summary = {"summary": string(inner.get("summary"))} if inner else {}
    hooked = value.get("fromHook") is True or value.get("fromExtension") is True
    return {"type": "compaction", "hooked": hooked, **{key: value[key] for key in wanted if key in value}, **summary}


class Active(NamedTuple):
    """The entries of the active branch in the order of the conversation, and what was mended on the way."""

    entries: list[Entry]
    repaired: Counter[str]


def active(entries: Sequence[Entry]) -> Active:
    """Follow the parents of the last entry, or of the one that a leaf record names after it; a list is all active.

    A link that leads nowhere goes on at the record before it; of several entries with one id the first one counts.
    """
    if not any(found.linked for found in entries):
        return Active(list(entries), Counter())
    by_id: dict[str, int] = {}
    for place, found in enumerate(entries):
        if found.id:
            by_id.setdefault(found.id, place)
    repaired: Counter[str] = Counter()
    chain: list[Entry] = []
    at = _leaf(entries, by_id)
    seen: set[int] = set()
    while at is not None and at not in seen:
        seen.add(at)
        chain.append(entries[at])
        at = _up(entries, at, by_id, repaired)
    chain.reverse()
    return Active(chain, repaired)


def _leaf(entries: Sequence[Entry], by_id: Mapping[str, int]) -> int | None:
    for place in reversed(range(len(entries))):
        found = entries[place]
        if found.leaf in by_id:
            return by_id[found.leaf]
        if found.linked and not found.leaf:
            return by_id.get(found.id, place)
    return None


def _up(entries: Sequence[Entry], at: int, by_id: Mapping[str, int], repaired: Counter[str]) -> int | None:
    found = entries[at]
    if found.linked and not found.parent:
        return None
    if found.parent in by_id:
        return by_id[found.parent]
    if at and found.linked:
        repaired["link that leads nowhere"] += 1
    return at - 1 if at else None
