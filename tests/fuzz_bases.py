"""Small files of every format, which `mutations` spoils: a base is its files by name, and the reader that it has."""

from __future__ import annotations

import io
import json
import sqlite3
import zipfile
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import fuzz_records as of
from fuzz_sessions import (
    ASKED,
    AT,
    BLOCKS,
    CHAT,
    CLAUDE,
    CODEX,
    CODEX_LEGACY,
    EVENTS,
    HUMAN,
    ITEMS,
    MINI,
    OLD_USAGE,
    SAID,
    SEEN,
    STREAM,
    TRAJ,
    V1,
    doc,
    lines,
)


class Base(NamedTuple):
    """The reader that knows a base, and its files by name; the first is the one that is read."""

    reader: str
    files: dict[str, bytes]


def zipped(members: dict[str, bytes]) -> bytes:
    """A zip archive that is the same each time."""
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(zipfile.ZipInfo(name), data)
    return held.getvalue()


def _database(*tables: tuple[str, list[dict[str, Any]]]) -> bytes:
    with TemporaryDirectory() as folder:
        path = Path(folder, "x.db")
        base = sqlite3.connect(path)
        for name, rows in tables:
            columns = list(rows[0])
            base.execute(f"CREATE TABLE {name} ({', '.join(columns)})")
            marks = ", ".join("?" for _ in columns)
            base.executemany(f"INSERT INTO {name} VALUES ({marks})", [tuple(row.values()) for row in rows])  # noqa: S608
        base.commit()
        base.close()
        return path.read_bytes()


def _one(reader: str, data: bytes, name: str = "x.json") -> Base:
    return Base(reader, {name: data})


LOGGED = {"id": "r1", "choices": [{"message": CHAT[5]}], "usage": OLD_USAGE}
REQUEST = {"model": "gpt-4o", "messages": CHAT[:2]}
SNAPSHOT = {"session_id": "s", "platform": "cli", "model": "m", "session_start": AT, "last_updated": AT}
PERSONA = {
    "name": "Ada",
    "summary": {},
    "personality": {},
    "history": {"2023-04-27": [{"query": ASKED, "response": SAID}]},
}
PAGES = [
    {"kind": "task", "task": ASKED, "metadata": {"agent": ""}},
    {"kind": "reasoning_thought", "reasoning": "Look.", "metadata": {"agent": "a", "prompt_id": "p1"}},
    {"kind": "click_action", "bid": "a1", "metadata": {"agent": "a", "prompt_id": "p2"}},
    {"kind": "set_next_node", "next_node": "reflect", "metadata": {}},
    {"kind": "page_observation", "text": SEEN, "metadata": {}},
]
THREAD = {"values": {"messages": HUMAN, "title": "x"}, "next": [], "checkpoint": {"thread_id": "t"}, "metadata": {}}
TYPED = [{"type": message["type"], "data": {k: v for k, v in message.items() if k != "type"}} for message in HUMAN]
RUN = {"id": "r1", "trace_id": "r1", "run_type": "llm", "name": "ChatOpenAI", "start_time": "2026-01-01T00:00:00"}
RUNS = [{**RUN, "inputs": {"messages": [HUMAN[:3]]}, "outputs": {"generations": [[{"message": HUMAN[3]}]]}}]
SAYS = [{"role": "user", "parts": [{"type": "text", "content": ASKED}]}]
DOES = [{"role": "assistant", "parts": [{"type": "tool_call", "id": "c1", "name": "ls", "arguments": {}}]}]
ATTRIBUTES = {
    "gen_ai.operation.name": "chat",
    "gen_ai.conversation.id": "c",
    "gen_ai.input.messages": json.dumps(SAYS),
    "gen_ai.output.messages": json.dumps(DOES),
    "gen_ai.usage.input_tokens": 9,
}
SPAN = {"traceId": "t1", "spanId": "s1", "name": "chat m", "startTimeUnixNano": "1"}
TRACED = {**SPAN, "attributes": [{"key": k, "value": {"stringValue": str(v)}} for k, v in ATTRIBUTES.items()]}
PRINTED = {"name": "chat m", "context": {"trace_id": "t1", "span_id": "s1"}, "attributes": ATTRIBUTES, "events": []}
TEAM = [
    {"role": "human", "content": ASKED},
    {"role": "Orchestrator (thought)", "content": "Look."},
    {"role": "WebSurfer", "content": SAID},
]
GRADED = [
    {"id": "m1", "message_type": "user_message", "content": ASKED},
    {"id": "m2", "message_type": "reasoning_message", "reasoning": "Look."},
    {
        "id": "m2",
        "message_type": "tool_call_message",
        "tool_call": {"tool_call_id": "c1", "name": "f", "arguments": "{}"},
    },
    {"id": "m3", "message_type": "tool_return_message", "tool_call_id": "c1", "tool_return": SEEN, "status": "success"},
]


@cache
def bases() -> dict[str, Base]:
    """Every base by its name."""
    return {**_message_lists(), **_agents(), **_benchmarks(), **_frameworks(), **_archives()}


