"""A figure of the scorer's validity: a share of n things with its interval, and what it must be."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from typing import Literal, NamedTuple

from compactlab.stats import clustered

Must = Literal["all", "none", ""]
"""What a count has to be; empty where it is what it is."""
Z = 1.959964


class Figure(NamedTuple):
    """A line of the evidence: `value` of `n` things, from `low` to `high` with 95 % confidence, None without interval.

    `hits` is how many of the n it was true of, None where the value is a mean over sessions.
    """

    part: str
    what: str
    value: float
    n: int
    low: float | None
    high: float | None
    hits: int | None = None
    must: Must = ""

    @property
    def holds(self) -> bool | None:
        """Whether it is what it must be; None where nothing is demanded."""
        if not self.must or self.hits is None:
            return None
        return self.n > 0 and self.hits == (self.n if self.must == "all" else 0)

    @property
    def shown(self) -> tuple[str, str, str]:
        """The count or mean, the share and its interval as text.

        >>> counted("mutation", "exact", 8, 10).shown
        ('8 of 10', '0.80', '0.49 to 0.94')
        """
        many = f"{self.n:,} sessions" if self.hits is None else f"{self.hits:,} of {self.n:,}"
        places = 4 if self.low is not None and self.high is not None and self.high - self.low < 0.005 else 2
        between = "-" if self.low is None or self.high is None else f"{self.low:.{places}f} to {self.high:.{places}f}"
        return many, f"{self.value:.{places}f}" if self.n else "-", between


def counted(part: str, what: str, hits: int, n: int, must: Must = "") -> Figure:
    """Make a figure of a count, with Wilson's interval, as if the things were independent."""
    low, high = wilson(hits, n) if n else (None, None)
    return Figure(part, what, hits / n if n else 0.0, n, low, high, hits, must)


def averaged(part: str, what: str, values: Sequence[tuple[str, float]]) -> Figure:
    """Make a figure of (story, value) pairs, one a session: their mean, with the interval that tables have."""
    estimate = clustered(values)
    if estimate is None:
        return Figure(part, what, 0.0, 0, None, None)
    return Figure(part, what, estimate.mean, estimate.n, estimate.low, estimate.high)


def wilson(hits: int, n: int) -> tuple[float, float]:
    """The 95 % interval of a share by Wilson (1927), "Probable inference, the law of succession".

    >>> tuple(round(end, 3) for end in wilson(8, 10))
    (0.49, 0.943)
    """
    if n == 0:
        return 0.0, 1.0
    middle, half = hits + Z * Z / 2, Z * sqrt(hits * (n - hits) / n + Z * Z / 4)
    return max(0.0, (middle - half) / (n + Z * Z)), min(1.0, (middle + half) / (n + Z * Z))


COLUMNS = ("part", "what", "how many", "share", "95 %", "must be")


def table(figures: Sequence[Figure]) -> list[tuple[str, ...]]:
    """The figures as rows of text; a part is named in its first row, and what is not as it must be is marked."""
    rows: list[tuple[str, ...]] = []
    for before, figure in zip((None, *figures), figures, strict=False):
        part = figure.part if before is None or before.part != figure.part else ""
        must = f"{figure.must}, and is not" if figure.holds is False else figure.must
        rows.append((part, figure.what, *figure.shown, must))
    return rows


def to_markdown(figures: Sequence[Figure]) -> str:
    """The table as Markdown."""
    lines = [f"| {' | '.join(COLUMNS)} |", "|:--|:--|--:|--:|--:|:--|"]
    return "\n".join([*lines, *(f"| {' | '.join(row)} |" for row in table(figures)), ""])
