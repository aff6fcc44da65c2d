"""Survival of facts over compactions: the curve of Kaplan and Meier, with intervals, by `scipy.stats.ecdf`.

A life begins when a fact stands anew. It ends when a compaction drops the fact, or is censored: it was said again,
or the session ended. S(k) = product over j <= k of (1 - lost_j / at risk_j), where a life is at risk at pass j if it
went through j passes or more (Kaplan and Meier, "Nonparametric estimation from incomplete observations", 1958). The
intervals of a curve are those on the log-log scale with Greenwood's variance; they take each life as one observation.
Facts of one session fall together, so for an interval over sessions `alive` is resampled by stories (`bootstrap`).
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from compactlab.front import Floats
from compactlab.stats import CONFIDENCE

HALF = 0.5
Lives = Mapping[int, tuple[int, int]]
"""By the number of passes that lives went through: how many were lost at the last of these, and how many in all."""


class Survival(NamedTuple):
    """A curve: after each of `passes`, the share `alive`, from `low` to `high` where an interval is defined."""

    lives: int
    lost: int
    passes: tuple[int, ...]
    alive: tuple[float, ...]
    low: tuple[float | None, ...]
    high: tuple[float | None, ...]

    def after(self, passes: int) -> float:
        """The share that is alive after so many passes; behind the last one observed, what was alive there.

        >>> survival({1: (1, 4), 3: (0, 6)}).after(2)
        0.9
        """
        return next((a for k, a in zip(self.passes[::-1], self.alive[::-1], strict=True) if k <= passes), 1.0)

    @property
    def median(self) -> int | None:
        """The first pass after which no more than half is alive; None if it never comes.

        >>> survival({1: (3, 4), 2: (1, 2)}).median, survival({1: (1, 4)}).median
        (1, None)
        """
        return self._first(self.alive)

    @property
    def median_range(self) -> tuple[int | None, int | None]:
        """Where the bounds of the curve cross one half (Brookmeyer and Crowley 1982); None where one does not.

        Where nothing is alive there are no bounds; the lower one is no higher than the curve.
        """
        lowest = [a if low is None else low for a, low in zip(self.alive, self.low, strict=True)]
        return self._first(lowest), self._first(self.high)

    def _first(self, curve: Sequence[float | None]) -> int | None:
        return next((k for k, a in zip(self.passes, curve, strict=True) if a is not None and a <= HALF), None)


def survival(lives: Lives) -> Survival | None:
    """Estimate the curve of some lives; None where there are none.

    >>> curve = survival({1: (2, 4), 2: (2, 2), 3: (0, 4)})
    >>> curve.passes, [round(a, 2) for a in curve.alive]
    ((1, 2, 3), [0.8, 0.53, 0.53])
    """
    lost = [k for k, (gone, _) in sorted(lives.items()) for _ in range(gone)]
    kept = [k for k, (gone, n) in sorted(lives.items()) for _ in range(n - gone)]
    if not lost and not kept:
        return None
    from scipy.stats import CensoredData, ecdf

    curve = ecdf(CensoredData(uncensored=lost, right=kept)).sf
    with warnings.catch_warnings():  # at 0 and 1 the interval is not defined, and scipy says so aloud
        warnings.simplefilter("ignore", RuntimeWarning)
        bounds = curve.confidence_interval(confidence_level=CONFIDENCE, method="log-log")
    return Survival(
        lives=len(lost) + len(kept),
        lost=len(lost),
        passes=tuple(int(k) for k in curve.quantiles),
        alive=tuple(float(a) for a in curve.probabilities),
        low=tuple(map(_known, bounds.low.probabilities)),
        high=tuple(map(_known, bounds.high.probabilities)),
    )


def _known(value: float) -> float | None:
    return None if math.isnan(value) else float(value)


def alive(lost: Floats, ended: Floats) -> Floats:
    """S at the last pass of each of many weighted samples: arrays (..., passes 1, 2, ... k and one for all beyond).

    *lost* are the lives lost at each pass, *ended* all that ended there, censored ones included. NaN for a sample
    without lives; the same as `survival` where the weights are 1.

    >>> alive(np.array([2.0, 2.0, 0.0]), np.array([4.0, 2.0, 4.0])).round(2).tolist()
    0.53
    """
    at_risk = np.cumsum(ended[..., ::-1], axis=-1)[..., ::-1]
    with np.errstate(divide="ignore", invalid="ignore"):
        left = np.where(at_risk > 0, 1 - lost / at_risk, 1.0)[..., :-1].prod(axis=-1)
    return np.where(at_risk[..., 0] > 0, left, np.nan)
