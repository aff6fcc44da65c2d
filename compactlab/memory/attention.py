"""What an agent is told of her room: pressure, the marks that were crossed, what a pass would free, what she declined.

Nothing here compacts. A mark that is crossed gives one warning and is armed again only when pressure falls below it; a
decline with a reason holds until the next mark. Above the last mark the output allowance narrows, never more than that.
What was told stands in the conversation as lines of the types `warning`, `rearmed` and `ignored`, in order.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from compactlab.memory.conversation import Note, now
from compactlab.memory.lines import note
from compactlab.pressure import OUTPUT_LIMIT, Marks, allowance, crossed, pressure
from compactlab.replay.window import Window

WINDOW = 128_000
"""Tokens, where neither the command nor the settings name a window; a status then says so."""


class Room(NamedTuple):
    """What a conversation must fit, and where its marks are; `is_assumed` where nobody named a window."""

    window: Window
    marks: Marks
    is_assumed: bool = False
    output_limit: int = OUTPUT_LIMIT

    def pressure(self, tokens: int) -> float:
        """Pressure of messages that weigh *tokens*: with the overhead of a request, on what is left for input.

        >>> Room(Window(128_000, overhead=2_400), Marks()).pressure(100_000)
        0.8
        """
        return pressure(tokens + self.window.overhead, self.window.input)

    def allowance(self, tokens: int) -> int:
        """Tokens that the agent may write now."""
        return allowance(self.pressure(tokens), self.marks, self.output_limit)


class Attention(NamedTuple):
    """Where things stand between marks and agent: marks that fired and are not armed, those of them that she has not
    answered yet, and why she declined, empty where she did not.
    """

    spent: frozenset[float] = frozenset()
    unanswered: tuple[float, ...] = ()
    declined: str = ""

    def armed(self, marks: Marks) -> tuple[float, ...]:
        """The marks that will fire when they are reached, rising."""
        return tuple(mark for mark in marks.values if mark not in self.spent)


def attention(notes: Iterable[Note]) -> Attention:
    """Read from the lines of a conversation where things stand.

    >>> lines = [{"type": "warning", "marks": [0.8], "spent": [0.8]}, {"type": "ignored", "reason": "nearly done"}]
    >>> attention(Note(line, b"") for line in lines)
    Attention(spent=frozenset({0.8}), unanswered=(), declined='nearly done')
    """
    at = Attention()
    for line in notes:
        if line.kind == "ignored":
            at = at._replace(unanswered=(), declined=str(line.record.get("reason", "")))
        elif line.kind in {"warning", "rearmed"}:
            spent = frozenset(_marks(line.record.get("spent")))
            fired = _marks(line.record.get("marks")) if line.kind == "warning" else ()
            still = tuple(mark for mark in (*at.unanswered, *fired) if mark in spent)
            at = Attention(spent, still, "" if fired or not spent else at.declined)
    return at


def _marks(given: object) -> tuple[float, ...]:
    return tuple(mark for mark in given if isinstance(mark, int | float)) if isinstance(given, list) else ()


class Step(NamedTuple):
    """Marks that fired, rising, and the line that records what changed; None where nothing did."""

    fired: tuple[float, ...]
    line: bytes | None


def step(before: Attention, room: Room, tokens: int) -> Step:
    """Take one look at a conversation that weighs *tokens* now.

    >>> room = Room(Window(1_000), Marks())
    >>> [step(Attention(), room, tokens).fired for tokens in (799, 800, 949, 1_300)]
    [(), (0.8,), (0.8, 0.9), (0.8, 0.9, 0.95)]
    """
    reached = room.pressure(tokens)
    fired, armed = crossed(room.marks, frozenset(before.armed(room.marks)), reached)
    spent = [mark for mark in room.marks.values if mark not in armed]
    told: dict[str, Any] = {"time": now(), "pressure": round(reached, 6), "tokens": tokens}
    if fired:
        return Step(fired, note("warning", **told, window=room.window.tokens, marks=list(fired), spent=spent))
    rearmed = [mark for mark in room.marks.values if mark in before.spent and mark in armed]
    if rearmed:
        return Step((), note("rearmed", **told, marks=rearmed, spent=spent))
    return Step((), None)


def declined(reason: str, room: Room, tokens: int) -> bytes:
    """Write the line of a decline; the mark in it is the highest that holds now, none below the first."""
    reached = room.pressure(tokens)
    mark = max((mark for mark in room.marks.values if reached >= mark), default=None)
    return note("ignored", time=now(), reason=reason, pressure=round(reached, 6), mark=mark)


def next_mark(room: Room, tokens: int) -> float | None:
    """Give the mark at which she hears of it again; None above the last."""
    reached = room.pressure(tokens)
    return next((mark for mark in room.marks.values if reached < mark), None)


class Estimate(NamedTuple):
    """What a strategy would do now, from a dry run: tokens that it would free, and the pressure behind it.

    `stands_in` says that the strategy asks a model and none was asked: code wrote the text that is weighed here.
    `by_default` marks the strategy of the agent's type.
    """

    strategy: str
    outcome: str
    reason: str
    frees: int
    pressure: float
    stands_in: bool
    by_default: bool

    @property
    def told(self) -> str:
        """What it would come to, in a few words.

        >>> Estimate("summary", "applied", "", 9_000, 0.25, stands_in=True, by_default=True).told
        'frees about 9,000 tokens, leaves pressure 0.25 (yours by default; asks a model)'
        """
        notes = [*(["yours by default"] if self.by_default else []), *(["asks a model"] if self.stands_in else [])]
        said = f" ({'; '.join(notes)})" if notes else ""
        if self.outcome != "applied":
            return f"{self.reason or self.outcome}{said}"
        about = "about " if self.stands_in else ""
        return f"frees {about}{self.frees:,} tokens, leaves pressure {self.pressure:.2f}{said}"


def lines_of(estimates: Sequence[Estimate]) -> list[str]:
    """One line a strategy, for a person or an agent."""
    width = max((len(one.strategy) for one in estimates), default=0)
    return [f"  {one.strategy:{width}}  {one.told}" for one in estimates]


class Warned(NamedTuple):
    """A warning, once for a crossing: the marks that fired, the pressure, what each strategy would free."""

    marks: tuple[float, ...]
    pressure: float
    tokens: int
    allowance: int
    felt: str
    estimates: tuple[Estimate, ...]

    def to_text(self) -> str:
        """The warning for the agent: how it feels, then the pressure and what she could do."""
        marks = " and ".join(f"{mark:.2f}" for mark in self.marks)
        room = f"output allowance {self.allowance:,} tokens"
        lines = [
            self.felt,
            f"pressure {self.pressure:.2f}, {self.tokens:,} tokens; crossed {marks}; {room}",
            *lines_of(self.estimates),
            "Nothing is done unless you ask: compact, or decline with a reason (ignore), or go on.",
        ]
        return "\n".join(line for line in lines if line)
