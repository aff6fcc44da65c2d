"""M2, retention: of all facts at risk at the cut, how many still stand, by family and by where they could be had again.

R = sum of z_f / number of facts at risk: `retention_loose` for values that stand anywhere, `retention_bound` for those
within eight words of a content word of a home of theirs. Facts weigh 1. `tail_loose` is a check of the harness and of
the guard: facts that the protected set holds are at no risk, so all of them stand in every result.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from compactlab.metrics import Case, Score, Trial
from compactlab.probes.mined import mask
from compactlab.transcript import Block


def measure(trial: Trial) -> Iterator[Score]:
    """Yield loose and bound retention for each family and home."""
    for family, home, bits, size in trial.case.risk_groups:
        for metric, present in (("retention_loose", trial.presence.loose), ("retention_bound", trial.presence.bound)):
            yield Score(metric, (present & bits).bit_count(), size, family, home=home)
    held = trial.case.cached("tail", lambda: _tail(trial.case))
    whole = _all(held.values())
    if whole:
        found = _all(held.get(block, 0) for message in trial.messages for block in message.blocks)
        yield Score("tail_loose", found.bit_count(), whole.bit_count())


def _tail(case: Case) -> dict[Block, int]:
    """For each block of the protected set that every control keeps as well, the bit set of its facts."""
    blocks = (block for i in case.held for block in case.base[i].blocks)
    return {block: mask(hit.pattern for hit in case.risk.matcher.block(block)) for block in blocks}


def _all(sets: Iterable[int]) -> int:
    whole = 0
    for one in sets:
        whole |= one
    return whole
