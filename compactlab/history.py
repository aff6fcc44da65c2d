"""Pure functions on message lists: repair, units, anchor, tail, protected set.

Both ways to store a tool turn work: results in messages of their own, or call, result, call, result, text in one
assistant message. `repair` brings the second into the first form, so that everything after it counts the same units.

- A **unit** is a user or system message, or an assistant message with all results of its calls, wherever those stand.
- The **anchor** is the leading system messages and the first message that a person wrote.
- The **protected set** is what no strategy may touch: the anchor, later system messages that are not synthetic, pinned
  messages, the last message a person wrote, and the last assistant message's unit with all that came after it.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple

from msgspec.structs import replace

from compactlab.markers import NO_RESULT
from compactlab.remembered import remembered
from compactlab.tokens import pieces
from compactlab.transcript import Block, Message, Messages, Text, ToolCall, ToolResult


class Repair(NamedTuple):
    """One thing that `repair` did: to which call, at which position of the list it was given."""

    what: Literal["closed", "dropped"]
    call_id: str
    position: int
    why: str


class Repaired(NamedTuple):
    """Messages in split form, their positions in the input (None for a stand-in), and what was mended."""

    messages: Messages
    origins: tuple[int | None, ...]
    repairs: tuple[Repair, ...]


class Place(NamedTuple):
    """Where a block stands: position of the message, position in the message."""

    message: int
    block: int


class Pairing(NamedTuple):
    """Results paired with their calls by id and occurrence; what found no partner stands beside."""

    call_of: dict[Place, Place]
    open_calls: tuple[Place, ...]
    orphans: tuple[Place, ...]
    doubles: tuple[Place, ...]


@remembered
def pair(messages: Sequence[Message]) -> Pairing:
    """Pair each result with a call before it: the latest message with an unanswered call of that id, first one first.

    Ids that a model uses again, or leaves empty, pair with the occurrence they answer. Linear in the number of blocks.
    """
    waiting: dict[str, list[deque[Place]]] = defaultdict(list)
    seen: set[str] = set()
    call_of: dict[Place, Place] = {}
    orphans: list[Place] = []
    doubles: list[Place] = []
    for position, message in enumerate(messages):
        called: set[str] = set()  # ids whose topmost group of open calls is this message's
        for block, at in _results_and_calls(message, position):
            name = block.id if isinstance(block, ToolCall) else block.call_id
            stack = waiting[name]
            if isinstance(block, ToolCall):
                if name not in called:
                    stack.append(deque())
                stack[-1].append(at)
                called.add(name)
                seen.add(name)
            elif stack:
                call_of[at] = stack[-1].popleft()
            else:
                (doubles if name in seen else orphans).append(at)
            if stack and not stack[-1]:
                stack.pop()
                called.discard(name)
    unanswered = [place for stack in waiting.values() for group in stack for place in group]
    return Pairing(call_of, tuple(sorted(unanswered)), tuple(orphans), tuple(doubles))


def _results_and_calls(message: Message, position: int) -> Iterable[tuple[ToolCall | ToolResult, Place]]:
    for index, block in enumerate(message.blocks):
        if isinstance(block, ToolCall | ToolResult):
            yield block, Place(position, index)


@remembered
def split_turns(messages: Messages) -> tuple[Messages, tuple[int, ...]]:
    """Cut messages that hold calls beside their results into one message a step; give each piece's origin too.

    The pieces of an assistant message take turns between the roles assistant and tool and share its source.
    """
    split: list[Message] = []
    origins: list[int] = []
    is_whole = True
    for position, message in enumerate(messages):
        kinds = set(map(type, message.blocks))
        if ToolResult not in kinds or (message.role == "tool" and len(kinds) == 1):
            split.append(message)
            origins.append(position)
            continue
        for part in pieces(message):
            split.append(replace(message, role=_role_of(part, message), blocks=part))
            origins.append(position)
        is_whole = False
    return messages if is_whole else tuple(split), tuple(origins)


def _role_of(part: tuple[Block, ...], message: Message) -> Literal["system", "user", "assistant", "tool"]:
    if isinstance(part[0], ToolResult):
        return "tool"
    return "user" if message.role == "tool" else message.role


def join_turns(messages: Sequence[Message], origins: Sequence[int | None]) -> Messages:
    """Undo `split_turns`: neighbours with the same origin become one message again, blocks in order.

    Pieces that would not be told apart again stay apart: two of the same side, which stood around one that is gone, and
    empty ones.
    """
    joined: list[Message] = []
    last: tuple[int | None, bool] | None = None
    for message, origin in zip(messages, origins, strict=True):
        heard = message.role == "tool"
        first = joined[-1] if joined else message
        if origin is not None and last == (origin, not heard) and first.blocks and message.blocks:
            joined[-1] = replace(
                first, role=first.role if heard else message.role, blocks=first.blocks + message.blocks
            )
        else:
            joined.append(message)
        last = (origin, heard)
    return tuple(joined) if len(joined) < len(messages) else tuple(messages)


@remembered
def repair(messages: Sequence[Message]) -> Repaired:
    """Bring *messages* into split form, close calls that were never answered, drop results without a call.

    Calls of the last assistant message stay open: their results may still come. Of two results of one call the first
    stays, unless it failed and the other did not. A stand-in is a synthetic error
    result that says so; it stands with the other results of its call. Nothing to mend in split form gives back equal
    messages in the same order.
    """
    split, origins = split_turns(messages)
    pairing = pair(split)
    last = _last_assistant(split)
    unanswered: dict[int, list[ToolCall]] = defaultdict(list)
    for place in pairing.open_calls:
        call = split[place.message].blocks[place.block]
        if place.message != last and isinstance(call, ToolCall):
            unanswered[place.message].append(call)
    closing = {_after_results(split, position): calls for position, calls in unanswered.items()}
    dropping = dict.fromkeys(pairing.orphans, "no call before it") | _doubled(split, pairing)
    if not closing and not dropping:
        return Repaired(split, origins, ())
    return _mended(split, origins, closing, dropping)


def _doubled(messages: Messages, pairing: Pairing) -> dict[Place, str]:
    """Which of several results of one call to drop: a later one, unless it alone did not fail."""
    dropping: dict[Place, str] = {}
    held: dict[str, Place] = {}
    for place in sorted((*pairing.call_of, *pairing.doubles)):
        result = messages[place.message].blocks[place.block]
        if not isinstance(result, ToolResult):
            continue
        if place in pairing.call_of:
            held[result.call_id] = place
            continue
        first = messages[held[result.call_id].message].blocks[held[result.call_id].block]
        if isinstance(first, ToolResult) and first.is_error and not result.is_error:
            dropping[held[result.call_id]] = "a later result of its call did not fail"
            held[result.call_id] = place
        else:
            dropping[place] = "its call was answered before"
    return dropping


def _mended(
    split: Messages, origins: tuple[int, ...], closing: dict[int, list[ToolCall]], dropping: dict[Place, str]
) -> Repaired:
    kept: list[Message] = []
    kept_origins: list[int | None] = []
    repairs: list[Repair] = []
    drop_at: dict[int, set[int]] = defaultdict(set)
    for place in dropping:
        drop_at[place.message].add(place.block)
    for position, message in enumerate(split):
        for index in sorted(drop_at.get(position, ())):
            result = message.blocks[index]
            call_id = result.call_id if isinstance(result, ToolResult) else ""
            repairs.append(Repair("dropped", call_id, origins[position], dropping[Place(position, index)]))
        blocks = tuple(b for i, b in enumerate(message.blocks) if i not in drop_at.get(position, ()))
        if blocks or not message.blocks:
            kept.append(message if len(blocks) == len(message.blocks) else replace(message, blocks=blocks))
            kept_origins.append(origins[position])
        for call in closing.get(position, ()):
            kept.append(_stand_in(call))
            kept_origins.append(None)
            repairs.append(Repair("closed", call.id, origins[position], "no result was recorded"))
    return Repaired(tuple(kept), tuple(kept_origins), tuple(repairs))


def _stand_in(call: ToolCall) -> Message:
    return Message("tool", (ToolResult(call.id, (Text(NO_RESULT),), is_error=True),), synthetic=True)


def _after_results(messages: Sequence[Message], position: int) -> int:
    """Position of the last message in the run of result messages that follows *position*, or *position* itself."""
    while position + 1 < len(messages) and messages[position + 1].role == "tool":
        position += 1
    return position


def _last_assistant(messages: Sequence[Message]) -> int | None:
    return next((i for i in range(len(messages) - 1, -1, -1) if messages[i].role == "assistant"), None)


@remembered
def units(messages: Sequence[Message]) -> tuple[tuple[int, ...], ...]:
    """Group positions into units, ordered by their first message; every position stands in exactly one unit.

    A result message that answers calls of several assistant messages makes one unit of them all.
    """
    head = list(range(len(messages)))

    def find(position: int) -> int:
        while head[position] != position:
            head[position] = head[head[position]]
            position = head[position]
        return position

    for result, call in pair(messages).call_of.items():
        first, second = sorted((find(result.message), find(call.message)))
        head[second] = first
    groups: dict[int, list[int]] = defaultdict(list)
    for position in range(len(messages)):
        groups[find(position)].append(position)
    return tuple(tuple(groups[first]) for first in sorted(groups))


def anchor(messages: Sequence[Message]) -> tuple[int, ...]:
    """Positions of the leading system messages and of the first message that a person wrote."""
    leading = 0
    while leading < len(messages) and messages[leading].role == "system":
        leading += 1
    first = next((i for i in range(leading, len(messages)) if messages[i].by_person), None)
    return (*range(leading), *(() if first is None else (first,)))


def protected(messages: Sequence[Message], *, pins: bool = True) -> frozenset[int]:
    """Positions that no strategy may touch (see above), closed over units; *pins* False leaves pinned messages out."""
    return frozenset(_protection(messages) if pins else _unpinned_protection(messages))


def protection(messages: Sequence[Message], *, pins: bool = True) -> dict[int, str]:
    """The protected set, and for each position in a few words why it is in it."""
    return dict(_protection(messages) if pins else _unpinned_protection(messages))


@remembered
def _protection(messages: Messages) -> dict[int, str]:
    return _held(messages, {i: "pinned" for i, message in enumerate(messages) if message.pinned})


@remembered
def _unpinned_protection(messages: Messages) -> dict[int, str]:
    return _held(messages, {})


def _held(messages: Messages, pinned: dict[int, str]) -> dict[int, str]:
    said_last = next((i for i in range(len(messages) - 1, -1, -1) if messages[i].by_person), None)
    last = _last_assistant(messages)
    why: dict[int, str] = dict.fromkeys(range(0 if last is None else last, len(messages)), "the open turn")
    why.update({} if said_last is None else {said_last: "the last words of a person"})
    why.update(pinned)
    why.update({i: "system" for i, m in enumerate(messages) if m.role == "system" and not m.synthetic})
    why.update(dict.fromkeys(anchor(messages), "the anchor"))
    for unit in units(messages):
        if not why.keys().isdisjoint(unit):
            why.update({i: "in one unit with a protected message" for i in unit if i not in why})
    return why
