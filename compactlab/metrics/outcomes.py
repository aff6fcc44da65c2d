"""M7, status fidelity: whether a command that failed, was killed or ran out of time is still told as such.

`status` counts, for each family (failed, killed, timeout), the outcomes at risk by what became of them, as its group:
kept where the result still tells its status or words do (the agent's own or made ones), contradicted where words that
compaction made say that the command worked and none that it did not, lost otherwise. A command that worked later cannot
be contradicted.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, NamedTuple

from compactlab.facts.text import canonical
from compactlab.metrics import Case, Score, Trial
from compactlab.probes.mined import mask
from compactlab.traffic.outcomes import BAD, Outcome, Status, names_of, outcomes, state_of_tests, status_of
from compactlab.transcript import Block, Message, Text, ToolResult

Verdict = Literal["kept", "contradicted", "lost"]
VERDICTS: tuple[Verdict, ...] = ("kept", "contradicted", "lost")

_BAD = re.compile(
    r"\b(?:fail(?:s|ed|ing|ures?)?|errors?|errored|broken|broke|crash(?:es|ed)?|refused|rejected|denied|non-?zero|killed"
    r"|exit(?:ed)?(?: with)?(?: code| status)? [1-9]\d{0,2}|aborted|terminated|oom|out of memory|timed[ -]out|timeout"
    r"|did(?: not|n't) (?:work|pass|run|succeed|build|finish)|could(?: not|n't)|unable|not found|blocked)\b",
    re.IGNORECASE,
)
_GOOD = re.compile(
    r"\b(?:pass(?:es|ed|ing)?|succe(?:ss|ssful|ssfully|eds|eded|eds)|succeed(?:s|ed)|worked|works|green|clean(?:ly)?"
    r"|complet(?:es|ed)|exit(?:ed)?(?: with)?(?: code| status)? 0|without (?:errors?|problems?|failures?)"
    r"|no (?:errors?|failures?)"
    r"|ran (?:fine|ok)|done|ok|finished)\b|✓|✅",
    re.IGNORECASE,
)
_NO_BAD = re.compile(r"\b(?:no|0|zero|without(?: any)?) (?:errors?|failures?|failed|failing)\b", re.IGNORECASE)
_INSIDE = re.compile(r"[\w-]")
_LINE = re.compile(r"\n|(?<=[.;])\s")


class Failure(NamedTuple):
    """An outcome at risk, what texts call its command, and whether the command worked later."""

    outcome: Outcome
    names: tuple[str, ...]
    mended: bool


@dataclass(frozen=True)
class Failures:
    """Bad outcomes, and which of them each block tells as failures and as successes: two bit sets."""

    found: tuple[Failure, ...]
    own: frozenset[Block]
    said: dict[Block, tuple[int, int]] = field(default_factory=dict)

    @cached_property
    def names(self) -> frozenset[str]:
        """All that texts may call the commands."""
        return frozenset(name for failure in self.found for name in failure.names)

    def told(self, messages: Iterable[Message]) -> tuple[int, int]:
        """Which failures *messages* tell as failures, and which as successes."""
        bad = good = 0
        for message in messages:
            for block in message.blocks:
                told = self.said.get(block)
                if told is None:
                    told = self.said[block] = self._read(block, by_agent=message.role == "assistant")
                bad |= told[0]
                good |= told[1]
        return bad, good

    def _read(self, block: Block, *, by_agent: bool) -> tuple[int, int]:
        if isinstance(block, ToolResult):
            return self._left(block), 0
        is_own = block in self.own
        if not isinstance(block, Text) or (is_own and not by_agent):
            return 0, 0
        bad = good = 0
        shown = canonical(block.text)
        spoken_of = any(name in shown for name in self.names)
        for line in _LINE.split(block.text) if spoken_of else ():
            if len(line) < 7 or not (_GOOD.search(line) or _BAD.search(line)):
                continue
            tells_bad = _BAD.search(_NO_BAD.sub(" ", line)) is not None
            named = self._named(canonical(line))
            bad |= named if tells_bad else 0
            good |= 0 if tells_bad or is_own else named
        return bad, good & ~bad & ~mask(at for at, failure in enumerate(self.found) if failure.mended)

    def _named(self, line: str) -> int:
        return mask(at for at, one in enumerate(self.found) if any(_names(line, name) for name in one.names))

    def _left(self, result: ToolResult) -> int:
        """The failures whose edited result still tells its status."""
        told = 0
        for at, (outcome, _, _) in enumerate(self.found):
            if outcome.result.call_id == result.call_id:
                tests = outcome.tests == "failed" and state_of_tests(result.text) == "failed"
                told |= (tests or status_of(outcome.call, result) == outcome.status) << at
        return told


def _names(line: str, name: str) -> bool:
    at = line.find(name)
    while at >= 0:
        before, after = line[max(0, at - 1) : at], line[at + len(name) : at + len(name) + 1]
        if not _INSIDE.search(before) and not _INSIDE.match(after):
            return True
        at = line.find(name, at + 1)
    return False


def _failures(case: Case) -> Failures:
    """The failures at risk: those that no message of the protected set tells."""
    made: Sequence[Outcome] = case.cached("outcomes", lambda: outcomes(case.base))
    found: list[Failure] = []
    mended: set[str] = set()
    for outcome in reversed(made):
        names = names_of(outcome.command)
        if outcome.status not in BAD:
            mended.update(names)
        elif outcome.position not in case.held:
            found.append(Failure(outcome, names, not mended.isdisjoint(names)))
    found.reverse()
    safe, _ = Failures(tuple(found), case.own).told(case.protected)
    return Failures(tuple(failure for at, failure in enumerate(found) if not safe >> at & 1), case.own)


def measure(trial: Trial) -> Iterator[Score]:
    """Yield, for each status, how many outcomes at risk have each verdict; nothing where nothing failed."""
    failures = trial.case.cached("failures", lambda: _failures(trial.case))
    if not failures.found:
        return
    kept, good = failures.told(trial.messages)
    verdicts: dict[Status, list[Verdict]] = {}
    for at, failure in enumerate(failures.found):
        verdict: Verdict = "kept" if kept >> at & 1 else "contradicted" if good >> at & 1 else "lost"
        verdicts.setdefault(failure.outcome.status, []).append(verdict)
    for status in BAD:
        for verdict in VERDICTS if status in verdicts else ():
            yield Score("status", verdicts[status].count(verdict), len(verdicts[status]), status, group=verdict)
