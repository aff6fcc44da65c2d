"""Fronts and areas of points (tokens saved, quality kept), both from 0 to 1 and both to be maximised (M6).

The non-dominated set and the hypervolume follow Zitzler and Thiele ("Multiobjective optimization using evolutionary
algorithms", 1998), the additive epsilon indicator Zitzler et al. ("Performance assessment of multiobjective
optimizers", 2003). The area under a curve of quality over budgets is taken over the logarithm of the budget, so that
halving the room counts the same wherever one stands.

Sets of points are arrays of shape (..., k, 2); leading axes are many sets at once, as resampling makes them. A point
that holds a NaN is no point. Shares below 0 count as 0, above 1 as 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import log

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]


def non_dominated(points: ArrayLike) -> list[int]:
    """Give the places of the points that no other beats: none is as good in both and better in one.

    By falling savings; equal points stand together, all or none of them. A point that holds a NaN is left out.

    >>> non_dominated([(0.9, 0.2), (0.5, 0.8), (0.4, 0.7), (0.0, 1.0)])
    [0, 1, 3]
    """
    found: list[int] = []
    best: tuple[float, float] | None = None
    array = np.asarray(points, float).reshape(-1, 2)
    pairs = [(float(saved), float(quality)) for saved, quality in array]
    known = [i for i, pair in enumerate(pairs) if not np.isnan(pair).any()]
    for i in sorted(known, key=lambda i: (-pairs[i][0], -pairs[i][1], i)):
        if best is None or pairs[i][1] > best[1] or pairs[i] == best:
            best = pairs[i]
            found.append(i)
    return found


def hypervolume(points: ArrayLike) -> Floats:
    """Give the area of the union of the rectangles [0, saved] x [0, quality]: 0 for no points, 1 for the ideal (1, 1).

    Sweep by falling savings: HV = sum over j of (s_j - s_(j+1)) max_(k <= j) Q_k, with s = 0 behind the last (M6).

    >>> round(float(hypervolume([(0.9, 0.2), (0.5, 0.8)])), 3)  # (0.9 - 0.5) 0.2 + 0.5 0.8
    0.48
    """
    array = _cleaned(points)
    saved, quality = array[..., 0], array[..., 1]
    order = np.argsort(-saved, axis=-1, kind="stable")
    saved = np.take_along_axis(saved, order, -1)
    highest = np.maximum.accumulate(np.take_along_axis(quality, order, -1), axis=-1)
    behind = np.concatenate([saved[..., 1:], np.zeros_like(saved[..., :1])], axis=-1)
    return np.asarray(((saved - behind) * highest).sum(axis=-1))


def _cleaned(points: ArrayLike) -> Floats:
    """The points within nought and one; those that hold a NaN at (0, 0), where they span no area."""
    array = np.asarray(points, float)
    if array.size == 0:
        array = array.reshape(*array.shape[:-2], 0, 2) if array.ndim > 1 else array.reshape(0, 2)
    return np.where(np.isnan(array).any(axis=-1, keepdims=True), 0.0, np.clip(array, 0.0, 1.0))


def contributions(points: ArrayLike) -> Floats:
    """Give for each point what the hypervolume loses without it; 0 for one that is dominated or stands twice.

    >>> contributions([(0.9, 0.2), (0.5, 0.8), (0.4, 0.7)]).round(3).tolist()
    [0.08, 0.1, 0.0]
    """
    array = _cleaned(points)
    return losses(array, np.eye(array.shape[-2], dtype=bool))


def losses(points: ArrayLike, groups: Sequence[ArrayLike] | NDArray[np.bool_]) -> Floats:
    """Give for each group of points, a row of k truths, what the hypervolume loses without all of them: (..., groups).

    >>> losses([(0.9, 0.2), (0.5, 0.8), (0.4, 0.7)], [(True, False, False), (False, True, True)]).round(3).tolist()
    [0.08, 0.3]
    """
    array = _cleaned(points)
    whole = hypervolume(array)
    without = [hypervolume(np.where(np.asarray(group, bool)[:, None], np.nan, array)) for group in groups]
    return np.stack([whole - left for left in without], axis=-1).clip(0.0) if without else np.zeros((*whole.shape, 0))


def additive_epsilon(one: ArrayLike, other: ArrayLike) -> float:
    """Give what must be added to both shares of the points of *other* until it is nowhere behind *one*.

    epsilon = max over a in one of min over b in other of max over k of (a_k - b_k) (M6): 0 for a set and itself, never
    over 1 for shares, under 0 where *other* is everywhere ahead. `ValueError` if one of them is empty.

    >>> round(additive_epsilon([(0.9, 0.2), (0.5, 0.8)], [(0.8, 0.2), (0.5, 0.5)]), 3)
    0.3
    """
    first, second = (np.asarray(points, float).reshape(-1, 2) for points in (one, other))
    if not len(first) or not len(second):
        raise ValueError("additive epsilon compares two sets: expected at least one point in each")
    return float(additive_epsilons(first, second))


def additive_epsilons(one: Floats, other: Floats) -> Floats:
    """Give `additive_epsilon` of many pairs of sets at once, (..., k, 2) and (..., m, 2): one value a pair.

    >>> first, second = np.array([[[0.9, 0.2]], [[0.5, 0.5]]]), np.array([[[0.8, 0.2]], [[0.5, 0.5]]])
    >>> additive_epsilons(first, second).round(3).tolist()
    [0.1, 0.0]
    """
    return np.asarray((one[..., :, None, :] - other[..., None, :, :]).max(axis=-1).min(axis=-1).max(axis=-1))


def aurc(budgets: Sequence[float], qualities: ArrayLike) -> Floats:
    """Give the area under quality over ln(budget), divided by the range of ln(budget): a mean quality from 0 to 1.

    AURC = integral of Q(B) d ln B / ln(B_max / B_min), straight between the measured budgets (M6). *qualities* has the
    shape (..., k), in the order of the k *budgets*; a NaN among them makes the area NaN. `ValueError` unless there are
    two or more budgets, all above 0, none twice.

    >>> round(float(aurc([10, 20, 40], [0.2, 0.4, 0.8])), 3)  # two spans of the same ratio: (0.3 + 0.6) / 2
    0.45
    """
    if len(set(budgets)) < max(2, len(budgets)) or min(budgets) <= 0:
        raise ValueError(f"budgets {list(budgets)}: expected two or more, all above 0, none twice")
    order = np.argsort(budgets)
    places = np.log(np.asarray(budgets, float)[order])
    kept = np.asarray(qualities, float)[..., order]
    spans = np.diff(places)
    return np.asarray(((kept[..., 1:] + kept[..., :-1]) / 2 * spans).sum(axis=-1) / spans.sum())


def quality_at(budget: float, measured: Sequence[tuple[float, float]]) -> float | None:
    """Read Q@B from measured (budget, quality) pairs, straight over ln(budget) between two; None outside of them.

    >>> quality_at(20, [(10, 0.2), (40, 0.6)])
    0.4
    >>> quality_at(5, [(10, 0.2), (40, 0.6)]) is None
    True
    """
    ordered = sorted(measured)
    for at, quality in ordered:
        if at == budget:
            return quality
    for (low, worse), (high, better) in pairwise(ordered):
        if low < budget < high:
            part = log(budget / low) / log(high / low)
            return round(worse + part * (better - worse), 12)
    return None


def tokens_at(quality: float, measured: Sequence[tuple[float, float]]) -> float | None:
    """Read tokens@q from (keep ratio, quality) pairs: the smallest keep ratio at which *quality* is reached.

    Straight between neighbouring measured points; None if no point reaches it. Nothing is claimed below the smallest
    measured ratio: one that reaches it is the answer.

    >>> tokens_at(0.9, [(0.1, 0.5), (0.3, 0.8), (0.5, 1.0)])
    0.4
    >>> tokens_at(0.9, [(0.1, 0.5), (0.3, 0.8)]) is None
    True
    """
    before: tuple[float, float] | None = None
    for keep, kept in sorted(measured):
        if kept >= quality:
            if before is None or before[0] == keep:
                return keep
            part = (quality - before[1]) / (kept - before[1])
            return round(before[0] + part * (keep - before[0]), 12)
        before = keep, kept
    return None
