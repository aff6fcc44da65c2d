"""Anthropic Messages: the `messages` list and the `system` beside it, to and from our messages.

Follows Anthropic's published Messages API. A user message of results alone becomes a message of role `tool`; one that
mixes results and words becomes two that share `source`, and `to_wire` joins them again. Results of tools that the
provider runs stand inside the assistant message, as they were recorded; `to_wire` writes them as turns of their own.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from msgspec import Raw

from compactlab.shapes import images
from compactlab.shapes.parts import ROLES, json_text, role_of, words
from compactlab.tokens import pieces
from compactlab.transcript import Block, Image, Message, Messages, Reasoning, Role, Text, ToolCall, ToolResult

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

CALLS = ("tool_use", "server_tool_use", "mcp_tool_use")


class Wire(NamedTuple):
    """A request's `system` (None if there is none) and its `messages`."""

    system: str | list[dict[str, Any]] | None
    messages: list[dict[str, Any]]


def from_wire(messages: Sequence[Mapping[str, Any]], system: object = None) -> Messages:
    """Read a request: *system* (text or text blocks), where given, counts as recorded message 0, the list after it.

    Raises `TranscriptError` for an unknown role, with the index in the list.

    >>> [message] = from_wire([{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1"}]}])
    >>> message.role, message.blocks
    ('tool', (ToolResult(call_id='c1', content=(), is_error=False),))
    """
    read: list[Message] = []
    first = 0
    if system:
        first = 1
        read.append(Message("system", blocks(system), source=0))
    for index, wire in enumerate(messages):
        role_of(wire, index, ROLES)
        read.extend(split(wire["role"], blocks(wire.get("content")), index + first))
    return tuple(read)


def split(role: Role, content: tuple[Block, ...], source: int | None) -> Messages:
    """Make one message of a recorded one, or two, if it is a user's that mixes results and words."""
    results = tuple(block for block in content if isinstance(block, ToolResult))
    if role != "user" or not results:
        return (Message(role, content, source=source),)
    rest = tuple(block for block in content if not isinstance(block, ToolResult))
    heard = (Message("tool", results, source=source),)
    return (*heard, Message("user", rest, source=source)) if rest else heard


def blocks(content: object) -> tuple[Block, ...]:
    """Read a `content`: text, a list of blocks, or null; empty text is no block."""
    if content is None or content == "":
        return ()
    if isinstance(content, str):
        return (Text(content),)
    return tuple(block(part) for part in (content if isinstance(content, list) else [content]))


def block(wire: object) -> Block:
    """Read one block; a kind that has no place here becomes the text of what can be read in it."""
    if not isinstance(wire, dict):
        return Text(words(wire))
    kind = str(wire.get("type"))
    if kind.endswith("tool_result"):
        return result(wire)
    return _READ.get(kind, _other)(wire)


def _text(wire: Mapping[str, Any]) -> Text:
    return Text(_str(wire.get("text")))


def _thinking(wire: Mapping[str, Any]) -> Reasoning:
    return Reasoning(_str(wire.get("thinking")), signature=_str(wire.get("signature")) or None)


def _redacted(wire: Mapping[str, Any]) -> Reasoning:
    return Reasoning(opaque=_str(wire.get("data")))


def _call(wire: Mapping[str, Any]) -> ToolCall:
    return ToolCall(_str(wire.get("id")), _str(wire.get("name")), arguments(wire.get("input")))


def _image(wire: Mapping[str, Any]) -> Image:
    return image(wire.get("source"))


def _other(wire: Mapping[str, Any]) -> Text:
    return Text(words(wire))


_READ: dict[str, Callable[[Mapping[str, Any]], Block]] = {
    "text": _text,
    "thinking": _thinking,
    "redacted_thinking": _redacted,
    "image": _image,
    **dict.fromkeys(CALLS, _call),
}


def _str(value: object) -> str:
    return value if isinstance(value, str) else "" if value is None else json_text(value)


def arguments(given: object) -> str:
    """Give the arguments as JSON text: raw bytes and text as they are, an object written out, nothing as `{}`."""
    if isinstance(given, Raw):
        return bytes(given).decode("utf-8", "surrogatepass")
    if given is None:
        return "{}"
    return given if isinstance(given, str) else json_text(given)


