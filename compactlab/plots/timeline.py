"""One session under one policy, turn by turn: how full the window is, when the policy fired, what that freed.

The line is what was sent at each turn, up to the window, with the marks as dashed lines. A fire is an arrow from what
stood in the view to what was left of it; one that changed nothing is a hollow marker. Where the agent was allowed less
output than usual the turn is shaded, where its answer was cut short there is a tick at the bottom, and where a request
did not fit the session ends in a cross.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import ceil, floor
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from compactlab.errors import SpecError, UnknownName
from compactlab.plots.canvas import INK, QUIET, WIDE, Named, begun, filled, finished, halo, key, tidy, titled, write
from compactlab.plots.palette import Style, styles
from compactlab.policy import policy
from compactlab.pressure import OUTPUT_LIMIT, Marks
from compactlab.records import Key
from compactlab.replay import Fire, Replay, Turn
from compactlab.results import Results

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_PANEL = 2.0  # inches of height of one policy
_LABELS = 0.075  # of the axis, the least room between two labels of fires
_FLOOR = 0.12  # of the window, what a fire must leave to have words under it
_LETTERS = 11.5  # of a policy and what came of it, in an inch
_NARROWED = "#f3e3b3"
_ENDED = "#b00020"


class Timeline(NamedTuple):
    """What is drawn of one replay; all weights in tokens. `overflow` says that the session ended before its end."""

    session: str
    policy: str
    window: int
    marks: tuple[float, ...]
    turns: tuple[Turn, ...]
    fires: tuple[Fire, ...]
    overflow: bool


def of_replay(replay: Replay, marks: Marks | None = None) -> Timeline:
    """Take what is drawn of a replay; *marks* are those that it was made with."""
    kind = (marks or Marks()).of(replay.transcript.agent_type)
    shown = (replay.transcript.id, repr(replay.policy), replay.window, tuple(replay.policy.at(kind)))
    return Timeline(*shown, replay.turns, replay.fires, overflow=bool(replay.overflow))


class _Told(msgspec.Struct):
    window: int
    turns: list[tuple[int, int, int, int, int, int]]
    fires: list[dict[str, Any]]
    overflow_at: int | None = None


def of_run(results: Results, session: str = "") -> list[Timeline]:
    """Take one session of a run of replays from its folder, under every policy; by default the one that fired most.

    `SpecError` if the run holds no such session, or is none of replays.
    """
    if results.manifest.mode != "replay":
        raise SpecError(
            f"a run in the mode {results.manifest.mode} has no timeline; expected one that replays sessions"
        )
    found = [(block, msgspec.convert(left, _Told)) for block, left in results.left if block.replicate == 0]
    fires: dict[str, int] = {}
    for block, told in found:
        fires[block.session] = fires.get(block.session, 0) + len(told.fires)
    session = session or max(sorted(fires), key=lambda name: fires[name], default="")
    if session not in fires:
        raise SpecError(f"session {session!r} is none of the run; expected one of {', '.join(sorted(fires))}")
    return [_timeline(block, told) for block, told in found if block.session == session]


def _timeline(block: Key, told: _Told) -> Timeline:
    turns = tuple(Turn(*turn, calls_over=0, pass_=0) for turn in told.turns)
    fires = tuple(msgspec.convert([fire.get(name) for name in Fire._fields], Fire) for fire in told.fires)
    marks = _own_marks(block.strategy) or tuple(sorted({fire.mark for fire in fires if not fire.forced}))
    ended = told.overflow_at is not None
    return Timeline(block.session, block.strategy, told.window, marks, turns, fires, overflow=ended)


def _own_marks(label: str) -> tuple[float, ...]:
    """The marks in a policy's spec; none of a label that is no spec: the row `settings`, a strategy that is gone."""
    try:
        return tuple(step.mark for step in policy(label).steps if step.mark is not None)
    except (SpecError, UnknownName):
        return ()


