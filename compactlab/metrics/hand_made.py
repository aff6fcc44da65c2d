"""Hand-made probes: how many questions that could be asked at the cut the compacted history still answers.

`probe_kept`, `probe_both`, `probe_stale`, `probe_lost`: one of the four for each admitted probe, by its kind (in the
column `family`). Kept means that the current value stands; both, that an older one stands beside it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from compactlab.metrics import Score, Trial


def measure(trial: Trial) -> Iterator[Score]:
    """Yield the count of each verdict for each kind of probe."""
    case = trial.case
    verdicts = case.hand.verdicts(trial.messages, case.own)
    groups: dict[str, list[str]] = defaultdict(list)
    for index in case.asked:
        groups[case.hand.probes[index].kind].append(verdicts[index])
    for kind, found in sorted(groups.items()):
        for verdict in ("kept", "both", "stale", "lost"):
            yield Score(f"probe_{verdict}", found.count(verdict), len(found), kind)
