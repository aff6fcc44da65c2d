"""Token counts of a rollout, each given to the response that it counts.

A `token_count` stands before the items of its response in versions of 2025, behind them in later ones, and is often
written again when the next response begins. So equal ones in a row count once, and belong to the last response before
the last of them; if that has its counts already, to the one that follows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec.structs import replace

from compactlab.readers._fields import count, mapping
from compactlab.readers._usage import openai_usage

if TYPE_CHECKING:
    from collections.abc import Sequence

    from compactlab.transcript import Usage

NO_RESPONSE = "token_count of no response in the file"
REPEATED = "token_count written again"


@dataclass
class _Run:
    """A count and its repetitions: how many responses there were at the last of them."""

    usage: Usage
    total: int
    responses: int
    times: int = 1


class Before(NamedTuple):
    """What was counted last before a compaction: which run, and how many responses there were."""

    run: int
    responses: int


class Tokens:
    """The counts of a session, taken one by one."""

    def __init__(self) -> None:
        self._runs: list[_Run] = []
        self._key: object = None
        self._whole: dict[str, Any] = {}
        self._settled: dict[int, Usage] = {}
        self._compacted: set[int] = set()
        self.estimate: int | None = None
        self.dropped = 0

    def take(self, info: object, responses: int) -> bool:
        """Take a count after that many responses; whether it tells of a response that none has told of before.

        One without input and output is an estimate of the harness, of the context that a compaction left.
        """
        told = mapping(info)
        last, whole = mapping(told.get("last_token_usage")), mapping(told.get("total_token_usage"))
        if self._key == (last, whole):
            if self.estimate is None and self._runs:
                self._runs[-1].responses = responses
                self._runs[-1].times += 1
            return False
        self._key = last, whole
        self._whole = whole or self._whole
        usage = openai_usage(None, last)
        total = count(last.get("total_tokens"))
        self.estimate = total or None if usage is None else None
        if usage is not None:
            self._runs.append(_Run(usage, total or usage.input + usage.output, responses))
        return usage is not None

    def compacted(self, responses: int) -> Before:
        """Note a compaction after that many responses."""
        self._compacted.add(responses)
        return Before(len(self._runs) - 1, responses)

    def before(self, mark: Before) -> int | None:
        """Tokens in context at a compaction: those of the last response before it, or what its summariser was sent."""
        if not 0 <= mark.run < len(self._runs):
            return None
        run = self._runs[mark.run]
        own = run.responses == mark.responses and run.times == 1 and self._answers(mark.run)
        return run.usage.input if own else run.total

    def _answers(self, index: int) -> bool:
        """Whether a run counts a response that is not in the file, since the one before it has its counts already."""
        return any(run.responses == self._runs[index].responses for run in self._runs[:index])

    def usages(self, places: Sequence[int]) -> tuple[Usage, ...]:
        """The counts by response, whose indices among the messages are *places*; of them all, if only that was told."""
        self.settle(len(places))
        found = tuple(replace(usage, position=places[response]) for response, usage in sorted(self._settled.items()))
        whole = openai_usage(None, self._whole)
        return found or (() if whole is None else (whole,))

    def settle(self, responses: int) -> None:
        """Give the counts so far to the responses so far, of which only that many are kept."""
        for run in self._runs:
            chosen = run.responses - 1
            if chosen < 0 or chosen in self._settled:
                chosen = run.responses
                if run.times > 1 or chosen in self._settled or chosen in self._compacted:
                    self.dropped += 1
                    continue
            self._settled[chosen] = run.usage
        for response in [response for response in self._settled if response >= responses]:
            del self._settled[response]
            self.dropped += 1
        self._runs, self._key = [], None
