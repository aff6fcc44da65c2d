"""What the journal gives back to a conversation: the passes over it, one message or a whole list, and the proof."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from compactlab.errors import SpecError
from compactlab.memory import chain, journal
from compactlab.memory.conversation import Standing
from compactlab.memory.entry import Entry, path_of
from compactlab.memory.lines import read_back
from compactlab.memory.parts import Kept
from compactlab.readers import Line, read_json
from compactlab.transcript import Message, readable

_SHOWN = 72
"""Characters of each message in a list of them."""


class Brought(NamedTuple):
    """Messages that a pass took away or left, as they were before it; `lines` are their bytes, in order.

    Of those in `redacted` only the text without secrets is here, those in `missing` are nowhere. `is_back` says that
    they stand in the conversation again, `why_not` why they do not where that was asked for.
    """

    entry: str
    messages: tuple[Kept, ...]
    redacted: tuple[str, ...]
    missing: tuple[str, ...]
    is_back: bool = False
    report: str = ""
    why_not: str = ""

    @property
    def lines(self) -> bytes:
        """All lines, each with its newline, byte for byte."""
        return b"".join(one.line + b"\n" for one in self.messages)

    @property
    def plain(self) -> dict[str, Any]:
        """All of it as plain data: the lines as the JSON that they are."""
        return {**self._asdict(), "messages": [read_json(one.line) for one in self.messages]}

    def to_text(self) -> str:
        """One message in full, or of several the id and the first words of each."""
        lines = [line for line in (self.report, self.why_not and f"not put back: {self.why_not}") if line]
        if len(self.messages) == 1 and not lines:
            lines.append(_in_full(self.messages[0].message))
        elif not self.is_back:
            lines += [f"{one.id}  {one.message.role:9}  {_first_words(one.message)}" for one in self.messages]
        for names, what in ((self.redacted, "here without its secrets only"), (self.missing, "nowhere to be found")):
            lines += [f"{name}: {what}" for name in names]
        return "\n".join(lines)


class Passed(NamedTuple):
    """One entry of the journal: which pass it records, and whether it was applied."""

    id: str
    time: str
    strategy: str
    messages_before: int
    messages_after: int
    tokens_before: int
    tokens_after: int
    path: str
    is_applied: bool


class Logged(NamedTuple):
    """The passes over a conversation, oldest first, and what was proved of them if that was asked for."""

    passes: tuple[Passed, ...]
    verified: chain.Verified | None = None

    @property
    def holds(self) -> bool:
        """Whether nothing is known to be missing or changed."""
        return self.verified is None or self.verified.holds

    def to_text(self) -> str:
        """A line for each pass, then the proof."""
        lines = [_told(one) for one in self.passes] or ["no pass yet"]
        if self.verified is not None:
            found = self.verified
            passes = f"{len(found.entries)} pass{'' if len(found.entries) == 1 else 'es'}"
            counted = f"{passes}, {found.messages:,} messages that were ever live"
            lines.append(f"{'nothing was lost' if found.holds else 'NOT WHOLE'}: {counted}")
            lines += [f"  {fault}" for fault in found.faults]
            lines += [f"  {name}: here without its secrets only" for name in found.redacted]
        return "\n".join(lines)


def brought(repo: Path, standing: Standing, entry: str, message: str = "") -> Brought:
    """Bring back the list as it was before a pass, or one message of it; `JournalError` if there is none such."""
    found = journal.restored(repo, standing.kept, entry, message)
    return Brought(entry, tuple(map(_kept, found.lines)), found.redacted, found.missing)


def entry_of(repo: Path, name: str, entry: str) -> str:
    """The whole id of an entry of this conversation, given it or its last part; `SpecError` if there is none."""
    ids = [one.id for one in journal.entries(repo, name) if one.id == entry or one.id.endswith(f"-{entry}")]
    if len(ids) != 1:
        raise SpecError(f"entry {entry!r}: expected one of the passes over {name}, as `log` lists them")
    return ids[0]


def logged(repo: Path, name: str, standing: Standing, *, verify: bool) -> Logged:
    """List the passes, those that a kill kept from being applied too; *verify* proves that nothing was lost."""
    found = {one.id: one for one in journal.entries(repo, name)}
    applied = set()
    last = standing.entry
    while last and last not in applied:
        applied.add(last)
        last = found[last].previous if last in found else ""
    proof = chain.verified(repo, name, standing.kept, standing.entry) if verify else None
    return Logged(tuple(_passed(one, is_applied=one.id in applied) for one in found.values()), proof)


def _passed(entry: Entry, *, is_applied: bool) -> Passed:
    head = entry.head
    return Passed(
        id=entry.id,
        time=str(head["time"]),
        strategy=str(head["strategy"]),
        messages_before=head["messages_before"],
        messages_after=head["messages_after"],
        tokens_before=head["tokens_before"],
        tokens_after=head["tokens_after"],
        path=path_of(entry.id),
        is_applied=is_applied,
    )


def _told(one: Passed) -> str:
    applied = "" if one.is_applied else "  (not applied)"
    messages = f"{one.messages_before:,} -> {one.messages_after:,} messages"
    tokens = f"{one.tokens_before:,} -> {one.tokens_after:,} tokens"
    return f"{one.id}  {one.strategy}  {messages}, {tokens}{applied}\n  {one.path}"


def _kept(line: bytes) -> Kept:
    return read_back(Line(0, read_json(line), line), 0, "journal")


def _in_full(message: Message) -> str:
    return "\n".join(readable(block) for block in message.blocks)


def _first_words(message: Message) -> str:
    words = " ".join(" ".join(readable(block) for block in message.blocks)[: 4 * _SHOWN].split())
    return words if len(words) <= _SHOWN else f"{words[: _SHOWN - 1]}…"
