"""Decoys: how many values that never stood in the session the compacted history nevertheless holds.

`decoy_kept` counts, by family, decoys of needed facts (one late digit changed, `compactlab.probes.decoys`) that stand
in what compaction made or edited. It is 0 for a strategy that only deletes, or the matcher finds what is not there; a
model that changes a digit shows here by chance only: what it changed is measured by `distortion`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from compactlab.matching import Matcher
from compactlab.metrics import Case, Score, Trial
from compactlab.probes.decoys import by_family, decoys, texts_of
from compactlab.probes.mined import matcher_of
from compactlab.transcript import readable


class Decoys(NamedTuple):
    """The decoys of a case: what finds them, and by family which of its patterns they are."""

    matcher: Matcher
    groups: tuple[tuple[str, frozenset[int]], ...]


def measure(trial: Trial) -> Iterator[Score]:
    """Yield how many decoys of each family stand in what compaction made."""
    made = trial.case.cached("decoys", lambda: decoys_of(trial.case))
    if not made.groups:
        return
    kept = {hit.pattern for block in trial.made for hit in made.matcher.hits(readable(block))}
    for family, patterns in made.groups:
        yield Score("decoy_kept", len(kept & patterns), len(patterns), family)


def decoys_of(case: Case) -> Decoys:
    """Make the decoys of the needed facts; they stand neither before nor after the cut."""
    facts = {index: case.risk.facts[index] for index in sorted(case.needed)}
    made = list(decoys(facts, texts_of((*case.base, *case.future)), case.risk.facts).values())
    return Decoys(matcher_of(made), tuple(by_family(dict(enumerate(made)))))
