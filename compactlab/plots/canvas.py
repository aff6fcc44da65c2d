"""What all figures share: how they are begun and finished, points with intervals, the legend, and how they are written.

No setting of the library is touched. Words are drawn as they are: nothing in a name is taken for mathematics, and signs
that the font does not have are drawn as empty boxes.
"""

from __future__ import annotations

import io
import re
import textwrap
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from compactlab.errors import SpecError
from compactlab.plots.palette import GREY, INK, Style
from compactlab.stats import Estimate

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FAINT = "#e5e5e5"
QUIET = "#555555"
"""Of words that explain."""
WIDE = 10.0
"""Width of a figure in inches where nothing else is said."""
_NARROW = 8.0  # below this a legend stands under the axes
_LETTERS = 19  # of the signature, in an inch
_TITLE_LETTERS = 11.5  # of a title
_DPI = 150
_RIM = 0.06  # inches left free on both sides
_LINE = 0.11  # height of its lines in inches
_TITLE = "title"
_PART = re.compile(r"\(?[^\s(+_]+[(+_]*\s*|.", re.DOTALL)
_BOX = "\u25a1"


_WORDS: ContextVar[Callable[[str], str]] = ContextVar("words", default=str)


@contextmanager
def worded(words: Callable[[str], str]) -> Iterator[None]:
    """Within it all that is written on figures goes through *words* before it is broken into lines.

    So a figure that is passed on can leave out names. What *words* gave once it must give back as it is.
    """
    before = _WORDS.set(words)
    try:
        yield
    finally:
        _WORDS.reset(before)


class Named(NamedTuple):
    """An entry of a legend: what is drawn beside the words, and the words."""

    handle: Any
    words: str


def begun(width: float, height: float) -> Figure:
    """Begin a figure of that size in inches, which lays itself out; no window is opened."""
    from matplotlib.figure import Figure as Canvas

    if not 3 <= width <= 40:
        raise SpecError(f"width {width!r}: expected inches from 3 to 40")
    return Canvas(figsize=(width, height), layout="constrained")


def key(style: Style, words: str, *, full: bool = True, line: bool = True) -> Named:
    """Make the entry of a name: its marker, on its line or alone."""
    from matplotlib.lines import Line2D

    how = {**style.both(full=full), "linewidth": 1.3, "markersize": 6}
    return Named(Line2D([], [], **how if line else {**how, "linestyle": "none"}), words)


def tidy(axes: Any, *, grid: str = "both") -> None:  # noqa: ANN401  # matplotlib is untyped
    """Take away what is no data, and lay a faint grid."""
    axes.grid(axis=grid, color=FAINT, lw=0.6)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    for spine in axes.spines.values():
        spine.set_color("#888888")
    axes.tick_params(colors=INK, labelsize=8)


def titled(place: Any, text: str) -> None:  # noqa: ANN401  # a figure or axes
    """Set the title of a figure or of axes, from the left; `finished` breaks it into the lines that it takes."""
    if hasattr(place, "suptitle"):
        place.suptitle(text, x=0.1 / place.get_figwidth(), ha="left", fontsize=10.5, color=INK, gid=_TITLE)
    else:
        place.set_title(text, loc="left", fontsize=10.5, color=INK, gid=_TITLE)


def title_of(figure: Figure) -> str:
    """Give the title of a figure in one line; empty if it has none."""
    from matplotlib.text import Text

    found = (text.get_text() for text in figure.findobj(Text) if text.get_gid() == _TITLE)
    return " ".join(next(filter(None, found), "").split())


def reach(estimate: Estimate, low: float | None = 0.0, high: float | None = 1.0) -> list[list[float]]:
    """How far an interval reaches below and above its mean, inside of the bounds, as error bars take it.

    >>> reach(Estimate(0.9, 0.2, 9, 9)), reach(Estimate(0.9, None, 3, 3))
    ([[0.2], [0.1]], [[0.0], [0.0]])
    """
    half = estimate.half or 0.0
    below = half if low is None else max(0.0, min(half, estimate.mean - low))
    above = half if high is None else max(0.0, min(half, high - estimate.mean))
    return [[round(below, 12)], [round(above, 12)]]


def halo() -> list[Any]:
    """Give what makes words readable on top of lines: a rim of white."""
    from matplotlib.patheffects import withStroke

    return [withStroke(linewidth=2.2, foreground="white")]


def dodged(number: int, room: float = 0.2) -> list[float]:
    """Give places around 0, one for each of so many, so that their intervals do not cover each other.

    >>> dodged(3), dodged(1)
    ([-0.2, 0.0, 0.2], [0.0])
    """
    return [room * (2 * i / (number - 1) - 1) for i in range(number)] if number > 1 else [0.0] * number


def finished(figure: Figure, signature: str, entries: Sequence[Named] = ()) -> Figure:
    """Name what is drawn outside of the axes, set the signature underneath, and make all words be drawn as they are.

    The names stand to the right, or below in a narrow figure, which grows by what they need.
    """
    from matplotlib.text import Text

    shown_at = figure.dpi
    figure.set_dpi(_DPI)  # small letters take other room at other resolutions: laid out as it is written
    lines = textwrap.wrap(shown(signature), int(figure.get_figwidth() * _LETTERS))
    foot = _LINE * len(lines) + 0.06
    right = 0.0
    if entries:
        right, below = _legend(figure, entries, foot)
        foot += below
    width, height = figure.get_size_inches()
    engine: Any = figure.get_layout_engine()
    engine.set(rect=(_RIM / width, foot / height, 1 - (right + 2 * _RIM) / width, 1 - foot / height))
    if lines:
        how: dict[str, Any] = {"ha": "left", "va": "bottom", "fontsize": 6, "color": QUIET, "linespacing": 1.25}
        figure.text(0.08 / width, 0.05 / height, "\n".join(lines), gid="signature", **how)
    for text in figure.findobj(Text):
        text.set_parse_math(False)
        text.set_usetex(False)
        said = shown(text.get_text())
        text.set_text(filled(said, int((width - right - 0.7) * _TITLE_LETTERS)) if text.get_gid() == _TITLE else said)
    engine.execute(figure)  # once, and not again for each file
    figure.set_layout_engine("none")
    for legend in figure.legends:
        legend.set_in_layout(True)  # a notebook cuts a figure to what is in its layout
    figure.set_dpi(shown_at)
    return figure


