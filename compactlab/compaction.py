"""The guard: run a strategy, check what it gives back, apply it or leave the messages as they are; write the receipt.

The same for every strategy, whatever it tries:

1. A unit is in or out whole, and the protected set stays as it was: what is missing is restored and listed.
2. The result breaks no provider rule that the repaired input kept; otherwise it is rejected.
3. It weighs less than before, by 1 % or by 64 tokens; equal or hardly less is skipped, more is rejected.
4. The outcome is applied, skipped, rejected, failed or deferred; on all but applied the messages are the very same.
5. The receipt says of every message whether it was kept, edited, dropped or made, and why.
6. A second pass without new messages changes nothing: a strategy's own markers do not nest, and with the receipt of
   the pass before (`previous`) the guard itself refuses to run twice on the same messages.

A strategy that is not `guarded` (a peer with `guard='off'`) is applied as it is: nothing is put back, and the receipt
lists the rules that it broke.

To the strategy, `source` of each message is its position in the list, so that what it gives back can be told apart.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from typing import Any, NamedTuple

import msgspec
from msgspec.structs import replace

from compactlab import catalog, history, shown
from compactlab.llm import Metered, Model
from compactlab.llm.prompts import DEFAULT, Prompts
from compactlab.receipt import Change, Outcome, Receipt
from compactlab.reconcile import Reconciled, Rejected, as_given, reconciled
from compactlab.redaction import known_in, redacted
from compactlab.remembered import remembered
from compactlab.strategies import Compacted, Context, Strategy
from compactlab.tokens import Meter, clean
from compactlab.transcript import Message, Messages
from compactlab.validity import RuleSet, broken

MIN_SAVED_TOKENS = 64
MIN_SAVED_SHARE = 0.01
NOTHING = Compacted(())
"""What a strategy gave that was not run to its end."""


@dataclass(frozen=True)
class Guard:
    """What a compaction is checked by: meter and rule sets; the model that a strategy may call, its prompts, a seed.

    `window` are the tokens that a request of the agent may have, where that is known: a strategy may ask for it.
    """

    meter: Meter = field(default_factory=Meter)
    rules: tuple[RuleSet, ...] = ("openai", "anthropic")
    model: Model | None = None
    prompts: Prompts = DEFAULT
    seed: int = 0
    window: int | None = None


class Compaction(NamedTuple):
    """The messages after a compaction, and the receipt of what was done."""

    messages: Messages
    receipt: Receipt

    def _repr_html_(self) -> str:
        return shown.html(self)

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:  # noqa: ANN401  # IPython's own printer
        shown.pretty(self, printer, cycle)


def compact(
    messages: Sequence[Message],
    strategy: Strategy | str,
    *,
    target: int | None = None,
    guard: Guard | None = None,
    previous: Receipt | None = None,
) -> Compaction:
    """Compact *messages* by *strategy* under the guard; the input is never changed.

    *target* is the weight in tokens that the whole result should not pass; missing it is a flag in the receipt, not an
    error. *previous* is the receipt of the last pass over this conversation. Errors of the strategy are the outcome
    `failed`; a spec that names no strategy raises `UnknownName`.

    >>> from compactlab.transcript import Text
    >>> talk = [Message("user" if i % 2 == 0 else "assistant", (Text(f"line {i} " * 40),)) for i in range(30)]
    >>> result = compact(talk, "sliding_window(preserve_recent=4)")
    >>> result.receipt.outcome, len(result.messages)
    ('applied', 6)
    """
    guard = guard or Guard()
    built = catalog.strategy(strategy) if isinstance(strategy, str) else strategy
    repaired = history.repair(messages)
    same = tuple(messages)
    if repaired.repairs:
        same = history.join_turns(repaired.messages, repaired.origins)
    model = Metered(guard.model, guard.meter.text) if guard.model else None
    job = _Job(built, target, guard, repaired, same, model)
    if previous is not None and previous.result == _digest(repaired.messages, repr(built), target):
        return job.unchanged("skipped", "nothing new since the last pass")
    originals, alternates = _numbered(repaired.messages), "strict" in guard.rules
    context = Context(
        guard.meter, target, model, originals, alternates, prompts=guard.prompts, seed=guard.seed, window=guard.window
    )
    try:
        given = _checked(built.compact(context.originals, context), context.originals)
    except Exception as error:  # noqa: BLE001  # any fault of a strategy is an outcome, never the end of a run
        return job.unchanged("failed", _said(error, context.originals))
    if given.deferred is not None:
        return job.unchanged("deferred", given.deferred, given)
    return job.judged(given) if built.guarded else job.taken(given)


@remembered
def _numbered(messages: Messages) -> Messages:
    if all(message.source == i for i, message in enumerate(messages)):
        return messages
    return tuple(replace(message, source=i) for i, message in enumerate(messages))


def _checked(given: Compacted, originals: Messages) -> Compacted:
    """Check the types of all that a strategy gave, since it may be anybody's; make its words fit for the receipt."""
    if not isinstance(given, Compacted):
        raise TypeError(f"compact() gave {type(given).__name__}; expected Compacted(messages)")
    limit = 2 * len(originals) + 1_000
    messages = tuple(islice(given.messages, limit + 1))
    if len(messages) > limit:
        raise ValueError(f"compact() gave over {limit:,} messages for {len(originals):,}")
    known = {id(message) for message in originals}
    for message in messages:
        if id(message) not in known:
            _check(message)
    deferred = None if given.deferred is None else _shown(given.deferred)
    return Compacted(messages, tuple(map(_shown, given.notes)), deferred, bool(given.fell_back))


