"""What was found in a list of messages, remembered for as long as the same list is asked about.

A history is compacted by many strategies, each of which asks for its units and its protected set: the very same tuple
is looked at again and again. Only the latest few are held, so that nothing grows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import TypeVar

from compactlab.transcript import Message, Messages

LATEST = 8
"""How many lists of messages each function remembers."""

T = TypeVar("T")


def remembered(find: Callable[[Messages], T]) -> Callable[[Sequence[Message]], T]:
    """Make a function that remembers what it found in the latest tuples of messages, told apart by identity.

    What is found is shared: callers must not change it. A list, which may change, is looked at anew each time.

    >>> from compactlab.transcript import Text
    >>> words = remembered(lambda messages: [message.text for message in messages])
    >>> talk = (Message("user", (Text("hello"),)),)
    >>> words(talk), words(talk) is words(talk), words([*talk]) is words([*talk])
    (['hello'], True, False)
    """
    latest: dict[int, tuple[Messages, T]] = {}

    @wraps(find)
    def found(messages: Sequence[Message]) -> T:
        if not isinstance(messages, tuple):
            return find(tuple(messages))
        known = latest.pop(id(messages), None) or (messages, find(messages))
        latest[id(messages)] = known  # the one asked about last stands last
        if len(latest) > LATEST:
            latest.pop(next(iter(latest)), None)
        return known[1]

    return found
