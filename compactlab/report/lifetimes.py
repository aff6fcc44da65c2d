"""How long facts live in a session that is compacted again and again: decay by passes, cliffs, survival (M10)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from compactlab.metrics.decay import MANY
from compactlab.records import Record
from compactlab.report.section import Section, interval, share
from compactlab.summary.replayed import Kept, Row, cliff
from compactlab.survival import Survival

LATER = range(2, MANY + 1)
CURVE = (1, 2, 3, 5)
"""Passes behind which the table of survival says what is alive."""


def decay(rows: Sequence[Row]) -> Section:
    """What is kept behind one, two and more fires, near a word that tells what it is about and anywhere."""
    columns = tuple(f"{k}+" if k == MANY else str(k) for k in range(1, MANY + 1))
    made = []
    for row in rows:
        if row.of["decay_bound"]:
            bound = (kept_of(row.kept([k])) for k in range(1, MANY + 1))
            loose = (kept_of(row.kept(passes, "decay_loose")) for passes in ([1], LATER))
            drifts = (interval(row.drift(metric)) for metric in ("decay_bound", "decay_loose"))
            made.append((row.name, *bound, *loose, *drifts))
    legend = (
        "Of the facts that the agent used in an action when so many fires lay behind their last mention, the share that"
        " still stood bound in what was sent (1 to 5+), and loosely; in brackets their number. Drift: the mean behind 2"
        " and more fires over that behind one. Means over sessions, ± the 95 % interval over stories."
    )
    headed = ("policy", *columns, "loose at 1", "loose at 2+", "drift", "loose drift")
    return Section("Decay by passes", headed, made, legend)


def cliffs(rows: Sequence[Row]) -> Section:
    """For each family of facts how many fires it takes until less than half is kept."""
    found = {row: {f: row.by_pass(f) for f in _families(row.of["decay_bound"])} for row in rows}
    families = sorted({family for kept in found.values() for family, by_pass in kept.items() if by_pass})
    made = [
        (row.name, *(_cliff(kept.get(family, {})) for family in families))
        for row, kept in found.items()
        if any(kept.values())
    ]
    legend = (
        "The smallest number of fires behind which less than half of a family's facts that an action needed stood bound"
        " (none: it never came to that), and in brackets the share behind one fire and the number of facts; pooled over"
        " sessions. A dash: none was needed."
    )
    return Section("Cliffs by family", ("policy", *families), made, legend)


def _cliff(by_pass: Mapping[int, tuple[float, int]]) -> str:
    if not by_pass:
        return "-"
    first = by_pass.get(1)
    at = cliff(by_pass)
    known = share(first[0] / first[1]) if first else "-"
    return f"{'none' if at is None else at} ({known}, {sum(n for _, n in by_pass.values())})"


def survival(rows: Sequence[Row]) -> Section:
    """How long facts live, whoever needs them."""
    made = []
    for row in rows:
        curve = row.survival()
        if curve is not None:
            alive = (interval(row.alive(passes)) for passes in CURVE)
            counts = f"{curve.lives:,}", f"{curve.lost:,}"
            made.append((row.name, *counts, *alive, _half(curve), _pooled(row.of["depth"])))
    legend = (
        "Kaplan-Meier: a life begins when a fact stands anew, and ends when a fire leaves it nowhere in the view;"
        " censored where it was said again or the session ended. Alive behind 1, 2, 3, 5 fires: all lives pooled, ± the"
        " 95 % interval over stories. Half-life: fires until no more than half is alive. Depth: the mean of the fires"
        " that facts went through which were not lost."
    )
    columns = ("policy", "lives", "lost", *(f"alive at {k}" for k in CURVE), "half-life", "depth")
    return Section("Survival", columns, made, legend)


def survival_by_family(rows: Sequence[Row]) -> Section:
    """Half-lives of the families of facts."""
    found = {row: {f: row.survival(f) for f in _families(row.of["life_lost"])} for row in rows}
    families = sorted({family for curves in found.values() for family in curves})
    made = []
    for row, curves in found.items():
        if curves:
            known = (curves.get(family) for family in families)
            made.append((row.name, *("-" if curve is None else _family(curve) for curve in known)))
    legend = (
        "Half-life of each family in fires, from where the lower to where the upper bound of the curve crosses one half"
        " (95 %, log-log, each life by itself: too narrow, since the facts of a session fall together); more: it never"
        " does; ?: it has no bound where nothing is alive. In brackets the share alive behind one fire, and all lives."
    )
    return Section("Survival by family", ("policy", *families), made, legend)


def _family(curve: Survival) -> str:
    low, high = curve.median_range
    never = "?" if curve.alive[-1] == 0 else "more"
    return f"{_half(curve)} [{low or never}, {high or never}] ({share(curve.after(1))}, {curve.lives:,})"


def _half(curve: Survival) -> str:
    return "more" if curve.median is None else str(curve.median)


def _families(records: Iterable[Record]) -> list[str]:
    return sorted({record.family for record in records})


def kept_of(kept: Kept) -> str:
    """Write the share that was kept, and in brackets of how many facts.

    >>> kept_of(Kept(None, 0))
    '-'
    """
    return f"{interval(kept.share)} ({kept.uses:,})" if kept.uses else "-"


def _pooled(records: Sequence[Record]) -> str:
    n = sum(record.n for record in records)
    return f"{sum(record.value for record in records) / n:.1f}" if n else "-"
