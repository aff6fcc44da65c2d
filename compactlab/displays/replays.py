"""A replay as a notebook shows it: the pressure of every request, what fired and what it freed, turn by turn."""

from __future__ import annotations

from compactlab.displays import _page as page
from compactlab.replay.events import Fire, Replay, Turn

FIRES = ("turn", "mark", "strategy", "outcome", "before", "after", "freed", "kept of the cache", "why")
TURNS = ("turn", "message", "sent", "of the window", "new", "answer", "allowed", "cut off", "passes")
LETTERS = 11
"""Pixels that a line of words takes."""
WIDE, TALL, LEFT, TOP = 640, 150, 34, 8
"""Pixels of the drawing: of the whole, and what stands left of its axes and above them."""


def html(done: Replay) -> str:
    """The pressure over the session, the fires, the turns in pages, and where the session ended early."""
    fires = [_fire(fire) for fire in done.fires]
    turns = [_turn(i, turn, done) for i, turn in enumerate(done.turns)]
    return page.framed(
        page.head(f"{done.transcript.id} under {done.policy!r}", _told(done), _kept(done), _end(done)),
        _drawn(done),
        page.folded(
            page.counted(len(fires), "fire"), page.table(FIRES, fires, ("strategy", "outcome", "why")), is_open=True
        )
        if fires
        else "",
        page.folded(page.counted(len(turns), "turn"), page.table(TURNS, turns)),
    )


def text(done: Replay) -> str:
    """A line with the session, the policy, the window, and how it went."""
    return f"Replay of {done.transcript.id!r} under {done.policy!r}: {_told(done)}"


def _told(done: Replay) -> str:
    sent = sum(turn.tokens for turn in done.turns)
    turns, fires = page.counted(len(done.turns), "turn"), page.counted(len(done.fires), "fire")
    return (
        f"window {done.window:,} tokens; {turns}, {fires}; sent {sent:,} tokens in all, {done.sent_plain:,} without a"
        " window"
    )


def _kept(done: Replay) -> str:
    acted = [use for use in done.uses if use.kind == "action"]
    if not acted:
        return ""
    bound = sum(use.bound for use in acted)
    return (
        f"of {len(acted):,} facts that an action needed behind a fire, {bound:,} still stood; "
        f"{len(done.debts):,} results would be fetched again"
    )


def _end(done: Replay) -> str:
    return f"ended early: {done.overflow}" if done.overflow else ""


def _fire(fire: Fire) -> tuple[str, ...]:
    freed = 1 - fire.tokens_after / fire.tokens_before if fire.tokens_before else 0.0
    why = "; ".join([*(["did not fit"] if fire.forced else []), *([fire.reason] if fire.reason else [])])
    return (
        str(fire.turn),
        f"{fire.mark:.2f}",
        fire.strategy,
        fire.outcome,
        f"{fire.tokens_before:,}",
        f"{fire.tokens_after:,}",
        f"{freed:.0%}",
        f"{fire.shared:,}",
        why,
    )


def _turn(index: int, turn: Turn, done: Replay) -> tuple[str, ...]:
    numbers = (turn.tokens - turn.shared, turn.output, turn.allowance, turn.cut, turn.pass_)
    share = f"{turn.tokens / done.window:.0%}"
    return (str(index), f"{turn.position:,}", f"{turn.tokens:,}", share, *(f"{number:,}" for number in numbers))


def _drawn(done: Replay) -> str:
    """Pressure by turn: a line for what was sent, strokes for fires, dashes for marks, a line at the window."""
    if not done.turns:
        return ""
    top = max(1.0, *(level for _, level in _levels(done))) * 1.05
    step = (WIDE - LEFT - 8) / max(len(done.turns) - 1 + bool(done.overflow), 1)
    tall = TALL - TOP - 16
    marks = sorted({1.0, *(fire.mark for fire in done.fires)}, reverse=True)
    levels = "".join(_level(mark, TOP + tall * (1 - mark / top)) for mark in marks)
    names = "".join(_name(mark, TOP + tall * (1 - mark / top)) for mark in _apart(marks, tall / top))
    line = " ".join(f"{LEFT + turn * step:.1f},{TOP + tall * (1 - level / top):.1f}" for turn, level in _levels(done))
    strokes = "".join(_stroke(LEFT + fire.turn * step, TOP + tall, fire) for fire in done.fires)
    return (
        f'<svg viewBox="0 0 {WIDE} {TALL}" role="img" aria-label="pressure by turn">'
        f"{levels}{names}{strokes}"
        f'<polyline points="{line}" fill="none" stroke="#0b5fa5" stroke-width="1.5"/>'
        f'<line x1="{LEFT}" x2="{WIDE}" y1="{TOP + tall}" y2="{TOP + tall}" stroke="currentColor" stroke-width=".5"/>'
        f'<text x="{LEFT}" y="{TALL - 3}">turn 0</text>'
        f'<text x="{WIDE - 8}" y="{TALL - 3}" text-anchor="end">{len(done.turns) - 1:,}</text></svg>'
    )


def _levels(done: Replay) -> list[tuple[int, float]]:
    """Turns with their pressure: of one that fired, before the fire and behind it."""
    before = {fire.turn: (fire.tokens_before + done.overhead) / done.window for fire in done.fires}
    sent = [(i, turn.tokens / done.window) for i, turn in enumerate(done.turns)]
    return sorted([*before.items(), *sent], key=lambda found: found[0])


def _stroke(x: float, bottom: float, fire: Fire) -> str:
    """A fire as a line from top to bottom, broken where it changed nothing."""
    broken = "" if fire.applied else ' stroke-dasharray="2 2"'
    return f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{TOP}" y2="{bottom}" stroke="#c2410c" stroke-width="1"{broken}/>'


def _level(level: float, y: float) -> str:
    """A mark, or the window, as a line across."""
    dashes = "" if level == 1 else ' stroke-dasharray="4 3"'
    return f'<line x1="{LEFT}" x2="{WIDE}" y1="{y:.1f}" y2="{y:.1f}" stroke="#9a9a9a" stroke-width=".8"{dashes}/>'


def _name(level: float, y: float) -> str:
    return f'<text x="{LEFT - 4}" y="{y + 3:.1f}" text-anchor="end">{level:.0%}</text>'


def _apart(marks: list[float], pixels: float) -> list[float]:
    """Of falling marks those whose names do not run into the one above; *pixels* is the height of 1.

    >>> _apart([1.0, 0.95, 0.8, 0.5], 80)
    [1.0, 0.8, 0.5]
    """
    kept: list[float] = []
    for mark in marks:
        if not kept or (kept[-1] - mark) * pixels >= LETTERS:
            kept.append(mark)
    return kept
