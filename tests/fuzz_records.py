"""The same short session in the formats that have shapes of their own; `fuzz_bases` makes files of these."""

from __future__ import annotations

import json

from fuzz_sessions import ASKED, AT, BLOCKS, CALL, CONTINUED, PNG, SAID, SEEN, doc

ROW = {"role": "user", "text": ASKED, "system_prompt": None, "mask": False, "cutoff_date": None}
NEBIUS = [{**ROW, "role": "system", "text": None, "system_prompt": "Be."}, ROW, {**ROW, "role": "ai", "text": SAID}]
TAU2 = [
    {"role": "user", "content": ASKED, "tool_calls": None, "turn_idx": 0, "usage": None},
    {
        "role": "assistant",
        "content": None,
        "turn_idx": 1,
        "tool_calls": [{"id": "c1", "name": "ls", "arguments": {"a": 1}, "requestor": "assistant"}],
        "usage": {"prompt_tokens": 9, "completion_tokens": 2},
    },
    {"role": "tool", "id": "c1", "content": SEEN, "requestor": "assistant", "error": False, "turn_idx": 2},
    {"role": "user", "content": None, "tool_calls": [{"id": "u1", "name": "x", "arguments": {}, "requestor": "user"}]},
    {"role": "tool", "id": "u1", "content": "on", "requestor": "user", "error": False},
    {"role": "assistant", "content": SAID, "tool_calls": None},
]
SIMULATIONS = {
    "timestamp": AT,
    "info": {"environment_info": {"domain_name": "telecom", "policy": "Be kind."}, "agent_info": {"llm": "gpt-4.1"}},
    "tasks": [],
    "simulations": [{"id": "s1", "task_id": "t1", "trial": 0, "messages": TAU2, "reward_info": {"reward": 1.0}}],
}
SAMPLE = {
    "id": 1,
    "epoch": 1,
    "input": ASKED,
    "messages": [
        {"id": "m1", "role": "user", "source": "input", "content": "attachment://a1"},
        {
            "role": "assistant",
            "content": [{"type": "reasoning", "reasoning": "Look.", "signature": "c2ln"}, {"type": "text", "text": ""}],
            "tool_calls": [{"id": "c1", "function": "bash", "arguments": {"cmd": "ls"}, "type": "function"}],
        },
        {"role": "tool", "tool_call_id": "c1", "content": SEEN, "error": {"type": "timeout", "message": "late"}},
        {"role": "assistant", "content": SAID},
    ],
    "output": {"model": "gpt-4o", "usage": {"input_tokens": 9, "output_tokens": 2}},
    "scores": {"match": {"value": "C"}},
    "attachments": {"a1": ASKED},
    "events": [{"event": "compaction", "type": "summary", "tokens_before": 9, "tokens_after": 2}],
}
EVAL = {"version": 2, "status": "success", "eval": {"task": "t", "model": "gpt-4o", "created": AT}}
STEPS = [
    {"step_id": 1, "source": "system", "message": "Be."},
    {"step_id": 2, "source": "user", "message": ASKED},
    {
        "step_id": 3,
        "source": "agent",
        "message": "",
        "reasoning_content": "Look.",
        "tool_calls": [{"tool_call_id": "c1", "function_name": "bash", "arguments": {"a": 1}}],
        "observation": {"results": [{"source_call_id": "c1", "content": SEEN}]},
        "metrics": {"prompt_tokens": 9, "completion_tokens": 2, "cached_tokens": 1},
    },
]
ATIF = {"schema_version": "ATIF-v1.7", "session_id": "s1", "agent": {"name": "a", "version": "1"}, "steps": STEPS}
COPIED = [{**STEPS[1], "step_id": 1, "is_copied_context": True}, {**STEPS[1], "step_id": 2, "message": "now verify"}]
RESPONSE = {"functionResponse": {"id": "g1", "name": "ls", "response": {"output": SEEN}}}
GEMINI = [
    {"id": "m0", "timestamp": AT, "type": "user", "content": ASKED},
    {
        "id": "m1",
        "timestamp": AT,
        "type": "gemini",
        "content": "",
        "model": "gemini-2.5-pro",
        "thoughts": [{"subject": "Plan", "description": "Look.", "timestamp": AT}],
        "tokens": {"input": 9, "output": 2, "cached": 1, "thoughts": 1, "tool": 0, "total": 12},
        "toolCalls": [{"id": "g1", "name": "ls", "args": {"p": "/"}, "result": [RESPONSE], "status": "success"}],
    },
    {"id": "m2", "timestamp": AT, "type": "gemini", "content": SAID},
]
SNAPSHOT = {"id": "m3", "type": "user", "content": "<state_snapshot>port 5433</state_snapshot>"}
SHRUNK = {"$set": {"messages": [SNAPSHOT, GEMINI[2]]}}
HEAD = {"sessionId": "s1", "projectHash": "h1", "startTime": AT, "lastUpdated": AT}
PARTS = [
    {"role": "user", "parts": [{"text": ASKED}, {"inlineData": {"mimeType": "image/png", "data": PNG}}]},
    {"role": "model", "parts": [{"text": "Look.", "thought": True}, {"functionCall": {"name": "ls", "args": {}}}]},
    {"role": "user", "parts": [{"functionResponse": {"name": "ls", "response": {"output": SEEN}}}]},
]
TOOL = {
    "type": "tool",
    "callID": "c1",
    "tool": "bash",
    "state": {"status": "completed", "input": {"a": 1}, "output": SEEN, "time": {"start": 1, "end": 2, "compacted": 3}},
}
OPEN_SESSION = {"id": "ses_1", "projectID": "p", "title": "x", "version": "1.1", "time": {"created": 1}}
OPEN_USER = {"role": "user", "time": {"created": 1782358569437}, "agent": "plan"}
OPEN_SAID = {
    "role": "assistant",
    "parentID": "msg_1",
    "time": {"created": 1782358569438},
    "tokens": {"input": 9, "output": 2, "cache": {"read": 1}},
}
OPEN_PARTS = [
    ("msg_1", "prt_1", {"type": "text", "text": ASKED}),
    ("msg_2", "prt_2", {"type": "step-start"}),
    ("msg_2", "prt_3", TOOL),
    ("msg_2", "prt_4", {"type": "text", "text": SAID}),
]
OPEN_ROWS = [
    {"id": "msg_1", "session_id": "ses_1", "time_created": 1, "data": json.dumps(OPEN_USER)},
    {"id": "msg_2", "session_id": "ses_1", "time_created": 2, "data": json.dumps(OPEN_SAID)},
]
OPEN_PART_ROWS = [
    {"id": part, "message_id": message, "session_id": "ses_1", "data": json.dumps(data)}
    for message, part, data in OPEN_PARTS
]
OPEN_SESSIONS = [
    {
        "id": "ses_1",
        "project_id": "p",
        "parent_id": None,
        "title": "x",
        "version": "1.17",
        "revert": None,
        "slug": "x",
        "directory": "/",
        "time_created": 1,
    }
]
OPEN_STORE = {
    "storage/session/p/ses_1.json": doc(OPEN_SESSION),
    "storage/message/ses_1/msg_1.json": doc({"id": "msg_1", "sessionID": "ses_1", **OPEN_USER}),
    "storage/message/ses_1/msg_2.json": doc({"id": "msg_2", "sessionID": "ses_1", **OPEN_SAID}),
    **{
        f"storage/part/{message}/{part}.json": doc({"id": part, "messageID": message, "sessionID": "ses_1", **data})
        for message, part, data in OPEN_PARTS
    },
}


