"""One policy tried on one session: a replay of the whole session, and what tuning counts of it.

- `saved`: (plain - sent - own calls - debt) / plain, in tokens: what the session would have sent unbounded, what it
  sent, what its compactions spent on a model, and the results that it would have to fetch again. None where a request
  did not fit: the task is unfinished.
- `kept` of `uses`: facts that the agent used in an action, when an applied fire lay behind their last mention, that
  stood near a word that tells what they are about in what was sent then (`decay_bound`).
- `rules_kept` of `rules`: standing rules of people at risk at an applied fire that the view after it keeps, over all.
- `faults`: views that break a provider's rule which the session itself keeps, and fires that failed.

A session without a fire keeps all, and so does one that needed nothing behind its fires.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import msgspec

from compactlab.compaction import Guard
from compactlab.facts import Fact
from compactlab.harness.answers import Answers
from compactlab.harness.replayed import schemas
from compactlab.llm import Model
from compactlab.policy import policy as policy_of
from compactlab.replay import Fire, Replay, Session, Window, replay
from compactlab.settings import Project
from compactlab.tokens import Meter
from compactlab.transcript import Transcript
from compactlab.tuning.standing import Kept, Rules
from compactlab.validity import broken


class Tried(msgspec.Struct, frozen=True, omit_defaults=True):
    """What one policy came to on one session of a story, in a window of tokens; see the head of this module.

    `fires` are the applied ones; `model` is what wrote text, empty where nothing did.
    """

    policy: str
    session: str
    story: str
    window: int
    saved: float | None
    kept: int = 0
    uses: int = 0
    rules_kept: int = 0
    rules: int = 0
    fires: int = 0
    faults: int = 0
    model: str = ""

    @property
    def retention(self) -> float:
        """The share of the needed facts that was kept.

        >>> Tried("cull", "s", "s", 9, 0.1, kept=3, uses=4).retention, Tried("none", "s", "s", 9, 0.0).retention
        (0.75, 1.0)
        """
        return self.kept / self.uses if self.uses else 1.0

    @property
    def obedience(self) -> float:
        """The share of the standing rules that was kept."""
        return self.rules_kept / self.rules if self.rules else 1.0

    @property
    def finished(self) -> bool:
        """True if every request fitted."""
        return self.saved is not None


@dataclass(frozen=True)
class Material:
    """All that is needed to try policies on one session, in any process.

    `project` is that of the type of agent, whose prompts and marks hold; `model` writes the text of strategies that ask
    for it.
    """

    transcript: Transcript
    facts: tuple[Fact, ...]
    common: frozenset[str]
    window: int
    project: Project
    counter: str
    model: Model = field(compare=False)

    @cached_property
    def key(self) -> str:
        """Tells it apart from any other material."""
        parts = (
            self.transcript.id,
            self.transcript.messages,
            self.window,
            self.counter,
            self.project,
            sorted(self.common),
        )
        return hashlib.sha256(repr(parts).encode("utf-8", "surrogatepass")).hexdigest()


class Bench:
    """One session, read for any number of policies."""

    def __init__(self, material: Material) -> None:
        """Read the session: its facts, its moments; rules are read where a policy fires."""
        self.material = material
        self.session = Session(material.transcript, Meter(material.counter), material.facts, material.common)
        self.rules = Rules(self.session)
        self.answers = [at for at, moment in enumerate(self.session.moments) if moment.is_answer]
        overhead = schemas(material.transcript, self.session.meter)
        self.window = Window(material.window, overhead=overhead)
        self._allowed: dict[int, frozenset[str]] = {}

    def tried(self, spec: str) -> Tried:
        """Replay the session under a policy.

        Raises `ModelError` where a strategy asked a model and there is no reply: such a policy cannot be compared.
        """
        policy, material = policy_of(spec), self.material
        answers = Answers(material.model, in_parts=False) if policy.uses_model else None
        guard = Guard(self.session.meter, model=answers, prompts=material.project.prompts)
        done = replay(self.session, policy, self.window, guard, material.project.marks)
        if answers and answers.lacks:
            raise answers.lacks
        uses = [use for use in done.uses if use.kind == "action"]
        applied = [(at, fire) for at, fire in enumerate(done.fires) if fire.applied and fire.turn < len(done.turns)]
        rules = self._rules(done, [fire for _, fire in applied])
        failed = sum(fire.outcome == "failed" for fire in done.fires)
        return Tried(
            policy=spec,
            session=material.transcript.id,
            story=material.transcript.story,
            window=material.window,
            saved=saved(done),
            kept=sum(use.bound for use in uses),
            uses=len(uses),
            rules_kept=rules.kept,
            rules=rules.at_risk,
            fires=sum(fire.applied for fire in done.fires),
            faults=failed + sum(self._breaks(done, fire) for _, fire in applied),
            model=next((fire.model for fire in done.fires if fire.model), ""),
        )

    def _rules(self, done: Replay, applied: Sequence[Fire]) -> Kept:
        found = [self.rules.kept(self.answers[fire.turn], done.view(fire.turn)) for fire in applied]
        return Kept(sum(one.kept for one in found), sum(one.at_risk for one in found))

    def _breaks(self, done: Replay, fire: Fire) -> bool:
        """Whether the view after a fire breaks a rule that the session up to there keeps."""
        at = self.answers[fire.turn]
        if at not in self._allowed:
            self._allowed[at] = broken(self.session.messages[:at])
        return bool(broken(done.view(fire.turn)) - self._allowed[at])


def saved(done: Replay) -> float | None:
    """The net savings of a replay as a share of what the session would have sent unbounded; None if it did not end.

    M18's objective with M11's debt: (plain - sent - own calls - debt) / plain.
    """
    if done.overflow:
        return None
    spent = sum(turn.tokens for turn in done.turns)
    spent += sum(fire.model_tokens for fire in done.fires) + sum(debt.tokens for debt in done.debts)
    return 1 - spent / done.sent_plain if done.sent_plain else 0.0


class _Held(NamedTuple):
    key: str
    bench: Bench


_BENCHES: dict[str, _Held] = {}
"""What this process has read already, by session."""


def tried_all(material: Material, specs: Sequence[str]) -> list[Tried]:
    """Try several policies on one session; a process reads each session once."""
    held = _BENCHES.get(material.transcript.id)
    if held is None or held.key != material.key:
        held = _BENCHES[material.transcript.id] = _Held(material.key, Bench(material))
    return [held.bench.tried(spec) for spec in specs]
