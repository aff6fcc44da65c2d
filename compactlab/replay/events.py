"""What happened in a replay: turns, fires, uses and lives of facts, debts; and the replay that holds them all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from compactlab import shown
from compactlab.policy import Policy
from compactlab.probes.mined import Home, UseKind
from compactlab.receipt import Outcome
from compactlab.tokens import Meter
from compactlab.transcript import Message, Messages, Transcript


class Fire(NamedTuple):
    """One time that the policy ran a strategy: before the request at `turn`, whose answer is recorded at `position`.

    `turn` is the index of the turn that followed; the number of turns where the session ended instead. `forced` where
    the request did not fit, whatever marks were armed: the strategy was then given a target below all marks. Tokens are
    the weight of the view, without overhead; `shared` is that of the common beginning of the view before and after, by
    whole messages. `split_units` counts the units that are neither whole nor gone in the view after, `open_tasks` the
    items in progress of the newest todo list.
    """

    turn: int
    position: int
    mark: float
    strategy: str
    forced: bool
    outcome: Outcome
    reason: str
    fell_back: bool
    tokens_before: int
    tokens_after: int
    shared: int
    model: str
    model_calls: int
    model_tokens: int
    split_units: int
    open_tasks: int

    @property
    def applied(self) -> bool:
        """True if it changed the view."""
        return self.outcome == "applied"


class Turn(NamedTuple):
    """One request that was sent, and the recorded assistant message at `position` that answered it.

    `tokens` is what was sent, the view and the overhead; `shared` that of the longest common beginning with what was
    sent the turn before, by whole messages, overhead included; 0 at the first turn, and where the
    overhead changed, which stands before it all. `output` is the
    weight of the answer as it stands in the view from then on; `allowance` how many tokens the agent was allowed, `cut`
    how many of the recorded answer were cut off, `calls_over` how many of its calls were beyond the allowance and stand
    all the same. `pass_` counts the applied fires up to this request.
    """

    position: int
    tokens: int
    shared: int
    output: int
    allowance: int
    cut: int
    calls_over: int
    pass_: int


class Use(NamedTuple):
    """A fact that the recorded agent said or used at `position`, which it had last been told before an applied fire.

    `passes` counts the applied fires in between, 1 or more. `loose`: it stood anywhere in what was sent at that turn;
    `bound`: near a content word of one of its homes so far. `fact` is its index in `Session.facts`.
    """

    fact: int
    family: str
    kind: UseKind
    home: Home
    position: int
    passes: int
    loose: bool
    bound: bool


class Life(NamedTuple):
    """From the time that a fact was said (anew) until it stood nowhere in the view: the applied fires it went through.

    `passes` is 1 or more; the last one is the one that lost it if `lost`. Not lost are those that were said again, and
    those that stood when the session ended: censored.
    """

    family: str
    passes: int
    lost: bool


class Debt(NamedTuple):
    """A result that was evicted though an action relied on it: it would have to be fetched again, once.

    `position` is the recorded message with the action, `result` the one with the evicted result, of `tokens`.
    """

    position: int
    result: int
    tokens: int


class Sent(NamedTuple):
    """Which request held what: the messages of one stretch between applied fires, and how many of them stood in it."""

    stretch: list[Message]
    length: int


@dataclass(frozen=True)
class Replay:
    """One session under one policy, turn by turn. All weights in tokens of `meter`.

    `window` are the tokens for input: without a reserve for output. `overhead` is what each request carries beside the
    messages. `sent_plain` is the sum of what all turns of the recorded session would have sent with no window and no
    policy: also those behind an overflow. `supplied` counts how often a fact that an applied fire lay behind was said
    again by a person or a tool before the agent used it. `seconds` are those of each fire, never a record.
    `overflow` says why the session ended before its end, at the recorded message `overflow_at`, whose request did not
    fit and is no turn.
    """

    transcript: Transcript
    policy: Policy
    window: int
    overhead: int
    meter: Meter
    turns: tuple[Turn, ...]
    fires: tuple[Fire, ...]
    uses: tuple[Use, ...]
    lives: tuple[Life, ...]
    debts: tuple[Debt, ...]
    sent_plain: int
    seconds: tuple[float, ...]
    overflow: str = ""
    overflow_at: int | None = None
    supplied: int = 0
    sent: tuple[Sent, ...] = ()

    _repr_html_ = shown.html
    _repr_pretty_ = shown.pretty

    def view(self, turn: int) -> Messages:
        """What was sent at the turn of that index, without the overhead; results stand in messages of their own."""
        sent = self.sent[turn]
        return tuple(sent.stretch[: sent.length])
