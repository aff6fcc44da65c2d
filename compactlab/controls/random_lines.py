"""`random_lines`: the protected set and random lines of all else, up to the very size of a strategy's result."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from compactlab.controls._lines import Line, chosen, lines_of
from compactlab.metrics import Case
from compactlab.transcript import Messages


def build(case: Case, tokens: int, draw: Random) -> Messages:
    """Keep random lines up to *tokens* in all; the same seed gives the same draw in every process."""
    lines = case.cached("lines", lambda: lines_of(case))
    return chosen(case, _shuffled(lines, draw), tokens)


def _shuffled(lines: list[Line], draw: Random) -> Iterator[Line]:
    """The lines in random order, drawn one at a time: a small result does not shuffle a long history."""
    rest = list(range(len(lines)))
    for last in range(len(rest) - 1, -1, -1):
        at = int(draw.random() * (last + 1))
        rest[at], rest[last] = rest[last], rest[at]
        yield lines[rest[last]]
