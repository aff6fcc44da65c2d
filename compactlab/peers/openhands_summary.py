"""`openhands_summary`: the middle goes to a model; what it writes stands behind the first events.

Follows the LLM-summarising condenser of OpenHands 0.6x (December 2025), its default: `max_size`, `keep_first` and
`max_event_length` as its settings have them. The prompt is ours and asks for the same parts. A pass that is called for
stands for a request to condense.

Known faults:

- A list of half of `max_size` or less has nothing to forget: the pass breaks off with an error, whatever it weighs.
- The reply is taken as it comes: a blank one is a summary too.
- The border looks at no pair: a result whose call went, and a call one of whose results went, vanish silently.
- The first event is the system prompt. The task is put back when messages are made, but not where other words of a
  person happen to come second: then it is lost.
- Of a long event the middle is left out before a model reads it; the request itself has no limit and may not fit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from compactlab.peers._asking import Form
from compactlab.peers._openhands import Summarising, View
from compactlab.strategies import Compacted, Context
from compactlab.transcript import Messages

SECTIONS = (
    "USER_CONTEXT",
    "TASK_TRACKING",
    "COMPLETED",
    "PENDING",
    "CURRENT_STATE",
    "CODE_STATE",
    "TESTS",
    "CHANGES",
    "DEPS",
    "VERSION_CONTROL_STATUS",
)
FORM = Form(
    "You keep the state of an agent's work in a short text, which takes the place of the events that you are shown.",
    "Write the state of the work after these events, each part as NAME: text, of the parts "
    + ", ".join(SECTIONS)
    + ". Leave out parts that do not apply to this kind of task. Where tasks have ids and a status, keep both exact."
    " Put what the person wants first, keep done and open work apart, and be short.\n\n{material}\n",
)


@dataclass(frozen=True, repr=False)
class SummarisingCondenser(Summarising):
    """Keep the first `keep_first` events, a summary, and the newest, half of `max_size` together."""

    uses_model: ClassVar[bool] = True

    def compact(self, messages: Messages, context: Context) -> Compacted:
        view = View(messages, self.keep_first)
        previous, gone = self.forgotten(view)
        shown = tuple(messages[i] for i in dict.fromkeys(event.message for event in gone))
        summary = FORM.asked(context, self.material(view, previous, gone), shown, 4_096)
        return Compacted(self.condensed(view, gone, summary))
