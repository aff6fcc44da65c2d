"""How full the window is, which marks that crosses, and how much an agent may still say.

Pressure is the weight of the context over the window that it must fit; nothing clamps it. Marks raise a warning and
force nothing: each fires once when pressure reaches it, and again only after pressure fell below it in between. Above
the last mark the output allowance narrows with the room that is left, as the seed system's does, but never to nothing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import median
from typing import TYPE_CHECKING, NamedTuple

from compactlab.errors import SpecError
from compactlab.tokens import Meter
from compactlab.transcript import Transcript

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

OUTPUT_LIMIT = 8_192
LEAST_OUTPUT = 512


def pressure(weight: float, window: int) -> float:
    """Give *weight* as a share of *window*, both in tokens; over 1.0 where it does not fit.

    >>> pressure(102_400, 128_000)
    0.8
    >>> pressure(48_000, 32_000)
    1.5
    """
    if window <= 0:
        raise SpecError(f"window {window!r}: expected a number of tokens above 0")
    return weight / window


@dataclass(frozen=True)
class Marks:
    """Marks of pressure in rising order, and other ones for the agent types that have their own.

    >>> Marks().values
    (0.8, 0.9, 0.95)
    >>> Marks(by_agent_type={"subagent": (0.6, 0.7)}).of("subagent").values
    (0.6, 0.7)
    """

    values: tuple[float, ...] = (0.80, 0.90, 0.95)
    by_agent_type: Mapping[str, tuple[float, ...]] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        """Refuse marks that are none, not above 0, or not rising."""
        object.__setattr__(self, "values", _checked(self.values, "marks"))
        own = {kind: _checked(values, f"marks of {kind}") for kind, values in self.by_agent_type.items()}
        object.__setattr__(self, "by_agent_type", own)

    def of(self, agent_type: str) -> Marks:
        """Give the marks of one agent type: its own, or these."""
        return Marks(self.by_agent_type.get(agent_type, self.values))

    @property
    def told(self) -> str:
        """Words for marks that are not the default ones; empty for those.

        >>> Marks().told, Marks((0.5,), {"subagent": (0.7, 0.9)}).told
        ('', ' at marks 0.5, of subagent 0.7 0.9')
        """
        if self == Marks():
            return ""
        own = [f", of {kind} {' '.join(map(str, values))}" for kind, values in sorted(self.by_agent_type.items())]
        return f" at marks {' '.join(map(str, self.values))}{''.join(own)}"

    @property
    def armed(self) -> frozenset[float]:
        """The state before anything was weighed: all marks armed."""
        return frozenset(self.values)

    @property
    def last(self) -> float:
        """The highest mark."""
        return self.values[-1]


def _checked(values: Iterable[float], what: str) -> tuple[float, ...]:
    values = tuple(values)
    rising = all(low < high for low, high in pairwise(values))
    if not values or not rising or not all(0 < value < math.inf for value in values):
        raise SpecError(f"{what} {values!r}: expected at least one, above 0, each higher than the one before")
    return values


def shares(values: Sequence[object]) -> Marks:
    """Marks as a file gives them, shares below 1: one over the window would never fire. `SpecError` for anything else.

    >>> shares([0.7, 0.9]).values
    (0.7, 0.9)
    """
    given = tuple(value for value in values if isinstance(value, float) and value < 1)
    if len(given) < len(values):
        raise SpecError(f"marks {list(values)!r}: expected shares of the window below 1, such as 0.85")
    return Marks(given)


class Crossing(NamedTuple):
    """Marks that fired in one step, in rising order, and those that are armed after it."""

    fired: tuple[float, ...]
    armed: frozenset[float]


def crossed(marks: Marks, armed: frozenset[float], pressure: float) -> Crossing:
    """Take one step: armed marks that *pressure* reaches (`>=`) fire; all marks above it are armed again.

    >>> step = crossed(Marks(), Marks().armed, 0.91)
    >>> step.fired, sorted(step.armed)
    ((0.8, 0.9), [0.95])
    >>> crossed(Marks(), step.armed, 0.93).fired
    ()
    >>> crossed(Marks(), crossed(Marks(), step.armed, 0.5).armed, 0.80).fired
    (0.8,)
    """
    fired = tuple(mark for mark in marks.values if pressure >= mark and mark in armed)
    return Crossing(fired, frozenset(mark for mark in marks.values if pressure < mark))


def allowance(pressure: float, marks: Marks, limit: int = OUTPUT_LIMIT) -> int:
    """Give the output tokens that an agent may use: *limit* up to the last mark, above it a falling part of it.

    The part is the room left over the room at the last mark, at least 512 tokens, and never more than *limit*.

    >>> [allowance(p, Marks()) for p in (0.5, 0.95, 0.97, 0.99, 1.2)]
    [8192, 8192, 4915, 1638, 512]
    """
    if pressure <= marks.last:
        return limit
    room = (1 - pressure) / (1 - marks.last) if marks.last < 1 else 0.0
    return min(limit, max(LEAST_OUTPUT, round(limit * room)))


def first_reached(cumulative: Iterable[float], window: int, mark: float) -> int | None:
    """Find the first position at which the weight so far reaches *mark* of *window*; None if none does.

    *cumulative* holds, for each position, the weight in tokens up to and with it.

    >>> first_reached([1_000, 25_000, 25_600, 31_000], 32_000, 0.80)
    2
    >>> first_reached([1_000], 32_000, 0.80) is None
    True
    """
    return next((i for i, weight in enumerate(cumulative) if pressure(weight, window) >= mark), None)


def weights_in_view(transcript: Transcript, meter: Meter) -> list[int]:
    """Weigh what stood in the agent's context up to and with each message, in tokens; recorded compactions count.

    >>> from compactlab.transcript import Message, RecordedCompaction, Text
    >>> said = tuple(Message("user", (Text("hello"),)) for _ in range(4))
    >>> weights_in_view(Transcript("t", "", said, compactions=(RecordedCompaction(2),)), Meter())
    [5, 10, 5, 10]
    """
    meter.messages(transcript.messages)
    starts = {c.position for c in transcript.compactions}
    weights: list[int] = []
    weight = 0
    for position, message in enumerate(transcript.messages):
        if position in starts:
            weight = meter.messages(transcript.view(position))
        weight += meter.message(message)
        weights.append(weight)
    return weights


class Against(NamedTuple):
    """Our weights beside the token counts that were recorded: of how many responses, their sums, ours over theirs.

    `ratio` is the median over the responses, or that of the sums, where only totals were recorded.
    """

    responses: int
    ours: int
    recorded: int
    ratio: float


def against_recorded(transcript: Transcript, meter: Meter) -> Against | None:
    """Compare what we weigh before each response with the input tokens that were recorded; None where there are none.

    System prompts and tool schemas that are not in the file count in the recording alone, and make the ratio smaller.

    >>> from compactlab.transcript import Message, Text, Usage
    >>> said = tuple(Message(role, (Text("hello"),)) for role in ("user", "assistant"))
    >>> against_recorded(Transcript("t", "", said, usage=(Usage(1, input=10),)), Meter())
    Against(responses=1, ours=5, recorded=10, ratio=0.5)
    """
    totals = sum(usage.input for usage in transcript.usage if usage.position is None)
    told = {usage.position: usage.input for usage in transcript.usage if usage.position is not None and usage.input}
    if not told and not totals:
        return None
    weights = weights_in_view(transcript, meter)
    sent = {
        position: weights[position] - meter.message(message)
        for position, message in enumerate(transcript.messages)
        if message.role == "assistant" and (not told or position in told)
    }
    ours = sum(sent.values())
    if not told:
        return Against(len(sent), ours, totals, ours / totals)
    ratio = median(sent[position] / told[position] for position in sent) if sent else 0.0
    return Against(len(sent), ours, sum(told[position] for position in sent), ratio)
