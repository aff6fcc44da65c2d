"""Decoys: values that no session ever held, each a needed fact with one late digit changed.

Family 12 (`negative`) of the reference, after the idea of a placebo: what a decoy scores is what chance, or a matcher
that is too lax, would give the true value too. Two questions are asked of them. Made of the whole session, a decoy
stands nowhere, so that a history which holds one was changed, or matched wrongly. Made only of what stood before a cut,
a decoy that an action then "needs" shows how often a value of this shape recurs without having been remembered.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from itertools import groupby

import ahocorasick_rs

from compactlab.facts import Fact, Family
from compactlab.facts.text import canonical
from compactlab.matching import fold
from compactlab.probes.mined import AtRisk, matcher_of
from compactlab.tokens import clean
from compactlab.transcript import Block, Message, ToolResult, readable

FAMILIES: frozenset[Family] = frozenset(("number", "quantity", "date", "hash", "identifier", "path", "url"))
"""Families whose values may be made decoys of, where they hold a digit that is not their first."""

_DIGIT = re.compile("[0-9]")
_LATE = 3
"""Which digits count as late: the last ones, the very last tried first."""


def decoys(facts: Mapping[int, Fact], texts: Iterable[str], known: Iterable[Fact] = ()) -> dict[int, Fact]:
    """Make a decoy of each fact that has one, by the index of the fact; the same each time.

    The last digit is raised by one, by two and so on until the value, in all its forms, is no part of any of *texts*;
    then the digit before it. No two facts share one, and none is a form of a *known* fact. A fact has none if its
    family has none, if it has fewer than two digits, or if all that could be made stand somewhere.

    >>> made = decoys({7: Fact("number", "5433", ("5433", "5,433"))}, ["ports 5433 and 5434"])
    >>> made[7].value, made[7].forms
    ('5435', ('5435', '5,435'))
    """
    searched = [fold(clean(canonical(text))) for text in texts]
    waiting = {index: candidates(fact) for index, fact in facts.items()}
    taken = {form for fact in known for form in fact.forms}
    made: dict[int, Fact] = {}
    while True:
        tried: dict[int, Fact] = {}
        for index, rest in waiting.items():
            found = next((each for each in rest if each.value not in taken), None)
            if found:
                tried[index] = found
                taken.add(found.value)
        if not tried:
            return dict(sorted(made.items()))
        seen = _standing(tried, searched)
        made.update((index, decoy) for index, decoy in tried.items() if index not in seen)
        waiting = {index: waiting[index] for index in tried if index in seen}


def _standing(tried: Mapping[int, Fact], searched: Sequence[str]) -> set[int]:
    """Which of some facts stand in canonical, folded texts, be it as a part of something longer."""
    forms = [(fold(form), index) for index, fact in tried.items() for form in fact.forms]
    automaton = ahocorasick_rs.AhoCorasick([form for form, _ in forms])
    hits = {hit[0] for text in searched for hit in automaton.find_matches_as_indexes(text, overlapping=True)}
    return {forms[hit][1] for hit in hits}


def candidates(fact: Fact) -> Iterator[Fact]:
    """Ways to change one late digit of a fact, in all forms that end in the same digits as its value.

    >>> [f.value for f in candidates(Fact("identifier", "db-17", ("db-17",)))][:3]
    ['db-18', 'db-19', 'db-10']
    """
    if fact.family not in FAMILIES:
        return
    places = _digits(fact.value)
    digits = "".join(fact.value[place] for place in places)
    alike = [
        (form, at)
        for form, at in zip(fact.forms, map(_digits, fact.forms), strict=True)
        if digits.endswith("".join(form[i] for i in at))
    ]
    for from_end, place in enumerate(reversed(places[1:][-_LATE:]), 1):
        parts = [(form[: at[-from_end]], form[at[-from_end] + 1 :]) for form, at in alike if len(at) >= from_end]
        for step in range(1, 10):
            digit = str((int(fact.value[place]) + step) % 10)
            forms = [f"{before}{digit}{after}" for before, after in parts]
            if fact.family != "date" or _is_day(forms[0]):
                yield Fact(fact.family, forms[0], tuple(dict.fromkeys(forms)), fact.exact, fact.needs_anchor)


def _digits(text: str) -> list[int]:
    """Where the digits of a text stand."""
    return [found.start() for found in _DIGIT.finditer(text)]


def _is_day(value: str) -> bool:
    """False for a day that no calendar and a time that no clock has."""
    parts = value.split()
    if ":" in parts[-1]:
        return all(part.isdigit() and int(part) < 60 for part in parts[-1].split(":"))
    if parts[0].count("-") == 1:
        return 1 <= int(parts[0].rpartition("-")[2]) <= 12
    if len(parts) > 1:
        return not parts[0].isdigit() or 1 <= int(parts[0]) <= 28
    try:
        return bool(date.fromisoformat(value))
    except ValueError:
        return False


def needed_by(risk: AtRisk, made: Mapping[int, Fact], messages: Iterable[Message]) -> frozenset[int]:
    """Decoys that look load-bearing in *messages*: said by the agent before a person or a tool gave them.

    They are told by the index of their fact; one whose fact needs an anchor counts as needed only beside one of the
    fact's own, as the fact itself would (`AtRisk.future`).
    """
    order = list(made)
    matcher = matcher_of([made[index] for index in order])
    waiting = set(order)
    said: set[int] = set()
    for message in messages:
        for block in message.blocks:
            for hit in matcher.hits(readable(block)):
                index = order[hit.pattern]
                is_far = made[index].needs_anchor and risk.anchors.get(index, set()).isdisjoint(hit.words)
                if index not in waiting or is_far:
                    continue
                waiting.discard(index)
                if message.role == "assistant" and not isinstance(block, ToolResult):
                    said.add(index)
    return frozenset(said)


def decoys_needed(risk: AtRisk, needed: Iterable[int], messages: Sequence[Message]) -> list[tuple[Family, int, int]]:
    """By family: how many decoys of facts at risk look load-bearing in *messages*, and how many facts with one are.

    *needed* are the load-bearing facts. The decoys stand nowhere before the cut; what stands after it is not asked.
    """
    made = decoys({index: risk.facts[index] for index in sorted(risk.anchors)}, texts_of(risk.base))
    wrong, right = needed_by(risk, made, messages), made.keys() & set(needed)
    return [(family, len(wrong & found), len(right & found)) for family, found in by_family(made)]


def texts_of(messages: Iterable[Message]) -> list[str]:
    """The words of all distinct blocks, in order: what decoys are made of."""
    blocks: dict[Block, None] = dict.fromkeys(block for message in messages for block in message.blocks)
    return [readable(block) for block in blocks]


def by_family(made: Mapping[int, Fact]) -> list[tuple[Family, frozenset[int]]]:
    """Indices of decoys by family, families in the order of their names."""
    ordered = sorted((fact.family, index) for index, fact in made.items())
    return [
        (family, frozenset(index for _, index in group)) for family, group in groupby(ordered, lambda pair: pair[0])
    ]
