"""M1, token accounting: what the history weighed before and after, in tokens of the case's counter.

`tokens_before`, `tokens_after`, and `model_tokens`, what calls of a model read and wrote to get there. The keep ratio
r = after / before and the savings s = 1 - r are made of their sums in a report.
"""

from __future__ import annotations

from collections.abc import Iterator

from compactlab.metrics import Score, Trial


def measure(trial: Trial) -> Iterator[Score]:
    """Yield the weights before and after."""
    yield Score("tokens_before", trial.case.tokens)
    yield Score("tokens_after", trial.tokens)
    if trial.receipt is not None and trial.receipt.model_calls:
        yield Score("model_tokens", trial.receipt.model_tokens)
