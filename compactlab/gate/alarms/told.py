"""What the study came to, in tables and sentences: for a terminal, and as the section of a page."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from textwrap import fill
from typing import NamedTuple

from compactlab.gate.alarms import Alarms, Line
from compactlab.gate.alarms.reruns import Rate
from compactlab.gate.outcome import Verdict

WIDTH = 118
"""Characters of a line of words."""
VERDICTS: tuple[Verdict, ...] = ("pass", "inconclusive", "fail")


class Table(NamedTuple):
    """A table with what it says above it; `words` are the columns that are read from the left."""

    title: str
    columns: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]
    words: tuple[str, ...] = ("strategy",)


def tables(found: Alarms) -> list[Table]:
    """All tables of a study."""
    return [_truths(found), _gate(found), _power(found), _schemes(found)]


def _truths(found: Alarms) -> Table:
    columns = ("strategy", "keeps, computed", "keeps, drawn", "points lost", "± sessions", "± draws")
    rows = [
        (
            of.loss.name,
            f"{of.computed:.4f}",
            f"{of.measured:.4f}",
            f"{100 * of.less:.2f}",
            f"{100 * of.between:.1f}",
            f"{100 * of.within:.1f}",
        )
        for of in found.truths
    ]
    return Table("What the strategies keep in truth", columns, rows)


def _gate(found: Alarms) -> Table:
    title = f"The whole gate, margin {_margin(found.gate)}: % of {found.plan.reruns} reruns, with 95 % intervals"
    rows = [
        (line.loss.name, str(line.replicates), *(_with_interval(line, verdict) for verdict in VERDICTS))
        for line in found.gate
    ]
    return Table(title, ("strategy", "replicates", *VERDICTS), _named_once(rows))


def _power(found: Alarms) -> Table:
    margins = found.plan.margins
    title = "The check of all sessions: % pass / inconclusive / fail"
    columns = ("strategy", "replicates", *(f"margin {margin:g}" for margin in margins))
    rows = [
        (name, str(count), *map(_shares, lines))
        for (name, count), lines in groupby(found.power, key=lambda line: (line.loss.name, line.replicates))
    ]
    return Table(title, columns, _named_once(rows))


def _schemes(found: Alarms) -> Table:
    title = f"Whose spread counts: % pass / inconclusive / fail at a margin of {_margin(found.schemes)}"
    columns = ("sessions", "strategy", "points lost", "replicates", "replicates' spread", "sessions' spread")
    rows = [
        (str(size), name, f"{100 * less:.1f}", str(count), *map(_shares, lines))
        for (size, name, less, count), lines in groupby(
            found.schemes, key=lambda line: (line.sessions, line.loss.name, line.less, line.replicates)
        )
    ]
    return Table(title, columns, rows)


def sentences(found: Alarms) -> list[str]:
    """What the gate does with what is unchanged and with what lost much, in words."""
    told = [_sentence(line) for line in found.gate if line.replicates == found.plan.asked[0]]
    alone = [of for of in found.schemes if of.judge == "sessions" and not of.loss.points and of.replicates == 1]
    if alone:
        shares = " and ".join(
            f"{_percent(of.rate.share('pass')[0])} of reruns on {of.sessions} sessions" for of in alone
        )
        told.append(
            f"with one replicate the gate says nothing; a t over sessions would pass what is unchanged in {shares}."
        )
    return told


def _sentence(line: Line) -> str:
    share, low, high = line.rate.share("fail")
    between = f"{_percent(share)}, 95 % interval {_percent(low)} to {_percent(high)}"
    if line.loss.points:
        return f"{line.loss.name} lost ({100 * line.less:.2f} measured): caught in {_of(line.rate)}, {between}."
    rest = f"{line.rate.passed} pass, {line.rate.inconclusive} are inconclusive"
    return f"unchanged: a false alarm in {_of(line.rate)}, {between}; {rest}."


def _of(rate: Rate) -> str:
    return f"{rate.failed} of {rate.reruns} reruns"


def to_markdown(found: Alarms) -> str:
    """The tables and sentences as Markdown."""
    parts = ["\n".join(fill(f"- {sentence}", WIDTH, subsequent_indent="  ") for sentence in sentences(found))]
    for table in tables(found):
        marks = "|".join(":--" if column in table.words else "--:" for column in table.columns)
        lines = [f"**{table.title}**", "", _line(table.columns), f"|{marks}|", *map(_line, table.rows)]
        parts.append("\n".join(lines))
    return "\n\n".join(parts) + "\n"


def as_data(found: Alarms) -> dict[str, object]:
    """The study as plain data; a strategy by its parameters, verdicts as counts of reruns."""
    lines = (*found.gate, *found.power, *found.schemes)
    return {
        "plan": found.plan._asdict(),
        "truths": [of._asdict() | {"loss": of.loss.name, "strategy": repr(of.loss.strategy)} for of in found.truths],
        "lines": [line._asdict() | {"loss": line.loss.name, "rate": line.rate._asdict()} for line in lines],
    }


def _margin(lines: Sequence[Line]) -> str:
    return f"{lines[0].margin:g}"


def _with_interval(line: Line, verdict: Verdict) -> str:
    share, low, high = line.rate.share(verdict)
    return f"{_bare(share)} ({_bare(low)} to {_bare(high)})"


def _shares(line: Line) -> str:
    return " / ".join(f"{100 * line.rate.share(verdict)[0]:3.0f}" for verdict in VERDICTS)


def _percent(share: float) -> str:
    """A share in per cent; with a tenth near the ends.

    >>> _percent(0.0), _percent(0.984), _percent(0.41), _percent(0.99999)
    ('0 %', '98.4 %', '41 %', '100 %')
    """
    return f"{_bare(share)} %"


def _bare(share: float) -> str:
    places = 0 if 0.1 <= share <= 0.9 else 1
    return f"{100 * share:.{places}f}".removesuffix(".0")


def _named_once(rows: Iterable[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """The rows, each name in the first of those that share it."""
    found: list[tuple[str, ...]] = []
    last = ""
    for row in rows:
        found.append(("" if row[0] == last else row[0], *row[1:]))
        last = row[0]
    return found


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(' '.join(cell.split()) for cell in cells)} |"
