"""Hermes' files: snapshots of sessions, gateway transcripts whose first line is a head, and dumps of requests."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from compactlab.errors import TranscriptError
from compactlab.readers._conversations import ANTHROPIC_BLOCKS
from compactlab.readers._fields import array, first_string, mapping, objects, string
from compactlab.readers._lines import Lines
from compactlab.readers._seams import Story
from compactlab.readers._sessions import transcript
from compactlab.readers._times import iso
from compactlab.readers._usage import openai_usage
from compactlab.readers.hermes._wires import SUMMARIES, Wire, is_made, messages
from compactlab.shapes import anthropic
from compactlab.transcript import Intake, Message, Origin, Text, Transcript

if TYPE_CHECKING:
    from collections.abc import Iterator

    from compactlab.readers import Source

HEAD = "session_meta"
_KEYS = ("platform", "base_url", "session_start", "last_updated")


def sniff(source: Source) -> float:
    """Look for the keys of a snapshot, a request in a dump, or the head of a gateway transcript."""
    first = source.first
    if first.get("role") == HEAD:
        return 0.95
    if source.document is None and _is_compacted(source):
        return 0.9
    if not isinstance(first.get("session_id"), str) or source.document is None:
        return 0.0
    if isinstance(first.get("messages"), list):
        told = "platform" in first or sum(key in first for key in _KEYS) >= 2
        return 0.95 if told and "tool_metadata" not in first else 0.0
    is_dump = "reason" in first and "response" not in first
    return 0.95 if is_dump and isinstance(_body(first).get("messages"), list) else 0.0


def _is_compacted(source: Source) -> bool:
    """Whether lines are messages, and one of them is a summary in the agent's own words."""
    roles = all(isinstance(mapping(value).get("role"), str) for value in source.values)
    return roles and any(string(value.get("content")).startswith(SUMMARIES) for value in source.values)


def _body(dump: dict[str, Any]) -> dict[str, Any]:
    request = mapping(dump.get("request"))
    return mapping(request.get("body")) or mapping(dump.get("body")) or request


def read(source: Source) -> Iterator[Transcript]:
    """Read the session of a file."""
    document = mapping(source.document)
    if isinstance(document.get("messages"), list):
        yield _snapshot(source, document)
    elif "session_id" in document:
        yield _dump(source, document)
    else:
        yield _gateway(source)


def _snapshot(source: Source, document: dict[str, Any]) -> Transcript:
    listed = array(document["messages"])
    prompt = document.get("system_prompt")
    told = [string(record.get("content")) for record in objects(listed[:1]) if record.get("role") == "system"]
    outside = isinstance(prompt, str) and bool(prompt) and told != [prompt]
    wires = [Wire(mapping(record), place) for place, record in enumerate(listed, int(outside))]
    system = Message("system", (Text(prompt),), source=0) if outside and isinstance(prompt, str) else None
    path = str(source.path)
    front = (Origin(path, "system_prompt"),) if outside else ()
    made = _made(source, wires, system, string(document.get("session_id")))
    totals = openai_usage(None, document.get("usage"))
    return replace(
        made,
        tools=_tools(document.get("tools")),
        origins=(*front, Origin(path, "messages[{}]", first=len(front))),
        usage=() if totals is None else (totals,),
        header=_header(document, ("model", "platform")),
    )


def _made(source: Source, wires: list[Wire], system: Message | None, own: str) -> Transcript:
    unknown: Counter[str] = Counter()
    repaired: Counter[str] = Counter()
    found = messages(wires, unknown, repaired)
    story = Story(is_made)
    story.begin(found if system is None else [system, *found])
    return transcript(
        source,
        "hermes",
        tuple(story.messages),
        own_id=own,
        agent_type="primary",
        compactions=tuple(story.compactions),
        intake=Intake(len(wires), unknown=dict(unknown), repaired=dict(repaired)),
    )


def _tools(given: object) -> tuple[str | dict[str, Any], ...]:
    return tuple(tool for tool in array(given) if isinstance(tool, str | dict))


def _header(document: dict[str, Any], keys: tuple[str, ...]) -> dict[str, Any]:
    return {key: document[key] for key in keys if isinstance(document.get(key), str) and document[key]}


def _gateway(source: Source) -> Transcript:
    """Lines of one message each behind a head; heads that come later say what changed and are passed over."""
    lines: Lines = source.lines()
    head: dict[str, Any] = {}
    wires: list[Wire] = []
    skipped: Counter[str] = Counter()
    for line in lines:
        fields = mapping(line.value)
        if fields.get("role") == HEAD:
            head = head or fields
            skipped[HEAD] += 1
        else:
            wires.append(Wire(fields, line.number - 1))
    made = _made(source, wires, None, first_string(head, "session_id"))
    told = lines.intake(skipped, made.intake.unknown)
    return replace(
        made,
        tools=_tools(head.get("tools")),
        origins=(Origin(str(source.path), "line {}", base=1),),
        intake=replace(told, repaired={**told.repaired, **made.intake.repaired}),
        header=_header(head, ("model", "platform")),
    )


def _dump(source: Source, document: dict[str, Any]) -> Transcript:
    """The list that one request sent, in the shape of the provider that it was sent to."""
    body = _body(document)
    listed = [mapping(record) for record in array(body.get("messages"))]
    system = body.get("system")
    path = str(source.path)
    if system or any(_is_anthropic(record) for record in listed):
        known = [record for record in listed if string(record.get("role")) in {"user", "assistant", "system"}]
        try:
            found = anthropic.from_wire(known, system)
        except TranscriptError as error:
            raise TranscriptError(f"{path}: {error}") from error
        made = transcript(
            source,
            "hermes",
            found,
            agent_type="primary",
            intake=Intake(len(listed), unknown=_unknown(len(listed) - len(known))),
        )
    else:
        made = _made(source, [Wire(record, place) for place, record in enumerate(listed)], None, "")
    front = (Origin(path, "request.body.system"),) if system else ()
    return replace(
        made,
        cluster=string(document.get("session_id")) or made.cluster,
        tools=_tools(body.get("tools")),
        origins=(*front, Origin(path, "request.body.messages[{}]", first=len(front))),
        header=_header(body, ("model",)) | _header(document, ("reason",)) | _time(document),
    )


def _is_anthropic(record: dict[str, Any]) -> bool:
    return any(string(part.get("type")) in ANTHROPIC_BLOCKS for part in objects(record.get("content")))


def _unknown(number: int) -> dict[str, int]:
    return {"message of an unknown role": number} if number else {}


def _time(document: dict[str, Any]) -> dict[str, Any]:
    time = iso(document.get("timestamp"))
    return {} if time is None else {"timestamp": time}
