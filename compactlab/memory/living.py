"""`Memory`: a living conversation and the verbs on it, as the command line, a harness, and the agent herself have them.

What is live lies in `REPO/conversations/NAME.jsonl`; what a pass took out of it lies in the journal of the same folder
(`compactlab.memory.journal`). No verb but `compact` and `restore(..., back=True)` changes what is live.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from compactlab import catalog
from compactlab.compaction import Guard
from compactlab.errors import SpecError, TranscriptError
from compactlab.memory import felt, journal, passes
from compactlab.memory.attention import (
    WINDOW,
    Estimate,
    Room,
    Warned,
    attention,
    declined,
    next_mark,
    step,
)
from compactlab.memory.bringing import Brought, Logged, brought, entry_of, logged
from compactlab.memory.conversation import Conversation, Standing, now
from compactlab.memory.disk import sync_folder
from compactlab.memory.incoming import Incoming, given, parsed
from compactlab.memory.lines import kept
from compactlab.memory.parts import Originals, Pass
from compactlab.memory.places import header, named, place
from compactlab.memory.told import Appended, Declined, Outcome, Status
from compactlab.pressure import OUTPUT_LIMIT
from compactlab.replay.window import Window
from compactlab.settings import Project
from compactlab.strategies import Strategy
from compactlab.tokens import DEFAULT_COUNTER, Meter
from compactlab.transcript import Message, Messages


@dataclass(frozen=True)
class Choices:
    """What holds for a memory beside its settings: the window and what of it is not for messages, in tokens; the token
    counter; the words in which it speaks; whether originals go into git.
    """

    window: int | None = None
    overhead: int = 0
    reserve: int = 0
    output_limit: int = OUTPUT_LIMIT
    counter: str = DEFAULT_COUNTER
    wordings: str | Path | None = None
    originals: Originals = "git"


@dataclass(frozen=True)
class Memory:
    """The living conversation *name* in the folder *repo*; without a name the only one there.

    `SpecError` for a folder that is not there, a name that is no safe file name, and a choice among several. Objects
    may be shared by threads, files by processes.
    """

    repo: Path
    name: str = ""
    project: Project = field(default_factory=Project)
    choices: Choices = field(default_factory=Choices)

    def __post_init__(self) -> None:
        object.__setattr__(self, "repo", Path(self.repo))
        object.__setattr__(self, "name", named(self.repo, self.name))

    @property
    def path(self) -> Path:
        """The file of the conversation."""
        return place(self.repo, self.name)

    @cached_property
    def conversation(self) -> Conversation:
        """The conversation on the disk."""
        return Conversation(self.path)

    @cached_property
    def meter(self) -> Meter:
        """What weighs its messages."""
        return Meter(self.choices.counter)

    @cached_property
    def words(self) -> felt.Wordings:
        """The words in which it speaks."""
        return felt.wordings(self.choices.wordings)

    @property
    def messages(self) -> Messages:
        """What is live: the messages that the next request has."""
        return tuple(one.message for one in self._standing().kept)

    def append(self, messages: Iterable[Message | Mapping[str, Any]] | bytes, agent_type: str = "") -> Appended:
        """Append messages: our own, dictionaries of OpenAI's or Anthropic's shape, or JSON as bytes.

        The first append makes the conversation, of an agent of *agent_type* (`primary` if nothing says another).
        """
        incoming = parsed(messages) if isinstance(messages, bytes) else Incoming(given(messages), {})
        time = now()
        fresh = [kept(m if m.timestamp else replace(m, timestamp=time)) for m in incoming.messages]
        if self.path.exists():
            self.conversation.read()  # what is long is read before the lock is taken
        else:
            self.path.parent.mkdir(exist_ok=True)
            sync_folder(self.repo)
        with self.conversation.held() as held:
            standing = held.read()
            start = [] if standing.header else [header(self.name, agent_type, incoming.header)]
            if standing.header and agent_type not in {"", standing.agent_type}:
                raise SpecError(f"{self.path}: is of a {standing.agent_type} agent, not {agent_type!r}")
            cut = held.append([*start, *(one.line for one in fresh)]) if start or fresh else 0
            standing = held.read()
            looked = step(attention(standing.notes), self.room(standing.agent_type), self._tokens(standing))
            if looked.line:
                held.append([looked.line])
        warning = self._warned(standing, looked.fired) if looked.fired else None
        room, tokens = self.room(standing.agent_type), self._tokens(standing)
        return Appended(
            conversation=self.name,
            ids=tuple(one.id for one in fresh),
            tokens=tokens,
            window=room.window.tokens,
            pressure=room.pressure(tokens),
            allowance=room.allowance(tokens),
            warning=warning,
            unfinished=cut,
        )

    def status(self) -> Status:
        """Say how full it is and what each strategy would free; asks no model and changes nothing."""
        standing = self._standing()
        room, at = self.room(standing.agent_type), attention(standing.notes)
        tokens, reached, allowed = self._fullness(standing)
        return Status(
            conversation=self.name,
            agent_type=standing.agent_type,
            messages=len(standing.kept),
            tokens=tokens,
            window=room.window.tokens,
            window_is_assumed=room.is_assumed,
            pressure=reached,
            marks=room.marks.values,
            armed=at.armed(room.marks),
            unanswered=at.unanswered,
            declined=at.declined,
            next_mark=next_mark(room, tokens),
            allowance=allowed,
            passes=standing.generation,
            entry=standing.entry,
            estimates=self._estimates(standing),
        )

    def compact(
        self, strategy: str = "", *, target: int | None = None, focus: str = "", dry_run: bool = False
    ) -> Outcome:
        """Make room by a strategy, or that of the agent's type; applied only to what it was planned for.

        *focus* tells a strategy that asks a model what matters in this pass, and stands in the receipt.
        `defer(reason=...)` is a decline. `SpecError` and `UnknownName` for a strategy that is none.
        """
        standing = self._standing()
        tokens = self._tokens(standing)
        built = catalog.strategy(strategy or self.project.strategy(standing.agent_type, tokens))
        room = self.room(standing.agent_type)
        planned = passes.plan(standing, self._asked(standing, built, target, focus))
        receipt = planned.receipt
        if dry_run or receipt.outcome != "applied":
            if receipt.outcome == "deferred" and not dry_run:
                self.ignore(receipt.reason)
            return self._outcome(planned, passes.Applied(None, receipt.reason or receipt.outcome), dry_run=dry_run)
        done = passes.apply(self.conversation, planned, room, self.meter, self._record)
        return self._outcome(planned, done)

    def ignore(self, reason: str) -> Declined:
        """Decline to make room, for a reason; holds until the next mark. `SpecError` without a reason."""
        if not reason.strip():
            raise SpecError("a decline needs a reason: what is it that all of this is still needed for?")
        self._standing()
        with self.conversation.held() as held:
            standing = held.read()
            tokens, room = self._tokens(standing), self.room(standing.agent_type)
            held.append([declined(reason.strip(), room, tokens)])
        report = felt.said(self.words, "declined", f"{self.name}|{reason}")
        return Declined(reason.strip(), report, room.pressure(tokens), next_mark(room, tokens))

    def restore(self, entry: str, message: str = "", *, back: bool = False) -> Brought:
        """Bring back the list as it was before the pass *entry*, or one message of it, byte for byte.

        With *back* the list stands in the conversation again, what was appended since behind it: a pass like any other,
        with an entry of its own. `JournalError` and `SpecError` for what is not there.
        """
        standing = self._standing()
        found = brought(self.repo, standing, entry_of(self.repo, self.name, entry), message)
        if not back:
            return found
        if message:
            raise SpecError("only a whole list can be put back; without it the message is given to be read")
        if found.redacted or found.missing:
            return found._replace(why_not="not all of it is here as it was")
        planned = passes.plan_back(standing, found.entry, found.messages, self.meter)
        done = passes.apply(self.conversation, planned, self.room(standing.agent_type), self.meter, self._record)
        if done.entry is None:
            return found._replace(why_not=done.why_not)
        report = felt.said(self.words, "returned", f"{self.name}|{found.entry}", str(done.entry.path))
        return found._replace(is_back=True, report=report)

    def log(self, *, verify: bool = False) -> Logged:
        """List the passes over the conversation; *verify* proves from the bytes that nothing was lost."""
        return logged(self.repo, self.name, self._standing(), verify=verify)

    def room(self, agent_type: str) -> Room:
        """What the conversation of a type of agent must fit."""
        own = self.choices.window or self.project.window(agent_type)
        window = Window(own or WINDOW, self.choices.overhead, self.choices.reserve).checked()
        return Room(window, self.project.marks.of(agent_type), own is None, self.choices.output_limit)

    def _standing(self) -> Standing:
        standing = self.conversation.read()
        if not standing.header:
            raise TranscriptError(f"{self.path}: holds nothing yet")
        return standing

    def _tokens(self, standing: Standing) -> int:
        return self.meter.messages(one.message for one in standing.kept)

    def _fullness(self, standing: Standing) -> tuple[int, float, int]:
        tokens, room = self._tokens(standing), self.room(standing.agent_type)
        return tokens, room.pressure(tokens), room.allowance(tokens)

    def _asked(self, standing: Standing, built: Strategy, target: int | None, focus: str) -> passes.Asked:
        project = self.project.of(standing.agent_type)
        model = project.model() if built.uses_model else None
        guard = Guard(self.meter, model=model, prompts=project.prompts.focused(focus))
        return passes.Asked(built, guard, target, self.project.pins(standing.agent_type))

    def _estimates(self, standing: Standing) -> tuple[Estimate, ...]:
        room = self.room(standing.agent_type)
        default = catalog.strategy(self.project.strategy(standing.agent_type, self._tokens(standing)))
        messages = tuple(one.message for one in standing.kept)
        guard, pins = (
            Guard(self.meter, prompts=self.project.of(standing.agent_type).prompts),
            self.project.pins(standing.agent_type),
        )
        return tuple(
            passes.estimate(messages, passes.Asked(strategy, guard, None, pins), room, by_default=strategy == default)
            for strategy in passes.choices(default)
        )

    def _warned(self, standing: Standing, fired: tuple[float, ...]) -> Warned:
        tokens, reached, allowed = self._fullness(standing)
        kind = felt.pressing(fired, self.room(standing.agent_type).marks.values)
        words = felt.said(self.words, kind, f"{self.name}|{len(standing.kept)}")
        return Warned(fired, reached, tokens, allowed, words, self._estimates(standing))

    def _record(self, done: Pass) -> passes.Recorded:
        return journal.record(self.repo, done, self.choices.originals)

    def _outcome(self, planned: passes.Planned, done: passes.Applied, *, dry_run: bool = False) -> Outcome:
        receipt = planned.receipt
        room = self.room(planned.standing.agent_type)
        kind = felt.kind_of(receipt, planned.summary)
        is_applied = done.entry is not None
        if receipt.outcome == "applied" and not is_applied and not dry_run:
            kind = "unmoved"
        path = str(done.entry.path) if done.entry else ""
        report = "" if dry_run else felt.said(self.words, kind, f"{self.name}|{receipt.result}", path)
        after = self._tokens(done.standing) if done.standing else receipt.tokens_after
        return Outcome(
            is_applied,
            dry_run,
            report,
            "" if is_applied or dry_run else done.why_not,
            done.entry.id if done.entry else "",
            path,
            done.entry.note if done.entry else "",
            room.pressure(receipt.tokens_before),
            room.pressure(after),
            receipt,
        )
