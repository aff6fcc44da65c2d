"""What became of more than single values: standing rules and decisions, distortions (M7), the artifact trail (M8)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from compactlab.report.section import INTERVAL, Section, interval, percent, sample
from compactlab.stats import Estimate
from compactlab.stats.bootstrap import Floats, Pooled, whole_of
from compactlab.summary import Summary
from compactlab.summary.pool import Group, Pool
from compactlab.summary.pooled import Sums, sums

KINDS = ("constraint", "preference", "decision", "rejected", "reason", "todo", "request")
OPERATIONS = ("created", "modified", "deleted", "moved", "read")
BAD_ENDS = ("failed", "killed", "timeout")

_Means = Mapping[str, Estimate | None]
"""The means of a row by column."""


def _rows(pool: Pool, summary: Summary) -> list[tuple[str, Sums]]:
    return [(row.name, sums(pool, Group(row.label, "", row.budget))) for row in summary.rows]


def _sizes(found: Sequence[_Means]) -> str:
    """Over how many sessions the means are taken."""
    return sample({name: [of[name] for of in found] for name in (found[0] if found else ())})


def statements(pool: Pool, summary: Summary) -> Section:
    """Standing rules, wishes, decisions and tasks at risk: the share that still stands as it was meant."""
    found = _rows(pool, summary)
    kinds = [kind for kind in KINDS if any(of.size("statement", kind) for _, of in found)]
    means = [_of_statements(of, kinds) for _, of in found]
    rows = [(name, *map(interval, of.values())) for (name, _), of in zip(found, means, strict=True)]
    sizes = ", ".join(f"{kind} {max(of.size('statement', kind) for _, of in found):,}" for kind in kinds)
    legend = (
        "Share of the statements at risk that stand as they were meant, by kind, pooled over sessions and cuts, and"
        " of the constraints those that stand weakened (must became should, a scope was dropped) or contradicted. They"
        f" need not be used again to count. {INTERVAL} {_sizes(means)} At risk over all cuts: {sizes or 'none'}."
    )
    return Section("Rules, decisions, tasks", ("strategy", *kinds, "weakened", "contradicted"), rows, legend)


def _of_statements(of: Sums, kinds: Sequence[str]) -> _Means:
    bent = {verdict: of.share("statement", ("constraint",), (verdict,)) for verdict in ("weakened", "contradicted")}
    return {**{kind: of.stands("statement", kind) for kind in kinds}, **bent}


def distortion(pool: Pool, summary: Summary) -> Section:
    """What compaction made up, changed, or left out of date."""
    found = _rows(pool, summary)
    means = [_of_distortion(of) for _, of in found]
    rows = []
    for (name, of), by in zip(found, means, strict=True):
        texts = {column: interval(mean) for column, mean in by.items()}
        texts |= {"mutated": percent(by["mutated"], 1), "inverted": _count(of.total("inverted_constraints"))}
        texts |= {"strategy": name, "decoys": _count(of.total("decoy_kept"))}
        rows.append(tuple(texts[column] for column in _DISTORTION))
    return Section("Distortion", _DISTORTION, rows, f"{_DISTORTED} {INTERVAL} {_sizes(means)}")


def _of_distortion(of: Sums) -> _Means:
    updates = {"latest": "kept", "both": "both", "stale": "stale", "neither": "lost"}
    ends = {"failures told": "kept", "as success": "contradicted"}
    return {
        "fabricated": of.share("fabricated"),
        "mutated": of.share("mutated"),
        **{column: of.share("update", groups=(verdict,)) for column, verdict in updates.items()},
        **{column: of.share("status", BAD_ENDS, (verdict,)) for column, verdict in ends.items()},
    }


_DISTORTION = (
    "strategy",
    "fabricated",
    "mutated",
    "inverted",
    "latest",
    "both",
    "stale",
    "neither",
    "failures told",
    "as success",
    "decoys",
)
_DISTORTED = (
    "fabricated: of the exact values in text that compaction made, the share that stands nowhere before; mutated: of"
    " the facts at risk, the share that is gone while something near it stands; inverted: constraints that now say the"
    " opposite (a count). latest, both, stale, neither: of the values that changed before the cut, which one stands."
    " failures told: of the commands that failed, were killed or timed out, the share still told so, and the share"
    " told as success. decoys: values with one late digit changed, that never occurred, and were found (a count; 0 but"
    " for inventions). All pooled over sessions and cuts."
)


def _count(value: float | None) -> str:
    return "-" if value is None else f"{value:.0f}"


def artifacts(pool: Pool, summary: Summary) -> Section:
    """The artifact trail: which files were made, changed, deleted, read, as the history still tells it."""
    found = _rows(pool, summary)
    operations = [op for op in OPERATIONS if any(op in of.names("artifact_found") for _, of in found)]
    means = [_of_artifacts(of, operations, pool) for _, of in found]
    rows = [(name, *map(interval, of.values())) for (name, _), of in zip(found, means, strict=True)]
    legend = (
        "Share of the (path, operation) pairs at risk that the history still tells, by operation and over all"
        " (recall); of the pairs that it tells, the share that is true (precision); F1; whether the file written last,"
        " and how the latest test run ended, are still known. Truth are the recorded tool calls (M8). Pooled over"
        f" sessions and cuts. {INTERVAL} That of F1 is a bootstrap-t. {_sizes(means)}"
    )
    columns = ("strategy", *operations, "recall", "precision", "F1", "last write", "test state")
    return Section("Artifact trail", columns, rows, legend)


def _of_artifacts(of: Sums, operations: Sequence[str], pool: Pool) -> _Means:
    stories = sorted(set(pool.cluster.values()))
    recalled, right = of.parts("artifact_found"), of.parts("artifact_claimed")
    recall, precision = (Pooled(parts, pool.cluster, stories) for parts in (recalled, right))

    def harmonic(weights: Floats) -> Floats:
        return f1(precision(weights), recall(weights))

    return {
        **{op: of.share("artifact_found", groups=(op,)) for op in operations},
        "recall": of.estimate(recalled),
        "precision": of.estimate(right),
        "F1": whole_of(harmonic, (recall, precision)),
        "last write": of.share("artifact_last_write"),
        "test state": of.share("artifact_tests"),
    }


def f1(precision: Floats, recall: Floats) -> Floats:
    """Give the harmonic mean of *precision* and *recall*; NaN where one is, 0 where both are.

    >>> f1(np.array([1.0, 0.0, np.nan]), np.array([0.5, 0.0, 0.5])).round(3).tolist()
    [0.667, 0.0, nan]
    """
    total = precision + recall
    with np.errstate(invalid="ignore"):
        return np.asarray(np.where(total == 0, 0.0, 2 * precision * recall / total))


def second_opinion(pool: Pool, summary: Summary) -> Section:
    """Retention by the second, separately written miner beside that of the first."""
    means: list[_Means] = [
        {
            "bound": row.bound,
            "loose": row.loose,
            "second bound": of.share("second_bound"),
            "second loose": of.share("second_loose"),
        }
        for (_, of), row in zip(_rows(pool, summary), summary.rows, strict=True)
    ]
    rows = [(row.name, *map(interval, of.values())) for row, of in zip(summary.rows, means, strict=True)]
    legend = (
        "Bound and loose retention of the facts that an action needed, by the miner that all other tables use (means"
        " over sessions), and by a second one that was written apart from it, by another method (pooled over sessions"
        f" and cuts). {INTERVAL} {_sizes(means)} Where both order the strategies alike, the order is no trait of one"
        " miner."
    )
    return Section("A second miner", ("strategy", "bound", "loose", "second bound", "second loose"), rows, legend)
