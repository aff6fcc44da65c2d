"""The common case of a valid list of messages, told at one glance.

System text, then people's words and pictures, answers that end in words or in calls, and right behind these all their
results: it breaks no rule of `openai` and `anthropic`, so that these (see `compactlab.validity`) need not be asked.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from compactlab.transcript import Block, Image, Message, Reasoning, Text, ToolCall, ToolResult

SENDABLE_ID = re.compile(r"[a-zA-Z0-9_-]+")
"""What Anthropic takes as the id of a call."""


def is_plain(messages: Iterable[Message]) -> bool:
    """Tell whether *messages* are such a list; what is not may still be valid.

    >>> asked = Message("user", (Text("What is in it?"),))
    >>> called = Message("assistant", (ToolCall("c1", "read", "{}"),))
    >>> came = Message("tool", (ToolResult("c1", (Text("a line"),)),))
    >>> is_plain([asked, called, came]), is_plain([asked, called])
    (True, False)
    """
    open_calls: set[str] = set()
    begun = False
    for message in messages:
        if message.role == "tool":
            if not _all_answer(message.blocks, open_calls):
                return False
            continue
        if open_calls:
            return False
        if message.role == "assistant":
            if not begun or not _ends_well(message.blocks, open_calls):
                return False
        elif not _only_words(message.blocks) or (begun and message.role == "system"):
            return False
        else:
            begun = begun or message.role == "user"
    return begun and not open_calls


def _all_answer(blocks: tuple[Block, ...], open_calls: set[str]) -> bool:
    """True if all blocks are results, each of an open call, which it closes."""
    for block in blocks:
        if type(block) is not ToolResult or block.call_id not in open_calls:
            return False
        open_calls.remove(block.call_id)
    return bool(blocks)


def _ends_well(blocks: tuple[Block, ...], open_calls: set[str]) -> bool:
    """True if words and reasoning come first, then words or calls, which are opened, each by an id of its own."""
    calls = 0
    for block in blocks:
        if type(block) is ToolCall:
            open_calls.add(block.id)
            calls += 1
            if not SENDABLE_ID.fullmatch(block.id):
                return False
        elif calls or not (type(block) is Reasoning or (type(block) is Text and _says_something(block.text))):
            return False
    return len(open_calls) == calls and bool(blocks) and type(blocks[-1]) is not Reasoning


def _only_words(blocks: tuple[Block, ...]) -> bool:
    return bool(blocks) and all(
        _says_something(block.text) if type(block) is Text else type(block) is Image for block in blocks
    )


def _says_something(text: str) -> bool:
    return bool(text) and not text.isspace()
