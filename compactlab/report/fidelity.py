"""What became of more than single values: standing rules and decisions, distortions (M7), the artifact trail (M8)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from compactlab.report.section import Section, share
from compactlab.summary import Summary
from compactlab.summary.pool import Group, Pool

KINDS = ("constraint", "preference", "decision", "rejected", "reason", "todo", "request")
OPERATIONS = ("created", "modified", "deleted", "moved", "read")
BAD_ENDS = ("failed", "killed", "timeout")


class _Sums(NamedTuple):
    """Sums of values and of n by (metric, family, group)."""

    by: Mapping[tuple[str, str, str], tuple[float, int]]

    def share(self, metric: str, family: str | None = None, group: str | None = None) -> float | None:
        """Value over n of all records that agree; None where there are none."""
        found = [at for key, at in self.by.items() if key[0] == metric and _is(key[1], family) and _is(key[2], group)]
        size = sum(n for _, n in found)
        return sum(value for value, _ in found) / size if size else None

    def stands(self, metric: str, family: str) -> float | None:
        """The share that is kept, be it beside an older one; None where there is none."""
        parts = [self.share(metric, family, verdict) for verdict in ("kept", "both")]
        return None if parts[0] is None else sum(part for part in parts if part is not None)

    def total(self, metric: str) -> float | None:
        """The sum of the values of a metric; None where it was never measured."""
        found = [value for key, (value, _) in self.by.items() if key[0] == metric]
        return sum(found) if found else None

    def size(self, metric: str, family: str) -> int:
        """How many things of a family a metric speaks of: its groups share them."""
        return max((n for key, (_, n) in self.by.items() if key[:2] == (metric, family)), default=0)


def _is(name: str, wanted: str | None) -> bool:
    return wanted is None or name == wanted


def _rows(pool: Pool, summary: Summary) -> Iterator[tuple[str, _Sums]]:
    return ((row.name, _Sums(pool.sums(Group(row.label, "", row.budget)))) for row in summary.rows)


def statements(pool: Pool, summary: Summary) -> Section:
    """Standing rules, wishes, decisions and tasks at risk: the share that still stands as it was meant."""
    found = list(_rows(pool, summary))
    kinds = [kind for kind in KINDS if any(sums.size("statement", kind) for _, sums in found)]
    rows = []
    for name, sums in found:
        kept = (share(sums.stands("statement", kind)) for kind in kinds)
        bent = (share(sums.share("statement", "constraint", verdict)) for verdict in ("weakened", "contradicted"))
        rows.append((name, *kept, *bent))
    sizes = ", ".join(f"{kind} {max(sums.size('statement', kind) for _, sums in found):,}" for kind in kinds)
    legend = (
        "Share of the statements at risk that stand as they were meant, by kind, pooled over sessions and cuts, and"
        " of the constraints those that stand weakened (must became should, a scope was dropped) or contradicted. They"
        f" need not be used again to count. At risk over all cuts: {sizes or 'none'}."
    )
    return Section("Rules, decisions, tasks", ("strategy", *kinds, "weakened", "contradicted"), rows, legend)


def distortion(pool: Pool, summary: Summary) -> Section:
    """What compaction made up, changed, or left out of date."""
    rows = []
    for name, sums in _rows(pool, summary):
        updates = (share(sums.share("update", group=verdict)) for verdict in ("kept", "both", "stale", "lost"))
        ends = [_of_bad_ends(sums, verdict) for verdict in ("kept", "contradicted")]
        inverted, decoys = (sums.total(metric) for metric in ("inverted_constraints", "decoy_kept"))
        rows.append(
            (
                name,
                share(sums.share("fabricated")),
                _percent(sums.share("mutated")),
                "-" if inverted is None else f"{inverted:.0f}",
                *updates,
                *map(share, ends),
                "-" if decoys is None else f"{decoys:.0f}",
            )
        )
    return Section("Distortion", _DISTORTION, rows, _DISTORTED)


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
    " for inventions)."
)


def _of_bad_ends(sums: _Sums, verdict: str) -> float | None:
    known = [(family, sums.share("status", family, verdict)) for family in BAD_ENDS]
    sized = [(value, sums.size("status", family)) for family, value in known if value is not None]
    total = sum(n for _, n in sized)
    return sum(value * n for value, n in sized) / total if total else None


def _percent(value: float | None) -> str:
    return "-" if value is None else f"{value:.1%}"


def artifacts(pool: Pool, summary: Summary) -> Section:
    """The artifact trail: which files were made, changed, deleted, read, as the history still tells it."""
    found = list(_rows(pool, summary))
    operations = [
        op for op in OPERATIONS if any(sums.share("artifact_found", group=op) is not None for _, sums in found)
    ]
    rows = []
    for name, sums in found:
        recall = (share(sums.share("artifact_found", group=op)) for op in operations)
        whole, right = sums.share("artifact_found"), sums.share("artifact_claimed")
        told = (share(sums.share(metric)) for metric in ("artifact_last_write", "artifact_tests"))
        rows.append((name, *recall, share(whole), share(right), share(f1(right, whole)), *told))
    legend = (
        "Share of the (path, operation) pairs at risk that the history still tells, by operation and over all"
        " (recall); of the pairs that it tells, the share that is true (precision); F1; whether the file written last,"
        " and how the latest test run ended, are still known. Truth are the recorded tool calls (M8)."
    )
    columns = ("strategy", *operations, "recall", "precision", "F1", "last write", "test state")
    return Section("Artifact trail", columns, rows, legend)


def f1(precision: float | None, recall: float | None) -> float | None:
    """Give the harmonic mean of *precision* and *recall*; None where one is not known, 0 where both are.

    >>> f1(1.0, 0.5), f1(0.0, 0.0), f1(None, 0.5)
    (0.6666666666666666, 0.0, None)
    """
    if precision is None or recall is None:
        return None
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def second_opinion(pool: Pool, summary: Summary) -> Section:
    """Retention by the second, separately written miner beside that of the first."""
    rows = []
    for (name, sums), row in zip(_rows(pool, summary), summary.rows, strict=True):
        seen = [share(sums.share(metric)) for metric in ("second_bound", "second_loose")]
        rows.append((name, share(row.bound and row.bound.mean), share(row.loose and row.loose.mean), *seen))
    legend = (
        "Bound and loose retention of the facts that an action needed, by the miner that all other tables use (means"
        " over sessions), and by a second one that was written apart from it, by another method (pooled over sessions"
        " and cuts). Where both order the strategies alike, the order is no trait of one miner."
    )
    return Section("A second miner", ("strategy", "bound", "loose", "second bound", "second loose"), rows, legend)
