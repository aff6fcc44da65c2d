"""The standing rules of people at any place of a session, and which of them a compacted view still keeps.

A rule is a constraint as `statements` mines it. It is at risk where the protected set alone does not keep it (as in
`metrics.statements`); it is kept where it stands as it was meant, be it beside an older one.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from functools import cached_property
from typing import NamedTuple

from compactlab import history
from compactlab.replay import Session
from compactlab.statements import Statement
from compactlab.statements.judging import Judge
from compactlab.statements.ledger import Ledger
from compactlab.statements.spoken import persons
from compactlab.transcript import Message, Messages

_BEFORE = Message("user", (), synthetic=True)
"""Stands before all but the first stretch that is read: what comes then is not the start of a session."""


class Kept(NamedTuple):
    """Rules at risk that a view keeps, and how many were at risk."""

    kept: int
    at_risk: int


class Rules:
    """The rules of one session. Reads it once; each place that is asked about costs what its protected set weighs."""

    def __init__(self, session: Session) -> None:
        """Take a session; nothing is read before it is asked about."""
        self.session = session
        self._at_risk: dict[int, tuple[Judge, int]] = {}

    @cached_property
    def _snapshots(self) -> tuple[list[int], list[Judge]]:
        """The places of the session from which on other rules stand, and what judges them."""
        places, judges = [0], [Judge((), self.session.own)]
        for place, rules in self._read():
            if rules != judges[-1].statements:
                places.append(place)
                judges.append(Judge(rules, self.session.own))
        return places, judges

    def _read(self) -> Iterator[tuple[int, tuple[Statement, ...]]]:
        """After each message in which a person speaks, the place behind it and the rules that then stand."""
        messages, ledger, start = self.session.messages, Ledger(), 0
        spoken = {id(block) for block, _ in persons(messages)}
        for at, message in enumerate(messages):
            if any(id(block) in spoken for block in message.blocks):
                ledger.read((*([_BEFORE] if start else []), *messages[start : at + 1]))
                start = at + 1
                yield start, tuple(one for one in ledger.statements if one.kind == "constraint")

    def kept(self, at: int, view: Messages) -> Kept:
        """Judge a view that stands in for the session's first *at* messages, in split form."""
        if at not in self._at_risk:
            self._at_risk[at] = self._risk(at)
        judge, at_risk = self._at_risk[at]
        found = judge.found(view).kept if at_risk else 0
        return Kept((found & at_risk).bit_count(), at_risk.bit_count())

    def _risk(self, at: int) -> tuple[Judge, int]:
        """The judge of the rules that stand at a place, and the bit set of those that the protected set does not keep.

        Pins do not count here: to pin a message is one way to keep a rule.
        """
        places, judges = self._snapshots
        judge = judges[bisect_right(places, at) - 1]
        whole = self.session.messages[:at]
        held = history.protected(whole, pins=False) if judge.statements else frozenset()
        safe = judge.found(message for i, message in enumerate(whole) if i in held).kept
        return judge, ((1 << len(judge.statements)) - 1) & ~safe
