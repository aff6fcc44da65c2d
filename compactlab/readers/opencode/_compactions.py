"""Recorded compactions of opencode: summaries, and outputs of tools that were cleared after they were read."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from compactlab.transcript import Message, RecordedCompaction, Text, Transcript

if TYPE_CHECKING:
    from collections.abc import Sequence

CLEARED = "[Old tool result content cleared]"


class Event(NamedTuple):
    """A summary, before which message it was made and when, what it put there, and the first message that it kept.

    Without *first* it kept none. The *summary* is the text of what was made last, if it is not given.
    """

    position: int
    time: int | None
    made: tuple[Message, ...]
    first: int | None = None
    trigger: str = "unknown"
    summary: str = ""

    def moved(self) -> Event:
        """The same with all places moved by one."""
        return self._replace(position=self.position + 1, first=None if self.first is None else self.first + 1)


class Found(NamedTuple):
    """Compactions by rising position, and what left no trace, by kind."""

    compactions: tuple[RecordedCompaction, ...]
    skipped: Counter[str]


def compactions(
    messages: Sequence[Message],
    events: Sequence[Event],
    pruned: Sequence[tuple[int, int]],
    times: Sequence[int | None],
) -> Found:
    """Make the compactions of a session of its summaries and of the results that were *pruned*: places with times.

    Results count as cleared before the first message that was made after that; those that were cleared in between the
    same two messages make one compaction. *times* are those of the messages, in milliseconds.
    """
    skipped: Counter[str] = Counter()
    found: list[RecordedCompaction] = []
    whole = tuple(messages)
    for position, _, event in sorted(_all(events, pruned, times), key=lambda held: held[:2]):
        if not position:
            skipped["compaction with nothing before it"] += 1
        elif isinstance(event, Event):
            found.append(_summarised(event, whole))
        else:
            made = _cleared(position, event, whole, found)
            found += [] if made is None else [made]
            skipped["pruned result that was not in view"] += len(event) if made is None else 0
    return Found(tuple(found), skipped)


_Held = tuple[int, int, Event | list[int]]


def _all(events: Sequence[Event], pruned: Sequence[tuple[int, int]], times: Sequence[int | None]) -> list[_Held]:
    held: list[_Held] = [(event.position, event.time or 0, event) for event in events]
    groups: dict[int, tuple[int, list[int]]] = {}
    latest = _rising(times)
    for place, time in sorted(pruned, key=lambda entry: entry[1]):
        at = max(_first_after(latest, time), place + 1)
        groups.setdefault(at, (time, []))[1].append(place)
    return held + [(at, time, places) for at, (time, places) in groups.items()]


def _rising(times: Sequence[int | None]) -> list[int]:
    """For each message the latest time up to it, so that it can be searched."""
    latest, given = 0, []
    for time in times:
        latest = max(latest, time or 0)
        given.append(latest)
    return given


def _first_after(latest: Sequence[int], time: int) -> int:
    from bisect import bisect_right

    return bisect_right(latest, time)


def _summarised(event: Event, messages: tuple[Message, ...]) -> RecordedCompaction:
    leading = [i for i, message in enumerate(messages[:1]) if message.role == "system"]
    first = event.position if event.first is None else event.first
    kept = range(max(first, len(leading)), event.position)
    texts = [block.text for block in event.made[-1].blocks if isinstance(block, Text)]
    return RecordedCompaction(
        event.position,
        trigger=event.trigger,
        after=(*leading, *event.made, *kept),
        summary=event.summary or "\n".join(texts),
    )


def _cleared(
    position: int, places: Sequence[int], messages: tuple[Message, ...], before: Sequence[RecordedCompaction]
) -> RecordedCompaction | None:
    """Clear the results at *places* in what stood in the context; None if none of them did."""
    wanted = set(places)
    view = Transcript("", "", messages, compactions=tuple(before)).entries(position)
    if not any(isinstance(entry, int) and entry in wanted for entry in view):
        return None
    after = tuple(_empty(messages[i]) if isinstance(i, int) and i in wanted else i for i in view)
    return RecordedCompaction(position, trigger="prune", after=after)


def _empty(message: Message) -> Message:
    return replace(message, blocks=tuple(replace(result, content=(Text(CLEARED),)) for result in message.results))
