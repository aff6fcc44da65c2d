"""LangChain messages, LangGraph thread states and histories, LangSmith runs: JSON, JSON lines, message stores.

Messages are read in every form that LangChain writes (`messages_to_dict`, `model_dump`, `dumpd`) and, in runs, as
roles; in an SQLite message store each row is one. Of a history of states and of the runs of a thread, which repeat
the messages at every step, the story is told once; a step that removed or replaced messages is a recorded compaction,
and so is a `RemoveMessage` in a list. Not read: artifacts of tools, and checkpoints in binary form (SQLite, Postgres
savers).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from compactlab.readers._sessions import told_with
from compactlab.readers.langchain import _conversations, _runs, _states
from compactlab.readers.langchain._wires import is_list
from compactlab.shapes.langchain import fields, to_wire
from compactlab.shapes.parts import json_text
from compactlab.transcript import Intake, Origin, Transcript

if TYPE_CHECKING:
    from compactlab.readers._files import Source

WHERE = "wherever messages, thread states or runs are exported; runs come from `langsmith` or a project's export"


def sniff(source: Source) -> float:
    """Look for runs, for states of threads, for messages that have LangChain's types and not roles."""
    if _conversations.is_store(source):
        return 0.9
    values = [value for whole in source.values[:20] for value in _records(whole)[:20]]
    if not values:
        return 0.0
    if _runs.is_run(values[0]) or _states.is_state(values[0]) or any(_states.holder(value) for value in values):
        return 0.95
    if _conversations.is_conversation(values[0]):
        return 0.95
    return 0.9 if is_list(values) or is_list(values[:-1]) else 0.0


def _records(value: object) -> list[Any]:
    """The records of a JSON value: those of a list that is no conversation itself, the runs in it, or the value."""
    if isinstance(value, list):
        return [value] if is_list(value) else value
    return _runs.listed(value) or [value]


def read(source: Source) -> Iterator[Transcript]:
    """Read the conversations of a file one by one, then those of its states and runs."""
    if source.tables:
        yield from _conversations.stored(source)
        return
    reading = _Reading(source)
    held: Transcript | None = None
    records = 0
    for told in reading.transcripts():
        if held is not None:
            records += held.intake.records
            yield held
        held = told
    if held is not None:
        whole = reading.intake()
        yield told_with(held, whole, whole.records - records if whole.records else held.intake.records)


class _Reading:
    """One file, record by record."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.lines = source.lines()
        self.unknown: Counter[str] = Counter()
        self.runs = _runs.Runs()
        self.states: list[_states.State] = []
        self.messages: list[tuple[int, Any]] = []
        self.listed = source.document is None

    def intake(self) -> Intake:
        return self.lines.intake(unknown=+self.unknown)

    def transcripts(self) -> Iterator[Transcript]:
        for number, record in self._values():
            if _conversations.is_conversation(record):
                yield _conversations.conversation(self.source, record, f"line {number + 1}: " if self.listed else "")
            elif self.runs.knows(record):
                self.runs.add(record, number)
            elif _states.is_state(record):
                self.states.append(_states.state(record, number))
            elif fields(record) is not None:
                self.messages.append((number, record))
            else:
                self.unknown["record of another kind"] += 1
        yield from self._gathered()

    def _gathered(self) -> Iterator[Transcript]:
        path = str(self.source.path)
        line = Origin(path, "line {}", base=1)
        if self.messages:
            wires = [record for _, record in self.messages]
            yield _conversations.made_of(self.source, wires, line, places=[number for number, _ in self.messages])
        yield from _states.transcripts(self.source, self.states, line if self.listed else Origin(path, "state {}"))
        yield from _runs.transcripts(self.source, self.runs.found, line if self.listed else Origin(path, "run {}"))

    def _values(self) -> Iterator[tuple[int, Any]]:
        if self.listed:
            for line in self.lines:
                yield from ((line.number - 1, value) for value in _runs.listed(line.value) or [line.value])
        else:
            yield from enumerate(_records(self.source.document))


def write(transcripts: Iterable[Transcript]) -> str:
    """Write one conversation a line: its id, title, agent type and tools, and its messages as `messages_to_dict` does.

    `messages_from_dict` of LangChain reads the messages; `read` gives back their roles, blocks and marks.
    """
    return "".join(f"{_line(transcript)}\n" for transcript in transcripts)


def _line(transcript: Transcript) -> str:
    body: dict[str, Any] = {"id": transcript.id, "title": transcript.title, "agent_type": transcript.agent_type}
    tools = {"tools": list(transcript.tools)} if transcript.tools else {}
    return json_text(body | tools | {"messages": to_wire(transcript.messages)})
