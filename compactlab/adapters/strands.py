"""Strands itself, as of 1.62: one `reduce_context` of its conversation managers, as it does when the context is full.

Known faults:

- `sliding_window` keeps no task, and counts messages, never sizes.
- `summarizing` sums up the oldest 30 % of the messages, whatever they weigh.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from compactlab.adapters import Adapter

ENVIRONMENT = "strands"


@dataclass(frozen=True, repr=False)
class SlidingWindow(Adapter):
    """`SlidingWindowConversationManager`: the newest `window_size` messages, results of one response being one."""

    window_size: int = 40

    environment: ClassVar[str] = ENVIRONMENT
    call: ClassVar[str] = "sliding_window"


@dataclass(frozen=True, repr=False)
class Summarizing(Adapter):
    """`SummarizingConversationManager`: the oldest `summary_ratio` go to the model, the newest stay in any case."""

    summary_ratio: float = 0.3
    preserve_recent_messages: int = 10

    environment: ClassVar[str] = ENVIRONMENT
    call: ClassVar[str] = "summarizing"
    uses_model: ClassVar[bool] = True
