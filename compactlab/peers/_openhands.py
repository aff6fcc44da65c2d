"""The view that OpenHands condenses: events, and how what is left of them becomes messages again.

An event is a message of a person or of the agent, an action (one call), or an observation (one result). On the wire a
response of the agent stands only if the observations of all its calls are left, and one of its actions; an observation
whose response does not stand is passed over. The system prompt is put back in front if it is gone, and the task behind
it where no other words of a person stand there.

Leaves out: recalls of repository knowledge, which are events of their own there, the cut of long observations when
messages are made, and the order of messages where a person speaks between a call and its result (as recorded here).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from msgspec.structs import replace

from compactlab.errors import SpecError
from compactlab.history import Place, anchor, pair
from compactlab.llm.prompts import rendered
from compactlab.peers import Peer
from compactlab.peers._observations import observed
from compactlab.strategies import note
from compactlab.transcript import Message, Messages, ToolCall, ToolResult

HEADING = "[Condensed: state of the work]"
CUT = "\n[... middle of a long event left out ...]\n"


class Event(NamedTuple):
    """One event: a whole message, or the block of it that is a call or a result."""

    message: int
    block: int | None = None


@dataclass(frozen=True)
class View:
    """The messages as events; `summary_at` is the index at which an earlier summary would stand."""

    messages: Messages
    summary_at: int = -1

    @cached_property
    def events(self) -> list[Event]:
        """All events, in order. A task that was put back before an earlier summary is no event: it was forgotten."""
        found = [event for i, message in enumerate(self.messages) for event in _events_of(i, message)]
        behind = found[self.summary_at : self.summary_at + 2] if self.summary_at >= 0 else []
        if len(behind) == 2 and behind[0].message == self.task and is_summary(self.messages[behind[1].message]):
            del found[self.summary_at]
        return found

    @cached_property
    def task(self) -> int | None:
        """Position of the first message that a person wrote."""
        return next((i for i in anchor(self.messages) if self.messages[i].role != "system"), None)

    @cached_property
    def observations(self) -> frozenset[Event]:
        """Events that are observations."""
        results = {Event(*place) for place in observed(self.messages)}
        return frozenset(e for e in self.events if e in results or Event(e.message, 0) in results)

    def shown(self, event: Event) -> str:
        """An event as text for a model."""
        message = self.messages[event.message]
        if event.block is not None:
            first = next(k for k, b in enumerate(message.blocks) if isinstance(b, ToolCall | ToolResult))
            said = message.blocks[:first] if event.block == first else ()
            message = replace(message, blocks=(*said, message.blocks[event.block]))
        return rendered((message,))

    def wire(self, left: Iterable[Event | Message]) -> Messages:
        """The messages that the agent is sent, of the events that are left and of notes put among them."""
        left = self._completed(list(left))
        kept = {item for item in left if isinstance(item, Event)}
        standing = self._standing(kept)
        sent: list[Message] = []
        done: set[int] = set()
        for item in left:
            if isinstance(item, Message):
                sent.append(item)
            elif item.message not in done:
                done.add(item.message)
                sent += self._sent(item.message, standing)
        return tuple(sent)

    def _sent(self, position: int, standing: set[int]) -> Sequence[Message]:
        message = self.messages[position]
        if message.role == "tool":
            blocks = tuple(b for k, b in enumerate(message.blocks) if self._call_of.get(Place(position, k)) in standing)
            whole = len(blocks) == len(message.blocks)
            return (message if whole else replace(message, blocks=blocks),) if blocks else ()
        return (message,) if not message.calls or position in standing else ()

    @cached_property
    def _call_of(self) -> dict[Place, int]:
        return {result: call.message for result, call in pair(self.messages).call_of.items()}

    def _standing(self, kept: set[Event]) -> set[int]:
        """Positions of the responses that stand: an action is left, and what came back from every call."""
        answers: dict[int, list[Place]] = {}
        for result, position in self._call_of.items():
            answers.setdefault(position, []).append(result)
        left = {event.message for event in kept if event.block is not None}
        return {
            position
            for position in left
            if len(answers.get(position, ())) == len(self.messages[position].calls) > 0
            and all(Event(*result) in kept for result in answers[position])
        }

    def _completed(self, left: list[Event | Message]) -> list[Event | Message]:
        """The list with the system prompt first, and the task behind it where no person's message stands there."""
        prompt = [Event(i) for i, message in enumerate(self.messages) if message.role == "system"][:1]
        if prompt and not any(isinstance(item, Event) and item in prompt for item in left):
            left = [*prompt, *left]
        at = len(prompt)
        second = left[at] if at < len(left) else None
        by_person = isinstance(second, Event) and self.messages[second.message].by_person
        if self.task is None or by_person or Event(self.task) in left:
            return left
        return [*left[:at], Event(self.task), *left[at:]]


def is_summary(message: Message) -> bool:
    """True of the note that a condenser left."""
    return message.synthetic and message.text.startswith(HEADING)


def _events_of(position: int, message: Message) -> list[Event]:
    parts = [Event(position, k) for k, b in enumerate(message.blocks) if isinstance(b, ToolCall | ToolResult)]
    return parts or [Event(position)]


@dataclass(frozen=True, repr=False)
class Rolling(Peer):
    """What the condensers share that forget up to half of their size: the first events and the newest stay."""

    max_size: int = 100
    keep_first: int = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.keep_first >= self.max_size // 2:
            raise SpecError(f"keep_first is {self.keep_first}; expected less than half of max_size, {self.max_size}")


@dataclass(frozen=True, repr=False)
class Summarising(Rolling):
    """What the condensers share that put a summary in the place of what they forget."""

    max_event_length: int = 10_000

    def forgotten(self, view: View) -> tuple[str, list[Event]]:
        """The summary so far, and the events that go; `ValueError` where there are none."""
        events = view.events
        first = view.messages[events[self.keep_first].message] if len(events) > self.keep_first else None
        previous = first.text.removeprefix(HEADING).strip() if first is not None and is_summary(first) else ""
        gone = [e for e in events[self.keep_first : -self.newest] if not is_summary(view.messages[e.message])]
        if not gone:
            raise ValueError(f"{len(events)} events, of which none would be forgotten: the pass breaks off")
        return previous, gone

    @property
    def newest(self) -> int:
        """How many of the newest events stay, one less for the summary."""
        return self.max_size // 2 - self.keep_first - 1

    def material(self, view: View, previous: str, gone: Sequence[Event]) -> str:
        """What a model is shown: the summary so far, and each event, cut in its middle where it is long."""
        lines = ["The summary so far:", self._cut(previous or "none"), "", "The events:"]
        return "\n".join([*lines, *(f"({n}) {self._cut(view.shown(e))}" for n, e in enumerate(gone, 1))])

    def condensed(self, view: View, gone: Sequence[Event], summary: str) -> Messages:
        """The messages with the summary behind the first events; every event from the first to the last that go is."""
        events = view.events
        start, end = events.index(gone[0]), events.index(gone[-1])
        rest = [e for i, e in enumerate(events) if not start <= i <= end and not is_summary(view.messages[e.message])]
        left: list[Event | Message] = [*rest]
        left.insert(self.keep_first, note(f"{HEADING}\n{summary}"))
        return view.wire(left)

    def _cut(self, text: str) -> str:
        half = self.max_event_length // 2
        return text if len(text) <= self.max_event_length else f"{text[:half]}{CUT}{text[len(text) - half :]}"
