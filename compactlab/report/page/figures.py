"""The figures of a report as pictures inside the page: SVG without a date, so that the same run gives the same page."""

from __future__ import annotations

import base64
import io
from collections.abc import Callable, Iterator
from functools import partial
from html import escape
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from compactlab.report import Report


WIDE, NARROW = 10.0, 4.6
"""Widths in inches: for a screen, and for a phone."""


class Drawn(NamedTuple):
    """A figure with its title, what it shows in words, and how it is drawn at a width in inches."""

    title: str
    shows: str
    draw: Callable[[float], Figure]


def drawn(report: Report) -> Iterator[Drawn]:
    """Give the figures that a run of its mode has."""
    if report.mode == "cuts":
        yield from _of_cuts(report)
    elif report.mode == "replay":
        from compactlab.plots import survival
        from compactlab.summary.replayed import rows

        shows = "For each policy a curve: share of the facts that still stand somewhere after so many compactions."
        yield Drawn("How long facts live", shows, partial(survival.figure, rows(report.pool), _signature(report)))


def _of_cuts(report: Report) -> Iterator[Drawn]:
    from compactlab.plots import families, front, positions, savings

    pool, summary = report.pool, report.summary
    if summary.manifest.budgets:
        shows = "For each strategy a curve over its budgets: tokens saved to the right, needed facts kept upwards."
        yield Drawn("What is kept at each budget", shows, partial(front.figure, report.curves, summary))
    shows = "For each strategy a point with its interval: tokens saved to the right, needed facts kept upwards."
    yield Drawn("Saved and kept", shows, partial(savings.figure, summary))
    shows = "For each family of facts a dot for each strategy: share of the needed facts kept."
    yield Drawn("What is kept of each family", shows, partial(families.figure, pool, summary))
    shows = "For each strategy a line: share of facts kept by place in the history, and by age."
    yield Drawn("Where facts are lost", shows, partial(positions.figure, pool, summary))


def _signature(report: Report) -> str:
    return next((section.signature for section in report.tables()), "")


def figure(found: Drawn) -> str:
    """A figure as HTML, in two widths."""
    wide, narrow = (_data(svg(found.draw(width), f"{found.title} {width}")) for width in (WIDE, NARROW))
    alt = f"{found.title}. {found.shows} The numbers are in the tables."
    return (
        f'<figure><picture><source media="(max-width: 46rem)" srcset="{narrow}"><img src="{wide}" alt="{escape(alt)}">'
        f"</picture><figcaption>{escape(found.shows)}</figcaption></figure>"
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
