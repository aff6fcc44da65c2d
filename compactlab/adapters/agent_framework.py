"""Microsoft Agent Framework itself, as of 1.23: the strategies that `apply_compaction` takes.

Where the framework has no default, as for the size of a window, ours stands. Triggers are taken as reached.

Known faults:

- `sliding_window` counts groups, never sizes, and keeps no task.
- `summarization` puts its summary in as the agent's own words, and passes over a model that fails without a word.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from compactlab.adapters import Adapter
from compactlab.strategies import Context

ENVIRONMENT = "agent_framework"


@dataclass(frozen=True, repr=False)
class SlidingWindow(Adapter):
    """`SlidingWindowStrategy`: system messages and the newest groups, a call and its results being one."""

    keep_last_groups: int = 10
    preserve_system: bool = True

    environment: ClassVar[str] = ENVIRONMENT
    call: ClassVar[str] = "sliding_window"
    has_system: ClassVar[bool] = True


@dataclass(frozen=True, repr=False)
class Truncation(Adapter):
    """`TruncationStrategy`: the oldest groups go until `compact_to` tokens are left; 0 is the target, or half."""

    compact_to: int = 0
    preserve_system: bool = True
    preserve_first_user_group: bool = False

    environment: ClassVar[str] = ENVIRONMENT
    call: ClassVar[str] = "truncation"
    has_system: ClassVar[bool] = True

    def options(self, context: Context, weight: int) -> dict[str, Any]:
        least = self.room(context, weight, self.compact_to)
        return super().options(context, weight) | {"compact_to": least, "max_n": least}


@dataclass(frozen=True, repr=False)
class SelectiveToolCall(Adapter):
    """`SelectiveToolCallCompactionStrategy`: calls and their results go, but for the newest groups."""

    keep_last_tool_call_groups: int = 1

    environment: ClassVar[str] = ENVIRONMENT
    call: ClassVar[str] = "selective_tool_call"
    has_system: ClassVar[bool] = True


@dataclass(frozen=True, repr=False)
class ToolResults(Adapter):
    """`ToolResultCompactionStrategy`: older calls and results become short summaries, made by code."""

    keep_last_tool_call_groups: int = 1

    environment: ClassVar[str] = ENVIRONMENT
    call: ClassVar[str] = "tool_result"
    has_system: ClassVar[bool] = True


@dataclass(frozen=True, repr=False)
class Summarization(Adapter):
    """`SummarizationStrategy`: all but the newest `target_count` messages go to the model, in the framework's words."""

    target_count: int = 4
    threshold: int = 2

    environment: ClassVar[str] = ENVIRONMENT
    call: ClassVar[str] = "summarization"
    has_system: ClassVar[bool] = True
    uses_model: ClassVar[bool] = True
