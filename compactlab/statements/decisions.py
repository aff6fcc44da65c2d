"""Decisions, what they rejected, and why: three statements for `X over Y because Z`; and paths that were given up.

Read in a person's words and in the agent's own. A sentence decides where its verb says so, or where it sets one thing
in another's place and does not merely report what a program returned.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from compactlab.statements.rules import statement
from compactlab.statements.spoken import Sentence, spoken_sentences
from compactlab.statements.statement import Kind, Statement

_PHRASE = r"(?:[^,;:()\n]|,(?=\d)){2,90}?"
_END = (
    r"(?=\s*(?:[;:()\n]|,(?!\d)|[.!](?:\s|\Z)|\Z|\b(?:because|since|so that|as (?:it|that|the)|but|and then"
    r"|weil|damit)\b))"
)
_REASON = re.compile(
    r"\b(?:because|since|so that|as (?=it|that|the)|weil|damit)\s+(?P<reason>[^.;!?\n]{8,160})", re.IGNORECASE
)
_DECIDES = re.compile(
    r"\b(?:i'll|we'll|i will|we will|let's|let us|going to|use|take|go with|switch(?:ed|ing)?|should|must"
    r"|will be|now|chose"
    r"|chosen|decided|want|wants|keep|please|write|store)\b|^so\b",
    re.IGNORECASE,
)
_REPORTS = re.compile(
    r"\b(?:returns?|returned|shows?|showed|gives?|gave|got|gets?|was|were|reads|printed|prints|says|said|found"
    r"|had|produces?"
    r"|produced|yields?|reports?|reported|would|if|when|why|means|meant|could|might|counts?|counted|looks?)\b",
    re.IGNORECASE,
)
_REPLACES = re.compile(
    rf"(?P<chosen>{_PHRASE})\s+(?:instead of|rather than|in place of|anstelle von|anstatt"
    rf"|statt)\s+(?P<rejected>{_PHRASE}){_END}",
    re.IGNORECASE,
)
_CHOICES = (
    re.compile(
        r"\b(?:decided (?:on|for|to)|settled (?:on|for)|opted for|(?:we|i) (?:chose|choose|picked|pick"
        r"|went with)|going with"
        r"|(?:let's|we'll|i'll|we will|i will) (?:use|go with|switch to)|switch(?:ed|ing) to|entschieden für"
        r"|nehmen wir|wir nehmen)"
        rf"\s+(?P<chosen>{_PHRASE})(?:\s+(?:over|rather than|instead of|not|statt)\s+(?P<rejected>{_PHRASE}))?{_END}",
        re.IGNORECASE,
    ),
    re.compile(
        rf"(?:^|[.,;:]\s)(?:so |then |ok,? |okay,? |yes,? )?(?P<chosen>{_PHRASE}),? (?:(?:and"
        rf"|but) )?no longer (?P<rejected>(?:at |in |on |by |the |an? |[\d£$€]|(?-i:[A-Z])){_PHRASE}){_END}",
        re.IGNORECASE,
    ),
    re.compile(
        r"^(?:so |ok,? |okay,? |yes,? )?(?P<chosen>(?!(?:i|good|of|since|as|tomorrow|one|two|three|four"
        r"|whatever|that's)\b)(?:(?!\b(?:i|i'd|know|what|as|whichever|who|how|is|are|was|were|don't|looks?|say"
        r"|says)\b)[^,;:.]){3,45}?)(?:, then(?=[,.!;]|\Z)| it is(?=[,.!;]|\Z))",
        re.IGNORECASE,
    ),
    re.compile(r"\bso[:,]? (?P<chosen>[^,;:.]{3,60}?) instead(?=[,.!;]|\Z)", re.IGNORECASE),
)
_CHANGES = (
    re.compile(
        rf"(?P<slot>[^,;:()\n]{{3,60}}?)\s+(?:goes|changes|moves|is changed|is moved|drops"
        rf"|rises)\s+from\s+(?P<rejected>{_PHRASE})"
        rf"\s+to\s+(?P<chosen>{_PHRASE}){_END}",
        re.IGNORECASE,
    ),
    re.compile(r"(?P<slot>[^,;:()\n]{3,40}?)\s+(?P<rejected>[\d.,]+ ?%?)\s*(?:->|→)\s*(?P<chosen>[\d.,]+ ?%?)(?!\w)"),
)
"""A value that a person changes; where the agent writes so, it mostly reports what it measured."""
_GIVEN_UP = (
    re.compile(
        rf"\b(?:decided against|ruled out|(?:we|i) rejected|gave up on|given up on|abandoned"
        rf"|verworfen)\s+(?P<rejected>{_PHRASE}){_END}",
        re.IGNORECASE,
    ),
    re.compile(
        r"(?:^|[,;:]\s)(?:and |so )?(?P<rejected>[^,;:()\n]{2,60}?)\s+(?:is|are|has been)\s+(?:withdrawn"
        r"|ruled out|abandoned|dropped|verworfen)"
        r"(?=\s*(?:[,;:.!]|\Z)|\s(?:as|from|because|since|by)\b)",
        re.IGNORECASE,
    ),
    re.compile(
        rf"\b(?:i|we)(?:'ve| have)? tried\s+(?P<rejected>{_PHRASE})(?:,|\s)\s*(?:but|and)\s+(?:it |that |this "
        rf"|they )?(?:failed|fails"
        r"|didn't|did not|doesn't|does not|broke|crashed|made)",
        re.IGNORECASE,
    ),
)
_WORDS = re.compile(r"\S+")
LONGEST = 9
"""Words of a phrase that are taken for what was chosen or rejected: those next to the verb."""
_VAGUE = re.compile(
    r"(?:it|that|this|them|him|her|his|he|she|you|me|us|the (?:one|other|first|second|third)|one|what|nothing)\b",
    re.IGNORECASE,
)


def mine_decisions(text: str, *, by_person: bool = False) -> tuple[Statement, ...]:
    """The decisions, rejected ways and reasons in a text, in order, without homes.

    A value that goes from one to another is a decision where a person says it.

    >>> [(s.kind, s.text) for s in mine_decisions("We chose SQLite over Postgres because the kiosk has no server.")]
    [('decision', 'SQLite'), ('rejected', 'Postgres'), ('reason', 'the kiosk has no server')]
    """
    return _mined(text, by_person)


@lru_cache(maxsize=8_192)
def _mined(text: str, by_person: bool) -> tuple[Statement, ...]:
    return tuple(made for sentence in spoken_sentences(text) for made in _of_sentence(sentence, by_person=by_person))


def _of_sentence(sentence: Sentence, *, by_person: bool) -> Iterator[Statement]:
    said = sentence.unquoted.replace("’", "'")
    if len(said) > 500 or said.rstrip().endswith(("?", "？")):
        return
    found = _found(said, _CHANGES if by_person else ())
    if found is None:
        return
    parts = found.groupdict()
    slot = parts.get("slot")
    made = [
        statement(kind, text, sentence.text)
        for kind, name in _PARTS
        if parts.get(name) and (text := _phrase(sentence, found, name, slot))
    ]
    made = [part for part in made if len(part.objects) + len(part.numbers) > 0]
    yield from made
    reason = _REASON.search(said, found.end()) if made else None
    if reason:
        because = statement("reason", sentence.text[slice(*reason.span("reason"))].strip(), sentence.text)
        if len(because.objects) >= 2:
            yield because


_PARTS: tuple[tuple[Kind, str], ...] = (("decision", "chosen"), ("rejected", "rejected"))


def _found(said: str, more: tuple[re.Pattern[str], ...]) -> re.Match[str] | None:
    for pattern in (*_CHOICES, *more, *_GIVEN_UP):
        if found := pattern.search(said):
            return found
    found = _REPLACES.search(said)
    return found if found and _DECIDES.search(said) and not _REPORTS.search(said) else None


def _phrase(sentence: Sentence, found: re.Match[str], name: str, slot: str | None) -> str:
    """The words of a part, those next to the verb where they are many, the slot of a change before them."""
    start, end = found.span(name)
    words = [match.span() for match in _WORDS.finditer(sentence.text, start, end)]
    near = words[-LONGEST:] if name == "chosen" and found.re is _REPLACES else words[:LONGEST]
    text = sentence.text[near[0][0] : near[-1][1]] if near else ""
    if _VAGUE.match(text):
        return ""
    return f"{slot.strip()} {text}" if slot else text
