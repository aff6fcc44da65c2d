"""`openhands_attention`: a model names the events that matter most; the others go.

Follows the LLM-attention condenser of OpenHands 0.6x (the last line with it, December 2025): `max_size` and
`keep_first` as its settings have them. The prompt is ours. It needs a real model: a reply without an object with a list
of numbers is an error, as it is there, so that a run without a model shows it as failed.

Known faults:

- Numbers that stand for no event, or twice in the reply, take up places of events.
- Every event is sent to the model at full length: the request is as long as the context that was too long.
- Calls and results are chosen apart: without the other half neither is sent.
- The first event is the system prompt. The task is put back when messages are made, but not where other words of a
  person happen to come second: then it is lost.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar

from compactlab.llm import ModelError
from compactlab.peers._asking import Form
from compactlab.peers._openhands import Rolling, View
from compactlab.strategies import Compacted, Context
from compactlab.transcript import Messages

FORM = Form(
    "You judge what an agent needs for its next step.",
    'Put the numbers of these events in order, the most important first, as {"ids": [...]} and nothing else.'
    "\n\n{material}\n",
)
ASKS_IN_JSON = True
_IDS = re.compile(r'\{\s*"ids"\s*:\s*\[([\d,\s-]*)\]\s*\}')


@dataclass(frozen=True, repr=False)
class Attention(Rolling):
    """Keep the first `keep_first` events and those that the model put first, half of `max_size` together."""

    uses_model: ClassVar[bool] = True

    def compact(self, messages: Messages, context: Context) -> Compacted:
        view = View(messages)
        events = view.events
        shown = "\n".join(f"({n}) {view.shown(event)}" for n, event in enumerate(events))
        chosen = self._chosen(FORM.asked(context, shown, messages, 4_096), len(events))
        return Compacted(view.wire(e for n, e in enumerate(events) if n < self.keep_first or n in chosen))

    def _chosen(self, reply: str, count: int) -> set[int]:
        """Numbers of the events that stay: as many as there is room for, filled up by the newest."""
        found = _IDS.search(reply)
        if found is None:
            raise ModelError("the reply holds no list of ids")
        room = self.max_size // 2 - min(self.keep_first, count)
        listed = [int(number) for number in re.findall(r"-?\d+", found[1])]
        kept = [number for number in listed if not 0 <= number < self.keep_first][:room]
        stays = set(kept)
        for number in reversed(range(count)):
            if len(kept) >= room:
                break
            if number not in stays:
                kept.append(number)
                stays.add(number)
        return stays
