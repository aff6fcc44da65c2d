"""Replays a session under a policy: grow, measure, fire, send, until the session ends or a request does not fit.

Before each recorded answer a request is sent, and there the pressure is measured: the weight of the view and of the
overhead over the tokens for input. Armed marks of the policy that it reaches fire, once a crossing; of several at once
the strategy of the highest runs, as it is set. A request that does not fit forces the strategy of the highest mark,
armed or not, which then is given a target: what leaves the pressure below all marks. There is one attempt a turn: what
does not fit after it ends the session, an overflow. The policy `none` never fires.

The cost is linear in the length of the session: a fire costs what the view weighs, which the window bounds.
"""

from __future__ import annotations

import dataclasses
import math
import time
from dataclasses import dataclass, field

from msgspec.structs import replace

from compactlab import history
from compactlab.compaction import Compaction, Guard, compact
from compactlab.errors import SpecError
from compactlab.policy import Policy
from compactlab.pressure import OUTPUT_LIMIT, Marks, allowance, crossed, pressure
from compactlab.receipt import Receipt
from compactlab.replay.events import Fire, Replay, Sent, Turn
from compactlab.replay.filling import heaviest_part
from compactlab.replay.knowledge import Knowledge
from compactlab.replay.narrowing import Narrowed, narrowed
from compactlab.replay.timeline import Moment, Session
from compactlab.replay.view import Rewritten, View
from compactlab.replay.window import Window
from compactlab.transcript import Messages


def replay(session: Session, policy: Policy, window: int | Window, guard: Guard, marks: Marks | None = None) -> Replay:
    """Replay a session under *policy* in a *window*, given as a bare number where requests carry nothing else.

    *marks* are those of all types of agent: a step without a mark fires at the lowest of the session's type, and output
    narrows above the highest. A fault of a strategy is an outcome in `fires`. The same input gives an equal replay, but
    for `seconds`. Raises `SpecError` for a window without room, or a guard with another counter than the session's.

    >>> from compactlab.policy import policy
    >>> from compactlab.transcript import Message, Text, Transcript
    >>> said = [Message("user" if i % 2 == 0 else "assistant", (Text(f"line {i} " * 40),)) for i in range(60)]
    >>> session = Session(Transcript("t", "", tuple(said)))
    >>> done = replay(session, policy("sliding_window(preserve_recent=4)"), 4_000, Guard())
    >>> len(done.turns), [fire.turn for fire in done.fires], done.overflow
    (30, [13, 24], '')
    """
    window = (Window(window) if isinstance(window, int) else window).checked()
    if guard.meter.counter_name != session.meter.counter_name:
        raise SpecError(f"the guard counts by {guard.meter.counter_name}; expected {session.meter.counter_name}")
    run = _Run(session, policy, window, guard, (marks or Marks()).of(session.transcript.agent_type))
    run.go()
    return run.told()


