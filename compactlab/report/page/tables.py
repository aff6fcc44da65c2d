"""Tables and sentences of a report as HTML: everything escaped, numbers known as such, so that they sort as numbers."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from html import escape

from compactlab.report.section import Section
from compactlab.summary.pool import CONTROLS

_NUMBER = re.compile(r"<?([+\-−]?(?:\d[\d,]*\.?\d*|\.\d+))")


def number(text: str) -> float | None:
    """The number that a cell begins with, for sorting; None for a dash and for words.

    >>> number("+.14±.12"), number("54%±16"), number("55,828"), number("52/52"), number("<.001"), number("-")
    (0.14, 54.0, 55828.0, 52.0, 0.001, None)
    """
    found = _NUMBER.match(text.strip())
    return float(found[1].replace(",", "").replace("−", "-")) if found else None


def table(section: Section, name: str, dim: Collection[str] = CONTROLS) -> str:
    """A table that scrolls by itself where it is too wide; its headings are buttons that sort it; controls are pale."""
    words = {section.columns[0], *section.words}
    heads = "".join(_head(column, is_word=column in words) for column in section.columns)
    body = "".join(_row(section, row, words, is_dim=row[0] in dim) for row in section.rows)
    caption = f"<caption class=unseen>{escape(section.title)}</caption>"
    return (
        f'<div class=wide tabindex=0 role=region aria-label="{escape(section.title)}, table">'
        f'<table class=sorts id="{escape(name)}">{caption}<thead><tr>{heads}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )


def _head(column: str, *, is_word: bool) -> str:
    kind = "word" if is_word else "num"
    return f"<th scope=col class={kind}><button type=button>{escape(column)}</button></th>"


def _row(section: Section, row: Sequence[str], words: Collection[str], *, is_dim: bool) -> str:
    first, *others = row
    cells = [f"<th scope=row>{escape(first)}</th>"]
    for column, text in zip(section.columns[1:], others, strict=True):
        if column in words:
            cells.append(f"<td class=word>{escape(text)}</td>")
            continue
        value = number(text)
        sortable = "" if value is None else f" data-n={value:g}"
        cells.append(f"<td class=num{sortable}>{_parts(text)}</td>")
    return f"<tr{' class=dim' if is_dim else ''}>{''.join(cells)}</tr>"


def _parts(text: str) -> str:
    """A number with its interval set smaller."""
    mean, sign, half = text.partition("±")
    return f"{escape(mean)}<small>±{escape(half)}</small>" if sign else escape(text)


def legend(section: Section) -> str:
    """What has to be said of a table, folded away, with its signature."""
    lines = "".join(f"<p>{escape(line)}</p>" for line in section.legend.splitlines() if line.strip())
    signed = f"<p class=signature>{escape(section.signature)}</p>" if section.signature else ""
    return f"<details class=legend><summary>How to read this table</summary>{lines}{signed}</details>"


def folded(section: Section, name: str) -> str:
    """A table behind its title, which opens it."""
    about = f"<summary><h3>{escape(section.title)}</h3><span class=size>{_size(section)}</span></summary>"
    return f"<details class=table>{about}{table(section, name)}{legend(section)}</details>"


def _size(section: Section) -> str:
    rows = len(section.rows)
    return f"{rows} {'row' if rows == 1 else 'rows'} × {len(section.columns)} columns"
