"""`sliding_window`: the anchor and the recent tail stay, the middle goes, one line says that it went.

Follows the seed document's SlidingWindow, counted in units, so that no call is ever parted from its results.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from compactlab.history import anchor, protected, units
from compactlab.strategies import Compacted, Context, Strategy, note
from compactlab.transcript import Message, Messages

_MARKER = re.compile(r"\[(\d+) earlier messages? removed to save context\]")


@dataclass(frozen=True, repr=False)
class KeepRecent(Strategy):
    """Keep the newest `preserve_recent` units; with a token target, the newest that fit it, however many."""

    preserve_recent: int = 10

    def __post_init__(self) -> None:
        self.require_whole("preserve_recent")

    def compact(self, messages: Messages, context: Context) -> Compacted:
        held = protected(messages)
        keep = held | self._tail(messages, held, context)
        gone = [message for i, message in enumerate(messages) if i not in keep]
        if all(removed_before(message) for message in gone):
            return Compacted(messages)
        last_of_anchor = max(anchor(messages), default=-1)
        head = [messages[i] for i in range(last_of_anchor + 1) if i in keep]
        rest = [messages[i] for i in range(last_of_anchor + 1, len(messages)) if i in keep]
        return Compacted((*head, marker(gone), *rest))

    def _tail(self, messages: Messages, held: frozenset[int], context: Context) -> set[int]:
        """Positions of the newest units: as many as asked for, or as fit beside *held* and the marker."""
        groups = units(messages)
        if context.target is None:
            return {i for unit in groups[max(0, len(groups) - self.preserve_recent) :] for i in unit}
        room = context.target - context.meter.messages(messages[i] for i in held)
        room -= context.meter.message(marker(messages))
        tail: set[int] = set()
        for unit in reversed(groups):
            fresh = [i for i in unit if i not in held and not removed_before(messages[i])]
            room -= context.meter.messages(messages[i] for i in fresh)
            if room < 0:
                break
            tail.update(fresh)
        return tail


def marker(gone: Messages | list[Message]) -> Message:
    """Make the line that stands where *gone* stood; it counts what earlier markers among them stood for.

    >>> from compactlab.transcript import Text
    >>> marker([Message("user", (Text("hello"),)), Message("assistant", (Text("hi"),))]).text
    '[2 earlier messages removed to save context]'
    """
    count = sum(removed_before(message) or 1 for message in gone)
    return note(f"[{count} earlier message{'' if count == 1 else 's'} removed to save context]")


def removed_before(message: Message) -> int:
    """How many messages a marker stands for; 0 for any other message."""
    found = _MARKER.fullmatch(message.text) if message.synthetic else None
    return int(found[1]) if found else 0
