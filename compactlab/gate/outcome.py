"""What a gate found: a check for each strategy, type of agent and metric; faults that nothing excuses; the verdict."""

from __future__ import annotations

from typing import Literal, NamedTuple

import msgspec

Verdict = Literal["pass", "fail", "inconclusive"]
"""No worse than the baseline by more than the margin; worse by more; or neither was shown."""
EXIT_CODES: dict[Verdict, int] = {"pass": 0, "fail": 1, "inconclusive": 3}
"""What the command ends with; 2 is wrong usage or an error of the tool, which is never a pass."""


class FactChange(NamedTuple):
    """A needed fact that the baseline kept and the run lost, or the other way round.

    `home` and `used` are the positions of the messages that held it first and that needed it, with the words around it.
    """

    session: str
    cut: str
    family: str
    value: str
    home: int
    home_text: str
    used: int
    used_text: str
    regain: str


class Check(msgspec.Struct, frozen=True):
    """One metric of one strategy on the sessions of one type of agent ("all" for all of them), run against baseline.

    `base` and `new` are means over sessions of shares from 0 to 1; `difference` is new less base, from `low` to `high`
    at 95 % (None where no interval can be had). `exact` where strategy and corpus leave nothing to chance: then `lost`
    and `gained` name each fact that moved. `warning` tells of what is worse though within the margin. A check that does
    not decide is of a type with too few stories: it is told of, and the check of all sessions has the say.
    """

    strategy: str
    agent_type: str
    metric: str
    verdict: Verdict
    base: float
    new: float
    difference: float
    low: float | None
    high: float | None
    margin: float
    sessions: int
    stories: int
    exact: bool
    reason: str = ""
    warning: str = ""
    lost: tuple[FactChange, ...] = ()
    gained: tuple[FactChange, ...] = ()
    decides: bool = True

    @property
    def name(self) -> str:
        """The check in one line, unique in a gate."""
        return f"{self.strategy} / {self.agent_type} / {self.metric}"


class Fault(NamedTuple):
    """What no margin excuses: an invalid list of messages, an inverted rule, an overflow, another result the second
    time, a case that errored or is missing.
    """

    kind: Literal["validity", "inverted", "overflow", "determinism", "error", "missing"]
    strategy: str
    session: str
    cut: str
    reason: str


class Gated(msgspec.Struct, frozen=True):
    """The outcome of a gate: verdict, checks, faults, and the lines that say what was compared with what."""

    verdict: Verdict
    checks: tuple[Check, ...]
    faults: tuple[Fault, ...]
    signature: str
    baseline: str
    notes: tuple[str, ...] = ()

    @property
    def exit_code(self) -> int:
        """0 pass, 1 regression, 3 inconclusive."""
        return EXIT_CODES[self.verdict]
