"""What counts as an observation: results of calls, or, where an agent writes its actions as text, what came back.

Agents without tool calls get what happened in messages of role user that no person wrote; a list that holds any call
has its observations in results alone.
"""

from __future__ import annotations

from collections.abc import Sequence

from compactlab.history import Place
from compactlab.transcript import Block, Image, Message, Text, ToolResult


def observed(messages: Sequence[Message]) -> list[Place]:
    """Where the observations of a list stand, in order: each result, or each text of a synthetic user message.

    >>> observed([Message("user", (Text("Go."),)), Message("user", (Text("ok"),), synthetic=True)])
    [Place(message=1, block=0)]
    """
    calling = any(message.calls for message in messages)
    wanted = ToolResult if calling else Text
    return [
        Place(i, k)
        for i, message in enumerate(messages)
        if message.role == "tool" or (not calling and message.role == "user" and message.synthetic)
        for k, block in enumerate(message.blocks)
        if isinstance(block, wanted)
    ]


def shown(block: Block) -> tuple[str, int]:
    """The text of an observation, and how many pictures it holds."""
    if isinstance(block, ToolResult):
        return block.text, sum(isinstance(part, Image) for part in block.content)
    return (block.text if isinstance(block, Text) else ""), 0
