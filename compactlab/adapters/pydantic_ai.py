"""Pydantic AI itself, by the compaction of `pydantic-ai-harness` as of 0.62: what its `compact_now` takes.

The system prompt stands beside the messages, as Pydantic AI's instructions do; results that answer one response, and
words of a person that follow them, are one message there. Counts by the run's own counter.

Left out are its parts that need more than messages: a judge that answers in a schema (`RelevanceCompaction`), a rule
for which call reads which file (`DeduplicateFileReads`), and the one for single parts that ran away
(`ClampOversizedMessages`).

Known faults:

- `keep_tokens` is the least that stays, so a target is passed over by what the oldest message of the tail weighs.
- Calls and results are sought by id alone: where a session uses an id again, all that bear it are cleared.
- Of a result the model reads the first 500 characters, whatever stands behind them.
- `summarizing` keeps the first request and the newest messages; no other words of a person stay as they were said.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from compactlab.adapters import Adapter
from compactlab.strategies import Context

ENVIRONMENT = "pydantic_ai"


@dataclass(frozen=True, repr=False)
class SlidingWindow(Adapter):
    """`SlidingWindowCompaction`: the first request and the newest messages; by tokens where `keep_tokens` is not 0."""

    keep_messages: int = 40
    keep_tokens: int = 0
    preserve_first_user_message: bool = True

    environment: ClassVar[str] = ENVIRONMENT
    call: ClassVar[str] = "sliding_window"

    def options(self, context: Context, weight: int) -> dict[str, Any]:
        return super().options(context, weight) | {"keep_tokens": context.target or self.keep_tokens or None}


@dataclass(frozen=True, repr=False)
class ClearToolResults(Adapter):
    """`ClearToolResults`: results become a placeholder, but for those of the newest `keep_pairs` calls."""

    keep_pairs: int = 3
    placeholder: str = "[tool result cleared]"
    exclude_tools: tuple[str, ...] = ()
    clear_tool_inputs: bool = False
    min_clear_tokens: int = 0

    environment: ClassVar[str] = ENVIRONMENT
    call: ClassVar[str] = "clear_tool_results"


@dataclass(frozen=True, repr=False)
class Summarizing(Adapter):
    """`SummarizingCompaction`: all between the first request and the newest messages goes to the model.

    Half of a target takes the place of `keep_tokens`, the rest is for the summary.
    """

    keep_messages: int = 20
    keep_tokens: int = 0
    preserve_first_user_message: bool = True
    keep_user_messages: bool = False
    keep_user_messages_max_chars: int = 20_000
    tool_return_max_chars: int = 500

    environment: ClassVar[str] = ENVIRONMENT
    call: ClassVar[str] = "summarizing"
    uses_model: ClassVar[bool] = True

    def options(self, context: Context, weight: int) -> dict[str, Any]:
        half = max(1, context.target // 2) if context.target else None
        return super().options(context, weight) | {"keep_tokens": half or self.keep_tokens or None}


@dataclass(frozen=True, repr=False)
class Tiered(Adapter):
    """`TieredCompaction` as its page shows it: results are cleared, and if that is not enough the model sums up.

    A target takes the place of `target_tokens`; 0 is half of the weight.
    """

    target_tokens: int = 0
    keep_pairs: int = 3
    keep_messages: int = 20

    environment: ClassVar[str] = ENVIRONMENT
    call: ClassVar[str] = "tiered"
    uses_model: ClassVar[bool] = True

    def options(self, context: Context, weight: int) -> dict[str, Any]:
        return super().options(context, weight) | {"target_tokens": self.room(context, weight, self.target_tokens)}
