"""The rule of the gate: non-inferiority with a margin (M17), judged on a corpus that is frozen.

The sessions are the same on both sides and are not a sample that could have come out otherwise: what varies is what a
strategy draws or a model says. So the error of a difference is that of its replicates, and how sessions differ from
each other is no part of it (metric study 14: with one draw of the sessions an unchanged run passes one time in ten).
Replicate r of the run is paired with replicate r of the baseline; its difference D_r is the mean over sessions of
theirs. The interval is mean(D) ± t_(R-1) sd(D) / sqrt(R), whether or not the sessions of one replicate vary together.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import sqrt
from typing import NamedTuple

from compactlab.gate.outcome import Verdict
from compactlab.stats import CONFIDENCE, MARGIN, t_quantile

__all__ = ["MARGIN", "Interval", "fallen", "paired", "verdict"]

ROUNDING = 1e-9
"""Differences of shares smaller than this are rounding."""


class Interval(NamedTuple):
    """A difference, run less baseline, with its 95 % interval over replicates; no bounds of a single one."""

    difference: float
    low: float | None
    high: float | None


def paired(differences: Mapping[str, Sequence[float]]) -> Interval:
    """Estimate the mean over sessions of *differences*: by session one for each replicate, as many for all.

    `ValueError` where there are none, or sessions have different numbers of them.

    >>> found = paired({"garden": [0.1, -0.1, 0.0], "novel": [0.0, 0.1, 0.2]})
    >>> [round(value, 3) for value in found]
    [0.05, -0.074, 0.174]
    >>> paired({"garden": [0.1], "novel": [0.3]})
    Interval(difference=0.2, low=None, high=None)
    """
    by_replicate = [sum(row) / len(row) for row in zip(*differences.values(), strict=True)]
    if not by_replicate:
        raise ValueError("no differences; expected one session or more, with one replicate or more")
    return _interval(by_replicate, (1 + CONFIDENCE) / 2)


def fallen(differences: Mapping[str, Sequence[float]], margin: float) -> tuple[str, ...]:
    """Name the sessions that alone fell by more than *margin*: the interval of each lies below it.

    The level is divided by the number of sessions (Bonferroni), so that many sessions raise no more false alarms than
    one. A session with one replicate is told by its difference where all have one, as those of no chance have.

    >>> fallen({"garden": [0.0, 0.02, -0.02], "novel": [-0.5, -0.52, -0.48]}, 0.05)
    ('novel',)
    """
    below = 1 - (1 - CONFIDENCE) / 2 / max(1, len(differences))
    found = {session: _interval(values, below) for session, values in differences.items() if values}
    ends = {session: of.difference if of.high is None else of.high for session, of in found.items()}
    return tuple(session for session, end in ends.items() if end < -margin - ROUNDING)


def verdict(interval: Interval, margin: float) -> Verdict:
    """Pass if the whole interval lies above -margin, fail if it lies below, else inconclusive (M17).

    >>> [verdict(Interval(-0.03, low, high), 0.05) for low, high in ((-0.04, -0.02), (-0.08, 0.02), (-0.09, -0.06))]
    ['pass', 'inconclusive', 'fail']
    >>> verdict(Interval(0.1, None, None), 0.05)
    'inconclusive'
    """
    if interval.low is None or interval.high is None:
        return "inconclusive"
    if interval.low > -margin:
        return "pass"
    return "fail" if interval.high < -margin else "inconclusive"


def _interval(values: Sequence[float], below: float) -> Interval:
    """The mean of some values with its interval by t, *below* of whose distribution lies under the upper end."""
    count = len(values)
    mean = sum(values) / count
    if count < 2:
        return Interval(mean, None, None)
    error = sqrt(sum((value - mean) ** 2 for value in values) / (count - 1) / count)
    half = error * t_quantile(count - 1, below)
    return Interval(mean, mean - half, mean + half)
