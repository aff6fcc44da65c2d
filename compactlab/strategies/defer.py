"""`defer`: nothing is compacted, on purpose and with a reason.

Follows the seed document's Defer: the agent goes on, its output allowance narrows above the last mark
(`compactlab.pressure.allowance`, never below 512 tokens) and the turn ends by itself. The seeds call the choice
`ignore_compaction(reason)`.
"""

from __future__ import annotations

from dataclasses import dataclass

from compactlab.errors import SpecError
from compactlab.strategies import Compacted, Context, Strategy
from compactlab.transcript import Messages

ALIASES = ("ignore_compaction",)


@dataclass(frozen=True, repr=False)
class Defer(Strategy):
    """Decline, and say why; the guard's outcome is `deferred`."""

    reason: str = "compaction would lose more than it saves"

    def __post_init__(self) -> None:
        if not isinstance(self.reason, str) or not self.reason.strip():
            raise SpecError(f"reason is {self.reason!r}; expected words")

    def compact(self, messages: Messages, context: Context) -> Compacted:  # noqa: ARG002
        return Compacted(messages, deferred=self.reason)
