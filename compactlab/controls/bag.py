"""`bag`: the protected set and a list of the bare values of all facts at risk, without a word between them."""

from __future__ import annotations

from compactlab import history
from compactlab.metrics import Case
from compactlab.strategies import note
from compactlab.transcript import Messages


def build(case: Case) -> Messages:
    """Put the values, in the order of their first homes, behind the anchor."""
    risk = case.risk
    values = note("\n".join(risk.facts[fact].value for fact in sorted(risk.anchors)))
    size_of_anchor = len(history.anchor(case.protected))
    return (*case.protected[:size_of_anchor], values, *case.protected[size_of_anchor:])
