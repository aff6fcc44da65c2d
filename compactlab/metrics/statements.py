"""M7 for what was said: what became of demands, decisions, rejected ways, reasons, todos and requests.

`statement`: for each kind (`family`) and verdict (`group`) how many of the statements at risk it is true of.
`inverted_constraints`: how many constraints the compacted history turns round, a plain count with n = 1. A statement is
at risk where it stands before the cut and the protected set alone does not keep it; it need not be used later.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from compactlab.matching import VERDICTS
from compactlab.metrics import Case, Score, Trial
from compactlab.statements import KINDS, mine_statements
from compactlab.statements.judging import Judge, verdict


class AtRisk(NamedTuple):
    """The judge of a case, and the indices of its statements at risk by kind."""

    judge: Judge
    kinds: dict[str, tuple[int, ...]]


def measure(trial: Trial) -> Iterator[Score]:
    """Yield the count of each verdict for each kind, and of inverted constraints."""
    risk = trial.case.cached("statements", lambda: at_risk(trial.case))
    found = risk.judge.found(trial.messages)
    for kind, indices in risk.kinds.items():
        verdicts = [verdict(found, index) for index in indices]
        for name in VERDICTS:
            yield Score("statement", verdicts.count(name), len(indices), kind, group=name)
        if kind == "constraint":
            yield Score("inverted_constraints", verdicts.count("contradicted"))


def at_risk(case: Case) -> AtRisk:
    """Mine the statements of a case; those that the protected set keeps are not at risk."""
    statements = mine_statements(case.base)
    judge = Judge(statements, case.own)
    safe = judge.found(case.protected).kept
    free = [index for index in range(len(statements)) if not safe >> index & 1]
    kinds = {kind: tuple(index for index in free if statements[index].kind == kind) for kind in KINDS}
    return AtRisk(judge, {kind: indices for kind, indices in kinds.items() if indices})
