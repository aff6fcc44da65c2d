"""M7, distortion: what text that compaction made claims and the history does not hold, and which facts it changed.

Fabrication = |values(G) - values(H)| / |values(G)|, for G the text that compaction made or edited, H the history before
the cut, over exact families: `fabricated`. A fact is **mutated** if its value stands nowhere in the result, while a
fabricated value of its family, within eight words of a content word of one of its homes, is what a slip would make of
it: a digit changed, two transposed, a number rounded, a file in another folder, another number with the same unit.
Each fabricated value speaks of one fact, the likeliest: `mutated`. A strategy that made no text is not measured.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import NamedTuple

from compactlab.facts import Fact
from compactlab.facts.text import canonical
from compactlab.matching import fold
from compactlab.metrics import Case, Score, Trial
from compactlab.probes.claims import FAMILIES, Claimed
from compactlab.probes.mined import matcher_of
from compactlab.probes.nearness import SCALES, SLIPS, slip
from compactlab.tokens import clean
from compactlab.transcript import readable

_SCALE = re.compile(rf" ?({'|'.join(SCALES)})\b")
_SLOT_WORDS = 2
"""Words that a number with the same unit must share with a home before it counts as that home's number changed."""


class Fabricated(NamedTuple):
    """A value that the history does not hold, the content words around it in made text, and its power of ten."""

    fact: Fact
    words: frozenset[str]
    scale: int


def measure(trial: Trial) -> Iterator[Score]:
    """Yield fabricated values of all in made text, and mutated facts of all at risk, by family."""
    if not trial.made:
        return
    values, invented = _values(trial)
    for family, held in sorted(values.items()):
        yield Score("fabricated", len(invented.get(family, ())), len(held), family)
    risk = trial.case.risk
    changed = Counter(risk.facts[fact].family for fact in mutated(trial))
    sizes = trial.case.cached("at risk", lambda: Counter(risk.facts[fact].family for fact in risk.anchors))
    for family, size in sorted(sizes.items()):
        if family in FAMILIES:
            yield Score("mutated", changed[family], size, family)


def fabricated(trial: Trial) -> dict[str, Fact]:
    """Values that made text holds and the history does not, each with its fact."""
    claimed = _claimed(trial.case)
    return {value: fact for block in trial.made for value, fact in claimed.of(block).fabricated.items()}


def mutated(trial: Trial) -> frozenset[int]:
    """Indices of the facts at risk that stand nowhere in the result and whose value made text changed."""
    present = trial.presence.loose
    found: set[int] = set()
    for each in _bound(trial) if fabricated(trial) else ():
        likeliest = _likeliest(trial.case, each, present)
        if likeliest is not None:
            found.add(likeliest)
    return frozenset(found)


def _claimed(case: Case) -> Claimed:
    return case.cached("claims", lambda: Claimed(case.base, _standing(case)))


def _standing(case: Case) -> list[Fact]:
    """The facts that stand before the cut, in the protected set or not."""
    found = {hit.pattern for block in case.own for hit in case.risk.matcher.block(block)}
    return [case.risk.facts[pattern] for pattern in sorted(found)]


def _values(trial: Trial) -> tuple[dict[str, set[str]], dict[str, set[str]]]:
    """All values of made text by family, and those that were invented: mined from it, or known and found in it."""
    claimed, risk = _claimed(trial.case), trial.case.risk
    values: dict[str, set[str]] = defaultdict(set)
    invented: dict[str, set[str]] = defaultdict(set)
    for block in trial.made:
        claims = claimed.of(block)
        for value, fact in claims.mined.items():
            values[fact.family].add(value)
        for value, fact in claims.fabricated.items():
            invented[fact.family].add(value)
        for hit in risk.matcher.spans(clean(canonical(readable(block)))):
            fact = risk.facts[hit[2]]
            if fact.family in FAMILIES:
                values[fact.family].add(fact.value)
    return values, invented


def _bound(trial: Trial) -> Iterator[Fabricated]:
    """Each place of a fabricated value in made text; words that belong to a value of any kind are left out."""
    claimed, risk = _claimed(trial.case), trial.case.risk
    for block in trial.made:
        made_up = list(claimed.of(block).fabricated.values())
        if not made_up:
            continue
        text = clean(canonical(readable(block)))
        others = [risk.facts[pattern] for pattern in {hit[2] for hit in risk.matcher.spans(text)}]
        for hit in matcher_of([*made_up, *others]).hits(text):
            if hit.pattern < len(made_up):
                yield Fabricated(made_up[hit.pattern], hit.words, _scale(made_up[hit.pattern], text))


def _scale(fact: Fact, text: str) -> int:
    folded = fold(text)
    behind = (folded.find(form) + len(form) for form in map(fold, fact.forms) if form in folded)
    found = next((match for at in behind if (match := _SCALE.match(folded, at))), None)
    return SCALES[found[1]] if found else 0


def _likeliest(case: Case, made_up: Fabricated, present: int) -> int | None:
    """The lost fact that a fabricated value most likely was: by the kind of slip, then by the words they share."""
    homes = case.cached("facts by word", lambda: _by_word(case))
    risk = case.risk
    shared = Counter(fact for word in made_up.words for fact in homes.get(word, ()))
    best: tuple[int, int, int] | None = None
    for index, words in shared.items():
        fact = risk.facts[index]
        if present >> index & 1 or not _alike(fact.family, made_up.fact.family):
            continue
        kind = slip(fact.value, made_up.fact.value, fact.family, made_up.scale)
        if kind and not (kind == "renumbered" and words < _SLOT_WORDS):
            rank = (SLIPS.index(kind), -words, index)
            best = rank if best is None else min(best, rank)
    return best[2] if best else None


def _alike(family: str, other: str) -> bool:
    return family == other or {family, other} == {"number", "quantity"}


def _by_word(case: Case) -> dict[str, list[int]]:
    """Facts at risk of exact families by the content words of their homes."""
    homes: dict[str, list[int]] = defaultdict(list)
    for index, words in case.risk.anchors.items():
        if case.risk.facts[index].family in FAMILIES:
            for word in words:
                homes[word].append(index)
    return homes
