"""`openhands_recent`: the first events and the newest ones; all between goes.

Follows the recent-events condenser of OpenHands 0.6x (the last line with it, December 2025): `keep_first` and
`max_events` as its settings have them. An event is a message, a call, or a result.

Known faults:

- Two defaults: 100 events in the settings, 10 in the class.
- A list that is not longer than `max_events` has its first event twice: as the first and among the newest.
- The first event is the system prompt. The task is put back when messages are made, but not where other words of a
  person happen to come second: then it is lost.
- The border looks at no pair: a result whose call went, and a call one of whose results went, vanish silently.
- It counts events, never their size.
"""

from __future__ import annotations

from dataclasses import dataclass

from compactlab.peers import Peer
from compactlab.peers._openhands import Event, View
from compactlab.strategies import Compacted, Context
from compactlab.transcript import Message, Messages

VARIANTS = ("openhands_recent(max_events=10)",)


@dataclass(frozen=True, repr=False)
class RecentEvents(Peer):
    """Keep the first `keep_first` and the newest of `max_events` events."""

    keep_first: int = 1
    max_events: int = 100

    def compact(self, messages: Messages, context: Context) -> Compacted:  # noqa: ARG002  # it has no size to meet
        view = View(messages)
        head = view.events[: self.keep_first]
        newest = max(0, self.max_events - len(head))
        tail = view.events[max(0, len(view.events) - newest) :] if newest else []
        doubled = [event for event in head if event in tail]
        left: list[Event | Message] = [messages[event.message] for event in doubled]
        return Compacted(view.wire([*left, *(event for event in head if event not in doubled), *tail]))
