"""M9, position and age: which facts at risk still stand, by where in the history they stood and how old they are.

`position_bound` by tenth of the weight before the cut at which a fact's first home begins (`group` "1" the oldest to
"10"); `age_bound` by turns of the agent since its last mention (`group` "0-1", "2-3", "4-7" and so on, each twice as
wide as the one before). Bound retention over all facts at risk, of every family. Whether the middle is lost is seen in
the first (the U of "Lost in the Middle", Liu et al. 2023), how fast old things go in the second.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

from compactlab.metrics import Case, Score, Trial
from compactlab.probes.mined import mask

TENTHS = 10
_Groups = list[tuple[str, str, int, int]]


def measure(trial: Trial) -> Iterator[Score]:
    """Yield bound retention for each tenth and each span of ages that holds a fact at risk."""
    for metric, group, bits, size in trial.case.cached("position", lambda: _groups(trial.case)):
        yield Score(metric, (trial.presence.bound & bits).bit_count(), size, group=group)


def age_span(turns: int) -> str:
    """Name the span of ages that *turns* since the last mention fall into.

    >>> [age_span(turns) for turns in (0, 1, 2, 3, 4, 9, 100)]
    ['0-1', '0-1', '2-3', '2-3', '4-7', '8-15', '64-127']
    """
    low = 1 << turns.bit_length() - 1 if turns > 1 else 0
    return f"{low}-{2 * low - 1 if low else 1}"


class Standing(NamedTuple):
    """Where a fact at risk stands: the tenth of the weight that its first home begins in, turns since its last one."""

    tenth: int
    age: int


def standing(case: Case) -> dict[int, Standing]:
    """Give the standing of every fact at risk; made once a case."""
    return case.cached("standing", lambda: _standing(case))


def _standing(case: Case) -> dict[int, Standing]:
    first, last = _mentions(case)
    tenth, turn = _tenths(case), _turns(case)
    return {fact: Standing(tenth[first[fact]], turn[-1] - turn[last[fact]]) for fact in case.risk.anchors}


def _groups(case: Case) -> _Groups:
    """For each metric and group the bit set of its facts, and how many they are."""
    found: dict[tuple[str, str], list[int]] = defaultdict(list)
    for fact, at in standing(case).items():
        found["position_bound", str(at.tenth)].append(fact)
        found["age_bound", age_span(at.age)].append(fact)
    return [(metric, group, mask(facts), len(facts)) for (metric, group), facts in sorted(found.items())]


def _mentions(case: Case) -> tuple[dict[int, int], dict[int, int]]:
    """The first and the last position of each fact that stands before the cut."""
    first: dict[int, int] = {}
    last: dict[int, int] = {}
    for position, message in enumerate(case.base):
        for block in message.blocks:
            for hit in case.risk.matcher.block(block):
                first.setdefault(hit.pattern, position)
                last[hit.pattern] = position
    return first, last


def _tenths(case: Case) -> list[int]:
    """For each message the tenth of the weight in which it begins, from 1."""
    found, before = [], 0
    for message in case.base:
        found.append(min(TENTHS, 1 + TENTHS * before // max(1, case.tokens)))
        before += case.meter.message(message)
    return found


def _turns(case: Case) -> list[int]:
    """For each message how many of the agent's messages stand before it; the last entry is the cut's."""
    found = [0]
    for message in case.base:
        found.append(found[-1] + (message.role == "assistant"))
    return found
