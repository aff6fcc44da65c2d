"""The receipt of a compaction: what was done to every message, and what it saved. Data, and text for people."""

from __future__ import annotations

import textwrap
from typing import Literal

import msgspec

from compactlab import shown

Outcome = Literal["applied", "skipped", "rejected", "failed", "deferred"]
OUTCOMES: tuple[Outcome, ...] = ("applied", "skipped", "rejected", "failed", "deferred")
Action = Literal["kept", "edited", "dropped", "made"]


class Change(msgspec.Struct, frozen=True, omit_defaults=True):
    """What happened to one message: its position in the repaired input (None if made), its source, and why."""

    position: int | None
    source: int | None
    role: str
    action: Action
    why: str = ""


class Receipt(msgspec.Struct, frozen=True):
    """Everything there is to say about one compaction; all weights in tokens of `counter`.

    `kinds_*` split the weights into text, reasoning, call, result, image and overhead. `restored` are positions that
    the strategy dropped or edited and the guard put back. `protected_tokens` is what no strategy may touch, pinned
    messages among it; `heaviest` is the position of its heaviest message. `result` is the digest that lets a later
    pass see that nothing is new. `model_tokens` are those that calls of `model` read and wrote: the price. `fell_back`
    says that the strategy took a lesser way, since its model gave nothing of use or a rung of a ladder failed; `notes`
    say why. It is never True of a pass that failed. `broken` are provider rules that the result breaks and the input
    kept: always none where the guard was on.
    """

    strategy: str
    outcome: Outcome
    reason: str
    counter: str
    target: int | None
    over_target: bool
    tokens_before: int
    tokens_after: int
    kinds_before: dict[str, int]
    kinds_after: dict[str, int]
    changes: tuple[Change, ...]
    repairs: tuple[str, ...]
    notes: tuple[str, ...]
    rules: tuple[str, ...]
    result: str
    restored: tuple[int, ...] = ()
    protected_tokens: int = 0
    pinned_tokens: int = 0
    heaviest: int | None = None
    model: str = ""
    model_calls: int = 0
    model_tokens: int = 0
    fell_back: bool = False
    broken: tuple[str, ...] = ()

    _repr_html_ = shown.html
    _repr_pretty_ = shown.pretty

    @property
    def saved(self) -> float:
        """Share of the weight that went: 0 for nothing, 1 for all."""
        return 1 - self.tokens_after / self.tokens_before if self.tokens_before else 0.0

    def count(self, action: Action) -> int:
        """How many messages met *action*."""
        return sum(change.action == action for change in self.changes)

    def to_json(self) -> str:
        """The receipt as JSON text with one level of indentation."""
        return msgspec.json.format(msgspec.json.encode(self), indent=1).decode()

    def to_text(self) -> str:
        """The receipt for people: a summary, the weights by kind, then runs of messages with the same fate."""
        said = [*([self.reason] if self.reason else []), *(["fell back, see the notes"] if self.fell_back else [])]
        reason = f" ({'; '.join(said)})" if said else ""
        over = "; over its target" if self.over_target else ""
        pins = f", of which pinned {self.pinned_tokens:,}" if self.pinned_tokens else ""
        kinds = [(k, n, self.kinds_after[k]) for k, n in self.kinds_before.items() if n or self.kinds_after[k]]
        lines = [
            f"{self.strategy}: {self.outcome}{reason}",
            f"{self.tokens_before:,} -> {self.tokens_after:,} tokens ({self.counter}), {self.saved:.1%} saved{over}",
            "  ".join(f"{kind} {before:,} -> {after:,}" for kind, before, after in kinds),
            f"protected: {self.protected_tokens:,} tokens{pins}",
            *self._floor(),
            *([f"{self.model}: {self.model_calls} calls, {self.model_tokens:,} tokens"] if self.model_calls else []),
            *(f"no provider takes it: {rule}" for rule in self.broken),
            *(f"repaired: {repair}" for repair in self.repairs),
            *(f"note: {textwrap.shorten(text, 200, placeholder=' ...')}" for text in self.notes),
        ]
        return "\n".join([*lines, *_runs(self.changes)])

    def _floor(self) -> list[str]:
        if self.target is None or self.protected_tokens <= self.target:
            return []
        what = f"no strategy can meet the target of {self.target:,}"
        return [f"{what}: message {self.heaviest} is the heaviest of those that may not be touched"]


def _runs(changes: tuple[Change, ...]) -> list[str]:
    """Neighbouring messages that met the same fate for the same reason, one line a run."""
    runs: list[tuple[Change, Change]] = []
    for change in changes:
        if runs and (runs[-1][0].action, runs[-1][0].why) == (change.action, change.why):
            runs[-1] = (runs[-1][0], change)
        else:
            runs.append((change, change))
    return [f"  {_span(first, last):>11}  {first.action:7}  {first.why}".rstrip() for first, last in runs]


def _span(first: Change, last: Change) -> str:
    if first.position is None:
        return "new"
    return str(first.position) if first.position == last.position else f"{first.position}-{last.position}"
