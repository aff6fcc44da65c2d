"""Where the middle that `hermes` sums up begins and ends: a head by count, a tail by weight, no group cut in two."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from compactlab.peers._shapes import characters
from compactlab.transcript import Message, Text

SOFT = 1.5
"""How far over its budget a tail may go before it ends."""
LEAST_TAIL = (3, 8)
"""Messages of a tail, whatever they weigh: at least, and at most of those that count."""
IMAGE_CHARS = 6_400


def tokens(message: Message) -> int:
    """Tokens of a message where borders are sought: characters over four, and ten."""
    return characters(message, image=IMAGE_CHARS, thoughts=False) // 4 + 10


@dataclass(frozen=True)
class Borders:
    """The messages, how many of them are the head, and the tail's budget and count."""

    messages: Sequence[Message]
    head: int
    budget: int
    protect_last: int

    def pruned_before(self) -> int:
        """The first message that pruning leaves alone: the last `protect_last`, or more if they fit the budget."""
        left, at = self.budget, len(self.messages)
        while at > 0 and (left > 0 or len(self.messages) - at < self.protect_last):
            at -= 1
            left -= tokens(self.messages[at])
        return at

    def start(self) -> int:
        """The first message of the middle: behind the head, and behind results that answer it."""
        at = min(self.head, len(self.messages))
        while at < len(self.messages) and self.messages[at].role == "tool":
            at += 1
        return at

    def end(self) -> int:
        """The first message of the tail: by weight, then back for whole groups and for the last words of both."""
        floor = min(max(LEAST_TAIL[0], min(self.protect_last, LEAST_TAIL[1])), len(self.messages) - self.head - 1)
        at = self._walked(self.budget * SOFT, floor)
        if at <= self.head:
            at = self._walked(self.budget, floor)
        at = self._aligned(max(min(at, len(self.messages) - floor), self.head))
        at = min(at, self._last("user") or at)
        at = self._aligned(min(at, self._last("assistant") or at))
        return max(at, self.head + 1)

    def _walked(self, most: float, floor: int) -> int:
        """Back from the end until the next message would pass *most* tokens, and the floor is met."""
        weight, at = 0, len(self.messages)
        while at > self.head:
            weight += tokens(self.messages[at - 1])
            if weight > most and len(self.messages) - at >= floor:
                break
            at -= 1
        return at

    def _aligned(self, at: int) -> int:
        """Back to the call where the border stands between it and its results."""
        back = at
        while 0 < back < len(self.messages) and self.messages[back].role == "tool":
            back -= 1
        return back if back < len(self.messages) and self.messages[back].calls else at

    def _last(self, role: str) -> int | None:
        """The last message of a role with words behind the head; None if there is none."""
        for at in range(len(self.messages) - 1, self.head - 1, -1):
            message = self.messages[at]
            if message.role == role and any(isinstance(b, Text) and b.text.strip() for b in message.blocks):
                return at
        return None
