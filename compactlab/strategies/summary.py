"""`summary`: the oldest stretch goes to a model and comes back as one block of nine sections.

Follows the seed document's Summary. What a model cannot be trusted with is done by code: a person's messages are
carried word for word (up to 4,000 tokens or a quarter of the target, standing rules the last to be cut, cuts marked),
and so are those that an earlier summary carried. The model's `<analysis>` is dropped. A blank or failed reply fails the
pass; the messages then stay as they are.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar

from compactlab.llm import ModelError, Request, asked
from compactlab.llm.prompts import SUMMARY_SYSTEM, summary_prompt
from compactlab.strategies import Compacted, Context, Strategy
from compactlab.strategies._carried import carried, carried_before, quoted
from compactlab.strategies._slide import slide, with_note
from compactlab.transcript import Message, Messages, Text

ALIASES = ("summarize", "summarise")
TITLE = "[Compacted summary]"
MAX_CARRIED = 4_000

_ANALYSIS = re.compile(r"<analysis>.*?(?:</analysis>|(?=<summary>)|\Z)", re.DOTALL | re.IGNORECASE)
_SUMMARY = re.compile(r"<summary>(.*?)(?:</summary>|\Z)", re.DOTALL | re.IGNORECASE)


@dataclass(frozen=True, repr=False)
class Summarise(Strategy):
    """Summarise all but the protected set and the newest `preserve_recent` units; with a target, what fits it stays."""

    preserve_recent: int = 10
    max_summary_tokens: int = 2_048

    parameter_aliases: ClassVar[dict[str, str]] = {
        "min_messages": "preserve_recent",
        "max_summary_length": "max_summary_tokens",
    }
    uses_model: ClassVar[bool] = True

    def __post_init__(self) -> None:
        self.require_whole("preserve_recent")
        self.require_whole("max_summary_tokens", 1)

    def compact(self, messages: Messages, context: Context) -> Compacted:
        room = MAX_CARRIED if context.target is None else min(MAX_CARRIED, context.target // 4)
        reserve = self.max_summary_tokens + room
        keep, gone, is_needed = slide(messages, context, self.preserve_recent, reserve, is_summary)
        if not is_needed:
            return Compacted(messages)
        originals = _originals(gone, context)
        request = Request("summary", SUMMARY_SYSTEM, summary_prompt(originals), originals, self.max_summary_tokens)
        summary = parsed(asked(context.model, request))
        words = [said for message in gone if is_summary(message) for said in carried_before(message)]
        words += [message.text for message in gone if message.by_person and message.text.strip()]
        text = f"{TITLE}\n{context.meter.truncated(summary, self.max_summary_tokens)}"
        spoken = carried(words, room, context.meter)
        blocks = (Text(text), Text(quoted(spoken))) if spoken else (Text(text),)
        return Compacted(with_note(messages, keep, Message("user", blocks, synthetic=True)))


def _originals(gone: Messages, context: Context) -> Messages:
    """What *gone* was before any earlier rung of a ladder touched it; of an earlier summary, what the model wrote."""
    before = {message.source: message for message in context.originals if message.source is not None}
    found = (before.get(message.source, message) if message.source is not None else message for message in gone)
    return tuple(Message("user", m.blocks[:1], m.source, synthetic=True) if is_summary(m) else m for m in found)


def parsed(reply: str) -> str:
    """Take the summary out of a reply: what the tags hold, or all but the analysis where there are no tags.

    >>> parsed("<analysis>hm</analysis><summary>1. Primary request and intent</summary>")
    '1. Primary request and intent'
    """
    found = _SUMMARY.search(reply)
    text = (found[1] if found else _ANALYSIS.sub("", reply)).strip()
    if not text:
        raise ModelError("the reply holds no summary")
    return text


def is_summary(message: Message) -> bool:
    """True of the note that an earlier pass left."""
    first = message.blocks[0] if message.synthetic and message.blocks else None
    return isinstance(first, Text) and first.text.startswith(TITLE)