def figure(timelines: Sequence[Timeline], signature: str, width: float = WIDE) -> Figure:
    """Draw one session under some policies, one under the other on the same axes; *width* is in inches."""
    made = begun(width, 0.8 + _PANEL * max(1, len(timelines)))
    parts = made.subplots(max(1, len(timelines)), 1, sharex=True, sharey=True, squeeze=False)[:, 0]
    looks = looks_of(timelines)
    named: dict[str, Named] = {}
    for axes, timeline in zip(parts, timelines, strict=False):
        named |= {entry.words: entry for entry in draw(axes, timeline, looks)}
        axes.set_title(filled(_told(timeline), int(width * _LETTERS)), loc="left", fontsize=8.5, color=INK)
    parts[-1].set_xlabel("turn of the agent, the first is 1")
    if timelines:
        titled(made, f"{timelines[0].session} in a window of {timelines[0].window:,} tokens")
    return finished(made, signature, list(named.values()))


def _told(timeline: Timeline) -> str:
    """How many turns there were, what came of the fires, and at which shares of the window it fires."""
    outcomes = Counter(fire.outcome for fire in timeline.fires)
    fires = ", ".join(f"{n} {outcome}" for outcome, n in outcomes.items())
    marks = ", ".join(f"{mark:g}" for mark in timeline.marks)
    said = f"{timeline.policy}: {len(timeline.turns)} turns, {f'fires: {fires}' if fires else 'no fire'}"
    return f"{said}; marks {marks}" if marks else said


def looks_of(timelines: Sequence[Timeline]) -> dict[str, Style]:
    """Give the styles of all strategies that fired."""
    return styles(fire.strategy for timeline in timelines for fire in timeline.fires)


def draw(axes: Any, timeline: Timeline, looks: dict[str, Style]) -> list[Named]:  # noqa: ANN401  # matplotlib is untyped
    """Draw into axes that are there; what is drawn is given back with its names, for a legend."""
    sent = [turn.tokens / 1_000 for turn in timeline.turns]
    [line] = axes.plot(range(1, len(sent) + 1), sent, color=INK, lw=1.2, zorder=3)
    named = [Named(line, "sent at each turn")]
    named += _bounds(axes, timeline)
    named += _narrowing(axes, timeline)
    named += _fires(axes, timeline, looks)
    if timeline.overflow:
        last = max([*sent, timeline.window / 1_000])
        how = {"color": _ENDED, "marker": "X", "ms": 9, "linestyle": "none", "zorder": 6}
        [cross] = axes.plot(len(sent) + 1, last, **how)
        named.append(Named(cross, "did not fit: the session ends"))
    axes.set_xlim(0, max(2, len(sent) + 2))
    axes.set_ylim(0, 1.22 * max([timeline.window / 1_000, *sent]))
    axes.set_ylabel("thousand tokens", fontsize=8.5)
    tidy(axes)
    return named


def _bounds(axes: Any, timeline: Timeline) -> list[Named]:  # noqa: ANN401  # same
    """The window and the marks, as lines."""
    full = timeline.window / 1_000
    window = axes.axhline(full, color=INK, lw=1.6, zorder=2)
    named = [Named(window, "window")]
    for mark in timeline.marks:
        line = axes.axhline(mark * full, color=QUIET, lw=0.8, ls=(0, (4, 3)), zorder=1)
        named = [named[0], Named(line, "marks")]
    return named


def _narrowing(axes: Any, timeline: Timeline) -> list[Named]:  # noqa: ANN401  # same
    """Shade the turns with less output than usual, and mark those whose answer was cut."""
    from matplotlib.patches import Patch

    narrowed = [i for i, turn in enumerate(timeline.turns, 1) if turn.allowance < OUTPUT_LIMIT]
    cut = [i for i, turn in enumerate(timeline.turns, 1) if turn.cut]
    named: list[Named] = []
    if narrowed:
        how = {"facecolors": _NARROWED, "lw": 0, "zorder": 0, "transform": axes.get_xaxis_transform()}
        axes.broken_barh([(i - 0.5, 1) for i in narrowed], (0, 1), **how)
        named.append(Named(Patch(facecolor=_NARROWED), "less output allowed"))
    if cut:
        [ticks] = axes.plot(cut, [0] * len(cut), "|", color=_ENDED, ms=11, mew=1.6, zorder=4, clip_on=False)
        named.append(Named(ticks, "answer cut short"))
    return named


