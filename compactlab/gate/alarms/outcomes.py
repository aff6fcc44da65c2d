"""What draws of the strategy keep of the sessions: by the corpus, the guard, the miner and the matcher of every run.

The facts of a session are mined once, and its cuts are the same for all draws. A draw is what a run calls a replicate:
it compacts each cut under the guard with that replicate's seed, and what stands is scored and read as the gate reads
the records of a run. A test holds the values against those of a whole run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import reduce
from operator import or_
from typing import NamedTuple

from compactlab import history, metrics
from compactlab.compaction import Guard, compact
from compactlab.errors import RunError
from compactlab.gate.alarms.drawn import Drawn
from compactlab.gate.measures import PRIMARY, shares
from compactlab.harness.cuts import Cut, planned
from compactlab.harness.options import Settings
from compactlab.harness.rows import Rows
from compactlab.harness.session import Job
from compactlab.metrics import Case, Trial
from compactlab.probes.hand import HandProbes
from compactlab.probes.mined import AtRisk, matcher_of
from compactlab.records import Key
from compactlab.study import sessions_of
from compactlab.tokens import Meter
from compactlab.transcript import Messages, Transcript

Progress = Callable[[int, int, str], None]
Values = dict[str, list[float]]
"""By session the share of the primary metric that each draw keeps, a mean over cuts."""
Holders = list[list[list[Messages]]]
"""By cut, by needed fact, the units that hold it."""
COUNTED = ("action", PRIMARY)
"""Use and home of the facts that the primary metric counts."""


class Task(NamedTuple):
    """Draws that a worker makes of a session by each strategy: the replicates of these numbers."""

    job: Job
    strategies: tuple[Drawn, ...]
    numbers: range


class Drawer(NamedTuple):
    """Makes draws of all sessions, in this process or in a pool; *progress* hears of each session that is done."""

    jobs: tuple[Job, ...]
    pool: ProcessPoolExecutor | None = None
    progress: Progress | None = None

    def draws(self, strategies: Sequence[Drawn], numbers: range) -> list[Values]:
        """Give for each strategy what its replicates *numbers* keep of each session; equal numbers have equal seeds."""
        tasks = [Task(job, tuple(strategies), numbers) for job in self.jobs]
        names = [job.transcript.id for job in self.jobs]
        found: list[list[list[float]]] = []
        for of_session in self.pool.map(drawn, tasks) if self.pool else map(drawn, tasks):
            found.append(of_session)
            if self.progress:
                self.progress(len(found), len(tasks), names[len(found) - 1])
        return [dict(zip(names, of, strict=True)) for of in zip(*found, strict=True)]


def jobs_of(transcripts: Sequence[Transcript], seed: int, pool: ProcessPoolExecutor | None = None) -> tuple[Job, ...]:
    """The jobs that a run of the strategy would have on *transcripts*, with the facts of each."""
    settings, meter = Settings(strategies=(Drawn(),), seed=seed), Meter()
    return tuple(
        Job(
            session.transcript,
            session.facts,
            planned(session.transcript, settings.cuts, None, settings.project.marks, meter),
            (),
            session.common,
            (),
            settings.built,
            (),
            settings.project,
            settings.counter,
            seed,
            {},
        )
        for session in sessions_of(transcripts, pool)
    )


def holders(job: Job) -> Holders:
    """Tell at each cut that needs one which units hold each fact of the primary metric, bound to what it tells."""
    found = []
    for _, case in _cases(job):
        units = [tuple(case.base[i] for i in unit) for unit in case.free]
        held = [(unit, case.risk.presence(unit).bound) for unit in units]
        groups = (bits for _, use, home, bits, _ in case.needed_groups if (use, home) == COUNTED)
        wanted = reduce(or_, groups, 0)
        facts = [fact for fact in case.needed if wanted >> fact & 1]
        if facts:
            found.append([[unit for unit, bits in held if bits >> fact & 1] for fact in facts])
    return found


def drawn(task: Task) -> list[list[float]]:
    """Give for each strategy, for each number, the session's value: the mean over those cuts that have one.

    `RunError` if a pass fails, or nothing of the metric's kind is needed at any cut.
    """
    by_cut = [
        [[_share(task.job, cut, case, strategy, number) for number in task.numbers] for strategy in task.strategies]
        for cut, case in _cases(task.job)
        if any((use, home) == COUNTED for _, use, home, _, _ in case.needed_groups)
    ]
    if not by_cut:
        raise RunError(f"{task.job.transcript.id}: no {PRIMARY} fact is needed at a cut; expected one")
    return [[sum(values) / len(values) for values in zip(*cuts, strict=True)] for cuts in zip(*by_cut, strict=True)]


def _cases(job: Job) -> Iterator[tuple[Cut, Case]]:
    matcher, meter = matcher_of(job.facts), Meter(job.counter)
    excluded = frozenset(i for i, fact in enumerate(job.facts) if fact.value in job.common)
    for cut in job.cuts:
        base = history.repair(job.transcript.view(cut.before)).messages
        after = job.transcript.messages[cut.before :]
        risk = AtRisk(base, job.facts, matcher, excluded)
        yield cut, Case(risk, risk.future(after).uses, HandProbes(()), (), meter, after)


def _share(job: Job, cut: Cut, case: Case, strategy: Drawn, number: int) -> float:
    """What one draw keeps at a cut, from the records that a run would have of it."""
    key = Key(job.transcript.id, cut.name, repr(strategy), replicate=number)
    guard = Guard(case.meter, seed=job.drawn_by(key, strategy))
    messages, receipt = compact(case.base, strategy, guard=guard)
    if receipt.outcome == "failed":
        raise RunError(f"{key.session} at {key.cut}, {key.strategy}: {receipt.reason}")
    scores = metrics.measure(Trial(case, messages, receipt), ("load_bearing",))
    block = Rows(job.transcript, cut, {(key.strategy, ""): ""}).block(key, scores, receipt.outcome)
    value, n = shares(block.records, None, "cuts")[PRIMARY]
    return value / n
