"""What became of single facts: where one stood, which later message needed it, and which strategy kept it."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from functools import lru_cache
from typing import NamedTuple

from compactlab import catalog, history
from compactlab.compaction import Guard, compact
from compactlab.facts import mine
from compactlab.facts.secrets import without_secrets
from compactlab.facts.text import FILLER, canonical
from compactlab.harness.cuts import Cut, planned
from compactlab.llm.extractive import Extractive
from compactlab.matching import Matcher
from compactlab.pressure import Marks
from compactlab.probes.mined import AtRisk, Home, Presence, Use, UseKind, matcher_of
from compactlab.redaction import known_in
from compactlab.strategies import Strategy
from compactlab.tokens import Meter, clean
from compactlab.transcript import Block, Message, Transcript, readable

AROUND = 60
"""Characters of context on either side of a value in a quotation."""


class Story(NamedTuple):
    """One load-bearing fact: the message that held it first and the later one that needed it, by position in the
    transcript, with the words around it there; and whether a read-only call would have brought it back.
    """

    family: str
    value: str
    home: int
    home_text: str
    used: int
    used_text: str
    use: UseKind
    regain: Home


class Fate(NamedTuple):
    """A fact's story, and by strategy whether it still stands: `bound`, only `loose`, or `lost`."""

    story: Story
    kept: dict[str, str]


def fates(transcript: Transcript, share: float, strategies: Iterable[str | Strategy]) -> list[Fate]:
    """Follow every fact that is load-bearing at a cut behind *share* of the assistant messages, in order of their use.

    Empty if the session is too short to be cut. Facts common to other sessions are not left out: there is only one.
    """
    meter = Meter()
    cut = planned(transcript, (share,), None, Marks(), meter)[0]
    if cut.skipped:
        return []
    before = transcript.view(cut.before)
    facts = mine(transcript.messages)
    risk = AtRisk(history.repair(before).messages, facts, matcher_of(facts))
    uses = risk.future(transcript.messages[cut.before :]).uses
    left, guard = {}, Guard(meter, model=Extractive())
    for strategy in strategies:
        built = catalog.strategy(strategy) if isinstance(strategy, str) else strategy
        left[repr(built)] = risk.presence(compact(risk.base, built, guard=guard).messages)
    return [
        Fate(story, {spec: verdict(present, index) for spec, present in left.items()})
        for index, story in zip(in_order(uses), stories(transcript, cut, risk, uses), strict=True)
    ]


def in_order(uses: dict[int, Use]) -> list[int]:
    """Load-bearing facts in the order in which they were needed."""
    return sorted(uses, key=lambda fact: (uses[fact].after, fact))


def stories(transcript: Transcript, cut: Cut, risk: AtRisk, uses: dict[int, Use]) -> list[Story]:
    """The story of each load-bearing fact, in the order in which they were needed."""
    homes = _first_homes(transcript, cut.before, risk.matcher, uses)
    known = tuple(known_in(transcript.messages))
    told = []
    for fact in in_order(uses):
        used = cut.before + uses[fact].after
        told.append(
            Story(
                family=risk.facts[fact].family,
                value=risk.facts[fact].value,
                home=homes[fact].position,
                home_text=_quoted(homes[fact].message, risk.matcher, fact, known),
                used=used,
                used_text=_quoted(transcript.messages[used], risk.matcher, fact, known),
                use=uses[fact].kind,
                regain=risk.home(fact),
            )
        )
    return told


class _Home(NamedTuple):
    """A message, and its position in the transcript; of one that a compaction made, the place where it stood."""

    position: int
    message: Message


def _first_homes(transcript: Transcript, before: int, matcher: Matcher, uses: Iterable[int]) -> dict[int, _Home]:
    wanted, homes = set(uses), dict[int, _Home]()
    made_at = max((c.position for c in transcript.compactions if c.position <= before), default=0)
    for entry in transcript.entries(before):
        home = _Home(entry, transcript.messages[entry]) if isinstance(entry, int) else _Home(made_at, entry)
        for block in home.message.blocks:
            for hit in matcher.block(block):
                if hit.pattern in wanted:
                    homes.setdefault(hit.pattern, home)
    return homes


def verdict(present: Presence, fact: int, mutated: Collection[int] = ()) -> str:
    """What became of a fact: `bound`, `loose`, `mutated` (gone, and something near it stands) or `lost`."""
    if present.bound >> fact & 1:
        return "bound"
    if present.loose >> fact & 1:
        return "loose"
    return "mutated" if fact in mutated else "lost"


def _quoted(message: Message, matcher: Matcher, fact: int, known: Iterable[str]) -> str:
    """The words around a fact in the first block of a message that holds it."""
    found = first_place([message], matcher, {fact}, known)
    if found is None:
        raise LookupError(f"fact {fact} does not stand in the message that was said to hold it")
    return _around(*found)


def first_place(
    messages: Iterable[Message], matcher: Matcher, patterns: Collection[int], known: Iterable[str] = ()
) -> tuple[str, int, int] | None:
    """Give the first block's text that holds one of *patterns*, and where in it that stands.

    Credentials are masked, also those that are *known* from elsewhere and stand bare.
    """
    for block in (block for message in messages for block in message.blocks):
        hit = next((hit for hit in matcher.block(block) if hit.pattern in patterns), None)
        if hit:
            return _shown(block, tuple(known)), hit.start, hit.end
    return None


@lru_cache(maxsize=64)
def _shown(block: Block, known: tuple[str, ...]) -> str:
    """The text of a block in canonical form without its secrets; one often holds many facts."""
    return without_secrets(clean(canonical(readable(block))), known).replace(FILLER, "*")


def _around(text: str, start: int, end: int) -> str:
    left, right = max(0, start - AROUND), end + AROUND
    return ("…" if left else "") + text[left:right] + ("…" if right < len(text) else "")
