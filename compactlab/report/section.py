"""A table of a report with its title and what has to be said under it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from compactlab import shown
from compactlab.stats import Estimate


class Section(NamedTuple):
    """A table: the first column names the rows, the others hold numbers as text; the legend says what they mean.

    `words` names further columns that hold words. The `signature` says how the numbers were made.
    """

    title: str
    columns: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]
    legend: str
    words: tuple[str, ...] = ()
    signature: str = ""

    def _repr_html_(self) -> str:
        return shown.html(self)

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:  # noqa: ANN401  # IPython's own printer
        shown.pretty(self, printer, cycle)


def markdown(section: Section) -> str:
    """Give a section as Markdown: a heading, the table, its legend, its signature.

    >>> print(markdown(Section("Ages", ("strategy", "0-1"), [("none", ".98")], "Bound.", (), "seed 0")))
    ## Ages
    <BLANKLINE>
    | strategy | 0-1 |
    |:--|--:|
    | none | .98 |
    <BLANKLINE>
    Bound.
    <BLANKLINE>
    `seed 0`
    <BLANKLINE>
    """
    left = {section.columns[0], *section.words}
    rule = "|" + "|".join(":--" if name in left else "--:" for name in section.columns) + "|"
    lines = [f"## {section.title}", "", _line(section.columns), rule, *map(_line, section.rows), "", section.legend, ""]
    return "\n".join([*lines, *([f"`{section.signature}`", ""] if section.signature else [])])


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


def percent(estimate: Estimate | None, places: int = 0) -> str:
    """Write a share as a percentage with half its interval.

    >>> percent(Estimate(0.412, 0.12, 9, 9)), percent(Estimate(0.004, None, 2, 2), 1), percent(None)
    ('41%±12', '0.4%', '-')
    """
    if estimate is None:
        return "-"
    half = "" if estimate.half is None else f"±{100 * estimate.half:.{places}f}"
    return f"{estimate.mean:.{places}%}{half}"


def sample(columns: Mapping[str, Iterable[Estimate | None]]) -> str:
    """Say over how many sessions and stories the means of each column are taken: once, and the columns that differ.

    >>> sample({"bound": [Estimate(0.8, 0.1, 13, 9)] * 2, "rules": [Estimate(0.5, 0.1, 11, 8)], "hash": [None]})
    'n = 13 sessions of 9 stories; rules: 11 of 8.'
    """
    sizes = {name: Counter((e.n, e.clusters) for e in of if e is not None) for name, of in columns.items()}
    everywhere = sum(sizes.values(), Counter())
    if not everywhere:
        return "n = 0."
    usual = max(everywhere, key=lambda size: (everywhere[size], size))
    others: dict[str, list[str]] = {}
    for name, found in sizes.items():
        if found and set(found) != {usual}:
            others.setdefault(_span(found), []).append(name)
    told = (f"; {', '.join(names)}: {size}" for size, names in others.items())
    return f"n = {_sessions(usual[0])} of {_stories(usual[1])}{''.join(told)}."


def _sessions(number: int) -> str:
    return "1 session" if number == 1 else f"{number:,} sessions"


def _stories(number: int) -> str:
    return "1 story" if number == 1 else f"{number:,} stories"


def _span(sizes: Iterable[tuple[int, int]]) -> str:
    """Sessions and stories of a column, from the fewest to the most.

    >>> _span([(7, 5), (9, 6)]), _span([(7, 5)])
    ('7-9 of 5-6', '7 of 5')
    """
    sessions, stories = ({str(number): number for number in sorted(column)} for column in zip(*sizes, strict=True))
    return " of ".join("-".join(dict.fromkeys((next(iter(of)), next(reversed(of))))) for of in (sessions, stories))


INTERVAL = "± is half the 95 % interval, over sessions, clustered by story (under five stories: none)."
"""What every table with intervals has to say, unless it says it in its own words."""
