"""What one sentence says of one statement: it still holds it, has another number, softens it, or turns it round.

A sentence is of a statement only where the statement's content words stand near each other in its order (in any order
in the passive) among words of grammar, with a cue that says which way: a bag of words, or a mere mention, says nothing.
Rules to be missed are cheaper than rules to be imagined: fewer than all of three words, or under three quarters of
more, is no reading at all.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Literal

from compactlab.statements import cues
from compactlab.statements.rules import IMPERATIVES
from compactlab.statements.segment import NEAR, Place, Segment, Words
from compactlab.statements.statement import Kind
from compactlab.statements.values import Wording, has_other_values, stands, within

Finding = Literal["", "kept", "mutated", "weakened", "contradicted", "stale"]

_BOUNDARY = re.compile(r"[,;.]\s")
_PREVAILS = re.compile(r"\s*,?\s*(?:instead of|rather than|in place of|over|it is|then|statt)\b")
_EXPLICIT = re.compile(
    r"\b(?:cho[os]e|chosen|picks?|picked|went with|go(?:ing)? with|settled|opted|decided|switch(?:ed|ing)? to|agreed on"
    r"|selected|uses?|using|entschieden|gewählt|beschlossen|nehmen)\b"
)
_IS_CHOSEN = re.compile(r"\s*(?:was|were|is|are) (?:chosen|picked|selected|settled)\b")
_AGAINST = re.compile(r"\b(?:rather than|instead of|in place of|statt)(?: \w+)?\s*\Z")
_INSISTS = re.compile(r"\bnever\b|\bmust not\b|\bmustn't\b|\bmay not\b|\bnie")


def read(words: Words, segment: Segment) -> Finding:
    """What a sentence says of a statement, empty if nothing.

    >>> from compactlab.statements.segment import ready
    >>> from compactlab.statements.statement import Statement
    >>> rule = ready(Statement("constraint", "Never push to main.", objects=("push", "main"), polarity="must_not"))
    >>> [read(rule, Segment(t)) for t in ("never push to main", "try not to push to main", "it may push to main")]
    ['kept', 'weakened', 'contradicted']
    """
    has_core = words.core <= segment.stems
    found = next(filter(None, (_place_of(said, segment) for said in words.verbatim)), None) if has_core else None
    if found:
        return _todo(words, segment) if words.statement.kind == "todo" else _quoted(words, segment, *found)
    has_values = has_core and bool(words.names or words.statement.numbers)
    may_differ = has_values and words.statement.kind in {"constraint", "preference"}
    if may_differ and has_other_values(words.worded, segment.worded):
        return "mutated"
    place = segment.place(words)
    return "" if place is None else _RULINGS[words.statement.kind](words, segment, place)


def _place_of(said: Wording, segment: Segment) -> tuple[int, int] | None:
    """Where in a sentence the very words stand, one after the other, whatever punctuation is between them."""
    place = within(said, segment.spoken)
    if place is None:
        return None
    spans = segment.spoken.words[slice(*place)]
    return spans[0][1], spans[-1][2]


def _quoted(words: Words, segment: Segment, start: int, end: int) -> Finding:
    """The very words stand; what stands before them in their clause may take them back or soften them."""
    before, after = segment.text[segment.opening : start].strip(), segment.text[end:]
    is_said_twice = f" {before} " in words.verbatim[0].pattern
    if not words.statement.polarity or not (before or after) or is_said_twice:
        return "contradicted" if words.statement.polarity and _cancelled(after) else "kept"
    if (
        _cancelled(before)
        or _cancelled(after)
        or (cues.PERMITS.search(before[-40:]) and not cues.FORBIDS.search(before[-40:]))
    ):
        return "contradicted"
    clause = _BOUNDARY.split(before)[-1]
    return "weakened" if words.statement.is_strong and cues.SOFTENS.search(clause[-30:]) else "kept"


def _cancelled(text: str) -> bool:
    found = cues.CANCELS.search(text)
    return found is not None and cues.FORBIDS.search(text[max(0, found.start() - 12) : found.start()]) is None


def _demand(words: Words, segment: Segment, place: Place) -> Finding:
    """A constraint or a preference in other words."""
    statement = words.statement
    near = segment.around(place, NEAR, 4)
    if len(statement.objects) == 1:
        near = re.split(r"[,;:.]", segment.before(place, 2))[-1] if words.is_bare else segment.around(place, 3, 3)
    if not place.in_order and not cues.PASSIVE.search(near):
        return ""
    if _cancelled(_BOUNDARY.split(segment.before(place, 12))[-1]) or _is_lifted(words, segment, place):
        return "contradicted"
    forbids = cues.FORBIDS.search(near) is not None
    if statement.kind == "preference":
        likes = cues.LIKES.search(near) is not None
        return "" if not likes else "kept" if forbids == words.cued else "contradicted"
    found: Finding = (
        _forbidden(words, segment, place, near, forbids=forbids)
        if statement.polarity == "must_not"
        else _demanded(words, segment, place, near, forbids=forbids)
    )
    return "" if words.is_bare and found == "contradicted" else _narrowed(words, segment, found)


def _forbidden(words: Words, segment: Segment, place: Place, near: str, *, forbids: bool) -> Finding:
    """What a sentence says of something that is forbidden."""
    softens = cues.SOFTENS.search(near) is not None
    if forbids:
        return "weakened" if softens and not _INSISTS.search(near) else "kept"
    if cues.FORBIDS.search(segment.text):
        return ""
    before, inside, clause = segment.before(place), segment.around(place, 0), segment.clause(place)
    if _AGAINST.search(before) or (not cues.PERMITS.search(before) and cues.DISSUADES.search(near + clause)):
        return "weakened"
    allows = cues.DEMANDS.search(before) or cues.SOFTENS.search(before) or cues.PERMITS.search(f"{before} {inside}")
    return "contradicted" if allows or _orders(words, segment, place) else ""


def _is_lifted(words: Words, segment: Segment, place: Place) -> bool:
    """True where a sentence takes back, among the words of a statement or right behind them, what these demand."""
    return not cues.CANCELS.search(words.text) and _cancelled(segment.around(place, 0))


def _demanded(words: Words, segment: Segment, place: Place, near: str, *, forbids: bool) -> Finding:
    """What a sentence says of something that must be."""
    if forbids and not words.cued:
        return "contradicted" if cues.FORBIDS.search(segment.before(place, 4)) or _may_without(segment, place) else ""
    if cues.SOFTENS.search(near):
        return "weakened"
    if cues.DEMANDS.search(near):
        return "kept"
    is_copy = place.in_order and words.unvalued is not None and within(words.unvalued, segment.spoken) is not None
    return "weakened" if is_copy or _orders(words, segment, place) else ""


def _may_without(segment: Segment, place: Place) -> bool:
    """True where a thing is allowed without what a statement demands of it."""
    permitted = cues.PERMITS.search(segment.around(place, 0))
    return permitted is not None and cues.FORBIDS.search(segment.around(place, 0), permitted.end()) is not None


def _orders(words: Words, segment: Segment, place: Place) -> bool:
    """True where the sentence is an order: it begins with the verb of the statement, or another."""
    opening = next((at for at, token in enumerate(segment.tokens) if token.start >= segment.opening), None)
    if opening is None:
        return False
    word = segment.tokens[opening].word
    return word == words.verb or (word in IMPERATIVES and place.first - opening <= 3)


def _narrowed(words: Words, segment: Segment, found: Finding) -> Finding:
    """A rule kept without its scope is weaker or wider than it was; without its number or name it is another rule."""
    if found not in {"kept", "weakened"}:
        return found
    if set(words.statement.numbers) - segment.stems or not all(stands(name, segment.text) for name in words.names):
        return "mutated"
    scope = words.statement.scope
    return "weakened" if scope and 2 * len(segment.stems.intersection(scope)) < len(scope) else found


def _chosen(words: Words, segment: Segment, place: Place) -> Finding:
    """A decision or a rejected way in other words: the cue before it says which it is."""
    if not place.in_order or set(words.statement.numbers) - segment.stems:
        return ""
    before = segment.before(place, 3 if len(words.statement.objects) == 1 else 4)
    rejects = [m.end() for m in cues.REJECTS.finditer(before)]
    chosen = _EXPLICIT if len(words.statement.objects) == 1 else cues.CHOOSES
    chooses = [m.end() for m in chosen.finditer(before)]
    after = segment.text[segment.tokens[place.last].end :][:40]
    is_rejected = max(rejects, default=-1) > max(chooses, default=-1)
    if words.statement.kind == "rejected":
        return "kept" if is_rejected or cues.REJECTS.match(after.strip()) else "contradicted" if chooses else ""
    if is_rejected:
        return "contradicted"
    return (
        "kept"
        if chooses or _IS_CHOSEN.match(after) or (len(words.statement.objects) > 1 and _PREVAILS.match(after))
        else ""
    )


def _asked(words: Words, segment: Segment, place: Place) -> Finding:
    """A request or a reason in other words: all that it must hold, in its order."""
    return "kept" if place.in_order and not set(words.statement.numbers) - segment.stems else ""


def _todo(words: Words, segment: Segment, _place: Place | None = None) -> Finding:
    """An item of a list: its mark, a word of its sentence or the heading above say whether it is open."""
    said = segment.text.replace(words.text, " ")
    for where in (said, segment.heading):
        is_open, is_done = cues.OPEN.search(where), cues.DONE.search(where)
        if is_open or is_done:
            state = "open" if is_open else "done"
            if state == words.statement.state:
                return "kept"
            return "contradicted" if state == "done" else "stale"
    return "weakened"


_RULINGS: dict[Kind, Callable[[Words, Segment, Place], Finding]] = {
    "constraint": _demand,
    "preference": _demand,
    "decision": _chosen,
    "rejected": _chosen,
    "reason": _asked,
    "request": _asked,
    "todo": _todo,
}
