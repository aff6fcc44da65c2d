"""Output narrowing: what is left of a recorded answer where the agent was allowed fewer tokens than it used.

Follows the seed document's Defer: above the last mark the output tokens narrow (`compactlab.pressure.allowance`) and
the turn is cut off. Only words are cut: a call is a whole or nothing, so it stands and is counted.
"""

from __future__ import annotations

from typing import NamedTuple

from msgspec.structs import replace

from compactlab.facts.text import canonical
from compactlab.markers import CUT
from compactlab.matching import Matcher
from compactlab.replay.timeline import Moment
from compactlab.tokens import Meter, clean
from compactlab.transcript import Block, Message, Reasoning, Text, ToolCall, readable


class Narrowed(NamedTuple):
    """An answer that was cut down, the facts that still stand in it, and how many calls were beyond the allowance."""

    message: Message
    standing: tuple[tuple[int, bool], ...]
    calls_over: int


class _Kept(NamedTuple):
    """A block of an answer as it was, as it is now (None: gone), and how much of its text is left (None: all)."""

    was: Block
    now: Block | None
    text: str | None = None


def narrowed(moment: Moment, allowance: int, meter: Meter, matcher: Matcher) -> Narrowed:
    """Cut the words of an answer where they pass *allowance* tokens; a mark stands behind what is left of them.

    What follows the cut goes too, but for calls. Signed or opaque reasoning cannot be cut: it stays whole or goes. An
    answer that fits, or would not get lighter, stays as it is.
    """
    kept, over = _kept(moment.message.blocks, allowance, meter)
    blocks = tuple(part.now for part in kept if part.now is not None)
    if blocks == moment.message.blocks:
        return Narrowed(moment.message, moment.standing, over)
    message = replace(moment.message, blocks=blocks or (Text(CUT),))
    if meter.message(message) >= moment.weight:
        return Narrowed(moment.message, moment.standing, over)
    facts = {fact for fact, _ in moment.standing}
    standing: dict[int, bool] = {}
    for part in kept:
        for fact, bound in _standing(part, matcher):
            if fact in facts:
                standing[fact] = standing.get(fact, False) or bound
    return Narrowed(message, tuple(standing.items()), over)


def _kept(blocks: tuple[Block, ...], allowance: int, meter: Meter) -> tuple[list[_Kept], int]:
    """What becomes of each block, and how many calls are beyond the allowance."""
    kept: list[_Kept] = []
    room, over, marked = allowance, 0, False
    for block in blocks:
        weight = meter.block(block)
        left, room = room, max(0, room - weight)
        if weight <= left or not isinstance(block, Text | Reasoning):
            kept.append(_Kept(block, block))
            over += isinstance(block, ToolCall) and weight > left
        elif marked or (isinstance(block, Reasoning) and (block.signature or block.opaque)):
            kept.append(_Kept(block, None, ""))
        else:
            kept.append(_cut(block, left, meter))
            marked = True
    return kept, over


def _cut(block: Text | Reasoning, room: int, meter: Meter) -> _Kept:
    """The start of a block that weighs at most *room*, with the mark behind it."""
    text = meter.truncated(block.text, room - meter.text(f" {CUT}")).rstrip()
    return _Kept(block, replace(block, text=f"{text} {CUT}" if text else CUT), text)


def _standing(part: _Kept, matcher: Matcher) -> list[tuple[int, bool]]:
    """The facts in what is left of a block, and whether each stands near a content word that is left too."""
    hits = matcher.block(part.was) if readable(part.was) else ()
    if part.text is None:
        return [(hit.pattern, bool(hit.words)) for hit in hits]
    length = len(clean(canonical(part.text)))
    reached = ((hit, hit.reach(hit.words)) for hit in hits if hit.end <= length)
    return [(hit.pattern, reach is not None and reach <= length) for hit, reach in reached]
