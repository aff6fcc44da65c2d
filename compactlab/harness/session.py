"""One session, all its cuts, all strategies and controls: from messages to blocks of records. Runs in any process."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import msgspec

from compactlab import history, metrics
from compactlab.answering import Examined, Question
from compactlab.answering.scores import scores as answer_scores
from compactlab.compaction import Compaction, Guard, compact
from compactlab.controls import bag, null
from compactlab.facts import Fact
from compactlab.harness.answers import Answers
from compactlab.harness.cuts import Cut, spoken_by_agent
from compactlab.harness.fates import in_order, stories, verdict
from compactlab.harness.labels import labels
from compactlab.harness.models import Asked
from compactlab.harness.rows import Rows, left_by, told
from compactlab.harness.sized import of_size
from compactlab.llm import Model, ModelError
from compactlab.llm.extractive import Extractive
from compactlab.metrics import Case, Score, Trial
from compactlab.metrics.distortion import mutated
from compactlab.metrics.position import standing
from compactlab.policy import Policy
from compactlab.probes.decoys import decoys_needed
from compactlab.probes.hand import HandProbes, Probe
from compactlab.probes.mined import AtRisk, matcher_of
from compactlab.records import Block, Key
from compactlab.redaction import redacted
from compactlab.settings import Project
from compactlab.strategies import Strategy
from compactlab.summary.budgets import budget_tokens
from compactlab.tokens import Meter
from compactlab.transcript import Messages, Transcript

_Left = dict[Key, Compaction | ModelError]
"""By the key of a strategy's case what a pass came to, or which reply it lacks."""


@dataclass(frozen=True)
class Job:
    """Everything that a worker needs for one session; `common` are values found in two other sessions or more.

    `asked` are the models that all sessions share; without, that of the project is built where it is needed.
    """

    transcript: Transcript
    facts: tuple[Fact, ...]
    cuts: tuple[Cut, ...]
    probes: tuple[Probe, ...]
    common: frozenset[str]
    unrelated: tuple[Transcript, ...]
    strategies: tuple[Strategy, ...]
    budgets: tuple[str, ...]
    project: Project
    counter: str
    seed: int
    made_by: dict[tuple[str, str], str]
    done: frozenset[Key] = field(default_factory=frozenset)
    asked: Asked | None = None

    def without(self, done: frozenset[Key]) -> Job:
        """The same job, told which of its keys need not be made."""
        return replace(self, done=done & frozenset(self.keys))

    @property
    def keys(self) -> list[Key]:
        """The keys of its blocks, in the order in which they are written."""
        rows = labels(self.strategies, self.budgets, self.times)
        return [
            Key(self.transcript.id, cut.name, *label)
            for cut in self.cuts
            for label in (rows if not cut.skipped else rows[:1])
        ]

    def blocks(self) -> Iterator[Block]:
        """Make its blocks that are not done, in order."""
        return scored(self)

    def times(self, one: Strategy | Policy) -> int:
        """How often a strategy or policy is run: repeated if it draws, or asks a model that is no code; else once."""
        asked = self.asked
        varies = one.stochastic or (one.uses_model and asked and asked.model and asked.model.name != Extractive.name)
        return asked.replicates if asked and varies else 1

    def drawn_by(self, key: Key, one: Strategy | Policy) -> int:
        """The seed of a strategy or policy that draws, another in each case and repetition; 0 for any other."""
        if not one.stochastic:
            return 0
        case = f"{self.seed}|{key.session}|{key.cut}|{key.budget}|{key.replicate}"
        return int.from_bytes(hashlib.sha256(case.encode("utf-8", "surrogatepass")).digest()[:6])

    @property
    def complete(self) -> bool:
        return len(self.done) == len(self.keys)


def scored(job: Job) -> Iterator[Block]:
    """Make the blocks of a session that are not done, in order. Linear in the session's length for each strategy."""
    if job.complete:
        return
    session = _Session(job)
    for cut in job.cuts:
        wanted = [key for key in job.keys if key.cut == cut.name and key not in job.done]
        if wanted:
            yield from session.at(cut, wanted)


