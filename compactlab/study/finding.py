"""A finding of the study: its numbers then and now, and whether what was made of it still follows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple

from compactlab.study.wording import WORDING, Line

Verdict = Literal["holds", "differs", "cannot be shown here"]
VERDICTS: tuple[Verdict, ...] = ("holds", "differs", "cannot be shown here")


class Row(NamedTuple):
    """A line of numbers of a finding with those of now; a number that cannot be had is None."""

    line: Line
    now: tuple[float | None, ...]

    @property
    def shown(self) -> str:
        """The numbers of now as text; a dash where one of them cannot be had.

        >>> Row(Line("a bag at 5 and 10 %", "0.85 / 0.94", "{:.2f} / {:.2f}"), (0.8, 0.931)).shown
        '0.80 / 0.93'
        """
        found = known(self.now)
        return self.line.form.format(*found) if len(found) == len(self.now) else "-"


class Finding(NamedTuple):
    """One of the sixteen: its number, what it asks, its rows, the verdict and a sentence."""

    number: int
    question: str
    rows: tuple[Row, ...]
    verdict: Verdict
    sentence: str


def judged(number: int, numbers: Iterable[Sequence[float | None]], *, holds: bool | None) -> Finding:
    """Make a finding of its numbers, line by line; *holds* None means that these sessions cannot show it."""
    words = WORDING[number]
    rows = tuple(Row(line, tuple(now)) for line, now in zip(words.lines, numbers, strict=True))
    if holds is None:
        return Finding(number, words.question, rows, "cannot be shown here", words.missing)
    verdict: Verdict = "holds" if holds else "differs"
    return Finding(number, words.question, rows, verdict, words.holds if holds else words.differs)


def mean(values: Iterable[float]) -> float | None:
    """Mean of some numbers; None where there are none.

    >>> mean([0.2, 0.4]), mean([])
    (0.30000000000000004, None)
    """
    found = list(values)
    return sum(found) / len(found) if found else None


def known(values: Iterable[float | None]) -> list[float]:
    """Those of some numbers that could be had.

    >>> known([0.2, None])
    [0.2]
    """
    return [value for value in values if value is not None]


def spread(values: Iterable[float]) -> tuple[float | None, float | None]:
    """The lowest and the highest of some numbers.

    >>> spread([0.4, 0.1, 0.2])
    (0.1, 0.4)
    """
    found = sorted(values)
    return (found[0], found[-1]) if found else (None, None)


def deviation(values: Sequence[float]) -> float | None:
    """Standard deviation of a sample (n - 1); None for fewer than two.

    >>> deviation([1.0, 3.0])
    1.4142135623730951
    """
    if len(values) < 2:
        return None
    middle = sum(values) / len(values)
    return float((sum((value - middle) ** 2 for value in values) / (len(values) - 1)) ** 0.5)


def ratio(part: float, whole: float) -> float | None:
    """A share, or None of nothing.

    >>> ratio(1, 4), ratio(1, 0)
    (0.25, None)
    """
    return part / whole if whole else None


COLUMNS = ("#", "finding", "then", "now")


def table(findings: Sequence[Finding]) -> list[tuple[str, str, str, str]]:
    """The numbers of all findings as text: a row that opens each finding with its verdict, then a row a line."""
    rows: list[tuple[str, str, str, str]] = []
    for found in findings:
        rows.append((str(found.number), found.question, "", found.verdict))
        rows += [("", row.line.what, row.line.then, row.shown) for row in found.rows]
    return rows


def to_markdown(findings: Sequence[Finding]) -> str:
    """The table as Markdown, and under it a sentence a finding."""
    bold = [
        (n, f"**{what}**", then, f"**{now}**") if n else (n, what, then, now) for n, what, then, now in table(findings)
    ]
    lines = [_line(COLUMNS), "|--:|:--|--:|--:|", *map(_line, bold), ""]
    return "\n".join([*lines, *(f"{f.number}. *{f.verdict}*: {f.sentence}" for f in findings), ""])


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
