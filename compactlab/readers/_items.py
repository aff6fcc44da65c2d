"""Messages as requests hold them: compared by what they say, made once however often they are repeated."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from compactlab.transcript import Image, Message, Reasoning, Text, ToolCall, ToolResult, Usage


@dataclass(frozen=True, eq=False)
class Item:
    """A message as one request holds it, and what stands beside it.

    *key* is its recorded id, *name* the tool whose result it is, *summary* says that it is known to sum up older ones,
    and *usage* counts the tokens of the response that it is.
    """

    message: Message
    key: str = ""
    name: str = ""
    summary: bool = False
    usage: Usage | None = None

    @cached_property
    def content(self) -> int:
        """Digest of the role and of what is said, without reasoning and without white space around texts."""
        message = self.message
        texts = hash("".join(block.text for block in message.blocks if isinstance(block, Text)).strip())
        others = tuple(digest(block) for block in message.blocks if not isinstance(block, Text | Reasoning))
        return hash((message.role, texts, others))

    @property
    def leads(self) -> bool:
        return self.message.role == "system"


def digest(block: ToolCall | ToolResult | Image) -> int:
    """A number by which a block is known: a call by its id, or else by what it asks for."""
    if isinstance(block, ToolCall):
        return hash(block.id or (block.name, "".join(block.arguments.split())))
    if isinstance(block, ToolResult):
        return hash((block.call_id, block.text.strip(), sum(isinstance(part, Image) for part in block.content)))
    return hash((block.data, block.url, block.digest))


class Repeats:
    """Makes items of recorded lists; what a list repeats from the start of one before it is made only once."""

    def __init__(self, make: Callable[[Any, int], Sequence[Item]], kept: int = 8) -> None:
        self._make = make
        self._kept = kept
        self._seen: list[tuple[Sequence[Any], list[tuple[Item, ...]]]] = []

    def items(self, wires: Sequence[Any], source: int) -> list[Item]:
        """Items of a list that stands in the record *source*."""
        start: list[tuple[Item, ...]] = []
        for known, made in self._seen:
            shared = _shared(known, wires)
            if shared > len(start):
                start = made[:shared]
        made = [*start, *(tuple(self._make(wire, source)) for wire in wires[len(start) :])]
        self._seen = [(wires, made), *self._seen[: self._kept - 1]]
        return [item for items in made for item in items]


def _shared(one: Sequence[Any], other: Sequence[Any]) -> int:
    """How many values two lists share from their start."""
    count = 0
    for left, right in zip(one, other, strict=False):
        if left is not right and left != right:
            break
        count += 1
    return count


def split(items: Sequence[Item]) -> tuple[Sequence[Item], Sequence[Item]]:
    """Part the leading system messages of a request from the rest."""
    led = next((i for i, item in enumerate(items) if not item.leads), len(items))
    return items[:led], items[led:]
