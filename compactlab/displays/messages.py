"""A message as a notebook shows it: its blocks in order, each with what it is; and a line for a list of messages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from compactlab.displays import _page as page
from compactlab.displays.tables import Shown
from compactlab.redaction import known_in, redacted
from compactlab.tokens import Meter
from compactlab.transcript import Block, Image, Message, Reasoning, Text, ToolCall, ToolResult, readable

COLUMNS = ("message", "role", "tokens", "in all", "says")
WIDE = 160
"""Letters of a message in a list."""
LONG = 6_000
"""Characters of a block that are shown."""
LOOKED_AT = 20_000
"""Characters of a text in which credentials are looked for before it is cut to a line."""


def html(message: Message) -> str:
    """All blocks of a message, long ones cut."""
    flags = [name for name in ("synthetic", "pinned") if getattr(message, name)]
    known = known_in([message])
    blocks = "".join(
        f'<div class="cl-pale">{page.escaped(_name(block))}</div><pre class="cl-block">{_cut(block, known)}</pre>'
        for block in message.blocks
    )
    return page.framed(page.head(" ".join([message.role, *flags]), message.timestamp or ""), blocks)


def text(message: Message) -> str:
    """The role of a message and the beginning of what it says."""
    return f"{message.role}: {line(message, {}, WIDE)}"


def line(message: Message, known: Mapping[str, str], width: int) -> str:
    """What a message says in one line of *width* letters: its words, its calls, the beginning of its results."""
    said = " ".join(_short(block, width) for block in message.blocks)
    found = " ".join(redacted(said, known).split())
    return found if len(found) <= width else f"{found[: width - 1]}…"


def listing(messages: Sequence[Message], title: str = "") -> Shown:
    """Show some messages, as those that stood in view at one turn: each in a line with its role and tokens.

    >>> "Hello!" in listing([Message("user", (Text("Hello!"),))]).markup
    True
    """
    made = rows(messages)
    markup = page.framed(page.head(title) if title else "", page.table(COLUMNS, made, ("role", "says")))
    return Shown(markup, "\n".join([*([title] if title else []), *("  ".join(row) for row in made)]))


def rows(messages: Sequence[Message]) -> list[tuple[str, ...]]:
    """A row a message: its place, its role, its tokens, those so far, and what it says, without credentials."""
    meter, known, total = Meter(), known_in(messages), 0
    found: list[tuple[str, ...]] = []
    for i, message in enumerate(messages):
        weight = meter.message(message)
        total += weight
        role = f"{message.role} (synthetic)" if message.synthetic else message.role
        found.append((str(i), role, f"{weight:,}", f"{total:,}", line(message, known, WIDE)))
    return found


def _short(block: Block, width: int) -> str:
    if isinstance(block, ToolCall):
        return f"{block.name}({readable(block).partition(chr(10))[2][:LOOKED_AT]})"
    if isinstance(block, Image):
        return f"[{block.media_type}]"
    if isinstance(block, Reasoning) and not block.text:
        return "[opaque reasoning]"
    return readable(block)[: max(LOOKED_AT, width)]


def _name(block: Block) -> str:
    if isinstance(block, ToolCall):
        return f"call {block.id}: {block.name}"
    if isinstance(block, ToolResult):
        return f"result of {block.call_id}{', an error' if block.is_error else ''}"
    names = {Text: "text", Reasoning: "reasoning", Image: "image"}
    return names[type(block)]


def _cut(block: Block, known: Mapping[str, str]) -> str:
    if isinstance(block, Image):
        size = f"{block.width} x {block.height}" if block.width and block.height else "size unknown"
        return page.escaped(f"{block.media_type}, {size}")
    said = redacted(readable(block), known) or "[opaque]"
    more = len(said) - LONG
    return page.escaped(said[:LONG]) + (
        f'\n<span class="cl-pale">... {more:,} more characters</span>' if more > 0 else ""
    )
