"""LangChain itself, as of 1.5: trimming, the clearing of tool uses, and its summarising middleware.

Known faults:

- `trim_messages` without `start_on` may begin with a result whose call went.
- Of what goes, `summarization` shows its model the newest `trim_tokens_to_summarize` tokens alone: the rest is in no
  summary. That stretch must begin with a person's words: where the newest stand further back, the model is not asked at
  all, and one line that says so takes the place of the history.
- The first request is kept by none of the three but as it happens to stand among the newest.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from compactlab.adapters import Adapter
from compactlab.errors import SpecError
from compactlab.strategies import Context

ENVIRONMENT = "langchain"
Size = tuple[str, int]


@dataclass(frozen=True, repr=False)
class TrimMessages(Adapter):
    """`langchain_core.messages.trim_messages`; a target wins over `max_tokens`; 0 is half of the weight."""

    max_tokens: int = 0
    strategy: Literal["first", "last"] = "last"
    allow_partial: bool = False
    start_on: str = ""
    end_on: str = ""

    environment: ClassVar[str] = ENVIRONMENT
    call: ClassVar[str] = "trim_messages"
    choices: ClassVar[dict[str, tuple[str, ...]]] = {
        "strategy": ("first", "last"),
        "start_on": ("", "human", "ai", "tool"),
        "end_on": ("", "human", "ai", "tool"),
    }

    def options(self, context: Context, weight: int) -> dict[str, Any]:
        given = {name: value for name, value in super().options(context, weight).items() if value != ""}
        return given | {"max_tokens": self.room(context, weight, self.max_tokens)}


@dataclass(frozen=True, repr=False)
class ClearToolUses(Adapter):
    """`ClearToolUsesEdit`, what `ContextEditingMiddleware` runs; a target takes the place of `trigger`."""

    trigger: int = 100_000
    clear_at_least: int = 0
    keep: int = 3
    clear_tool_inputs: bool = False
    exclude_tools: tuple[str, ...] = ()
    placeholder: str = "[cleared]"

    environment: ClassVar[str] = ENVIRONMENT
    call: ClassVar[str] = "clear_tool_uses"

    def options(self, context: Context, weight: int) -> dict[str, Any]:
        trigger = min(self.trigger, weight - 1) if context.target is None else context.target
        return super().options(context, weight) | {"trigger": trigger}


@dataclass(frozen=True, repr=False)
class Summarization(Adapter):
    """`SummarizationMiddleware`: all but the newest `keep` go to the model, which is asked in its own words."""

    keep: Size = ("messages", 20)
    trim_tokens_to_summarize: int = 4_000

    environment: ClassVar[str] = ENVIRONMENT
    call: ClassVar[str] = "summarization"
    uses_model: ClassVar[bool] = True

    def _check(self, name: str, default: object) -> None:
        if name != "keep":
            super()._check(name, default)
        elif not _is_size(self.keep):
            raise SpecError(f"keep is {self.keep!r}; expected ('messages', N) or ('tokens', N)")

    def options(self, context: Context, weight: int) -> dict[str, Any]:
        return super().options(context, weight) | {"trigger": ("tokens", context.target or 1)}


def _is_size(value: object) -> bool:
    if not isinstance(value, tuple) or len(value) != 2 or value[0] not in ("messages", "tokens"):
        return False
    return isinstance(value[1], int) and not isinstance(value[1], bool) and value[1] > 0
