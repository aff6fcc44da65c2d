"""`openhands_structured`: the middle goes to a model, which fills in a form of eighteen fields.

Follows the structured-summary condenser of OpenHands 0.6x (the last line with it, December 2025): `max_size`,
`keep_first` and `max_event_length` as its settings have them, the fields by name. The original makes the model call a
tool whose arguments are the fields; here it is asked for them as a JSON object, in words of ours. A reply that is no
attempt at one, as a stand-in for a model gives it, is taken as the last field. A pass that is called for stands for a
request to condense.

Known faults:

- A reply that breaks off inside the object, or has a field that is no text, becomes an empty form, and the events go
  all the same.
- A field that the model left out is empty: of the three that must be there none is checked.
- A list of half of `max_size` or less has nothing to forget: the pass breaks off with an error, whatever it weighs.
- The border looks at no pair: a result whose call went, and a call one of whose results went, vanish silently.
- The first event is the system prompt. The task is put back when messages are made, but not where other words of a
  person happen to come second: then it is lost.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import ClassVar

from compactlab.peers._asking import Form
from compactlab.peers._openhands import Summarising, View
from compactlab.strategies import Compacted, Context
from compactlab.transcript import Messages

FIELDS = {
    "Core": ("user_context", "completed_tasks", "pending_tasks", "current_state"),
    "Code": ("files_modified", "function_changes", "data_structures", "dependencies"),
    "Tests": ("tests_written", "tests_passing", "failing_tests", "error_messages"),
    "Version control": ("branch_created", "branch_name", "commits_made", "pr_created", "pr_status"),
    "More": ("other_relevant_context",),
}
NAMES = tuple(name for names in FIELDS.values() for name in names)
_BEGUN = re.compile(r"\A\s*(?:```(?:json)?\s*)?\{|\{\s*\"(?:" + "|".join(NAMES) + r")\"\s*:")
FORM = Form(
    "You keep the state of an agent's work as a form, which takes the place of the events that you are shown.",
    "Fill in the form after these events: one JSON object, nothing before or behind it, with a text for each of "
    + ", ".join(NAMES)
    + ". The first three may not be empty. Keep exact what the person asked for, what is done, and what is open."
    "\n\n{material}\n",
)


@dataclass(frozen=True, repr=False)
class StructuredSummary(Summarising):
    """Keep the first `keep_first` events, the filled-in form, and the newest, half of `max_size` together."""

    uses_model: ClassVar[bool] = True

    def compact(self, messages: Messages, context: Context) -> Compacted:
        view = View(messages, self.keep_first)
        previous, gone = self.forgotten(view)
        shown = tuple(messages[i] for i in dict.fromkeys(event.message for event in gone))
        state = filled_in(FORM.asked(context, self.material(view, previous, gone), shown, 4_096))
        notes = () if any(state.values()) else ("the reply could not be read: the form is empty",)
        return Compacted(self.condensed(view, gone, form(state)), notes)


def filled_in(reply: str) -> dict[str, str]:
    """The fields of a reply by name, all empty where it cannot be read.

    >>> filled_in('{"user_context": "port 5433"}')["user_context"]
    'port 5433'
    >>> any(filled_in('{"user_context": 5433}').values())
    False
    """
    empty = dict.fromkeys(NAMES, "")
    begun = _BEGUN.search(reply)
    if begun is None:
        return empty | {NAMES[-1]: reply.strip()}
    try:
        given = json.loads(reply[reply.index("{", begun.start()) : reply.rindex("}") + 1])
    except (ValueError, RecursionError):
        return empty
    known = {name: given[name] for name in NAMES if name in given}
    return empty | known if all(isinstance(text, str) for text in known.values()) else empty


def form(state: dict[str, str]) -> str:
    """The form as text: every field, also the empty ones."""
    parts = ("\n".join((f"## {title}", *(f"{n}: {state[n]}" for n in names))) for title, names in FIELDS.items())
    return "\n\n".join(parts)
