"""Claude Agent SDK and `claude -p --output-format stream-json`: one JSON record an event, versions 1.0 to 2.1.

Read are the bare records, those that a harness put under `message`, JSON lines and one JSON list (`--output-format json
--verbose`, which CI actions keep), and the single `result` of `--output-format json`. Records stand in order; pieces of
one response become one message. A session is what shares a `session_id`, so a file may hold several. Records with a
`parent_tool_use_id` are sidechains, transcripts of their own. `init` gives the tools, `result` totals in the header.

Not read: `stream_event`, which repeats messages in part; status, hooks and progress, which the model was not sent. The
system prompt is not in the stream; of a compaction the summary is only in some versions.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from compactlab.readers import Line, Lines
from compactlab.readers._fields import first_string, mapping, string
from compactlab.readers._raw import keep_raw
from compactlab.readers._sessions import session_id
from compactlab.readers._usage import anthropic_usage
from compactlab.readers.claude_code._kinds import kind
from compactlab.readers.claude_code._messages import SYNTHETIC_MODEL, build
from compactlab.readers.claude_code._records import Record, said
from compactlab.transcript import Intake, Message, Origin, Text, Transcript

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from compactlab.readers import Source

NAME = "claude_stream"
WHERE = "wherever the output of `claude -p --output-format stream-json` or of an Agent SDK program was kept"
EVENTS = frozenset(
    "auth_status control_cancel_request control_request control_response keep_alive prompt_suggestion rate_limit_event "
    "stream_event streamlined_text streamlined_tool_use_summary tool_progress tool_use_summary".split()
)
"""Types of records that are no part of any context; so is all of `system` but a boundary."""
_TREE = {"parentUuid", "sessionId", "isSidechain"}
_TOTALS = {
    "subtype": "outcome",
    "is_error": "is_error",
    "num_turns": "num_turns",
    "duration_ms": "duration_ms",
    "total_cost_usd": "total_cost_usd",
    "stop_reason": "stop_reason",
}


def sniff(source: Source) -> float:
    """Look for `init`, for records that name their session or parent call, or for a `result`; never for a tree."""
    values = source.document if isinstance(source.document, list) else source.values
    records = [value for value in values[:50] if isinstance(value, dict)]
    if not records or any(not _TREE.isdisjoint(record) for record in records):
        return 0.0
    if any(_is_init(record) for record in records):
        return 0.98
    return 0.9 if any(_is_message(record) or _is_result(record) for record in records) else 0.0


def _is_init(record: dict[str, Any]) -> bool:
    inner = _inner(record)
    return (
        record.get("type") == "system" and inner.get("subtype") == "init" and isinstance(inner.get("session_id"), str)
    )


def _is_result(record: dict[str, Any]) -> bool:
    inner = _inner(record)
    return record.get("type") == "result" and "session_id" in inner and not {"num_turns", "usage"}.isdisjoint(inner)


def _is_message(record: dict[str, Any]) -> bool:
    """Whether a record wraps a message of the API, and says whose, or as the API gives it."""
    message = mapping(record.get("message"))
    if record.get("type") not in ("user", "assistant") or record["type"] != message.get("role"):
        return False
    named = "parent_tool_use_id" in record and isinstance(record.get("session_id"), str)
    return "content" in message and (named or (message.get("type") == "message" and "uuid" not in record))


def _inner(record: dict[str, Any]) -> dict[str, Any]:
    """The SDK's own fields of a record that is no message: they stand under `message` where a harness wrapped it."""
    wrapped = record.get("message")
    return wrapped if isinstance(wrapped, dict) else record


def read(source: Source) -> Iterator[Transcript]:
    """Read the sessions of a file in the order of their first records, each followed by its sidechains."""
    lines = source.lines() if source.document is None else Lines(())
    sessions: dict[str, _Session] = {}
    counts = _Counts()
    at = ""
    for line in lines if source.document is None else _of_document(source):
        if not isinstance(line.value, dict):
            counts.unknown["no object"] += 1
            continue
        named = first_string(line.value, "session_id") or first_string(_inner(line.value), "session_id")
        if named and not at and "" in sessions:
            sessions[named] = sessions.pop("")
        at = named or at
        sessions.setdefault(at, _Session()).take(line, counts)
    read = lines.intake(counts.skipped, counts.unknown)
    if source.document is not None:
        read = replace(read, records=len(source.document) if isinstance(source.document, list) else 1)
    place = Origin(str(source.path), "record {}") if source.document is not None else None
    yield from _transcripts(source, sessions, read, place or Origin(str(source.path), "line {}", base=1))


