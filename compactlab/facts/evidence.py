"""Clues: what is a fact only if something else in the session speaks for it.

A line does not show whether `label-service` is a name of a thing or a word like `well-known`, nor whether "11 damaged
orders" counts something. So such values wait until the whole session is read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from compactlab.facts.fact import Fact, fact
from compactlab.facts.merging import Place

ENOUGH = 2
"""How much must speak for a clue: a mention in backticks is as much as two places where only a value can stand."""


class Clue(Fact, frozen=True, gc=False):
    """A fact if the `weights` of all its places come to `ENOUGH`, if it names a file, or if its `thing` is counted."""

    weight: int = 0
    thing: str = ""


def settled(found: Iterable[tuple[Place, Fact]]) -> list[tuple[Place, Fact]]:
    """Give what was *found* without the clues for which too little speaks; the others are facts like any.

    >>> clue = Clue("identifier", "label-service", ("label-service",), weight=1)
    >>> [made.value for _, made in settled([((0, 9), clue)])], [made.value for _, made in settled([((0, 9), clue)] * 2)]
    ([], ['label-service', 'label-service'])
    """
    found = list(found)
    clues = [(place, made) for place, made in found if isinstance(made, Clue)]
    if not clues:
        return found
    sure = [(place, made) for place, made in found if not isinstance(made, Clue)]
    weights: Counter[str] = Counter()
    for _, clue in clues:
        weights[clue.value] += clue.weight
    paths = {made.value for _, made in sure if made.family == "path"}
    parts = {part for path in paths for part in path.split("/")}
    stems = {part.rpartition(".")[0] for part in parts} | parts
    endings = {part.rpartition(".")[2] for part in parts if "." in part}
    counted = {made.value.partition(" ")[2] for _, made in sure if made.family == "quantity"}
    for place, clue in clues:
        if clue.thing in counted if clue.thing else weights[clue.value] >= ENOUGH or clue.value in stems:
            sure.append((place, _made(clue, endings)))
    return sorted(sure, key=_place)


def _place(one: tuple[Place, Fact]) -> Place:
    return one[0]


def _made(clue: Clue, endings: set[str]) -> Fact:
    """A dotted name that ends as paths of the session do is a path."""
    is_file = clue.family == "identifier" and "." in clue.value and clue.value.rpartition(".")[2] in endings
    family = "path" if is_file else clue.family
    return fact(family, *clue.forms, exact=clue.exact, needs_anchor=clue.needs_anchor)
