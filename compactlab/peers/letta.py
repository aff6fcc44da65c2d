"""`letta`: slide by shares until at most 70 % of the window is left, cut at a message of the agent, summarise the rest.

Follows the server of letta-ai/letta as of March 2026, the last that it had. The first cut takes 40 % of the messages,
each further one 10 % more. Where no border is found, or the model fails, the mode `all` takes its place: everything
behind the system prompt goes into the summary. A summariser that finds the request too long is given shorter results,
then the two ends of the text. Bytes over four, times 1.3; no schemas of tools, no pictures.

Leaves out: the modes in which the agent itself summarises with its own context, the two legacy buffers, pending
approvals, other providers on overload, the tokenizer of the provider, the archive in which old messages can be found.

Known faults:

- If too much is left after a slide, `all` runs on what was kept, and its summary replaces the first one: what slid out
  is lost as text and as summary.
- `all` keeps no request, not even the one that is being worked on.
- A search that ends at the whole list fails even if its last border was good; ten steps of 0.1 end short of 1, so that
  there is one more.
- A list that is under the goal already has no border: it is wiped whole.
- A blank summary is taken.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from compactlab.llm import ModelError, TooLong
from compactlab.llm.checks import is_no_answer
from compactlab.peers import Peer
from compactlab.peers._letta import Search, form, packed, shown, without_middle
from compactlab.peers._shapes import apart, leading, rejoined
from compactlab.strategies import Compacted, Context
from compactlab.transcript import Message, Messages, Reasoning, Text, ToolCall, ToolResult

VARIANTS = ("letta(mode='all')",)


@dataclass(frozen=True, repr=False)
class Letta(Peer):
    """Slide until what stays is under the goal, `1 - percentage` of the window, or summarise all."""

    mode: Literal["sliding_window", "all"] = "sliding_window"
    percentage: float = 0.30
    trigger: float = 0.90
    safety_margin: float = 1.3
    clip_chars: int = 50_000
    words: int = 300
    words_of_all: int = 500
    clamp_chars: int = 5_000
    transcript_share: float = 0.6

    choices: ClassVar[dict[str, tuple[str, ...]]] = {"mode": ("sliding_window", "all")}
    uses_model: ClassVar[bool] = True

    def compact(self, messages: Messages, context: Context) -> Compacted:
        head, body = leading(messages)
        active = apart(body)
        if not active:
            return Compacted(messages)
        work = _Pass(self, context, head, self._window(context, messages))
        border = work.border(active) if self.mode == "sliding_window" else None
        try:
            summary = work.summary(active if border is None else active[:border], is_all=border is None)
        except ModelError as error:
            if border is None or isinstance(error, TooLong) or is_no_answer(error):
                raise
            border, summary = None, work.summary(active, is_all=True)
        kept = active[border:] if border is not None else []
        if kept and self.tokens((*head, work.note(summary, active, kept), *kept)) >= self.trigger * work.window:
            summary, kept = work.summary(kept, is_all=True), []
        result = (*head, work.note(summary, active, kept), *rejoined(kept))
        return Compacted(result, ("slid" if kept else "all summarised",))

    def _window(self, context: Context, messages: Messages) -> float:
        """Tokens of a request: what makes the target the goal, the window, or where the trigger is reached now."""
        if context.target is not None:
            return context.target / max(0.01, 1 - self.percentage)
        return context.window if context.window is not None else self.tokens(messages) / (self.trigger or 1)

    def tokens(self, messages: Sequence[Message]) -> float:
        """Tokens by its own rule."""
        return sum(map(self.weigh, messages))

    def weigh(self, message: Message) -> float:
        """Tokens of a message by its own rule."""
        return self.safety_margin * sum(len(text.encode("utf-8", "replace")) for text in _texts(message)) / 4


@dataclass(frozen=True)
class _Pass:
    """One compaction: whose constants, for whom, behind which system prompt, in which window."""

    peer: Letta
    context: Context
    head: Messages
    window: float

    def border(self, active: Sequence[Message]) -> int | None:
        goal = (1 - self.peer.percentage) * self.window
        lead = self.peer.tokens(self.head)
        return Search(self.peer.percentage, goal, min(1, len(self.head)), lead).border(active, self.peer.weigh)

    def summary(self, gone: Sequence[Message], *, is_all: bool) -> str:
        """The summary, clipped; a request that is too long is tried again with less, twice."""
        asked = form(self.peer.words_of_all if is_all else self.peer.words, is_all=is_all)
        room = int(self.window * self.peer.transcript_share * 4)
        for characters, most in ((None, None), (self.peer.clamp_chars, None), (self.peer.clamp_chars, room)):
            text = shown(gone, characters)
            text = text if most is None else without_middle(text, most)
            try:
                reply = asked.asked(self.context, text, tuple(gone), 4 * self.peer.words_of_all)
            except TooLong:
                if most is not None:
                    raise
            else:
                return reply[: self.peer.clip_chars]
        return ""

    def note(self, summary: str, active: Sequence[Message], kept: Sequence[Message]) -> Message:
        stats: dict[str, int | str | None] = {
            "context_window": int(self.window),
            "messages_before": len(active),
            "messages_after": len(kept) + 1,
        }
        return packed(summary, len(active) - len(kept), stats)


def _texts(message: Message) -> list[str]:
    found = []
    for block in message.blocks:
        if isinstance(block, Text | ToolResult | Reasoning):
            found.append(block.text)
        elif isinstance(block, ToolCall):
            found.append(block.name + block.arguments)
    return found
