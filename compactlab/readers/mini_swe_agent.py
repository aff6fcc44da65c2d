"""mini-swe-agent trajectories of formats 1 and 1.1: chat messages with `extra`, or raw responses of the Responses API.

In format 1 and in the text mode of 1.1 observations are user messages, synthetic; in tool mode they are results. What a
person said in an interactive run is kept apart from what the harness said. The last message of role `exit` is no part
of the dialogue; it is counted, as are answers of a wrong form, which stand beside the error that they led to. Tokens
are those of the raw responses. Compactions are read where the file lists them.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from compactlab.readers._agent_runs import agent_type_of_run, run_message
from compactlab.readers._fields import count, first_string, mapping, objects, string
from compactlab.readers._sessions import session_id, transcript
from compactlab.readers._times import iso
from compactlab.readers._usage import openai_usage
from compactlab.shapes.call_ids import with_ids
from compactlab.shapes.openai_chat import content
from compactlab.shapes.parts import words
from compactlab.transcript import (
    Block,
    Image,
    Intake,
    Message,
    Origin,
    Reasoning,
    RecordedCompaction,
    Text,
    ToolCall,
    ToolResult,
    Transcript,
    Usage,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from compactlab.readers import Source

NAME = "mini_swe_agent"
WHERE = "OUTPUT/INSTANCE/INSTANCE.traj.json, and last_mini_run.traj.json in mini-swe-agent's folder of settings"
_PERSON = {"UserInterruption", "UserRejection", "UserNewTask"}
_PERSON_WORDS = (
    "User command:",
    "Interrupted by user",
    "The user added a new task",
    "Command not executed. The user rejected",
    "Commands not executed. The user rejected",
)


def sniff(source: Source) -> float:
    """Look for the format's name, or for a message list beside what this agent tells of its run."""
    record = source.first
    if string(record.get("trajectory_format")).startswith("mini-swe-agent"):
        return 1.0
    info = mapping(record.get("info"))
    known = "mini_version" in info or {"exit_status", "model_stats"} <= info.keys()
    return 0.95 if known and isinstance(record.get("messages"), list) and "history" not in record else 0.0


def read(source: Source) -> Iterator[Transcript]:
    """Read the run of a file, or one of each line."""
    if source.document is not None:
        yield _transcript(source, mapping(source.document), "")
        return
    lines = source.lines()
    held: Transcript | None = None
    seen: Counter[str] = Counter()
    for line in lines:
        if held is not None:
            yield held
        held = _transcript(source, mapping(line.value), f"line {line.number}: ")
        seen[held.id] += 1
        if seen[held.id] > 1:
            held = replace(held, id=f"{held.id}-{seen[held.id]}")
    if held is not None:
        own, told = held.intake, lines.intake()
        yield replace(held, intake=replace(told, records=own.records, skipped=own.skipped, unknown=own.unknown))


def _transcript(source: Source, run: dict[str, Any], where: str) -> Transcript:
    wires = run.get("messages")
    run_messages = _Run(wires if isinstance(wires, list) else [])
    config = mapping(mapping(run.get("info")).get("config"))
    name = session_id(source.stem.removesuffix(".traj"), first_string(run, "instance_id"))
    messages = with_ids(run_messages.messages)
    return transcript(
        source,
        NAME,
        messages,
        id=name,
        agent_type=agent_type_of_run(messages),
        cluster=name,
        title=first_string(mapping(config.get("agent")), "task"),
        origins=(Origin(str(source.path), f"{where}messages[{{}}]"),),
        compactions=tuple(run_messages.compactions(mapping(run.get("compaction")))),
        usage=tuple(run_messages.usage),
        intake=Intake(
            records=len(run_messages.wires), skipped=dict(+run_messages.skipped), unknown=dict(run_messages.unknown)
        ),
        header=_header(mapping(run.get("info")), config),
    )


