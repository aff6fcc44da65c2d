"""Measure what an agent still knows after its context was compacted.

Read the package in the order of its one direction: a file becomes a `Transcript` (readers), its messages are compacted
by a strategy under the guard (compaction), scored (metrics), written as records (harness, results) and shown (report).
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from compactlab.catalog import strategy as strategy
    from compactlab.compaction import Compaction as Compaction
    from compactlab.compaction import compact as compact
    from compactlab.errors import CompactlabError as CompactlabError
    from compactlab.harness import Settings as Settings
    from compactlab.harness import run as run
    from compactlab.readers import read as read
    from compactlab.readers import write as write
    from compactlab.results import Results as Results
    from compactlab.strategies import Compacted as Compacted
    from compactlab.strategies import Context as Context
    from compactlab.strategies import Strategy as Strategy
    from compactlab.tokens import Meter as Meter
    from compactlab.transcript import Image as Image
    from compactlab.transcript import Message as Message
    from compactlab.transcript import Reasoning as Reasoning
    from compactlab.transcript import Text as Text
    from compactlab.transcript import ToolCall as ToolCall
    from compactlab.transcript import ToolResult as ToolResult
    from compactlab.transcript import Transcript as Transcript

__version__ = "0.1.0"

_HOME = {
    "strategy": "catalog",
    "Compaction": "compaction",
    "compact": "compaction",
    "CompactlabError": "errors",
    "Settings": "harness",
    "run": "harness",
    "read": "readers",
    "write": "readers",
    "Results": "results",
    "Compacted": "strategies",
    "Context": "strategies",
    "Strategy": "strategies",
    "Meter": "tokens",
    "Image": "transcript",
    "Message": "transcript",
    "Reasoning": "transcript",
    "Text": "transcript",
    "ToolCall": "transcript",
    "ToolResult": "transcript",
    "Transcript": "transcript",
}

__all__ = ["__version__", *_HOME]  # noqa: PLE0604  # names of strings, loaded on first use


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module 'compactlab' has no attribute {name!r}")
    return getattr(importlib.import_module(f"compactlab.{_HOME[name]}"), name)
