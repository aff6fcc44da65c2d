"""The work on one session as it is handed to a process: light on its way, with the session read where it is done."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from compactlab.harness.session import Job
from compactlab.harness.spool import Place
from compactlab.records import Block
from compactlab.sweeping import swept_seldom


@dataclass(frozen=True)
class Task:
    """A job without messages and facts, and the places where these lie, and the sessions that chance is told by."""

    job: Job
    place: Place
    unrelated: tuple[Place, ...]

    def whole(self) -> Job:
        """The job with all that it needs, read from the spool."""
        facts = self.place.facts()
        return replace(
            self.job,
            transcript=self.place.transcript(),
            facts=facts,
            common=self.place.common(facts),
            unrelated=tuple(place.transcript() for place in self.unrelated),
        )

    def blocks(self) -> Iterator[Block]:
        """Make the blocks that are not done, in order."""
        if not self.job.complete:
            yield from self.whole().blocks()

    def all_blocks(self) -> list[Block]:
        """The same, all at once, on any machine."""
        with swept_seldom():
            return list(self.blocks())