class _Run:
    """Goes through the recorded messages of a run, and keeps what they become."""

    def __init__(self, wires: list[Any]) -> None:
        self.wires = wires
        self.messages: list[Message] = []
        self.usage: list[Usage] = []
        self.skipped: Counter[str] = Counter()
        self.unknown: Counter[str] = Counter()
        self._spoken: list[tuple[float, int]] = []
        self._tasked = False
        for index, wire in enumerate(wires):
            self._add(mapping(wire), index)

    def _add(self, wire: dict[str, Any], index: int) -> None:
        if wire.get("role") == "exit":
            self.skipped["exit"] += 1
            return
        message = _message(wire, index)
        if message is None:
            self.unknown[f"role {wire.get('role')!r}"[:60] if wire else "no object"] += 1
            return
        extra = mapping(wire.get("extra"))
        response = mapping(extra.get("response"))
        made = message.role == "user" and self._tasked and not _by_person(wire, message)
        message = replace(message, timestamp=iso(extra.get("timestamp", wire.get("created_at"))), synthetic=made)
        if message.role == "user":
            self._tasked = True
            self.skipped["answer of a wrong form"] += bool(response)
        elif message.role == "assistant":
            self._count(wire if wire.get("object") == "response" else response)
            time = extra.get("timestamp")
            self._spoken += [(time, len(self.messages))] if isinstance(time, int | float) else []
        elif message.role == "tool":
            message = _failed(message) if extra.get("exception_info") or extra.get("returncode") else message
        self.messages.append(message)

    def _count(self, response: Mapping[str, Any]) -> None:
        found = openai_usage(len(self.messages), response.get("usage"))
        self.usage += [] if found is None else [found]

    def compactions(self, told: Mapping[str, Any]) -> Iterator[RecordedCompaction]:
        """The compactions that the file lists, each before the first answer that is younger."""
        places = {message.source: place for place, message in enumerate(self.messages)}
        low = 0
        for record in objects(told.get("records")):
            kept, time = count(record.get("compacted_until")), record.get("timestamp")
            position = self._after(time) if isinstance(time, int | float) else None
            if position is None or kept is None or position < low:
                self.unknown["compaction without a place"] += 1
                continue
            low = position
            summary = string(record.get("summary"))
            made = Message("user", (Text(summary),), synthetic=True, timestamp=iso(time))
            first = next((places[source] for source in range(kept, len(self.wires)) if source in places), position)
            yield RecordedCompaction(
                position,
                first_string(record, "reason") or "unknown",
                count(record.get("estimated_tokens_before")),
                count(record.get("estimated_tokens_after")),
                after=(*range(min(1, position)), made, *range(max(1, first), position)),
                summary=summary,
            )

    def _after(self, time: float) -> int | None:
        return next((place for spoken, place in self._spoken if spoken > time), None)


def _failed(message: Message) -> Message:
    return replace(message, blocks=tuple(replace(result, is_error=True) for result in message.results))


def _message(wire: dict[str, Any], index: int) -> Message | None:
    if wire.get("object") == "response":
        return Message("assistant", tuple(_output(wire.get("output"))), source=index)
    if wire.get("type") == "function_call_output":
        parts = content(wire.get("output"))
        kept = tuple(part if isinstance(part, Text | Image) else Text(words(wire.get("output"))) for part in parts)
        return Message("tool", (ToolResult(first_string(wire, "call_id"), kept),), source=index)
    return run_message(wire, index)


def _output(items: object) -> Iterator[Block]:
    """The blocks of the items of one response."""
    for item in objects(items):
        kind = item.get("type")
        if kind == "message":
            yield from content(item.get("content"))
        elif kind == "reasoning":
            yield _reasoning(item)
        elif kind == "function_call":
            given = item.get("arguments")
            arguments = given if isinstance(given, str) else words(given or {})
            yield ToolCall(first_string(item, "call_id", "id"), string(item.get("name")), arguments)
        else:
            yield Text(words(item))


def _reasoning(item: Mapping[str, Any]) -> Reasoning:
    parts: Sequence[Any] = [*objects(item.get("summary")), *objects(item.get("content"))]
    shown = "\n".join(string(part.get("text")) for part in parts)
    return Reasoning(shown, opaque=string(item.get("encrypted_content")) or None)


def _by_person(wire: Mapping[str, Any], message: Message) -> bool:
    """Whether a person said a message behind the task: a command, a comment, a new task."""
    kind = mapping(wire.get("extra")).get("interrupt_type")
    if isinstance(kind, str):
        return kind in _PERSON
    return message.text.lstrip().startswith(_PERSON_WORDS)


def _header(info: Mapping[str, Any], config: Mapping[str, Any]) -> dict[str, Any]:
    stats = mapping(info.get("model_stats"))
    found = {
        "model": mapping(config.get("model")).get("model_name"),
        "version": info.get("mini_version"),
        "exit_status": info.get("exit_status"),
        "cost": stats.get("instance_cost"),
        "calls": stats.get("api_calls"),
    }
    return {key: value for key, value in found.items() if isinstance(value, str | int | float) and value != ""}
