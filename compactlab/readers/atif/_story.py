"""The story of one trajectory, over all its files, and the compactions in it.

A compaction shows in three ways. A system step marks it (`extra.context_management`, or a reference to a sub-agent that
summarised); what the step's observation holds is then the summary. Or the step is empty, and the user's step after it
is what the harness handed over. Or the trajectory ends there and goes on in another file, whose first steps are marked
as copied: they are what stood in context.
"""

from __future__ import annotations

import re
from collections import defaultdict, deque
from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec.structs import replace

from compactlab.readers._fields import array, count, mapping, objects, string
from compactlab.readers._usage import openai_usage
from compactlab.readers.atif._steps import Steps, content
from compactlab.transcript import Message, Origin, RecordedCompaction, Usage

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from compactlab.readers import Source
    from compactlab.readers.atif._files import File

KINDS = {"compaction", "summarization", "summary"}
_HANDED = re.compile(
    r"summar(?:y|i[sz]e)|previous (?:agent|conversation|session)|other agent|picking up work", re.IGNORECASE
)
_LOOKED_AT = 600
Entries = tuple[int | Message, ...]


class Boundary(NamedTuple):
    """A step that marks a compaction: what is known of it, the summary in it, and the sub-agents that it names."""

    known: dict[str, Any]
    summary: tuple[Message, ...]
    references: tuple[dict[str, Any], ...]
    time: str | None


class Told(NamedTuple):
    """What the sub-agents of a summary said: the last words of the first, and what they left to be handed over."""

    summary: str = ""
    summariser: str = ""
    exchanged: tuple[Message, ...] = ()


class Story:
    """Messages, compactions and usage of a session, growing file by file."""

    def __init__(self) -> None:
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
            self._step(mapping(step), first + index, file, teller)
        self.records += len(steps)

    def end(self) -> None:
        """Count a compaction that nothing follows."""
        if self._pending is not None:
            self.steps.skipped["compaction without effect"] += 1
            self._pending = None

    def _step(self, step: dict[str, Any], source: int, file: File, teller: Teller) -> None:
        referred = list(references(step))
        self.references += [(reference, file) for reference in referred]
        boundary = _boundary(step, referred, file.source)
        if boundary is not None:
            self.end()
            self.steps.skipped["compaction boundary"] += 1
            self._pending = (boundary, teller.told(boundary, file))
            return
        made = self.steps.messages(step, source, file.source)
        if self._pending is not None and made and self._resumed(made[0]):
            self.steps.skipped["handed over by the harness"] += 1
            made = made[1:]
        used = openai_usage(len(self.messages), _metrics(step))
        if used is not None and made and made[0].role == "assistant":
            self.usage.append(used)
        self.messages += made

    def _resumed(self, following: Message) -> bool:
        """Record the compaction that was marked; whether the message *following* it was made by the harness."""
        boundary, told = self._pending or (None, Told())
        self._pending = None
        if boundary is None:
            return False
        handed = following.role == "user" and not boundary.summary
        handed = handed and (bool(told.exchanged) or bool(_HANDED.search(following.text[:_LOOKED_AT])))
        made = [*boundary.summary, *told.exchanged]
        made += [replace(following, synthetic=True, source=None)] if handed else []
        if not made:
            self.steps.skipped["compaction that left no trace"] += 1
            return False
        self._compacted((*self._leading(keep_request=bool(boundary.references)), *made), boundary, told)
        return handed

    def _seam(self, copied: Sequence[Message]) -> None:
        """Record what stood in context where one file goes on from another, if that is not all that stood there."""
        boundary, told = self._pending or (None, Told())
        self._pending = None
        after = tuple(self._matched(copied))
        if boundary is not None or after != self._entries():
            self._compacted(after, boundary, told)

    def _compacted(self, after: Entries, boundary: Boundary | None, told: Told) -> None:
        known = {} if boundary is None else boundary.known
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

    def told(self, boundary: Boundary, file: File) -> Told:  # noqa: ARG002  # for those who know more
        """What they said, as far as it is recorded."""
        return Told()


def references(step: dict[str, Any]) -> Iterable[dict[str, Any]]:
    """The sub-agent trajectories that the observation of a step names."""
    for result in objects(mapping(step.get("observation")).get("results")):
        given = result.get("subagent_trajectory_ref")
        yield from objects(given if isinstance(given, list) else [given])


def _boundary(step: dict[str, Any], referred: list[dict[str, Any]], file: Source) -> Boundary | None:
    """What a step says of a compaction; None if it marks none."""
    known = mapping(mapping(step.get("extra")).get("context_management"))
    summarised = [reference for reference in referred if "summari" in _name(reference)]
    marked = step.get("source") == "system" and (string(known.get("type")).lower() in KINDS or bool(summarised))
    if not marked:
        return None
    results = objects(mapping(step.get("observation")).get("results"))
    blocks = tuple(block for result in results for block in content(result.get("content"), file))
    summary = (Message("user", blocks, synthetic=True),) if blocks else ()
    return Boundary(known, summary, tuple(summarised), string(step.get("timestamp")) or None)


def _name(reference: dict[str, Any]) -> str:
    told = string(mapping(reference.get("extra")).get("summary"))
    names = (string(reference.get(name)) for name in ("session_id", "trajectory_id", "trajectory_path"))
    return " ".join((*names, told)).lower()


def _metrics(step: dict[str, Any]) -> dict[str, Any]:
    metrics = mapping(step.get("metrics"))
    return {"reasoning_tokens": mapping(metrics.get("extra")).get("reasoning_tokens"), **metrics}
