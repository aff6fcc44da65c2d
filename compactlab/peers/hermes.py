"""`hermes`: prune results and arguments, then a summary in thirteen parts between a head and a tail of so many tokens.

Follows NousResearch/hermes-agent as of June 2026. The system prompt and three messages stay, and a tail of a fifth of
the threshold, but no call without its results, and always the last words of a person and of the agent. Equal results
are named once, old ones become a line each, long texts in arguments are cut inside their JSON. What the last pass left
is brought up to date. At the end calls without results are given stand-ins and results without calls go. Its threshold
is half of the window, but never under 64,000 tokens. With a target the tail is what head and summary leave of it.
Characters over four, ten more a message. `is_thrashing` says when it would no longer fire.

Leaves out: the manual forms (`here`, `--keep`, focus), cooldowns, locks, the rotation of sessions, the snapshot of
todos, the models that summarise, directives of media, the details of the line for each of its thirty tools.

Known faults:

- A blank summary is taken: what went is replaced by a prefix and an end.
- In a window of 64,000 tokens and less the threshold is at least the window; a short list fits the tail, nothing goes.
- Equal results are replaced in the protected tail too; arguments no longer show what was really called.
- Pairs are put right by id alone: a call that still runs is given a result, and what was made for it is no recording.
- The summary may take the role of the agent, or stand before the words of a person in their own message.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from msgspec.structs import replace

from compactlab.llm import ModelError
from compactlab.llm.checks import is_no_answer
from compactlab.peers import Peer
from compactlab.peers._hermes_border import Borders, tokens
from compactlab.peers._hermes_prune import Pruning, without_old_pictures
from compactlab.peers._hermes_words import FORM, SYSTEM_NOTE, UPDATE, by_code, focus, framed, shown, summary_in
from compactlab.peers._shapes import apart, leading, rejoined
from compactlab.redaction import redacted
from compactlab.strategies import Compacted, Context, note
from compactlab.transcript import Message, Messages, Role, Text, ToolResult

STUB = "[Result from earlier conversation — see context summary above]"
LEAST_SAVED = 0.10


@dataclass(frozen=True, repr=False)
class Hermes(Peer):
    """Keep a head by count and a tail by weight; prune both a little, and sum up what lies between."""

    threshold: float = 0.50
    least_threshold: int = 64_000
    protect_first: int = 3
    protect_last: int = 20
    target_ratio: float = 0.20
    summary_ratio: float = 0.20
    summary_least: int = 2_000
    summary_most: int = 12_000
    result_chars: int = 200
    argument_chars: int = 500
    leaf_chars: int = 200
    abort_on_failure: bool = False

    uses_model: ClassVar[bool] = True

    def compact(self, messages: Messages, context: Context) -> Compacted:
        active = apart(messages)
        head = len(leading(messages)[0]) + self.protect_first
        if len(active) <= head + 4:
            return Compacted(messages, ("too few messages",))
        budget = self._tail_budget(active, head, context)
        protects = Borders(active, head, budget, self.protect_last).pruned_before()
        pruned = Pruning(self.result_chars, self.argument_chars, self.leaf_chars).pruned(active, protects)
        borders = Borders(pruned, head, budget, self.protect_last)
        start, end = borders.start(), borders.end()
        if start >= end:
            return Compacted(messages, ("ineffective: everything is in the tail",))
        summary, fell_back = self._summary(pruned[start:end], context, pruned)
        whole = self._assembled(pruned, start, end, framed(summary))
        result = rejoined(without_old_pictures(_paired(whole)))
        saved = 1 - sum(map(tokens, result)) / max(1, sum(map(tokens, active)))
        notes = (*([fell_back] if fell_back else []), *(["ineffective"] if saved < LEAST_SAVED else []))
        return Compacted(result, notes, fell_back=bool(fell_back))

    def threshold_of(self, context: Context, weight: int) -> int:
        """Tokens from which it compacts: half of the window, at least the floor; *weight* where no window is known."""
        if context.window is None:
            return weight
        return max(int(self.threshold * context.window), self.least_threshold)

    def _tail_budget(self, active: Sequence[Message], head: int, context: Context) -> int:
        if context.target is not None:
            left = context.target - sum(map(tokens, active[:head])) - self.summary_least
            return max(0, int(left / 1.5))
        return int(self.threshold_of(context, sum(map(tokens, active))) * min(0.8, max(0.1, self.target_ratio)))

    def _summary(self, gone: Sequence[Message], context: Context, whole: Sequence[Message]) -> tuple[str, str]:
        """The summary by a model, or by code where that failed; and why it fell back."""
        previous = next((text for m in reversed(gone) if (text := summary_in(m)) is not None), None)
        fresh = [message for message in gone if summary_in(message) is None]
        most = min(self.summary_most, int(0.05 * context.window)) if context.window is not None else self.summary_most
        budget = max(self.summary_least, min(int(self.summary_ratio * sum(map(tokens, fresh))), most))
        so_far = f"{UPDATE}{previous}\n\n" if previous else ""
        material = (*((note(previous),) if previous else ()), *fresh)
        text = f"{focus(whole)}{so_far}The messages, about {budget} tokens of summary:\n\n{shown(fresh)}"
        try:
            return redacted(FORM.asked(context, text, material, int(1.3 * budget))).strip(), ""
        except ModelError as error:
            if self.abort_on_failure or is_no_answer(error):
                raise
            return by_code(fresh), f"a summary by code: {error}"

    def _assembled(self, pruned: Sequence[Message], start: int, end: int, text: str) -> list[Message]:
        """Head, summary, tail; the summary takes the role that fits, or stands in the first message of the tail."""
        head, tail = [_noted(message, i) for i, message in enumerate(pruned[:start])], list(pruned[end:])
        before, after = head[-1].role if head else "user", tail[0].role
        role: Role = "user" if before in {"assistant", "tool"} else "assistant"
        if role == after:
            role = "assistant" if role == "user" else "user"
            if role == before:
                first = tail[0]
                return [*head, replace(first, blocks=(Text(f"{text}\n\n"), *first.blocks)), *tail[1:]]
        return [*head, Message(role, (Text(text),), synthetic=True), *tail]


def is_thrashing(saved: Sequence[float]) -> bool:
    """Tell whether it would no longer fire: the last two passes each saved less than a tenth, given as shares.

    >>> is_thrashing([0.5, 0.04, 0.09]), is_thrashing([0.04, 0.5, 0.09])
    (True, False)
    """
    return len(saved) > 1 and all(share < LEAST_SAVED for share in saved[-2:])


def _noted(message: Message, at: int) -> Message:
    """The system prompt with a line that says what became of older messages, once."""
    if at or message.role != "system" or SYSTEM_NOTE in message.text:
        return message
    return replace(message, blocks=(*message.blocks, Text(SYSTEM_NOTE)))


def _paired(messages: Sequence[Message]) -> list[Message]:
    """Without results that no call has, and with a stand-in for each call that has none, by ids alone."""
    called = {call.id for message in messages for call in message.calls}
    answered = {result.call_id for message in messages for result in message.results}
    found: list[Message] = []
    for message in messages:
        blocks = tuple(b for b in message.blocks if not isinstance(b, ToolResult) or b.call_id in called)
        if blocks or not message.blocks:
            found.append(message if len(blocks) == len(message.blocks) else replace(message, blocks=blocks))
        waiting = (call.id for call in message.calls if call.id not in answered)
        found += [Message("tool", (ToolResult(i, (Text(STUB),)),), synthetic=True) for i in waiting]
    return found