@dataclass
class _Run:
    """A replay on its way."""

    session: Session
    policy: Policy
    window: Window
    guard: Guard
    marks: Marks
    turns: list[Turn] = field(default_factory=list)
    fires: list[Fire] = field(default_factory=list)
    sent: list[Sent] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    overflow: tuple[str, int] | None = None

    def __post_init__(self) -> None:
        """Begin with an empty view and all marks armed."""
        self.guard = dataclasses.replace(self.guard, window=self.window.input)
        self.view = View(self.session)
        self.known = Knowledge(self.session, self.view)
        self.steps = self.policy.at(self.marks)
        self.own_marks = Marks(tuple(self.steps)) if self.steps else None
        self.armed = frozenset(self.steps)
        self.receipts: dict[str, Receipt] = {}
        self.shared = self.shared_weight = 0  # entries at the start of the view that were sent before, and their weight
        self.overhead = self.window.overhead

    def go(self) -> None:
        """Grow the view message by message."""
        for at, moment in enumerate(self.session.moments):
            if not moment.is_answer:
                entry = self.view.grow(at)
                if entry:
                    self.known.told(moment, entry)
            elif not self._answered(at, moment):
                break
        self.known.close()

    def _answered(self, at: int, moment: Moment) -> bool:
        """Send the request before an answer, and take the answer in; False if it does not fit."""
        overhead = self.window.overhead_at(moment.position)
        self._compacted(moment, overhead)
        if self._pressure(overhead) > 1:
            self.overflow = (self._overflow(moment, overhead), moment.position)
            return False
        allowed, answer = self._narrowed(moment, overhead)
        self.known.used(at, moment)
        tokens, shared = self._sent(overhead)
        entry = self.view.answer(at, answer)
        self.known.told(moment, entry)
        over = answer.calls_over if answer else 0
        cut = moment.weight - entry.weight
        self.turns.append(
            Turn(moment.position, tokens, shared, entry.weight, allowed, cut, over, pass_=self.known.passes)
        )
        return True

    def _pressure(self, overhead: int) -> float:
        return pressure(self.view.weight + overhead, self.window.input)

    def _compacted(self, moment: Moment, overhead: int) -> None:
        """Let the policy act on the pressure before a request, at most once."""
        if self.own_marks is None:
            return
        before = self._pressure(overhead)
        crossing = crossed(self.own_marks, self.armed, before)
        if before > 1:
            self._fire(moment, self.own_marks.last, self._below_marks(overhead))
        elif crossing.fired:
            self._fire(moment, crossing.fired[-1], None)
        self.armed = crossed(self.own_marks, self.armed, self._pressure(overhead)).armed

    def _below_marks(self, overhead: int) -> int:
        """The most that a view may weigh so that no mark is reached."""
        return max(0, math.ceil(min(self.steps) * self.window.input) - 1 - overhead)

    def _fire(self, moment: Moment, mark: float, target: int | None) -> None:
        """Run the strategy at *mark*; with a *target* where the request does not fit as it is."""
        strategy = self.steps[mark]
        numbered, weight = self.view.numbered(), self.view.weight
        before = self.view.entries
        started = time.perf_counter()
        previous = self.receipts.get(repr(strategy))
        done = compact(numbered, strategy, target=target, guard=self.guard, previous=previous)
        self.seconds.append(time.perf_counter() - started)
        receipt = self.receipts[repr(strategy)] = self._weighed(done) if strategy.guarded else done.receipt
        split, shared = 0, len(before)
        if receipt.outcome == "applied":
            split = _split_units(numbered, done)
            shared = self._take(done).shared
        self.fires.append(
            Fire(
                turn=len(self.turns),
                position=moment.position,
                mark=mark,
                strategy=receipt.strategy,
                forced=target is not None,
                outcome=receipt.outcome,
                reason=receipt.reason,
                fell_back=receipt.fell_back,
                tokens_before=weight,
                tokens_after=self.view.weight,
                shared=sum(entry.weight for entry in before[:shared]),
                model=receipt.model,
                model_calls=receipt.model_calls,
                model_tokens=receipt.model_tokens,
                split_units=split,
                open_tasks=moment.tasks,
            )
        )

    def _weighed(self, done: Compaction) -> Receipt:
        """The receipt; of a pass that saved no more than what closing an open call had added before, as skipped."""
        receipt = done.receipt
        if receipt.outcome != "applied" or receipt.tokens_after < self.view.weight:
            return receipt
        reason = f"would weigh {receipt.tokens_after:,} tokens instead of {self.view.weight:,}, with open calls closed"
        return replace(receipt, outcome="skipped", reason=reason)

    def _take(self, done: Compaction) -> Rewritten:
        """Go on with what an applied compaction left."""
        rewritten = self.view.rewrite(done.messages)
        if rewritten.shared < self.shared:
            self.shared = rewritten.shared
            self.shared_weight = sum(entry.weight for entry in self.view.entries[: self.shared])
        self.known.rewritten(rewritten.gone)
        return rewritten

    def _narrowed(self, moment: Moment, overhead: int) -> tuple[int, Narrowed | None]:
        """What the agent may say at this pressure, and its answer, cut down where that was less than it said."""
        before = self._pressure(overhead)
        if self.own_marks is None or before <= self.marks.last:
            return OUTPUT_LIMIT, None
        allowed = allowance(before, self.marks)
        return allowed, narrowed(moment, allowed, self.session.meter, self.session.matcher)

    def _sent(self, overhead: int) -> tuple[int, int]:
        """Note what is sent, and weigh it and what it shares with what was sent before.

        An overhead that changed stands before it all, so that nothing is shared.
        """
        tokens = self.view.weight + overhead
        shared = self.shared_weight + overhead if self.turns and overhead == self.overhead else 0
        self.sent.append(Sent(self.view.stretch, len(self.view.stretch)))
        self.shared, self.shared_weight, self.overhead = len(self.view.entries), self.view.weight, overhead
        return tokens, shared

    def _overflow(self, moment: Moment, overhead: int) -> str:
        tokens = self.view.weight + overhead
        part = heaviest_part(tuple(self.view.stretch), overhead, self.session.meter)
        return (
            f"the request before message {moment.position} has {tokens:,} tokens and the window {self.window.input:,}: "
            f"{part}"
        )

    def told(self) -> Replay:
        """The replay, once it has ended."""
        overflow, at = self.overflow or ("", None)
        return Replay(
            transcript=self.session.transcript,
            policy=self.policy,
            window=self.window.input,
            overhead=self.window.overhead,
            meter=self.session.meter,
            turns=tuple(self.turns),
            fires=tuple(self.fires),
            uses=tuple(self.known.uses),
            lives=tuple(self.known.lives),
            debts=tuple(self.known.debts),
            sent_plain=_sent_plain(self.session, self.window),
            seconds=tuple(self.seconds),
            overflow=overflow,
            overflow_at=at,
            supplied=self.known.supplied,
            sent=tuple(self.sent),
        )


def _split_units(before: Messages, done: Compaction) -> int:
    """Units of the view before that are neither whole nor gone after a compaction; edited messages are there."""
    left = {message.source for message in done.messages}
    units = history.units(before)
    return sum(0 < sum(i in left for i in unit) < len(unit) for unit in units)


def _sent_plain(session: Session, window: Window) -> int:
    """What all requests of the session sum up to where nothing is ever taken away."""
    total = weight = 0
    for moment in session.moments:
        total += weight + window.overhead_at(moment.position) if moment.is_answer else 0
        weight += moment.weight
    return total
