"""`sliding_window`: the anchor and the recent tail stay, the middle goes, one line says that it went.

Follows the seed document's SlidingWindow, counted in units, so that no call is ever parted from its results.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from compactlab.markers import REMOVED, messages_removed
from compactlab.strategies import Compacted, Context, Strategy, note
from compactlab.strategies._slide import slide, with_note
from compactlab.transcript import Message, Messages

ALIASES = ("window",)


@dataclass(frozen=True, repr=False)
class KeepRecent(Strategy):
    """Keep the newest `preserve_recent` units; with a token target, the newest that fit it, however many."""

    preserve_recent: int = 10

    parameter_aliases: ClassVar[dict[str, str]] = {"min_messages": "preserve_recent"}

    def __post_init__(self) -> None:
        self.require_whole("preserve_recent")

    def compact(self, messages: Messages, context: Context) -> Compacted:
        reserve = context.meter.message(marker(messages))
        keep, gone, is_needed = slide(messages, context, self.preserve_recent, reserve, _is_marker)
        return Compacted(with_note(messages, keep, marker(gone)) if is_needed else messages)


def marker(gone: Sequence[Message]) -> Message:
    """Make the line that stands where *gone* stood; it counts what earlier markers among them stood for.

    >>> from compactlab.transcript import Text
    >>> marker([Message("user", (Text("hello"),)), Message("assistant", (Text("hi"),))]).text
    '[2 earlier messages removed to save context]'
    """
    count = sum(removed_before(message) or 1 for message in gone)
    return note(messages_removed(count))


def removed_before(message: Message) -> int:
    """How many messages a marker stands for; 0 for any other message."""
    found = REMOVED.fullmatch(message.text) if message.synthetic else None
    return int(found[1]) if found else 0


def _is_marker(message: Message) -> bool:
    return removed_before(message) > 0
