"""Pieces of HTML that all displays are made of: escaped text, tables in a box that scrolls, pages, bars, strips."""

from __future__ import annotations

import html
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import groupby

from compactlab.tokens import clean

PAGE = 100
"""Rows of a table that stand on one page."""
LONG = 60
"""Letters of a cell from which on it gets more room."""
TALL = 420
"""Pixels that a table may take before it scrolls."""

_GROUND = "var(--jp-layout-color0,var(--vscode-editor-background,Canvas))"
_LINE = "var(--jp-border-color2,rgba(128,128,128,.35))"
STYLE = re.sub(
    r"\s*\n\s*",
    "",
    f"""<style>
    .compactlab{{font-size:13px;line-height:1.45;max-width:100%;margin:2px 0 8px}}
    .compactlab .cl-head{{font-weight:600;font-size:14px;margin:0 0 2px}}
    .compactlab .cl-pale{{opacity:.68}}
    .compactlab .cl-small{{font-size:11px;opacity:.68;overflow-wrap:anywhere}}
    .compactlab .cl-box{{overflow:auto;max-height:{TALL}px;width:fit-content;max-width:100%;margin:6px 0;
     border:1px solid {_LINE};border-radius:4px}}
    .compactlab table.cl-table{{border-collapse:separate;border-spacing:0;margin:0;table-layout:auto;
     font-size:12px;font-variant-numeric:tabular-nums}}
    .compactlab .cl-table th,.compactlab .cl-table td{{text-align:right;padding:3px 9px;border:0;
     border-bottom:1px solid {_LINE};vertical-align:top;white-space:nowrap;background:{_GROUND}}}
    .compactlab .cl-table tr:last-child td{{border-bottom:0}}
    .compactlab .cl-table thead th{{position:sticky;top:0;z-index:2;font-weight:600;vertical-align:bottom}}
    .compactlab .cl-table .cl-words{{text-align:left;white-space:pre}}
    .compactlab .cl-table .cl-long{{white-space:pre-wrap;overflow-wrap:anywhere;min-width:20em;max-width:44em}}
    .compactlab .cl-table .cl-name{{text-align:left;position:sticky;left:0;z-index:1;font-weight:400}}
    .compactlab .cl-table thead .cl-name{{z-index:3;font-weight:600}}
    .compactlab .cl-table .cl-control td,.compactlab .cl-table .cl-control th{{font-style:italic;
     color:rgba(128,128,128,.95)}}
    .compactlab details{{margin:4px 0}}
    .compactlab summary{{cursor:pointer;opacity:.8}}
    .compactlab ul{{margin:4px 0 4px 18px;padding:0}}
    .compactlab li{{margin:2px 0}}
    .compactlab pre.cl-block{{font-family:var(--jp-code-font-family,monospace);white-space:pre-wrap;font-size:12px;
     overflow-wrap:anywhere;max-height:320px;overflow:auto;margin:4px 0;padding:6px 9px;background:transparent;
     border-left:3px solid {_LINE}}}
    .compactlab .cl-bar{{display:flex;height:12px;max-width:640px;border-radius:3px;overflow:hidden;margin:4px 0}}
    .compactlab .cl-key{{display:inline-block;width:10px;height:10px;border-radius:2px;margin:0 4px 0 0}}
    .compactlab .cl-keys{{font-size:11px}}
    .compactlab .cl-keys span{{margin-right:14px;white-space:nowrap}}
    .compactlab svg{{display:block;max-width:640px;width:100%;margin:4px 0}}
    .compactlab svg text{{font-size:10px;fill:currentColor;opacity:.75}}
    .compactlab progress{{width:260px;height:10px;vertical-align:middle;margin-right:8px}}
    </style>""",
).strip()


def framed(*parts: str) -> str:
    """Put the parts of a display into its own frame, with the style that they need."""
    return f'<div class="compactlab">{STYLE}{"".join(parts)}</div>'


def escaped(text: str) -> str:
    """Make any text of a transcript fit to stand in HTML, as the words that it is.

    >>> escaped("<b onclick='x'>")
    '&lt;b onclick=&#x27;x&#x27;&gt;'
    """
    return html.escape(clean(text).translate(_UNSEEN))


_TURNING = (*range(0x202A, 0x202F), *range(0x2066, 0x206A))
_UNSEEN = dict.fromkeys(
    (*(code for code in range(32) if chr(code) not in "\t\n\r"), *_TURNING), "\N{REPLACEMENT CHARACTER}"
)
"""Control characters, and those that turn the direction of all that follows."""


