"""Strategies that each break one thing that every strategy must keep to, and one that breaks nothing."""

import itertools
from dataclasses import dataclass

from msgspec.structs import replace

from compactlab import Compacted, Context, Strategy, Text
from compactlab.strategies import note

CALLS = itertools.count()


@dataclass(frozen=True, repr=False)
class EveryOther(Strategy):
    """Keep the last of each `step` old messages."""

    step: int = 2

    def compact(self, messages, context: Context) -> Compacted:  # noqa: ARG002
        return Compacted([*messages[: -10 : self.step], *messages[-10:]] if len(messages) > 40 else messages)


@dataclass(frozen=True, repr=False)
class LastTen(Strategy):
    """Keep the newest messages, whatever else."""

    keep: int = 10

    def compact(self, messages, context: Context) -> Compacted:  # noqa: ARG002
        return Compacted(messages[-self.keep :])


@dataclass(frozen=True, repr=False)
class Falls(LastTen):
    """Fail where there is nothing to keep."""

    def compact(self, messages, context: Context) -> Compacted:  # noqa: ARG002
        assert messages[0].role in {"system", "user"}
        return Compacted(messages[-self.keep :])


@dataclass(frozen=True, repr=False)
class Remembers(LastTen):
    """Keep another number at each call."""

    def compact(self, messages, context: Context) -> Compacted:  # noqa: ARG002
        return Compacted(messages[-(self.keep + next(CALLS) % 7) :])


@dataclass(frozen=True, repr=False)
class Hashes(LastTen):
    """Write a set of words down in its order, which is another one in all but a few of 40,320 processes."""

    def compact(self, messages, context: Context) -> Compacted:  # noqa: ARG002
        words = {"alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta"}
        return Compacted((note(" ".join(words)), *messages[-self.keep :]))


@dataclass(frozen=True, repr=False)
class ReadsLabels(LastTen):
    """Go by the clock of the recording."""

    def compact(self, messages, context: Context) -> Compacted:  # noqa: ARG002
        return Compacted([m for m in messages if m.timestamp is None][-self.keep :])


@dataclass(frozen=True, repr=False)
class Nibbles(LastTen):
    """Halve the longest text, each time again."""

    def compact(self, messages, context: Context) -> Compacted:  # noqa: ARG002
        return Compacted([replace(m, blocks=tuple(map(self.halved, m.blocks))) for m in messages])

    def halved(self, block):
        return Text(block.text[: len(block.text) // 2]) if isinstance(block, Text) else block


@dataclass(frozen=True, repr=False)
class Grows(LastTen):
    """Write more than it takes away."""

    def compact(self, messages, context: Context) -> Compacted:  # noqa: ARG002
        return Compacted([note("word " * 200_000), *messages[-self.keep :]])


@dataclass(frozen=True, repr=False)
class WeighsAll(LastTen):
    """Weigh all that is left after each message."""

    def compact(self, messages, context: Context) -> Compacted:
        for start in range(len(messages)):
            context.meter.messages(messages[start:])
        return Compacted(messages[-self.keep :])


class Bare(Strategy):
    """Forget that it is a dataclass."""

    keep: int = 10

    def compact(self, messages, context: Context) -> Compacted:  # noqa: ARG002
        return Compacted(messages[-self.keep :])


@dataclass(frozen=True, repr=False)
class Mumbles(LastTen):
    """Say a name that no one can read back."""

    def __repr__(self) -> str:
        return "mumble"


@dataclass(frozen=True, repr=False)
class Refuses(LastTen):
    """Fail on every list."""

    def compact(self, messages, context: Context) -> Compacted:  # noqa: ARG002
        raise RuntimeError("no\x1b[31m more")
