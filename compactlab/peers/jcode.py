"""`jcode`: a summary in four parts before the newest ten messages; where that comes too late, a hint and no model.

Follows 1jehuang/jcode as of August 2026. Below 95 % of its budget a model rewrites the summary so far by what goes.
From there on there is no time for that: ten, five, then two messages stay, and a paragraph names tools and files of the
rest; if that is still too much, results lose their middles. The border steps back until every result has its call.
Characters over four, with what it adds for calls, results, pictures and, in a budget of 100,000 tokens and more, the
system prompt. `trigger` is `manual` (its `/compact`), `reactive` or `proactive` (defers unless its own trigger is
reached; `grows_over` says when), or `emergency`.

Leaves out: the semantic trigger and its border (embeddings), provider-made summaries, the background task and its
guard against a stale border, what the provider reports, the cap on inline pictures.

Known faults:

- An orphaned result among the newest messages ends compaction for good: its call is never found, nothing may go.
- Ten messages are ten, whatever they weigh: without an emergency the result may be over the budget.
- Emergency paragraphs add up in the summary, one a pass, without bound.
- The material of the summary is cut at its end, so the newest of what goes is not read; results are read to 500 bytes.
- The request that was asked first is kept nowhere but in the summary.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar, Literal

from compactlab.peers import Peer
from compactlab.peers._asking import Form
from compactlab.peers._shapes import apart, characters, edited, leading, rejoined
from compactlab.strategies import Compacted, Context, note
from compactlab.transcript import Image, Message, Messages, Text, ToolCall, ToolResult

VARIANTS = ("jcode(trigger='emergency')",)

HEADING = "## Previous Conversation Summary"
EMERGENCY = "**[Emergency compaction]**"
SMOOTHING, AHEAD, SAMPLES, LEAST_USE, COOLDOWN = 0.3, 15, 20, 0.40, 10
"""Of the proactive trigger: weight of the newest growth, turns to look ahead, turns that are remembered, share of the
budget under which it never fires, turns between two of its passes."""

FORM = Form(
    "You keep the summary of a conversation between a person and a coding agent.",
    "Write the summary anew, so that it holds what it held and what the messages below add. Four parts, each under its"
    " name in bold: **Context**, **What we did**, **Current state**, **User preferences**. Keep it short: the whole"
    " history can still be searched.\n\n{material}",
)
_FILE = re.compile(r"(?:^(?:src|\.)/|\.(?:rs|ts|py|toml|json)$)")
_EDGES = "\"'`,;:()[]{}<>"


@dataclass(frozen=True, repr=False)
class JCode(Peer):
    """Hide all but the newest `keep_recent` messages behind one summary."""

    trigger: Literal["manual", "reactive", "proactive", "emergency"] = "manual"
    budget: int = 200_000
    threshold: float = 0.80
    critical: float = 0.95
    manual_from: float = 0.10
    keep_recent: int = 10
    keep_least: int = 2
    image_tokens: int = 1_600
    overhead_tokens: int = 18_000
    overhead_from: int = 100_000
    result_chars: int = 4_000
    image_chars: int = 1_024
    read_result_bytes: int = 500
    set_aside_tokens: int = 4_000
    file_mentions: int = 30

    choices: ClassVar[dict[str, tuple[str, ...]]] = {"trigger": ("manual", "reactive", "proactive", "emergency")}
    uses_model: ClassVar[bool] = True

    def compact(self, messages: Messages, context: Context) -> Compacted:
        head, body = leading(messages)
        previous = body[0] if body and body[0].synthetic and body[0].text.startswith(HEADING) else None
        active = apart(body[1:] if previous else body)
        budget = self._budget(context, body)
        use = self.tokens(body, budget) / max(1, budget)
        if reason := self._not_now(active, use, budget):
            return Compacted(messages, deferred=reason)
        so_far = previous.text.removeprefix(HEADING).strip("\n-") if previous else ""
        if use >= self.critical or self.trigger == "emergency":
            return self._at_once(messages, active, so_far, budget)
        border = _safe(active, len(active) - self.keep_recent)
        if border <= 0 or border > len(active) - self.keep_least:
            return Compacted(messages, ("no safe border",))
        summary = self._summary(active[:border], so_far, context, budget)
        return Compacted((*head, _summed(summary), *rejoined(active[border:])))

    def _budget(self, context: Context, body: Sequence[Message]) -> int:
        """Tokens of a request: the target, the window, or the least budget in which the trigger is reached."""
        known = context.target if context.target is not None else context.window
        if known is not None:
            return known
        share = self.threshold or 1
        least = self._weight(body) / 4 / share
        least += self.overhead_tokens / share if least >= self.overhead_from else 0
        return min(self.budget, int(least))

    def tokens(self, messages: Sequence[Message], budget: int) -> int:
        """Tokens by its own rule, with the flat overhead where the budget is a large one."""
        return self._weight(messages) // 4 + (self.overhead_tokens if budget >= self.overhead_from else 0)

    def _weight(self, messages: Sequence[Message]) -> int:
        """Characters: calls count 50 more instead of their names, results 20 more."""
        image = 4 * self.image_tokens
        names = sum(len(call.name) for message in messages for call in message.calls)
        return sum(characters(message, call=50, result=20, image=image) for message in messages) - names

    def _not_now(self, active: Sequence[Message], use: float, budget: int) -> str:
        """Why its own trigger would not fire; nothing where it would."""
        if self.trigger == "emergency" or use >= self.critical:
            return ""
        if len(active) <= self.keep_recent:
            return f"{len(active)} messages, and {self.keep_recent} stay"
        least = self.manual_from if self.trigger == "manual" else self.threshold
        if self.trigger == "proactive":
            return "" if self.grows_over(active, budget) else "the budget lasts for the next turns"
        return "" if use >= least else f"{use:.0%} of the budget is used, {least:.0%} is the trigger"

    def grows_over(self, active: Sequence[Message], budget: int) -> bool:
        """Tell whether the smoothed growth of the last turns leads over the threshold within the next fifteen.

        A turn is a message of the agent; its weight that of all that stood before it. Never under 40 % of the budget,
        with less than three turns or ten since the summary, or without growth over the last five.
        """
        weights: list[int] = []
        total = 0
        for message in active:
            if message.role == "assistant":
                weights.append(total // 4)
            total += self._weight([message])
        now = self.tokens(active, budget)
        recent = [*weights, total // 4][-SAMPLES:]
        if now < LEAST_USE * budget or len(recent) < 3 or len(weights) < COOLDOWN or recent[-1] <= recent[-5:][0]:
            return False
        growth = 0.0
        for before, after in pairwise(recent):
            growth = SMOOTHING * max(0, after - before) + (1 - SMOOTHING) * growth
        return now + AHEAD * growth >= self.threshold * budget

    def _summary(self, gone: Messages | list[Message], so_far: str, context: Context, budget: int) -> str:
        """The summary so far, written anew by a model that reads what goes; the end of that is cut."""
        shown = "\n\n".join(line for message in gone for line in self._shown(message))
        earlier = f"The summary so far:\n\n{so_far}\n\n" if so_far else ""
        room = max(0, (budget - self.set_aside_tokens) * 4 - len(earlier))
        material = (*((note(so_far),) if so_far else ()), *gone)
        return FORM.asked(context, f"{earlier}The messages:\n\n{shown[:room]}", material, max(1, budget // 4))

    def _shown(self, message: Message) -> Iterator[str]:
        speaker = "Assistant" if message.role == "assistant" else "User"
        for block in message.blocks:
            if isinstance(block, Text):
                yield f"**{speaker}:** {block.text}"
            elif isinstance(block, ToolCall):
                yield f"[Tool: {block.name} - {block.arguments}]"
            elif isinstance(block, ToolResult):
                cut = block.text.encode("utf-8", "replace")[: self.read_result_bytes].decode("utf-8", "ignore")
                yield f"[Result: {cut}]"
            elif isinstance(block, Image):
                yield "[Image]"

    def _at_once(self, messages: Messages, active: list[Message], so_far: str, budget: int) -> Compacted:
        """The emergency: fewer and fewer messages, until the tail alone is within the whole budget."""
        keep = self.keep_recent
        while keep > self.keep_least and self._weight(active[max(0, len(active) - keep) :]) // 4 > budget:
            keep = max(self.keep_least, keep // 2)
        border = _safe(active, len(active) - keep)
        if border <= 0:
            return Compacted(messages, ("emergency: no safe border",))
        gone, tail = active[:border], active[border:]
        hint = f"{so_far}\n\n{self._hint(gone)}".strip()
        head = (*leading(messages)[0], _summed(hint))
        if self.tokens([*head[-1:], *tail], budget) > budget:
            tail = [self._lightened(message) for message in tail]
        return Compacted((*head, *rejoined(tail)), (f"emergency: {keep} messages stay",))

    def _hint(self, gone: Sequence[Message]) -> str:
        tools = sorted({call.name for message in gone for call in message.calls})
        words = (word.strip(_EDGES) for message in gone for text in _texts(message) for word in text.split())
        files = sorted({word for word in words if _is_file(word)})[: self.file_mentions]
        named = [f"Tools used: {', '.join(tools)}." if tools else "", f"Files: {', '.join(files)}." if files else ""]
        weight = self._weight(gone) // 4
        said = f"{EMERGENCY} {len(gone)} messages, about {weight} tokens, were removed without a summary."
        return " ".join([said, *filter(None, named)])

    def _lightened(self, message: Message) -> Message:
        texts = {}
        for at, block in enumerate(message.blocks):
            if isinstance(block, ToolResult) and len(text := block.text) > self.result_chars:
                head, tail = text[: self.result_chars // 2], text[len(text) - self.result_chars // 4 :]
                gone = len(text) - len(head) - len(tail)
                texts[at] = f"{head}\n[{gone} chars truncated for context recovery]\n{tail}"
            elif isinstance(block, Image) and len(block.data or b"") * 4 // 3 > self.image_chars:
                texts[at] = f"[image {block.media_type} removed for context recovery]"
        return edited(message, texts)


def _safe(active: Sequence[Message], border: int) -> int:
    """The border, back to where every result behind it has its call behind it too; 0 where one has none at all."""
    border = max(0, border)
    wanted = {result.call_id for message in active[border:] for result in message.results}
    wanted -= {call.id for message in active[border:] for call in message.calls}
    while wanted and border > 0:
        border -= 1
        wanted |= {result.call_id for result in active[border].results}
        wanted -= {call.id for call in active[border].calls}
    return 0 if wanted else border


def _texts(message: Message) -> Iterator[str]:
    for block in message.blocks:
        if isinstance(block, Text | ToolResult):
            yield block.text
        elif isinstance(block, ToolCall):
            yield block.arguments


def _is_file(word: str) -> bool:
    fits = 4 <= len(word) <= 119 and ("/" in word or "." in word) and not word.startswith("http")
    return fits and _FILE.search(word) is not None


def _summed(summary: str) -> Message:
    return note(f"{HEADING}\n\n{summary}\n\n---")
