"""The shape in which a peer holds its messages: results apart or together, the system prompt beside them.

Our messages have results in messages of role `tool`, one or several in each. `source` is the position that the guard
gave each of them; pieces of one message share it, and `rejoined` puts them together again.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from compactlab.transcript import Image, Message, Messages, Reasoning, Text, ToolCall, ToolResult


def leading(messages: Messages) -> tuple[Messages, Messages]:
    """Part the system prompt, the leading system messages, from the messages behind it."""
    end = next((i for i, message in enumerate(messages) if message.role != "system"), len(messages))
    return messages[:end], messages[end:]


def apart(messages: Iterable[Message]) -> list[Message]:
    """One result a message, as harnesses on OpenAI's wire hold them."""
    found: list[Message] = []
    for message in messages:
        if message.role == "tool" and len(message.blocks) > 1:
            found += [replace(message, blocks=(block,)) for block in message.blocks]
        else:
            found.append(message)
    return found


def together(messages: Iterable[Message]) -> list[Messages]:
    """All neighbouring result messages as one entry, as harnesses on Anthropic's wire hold them; others alone."""
    entries: list[list[Message]] = []
    for message in messages:
        if message.role == "tool" and entries and entries[-1][-1].role == "tool":
            entries[-1].append(message)
        else:
            entries.append([message])
    return [tuple(entry) for entry in entries]


def rejoined(messages: Sequence[Message]) -> Messages:
    """Undo `apart`: neighbours of one source become one message again."""
    joined: list[Message] = []
    for message in messages:
        last = joined[-1] if joined else None
        if last is not None and message.source is not None and last.source == message.source:
            joined[-1] = replace(last, blocks=last.blocks + message.blocks)
        else:
            joined.append(message)
    return tuple(joined)


def call_ids(entry: Iterable[Message]) -> set[str]:
    """Ids of the calls in some messages."""
    return {call.id for message in entry for call in message.calls}


def result_ids(entry: Iterable[Message]) -> set[str]:
    """Ids of the calls that results in some messages answer."""
    return {result.call_id for message in entry for result in message.results}


def images_in(message: Message) -> int:
    """How many pictures a message holds, those in results included."""
    inside = sum(isinstance(part, Image) for result in message.results for part in result.content)
    return inside + sum(isinstance(block, Image) for block in message.blocks)


def edited(message: Message, texts: dict[int, str]) -> Message:
    """The message with the text of its text blocks and results, by position, put in the place of what stood there."""
    if not texts:
        return message
    blocks = list(message.blocks)
    for at, text in texts.items():
        block = blocks[at]
        blocks[at] = replace(block, content=(Text(text),)) if isinstance(block, ToolResult) else Text(text)
    return replace(message, blocks=tuple(blocks))


def characters(message: Message, *, call: int = 0, result: int = 0, image: int = 0, thoughts: bool = True) -> int:
    """Characters of a message as many harnesses count: texts, arguments and results, and so many more for each.

    *call* and *result* are added for each call and result, *image* counts a picture.
    """
    total = image * images_in(message)
    for block in message.blocks:
        if isinstance(block, Text):
            total += len(block.text)
        elif isinstance(block, ToolCall):
            total += len(block.name) + len(block.arguments) + call
        elif isinstance(block, ToolResult):
            total += len(block.text) + result
        elif isinstance(block, Reasoning) and thoughts:
            total += len(block.text) + len(block.signature or "")
    return total
