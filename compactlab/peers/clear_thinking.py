"""`clear_thinking`: reasoning of older turns goes; that of the newest turns that hold any stays.

Follows Anthropic's context editing `clear_thinking_20251015` as documented in November 2026: `keep` turns, one by
default, or `'all'`. A turn is everything that the agent did between two messages of a person. With both edits this one
comes first: `ladder(clear_thinking, clear_tool_uses)`.

Leaves out: the rule that later models keep all thinking where nothing is configured (write `keep='all'`).

Known faults:

- An agent that works for hours on one request is one turn: nothing of its thinking is ever cleared.
- The provider may take its own signed reasoning out; a client that does so is another matter: the guard puts signed
  and opaque reasoning back. With `guard='off'` the edit stands as the provider makes it.
"""

from __future__ import annotations

from dataclasses import dataclass

from msgspec.structs import replace

from compactlab.errors import SpecError
from compactlab.peers import Peer
from compactlab.strategies import Compacted, Context
from compactlab.transcript import Message, Messages, Reasoning


@dataclass(frozen=True, repr=False)
class ClearThinking(Peer):
    """Keep the reasoning of the newest `keep` turns that hold any, or of all."""

    keep: int | str = 1

    def _check(self, name: str, default: object) -> None:
        if name != "keep":
            super()._check(name, default)
        elif self.keep != "all":
            if isinstance(self.keep, str):
                raise SpecError(f"keep is {self.keep!r}; expected a whole number of 1 or more, or 'all'")
            self.require_whole("keep", 1)

    def compact(self, messages: Messages, context: Context) -> Compacted:  # noqa: ARG002  # it has no size to meet
        turn, turns = 0, []
        for message in messages:
            turn += message.by_person
            turns.append(turn)
        thinking = sorted({at for at, message in zip(turns, messages, strict=True) if _thoughts(message)})
        if self.keep == "all" or len(thinking) <= int(self.keep):
            return Compacted(messages)
        old = set(thinking[: len(thinking) - int(self.keep)])
        kept = (_without(m) if at in old and _thoughts(m) else m for at, m in zip(turns, messages, strict=True))
        return Compacted(tuple(message for message in kept if message.blocks), (f"{len(old)} thinking turns cleared",))


def _thoughts(message: Message) -> bool:
    return message.role == "assistant" and any(isinstance(block, Reasoning) for block in message.blocks)


def _without(message: Message) -> Message:
    return replace(message, blocks=tuple(block for block in message.blocks if not isinstance(block, Reasoning)))
