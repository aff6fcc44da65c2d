"""The story of one trajectory, over all its files, and the compactions in it.

A compaction shows in three ways. A step marks it (see `_boundaries`) and may hold the summary, in what it says or
observed. Or the step is empty, and the user's step after it is what the harness handed over. Or the trajectory ends
there and goes on in another file, whose first steps are marked as copied: they are what stood in context.
"""

from __future__ import annotations

import re
from collections import defaultdict, deque
from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec.structs import replace

from compactlab.readers._fields import array, count, mapping, string
from compactlab.readers._usage import openai_usage
from compactlab.readers.atif._boundaries import Boundary, begins_anew, boundary, references, sidechain
from compactlab.readers.atif._steps import Steps
from compactlab.transcript import Message, Origin, RecordedCompaction, Usage

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from compactlab.readers.atif._files import File

_HANDED = re.compile(
    r"summar(?:y|i[sz]e)|previous (?:agent|conversation|session)|other agent|picking up work", re.IGNORECASE
)
_LOOKED_AT = 600
Entries = tuple[int | Message, ...]


class Told(NamedTuple):
    """What the sub-agents of a summary said: the last words of the first, and what they left to be handed over."""

    summary: str = ""
    summariser: str = ""
    exchanged: tuple[Message, ...] = ()


class Story:
    """Messages, compactions and usage of a session, growing file by file.

    *agent* is the sub-agent whose steps are read, where a trajectory holds those of several; empty for the main agent.
    `others` are the sub-agents whose steps were passed over.
    """

    def __init__(self, agent: str = "") -> None:
        self.agent = agent
        self.others: dict[str, File] = {}
        self.steps = Steps()
        self.messages: list[Message] = []
        self.compactions: list[RecordedCompaction] = []
        self.usage: list[Usage] = []
        self.origins: list[Origin] = []
        self.references: list[tuple[dict[str, Any], File]] = []
        self.files: list[File] = []
        self.records = 0
        self._pending: tuple[Boundary, Told] | None = None

    def add(self, file: File, teller: Teller, *, copies_known: bool) -> None:
        """Take up the steps of a file; with *copies_known*, its copied steps stand in a file that was read before."""
        first = self.records
        self.files.append(file)
        self.origins.append(Origin(str(file.source.path), "steps[{}]", first=first))
        steps = array(file.document.get("steps"))
        copied = [(i, s) for i, s in enumerate(steps) if mapping(s).get("is_copied_context") is True]
        if copies_known and copied:
            self.steps.skipped["copied step"] += len(copied)
            if first:
                self._seam([m for i, step in copied for m in self.steps.messages(step, first + i, file.source)])
        for index, step in enumerate(steps):
            if copies_known and mapping(step).get("is_copied_context") is True:
                continue
            if sidechain(step) != self.agent:
                self._of_another(sidechain(step), file)
                continue
            self._step(mapping(step), first + index, file, teller)
        self.records += len(steps)

    def _of_another(self, agent: str, file: File) -> None:
        if not self.agent:
            self.others.setdefault(agent, file)
            self.steps.skipped["step of a sub-agent"] += 1

    def end(self) -> None:
        """Count a compaction that nothing follows."""
        if self._pending is not None:
            self.steps.skipped["compaction without effect"] += 1
            self._pending = None

    def _step(self, step: dict[str, Any], source: int, file: File, teller: Teller) -> None:
        referred = list(references(step))
        self.references += [(reference, file) for reference in referred]
        marked = boundary(step, referred, file.source)
        if marked is not None:
            self.end()
            self.steps.skipped["compaction boundary"] += 1
            self._pending = (marked, teller.told(marked, file))
            return
        made = self.steps.messages(step, source, file.source)
        if self._pending is None and self.messages and made and begins_anew(made[0]):
            self._pending = (Boundary({}, (), replaces=True), Told())
        if self._pending is not None and made and self._resumed(made[0]):
            self.steps.skipped["handed over by the harness"] += 1
            made = made[1:]
        used = openai_usage(len(self.messages), _metrics(step))
        if used is not None and made and made[0].role == "assistant":
            self.usage.append(used)
        self.messages += made

    def _resumed(self, following: Message) -> bool:
        """Record the compaction that was marked; whether the message *following* it was made by the harness."""
        marked, told = self._pending or (None, Told())
        self._pending = None
        if marked is None:
            return False
        handed = following.role == "user" and not marked.summary
        handed = handed and (
            marked.replaces or bool(told.exchanged) or bool(_HANDED.search(following.text[:_LOOKED_AT]))
        )
        made = [*marked.summary, *told.exchanged]
        made += [replace(following, synthetic=True, source=None)] if handed else []
        if not made:
            self.steps.skipped["compaction that left no trace"] += 1
            return False
        self._compacted((*self._leading(keep_request=bool(marked.references)), *made), marked, told)
        return handed

    def _seam(self, copied: Sequence[Message]) -> None:
        """Record what stood in context where one file goes on from another, if that is not all that stood there."""
        marked, told = self._pending or (None, Told())
        self._pending = None
        after = tuple(self._matched(copied))
        if marked is not None or after != self._entries():
            self._compacted(after, marked, told)

    def _compacted(self, after: Entries, marked: Boundary | None, told: Told) -> None:
        known = {} if marked is None else marked.known
        made = [entry.text for entry in after if isinstance(entry, Message) and entry.role == "user"]
        self.compactions.append(
            RecordedCompaction(
                len(self.messages),
                trigger=string(known.get("trigger")) or "unknown",
                tokens_before=count(known.get("tokens_before")),
                tokens_after=count(known.get("tokens_after")),
                after=after,
                summary=told.summary or "\n\n".join(made),
                summariser=told.summariser,
            )
        )

    def _matched(self, copied: Iterable[Message]) -> Iterable[int | Message]:
        """The index of each copied message in the story; one that is not in it was made by the harness."""
        known: dict[Any, deque[int]] = defaultdict(deque)
        for index, message in enumerate(self.messages):
            known[message.role, message.blocks].append(index)
        for message in copied:
            indexes = known.get((message.role, message.blocks))
            made = message.synthetic or message.role == "user"
            yield indexes.popleft() if indexes else replace(message, source=None, synthetic=made)

    def _leading(self, *, keep_request: bool) -> Entries:
        """The system prompts that the session begins with, and, if asked for, the request after them."""
        end = 0
        while end < len(self.messages) and self.messages[end].role == "system":
            end += 1
        if keep_request and end < len(self.messages) and self.messages[end].role == "user":
            end += 1
        return tuple(range(end))

    def _entries(self) -> Entries:
        if not self.compactions:
            return tuple(range(len(self.messages)))
        last = self.compactions[-1]
        return (*last.after, *range(last.position, len(self.messages)))


class Teller:
    """Says what the sub-agents that a boundary names said; this one knows of none."""

    def told(self, marked: Boundary, file: File) -> Told:  # noqa: ARG002  # for those who know more
        """What they said, as far as it is recorded."""
        return Told()


def _metrics(step: dict[str, Any]) -> dict[str, Any]:
    metrics = mapping(step.get("metrics"))
    return {"reasoning_tokens": mapping(metrics.get("extra")).get("reasoning_tokens"), **metrics}
