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
from compactlab.statements.wording import is_number

Finding = Literal["", "kept", "mutated", "weakened", "contradicted", "stale"]

_BOUNDARY = re.compile(r"[,;.]\s")
_PREVAILS = re.compile(r"\s*,?\s*(?:instead of|rather than|in place of|over|it is|then|statt)\b")
_EXPLICIT = re.compile(
    r"\b(?:cho[os]e|chosen|picks?|picked|went with|go(?:ing)? with|settled|opted|decided|switch(?:ed|ing)? to|agreed on"
    r"|selected|uses?|using|entschieden|gewählt|beschlossen|nehmen)\b"
)
_IS_CHOSEN = re.compile(r"\s*(?:was|were|is|are) (?:chosen|picked|selected|settled)\b")
_INSISTS = re.compile(r"\bnever\b|\bmust not\b|\bmustn't\b|\bmay not\b|\bnie")


def read(words: Words, segment: Segment) -> Finding:
    """What a sentence says of a statement, empty if nothing.

    >>> from compactlab.statements.segment import ready
    >>> from compactlab.statements.statement import Statement
    >>> rule = ready(Statement("constraint", "Never push to main.", objects=("push", "main"), polarity="must_not"))
    >>> [read(rule, Segment(t)) for t in ("never push to main", "try not to push to main", "it may push to main")]
    ['kept', 'weakened', 'contradicted']
    """
    said = next((said for said in words.verbatim if _stands(said, segment.text)), "")
    if said:
        return _todo(words, segment) if words.statement.kind == "todo" else _quoted(words, segment, said)
    place = segment.place(words)
    return "" if place is None else _RULINGS[words.statement.kind](words, segment, place)


def _stands(said: str, text: str) -> bool:
    """Tell whether the very words stand in a text, as whole words."""
    at = text.find(said)
    return at >= 0 and not (text[at - 1 : at].isalnum() or text[at + len(said) :][:1].isalnum())


def _quoted(words: Words, segment: Segment, said: str) -> Finding:
    """The very words stand; what stands before them in their clause may take them back or soften them."""
    at = segment.text.find(said)
    before, after = segment.text[segment.opening : at].strip(), segment.text[at + len(said) :]
    if not words.statement.polarity or not (before or after) or before in words.verbatim[0]:
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
    if _cancelled(_BOUNDARY.split(segment.before(place, 12))[-1]):
        return "contradicted"
    forbids = cues.FORBIDS.search(near) is not None
    if statement.kind == "preference":
        likes = cues.LIKES.search(near) is not None
        return "" if not likes else "kept" if forbids == words.cued else "contradicted"
    found: Finding = (
        _forbidden(segment, place, near, forbids=forbids)
        if statement.polarity == "must_not"
        else _demanded(words, segment, place, near, forbids=forbids)
    )
    return "" if words.is_bare and found == "contradicted" else _narrowed(words, segment, found)


def _forbidden(segment: Segment, place: Place, near: str, *, forbids: bool) -> Finding:
    """What a sentence says of something that is forbidden."""
    softens = cues.SOFTENS.search(near) is not None
    if forbids:
        return "weakened" if softens and not _INSISTS.search(near) else "kept"
    if cues.FORBIDS.search(segment.text):
        return ""
    before = segment.before(place)
    allows = cues.PERMITS.search(before) or cues.DEMANDS.search(before) or cues.SOFTENS.search(before)
    return "contradicted" if allows or _orders(segment, place) else ""


def _demanded(words: Words, segment: Segment, place: Place, near: str, *, forbids: bool) -> Finding:
    """What a sentence says of something that must be."""
    if forbids and not words.cued:
        before = segment.before(place, 4)
        return "contradicted" if cues.FORBIDS.search(before) else ""
    if cues.SOFTENS.search(near):
        return "weakened"
    if cues.DEMANDS.search(near):
        return "kept"
    return "weakened" if _orders(segment, place) else ""


def _orders(segment: Segment, place: Place) -> bool:
    """True where the sentence is an order: it begins with the verb of the statement, or another."""
    opening = next((at for at, token in enumerate(segment.tokens) if token.start >= segment.opening), None)
    return opening is not None and (
        opening == place.first or (segment.tokens[opening].word in IMPERATIVES and place.first - opening <= 3)
    )


def _narrowed(words: Words, segment: Segment, found: Finding) -> Finding:
    """A rule kept without its scope is weaker or wider than it was; with another number it is another rule."""
    if found != "kept":
        return found
    missing = [number for number in words.statement.numbers if number not in segment.stems]
    if missing:
        return (
            "mutated" if any(is_number(stem) for stem in segment.stems - set(words.statement.numbers)) else "weakened"
        )
    scope = words.statement.scope
    return "weakened" if scope and 2 * len(segment.stems.intersection(scope)) < len(scope) else "kept"


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
