"""How a run asks its model: a compaction that lacks a reply is no case with a fallback, but one that is not done."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from msgspec.structs import replace

from compactlab.llm import Model, ModelError, NotAsked, Pending, Reply, Request
from compactlab.llm.live.spending import Tally
from compactlab.llm.recorded import Missing

Progress = Callable[[int, int, str], None]
UNANSWERED = (Pending, Missing, NotAsked)
"""Errors that say nothing of the model's work: nobody was asked, or the reply is on its way."""


def with_cost(progress: Progress, ledger: Path) -> Progress:
    """Tell with each session what the calls of the run have cost so far, once there is one in the file *ledger*."""
    tally = Tally(ledger)

    def told(done: int, total: int, session: str) -> None:
        spent = tally.spent()
        if spent.tokens or spent.calls:
            money = "" if spent.money is None else f", {spent.money:.2f} USD"
            session = f"{session} ({spent.calls:,} calls, {spent.tokens:,} tokens{money})"
        progress(done, total, session)

    return told


class Answers:
    """Passes the requests of one compaction on, until one has no reply.

    Strategies take any failure for one of the model, and fall back; so what stays without a reply is kept here, as
    `lacks`. After it only requests of the same purpose pass, the other parts of what is read: any other would rest on
    what is not there; none at all unless *in_parts*. All are marked as the repetition *replicate*.
    """

    def __init__(self, model: Model, replicate: int = 0, *, in_parts: bool = True) -> None:
        self._model = model
        self._replicate, self._in_parts = replicate, in_parts
        self._waits_for = ""
        self.lacks: ModelError | None = None

    @property
    def name(self) -> str:
        """The name of the model."""
        return self._model.name

    @property
    def window(self) -> int | None:
        """The window of the model."""
        return self._model.window

    def reply(self, request: Request) -> Reply:
        """Ask the model; see `Answers`."""
        if self.lacks is not None and not (self._in_parts and request.purpose == self._waits_for):
            raise self.lacks
        try:
            return self._model.reply(replace(request, replicate=self._replicate) if self._replicate else request)
        except UNANSWERED as error:
            self.lacks, self._waits_for = self.lacks or error, request.purpose
            raise
