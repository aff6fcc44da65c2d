"""`sliding_reflect`: the same slide, but a model first reads what goes and writes down what it carried.

Follows the seed document's Sliding reflect: the note rides on as `[Threads I carried forward]`. If the model fails the
pass becomes a plain slide and says so; threads that an earlier pass carried are then carried on as they are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from compactlab.llm import ModelError, Request, asked
from compactlab.llm.prompts import REFLECT_SYSTEM, reflect_prompt
from compactlab.strategies import Compacted, Context, Strategy, note
from compactlab.strategies._slide import slide, with_note
from compactlab.strategies.sliding_window import marker, removed_before
from compactlab.transcript import Message, Messages

ALIASES = ("reflect",)
TITLE = "[Threads I carried forward]"


@dataclass(frozen=True, repr=False)
class SlideAndReflect(Strategy):
    """Keep the newest `preserve_recent` units, or what fits a target; carry a note of at most `max_note_tokens`."""

    preserve_recent: int = 10
    max_note_tokens: int = 1_024

    parameter_aliases: ClassVar[dict[str, str]] = {"min_messages": "preserve_recent"}
    uses_model: ClassVar[bool] = True

    def __post_init__(self) -> None:
        self.require_whole("preserve_recent")
        self.require_whole("max_note_tokens", 1)

    def compact(self, messages: Messages, context: Context) -> Compacted:
        keep, gone, is_needed = slide(messages, context, self.preserve_recent, self.max_note_tokens, is_threads)
        if not is_needed:
            return Compacted(messages)
        try:
            said = asked(context.model, self._request(gone))
        except ModelError as error:
            earlier = [message.text.removeprefix(TITLE).strip() for message in gone if is_threads(message)]
            left = note("\n".join([TITLE, *earlier])) if earlier else marker(gone)
            return Compacted(with_note(messages, keep, left), (f"a plain slide: {error}",))
        text = context.meter.truncated(said.strip(), self.max_note_tokens)
        return Compacted(with_note(messages, keep, note(f"{TITLE}\n{text}")))

    def _request(self, gone: Messages) -> Request:
        return Request("reflect", REFLECT_SYSTEM, reflect_prompt(gone), gone, self.max_note_tokens)


def is_threads(message: Message) -> bool:
    """True of a note that an earlier pass carried forward, or of the line that a plain slide left instead."""
    return message.synthetic and (message.text.startswith(TITLE) or removed_before(message) > 0)
