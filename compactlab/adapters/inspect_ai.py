"""Inspect AI itself, as of 0.3.285: its strategies that edit, trim, and sum up; memory off, since no tool is there.

The task is what stands before and with the first message of a person. Counts by the run's own counter.

Known faults:

- All three drop what the agent said last where it stands at the end, and `trim` a call whose result is still to come.
- `edit` with `keep_tool_inputs=False` takes a call out of a response: the guard holds that as a broken unit.
- `summary` keeps the task and nothing else word for word: no message of a person after the first.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from compactlab.adapters import Adapter

ENVIRONMENT = "inspect_ai"


@dataclass(frozen=True, repr=False)
class Edit(Adapter):
    """`CompactionEdit`: reasoning of older responses goes, and results but for the newest `keep_tool_uses`."""

    keep_thinking_turns: int | str = 1
    keep_tool_uses: int = 3
    keep_tool_inputs: bool = True
    exclude_tools: tuple[str, ...] = ()

    environment: ClassVar[str] = ENVIRONMENT
    call: ClassVar[str] = "edit"
    has_system: ClassVar[bool] = True

    def _check(self, name: str, default: object) -> None:
        if name != "keep_thinking_turns" or self.keep_thinking_turns != "all":
            super()._check(name, default)


@dataclass(frozen=True, repr=False)
class Trim(Adapter):
    """`CompactionTrim`: the system prompt, the task, and the newest `preserve` of the conversation stay."""

    preserve: float = 0.8

    environment: ClassVar[str] = ENVIRONMENT
    call: ClassVar[str] = "trim"
    has_system: ClassVar[bool] = True


@dataclass(frozen=True, repr=False)
class Summary(Adapter):
    """`CompactionSummary`: the system prompt and the task stay, all else goes to the model in Inspect's own words."""

    environment: ClassVar[str] = ENVIRONMENT
    call: ClassVar[str] = "summary"
    has_system: ClassVar[bool] = True
    uses_model: ClassVar[bool] = True
