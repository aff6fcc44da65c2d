"""Findings 13 and 14: how many sessions and seeds a difference asks for, and what an interval or a gate is worth.

Sessions for a difference d: n = ceil((z_0.975 + z_0.8)^2 s^2 / d^2), s the standard deviation of the paired
differences. Coverage is simulated: sessions are drawn from the observed differences, whose mean is the truth. The
percentile bootstrap is Efron's (1979); t is Student's.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations
from random import Random
from statistics import NormalDist, median
from typing import TYPE_CHECKING, NamedTuple

from compactlab.stats import clustered
from compactlab.study.finding import Finding, deviation, judged, mean
from compactlab.study.session import BUDGETS, METHODS, Scores, Session

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

SIZES = (2, 4, 6, 12)
SAMPLES = 400
RESAMPLES = 300
AT = "20"
"""The budget of the simulations: every cell can meet it."""
REPLICATES = 20
GATES = 400
MARGIN = 0.05
FEW = 6
MIN_SESSIONS = 5


class Seen(NamedTuple):
    """What one session shows: the scores of its cells, and for each cell many draws of random units of one size."""

    session: str
    cluster: str
    scores: list[Scores]
    draws: list[list[float]]


def look(session: Session) -> Seen:
    """Look at one session."""
    draws = [
        [cell.standing(messages).loose for messages in cell.drawn(cell.tokens(AT), 2 * REPLICATES)]
        for cell in session.cells
    ]
    return Seen(session.transcript.id, session.cluster, [cell.scores for cell in session.cells], draws)


def findings(looked: Sequence[Seen]) -> list[Finding]:
    """Findings 13 and 14 of all sessions."""
    seen = [session for session in looked if session.scores]
    return [_thirteenth(seen), _fourteenth(seen)]


def paired(looked: Sequence[Seen], budget: str) -> list[list[float]]:
    """For each pair of methods the differences of their sessions' means over the cuts, as far as both met *budget*."""
    by_method = {
        method: {seen.session: value for seen in looked if (value := _of_session(seen, budget, method)) is not None}
        for method in METHODS
    }
    return [
        [by_method[one][name] - by_method[other][name] for name in by_method[one] if name in by_method[other]]
        for one, other in combinations(METHODS, 2)
    ]


def _of_session(seen: Seen, budget: str, method: str) -> float | None:
    return mean(scores[budget, method].loose for scores in seen.scores if (budget, method) in scores)


def sessions_for(difference: float, spread: float) -> int:
    """How many sessions show a paired *difference* with 80 % power, if the differences spread so (see above).

    >>> sessions_for(0.10, 0.20), sessions_for(0.05, 0.20)
    (32, 126)
    """
    z = NormalDist().inv_cdf(0.975) + NormalDist().inv_cdf(0.8)
    return math.ceil((z * spread / difference) ** 2)


class Coverage(NamedTuple):
    """How often intervals of nominally 95 % hold the truth."""

    percentile: float
    t: float


def coverage(differences: Sequence[float], size: int, seed: int) -> Coverage:
    """Simulate both intervals for samples of *size* drawn from *differences*; the same seed gives the same shares."""
    import numpy as np
    from scipy.special import stdtrit

    draw = np.random.default_rng(seed)
    population = np.array(differences)
    truth = population.mean()
    samples = draw.choice(population, (SAMPLES, size))
    again = draw.integers(0, size, (SAMPLES, RESAMPLES, size))
    means = np.take_along_axis(samples[:, None, :].repeat(RESAMPLES, axis=1), again, axis=2).mean(axis=2)
    low, high = np.quantile(means, [0.025, 0.975], axis=1)
    half = stdtrit(size - 1, 0.975) * samples.std(axis=1, ddof=1) / math.sqrt(size)
    return Coverage(_inside(truth, low, high), _inside(truth, samples.mean(axis=1) - half, samples.mean(axis=1) + half))


def _inside(truth: float, low: NDArray[np.float64], high: NDArray[np.float64]) -> float:
    return float(((low - 1e-12 <= truth) & (truth <= high + 1e-12)).mean())


def _thirteenth(seen: Sequence[Seen]) -> Finding:
    spreads = [s for b in BUDGETS for pair in paired(seen, b) if len(pair) >= MIN_SESSIONS and (s := deviation(pair))]
    typical, widest = (median(spreads), max(spreads)) if spreads else (None, None)
    pairs = [pair for pair in paired(seen, AT) if len(pair) >= MIN_SESSIONS and (deviation(pair) or 0) > 0]
    covered = [[coverage(pair, size, number) for number, pair in enumerate(pairs)] for size in SIZES]
    percentile = [mean(c.percentile for c in at) for at in covered]
    by_t = [mean(c.t for c in at) for at in covered]
    needed = [[None if s is None else sessions_for(d, s) for s in (typical, widest)] for d in (0.10, 0.05)]
    numbers = [(typical, widest), *needed, percentile, by_t]
    worst, best = percentile[1], by_t[1]
    return judged(13, numbers, holds=None if worst is None or best is None else best - worst > 0.05)


def gate_passes(seen: Sequence[Seen], replicates: int, few: int | None) -> float | None:
    """How often an unchanged run passes a gate: the paired interval of two runs' sessions lies above -0.05.

    Both runs are random units with *replicates* seeds each; *few* sessions are drawn anew for each gate, or all are
    taken. None where too few stories are there for an interval.
    """
    draw = Random(f"gate|{replicates}|{few}")
    passed = 0
    for _ in range(GATES):
        chosen = list(seen) if few is None else draw.sample(list(seen), min(few, len(seen)))
        pairs = [(s.session if few else s.cluster, _unchanged(s, replicates, draw)) for s in chosen]
        estimate = clustered(pairs)
        if estimate is None or estimate.low is None:
            return None
        passed += estimate.low > -MARGIN
    return passed / GATES


def _unchanged(seen: Seen, replicates: int, draw: Random) -> float:
    """The difference of two runs of the same thing in one session: two groups of seeds, mean over its cuts."""
    gaps = []
    for draws in seen.draws:
        taken = draw.sample(draws, 2 * replicates)
        gaps.append((sum(taken[:replicates]) - sum(taken[replicates:])) / replicates)
    return sum(gaps) / len(gaps)


def _fourteenth(seen: Sequence[Seen]) -> Finding:
    numbers = [[gate_passes(seen, n, few) for n in (1, REPLICATES)] for few in (FEW, None)]
    one, many = numbers[0]
    return judged(14, numbers, holds=None if one is None or many is None else one < 0.5 < many)
