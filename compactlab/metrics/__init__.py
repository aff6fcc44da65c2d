"""Metrics, one family a file: drop a module with `measure(trial)` in here and every run records it.

A module of what shows only where a session goes on has `replayed(replay)` instead (see `compactlab.replay`), or both.
Either yields `Score`s. A score is a sum over `n` things (facts, probes, calls), so that shares can be pooled; a
plain quantity has n = 1. What could not be measured is not yielded: it is never a zero. A `Case` is one session at one
cut and the same for every strategy; a `Trial` is what one strategy or control made of it.
"""

from __future__ import annotations

import importlib
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, TypeVar

from compactlab import catalog, history
from compactlab.probes.hand import HandProbes
from compactlab.probes.mined import AtRisk, Presence, Use, mask
from compactlab.receipt import Receipt
from compactlab.tokens import Meter
from compactlab.transcript import Block, Messages

T = TypeVar("T")


class Score(NamedTuple):
    """One measured thing: `value` of `n`; family, use, home and group say which facts it speaks of, empty for all.

    `group` is what a metric tells its facts apart by besides: an age, an operation, a verdict. `pass_` is how many
    compactions of a replay they went through, 0 where that is not told apart.
    """

    metric: str
    value: float
    n: int = 1
    family: str = ""
    use: str = ""
    home: str = ""
    group: str = ""
    pass_: int = 0


@dataclass(frozen=True)
class Case:
    """A session at a cut: what stood before it (repaired), what followed, which facts were at risk and needed.

    `future` are the messages after the cut, as they were recorded: for what a metric finds needed by itself.
    """

    risk: AtRisk
    needed: dict[int, Use]
    hand: HandProbes
    asked: tuple[int, ...]
    meter: Meter
    future: Messages = ()

    @property
    def base(self) -> Messages:
        """The repaired messages before the cut: what every strategy is given."""
        return self.risk.base

    @cached_property
    def held(self) -> frozenset[int]:
        """Positions of the protected set without pins: what even the harshest control keeps."""
        return history.protected(self.base, pins=False)

    @cached_property
    def protected(self) -> Messages:
        """The messages of `held`, in order."""
        return tuple(message for i, message in enumerate(self.base) if i in self.held)

    @cached_property
    def free(self) -> tuple[tuple[int, ...], ...]:
        """The units outside the protected set, in order."""
        return tuple(unit for unit in history.units(self.base) if self.held.isdisjoint(unit))

    @cached_property
    def tokens(self) -> int:
        """Weight before compaction."""
        return self.meter.messages(self.base)

    @cached_property
    def risk_groups(self) -> list[tuple[str, str, int, int]]:
        """Facts at risk by (family, home): the group, its bit set, its size."""
        groups: dict[tuple[str, str], list[int]] = defaultdict(list)
        for fact in self.risk.anchors:
            groups[self.risk.facts[fact].family, self.risk.home(fact)].append(fact)
        return [(family, home, mask(facts), len(facts)) for (family, home), facts in sorted(groups.items())]

    @cached_property
    def needed_groups(self) -> list[tuple[str, str, str, int, int]]:
        """Load-bearing facts by (family, use, home): the group, its bit set, its size."""
        groups: dict[tuple[str, str, str], list[int]] = defaultdict(list)
        for fact, use in self.needed.items():
            groups[self.risk.facts[fact].family, use.kind, self.risk.home(fact)].append(fact)
        return [(family, use, home, mask(facts), len(facts)) for (family, use, home), facts in sorted(groups.items())]

    @cached_property
    def own(self) -> frozenset[Block]:
        """The blocks that stood before: any other block of a result was made or edited by the compaction."""
        return frozenset(block for message in self.base for block in message.blocks)

    @cached_property
    def _kept(self) -> dict[Hashable, Any]:
        return {}

    def cached(self, name: Hashable, make: Callable[[], T]) -> T:
        """What *make* gives, made once a case: for what looks at the same things again and again."""
        if name not in self._kept:
            self._kept[name] = make()
        kept: T = self._kept[name]
        return kept


@dataclass(frozen=True)
class Trial:
    """What a strategy (with a receipt) or a control (without) left of a case."""

    case: Case
    messages: Messages
    receipt: Receipt | None = None

    @cached_property
    def presence(self) -> Presence:
        """Which facts at risk are still there."""
        return self.presence_in(self.case.risk)

    def presence_in(self, risk: AtRisk) -> Presence:
        """Which facts of *risk*, the case's own or another miner's, are still there."""
        return risk.presence(self.messages)

    @cached_property
    def made(self) -> tuple[Block, ...]:
        """The blocks that the compaction made or edited, in order: notes, summaries, cleared and shortened results."""
        own = self.case.own
        return tuple(block for message in self.messages for block in message.blocks if block not in own)

    @cached_property
    def tokens(self) -> int:
        """Weight after compaction, by the meter of the case."""
        return self.case.meter.messages(self.messages)


def measure(trial: Trial, metrics: Iterable[str] = ()) -> Iterator[Score]:
    """Run *metrics*, or every metric of the folder, on a trial, in the order of their names."""
    for name in metrics or catalog.names("metrics"):
        module = importlib.import_module(f"{__name__}.{name}")
        if hasattr(module, "measure"):
            yield from module.measure(trial)
