"""`regex_lines`: the protected set and the lines that look most like facts, up to a strategy's very size.

A cheap trick that every method must beat, and a serious bar. Its patterns are its own, none are the scorer's.
"""

from __future__ import annotations

import re
from functools import lru_cache

from compactlab.controls._draws import Ranking
from compactlab.controls._lines import Line, chosen, lines_of, ranked
from compactlab.controls._lines import trial as trial_of
from compactlab.metrics import Case, Trial
from compactlab.transcript import Messages

_LOOKS_LIKE_A_FACT = re.compile(
    r"(?:[\w.-]*/[\w./-]+)|\b\w*_\w+\b|\b[a-z]+[A-Z]\w*\b|\b\w*\d[\w.,:-]*|\"[^\"\n]{3,60}\"|(?<=[a-z,] )[A-Z][a-z]+"
)
LONG = 400
"""Characters from which a line counts as one of this length only: no line wins by being a file."""


def build(case: Case, tokens: int) -> Messages:
    """Keep the lines with the most facts a token, later ones first among equals."""
    lines = lines_of(case)
    return chosen(case, (lines[at] for at in _ranking(case).order), tokens)


def trial(case: Case, tokens: int) -> Trial:
    """What `build` makes, ready to be scored: nothing is built but the line that is cut."""
    return trial_of(case, tokens, _ranking(case), lambda: build(case, tokens))


def _ranking(case: Case) -> Ranking:
    return ranked(case, "regex_lines", lambda lines: [line.number for line in sorted(lines, key=_worth, reverse=True)])


def _worth(line: Line) -> tuple[float, int]:
    return (_facts_in(line.block.text[:LONG]) / (4 + line.tokens), line.number)


@lru_cache(maxsize=32_768)
def _facts_in(text: str) -> int:
    """How many things in a text look like facts; each cut of a session asks for the lines of those before it again."""
    return len(set(_LOOKS_LIKE_A_FACT.findall(text)))
