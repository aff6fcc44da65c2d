"""Statement: one thing that a person demanded, or that was decided, tried or left to do.

Unlike a fact, which is a value, a statement says something: it has a polarity, a strength and a scope, and a summary
may keep all of its words and turn it round. The kinds follow the families 8, 9 and 10 of the probe list that the
metrics are defined on.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from compactlab.transcript import Block

Kind = Literal["constraint", "preference", "decision", "rejected", "reason", "todo", "request"]
KINDS: tuple[Kind, ...] = ("constraint", "preference", "decision", "rejected", "reason", "todo", "request")

Polarity = Literal["", "must", "must_not"]
"""What a demand says about its object; empty where that is no question, as with a request."""

State = Literal["", "open", "done"]


class Statement(msgspec.Struct, frozen=True, omit_defaults=True):
    """One statement, in its own words, with what it is told apart by.

    `text` is verbatim; `sentence` is the sentence around it. `objects` are the stems of its content words in order,
    without those of its cue; `scope` those of the words that narrow it; `numbers` as written. `homes` are the blocks
    that say it, `earlier` the statements that it took the place of.
    """

    kind: Kind
    text: str
    sentence: str = ""
    objects: tuple[str, ...] = ()
    scope: tuple[str, ...] = ()
    numbers: tuple[str, ...] = ()
    polarity: Polarity = ""
    is_strong: bool = True
    state: State = ""
    homes: tuple[Block, ...] = ()
    earlier: tuple[Statement, ...] = ()

    @property
    def identity(self) -> tuple[object, ...]:
        """What two statements share that say the same."""
        return (self.kind, self.objects, self.scope, self.numbers, self.polarity, self.state)
