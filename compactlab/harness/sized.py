"""Controls cut to the very size of a strategy's result: random units and lines, likely lines, the best of blocks."""

from __future__ import annotations

from typing import NamedTuple

from compactlab import metrics
from compactlab.controls import oracle, random_lines, regex_lines
from compactlab.controls import random as random_units
from compactlab.metrics import Case, Score, Trial
from compactlab.records import Key

DRAWS = 20
DRAWN = {"random": random_units.trial, "random_lines": random_lines.trial}
CHOSEN = {"regex_lines": regex_lines.trial, "oracle": oracle.trial}
OF_A_SIZE = (*DRAWN, *CHOSEN)


class Control(NamedTuple):
    """The scores of a control, and of how many draws they are the mean."""

    scores: list[Score]
    draws: int


def of_size(case: Case, key: Key, seed: int, tokens: int) -> Control:
    """Measure the control that *key* names at the size of *tokens*; strategies that come to one size share it."""
    scores = case.cached(f"{key.strategy} of {tokens} tokens", lambda: _scores(case, key, seed, tokens))
    return Control(scores, DRAWS if key.strategy in DRAWN and tokens < case.tokens else 1)


def _scores(case: Case, key: Key, seed: int, tokens: int) -> list[Score]:
    """The scores of a control; of a drawn one the mean of its draws, score by score.

    The draws of a cut are the same for every strategy, each cut off at another size: their differences are paired.
    """
    if tokens >= case.tokens:
        return _compared_by(Trial(case, case.base))
    if key.strategy in CHOSEN:
        return _compared_by(CHOSEN[key.strategy](case, tokens))
    draw = DRAWN[key.strategy]
    drawn = [_compared_by(draw(case, tokens, f"{seed}|{key.session}|{key.cut}|{n}")) for n in range(DRAWS)]
    means = [round(sum(score.value for score in scores) / DRAWS, 6) for scores in zip(*drawn, strict=True)]
    return [score._replace(value=mean) for score, mean in zip(drawn[0], means, strict=True)]


def _compared_by(trial: Trial) -> list[Score]:
    """What is recorded of a control that has a strategy's size: what the strategy is compared by, and the size."""
    scores = metrics.measure(trial, ("load_bearing", "second_miner", "tokens"))
    return [score for score in scores if not score.metric.endswith("_loose")]
