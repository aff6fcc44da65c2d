"""OpenAI Codex sessions: rollout files of all versions from 2025 to 2026, and what `codex exec --json` prints.

A rollout has JSON lines of `{timestamp, type, payload}`; before September 2025 flat lines, first those of the session,
then items and `record_type` fillers; still older ones are one JSON `{session, items}`. Items (`response_item`) are
the model's context: consecutive ones of the model make one message, parted where a new `token_count` or a turn's bound
stands. Events mirror them and are read for token counts, rollbacks and titles alone, unless there are no items at all.
`base_instructions` are the system prompt; `instructions` are a synthetic first message where no item holds them.

Each `compacted` record is a compaction, with the `replacement_history` or, without one, what Codex makes of the
summary; so is an encrypted compaction item that stands alone. An event `context_compacted` without such a record is
counted, and is none: what it left is not known. Records that a resumed session copied stand once; turns that were
rolled back are counted. A fork that names another rollout as the base of its history has the start of that one in
front. Not read: `turn_context` (but for the model), `world_state`, ghost snapshots, lists of tools. Output that was
wrapped as `{"output", "metadata"}` stays so, its exit code becomes `is_error`; names of calls are led by their
`namespace` and a dot.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from compactlab.readers._fields import mapping, objects, string
from compactlab.readers.codex._bases import latest
from compactlab.readers.codex._session import Session
from compactlab.readers.codex._write import write as write
from compactlab.shapes.openai_items import kind_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from compactlab.readers import Source
    from compactlab.transcript import Transcript

NAME = "codex"
WHERE = "~/.codex/sessions/YYYY/MM/DD/rollout-*.jsonl, and ~/.codex/archived_sessions"
ONE_SESSION = True
_RECORDS = frozenset({"session_meta", "response_item", "event_msg", "turn_context", "compacted", "world_state"})
_THREAD = frozenset({"thread.started", "turn.started", "turn.completed", "turn.failed", "item.started"})
_ITEMS = frozenset({"message", "reasoning", "function_call", "function_call_output", "local_shell_call"})
_EVENTS = frozenset({"session_configured", "task_started", "agent_message", "agent_reasoning", "exec_command_begin"})


def sniff(source: Source) -> float:
    """Look for records with a payload, flat lines behind a session's, `{session, items}`, or events of a thread."""
    if any(_is_record(value) for value in source.values):
        return 1.0
    if _is_older(source) or _is_flat(source):
        return 0.95
    return 0.9 if any(_is_thread(value) or _is_message(value) for value in source.values) else 0.0


def _is_record(value: object) -> bool:
    record = mapping(value)
    return string(record.get("type")) in _RECORDS and isinstance(record.get("payload"), dict)


def _is_older(source: Source) -> bool:
    held = source.first
    items = objects(held.get("items"))
    return isinstance(held.get("session"), dict) and any(kind_of(item) in _ITEMS for item in items)


def _is_flat(source: Source) -> bool:
    if source.document is not None and not isinstance(source.first.get("record_type"), str):
        return False
    records = [mapping(value) for value in source.values]
    items = any(kind_of(record) in _ITEMS for record in records)
    state = any(record.get("record_type") == "state" for record in records)
    first = source.first
    headed = {"id", "timestamp"} <= first.keys() and "instructions" in first and not kind_of(first)
    return (items and (state or headed)) or (state and headed)


def _is_thread(value: object) -> bool:
    record = mapping(value)
    if record.get("type") == "thread.started" or record.get("type") == "item.completed":
        return isinstance(record.get("thread_id"), str) or isinstance(record.get("item"), dict)
    return string(record.get("type")) in _THREAD and record.keys() <= {"type", "usage", "error", "item"}


def _is_message(value: object) -> bool:
    """Whether a value is an event as older versions of `codex exec --json` printed it."""
    record = mapping(value)
    return isinstance(record.get("id"), str) and string(mapping(record.get("msg")).get("type")) in _EVENTS


def read(source: Source) -> Iterator[Transcript]:
    """Read the session of a file; its cluster is the session that it was forked or spawned from, if it was.

    A session that lies over several rollouts, since turns of it were taken back, is told by the last of them.
    """
    later = latest(source)
    session = Session(source if later is None else source.beside(later))
    held: Any = source.document
    if isinstance(held, dict) and isinstance(held.get("session"), dict):
        yield session.of_document(held["session"], objects(held.get("items")), string(held.get("title")))
    else:
        yield session.of_lines()