def _message_lists() -> dict[str, Base]:
    return {
        "own": _one("compactlab", lines(*of.OWN)),
        "openai chat list": _one("openai_chat", doc(CHAT)),
        "openai chat rows": _one("openai_chat", lines({"messages": CHAT}, {"messages": CHAT[:2], "tools": []})),
        "openai chat messages a line": _one("openai_chat", lines(*CHAT)),
        "anthropic body": _one("anthropic_messages", doc({"system": "Be.", "messages": BLOCKS, "usage": {}})),
        "anthropic rows": _one("anthropic_messages", lines({"messages": BLOCKS}, {"messages": BLOCKS})),
        "responses items": _one("openai_responses", doc(ITEMS)),
        "responses body": _one(
            "openai_responses", doc({"input": ITEMS[:4], "output": ITEMS[4:], "instructions": "Be."})
        ),
        "request log": _one("request_log", lines({"request": REQUEST, "response": LOGGED})),
        "sharegpt": _one("sharegpt", doc([of.SHARED, {**of.SHARED, "id": "x_1"}])),
        "rows of text": _one("trajectory_rows", doc([{"instance_id": "i", "trajectory": of.NEBIUS, "target": True}])),
        "rows of xml": _one(
            "trajectory_rows", lines({"messages": json.dumps(CHAT), "instance_id": "i", "resolved": True})
        ),
    }


def _agents() -> dict[str, Base]:
    store = dict(reversed(of.OPEN_STORE.items()))
    return {
        "claude code": _one("claude_code", CLAUDE, "s1.jsonl"),
        "claude stream": _one("claude_stream", STREAM),
        "codex": _one("codex", CODEX),
        "codex legacy": _one("codex", CODEX_LEGACY),
        "gemini": _one("gemini_cli", doc({**of.HEAD, "messages": of.GEMINI})),
        "gemini lines": _one("gemini_cli", lines(of.HEAD, *of.GEMINI, {"$rewindTo": "m2"}, of.SHRUNK)),
        "gemini contents": _one("gemini_cli", doc(of.PARTS)),
        "opencode store": Base("opencode", store),
        "opencode export": _one("opencode", doc({"info": of.OPEN_SESSION, "messages": of.OPEN_EXPORT})),
        "opencode dumps": Base(
            "opencode",
            {
                "parts.json": doc(of.OPEN_PART_ROWS),
                "messages.json": doc(of.OPEN_ROWS),
                "sessions.json": doc(of.OPEN_SESSIONS),
            },
        ),
        "pi": _one("pi", lines({"type": "session", "id": "s1", "cwd": "/"}, *of.PI)),
        "pi tree": _one("pi", lines({"type": "session", "version": 3, "id": "s1"}, *of.PI_TREE)),
        "letta": _one("letta", doc(of.FILE)),
        "letta results": _one("letta", lines({"type": "result", "result": {"trajectory": [GRADED]}})),
        "hermes snapshot": _one("hermes", doc({**SNAPSHOT, "messages": CHAT})),
        "openharness": _one("openharness", doc(of.OPEN_HARNESS)),
        "claw code": _one("claw_code", doc(of.CLAW)),
    }


def _benchmarks() -> dict[str, Base]:
    runs = [{"task_id": 0, "trial": 0, "reward": 1.0, "info": {}, "traj": CHAT}]
    continued = {**of.ATIF, "continued_trajectory_ref": "y.json"}
    events = {f"events/event-0000{i}-x.json": doc(event) for i, event in enumerate(V1)}
    row = {"instance_id": "i", "instruction": ASKED, "history": EVENTS, "metrics": {}}
    return {
        "swe agent": _one("swe_agent", doc(TRAJ)),
        "mini swe agent": _one("mini_swe_agent", doc(MINI)),
        "openhands rows": _one("openhands", lines(row, row)),
        "openhands list": _one("openhands", doc(EVENTS)),
        "openhands events": Base("openhands", {f"events/{i}.json": doc(event) for i, event in enumerate(EVENTS)}),
        "openhands conversation": Base(
            "openhands",
            {**events, "base_state.json": doc({"id": "c", "agent": {"llm": {"model": "m"}}, "workspace": {}})},
        ),
        "tau bench": _one("tau_bench", doc([*runs, *runs])),
        "tau2 bench": _one("tau2_bench", doc(of.SIMULATIONS)),
        "inspect": _one("inspect_log", doc({**of.EVAL, "samples": [of.SAMPLE]})),
        "atif": Base("atif", {"x.json": doc(continued), "y.json": doc({**of.ATIF, "steps": of.COPIED})}),
        "who and when": _one("who_and_when", doc({"history": TEAM, "question": ASKED, "mistake_step": "1"})),
        "memorybank": _one("memorybank", doc({"Ada": PERSONA})),
        "tape": _one("tapeagents", doc({"metadata": {"id": "t"}, "context": {"tools": []}, "steps": PAGES})),
    }


def _frameworks() -> dict[str, Base]:
    scoped = {"resourceSpans": [{"resource": {}, "scopeSpans": [{"spans": [TRACED]}]}]}
    return {
        "langchain thread": _one("langchain", doc(THREAD)),
        "langchain dicts": _one("langchain", doc(TYPED)),
        "langsmith runs": _one("langchain", doc(RUNS)),
        "telemetry": _one("opentelemetry", lines(scoped)),
        "telemetry spans": _one("opentelemetry", doc([PRINTED])),
    }


def _archives() -> dict[str, Base]:
    held = {"header.json": doc(of.EVAL), "samples/1_epoch_1.json": doc(of.SAMPLE), "summaries.json": b"[]"}
    opencode = (("session", of.OPEN_SESSIONS), ("message", of.OPEN_ROWS), ("part", of.OPEN_PART_ROWS))
    hermes = (("sessions", of.HERMES_SESSIONS), ("messages", of.HERMES_TABLE))
    return {
        "inspect archive": _one("inspect_log", zipped(held), "x.eval"),
        "opencode database": _one("opencode", _database(*opencode), "x.db"),
        "hermes database": _one("hermes", _database(*hermes), "x.db"),
    }
