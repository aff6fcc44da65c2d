"""OpenAI Chat Completions: the `messages` list to and from our messages.

Follows OpenAI's published API and its common dialects: `developer`, the older `function_call` without ids, and the
fields in which other servers put the model's reasoning. Ids that are empty or doubled stay as recorded.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from compactlab.shapes import images
from compactlab.shapes.parts import json_text, role_of, words
from compactlab.tokens import pieces
from compactlab.transcript import Block, Image, Message, Messages, Reasoning, Role, Text, ToolCall, ToolResult

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

ROLES: dict[str, Role] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "assistant": "assistant",
    "tool": "tool",
    "function": "tool",
}


def from_wire(messages: Sequence[Mapping[str, Any]]) -> Messages:
    """Read a message list; each message keeps its index as `source`.

    Older calls without an id get `call_0`, `call_1`, ..., and their results the id of the call they answer, by name
    and order. Raises `TranscriptError` for an unknown role, with the index.

    >>> [message] = from_wire([{"role": "developer", "content": "Be brief."}])
    >>> message.role, message.blocks, message.source
    ('system', (Text(text='Be brief.'),), 0)
    """
    older = _older_ids(messages)
    return tuple(_message(wire, index, older.get(index, "")) for index, wire in enumerate(messages))


def _message(wire: Mapping[str, Any], index: int, older_id: str) -> Message:
    role = ROLES[role_of(wire, index, ROLES)]
    if role == "tool":
        return Message(role, (_result(wire, older_id),), source=index)
    found = [*_reasoning(wire), *content(wire.get("content"))] if role == "assistant" else content(wire.get("content"))
    if role == "assistant":
        found = [*found, *_refusal(wire), *_calls(wire, older_id)]
    return Message(role, tuple(found), source=index)


def _older_ids(messages: Sequence[Mapping[str, Any]]) -> dict[int, str]:
    """Ids for the calls and results of the older form, by message index; a result without a call has the id ""."""
    ids: dict[int, str] = {}
    waiting: list[tuple[str, str]] = []
    made = 0
    for index, wire in enumerate(messages):
        call = wire.get("function_call")
        if isinstance(call, dict):
            ids[index] = f"call_{made}"
            waiting.append((str(call.get("name")), ids[index]))
            made += 1
        elif wire.get("role") == "function" and waiting:
            name = str(wire.get("name"))
            chosen = next((entry for entry in waiting if entry[0] == name), waiting[0])
            waiting.remove(chosen)
            ids[index] = chosen[1]
    return ids


def _result(wire: Mapping[str, Any], older_id: str) -> ToolResult:
    call_id = wire.get("tool_call_id")
    parts = content(wire.get("content"))
    kept = tuple(part if isinstance(part, Text | Image) else Text(json_text(wire.get("content"))) for part in parts)
    return ToolResult(call_id if isinstance(call_id, str) else older_id, kept)


def content(given: object) -> list[Block]:
    """Read a `content`: text, a list of parts, or null; empty text is no block."""
    if given is None or given == "":
        return []
    if isinstance(given, str):
        return [Text(given)]
    return [_part(part) for part in (given if isinstance(given, list) else [given])]


def _part(part: object) -> Block:
    if not isinstance(part, dict):
        return Text(words(part))
    kind = str(part.get("type"))
    if kind in {"text", "input_text", "output_text"} and isinstance(part.get("text"), str):
        return Text(part["text"])
    if kind in {"image_url", "input_image"}:
        url = part.get("image_url")
        url = url.get("url") if isinstance(url, dict) else url
        return images.from_url(url) if isinstance(url, str) else Image(images.UNKNOWN_TYPE)
    if kind in {"thinking", "redacted_thinking"}:
        return _thought(part)
    return Text(words(part))


def _refusal(wire: Mapping[str, Any]) -> list[Block]:
    refusal = wire.get("refusal")
    return [Text(refusal)] if isinstance(refusal, str) and refusal else []


def _reasoning(wire: Mapping[str, Any]) -> list[Block]:
    """Read the model's reasoning from the field that says most; the others repeat it."""
    for name in ("thinking_blocks", "reasoning_details"):
        listed = wire.get(name)
        parts = listed if isinstance(listed, list) else []
        found: list[Block] = [_thought(part) for part in parts if isinstance(part, dict)]
        if found:
            return found
    for name in ("reasoning_content", "reasoning"):
        text = wire.get(name)
        if text:
            return [Reasoning(text if isinstance(text, str) else words(text))]
    return []


