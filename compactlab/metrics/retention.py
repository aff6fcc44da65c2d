"""M2, retention: of all facts at risk at the cut, how many still stand, by family and by where they could be had again.

R = sum of z_f / number of facts at risk: `retention_loose` for values that stand anywhere, `retention_bound` for those
within eight words of a content word of a home of theirs. Facts weigh 1.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from compactlab.metrics import Score, Trial
from compactlab.probes.mined import mask


def measure(trial: Trial) -> Iterator[Score]:
    """Yield loose and bound retention for each family and home."""
    risk = trial.case.risk
    groups: dict[tuple[str, str], list[int]] = defaultdict(list)
    for fact in risk.anchors:
        groups[risk.facts[fact].family, risk.home(fact)].append(fact)
    for (family, home), facts in sorted(groups.items()):
        bits = mask(facts)
        for metric, present in (("retention_loose", trial.presence.loose), ("retention_bound", trial.presence.bound)):
            yield Score(metric, (present & bits).bit_count(), len(facts), family, home=home)
