"""`ladder`: several strategies in order, each on what the last one left, until the token target is met.

Follows the seed document's "she usually climbs the ladder", from the cheapest to the most disruptive. One guard stands
at the end. A summary in it reads the original messages, not the placeholders that an earlier rung left. Without a
target every rung is climbed. `ladder(x, sliding_window)` is the explicit way to make x fit a budget.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from compactlab import catalog
from compactlab.errors import SpecError
from compactlab.history import protected
from compactlab.llm import ModelError
from compactlab.llm.checks import is_no_answer
from compactlab.strategies import Compacted, Context, Strategy
from compactlab.transcript import Message, Messages

ROUNDS = 5
STEPS = ("microcompact", "cull", "sliding_window")


@dataclass(frozen=True, repr=False)
class Ladder(Strategy):
    """Climb `steps`, given as specs; a rung that fails is passed over and noted, one that defers changes nothing.

    What it then gives fell back, and so does what a rung that fell back left. A rung whose reply is not there yet ends
    the climb: what a later one would do rests on it.
    """

    steps: tuple[str, ...] = STEPS

    def __post_init__(self) -> None:
        if not isinstance(self.steps, tuple) or not self.steps or not all(isinstance(s, str) for s in self.steps):
            raise SpecError(f"steps are {self.steps!r}; expected the specs of one strategy or more")
        object.__setattr__(self, "steps", tuple(repr(catalog.strategy(step)) for step in self.steps))

    def __repr__(self) -> str:
        """Write the rungs as a spec holds them: `ladder(cull, sliding_window)`; the default ladder has no brackets."""
        return self.name if self.steps == STEPS else f"{self.name}({', '.join(self.steps)})"

    @property
    def uses_model(self) -> bool:  # type: ignore[override]  # true of the object, not of the class
        """True if one of the rungs does."""
        return any(catalog.strategy(step).uses_model for step in self.steps)

    @property
    def stochastic(self) -> bool:  # type: ignore[override]  # same
        """True if one of the rungs is."""
        return any(catalog.strategy(step).stochastic for step in self.steps)

    def compact(self, messages: Messages, context: Context) -> Compacted:
        held = {i: messages[i] for i in sorted(protected(messages))}
        climbed = self._climbed(messages, held, context)
        if self.uses_model or self.stochastic:
            return climbed
        messages = tuple(climbed.messages)
        for _ in range(ROUNDS):  # what a later rung removed may free an earlier one: climb until nothing changes
            before = messages
            messages = tuple(self._climbed(messages, held, context).messages)
            if messages == before:
                break
        return climbed._replace(messages=messages)

    def _climbed(self, messages: Messages, held: dict[int, Message], context: Context) -> Compacted:
        notes: list[str] = []
        fell_back = False
        for step in self.steps:
            if context.target is not None and context.meter.messages(messages) <= context.target:
                notes.append(f"{step}: not needed")
                continue
            try:
                given = catalog.strategy(step).compact(messages, context)
            except Exception as error:  # the next rung may still do; the note says what failed
                if isinstance(error, ModelError) and is_no_answer(error):
                    raise
                notes.append(f"{step}: {type(error).__name__}: {error}")
                fell_back = True
                continue
            messages = _restored(given.messages, held)
            fell_back = fell_back or given.fell_back
            notes += [f"{step}: {said}" for said in (*given.notes, *([given.deferred] if given.deferred else []))]
        return Compacted(messages, tuple(notes), fell_back=fell_back)


def _restored(given: Sequence[Message], held: dict[int, Message]) -> Messages:
    """Put back what a rung took from the protected set, so that the next one sees the same anchor; held by source."""
    restored: list[Message] = []
    waiting = dict(held)
    for message in given:
        if message.source is not None:
            restored += [waiting.pop(i) for i in [i for i in waiting if i < message.source]]
        restored.append(message if message.source is None else waiting.pop(message.source, message))
    return (*restored, *waiting.values())
