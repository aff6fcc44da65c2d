"""What the sliding strategies share: which units are the tail, what goes, and where the note stands that it left."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from compactlab.history import anchor, protected, units
from compactlab.strategies import Context
from compactlab.transcript import Message, Messages


class Slide(NamedTuple):
    """Positions that stay, and the messages that go, in order; `is_needed` is False if only old notes would go."""

    keep: frozenset[int]
    gone: Messages
    is_needed: bool


def slide(
    messages: Messages, context: Context, preserve_recent: int, reserve: int, is_note: Callable[[Message], bool]
) -> Slide:
    """Keep the protected set and the newest units: *preserve_recent* of them, or, with a target, what fits it.

    *reserve* tokens of the target are left for the note; messages of which *is_note* holds are notes that an earlier
    pass of the same strategy left: they are never part of the tail, so that they can be read again and replaced.
    """
    if context.target is not None and context.meter.messages(messages) <= context.target:
        return Slide(frozenset(range(len(messages))), (), is_needed=False)
    held = protected(messages)
    fresh = [unit for unit in units(messages) if not any(is_note(messages[i]) for i in unit)]
    if context.target is None:
        tail = {i for unit in fresh[max(0, len(fresh) - preserve_recent) :] for i in unit}
    else:
        room = context.target - reserve - context.meter.messages(messages[i] for i in held)
        tail = _fitting(messages, fresh, held, room, context)
    if context.alternates:
        tail -= _before_a_person(messages, sorted(tail - held))
    keep = held | tail
    gone = [message for i, message in enumerate(messages) if i not in keep]
    return Slide(frozenset(keep), tuple(gone), not all(is_note(message) for message in gone))


def _fitting(
    messages: Messages, groups: list[tuple[int, ...]], held: frozenset[int], room: int, context: Context
) -> set[int]:
    """Positions of the newest units that fit *room* together, up to the first that does not."""
    tail: set[int] = set()
    for unit in reversed(groups):
        loose = [i for i in unit if i not in held]
        room -= context.meter.messages(messages[i] for i in loose)
        if room < 0:
            break
        tail.update(loose)
    return tail


def _before_a_person(messages: Messages, tail: list[int]) -> set[int]:
    """The start of a tail up to the first words of a person: where turns must alternate, it may not begin earlier."""
    first = next((i for i in tail if messages[i].by_person), None)
    return {i for i in tail if first is None or i < first}


def with_note(messages: Messages, keep: frozenset[int], left: Message) -> Messages:
    """The messages at *keep*, and the note behind the anchor."""
    last_of_anchor = max(anchor(messages), default=-1)
    head = [messages[i] for i in range(last_of_anchor + 1) if i in keep]
    rest = [messages[i] for i in range(last_of_anchor + 1, len(messages)) if i in keep]
    return (*head, left, *rest)


def positions(messages: Messages, keep: frozenset[int]) -> tuple[int, ...]:
    """Where the messages that go stand: `gone` of a slide lists them in this order."""
    return tuple(i for i in range(len(messages)) if i not in keep)


def with_unread(messages: Messages, keep: frozenset[int], unread: Iterable[int], context: Context) -> frozenset[int]:
    """Let what no model read stay: nothing is removed that stands in no note.

    Where turns must alternate, what stays begins with a person's words, so a little that was read may stay too.
    """
    stays = set(unread)
    if context.alternates and stays:
        going = positions(messages, keep)
        at = going.index(min(stays))
        while at > 0 and not messages[going[at]].by_person:
            at -= 1
            stays.add(going[at])
    return keep | stays


def originals(gone: Messages, context: Context) -> Messages:
    """What *gone* was before any earlier rung of a ladder touched it: what is to be read of what is to go."""
    before = {message.source: message for message in context.originals if message.source is not None}
    return tuple(m if m.source is None else before.get(m.source, m) for m in gone)