def counted(number: int, what: str) -> str:
    """A number of things in words.

    >>> counted(1, "session"), counted(2_000, "session")
    ('1 session', '2,000 sessions')
    """
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def head(title: str, *lines: str) -> str:
    """A title in bold, and pale lines under it."""
    return f'<div class="cl-head">{escaped(title)}</div>' + "".join(
        f'<div class="cl-pale">{escaped(line)}</div>' for line in lines if line
    )


def table(
    columns: Sequence[str], rows: Sequence[Sequence[str]], words: Collection[str] = (), dim: Collection[str] = ()
) -> str:
    """A table whose first column names the rows; numbers stand to the right, columns named in *words* to the left.

    More than a page of rows come in pages, of which the first is open. Rows whose name is in *dim* are pale.
    """
    pages = [rows[start : start + PAGE] for start in range(0, len(rows), PAGE)] or [rows]
    made = [_table(columns, page, words, dim) for page in pages]
    if len(made) == 1:
        return made[0]
    spans = [f"{i * PAGE + 1:,} to {i * PAGE + len(page):,} of {len(rows):,}" for i, page in enumerate(pages)]
    return "".join(
        folded(f"rows {span}", page, is_open=span == spans[0]) for span, page in zip(spans, made, strict=True)
    )


def _table(columns: Sequence[str], rows: Sequence[Sequence[str]], words: Collection[str], dim: Collection[str]) -> str:
    kinds = [' class="cl-name"', *(' class="cl-words"' if name in words else "" for name in columns[1:])]
    heads = "".join(f"<th{kind}>{escaped(name)}</th>" for name, kind in zip(columns, kinds, strict=True))
    lines = []
    for row in rows:
        cells = "".join(f"<td{_long(kind, cell)}>{escaped(cell)}</td>" for cell, kind in zip(row, kinds, strict=True))
        pale = ' class="cl-control"' if row[0] in dim else ""
        lines.append(f"<tr{pale}>{cells}</tr>")
    body = "".join(lines)
    return (
        f'<div class="cl-box" tabindex="0"><table class="cl-table"><thead><tr>{heads}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )


def _long(kind: str, cell: str) -> str:
    """The class of a cell: long words get more room, and may be broken anywhere."""
    if len(cell) <= LONG:
        return kind
    return kind.replace("cl-words", "cl-words cl-long").replace("cl-name", "cl-name cl-words cl-long")


def folded(title: str, inner: str, *, is_open: bool = False) -> str:
    """A part that opens when its title is clicked."""
    return f"<details{' open' if is_open else ''}><summary>{escaped(title)}</summary>{inner}</details>"


def listed(lines: Iterable[str]) -> str:
    """Lines of text as a list; nothing for none."""
    items = "".join(f"<li>{escaped(line)}</li>" for line in lines if line)
    return f"<ul>{items}</ul>" if items else ""


KINDS = {
    "text": "#0b5fa5",
    "reasoning": "#7c3aed",
    "call": "#e08a1e",
    "result": "#5fb3a1",
    "image": "#be185d",
    "overhead": "#9a9a9a",
}
"""Colours of the kinds of block."""


def bar(weights: Mapping[str, int], of: int) -> str:
    """Weights by kind of block as a bar that is as long as their share of *of*, and what each colour means."""
    there = {kind: weight for kind, weight in weights.items() if weight}
    parts = "".join(
        f'<div title="{escaped(kind)} {weight:,}" style="width:{100 * weight / max(of, 1):.2f}%;'
        f'background:{KINDS.get(kind, "#9a9a9a")}"></div>'
        for kind, weight in there.items()
    )
    return f'<div class="cl-bar">{parts}</div>'


def keys(named: Mapping[str, str]) -> str:
    """What colours mean: a name and words by colour."""
    marks = (
        f'<span><i class="cl-key" style="background:{colour}"></i>{escaped(name)}</span>'
        for name, colour in named.items()
    )
    return f'<div class="cl-keys">{"".join(marks)}</div>'


FATES = {"kept": ("#64748b", 20), "edited": ("#c27c0e", 13), "made": ("#7c5cd6", 20), "dropped": ("#b8bcc2", 4)}
"""Colour and height of a message in a strip, by what became of it: heights tell them apart without colour.

The colours are those of the page of a run (`report/page`), at a lightness that is seen on light and on dark ground.
"""


def strip(fates: Sequence[str]) -> str:
    """What became of each message, from the first to the last, as bars side by side; neighbours are joined."""
    at, bars = 0, []
    for fate, same in groupby(fates):
        wide = len(list(same))
        colour, tall = FATES[fate]
        bars.append(f'<rect x="{at}" y="{20 - tall}" width="{wide}" height="{tall}" fill="{colour}"/>')
        at += wide
    return (
        f'<svg viewBox="0 0 {max(at, 1)} 20" preserveAspectRatio="none" style="height:22px" role="img" '
        f'aria-label="what became of each message">{"".join(bars)}</svg>'
    )
