"""Messages as traces hold them: parts of the conventions, the shapes of providers, and what SDKs make of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

from msgspec.structs import replace

from compactlab.errors import TranscriptError
from compactlab.readers._fields import array, first_string, mapping, objects, string
from compactlab.readers._items import Item
from compactlab.readers._lines import read_json
from compactlab.shapes import anthropic, images, langchain, openai_chat
from compactlab.shapes.parts import words
from compactlab.transcript import Block, Image, Message, Reasoning, Role, Text, ToolCall, ToolResult

ROLES: dict[str, Role] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "human": "user",
    "assistant": "assistant",
    "ai": "assistant",
    "model": "assistant",
    "tool": "tool",
    "function": "tool",
    "tool-call": "assistant",
    "tool-response": "user",
}
_RETOLD = {"tool-call", "tool-response"}
"""Roles under which an agent's own framework tells the model in words of its calls and of what they gave."""
_CALLS = {"tool_call", "server_tool_call", "tool-call", "function_call"}
_RESULTS = {"tool_call_response", "server_tool_call_response", "tool-result", "function_call_output"}
_THOUGHTS = {"reasoning", "thinking", "redacted_thinking"}
_ANTHROPIC = {*anthropic.CALLS, "tool_result"}


class Said(NamedTuple):
    """A message as Monocle writes it: JSON text of an object with the role as its key, or words of *role*."""

    role: str
    entry: object


class Maker:
    """Makes items of messages; *unknown* counts those of a role that nobody knows."""

    def __init__(self) -> None:
        self.unknown: Counter[str] = Counter()

    def items(self, wire: object, source: int) -> tuple[Item, ...]:
        """Items of one message: mostly one, two if results stand among a person's words."""
        if isinstance(wire, Said):
            return tuple(item for spoken in _spoken(wire) for item in self.items(spoken, source))
        given = mapping(wire)
        named_role = string(given.get("role")).lower()
        role = ROLES.get(named_role)
        if role is None:
            self.unknown[f"message of role {given.get('role')!r}"[:60]] += 1
            return ()
        blocks = tuple(_blocks(given, role))
        made = (Message(role, blocks, source=source),) if role == "tool" else anthropic.split(role, blocks, source)
        if named_role in _RETOLD:
            made = tuple(replace(message, synthetic=True) for message in made)
        named = first_string(given, "name")
        summed = role in {"user", "system"} and made[0].text.lstrip().startswith(langchain.SUMMARY)
        return tuple(Item(message, name=named if message.results else "", summary=summed) for message in made)


def loaded(value: object) -> Any:  # noqa: ANN401  # JSON is any value
    """A value that may have been written as JSON text; text that is no JSON object or array stays as it is."""
    if not isinstance(value, str) or value.lstrip()[:1] not in {"{", "["}:
        return value
    try:
        return read_json(value.encode("utf-8", "surrogatepass"))
    except TranscriptError:
        return value


def _blocks(given: dict[str, Any], role: Role) -> Iterator[Block]:
    parts = given.get("parts")
    content = parts if isinstance(parts, list) else _content_of(given.get("content"))
    if role == "tool":
        yield from _results(given, content)
        return
    for name in ("reasoning_content", "reasoning", "thinking"):
        if isinstance(given.get(name), str) and given[name]:
            yield Reasoning(given[name])
            break
    said = [block(part) for part in (content if isinstance(content, list) else [content]) if part not in (None, "")]
    yield from said
    if role == "assistant":
        known = {part.id for part in said if isinstance(part, ToolCall) and part.id}
        yield from (call for wire in objects(loaded(given.get("tool_calls"))) if (call := _call(wire)).id not in known)
        older = loaded(given.get("function_call"))
        if isinstance(older, dict) and older:
            yield _call(older)


def _spoken(said: Said) -> Iterator[dict[str, Any]]:
    inner = loaded(said.entry)
    if isinstance(inner, dict) and inner and not called(inner):
        for role, content in inner.items():
            calls = called(content) if role in {"ai", "assistant"} else []
            yield {"role": role, "tool_calls": calls} if calls else {"role": role, "content": content}
    elif inner not in (None, "", {}):
        calls = called(inner) if said.role == "assistant" else []
        yield {"role": said.role, "tool_calls": calls} if calls else {"role": said.role, "content": said.entry}


def _content_of(content: object) -> Any:  # noqa: ANN401  # JSON is any value
    """A content that may be JSON text of parts; text that only looks like JSON stays text."""
    if isinstance(content, str) and not content[:200].replace(" ", "").replace("\n", "").startswith("[{"):
        return content
    value = loaded(content)
    kinds = {"type", "text", "toolUse", "toolResult"}
    is_parts = isinstance(value, list) and value and all(isinstance(p, dict) and kinds & p.keys() for p in value)
    return value if is_parts or not isinstance(content, str) else content


