"""OpenHarness itself, `openharness-ai` 0.1.9, beside our `openharness`: its steps one by one.

Its messages have no ids: a message without calls is known again by its words.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from compactlab.adapters import Adapter

ENVIRONMENT = "openharness"


@dataclass(frozen=True, repr=False)
class Microcompact(Adapter):
    """`microcompact_messages`: results of its tools are cleared, but for the newest `keep_recent`."""

    keep_recent: int = 5

    environment: ClassVar[str] = ENVIRONMENT
    call: ClassVar[str] = "microcompact"


@dataclass(frozen=True, repr=False)
class Collapse(Adapter):
    """`try_context_collapse`: long texts lose their middles, but in the newest `preserve_recent` messages."""

    preserve_recent: int = 6

    environment: ClassVar[str] = ENVIRONMENT
    call: ClassVar[str] = "collapse"


@dataclass(frozen=True, repr=False)
class Conversation(Adapter):
    """`compact_conversation`, what `/compact` does: all but the newest messages go to the model."""

    preserve_recent: int = 6

    environment: ClassVar[str] = ENVIRONMENT
    call: ClassVar[str] = "conversation"
    uses_model: ClassVar[bool] = True
