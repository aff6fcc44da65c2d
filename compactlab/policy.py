"""Which strategy runs at which mark of pressure: the policy of an agent, written as one spec.

`none` is the policy of an agent whose context nobody compacts. A strategy alone runs at the lowest mark of the type of
agent; `STRATEGY@MARK` at a mark of its own; several are joined by `+`, from the lowest mark to the highest.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from compactlab import catalog
from compactlab.errors import SpecError
from compactlab.pressure import Marks
from compactlab.strategies import Strategy

MARKED = "microcompact@0.8+cull@0.9+summary@0.95"
"""One strategy at each of the three marks, from the cheapest to the most disruptive, as the seed document climbs."""

EXPECTED = f"expected none, STRATEGY, STRATEGY@MARK, or several joined by + with rising marks, such as {MARKED}"
_TOKEN = re.compile(r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|.""", re.DOTALL)


class Step(NamedTuple):
    """A strategy, and the mark at which it runs: a share of the window, or None for the lowest of the agent type."""

    mark: float | None
    strategy: Strategy

    @property
    def spec(self) -> str:
        """The step as it is written."""
        return repr(self.strategy) if self.mark is None else f"{self.strategy!r}@{self.mark!r}"


@dataclass(frozen=True, repr=False)
class Policy:
    """Steps with rising marks; none at all is the policy `none`. A step without a mark stands alone.

    >>> policy(MARKED).at(Marks())
    {0.8: microcompact, 0.9: cull, 0.95: summary}
    >>> policy("sliding_window(preserve_recent=20)").at(Marks((0.6, 0.9)))
    {0.6: sliding_window(preserve_recent=20)}
    """

    steps: tuple[Step, ...] = ()

    def __post_init__(self) -> None:
        """Refuse marks that are no shares of the window or do not rise, and a step without one among others."""
        marks = [step.mark for step in self.steps]
        if any(step.strategy.name == "none" for step in self.steps):
            raise SpecError(f"policy {self!r}: none compacts nothing and stands alone; {EXPECTED}")
        for mark in marks:
            if mark is not None and not 0 < mark < 1:
                raise SpecError(f"mark {mark!r}: expected a share of the window above 0 and below 1, such as 0.85")
        if len(marks) > 1 and None in marks:
            raise SpecError(f"policy {self!r}: of several strategies each has a mark; {EXPECTED}")
        if not all(low < high for low, high in pairwise(mark for mark in marks if mark is not None)):
            raise SpecError(f"policy {self!r}: the marks do not rise; {EXPECTED}")

    def __repr__(self) -> str:
        """Write the spec, which `policy` reads back."""
        return "+".join(step.spec for step in self.steps) or "none"

    @property
    def name(self) -> str:
        """The names of its strategies, without parameters and marks."""
        return "+".join(step.strategy.name for step in self.steps) or "none"

    @property
    def uses_model(self) -> bool:
        """True if one of its strategies calls a model."""
        return any(step.strategy.uses_model for step in self.steps)

    @property
    def stochastic(self) -> bool:
        """True if one of its strategies draws by a seed."""
        return any(step.strategy.stochastic for step in self.steps)

    def at(self, marks: Marks) -> dict[float, Strategy]:
        """Give each strategy by its mark, rising; *marks* are those of the type of agent."""
        return {marks.values[0] if step.mark is None else step.mark: step.strategy for step in self.steps}


def policy(spec: str | Strategy | Policy) -> Policy:
    """Build a policy from its spec, or from a strategy that runs at the lowest mark.

    Raises `SpecError` for a spec of wrong form and `UnknownName` for a strategy that does not exist.

    >>> policy("microcompact@.8 + ladder(cull, sliding_window)@0.95")
    microcompact@0.8+ladder(cull, sliding_window)@0.95
    >>> policy("none").steps
    ()
    """
    if isinstance(spec, Policy):
        return spec
    if isinstance(spec, Strategy):
        return _made((Step(None, spec),))
    parts = list(_cut(spec, "+"))
    if not all(part.strip() for part in parts):
        raise SpecError(f"policy {spec!r}: a strategy is missing; {EXPECTED}")
    return _made(tuple(_step(part, spec) for part in parts))


def _made(steps: tuple[Step, ...]) -> Policy:
    is_none = len(steps) == 1 and steps[0].mark is None and steps[0].strategy.name == "none"
    return Policy(() if is_none else steps)


def _step(part: str, spec: str) -> Step:
    """Read `STRATEGY` or `STRATEGY@MARK`."""
    strategy, *marks = _cut(part, "@")
    if len(marks) > 1:
        raise SpecError(f"policy {spec!r}: {part.strip()!r} has several marks; {EXPECTED}")
    built = catalog.strategy(strategy)
    if not marks:
        return Step(None, built)
    try:
        mark = float(marks[0])
    except ValueError:
        raise SpecError(f"policy {spec!r}: mark {marks[0].strip()!r} is no number; {EXPECTED}") from None
    return Step(mark, built)


def _cut(text: str, sign: str) -> Iterator[str]:
    """Cut a text at each *sign* that stands outside of brackets and quotes.

    >>> list(_cut("ladder(a+b)+cull", "+"))
    ['ladder(a+b)', 'cull']
    """
    depth, start = 0, 0
    for token in _TOKEN.finditer(text):
        if token[0] in "([{":
            depth += 1
        elif token[0] in ")]}":
            depth -= 1
        elif token[0] == sign and depth <= 0:
            yield text[start : token.start()]
            start = token.end()
    yield text[start:]
