"""A table of a report with its title and what has to be said under it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from compactlab.stats import Estimate


class Section(NamedTuple):
    """A table: the first column names the rows, the others hold numbers as text; the legend says what they mean."""

    title: str
    columns: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]
    legend: str


def markdown(section: Section) -> str:
    """Give a section as Markdown: a heading, the table, its legend.

    >>> print(markdown(Section("Ages", ("strategy", "0-1"), [("none", ".98")], "Bound.")))
    ## Ages
    <BLANKLINE>
    | strategy | 0-1 |
    |:--|--:|
    | none | .98 |
    <BLANKLINE>
    Bound.
    <BLANKLINE>
    """
    lines = [f"## {section.title}", "", _line(section.columns), "|:--" + "|--:" * (len(section.columns) - 1) + "|"]
    return "\n".join([*lines, *map(_line, section.rows), "", section.legend, ""])


def _line(texts: Sequence[str]) -> str:
    return "| " + " | ".join(text.replace("|", "\\|") for text in texts) + " |"


def share(value: float | None) -> str:
    """Write a share from 0 to 1 as `.84`, a dash where there is none.

    >>> share(0.838), share(1), share(None), share(-0.05)
    ('.84', '1.00', '-', '-.05')
    """
    return "-" if value is None else f"{value:.2f}".replace("0.", ".", 1) if abs(value) < 1 else f"{value:.2f}"


def interval(estimate: Estimate | None, sign: str = "") -> str:
    """Write a mean with half its interval, as short as a table needs them; *sign* "+" shows the sign of a difference.

    >>> interval(Estimate(0.84, 0.12, 9, 9)), interval(Estimate(0.1, None, 2, 2), "+")
    ('.84±.12', '+.10')
    """
    if estimate is None:
        return "-"
    mean = share(estimate.mean)
    mean = f"+{mean}" if sign and estimate.mean >= 0 else mean
    return mean if estimate.half is None else f"{mean}±{share(estimate.half)}"