def _check(message: object) -> None:
    if not isinstance(message, Message):
        raise TypeError(f"compact() gave {type(message).__name__} among its messages; expected Message")
    try:
        same = msgspec.convert(msgspec.to_builtins(message), Message) == message
    except (msgspec.ValidationError, TypeError) as error:
        raise TypeError(f"compact() gave a message of wrong form: {error}") from error
    if not same:
        raise TypeError("compact() gave a message of wrong form: blocks are not a tuple")


def _shown(words: object) -> str:
    """Words of a strategy as a receipt may hold them: without secrets."""
    return redacted(clean(str(words)))


def _said(error: Exception, messages: Messages) -> str:
    """What an error says; it may quote anything out of *messages*."""
    try:
        return redacted(clean(f"{type(error).__name__}: {error}"), known_in(messages))
    except Exception:  # noqa: BLE001  # an exception that cannot even be written is still an outcome
        return type(error).__name__


def _digest(messages: Iterable[Message], spec: str, target: int | None) -> str:
    """Digest of messages (without their sources), strategy and target: what a second pass would start from."""
    content = [(m.role, m.blocks, m.synthetic, m.pinned) for m in messages]
    try:
        encoded = msgspec.json.encode(content)
    except UnicodeEncodeError:  # lone surrogates
        encoded = repr(content).encode("utf-8", "surrogatepass")
    return hashlib.sha256(encoded + f"{spec}|{target}".encode("utf-8", "surrogatepass")).hexdigest()[:32]


