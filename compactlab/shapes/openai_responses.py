"""OpenAI Responses: a list of items to and from our messages.

Items are flat: consecutive ones of the model are one message, up to the next output or message of another role. Calls
that the provider ran itself keep their place in the message; what came back is a message of role `tool` behind it.
"""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from compactlab.shapes import images, openai_items
from compactlab.tokens import pieces
from compactlab.transcript import Block, Image, Message, Messages, Reasoning, Text, ToolCall, ToolResult

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

EMPTY = "reasoning without content"


class Assembly:
    """Messages of items that come one by one.

    `responses` are the indices in `messages` of what the model said, one a response, the one that still grows included.
    `skipped` and `unknown` count, by kind, what became no message.
    """

    def __init__(self) -> None:
        self.messages: list[Message] = []
        self.responses: list[int] = []
        self.skipped: Counter[str] = Counter()
        self.unknown: Counter[str] = Counter()
        self._growing: Message | None = None
        self._blocks: list[Block] = []
        self._results: list[ToolResult] = []

    def add(self, wire: Mapping[str, Any], source: int | None = None, timestamp: str | None = None) -> None:
        """Take an item, recorded at *source*."""
        kind = openai_items.kind_of(wire)
        if kind in openai_items.SKIPPED:
            self.skipped[kind] += 1
            return
        item = openai_items.read(wire)
        if item is None:
            self.unknown[kind or "item without type"] += 1
        elif kind == "reasoning" and not item.blocks:
            self.skipped[EMPTY] += 1
        else:
            self._take(item, Message(item.role, (), source=source, synthetic=item.synthetic, timestamp=timestamp))

    def _take(self, item: openai_items.Item, bare: Message) -> None:
        if item.role != "assistant" or item.synthetic:
            self.close()
            self.messages.append(replace(bare, blocks=item.blocks))
            return
        if self._growing is None:
            self._growing = bare
            self.responses.append(len(self.messages))
        self._blocks += item.blocks
        self._results += item.results

    def close(self) -> None:
        """End the response that grows: the next item of the model begins another one."""
        if self._growing is None:
            return
        said, results = replace(self._growing, blocks=tuple(self._blocks)), self._results
        self._growing, self._blocks, self._results = None, [], []
        self.messages.append(said)
        self.messages += [replace(said, role="tool", blocks=(result,)) for result in results]

    def take(self, message: Message) -> None:
        """Take a whole message, as it is."""
        self.close()
        if message.role == "assistant":
            self.responses.append(len(self.messages))
        self.messages.append(message)

    def mark(self) -> None:
        """Mark the response that grows as synthetic."""
        if self._growing is not None:
            self._growing = replace(self._growing, synthetic=True)

    def insert(self, place: int, message: Message) -> None:
        """Put a message before those from *place* on."""
        self.messages.insert(place, message)
        self.responses = [at + (at >= place) for at in self.responses]

    def cut(self, place: int) -> None:
        """Take back the messages from *place* on."""
        self.close()
        del self.messages[place:]
        while self.responses and self.responses[-1] >= place:
            self.responses.pop()


def from_wire(items: Iterable[Mapping[str, Any]]) -> Messages:
    """Read a list of items; a message has the index of its first item as `source`.

    Items that are no part of any context, and those of unknown kind, are passed over; `Assembly` counts them.

    >>> called = {"type": "function_call", "call_id": "c1", "name": "ls", "arguments": "{}"}
    >>> heard = {"type": "function_call_output", "call_id": "c1", "output": "a b"}
    >>> [(m.role, m.source) for m in from_wire([{"role": "user", "content": "Look."}, called, heard])]
    [('user', 0), ('assistant', 1), ('tool', 2)]
    """
    assembly = Assembly()
    for index, wire in enumerate(items):
        assembly.add(wire, index)
    assembly.close()
    return tuple(assembly.messages)


def to_wire(messages: Iterable[Message]) -> list[dict[str, Any]]:
    """Write messages as items, none of which holds more than the API takes.

    System messages become `developer` ones. `is_error` and a signature of reasoning have no place; a picture that was
    not recorded becomes words. Arguments that are no JSON object are the input of a custom tool.

    >>> to_wire([Message("assistant", (Text("Done."),))])
    [{'type': 'message', 'role': 'assistant', 'content': [{'type': 'output_text', 'text': 'Done.'}]}]
    """
    custom: set[str] = set()
    return [item for message in messages for item in to_items(message, custom)]


def to_items(message: Message, custom: set[str]) -> list[dict[str, Any]]:
    """Write one message; *custom* has the ids of calls that were written as those of custom tools, and is added to."""
    return [item for piece in pieces(message) for item in _items(message, piece, custom)]


def _items(message: Message, piece: Sequence[Block], custom: set[str]) -> Iterator[dict[str, Any]]:
    words: list[Text | Image] = []
    for block in piece:
        if isinstance(block, Text | Image):
            words.append(block)
            continue
        if words:
            yield _message(message, words)
            words = []
        yield _item(block, custom)
    if words or not message.blocks:
        yield _message(message, words)


def _message(message: Message, words: Sequence[Text | Image]) -> dict[str, Any]:
    role = {"system": "developer", "tool": "user"}.get(message.role, message.role)
    text = "output_text" if role == "assistant" else "input_text"
    return {"type": "message", "role": role, "content": [_part(part, text) for part in words]}


def _part(part: Text | Image, text: str) -> dict[str, Any]:
    if isinstance(part, Text):
        return {"type": text, "text": part.text}
    url = images.to_url(part)
    if url is None:
        return {"type": text, "text": images.described(part)}
    return {"type": "input_image", "image_url": url}


def _item(block: Reasoning | ToolCall | ToolResult, custom: set[str]) -> dict[str, Any]:
    if isinstance(block, Reasoning):
        shown = [{"type": "summary_text", "text": block.text}] if block.text or block.opaque is None else []
        return {"type": "reasoning", "summary": shown, "encrypted_content": block.opaque}
    if isinstance(block, ToolResult):
        kind = "custom_tool_call_output" if block.call_id in custom else "function_call_output"
        return {"type": kind, "call_id": block.call_id, "output": _output(block.content)}
    if _is_object(block.arguments):
        return {"type": "function_call", "name": block.name, "arguments": block.arguments, "call_id": block.id}
    custom.add(block.id)
    return {"type": "custom_tool_call", "name": block.name, "input": block.arguments, "call_id": block.id}


def _output(content: Sequence[Text | Image]) -> str | list[dict[str, Any]]:
    if not content:
        return ""
    if len(content) == 1 and isinstance(content[0], Text) and content[0].text and content[0].text[0] != "{":
        return content[0].text
    return [_part(part, "input_text") for part in content]


def _is_object(text: str) -> bool:
    try:
        return text.lstrip().startswith("{") and isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        return False
