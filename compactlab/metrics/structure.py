"""M12, structural validity: whether a provider that took the repaired history would take the compacted one.

`valid` is 1 if no rule of the sets openai and anthropic is broken that the input kept, else 0; `parted` counts units
that lost a part. Both are promises of the guard, measured here again on the result, by other code.
"""

from __future__ import annotations

from collections.abc import Iterator

from compactlab.metrics import Score, Trial
from compactlab.transcript import Message, Messages
from compactlab.validity import broken


def measure(trial: Trial) -> Iterator[Score]:
    """Yield validity and the number of parted pairs; nothing for a control, which no provider is ever sent."""
    if trial.receipt is None:
        return
    yield Score("valid", float(not broken(trial.messages) - broken(trial.case.base)))
    yield Score("parted", float(_parted(trial.messages, trial.case.base)))


def _parted(after: Messages, before: Messages) -> int:
    """Calls or results in the compacted list whose counterpart stood before and does not stand now."""
    had_calls, had_results = _ids(before)
    calls, results = _ids(after)
    return len((calls & had_results) - results) + len((results & had_calls) - calls)


def _ids(messages: tuple[Message, ...]) -> tuple[set[str], set[str]]:
    calls = {call.id for message in messages for call in message.calls}
    results = {result.call_id for message in messages for result in message.results}
    return calls, results
