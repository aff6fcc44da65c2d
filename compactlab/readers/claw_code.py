"""claw-code sessions: one JSON object of version 1 with `messages` of `blocks`, and the JSON lines of later versions.

The lines are `session_meta`, `message`, `compaction` and `prompt_history` records. A compaction rewrites the file: a
system message with the summary, then the messages that were kept. What stood before is gone, unless the file had grown
large: then the old one lies beside it as `NAME.rot-TIME.jsonl`, and all of them are read as one story. How many
messages a compaction kept is not recorded; where no older file tells, it stands before all that is left. Later
versions put system messages in place of runs of short messages and of similar ones, among those that were kept. Fields
of more than 16,384 characters were cut by the writer; the system prompt and the tools are not in these files.
"""

from __future__ import annotations

import glob
import re
from collections import Counter
from itertools import islice, pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from compactlab.readers._fields import array, count, first_string, mapping, objects, string
from compactlab.readers._seams import Story
from compactlab.readers._sessions import session_id, transcript
from compactlab.readers._times import iso
from compactlab.readers._usage import anthropic_usage
from compactlab.shapes import anthropic
from compactlab.shapes.parts import words
from compactlab.transcript import Block, Intake, Message, Origin, RecordedCompaction, Role, Text, ToolResult, Transcript

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from compactlab.readers import Source

NAME = "claw_code"
WHERE = ".claude/sessions/session-*.json or .claw/sessions/ in the folder of a project"
SUMMARY = "This session is being continued from a previous conversation"
_MADE = (SUMMARY, "[Collapsed Conversation]\n", "[Clustered ")
_ROLES: dict[str, Role] = {"system": "system", "user": "user", "assistant": "assistant", "tool": "tool"}
_ROTATED = re.compile(r"\.rot-(\d+)$")


def sniff(source: Source) -> float:
    """Look for messages whose content is called `blocks`, or for the first record of the later form."""
    first = source.first
    records = [mapping(value) for value in source.values]
    wires = [*objects(first.get("messages")), *(mapping(value.get("message")) for value in records)]
    if any(isinstance(wire.get("blocks"), list) and isinstance(wire.get("role"), str) for wire in wires):
        return 0.95
    is_meta = first.get("type") == "session_meta" and isinstance(first.get("session_id"), str)
    return 0.9 if is_meta and "payload" not in first else 0.0


class _Recorded(NamedTuple):
    """What one file holds: its messages, their token counts by source, what else it says, and how it was read."""

    messages: list[Message]
    usage: dict[int, Any]
    meta: dict[str, Any]
    compaction: dict[str, Any]
    where: Origin
    intake: Intake


def read(source: Source) -> Iterator[Transcript]:
    """Read the session of a file, and of those that were rotated away beside it."""
    story = Story(_is_made)
    files: list[_Recorded] = []
    for file in _of_session(source):
        files.append(_recorded(file, first=max((m.source or 0 for f in files for m in f.messages), default=-1) + 1))
        story.resume(files[-1].messages)
    last = files[-1]
    stem = _ROTATED.sub("", source.stem)
    name = session_id(stem, string(last.meta.get("session_id")))
    given = {source: wire for file in files for source, wire in file.usage.items()}
    counts = (
        anthropic_usage(i, given.get(m.source or 0)) for i, m in enumerate(story.messages) if m.role == "assistant"
    )
    yield transcript(
        source,
        NAME,
        tuple(story.messages),
        id=name,
        cluster=first_string(last.meta.get("fork"), "parent_session_id") or name,
        compactions=tuple(_compactions(story)),
        usage=tuple(usage for usage in counts if usage is not None),
        origins=tuple(file.where for file in files),
        intake=_told(files, story.copies),
        header=_header(last),
    )


def _is_made(message: Message) -> bool:
    return message.role == "system" and message.text.startswith(_MADE)


def _compactions(story: Story) -> Iterator[RecordedCompaction]:
    """The compactions of a story; what one made without a summary of its own belongs to the one before it."""
    for told, later in pairwise((*story.compactions, None)):
        if told is not None and (later is None or _sums_up(later, told)):
            yield told


def _sums_up(later: RecordedCompaction, before: RecordedCompaction) -> bool:
    known = [id(entry) for entry in before.after]
    new = [entry for entry in later.after if isinstance(entry, Message) and id(entry) not in known]
    return any(entry.text.startswith(SUMMARY) for entry in new)


