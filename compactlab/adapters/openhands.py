"""OpenHands itself, `openhands-sdk` as of 1.58: its condenser that asks a model, its last resort, and its no-op.

An event is the system prompt, a message, a call or a result. A pass that is called for stands for a request to
condense, which halves the events. Its other condenser runs these in a row. What earlier versions had beside them is in
our `openhands_recent`, `openhands_masking` and the rest.

Known faults:

- Of each event its model reads the first 500 characters, and of a call what the agent said before it and the class of
  the action: neither the tool's name nor one argument.
- Where a response carries signed or sealed reasoning, all calls from there to the next message are one piece: a border
  that falls in it moves to its end, and the newest calls go with the oldest.
- `hard_reset` leaves the system prompt and the summary; a summary may be blank.
- Only the first `keep_first` events stay as they were: of a person's later words none but the newest.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from compactlab.adapters import Adapter
from compactlab.strategies import Context

ENVIRONMENT = "openhands"


@dataclass(frozen=True, repr=False)
class LLMSummarizing(Adapter):
    """`LLMSummarizingCondenser`: the middle goes to the model; what stays is half of the events, or of `max_tokens`.

    A target takes the place of `max_tokens`, so that the summary has room beside that half; 0 is no limit.
    """

    max_size: int = 240
    max_tokens: int = 0
    keep_first: int = 2
    minimum_progress: float = 0.1

    environment: ClassVar[str] = ENVIRONMENT
    call: ClassVar[str] = "llm_summarizing"
    has_system: ClassVar[bool] = True
    uses_model: ClassVar[bool] = True

    def options(self, context: Context, weight: int) -> dict[str, Any]:
        most = self.max_tokens or None if context.target is None else min(context.target, weight - 1)
        return super().options(context, weight) | {"max_tokens": most, "requested": context.target is None}


@dataclass(frozen=True, repr=False)
class HardReset(Adapter):
    """`hard_context_reset`, its last resort: all but the system prompt goes to the model."""

    environment: ClassVar[str] = ENVIRONMENT
    call: ClassVar[str] = "hard_reset"
    has_system: ClassVar[bool] = True
    uses_model: ClassVar[bool] = True


@dataclass(frozen=True, repr=False)
class NoOp(Adapter):
    """`NoOpCondenser`: all that its view of the events leaves, which drops calls and results without a partner."""

    environment: ClassVar[str] = ENVIRONMENT
    call: ClassVar[str] = "no_op"
    has_system: ClassVar[bool] = True
