"""What fills a view that does not fit its window: the heaviest part of it, in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from compactlab import history
from compactlab.tokens import Meter
from compactlab.transcript import Message

_HELD = {
    "the anchor": "the system prompt and the first request",
    "system": "the system prompt and the first request",
    "pinned": "pinned messages",
    "the last words of a person": "the last words of a person",
    "the open turn": "the agent's last turn",
}
UNREAD = "results that the agent has not read yet"
OVERHEAD = "what goes along with every request"
REST = "messages that could be compacted"


def heaviest_part(messages: Sequence[Message], overhead: int, meter: Meter) -> str:
    """Name what weighs most in a request of *messages* and *overhead* tokens, with its weight.

    >>> from compactlab.transcript import Text
    >>> heaviest_part([Message("user", (Text("hello"),))], 900, Meter())
    '900 tokens of what goes along with every request'
    """
    held = history.protection(messages)
    weights: Counter[str] = Counter({OVERHEAD: overhead})
    for at, message in enumerate(messages):
        weights[_part(message, held.get(at))] += meter.message(message)
    part = min(weights, key=lambda part: (-weights[part], part))
    return f"{weights[part]:,} tokens of {part}"


def _part(message: Message, why: str | None) -> str:
    if why is None:
        return REST
    if message.role == "tool" and why == "the open turn":
        return UNREAD
    return _HELD.get(why, "messages that belong to protected ones")
