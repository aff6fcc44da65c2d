"""`null`: the protected set without pins, and nothing else."""

from __future__ import annotations

from compactlab.metrics import Case
from compactlab.transcript import Messages


def build(case: Case) -> Messages:
    """Keep what every strategy must keep."""
    return case.protected
