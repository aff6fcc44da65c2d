"""Messages of Hermes: OpenAI's shape, with JSON in text columns and reasoning in several fields."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec.structs import replace

from compactlab.readers._fields import array, mapping, objects, string
from compactlab.readers._times import iso
from compactlab.readers._turns import decoded
from compactlab.readers.claude_code._injected import injected
from compactlab.shapes.openai_chat import ROLES, from_wire
from compactlab.transcript import Block, Message, Reasoning, Text

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Sequence

SUMMARIES = ("[CONTEXT COMPACTION", "[CONTEXT SUMMARY]:")
_PRIOR = "[PRIOR CONTEXT"
_LONGEST = 200
_MERGED = "COMPACTION SUMMARY BELOW]"
ADDED = (
    *SUMMARIES,
    "[Your active task list was preserved across context compression]",
    "Continue from the compressed conversation context above.",
)
_NOTES = (
    *ADDED,
    _PRIOR,
    "[Continuing toward your standing goal",
    "[ASYNC DELEGATION",
    "[IMPORTANT: Background process",
    "Review the conversation above and update the skill library",
    "Review the conversation above and consider saving to memory",
)
_JSON_MARKS = ("\0json:", "\x01json:")
_PART_KINDS = {"text", "image_url", "input_text", "input_image", "image", "input_audio", "file"}


class Wire(NamedTuple):
    """A recorded message, and its `source`."""

    fields: dict[str, Any]
    source: int


def is_summary(message: Message) -> bool:
    """Whether a message is the summary of a compaction, alone or merged with the message behind it."""
    text = _opening(message)
    return text.startswith(SUMMARIES) or (text.startswith(_PRIOR) and _MERGED in message.text)


def is_made(message: Message) -> bool:
    """Whether a compaction put a message into the list: a summary, the task list, a mark to go on from."""
    return _opening(message).startswith(ADDED) or is_summary(message)


def _opening(message: Message) -> str:
    """How the words of a message begin."""
    first = next((block for block in message.blocks if isinstance(block, Text)), None)
    return "" if first is None else first.text[:_LONGEST].lstrip()


def messages(wires: Sequence[Wire], unknown: Counter[str], repaired: Counter[str]) -> list[Message]:
    """Make a message of each recorded one; those of an unknown role are counted."""
    known = [wire for wire in wires if string(wire.fields.get("role")) in ROLES]
    for wire in wires:
        role = string(wire.fields.get("role"))
        if role not in ROLES:
            unknown[f"message of role {role or 'unknown'}"] += 1
    read = from_wire([_openai(wire.fields, repaired) for wire in known])
    return [_finished(message, wire) for message, wire in zip(read, known, strict=True)]


def _openai(fields: dict[str, Any], repaired: Counter[str]) -> dict[str, Any]:
    """A message in OpenAI's shape, with the values of its JSON texts."""
    told = {key: fields.get(key) for key in ("role", "tool_call_id", "name", "refusal", "function_call")}
    told["content"] = _content(fields.get("content"), string(fields.get("role")))
    told["reasoning_content"] = fields.get("reasoning_content") or fields.get("reasoning")
    told["reasoning_details"] = decoded(fields.get("reasoning_details"))
    calls = fields.get("tool_calls")
    if isinstance(calls, str) and calls.strip():
        value = decoded(calls)
        if not isinstance(value, list | dict):
            repaired["calls that are no JSON"] += 1
            value = [{"function": {"name": "", "arguments": calls}}]
        calls = value if isinstance(value, list) else [value]
    told["tool_calls"] = calls
    return told


def _content(given: object, role: str) -> object:
    if not isinstance(given, str):
        return given
    if given.startswith(_JSON_MARKS):
        value = decoded(given.partition(":")[2])
        return given if value is None else value
    if role == "user" and given.startswith('[{"'):
        value = decoded(given)
        if isinstance(value, list) and all(string(mapping(part).get("type")) in _PART_KINDS for part in value):
            return value
    return given


def _finished(message: Message, wire: Wire) -> Message:
    fields = wire.fields
    synthetic = message.role == "user" and (fields.get("display_kind") == "hidden" or _is_note(message))
    blocks = message.blocks
    if message.role == "assistant":
        blocks = _with_hidden(blocks, objects(decoded(fields.get("codex_reasoning_items"))))
    return replace(
        message, blocks=blocks, source=wire.source, synthetic=synthetic, timestamp=iso(fields.get("timestamp"))
    )


def _is_note(message: Message) -> bool:
    return _opening(message).startswith(_NOTES) or injected(message.text or "words")


def _with_hidden(blocks: tuple[Block, ...], items: list[dict[str, Any]]) -> tuple[Block, ...]:
    """Put the encrypted reasoning of the Responses API in front; its summary is what the other fields repeat."""
    found: list[Block] = []
    for item in items:
        text = "\n".join(string(part.get("text")) for part in objects(array(item.get("summary"))))
        opaque = string(item.get("encrypted_content")) or None
        if text or opaque:
            found.append(Reasoning(text, opaque=opaque))
    told = [block for block in blocks if isinstance(block, Reasoning)]
    if not found or any(block.opaque for block in told):
        return blocks
    if told and not any(isinstance(block, Reasoning) and block.text for block in found):
        first = found[0]
        found[0] = Reasoning(told[0].text, opaque=first.opaque if isinstance(first, Reasoning) else None)
    return (*found, *(block for block in blocks if not isinstance(block, Reasoning)))
