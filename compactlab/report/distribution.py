"""How the sessions of a row lie: a mean of .50 may be a half kept everywhere, or all here and nothing there.

Each session's value is the headline of the main table, the mean over its cuts of bound retention of the facts that an
action needed. Quartiles are those of Hyndman and Fan (1996), type 7: linear between the sorted values.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from compactlab.report.section import Section, sample, share
from compactlab.summary import Summary
from compactlab.summary.pool import Group, Pool


class Spread(NamedTuple):
    """Of n sessions: the lowest, the quartiles, the highest, and how many keep nothing, or everything."""

    n: int
    low: float
    first: float
    median: float
    third: float
    high: float
    at_zero: int
    at_one: int


def spread(values: Iterable[float]) -> Spread | None:
    """Give how some values lie, in any order; None where there are none.

    >>> spread([0, 0, 1, 1])
    Spread(n=4, low=0, first=0.0, median=0.5, third=1.0, high=1, at_zero=2, at_one=2)
    """
    found = sorted(values)
    if not found:
        return None
    middle = (_at(found, 0.25), _at(found, 0.5), _at(found, 0.75))
    return Spread(len(found), found[0], *middle, found[-1], found.count(0), found.count(1))


def _at(values: list[float], part: float) -> float:
    """The value that a share of sorted *values* does not reach, linear between two of them."""
    place = part * (len(values) - 1)
    below = int(place)
    above = min(below + 1, len(values) - 1)
    return values[below] + (place - below) * (values[above] - values[below])


COLUMNS = ("strategy", "n", "lowest", "quarter", "half", "three q.", "highest", "at 0", "at 1", "errors")
LEGEND = (
    "Bound retention of the facts that an action needed, each session by itself (mean over its cuts): the lowest and"
    " the highest session, the values between which quarters of the sessions lie, and how many sessions keep none of"
    " their facts, or all of them. errors: cells that failed; they are in no session's value. They are single"
    " sessions, no means: there is no interval."
)


def section(pool: Pool, summary: Summary) -> Section:
    """Give a row for each row of the main table that was scored anywhere, or failed."""
    rows = []
    for row in summary.rows:
        found = spread(pool.headline(Group(row.label, "", row.budget)).values())
        if found is None and not row.errors:
            continue
        rows.append((row.name, *_texts(found), str(row.errors)))
    legend = f"{LEGEND} {sample({'all': [row.bound for row in summary.rows]})}"
    return Section("How the sessions lie", COLUMNS, rows, legend)


def _texts(found: Spread | None) -> tuple[str, ...]:
    if found is None:
        return ("0", *("-",) * (len(Spread._fields) - 1))
    return (str(found.n), *map(share, found[1:6]), f"{found.at_zero}", f"{found.at_one}")
