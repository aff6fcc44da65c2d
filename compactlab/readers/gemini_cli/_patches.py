"""Changes to messages that were recorded before: other contents, other results of their calls, another order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from compactlab.readers._fields import mapping, objects, string, strings
from compactlab.readers.gemini_cli._contents import Pairing, blocks
from compactlab.readers.gemini_cli._records import Record, build, result_of
from compactlab.transcript import Block, Message, Reasoning, ToolCall, ToolResult

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


def updates(patch: dict[str, Any]) -> list[dict[str, Any]]:
    """The changes in a patch, each of one message: its own, and those that it lists."""
    return [patch, *objects(patch.get("updates"))]


def ordered(names: Iterable[str], patch: dict[str, Any]) -> list[str]:
    """The ids of the messages that a patch leaves, in their order: those that it orders stand last.

    >>> ordered(["a", "b", "c", "d"], {"removeIds": ["b"], "orderIds": ["c", "a"]})
    ['d', 'c', 'a']
    """
    held = dict.fromkeys(names)
    for name in strings(patch.get("removeIds")):
        held.pop(name, None)
    last = [name for name in dict.fromkeys(strings(patch.get("orderIds"))) if name in held]
    return [*(name for name in held if name not in last), *last]


def patched(messages: Sequence[Message], update: dict[str, Any], source: int) -> list[Message]:
    """The messages that one recorded message became, with what a patch changed in them."""
    made = list(messages)
    if update.get("content") is not None and made:
        made = _said(made, update, source)
    results = {string(wire.get("id")): wire for wire in objects(update.get("toolCalls")) if "result" in wire}
    return [_answered(message, results) for message in made]


def _said(messages: list[Message], update: dict[str, Any], source: int) -> list[Message]:
    first, rest = messages[0], [message for message in messages if message.role == "tool"]
    if first.role == "user":
        value = {"type": "user", "content": update["content"], "timestamp": first.timestamp}
        [(_, made)] = build([Record("", value, source)]).groups
        return made
    if first.role != "assistant":
        return messages
    given = [block for block in blocks(update["content"], Pairing()) if not isinstance(block, ToolResult)]
    known = {block.id for block in given if isinstance(block, ToolCall)}
    thoughts: list[Block] = [block for block in first.blocks if isinstance(block, Reasoning)]
    calls = [call for call in first.calls if call.id not in known]
    held = [] if any(isinstance(block, Reasoning) for block in given) else thoughts
    return [replace(first, blocks=(*held, *given, *calls)), *rest]


def _answered(message: Message, results: dict[str, dict[str, Any]]) -> Message:
    changed = tuple(
        _result(block, results[block.call_id]) if isinstance(block, ToolResult) and block.call_id in results else block
        for block in message.blocks
    )
    return message if changed == message.blocks else replace(message, blocks=changed)


def _result(old: ToolResult, wire: dict[str, Any]) -> ToolResult:
    status = {"status": "error"} if old.is_error else {}
    return result_of(old.call_id, mapping(wire) | status) or replace(old, content=())
