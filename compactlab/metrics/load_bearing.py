"""M3, load-bearing retention: of the facts that the agent went on to use, how many still stand. The headline.

LBR = sum of z_f / number of facts f at risk whose value occurs in a later assistant block before it is supplied again;
the first use alone counts, with weight 1 (a study found that weights over all uses let a tenth of the facts decide).
Split by family, by use (action: a call under 800 characters; bulk: a longer one; text: words or reasoning) and by home.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from compactlab.metrics import Score, Trial
from compactlab.probes.mined import mask


def measure(trial: Trial) -> Iterator[Score]:
    """Yield loose and bound load-bearing retention for each family, use and home."""
    case = trial.case
    groups: dict[tuple[str, str, str], list[int]] = defaultdict(list)
    for fact, use in case.needed.items():
        groups[case.risk.facts[fact].family, use.kind, case.risk.home(fact)].append(fact)
    for (family, use_kind, home), facts in sorted(groups.items()):
        bits = mask(facts)
        for metric, present in (("needed_loose", trial.presence.loose), ("needed_bound", trial.presence.bound)):
            yield Score(metric, (present & bits).bit_count(), len(facts), family, use_kind, home)
