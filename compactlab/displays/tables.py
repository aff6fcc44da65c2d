"""Tables for notebooks: those of a report, and data frames, in a box that scrolls under its own head."""

from __future__ import annotations

from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, NamedTuple

from compactlab.displays import _page as page
from compactlab.report.section import Section
from compactlab.summary.pool import CONTROLS

if TYPE_CHECKING:
    import pandas as pd

SHORT = 260
"""A legend of more letters is folded away under the table."""


class Shown(NamedTuple):
    """What a notebook shows: HTML, or text where there is none."""

    markup: str
    plain: str

    def _repr_html_(self) -> str:
        return self.markup

    def __repr__(self) -> str:
        return self.plain


def table(frame: pd.DataFrame, title: str = "", legend: str = "") -> Shown:
    """Show a data frame whole: its head stays in sight, long ones come in pages, texts are not cut.

    Numbers are written with two decimals and marks between thousands; a dash stands for what is not known.

    >>> import pandas as pd
    >>> "1,234.50" in table(pd.DataFrame({"strategy": ["none"], "tokens": [1234.5]})).markup
    True
    """
    led = [str(name) for name in frame.index.names] if any(name is not None for name in frame.index.names) else []
    columns = [*led, *(" ".join(str(part) for part in _parts(name) if part != "") for name in frame.columns)]
    numeric = [False] * len(led) + [_is_number(kind) for kind in frame.dtypes]
    words = {name for name, is_number in zip(columns, numeric, strict=True) if not is_number}
    labels = [_parts(label) if led else () for label in frame.index]
    values = frame.itertuples(index=False, name=None)
    rows = [tuple(map(_cell, (*label, *row))) for label, row in zip(labels, values, strict=True)]
    heads = [page.head(title)] if title else []
    under = [f'<div class="cl-pale">{page.escaped(legend)}</div>'] if legend else []
    markup = page.framed(*heads, page.table(columns, rows, words, CONTROLS), *under)
    return Shown(markup, "\n".join([*([title] if title else []), str(frame), *([legend] if legend else [])]))


def _parts(name: object) -> tuple[object, ...]:
    return name if isinstance(name, tuple) else (name,)


def _is_number(kind: Any) -> bool:  # noqa: ANN401  # a dtype of pandas or numpy
    return getattr(kind, "kind", "O") in "iuf"


def _cell(value: object) -> str:
    if value is None or value != value:  # noqa: PLR0124  # NaN is the one value that differs from itself
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Integral):
        return f"{int(value):,}"
    return f"{float(value):,.2f}" if isinstance(value, Real) else str(value)


def html(section: Section) -> str:
    """A table of a report with its title, what has to be said under it, and its signature."""
    return page.framed(*parts(section))


def parts(section: Section) -> list[str]:
    """The pieces of a table of a report, to stand in a frame with others."""
    told = section.legend.split("\n")
    legend = page.listed(told) if len(told) > 1 else f'<div class="cl-pale">{page.escaped(section.legend)}</div>'
    if len(section.legend) > SHORT:
        legend = page.folded("how to read it", legend)
    made = page.table(section.columns, section.rows, section.words, CONTROLS)
    signed = [f'<div class="cl-small">{page.escaped(section.signature)}</div>'] if section.signature else []
    return [page.head(section.title), made, legend, *signed]


def text(section: Section) -> str:
    """A line that says which table it is."""
    return f"Section {section.title!r}: {len(section.rows)} rows of {len(section.columns)} columns"
