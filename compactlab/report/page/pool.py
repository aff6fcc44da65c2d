"""The messages and texts of a session as a page holds them: each once, whoever shows it; JSON of lists, to be short."""

from __future__ import annotations

from typing import Any

from compactlab.report.page.shared import Shared
from compactlab.tokens import Meter
from compactlab.transcript import Block, Image, Message, Reasoning, Text, ToolCall, ToolResult, readable

SYNTHETIC, PINNED = 1, 2


class Pool:
    """Collects messages; a message is known by its number from then on.

    An entry is [role, tokens, marks, position, blocks]: marks are 1 for synthetic and 2 for pinned, position is that in
    the transcript or null. A block is [kind, note, text], the text by its number; in a page that is shared
    [kind, "", characters, digest].
    """

    def __init__(self, meter: Meter, shared: Shared | None) -> None:
        self.messages: list[list[Any]] = []
        self.texts: list[str] = []
        self._meter, self._shared = meter, shared
        self._numbers: dict[str, int] = {}
        self._known: dict[tuple[int | None, Message], int] = {}

    def add(self, message: Message, at: int | None) -> int:
        """Give the number of a message that stands at a position of the transcript, or nowhere in it."""
        known = self._known.get((at, message))
        if known is not None:
            return known
        marks = SYNTHETIC * message.synthetic + PINNED * message.pinned
        blocks = [self._block(block) for block in message.blocks]
        self.messages.append([message.role, self._meter.message(message), marks, at, blocks])
        self._known[at, message] = len(self.messages) - 1
        return len(self.messages) - 1

    def _block(self, block: Block) -> list[Any]:
        text = readable(block)
        if self._shared:
            return [kind(block), "", len(text), self._shared.digest(text)]
        return [kind(block), note(block), self._text(text)]

    def _text(self, text: str) -> int:
        number = self._numbers.setdefault(text, len(self.texts))
        if number == len(self.texts):
            self.texts.append(text)
        return number


def kind(block: Block) -> str:
    """The kind of a block in a word."""
    return {Text: "text", Reasoning: "reasoning", ToolCall: "call", ToolResult: "result", Image: "picture"}[type(block)]


def note(block: Block) -> str:
    """What is to be said of a block beside its text: an error, pictures, thoughts that cannot be read.

    >>> note(ToolResult("c1", (), is_error=True)), note(Image("image/png", 800, 600)), note(Reasoning(opaque="abcd"))
    ('error', 'image/png, 800 × 600', 'encrypted')
    """
    if isinstance(block, Image):
        size = f", {block.width} × {block.height}" if block.width and block.height else ""
        return f"{block.media_type}{size}"
    if isinstance(block, Reasoning):
        return "encrypted" if block.opaque and not block.text else ""
    if isinstance(block, ToolResult):
        pictures = sum(isinstance(part, Image) for part in block.content)
        held = f"{pictures} pictures" if pictures > 1 else "1 picture" if pictures else ""
        return ", ".join(filter(None, ("error" if block.is_error else "", held)))
    return ""
