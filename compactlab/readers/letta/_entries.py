"""Entries of Letta's messages API, in which one stored message is several, and the results of letta-evals."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec.structs import replace

from compactlab.readers._fields import array, first_string, mapping, objects, string
from compactlab.readers._lines import Lines
from compactlab.readers._sessions import transcript
from compactlab.readers._usage import openai_usage
from compactlab.readers.letta import _fragments
from compactlab.readers.letta._stored import Summary, answered, call, heard, parts, summary_of, summary_text, time_of
from compactlab.transcript import Block, Intake, Message, Origin, Reasoning, RecordedCompaction, Text, Transcript, Usage

if TYPE_CHECKING:
    from collections.abc import Iterator

    from compactlab.readers import Source

_SPOKEN = {
    "assistant_message",
    "reasoning_message",
    "hidden_reasoning_message",
    "tool_call_message",
    "approval_request_message",
}
_SKIPPED = {"ping", "stop_reason", "usage_statistics", "event_message", "approval_response_message", "error_message"}


class Conversation(NamedTuple):
    """The turns of a conversation, what stands beside them, and their place: `{turn}` in it is the number of a turn."""

    turns: list[list[Any]]
    beside: dict[str, Any]
    where: str


def is_known(value: object) -> bool:
    """Whether a value is an entry, a list of them, a body that holds one, or a result of letta-evals."""
    return bool(_fragments.entry(value)) or conversation(value) is not None


def conversation(value: object, where: str = "") -> Conversation | None:
    """The conversation that a value is; None if it is none."""
    fields = mapping(value)
    result = mapping(fields.get("result"))
    if fields.get("type") == "result" and isinstance(result.get("trajectory"), list):
        turns = [turn if isinstance(turn, list) else [turn] for turn in result["trajectory"]]
        return Conversation(turns, result, f"{where}result.trajectory[{{turn}}]")
    listed = value if isinstance(value, list) else fields.get("messages")
    if isinstance(listed, list) and listed and all(_fragments.entry(entry) for entry in listed):
        return Conversation([listed], fields, where if isinstance(value, list) else f"{where}messages")
    return None


def read(source: Source) -> Iterator[Transcript]:
    """Read the conversations of a file; entries that stand in lines of their own are one."""
    lines = source.lines() if source.document is None else Lines(())
    skipped: Counter[str] = Counter()
    unknown: Counter[str] = Counter()
    held: Transcript | None = None
    for index, found in enumerate(_conversations(source, lines, skipped, unknown)):
        if held is not None:
            yield held
        held = _transcript(source, found, index)
    if held is not None:
        told = lines.intake(skipped, unknown) if source.document is None else Intake(1, dict(skipped), dict(unknown))
        more = {
            kind: dict(Counter(getattr(told, kind)) + Counter(getattr(held.intake, kind)))
            for kind in ("skipped", "unknown", "repaired")
        }
        yield replace(held, intake=replace(told, **more))


def _conversations(
    source: Source, lines: Lines, skipped: Counter[str], unknown: Counter[str]
) -> Iterator[Conversation]:
    if source.document is not None:
        found = conversation(source.document)
        yield from () if found is None else (found,)
        return
    single: list[Any] = []
    beside: dict[str, Any] = {}
    first = 0
    for line in lines:
        found = conversation(line.value, f"line {line.number}: ")
        if found is not None:
            yield found
        elif _fragments.entry(line.value):
            first = first or line.number
            single.append(line.value)
        else:
            _fragments.told(beside, line.value)
            kind = string(mapping(line.value).get("type"))
            counted = skipped if kind in {"header", "summary", "config"} or _fragments.is_beside(kind) else unknown
            counted[f"record {kind}" if kind else "record without entries"] += 1
    if single:
        yield Conversation([single], beside, f"from line {first}: ")


class _Built:
    """Messages made of entries, one after the other."""

    def __init__(self) -> None:
        self.messages: list[Message] = []
        self.compactions: list[RecordedCompaction] = []
        self.skipped: Counter[str] = Counter()
        self.unknown: Counter[str] = Counter()
        self.counts: list[dict[str, Any]] = []
        self._speaking = self._piece = ""

    def add(self, entry: dict[str, Any], source: int) -> None:
        """Make the message of one entry, or add to the one that the same response began."""
        kind = string(entry.get("message_type"))
        if kind in _SPOKEN:
            self._spoken(_blocks(entry, kind), entry, source)
            self._speaking, self._piece = first_string(entry, "id", "otid"), string(entry.get("otid"))
            return
        self._speaking = ""
        if kind == "tool_return_message":
            self.messages.append(_answer(entry, source))
        elif kind in {"user_message", "system_message", "summary_message"}:
            self._heard(entry, kind, source)
        else:
            self.counts += [entry] if kind == "usage_statistics" else []
            (self.skipped if kind in _SKIPPED else self.unknown)[kind or "no message_type"] += 1

    def _spoken(self, blocks: list[Block], entry: dict[str, Any], source: int) -> None:
        if self._speaking and self._speaking == first_string(entry, "id", "otid"):
            last = self.messages[-1]
            pieces = bool(self._piece) and self._piece == entry.get("otid")
            self.messages[-1] = replace(last, blocks=_fragments.joined(last.blocks, blocks, pieces=pieces))
        else:
            self.messages.append(Message("assistant", tuple(blocks), source, timestamp=time_of(entry)))

    def _heard(self, entry: dict[str, Any], kind: str, source: int) -> None:
        if kind == "system_message":
            blocks = tuple(parts(entry))
            self.messages.append(Message("system", blocks, source, timestamp=time_of(entry)))
            return
        summary = (
            _summary(entry, source) if kind == "summary_message" else summary_of({"role": "user", **entry}, source)
        )
        if summary is None:
            self.messages += heard(entry, source)
            return
        spoken = (i for i, message in enumerate(self.messages) if message.role != "system")
        leading = range(next(spoken, len(self.messages)))
        self.compactions.append(summary.compaction(len(self.messages), (*leading, summary.message)))


def _summary(entry: dict[str, Any], source: int) -> Summary:
    text = string(entry.get("summary"))
    message = Message("user", (Text(text),), source, synthetic=True, timestamp=time_of(entry))
    return Summary(message, summary_text(text), mapping(entry.get("compaction_stats")))


def _blocks(entry: dict[str, Any], kind: str) -> list[Block]:
    if kind == "assistant_message":
        return parts(entry)
    if kind == "reasoning_message":
        return [Reasoning(string(entry.get("reasoning")), signature=string(entry.get("signature")) or None)]
    if kind == "hidden_reasoning_message":
        hidden = string(entry.get("hidden_reasoning"))
        return [Reasoning(opaque=hidden)] if hidden else []
    listed = entry.get("tool_calls")
    calls = objects(listed) or objects([listed]) or objects([entry.get("tool_call")])
    return [call(wire) for wire in calls]


def _answer(entry: dict[str, Any], source: int) -> Message:
    listed = objects(entry.get("tool_returns")) or [entry]
    return answered({**entry, "content": [], "tool_call_id": "", "tool_returns": listed}, source)


def _transcript(source: Source, found: Conversation, index: int) -> Transcript:
    built = _Built()
    origins: list[Origin] = []
    first = 0
    for number, turn in enumerate(found.turns):
        where = found.where.replace("{turn}", str(number))
        origins.append(Origin(str(source.path), f"{where}[{{}}]", first=first))
        for place, entry in _in_order(turn):
            built.add(_fragments.entry(entry) or mapping(entry), first + place)
        first += len(turn)
    sample = found.beside.get("sample")
    name = mapping(sample).get("id")
    own = string(found.beside.get("agent_id")) or (f"sample-{name}" if type(name) in {int, str} else "")
    return transcript(
        source,
        "letta",
        tuple(built.messages),
        own_id=own or (f"conversation-{index}" if found.beside else ""),
        compactions=tuple(built.compactions),
        tools=tuple(tool for tool in array(found.beside.get("tools")) if isinstance(tool, str | dict)),
        usage=_usage(found.beside, built.counts),
        origins=tuple(origins),
        intake=Intake(skipped=dict(built.skipped), unknown=dict(built.unknown)),
        header=_header(found.beside),
    )


def _in_order(turn: list[Any]) -> list[tuple[int, Any]]:
    """Entries with their places, oldest first: the API can give them the other way round."""
    times = [first_string(entry, "date") for entry in turn]
    known = [time for time in times if time]
    placed = list(enumerate(turn))
    return placed[::-1] if len(known) > 1 and known[0] > known[-1] else placed


def _usage(beside: dict[str, Any], counts: list[dict[str, Any]]) -> tuple[Usage, ...]:
    """The counts of all turns together."""
    given: list[Any] = array(beside.get("agent_usage")) or [*counts] or [beside.get("usage")]
    found = [usage for wire in given if (usage := openai_usage(None, wire)) is not None]
    if not found:
        return ()
    keys = ("input", "output", "cached", "reasoning")
    return (Usage(None, *(sum(getattr(usage, key) for usage in found) for key in keys)),)


def _header(beside: dict[str, Any]) -> dict[str, Any]:
    told = {
        "model": string(beside.get("model_name")),
        "score": mapping(beside.get("grade")).get("score"),
        "sample": mapping(beside.get("sample")).get("id"),
    }
    return {key: value for key, value in told.items() if isinstance(value, str | int | float) and value != ""}
