"""Statistics where the session is the unit and sessions of one story are one cluster (M16).

`means` holds means and ratios with intervals, `paired` differences, their tests and verdicts, `power` how many sessions
and repetitions a difference asks for, `bootstrap` intervals of whole quantities (an area, a ratio of means).
"""

from compactlab.stats.means import CONFIDENCE, MIN_CLUSTERS, Estimate, clustered, pooled, t_quantile
from compactlab.stats.paired import (
    LEVEL,
    MARGIN,
    Compared,
    Judged,
    Verdict,
    compared,
    detectable,
    equivalence,
    holm,
    judged,
    sign_flips,
)
from compactlab.stats.power import POWER, Spread, repeated, sessions_for, spread_of

__all__ = [
    "CONFIDENCE",
    "LEVEL",
    "MARGIN",
    "MIN_CLUSTERS",
    "POWER",
    "Compared",
    "Estimate",
    "Judged",
    "Spread",
    "Verdict",
    "clustered",
    "compared",
    "detectable",
    "equivalence",
    "holm",
    "judged",
    "pooled",
    "repeated",
    "sessions_for",
    "sign_flips",
    "spread_of",
    "t_quantile",
]
