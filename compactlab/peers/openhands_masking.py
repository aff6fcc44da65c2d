"""`openhands_masking`: observations outside the newest `attention_window` events become `<MASKED>`.

Follows the observation-masking condenser of OpenHands 0.6x (the last line with it, December 2025), with what its
messages are then made into. An event is a message, a call, or a result.

Known faults:

- Two defaults: 100 events in the settings, 5 in the class.
- A masked observation no longer says which call it answers. It goes out as a user's message, and its call, which waits
  for a result, is never sent: the mask keeps no action that was masked, and leaves a row of `<MASKED>` behind.
- The window counts events, not observations, and no sizes.
"""

from __future__ import annotations

from dataclasses import dataclass

from compactlab.peers import Peer
from compactlab.peers._openhands import Event, View
from compactlab.strategies import Compacted, Context, note
from compactlab.transcript import Message, Messages

MASK = "<MASKED>"

VARIANTS = ("openhands_masking(attention_window=5)",)


@dataclass(frozen=True, repr=False)
class ObservationMasking(Peer):
    """Mask what came back before the newest `attention_window` events."""

    attention_window: int = 100

    def compact(self, messages: Messages, context: Context) -> Compacted:  # noqa: ARG002  # it has no size to meet
        view = View(messages)
        border = len(view.events) - self.attention_window
        left: list[Event | Message] = []
        masked = 0
        for i, event in enumerate(view.events):
            goes = i < border and event in view.observations
            left.append(note(MASK) if goes else event)
            masked += goes
        return Compacted(view.wire(left) if masked else messages, (f"{masked} observations masked",))
