"""OpenHarness snapshots: one JSON object a session, with blocks like Anthropic's and the system prompt outside.

A snapshot is written anew after each turn, so after a compaction the turns before it are gone. What is left is the
boundary, the summary, the kept tail and the attachments: the boundary says how many messages that were, and so where
the story goes on. `latest.json` is a copy of the session that was saved last and counts as that session. Results that
were cleared in place keep their placeholder, because what stood there is nowhere. Images hold their bytes.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from compactlab.readers._fields import array, count, mapping, objects, string
from compactlab.readers._sessions import session_id, transcript
from compactlab.readers._times import iso
from compactlab.readers._usage import anthropic_usage
from compactlab.readers.claude_code._injected import injected
from compactlab.shapes import anthropic, images
from compactlab.transcript import Block, Intake, Message, Origin, RecordedCompaction, Role, Text, Transcript

if TYPE_CHECKING:
    from collections.abc import Iterator

    from compactlab.readers import Source

NAME = "openharness"
WHERE = "~/.openharness/data/sessions/PROJECT-HASH/session-ID.json"
BOUNDARY = "[Compact boundary marker]"
MADE = (
    BOUNDARY,
    "[Compact attachment:",
    "This session is being continued from a previous conversation",
    "Session memory summary from earlier in this conversation:",
    "[conversation summary]",
)
_ENDS = {"compact_end", "query_session_memory_end"}
_ROLES: dict[str, Role] = {"user": "user", "assistant": "assistant", "system": "system", "tool": "tool"}
_FOOTPRINT = r"{}-compact footprint: messages=(?P<messages>\d+|unknown), tokens=(?P<tokens>\d+|unknown)"
_BEFORE, _AFTER = re.compile(_FOOTPRINT.format("Pre")), re.compile(_FOOTPRINT.format("Post"))
_TRIGGER = re.compile(r"^Trigger: (\S+)", re.MULTILINE)


def sniff(source: Source) -> float:
    """Look for the metadata of tools beside the messages, or, in the first versions, the other keys of a snapshot."""
    first = mapping(source.document)
    if not isinstance(first.get("messages"), list) or not isinstance(first.get("session_id"), str):
        return 0.0
    if isinstance(first.get("tool_metadata"), dict):
        return 0.95
    return 0.9 if {"cwd", "system_prompt", "message_count", "created_at", "summary"} <= first.keys() else 0.0


def read(source: Source) -> Iterator[Transcript]:
    """Read the session of a snapshot; the file that `latest.json` is a copy of is not read again."""
    snapshot = mapping(source.document)
    own = string(snapshot.get("session_id"))
    stem = source.stem
    if stem == "latest" and own:
        stem = f"session-{own}"
        copied = source.sibling(f"{stem}.json")
        if copied is not None:
            source.beside(copied)
    built = _built(snapshot)
    name = session_id(stem, own)
    path = str(source.path)
    prompt = (Origin(path, "system_prompt"),) if snapshot.get("system_prompt") else ()
    totals = anthropic_usage(None, snapshot.get("usage"))
    yield transcript(
        source,
        NAME,
        tuple(built.messages),
        id=name,
        cluster=name,
        title=string(snapshot.get("summary")),
        compactions=tuple(built.compactions),
        usage=() if totals is None else (totals,),
        origins=(*prompt, Origin(path, "messages[{}]", first=len(prompt))),
        intake=Intake(records=len(array(snapshot.get("messages"))), unknown=built.unknown),
        header=_header(snapshot),
    )


class _Built(NamedTuple):
    """What the messages of a snapshot became."""

    messages: list[Message]
    compactions: list[RecordedCompaction]
    unknown: dict[str, int]


def _built(snapshot: dict[str, Any]) -> _Built:
    """Part a list of messages into those of the story and those that a compaction made."""
    built = _Built([], [], {})
    if snapshot.get("system_prompt"):
        built.messages.append(Message("system", anthropic.blocks(snapshot["system_prompt"]), source=0))
    first = len(built.messages)
    wires = array(snapshot.get("messages"))
    context: list[int | Message] = list(range(first))
    at = 0
    while at < len(wires):
        boundary = _text(wires[at])
        end = _end(wires, at) if boundary.startswith(MADE) else at + 1
        for place in range(at, end):
            made = _text(wires[place]).startswith(MADE)
            for message in _messages(wires[place], place + first, built.unknown, made=made):
                context.append(message if made else len(built.messages))
                built.messages.extend([] if made else [message])
        if boundary.startswith(MADE):
            built.compactions.append(_compaction(len(built.messages), tuple(context), boundary, snapshot))
        at = end
    return built


def _end(wires: list[Any], at: int) -> int:
    """Where the list ends that a compaction left: as long as its boundary says, and all that it made."""
    told = _AFTER.search(_text(wires[at]))
    end = at + max(1, _number(told, "messages") or 1)
    while end < len(wires) and _text(wires[end]).startswith(MADE) and not _text(wires[end]).startswith(BOUNDARY):
        end += 1
    return min(end, len(wires))


def _compaction(
    position: int, after: tuple[int | Message, ...], boundary: str, snapshot: dict[str, Any]
) -> RecordedCompaction:
    texts = [entry.text for entry in after if isinstance(entry, Message)]
    summaries = [text for text in texts if text.startswith(MADE[2:])]
    trigger = _TRIGGER.search(boundary)
    last = _last_checkpoint(snapshot)
    before, left = _number(_BEFORE.search(boundary), "tokens"), _number(_AFTER.search(boundary), "tokens")
    return RecordedCompaction(
        position,
        trigger=trigger.group(1) if trigger else string(last.get("trigger")) or "unknown",
        tokens_before=count(last.get("pre_compact_tokens")) if before is None else before,
        tokens_after=count(last.get("post_compact_tokens")) if left is None else left,
        after=after,
        summary=summaries[0] if summaries else "",
    )


def _last_checkpoint(snapshot: dict[str, Any]) -> dict[str, Any]:
    ends = _ended(snapshot)
    return ends[-1] if ends else {}


def _ended(snapshot: dict[str, Any]) -> list[dict[str, Any]]:
    """The recorded steps of compactions that came to an end."""
    steps = objects(mapping(snapshot.get("tool_metadata")).get("compact_checkpoints"))
    return [step for step in steps if string(step.get("checkpoint")) in _ENDS]


def _number(found: re.Match[str] | None, name: str) -> int | None:
    given = "" if found is None else found.group(name)
    return int(given[:18]) if given.isdecimal() else None


def _text(wire: object) -> str:
    """The text that a user message begins with; empty for any other."""
    fields = mapping(wire)
    content = fields.get("content")
    if fields.get("role") != "user":
        return ""
    first = content[0] if isinstance(content, list) and content else content
    return first if isinstance(first, str) else string(mapping(first).get("text"))


def _messages(wire: object, source: int, unknown: dict[str, int], *, made: bool) -> list[Message]:
    fields = mapping(wire)
    role = _ROLES.get(string(fields.get("role")))
    if role is None:
        kind = f"message of role {string(fields.get('role')) or 'unknown'}"
        unknown[kind] = unknown.get(kind, 0) + 1
        return []
    content = fields.get("content")
    blocks = tuple(_block(part) for part in content) if isinstance(content, list) else anthropic.blocks(content)
    found = anthropic.split(role, blocks, source)
    return [Message(m.role, m.blocks, m.source, synthetic=made or _is_injected(m)) for m in found]


def _is_injected(message: Message) -> bool:
    injections = [isinstance(block, Text) and injected(block.text) for block in message.blocks]
    return message.role == "user" and bool(injections) and all(injections)


def _block(part: object) -> Block:
    wire = mapping(part)
    if wire.get("type") == "image" and isinstance(wire.get("data"), str):
        return images.from_base64(string(wire.get("media_type")), wire["data"])
    return anthropic.block(part)


def _header(snapshot: dict[str, Any]) -> dict[str, Any]:
    told = {
        "model": string(snapshot.get("model")),
        "created_at": iso(snapshot.get("created_at")),
        "compactions": len(_ended(snapshot)),
    }
    return {key: value for key, value in told.items() if value}
