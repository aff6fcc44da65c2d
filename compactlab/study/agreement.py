"""Finding 15: whether mined facts rank methods as hand-made probes do, and what those probes are worth by presence.

By presence an answer counts wherever it stands; by the product's rule it counts in its evidence, or bound to a word of
the question. The ceiling is the agreement of two random halves of the probes of a cell: nothing can agree with the
probes better than they do with themselves.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from random import Random
from typing import NamedTuple

from msgspec.structs import replace

from compactlab.facts.text import canonical
from compactlab.matching import Matcher, Pattern
from compactlab.probes.hand import Probe
from compactlab.probes.mined import mask
from compactlab.study.finding import Finding, judged, known, mean, ratio, spread
from compactlab.study.rankings import tau
from compactlab.study.session import BUDGETS, METHODS, Cell, Session, Standing, average
from compactlab.transcript import Block, Message

DRAWS = 5
SPLITS = 10
TENTH = 0.1
LEAST = 4
"""Probes of a cell under which its halves say nothing."""


class Early(NamedTuple):
    """Of all probes: how many are answered before their evidence, and in an unrelated session (a mean over those)."""

    before: float
    elsewhere: float | None
    before_by_rule: float
    elsewhere_by_rule: float | None


class Ranked(NamedTuple):
    """Taus of one cell at one budget: mined and hand-made by presence, both bound, and the halves of the probes."""

    budget: str
    loose: float | None
    bound: float | None
    halves: float | None


class Seen(NamedTuple):
    """What one session shows."""

    probes: int
    early: Early | None
    ranked: list[Ranked]


class Answers:
    """Where the answers of hand-made probes stand, by presence alone; each block is read once."""

    def __init__(self, probes: Sequence[Probe]) -> None:
        forms = [tuple(canonical(form) for form in (probe.answer, *probe.aliases)) for probe in probes]
        self.matcher = Matcher([Pattern(form, exact=False, family="answer") for form in forms])
        self._seen: dict[Block, int] = {}

    def standing(self, messages: Iterable[Message]) -> int:
        """Bit set of the probes with an answer that stands in *messages*."""
        found = 0
        for block in (block for message in messages for block in message.blocks):
            if block not in self._seen:
                self._seen[block] = mask(hit.pattern for hit in self.matcher.block(block))
            found |= self._seen[block]
        return found


def look(session: Session) -> Seen:
    """Look at one session and its probes."""
    answers = Answers(session.probes)
    ranked = [found for cell in session.cells for found in _ranked(cell, answers)]
    return Seen(len(session.probes), _early(session, answers) if session.probes else None, ranked)


def _early(session: Session, answers: Answers) -> Early:
    number = len(session.probes)
    messages = session.transcript.messages
    before = {
        i: [m for m in messages if m.source is not None and m.source < min(probe.evidence)]
        for i, probe in enumerate(session.probes)
        if probe.evidence
    }
    elsewhere = [[replace(m, source=None) for m in other.messages] for other in session.others]
    return Early(
        before=sum(answers.standing(kept) >> i & 1 for i, kept in before.items()) / number,
        elsewhere=mean(answers.standing(kept).bit_count() / number for kept in elsewhere),
        before_by_rule=sum(_answered(session, kept) >> i & 1 for i, kept in before.items()) / number,
        elsewhere_by_rule=mean(_answered(session, kept).bit_count() / number for kept in elsewhere),
    )


def _answered(session: Session, messages: Iterable[Message]) -> int:
    """Bit set of the probes that the product's rule calls answered."""
    verdicts = session.hand.verdicts(messages)
    return mask(i for i, verdict in enumerate(verdicts) if verdict in {"kept", "both"})


def _ranked(cell: Cell, answers: Answers) -> list[Ranked]:
    asked = list(cell.case.asked)
    return [_at(cell, answers, budget, asked) for budget in BUDGETS] if len(asked) >= LEAST else []


def _at(cell: Cell, answers: Answers, budget: str, asked: Sequence[int]) -> Ranked:
    """Rank the methods that meet a budget by what each says of them."""
    mined: list[Standing] = []
    by_presence: list[list[float]] = []
    by_rule: list[list[float]] = []
    for left in filter(None, (cell.left(method, budget, DRAWS) for method in METHODS)):
        mined.append(average([cell.standing(messages) for messages in left]))
        by_presence.append(_shares([answers.standing(messages) for messages in left], asked))
        by_rule.append(_shares([_answered(cell.session, messages) for messages in left], asked))
    return Ranked(
        budget,
        tau([standing.loose for standing in mined], [sum(kept) for kept in by_presence]),
        tau([standing.bound for standing in mined], [sum(kept) for kept in by_rule]),
        _of_halves(by_rule, cell.draw("halves", budget)),
    )


def _shares(found: Sequence[int], asked: Sequence[int]) -> list[float]:
    """For each probe asked in how many of the bit sets it stands, as a share."""
    return [sum(bits >> probe & 1 for bits in found) / len(found) for probe in asked]


def _of_halves(kept: Sequence[Sequence[float]], draw: Random) -> float | None:
    """Mean tau of the rankings by two random halves of the probes; *kept* holds a row a method."""
    taus = []
    for _ in range(SPLITS if kept else 0):
        order = list(range(len(kept[0])))
        draw.shuffle(order)
        one, other = order[: len(order) // 2], order[len(order) // 2 :]
        found = tau([sum(row[i] for i in one) for row in kept], [sum(row[i] for i in other) for row in kept])
        taus += [] if found is None else [found]
    return mean(taus)


def findings(looked: Sequence[Seen]) -> list[Finding]:
    """Finding 15 of all sessions."""
    early = [(seen.early, seen.probes) for seen in looked if seen.early]
    ranked = [found for seen in looked for found in seen.ranked]
    loose, bound, halves = (
        known(mean(known(getattr(r, name) for r in ranked if r.budget == budget)) for budget in BUDGETS)
        for name in ("loose", "bound", "halves")
    )
    before, elsewhere, *ruled = (
        _pooled(early, name) for name in ("before", "elsewhere", "before_by_rule", "elsewhere_by_rule")
    )
    numbers = [spread(loose), spread(bound), spread(halves), (before,), (elsewhere,), ruled]
    if before is None or ruled[0] is None or not bound:
        return [judged(15, numbers, holds=None)]
    return [judged(15, numbers, holds=before > TENTH and ruled[0] < before)]


def _pooled(early: Sequence[tuple[Early, int]], name: str) -> float | None:
    """Share of all probes of all sessions; None where it was measured in none."""
    found = [(getattr(shares, name), number) for shares, number in early if getattr(shares, name) is not None]
    return ratio(sum(share * number for share, number in found), sum(number for _, number in found))
