"""Keys of our own in LangChain messages: what `additional_kwargs["compactlab"]` says, and when it is needed."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
from msgspec.structs import replace

from compactlab.shapes import anthropic, images
from compactlab.tokens import pieces as cut
from compactlab.transcript import Block, Image, Message, Messages, Reasoning, Role, Text, ToolCall, ToolResult

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

KEY = "compactlab"
_TYPES = {"system": "system", "user": "human", "assistant": "ai", "tool": "human"}


class _Own(msgspec.Struct, omit_defaults=True):
    """What LangChain has no place for.

    *part* marks a piece of the message before it, *bare* one whose calls or results have no ids and are to have none.
    """

    role: Role | None = None
    blocks: tuple[Block, ...] | None = None
    synthetic: bool | None = None
    pinned: bool = False
    timestamp: str | None = None
    part: bool = False
    bare: bool = False


def _own(wire: Mapping[str, Any]) -> _Own | None:
    given = wire.get(KEY)
    if not isinstance(given, dict):
        return None
    try:
        return msgspec.convert(given, _Own)
    except (msgspec.ValidationError, RecursionError):
        return None


class Marks(NamedTuple):
    """Whether a message was written as a piece of the one before it, and whether its ids are empty on purpose."""

    part: bool
    bare: bool


def marks(wire: Mapping[str, Any]) -> Marks:
    """Read the marks that concern a message's neighbours."""
    extra = wire.get("additional_kwargs")
    own = _own(extra) if isinstance(extra, dict) and KEY in extra else None
    return Marks(own is not None and own.part, own is not None and own.bare)


def restored(extra: Mapping[str, Any], read: Messages) -> Messages:
    """Give what was read as it was before it was written."""
    own = _own(extra) if KEY in extra else None
    if own is None or not read:
        return read
    first = read[0]
    blocks = tuple(block for made in read for block in made.blocks) if own.blocks is None else own.blocks
    role = own.role or first.role
    synthetic = first.synthetic if own.synthetic is None else own.synthetic
    return (replace(first, role=role, blocks=blocks, synthetic=synthetic, pinned=own.pinned, timestamp=own.timestamp),)


def missing(piece: Message, read: Messages, *, part: bool) -> dict[str, Any]:
    """Give the keys without which *piece*, read back as *read*, would not be what it was."""
    only = read[0] if len(read) == 1 else Message("system", ())
    own = _Own(
        role=None if only.role == piece.role else piece.role,
        blocks=None if only.blocks == piece.blocks else piece.blocks,
        synthetic=None if only.synthetic == piece.synthetic else piece.synthetic,
        pinned=piece.pinned,
        timestamp=piece.timestamp,
        part=part,
        bare=any(
            (isinstance(block, ToolCall) and not block.id) or (isinstance(block, ToolResult) and not block.call_id)
            for block in piece.blocks
        ),
    )
    return dict(msgspec.to_builtins(own))


def pieces(message: Message) -> Iterator[tuple[Block, ...]]:
    """Cut a message into what LangChain holds in one: the words of a speaker, or a single result."""
    for piece in cut(message):
        if piece and isinstance(piece[0], ToolResult):
            yield from ((block,) for block in piece)
        else:
            yield piece


def natural(piece: Message) -> dict[str, Any]:
    """Write one piece as LangChain's own fields, as far as they go."""
    first = piece.blocks[0] if piece.blocks else None
    if isinstance(first, ToolResult):
        return _fields("tool", _content(first.content)) | {
            "tool_call_id": first.call_id,
            "status": "error" if first.is_error else "success",
        }
    kind = _TYPES[piece.role]
    shown = [block for block in piece.blocks if kind == "ai" or isinstance(block, Text | Image)]
    wire = _fields(kind, _content([block for block in shown if isinstance(block, Text | Image | Reasoning)]))
    return wire | _calls([block for block in shown if isinstance(block, ToolCall)]) if kind == "ai" else wire


def _fields(kind: str, content: str | list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "content": content,
        "additional_kwargs": {},
        "response_metadata": {},
        "type": kind,
        "name": None,
        "id": None,
    }


def _content(blocks: Sequence[Text | Image | Reasoning]) -> str | list[dict[str, Any]]:
    if not blocks:
        return ""
    if len(blocks) == 1 and isinstance(blocks[0], Text) and blocks[0].text:
        return blocks[0].text
    return [_part(block) for block in blocks]


def _part(block: Text | Image | Reasoning) -> dict[str, Any]:
    if isinstance(block, Image):
        url = images.to_url(block)
        if url is not None:
            return {"type": "image_url", "image_url": {"url": url}}
    return anthropic.to_block(block)


def _calls(calls: Sequence[ToolCall]) -> dict[str, Any]:
    """Calls as LangChain wants them, with an object; beside them their text where it says more; those without one."""
    valid: list[dict[str, Any]] = []
    invalid: list[dict[str, Any]] = []
    written: list[dict[str, Any]] = []
    for call in calls:
        value = _object(call.arguments)
        if value is None:
            named = {"type": "invalid_tool_call", "id": call.id, "name": call.name}
            invalid.append(named | {"args": call.arguments, "error": None})
            continue
        valid.append({"name": call.name, "args": value, "id": call.id, "type": "tool_call"})
        if anthropic.arguments(value) != call.arguments:
            function = {"name": call.name, "arguments": call.arguments}
            written.append({"id": call.id, "type": "function", "function": function})
    fields: dict[str, Any] = {"tool_calls": valid, "invalid_tool_calls": invalid, "usage_metadata": None}
    return fields | ({"additional_kwargs": {"tool_calls": written}} if written else {})


def _object(arguments: str) -> dict[str, Any] | None:
    try:
        value = json.loads(arguments)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