OPEN_EXPORT = [
    {
        "info": {"id": message, "sessionID": "ses_1", **info},
        "parts": [{"id": part, "messageID": held, **data} for held, part, data in OPEN_PARTS if held == message],
    }
    for message, info in (("msg_1", OPEN_USER), ("msg_2", OPEN_SAID))
]


PI = [
    {"type": "message", "message": {"role": "user", "content": ASKED, "timestamp": 1765233665292}},
    {
        "type": "message",
        "message": {
            "role": "assistant",
            "content": [{"type": "thinking", "thinking": "Look."}, {"type": "toolCall", "id": "c1", "name": "ls"}],
            "usage": {"input": 9, "output": 2, "cacheRead": 1, "cacheWrite": 1},
            "stopReason": "toolUse",
        },
    },
    {
        "type": "message",
        "message": {"role": "toolResult", "toolCallId": "c1", "content": [{"type": "text", "text": SEEN}]},
    },
    {"type": "compaction", "summary": "s", "tokensBefore": 9},
    {"type": "message", "message": {"role": "assistant", "content": [{"type": "text", "text": SAID}]}},
]
PI_TREE = [{**entry, "id": f"e{i}", "parentId": f"e{i - 1}" if i else None} for i, entry in enumerate(PI)]
PI_TREE[3]["firstKeptEntryId"] = "e2"
LETTA = [
    {"type": "message", "id": "message-0", "role": "system", "content": [{"type": "text", "text": "Be."}]},
    {"type": "message", "id": "message-1", "role": "user", "content": [{"type": "text", "text": ASKED}]},
    {
        "type": "message",
        "id": "message-2",
        "role": "assistant",
        "content": [{"type": "reasoning", "reasoning": "Look.", "signature": "c2ln"}],
        "tool_calls": [CALL],
    },
    {
        "type": "message",
        "id": "message-3",
        "role": "tool",
        "content": [{"type": "text", "text": '{"status": "OK", "message": "fine"}'}],
        "tool_call_id": "c1",
    },
]
AGENT = {"id": "agent-0", "name": "a", "agent_type": "letta_v1_agent", "system": "Be.", "messages": LETTA}
AGENT["in_context_message_ids"] = ["message-0", "message-1"]
FILE = {"agents": [AGENT], "groups": [], "blocks": [], "tools": [], "sources": [], "llm_config": {}}
HERMES_SESSIONS = [
    {"id": "h0", "source": "cli", "model": "m", "system_prompt": "Be.", "parent_session_id": None, "started_at": 1.5}
]
NAMES = ("id", "session_id", "role", "content", "tool_call_id", "tool_calls", "tool_name", "timestamp", "reasoning")
HERMES_ROWS = [
    (1, "h0", "user", ASKED, None, None, None, 1.5, None),
    (2, "h0", "assistant", "", None, json.dumps([CALL]), None, 2.5, "Look."),
    (3, "h0", "tool", SEEN, "c1", None, "bash", 3.5, None),
    (4, "h0", "user", f"[CONTEXT COMPACTION] {CONTINUED}", None, None, None, 4.5, None),
]
HERMES_TABLE = [dict(zip(NAMES, row, strict=True)) for row in HERMES_ROWS]
SHARED = {
    "id": "x_0",
    "system": "Be.",
    "conversations": [
        {"from": "human", "value": ASKED},
        {"from": "function_call", "value": '{"name": "ls", "arguments": {}}'},
        {"from": "observation", "value": SEEN},
        {"from": "gpt", "value": SAID},
    ],
}
OPEN_HARNESS = {
    "session_id": "s1",
    "cwd": "/srv",
    "model": "m",
    "system_prompt": "Be.",
    "messages": BLOCKS,
    "usage": {"input_tokens": 9, "output_tokens": 2},
    "tool_metadata": {"compact_checkpoints": [{"trigger": "auto", "tokens_before": 9}]},
    "message_count": 4,
}
CLAW = {
    "version": 1,
    "messages": [
        {"role": "user", "blocks": [{"type": "text", "text": ASKED}]},
        {"role": "assistant", "blocks": [{"type": "tool_use", "id": "c1", "name": "ls", "input": "{}"}]},
        {"role": "tool", "blocks": [{"type": "tool_result", "tool_use_id": "c1", "output": SEEN, "is_error": False}]},
    ],
}
OWN_PICTURE = [{"type": "image", "source": {"type": "digest", "media_type": "image/png", "digest": "sha256:0a"}}]
OPAQUE = [
    {"type": "thinking", "thinking": "Look.", "signature": "c2ln", "opaque": "gAAA"},
    {"type": "text", "text": SAID},
]
NOTE = {"role": "user", "blocks": [{"type": "text", "text": "s"}], "synthetic": True}
OWN_HEAD = {"type": "session", "id": "s1", "title": "x", "agent_type": "primary", "tools": ["ls", {"name": "rm"}]}
OWN = [
    {
        **OWN_HEAD,
        "compactions": [{"position": 3, "trigger": "auto", "tokens_before": 9, "after": [NOTE, 2], "summary": "s"}],
        "usage": [{"position": 1, "input": 9, "output": 2}, {"position": None, "input": 11}],
    },
    {"type": "message", "role": "user", "content": [{"type": "text", "text": ASKED}, *OWN_PICTURE], "ts": AT},
    {"type": "message", **BLOCKS[1], "pinned": True},
    {"type": "message", **BLOCKS[2], "source": 7},
    {"type": "message", "role": "assistant", "content": OPAQUE, "synthetic": True},
    OWN_HEAD,
    {"type": "message", "role": "system", "content": "Be brief."},
]
