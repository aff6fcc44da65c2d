"""The strategy of the study: it keeps a random part of the middle, by the seed that it is given.

Each unit outside the protected set stays or goes by itself, whatever becomes of the others. Under equal seeds what
stays at a smaller share is among what stays at a larger one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import ClassVar

from compactlab.errors import SpecError
from compactlab.history import protected, units
from compactlab.strategies import Compacted, Context, Strategy
from compactlab.transcript import Message, Messages

WORDS = "words"


@dataclass(frozen=True, repr=False)
class Drawn(Strategy):
    """Keep each unit with the probability `keep`, one of a `kind` with `share` instead.

    The kind is `words`, units without a call, or the name of a tool, units with a call of it; empty for none.
    """

    keep: float = 0.7
    kind: str = ""
    share: float = 0.7
    stochastic: ClassVar[bool] = True

    def __post_init__(self) -> None:
        """Refuse what is no probability."""
        for name in ("keep", "share"):
            if not 0 <= getattr(self, name) <= 1:
                raise SpecError(f"{name} is {getattr(self, name)!r}; expected a share from 0 to 1")

    def compact(self, messages: Messages, context: Context) -> Compacted:
        """Draw once for every unit, so that one that stays or goes changes nothing for those behind it."""
        draw, held = Random(context.seed), protected(messages)
        kept = {i for unit in units(messages) if draw.random() < self.chance([messages[i] for i in unit]) for i in unit}
        return Compacted([message for i, message in enumerate(messages) if i in kept or i in held])

    def chance(self, unit: Sequence[Message]) -> float:
        """The probability with which a unit outside the protected set stays."""
        if not self.kind:
            return self.keep
        called = {call.name for message in unit for call in message.calls}
        return self.share if self.kind in called or (self.kind == WORDS and not called) else self.keep
