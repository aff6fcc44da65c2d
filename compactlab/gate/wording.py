"""How the outcome of a gate is put into words, wherever it is written; text of transcripts is data in all of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from compactlab.gate.outcome import Check, FactChange, Gated, Verdict

VALUE = 120
"""Characters of a fact's value that are shown; those of a name of a session or strategy are three times as many."""
AROUND = 240
"""Characters of the words around a fact, and of a reason."""
WORDS: dict[Verdict, str] = {"pass": "no worse", "fail": "worse", "inconclusive": "not shown"}
"""What a verdict says of one check."""

_RANK: dict[Verdict, int] = {"fail": 0, "inconclusive": 1, "pass": 2}
_HIDDEN = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ud800-\udfff\ufeff\ufff9-\ufffb\ufffe\uffff"
    "\U000e0000-\U000e007f]"
)
"""What moves a cursor, turns the direction of reading, shows nothing, or is no character that XML knows."""


class Changes(NamedTuple):
    """The facts that one strategy lost and those that it gained, each once, in the order of its checks."""

    strategy: str
    lost: tuple[FactChange, ...]
    gained: tuple[FactChange, ...]


def visible(text: str, most: int) -> str:
    r"""Make any text one line of printable characters; what is over *most* is cut, and told of by the whole length.

    >>> visible("a\x1b[31m\tb\n\ud83d", 80)
    'a\\x1b[31m b \\ud83d'
    >>> visible("x" * 5_000, 8)
    'xxxxxxxx… (5,000 characters)'
    """
    shown = _HIDDEN.sub(_escape, " ".join(text[:most].split()))
    if len(text) <= most and len(shown) <= most:
        return shown
    return f"{shown[:most]}… ({len(text):,} characters)"


def _escape(found: re.Match[str]) -> str:
    code = ord(found[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def ranked(checks: Iterable[Check]) -> list[Check]:
    """Put checks into the order in which they matter: what decides first, failed, not shown, warned of, passed."""
    return sorted(checks, key=lambda check: (not check.decides, _RANK[check.verdict], not check.warning))


def said(check: Check) -> str:
    """The verdict of a check in a word or two."""
    if not check.decides:
        return "told only"
    return "let pass" if check.warning and check.verdict == "pass" else WORDS[check.verdict]


def why(check: Check) -> str:
    """What a check says of its verdict, and what it warns of, where that is not the same."""
    if check.warning.startswith(check.reason):
        return check.warning or said(check)
    return "; ".join(filter(None, (check.reason, check.warning)))


def difference(check: Check) -> str:
    """The difference with its interval; alone where it is exact, or where no interval can be had.

    >>> difference(Check("cull", "all", "bound", "pass", 0.9, 0.88, -0.02, -0.041, 0.001, 0.05, 9, 6, exact=False))
    '-0.020 [-0.041, +0.001]'
    """
    if check.exact or check.low is None or check.high is None:
        return f"{check.difference:+.3f}"
    return f"{check.difference:+.3f} [{check.low:+.3f}, {check.high:+.3f}]"


def changes(checks: Iterable[Check]) -> list[Changes]:
    """By strategy the facts that moved; one that stands in several of its checks is named once.

    A fact that one check calls lost and another gained is in both.
    """
    by_strategy: dict[str, tuple[dict[FactChange, None], dict[FactChange, None]]] = {}
    for check in checks:
        lost, gained = by_strategy.setdefault(check.strategy, ({}, {}))
        lost |= dict.fromkeys(check.lost)
        gained |= dict.fromkeys(check.gained)
    return [Changes(s, tuple(lost), tuple(gained)) for s, (lost, gained) in by_strategy.items() if lost or gained]


def headline(gated: Gated) -> str:
    """The whole outcome in one sentence.

    >>> headline(Gated("pass", (), (), "", ""))
    'No worse than the baseline: 0 checks passed.'
    """
    deciding = [check for check in gated.checks if check.decides]
    worse, unshown, passed = (sum(c.verdict == v for c in deciding) for v in ("fail", "inconclusive", "pass"))
    warned = sum(bool(check.warning) for check in deciding)
    if gated.verdict == "fail":
        parts = [f"{counted(worse, 'check')} of {len(deciding)} failed"] if worse else []
        parts += [counted(len(gated.faults), "fault")] if gated.faults else []
        return f"Worse than the baseline: {_joined(parts)}."
    if gated.verdict == "inconclusive":
        of = f"{unshown} of {counted(len(deciding), 'check')} could not be decided" if unshown else "see the notes"
        return f"Not shown to be no worse than the baseline: {of}."
    more = f", {warned} of them with a warning" if warned else ""
    return f"No worse than the baseline: {counted(passed, 'check')} passed{more}."


def counted(number: int, what: str) -> str:
    """A number of things in words.

    >>> counted(1, "fault"), counted(2_000, "fault")
    ('1 fault', '2,000 faults')
    """
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def moved(lost: Sequence[FactChange], gained: Sequence[FactChange]) -> str:
    """How many facts were lost and gained, in words."""
    return _joined(
        f"{counted(len(facts), 'fact')} {how}" for facts, how in ((lost, "lost"), (gained, "gained")) if facts
    )


def _joined(parts: Iterable[str]) -> str:
    return " and ".join(parts) or "nothing"