def _legend(figure: Figure, entries: Sequence[Named], foot: float) -> tuple[float, float]:
    """Set the names; give the inches that they take to the right and below."""
    width = figure.get_figwidth()
    beside = width >= _NARROW
    letters = int(min(40, width * 3.6)) if beside else int(width * 6 - 6)
    words = [filled(entry.words, letters) or " " for entry in entries]
    made = figure.legend(
        [entry.handle for entry in entries],
        [str(i) for i in range(len(entries))],  # a name with an underscore in front would be left out
        loc="upper right" if beside else "lower left",
        ncols=1 if beside else 2,
        frameon=False,
        fontsize=8,
        labelspacing=0.55,
        handlelength=2.8,
        borderaxespad=0,
    )
    for text, said in zip(made.get_texts(), words, strict=True):
        text.set_text(said)
        text.set_parse_math(False)
    made.set_in_layout(False)
    box = made.get_window_extent()
    wide, high = box.width / figure.dpi, box.height / figure.dpi
    needed = foot + high + 0.3
    if not beside:
        figure.set_figheight(figure.get_figheight() + high)
    elif needed > figure.get_figheight():
        figure.set_figheight(needed)
    height = figure.get_figheight()
    made.set_bbox_to_anchor((1 - 0.08 / width, 1 - 0.1 / height) if beside else (0.05 / width, foot / height))
    return (wide + 0.12, 0.0) if beside else (0.0, high)


def filled(text: str, letters: int) -> str:
    r"""Break a text into lines of so many letters, at blanks or behind the signs that part a spec.

    >>> filled("ladder(microcompact(keep_recent=1), summary)", 24).split("\n")
    ['ladder(microcompact(', 'keep_recent=1), summary)']
    """
    lines = [""]
    for part in _PART.findall(shown(text)):
        while len(lines[-1] + part.rstrip()) > letters:
            room = letters if not lines[-1] else 0
            if room:
                lines[-1], part = part[:room], part[room:]  # noqa: PLW2901  # what is left of it
            lines.append("")
        lines[-1] += part
    return "\n".join(line.strip() for line in lines).strip()


def shown(text: str) -> str:
    r"""Put a box for each sign that cannot be drawn: control signs, half a pair, what the font does not have.

    >>> shown("a$b_\x00 \u4e2d")
    'a$b_□ □'
    """
    text = _WORDS.get()(text)
    return text if text.isascii() and text.replace("\n", "").isprintable() else "".join(map(_shown, text))


def _shown(sign: str) -> str:
    return sign if sign == "\n" or (sign.isprintable() and ord(sign) in _drawable()) else _BOX


@cache
def _drawable() -> frozenset[int]:
    """The signs that the font has, read from it once."""
    from matplotlib.font_manager import fontManager, get_font

    return frozenset(get_font(fontManager.findfont("DejaVu Sans")).get_charmap())


def ending(path: str | Path) -> str:
    """Give the ending of a figure's file, which says how it is written; `SpecError` if nothing can be written so.

    >>> ending("savings.PNG")
    'png'
    """
    from matplotlib.backend_bases import FigureCanvasBase

    known = FigureCanvasBase.get_supported_filetypes()
    found = Path(path).suffix.lstrip(".").lower()
    if found not in known:
        raise SpecError(f"{path}: expected a figure's ending, one of {', '.join(sorted(known))}")
    return found


def write(figure: Figure, path: str | Path) -> None:
    """Write a figure; the ending of *path* (png, svg, pdf) says how. The same figure gives the same bytes."""
    found = ending(path)
    if found == "svg":
        Path(path).write_text(_svg(figure), encoding="utf-8")
        return
    dated = {"pdf": {"CreationDate": None}}.get(found)
    figure.savefig(path, dpi=_DPI, metadata=dated)


def _svg(figure: Figure) -> str:
    """The figure as SVG; ids that the library draws by lot are numbered in their order."""
    stream = io.StringIO()
    figure.savefig(stream, format="svg", metadata={"Date": None})
    text = stream.getvalue()
    drawn = dict.fromkeys(re.findall(r'\bid="([a-zA-Z]+[0-9a-f]{10})"', text))
    names = {name: f"d{number}" for number, name in enumerate(drawn)}
    return re.sub(r'(?<=[#"])[a-zA-Z]+[0-9a-f]{10}(?=[")])', lambda found: names.get(found[0], found[0]), text)


__all__ = [
    "FAINT",
    "GREY",
    "INK",
    "QUIET",
    "WIDE",
    "Named",
    "begun",
    "dodged",
    "ending",
    "filled",
    "finished",
    "halo",
    "key",
    "reach",
    "shown",
    "tidy",
    "title_of",
    "titled",
    "worded",
    "write",
]
