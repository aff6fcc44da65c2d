"""Our strategies as plug-ins of frameworks that run agents, so that what won here can be used there.

One file a framework. It is imported with or without the framework, which it loads when one of its functions is called.
What they share is here: the framework's own messages are read as ours, compacted under the guard, and written back. A
message that stays is the very object that came; one that was edited keeps what our messages do not know; one that was
made is marked as made, in the framework's own place for such marks, so that the next pass knows it again.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from itertools import groupby, pairwise
from typing import Generic, NamedTuple, TypeVar

from compactlab.compaction import Guard, compact
from compactlab.errors import SpecError
from compactlab.receipt import Receipt
from compactlab.strategies import Strategy
from compactlab.transcript import Message, Messages

Own = TypeVar("Own")
"""A message of the framework's."""

STOPPED = {"max_tokens": "length", "model_length": "length"}
"""Reasons why a reply ended, by what they are called elsewhere."""


class Shape(NamedTuple, Generic[Own]):
    """How a framework's messages become ours and the other way.

    `read` gives our messages, in order, each with the position of the first own message that it holds as its `source`.
    `write` gives own messages for one of ours: beside it stand those that it was before it was edited, none if it is
    new.
    """

    read: Callable[[Sequence[Own]], Messages]
    write: Callable[[Message, Sequence[Own]], list[Own]]


class Plan(NamedTuple):
    """What a pass does: a strategy, what its result should not pass, and what it is checked by.

    A target of 1 or more are tokens, one below a share of what the messages weigh.
    """

    strategy: Strategy
    target: float | None
    guard: Guard

    def tokens(self, messages: Messages) -> int | None:
        """The target in tokens for these messages.

        >>> from compactlab.strategies.none import KeepAll
        >>> from compactlab.transcript import Text
        >>> talk = (Message("user", (Text("hello"),)), Message("assistant", (Text("hello"),)))
        >>> [Plan(KeepAll(), target, Guard()).tokens(talk) for target in (None, 400, 0.5)]
        [None, 400, 5]
        """
        if self.target is None or self.target >= 1:
            return None if self.target is None else int(self.target)
        return int(self.target * self.guard.meter.messages(messages))


class Passed(NamedTuple, Generic[Own]):
    """The framework's messages after a pass, and the receipt."""

    messages: list[Own]
    receipt: Receipt


def checked(target: float | None) -> float | None:
    """Give back a target that makes sense; `SpecError` for any other."""
    if target is not None and (isinstance(target, bool) or not isinstance(target, int | float) or not target > 0):
        raise SpecError(f"target {target!r}: expected tokens, or a share of the weight below 1")
    return target


def passed(history: Sequence[Own], shape: Shape[Own], plan: Plan) -> Passed[Own]:
    """Compact a framework's messages under the guard; the list that was given is never changed.

    As with `compact`, calls that nobody answered come back answered, and results without a call are gone: no provider
    would take them.
    """
    messages = shape.read(history)
    done = compact(messages, plan.strategy, target=plan.tokens(messages), guard=plan.guard)
    starts = sorted({message.source for message in messages if message.source is not None})
    ends = dict(pairwise([*starts, len(history)]))
    before: dict[int | None, list[Message]] = defaultdict(list)
    for message in messages:
        before[message.source].append(message)
    written: list[Own] = []
    for source, pieces in groupby(done.messages, key=lambda message: message.source):
        now = list(pieces)
        was = [] if source is None else history[source : ends[source]]
        if was and now == before[source]:
            written += was
        else:
            alone = was if len(now) == len(before[source]) == 1 else []
            written += [own for message in now for own in shape.write(message, alone)]
    return Passed(written, done.receipt)
