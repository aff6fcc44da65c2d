"""M15, speed: seconds of each compaction, and thousands of tokens of the view that one second goes through.

Never a record, since no two runs take the same time: a run keeps what `timed` gives in `timings.jsonl` alone, and the
table `speed` is made of that. p50 and p95 are nearest ranks: the smallest value that is no smaller than half, or 95 %,
of all. kTok/s = sum of the views' weights before / 1000 / sum of the seconds. Formulas: M15 of the metrics page.

>>> speed([(0.01, 1_000), (0.02, 3_000), (0.03, 4_000), (0.14, 12_000)])
Speed(fires=4, p50=0.02, p95=0.14, thousands=100.0)
"""

from __future__ import annotations

from collections.abc import Iterable
from math import ceil
from typing import NamedTuple

from compactlab.replay import Replay

Timed = tuple[float, int]
"""Seconds of one fire, and the weight of the view before it in tokens."""


class Speed(NamedTuple):
    """Over some fires: the median and the 95 % quantile of their seconds, and thousands of tokens a second."""

    fires: int
    p50: float
    p95: float
    thousands: float


def timed(replay: Replay) -> tuple[Timed, ...]:
    """Give seconds and tokens of each fire, in order."""
    return tuple((s, fire.tokens_before) for s, fire in zip(replay.seconds, replay.fires, strict=True))


def speed(fires: Iterable[Timed]) -> Speed | None:
    """Give the speed of some fires; None where there are none, or they took no time at all."""
    fires = tuple(fires)
    seconds = sorted(taken for taken, _ in fires)
    total = sum(seconds)
    if total <= 0:
        return None
    p50, p95 = (seconds[ceil(share * len(seconds)) - 1] for share in (0.5, 0.95))
    return Speed(len(fires), p50, p95, round(sum(tokens for _, tokens in fires) / 1000 / total, 6))
