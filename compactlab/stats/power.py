"""How many sessions, and how many repetitions of each, a difference asks for (M16, after Miller 2024).

n = (z_(alpha/2) + z_beta)^2 (w^2 + s_A^2 / K_A + s_B^2 / K_B) / d^2. w^2 is the variance of the sessions' true
differences, s^2 the variance of one session's result from repetition to repetition (0 where the same input gives the
same output), K how often each is repeated, d the true difference.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import ceil
from typing import NamedTuple

from compactlab.stats.means import CONFIDENCE, clustered

POWER = 0.8


class Spread(NamedTuple):
    """What makes differences vary: from session to session, and inside of one by repetition, on both sides.

    All are variances. `between` is w^2, free of what repetitions add; `first` and `second` are s_A^2 and s_B^2.
    """

    between: float
    first: float = 0.0
    second: float = 0.0

    def at(self, replicates: int) -> float:
        """The variance of a session's difference when both sides are the mean of so many repetitions."""
        return self.between + (self.first + self.second) / replicates


def sessions_for(difference: float, spread: Spread, replicates: int = 1, power: float = POWER) -> int:
    """Give how many sessions of stories of their own show a paired *difference* at 5 %, with *power*; at least 1.

    By the normal quantiles: for few sessions it is a little too low. `ValueError` for a difference of 0.

    >>> sessions_for(0.05, Spread(0.04)), sessions_for(0.05, Spread(0.03, 0.02), replicates=4)
    (126, 110)
    """
    from scipy.special import ndtri

    if not difference:
        raise ValueError("no number of sessions shows a difference of 0: expected another one")
    reach = float(ndtri((1 + CONFIDENCE) / 2) + ndtri(power))
    return max(1, ceil(reach**2 * spread.at(replicates) / difference**2))


def spread_of(differences: Sequence[tuple[str, float]], within: float = 0.0) -> Spread | None:
    """Give the spread of paired (cluster, difference) values; None under five stories.

    The variance is n SE^2 by the clustered standard error: that of as many sessions of stories of their own as tell as
    much. *within* is the part of it that repetitions brought in, s_A^2 / K_A + s_B^2 / K_B; what is left is w^2.

    >>> round(spread_of([(story, (i % 2) / 10) for i, story in enumerate("abcdef")]).between, 4)
    0.003
    """
    estimate = clustered(differences)
    if estimate is None or estimate.error is None:
        return None
    return Spread(max(0.0, estimate.n * estimate.error**2 - within))


class Repeated(NamedTuple):
    """Results of repeated sessions: each one's mean, the variance from repetition to repetition, how often repeated.

    `within` is pooled over the sessions that were repeated, None where none was.
    """

    means: dict[str, float]
    within: float | None
    replicates: float


def repeated(values: Mapping[str, Sequence[float]]) -> Repeated:
    """Take the mean of each session's repetitions, and tell their spread from that between sessions.

    The mean comes first: a session counts once, however often it was repeated. `within` = sum of squares about the
    sessions' means / (repetitions - sessions), the mean square within of the one-way analysis of variance (Fisher
    1925); `replicates` is the mean number of repetitions.

    >>> repeated({"one": [0.25, 0.75], "two": [1.0, 1.0]})
    Repeated(means={'one': 0.5, 'two': 1.0}, within=0.0625, replicates=2.0)
    """
    there = {session: list(found) for session, found in values.items() if found}
    means = {session: sum(found) / len(found) for session, found in there.items()}
    squares = sum((value - means[session]) ** 2 for session, found in there.items() for value in found)
    free = sum(len(found) - 1 for found in there.values())
    count = sum(map(len, there.values())) / len(there) if there else 0.0
    return Repeated(means, squares / free if free else None, count)
