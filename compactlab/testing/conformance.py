"""Whether a strategy keeps to what every strategy must, tried on made histories: no transcripts, no test framework.

What is tried, with a token target and without, on sessions as agents have them and on lists as odd as real ones come:

- it is a frozen dataclass that hashes, can be sent to another process, and whose spec reads back as itself;
- it never fails, and on ordinary sessions the guard does not have to reject what it gives;
- the same again gives the same, in another order too, and in a process with another hash seed;
- labels and times of the recording change nothing;
- a second pass over its own result, without new messages, changes nothing;
- it asks for weights in proportion to the session's length.

That units stay whole, what is protected stays, and no result is heavier than its input, is the guard's doing.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from compactlab import catalog
from compactlab.compaction import Compaction, Guard, compact
from compactlab.errors import CompactlabError
from compactlab.gate.wording import AROUND, visible
from compactlab.llm.extractive import Extractive
from compactlab.strategies import Strategy
from compactlab.testing.histories import History, histories, steps
from compactlab.tokens import Meter
from compactlab.transcript import Block, Message, Messages

TARGETS = (None, 1, 500)
"""Token targets; each history is compacted under each."""
GROWTH = 15
"""How many times as many weights a session of ten times the length may ask for."""
SHOWN = 3
"""Histories that a message names for each thing that is wrong."""


def conforms(strategy: str | Strategy, *, in_another_process: bool = True) -> None:
    """Raise `AssertionError` unless a strategy, a spec or an object, keeps to the contract; the message says how not.

    Takes a second or two for a strategy that is quick itself, half of it to start another process, which may be left
    out. One that asks a model gets the stand-in that is code.
    `SpecError` or `UnknownName` for a spec that names none.
    """
    __tracebackhide__ = True
    if found := faults(strategy, in_another_process=in_another_process):
        raise AssertionError("\n".join((f"{strategy!r} does not conform", *(f"  {line}" for line in found))))


def faults(strategy: str | Strategy, *, in_another_process: bool = True) -> list[str]:
    """Say in which ways a strategy does not keep to the contract; nothing of one that does."""
    built = catalog.strategy(strategy) if isinstance(strategy, str) else strategy
    formed = list(_of_its_form(built))
    is_named = "<locals>" not in type(built).__qualname__ and not formed
    passes = _Passes(built, is_sent=is_named and in_another_process)
    by_what: dict[str, dict[str, str]] = defaultdict(dict)
    for what, where, why in (*formed, *passes.faults(), *_of_its_growth(built)):
        by_what[what].setdefault(where, why)
    return [_line(what, [f"{w} ({why})" if why else w for w, why in found.items()]) for what, found in by_what.items()]


def _line(what: str, where: list[str]) -> str:
    more = f" and {len(where) - SHOWN} more" if len(where) > SHOWN else ""
    return f"{what}: {'; '.join(where[:SHOWN])}{more}"


def _of_its_form(strategy: Strategy) -> Iterator[tuple[str, str, str]]:
    """What is wrong with the class: three parts, what, where, and why."""
    cls = type(strategy)
    if "__dataclass_params__" not in vars(cls):
        yield "its class is no dataclass itself", "@dataclass(frozen=True, repr=False) is missing", ""
    try:
        hash(strategy)
    except TypeError as error:
        yield "it cannot be hashed", str(error), ""
    if "<locals>" in cls.__qualname__:  # of no module: only its own test can know it
        return
    try:
        if pickle.loads(pickle.dumps(strategy)) != strategy:  # noqa: S301  # our own, this very moment
            yield "it is another one after it was sent to a process", repr(strategy), ""
        if catalog.strategy(repr(strategy)) != strategy:
            yield "its spec reads back as another one", repr(strategy), ""
    except (CompactlabError, pickle.PicklingError, TypeError, AttributeError) as error:
        yield "its spec cannot be read back, or it cannot be sent to another process", repr(strategy), str(error)


class _Passes:
    """All passes of one strategy over the histories; and in another process, if it *is_sent* there."""

    def __init__(self, strategy: Strategy, *, is_sent: bool = False) -> None:
        self.strategy = strategy
        self.is_sent = is_sent and type(strategy).__module__ != "__main__"
        self.guard = Guard(Meter("chars/4"), model=Extractive())
        self.cases = [(history, target) for history in histories() for target in TARGETS]

    def faults(self) -> Iterator[tuple[str, str, str]]:
        """What is wrong with its passes: what, on which history, and why."""
        first = [self.done(history.messages, target) for history, target in self.cases]
        again = [self.done(history.messages, target) for history, target in reversed(self.cases)][::-1]
        for (history, target), done, second in zip(self.cases, first, again, strict=True):
            yield from ((what, history.name, why) for what, why in self._of_one(history, target, done))
            if _digest([done]) != _digest([second]):
                yield "the same again gives something else", history.name, ""
        if self.is_sent and (elsewhere := self._elsewhere()) != _digest(first):
            why = elsewhere if " " in elsewhere else ""
            yield "another process gives something else", "with another order of sets and hashes", why

    def done(self, messages: Messages, target: int | None) -> Compaction:
        """One pass."""
        return compact(messages, self.strategy, target=target, guard=self.guard)

    def _of_one(self, history: History, target: int | None, done: Compaction) -> Iterator[tuple[str, str]]:
        outcome, reason = done.receipt.outcome, visible(done.receipt.reason, AROUND)
        if outcome == "failed":
            if not (done.receipt.model_calls and f"{Extractive.name}: " in reason):  # the stand-in's words, not its own
                yield "it fails", reason
            return
        if outcome == "rejected" and history.ordinary:
            yield "the guard rejects its result", reason
        relabelled = [
            replace(m, source=1_000 - i, timestamp="2026-01-01T00:00:00Z") for i, m in enumerate(history.messages)
        ]
        if _unlabelled(self.done(tuple(relabelled), target)) != _unlabelled(done):
            yield "labels or times of the recording change its result", ""
        if outcome == "applied":
            second = self.done(done.messages, target)
            if second.receipt.outcome == "applied":
                before, after = second.receipt.tokens_before, second.receipt.tokens_after
                yield "a second pass without new messages compacts again", f"{before:,} to {after:,} tokens"

    def _elsewhere(self) -> str:
        """The digest of all passes in another process, or what went wrong there."""
        paths = os.pathsep.join(path or "." for path in sys.path)
        environment = {**os.environ, "PYTHONHASHSEED": "4242", "PYTHONPATH": paths}
        code = f"import sys, {__name__} as this; sys.stdout.write(this.fingerprint(sys.argv[1]))"
        command = [sys.executable, "-c", code, repr(self.strategy)]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)  # noqa: S603
        if done.returncode:
            return f"it ended with: {visible(done.stderr[-AROUND:], AROUND)}"
        return done.stdout.strip().rpartition("\n")[2]  # whatever its module says when it is loaded


def fingerprint(spec: str) -> str:
    """The digest of what a strategy comes to on all histories: the same in every process, on every machine.

    >>> fingerprint("none") == fingerprint("none") != fingerprint("microcompact")
    True
    """
    passes = _Passes(catalog.strategy(spec))
    return _digest(passes.done(history.messages, target) for history, target in passes.cases)


def _unlabelled(done: Compaction) -> object:
    fates = [(change.position, change.role, change.action, change.why) for change in done.receipt.changes]
    content = [replace(message, source=None, timestamp=None) for message in done.messages]
    return done.receipt.outcome, done.receipt.notes, fates, content


def _digest(all_done: Iterable[Compaction]) -> str:
    """Digest of what passes came to."""
    whole = hashlib.sha256()
    for done in all_done:
        whole.update(repr(done).encode("utf-8", "surrogatepass"))
    return whole.hexdigest()


class _Counting(Meter):
    """Counts of how many blocks it was asked the weight, alone or in lists."""

    def __init__(self) -> None:
        super().__init__("chars/4")
        self.asked = 0

    def block(self, block: Block) -> int:
        """The weight of a block."""
        self.asked += 1
        return super().block(block)

    def messages(self, messages: Iterable[Message]) -> int:
        """The weight of a list."""
        listed = tuple(messages)
        self.asked += sum(len(message.blocks) for message in listed)
        return super().messages(listed)


def _of_its_growth(strategy: Strategy) -> Iterator[tuple[str, str, str]]:
    for target in TARGETS:
        asked = []
        for count in (50, 500):
            meter = _Counting()
            compact(steps(count), strategy, target=target, guard=Guard(meter, model=Extractive()))
            asked.append(meter.asked)
        if asked[1] > GROWTH * asked[0]:
            told = f"of 50 calls it asked for {asked[0]:,} weights, of 500 for {asked[1]:,}"
            yield "its work grows faster than the session", told, ""
