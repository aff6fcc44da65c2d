"""A compaction before it is applied: what would happen to each message and why. Applying does just that."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from compactlab.compaction import Compaction, Guard, compact
from compactlab.errors import SpecError
from compactlab.receipt import Receipt
from compactlab.strategies import Strategy
from compactlab.transcript import Message, Messages


class Plan(NamedTuple):
    """What a strategy would do to `messages`; nothing has been done yet."""

    messages: Messages
    compaction: Compaction

    @property
    def receipt(self) -> Receipt:
        """The receipt that applying the plan gives: per message what and why, weights by kind before and after."""
        return self.compaction.receipt

    def apply(self, messages: Sequence[Message]) -> Messages:
        """Give the compacted messages; `SpecError` if *messages* are no longer those that the plan was made for."""
        if tuple(messages) != self.messages:
            raise SpecError(f"the plan was made for {len(self.messages)} other messages; make a new one")
        return self.compaction.messages


def plan(
    messages: Sequence[Message], strategy: Strategy | str, *, target: int | None = None, guard: Guard | None = None
) -> Plan:
    """Plan a compaction, as `compact` would do it with the same arguments.

    >>> from compactlab.transcript import Text
    >>> talk = [Message("user" if i % 2 == 0 else "assistant", (Text(f"line {i} " * 40),)) for i in range(30)]
    >>> planned = plan(talk, "sliding_window(preserve_recent=4)")
    >>> planned.receipt.count("dropped"), len(planned.apply(talk))
    (25, 6)
    """
    messages = tuple(messages)
    return Plan(messages, compact(messages, strategy, target=target, guard=guard))
