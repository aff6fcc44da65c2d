"""What a pass took away, message by message, from the lines before and after it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping

from compactlab.memory.parts import Kept, Pass
from compactlab.receipt import Action
from compactlab.transcript import Block, Message, ToolCall, ToolResult


def fates(done: Pass) -> dict[str, Action]:
    """What happened to each message of the list before a pass, by identity."""
    after = {one.id: one.line for one in done.after}
    return {one.id: _fate(one.line, after.get(one.id)) for one in done.before}


def _fate(before: bytes, after: bytes | None) -> Action:
    if after is None:
        return "dropped"
    return "kept" if after == before else "edited"


def reasons(done: Pass) -> dict[str, str]:
    """Say why, by identity, in the words of the receipt; what came while the pass was planned has no reason."""
    found: dict[str, list[str]] = defaultdict(list)
    for change in done.receipt.changes:
        if change.source is not None and change.source < len(done.before):
            found[done.before[change.source].id].append(change.why)
    made = (change.why for change in done.receipt.changes if change.action == "made")
    known = {one.id for one in done.before}
    told = {one: "; ".join(dict.fromkeys(filter(None, whys))) for one, whys in found.items()}
    return told | {one.id: next(made, "") for one in done.after if one.id not in known}


def calls_lost(done: Pass) -> Counter[str]:
    """Count, by tool, the calls that went with a pass, or whose results did: the look-ups that nobody can see now.

    Each call counts once, even where its call and its result went.
    """
    after = {one.id: one.message for one in done.after}
    return Counter(name for _, name in _lost(done, after))


def _lost(done: Pass, after: Mapping[str, Message]) -> set[tuple[tuple[str, int], str]]:
    """Calls that lost a part, each with the name of its tool; one id may be used again and again."""
    used: Counter[str] = Counter()
    names: dict[str, str] = {}
    found = set()
    for one in done.before:
        left = Counter(after[one.id].blocks if one.id in after else ())
        for block in _calls(one):
            if isinstance(block, ToolCall):
                used[block.id] += 1
                names[block.id] = block.name
            identity = block.id if isinstance(block, ToolCall) else block.call_id
            if not left[block] and identity in names:
                found.add(((identity, used[identity]), names[identity]))
            left[block] -= 1
    return found


def _calls(one: Kept) -> Iterator[ToolCall | ToolResult]:
    block: Block
    for block in one.message.blocks:
        if isinstance(block, ToolCall | ToolResult):
            yield block
