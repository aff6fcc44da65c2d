"""M11, re-derivation debt, and the tokens that a task is predicted to take.

A debt is a tool result that a compaction evicted though a later action relied on it: it would have to be fetched again,
once for each eviction (`replay.Debt`). `debt` are the tokens of these results, `debts` counts them. `sent` is what all
requests held, `own_tokens` what the strategy's own calls of a model read and wrote. The predicted tokens per task are

    task_tokens = sent + own_tokens + debt

`sent_plain` is what the same requests would have held with no window and no policy. A report makes of them the raw
savings 1 - sent / sent_plain, the net savings 1 - (sent + own_tokens) / sent_plain (M1), and with the debt
1 - task_tokens / sent_plain: an honest offline stand-in for tokens per task. It counts a debt once; what was fetched
again would go along with later requests too, and take a call. Formulas: M1 and M11 of the metrics page.
A session that ended in an overflow yields none of them: its task is unfinished.

>>> {score.metric: score.value for score in of_task(sent=900, plain=2_000, own=100, debts=(40, 10))}
{'sent': 900.0, 'sent_plain': 2000.0, 'own_tokens': 100.0, 'debt': 50.0, 'debts': 2.0, 'task_tokens': 1050.0}
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from compactlab.metrics import Score
from compactlab.replay import Replay


def replayed(replay: Replay) -> Iterator[Score]:
    """Yield the tokens of a session that came to its end; nothing where there was no request."""
    if replay.overflow or not replay.turns:
        return
    sent = sum(turn.tokens for turn in replay.turns)
    own = sum(fire.model_tokens for fire in replay.fires)
    yield from of_task(sent, replay.sent_plain, own, [debt.tokens for debt in replay.debts])


def of_task(sent: int, plain: int, own: int, debts: Sequence[int]) -> Iterator[Score]:
    """Yield what was sent, what would have been, and what comes on top: all in tokens, but for the number of debts."""
    debt = sum(debts)
    yield Score("sent", float(sent))
    yield Score("sent_plain", float(plain))
    yield Score("own_tokens", float(own))
    yield Score("debt", float(debt))
    yield Score("debts", float(len(debts)))
    yield Score("task_tokens", float(sent + own + debt))
