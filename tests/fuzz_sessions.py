"""One short session as many tools record it: `fuzz_bases` makes files of these.

It has a call, its result, and, where the format has them, thoughts, a picture and a compaction.
"""

from __future__ import annotations

import json
from typing import Any

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAIAAAADCAYAAAC56t6BAAAAC0lEQVR4nGNgwA4AABsAAXSyVFAAAAAASUVORK5CYII="
AT = "2026-02-12T16:02:23.545Z"
ASKED, SAID, SEEN = "Move the table to port 5433.", "Done, 3 rows moved.", "port = 5432\n"
CONTINUED = "This session is being continued from a previous conversation. Summary: port 5433."
OLD_USAGE = {"prompt_tokens": 90, "completion_tokens": 5, "prompt_tokens_details": {"cached_tokens": 64}}
NEW_USAGE = {"input_tokens": 3, "cache_read_input_tokens": 890, "output_tokens": 26}
CALL = {"id": "c1", "type": "function", "function": {"name": "bash", "arguments": '{"command": "ls"}'}}
CHAT: list[dict[str, Any]] = [
    {"role": "system", "content": "Be careful."},
    {"role": "user", "content": [{"type": "text", "text": ASKED}]},
    {"role": "assistant", "content": None, "reasoning_content": "Look first.", "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "c1", "content": SEEN},
    {"role": "user", "content": [{"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}"}}]},
    {"role": "assistant", "content": SAID},
]
USE = {"type": "tool_use", "id": "t1", "name": "bash", "input": {"command": "ls"}}
THOUGHT = {"type": "thinking", "thinking": "Look first.", "signature": "c2ln"}
PICTURE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}}
ANSWER = {"type": "tool_result", "tool_use_id": "t1", "content": [{"type": "text", "text": SEEN}, PICTURE]}
BLOCKS: list[dict[str, Any]] = [
    {"role": "user", "content": ASKED},
    {"role": "assistant", "content": [THOUGHT, USE]},
    {"role": "user", "content": [ANSWER, {"type": "text", "text": "and then?"}]},
    {"role": "assistant", "content": [{"type": "text", "text": SAID}]},
]
ITEMS: list[dict[str, Any]] = [
    {"type": "message", "role": "user", "content": [{"type": "input_text", "text": ASKED}]},
    {"type": "reasoning", "summary": [{"type": "summary_text", "text": "Look."}], "encrypted_content": "gAAAA"},
    {"type": "function_call", "name": "shell", "arguments": '{"command": ["ls"]}', "call_id": "c1"},
    {"type": "function_call_output", "call_id": "c1", "output": '{"output": "a", "metadata": {"exit_code": 0}}'},
    {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": SAID}]},
]
HUMAN: list[dict[str, Any]] = [
    {"type": "human", "content": ASKED, "id": "h1"},
    {
        "type": "ai",
        "content": "",
        "id": "a1",
        "additional_kwargs": {"reasoning_content": "Look."},
        "tool_calls": [{"name": "ls", "args": {"path": "/"}, "id": "c1", "type": "tool_call"}],
        "usage_metadata": {"input_tokens": 90, "output_tokens": 5, "input_token_details": {"cache_read": 64}},
    },
    {"type": "tool", "content": SEEN, "tool_call_id": "c1", "name": "ls", "id": "t1", "status": "success"},
    {"type": "ai", "content": SAID, "id": "a2"},
]


def doc(value: object) -> bytes:
    return json.dumps(value).encode()


def lines(*values: object) -> bytes:
    return b"".join(json.dumps(value).encode() + b"\n" for value in values)


def claude(kind: str, index: int, message: object, **more: object) -> dict[str, Any]:
    links = {"uuid": f"u{index}", "parentUuid": f"u{index - 1}" if index else None, "sessionId": "s1"}
    return {**links, "type": kind, "isSidechain": False, "timestamp": AT, "message": message, **more}


def spoken(*content: object) -> dict[str, Any]:
    return {"id": "m1", "role": "assistant", "model": "opus", "content": list(content), "usage": NEW_USAGE}


CLAUDE = lines(
    claude("user", 0, {"role": "user", "content": ASKED}),
    claude("assistant", 1, spoken(THOUGHT)),
    claude("assistant", 2, spoken(USE)),
    claude("user", 3, {"role": "user", "content": [ANSWER]}, toolUseResult={"stdout": SEEN}),
    claude("system", 4, None, subtype="compact_boundary", compactMetadata={"trigger": "auto", "preTokens": 9}),
    claude("user", 5, {"role": "user", "content": CONTINUED}, isCompactSummary=True),
    claude("assistant", 6, {**spoken({"type": "text", "text": SAID}), "id": "m2"}),
    claude("user", 0, {"role": "user", "content": "look"}, isSidechain=True, uuid="x0", agentId="a1"),
)
STREAM = lines(
    {"type": "system", "subtype": "init", "session_id": "s1", "tools": ["Bash"], "model": "opus"},
    {"type": "assistant", "message": spoken(THOUGHT, USE), "parent_tool_use_id": None, "session_id": "s1"},
    {"type": "user", "message": {"role": "user", "content": [ANSWER]}, "session_id": "s1"},
    {"type": "system", "subtype": "compact_boundary", "compact_metadata": {"trigger": "auto", "pre_tokens": 9}},
    {"type": "user", "message": {"role": "user", "content": CONTINUED}, "session_id": "s1"},
    {"type": "assistant", "message": {**spoken({"type": "text", "text": SAID}), "id": "m2"}, "session_id": "s1"},
    {"type": "result", "subtype": "success", "usage": NEW_USAGE, "num_turns": 2, "result": SAID},
)


def rolled(kind: str, payload: object) -> dict[str, Any]:
    return {"timestamp": AT, "type": kind, "payload": payload}


COUNT = {"input_tokens": 90, "cached_input_tokens": 64, "output_tokens": 5, "reasoning_output_tokens": 2}
CODEX = lines(
    rolled("session_meta", {"id": "s1", "cwd": "/srv", "cli_version": "0.58.0", "instructions": None}),
    rolled("turn_context", {"cwd": "/srv", "model": "gpt-5.1-codex"}),
    *(rolled("response_item", item) for item in ITEMS[:4]),
    rolled("event_msg", {"type": "token_count", "info": {"last_token_usage": COUNT, "total_token_usage": COUNT}}),
    rolled("compacted", {"message": "Port 5433.", "replacement_history": ITEMS[:1]}),
    rolled("response_item", ITEMS[4]),
)
CODEX_LEGACY = lines(
    {"id": "s1", "timestamp": AT, "instructions": "Be brief.", "git": {}}, {"record_type": "state"}, *ITEMS
)
TRAJ = {
    "environment": "swe_main",
    "trajectory": [{"action": "ls", "observation": SEEN, "response": "ls", "state": {}, "messages": CHAT[:2]}],
    "history": [
        {"role": "system", "content": "Be careful.", "agent": "main", "message_type": "system_prompt"},
        {"role": "user", "content": "A demonstration.", "agent": "main", "is_demo": True},
        {"role": "user", "content": [{"type": "text", "text": ASKED}], "agent": "main", "message_type": "observation"},
        {"role": "assistant", "content": "ls", "thought": "ls", "action": "ls", "agent": "main", "tool_calls": [CALL]},
        {"role": "tool", "content": f"OBSERVATION:\n{SEEN}", "agent": "main", "tool_call_ids": ["c1"]},
    ],
    "info": {"exit_status": "submitted", "model_stats": {"tokens_sent": 9}},
}
MINI = {
    "info": {"model_stats": {}, "mini_version": "2.2.7", "exit_status": "Submitted"},
    "messages": [
        *CHAT[:2],
        {**CHAT[2], "extra": {"response": {"id": "r1", "usage": OLD_USAGE}, "timestamp": 1775816147.3}},
        {**CHAT[3], "extra": {"raw_output": SEEN, "returncode": 0, "timestamp": 1775816148.3}},
        {"role": "exit", "content": "diff", "extra": {}},
    ],
    "trajectory_format": "mini-swe-agent-1.1",
    "instance_id": "i1",
}
ANSWERED = {"id": "r1", "choices": [{"index": 0, "message": {**CHAT[2], "content": "ls"}}], "usage": OLD_USAGE}
CALLED = {"function_name": "bash", "tool_call_id": "c1", "model_response": ANSWERED, "total_calls_in_response": 1}
EVENTS: list[dict[str, Any]] = [
    {"id": 0, "source": "agent", "action": "system", "args": {"content": "Be careful.", "tools": []}, "message": ""},
    {"id": 1, "source": "user", "action": "message", "args": {"content": ASKED, "image_urls": None}, "message": ""},
    {"id": 2, "source": "agent", "action": "run", "args": {"command": "ls"}, "tool_call_metadata": CALLED},
    {
        "id": 3,
        "source": "agent",
        "cause": 2,
        "observation": "run",
        "content": SEEN,
        "extras": {},
        "tool_call_metadata": CALLED,
    },
    {
        "id": 4,
        "source": "agent",
        "action": "condensation",
        "args": {"forgotten_event_ids": [2, 3], "summary": "s", "summary_offset": 2},
    },
    {"id": 5, "source": "agent", "action": "message", "args": {"content": SAID}, "message": SAID},
]
V1: list[dict[str, Any]] = [
    {"kind": "SystemPromptEvent", "id": "e0", "source": "agent", "system_prompt": {"type": "text", "text": "Be."}},
    {"kind": "MessageEvent", "id": "e1", "source": "user", "llm_message": {"role": "user", "content": ASKED}},
    {
        "kind": "ActionEvent",
        "id": "e2",
        "source": "agent",
        "thought": [{"type": "text", "text": "Look."}],
        "tool_name": "bash",
        "tool_call_id": "c1",
        "tool_call": {"id": "c1", "name": "bash", "arguments": "{}"},
        "llm_response_id": "r1",
    },
    {
        "kind": "ObservationEvent",
        "id": "e3",
        "source": "environment",
        "tool_call_id": "c1",
        "action_id": "e2",
        "observation": {"content": SEEN},
    },
    {
        "kind": "Condensation",
        "id": "e4",
        "source": "environment",
        "forgotten_event_ids": ["e2", "e3"],
        "summary": "s",
        "summary_offset": 2,
    },
]
