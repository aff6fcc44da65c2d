"""What the verbs give back: data for programs, and text for a person or an agent."""

from __future__ import annotations

from typing import NamedTuple

from compactlab.memory.attention import Estimate, Warned, lines_of
from compactlab.receipt import Receipt


class Appended(NamedTuple):
    """What an append did: the identities of the messages, how things stand behind it, and a warning if marks fired.

    `unfinished` counts bytes of a line that a killed writer left, which were ended or put aside before.
    """

    conversation: str
    ids: tuple[str, ...]
    tokens: int
    window: int
    pressure: float
    allowance: int
    warning: Warned | None
    unfinished: int

    def to_text(self) -> str:
        """One line, and the warning if there is one."""
        count = f"{len(self.ids)} message{'' if len(self.ids) == 1 else 's'} appended to {self.conversation}"
        lines = [f"{count}: {self.tokens:,} of {self.window:,} tokens, pressure {self.pressure:.2f}"]
        if self.unfinished:
            lines.append(f"a line of {self.unfinished:,} bytes had no end; a writer was killed there")
        return "\n".join([*lines, *([self.warning.to_text()] if self.warning else [])])


class Status(NamedTuple):
    """How full a conversation is, what is armed, what she has not answered or has declined, what passes would free."""

    conversation: str
    agent_type: str
    messages: int
    tokens: int
    window: int
    window_is_assumed: bool
    pressure: float
    marks: tuple[float, ...]
    armed: tuple[float, ...]
    unanswered: tuple[float, ...]
    declined: str
    next_mark: float | None
    allowance: int
    passes: int
    entry: str
    estimates: tuple[Estimate, ...]

    def to_text(self) -> str:
        """All of it, a line each."""
        assumed = " (no window is set: this one is assumed)" if self.window_is_assumed else ""
        last = f", the last is {self.entry}" if self.entry else ""
        lines = [
            f"{self.conversation} ({self.agent_type}): {self.messages:,} messages",
            f"pressure {self.pressure:.2f}: {self.tokens:,} of {self.window:,} tokens{assumed}",
            f"marks {_shown(self.marks)}; armed {_shown(self.armed)}",
        ]
        if self.unanswered:
            lines.append(f"crossed and not answered: {_shown(self.unanswered)}")
        if self.declined:
            until = f"until {self.next_mark:.2f}" if self.next_mark else "there is no further mark"
            lines.append(f"declined, {until}: {self.declined}")
        lines += [f"output allowance {self.allowance:,} tokens", f"passes applied: {self.passes}{last}"]
        return "\n".join([*lines, "what a pass would do now:", *lines_of(self.estimates)])


class Outcome(NamedTuple):
    """What came of asking for a pass: whether it was applied, the report as she feels it, why not, and the tally.

    `note` is what the journal has to say beside that, such as why its commit is on no branch yet.
    """

    is_applied: bool
    is_dry_run: bool
    report: str
    why_not: str
    entry: str
    path: str
    note: str
    pressure_before: float
    pressure_after: float
    receipt: Receipt

    @property
    def is_done(self) -> bool:
        """Whether what was asked for was done: a dry run, and a decline, ask for nothing to be moved."""
        return self.is_applied or self.is_dry_run or self.receipt.outcome == "deferred"

    def to_text(self) -> str:
        """The report as she feels it, and why nothing was done where that is so; of a dry run the tally."""
        if self.is_dry_run:
            return f"would be: {self.receipt.to_text()}"
        return "\n".join([self.report, *([f"not applied: {self.why_not}"] if self.why_not else [])])


class Declined(NamedTuple):
    """A decline: the reason as it was recorded, and the mark at which she hears of it again (None above the last)."""

    reason: str
    report: str
    pressure: float
    next_mark: float | None

    def to_text(self) -> str:
        """How it feels, and until when it holds."""
        until = f"at pressure {self.next_mark:.2f}" if self.next_mark else "no more: there is no further mark"
        return f"{self.report}\ndeclined at pressure {self.pressure:.2f}: {self.reason}\nyou will hear of it {until}"


def _shown(marks: tuple[float, ...]) -> str:
    return ", ".join(f"{mark:.2f}" for mark in marks) or "none"
