"""M7, stale values: of things that changed before the cut, whether the latest value stands, an older one, or both.

`update` counts the slots at risk by verdict, as its group: kept (the latest alone), both, stale (an older one alone),
lost (neither). A value counts only where it is bound: near the key of its slot, or near its content words, two of them
for a value that could stand anywhere. A slot is at risk if the protected set does not tell its latest value.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

from compactlab.facts import mine
from compactlab.facts.text import canonical
from compactlab.matching import WINDOW, Matcher, Pattern, fold
from compactlab.metrics import Case, Score, Trial
from compactlab.tokens import clean
from compactlab.traffic.slots import Slot, slots
from compactlab.transcript import Block, Message, Text, readable

VERDICTS = ("kept", "both", "stale", "lost")
_REACH = 120
"""Characters on either side in which the nearest words are looked for."""
_SHORT_REACH = 3
"""Words on either side that count as near a value of one digit."""
_WORD = re.compile(r"[^\W\d_]+")
_NAME = re.compile(r"\w[\w.-]*")
_DIGITS = re.compile(r"\d+")


class Told(NamedTuple):
    """Slots whose latest value stands bound, and those of which an older one does: two bit sets."""

    latest: int
    stale: int


@dataclass(frozen=True)
class Watch:
    """Slots, the matcher of their values, and for each of its patterns which slot it is of and whether the latest."""

    slots: tuple[Slot, ...]
    matcher: Matcher
    owners: tuple[tuple[int, bool], ...]
    known: dict[Block, Told] = field(default_factory=dict)

    def told(self, messages: Iterable[Message]) -> Told:
        """What *messages* tell of the slots."""
        latest = stale = 0
        for message in messages:
            for block in message.blocks:
                here = self.known.get(block)
                if here is None:
                    here = self.known[block] = self._read(block)
                latest |= here.latest
                stale |= here.stale
        return Told(latest, stale)

    def _read(self, block: Block) -> Told:
        text = clean(canonical(readable(block)))
        bound = [0, 0]
        folded = ""
        for start, end, pattern in self.matcher.spans(text):
            folded = folded or fold(text)
            slot, is_latest = self.owners[pattern]
            before, after = folded[max(0, start - _REACH) : start], folded[end : end + _REACH]
            if not bound[is_latest] >> slot & 1 and _near(self.slots[slot], text[start:end], before, after):
                bound[is_latest] |= 1 << slot
        return Told(bound[True], bound[False])


def _near(slot: Slot, value: str, before: str, after: str) -> bool:
    """Tell whether the key of a slot, or enough of its content words, stand by a value."""
    key = slot.key.lower()
    if " " not in key and any(c.isdigit() for c in key):  # `staging-01` is not `staging-02`
        alike = [name for name in _names(before, after) if _DIGITS.sub("", name) == _DIGITS.sub("", key)]
        return alike[:1] == [key]
    digits = sum(c.isdigit() for c in value)
    reach = _SHORT_REACH if digits < 2 and len(value) < 4 else WINDOW
    own = _WORD.findall(value.lower()) if value[:1].isalpha() and " " not in value else ()
    near = {*_WORD.findall(before)[-reach:], *_WORD.findall(after)[:reach], *own}  # `load_b` may tell its key itself
    found = len(near & slot.words)
    return found >= (1 if digits > 3 or len(value) > 5 else min(2, len(slot.words)))


def _names(before: str, after: str) -> Iterator[str]:
    """The names by a value, the nearest one before it first, those behind it last."""
    yield from reversed([name.rstrip(".-") for name in _NAME.findall(before)][-WINDOW:])
    yield from (name.rstrip(".-") for name in _NAME.findall(after)[:WINDOW])


def watch(found: Iterable[Slot]) -> Watch:
    """Make the watch over some slots."""
    kept = tuple(found)
    patterns: list[Pattern] = []
    owners: list[tuple[int, bool]] = []
    for at, slot in enumerate(kept):
        for value in (slot.latest, *slot.stale):
            patterns.append(_pattern(value))
            owners.append((at, value == slot.latest))
    return Watch(kept, Matcher(patterns), tuple(owners))


@lru_cache(maxsize=4_096)
def _pattern(written: str) -> Pattern:
    """The ways to write a value: those of the fact that it is by itself, if it is one."""
    value = clean(written)
    facts = [made for made in mine([Message("user", (Text(value),))]) if value in made.forms]
    if len(facts) == 1:
        return Pattern(facts[0].forms, facts[0].exact, facts[0].family)
    bare = value.replace(",", "")
    ways = (value, bare, f"{int(bare):,}") if bare.isdigit() and bare[0] != "0" else (value,)
    return Pattern(tuple(dict.fromkeys(map(canonical, ways))), exact=True, family="number")


def _of_case(case: Case) -> tuple[Watch, int]:
    """The watch over the slots of a case that the history itself tells, and the bit set of those at risk."""
    told = (first := watch(slots(case.base))).told(case.base)
    known = watch(slot for at, slot in enumerate(first.slots) if (told.latest & told.stale) >> at & 1)
    safe = known.told(case.protected).latest
    return known, ((1 << len(known.slots)) - 1) & ~safe


def measure(trial: Trial) -> Iterator[Score]:
    """Yield how many slots at risk have each verdict; nothing where none changed."""
    known, risk = trial.case.cached("updates", lambda: _of_case(trial.case))
    if not risk:
        return
    told = known.told(trial.messages)
    latest, stale = told.latest & risk, told.stale & risk
    sets = (latest & ~stale, latest & stale, stale & ~latest, risk & ~latest & ~stale)
    for verdict, found in zip(VERDICTS, sets, strict=True):
        yield Score("update", found.bit_count(), risk.bit_count(), group=verdict)
