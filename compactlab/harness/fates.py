"""What became of single facts: where one stood, which later message needed it, and which strategy kept it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from compactlab import catalog, history
from compactlab.compaction import Guard, compact
from compactlab.facts import mine
from compactlab.facts.text import canonical
from compactlab.harness.cuts import planned
from compactlab.llm.extractive import Extractive
from compactlab.matching import Matcher
from compactlab.pressure import Marks
from compactlab.probes.mined import AtRisk, UseKind, matcher_of
from compactlab.strategies import Strategy
from compactlab.tokens import Meter, clean
from compactlab.transcript import Message, Transcript, readable

AROUND = 60
"""Characters of context on either side of a value in a quotation."""


class Fate(NamedTuple):
    """One load-bearing fact. `home` and `used` are positions in the transcript; `kept` says, by strategy, whether it
    still stands bound, only loose, or is lost.
    """

    family: str
    value: str
    home: int
    home_text: str
    used: int
    used_text: str
    use: UseKind
    kept: dict[str, str]


def fates(transcript: Transcript, share: float, strategies: Iterable[str | Strategy]) -> list[Fate]:
    """Follow every fact that is load-bearing at a cut behind *share* of the assistant messages, in order of their use.

    Empty if the session is too short to be cut. Facts common to other sessions are not left out: there is only one.
    """
    meter = Meter()
    cut = planned(transcript, (share,), None, Marks(), meter)[0]
    if cut.skipped:
        return []
    view = transcript.view(cut.before)
    facts = mine(transcript.messages)
    risk = AtRisk(history.repair([transcript.messages[i] for i in view]).messages, facts, matcher_of(facts))
    uses = risk.future(transcript.messages[cut.before :]).uses
    left, guard = {}, Guard(meter, model=Extractive())
    for strategy in strategies:
        built = catalog.strategy(strategy) if isinstance(strategy, str) else strategy
        left[repr(built)] = risk.presence(compact(risk.base, built, guard=guard).messages)
    found = []
    for index, use in sorted(uses.items(), key=lambda item: (item[1].after, item[0])):
        home, home_text = _quoted([(i, transcript.messages[i]) for i in view], risk.matcher, index)
        later = cut.before + use.after
        used, used_text = _quoted([(later, transcript.messages[later])], risk.matcher, index)
        verdicts = {spec: _verdict(p.loose >> index & 1, p.bound >> index & 1) for spec, p in left.items()}
        found.append(
            Fate(facts[index].family, facts[index].value, home, home_text, used, used_text, use.kind, verdicts)
        )
    return found


def _verdict(loose: int, bound: int) -> str:
    return "bound" if bound else "loose" if loose else "lost"


def _quoted(places: Sequence[tuple[int, Message]], matcher: Matcher, index: int) -> tuple[int, str]:
    """The first message among *places* that holds the fact, and the words around it there."""
    for position, message in places:
        for block in message.blocks:
            if any(hit.pattern == index for hit in matcher.block(block)):
                text = clean(canonical(readable(block)))
                start, end = next((s, e) for s, e, pattern in matcher.spans(text) if pattern == index)
                return position, _around(text, start, end)
    raise LookupError(f"fact {index} stands in none of {len(places)} messages")


def _around(text: str, start: int, end: int) -> str:
    left, right = max(0, start - AROUND), end + AROUND
    return ("…" if left else "") + text[left:right] + ("…" if right < len(text) else "")
