"""How right the miner is: what it finds in drawn excerpts of recorded sessions, against labels of a reader.

A file of labels holds one excerpt a line and a label for each fact in it: good, wrong family, noise, or missed. A fact
counts once in each excerpt where it stands. Precision is good / (good + wrong family + noise), recall good / (good +
missed).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

import msgspec

from compactlab.errors import TranscriptError
from compactlab.facts import FAMILIES, Fact, Family
from compactlab.matching import Matcher
from compactlab.study.evidence.figure import Figure, counted


class Label(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the reader says of a fact in an excerpt; one that is `missed` stands there and was not mined."""

    value: str
    family: Family
    label: Literal["good", "wrong family", "noise", "missed"]
    note: str = ""

    @property
    def true(self) -> bool:
        """Whether it is a fact."""
        return self.label in {"good", "missed"}


class Window(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An excerpt of a block of a session, with the labels of the facts in it."""

    session: str
    message: int
    block: int
    kind: str
    excerpt: str
    facts: tuple[Label, ...]

    @property
    def place(self) -> tuple[str, int, int, str, str]:
        """Where it was drawn."""
        return self.session, self.message, self.block, self.kind, self.excerpt


class Count(NamedTuple):
    """Facts mined that are right, facts mined that are not, and facts that the reader saw."""

    right: int
    wrong: int
    true: int


def load(path: Path) -> tuple[Window, ...]:
    """Read a file of labels; `TranscriptError` where it is none."""
    try:
        return tuple(msgspec.json.decode(line, type=Window) for line in path.read_bytes().splitlines())
    except (OSError, msgspec.DecodeError) as error:
        raise TranscriptError(f"{path}: no labels can be read ({error})") from error


def standing(window: Window, facts: Sequence[Fact], matcher: Matcher) -> list[Fact]:
    """The mined facts of the session that stand in the excerpt, each once."""
    return [facts[i] for i in dict.fromkeys(hit.pattern for hit in matcher.hits(window.excerpt))]


def joined(labels: Iterable[Label], facts: Sequence[Fact]) -> dict[Fact, Label | None]:
    """Each fact with its label, or None: the one of its value, else one that names it by another of its forms."""
    waiting = {(label.family, label.value.casefold()): label for label in labels}
    given_to = {one: waiting.pop((one.family, one.value.casefold()), None) for one in facts}
    for one in [one for one, label in given_to.items() if label is None]:
        keys = ((one.family, form.casefold()) for form in one.forms)
        given_to[one] = next((waiting.pop(key) for key in keys if key in waiting), None)
    return given_to


def by_family(pairs: Iterable[tuple[Sequence[Label], Sequence[Fact]]]) -> dict[str, Count]:
    """Count (labels of an excerpt, facts mined in it) by family; a fact without a label counts nowhere."""
    right, wrong, true = Counter[str](), Counter[str](), Counter[str]()
    for labels, facts in pairs:
        true.update(label.family for label in labels if label.true)
        for label in joined(labels, facts).values():
            if label is not None:
                (right if label.true else wrong)[label.family] += 1
    return {family: Count(right[family], wrong[family], true[family]) for family in FAMILIES}


def total(counts: Mapping[str, Count]) -> Count:
    """All families together."""
    return Count(*map(sum, zip(*counts.values(), strict=True)))


def figures(counts: Mapping[str, Count]) -> list[Figure]:
    """Precision and recall of the miner."""
    count = total(counts)
    return [
        counted("miner", "mined facts that a reader calls facts (precision)", count.right, count.right + count.wrong),
        counted("miner", "facts that a reader saw and the miner found (recall)", count.right, count.true),
    ]
