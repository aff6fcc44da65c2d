"""Statements: what people demanded and what was decided, mined without a model, and what became of each.

`mine_statements` reads people's words (constraints, preferences, requests), theirs and the agent's (decisions, what
they rejected, reasons) and todo lists. `judging.Judge` says of each what a compacted history still makes of it.
"""

from __future__ import annotations

from collections.abc import Sequence

from compactlab.statements.ledger import Ledger
from compactlab.statements.statement import KINDS, Kind, Statement
from compactlab.transcript import Message

__all__ = ["KINDS", "Kind", "Statement", "mine_statements"]


def mine_statements(messages: Sequence[Message]) -> tuple[Statement, ...]:
    """Give the statements that hold at the end of *messages*, in order of first appearance.

    What a later one took the place of stands in its `earlier`. Linear in the length of the text.

    >>> from compactlab.transcript import Text
    >>> [s.text for s in mine_statements([Message("user", (Text("Never push to main."),))])]
    ['Never push to main.']
    """
    ledger = Ledger()
    ledger.read(messages)
    return ledger.statements
