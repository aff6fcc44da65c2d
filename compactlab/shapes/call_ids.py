"""Ids for calls and results that were recorded without: made in order, results paired by name, then by order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from compactlab.transcript import Block, Message, Messages, ToolCall, ToolResult

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence


def with_ids(
    messages: Sequence[Message], names: Mapping[int, str] | None = None, kept: Collection[int] = ()
) -> Messages:
    """Give calls without an id `call_0`, `call_1`, ..., and results without one the id of the call they answer.

    *names* has the tool of a message of results, by the message's index, where it was recorded. A result that no call
    waits for stays without an id, and so do the messages whose index is *kept*.

    >>> said = Message("assistant", (ToolCall("", "ls", "{}"),))
    >>> [block.call_id for block in with_ids([said, Message("tool", (ToolResult(""),))])[1].results]
    ['call_0']
    """
    if not any(_lacks_id(block) for message in messages for block in message.blocks):
        return tuple(messages)
    maker = _Maker({call.id for message in messages for call in message.calls})
    return tuple(
        message if index in kept else maker.filled(message, (names or {}).get(index, ""))
        for index, message in enumerate(messages)
    )


def _lacks_id(block: Block) -> bool:
    return (isinstance(block, ToolCall) and not block.id) or (isinstance(block, ToolResult) and not block.call_id)


class _Maker:
    """Makes ids, and remembers which calls wait for a result."""

    def __init__(self, taken: set[str]) -> None:
        self.taken = taken
        self.made = 0
        self.waiting: dict[str, str] = {}

    def filled(self, message: Message, name: str) -> Message:
        blocks = tuple(self._block(block, name) for block in message.blocks)
        return message if blocks == message.blocks else replace(message, blocks=blocks)

    def _block(self, block: Block, name: str) -> Block:
        if isinstance(block, ToolCall):
            call = block if block.id else replace(block, id=self._new())
            self.waiting[call.id] = call.name
            return call
        if isinstance(block, ToolResult):
            call_id = block.call_id or self._answered(name)
            self.waiting.pop(call_id, None)
            return block if call_id == block.call_id else replace(block, call_id=call_id)
        return block

    def _new(self) -> str:
        while f"call_{self.made}" in self.taken:
            self.made += 1
        self.taken.add(f"call_{self.made}")
        return f"call_{self.made}"

    def _answered(self, name: str) -> str:
        by_name = next((call_id for call_id, called in self.waiting.items() if called == name), "")
        return by_name or next(iter(self.waiting), "")
