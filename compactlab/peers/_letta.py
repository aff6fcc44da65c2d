"""What the two harnesses of Letta share: where the border of a slide lies, how a summary is packed, what is asked."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate

from compactlab.llm.prompts import rendered
from compactlab.peers._asking import Form
from compactlab.peers._shapes import edited
from compactlab.strategies import note
from compactlab.transcript import Message, ToolResult

STEP = 0.10
"""What each round of the search for a border adds to the share that goes."""

_SYSTEM = (
    "You are the agent of this conversation. You sum up, in the first person, what is about to leave your context."
)
_PARTS = (
    "High-level goals; What happened; Important details (names, paths, numbers and other identifiers as they stand);"
    " Errors and fixes; {more}Lookup hints (words by which the older messages can be found again)"
)
_TASK = "Write a summary of at most {words} words, in these parts: {parts}.\n\nThe messages:\n\n{{material}}"


def form(words: int, *, is_all: bool) -> Form:
    """What is asked for: of all messages with two parts more than of a slide."""
    parts = _PARTS.format(more="Current state; Optional next step; " if is_all else "")
    return Form(_SYSTEM, _TASK.format(words=words, parts=parts))


@dataclass(frozen=True)
class Search:
    """How far a slide goes: from *share* on in steps, until what stays weighs less than *goal* tokens."""

    share: float
    goal: float
    lead: int
    """How many messages stand before those that are given: the system prompt counts as one at the server."""
    lead_tokens: float

    def border(self, body: Sequence[Message], weigh: Callable[[Message], float]) -> int | None:
        """Position of the first message that stays, always one of the agent's; None where no border was found.

        None is also what a search that went to its end gives, though the last border may have been good enough.
        """
        behind = [*accumulate((weigh(message) for message in reversed(body)), initial=0.0)][::-1]
        last = _last_of_agent(body)
        n = len(body) + self.lead
        weight, share, found = behind[0] + self.lead_tokens, self.share, None
        while weight >= self.goal and share < 1.0:
            share += STEP
            target = min(round(share * n), n - 1) - self.lead
            border = last[target] if target >= 0 else None
            if border is None or border + self.lead < 1:
                continue
            found, weight = border, behind[border] + self.lead_tokens
        is_at_end = found is not None and found >= len(body) - 1
        return None if share >= 1.0 or is_at_end else found


def _last_of_agent(body: Sequence[Message]) -> list[int | None]:
    """For each position the last message of the agent up to it."""
    found: list[int | None] = []
    for at, message in enumerate(body):
        before = found[-1] if found else None
        found.append(at if message.role == "assistant" else before)
    return found


def packed(summary: str, hidden: int, stats: dict[str, int | str | None]) -> Message:
    """The summary as the agent sees it: JSON that says what it is, and what was counted."""
    said = f"{hidden} earlier messages are hidden from view; they can still be searched. The summary of them: {summary}"
    return note(json.dumps({"type": "system_alert", "message": said, "compaction_stats": stats}, ensure_ascii=False))


def summary_in(message: Message) -> str:
    """The summary that `packed` wrote, or nothing."""
    if not message.synthetic or not message.text.startswith('{"type": "system_alert"'):
        return ""
    try:
        return str(json.loads(message.text)["message"].partition("The summary of them: ")[2])
    except (ValueError, KeyError, AttributeError, RecursionError):
        return ""


def shown(messages: Sequence[Message], result_chars: int | None = None) -> str:
    """Messages as text, results cut to so many characters."""
    if result_chars is None:
        return rendered(messages)
    return rendered([edited(message, _clamped(message, result_chars)) for message in messages])


def _clamped(message: Message, characters: int) -> dict[int, str]:
    return {
        at: f"{block.text[:characters]}... [truncated]"
        for at, block in enumerate(message.blocks)
        if isinstance(block, ToolResult) and len(block.text) > characters
    }


def without_middle(text: str, characters: int) -> str:
    r"""Both ends of a text, half of *characters* each, and how much is gone between them.

    >>> without_middle("abcdefghij", 4)
    'ab\n[6 characters left out]\nij'
    """
    if len(text) <= characters:
        return text
    half = characters // 2
    return f"{text[:half]}\n[{len(text) - 2 * half} characters left out]\n{text[len(text) - half :]}"
