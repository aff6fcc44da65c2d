"""M2, retention: of all facts at risk at the cut, how many still stand, by family and by where they could be had again.

R = sum of z_f / number of facts at risk: `retention_loose` for values that stand anywhere, `retention_bound` for those
within eight words of a content word of a home of theirs. Facts weigh 1.
"""

from __future__ import annotations

from collections.abc import Iterator

from compactlab.metrics import Score, Trial


def measure(trial: Trial) -> Iterator[Score]:
    """Yield loose and bound retention for each family and home."""
    for family, home, bits, size in trial.case.risk_groups:
        for metric, present in (("retention_loose", trial.presence.loose), ("retention_bound", trial.presence.bound)):
            yield Score(metric, (present & bits).bit_count(), size, family, home=home)
