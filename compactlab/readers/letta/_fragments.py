"""Letta's streams, in which one message is many records: what wraps them, and how the pieces go together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from compactlab.errors import TranscriptError
from compactlab.readers._fields import mapping, string
from compactlab.readers._lines import read_json
from compactlab.transcript import Block, Reasoning, Text, ToolCall

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_WRAPPERS = {"stream_event": "event", "stream_delta": "delta"}
_BESIDE = frozenset(
    "system result error retry recovery auto_approval approval_requested approval_received cancel_ack control_request "
    "control_response tool_execution_started tool_execution_finished".split()
)


def entry(record: object) -> dict[str, Any]:
    """The entry that a record is or wraps; an empty one if it is none."""
    fields = mapping(record)
    inner = mapping(fields.get(_WRAPPERS.get(string(fields.get("type")), "")))
    given = inner or fields
    named = bool(inner) or fields.get("type") == "message" or bool({"id", "otid"} & given.keys())
    return given if named and isinstance(given.get("message_type"), str) else {}


def begins(record: object) -> bool:
    """Whether a record is the first of a stream, which names the agent and the conversation."""
    fields = mapping(record)
    return fields.get("type") == "system" and {"agent_id", "conversation_id"} <= fields.keys()


def is_beside(kind: str) -> bool:
    """Whether records of a type stand in streams, and hold nothing that the agent was sent or said."""
    return kind in _BESIDE or kind.startswith("queue_")


def told(beside: dict[str, Any], record: object) -> None:
    """Take over what a first or last record of a stream says of the whole of it."""
    fields = mapping(record)
    if begins(record):
        conversation = string(fields.get("conversation_id"))
        own = fields.get("agent_id") if conversation in {"", "default"} else conversation
        beside.update(agent_id=own, model_name=fields.get("model"), tools=fields.get("tools"))
    elif fields.get("type") == "result" and fields.get("usage"):
        beside["usage"] = fields["usage"]


def joined(blocks: Sequence[Block], more: Iterable[Block], *, pieces: bool) -> tuple[Block, ...]:
    """Blocks with those of the next record of a response; with *pieces*, words and thoughts go on where they broke off.

    A call that is there already is not told again: it gets the rest of its arguments.

    >>> joined([Text("On")], [Text("ly")], pieces=True)
    (Text(text='Only'),)
    """
    found = list(blocks)
    for block in more:
        place = _place(found, block, pieces=pieces)
        if place is None:
            found.append(block)
        else:
            found[place] = _grown(found[place], block)
    return tuple(found)


def _place(found: Sequence[Block], block: Block, *, pieces: bool) -> int | None:
    """Which of the blocks another one goes on with."""
    if isinstance(block, ToolCall) and block.id:
        return next((i for i, known in enumerate(found) if isinstance(known, ToolCall) and known.id == block.id), None)
    same = pieces and bool(found) and type(found[-1]) is type(block)
    return len(found) - 1 if same and isinstance(block, Text | Reasoning | ToolCall) else None


def _grown(known: Block, block: Block) -> Block:
    if isinstance(known, Text) and isinstance(block, Text):
        return Text(known.text + block.text)
    if isinstance(known, Reasoning) and isinstance(block, Reasoning):
        opaque = (known.opaque or "") + (block.opaque or "")
        return Reasoning(known.text + block.text, block.signature or known.signature, opaque or None)
    if isinstance(known, ToolCall) and isinstance(block, ToolCall):
        rest = "" if _is_whole(known.arguments) else block.arguments
        return ToolCall(known.id or block.id, known.name or block.name, known.arguments + rest)
    return known


def _is_whole(arguments: str) -> bool:
    try:
        return isinstance(read_json(arguments.encode("utf-8", "surrogatepass")), dict)
    except TranscriptError:
        return False
