"""The story of `stories` as the sessions of agents: what their own files hold."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from fuzz_sessions import AT, claude, rolled
from stories import (
    MISSING,
    Call,
    Did,
    Got,
    Said,
    Turn,
    Wire,
    block_turn,
    blocks,
    chat,
    chat_call,
    data_url,
    encoded,
    fields,
    given,
    items,
    listed,
    parts,
    plain,
    sourced,
    text_part,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


def claude_code(turns: Iterable[Turn]) -> list[Wire]:
    """A record for each block of a response, as Claude Code writes them."""
    made: list[Wire] = []
    for number, turn in enumerate(turns):
        wire = block_turn(turn)
        kind = wire["role"]
        for block in wire["content"] if kind == "assistant" and isinstance(wire["content"], list) else [None]:
            told = wire if block is None else {**wire, "content": [block]}
            told = {**told, "id": f"m{number}", "model": "opus"} if kind == "assistant" else told
            made.append(claude(kind, len(made), told))
    return made


def claude_stream(turns: Iterable[Turn]) -> list[Wire]:
    head = {"type": "system", "subtype": "init", "session_id": "s1", "tools": ["Bash"], "model": "opus"}
    told = [
        {"type": wire["role"], "message": {**wire, "id": f"m{number}"}, "parent_tool_use_id": None, "session_id": "s1"}
        for number, wire in enumerate(blocks(turns))
    ]
    return [head, *told]


def codex(turns: Iterable[Turn]) -> list[Wire]:
    return [rolled("session_meta", {"id": "s1", "cwd": "/"}), *(rolled("response_item", item) for item in items(turns))]


def results_of(turns: Sequence[Turn]) -> dict[str, Got]:
    """The results by the id of their call, for formats that write them beside it."""
    return {turn.call_id: turn for turn in turns if isinstance(turn, Got)}


def _inline(picture: bytes) -> Wire:
    return {"inlineData": {"mimeType": "image/png", "data": encoded(picture)}}


def _words(text: str) -> Wire:
    return {"text": text}


def _responded(got: Got) -> list[Wire]:
    """A function response, and the pictures behind it."""
    shown = parts([part for part in listed(got.content) if isinstance(part, bytes)], _words, _inline)
    told = (
        got.content
        if got.content in (None, MISSING) or isinstance(got.content, dict)
        else {"output": plain(got.content)}
    )
    response = fields(id=got.call_id, name=got.name, response=told)
    return [{"functionResponse": response}, *shown]


def _gemini_call(call: Call, got: Got | None) -> Wire:
    told = {"id": call.id, "name": call.name, "args": given(call), "status": "executing"}
    return told | ({"result": _responded(got), "status": "success"} if got else {})


def _gemini_messages(turns: Sequence[Turn]) -> list[Wire]:
    results = results_of(turns)
    made: list[Wire] = []
    for number, turn in enumerate(turns):
        head: Wire = {"id": f"m{number}", "timestamp": AT}
        if isinstance(turn, Said):
            kind = {"user": "user", "assistant": "gemini"}[turn.role]
            made.append({**head, "type": kind, "content": parts(turn.content, _words, _inline)})
        elif isinstance(turn, Did):
            calls = [_gemini_call(call, results.get(call.id)) for call in turn.calls]
            made.append({**head, "type": "gemini", "content": turn.text, "toolCalls": calls})
    return made


HEAD = {"sessionId": "s1", "projectHash": "h1", "startTime": AT, "lastUpdated": AT}


def gemini(turns: Sequence[Turn]) -> Wire:
    return {**HEAD, "messages": _gemini_messages(turns)}


def gemini_lines(turns: Sequence[Turn]) -> list[Wire]:
    return [HEAD, *_gemini_messages(turns)]


def contents(turns: Iterable[Turn]) -> list[Wire]:
    made: list[Wire] = []
    for turn in turns:
        if isinstance(turn, Said):
            role = {"user": "user", "assistant": "model"}[turn.role]
            made.append({"role": role, "parts": parts(listed(turn.content), _words, _inline)})
        elif isinstance(turn, Did):
            calls = [{"functionCall": {"id": c.id, "name": c.name, "args": given(c)}} for c in turn.calls]
            made.append({"role": "model", "parts": [*([_words(turn.text)] if turn.text else []), *calls]})
        else:
            made.append({"role": "user", "parts": _responded(turn)})
    return made


def _attached(picture: bytes) -> Wire:
    return {"type": "file", "mime": "image/png", "url": data_url(picture)}


def _open_tool(call: Call, got: Got | None) -> Wire:
    state: dict[str, Any] = {"status": "running", "input": given(call), "time": {"start": 1}}
    if got is not None:
        shown = [_attached(part) for part in listed(got.content) if isinstance(part, bytes)]
        state |= {"status": "completed", "output": plain(got.content), "time": {"start": 1, "end": 2}}
        state |= {"attachments": shown} if shown else {}
    return {"type": "tool", "callID": call.id, "tool": call.name, "state": state}


def opencode(turns: Sequence[Turn]) -> Wire:
    """A session as `opencode export` gives it."""
    results = results_of(turns)
    told: list[Wire] = []
    for turn in turns:
        if isinstance(turn, Got):
            continue
        name = f"msg_{len(told)}"
        if isinstance(turn, Said):
            held, role = parts(listed(turn.content), text_part, _attached), turn.role
        else:
            held, role = [_open_tool(call, results.get(call.id)) for call in turn.calls], "assistant"
            held = [*([text_part(turn.text)] if turn.text else []), *held]
        info = {"id": name, "sessionID": "ses_1", "role": role, "time": {"created": 1782358569437 + len(told)}}
        told.append({"info": info, "parts": [{"id": f"prt_{name}_{i}", **part} for i, part in enumerate(held)]})
    return {
        "info": {"id": "ses_1", "projectID": "p", "title": "x", "version": "1.1", "time": {"created": 1}},
        "messages": told,
    }


def _bare(picture: bytes) -> Wire:
    return {"type": "image", "mimeType": "image/png", "data": encoded(picture)}


def pi(turns: Iterable[Turn]) -> list[Wire]:
    told: list[Wire] = [{"type": "session", "id": "s1", "timestamp": AT, "cwd": "/"}]
    for turn in turns:
        if isinstance(turn, Said):
            message: Wire = fields(role=turn.role, content=parts(turn.content, text_part, _bare))
        elif isinstance(turn, Did):
            calls = [{"type": "toolCall", "id": c.id, "name": c.name, "arguments": given(c)} for c in turn.calls]
            message = {"role": "assistant", "content": [*([text_part(turn.text)] if turn.text else []), *calls]}
        else:
            content = parts(turn.content, text_part, _bare)
            message = fields(role="toolResult", toolCallId=turn.call_id, toolName=turn.name, content=content)
        told.append({"type": "message", "message": message})
    return told


def _kept(picture: bytes) -> Wire:
    return {"type": "image", "media_type": "image/png", "data": encoded(picture)}


def openharness(turns: Iterable[Turn]) -> Wire:
    told = []
    for turn in turns:
        if isinstance(turn, Said):
            told.append({"role": turn.role, "content": parts(listed(turn.content), text_part, _kept)})
        else:
            told.append(block_turn(turn))
    return {"session_id": "s1", "cwd": "/", "model": "m", "messages": told, "usage": {}, "tool_metadata": {}}


def claw(turns: Iterable[Turn]) -> Wire:
    told: list[Wire] = []
    for turn in turns:
        if isinstance(turn, Said):
            told.append({"role": turn.role, "blocks": [text_part(turn.content)]})
        elif isinstance(turn, Did):
            calls = [{"type": "tool_use", "id": c.id, "name": c.name, "input": c.arguments} for c in turn.calls]
            told.append({"role": "assistant", "blocks": [*([text_part(turn.text)] if turn.text else []), *calls]})
        else:
            result = fields(type="tool_result", tool_use_id=turn.call_id, tool_name=turn.name, output=turn.content)
            told.append({"role": "tool", "blocks": [{**result, "is_error": False}]})
    return {"version": 1, "messages": told}


def letta(turns: Iterable[Turn]) -> Wire:
    """An agent file, whose messages all stand in context."""
    told: list[Wire] = []
    for turn in turns:
        if isinstance(turn, Said):
            wire: Wire = {"role": turn.role, "content": parts(listed(turn.content), text_part, sourced)}
        elif isinstance(turn, Did):
            words = [text_part(turn.text)] if turn.text else []
            wire = {"role": "assistant", "content": words, "tool_calls": [chat_call(call) for call in turn.calls]}
        else:
            content = parts(turn.content, text_part, sourced)
            content = [text_part(content)] if isinstance(content, str) else content
            wire = fields(role="tool", tool_call_id=turn.call_id, name=turn.name, content=content)
        told.append({"type": "message", "id": f"message-{len(told)}", **wire})
    agent: Wire = {"id": "agent-0", "name": "a", "agent_type": "letta_v1_agent", "messages": told}
    agent["in_context_message_ids"] = [message["id"] for message in told]
    return {"agents": [agent], "groups": [], "blocks": [], "tools": [], "sources": [], "llm_config": {}}


def hermes_rows(turns: Iterable[Turn]) -> list[Wire]:
    """Rows of the table of messages; content of several parts is JSON."""
    made = []
    for number, wire in enumerate(chat(turns), 1):
        content = wire.get("content")
        calls = json.dumps(wire["tool_calls"]) if "tool_calls" in wire else None
        made.append(
            {
                "id": number,
                "session_id": "h0",
                "role": wire["role"],
                "content": content if isinstance(content, str | None) else json.dumps(content),
                "tool_call_id": wire.get("tool_call_id"),
                "tool_calls": calls,
                "tool_name": wire.get("name"),
                "timestamp": number + 0.5,
            }
        )
    return made
