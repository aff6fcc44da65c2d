"""Keys of compactlab's own in a log, for what chat messages of Inspect cannot hold."""

from __future__ import annotations

from typing import Any

from compactlab.errors import TranscriptError
from compactlab.readers._fields import array, mapping, string
from compactlab.readers._own_blocks import block_from
from compactlab.transcript import Message

KEY = "compactlab"
REST = "rest"
_ROLES = ("system", "user", "assistant", "tool")


def own_message(wire: dict[str, Any], source: int | None) -> Message | None:
    """A message that was written with its blocks in our own form; None if it was not."""
    own = own_keys(wire)
    role = string(own.get("role"))
    if role not in _ROLES or not isinstance(own.get("blocks"), list):
        return None
    try:
        blocks = tuple(block_from(block, "blocks") for block in array(own["blocks"]))
    except TranscriptError:
        return None
    return Message(role, blocks, source=source, synthetic=own.get("synthetic") is True)  # type: ignore[arg-type]  # one of four


def own_keys(wire: dict[str, Any]) -> dict[str, Any]:
    """Our keys beside a message or a sample; empty if it has none."""
    return mapping(mapping(wire.get("metadata")).get(KEY))


def is_rest(wire: dict[str, Any]) -> bool:
    """Whether a message only repeats, for other readers, what an own message before it holds."""
    return own_keys(wire).get(REST) is True
