"""M10, decay over passes: what a session still holds after one, two and more compactions, and how long facts live.

A use counts where an applied fire lies between it and the last time that the fact was told (see `replay.Use`).
R_k is the share of the uses whose fact went through k fires and was still in what was sent at that turn: `decay_loose`
anywhere, `decay_bound` near a word that tells what it is about. `pass_` is k; 5 stands for five and more. A report
makes of them R_1, the drift = mean over k >= 2 of R_k / R_1, and the cliff of a family, the smallest k with R_k < 0.5.

`life_lost` counts, of the lives that ended or were censored after `pass_` fires, those that the last of these lost:
what a Kaplan-Meier curve is made of (`compactlab.survival`). `depth` is the recompression depth: the fires that facts
went through which were not lost. `supplied_again` counts facts that someone else told again before the agent used them:
they are no uses. Formulas: M10 of the metrics page; the lives are those of Kaplan and Meier (1958).

>>> from compactlab.replay import Life, Use
>>> told = [Use(fact, "path", "action", "irrecoverable", 9, 1, True, fact == 0) for fact in (0, 1)]
>>> [(score.metric, score.value, score.n, score.pass_) for score in of_uses(told)]
[('decay_loose', 2.0, 2, 1), ('decay_bound', 1.0, 2, 1)]
>>> lived = [Life("path", 2, lost=True), Life("path", 2, lost=False)]
>>> [(score.metric, score.value, score.n, score.pass_) for score in of_lives(lived)]
[('life_lost', 1.0, 2, 2), ('depth', 2.0, 1, 0)]
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from compactlab.metrics import Score
from compactlab.replay import Life, Replay, Use

MANY = 5
"""From so many passes on, uses are counted together."""


def replayed(replay: Replay) -> Iterator[Score]:
    """Yield what was kept of the uses by family, kind, home and passes, and the lives by family and passes."""
    yield from of_uses(replay.uses)
    yield from of_lives(replay.lives)
    recurring = replay.supplied + len(replay.uses)
    if recurring:
        yield Score("supplied_again", float(replay.supplied), recurring)


def of_uses(uses: Iterable[Use]) -> Iterator[Score]:
    """Yield loose and bound retention of each group of uses."""
    uses = tuple(uses)
    of = [(use.family, use.kind, use.home, min(use.passes, MANY)) for use in uses]
    counts = Counter(of)
    loose = Counter(group for group, use in zip(of, uses, strict=True) if use.loose)
    bound = Counter(group for group, use in zip(of, uses, strict=True) if use.bound)
    for group, n in sorted(counts.items()):
        family, kind, home, passes = group
        yield Score("decay_loose", float(loose[group]), n, family, kind, home, pass_=passes)
        yield Score("decay_bound", float(bound[group]), n, family, kind, home, pass_=passes)


def of_lives(lives: Iterable[Life]) -> Iterator[Score]:
    """Yield the lives that were lost by family and passes, and how deep those went that were not."""
    ended = Counter(lives)
    for family, passes in sorted({(life.family, life.passes) for life in ended}):
        lost = ended[Life(family, passes, lost=True)]
        yield Score("life_lost", float(lost), lost + ended[Life(family, passes, lost=False)], family, pass_=passes)
    depths: Counter[str] = Counter()
    survivors: Counter[str] = Counter()
    for life, n in ended.items():
        if not life.lost:
            depths[life.family] += life.passes * n
            survivors[life.family] += n
    for family, n in sorted(survivors.items()):
        yield Score("depth", float(depths[family]), n, family)