class _Session:
    """What the cuts of a session share: messages in split form, facts, matcher, meter, probes."""

    def __init__(self, job: Job) -> None:
        self.job = job
        self.meter = Meter(job.counter)
        self.facts = job.facts
        self.matcher = matcher_of(self.facts)
        self.excluded = frozenset(i for i, fact in enumerate(self.facts) if fact.value in job.common)
        self.hand = HandProbes(job.probes)

    @cached_property
    def model(self) -> Model:
        return (self.job.asked and self.job.asked.model) or self.job.project.model()

    def at(self, cut: Cut, wanted: Sequence[Key]) -> Iterator[Block]:
        """Make the blocks of one cut; what fails is a block with its error."""
        rows = Rows(self.job.transcript, cut, self.job.made_by)
        if cut.skipped:
            yield rows.block(wanted[0], [], "skipped", cut.skipped)
            return
        try:
            case, facts = self._case(cut)
            told = self._told(cut, case)
        except Exception as error:  # noqa: BLE001  # a case that fails is a row with its error, not the end of the run
            yield from (rows.block(key, [], "failed", _said(error)) for key in wanted)
            return
        left: _Left = {}
        for key in wanted:
            try:
                if key.strategy == "facts":
                    yield msgspec.structs.replace(rows.block(key, facts, "applied"), compaction={"needed": told})
                else:
                    yield self._block(key, case, rows, left)
            except Exception as error:  # noqa: BLE001  # same
                yield rows.block(key, [], "failed", _said(error))

    def _told(self, cut: Cut, case: Case) -> list[dict[str, Any]]:
        """The stories of the needed facts, in the order of their use, with where they stood."""
        found = stories(self.job.transcript, cut, case.risk, case.needed)
        where = standing(case)
        return [
            story._asdict() | where[fact]._asdict() for story, fact in zip(found, in_order(case.needed), strict=True)
        ]

    def _case(self, cut: Cut) -> tuple[Case, list[Score]]:
        transcript = self.job.transcript
        before = transcript.view(cut.before)
        risk = AtRisk(history.repair(before).messages, self.facts, self.matcher, self.excluded)
        after = tuple(transcript.messages[cut.before :])
        future = risk.future(after)
        case = Case(risk, future.uses, self.hand, (), self.meter, after)
        source = transcript.messages[cut.before].source
        asked = self.hand.admitted(cut.before if source is None else source, case.protected)
        return replace(case, asked=asked), self._of_facts(case, len(future.supplied), cut)

    def _of_facts(self, case: Case, supplied: int, cut: Cut) -> list[Score]:
        """Scores of the fact set itself: how often it recurs, how often it, or a decoy, is needed by chance."""
        risk, uses = case.risk, case.needed
        scores = [Score("supplied_again", supplied, supplied + len(uses))]
        decoys = decoys_needed(risk, uses, case.future)
        scores += [Score("decoys_needed", found, needed, family) for family, found, needed in decoys]
        chance: dict[str, float] = {}
        for other in self.job.unrelated:
            spoken = spoken_by_agent(other)
            foreign = risk.future(other.messages[spoken[int(cut.share * len(spoken))] :] if spoken else ())
            for fact in foreign.uses:
                family = self.facts[fact].family
                chance[family] = chance.get(family, 0.0) + 1 / len(self.job.unrelated)
        for family in sorted({self.facts[fact].family for fact in risk.anchors}):
            needed = sum(self.facts[fact].family == family for fact in uses)
            if self.job.unrelated:
                scores.append(Score("needed_by_chance", chance.get(family, 0.0), needed, family))
        return scores

    def _block(self, key: Key, case: Case, rows: Rows, left: _Left) -> Block:
        if key.strategy in {"bag", "null"}:
            return self._floor(key, case, rows)
        case_of = msgspec.structs.replace(key, strategy=key.size_of or key.strategy, size_of="")
        started = time.perf_counter()
        if case_of not in left:
            left[case_of] = self._compacted(case_of, case)
        seconds = time.perf_counter() - started
        compaction = left[case_of]
        if isinstance(compaction, ModelError):
            return rows.unanswered(key, compaction)
        if compaction.receipt.outcome == "failed":
            return rows.of_failure(key, compaction.receipt)
        trial = Trial(case, compaction.messages, compaction.receipt)
        if key.size_of:
            control = of_size(case, key, self.job.seed, trial.tokens)
            return rows.block(key, control.scores, "applied", draws=control.draws)
        return msgspec.structs.replace(self._of_pass(key, trial, compaction, rows), seconds=seconds)

    def _of_pass(self, key: Key, trial: Trial, compaction: Compaction, rows: Rows) -> Block:
        case = trial.case
        examined = self._examined(case, trial.messages, key)
        if examined.lacks:
            return rows.unanswered(key, examined.lacks)
        block = rows.of_pass(key, [*_measured(trial), *answer_scores(examined.answers)], compaction.receipt)
        changed = mutated(trial)
        verdicts = [verdict(trial.presence, fact, changed) for fact in in_order(case.needed)]
        result = left_by(compaction, case.base) | {"needed": verdicts} | told(examined.answers)
        return msgspec.structs.replace(block, compaction=result)

    def _floor(self, key: Key, case: Case, rows: Rows) -> Block:
        """What no strategy may touch, and the bag; a reader of the first shows what can be guessed."""
        if key.strategy == "bag":
            return rows.block(key, metrics.measure(Trial(case, bag.build(case))), "applied")
        trial = Trial(case, null.build(case))
        examined = self._examined(case, trial.messages, key)
        if examined.lacks:
            return rows.unanswered(key, examined.lacks)
        block = rows.block(key, [*metrics.measure(trial), *answer_scores(examined.answers)], "applied")
        return msgspec.structs.replace(block, compaction=told(examined.answers) or None)

    def _examined(self, case: Case, messages: Messages, key: Key) -> Examined:
        """What a reader answers from *messages*, where there is one; equal messages are read once a case."""
        examiner = self.job.asked and self.job.asked.examiner
        if not examiner or not case.asked:
            return Examined(())
        verdicts = self.hand.verdicts(messages, case.own)
        questions = [Question(self.hand.probes[i], verdicts[i]) for i in case.asked]
        place = f"{key.session}|{key.cut}"
        return case.cached(("answers", messages), lambda: examiner.examine(messages, questions, place))

    def _compacted(self, key: Key, case: Case) -> Compaction | ModelError:
        """The compaction, or which reply it lacks."""
        strategy = next(s for s in self.job.strategies if repr(s) == key.strategy)
        target = budget_tokens(key.budget, case.tokens) if key.budget else None
        answers = Answers(self.model, key.replicate) if strategy.uses_model else None
        seed = self.job.drawn_by(key, strategy)
        guard = Guard(self.meter, model=answers, prompts=self.job.project.prompts, seed=seed)
        compaction = compact(case.base, strategy, target=target, guard=guard)
        return (answers and answers.lacks) or compaction


def _measured(trial: Trial) -> list[Score]:
    """All scores of a strategy; equal results share them, as those of one that takes no target, whatever its budget."""
    receipt = trial.receipt
    cost = (receipt.model_calls, receipt.model_tokens) if receipt else ()
    return trial.case.cached((trial.messages, cost), lambda: list(metrics.measure(trial)))


def _said(error: Exception) -> str:
    return redacted(f"{type(error).__name__}: {error}")
