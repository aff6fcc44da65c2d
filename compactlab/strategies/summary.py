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

from msgspec.structs import replace

from compactlab.history import protected
from compactlab.llm import ModelError, Request, asked
from compactlab.llm.prompts import SECTIONS, SUMMARY_SYSTEM, VERSION, summary_prompt
from compactlab.markers import CUT, SUMMARY
from compactlab.strategies import Compacted, Context, Strategy
from compactlab.strategies._carried import carried, quoted, spoken
from compactlab.strategies._notes import without_headings
from compactlab.strategies._slide import originals, slide, with_note
from compactlab.transcript import Message, Messages, Text

ALIASES = ("summarize", "summarise")
LEAST = 128
"""Tokens under which nothing is sent to a model: a summary could hardly be shorter."""
MAX_CARRIED = 4_000

OVERHEAD = 24
"""Tokens of headings, marks and the message itself, beside what the model and the person said."""

_ANALYSIS = re.compile(r"<analysis>(?:.*?</analysis>|.*?(?=<summary>)|.*)", re.DOTALL | re.IGNORECASE)
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
        longest = self._longest(messages, context, room)
        keep, gone, is_needed = slide(messages, context, self.preserve_recent, longest + room + OVERHEAD, is_summary)
        if not is_needed:
            return Compacted(messages)
        if context.meter.messages(gone) < LEAST:
            return Compacted(messages, (f"less than {LEAST} tokens to summarise",))
        material = _material(gone, context)
        task = summary_prompt(material)
        request = Request("summary", SUMMARY_SYSTEM, task, material, longest, prompt_version=VERSION)
        summary = without_headings(parsed(asked(context.model, request)))
        kept = context.meter.truncated(summary, longest)
        text = f"{SUMMARY}\n{kept}" + ("" if kept == summary else f" {CUT}")
        words = carried(spoken(originals(gone, context)), room, context.meter)
        blocks = (Text(text), Text(quoted(words))) if words else (Text(text),)
        return Compacted(with_note(messages, keep, Message("user", blocks, synthetic=True)))

    def _longest(self, messages: Messages, context: Context, room: int) -> int:
        """Tokens that the summary may have: what its parameter says, less where the target leaves less."""
        if context.target is None:
            return self.max_summary_tokens
        held = context.meter.messages(messages[i] for i in protected(messages))
        return min(self.max_summary_tokens, max(LEAST, context.target - held - room - OVERHEAD))


def _material(gone: Messages, context: Context) -> Messages:
    """What the model is to read: the originals; of an earlier summary what the model wrote, not what was carried."""
    return tuple(replace(m, blocks=m.blocks[:1]) if is_summary(m) else m for m in originals(gone, context))


def parsed(reply: str) -> str:
    """Take the summary out of a reply: what the tags hold, or all but the analysis where there are no tags.

    >>> parsed("<analysis>hm</analysis><summary>1. Primary request and intent</summary>")
    '1. Primary request and intent'
    """
    said = _ANALYSIS.sub("", reply)
    found = _SUMMARY.search(said)
    text = (found[1] if found else said).strip()
    if not text:
        raise ModelError("the reply holds no summary")
    if not found and not any(section.casefold() in text.casefold() for section in SECTIONS):
        raise ModelError(f"the reply is no summary: neither tags nor any of the nine sections in {text[:60]!r}")
    return text


def is_summary(message: Message) -> bool:
    """True of the note that an earlier pass left."""
    first = message.blocks[0] if message.synthetic and message.blocks else None
    return isinstance(first, Text) and first.text.startswith(SUMMARY)
