"""`openhands_amortized`: once there are more than `max_size` events, the middle goes until half of that is left.

Follows the amortised-forgetting condenser of OpenHands 0.6x (the last line with it, December 2025): `keep_first` and
`max_size` as its settings have them. An event is a message, a call, or a result. A pass that is called for stands for
the request to condense that OpenHands itself makes when a provider says that the context is full.

Known faults:

- `keep_first` is 1 in the settings and 0 in the class.
- The first event is the system prompt. The task is put back when messages are made, but not where other words of a
  person happen to come second: then it is lost.
- The border looks at no pair: a result whose call went, and a call one of whose results went, vanish silently.
- A list of half of `max_size` or less cannot be condensed, whatever it weighs; the request is passed over.
- Nothing is left in the place of what went, not even a mark.
"""

from __future__ import annotations

from dataclasses import dataclass

from compactlab.peers._openhands import Rolling, View
from compactlab.strategies import Compacted, Context
from compactlab.transcript import Messages


@dataclass(frozen=True, repr=False)
class AmortizedForgetting(Rolling):
    """Keep the first `keep_first` events and the newest, half of `max_size` together."""

    def compact(self, messages: Messages, context: Context) -> Compacted:  # noqa: ARG002  # it has no size to meet
        view = View(messages)
        head = view.events[: self.keep_first]
        newest = self.max_size // 2 - len(head)
        if len(view.events) <= len(head) + newest:
            return Compacted(messages, (f"{len(view.events)} events, of which none would be forgotten",))
        return Compacted(view.wire([*head, *view.events[len(view.events) - newest :]]))
