"""Brings what a strategy gave together with what it was given: units whole, protected set untouched, notes in place.

The guard's rules 1 and 5. To the strategy, `source` is a message's position, so that kept, edited and made ones can be
told apart; what it may not have dropped or edited is put back, and what cannot be put right is rejected.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import NamedTuple

from msgspec.structs import replace

from compactlab import history
from compactlab.receipt import Action, Change
from compactlab.transcript import Message, Messages, Reasoning, ToolCall, ToolResult


class Rejected(Exception):  # noqa: N818  # an outcome, not an error
    """A strategy's result cannot be made to keep the rules."""


class Reconciled(NamedTuple):
    """The final list with each message's position in the base (None: made), and what is to be said of it."""

    entries: tuple[tuple[Message, int | None], ...]
    changes: tuple[Change, ...]
    restored: tuple[int, ...]


def reconciled(base: Messages, given: Sequence[Message], spec: str, *, alternates: bool = False) -> Reconciled:
    """Turn what a strategy gave into a list that keeps rules 1 and 5, or raise `Rejected`.

    Where person and agent must take turns (*alternates*), a made user message between two of a person's takes the
    agent's turn: it stands for what both said.
    """
    chosen, made = _sorted_out(base, given)
    held = history.protection(base)
    wanted = held.keys() | {i for unit in history.units(base) if any(p in chosen for p in unit) for i in unit}
    final = {i: _taken(base[i], chosen.get(i, base[i]), i in held) for i in sorted(wanted)}
    restored = {i for i in wanted if i not in chosen or (final[i] is base[i] and _differs(chosen[i], base[i]))}
    entries = _woven(base, final, made)
    if alternates:
        entries = _in_turns(entries)
    why = held | {i: f"restored by the guard: {held.get(i, 'its unit is in')}" for i in restored}
    changes = [_change(i, m, final.get(i), why.get(i, f"by {spec}")) for i, m in enumerate(base)]
    changes += [Change(None, None, message.role, "made", f"written by {spec}") for _, message in made]
    return Reconciled(entries, tuple(changes), tuple(sorted(restored)))


def as_given(base: Messages, given: Sequence[Message], spec: str) -> Reconciled:
    """Take what a strategy gave as it is: nothing is put back, moved or refused; made messages are marked as such."""
    entries: list[tuple[Message, int | None]] = []
    final: dict[int, Message] = {}
    for message in given:
        position = message.source
        if position is None or not 0 <= position < len(base):
            entries.append((replace(message, source=None, synthetic=True, pinned=False), None))
            continue
        old = base[position]
        same = message.role == old.role and not _differs(message, old)
        entries.append((old if same else replace(old, role=message.role, blocks=message.blocks), position))
        final.setdefault(position, entries[-1][0])
    changes = [_change(i, m, final.get(i), f"by {spec}") for i, m in enumerate(base)]
    made = (message for message, position in entries if position is None)
    changes += [Change(None, None, message.role, "made", f"written by {spec}") for message in made]
    return Reconciled(tuple(entries), tuple(changes), ())


def _sorted_out(base: Messages, given: Sequence[Message]) -> tuple[dict[int, Message], list[tuple[int, Message]]]:
    """Tell the messages of the base, by position, from made ones, each with the position that it follows."""
    chosen: dict[int, Message] = {}
    made: list[tuple[int, Message]] = []
    last = -1
    for message in given:
        position = message.source
        if position is None:
            if message.calls or message.results or message.role == "tool":
                raise Rejected("a made message holds a tool call or result")
            made.append((last, replace(message, synthetic=True, pinned=False)))
        elif not 0 <= position < len(base):
            raise Rejected(f"a message claims position {position} of {len(base)}")
        elif position <= last:
            raise Rejected(f"message {position} stands twice or out of order")
        elif message.role != base[position].role:
            raise Rejected(f"message {position} changed its role to {message.role}")
        else:
            chosen[position] = message
            last = position
    return chosen, made


def _taken(base: Message, given: Message, held: bool) -> Message:
    """The base's own message, unless it was really edited, may be edited, and kept what belongs together."""
    if held or not _differs(given, base) or _fixed(given) != _fixed(base):
        return base
    return replace(base, blocks=given.blocks)


def _differs(given: Message, base: Message) -> bool:
    return given.blocks != base.blocks


def _fixed(message: Message) -> list[tuple[str, ...]]:
    """What no edit may change: calls and results by id, signed and opaque reasoning, the parts of a tool message."""
    parts: list[tuple[str, ...]] = []
    for block in message.blocks:
        if isinstance(block, ToolCall):
            parts.append(("call", block.id, block.name))
        elif isinstance(block, ToolResult):
            parts.append(("result", block.call_id))
        elif isinstance(block, Reasoning) and (block.signature or block.opaque):
            parts.append(("reasoning", block.text, block.signature or "", block.opaque or ""))
        elif message.role == "tool":
            parts.append((type(block).__name__,))
    return parts


def _woven(
    base: Messages, final: dict[int, Message], made: list[tuple[int, Message]]
) -> tuple[tuple[Message, int | None], ...]:
    """Put made messages behind those they follow: after the anchor, before the last turn, between no call and result.

    Where the anchor itself stands after the last turn, they go before that turn, where what they speak of stood.
    """
    leading = next((i for i, message in enumerate(base) if message.role != "system"), len(base)) - 1
    floor = max(history.anchor(base), default=-1)
    last_turn = next((i for i in range(len(base) - 1, -1, -1) if base[i].role == "assistant"), len(base))
    waiting = sorted(
        ((max(leading, min(max(after, floor), last_turn - 1)), n, message) for n, (after, message) in enumerate(made)),
        reverse=True,
    )
    inside = _within_units(base) if waiting else frozenset()
    entries: list[tuple[Message, int | None]] = []
    for position, message in final.items():
        while waiting and waiting[-1][0] < position and position not in inside:
            entries.append((waiting.pop()[2], None))
        entries.append((message, position))
    entries += [(message, None) for _, _, message in reversed(waiting)]
    return tuple(entries)


def _in_turns(entries: Sequence[tuple[Message, int | None]]) -> tuple[tuple[Message, int | None], ...]:
    turned = list(entries)
    for i in range(1, len(turned) - 1):
        message, position = turned[i]
        if position is None and message.role == turned[i - 1][0].role == turned[i + 1][0].role == "user":
            turned[i] = (replace(message, role="assistant"), None)
    return tuple(turned)


def _within_units(base: Messages) -> frozenset[int]:
    """Positions before which a unit has begun and not yet ended."""
    steps = [0] * (len(base) + 2)
    for unit in history.units(base):
        steps[unit[0] + 1] += 1
        steps[unit[-1] + 1] -= 1
    return frozenset(i for i, begun in enumerate(accumulate(steps)) if begun)


def _change(position: int, base: Message, final: Message | None, why: str) -> Change:
    action: Action = "dropped" if final is None else "kept" if final is base else "edited"
    return Change(position, base.source, base.role, action, why)
