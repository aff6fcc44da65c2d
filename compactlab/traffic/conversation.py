"""Changes that a conversation tells: by correcting, by saying what is so now, by giving a setting another value.

What people and the agent say is read text by text, in order. `X is now B` changes the value that an earlier text gave
for X: the content words before both are the same, or those of one are in those of the other and nothing else is called
so. A claim (`B, not A`) counts where an earlier text says A near a word of it. Settings in talk are assignments in
capitals, and numbers on lines like `max_retries: 3`.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from compactlab.facts.assignments import GUESSABLE_KEYS
from compactlab.traffic.changes import Change, settings_in, values_in, words_of
from compactlab.traffic.corrections import CUES, LONGEST_TEXT, claims, corrections, shape, unit_after


class Mention(NamedTuple):
    """A value in a text: what is said to have it (content words), its kind and unit, the words in its clause.

    `tells` is "now" where the words say that it is new, "is" where they say that it is so, else empty.
    """

    subject: frozenset[str]
    value: str
    kind: str
    unit: str
    tells: str
    near: frozenset[str]


_CLAUSE = re.compile(r"[,;:()\"|\n]\s?|[.!?]\s|\s/\s|\b(?:and|but|because|so|while|which|that)\b")
_END = re.compile(r"[,.;:()\"|\n]")
_LINK = r"(?: (?:at|on|to|of|in|for|within|until|due|the|is|are|stands|costs|set|back|EUR|USD|GBP|CHF))"
_DAY = r"(?: (?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]{0,6},?)?"
_NOW = re.compile(rf"\b(?:(?:is|are|was|were) )?now\b(?: [a-z]{{3,12}})?{_LINK}{{0,3}}{_DAY} ?\Z")
_BECAME = re.compile(
    r"\b(?:becomes|became|(?:goes|went|comes|came)(?: up| down)? to|(?:(?:is|was|are|were|has been|have been) )?"
    rf"(?:changed|moved|raised|lowered|reduced|increased|extended|postponed|shifted|set) to){_LINK}{{0,2}}{_DAY} ?\Z"
)
_IS = re.compile(rf"\b(?:is|are)\b{_LINK}{{0,2}}{_DAY} ?\Z")
_NOW_BEHIND = re.compile(r"(?: ?[A-Za-z%]{1,12})? now\b")
_VERBS: frozenset[str] = frozenset(
    "stands stays costs runs listens comes goes expected starts begins ends takes needs lasts weighs measures holds has"
    " remains makes reads counts calls call due about least most only still total".split()
)
_REACH = 80
"""Characters before a value in which its subject is looked for."""
_LONGEST_TALK = 20_000
"""Characters from which on a text is pasted and not said."""
_MANY = 20
"""Things called by one word from which on it names none of them."""
_CAPITALS = re.compile(
    r"(?<![\w$.{(/<-])(?P<key>[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)=(?P<value>[\w.%+/:@-]{1,60})(?![\w(\[{$=])"
)


@lru_cache(maxsize=8_192)
def mentions(text: str) -> tuple[Mention, ...]:
    """Give the values that stand in *text*, in order.

    >>> [(sorted(m.subject), m.value, m.tells) for m in mentions("The cap was 40 m, the price of it is now 2,701.")]
    [(['cap'], '40', ''), (['price'], '2,701', 'now')]
    """
    return tuple(_mentions(text)) if len(text) < _LONGEST_TALK else ()


def _mentions(text: str) -> Iterator[Mention]:
    done = 0
    for value in values_in(text):
        before = _CLAUSE.split(text[max(done, value.start - _REACH) : value.start])[-1]
        behind = text[value.end : value.end + 30]
        now, so = _NOW.search(before) or _BECAME.search(before), _IS.search(before)
        tells = "now" if now or (so and _NOW_BEHIND.match(behind)) else "is" if so else ""
        marker = now or so
        subject = words_of(before[: marker.start()] if marker else before) - CUES - _VERBS
        near = words_of(f"{before} {_END.split(behind)[0]}") - CUES
        unit = value.text[0] if value.text[0] in "£$€" else unit_after(text, value.end)
        done = value.end
        yield Mention(subject, value.text, value.kind, unit, tells, near)


@lru_cache(maxsize=8_192)
def spoken_settings(text: str) -> dict[str, str]:
    r"""Give the settings that *text* tells with one value: assignments in capitals, and numbers on lines of their own.

    >>> spoken_settings("Please take LOG_LEVEL=debug:\nmax_retries: 3\nsession: the last\nN_A=1 or N_A=2")
    {'LOG_LEVEL': 'debug', 'max_retries': '3'}
    """
    found: dict[str, set[str]] = defaultdict(set)
    if len(text) < LONGEST_TEXT and ("=" in text or ": " in text):
        for match in _CAPITALS.finditer(text):
            found[match["key"]].add(match["value"].rstrip(".:"))
        for key, value in settings_in(text):
            if re.search(r"[_.-]", key) and key.lower() not in GUESSABLE_KEYS and shape(value) != "name":
                found[key].add(value)
    return {key: value for key, (value, *more) in found.items() if not more}


class Conversation:
    """What the texts of a conversation have said so far; `changes` reads the next one."""

    def __init__(self) -> None:
        self._near: dict[str, set[str]] = defaultdict(set)
        self._by_word: dict[tuple[str, str], dict[frozenset[str], Mention]] = defaultdict(dict)
        self._values: dict[frozenset[str], set[str]] = {}
        self._settings: dict[str, str] = {}

    def changes(self, text: str) -> Iterator[Change]:
        """Give what *text* changes."""
        told = list(corrections(text))
        new = {change.new for change in told}
        told += [claim for claim in claims(text) if claim.new not in new and self._is_grounded(claim)]
        new.update(claim.new for claim in told)
        yield from told
        found = mentions(text)
        values = defaultdict(set)
        for mention in found:
            if mention.tells:
                values[mention.subject].add(mention.value)
        for mention in found:
            is_one = mention.tells and mention.value not in new and len(values[mention.subject]) == 1
            before = self._before(mention) if is_one else None
            if before is not None and self._is_new(mention, before):
                words = mention.subject
                yield Change("", " ".join(sorted(words)), before.value, mention.value, words)
        for mention in found:
            self._remember(mention)
        yield from self._of_settings(text)

    def _is_new(self, mention: Mention, before: Mention) -> bool:
        """Tell whether a mention changes a value: it says so, or its thing has changed and had this value never."""
        values = self._values.get(mention.subject)
        if mention.tells == "is" and (values is None or mention.value in values or before.subject != mention.subject):
            return False
        self._values.setdefault(mention.subject, set()).update((before.value, mention.value))
        return True

    def _is_grounded(self, claim: Change) -> bool:
        return not claim.words.isdisjoint(self._near.get(claim.old, ()))

    def _remember(self, mention: Mention) -> None:
        self._near[mention.value].update(mention.near)
        for word in mention.subject:
            held = self._by_word[word, mention.kind]
            held.pop(mention.subject, None)  # the latest stands last
            held[mention.subject] = mention

    def _before(self, mention: Mention) -> Mention | None:
        """The mention whose value this one changes: the latest of the same subject, or of the only one called so."""
        if not mention.subject:
            return None
        held = self._by_word.get((min(mention.subject), mention.kind), {})
        found = held.get(mention.subject)
        if found is None and len(held) < _MANY:
            wider = [one for subject, one in held.items() if mention.subject <= subject]
            found = wider[0] if len(wider) == 1 and len(wider[0].subject) <= len(mention.subject) + 1 else None
        if found is None or found.value == mention.value:
            return None
        return None if found.unit and mention.unit and found.unit != mention.unit else found

    def _of_settings(self, text: str) -> Iterator[Change]:
        for key, value in spoken_settings(text).items():
            old = self._settings.get(key)
            self._settings[key] = value
            if old is not None and old != value:
                yield Change("", key, old, value, words_of(key))
