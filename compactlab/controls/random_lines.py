"""`random_lines`: the protected set and random lines of all else, up to the very size of a strategy's result."""

from __future__ import annotations

from random import Random

import numpy as np

from compactlab.controls._lines import Line, chosen, lines_of, ranked
from compactlab.controls._lines import trial as trial_of
from compactlab.metrics import Case, Trial
from compactlab.transcript import Messages


def build(case: Case, tokens: int, draw: Random) -> Messages:
    """Keep random lines up to *tokens* in all; the same seed gives the same draw in every process."""
    lines = lines_of(case)
    return chosen(case, (lines[at] for at in _shuffled(lines, draw)), tokens)


def trial(case: Case, tokens: int, seed: str) -> Trial:
    """What `build` makes of `Random(seed)`, ready to be scored: nothing is built but the line that is cut."""
    ranking = ranked(case, f"random_lines {seed}", lambda lines: _shuffled(lines, Random(seed)))
    return trial_of(case, tokens, ranking, lambda: build(case, tokens, Random(seed)))


def _shuffled(lines: list[Line], draw: Random) -> list[int]:
    """The lines in random order, by number: each in its turn changes places with one of those before it, or none."""
    order = list(range(len(lines)))
    shares = np.array([draw.random() for _ in order])
    partners = (shares * np.arange(len(order), 0, -1)).astype(np.int64).tolist()
    for last, at in zip(range(len(order) - 1, -1, -1), partners, strict=True):
        order[at], order[last] = order[last], order[at]
    return order[::-1]