def _fires(axes: Any, timeline: Timeline, looks: dict[str, Style]) -> list[Named]:  # noqa: ANN401  # same
    """An arrow for each fire that changed the view, a hollow marker for the others, and words where there is room."""
    named: list[Named] = []
    for strategy in dict.fromkeys(fire.strategy for fire in timeline.fires):
        style = looks[strategy]
        own = [fire for fire in timeline.fires if fire.strategy == strategy]
        for full in (True, False):
            axes.plot(*_places(timeline, own, full=full), linestyle="none", ms=6, zorder=5, **style.point(full=full))
        at, before = _places(timeline, own, full=True)
        after = [(fire.tokens_after + _overhead(timeline, fire)) / 1_000 for fire in own if fire.applied]
        axes.vlines(at, after, before, color=style.colour, lw=1.5, zorder=4)
        axes.plot(at, after, linestyle="none", marker=7, color=style.colour, ms=5, zorder=4)
        named.append(key(style, strategy, line=False))
    if not all(fire.applied for fire in timeline.fires):
        named.append(key(Style(INK, "o"), "hollow: a fire that changed nothing", full=False, line=False))
    _freed(axes, timeline)
    return named


def _places(timeline: Timeline, fires: Sequence[Fire], *, full: bool) -> tuple[list[int], list[float]]:
    """Where fires stand that changed the view, or that did not: the turn behind them, what stood before them."""
    found = [fire for fire in fires if fire.applied == full]
    return [fire.turn + 1 for fire in found], [
        (fire.tokens_before + _overhead(timeline, fire)) / 1_000 for fire in found
    ]


def _freed(axes: Any, timeline: Timeline) -> None:  # noqa: ANN401  # same
    """Write from what to what under the fires, those that freed most first, where nothing is covered."""
    room = _LABELS * max(2, len(timeline.turns) + 2) * WIDE / axes.get_figure(root=True).get_figwidth()
    named: list[int] = []
    for fire in sorted(timeline.fires, key=lambda fire: fire.tokens_after - fire.tokens_before):
        over = _overhead(timeline, fire)
        before, after = (fire.tokens_before + over) / 1_000, (fire.tokens_after + over) / 1_000
        is_free = all(abs(fire.turn - turn) >= room for turn in named)
        if not (fire.applied and is_free and _is_lowest(timeline, fire.turn, after, room / 2)):
            continue
        named.append(fire.turn)
        place = {"xytext": (0, -4), "textcoords": "offset points", "ha": "center", "va": "top", "fontsize": 6.5}
        said = axes.annotate(f"{before:.0f} → {after:.0f}", (fire.turn + 1, after), color=INK, zorder=7, **place)
        said.set_path_effects(halo())


def _is_lowest(timeline: Timeline, turn: int, after: float, room: float) -> bool:
    """True if no turn near a fire sent less than the fire left, and there is room for words above the axis."""
    near = timeline.turns[max(0, floor(turn - room)) : ceil(turn + room) + 1]
    return after > _FLOOR * timeline.window / 1_000 and all(other.tokens / 1_000 >= after - 1e-9 for other in near)


def _overhead(timeline: Timeline, fire: Fire) -> int:
    """What the request behind a fire carried beside the view; 0 where no request followed."""
    if fire.turn >= len(timeline.turns):
        return 0
    last = [other for other in timeline.fires if other.turn == fire.turn][-1]
    return max(0, timeline.turns[fire.turn].tokens - last.tokens_after)


def save(timelines: Sequence[Timeline], signature: str, path: str | Path) -> None:
    """Write the figure; the ending of *path* (png, svg, pdf) says how."""
    write(figure(timelines, signature), path)
