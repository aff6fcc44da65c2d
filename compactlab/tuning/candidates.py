"""The policies that are tried: which strategy at which mark with which parameters; and which of two is simpler.

A policy of the space has at most two steps. The first clears old tool results and nothing else (`microcompact`); the
second slides, with or without something written down. Either may be missing; with neither it is `none`, which every
search tries. The marks rise. Strategies that ask a model, or the stand-in written by code, may be left out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import product

from compactlab.policy import Policy, Step, policy
from compactlab.pressure import Marks

NONE = "none"
CLEARING = ("microcompact",)
SLIDING = ("sliding_window", "key_value")
WRITING = ("sliding_reflect", "summary")
KEEP_RECENT = (5, 10, 40)
PRESERVE_RECENT = (2, 10, 40, 80)
KV_TARGET = 64
EARLY = (0.5, 0.7)
MARKS = (*EARLY, 0.8, 0.9, 0.95)
RANK = ("cull", *CLEARING, *SLIDING, *WRITING, "ladder")
"""Strategies from the one that does least to a history to the one that does most."""

Choice = Mapping[str, int]
"""A point of the space: for each dimension the index of its value."""


@dataclass(frozen=True)
class Space:
    """All policies that a search may try; *writes* lets strategies in that ask for text to be written.

    >>> space = Space()
    >>> len(space.policies), len(Space(writes=False).policies)
    (432, 224)
    >>> space.policies[0], space.policies[-1]
    ('none', 'microcompact(keep_recent=40)@0.5+summary(preserve_recent=80)@0.7')
    """

    writes: bool = True

    @property
    def dimensions(self) -> dict[str, int]:
        """The names of the dimensions and how many values each has."""
        return {
            "first": 1 + len(CLEARING) * len(KEEP_RECENT),
            "first_mark": len(EARLY),
            "second": 1 + len(self._second),
            "second_mark": len(MARKS),
        }

    @cached_property
    def _first(self) -> list[str]:
        return [_spec(name, {"keep_recent": keep}) for name, keep in product(CLEARING, KEEP_RECENT)]

    @cached_property
    def _second(self) -> list[str]:
        found = []
        for name in (*SLIDING, *(WRITING if self.writes else ())):
            size = {"kv_target": KV_TARGET} if name == "key_value" else {}
            found += [_spec(name, size | {"preserve_recent": kept}) for kept in PRESERVE_RECENT]
        return found

    @cached_property
    def policies(self) -> tuple[str, ...]:
        """Every policy of the space once, the simpler ones first."""
        found = dict.fromkeys(
            self.at(dict(zip(self.dimensions, point, strict=True)))
            for point in product(*(range(size) for size in self.dimensions.values()))
        )
        found |= dict.fromkeys(_at(step, mark) for step, mark in product(self._first, MARKS))
        return tuple(sorted(found, key=complexity))

    def at(self, choice: Choice) -> str:
        """The policy at a point; marks that do not rise are mended: the first step stays at a mark below the second.

        >>> Space().at({"first": 1, "first_mark": 1, "second": 1, "second_mark": 1})
        'microcompact@0.5+sliding_window(preserve_recent=2)@0.7'
        """
        first = [NONE, *self._first][choice["first"]]
        second = [NONE, *self._second][choice["second"]]
        early, late = EARLY[choice["first_mark"]], MARKS[choice["second_mark"]]
        if second == NONE:
            return first if first == NONE else _at(first, early)
        below = [mark for mark in EARLY if mark < late]
        if first == NONE or not below:
            return _at(second, late)
        return f"{_at(first, early if early < late else below[-1])}+{_at(second, late)}"

    @property
    def starts(self) -> list[Choice]:
        """Where a search begins: nothing at all, and each kind of step alone and both together, at usual marks."""
        usual = {"first_mark": EARLY.index(0.7), "second_mark": MARKS.index(0.8)}
        first, second = self.dimensions["first"], self.dimensions["second"]
        pairs = [(0, 0), *((i, 0) for i in range(1, first)), *((0, i) for i in range(1, second)), (first - 1, 1)]
        return [{"first": i, "second": j} | usual for i, j in pairs]


def _spec(name: str, parameters: Mapping[str, int]) -> str:
    given = ", ".join(f"{key}={value}" for key, value in parameters.items())
    return repr(policy(f"{name}({given})"))


def _at(spec: str, mark: float) -> str:
    return repr(policy(f"{spec}@{mark!r}"))


def with_mark(given: str | Policy, marks: Marks) -> str:
    """A policy with the mark of its step written out: one without a mark runs at the lowest of the type of agent.

    >>> with_mark("sliding_window(preserve_recent=2)", Marks())
    'sliding_window(preserve_recent=2)@0.8'
    """
    built = policy(given)
    return repr(Policy(tuple(Step(mark, strategy) for mark, strategy in built.at(marks).items())))


@cache
def complexity(spec: str) -> tuple[int, bool, tuple[int, ...], int, tuple[float, ...], str]:
    """What makes one policy simpler than another, for `min`: steps, whether a model is asked, what the strategies do,
    how many parameters are not the default ones; then the later mark, the spec.

    >>> min(["sliding_window@0.8", "none", "microcompact@0.8+cull@0.9"], key=complexity)
    'none'
    >>> min(["summary@0.8", "key_value@0.8", "sliding_window(preserve_recent=4)@0.8"], key=complexity)
    'sliding_window(preserve_recent=4)@0.8'
    """
    built = policy(spec)
    steps = [step.strategy for step in built.steps]
    ranks = sorted((RANK.index(s.name) if s.name in RANK else len(RANK) for s in steps), reverse=True)
    changed = sum(repr(s) != s.name and repr(s).count("=") for s in steps)
    later = tuple(-(step.mark or 0.0) for step in reversed(built.steps))
    return (len(steps), built.uses_model, tuple(ranks), changed, later, repr(built))


def listed(specs: Sequence[str]) -> tuple[str, ...]:
    """Candidates that a person names, each once, `none` among them whatever was named."""
    return tuple(sorted(dict.fromkeys([NONE, *(repr(policy(spec)) for spec in specs)]), key=complexity))
