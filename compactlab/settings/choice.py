"""What a type of agent does, and which table says so: a strategy or a policy, with its parameters.

Tables are laid over each other, the later one on top: what the seeds say, `[compaction]`, the type's own. The topmost
that names a strategy or a policy decides which; the parameters of all of them hold for it, where it has them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, NamedTuple

from compactlab import catalog
from compactlab.errors import SpecError
from compactlab.policy import Policy, Step, policy
from compactlab.settings.lines import Path

PARAMETERS = ("preserve_recent", "min_messages", "keep_recent", "kv_target")
CHOOSING = ("strategy", "policy")

# As the seed documents say; any other type of agent gets the plain slide, which needs no model.
DEFAULTS: dict[str, dict[str, Any]] = {
    "primary": {"strategy": "summary", "preserve_recent": 10},
    "subconscious": {"strategy": "sliding_reflect", "preserve_recent": 4},
    "subagent": {"strategy": "sliding_window", "preserve_recent": 2},
}
FALLBACK: dict[str, Any] = {"strategy": "sliding_window"}


class Misfit(SpecError):  # noqa: N818  # reads as what it is
    """A key that does not go with the others: which one, in the table of that path."""

    def __init__(self, table: Path, key: str, what: str) -> None:
        super().__init__(what)
        self.table, self.key = table, key


class Layer(NamedTuple):
    """The keys of one table, and its path in the file; no path where nobody's file says it."""

    keys: Mapping[str, Any]
    table: Path = ()


class Parameter(NamedTuple):
    """A parameter of the strategies that were chosen: its value, and the table and key that set it."""

    value: object
    table: Path
    key: str


@dataclass
class Choice:
    """What holds for one type: its policy, the key and the table that named it, the parameters that tables set."""

    key: str
    by: Layer
    steps: list[Step]
    parameters: dict[str, Parameter] = field(default_factory=dict)

    @property
    def policy(self) -> Policy:
        """The policy, with its parameters."""
        alone = len(self.steps) == 1 and self.steps[0].mark is None
        return policy(self.steps[0].strategy) if alone else Policy(tuple(self.steps))

    @property
    def spec(self) -> str:
        """The strategy or policy, as it was written."""
        return str(self.by.keys[self.key])

    def take(self, layer: Layer, key: str, *, is_top: bool) -> None:
        """Set the parameter *key* of a table in every step that has it."""
        value, fits = layer.keys[key], False
        for at, step in enumerate(self.steps):
            name = step.strategy.parameter_aliases.get(key, key)
            if name not in {f.name for f in fields(step.strategy)}:
                continue
            fits = True
            if self._sets({key, name}, layer, key):
                continue
            try:
                self.steps[at] = step._replace(strategy=replace(step.strategy, **{name: value}))
            except (TypeError, ValueError) as error:
                what = f"{key} = {value!r}: strategy {step.strategy.name} does not take it ({error})"
                raise Misfit(layer.table, key, what) from error
            self.parameters[name] = Parameter(value, layer.table, key)
        if is_top and not fits:
            what = f"{key} = {value!r}: {self.key} {self.spec!r} has no such parameter; {self._known}"
            raise Misfit(layer.table, key, what)

    @property
    def _known(self) -> str:
        named = {f.name for step in self.steps for f in fields(step.strategy)} & set(PARAMETERS)
        return f"expected {' or '.join(sorted(named))}" if named else "expected none"

    def _sets(self, names: set[str], layer: Layer, key: str) -> bool:
        """Whether the spec sets a parameter itself: it then wins over tables below; `Misfit` for its own table."""
        if self.by.table < layer.table or not any(re.search(rf"\b{name}\s*=", self.spec) for name in names):
            return False
        if self.by is layer:
            raise Misfit(layer.table, key, f"{key} = {layer.keys[key]!r}: {self.key} {self.spec!r} sets it too")
        return True


def chosen(layers: Sequence[Layer]) -> Choice:
    """Lay tables over each other, the last on top; `Misfit` for a key that does not go with the others.

    >>> chosen([Layer({"keep_recent": 3}), Layer({"policy": "microcompact@0.8+cull@0.9"}, ("own",))]).policy
    microcompact(keep_recent=3)@0.8+cull@0.9
    """
    by, key = next((layer, key) for layer in reversed(layers) for key in CHOOSING if key in layer.keys)
    spec = by.keys[key]
    steps = [Step(None, catalog.strategy(spec))] if key == "strategy" else list(policy(spec).steps)
    choice = Choice(key, by, steps)
    for layer in layers:
        for name in (name for name in PARAMETERS if name in layer.keys):
            choice.take(layer, name, is_top=layer is layers[-1])
    return choice
