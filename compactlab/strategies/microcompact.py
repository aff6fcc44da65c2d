"""`microcompact`: old results of known tools become one line; their calls, and the newest results, stay.

Follows the seed document's Microcompact: seven tools, the newest five results kept, one fixed placeholder. Tool names
are compared without case, and by what other harnesses call the same tool.
"""

from __future__ import annotations

from dataclasses import dataclass

from msgspec.structs import replace

from compactlab.errors import SpecError
from compactlab.history import Place, pair
from compactlab.strategies import Compacted, Context, Strategy
from compactlab.tools import tool_name
from compactlab.transcript import Block, Message, Messages, Text, ToolCall, ToolResult

PLACEHOLDER = "[Old tool result content cleared]"
TOOLS = ("read", "bash", "grep", "glob", "list_dir", "edit", "write")


@dataclass(frozen=True, repr=False)
class ClearToolResults(Strategy):
    """Clear all but the newest `keep_recent` results of `tools`; a result lighter than the placeholder stays."""

    keep_recent: int = 5
    tools: tuple[str, ...] = TOOLS

    def __post_init__(self) -> None:
        self.require_whole("keep_recent")
        if not isinstance(self.tools, tuple) or not all(isinstance(tool, str) for tool in self.tools):
            raise SpecError(f"tools is {self.tools!r}; expected a tuple of names, such as ('read', 'bash')")

    def compact(self, messages: Messages, context: Context) -> Compacted:
        wanted = {tool_name(tool) for tool in self.tools}
        call_of = pair(messages).call_of
        places = sorted(result for result, call in call_of.items() if _name(messages, call) in wanted)
        old = set(places[: max(0, len(places) - self.keep_recent)])
        return Compacted(tuple(_cleared(message, i, old, context) for i, message in enumerate(messages)))


def _name(messages: Messages, place: Place) -> str:
    call = messages[place.message].blocks[place.block]
    return tool_name(call.name) if isinstance(call, ToolCall) else ""


def _cleared(message: Message, position: int, old: set[Place], context: Context) -> Message:
    blocks = tuple(
        _clear(block, context) if Place(position, i) in old else block for i, block in enumerate(message.blocks)
    )
    return replace(message, blocks=blocks) if blocks != message.blocks else message


def _clear(block: Block, context: Context) -> Block:
    if not isinstance(block, ToolResult):
        return block
    cleared = replace(block, content=(Text(PLACEHOLDER),))
    return cleared if context.meter.block(cleared) < context.meter.block(block) else block
