"""The blocks of a cut: which strategy or control, of whose size, at which budget, which repetition."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from compactlab.harness.sized import OF_A_SIZE
from compactlab.strategies import Strategy

CONTROLS = (*OF_A_SIZE, "bag", "null")


class Label(NamedTuple):
    """A block of a cut: strategy or control, for a control of a strategy's size whose, the budget, the repetition."""

    strategy: str
    size_of: str = ""
    budget: str = ""
    replicate: int = 0


def once(_: Strategy) -> int:
    """How often a strategy is run that leaves nothing to chance."""
    return 1


def labels(
    strategies: Sequence[Strategy], budgets: Sequence[str], times: Callable[[Strategy], int] = once
) -> list[Label]:
    """The blocks of one cut, each strategy as many *times* as it is run. `none`, the ceiling, meets no budget and
    stands once.
    """
    rows = [Label("facts"), *(Label(repr(s)) for s in strategies if s.name == "none")]
    for budget in budgets or ("",):
        for strategy in (strategy for strategy in strategies if strategy.name != "none"):
            spec = repr(strategy)
            for number in range(times(strategy)):
                controls = (Label(control, spec, budget, number) for control in OF_A_SIZE)
                rows += [Label(spec, "", budget, number), *controls]
    return [*rows, Label("bag"), Label("null")]
