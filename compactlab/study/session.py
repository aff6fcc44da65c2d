"""A session of the study, cut at half and three quarters of its weight, and what each method leaves of it.

The cuts are the study's own: before the first message that the agent sent once that share of the weight was reached.
All else (repair, facts, admission, the guard, the controls) is what every run does.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from random import Random
from typing import NamedTuple

from compactlab import history
from compactlab.compaction import Guard, compact
from compactlab.controls import random, random_lines, regex_lines
from compactlab.facts import Fact
from compactlab.harness.cuts import spoken_by_agent
from compactlab.llm.extractive import Extractive
from compactlab.matching import Matcher
from compactlab.metrics import Case
from compactlab.probes.hand import HandProbes, Probe
from compactlab.probes.mined import AtRisk, UseKind, mask, matcher_of
from compactlab.study.choices import prose_first
from compactlab.summary.budgets import budget_tokens
from compactlab.tokens import DEFAULT_COUNTER, Meter
from compactlab.transcript import Messages, Transcript

SHARES = (0.5, 0.75)
BUDGETS = ("5", "10", "20", "30")
"""Per cents of the weight before the cut, protected set included."""
DRAWS = 20
STRATEGIES = ("sliding_window", "sliding_reflect", "summary", "key_value", "ladder")
CHOSEN: dict[str, Callable[[Case, int], Messages]] = {"regex_lines": regex_lines.build, "prose_first": prose_first}
METHODS = (*STRATEGIES, "random", "random_lines", *CHOSEN)


class Standing(NamedTuple):
    """Shares, from 0 to 1, of the needed facts of a cell that stand at all, and that stand bound."""

    loose: float
    bound: float


Scores = dict[tuple[str, str], Standing]
"""By budget and method."""


@dataclass(frozen=True)
class Session:
    """One transcript with its facts; `common` are values of two other sessions, `others` those of other stories."""

    transcript: Transcript
    facts: tuple[Fact, ...]
    common: frozenset[str]
    probes: tuple[Probe, ...]
    others: tuple[Transcript, ...]
    counter: str = DEFAULT_COUNTER

    @property
    def cluster(self) -> str:
        """The story; a session without one is its own."""
        return self.transcript.story

    @cached_property
    def meter(self) -> Meter:
        """The meter of all its cells."""
        return Meter(self.counter)

    @cached_property
    def matcher(self) -> Matcher:
        """Finds its facts."""
        return matcher_of(self.facts)

    @cached_property
    def hand(self) -> HandProbes:
        """Judges its hand-made probes."""
        return HandProbes(self.probes)

    @cached_property
    def excluded(self) -> frozenset[int]:
        """Facts that are not admitted since other sessions hold them too."""
        return frozenset(i for i, fact in enumerate(self.facts) if fact.value in self.common)

    @cached_property
    def cells(self) -> tuple[Cell, ...]:
        """The session at both cuts, where something is needed after them."""
        cuts = {before: share for share in reversed(SHARES) if (before := position(self.transcript, share, self.meter))}
        made = [Cell(self, share, before, self._case(before)) for before, share in sorted(cuts.items())]
        return tuple(cell for cell in made if cell.case.needed)

    def _case(self, before: int) -> Case:
        transcript = self.transcript
        base = history.repair(transcript.view(before)).messages
        risk = AtRisk(base, self.facts, self.matcher, self.excluded)
        case = Case(risk, risk.future(transcript.messages[before:]).uses, self.hand, (), self.meter)
        source = transcript.messages[before].source
        asked = self.hand.admitted(before if source is None else source, case.protected)
        return Case(risk, case.needed, self.hand, asked, self.meter)


@dataclass(frozen=True)
class Cell:
    """A session cut behind `share` of its weight, before its message `before`."""

    session: Session
    share: float
    before: int
    case: Case

    @property
    def future(self) -> Messages:
        """The messages after the cut."""
        return self.session.transcript.messages[self.before :]

    def needed(self, *kinds: UseKind) -> int:
        """Bit set of the needed facts, all or those of some uses."""
        return mask(fact for fact, use in self.case.needed.items() if not kinds or use.kind in kinds)

    @cached_property
    def all_needed(self) -> int:
        """Bit set of all needed facts."""
        return self.needed()

    def standing(self, messages: Messages, among: int | None = None) -> Standing:
        """What stands in *messages* of the needed facts, or of those in the bit set *among*, which is not empty."""
        wanted = self.all_needed if among is None else among
        present, size = self.case.risk.presence(messages), wanted.bit_count()
        return Standing((present.loose & wanted).bit_count() / size, (present.bound & wanted).bit_count() / size)

    def tokens(self, budget: str) -> int:
        """Tokens of a budget here."""
        return budget_tokens(budget, self.case.tokens)

    def compacted(self, spec: str, budget: str = "") -> Messages:
        """What a strategy leaves, by the stand-in written by code where it asks a model."""
        guard = Guard(self.case.meter, model=Extractive())
        target = self.tokens(budget) if budget else None
        return self.case.cached(
            f"{spec} at {budget}", lambda: compact(self.case.base, spec, target=target, guard=guard).messages
        )

    def drawn(self, tokens: int, number: int, control: str = "random") -> list[Messages]:
        """Some draws of random units, or random lines, cut to the size *tokens*; the same in every process."""
        build = random.build if control == "random" else random_lines.build
        return [build(self.case, tokens, self.draw(control, draw)) for draw in range(number)]

    def draw(self, *of: object) -> Random:
        """A source of chance that is the same in every process, for one purpose."""
        return Random("|".join(map(str, (self.session.transcript.id, self.share, *of))))

    @cached_property
    def scores(self) -> Scores:
        """By budget and method what stands of the needed facts, where the method meets the budget."""
        return self.scored(METHODS, DRAWS)

    def scored(self, methods: Sequence[str], draws: int) -> Scores:
        """The same for some methods; those that are drawn get the mean of *draws* draws."""
        left = ((budget, method, self.left(method, budget, draws)) for budget in BUDGETS for method in methods)
        return {(b, method): average([self.standing(m) for m in results]) for b, method, results in left if results}

    def left(self, method: str, budget: str, draws: int) -> list[Messages]:
        """What a method leaves at a budget, once or for each draw; nothing where it does not meet it."""
        tokens, case = self.tokens(budget), self.case
        if method in STRATEGIES:
            made = self.compacted(method, budget)
            return [made] if case.meter.messages(made) <= tokens else []
        if case.meter.messages(case.protected) > tokens:
            return []
        if method in CHOSEN:
            return [CHOSEN[method](case, tokens)]
        return self.drawn(tokens, draws, method)


def position(transcript: Transcript, share: float, meter: Meter) -> int | None:
    """The first message that the agent sent after *share* of the weight; None if there is none."""
    meter.messages(transcript.messages)
    weights = list(accumulate(meter.message(message) for message in transcript.messages))
    return next((i for i in spoken_by_agent(transcript) if i and weights[i - 1] >= share * weights[-1]), None)


def average(found: list[Standing]) -> Standing:
    """Mean of several draws.

    >>> average([Standing(0.5, 0.25), Standing(1.0, 0.25)])
    Standing(loose=0.75, bound=0.25)
    """
    return Standing(*(sum(values) / len(values) for values in zip(*found, strict=True)))
