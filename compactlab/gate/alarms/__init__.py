"""How often the gate is wrong: reruns of a strategy that draws, unchanged or worse by a known number of points.

A corpus is made by a seed (`sessions`), a strategy keeps a random part of each session (`drawn`), and what its draws
keep is measured as a run measures it (`outcomes`). Worse strategies are sought by how much less they keep in truth
(`losses`). Reruns are dealt from these draws, other seeds on either side, and judged by the rule of the gate
(`reruns`): an alarm where nothing changed is false, none where much was lost is a miss. `told` says what came out.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from compactlab.errors import SpecError
from compactlab.gate.alarms.losses import Loss, Truth, difference, sought, truth
from compactlab.gate.alarms.outcomes import Drawer, Progress, Values, holders, jobs_of
from compactlab.gate.alarms.reruns import Deal, Rate, Rule, of_check, of_gate, over_sessions, rated
from compactlab.gate.alarms.sessions import sessions
from compactlab.harness.workers import pool_of
from compactlab.stats import MARGIN

__all__ = ["LOSSES", "Alarms", "Line", "Plan", "study"]

LOSSES: tuple[tuple[float, str], ...] = ((0, ""), (2, ""), (5, ""), (10, ""), (15, ""), (10, "words"), (10, "bash"))
"""True losses in points, and the kind of unit that alone bears them (see `Drawn`), all where empty; first, none."""
Margins = tuple[float, ...]
HELD = 10
"""Points that the gate must not miss."""


class Plan(NamedTuple):
    """The size of a study: sessions, reruns of each kind, draws of each strategy, losses, replicates, margins, seed.

    `asked` are the numbers of replicates at which the whole gate judges; the first is what it asks for. `few` sessions
    are judged by themselves too: as many as are recorded in `fixtures/`.
    """

    sessions: int = 40
    reruns: int = 200
    draws: int = 400
    losses: tuple[tuple[float, str], ...] = LOSSES
    asked: tuple[int, ...] = (20, 40)
    replicates: tuple[int, ...] = (1, 5, 20)
    margins: tuple[float, ...] = (0.02, 0.05, 0.1)
    few: int = 13
    seed: int = 0

    def checked(self) -> Plan:
        """The plan; `SpecError` where it cannot be done: no draw may stand on both sides of a rerun."""
        least = 2 * max(*self.asked, *self.replicates)
        if self.draws < least:
            raise SpecError(f"{self.draws} draws: expected {least} or more, half of them for either side of a rerun")
        if self.sessions < 1 or self.reruns < 1:
            raise SpecError(f"{self.sessions} sessions, {self.reruns} reruns: expected 1 or more of either")
        return self


class Line(NamedTuple):
    """Which reruns were judged, by what, and how many came to each verdict.

    `judge` is the whole `gate`, one `check` of it, or `sessions`, what a t over sessions would say; `less` the share by
    which the strategy keeps less of these sessions in truth.
    """

    judge: str
    loss: Loss
    less: float
    sessions: int
    replicates: int
    margin: float
    rate: Rate


class Alarms(NamedTuple):
    """What a study came to: the true losses; the whole gate, one check at all sizes, and both schemes side by side."""

    plan: Plan
    truths: tuple[Truth, ...]
    gate: tuple[Line, ...]
    power: tuple[Line, ...]
    schemes: tuple[Line, ...]


def study(plan: Plan | None = None, jobs: int = 0, progress: Progress | None = None) -> Alarms:
    """Do the study: the same numbers for the same plan, on any number of processes.

    *jobs* 0 means one process a core. *progress* is called with sessions done, sessions in all, and the session.
    `SpecError` where a plan cannot be done.
    """
    plan = (plan or Plan()).checked()
    made = sessions(plan.sessions, plan.seed)
    with pool_of(min(jobs or os.cpu_count() or 1, plan.sessions)) as pool:
        drawer = Drawer(jobs_of(made, plan.seed, pool), pool, progress)
        held = list((pool.map if pool else map)(holders, drawer.jobs))
        found = [sought(held, points, kind) for points, kind in plan.losses]
        kept = drawer.draws([loss.strategy for loss in found], range(plan.draws))
    types = {transcript.id: transcript.agent_type for transcript in made}
    truths = tuple(truth(loss, held, values, kept[0]) for loss, values in zip(found, kept, strict=True))
    judged = _Judged(plan, found, kept)
    return Alarms(plan, truths, tuple(judged.gate(types)), tuple(judged.power()), tuple(judged.schemes()))


class _Judged:
    """Reruns of every kind, and what is said of them."""

    def __init__(self, plan: Plan, losses: Sequence[Loss], kept: Sequence[Values]) -> None:
        self.plan, self.losses, self.kept = plan, losses, kept
        self.told = [at for at, loss in enumerate(losses) if loss.points in {0, HELD}]

    def lines(self, at: int, replicates: int, sessions: int, rules: Mapping[str, Rule], margins: Margins) -> list[Line]:
        """What each rule says under each margin of the same reruns of one strategy on the first so many sessions.

        The baseline is always the unchanged one.
        """
        base, new = ({name: of[name] for name in list(of)[:sessions]} for of in (self.kept[0], self.kept[at]))
        reruns = list(Deal(self.plan.reruns, replicates, self.plan.seed).differences(base, new))
        less = difference(base, new)
        return [
            Line(judge, self.losses[at], less, sessions, replicates, margin, rated(rule, reruns, margin))
            for judge, rule in rules.items()
            for margin in margins
        ]

    def gate(self, types: dict[str, str]) -> Iterator[Line]:
        """What the whole gate says."""
        for at in self.told:
            for count in self.plan.asked:
                yield from self.lines(at, count, self.plan.sessions, {"gate": of_gate(types)}, (MARGIN,))

    def power(self) -> Iterator[Line]:
        """What the check of all sessions says, for every loss, number of replicates and margin."""
        for at in range(len(self.losses)):
            for count in self.plan.replicates:
                yield from self.lines(at, count, self.plan.sessions, {"check": of_check}, self.plan.margins)

    def schemes(self) -> Iterator[Line]:
        """What is said by the spread of replicates, and by that of sessions, of many sessions and of few."""
        rules = {"check": of_check, "sessions": over_sessions}
        for size in dict.fromkeys((self.plan.sessions, min(self.plan.few, self.plan.sessions))):
            for at in self.told:
                for count in (min(self.plan.replicates), max(self.plan.replicates)):
                    yield from self.lines(at, count, size, rules, (MARGIN,))
