"""Whether what is called deterministic is: every compaction that leaves nothing to chance is made once more.

After the run, by another process than made it, from the files that it was read from, the last session first and the
last strategy first; only compacted, not scored, which costs a fraction of the run. What is left must be the same bytes
as `compactions.jsonl` holds. A case that cannot be made again is never taken for one that was.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any, NamedTuple

from msgspec.structs import replace

from compactlab import history
from compactlab.compaction import Guard, compact
from compactlab.errors import CompactlabError
from compactlab.gate.outcome import Fault
from compactlab.gate.recalled import corpus_of, recalled
from compactlab.gate.sides import FACTS, row_of
from compactlab.harness import Settings
from compactlab.harness.corpus import Corpus
from compactlab.harness.cuts import Cut
from compactlab.harness.places import NAME
from compactlab.harness.replayed import schemas, told
from compactlab.harness.rows import left_by
from compactlab.harness.spool import Spool
from compactlab.policy import Policy
from compactlab.records import Key, encode
from compactlab.replay import Session, Window
from compactlab.replay import replay as replayed
from compactlab.results import Results
from compactlab.settings import Project
from compactlab.strategies import Strategy
from compactlab.summary.budgets import budget_tokens
from compactlab.summary.pool import CONTROLS
from compactlab.tokens import Meter
from compactlab.transcript import Messages, Transcript

Varies = Callable[[str], bool]
"""Whether a strategy or policy, named by its spec, leaves anything to chance."""


class Twice(NamedTuple):
    """What came of it: faults, how many cases were made again, and why others, or all, could not be."""

    faults: tuple[Fault, ...]
    cases: int
    unchecked: str = ""


def twice(results: Results, varies: Varies, settings: Settings | None = None, project: Project | None = None) -> Twice:
    """Make the compactions of a run again, those of which *varies* says that they leave nothing to chance.

    *settings* are those of the run, where they are known; else *project* is what its settings file says.
    """
    with Spool() as spool:
        try:
            corpus = corpus_of(results, settings or recalled(results, project or Project()), spool)
        except CompactlabError as error:
            return Twice((), 0, f"no compaction could be made a second time: {error}")
        return _twice(results, corpus, varies)


def _twice(results: Results, corpus: Corpus, varies: Varies) -> Twice:
    others = {FACTS, NAME, *CONTROLS}
    left = {key: left for key, left in results.left if key.strategy not in others and not varies(key.strategy)}
    faults, cases = [], 0
    for key, made in _Again(corpus, varies).all():
        if key in left:
            cases += 1
            if encode({name: left[key].get(name) for name in made}) != encode(made):
                reason = "made a second time, of the same messages, it came out otherwise"
                faults.append(Fault("determinism", row_of(key.strategy, key.budget), key.session, key.cut, reason))
    lacking = len(left) - cases
    return Twice(tuple(faults), cases, f"{lacking} compactions were not made a second time" if lacking else "")


@dataclass(frozen=True)
class _Again:
    """Makes what the passes of a run left, without scores."""

    corpus: Corpus
    varies: Varies

    @cached_property
    def meter(self) -> Meter:
        return Meter(self.corpus.settings.counter)

    def all(self) -> Iterator[tuple[Key, dict[str, Any]]]:
        """Every case that leaves nothing to chance, with what it left."""
        for session in reversed(self.corpus.sessions):
            transcript = self.corpus.spool.place(session).transcript()
            if self.corpus.settings.mode == "replay":
                yield from self._replays(transcript, session.cuts[0].name)
                continue
            for index, cut in reversed([*enumerate(session.cuts)]):
                if not cut.skipped:
                    yield from self._at(transcript, index, cut)

    def _at(self, transcript: Transcript, index: int, cut: Cut) -> Iterator[tuple[Key, dict[str, Any]]]:
        settings = self.corpus.settings
        base, size = _before(transcript, index, cut, self.meter if settings.mode == "recorded" else None)
        tokens = self.meter.messages(base)
        for strategy, budget in reversed([*product(settings.built, settings.budget_names or ("",))]):
            budget = "" if strategy.name == "none" else budget  # noqa: PLW2901  # the ceiling meets no budget
            if not self.varies(repr(strategy)):
                target = budget_tokens(budget, tokens) if budget else size
                made = compact(base, strategy, target=target, guard=self._guard(transcript, strategy))
                yield Key(transcript.id, cut.name, repr(strategy), budget=budget), left_by(made, base)

    def _replays(self, transcript: Transcript, cut: str) -> Iterator[tuple[Key, dict[str, Any]]]:
        """Facts have no say in what a replay does, and are not mined."""
        settings, kind = self.corpus.settings, transcript.agent_type
        session = Session(transcript, self.meter, ())
        overhead = settings.overhead + schemas(transcript, self.meter)
        window = Window(settings.window_of(kind) or 0, overhead, settings.reserve)
        for label, policy in reversed(settings.policies_of(kind).items()):
            if not self.varies(label):
                guard = self._guard(transcript, policy)
                done = replayed(session, policy, window, guard, settings.project.of(kind).marks)
                yield Key(transcript.id, cut, label), told(done)

    def _guard(self, transcript: Transcript, one: Strategy | Policy) -> Guard:
        project = self.corpus.settings.project.of(transcript.agent_type)
        return Guard(self.meter, model=project.model() if one.uses_model else None, prompts=project.prompts)


def _before(transcript: Transcript, index: int, cut: Cut, meter: Meter | None) -> tuple[Messages, int | None]:
    """What stood before a cut; with a *meter*, before a recorded compaction, whose weight is then the target."""
    if meter is None:
        return history.repair(transcript.view(cut.before)).messages, None
    until = replace(transcript, compactions=transcript.compactions[:index])
    base = history.repair(until.view(cut.before)).messages
    after = meter.messages(history.repair(transcript.after(index)).messages)
    share = repr(100 * after / meter.messages(base))  # as the run states it, which rounds alike
    return base, budget_tokens(share, meter.messages(base))
