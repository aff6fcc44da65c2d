"""`letta_code`: the slide of `letta` in a client, with a border in tokens and the first summary read by the second.

Follows the local backend of letta-ai/letta-code as of August 2026. It compacts above the window less 16,384 tokens or a
fifth of it, whichever is less; slides like the server, but summarises everything if a slide has no border, if there are
less than four messages, or if what is left still does not fit the window. Results are read to 2,000 characters; a
request that is too long is asked again with less and less of its middle. A system prompt that alone is over the window
is refused. Characters over four, 1,200 tokens a picture.

Leaves out: the provider's own usage as the anchor of the estimate, pictures that are left out after a transport error,
schemas of tools in the refusal, the transcript that keeps what was hidden.

Known faults:

- What is left is held against the window, not the trigger: the next turn may compact again.
- `all` keeps no request, not even the one that is being worked on.
- The percentage is called what is kept and is what goes.
- A blank summary is taken.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from compactlab.llm import TooLong
from compactlab.peers import Peer
from compactlab.peers._letta import Search, form, packed, shown, without_middle
from compactlab.peers._shapes import apart, characters, leading, rejoined
from compactlab.strategies import Compacted, Context
from compactlab.transcript import Message, Messages

OVERFLOW = (120_000, 90_000, 60_000, 40_000, 25_000, 15_000, 10_000, 6_000, 4_000, 2_000)
"""Characters to which a request that was too long is cut, attempt by attempt."""


@dataclass(frozen=True, repr=False)
class LettaCode(Peer):
    """Slide until what stays is under `1 - percentage` of the window, or summarise all."""

    mode: Literal["sliding_window", "all"] = "sliding_window"
    percentage: float = 0.30
    reserve_tokens: int = 16_384
    reserve_share: float = 0.20
    least_window: int = 30_000
    least_messages: int = 4
    image_tokens: int = 1_200
    read_result_chars: int = 2_000
    words: int = 300
    words_of_all: int = 500

    choices: ClassVar[dict[str, tuple[str, ...]]] = {"mode": ("sliding_window", "all")}
    uses_model: ClassVar[bool] = True

    def compact(self, messages: Messages, context: Context) -> Compacted:
        head, body = leading(messages)
        active = apart(body)
        window = self._window(context, messages)
        if not active:
            return Compacted(messages)
        if (fixed := self.tokens(head)) > window:
            return Compacted(messages, deferred=f"the system prompt alone has {fixed:,.0f} tokens of {window:,.0f}")
        border = None
        if self.mode == "sliding_window" and len(active) >= self.least_messages:
            border = Search(self.percentage, (1 - self.percentage) * window, 0, fixed).border(active, self.weigh)
        kept = active[border:] if border is not None else []
        hidden = len(active) - len(kept)
        summary = self._summary(active[: len(active) - len(kept)], context, is_all=not kept)
        note = packed(summary, hidden, self._stats(window, active, kept))
        if kept and self.tokens((*head, note, *kept)) >= window:
            hidden, kept = len(active), []
            summary = self._summary([note, *active[border:]], context, is_all=True)
            note = packed(summary, hidden, self._stats(window, active, kept))
        notes = ["slid" if kept else "all summarised"]
        if context.window is not None and context.window < self.least_window:
            notes.append(f"a window under {self.least_window:,} tokens")
        return Compacted((*head, note, *rejoined(kept)), tuple(notes))

    def threshold(self, window: float) -> float:
        """Tokens above which it compacts, in a window."""
        return window - min(self.reserve_tokens, max(1, int(self.reserve_share * window)))

    def _window(self, context: Context, messages: Messages) -> float:
        """Tokens of a request: what makes the target the goal, the window, or where the trigger is reached now."""
        if context.target is not None:
            return context.target / max(0.01, 1 - self.percentage)
        if context.window is not None:
            return context.window
        weight = self.tokens(messages)
        return min(weight + self.reserve_tokens, weight / max(0.01, 1 - self.reserve_share))

    def tokens(self, messages: Sequence[Message]) -> float:
        """Tokens by its own rule."""
        return sum(map(self.weigh, messages))

    def weigh(self, message: Message) -> float:
        """Tokens of a message by its own rule."""
        return characters(message, image=4 * self.image_tokens) / 4

    def _summary(self, gone: Sequence[Message], context: Context, *, is_all: bool) -> str:
        asked = form(self.words_of_all if is_all else self.words, is_all=is_all)
        text = shown(gone, self.read_result_chars)
        for room in (len(text), *OVERFLOW):
            try:
                return asked.asked(context, without_middle(text, room), tuple(gone), 4 * self.words_of_all)
            except TooLong:
                if room == OVERFLOW[-1]:
                    raise
        return ""

    def _stats(self, window: float, active: Sequence[Message], kept: Sequence[Message]) -> dict[str, int | str | None]:
        return {"context_window": int(window), "messages_before": len(active), "messages_after": len(kept) + 1}
