"""One session, all its cuts, all strategies and controls: from messages to blocks of records. Runs in any process."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import msgspec

from compactlab import history, metrics
from compactlab.compaction import Compaction, Guard, compact
from compactlab.controls import bag, null, oracle, random_lines, regex_lines
from compactlab.controls import random as random_units
from compactlab.facts import Fact
from compactlab.harness.answers import Answers
from compactlab.harness.cuts import Cut, spoken_by_agent
from compactlab.harness.fates import in_order, stories, verdict
from compactlab.harness.rows import Rows, left_by
from compactlab.llm import Model, ModelError
from compactlab.metrics import Case, Score, Trial
from compactlab.metrics.distortion import mutated
from compactlab.metrics.position import standing
from compactlab.probes.decoys import decoys_needed
from compactlab.probes.hand import HandProbes, Probe
from compactlab.probes.mined import AtRisk, matcher_of
from compactlab.records import Block, Key
from compactlab.redaction import redacted
from compactlab.settings import Project
from compactlab.strategies import Strategy
from compactlab.summary.budgets import budget_tokens
from compactlab.tokens import Meter
from compactlab.transcript import Transcript

DRAWS = 20
DRAWN = {"random": random_units.trial, "random_lines": random_lines.trial}
CHOSEN = {"regex_lines": regex_lines.trial, "oracle": oracle.trial}
OF_A_SIZE = (*DRAWN, *CHOSEN)
CONTROLS = (*OF_A_SIZE, "bag", "null")

_Left = dict[tuple[str, str], Compaction | ModelError]
"""By strategy and budget what a pass came to, or which reply it lacks."""


@dataclass(frozen=True)
class Job:
    """Everything that a worker needs for one session; `common` are values found in two other sessions or more.

    Without a `model`, which is then the one that all sessions share, that of the project is built where it is needed.
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
    model: Model | None = None

    def without(self, done: frozenset[Key]) -> Job:
        """The same job, told which of its keys need not be made."""
        return replace(self, done=done & frozenset(keys(self)))

    @property
    def complete(self) -> bool:
        return len(self.done) == len(keys(self))


def keys(job: Job) -> list[Key]:
    """The keys of a session's blocks, in the order in which they are written."""
    rows = labels(job.strategies, job.budgets)
    return [
        Key(job.transcript.id, cut.name, *label)
        for cut in job.cuts
        for label in (rows if not cut.skipped else rows[:1])
    ]


def labels(strategies: Sequence[Strategy], budgets: Sequence[str]) -> list[tuple[str, str, str]]:
    """The blocks of one cut: strategy or control, for a control of a strategy's size whose, and the budget.

    `none`, the ceiling, meets no budget and stands once.
    """
    rows = [("facts", "", ""), *((repr(s), "", "") for s in strategies if s.name == "none")]
    for budget in budgets or ("",):
        for spec in (repr(strategy) for strategy in strategies if strategy.name != "none"):
            rows += [(spec, "", budget), *((control, spec, budget) for control in OF_A_SIZE)]
    return [*rows, ("bag", "", ""), ("null", "", "")]


def scored(job: Job) -> Iterator[Block]:
    """Make the blocks of a session that are not done, in order. Linear in the session's length for each strategy."""
    if job.complete:
        return
    session = _Session(job)
    for cut in job.cuts:
        wanted = [key for key in keys(job) if key.cut == cut.name and key not in job.done]
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
        return self.job.model or self.job.project.model()

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
        if key.strategy == "null":
            return rows.block(key, metrics.measure(Trial(case, null.build(case))), "applied")
        if key.strategy == "bag":
            return rows.block(key, metrics.measure(Trial(case, bag.build(case))), "applied")
        spec = key.size_of or key.strategy
        started = time.perf_counter()
        if (spec, key.budget) not in left:
            left[spec, key.budget] = self._compacted(spec, key.budget, case)
        seconds = time.perf_counter() - started
        compaction = left[spec, key.budget]
        if isinstance(compaction, ModelError):
            return rows.unanswered(key, compaction)
        receipt = compaction.receipt
        trial = Trial(case, compaction.messages, receipt)
        if receipt.outcome == "failed":
            return rows.block(key, [], "failed", receipt.reason, model=receipt.model)
        if key.size_of:
            return self._of_size(key, case, rows, trial.tokens)
        said = receipt.reason or (redacted("; ".join(receipt.notes)) if receipt.model else "")
        block = rows.block(key, _measured(trial), receipt.outcome, said, model=receipt.model)
        changed = mutated(trial)
        verdicts = [verdict(trial.presence, fact, changed) for fact in in_order(case.needed)]
        result = left_by(compaction, case.base) | {"needed": verdicts}
        return msgspec.structs.replace(block, compaction=result, seconds=seconds)

    def _compacted(self, spec: str, budget: str, case: Case) -> Compaction | ModelError:
        """The compaction, or which reply it lacks."""
        strategy = next(s for s in self.job.strategies if repr(s) == spec)
        target = budget_tokens(budget, case.tokens) if budget else None
        answers = Answers(self.model) if strategy.uses_model else None
        guard = Guard(self.meter, model=answers, prompts=self.job.project.prompts)
        compaction = compact(case.base, strategy, target=target, guard=guard)
        return (answers and answers.lacks) or compaction

    def _of_size(self, key: Key, case: Case, rows: Rows, tokens: int) -> Block:
        """A control of a certain size; strategies and budgets that come to the same size share it."""
        name = f"{key.strategy} of {tokens} tokens"
        scores = case.cached(name, lambda: self._control(key, case, tokens))
        return rows.block(key, scores, "applied", draws=DRAWS if key.strategy in DRAWN and tokens < case.tokens else 1)

    def _control(self, key: Key, case: Case, tokens: int) -> list[Score]:
        """The scores of a control; of a drawn one the mean of its draws, score by score.

        The draws of a cut are the same for every strategy, each cut off at another size: their differences are paired.
        """
        if tokens >= case.tokens:
            return _of_control(Trial(case, case.base))
        if key.strategy in CHOSEN:
            return _of_control(CHOSEN[key.strategy](case, tokens))
        draw = DRAWN[key.strategy]
        seeds = [f"{self.job.seed}|{key.session}|{key.cut}|{number}" for number in range(DRAWS)]
        drawn = [_of_control(draw(case, tokens, seed)) for seed in seeds]
        means = [round(sum(score.value for score in scores) / DRAWS, 6) for scores in zip(*drawn, strict=True)]
        return [score._replace(value=mean) for score, mean in zip(drawn[0], means, strict=True)]


def _measured(trial: Trial) -> list[Score]:
    """All scores of a strategy; equal results share them, as those of one that takes no target, whatever its budget."""
    receipt = trial.receipt
    cost = (receipt.model_calls, receipt.model_tokens) if receipt else ()
    return trial.case.cached((trial.messages, cost), lambda: list(metrics.measure(trial)))


def _of_control(trial: Trial) -> list[Score]:
    """What is recorded of a control that has a strategy's size: what the strategy is compared by, and the size."""
    scores = metrics.measure(trial, ("load_bearing", "second_miner", "tokens"))
    return [score for score in scores if not score.metric.endswith("_loose")]


def _said(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"