def result(wire: Mapping[str, Any]) -> ToolResult:
    """Read a result: `content` as text, list, object or null; pictures stay pictures, other kinds become text."""
    content = wire.get("content")
    failed = bool(wire.get("is_error")) or (isinstance(content, dict) and "error_code" in content)
    read = blocks(content)
    return ToolResult(
        _str(wire.get("tool_use_id")),
        tuple(part if isinstance(part, Text | Image) else Text(words(to_block(part))) for part in read),
        is_error=failed,
    )


def image(source: object) -> Image:
    """Read the `source` of a picture: base64, url, or anything else, of which nothing but a type is known."""
    source = source if isinstance(source, dict) else {}
    if isinstance(source.get("data"), str):
        return images.from_base64(_str(source.get("media_type")), source["data"])
    if isinstance(source.get("url"), str):
        return images.from_url(source["url"])
    return Image(_str(source.get("media_type")) or images.UNKNOWN_TYPE, digest=_str(source.get("file_id")) or None)


def to_wire(messages: Sequence[Message]) -> Wire:
    """Write messages as a request: leading system messages as `system`, later ones as user text.

    Results stand in user messages: those of neighbouring tool messages together, and with the words that came in the
    same recorded message. A turn held in one assistant message becomes call, result, call, result, text.
    """
    leading = 0
    while leading < len(messages) and messages[leading].role == "system":
        leading += 1
    written: list[dict[str, Any]] = []
    before: _Piece | None = None
    for message in messages[leading:]:
        for said in pieces(message):
            heard = bool(said) and isinstance(said[0], ToolResult)
            piece = _Piece("assistant" if message.role == "assistant" and not heard else "user", heard, message.source)
            content = [to_block(part) for part in said]
            if before is not None and _joins(before, piece):
                written[-1]["content"] += content
            else:
                written.append({"role": piece.role, "content": content})
            before = piece
    return Wire(_system(messages[:leading]), written)


class _Piece(NamedTuple):
    role: Literal["user", "assistant"]
    heard: bool
    source: int | None


def _joins(before: _Piece, piece: _Piece) -> bool:
    if before.role != piece.role:
        return False
    return (before.heard and piece.heard) or (before.source is not None and before.source == piece.source)


def _system(messages: Iterable[Message]) -> str | list[dict[str, Any]] | None:
    parts = [part for message in messages for part in message.blocks]
    if len(parts) == 1 and isinstance(parts[0], Text):
        return parts[0].text or None
    return [to_block(part) for part in parts] or None


def to_block(part: Block) -> dict[str, Any]:
    """Write one block; a picture that was not recorded becomes words, arguments that are no object are wrapped in one.

    >>> to_block(ToolCall("c1", "bash", '{"command": "ls"'))
    {'type': 'tool_use', 'id': 'c1', 'name': 'bash', 'input': {'arguments': '{"command": "ls"'}}
    """
    if isinstance(part, Text):
        return {"type": "text", "text": part.text}
    if isinstance(part, Reasoning):
        return _to_thinking(part)
    if isinstance(part, ToolCall):
        return {"type": "tool_use", "id": part.id, "name": part.name, "input": _object(part.arguments)}
    if isinstance(part, ToolResult):
        return _to_result(part)
    return _picture(part)


def _picture(part: Image) -> dict[str, Any]:
    if part.data is not None:
        source = {"type": "base64", "media_type": part.media_type, "data": images.to_base64(part)}
        return {"type": "image", "source": source}
    if part.url is not None:
        return {"type": "image", "source": {"type": "url", "url": part.url}}
    return {"type": "text", "text": images.described(part)}


def _to_thinking(part: Reasoning) -> dict[str, Any]:
    if part.opaque is not None and not part.text:
        return {"type": "redacted_thinking", "data": part.opaque}
    signed = {} if part.signature is None else {"signature": part.signature}
    return {"type": "thinking", "thinking": part.text, **signed}


def _to_result(part: ToolResult) -> dict[str, Any]:
    content: str | list[dict[str, Any]] = [to_block(inner) for inner in part.content]
    if not part.content:
        content = ""
    elif len(part.content) == 1 and isinstance(part.content[0], Text) and part.content[0].text:
        content = part.content[0].text
    return {"type": "tool_result", "tool_use_id": part.call_id, "content": content, "is_error": part.is_error}


def _object(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = text
    return value if isinstance(value, dict) else {"arguments": value}
