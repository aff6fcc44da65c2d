"""Prompts of SWE-agent's steps beside its history: where an observation was masked, the context was compacted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from compactlab.readers._agent_runs import run_message
from compactlab.readers._fields import mapping
from compactlab.transcript import Block, Message, Messages, RecordedCompaction, ToolResult

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_ASKED_AGAIN = ("assistant", "user")  # kinds of messages that stand in one prompt only, after an answer of a wrong form


class Prompts:
    """Compares prompts with the history, one after the other, and keeps as compactions where the masks change.

    Only the masked observations are held, so that prompts of any length cost what comparing them costs.
    """

    def __init__(self, messages: Messages, history: Sequence[dict[str, Any]]) -> None:
        """*history* are the recorded messages that became *messages*, one each."""
        self._messages = messages
        self._history = history
        self._masks: dict[int, Message | None] = {}
        self._shown: dict[int, tuple[object, Message]] = {}
        self.compactions: list[RecordedCompaction] = []

    def add(self, prompt: object) -> None:
        """Take up the prompt of the next step."""
        end = 0
        masks: dict[int, Message | None] = {}
        for place, wire in self._aligned(prompt):
            masks.update(dict.fromkeys(range(end, place)))
            end = place + 1
            if not _alike(wire.get("content"), self._history[place].get("content")):
                masks[place] = self._masked(place, wire)
        if end >= len(self._messages) or masks == self._masks:
            return
        if self.compactions and end < self.compactions[-1].position:
            return
        self._masks = masks
        kept = (masks.get(place, place) for place in range(end))
        after = tuple(entry for entry in kept if entry is not None)
        self.compactions.append(RecordedCompaction(end, "observation masking", after=after))

    def _aligned(self, prompt: object) -> Iterator[tuple[int, dict[str, Any]]]:
        """The messages of a prompt that are of the history, each with its place there; a processor may drop some."""
        at = 0
        for entry in prompt if isinstance(prompt, list) else ():
            wire = mapping(entry)
            if not wire or wire.get("message_type") in _ASKED_AGAIN:
                return
            if at < len(self._history) and self._history[at].get("role") == wire.get("role"):
                found: int | None = at
            else:
                found = next((place for place in range(at, len(self._history)) if self._same(place, wire)), None)
            if found is None:
                return
            yield found, wire
            at = found + 1

    def _same(self, place: int, wire: dict[str, Any]) -> bool:
        held = self._history[place]
        return held.get("role") == wire.get("role") and _alike(held.get("content"), wire.get("content"))

    def _masked(self, place: int, wire: dict[str, Any]) -> Message:
        """The message as a prompt shows it; the same object as long as it is shown in the same way."""
        if place not in self._shown or self._shown[place][0] != wire.get("content"):
            told, read = self._messages[place], run_message(wire, 0)
            blocks = told.blocks if read is None else read.blocks
            if told.results and len(blocks) == len(told.blocks):
                blocks = tuple(_answering(block, own) for block, own in zip(blocks, told.blocks, strict=True))
            self._shown[place] = wire.get("content"), replace(told, blocks=blocks)
        return self._shown[place][1]


def _answering(block: Block, own: Block) -> Block:
    """A result with the id that it has in the story, where one was made for it."""
    if isinstance(block, ToolResult) and isinstance(own, ToolResult):
        return replace(block, call_id=own.call_id)
    return block


def _alike(one: object, other: object) -> bool:
    """Whether two contents are the same, whatever marks for caches stand in them."""
    return one == other or _bare(one) == _bare(other)


def _bare(content: object) -> object:
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    if not isinstance(content, list):
        return content
    return [
        {key: value for key, value in part.items() if key != "cache_control"} if isinstance(part, dict) else part
        for part in content
    ]