def _thought(part: Mapping[str, Any]) -> Reasoning:
    text = next((part[k] for k in ("thinking", "text", "summary") if isinstance(part.get(k), str)), "")
    data = part.get("data")
    return Reasoning(
        text, signature=_str(part.get("signature")) or None, opaque=data if isinstance(data, str) else None
    )


def _calls(wire: Mapping[str, Any], older_id: str) -> Iterator[ToolCall]:
    listed = wire.get("tool_calls")
    for call in listed if isinstance(listed, list) else ():
        yield _call(call if isinstance(call, dict) else {"arguments": call})
    older = wire.get("function_call")
    if isinstance(older, dict):
        yield ToolCall(older_id, _str(older.get("name")), _arguments(older.get("arguments")))


def _call(call: Mapping[str, Any]) -> ToolCall:
    inner = next((call[key] for key in ("function", "custom") if isinstance(call.get(key), dict)), call)
    given = inner.get("arguments", inner.get("input"))
    return ToolCall(_str(call.get("id")), _str(inner.get("name")), _arguments(given))


def _str(value: object) -> str:
    return value if isinstance(value, str) else "" if value is None else json_text(value)


def _arguments(given: object) -> str:
    if given is None:
        return "{}"
    return given if isinstance(given, str) else json_text(given)


def to_wire(messages: Sequence[Message]) -> list[dict[str, Any]]:
    """Write messages as a list: one `tool` message a result, reasoning in `reasoning_content` or `thinking_blocks`.

    A turn held in one assistant message becomes call, result, call, result, text. `is_error` has no place on this
    wire; a picture that was not recorded becomes words.
    """
    return [wire for message in messages for piece in pieces(message) for wire in _wires(message.role, piece)]


def _wires(role: Role, piece: tuple[Block, ...]) -> Iterator[dict[str, Any]]:
    results = [part for part in piece if isinstance(part, ToolResult)]
    for part in results:
        yield {"role": "tool", "tool_call_id": part.call_id, "content": _content(part.content)}
    if results:
        return
    wire: dict[str, Any] = {"role": "user" if role == "tool" else role}
    wire["content"] = _content([part for part in piece if isinstance(part, Text | Image)])
    thoughts = [part for part in piece if isinstance(part, Reasoning)]
    calls = [part for part in piece if isinstance(part, ToolCall)]
    if thoughts:
        wire |= _thinking(thoughts)
    if calls:
        wire["content"] = wire["content"] or None
        wire["tool_calls"] = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
            for call in calls
        ]
    yield wire


def _content(parts: Sequence[Text | Image]) -> str | list[dict[str, Any]]:
    if not parts:
        return ""
    if len(parts) == 1 and isinstance(parts[0], Text) and parts[0].text:
        return parts[0].text
    return [_to_part(part) for part in parts]


def _to_part(part: Text | Image) -> dict[str, Any]:
    if isinstance(part, Text):
        return {"type": "text", "text": part.text}
    url = images.to_url(part)
    if url is None:
        return {"type": "text", "text": images.described(part)}
    return {"type": "image_url", "image_url": {"url": url}}


def _thinking(thoughts: list[Reasoning]) -> dict[str, Any]:
    only = thoughts[0]
    if len(thoughts) == 1 and only.text and only.signature is None and only.opaque is None:
        return {"reasoning_content": only.text}
    return {"thinking_blocks": [_to_thought(thought) for thought in thoughts]}


def _to_thought(thought: Reasoning) -> dict[str, Any]:
    signed = {} if thought.signature is None else {"signature": thought.signature}
    if thought.opaque is None:
        return {"type": "thinking", "thinking": thought.text, **signed}
    shown = {"thinking": thought.text} if thought.text else {}
    return {"type": "redacted_thinking", "data": thought.opaque, **shown, **signed}
