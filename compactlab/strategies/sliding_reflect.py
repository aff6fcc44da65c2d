"""`sliding_reflect`: the same slide, but a model first reads what goes and writes down what it carried.

Follows the seed document's Sliding reflect: the note rides on as `[Threads I carried forward]`. If the model fails the
pass becomes a plain slide and says so; threads that an earlier pass carried are then carried on as they are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from compactlab.llm import ModelError, Request, asked
from compactlab.llm.prompts import REFLECT_SYSTEM, VERSION, reflect_prompt
from compactlab.markers import THREADS
from compactlab.strategies import Compacted, Context, Strategy, note
from compactlab.strategies._notes import without_headings
from compactlab.strategies._slide import originals, slide, with_note
from compactlab.strategies.sliding_window import marker, removed_before
from compactlab.transcript import Message, Messages

ALIASES = ("reflect",)


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
        reserve = context.meter.message(note(f"{THREADS}\n")) + self.max_note_tokens
        keep, gone, is_needed = slide(messages, context, self.preserve_recent, reserve, is_threads)
        if not is_needed:
            return Compacted(messages)
        try:
            said = without_headings(asked(context.model, self._request(originals(gone, context))))
            if not said:
                raise ModelError("the reply holds nothing but a heading")  # noqa: TRY301  # joins the fallback
        except ModelError as error:
            earlier = [m.text.removeprefix(THREADS).strip() for m in gone if m.text.startswith(THREADS) and m.synthetic]
            left = note("\n".join([THREADS, *earlier])) if earlier else marker(gone)
            return Compacted(with_note(messages, keep, left), (f"a plain slide: {error}",))
        text = context.meter.truncated(said, self.max_note_tokens)
        return Compacted(with_note(messages, keep, note(f"{THREADS}\n{text}")))

    def _request(self, gone: Messages) -> Request:
        prompt, longest = reflect_prompt(gone), self.max_note_tokens
        return Request("reflect", REFLECT_SYSTEM, prompt, gone, longest, prompt_version=VERSION)


def is_threads(message: Message) -> bool:
    """True of a note that an earlier pass carried forward, or of the line that a plain slide left instead."""
    return message.synthetic and (message.text.startswith(THREADS) or removed_before(message) > 0)
