"""Take one fact out of a context, or alter it: the score must fall by that fact, and by no other.

Values overlap (a path stands inside a command), so taking one out may hurt those that it overlaps. What overlaps is
found here by plain search for substrings, so that the scorer is not asked to judge itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from compactlab.facts import Fact
from compactlab.facts.text import canonical
from compactlab.matching import fold
from compactlab.probes.mined import AtRisk, matcher_of
from compactlab.study.evidence.figure import Figure, counted
from compactlab.study.session import Cell, Session
from compactlab.tokens import clean
from compactlab.transcript import Message, Text, readable

STRANGE = "ǂ"
"""A letter that stands in no fact."""
CONTEXTS = ("none", "microcompact", "summary")
TRIED = 30
"""Facts that are changed in each context, spread evenly over those that stand in it."""

Spot = tuple[int, int, int]
"""A text by its index, and where in it something starts and ends."""


class Trial(NamedTuple):
    """A fact changed in a context: whether it fell, and how many others changed that it overlaps, or that stand apart.

    One that overlaps may also rise: without its day, `6 December 1397` is `December 1397`.
    """

    fell: bool
    beside: int
    apart: int

    @property
    def exact(self) -> bool:
        """The score fell by that fact, and those that it overlaps, alone."""
        return self.fell and not self.apart


def look(session: Session) -> dict[str, list[Trial]]:
    """Change facts of every context of a session: by the way they are changed, what came of each."""
    found: dict[str, list[Trial]] = {name: [] for name in WAYS}
    for cell in session.cells:
        for number, spec in enumerate(CONTEXTS):
            for name, trial in _of_context(cell, spec, number):
                found[name].append(trial)
    return found


def _of_context(cell: Cell, spec: str, number: int) -> Iterator[tuple[str, Trial]]:
    texts = plain(cell.compacted(spec))
    own = cell.case.risk
    risk = AtRisk(own.base, own.facts, matcher_of(own.facts), own.excluded)
    present = risk.presence(said(texts)).loose
    standing = [fact for fact in sorted(risk.anchors) if present >> fact & 1]
    chosen = standing[number % max(1, len(standing) // TRIED) :: max(1, len(standing) // TRIED)]
    folded = [fold(text) for text in texts]
    for fact in chosen:
        for name, how in WAYS.items():
            yield name, tried(risk, (texts, folded), fact, how)


def tried(risk: AtRisk, texts: tuple[Sequence[str], Sequence[str]], fact: int, how: Callable[[str], str]) -> Trial:
    """Change every place of one fact in some texts (as they are, and folded), and score what is left."""
    plainly, _ = texts
    spots = places(risk.facts[fact], texts)
    touched = sorted({at for at, _, _ in spots})
    after_texts = changed(plainly, spots, how)
    before = risk.presence(said(plainly)).loose
    rest = risk.presence(said(text for at, text in enumerate(plainly) if at not in set(touched))).loose
    again = AtRisk(risk.base, risk.facts, risk.matcher, risk.excluded)
    again.__dict__["anchors"] = risk.anchors
    after = rest | again.presence(said(after_texts[at] for at in touched)).loose
    moved = [other for other in risk.anchors if other != fact and (before ^ after) >> other & 1]
    apart = [other for other in moved if not overlapping(spots, places(risk.facts[other], texts))]
    return Trial(not after >> fact & 1, len(moved) - len(apart), len(apart))


def plain(history: Iterable[Message]) -> list[str]:
    """The words of each block in canonical form."""
    return [clean(canonical(readable(block))) for message in history for block in message.blocks]


def said(texts: Iterable[str]) -> list[Message]:
    """A message for each text."""
    return [Message("assistant", (Text(text),)) for text in texts]


def places(fact: Fact, texts: tuple[Sequence[str], Sequence[str]]) -> list[Spot]:
    """Every place of a form of a fact, whole or not, in texts as they are, or folded where case says nothing."""
    found = []
    forms = [form if fact.exact else fold(form) for form in fact.forms]
    for at, searched in enumerate(texts[0] if fact.exact else texts[1]):
        for wanted in forms:
            start = searched.find(wanted)
            while start >= 0:
                found.append((at, start, start + len(wanted)))
                start = searched.find(wanted, start + 1)
    return found


def erased(value: str) -> str:
    """Every letter and digit strange; edges stay what they were, so that neighbours end where they ended.

    >>> erased("ab-7 c")
    'ǂǂ-ǂ ǂ'
    """
    return "".join(("〇" if c >= "\u2e80" else STRANGE) if c.isalnum() else c for c in value)


def altered(value: str) -> str:
    """Only the first digit strange, or where there is none the last letter.

    >>> altered("port 5433"), altered("main")
    ('port ǂ433', 'maiǂ')
    """
    digits = [i for i, c in enumerate(value) if c.isdigit()]
    letters = [i for i, c in enumerate(value) if c.isalnum()]
    at = digits[0] if digits else letters[-1] if letters else 0
    return value[:at] + erased(value[at]) + value[at + 1 :]


WAYS: dict[str, Callable[[str], str]] = {"deleted": erased, "altered in one character": altered}


def changed(texts: Sequence[str], spots: Iterable[Spot], how: Callable[[str], str]) -> list[str]:
    """The texts with each spot changed by itself, those that overlap too."""
    made: dict[int, list[str]] = {}
    for at, start, end in spots:
        letters = made.setdefault(at, list(texts[at]))
        for place, character in enumerate(how(texts[at][start:end]), start):
            if character != texts[at][place]:
                letters[place] = character
    return ["".join(made[at]) if at in made else text for at, text in enumerate(texts)]


def overlapping(spots: Iterable[Spot], others: Iterable[Spot]) -> bool:
    """Tell whether any spot of one fact shares a character with one of another."""
    by_text: dict[int, list[tuple[int, int]]] = {}
    for at, start, end in others:
        by_text.setdefault(at, []).append((start, end))
    return any(start < stop and begin < end for at, start, end in spots for begin, stop in by_text.get(at, ()))


def figures(looked: Sequence[dict[str, list[Trial]]]) -> list[Figure]:
    """How many changes were scored as that one fact, by the way of changing."""
    found = []
    for name in WAYS:
        trials = [trial for seen in looked for trial in seen[name]]
        exact = sum(trial.exact for trial in trials)
        found.append(counted("mutation", f"a fact {name}: the score falls by it alone", exact, len(trials), "all"))
    trials = [trial for seen in looked for found_ in seen.values() for trial in found_]
    apart = sum(trial.exact and not trial.beside for trial in trials)
    return [*found, counted("mutation", "of these, nothing that overlaps it fell with it", apart, len(trials))]
