"""Blocks of compactlab's own format: those of the Anthropic Messages API, and our keys for what it cannot hold."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
from msgspec.structs import replace

from compactlab.errors import TranscriptError
from compactlab.shapes import anthropic, images
from compactlab.shapes.parts import json_text
from compactlab.transcript import Block, Image, Message, Reasoning, Text, ToolCall, ToolResult

if TYPE_CHECKING:
    from collections.abc import Mapping


def block_from(wire: object, where: str) -> Block:
    """Read one block of our own format; a `TranscriptError` begins with *where* the block stands."""
    if not isinstance(wire, dict):
        return anthropic.block(wire)
    if wire.get("type") == "image":
        return _image_from(wire, where)
    block = _result_from(wire, where) or anthropic.block(wire)
    if isinstance(block, ToolResult) and wire.get("useless") is True:
        return replace(block, useless=True)
    if isinstance(block, Reasoning) and wire.get("type") == "thinking":
        given = {name: wire.get(name) for name in ("signature", "opaque")}
        return replace(block, **{name: text if isinstance(text, str) else None for name, text in given.items()})
    if isinstance(block, ToolCall) and isinstance(wire.get("arguments"), str):
        return replace(block, arguments=wire["arguments"])
    return block


def _result_from(wire: Mapping[str, Any], where: str) -> ToolResult | None:
    """A result whose content are blocks that we know; None for anything else."""
    if wire.get("type") != "tool_result" or not isinstance(wire.get("content"), list):
        return None
    parts = tuple(block_from(part, where) for part in wire["content"])
    content = tuple(part for part in parts if isinstance(part, Text | Image))
    known = len(content) == len(parts)
    return replace(anthropic.result({**wire, "content": None}), content=content) if known else None


def _image_from(wire: Mapping[str, Any], where: str) -> Image:
    source = wire.get("source")
    if not isinstance(source, dict) or "media_type" not in source:
        return anthropic.image(source)
    given = {name: source[name] for name in ("media_type", "width", "height", "url", "digest") if name in source}
    image = Image(source["media_type"])
    if isinstance(source.get("data"), str):
        image = images.from_base64(source["media_type"], source["data"])
    return _checked(replace(image, **given), where)


def _checked(image: Image, where: str) -> Image:
    try:
        return msgspec.convert(msgspec.structs.asdict(image) | {"type": "image"}, Image)
    except (msgspec.ValidationError, UnicodeEncodeError) as error:
        raise TranscriptError(f"{where}: a picture of wrong form: {error}") from error


def block_to(block: Block, *, sliced: bool = True) -> str:
    """Write one block of our own format as JSON text; the arguments of a call stand in it as they were recorded.

    Unless *sliced*, and where they are no JSON object, they stand beside it as a text.
    """
    if isinstance(block, ToolCall):
        return _call_to(block, sliced=sliced)
    return json_text(_plain(block))


def _plain(block: Block) -> dict[str, Any]:
    if isinstance(block, Image):
        return _image_to(block)
    if isinstance(block, Reasoning) and block.opaque is not None:
        shown = {"type": "thinking", "thinking": block.text, "opaque": block.opaque}
        signed = {} if block.signature is None else {"signature": block.signature}
        return shown | signed if block.text or signed else anthropic.to_block(block)
    if isinstance(block, ToolResult):
        hint = {"useless": True} if block.useless else {}
        if any(isinstance(part, Image) for part in block.content):
            bare = anthropic.to_block(replace(block, content=()))
            return bare | {"content": [_plain(part) for part in block.content]} | hint
        return anthropic.to_block(block) | hint
    return anthropic.to_block(block)


def _image_to(image: Image) -> dict[str, Any]:
    source: dict[str, Any] = {"type": "digest", "media_type": image.media_type}
    if image.url is not None:
        source |= {"type": "url", "url": image.url}
    if image.data is not None:
        source |= {"type": "base64", "data": images.to_base64(image)}
    if image.digest is not None:
        source["digest"] = image.digest
    known = (images.size(image.data) if image.data is not None else None) or (None, None)
    if (image.width, image.height) != known:
        source |= {"width": image.width, "height": image.height}
    return {"type": "image", "source": source}


def _call_to(call: ToolCall, *, sliced: bool) -> str:
    head = json_text({"type": "tool_use", "id": call.id, "name": call.name})[:-1]
    if sliced and _can_stand(call.arguments):
        return f'{head}, "input": {call.arguments}}}'
    return f'{head}, "input": {{}}, "arguments": {json_text(call.arguments)}}}'


def _can_stand(arguments: str) -> bool:
    """Whether arguments are a JSON object that may stand in a line just as they are."""
    if not arguments.startswith("{") or not arguments.endswith("}") or "\n" in arguments or "\r" in arguments:
        return False
    try:
        return isinstance(msgspec.json.decode(arguments.encode()), dict)
    except (UnicodeEncodeError, msgspec.DecodeError, RecursionError):
        return False


def message_keys(message: Message, index: int) -> dict[str, Any]:
    """Keys of a message line after its content, each only where it says something."""
    keys: dict[str, Any] = {}
    if message.timestamp is not None:
        keys["ts"] = message.timestamp
    if message.source != index:
        keys["source"] = message.source
    return keys | {name: True for name in ("synthetic", "pinned") if getattr(message, name)}
