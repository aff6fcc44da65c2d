"""M3, load-bearing retention: of the facts that the agent went on to use, how many still stand. The headline.

LBR = sum of z_f / number of facts f at risk whose value occurs in a later assistant block before it is supplied again;
the first use alone counts, with weight 1 (a study found that weights over all uses let a tenth of the facts decide).
Split by family, by use (action: a call under 800 characters; bulk: a longer one; text: words or reasoning) and by home.
"""

from __future__ import annotations

from collections.abc import Iterator

from compactlab.metrics import Score, Trial


def measure(trial: Trial) -> Iterator[Score]:
    """Yield loose and bound load-bearing retention for each family, use and home."""
    for family, use, home, bits, size in trial.case.needed_groups:
        for metric, present in (("needed_loose", trial.presence.loose), ("needed_bound", trial.presence.bound)):
            yield Score(metric, (present & bits).bit_count(), size, family, use, home)
