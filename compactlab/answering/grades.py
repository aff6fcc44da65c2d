"""Whether an answer is right: by exact and alias match where that can tell, by what a judge wrote where it cannot.

Exact match decides three cases: the answer holds a right value and no outdated one and is short (`right`), it says that
it does not know (`unknown`), it is short and holds an outdated value alone (`stale`). All else is `undecided`: another
wording, a long answer that may hold anything, an answer with both an old and a new value.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Literal

from compactlab.answering.wording import DIMENSIONS
from compactlab.facts.text import canonical
from compactlab.llm.checks import Rejected
from compactlab.matching import Matcher, Pattern
from compactlab.probes.hand import Probe

Exact = Literal["right", "unknown", "stale", "undecided"]
LONGEST = 24
"""Words beside the value that an answer may have to count by match: one that lists all values must not."""
PASS = 4
"""Least grade in accuracy and in completeness of an answer that a judge calls right."""
BEST = 5

_UNKNOWN = re.compile(
    r"(?:the answer is |answer: )?[\W_]*(?:unknown|i (?:do not|don't) know|n/?a|none"
    r"|not (?:stated|specified|mentioned|known|given|available|found))[\W_]*(?:\W.{0,160})?",
    re.IGNORECASE | re.DOTALL,
)
_WORDS = re.compile(r"\w+")


def exact(answer: str, probe: Probe) -> Exact:
    """Grade an answer by match alone.

    >>> probe = Probe("p", "Which port?", "5433", (), 0, superseded=("5432",))
    >>> [exact(text, probe) for text in ("It is port 5433.", "UNKNOWN", "5432", "5433, not 5432", "The new one")]
    ['right', 'unknown', 'stale', 'undecided', 'undecided']
    """
    said = canonical(answer).strip()
    right, old = _holds(said, (probe.answer, *probe.aliases)), _holds(said, probe.superseded)
    if not said or (_UNKNOWN.fullmatch(said) and not right):
        return "unknown"
    if len(_WORDS.findall(said)) > LONGEST + len(_WORDS.findall(probe.answer)):
        return "undecided"
    if right == old:
        return "undecided"
    return "right" if right else "stale"


def _holds(said: str, values: Sequence[str]) -> bool:
    forms = tuple(canonical(value) for value in values if value.strip())
    return bool(forms) and bool(Matcher([Pattern(forms, exact=False, family="answer")]).hits(said))


def grades(text: str) -> dict[str, int]:
    """Read what a judge wrote: a whole number from 0 to 5 in each dimension; `Rejected` for anything else.

    >>> grades('Sure: {"accuracy": 5, "context_awareness": 5, "artifact_trail": 5, "completeness": 4, "continuity": 4, '
    ...        '"instruction_following": 3}')["completeness"]
    4
    """
    found = _object(text)
    read = {name: found.get(name) for name in DIMENSIONS}
    for name, grade in read.items():
        if isinstance(grade, bool) or not isinstance(grade, int) or not 0 <= grade <= BEST:
            raise Rejected(f"the judge gave {grade!r} for {name}; expected a whole number from 0 to {BEST}")
    return {name: grade for name, grade in read.items() if isinstance(grade, int)}


def _object(text: str) -> dict[str, object]:
    """The last JSON object in a text that names a dimension: a judge may think aloud before it."""
    decoder, found = json.JSONDecoder(), dict[str, object]()
    for match in re.finditer(r"\{", text):
        try:
            value, _ = decoder.raw_decode(text, match.start())
        except ValueError:
            continue
        if isinstance(value, dict) and value.keys() & DIMENSIONS.keys():
            found = value
    if not found:
        raise Rejected("the judge gave no JSON object with grades")
    return found


def passes(graded: dict[str, int]) -> bool:
    """Tell whether grades make an answer right: accurate and complete, but for a detail that misleads nobody."""
    return graded["accuracy"] >= PASS and graded["completeness"] >= PASS
