"""Repetitions as a table: how much a strategy that asks a model varies by itself, beside how much sessions differ."""

from __future__ import annotations

from collections.abc import Iterator
from math import sqrt

from compactlab.report.section import Section, interval, share
from compactlab.stats.power import Repeated
from compactlab.summary import Summary
from compactlab.summary.pool import Group, Pool
from compactlab.summary.power import repetitions

COLUMNS = ("strategy", "bound", "repetitions", "sd of one", "sd between", "of the variance")
LEGEND = (
    "Bound retention of the sessions that were repeated: the mean over repetitions is taken inside a session first, so"
    " that the session stays the unit of ±. sd of one: by how much one repetition of a session strays from its mean"
    " (mean square within, pooled over sessions). sd between: by how much the sessions' means differ once that is taken"
    " off. of the variance: the share of the variance of the sessions' means that more repetitions would take away; the"
    " rest asks for more sessions."
)


def section(pool: Pool, summary: Summary) -> Section:
    """Give a row for each strategy whose sessions were repeated; empty where none was."""
    return Section("Repetitions", COLUMNS, list(_rows(pool, summary)), LEGEND)


def _rows(pool: Pool, summary: Summary) -> Iterator[tuple[str, ...]]:
    for row in summary.rows:
        found = repetitions(pool, Group(row.label, "", row.budget))
        if found.within is not None:
            yield (row.name, interval(row.bound), f"{found.replicates:.3g}", *_texts(found))


def _texts(found: Repeated) -> tuple[str, ...]:
    """Standard deviations inside of a session and between them, and the share of the first in the variance of means."""
    within = found.within or 0.0
    own = within / found.replicates
    seen = _variance(list(found.means.values()))
    if seen is None:
        return share(sqrt(within)), "-", "-"
    return share(sqrt(within)), share(sqrt(max(0.0, seen - own))), "-" if not seen else f"{min(1.0, own / seen):.0%}"


def _variance(values: list[float]) -> float | None:
    if len(values) < 2:
        return None
    mean = sum(values) / len(values)
    return sum((value - mean) ** 2 for value in values) / (len(values) - 1)