@dataclass(frozen=True)
class _Job:
    """One compaction on its way to an outcome."""

    strategy: Strategy
    target: int | None
    guard: Guard
    repaired: history.Repaired
    same: Messages
    model: Metered | None

    @cached_property
    def before(self) -> int:
        return self.guard.meter.messages(self.repaired.messages)

    def judged(self, given: Compacted) -> Compaction:
        base = self.repaired.messages
        try:
            plan = reconciled(base, given.messages, repr(self.strategy), alternates="strict" in self.guard.rules)
        except Rejected as reason:
            return self.unchanged("rejected", str(reason), given)
        result = tuple(message for message, _ in plan.entries)
        after = self.guard.meter.messages(result)
        if after >= self.before:
            outcome: Outcome = "skipped" if result == base or after == self.before else "rejected"
            why = "nothing to remove" if result == base else f"would weigh {after:,} tokens instead of {self.before:,}"
            return self.unchanged(outcome, why, given)
        if self.before - after < min(MIN_SAVED_TOKENS, MIN_SAVED_SHARE * self.before):
            return self.unchanged("skipped", f"would save only {self.before - after} tokens", given)
        if fresh := self._fresh(result):
            return self.unchanged("rejected", f"would break {', '.join(sorted(fresh))}", given)
        return self.applied(plan, result, after, given)

    def taken(self, given: Compacted) -> Compaction:
        """What was given, as it is; only where it is the very input there is nothing to apply."""
        base = self.repaired.messages
        plan = as_given(base, given.messages, repr(self.strategy))
        result = tuple(message for message, _ in plan.entries)
        if result == base:
            return self.unchanged("skipped", "nothing to remove", given)
        done = self.applied(plan, result, self.guard.meter.messages(result), given)
        return done._replace(receipt=replace(done.receipt, broken=tuple(sorted(self._fresh(result)))))

    def _fresh(self, result: Messages) -> frozenset[str]:
        """Rules that the result breaks and the input kept; the input is not looked at where there is none."""
        faults = broken(result, self.guard.rules)
        return faults - broken(self.repaired.messages, self.guard.rules) if faults else faults

    def applied(self, plan: Reconciled, result: Messages, after: int, given: Compacted) -> Compaction:
        origins = [None if position is None else self.repaired.origins[position] for _, position in plan.entries]
        receipt = replace(
            self._receipt("applied", "", given, plan.changes, result),
            tokens_after=after,
            kinds_after=self.guard.meter.by_kind(result),
            over_target=self.target is not None and after > self.target,
            restored=plan.restored,
        )
        return Compaction(history.join_turns(result, origins), receipt)

    def unchanged(self, outcome: Outcome, reason: str, given: Compacted = NOTHING) -> Compaction:
        base = self.repaired.messages
        changes = tuple(Change(i, m.source, m.role, "kept", reason) for i, m in enumerate(base))
        return Compaction(self.same, self._receipt(outcome, reason, given, changes, base))

    def _focus(self) -> Iterator[str]:
        """What the pass was told to look at, if anything, and whether it could."""
        if focus := self.guard.prompts.focus:
            unheard = "" if self.strategy.uses_model else " (no model is asked: it plays no part)"
            yield f"focus: {focus}{unheard}"

    def _receipt(
        self, outcome: Outcome, reason: str, given: Compacted, changes: tuple[Change, ...], result: Messages
    ) -> Receipt:
        """The receipt of a pass that left *result*, with the weights of the input for before and after."""
        base, meter = self.repaired.messages, self.guard.meter
        kinds = meter.by_kind(base)
        held = history.protected(base)
        return Receipt(
            strategy=repr(self.strategy),
            outcome=outcome,
            reason=reason,
            counter=meter.counter_name,
            target=self.target,
            over_target=self.target is not None and self.before > self.target,
            tokens_before=self.before,
            tokens_after=self.before,
            kinds_before=kinds,
            kinds_after=kinds,
            changes=changes,
            repairs=tuple(f"{r.what} {r.call_id!r} at message {r.position}: {r.why}" for r in self.repaired.repairs),
            notes=(*given.notes, *self._focus()),
            rules=self.guard.rules,
            protected_tokens=meter.messages(base[i] for i in held),
            pinned_tokens=meter.messages(message for message in base if message.pinned),
            heaviest=max(held, key=lambda i: (meter.message(base[i]), -i), default=None),
            model=self.model.name if self.model and self.model.calls else "",
            model_calls=self.model.calls if self.model else 0,
            model_tokens=self.model.tokens if self.model else 0,
            fell_back=given.fell_back,
            result=_digest(result, repr(self.strategy), self.target),
        )
