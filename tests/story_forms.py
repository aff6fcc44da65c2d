"""Files of every format that hold one story of `stories`, and what each format has a place for."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, NamedTuple

import story_agents as agents
import story_steps as steps
from stories import Did, Got, Said, Turn, Wire, blocks, chat, items

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    Maker = Callable[[Iterable[Turn]], Any]

LINES, DOCUMENT, DATABASE = "lines", "document", "database"


class Form(NamedTuple):
    """A reader, whether its file is JSON lines, one document or a database, what makes it, and what it can hold.

    Of *holds*: `calls`; their `ids`, and arguments as `text`; results that stand `apart` from calls, and as a `list`,
    or `nothing` at all; pictures of a `user` and of a `result`; and messages whose content is `null`.
    """

    reader: str
    kind: str
    make: Maker
    holds: frozenset[str]

    def file(self, turns: Iterable[Turn]) -> bytes:
        """The story as the bytes of a file."""
        made = self.make(tuple(turns))
        if self.kind == LINES:
            return "".join(f"{_json(record)}\n" for record in made).encode()
        return bytes(made) if self.kind == DATABASE else _json(made).encode()


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _form(reader: str, kind: str, make: Maker, holds: str) -> Form:
    return Form(reader, kind, make, frozenset(holds.split()))


CHAT = "calls ids text apart list nothing user result null"
BLOCKS = "calls ids apart list nothing user result"


def sqlite_file(tables: dict[str, list[Wire]]) -> bytes:
    """An SQLite database of rows, by the name of their table."""
    with TemporaryDirectory() as folder:
        path = Path(folder, "x.db")
        base = sqlite3.connect(path)
        for name, rows in tables.items():
            columns = list(dict.fromkeys(key for row in rows for key in row))
            base.execute(f"CREATE TABLE {name} ({', '.join(columns)})")
            marks = ", ".join("?" for _ in columns)
            values = [tuple(row.get(column) for column in columns) for row in rows]
            base.executemany(f"INSERT INTO {name} VALUES ({marks})", values)  # noqa: S608  # names of the tests
        base.commit()
        base.close()
        return path.read_bytes()


def _hermes(turns: Iterable[Turn]) -> bytes:
    session = {"id": "h0", "source": "cli", "model": "m", "parent_session_id": None, "started_at": 1.5}
    return sqlite_file({"sessions": [session], "messages": agents.hermes_rows(turns)})


def _opencode(turns: Iterable[Turn]) -> bytes:
    told = agents.opencode(turns)
    session = {"id": "ses_1", "project_id": "p", "parent_id": None, "title": "x", "version": "1.17", "time_created": 1}
    held = [
        {"id": message["info"]["id"], "session_id": "ses_1", "time_created": at, "data": _json(message["info"])}
        for at, message in enumerate(told["messages"])
    ]
    pieces = [
        {"id": part["id"], "message_id": message["info"]["id"], "session_id": "ses_1", "data": _json(part)}
        for message in told["messages"]
        for part in message["parts"]
    ]
    return sqlite_file({"session": [session], "message": held, "part": pieces})


def _own(turns: Iterable[Turn]) -> list[Wire]:
    head: Wire = {"type": "session", "id": "s1", "title": "x", "agent_type": "primary", "tools": []}
    return [head, *({"type": "message", **wire} for wire in blocks(turns))]


def _row(turns: Iterable[Turn], column: str = "messages") -> list[Wire]:
    return [{"instance_id": "i1", column: chat(turns), "resolved": True}]


def _snapshot(turns: Iterable[Turn]) -> Wire:
    return {"session_id": "s1", "platform": "cli", "model": "m", "messages": chat(turns)}


def _logged(turns: Iterable[Turn]) -> list[Wire]:
    """A log whose last request holds all but the last message, which is the response to it, if the model said it."""
    told = chat(turns)
    answer = told.pop() if told[-1]["role"] == "assistant" else {"role": "assistant", "content": "ok"}
    return [{"request": {"model": "m", "messages": told}, "response": {"id": "r1", "choices": [{"message": answer}]}}]


def _tau(turns: Iterable[Turn]) -> list[Wire]:
    return [{"task_id": 0, "trial": 0, "reward": 1.0, "info": {}, "traj": chat(turns)}]


def _team(turns: Iterable[Turn]) -> Wire:
    names = {"user": "human", "assistant": "WebSurfer"}
    told = [{"role": names[turn.role], "content": turn.content} for turn in turns if isinstance(turn, Said)]
    return {"history": told, "question": "?", "mistake_step": "1"}


def _memories(turns: Iterable[Turn]) -> Wire:
    keys = {"user": "query", "assistant": "response"}
    told = [{keys[turn.role]: turn.content} for turn in turns if isinstance(turn, Said)]
    return {"Ada": {"name": "Ada", "summary": {}, "personality": {}, "history": {"2023-04-27": told}}}


def _shared(turns: Iterable[Turn]) -> list[Wire]:
    told: list[Wire] = []
    for turn in turns:
        if isinstance(turn, Said):
            told.append({"from": {"user": "human", "assistant": "gpt"}[turn.role], "value": turn.content})
        elif isinstance(turn, Did):
            told += [{"from": "gpt", "value": turn.text}] if turn.text else []
            told += [
                {"from": "function_call", "value": f'{{"name": "{call.name}", "arguments": {call.arguments}}}'}
                for call in turn.calls
            ]
        else:
            told.append({"from": "observation", "value": turn.content})
    return [{"id": "x", "conversations": told}]


def _tape(turns: Iterable[Turn]) -> Wire:
    told: list[Wire] = []
    for index, turn in enumerate(turns):
        about = {"agent": "a", "prompt_id": f"p{index}"}
        if isinstance(turn, Got):
            [wire] = chat([turn])
            told.append(
                {"kind": "tool", "metadata": {}, **{k: v for k, v in wire.items() if k not in ("role", "name")}}
            )
        elif isinstance(turn, Did) or turn.role == "assistant":
            told.append({"kind": "assistant", "metadata": about, **chat([turn])[0]})
        else:
            told.append({"kind": "user", "metadata": {"agent": ""}, "content": chat([turn])[0].get("content")})
    return {"metadata": {"id": "t"}, "context": {"tools": []}, "steps": told}


FORMS: dict[str, Form] = {
    "own": _form("compactlab", LINES, _own, BLOCKS),
    "openai list": _form("openai_chat", DOCUMENT, chat, CHAT),
    "openai body": _form("openai_chat", DOCUMENT, lambda turns: {"messages": chat(turns)}, CHAT),
    "openai lines": _form("openai_chat", LINES, lambda turns: [{"messages": chat(turns)}], CHAT),
    "openai messages": _form("openai_chat", LINES, chat, CHAT),
    "anthropic": _form("anthropic_messages", DOCUMENT, lambda turns: {"system": "", "messages": blocks(turns)}, BLOCKS),
    "anthropic lines": _form(
        "anthropic_messages", LINES, lambda turns: [{"system": "", "messages": blocks(turns)}], BLOCKS
    ),
    "responses": _form("openai_responses", DOCUMENT, items, CHAT),
    "request log": _form("request_log", LINES, _logged, CHAT),
    "rows": _form("trajectory_rows", LINES, _row, CHAT),
    "rows of trajectories": _form("trajectory_rows", LINES, lambda turns: _row(turns, "trajectory"), CHAT),
    "tau": _form("tau_bench", DOCUMENT, _tau, CHAT),
    "hermes snapshot": _form("hermes", DOCUMENT, _snapshot, CHAT),
    "hermes store": _form("hermes", DATABASE, _hermes, "calls ids text apart nothing user"),
    "sharegpt": _form("sharegpt", LINES, _shared, "calls"),
    "who and when": _form("who_and_when", DOCUMENT, _team, ""),
    "memorybank": _form("memorybank", DOCUMENT, _memories, ""),
    "tape": _form("tapeagents", DOCUMENT, _tape, "calls ids text apart list nothing user result"),
    "claude code": _form("claude_code", LINES, agents.claude_code, BLOCKS),
    "claude stream": _form("claude_stream", LINES, agents.claude_stream, BLOCKS),
    "codex": _form("codex", LINES, agents.codex, CHAT),
    "gemini": _form("gemini_cli", DOCUMENT, agents.gemini, "calls ids user result"),
    "gemini lines": _form("gemini_cli", LINES, agents.gemini_lines, "calls ids user result"),
    "gemini contents": _form("gemini_cli", DOCUMENT, agents.contents, "calls ids apart nothing user result"),
    "opencode export": _form("opencode", DOCUMENT, agents.opencode, "calls ids user result"),
    "opencode database": _form("opencode", DATABASE, _opencode, "calls ids user result"),
    "pi": _form("pi", LINES, agents.pi, BLOCKS),
    "openharness": _form("openharness", DOCUMENT, agents.openharness, "calls ids apart nothing user"),
    "claw code": _form("claw_code", DOCUMENT, agents.claw, "calls ids text apart nothing"),
    "letta": _form("letta", DOCUMENT, agents.letta, "calls ids text apart list nothing user"),
    "swe agent": _form("swe_agent", DOCUMENT, steps.swe_agent, CHAT),
    "mini swe agent": _form("mini_swe_agent", DOCUMENT, steps.mini, CHAT),
    "openhands": _form("openhands", DOCUMENT, steps.openhands, "calls ids text apart nothing user result"),
    "openhands rows": _form("openhands", LINES, steps.openhands_row, "calls ids text apart nothing user result"),
    "openhands v1": _form("openhands", LINES, steps.openhands_v1, "calls ids text apart list nothing user result"),
    "tau2": _form("tau2_bench", DOCUMENT, steps.tau2, "calls ids apart nothing null"),
    "inspect": _form("inspect_log", DOCUMENT, steps.inspect, "calls ids apart list nothing user result"),
    "atif": _form("atif", DOCUMENT, steps.atif, "calls ids list nothing user result"),
    "langchain": _form("langchain", DOCUMENT, steps.langchain, "calls ids apart list nothing user result"),
    "telemetry": _form("opentelemetry", LINES, steps.telemetry, "calls ids apart list nothing user result"),
}


def holding(*wanted: str) -> list[str]:
    """Names of the forms that hold all of what is *wanted*."""
    return [name for name, form in FORMS.items() if form.holds.issuperset(wanted)]
