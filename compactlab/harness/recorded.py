"""Recorded compactions: what a real harness left at a real place, beside every strategy of ours at the same size.

Each compaction that a transcript recorded is a place: what stood in the agent's view before it (what an earlier one
left included) is compacted anew by each strategy, whose target is the weight of what the harness left. What the harness
left is a row of its own, `recorded`, scored like all others against the recorded future. Controls are cut to the size
of each, the harness's too.

That future is the harness's own: what it lost the agent could not use. So facts that it lost and that the agent fetched
again count as needed in `refetched_...`, beside the plain `needed_...`, which alone is too kind to the harness; the
first alone would be too harsh.
"""

from __future__ import annotations

import dataclasses
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property

from msgspec.structs import replace

from compactlab import catalog, history
from compactlab.compaction import Compaction
from compactlab.harness.cuts import Cut
from compactlab.harness.labels import Label, labels, once
from compactlab.harness.places import CLEARED, NAME, UNSEEN, Sent, beyond, harness_of, sent
from compactlab.harness.rows import Rows
from compactlab.harness.session import Job, _Session
from compactlab.harness.sized import OF_A_SIZE
from compactlab.harness.sources import short, sources
from compactlab.llm import ModelError
from compactlab.metrics import Case, Score, Trial
from compactlab.probes.mined import mask
from compactlab.probes.refetched import Held, Refetched, refetched
from compactlab.receipt import Action, Change, Receipt
from compactlab.records import Block, Key
from compactlab.settings import Project
from compactlab.strategies import Strategy
from compactlab.summary.recorded import IN_PART, THINNED
from compactlab.traffic.artifacts import Paths
from compactlab.transcript import Messages, Transcript

RULES = ("openai", "anthropic")


@dataclasses.dataclass(frozen=True)
class RecordedJob(Job):
    """A session whose `cuts` are `places.places` of its transcript; budgets have no meaning here."""

    @property
    def keys(self) -> list[Key]:
        """The keys of its blocks, in the order in which they are written; a place that is skipped has one."""
        rows = labels_at_place(self.strategies, self.times)
        return [
            Key(self.transcript.id, cut.name, *label)
            for cut in self.cuts
            for label in (rows if not cut.skipped else rows[:1])
        ]

    def blocks(self) -> Iterator[Block]:
        """Make its blocks that are not done, in order."""
        session = _Places(self)
        for index, cut in enumerate(self.cuts):
            wanted = [key for key in self.keys if key.cut == cut.name and key not in self.done]
            if wanted:
                yield from session.at_place(index, wanted)


def labels_at_place(strategies: Sequence[Strategy], times: Callable[[Strategy], int] = once) -> list[Label]:
    """The blocks of one place: those of a cut without budgets, and `recorded` with its controls before the strategies.

    >>> [label.strategy for label in labels_at_place(()) if not label.size_of]
    ['facts', 'recorded', 'bag', 'null']
    """
    rows = labels(strategies, (), times)
    own = [Label(NAME), *(Label(control, NAME) for control in OF_A_SIZE)]
    first = 1 + sum(strategy.name == "none" for strategy in strategies)
    return [*rows[:first], *own, *rows[first:]]


def made_by(strategies: Sequence[Strategy], project: Project) -> dict[tuple[str, str], str]:
    """As `corpus.sources`, with the labels of a place."""
    found = sources(strategies, project)
    own = catalog.source_digest(__name__)
    controls = {control: catalog.source_digest(f"compactlab.controls.{control}") for control in OF_A_SIZE}
    scored_by = found["null", ""]
    found[NAME, ""] = short([scored_by, own])
    return found | {(control, NAME): short([scored_by, own, digest]) for control, digest in controls.items()}


