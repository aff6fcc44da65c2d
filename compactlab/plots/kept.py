"""What each strategy kept of one history, message by message: a row a strategy, the oldest message on the left.

Each message is as wide as it weighs. A full bar is a message that was kept, a lighter, lower one with stripes was
edited, a gap was dropped; what was written stands as a black bar under the gap that it was put into, as wide as it
weighs. The strip on top says whose words they are. Above each row stand the facts that the session went on to need, at
the message that told them first: a dot is kept, a ring stands without what it was about, a cross is lost.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import accumulate, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from compactlab.plots.canvas import INK, QUIET, WIDE, Named, begun, filled, finished, key, tidy, titled, write
from compactlab.plots.histories import History, Row
from compactlab.plots.palette import Style, styles

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_ROW = 0.62  # inches of height of one strategy
_LOST = "#b00020"
_GONE = "#f1f1f1"
_ROLES = {"system": "#333333", "user": "#5f8f5f", "assistant": "#8f9fc4", "tool": "#d9d9d9"}
_FATES = {"bound": ("o", INK, INK), "loose": ("o", INK, "white"), "lost": ("x", _LOST, _LOST)}
_WORDS = {
    "bound": "needed fact: kept (larger: several)",
    "loose": "needed fact: kept, but not bound",
    "lost": "needed fact: lost",
}


def figure(history: History, signature: str, width: float = WIDE) -> Figure:
    """Draw one history under each strategy; *width* is in inches."""
    made = begun(width, 1.5 + _ROW * (len(history.rows) + 1))
    named = draw(made.add_subplot(), history)
    needed = sum(sum(at.values()) for at in (history.rows[0].facts.values() if history.rows else ()))
    what = f"{len(history.weights)} messages, {needed} facts needed later"
    titled(made, f"What was kept of {history.name}: {what}")
    return finished(made, signature, named)


def draw(axes: Any, history: History) -> list[Named]:  # noqa: ANN401  # matplotlib is untyped
    """Draw into axes that are there; what is drawn is given back with its names, for a legend."""
    edges = [0.0, *accumulate(weight / history.unit for weight in history.weights)]
    looks = styles(row.name for row in history.rows)
    _roles(axes, history, edges)
    for place, row in enumerate(history.rows, 1):
        _row(axes, row, (place, edges, history.unit), looks[row.name])
        _facts(axes, row.facts, place, edges)
    width = axes.get_figure(root=True).get_figwidth()
    letters = 26 if width < 8 else 34
    names = ["whose words" if any(history.roles) else "", *(_told(row, letters) for row in history.rows)]
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(history.rows) + 0.6, -0.5 if any(history.roles) else 0.4)
    axes.set_xlim(0, 1.01 * max(edges[-1], 1e-9))
    lost = {home for row in history.rows for home in row.facts if not 0 <= home < len(history.weights)}
    axis = f"{history.axis} (where its facts stood is not known)" if lost else history.axis
    axes.set_xlabel(filled(axis, int(width * 7)))
    tidy(axes, grid="x")
    axes.tick_params(axis="y", length=0, labelsize=7.5)
    return _legend(history)


def _told(row: Row, letters: int) -> str:
    """The name of a row, and how many of the needed facts it kept."""
    facts = sum(map(Counter, row.facts.values()), Counter[str]())
    kept = f"{facts['bound']} of {facts.total()} facts" if facts else "no fact needed"
    return f"{filled(row.name, letters)}\n{kept}{f', {row.note}' if row.note else ''}"


def _roles(axes: Any, history: History, edges: Sequence[float]) -> None:  # noqa: ANN401  # same
    for role, colour in _ROLES.items():
        spans = _spans(edges, [i for i, other in enumerate(history.roles) if other == role])
        _bars(axes, spans, (-0.12, 0.24), facecolors=colour, lw=0)


def _bars(axes: Any, spans: Sequence[tuple[float, float]], at: tuple[float, float], **how: Any) -> None:  # noqa: ANN401  # same
    """Draw bars, if there are any: a collection of none takes room in the corner of the figure."""
    if spans:
        axes.broken_barh(spans, at, **how)


def _row(axes: Any, row: Row, at: tuple[int, Sequence[float], float], style: Style) -> None:  # noqa: ANN401  # same
    """The bars of a strategy: kept, edited, and what it wrote."""
    place, edges, unit = at
    places = {action: [i for i, other in enumerate(row.actions) if other == action] for action in ("kept", "edited")}
    axes.broken_barh([(0, edges[-1])], (place - 0.02, 0.24), facecolors=_GONE, lw=0, zorder=1)
    _bars(axes, _spans(edges, places["kept"]), (place - 0.02, 0.24), facecolors=style.colour, lw=0, zorder=2)
    how = {"facecolors": "white", "edgecolors": style.colour, "hatch": "//////", "lw": 0.5, "zorder": 2}
    _bars(axes, _spans(edges, places["edited"], joined=False), (place + 0.06, 0.16), **how)
    written = [(edges[min(before, len(edges) - 1)], weight / unit) for before, weight in row.made]
    _bars(axes, written, (place + 0.25, 0.09), facecolors=INK, lw=0, zorder=3)
    for x, _ in written:
        axes.plot(x, place + 0.38, "^", color=INK, ms=4, zorder=3)


def _spans(edges: Sequence[float], places: Iterable[int], *, joined: bool = True) -> list[tuple[float, float]]:
    """Where bars begin and how long they are; neighbours are one bar, so that no seam is seen between them.

    >>> _spans([0, 1, 3, 6, 10], [0, 1, 3]), _spans([0, 1, 3], [0, 1], joined=False)
    ([(0, 3), (6, 4)], [(0, 1), (1, 2)])
    """
    places = list(places)
    if not places:
        return []
    breaks = [i for i, (a, b) in enumerate(pairwise(places), 1) if b != a + 1 or not joined]
    runs = [(places[a], places[b - 1]) for a, b in pairwise([0, *breaks, len(places)])]
    return [(edges[first], edges[last + 1] - edges[first]) for first, last in runs]


def _facts(axes: Any, facts: dict[int, dict[str, int]], place: int, edges: Sequence[float]) -> None:  # noqa: ANN401  # same
    """Needed facts at their homes, one mark of a kind a message; those that are lost are drawn last."""
    for fate, (marker, colour, face) in _FATES.items():
        homes = [home for home, of in facts.items() if of.get(fate) and 0 <= home < len(edges) - 1]
        middles = [(edges[home] + edges[home + 1]) / 2 for home in homes]
        sizes = [12 + 5 * min(8, facts[home][fate] - 1) for home in homes]
        up = {"bound": 0.14, "loose": 0.14, "lost": 0.26}[fate]
        how = {"facecolors": face, "edgecolors": colour} if marker == "o" else {"c": colour}
        if homes:
            axes.scatter(middles, [place - up] * len(homes), s=sizes, marker=marker, linewidths=0.9, zorder=4, **how)


def _legend(history: History) -> list[Named]:
    from matplotlib.patches import Patch

    grey: dict[str, Any] = {"edgecolor": QUIET, "linewidth": 0.6}
    there = [role for role in _ROLES if role in history.roles]
    named = [Named(Patch(facecolor=_ROLES[role]), f"words of: {role}") for role in there]
    actions = {action for row in history.rows for action in row.actions}
    bars = {
        "kept": Named(Patch(facecolor=QUIET), "kept as it was"),
        "edited": Named(Patch(facecolor="white", hatch="//////", **grey), "edited: as wide as it was"),
        "dropped": Named(Patch(facecolor=_GONE, **grey), "dropped"),
    }
    named += [entry for action, entry in bars.items() if action in actions]
    if any(row.made for row in history.rows):
        named.append(Named(Patch(facecolor=INK, linewidth=0), "written, as wide as it is"))
    end = len(history.weights)
    fates = {fate for row in history.rows for home, of in row.facts.items() if 0 <= home < end for fate in of}
    for fate, words in _WORDS.items():
        if fate in fates:
            marker, colour, _ = _FATES[fate]
            named.append(key(Style(colour, marker), words, full=fate == "bound", line=False))
    return named


def save(history: History, signature: str, path: str | Path) -> None:
    """Write the figure; the ending of *path* (png, svg, pdf) says how."""
    write(figure(history, signature), path)
