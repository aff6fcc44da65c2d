"""The numbers of a run of replays: a row for each policy, means over sessions, what lived how long.

A session's value is that of all its repetitions pooled: value over n for shares, the mean of a repetition for plain
quantities. Facts are counted as in the other tables: those whose later use is an action, of families that are admitted.
Where chance was not measured, all families are.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np

from compactlab.front import Floats
from compactlab.metrics.decay import MANY
from compactlab.records import Record
from compactlab.stats import Estimate
from compactlab.stats.bootstrap import SessionMean, whole, whole_of
from compactlab.summary.pool import Pool, by_session, writers
from compactlab.survival import HALF, Survival, alive, survival

Counts = Callable[[Record], bool]


def everything(_: Record) -> bool:
    """True of any record."""
    return True


class Kept(NamedTuple):
    """Facts that were needed behind some number of passes: the share that was kept, and how many they were."""

    share: Estimate | None
    uses: int


class Row:
    """One policy at one window: its records, and what is made of them."""

    def __init__(self, pool: Pool, label: str, records: Sequence[Record]) -> None:
        """Take the records of one policy, and by what name the row goes."""
        self.pool = pool
        self.label = label
        self.of: dict[str, list[Record]] = defaultdict(list)
        for record in records:
            self.of[record.metric].append(record)
        self.heads = self.of["outcome"]

    @property
    def name(self) -> str:
        """The label, and by which model or stand-in its text was written."""
        return f"{self.label} ({self.model})" if self.model else self.label

    @property
    def model(self) -> str:
        """What wrote the text of its compactions; empty where no model was asked."""
        return writers(self.heads)

    @cached_property
    def sessions(self) -> int:
        """Sessions that were replayed without an error."""
        return len({record.session for record in self.heads if record.outcome != "failed"})

    @cached_property
    def fired(self) -> int:
        """Sessions in which the policy fired, in one repetition at least."""
        return len({record.session for record in self.of["fires"] if record.value})

    @cached_property
    def errors(self) -> tuple[Record, ...]:
        """The heads of replays that failed: they count nowhere else."""
        return tuple(record for record in self.heads if record.outcome == "failed")

    @cached_property
    def overflows(self) -> tuple[str, ...]:
        """Sessions that ended early, in one repetition at least."""
        return tuple(sorted({record.session for record in self.of["overflow"] if record.value}))

    @cached_property
    def ended(self) -> tuple[Record, ...]:
        """The heads of replays that ended early; their reasons say what did not fit."""
        early = {(record.session, record.replicate) for record in self.of["overflow"] if record.value}
        return tuple(head for head in self.heads if (head.session, head.replicate) in early)

    def share(self, metric: str, counts: Counts = everything) -> Estimate | None:
        """Mean over sessions of value / n, pooled over the records that count."""
        return self.pool.estimate(by_session(record for record in self.of[metric] if counts(record)))

    def quantity(self, metric: str, counts: Counts = everything) -> Estimate | None:
        """Mean over sessions of the value of one repetition."""
        return self.pool.estimate(self.quantities(metric, counts))

    def quantities(self, metric: str, counts: Counts = everything) -> dict[str, float]:
        """By session the value of one repetition: the mean over those that have one."""
        sums: dict[str, float] = defaultdict(float)
        repetitions: dict[str, set[int]] = defaultdict(set)
        for record in self.of[metric]:
            if counts(record):
                sums[record.session] += record.value
                repetitions[record.session].add(record.replicate)
        return {session: value / len(repetitions[session]) for session, value in sums.items()}

    def outcome(self, outcome: str) -> Estimate | None:
        """Mean over sessions of the share of fires that came to an outcome; a session without it counts as none."""
        fires = {record.session: 0.0 for record in self.of["fire"]}
        return self.pool.estimate(fires | by_session(r for r in self.of["fire"] if r.group == outcome))

    def hundred(self, metric: str) -> Estimate | None:
        """Mean over sessions of value / n, for a hundred of n."""
        values = by_session(self.of[metric])
        return self.pool.estimate({session: 100 * value for session, value in values.items()})

    def saved(self, *spent: str, of: str = "sent_plain", counts: Counts = everything) -> Estimate | None:
        """Mean over sessions of 1 - *spent* / *of*: what the session would have taken unbounded."""
        parts = [self.quantities(metric, counts) for metric in spent]
        plain = self.quantities(of, counts)
        return self.pool.estimate({s: 1 - sum(part.get(s, 0.0) for part in parts) / n for s, n in plain.items() if n})

    def kept(self, passes: Iterable[int], metric: str = "decay_bound") -> Kept:
        """The facts needed behind so many passes, each session's pooled over these."""
        among = frozenset(passes)
        counts = self._acted(among)
        uses = sum(record.n for record in self.of[metric] if counts(record))
        return Kept(self.share(metric, counts), uses)

    def drift(self, metric: str = "decay_bound") -> Estimate | None:
        """Mean over k >= 2 of R_k / R_1, of the means over sessions, with the interval of the whole (M10)."""
        means = [self._mean(metric, k) for k in range(1, MANY + 1)]

        def statistic(weights: Floats) -> Floats:
            first, *later = (mean(weights) for mean in means)
            found = np.stack(later)
            known = ~np.isnan(found)
            with np.errstate(divide="ignore", invalid="ignore"):
                mean = np.where(known, found, 0.0).sum(axis=0) / known.sum(axis=0)
                return np.where(first > 0, mean / first, np.nan)

        return whole_of(statistic, means)

    def _mean(self, metric: str, k: int) -> SessionMean:
        counts = self._acted(frozenset({k}))
        values = by_session(record for record in self.of[metric] if counts(record))
        return SessionMean(values, self.pool.cluster, self.stories)

    def _acted(self, passes: frozenset[int]) -> Counts:
        admitted = self.pool.admitted if self.pool.chance else None
        return lambda r: r.use == "action" and r.pass_ in passes and (admitted is None or r.family in admitted)

    @cached_property
    def stories(self) -> tuple[str, ...]:
        """All stories of the run, in the order of the weights of a resample."""
        return tuple(sorted(set(self.pool.cluster.values())))

    def by_pass(self, family: str, metric: str = "decay_bound") -> dict[int, tuple[float, int]]:
        """Of one family, kept and all action uses by passes, pooled over sessions."""
        found: dict[int, tuple[float, int]] = {}
        for record in self.of[metric]:
            if record.family == family and record.use == "action":
                value, n = found.get(record.pass_, (0.0, 0))
                found[record.pass_] = value + record.value, n + record.n
        return dict(sorted(found.items()))

    def lives(self, family: str | None = None) -> dict[int, tuple[int, int]]:
        """Lost and all lives by passes, of one family or of all, pooled over sessions."""
        lost: Counter[int] = Counter()
        ended: Counter[int] = Counter()
        for record in self.of["life_lost"]:
            if family is None or record.family == family:
                lost[record.pass_] += int(record.value)
                ended[record.pass_] += record.n
        return {k: (lost[k], n) for k, n in sorted(ended.items())}

    def survival(self, family: str | None = None) -> Survival | None:
        """The Kaplan-Meier curve of the facts of one family, or of all."""
        return survival(self.lives(family))

    def alive(self, passes: int) -> Estimate | None:
        """The share of all facts that is alive after so many passes, with an interval over stories."""
        lost, ended = np.zeros((2, len(self.stories), passes + 1))
        place = {story: i for i, story in enumerate(self.stories)}
        for record in self.of["life_lost"]:
            at = place[record.cluster], min(record.pass_, passes + 1) - 1
            lost[at] += record.value
            ended[at] += record.n
        there = ended.sum(axis=1) > 0
        if not there.any():
            return None
        sessions = len({record.session for record in self.of["life_lost"]})
        return whole(lambda weights: alive(weights @ lost[there], weights @ ended[there]), int(there.sum()), sessions)


def rows(pool: Pool) -> list[Row]:
    """One row a policy, in case order; one a policy and window in a run of several windows."""
    found: dict[tuple[str, str], list[Record]] = defaultdict(list)
    for group, records in pool.groups.items():
        for record in records:
            found[group.strategy, record.cut].append(record)
    several = len({window for _, window in found}) > 1
    return [
        Row(pool, f"{policy} in {window}" if several else policy, records)
        for (policy, window), records in found.items()
    ]


def cliff(by_pass: Mapping[int, tuple[float, int]]) -> int | None:
    """Give the smallest number of passes behind which less than half is kept; None if there is none (M10).

    >>> cliff({1: (9, 10), 2: (5, 10), 3: (1, 10)}), cliff({1: (9, 10)})
    (3, None)
    """
    return next((k for k, (kept, n) in sorted(by_pass.items()) if n and kept / n < HALF), None)
