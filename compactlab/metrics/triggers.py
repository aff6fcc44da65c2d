"""M13, trigger behaviour: when a policy fired, what came of it, and whether the session came to its end.

| score | value | n |
|---|---|---|
| `fires` | fires, each outcome counted | turns |
| `fire` | fires that came to the outcome `group` | fires |
| `wasted` | fires that freed less than 10 % of the view, skipped and rejected ones too | fires but deferred ones |
| `thrash` | fires less than 5 turns behind the one before | such pairs |
| `first_fire` | the turn of the first fire, from 1 | 1 |
| `forced` | fires without which the request would not have fitted | fires |
| `split_units`, `open_tasks` | units left in parts; fires amid items in progress | applied fires |
| `narrowed`, `shortened` | turns with less than the full output allowance; answers that were cut | turns |
| `tokens_cut`, `calls_over` | tokens cut off; calls beyond the allowance, never cut | 1 |
| `fill`, `peak` | share of the window that was sent: over all turns; the highest | turns; 1 |
| `overflow`, `overflow_unfired` | 1 if the session ended early; 1 if nothing had been compacted by then | 1 |

A deferred fire does nothing on purpose: it is neither wasted nor thrash. A mark that stays reached fires once (see
`pressure.crossed`). Formulas: M13 of the metrics page; 10 % is the least progress that OpenHands asks for.

>>> wasted(1_000, 901), wasted(1_000, 900), wasted(0, 0)
(True, False, True)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise

from compactlab.metrics import Score
from compactlab.pressure import OUTPUT_LIMIT
from compactlab.replay import Fire, Replay, Turn

THRASH = 5
"""Turns between two fires below which the second is thrash."""


def replayed(replay: Replay) -> Iterator[Score]:
    """Yield all of the table above; what has no n is left out, and all of it where there was no request at all."""
    if replay.turns or replay.overflow:
        yield Score("overflow", float(bool(replay.overflow)))
        yield Score("overflow_unfired", float(bool(replay.overflow) and not any(fire.applied for fire in replay.fires)))
    if replay.turns:
        yield Score("fires", float(len(replay.fires)), len(replay.turns))
        yield from _of_turns(replay.turns, replay.window)
    if replay.fires:
        yield from _of_fires(replay.fires)


def wasted(before: int, after: int) -> bool:
    """True if a fire that went from *before* to *after* tokens freed less than a tenth of the view, or nothing."""
    return (before - after) * 10 < before or before <= after


def _of_fires(fires: Sequence[Fire]) -> Iterator[Score]:
    for outcome, n in sorted(Counter(fire.outcome for fire in fires).items()):
        yield Score("fire", float(n), len(fires), group=outcome)
    yield Score("first_fire", float(fires[0].turn + 1))
    yield Score("forced", float(sum(fire.forced for fire in fires)), len(fires))
    tried = [fire for fire in fires if fire.outcome != "deferred"]
    if tried:
        yield Score("wasted", float(sum(wasted(f.tokens_before, f.tokens_after) for f in tried)), len(tried))
    if len(tried) > 1:
        close = sum(later.turn - earlier.turn < THRASH for earlier, later in pairwise(tried))
        yield Score("thrash", float(close), len(tried) - 1)
    applied = [fire for fire in fires if fire.applied]
    if applied:
        yield Score("split_units", float(sum(fire.split_units for fire in applied)), len(applied))
        yield Score("open_tasks", float(sum(fire.open_tasks > 0 for fire in applied)), len(applied))


def _of_turns(turns: Sequence[Turn], window: int) -> Iterator[Score]:
    yield Score("narrowed", float(sum(turn.allowance < OUTPUT_LIMIT for turn in turns)), len(turns))
    yield Score("shortened", float(sum(turn.cut > 0 for turn in turns)), len(turns))
    yield Score("tokens_cut", float(sum(turn.cut for turn in turns)))
    yield Score("calls_over", float(sum(turn.calls_over for turn in turns)))
    yield Score("fill", sum(turn.tokens for turn in turns) / window, len(turns))
    yield Score("peak", max(turn.tokens for turn in turns) / window)
