"""How often a presence verdict and a hand-made probe about the same value disagree, and why."""

from __future__ import annotations

from collections.abc import Sequence

from compactlab.study.disagreements import REASONS, Compared, compared
from compactlab.study.evidence.figure import Figure, counted
from compactlab.study.session import Session


def look(session: Session) -> Compared:
    """Compare both kinds of probes on one session."""
    return compared([session])


def figures(looked: Sequence[Compared]) -> list[Figure]:
    """Verdicts that differ, of all on a value that both know, and the reasons."""
    alone = [sum(getattr(seen.cells, name) for seen in looked) for name in ("facts_alone", "probe_alone")]
    both = sum(seen.cells.both_kept + seen.cells.both_lost for seen in looked)
    why = dict.fromkeys(REASONS, 0)
    for one in (one for seen in looked for one in seen.disagreements):
        why[one.why] += one.cells
    differ = sum(alone)
    return [
        counted("hand-made probes", "verdicts that differ from the mined facts in the answer", differ, differ + both),
        counted("hand-made probes", "of these, kept by the facts alone", alone[0], differ),
        *(counted("hand-made probes", f"of these, {reason}", count, differ) for reason, count in why.items()),
    ]
