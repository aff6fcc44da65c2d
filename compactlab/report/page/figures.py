"""The figures of a report as pictures inside the page: SVG without a date, so that the same run gives the same page."""

from __future__ import annotations

import base64
import io
from collections.abc import Callable, Iterator
from html import escape
from typing import TYPE_CHECKING, NamedTuple

from compactlab.plots.canvas import title_of, worded

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from compactlab.report import Report

WIDE, NARROW = 10.0, 4.2
"""Widths in inches: for a screen, and for a phone."""


class Told(NamedTuple):
    """What a figure shows, and where its numbers stand in the page, for those who do not see it."""

    shows: str
    numbers: str


_SESSIONS = "Session by session tells it message by message."
SAID = {
    "savings": Told(
        "For each strategy a point with its interval: tokens saved to the right, needed facts kept upwards. Grey:"
        " random units and the oracle of the same sizes.",
        "The numbers are in the first table.",
    ),
    "front": Told(
        "For each strategy a curve over its budgets: tokens saved to the right, needed facts kept upwards.",
        "The numbers are in the tables of budgets.",
    ),
    "families": Told(
        "For each family of facts a dot for each strategy: share of the needed facts kept.",
        "The numbers are in the table of families.",
    ),
    "positions": Told(
        "For each strategy a line: share of facts kept by place in the history, and by age.",
        "The numbers are in the tables of positions and ages.",
    ),
    "kept": Told(
        "The cut that needed most: which messages each strategy kept, edited, dropped and wrote, and which of the"
        " needed facts still stand.",
        _SESSIONS,
    ),
    "survival": Told(
        "For each policy a curve: share of the facts that still stand somewhere after so many compactions.",
        "The numbers are in the table of survival.",
    ),
    "survival_families": Told(
        "The same for each family of facts. The bars take each life as one observation and are too narrow.",
        "The numbers are in the tables of survival by family.",
    ),
    "money": Told(
        "For each policy what a session takes: money with a cache and without one, and tokens sent. Grey: the same"
        " sessions with no window.",
        "The numbers are in the table of money.",
    ),
    "timeline": Told(
        "The session that was compacted most, under each policy: tokens sent at each turn, and what was fired.",
        "Turn by turn has the numbers of any session.",
    ),
}
"""By the name of a figure, what is said of it."""


def figures(report: Report, words: Callable[[str], str] = str) -> Iterator[str]:
    """Give the figures that a run has as HTML, the main one first; all that is written on them goes through *words*.

    Without budgets the front shows the points of the first one again, and is left out.
    """
    for name in report.figures:
        if name != "front" or report.results.manifest.budgets:
            with worded(words):
                made = _figure(report, name)
            yield made


def _figure(report: Report, name: str) -> str:
    """A figure as HTML, in two widths."""
    wide, narrow = (report.figure(name, width) for width in (WIDE, NARROW))
    told = SAID[name]
    alt = f"{title_of(wide)}. {told.shows} {told.numbers}"
    return (
        f'<figure><picture><source media="(max-width: 46rem)" srcset="{_data(svg(narrow, f"{name} {NARROW}"))}">'
        f'<img src="{_data(svg(wide, f"{name} {WIDE}"))}" alt="{escape(alt)}"></picture>'
        f"<figcaption>{escape(told.shows)}</figcaption></figure>"
    )


def _data(picture: bytes) -> str:
    return f"data:image/svg+xml;base64,{base64.b64encode(picture).decode()}"


def svg(canvas: Figure, salt: str) -> bytes:
    """A figure as SVG without a ground, so that the page is seen through it; its letters are drawn: alike anywhere."""
    import matplotlib as mpl

    found = io.BytesIO()
    with mpl.rc_context({"svg.fonttype": "path", "svg.hashsalt": salt}):
        canvas.savefig(found, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    return found.getvalue()
