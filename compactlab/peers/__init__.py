"""Peers: what other harnesses do when their context is full, one a file, from their published behaviour.

Each is a strategy like ours, with the constants of the original as its fields, and its faults with them: a fault that
is known stands in the module's docstring under `Known faults` and is shown by a test. The guard repairs or rejects what
they give, as it does for any strategy; with `guard='off'` it stands as it was given, and whether a provider would take
it is then a result (`valid` in the table). `VARIANTS` of a module are further specs that `--peers all` runs.

What all of them share here:

- They count by their own rule (characters over four, and the like), not by the meter of the run.
- A peer asks when its own trigger is reached; here somebody else decides that, so a pass is always one that was called
  for. Where the context names a window, thresholds are shares of it as published. Where it names none, the pass is
  taken to stand at the peer's trigger: its threshold is what the messages weigh now.
- A target of tokens takes the place of the threshold or of the goal, where the original has one; the others pass it by.
- The leading system messages are the system prompt, which most harnesses keep beside the messages.
- Prompts are in our own words and ask for the same parts. A reply is taken as the original takes it, unchecked.
- No clock, hooks, disk, background task or session store: what a peer keeps there is left out.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import ClassVar, Literal

from compactlab.errors import SpecError
from compactlab.strategies import Strategy

Guarding = Literal["on", "off"]


@dataclass(frozen=True, repr=False)
class Peer(Strategy):
    """Base of every peer: a strategy whose result stands as it is where `guard` is `off`."""

    guard: Guarding = field(default="on", kw_only=True)

    choices: ClassVar[dict[str, tuple[str, ...]]] = {}

    def __post_init__(self) -> None:
        """Refuse values that are not of the type of the default, negative numbers, and words that are no choice."""
        for one in fields(self):
            self._check(one.name, one.default)

    def _check(self, name: str, default: object) -> None:
        value = getattr(self, name)
        if isinstance(default, bool):
            if not isinstance(value, bool):
                raise SpecError(f"{name} is {value!r}; expected True or False")
        elif isinstance(default, int):
            self.require_whole(name)
        elif isinstance(default, float):
            if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 10:
                raise SpecError(f"{name} is {value!r}; expected a number from 0 to 10")
        elif isinstance(default, str):
            known = {**self.choices, "guard": ("on", "off")}.get(name, ())
            if known and value not in known:
                raise SpecError(f"{name} is {value!r}; expected one of {', '.join(known)}")

    @property
    def guarded(self) -> bool:
        """False where the guard is to apply the result as it is."""
        return self.guard == "on"

    @property
    def name(self) -> str:
        """The catalog name: the module's own."""
        package, _, module = type(self).__module__.rpartition(".")
        return module if package == __name__ else super().name