def _results(given: dict[str, Any], content: Any) -> Iterator[Block]:  # noqa: ANN401  # JSON is any value
    read = [block(part) for part in (content if isinstance(content, list) else [content]) if part not in (None, "")]
    if any(isinstance(part, ToolResult) for part in read):
        yield from read
        return
    kept = tuple(part if isinstance(part, Text | Image) else Text(words(anthropic.to_block(part))) for part in read)
    failed = given.get("status") == "error" or given.get("is_error") is True
    yield ToolResult(first_string(given, "tool_call_id", "id"), kept, is_error=failed)


def block(part: object) -> Block:
    """Read one part of a message."""
    if not isinstance(part, dict):
        return Text(words(part))
    kind = str(part.get("type"))
    if kind in _CALLS or isinstance(part.get("toolUse"), dict):
        return _call(part)
    if kind in _RESULTS or isinstance(part.get("toolResult"), dict):
        return _response(part)
    if kind in _THOUGHTS:
        return _thought(part)
    if kind in _ANTHROPIC or isinstance(part.get("source"), dict):
        return anthropic.block(part)
    return _shown(part, kind)


def _shown(part: dict[str, Any], kind: str) -> Block:
    text = part.get("content", part.get("text"))
    if isinstance(text, str) and kind in {"text", "None", "input_text", "output_text"}:
        return Text(text)
    media = first_string(part, "mime_type", "mediaType", "media_type")
    if kind in {"blob", "uri", "file", "file_data", "image"} and (
        part.get("modality", kind) == "image" or "image/" in media
    ):
        data, link = part.get("content", part.get("data")), first_string(part, "uri", "url", "image")
        if isinstance(data, str) and data:
            return images.from_base64(media, data)
        return images.from_url(link) if link else Image(media or images.UNKNOWN_TYPE, digest=part_id(part))
    return openai_chat.content([part])[0]


def part_id(part: dict[str, Any]) -> str | None:
    """Id of a file that lies with the provider."""
    return first_string(part, "file_id", "id") or None


def _call(part: dict[str, Any]) -> ToolCall:
    held = ("function", "toolUse", "tool_call", "server_tool_call")
    inner: dict[str, Any] = next((part[key] for key in held if isinstance(part.get(key), dict)), {})
    call_id = first_string(part, "id", "call_id", "toolCallId", "tool_call_id") or first_string(
        inner, "toolUseId", "id"
    )
    named = first_string(part, "name", "toolName") or first_string(inner, "name")
    keys = ("arguments", "args", "input")
    given = next((fields[key] for fields in (part, inner) for key in keys if fields.get(key) is not None), None)
    return ToolCall(call_id, named, anthropic.arguments(given))


def _response(part: dict[str, Any]) -> ToolResult:
    inner = mapping(part.get("toolResult"))
    call_id = first_string(part, "id", "call_id", "toolCallId") or first_string(inner, "toolUseId")
    keys = ("response", "result", "output", "content", "server_tool_call_response")
    given = next((held[key] for held in (part, inner) for key in keys if held.get(key) is not None), None)
    failed = part.get("isError") is True or part.get("is_error") is True or inner.get("status") == "error"
    return ToolResult(call_id, result_content(given), is_error=failed)


def result_content(given: object) -> tuple[Text | Image, ...]:
    """Content of a result: text, a list of parts, or any value, which becomes its JSON."""
    if given is None or given == "":
        return ()
    value = _content_of(given)
    if isinstance(value, dict) and value.get("type") in {"text", "content", "json"} and len(value) == 2:
        value = value.get("value", value)
        value = value if isinstance(value, str | list) else Text(words(value)).text
    listed = array(value)
    if listed and all(isinstance(part, dict) and {"type", "text"} & part.keys() for part in listed):
        read = [block(part) for part in listed]
        return tuple(part if isinstance(part, Text | Image) else Text(words(anthropic.to_block(part))) for part in read)
    return (Text(value if isinstance(value, str) else words(value)),)


def unwrapped(given: object) -> Any:  # noqa: ANN401  # JSON is any value
    """What a tool gave, out of the message and the run in which LangChain's tracer tells it."""
    value = mapping(loaded(given))
    message = langchain.fields(value.get("output"))
    return message["content"] if message is not None and "content" in message else given


def _thought(part: dict[str, Any]) -> Reasoning:
    text = first_string(part, "content", "text", "thinking", "reasoning")
    opaque = first_string(part, "data", "encrypted_content")
    return Reasoning(text, first_string(part, "signature") or None, opaque or None)


def called(text: object) -> list[dict[str, Any]]:
    """Calls that stand as JSON in place of an answer's words; none if it is words."""
    value = loaded(text)
    listed = [value] if isinstance(value, dict) else array(value)
    is_calls = bool(listed) and all(
        isinstance(c, dict) and isinstance(c.get("name"), str) and "args" in c for c in listed
    )
    return listed if is_calls else []