class _Places(_Session):
    """A session at the places of its recorded compactions; `at_place` says at which of them it stands."""

    def __init__(self, job: Job) -> None:
        super().__init__(job)
        self.transcript = job.transcript
        self.index = 0

    @cached_property
    def paths(self) -> Paths:
        return Paths(self.transcript.messages)

    @cached_property
    def sent(self) -> list[Sent]:
        return sent(self.transcript, self.meter)

    def at_place(self, index: int, wanted: Sequence[Key]) -> Iterator[Block]:
        """Make the blocks of one place: there the transcript has no compactions but those before it."""
        self.index = index
        self.job = dataclasses.replace(self.job, transcript=_until(self.transcript, index))
        cut = self.job.cuts[index]
        if cut.skipped:
            rows = Rows(self.transcript, cut, self.job.made_by)
            yield rows.block(wanted[0], self._told_of_place(), "skipped", f"{cut.name}: {cut.skipped}")
            return
        yield from self.at(cut, wanted)

    @cached_property
    def _left(self) -> dict[int, Messages]:
        return {}

    @property
    def left(self) -> Messages:
        """What the harness left at the place, repaired as what stood before it is."""
        if self.index not in self._left:
            self._left[self.index] = history.repair(self.transcript.after(self.index)).messages
        return self._left[self.index]

    def _case(self, cut: Cut) -> tuple[Case, list[Score]]:
        case, scores = super()._case(cut)
        lost = Score("fetched_again_lost", len(self._again(case)), len(self._back(case)))
        return case, [*scores, *self._told_of_place(), lost]

    def _told_of_place(self) -> Iterator[Score]:
        """Which harness, what set it off, its own figures, what it sent beside what it recorded."""
        compaction = self.transcript.compactions[self.index]
        yield Score("harness", 1, group=harness_of(self.transcript))
        yield Score("trigger", 1, group=compaction.trigger)
        figures = {
            "told_before": compaction.tokens_before,
            "told_after": compaction.tokens_after,
            **{f"told_{name}": tokens for name, tokens in self.sent[self.index]._asdict().items()},
        }
        yield from (Score(metric, tokens) for metric, tokens in figures.items() if tokens is not None)

    def _compacted(self, key: Key, case: Case) -> Compaction | ModelError:
        """What the harness left, or what a strategy makes of the same to the same weight."""
        if key.strategy == NAME:
            return Compaction(self.left, self._receipt(case))
        same = 100 * self.meter.messages(self.left) / case.tokens  # per cent, exact enough to give the tokens again
        return super()._compacted(replace(key, budget=key.budget or repr(same)), case)

    def _receipt(self, case: Case) -> Receipt:
        """What the harness did, as far as it is known."""
        after = self.meter.messages(self.left)
        return Receipt(
            strategy=NAME,
            outcome="applied",
            reason="; ".join(self._marks(case, after)),
            counter=self.meter.counter_name,
            target=None,
            over_target=False,
            tokens_before=case.tokens,
            tokens_after=after,
            kinds_before=self.meter.by_kind(case.base),
            kinds_after=self.meter.by_kind(self.left),
            changes=tuple(changes(case.base, self.left)),
            repairs=(),
            notes=(),
            rules=RULES,
            result="",
        )

    def _marks(self, case: Case, after: int) -> Iterator[str]:
        cleared, unseen = self.sent[self.index]
        if beyond(unseen, after, UNSEEN):
            yield f"about {unseen:,} tokens more were sent after it than are recorded: {IN_PART}"
        if beyond(cleared, case.tokens, CLEARED):
            yield f"about {cleared:,} of the tokens before it were no longer sent: {THINNED}"
        if after >= case.tokens:
            yield f"left {after:,} tokens of {case.tokens:,}"

    def _of_pass(self, key: Key, trial: Trial, compaction: Compaction, rows: Rows) -> Block:
        block = super()._of_pass(key, trial, compaction, rows)
        if block.lacks:
            return block
        return with_scores(block, [*self._fetched_again(trial), *(self._held(trial) if key.strategy == NAME else ())])

    def _back(self, case: Case) -> dict[int, Refetched]:
        """The facts at risk that the agent fetched again."""
        return case.cached("fetched again", lambda: refetched(case.risk, case.future, self.paths))

    def _again(self, case: Case) -> dict[int, Refetched]:
        """Those of them that the harness had lost."""
        kept = case.risk.presence(self.left).loose
        return {fact: back for fact, back in self._back(case).items() if not kept >> fact & 1}

    def _fetched_again(self, trial: Trial) -> Iterator[Score]:
        """What stands of the facts that the harness lost and the agent fetched again; of the harness nothing does."""
        case, groups = trial.case, defaultdict[tuple[str, str, str], list[int]](list)
        for fact, back in self._again(case).items():
            groups[case.risk.facts[fact].family, back.use, case.risk.home(fact)].append(fact)
        for (family, use, home), facts in sorted(groups.items()):
            bits, kept = mask(facts), trial.presence
            for metric, present in (("refetched_loose", kept.loose), ("refetched_bound", kept.bound)):
                yield Score(metric, (present & bits).bit_count(), len(facts), family, use, home)

    def _held(self, trial: Trial) -> Iterator[Score]:
        """What the harness kept of the facts of the protected set that the agent needed: our guard keeps them all."""
        case = trial.case
        risk = Held(case.base, case.risk.facts, self.matcher, self.excluded)
        presence, groups = risk.presence(trial.messages), defaultdict[tuple[str, str], list[int]](list)
        back = refetched(risk, case.future, self.paths)
        lost = {fact: again for fact, again in back.items() if not presence.loose >> fact & 1}
        uses: dict[int, str] = {fact: again.use for fact, again in lost.items() if again.use}
        uses |= {fact: use.kind for fact, use in risk.future(case.future).uses.items()}
        for fact, use in uses.items():
            groups[risk.facts[fact].family, use].append(fact)
        for (family, use), facts in sorted(groups.items()):
            yield Score("held_bound", (presence.bound & mask(facts)).bit_count(), len(facts), family, use)


def _until(transcript: Transcript, index: int) -> Transcript:
    """The transcript as it stood before one of its compactions: with those before it alone."""
    return replace(transcript, compactions=transcript.compactions[:index])


def with_scores(block: Block, scores: Iterable[Score]) -> Block:
    """The block with further rows behind its own."""
    head = block.records[0]
    row = replace(head, n=1, outcome="", reason="", model="", made_by="", fell_back=False)
    more = [replace(row, **score._asdict()) for score in scores]
    return replace(block, records=(replace(head, n=head.n + len(more)), *block.records[1:], *more))


def changes(before: Messages, after: Messages) -> Iterator[Change]:
    """Say what became of each message, by identity and by the recorded message that it came from."""
    kept = {id(message) for message in after}
    edited = {message.source for message in after if message.source is not None and message not in set(before)}
    for position, message in enumerate(before):
        action: Action = "kept" if id(message) in kept else "edited" if message.source in edited else "dropped"
        yield Change(position, message.source, message.role, action)
    known = {id(message) for message in before}
    made = (message for message in after if id(message) not in known and message.source is None)
    yield from (Change(None, None, message.role, "made") for message in made)
