"""What a model is to read of a history: the stretch that goes, with no secret in it, and what people said in all of it.

Also the one check that is left when a model has written: what it wrote holds no heading of ours, no secret, and nothing
that it only claims a person said.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from compactlab.llm import Request
from compactlab.llm.checks import Terms, answered
from compactlab.llm.quotes import struck
from compactlab.redaction import known_in, redacted, redacted_messages
from compactlab.strategies import Context
from compactlab.strategies._carried import spoken
from compactlab.strategies._notes import without_headings
from compactlab.strategies._slide import originals
from compactlab.transcript import Message, Messages, Text, ToolCall, ToolResult

LONGEST_PERSONA = 6_000
"""Characters of a system message that tell a model who it is."""

_FENCED = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_DATA = re.compile(r"^\s*[\[{<\"}\]|].*$", re.MULTILINE)
_BLANK_LINES = re.compile(r"\n{3,}")


class Written(NamedTuple):
    """What a model wrote, after the checks, and a line on each thing that was taken out."""

    text: str
    notes: tuple[str, ...]


@dataclass(frozen=True)
class Stretch:
    """The messages *gone*, and the whole history that they are part of."""

    gone: Messages
    whole: Messages
    context: Context

    @cached_property
    def known(self) -> dict[str, str]:
        """Secrets of the whole history, which may stand bare anywhere in it."""
        return known_in(self.whole)

    @cached_property
    def read(self) -> Messages:
        """What the model is to read, one for one: the originals of what goes, without secrets."""
        return redacted_messages(originals(self.gone, self.context), self.known)

    @cached_property
    def said(self) -> list[str]:
        """A person's words in the whole history, also those that an earlier note carried."""
        return spoken(self.whole)

    def words(self, unread: frozenset[int] = frozenset()) -> list[str]:
        """A person's words in what goes, but for the positions *unread*, without secrets."""
        return spoken(tuple(message for i, message in enumerate(self.read) if i not in unread))

    def persona(self) -> str:
        """Who the agent is: the leading system messages without code and data, their beginning, without secrets."""
        leading = []
        for message in self.whole:
            if message.role != "system":
                break
            leading.append(message.text)
        plain = _DATA.sub("", _FENCED.sub("", "\n".join(leading)))
        return redacted(_BLANK_LINES.sub("\n\n", plain).strip()[:LONGEST_PERSONA], self.known)

    def written(self, text: str, before: str = "") -> Written:
        """Take out of a model's text what it may not hold; *before* is a note that was checked so before."""
        checked = struck(redacted(without_headings(text), self.known), self.said, before)
        return Written(checked.text, checked.notes)


def has_words(message: Message) -> bool:
    """Tell whether a message says or does anything that can be written down."""
    return bool(message.calls) or any(text.strip() for block in message.blocks for text in _texts(block))


def _texts(block: object) -> tuple[str, ...]:
    if isinstance(block, Text | ToolResult):
        return (block.text,)
    return (block.arguments,) if isinstance(block, ToolCall) else ()


def most_output(context: Context, longest: int) -> int:
    """Tokens that a reply may have: *longest*, and no more than a quarter of the model's window."""
    window = context.model.window if context.model else None
    return longest if window is None else min(longest, max(1, window // 4))


def asked_text(context: Context, request: Request, source: str, notes: list[str], *, strict: bool = False) -> str:
    """The text of a checked reply that is shorter than its *source*; what the checks found wrong joins *notes*.

    A *strict* one has all nine headings of a summary.
    """
    meter = context.meter
    weight = max(meter.text(source), meter.messages(request.material))
    terms = Terms(weight, meter.text, strict, context.prompts.retry, without_headings)
    answer = answered(context.model, request, terms)
    notes.extend(answer.notes)
    return answer.text
