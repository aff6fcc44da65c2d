"""Load-bearing retention by the second miner: whether the first one favours a strategy that keeps what it mines.

The same definitions as the headline's (M3, uses by an action), over the facts of `compactlab.second_miner`, which was
written apart from the first and by another method. `second_bound` and `second_loose` rank strategies; where they and
the headline disagree on `key_value` or on `regex_lines`, the first miner's patterns were their luck (DESIGN 5,
independence). Values that the first miner found common to other sessions are left out here too.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from compactlab.facts import Fact
from compactlab.matching import Matcher
from compactlab.metrics import Case, Score, Trial
from compactlab.probes.mined import AtRisk, mask, matcher_of
from compactlab.second_miner import mine_again
from compactlab.transcript import Messages


class Needed(NamedTuple):
    """The second miner's facts at a cut, and by family those that an action needed: bit set and number."""

    risk: AtRisk
    groups: tuple[tuple[str, int, int], ...]


def measure(trial: Trial) -> Iterator[Score]:
    """Yield bound and loose retention of the facts that an action needed, by family."""
    needed = trial.case.cached("second_miner", lambda: needed_again(trial.case))
    if not needed.groups:
        return
    presence = trial.presence_in(needed.risk)
    for family, bits, size in needed.groups:
        yield Score("second_bound", (presence.bound & bits).bit_count(), size, family, "action")
        yield Score("second_loose", (presence.loose & bits).bit_count(), size, family, "action")


def needed_again(case: Case) -> Needed:
    """Mine the session of a case again and find what an action after the cut needed; linear in its length.

    The first miner's facts are looked for too, so that no word of theirs binds a value, but they count for nothing.
    """
    second = _mined((*case.base, *case.future))
    facts = (*second, *case.risk.facts)
    common = {case.risk.facts[fact].value for fact in case.risk.excluded}
    excluded = frozenset(i for i, fact in enumerate(facts) if i >= len(second) or fact.value in common)
    risk = AtRisk(case.base, facts, _matcher(facts), excluded)
    groups: dict[str, list[int]] = defaultdict(list)
    for index, use in risk.future(case.future).uses.items():
        if use.kind == "action":
            groups[facts[index].family].append(index)
    return Needed(risk, tuple((family, mask(found), len(found)) for family, found in sorted(groups.items())))


@lru_cache(maxsize=2)
def _mined(messages: Messages) -> tuple[Fact, ...]:
    """The facts of a session, once for all cuts: what stood before one and what followed are together the same."""
    return mine_again(messages)


@lru_cache(maxsize=2)
def _matcher(facts: tuple[Fact, ...]) -> Matcher:
    """One matcher for all cuts of a session, so that each block is searched once: they hold the same facts."""
    return matcher_of(facts)
