"""Sessions of pi, oh-my-pi and OpenClaw: JSON lines of a header and entries, in versions 1 (a list) to 3 (a tree).

Of a tree the active branch is read: from its last entry up. Each file is one transcript; one that was forked off
another shares its cluster, also where the other is not at hand. Entries that note a change of model, mode or title, a
label or the state of an extension are no part of any context; `details` of results, which repeat them for the screen,
are never read. What the user ran, files that a prompt named, texts of extensions and of OpenClaw's own machinery are
synthetic, and so is the copy of a response that OpenClaw writes at the end of a run. A `reset_boundary`, behind which
the context was empty, is a recorded compaction. The system prompt is stored of agents that another one started; of
pictures that oh-my-pi keeps elsewhere the digest is read.
"""

from __future__ import annotations

import os
from collections import Counter
from pathlib import PureWindowsPath
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from compactlab.errors import TranscriptError
from compactlab.readers._fields import first_string, mapping
from compactlab.readers._files import Source
from compactlab.readers._sessions import session_id, transcript
from compactlab.readers.pi._entries import NOT_CONTEXT, RESET, Entry, active, entry
from compactlab.readers.pi._story import Story, story
from compactlab.transcript import Origin

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from compactlab.transcript import Messages, Transcript

NAME = "pi"
WHERE = "~/.pi/agent/sessions/FOLDER/TIME_ID.jsonl, ~/.omp/agent/sessions, ~/.openclaw/agents/NAME/sessions/ID.jsonl"
ENTRIES = NOT_CONTEXT | {
    *("message", "compaction", "branch_summary", "custom_message", "leaf", "session_init", RESET),
}


def sniff(source: Source) -> float:
    """Look for the header of a session, or, where it is broken, for messages that are nested in entries."""
    values = [] if source.binary else source.values
    if mapping(values[0] if values else None).get("type") == "title":
        values = values[1:]
    first, rest = mapping(values[0] if values else None), [mapping(value) for value in values[1:]]
    if first.get("type") != "session":
        return 0.9 if sum(_is_entry(value) for value in values) > len(values) / 2 else 0.0
    if not rest:
        return 0.85 if {"id", "timestamp", "cwd"} <= first.keys() else 0.0
    return 0.97 if any(value.get("type") in ENTRIES for value in rest if isinstance(value.get("type"), str)) else 0.0


def _is_entry(value: object) -> bool:
    fields = mapping(value)
    role = mapping(fields.get("message")).get("role")
    if fields.get("type") != "message" or "uuid" in fields or not isinstance(role, str):
        return False
    return role in {"user", "assistant", "toolResult", "bashExecution"}


def read(source: Source) -> Iterator[Transcript]:
    """Read the session of a file."""
    lines = source.lines()
    header: dict[str, Any] = {}
    entries: list[Entry] = []
    skipped: Counter[str] = Counter()
    for line in lines:
        value = mapping(line.value)
        if value.get("type") == "session":
            skipped["session header"] += 1
            header = header or {key: inner for key, inner in value.items() if isinstance(inner, str | int)}
        entries.append(entry(lines.records - 1, line.number - 1, value))
    branch, repaired = active(entries)
    lines.repaired.update(repaired)
    told = story(branch)
    unknown = _count(entries, branch, told, skipped)
    own = first_string(header, "id")
    made = transcript(
        source,
        NAME,
        told.messages,
        own_id=own,
        title=next((found.name for found in reversed(entries) if found.name), "") or first_string(header, "title"),
        tools=next((found.tools for found in branch if found.tools), ()),
        agent_type="subagent" if _is_subagent(branch, told.messages) else "primary",
        compactions=told.compactions,
        usage=told.usage,
        origins=(Origin(str(source.path), "line {}", base=1),),
        header=_header(header, branch),
        intake=lines.intake(skipped, unknown),
    )
    yield replace(made, cluster=_root(source.path, header) or made.id)


def _count(entries: Sequence[Entry], branch: Sequence[Entry], told: Story, skipped: Counter[str]) -> Counter[str]:
    """Account for every entry: count in *skipped* what is no part of the context, give what is not known."""
    live = {found.ordinal for found in branch}
    names = {found.id for found in branch if found.id}
    unknown: Counter[str] = Counter()
    for found in entries:
        if found.heard.unknown:
            unknown[found.heard.unknown] += 1
        elif found.heard.skipped:
            skipped[found.heard.skipped] += 1
        elif found.ordinal not in live and found.id in names:
            skipped["repeated id"] += 1
        elif found.ordinal not in live and found.heard.message is not None:
            skipped["message of another branch"] += 1
        elif found.ordinal not in live and found.compaction:
            skipped["compaction of another branch"] += 1
    skipped["compaction with nothing before it"] += told.left
    return unknown


def _header(header: dict[str, Any], branch: Sequence[Entry]) -> dict[str, Any]:
    models = list(dict.fromkeys(found.heard.model for found in branch if found.heard.model))
    version = header.get("version", 1) if header else None
    return ({} if version is None else {"version": version}) | ({"models": models} if models else {})


def _is_subagent(branch: Sequence[Entry], messages: Messages) -> bool:
    """Whether another agent started this one: it was given its tools, or OpenClaw told it so in its first text."""
    if any(found.tools for found in branch):
        return True
    first = next((message for message in messages if message.role == "user"), None)
    return first is not None and "[Subagent Context]" in first.text[:400]


def _root(path: Path, header: dict[str, Any]) -> str:
    """The id of the session that this one was forked off, or that one's; empty if it was not."""
    found = ""
    seen = {path.name}
    while named := first_string(header, "branchedFrom", "parentSession"):
        name = PureWindowsPath(named).name
        if not name or name in seen:
            break
        seen.add(name)
        parent = Source(path.parent / name)
        header = _header_of(parent)
        found = session_id(parent.stem, first_string(header, "id"))
    return found


def _header_of(source: Source) -> dict[str, Any]:
    """The header of another session, empty where it is not at hand; the file is not taken up by that."""
    if not os.path.isfile(source.path):  # noqa: PTH113  # names of any length and kind are asked for
        return {}
    try:
        return source.first
    except TranscriptError:
        return {}
