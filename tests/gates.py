"""Small runs for the gate, each made once: five couriers and five wardens (see `corpora`), compacted at one place."""

from dataclasses import dataclass
from functools import cache
from random import Random
from typing import ClassVar

import corpora
import runs

from compactlab.gate import Options, Rule, accepted
from compactlab.harness import Settings, run
from compactlab.history import units
from compactlab.strategies import Compacted, Strategy, note

STRATEGIES = ("none", "microcompact", "sliding_window")
RULE = Rule(("irrecoverable", "bound", "saved"), {"saved": 0.1})
CUT = (0.6,)


@dataclass(frozen=True, repr=False)
class Breaks(Strategy):
    """Fails where the conversation speaks of `word`."""

    word: str = ""
    keep: int = 10

    def compact(self, messages, _context):
        if self.word and any(self.word in message.text for message in messages):
            raise ValueError("it broke")
        return Compacted((*messages[:1], *messages[-self.keep :]))


@dataclass(frozen=True, repr=False)
class Wavers(Strategy):
    """Says that it leaves nothing to chance, and keeps another tail each time that it is called."""

    calls: ClassVar[list[int]] = []

    def compact(self, messages, _context):
        self.calls.append(0)
        return Compacted((*messages[:1], *messages[-10 - len(self.calls) :]))


@dataclass(frozen=True, repr=False)
class Draws(Strategy):
    """Keeps each unit with the chance `keep`, by the seed of its context."""

    keep: float = 0.5
    stochastic: ClassVar[bool] = True

    def compact(self, messages, context):
        draw = Random(context.seed)
        return Compacted([messages[i] for unit in units(messages) if draw.random() < self.keep for i in unit])


@dataclass(frozen=True, repr=False)
class Swells(Strategy):
    """Gives back more than there was."""

    def compact(self, messages, _context):
        return Compacted((*messages, note("more " * 500)))


def renamed(old, new):
    """Options by which one strategy stands for another."""
    return Options(renamed={old: new})


@cache
def sessions(of_each=5):
    """The folder of the corpus."""
    return corpora.corpus(runs.scratch() / f"gate-{of_each}", of_each)


@cache
def made(*strategies, of_each=5, **settings):
    """A run of these strategies, the same again where it was made before."""
    out = runs.scratch() / f"gate-run-{len(list(runs.scratch().iterdir()))}"
    given = {"strategies": strategies or STRATEGIES, "cuts": CUT, "counter": "chars/4", "jobs": 1, **settings}
    return run(sessions(of_each), out, Settings(**given))


@cache
def baseline(*strategies, of_each=5, rule=None, **settings):
    """The baseline of such a run."""
    return accepted(made(*strategies, of_each=of_each, **settings), RULES.get(rule, RULE))


RULES = {"lenient": Rule(("irrecoverable",), {}, {"irrecoverable": 1_000})}
