"""Sections as tables for a terminal, by rich: as many parts, one under the other, as no number need be cut."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from compactlab import catalog
from compactlab.report.section import Section
from compactlab.summary.pool import CONTROLS

if TYPE_CHECKING:
    from rich.table import Table

_NARROW = 12
"""Columns of words are folded to this width where there is no more room."""
_BLANKS = 2
"""Between two columns."""


def tables(section: Section, width: int, dim: Collection[str] = CONTROLS) -> list[Table]:
    """Give a table for *width* columns, in parts that each begin with the names of the rows; rows of *dim* are pale.

    Where the first column does not tell the rows apart, the second one names them too. Peers stand in a group of their
    own.
    """
    named = 1 if len({row[0] for row in section.rows}) == len(section.rows) else 2
    widths = [_width(section, i) for i in range(len(section.columns))]
    widths[0] = min(widths[0], max(14, width // 3))
    parts = _parts(widths, width, named)
    while len(parts) > 1 and len(evener := _parts(widths, width - 1, named)) == len(parts):
        parts, width = evener, width - 1
    return [_part(section, columns, widths[0] - _BLANKS, dim) for columns in parts]


def _parts(widths: Sequence[int], width: int, named: int = 1) -> list[list[int]]:
    """Fill parts of *width* with columns, each part beginning with those that name the rows.

    >>> _parts([10, 8, 8, 8], 27)
    [[0, 1, 2], [0, 3]]
    """
    names = list(range(min(named, len(widths))))
    parts = [[*names]]
    for i in range(len(names), len(widths)):
        if sum(widths[j] for j in parts[-1]) + widths[i] > width and len(parts[-1]) > named:
            parts.append([*names])
        parts[-1].append(i)
    return parts


def _width(section: Section, column: int) -> int:
    """Columns of a terminal that a column takes, with the blanks behind it."""
    lines = _heading(section, column).split("\n")
    return max(*map(len, lines), _texts(section, column)) + _BLANKS


def _texts(section: Section, column: int) -> int:
    longest = max((len(row[column]) for row in section.rows), default=0)
    return min(longest, _NARROW) if section.columns[column] in section.words else longest


def _heading(section: Section, column: int) -> str:
    """The name of a column, in a line a word where it is wider than what stands under it."""
    name = section.columns[column]
    return name if len(name) <= _texts(section, column) else "\n".join(name.split())


def _part(section: Section, columns: Sequence[int], first: int, dim: Collection[str]) -> Table:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0))
    for i in columns:
        name = Text(_heading(section, i))
        if i == 0:
            table.add_column(name, width=first, overflow="fold")
        elif section.columns[i] in section.words:
            table.add_column(name, min_width=min(_width(section, i) - _BLANKS, _NARROW), overflow="fold")
        else:
            table.add_column(name, justify="right", no_wrap=True)
    was_peer = False
    for row in section.rows:
        if (is_peer := catalog.is_peer(row[0])) != was_peer:
            table.add_section()
            was_peer = is_peer
        table.add_row(*(Text(row[i]) for i in columns), style="dim" if row[0] in dim else None)
    return table
