"""Reruns: replicates dealt from all draws, and what a rule says of a rerun held against a baseline.

A rerun takes replicates for the baseline and as many others for the run, of each session by lot, so that no draw stands
on both sides: other seeds throughout. All draws of a session are the whole of what the strategy does there, so its true
retention is known without error. The difference of two means of R draws each, none drawn twice, has over all deals the
variance S^2 (1/R + 1/R), S^2 that of all draws: the very variance of two runs with fresh seeds. (Each mean alone varies
less, by 1 - R/N; but what makes one high is lacking in the other, and the two effects cancel.) Sessions are dealt apart
from each other, as their seeds are in a run.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from random import Random
from typing import NamedTuple

from compactlab.gate.alarms.outcomes import Values
from compactlab.gate.outcome import Verdict
from compactlab.gate.rule import Interval, fallen, paired, verdict
from compactlab.stats import MIN_CLUSTERS, clustered
from compactlab.study.evidence.figure import wilson

Differences = Mapping[str, Sequence[float]]
"""By session the differences of its replicates, run less baseline."""
Rule = Callable[[Differences, float], Verdict]
"""A verdict on differences under a margin."""


class Rate(NamedTuple):
    """How many reruns of so many came to each verdict."""

    passed: int
    inconclusive: int
    failed: int

    @property
    def reruns(self) -> int:
        """All of them."""
        return sum(self)

    def share(self, of: Verdict) -> tuple[float, float, float]:
        """The share of a verdict with its 95 % interval (Wilson).

        >>> [round(x, 3) for x in Rate(0, 10, 190).share("fail")]
        [0.95, 0.91, 0.973]
        """
        count = {"pass": self.passed, "inconclusive": self.inconclusive, "fail": self.failed}[of]
        return count / self.reruns, *wilson(count, self.reruns)


def of_check(differences: Differences, margin: float) -> Verdict:
    """What one check of the gate says: its rule over replicates, and no session that alone fell by more."""
    interval = paired(differences)
    if interval.high is not None and fallen(differences, margin):
        return "fail"
    return verdict(interval, margin)


def over_sessions(differences: Differences, margin: float) -> Verdict:
    """What a paired t over sessions would say, each session's value the mean of its replicates, each its own story."""
    found = clustered([(name, sum(of) / len(of)) for name, of in differences.items()])
    if found is None:
        return "inconclusive"
    return verdict(Interval(found.mean, found.low, found.high), margin)


def of_gate(types: Mapping[str, str]) -> Rule:
    """What the whole gate says, of all sessions and of those of each type that has enough: the worst verdict."""

    def rule(differences: Differences, margin: float) -> Verdict:
        if len(differences) < MIN_CLUSTERS:
            return "inconclusive"
        groups = [differences]
        for kind in sorted({types[name] for name in differences}):
            own = {name: of for name, of in differences.items() if types[name] == kind}
            groups += [own] if len(own) >= MIN_CLUSTERS else []
        found = {of_check(group, margin) for group in groups}
        return "fail" if "fail" in found else "inconclusive" if "inconclusive" in found else "pass"

    return rule


class Deal(NamedTuple):
    """How reruns are dealt: how many, with how many replicates on each side, by which seed."""

    reruns: int
    replicates: int
    seed: int = 0

    def differences(self, base: Values, new: Values) -> Iterator[dict[str, list[float]]]:
        """Give the differences of each rerun; `ValueError` where there are too few draws for both sides."""
        draw, count = Random(f"deal|{self.seed}"), self.replicates
        for _ in range(self.reruns):
            dealt = {name: draw.sample(range(len(base[name])), 2 * count) for name in base}
            yield {
                name: [new[name][b] - base[name][a] for a, b in zip(of[:count], of[count:], strict=True)]
                for name, of in dealt.items()
            }


def rated(rule: Rule, reruns: Sequence[Differences], margin: float) -> Rate:
    """Count the verdicts of a rule on some reruns."""
    found = Counter(rule(differences, margin) for differences in reruns)
    return Rate(found["pass"], found["inconclusive"], found["fail"])
