"""Recorded messages of Gemini CLI: responses with their calls and results, and what a person or the client said."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec.structs import replace

from compactlab.readers._arguments import arguments
from compactlab.readers._fields import array, count, first_string, mapping, objects, string
from compactlab.readers._times import iso
from compactlab.readers.gemini_cli._contents import Pairing, answer, blocks, heard
from compactlab.transcript import Block, Message, Reasoning, Text, ToolCall, ToolResult, Usage

if TYPE_CHECKING:
    from collections.abc import Sequence

RESPONSES = {"gemini", "model"}
_SCREEN = {"info", "warning", "error"}
_FAILED = {"error", "cancelled"}


class Record(NamedTuple):
    """A recorded message, its id, and where it stands: its line, or its place in the list."""

    id: str
    value: dict[str, Any]
    source: int


class Built(NamedTuple):
    """The messages of each record, in their order, by its id; token counts have their place in the list of them all."""

    groups: list[tuple[str, list[Message]]]
    usage: list[Usage]
    models: list[str]
    skipped: Counter[str]
    unknown: Counter[str]


class _Calls(NamedTuple):
    calls: list[ToolCall]
    results: list[tuple[ToolResult, str | None]]


def build(records: Sequence[Record]) -> Built:
    """Make the messages of records that follow one another.

    Results stand in the record of their calls; newer files hold them once more, as a message of the user, and calls
    once more among the content: both count once.
    """
    pairing, answered = Pairing(), set[str]()
    built = Built([], [], [], Counter(), Counter())
    place = 0
    for number, record in enumerate(records):
        kind = string(record.value.get("type"))
        made: list[Message] = []
        if kind in RESPONSES:
            made = _response(record, pairing, answered)
            built.skipped["response without content"] += not made
            used = _usage(record.value.get("tokens"))
            if used is not None and made:
                built.usage.append(replace(used, position=place))
            built.models.append(string(record.value.get("model")))
        elif kind == "user":
            made = _request(record, pairing, answered)
            if _is_command(made, records, number):
                built.skipped["command that the model never saw"] += 1
                made = []
        elif kind in _SCREEN:
            built.skipped[f"{kind} shown to the user"] += 1
        else:
            built.unknown[f"message of type {kind}" if kind else "message without type"] += 1
        built.groups.append((record.id, made))
        place += len(made)
    return built


def _is_command(made: Sequence[Message], records: Sequence[Record], number: int) -> bool:
    """Whether a text is a command of the tool: it starts like one, and no response follows."""
    if not made or not made[0].text.lstrip().startswith(("/", "?")):
        return False
    later = (string(record.value.get("type")) for record in records[number + 1 : number + 20])
    following = next((kind for kind in later if kind not in _SCREEN), "")
    return following not in RESPONSES


def _content(value: dict[str, Any]) -> object:
    """What was said: some files have it as `parts`, as the API does."""
    return value["content"] if "content" in value else value.get("parts")


def _usage(wire: object) -> Usage | None:
    """Counts of a response: the output leaves out the thoughts, the input holds what came from a cache."""
    tokens = mapping(wire)
    sent = (count(tokens.get("input")) or 0) + (count(tokens.get("tool")) or 0)
    thought = count(tokens.get("thoughts")) or 0
    made = (count(tokens.get("output")) or 0) + thought
    cached = min(count(tokens.get("cached")) or 0, sent)
    return Usage(None, sent, made, cached, thought) if sent or made else None


def _response(record: Record, pairing: Pairing, answered: set[str]) -> list[Message]:
    value = record.value
    time = iso(value.get("timestamp"))
    calls, results = _calls(value, pairing, answered)
    known = {call.id for call in calls}
    said = blocks(_content(value), pairing)
    said = [block for block in said if not (isinstance(block, ToolCall) and block.id in known)]
    thoughts = [] if any(isinstance(block, Reasoning) and block.text for block in said) else _thoughts(value)
    spoken: list[Block] = [*thoughts, *said, *calls]
    made = [Message("assistant", tuple(spoken), source=record.source, timestamp=time)] if spoken else []
    made += [Message("tool", (result,), source=record.source, timestamp=ended or time) for result, ended in results]
    return made


def _thoughts(value: dict[str, Any]) -> list[Reasoning]:
    found = []
    for thought in objects(value.get("thoughts")):
        subject, description = string(thought.get("subject")), string(thought.get("description"))
        text = f"**{subject}** {description}" if subject else description
        found += [Reasoning(text)] if text else []
    return found


def _calls(value: dict[str, Any], pairing: Pairing, answered: set[str]) -> _Calls:
    calls: list[ToolCall] = []
    results: list[tuple[ToolResult, str | None]] = []
    for wire in objects(value.get("toolCalls")):
        given, name = string(wire.get("id")), string(wire.get("name"))
        call_id = given or pairing.call("", name)
        calls.append(ToolCall(call_id, name, arguments(wire.get("args"))))
        result = result_of(call_id, wire)
        if result is not None:
            results.append((result, iso(wire.get("timestamp"))))
            answered.add(call_id)
        if result is None and given:
            pairing.call(given, name)
        elif result is not None and not given:
            pairing.response("", name)
    return _Calls(calls, results)


def result_of(call_id: str, wire: dict[str, Any]) -> ToolResult | None:
    """The result in a recorded call: its own response among those of a turn, with the text and pictures beside it."""
    given, failed = wire.get("result"), string(wire.get("status")) in _FAILED
    if given is None or given == []:
        return None
    if isinstance(given, str):
        return ToolResult(call_id, (Text(given),) if given else (), is_error=failed)
    only = mapping(given[0]).get("functionResponse") if isinstance(given, list) and len(given) == 1 else None
    if isinstance(only, dict):
        return answer(call_id, only, failed=failed)
    parts = [part for part in array(given) or [given] if _belongs(part, call_id, wire)]
    found = [block for block in blocks(parts, Pairing()) if not isinstance(block, Reasoning | ToolCall)]
    content = [inner for block in found for inner in (block.content if isinstance(block, ToolResult) else (block,))]
    wrong = any(isinstance(block, ToolResult) and block.is_error for block in found)
    return ToolResult(call_id, tuple(content), is_error=failed or wrong)


def _belongs(part: object, call_id: str, wire: dict[str, Any]) -> bool:
    """Whether a part of a turn belongs to one call: all do but responses that name another one."""
    named = first_string(mapping(mapping(part).get("functionResponse")), "id")
    return not named or named in (call_id, wire.get("id"))


def _request(record: Record, pairing: Pairing, answered: set[str]) -> list[Message]:
    found = blocks(_content(record.value), pairing)
    kept = [block for block in found if not (isinstance(block, ToolResult) and block.call_id in answered)]
    answered |= {block.call_id for block in kept if isinstance(block, ToolResult)}
    return heard(kept, "user", record.source, iso(record.value.get("timestamp")))
