"""Whole sessions replayed under policies: a block for each, with what was fired, kept, sent and paid."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import msgspec

from compactlab import catalog
from compactlab.compaction import Guard
from compactlab.harness.answers import Answers
from compactlab.harness.rows import Rows
from compactlab.harness.session import Job
from compactlab.harness.sources import GUARDING, asked_by, short
from compactlab.llm import Model
from compactlab.metrics import Score, cache
from compactlab.metrics.speed import timed
from compactlab.policy import Policy
from compactlab.records import Block, Key
from compactlab.replay import Replay, Session, Window
from compactlab.replay import replay as replayed
from compactlab.settings import Project
from compactlab.tokens import Meter
from compactlab.transcript import Transcript

ENGINE = ("engine", "timeline", "view", "knowledge", "narrowing", "reads", "window")
"""Modules of `compactlab.replay` that have a say in what comes out."""


@dataclass(frozen=True)
class ReplayJob(Job):
    """A session with the policies to replay it under, by their labels; `cuts` holds the one name of the window."""

    policies: Mapping[str, Policy] = field(default_factory=dict)
    window: Window = field(default_factory=lambda: Window(1))
    priced_as: str = cache.PRICED

    @property
    def keys(self) -> list[Key]:
        """The keys of its blocks, in order."""
        [cut] = self.cuts
        return [
            Key(self.transcript.id, cut.name, label, replicate=number)
            for label, policy in self.policies.items()
            for number in range(self.times(policy))
        ]

    def blocks(self) -> Iterator[Block]:
        """Replay the session under each policy that is not done; what fails is a block with its error."""
        if self.complete:
            return
        [cut] = self.cuts
        rows, meter = Rows(self.transcript, cut, self.made_by), Meter(self.counter)
        session = Session(self.transcript, meter, self.facts, self.common)
        for key in (key for key in self.keys if key not in self.done):
            try:
                yield self._block(key, session, self.policies[key.strategy], rows)
            except Exception as error:  # noqa: BLE001  # a case that fails is a row with its error, not the end of the run
                yield rows.block(key, [], "failed", f"{type(error).__name__}: {error}")

    def _block(self, key: Key, session: Session, policy: Policy, rows: Rows) -> Block:
        answers = Answers(self.model, key.replicate, in_parts=False) if policy.uses_model else None
        seed = self.drawn_by(key, policy)
        guard = Guard(session.meter, model=answers, prompts=self.project.prompts, seed=seed)
        window = self.window._replace(overhead=self.window.overhead + schemas(self.transcript, session.meter))
        done = replayed(session, policy, window, guard, self.project.marks)
        if answers and answers.lacks:
            return rows.unanswered(key, answers.lacks)
        model = next((fire.model for fire in done.fires if fire.model), "")
        fell_back = any(fire.fell_back for fire in done.fires)
        block = rows.block(key, self._scores(done), "applied", done.overflow, model=model, fell_back=fell_back)
        return msgspec.structs.replace(block, compaction=told(done), seconds=sum(done.seconds), fires=timed(done))

    @property
    def model(self) -> Model:
        """What writes for strategies that ask for it."""
        return (self.asked and self.asked.model) or self.project.model()

    def _scores(self, done: Replay) -> Iterator[Score]:
        priced = partial(cache.replayed, model=self.priced_as, given=self.project.llm.get("prices"))
        for name in catalog.names("metrics"):
            module = importlib.import_module(f"compactlab.metrics.{name}")
            if module is cache:
                yield from priced(done)
            elif hasattr(module, "replayed"):
                yield from module.replayed(done)


def schemas(transcript: Transcript, meter: Meter) -> int:
    """Tokens of the tool schemas that were recorded with a session: each request carries them.

    >>> schemas(Transcript("t", "", (), tools=("read", {"name": "grep"})), Meter("chars/4"))
    4
    """
    found = [msgspec.json.encode(tool).decode() for tool in transcript.tools if isinstance(tool, dict)]
    return sum(meter.text(text) for text in found)


def told(done: Replay) -> dict[str, Any]:
    """A replay as a run keeps it: each turn's place and weight, each fire, and where the session ended early."""
    turns = [[turn.position, turn.tokens, turn.shared, turn.output, turn.allowance, turn.cut] for turn in done.turns]
    fires = [fire._asdict() for fire in done.fires]
    return {"window": done.window, "turns": turns, "fires": fires, "overflow_at": done.overflow_at}


def sources_of(policies: Mapping[str, Sequence[Policy]], project: Project) -> dict[tuple[str, str], str]:
    """By label of a policy, the digest of the sources behind its blocks; several policies have one label where each
    type of agent has its own.
    """
    common = [catalog.digest("metrics", name) for name in catalog.names("metrics")]
    modules = [*(f"compactlab.replay.{name}" for name in ENGINE), *(f"compactlab.{name}" for name in GUARDING)]
    common += [catalog.source_digest(module) for module in (*modules, "compactlab.policy")]
    found = {}
    for label, meant in policies.items():
        own = [catalog.source_digest(type(step.strategy).__module__) for policy in meant for step in policy.steps]
        asks = any(policy.uses_model for policy in meant)
        found[label, ""] = short([*common, *own, *(asked_by(project) if asks else [])])
    return found
