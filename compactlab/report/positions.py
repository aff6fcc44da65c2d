"""Position and age as tables (M9)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from compactlab.metrics.position import TENTHS
from compactlab.report.section import INTERVAL, Section, interval, sample
from compactlab.stats import Estimate
from compactlab.summary import Summary
from compactlab.summary.pool import Group, Pool
from compactlab.summary.positions import HalfAge, half_age_of, shares, youngest

_Rows = Sequence[tuple[str, Mapping[str, Estimate]]]


def of_positions(pool: Pool, summary: Summary) -> Section:
    """Bound retention of all facts at risk by the tenth of the history in which they were first told."""
    tenths = [str(n) for n in range(1, TENTHS + 1)]
    found = _shares(pool, summary, "position_bound")
    rows = [(name, *(interval(of.get(tenth)) for tenth in tenths)) for name, of in found]
    legend = (
        "Bound retention of all facts at risk, pooled over sessions and cuts, by the tenth of the weight before the cut"
        f" in which a fact was first told: 1 is the oldest. {INTERVAL} {_sizes(found, tenths, 'tenth {}'.format)}"
    )
    return Section("Position", ("strategy", *tenths), rows, legend)


def of_ages(pool: Pool, summary: Summary) -> Section:
    """Bound retention of all facts at risk by the turns since their last mention, and the half-age."""
    found = _shares(pool, summary, "age_bound")
    spans = sorted({span for _, of in found for span in of}, key=youngest)
    ages = [half_age_of(pool, Group(row.label, "", row.budget)) for row in summary.rows]
    rows = [
        (name, *(interval(of.get(span)) for span in spans), _text(age))
        for (name, of), age in zip(found, ages, strict=True)
    ]
    legend = (
        "Bound retention of all facts at risk, pooled over sessions and cuts, by the turns of the agent since a fact"
        f" was last mentioned. {INTERVAL} {_sizes(found, spans, '{} turns'.format)} Half-age: the age in turns at which"
        " a falling (isotonic) fit crosses one half, and from where to where that moves as one story is left out; a"
        " dash where it does not cross."
    )
    return Section("Age", ("strategy", *spans, "half-age"), rows, legend)


def _shares(pool: Pool, summary: Summary, metric: str) -> _Rows:
    return [(row.name, shares(pool, Group(row.label, "", row.budget), metric)) for row in summary.rows]


def _sizes(found: _Rows, keys: Sequence[str], named: Callable[[str], str]) -> str:
    return sample({named(key): [of.get(key) for _, of in found] for key in keys})


def _text(age: HalfAge | None) -> str:
    if age is None:
        return "-"
    return f"{age.turns:.0f}" + ("" if age.low is None else f" ({age.low:.0f}-{age.high:.0f})")