def _of_document(source: Source) -> Iterator[Line]:
    document = source.document
    keep_raw(document, source.data)
    for index, value in enumerate(document if isinstance(document, list) else [document]):
        yield Line(index + 1, value, b"")


class _Counts:
    def __init__(self) -> None:
        self.skipped: Counter[str] = Counter()
        self.unknown: Counter[str] = Counter()


@dataclass
class _Session:
    """One session, growing record by record; its chains by the call that they hang from, the main one first."""

    chains: dict[str, list[Record]] = field(default_factory=lambda: {"": []})
    init: dict[str, Any] = field(default_factory=dict)
    result: dict[str, Any] = field(default_factory=dict)
    last: int = 0

    def take(self, line: Line, counts: _Counts) -> None:
        value = line.value
        name, inner = value.get("type"), _inner(value)
        self.last = line.number - 1
        if name == "system" and inner.get("subtype") == "init":
            self.init = self.init or inner
        elif name == "result":
            self.result = inner
        elif not self._says(line):
            shown = {"type": name, "subtype": inner.get("subtype")}
            known = name == "system" or (isinstance(name, str) and name in EVENTS)
            (counts.skipped if known else counts.unknown)[kind(shown)] += 1

    def _says(self, line: Line) -> bool:
        """Keep a message or a boundary; False for a record of another kind."""
        value = line.value
        name = value.get("type")
        chain = self.chains.setdefault(string(value.get("parent_tool_use_id")), [])
        wrapped = name == "system" and isinstance(value.get("message"), dict)
        shown = line._replace(value={"type": name, **value["message"]}) if wrapped else line
        after = not chain or chain[-1].is_boundary
        fields = said(shown, starts=after) if name in ("user", "assistant", "system") else {}
        if not fields:
            return False
        uuid = string(shown.value.get("uuid")) or f"record {line.number}"
        timestamp = value.get("timestamp")
        held: dict[str, Any] = {"index": line.number - 1, "uuid": uuid, "parent": chain[-1].uuid if chain else None}
        chain.append(Record(**held, timestamp=timestamp if isinstance(timestamp, str) else None, **fields))
        return True


def _transcripts(source: Source, sessions: dict[str, _Session], read: Intake, place: Origin) -> Iterator[Transcript]:
    made = [
        _transcript(source, (own, call), session, place) for own, session in sessions.items() for call in session.chains
    ]
    held = [transcript for transcript in made if transcript.messages]
    for index, transcript in enumerate(held):
        told = read if index == len(held) - 1 else Intake()
        skipped = Counter(told.skipped) + Counter(transcript.intake.skipped)
        yield replace(transcript, intake=replace(told, skipped=dict(skipped)))


def _transcript(source: Source, name: tuple[str, str], session: _Session, place: Origin) -> Transcript:
    """Make a transcript of the main chain of a session, or of the sidechain of one call."""
    own, call = name
    main = session_id(source.stem, own)
    records = session.chains[call]
    built = build(records, {record.uuid: record for record in records})
    messages, usage = built.messages, built.usage
    answer = string(session.result.get("result"))
    if not call and not messages and answer:
        messages = (Message("assistant", (Text(answer),), source=session.last),)
    if not call and not usage:
        total = anthropic_usage(None, session.result.get("usage"))
        usage = () if total is None else (total,)
    return Transcript(
        id=f"{main}-{call}" if call else main,
        format=NAME,
        messages=messages,
        path=str(source.path),
        agent_type="subagent" if call else "primary",
        cluster=main,
        tools=() if call else _tools(session.init.get("tools")),
        compactions=built.compactions,
        usage=usage,
        origins=(place,),
        intake=Intake(skipped=built.skipped),
        header=_header({} if call else session.result, session.init, records),
    )


def _tools(given: object) -> tuple[str | dict[str, Any], ...]:
    return tuple(tool for tool in given if isinstance(tool, str | dict)) if isinstance(given, list) else ()


def _header(result: dict[str, Any], init: dict[str, Any], records: Iterable[Record]) -> dict[str, Any]:
    models = dict.fromkeys(record.model for record in records if record.model and record.model != SYNTHETIC_MODEL)
    said_by = ", ".join(models) or string(init.get("model"))
    header: dict[str, Any] = {"version": string(init.get("claude_code_version")), "model": said_by}
    totals = {ours: result[key] for key, ours in _TOTALS.items() if isinstance(result.get(key), str | int | float)}
    return {key: value for key, value in (header | totals).items() if value != ""}
