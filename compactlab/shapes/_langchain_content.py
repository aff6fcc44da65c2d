"""Content of LangChain messages: the blocks of every provider that its integrations pass through, calls, reasoning."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from compactlab.shapes import anthropic, images, openai_chat
from compactlab.shapes.parts import json_text, words
from compactlab.transcript import Block, Image, Reasoning, Text, ToolCall, ToolResult

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_CALLS = {"tool_use", "server_tool_use", "mcp_tool_use", "tool_call", "server_tool_call", "function_call"}
_FRAGMENTS = {"input_json_delta", "tool_call_chunk", "server_tool_call_chunk", "invalid_tool_call"}
_IMAGES = {"image", "image_url", "input_image", "media"}
_THOUGHTS = {"thinking", "redacted_thinking", "reasoning", "reasoning_content"}


def extras(wire: Mapping[str, Any]) -> Mapping[str, Any]:
    """The `additional_kwargs` of a message; empty if it has none."""
    given = wire.get("additional_kwargs")
    return given if isinstance(given, dict) else {}


def blocks(wire: Mapping[str, Any], role: str) -> tuple[Block, ...]:
    """Blocks of a message: its reasoning, its content, and those of its calls that do not stand in the content."""
    if role != "assistant":
        return tuple(_content(wire.get("content"), {}))
    calls = tuple(_calls(wire))
    said = list(_content(wire.get("content"), {call.id: call for call in calls if call.id}))
    if not any(isinstance(block, Reasoning) for block in said):
        said = [*_reasoning(wire), *said]
    shown = {block.id for block in said if isinstance(block, ToolCall)}
    return (*said, *(call for call in calls if not call.id or call.id not in shown))


def result_content(content: object) -> tuple[Text | Image, ...]:
    """Content of a result: texts and pictures; anything else as words."""
    return tuple(
        block if isinstance(block, Text | Image) else Text(words(anthropic.to_block(block)))
        for block in _content(content, {})
    )


def _content(content: object, calls: Mapping[str, ToolCall]) -> Iterator[Block]:
    if content is None or content == "":
        return
    for part in content if isinstance(content, list) else [content]:
        block = _block(part, calls)
        if block is not None:
            yield block


def _block(part: object, calls: Mapping[str, ToolCall]) -> Block | None:
    """Read one part of a content; None for the fragments of a call that stands elsewhere whole."""
    kind = str(part.get("type")) if isinstance(part, dict) else ""
    if not isinstance(part, dict) or kind in _FRAGMENTS:
        return None if kind in _FRAGMENTS else Text(words(part))
    if kind in _CALLS:
        return _call_of_part(part, calls)
    if kind in _THOUGHTS:
        return _thought(part)
    if kind in _IMAGES:
        return _picture(part)
    if kind.endswith("tool_result"):
        return _result(part)
    text = next((part[key] for key in ("text", "refusal") if isinstance(part.get(key), str)), None)
    return Text(text) if text is not None and kind in {"text", "input_text", "output_text", "refusal"} else _words(part)


def _words(part: Mapping[str, Any]) -> Text:
    return Text(words(part.get("value") if part.get("type") == "non_standard" else part))


def _call_of_part(part: Mapping[str, Any], calls: Mapping[str, ToolCall]) -> ToolCall:
    call_id = _str(part.get("call_id") or part.get("id"))
    known = calls.get(call_id)
    if known is not None:
        return known
    given = next((part[key] for key in ("args", "input", "arguments") if part.get(key) is not None), None)
    return ToolCall(call_id, _str(part.get("name")), anthropic.arguments(given))


def _result(part: Mapping[str, Any]) -> ToolResult:
    if part.get("type") != "server_tool_result":
        return anthropic.result(part)
    failed = part.get("status") == "error"
    return ToolResult(_str(part.get("tool_call_id")), result_content(part.get("output")), is_error=failed)


def _picture(part: Mapping[str, Any]) -> Block:
    if part.get("type") == "media" and not str(part.get("mime_type")).startswith("image/"):
        return Text(words(part))
    kind = _str(part.get("mime_type"))
    data = part.get("base64", part.get("data"))
    if isinstance(data, str) and data:
        return images.from_base64(kind, data)
    url = part.get("image_url", part.get("url"))
    url = url.get("url") if isinstance(url, dict) else url
    if isinstance(url, str):
        return images.from_url(url)
    return anthropic.image(part.get("source"))


def _thought(part: Mapping[str, Any]) -> Reasoning:
    inner = part.get("reasoning_content")
    if isinstance(inner, dict):
        part = {**inner, "type": "reasoning_content"}
    if part.get("type") == "redacted_thinking":
        return Reasoning(opaque=_str(part.get("data")))
    extra = part.get("extras")
    signature = _str(part.get("signature") or (extra.get("signature") if isinstance(extra, dict) else None))
    opaque = part.get("encrypted_content")
    return Reasoning(_thinking(part), signature or None, opaque if isinstance(opaque, str) else None)


def _thinking(part: Mapping[str, Any]) -> str:
    text = next((part[key] for key in ("thinking", "reasoning", "text") if isinstance(part.get(key), str)), None)
    if isinstance(text, str):
        return text
    told = [piece for key in ("summary", "content") for piece in _list(part.get(key))]
    return "\n\n".join(_str(piece.get("text")) for piece in told if isinstance(piece, dict))


def _reasoning(wire: Mapping[str, Any]) -> Iterator[Reasoning]:
    """The reasoning that stands beside the content, as integrations of models with one field for it write it."""
    extra = extras(wire)
    for holder in (extra, wire):
        for key in ("reasoning_content", "reasoning"):
            given = holder.get(key)
            if isinstance(given, str) and given:
                yield Reasoning(given)
                return
            if isinstance(given, dict) and given:
                yield _thought({"type": "reasoning", **given})
                return


def _calls(wire: Mapping[str, Any]) -> Iterator[ToolCall]:
    """The calls beside the content, each once, with their arguments as the model wrote them where that is known."""
    extra = extras(wire)
    raw = [call for call in _list(extra.get("tool_calls") or wire.get("tool_calls")) if isinstance(call, dict)]
    written = {
        _str(call.get("id")): _arguments(call) for call in [*raw, *_list(wire.get("tool_call_chunks"))] if _is(call)
    }
    listed = [call for call in _list(wire.get("tool_calls")) if isinstance(call, dict)]
    invalid = [call for call in _list(wire.get("invalid_tool_calls")) if isinstance(call, dict)]
    if not listed and not invalid:
        listed = raw
    for call in listed:
        yield _call(call, written)
    for call in invalid:
        yield ToolCall(_str(call.get("id")), _str(call.get("name")), _str(call.get("args")))
    older = extra.get("function_call") or wire.get("function_call")
    if isinstance(older, dict) and not listed and not invalid:
        yield ToolCall("", _str(older.get("name")), anthropic.arguments(older.get("arguments")))


def _is(call: object) -> bool:
    return isinstance(call, dict) and isinstance(call.get("id"), str)


def _arguments(call: Mapping[str, Any]) -> str:
    """Arguments of the provider's own copy of a call, if they are a text; else an empty one."""
    function = call.get("function")
    given = function.get("arguments") if isinstance(function, dict) else call.get("args")
    return given if isinstance(given, str) else ""


def _call(call: Mapping[str, Any], written: Mapping[str, str]) -> ToolCall:
    if "args" not in call:
        return openai_chat.from_wire([{"role": "assistant", "content": None, "tool_calls": [call]}])[0].calls[0]
    call_id, given = _str(call.get("id")), call.get("args")
    text = written.get(call_id, "")
    if not (text and _means(text, given)):
        text = anthropic.arguments(given)
    return ToolCall(call_id, _str(call.get("name")), text)


def _means(text: str, value: object) -> bool:
    """Whether JSON text says what *value* is: people may have changed a call before it was run."""
    try:
        return bool(json.loads(text) == value)
    except (ValueError, RecursionError):
        return False


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _str(value: object) -> str:
    return value if isinstance(value, str) else "" if value is None else json_text(value)
