"""What the agent still knows as its view is compacted: uses and lives of facts, debts of evicted results."""

from __future__ import annotations

from collections.abc import Iterable

from compactlab.history import Place
from compactlab.replay.events import Debt, Life, Use
from compactlab.replay.timeline import Moment, Said, Session
from compactlab.replay.view import Entry, View
from compactlab.transcript import ToolResult


class Knowledge:
    """Follows every fact of a session through a replay."""

    def __init__(self, session: Session, view: View) -> None:
        self.session, self.view = session, view
        self.passes = 0
        self.supplied = 0
        self.uses: list[Use] = []
        self.lives: list[Life] = []
        self.debts: list[Debt] = []
        self._last: dict[int, int] = {}  # by fact, the applied fires when it was last said
        self._alive: dict[int, int] = {}  # the same for those that were in view ever since
        self._owed: set[Place] = set()

    def used(self, at: int, moment: Moment) -> None:
        """Take in what the agent's answer *at* that place of the session used, before it stands in the view."""
        for said in moment.said:
            passes = self.passes - self._last.get(said.fact, self.passes)
            if passes and said.kind is not None:
                self._use(at, moment, said, passes)
        for result in moment.relied:
            self._owe(moment, result)

    def _use(self, at: int, moment: Moment, said: Said, passes: int) -> None:
        loose = self.view.stands(said.fact)
        bound = loose and self.view.is_bound(said.fact, at)
        family = self.session.facts[said.fact].family
        kind = said.kind or "text"
        self.uses.append(Use(said.fact, family, kind, said.home, moment.position, passes, loose, bound))
        if not loose and kind != "text" and said.result is not None and said.result not in moment.again:
            self._owe(moment, said.result)

    def _owe(self, moment: Moment, result: Place) -> None:
        """Book a result that an action relies on and that is not in view as it was recorded; once."""
        if result in self._owed or self.view.holds(result):
            return
        self._owed.add(result)
        block = self.session.messages[result.message].blocks[result.block]
        position = self.session.moments[result.message].position
        if isinstance(block, ToolResult):
            self.debts.append(Debt(moment.position, position, self.session.meter.block(block)))

    def told(self, moment: Moment, entry: Entry) -> None:
        """Take in what a message says, now that *entry* stands in the view: its facts stand anew."""
        stands = entry.facts
        for said in moment.said:
            if said.fact not in stands:
                continue
            if said.kind is None and said.fact in self._last:
                self.supplied += self.passes > self._last[said.fact]
            self._ended(said.fact, lost=False)
            self._last[said.fact] = self.passes
            if said.is_safe:
                del self._last[said.fact]
            else:
                self._alive[said.fact] = self.passes

    def rewritten(self, gone: Iterable[int]) -> None:
        """Take in an applied compaction, which touched messages with the facts *gone*: what stands no more is lost."""
        self.passes += 1
        for fact in sorted(gone):
            if not self.view.stands(fact):
                self._ended(fact, lost=True)

    def close(self) -> None:
        """End the lives of all facts that stand."""
        for fact in sorted(self._alive):
            self._ended(fact, lost=False)

    def _ended(self, fact: int, *, lost: bool) -> None:
        passes = self.passes - self._alive.pop(fact, self.passes)
        if passes:
            self.lives.append(Life(self.session.facts[fact].family, passes, lost))
