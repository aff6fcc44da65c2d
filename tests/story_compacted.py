"""One story with two compactions as agents record it: files by name, of which the first is read."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import claude_code_records as claude
import codex_records as codex
from fuzz_sessions import AT
from inspect_logs import HEADER, asked, model, said, sample
from story_forms import sqlite_file

if TYPE_CHECKING:
    from collections.abc import Iterable

Wire = dict[str, Any]
ASKED, SAID = ("ask one", "ask two", "ask three"), ("say one", "say two", "say three")
SUMMARIES = ("first summary", "second summary")
CONTINUED = "This session is being continued from a previous conversation that ran out of context. Summary: "
LATER = "Here is a summary of the conversation to date:\n\n"


def _lines(*records: object) -> bytes:
    return "".join(f"{json.dumps(record)}\n" for record in records).encode()


def _claude_code() -> dict[str, bytes]:
    records: list[Wire] = []
    for turn in range(3):
        if turn:
            records += [
                claude.boundary(f"b{turn}", f"a{turn - 1}", trigger="auto", preTokens=9),
                claude.summary(f"s{turn}", f"b{turn}", CONTINUED + SUMMARIES[turn - 1]),
            ]
        records += [
            claude.user(f"u{turn}", f"s{turn}" if turn else None, ASKED[turn]),
            claude.agent(f"a{turn}", f"u{turn}", f"m{turn}", claude.text(SAID[turn])),
        ]
    return {"s.jsonl": _lines(*records)}


def _claude_stream() -> dict[str, bytes]:
    records: list[Wire] = [{"type": "system", "subtype": "init", "session_id": "s1", "tools": [], "model": "m"}]
    for turn in range(3):
        if turn:
            about = {"trigger": "auto", "pre_tokens": 9}
            records.append({"type": "system", "subtype": "compact_boundary", "compact_metadata": about})
            records.append(_streamed("user", CONTINUED + SUMMARIES[turn - 1]))
        records.append(_streamed("user", ASKED[turn]))
        records.append(_streamed("assistant", [claude.text(SAID[turn])], id=f"m{turn}"))
    return {"s.jsonl": _lines(*records)}


def _streamed(kind: str, content: object, **more: str) -> Wire:
    return {"type": kind, "message": {"role": kind, "content": content, **more}, "session_id": "s1"}


def _codex() -> dict[str, bytes]:
    records: list[Wire] = [codex.meta()]
    for turn in range(3):
        if turn:
            history = [codex.wire(codex.user(f"{codex.PREFIX}\n{SUMMARIES[turn - 1]}"))]
            records.append(codex.compacted(SUMMARIES[turn - 1], replacement_history=history))
        records += [codex.user(ASKED[turn]), codex.agent(SAID[turn])]
    return {"rollout-1.jsonl": _lines(*records)}


def _gemini() -> dict[str, bytes]:
    records: list[Wire] = [{"sessionId": "s1", "projectHash": "h", "startTime": AT, "lastUpdated": AT}]
    for turn in range(3):
        if turn:
            snapshot = f"<state_snapshot>{SUMMARIES[turn - 1]}</state_snapshot>"
            listed = [
                _recorded(f"n{turn}", "user", snapshot),
                _recorded(f"k{turn}", "gemini", "Got it. Thanks for the context!"),
            ]
            records.append({"$set": {"messages": listed}})
        records += [_recorded(f"u{turn}", "user", ASKED[turn]), _recorded(f"g{turn}", "gemini", SAID[turn])]
    return {"session-1.jsonl": _lines(*records)}


def _recorded(name: str, kind: str, content: str) -> Wire:
    return {"id": name, "timestamp": AT, "type": kind, "content": content}


def _pi(version: int) -> dict[str, bytes]:
    head = {"type": "session", "id": "s1", "timestamp": AT, "cwd": "/"} | ({"version": 3} if version > 1 else {})
    records: list[Wire] = [head]
    for turn in range(3):
        if turn:
            records.append({"type": "compaction", "summary": SUMMARIES[turn - 1], "tokensBefore": 9})
            kept: Wire = {"firstKeptEntryIndex": len(records) - 1}
            records[-1] |= kept if version == 1 else {"firstKeptEntryId": f"e{len(records) - 1}"}
        for role, text in (("user", ASKED[turn]), ("assistant", SAID[turn])):
            records.append({"type": "message", "message": {"role": role, "content": [{"type": "text", "text": text}]}})
    if version > 1:
        linked = enumerate(records[1:], 1)
        records[1:] = [{**entry, "id": f"e{i}", "parentId": f"e{i - 1}" if i > 1 else None} for i, entry in linked]
    return {"s.jsonl": _lines(*records)}


def _openhands() -> dict[str, bytes]:
    events: list[Wire] = []
    for turn in range(3):
        if turn:
            forgotten = [event["id"] for event in events]
            args = {"forgotten_event_ids": forgotten, "summary": SUMMARIES[turn - 1], "summary_offset": 1}
            events.append({"source": "agent", "action": "condensation", "args": args, "id": len(events)})
        for source, text in (("user", ASKED[turn]), ("agent", SAID[turn])):
            args = {"content": text, "image_urls": None}
            events.append({"source": source, "action": "message", "args": args, "message": "", "id": len(events)})
    return {"x.json": json.dumps(events).encode()}


def _openhands_v1() -> dict[str, bytes]:
    events: list[Wire] = []
    for turn in range(3):
        if turn:
            forgotten = [event["id"] for event in events]
            told: Wire = {"forgotten_event_ids": forgotten, "summary": SUMMARIES[turn - 1], "summary_offset": 0}
            events.append({"kind": "Condensation", "source": "environment", "id": f"e{len(events)}", **told})
        for source, role, text in (("user", "user", ASKED[turn]), ("agent", "assistant", SAID[turn])):
            told = {"llm_message": {"role": role, "content": text}}
            events.append({"kind": "MessageEvent", "source": source, "id": f"e{len(events)}", **told})
    return {"x.jsonl": _lines(*events)}


def _opencode() -> dict[str, bytes]:
    told: list[Wire] = []
    for turn in range(3):
        if turn:
            told.append(_message("user", len(told), {"type": "compaction", "auto": True}))
            about = {"summary": True, "mode": "compaction", "parentID": told[-1]["info"]["id"]}
            told.append(_message("assistant", len(told), _text(SUMMARIES[turn - 1]), **about))
        told.append(_message("user", len(told), _text(ASKED[turn])))
        told.append(_message("assistant", len(told), _text(SAID[turn])))
    info = {"id": "ses_1", "projectID": "p", "title": "x", "version": "1.1", "time": {"created": 1}}
    return {"x.json": json.dumps({"info": info, "messages": told}).encode()}


def _message(role: str, number: int, part: Wire, **more: object) -> Wire:
    name = f"msg_{number:02}"
    info = {"id": name, "sessionID": "ses_1", "role": role, "time": {"created": 1782358569000 + number}, **more}
    return {"info": info, "parts": [{"id": f"prt_{number:02}", "messageID": name, **part}]}


def _text(text: str) -> Wire:
    return {"type": "text", "text": text}


def _own() -> dict[str, bytes]:
    made = [{"role": "user", "blocks": [_text(summary)], "synthetic": True} for summary in SUMMARIES]
    told = [{"position": 2 * i + 2, "after": [made[i]], "summary": SUMMARIES[i]} for i in range(2)]
    head = {"type": "session", "id": "s1", "title": "x", "agent_type": "primary", "tools": [], "compactions": told}
    return {"x.jsonl": _lines(head, *({"type": "message", **wire} for wire in _turns()))}


def _turns(of: Iterable[int] = range(3)) -> list[Wire]:
    return [
        {"role": role, "content": text}
        for turn in of
        for role, text in (("user", ASKED[turn]), ("assistant", SAID[turn]))
    ]


def _hermes() -> dict[str, bytes]:
    sessions, rows = [], []
    for turn in range(3):
        ended = {"end_reason": "compression", "ended_at": turn + 1.0} if turn < 2 else {}
        parent = f"h{turn - 1}" if turn else None
        sessions.append(
            {"id": f"h{turn}", "source": "cli", "parent_session_id": parent, "started_at": turn + 0.5, **ended}
        )
        opening = "[CONTEXT COMPACTION] Earlier turns in this conversation were compacted: "
        summary = [{"role": "user", "content": opening + SUMMARIES[turn - 1]}] if turn else []
        for wire in [*summary, *_turns([turn])]:
            rows.append(
                {"id": len(rows) + 1, "session_id": f"h{turn}", **wire, "tool_calls": None, "timestamp": turn + 0.6}
            )
    columns = {"end_reason": None, "ended_at": None}
    return {"state.db": sqlite_file({"sessions": [columns | session for session in sessions], "messages": rows})}


def _contexts(summary: str = LATER) -> list[list[Wire]]:
    """The list of messages that stood in context at the end of each turn."""
    lead: list[list[Wire]] = [[], *([{"role": "user", "content": summary + text}] for text in SUMMARIES)]
    return [[*lead[turn], *_turns([turn])] for turn in range(3)]


def _langgraph() -> dict[str, bytes]:
    states = []
    for step, context in enumerate(_contexts()):
        messages = [
            {
                "type": {"user": "human", "assistant": "ai"}[wire["role"]],
                "content": wire["content"],
                "id": wire["content"],
            }
            for wire in context
        ]
        place = [{"thread_id": "t", "checkpoint_ns": "", "checkpoint_id": f"k{at}"} for at in (step - 1, step)]
        states.append(
            {
                "values": {"messages": messages},
                "next": [],
                "metadata": {"step": step, "thread_id": "t"},
                "created_at": f"2026-01-01T00:00:0{step}+00:00",
                "checkpoint": place[1],
                "parent_checkpoint": place[0] if step else None,
            }
        )
    return {"x.json": json.dumps(states[::-1]).encode()}


def _telemetry() -> dict[str, bytes]:
    spans = []
    for turn, context in enumerate(_contexts()):
        *sent, answer = [
            {"role": wire["role"], "parts": [{"type": "text", "content": wire["content"]}]} for wire in context
        ]
        attributes = {
            "gen_ai.operation.name": "chat",
            "gen_ai.conversation.id": "c",
            "gen_ai.input.messages": json.dumps(sent),
            "gen_ai.output.messages": json.dumps([answer]),
        }
        listed = [{"key": key, "value": {"stringValue": value}} for key, value in attributes.items()]
        about = {"traceId": "t", "spanId": f"s{turn}", "name": "chat m", "startTimeUnixNano": str(turn + 1)}
        spans.append({**about, "attributes": listed})
    return {"x.jsonl": _lines({"resourceSpans": [{"resource": {}, "scopeSpans": [{"spans": spans}]}]})}


def _inspect() -> dict[str, bytes]:
    """A log in which the messages are the last context, and the events tell of those before."""
    events: list[Wire] = []
    context: list[Wire] = []
    for turn in range(3):
        if turn:
            events.append({"event": "compaction", "type": "summary", "source": "inspect", "span_id": "s1"})
            marked = {"metadata": {"summary": True}, "id": f"sum{turn}", "source": "generate"}
            context = [asked(f"[SUMMARY] {SUMMARIES[turn - 1]}", **marked)]
        context.append(asked(ASKED[turn], id=f"u{turn}"))
        answer = said(SAID[turn], id=f"a{turn}")
        events.append(model(list(context), answer))
        context.append(answer)
    return {"x.json": json.dumps(HEADER | {"samples": [sample(context, events=events)]}).encode()}


def _atif() -> dict[str, bytes]:
    files = {}
    for turn in range(3):
        copied = [{"source": "user", "message": CONTINUED + SUMMARIES[turn - 1]}] if turn else []
        sources = {"user": "user", "assistant": "agent"}
        steps = [*copied, *({"source": sources[w["role"]], "message": w["content"]} for w in _turns([turn]))]
        told: Wire = {"schema_version": "ATIF-v1.7", "session_id": "s1", "agent": {"name": "a", "version": "1"}}
        told |= {"steps": [{"step_id": number, **step} for number, step in enumerate(steps, 1)]}
        told |= {"continued_trajectory_ref": f"t.cont-{turn + 1}.json"} if turn < 2 else {}
        files[f"t.cont-{turn}.json" if turn else "t.json"] = json.dumps(told).encode()
    return files


COMPACTED = {
    "own": _own,
    "claude code": _claude_code,
    "claude stream": _claude_stream,
    "codex": _codex,
    "gemini": _gemini,
    "pi": lambda: _pi(1),
    "pi tree": lambda: _pi(3),
    "openhands": _openhands,
    "openhands v1": _openhands_v1,
    "opencode": _opencode,
    "hermes": _hermes,
    "langgraph": _langgraph,
    "telemetry": _telemetry,
    "inspect": _inspect,
    "atif": _atif,
}
