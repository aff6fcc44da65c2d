"""`none`: nothing is removed. The ceiling of every table."""

from __future__ import annotations

from dataclasses import dataclass

from compactlab.strategies import Compacted, Context, Strategy
from compactlab.transcript import Messages


@dataclass(frozen=True, repr=False)
class KeepAll(Strategy):
    """Give back the messages as they are."""

    def compact(self, messages: Messages, context: Context) -> Compacted:  # noqa: ARG002
        return Compacted(messages)
