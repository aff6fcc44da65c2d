"""Findings 11 and 12: how far rankings of methods agree between cuts and sessions, and where half of the weight falls.

Agreement is Kendall's tau-b (Kendall 1945), which takes ties into account.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from math import sqrt
from statistics import median
from typing import NamedTuple

from compactlab.study.finding import Finding, judged, known, mean, ratio, spread
from compactlab.study.session import BUDGETS, METHODS, SHARES, Scores, Session, position
from compactlab.tools import is_read_only

BAR = "regex_lines"
AGREE = 0.7
"""Tau from which two rankings would agree well."""
EARLY = 1 / 3
"""Share of the messages before which half of the weight falls early."""
PLAIN = ("sliding_window", "random", "random_lines", "regex_lines", "prose_first")
"""Methods without a model and without a ledger, as the study had them."""


class Seen(NamedTuple):
    """What one session shows: the scores of its cells by share of the weight, and where half of its weight falls.

    `in_characters` holds the plain methods alone, at sizes counted in characters. `half` is the share of the messages
    that stand before half of the weight, `reading` the shares of read-only calls before and after it.
    """

    session: str
    cluster: str
    scores: dict[float, Scores]
    in_characters: dict[float, Scores]
    half: float | None
    reading: tuple[float | None, float | None]


def look(session: Session) -> Seen:
    """Look at one session."""
    messages = session.transcript.messages
    half = position(session.transcript, 0.5, session.meter)
    calls = [[is_read_only(c) for m in part for c in m.calls] for part in (messages[:half], messages[half:])]
    return Seen(
        session=session.transcript.id,
        cluster=session.cluster,
        scores={cell.share: cell.scores for cell in session.cells},
        in_characters={cell.share: cell.scored(PLAIN, 5) for cell in replace(session, counter="chars/4").cells},
        half=None if half is None else half / len(messages),
        reading=(ratio(sum(calls[0]), len(calls[0])), ratio(sum(calls[1]), len(calls[1]))),
    )


def tau(one: Sequence[float], other: Sequence[float]) -> float | None:
    """Kendall's tau-b of two lists of scores of the same things; None where one of them ranks nothing.

    >>> tau([0.1, 0.2, 0.3], [1, 2, 3]), tau([0.1, 0.2, 0.3], [3, 1, 2]), tau([1, 1], [1, 2])
    (1.0, -0.3333333333333333, None)
    """
    agree = ranked = ranked_too = 0
    for i, j in combinations(range(len(one)), 2):
        first, second = _sign(one[i] - one[j]), _sign(other[i] - other[j])
        agree += first * second
        ranked += first != 0
        ranked_too += second != 0
    return agree / sqrt(ranked * ranked_too) if ranked and ranked_too else None


def _sign(difference: float) -> int:
    return (difference > 1e-9) - (difference < -1e-9)


def agreement(one: Scores, other: Scores, budget: str, *, bound: bool) -> float | None:
    """Tau of the methods that met *budget* in both of two cells."""
    both = [m for m in METHODS if (budget, m) in one and (budget, m) in other]
    values = [[scores[budget, m].bound if bound else scores[budget, m].loose for m in both] for scores in (one, other)]
    return tau(*values)


def findings(looked: Sequence[Seen]) -> list[Finding]:
    """Findings 11 and 12 of all sessions."""
    return [_eleventh(looked), _twelfth(looked)]


def across_cuts(looked: Sequence[Seen], *, bound: bool = False) -> list[float]:
    """By budget the mean agreement of the two cuts of a session."""
    both = [seen.scores for seen in looked if len(seen.scores) == len(SHARES)]
    means = (mean(known(agreement(cuts[SHARES[0]], cuts[SHARES[1]], b, bound=bound) for cuts in both)) for b in BUDGETS)
    return known(means)


def across_sessions(looked: Sequence[Seen], *, bound: bool = False) -> list[float]:
    """By budget the mean agreement of two sessions of different stories at the same cut."""
    pairs = [(a, b) for a, b in combinations(looked, 2) if a.cluster != b.cluster]
    means = (
        mean(
            known(
                agreement(a.scores[share], b.scores[share], budget, bound=bound)
                for a, b in pairs
                for share in a.scores.keys() & b.scores.keys()
            )
        )
        for budget in BUDGETS
    )
    return known(means)


def wins(cells: Sequence[Scores], *, bound: bool = False) -> tuple[int, int]:
    """In how many cells, at any budget, no method kept more than the lines that look like facts; of how many."""
    won = of = 0
    for scores in cells:
        for budget in BUDGETS:
            ranked = {m: s.bound if bound else s.loose for (b, m), s in scores.items() if b == budget}
            if BAR in ranked:
                of += 1
                won += ranked[BAR] >= max(ranked.values()) - 1e-9
    return won, of


def best_means(cells: Sequence[Scores], methods: Sequence[str]) -> tuple[int, int]:
    """At how many budgets the mean of the lines that look like facts is the highest; of how many that all can meet."""
    first = of = 0
    for budget in BUDGETS:
        whole = [scores for scores in cells if all((budget, method) in scores for method in methods)]
        means = {method: mean(scores[budget, method].loose for scores in whole) or 0.0 for method in methods}
        of += bool(whole)
        first += bool(whole) and means[BAR] == max(means.values())
    return first, of


def _eleventh(looked: Sequence[Seen]) -> Finding:
    cells = [scores for seen in looked for scores in seen.scores.values()]
    plain = [scores for seen in looked for scores in seen.in_characters.values()]
    cuts, sessions = across_cuts(looked), across_sessions(looked)
    won, of = wins(cells)
    numbers = [
        spread(cuts),
        spread(sessions),
        spread(across_cuts(looked, bound=True)),
        spread(across_sessions(looked, bound=True)),
        wins(plain),
        best_means(plain, PLAIN),
        (won, of),
        best_means(cells, METHODS),
        wins(cells, bound=True),
    ]
    if not cuts or not sessions:
        return judged(11, numbers, holds=None)
    return judged(11, numbers, holds=max(sessions) < AGREE and won / of > 1 / len(METHODS))


def _twelfth(looked: Sequence[Seen]) -> Finding:
    halves = known(seen.half for seen in looked)
    reading = [mean(known(seen.reading[at] for seen in looked)) for at in (0, 1)]
    middle = median(halves) if halves else None
    low, high = spread(halves)
    return judged(12, [(low, middle, high), reading], holds=None if low is None else low < EARLY)
