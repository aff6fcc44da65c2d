"""What a reader answered, by row: presence beside answers, the gap between them, the judge's grades, the agreement."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from statistics import stdev
from typing import NamedTuple

from compactlab.answering.agreement import Agreement, agreement
from compactlab.answering.scores import GIVEN, GRADED
from compactlab.answering.wording import DIMENSIONS
from compactlab.records import Record
from compactlab.results import Answered
from compactlab.stats import Estimate
from compactlab.summary.pool import Group, Pool, mean_of, session_means, writers


class Reading(NamedTuple):
    """The answers to one row's histories; estimates are means over sessions of the shares of its answers.

    `answers` were given, `failed` not. `gap` is presence less right answers. `found` is the share of right answers
    where the value stands, `guessed` where it does not. `shares` has all five verdicts. `spread` is the standard
    deviation of the share of right answers over repetitions, None without them. `grades` are means of `graded` answers.
    """

    group: Group
    model: str
    answers: int
    failed: int
    present: Estimate | None
    right: Estimate | None
    gap: Estimate | None
    found: Estimate | None
    guessed: Estimate | None
    shares: dict[str, Estimate | None]
    spread: float | None
    graded: int
    ungraded: int
    grades: dict[str, Estimate | None]


def readings(pool: Pool, answered: Sequence[Answered]) -> list[Reading]:
    """Give a reading for each row that a reader was asked about, in case order."""
    spreads = _spreads(answered)
    rows = [_reading(pool, group, spreads.get(group)) for group in pool.groups]
    return [row for row in rows if row.answers or row.failed]


def _reading(pool: Pool, group: Group, spread: float | None) -> Reading:
    records = pool.groups[group]
    sums: dict[str, list[float]] = defaultdict(lambda: [0.0, 0])
    for record in records:
        sums[record.metric][0] += record.value
        sums[record.metric][1] += record.n
    answers = int(sums["answer_right"][1])
    return Reading(
        group=group,
        model=writers(records),
        answers=answers,
        failed=int(sums["answer_failed"][0]),
        present=_mean(pool, records, "answer_present"),
        right=_mean(pool, records, "answer_right"),
        gap=_mean(pool, records, "answer_gap"),
        found=_mean(pool, records, "answer_found"),
        guessed=_mean(pool, records, "answer_guessed"),
        shares={verdict: _mean(pool, records, f"answer_{verdict}") for verdict in GIVEN},
        spread=spread,
        graded=int(sums["grade_accuracy"][1]),
        ungraded=int(sums["ungraded"][0]),
        grades={name: _mean(pool, records, f"grade_{name}") for name in DIMENSIONS},
    )


def _mean(pool: Pool, records: Iterable[Record], metric: str) -> Estimate | None:
    return pool.mean(records, metric, lambda _: True)


def _spreads(answered: Iterable[Answered]) -> dict[Group, float]:
    """By row, how much the mean share of right answers differs between repetitions of passes and questions."""
    cells: dict[Group, dict[tuple[int, int], dict[tuple[str, str], list[bool]]]] = {}
    for key, answer in answered:
        if not answer.failed:
            group = Group(key.strategy, key.size_of, key.budget)
            times = cells.setdefault(group, {}).setdefault((key.replicate, answer.replicate), {})
            times.setdefault((key.session, key.cut), []).append(answer.verdict == "right")
    found = {}
    for group, repeated in cells.items():
        means = [
            mean_of(list(session_means({place: mean_of(said) for place, said in places.items()}).values()))
            for places in repeated.values()
        ]
        if len(means) > 1:
            found[group] = stdev(means)
    return found


def graded_alike(pool: Pool) -> Agreement | None:
    """How far match and judge agree on the answers that both graded; None where there are none."""
    verdicts = {text: pair for pair, text in GRADED.items()}
    counts: dict[tuple[bool, bool], float] = defaultdict(float)
    for records in pool.groups.values():
        for record in records:
            if record.metric == "graded_alike":
                counts[verdicts[record.group]] += record.n
    return agreement(counts)