def _of_session(source: Source) -> list[Source]:
    """The files of a session in the order in which they were written: those rotated away, then the one in use."""
    paths = _named_alike(source)
    if source.path not in paths or len(paths) == 1:
        return [source]
    own = _session_of(source)
    found: list[Source] = []
    for path in paths:
        if path == source.path:
            found.append(source)
        elif not own or _session_of(type(source)(path)) in {own, ""}:
            found.append(source.beside(path))
    return found


def _session_of(source: Source) -> str:
    return string(source.first.get("session_id"))


def _named_alike(source: Source) -> list[Path]:
    stem = _ROTATED.sub("", source.stem)
    folder = source.path.parent
    found: list[tuple[int, Path]] = []
    for path in folder.glob(f"{glob.escape(stem)}.rot-*.jsonl"):
        time = _ROTATED.search(path.stem)
        if time is not None:
            found.append((int(time.group(1)), path))
    current = (path for path in (folder / f"{stem}.jsonl", folder / f"{stem}.json") if path.is_file())
    return [*(path for _, path in sorted(found)), *islice(current, 1)]


def _recorded(source: Source, first: int) -> _Recorded:
    document = source.document
    if isinstance(document, dict) and "messages" in document:
        return _of_document(source, document, first)
    return _of_lines(source, first)


def _of_document(source: Source, document: dict[str, Any], first: int) -> _Recorded:
    listed = array(document.get("messages"))
    messages, usage, unknown = _messages(list(enumerate(listed, first)))
    origin = Origin(str(source.path), "messages[{}]", first=first)
    intake = Intake(records=len(listed), unknown=dict(unknown))
    return _Recorded(messages, usage, document, mapping(document.get("compaction")), origin, intake)


def _of_lines(source: Source, first: int) -> _Recorded:
    lines = source.lines()
    skipped: Counter[str] = Counter()
    unknown: Counter[str] = Counter()
    wires: list[tuple[int, Any]] = []
    meta: dict[str, Any] = {}
    compaction: dict[str, Any] = {}
    for line in lines:
        record = mapping(line.value)
        kind = string(record.get("type")) or "no type"
        if kind == "message":
            wires.append((first + line.number - 1, record.get("message")))
            continue
        if kind == "session_meta":
            meta = record
        elif kind == "compaction":
            compaction = record
        (skipped if kind in {"session_meta", "compaction", "prompt_history"} else unknown)[kind] += 1
    messages, usage, more = _messages(wires)
    origin = Origin(str(source.path), "line {}", first=first, base=1)
    return _Recorded(messages, usage, meta, compaction, origin, lines.intake(skipped, unknown + more))


def _messages(wires: Sequence[tuple[int, Any]]) -> tuple[list[Message], dict[int, Any], Counter[str]]:
    found: list[Message] = []
    usage: dict[int, Any] = {}
    unknown: Counter[str] = Counter()
    for source, wire in wires:
        fields = mapping(wire)
        role = _ROLES.get(string(fields.get("role")))
        if role is None or not isinstance(fields.get("blocks"), list):
            unknown[f"message of role {string(fields.get('role')) or 'unknown'}" if role is None else "no blocks"] += 1
            continue
        found += anthropic.split(role, tuple(_block(part) for part in fields["blocks"]), source)
        if fields.get("usage"):
            usage[source] = fields["usage"]
    return found, usage, unknown


def _block(part: object) -> Block:
    wire = mapping(part)
    if wire.get("type") != "tool_result" or "output" not in wire:
        return anthropic.block(part)
    output = wire["output"]
    content = (Text(words(output)),) if output not in (None, "") else ()
    return ToolResult(string(wire.get("tool_use_id")), content, is_error=wire.get("is_error") is True)


def _told(files: Sequence[_Recorded], copies: int) -> Intake:
    counted = {
        kind: sum((Counter(getattr(file.intake, kind)) for file in files), Counter[str]())
        for kind in ("skipped", "unknown", "repaired")
    }
    if copies:
        counted["skipped"]["message of an older file"] += copies
    return Intake(
        sum(file.intake.records for file in files),
        **{kind: dict(counts) for kind, counts in counted.items()},
        problems=tuple(problem for file in files for problem in file.intake.problems),
    )


def _header(file: _Recorded) -> dict[str, Any]:
    told = {
        "model": first_string(file.meta, "model"),
        "created_at": iso(file.meta.get("created_at_ms")),
        "compactions": count(file.compaction.get("count")),
    }
    return {key: value for key, value in told.items() if value}
