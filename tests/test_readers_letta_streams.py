"""Streams of Letta Code: messages in pieces, calls in pieces, and the records around them."""

import json

import pytest

from compactlab.readers import read, sniff
from compactlab.transcript import Reasoning, Text, ToolCall, ToolResult, Usage

INIT = {
    "type": "system",
    "subtype": "init",
    "session_id": "agent-1",
    "agent_id": "agent-1",
    "model": "m",
    "tools": ["f"],
}
END = {"type": "result", "subtype": "success", "session_id": "agent-1", "result": "All done.", "num_turns": 1}
MADE = [
    ("assistant", (Reasoning("Hm, well."), ToolCall("c1", "f", '{"a":  1}'))),
    ("tool", (ToolResult("c1", (Text("x"),)),)),
    ("assistant", (Text("All done."),)),
]


def piece(name, kind, **more):
    return {"id": name, "otid": f"{name}-{kind}", "date": "2026-01-01T00:00:00Z", "message_type": kind, **more}


def asked(arguments, name=None, kind="approval_request_message"):
    return piece("m1", kind, tool_call={"name": name, "arguments": arguments, "tool_call_id": "c1"})


PIECES = [
    piece("m1", "reasoning_message", reasoning="Hm, "),
    piece("m1", "reasoning_message", reasoning="well."),
    asked('{"a":', "f"),
    asked("  1}"),
    {"message_type": "stop_reason", "stop_reason": "requires_approval"},
    piece("m2", "tool_return_message", tool_return="x", status="success", tool_call_id="c1"),
    piece("m3", "assistant_message", content="All "),
    piece("m3", "assistant_message", content=[{"type": "text", "text": "done."}]),
    {"message_type": "usage_statistics", "prompt_tokens": 100, "completion_tokens": 9},
]


def told(tmp_path, *records, conversation="conv-1"):
    path = tmp_path / "stream.jsonl"
    path.write_text("".join(json.dumps(r) + "\n" for r in (INIT | {"conversation_id": conversation}, *records, END)))
    assert sniff(path) == "letta"
    return read(path)


@pytest.mark.parametrize(
    "wrap",
    [lambda p: {"type": "message", "uuid": "u", **p}, lambda p: {"type": "stream_event", "event": p, "uuid": "u"}],
    ids=["messages", "events"],
)
def test_pieces_of_a_message_are_one_again(tmp_path, wrap):
    [found] = told(tmp_path, *map(wrap, PIECES), {"type": "auto_approval", "tool_call": {}}, {"type": "queue_cleared"})
    assert [(m.role, m.blocks) for m in found.messages] == MADE
    assert (found.tools, found.header["model"]) == (("f",), "m")
    assert found.usage == (Usage(None, 100, 9),)
    assert not found.intake.unknown


def test_a_call_that_is_told_twice_as_a_whole_is_one_call(tmp_path):
    whole = [asked('{"a":  1}', "f", "tool_call_message"), asked('{"a":  1}', "f")]
    [found] = told(tmp_path, *({"type": "message", **p} for p in whole))
    assert found.messages[0].blocks == (ToolCall("c1", "f", '{"a":  1}'),)


def test_words_with_other_names_stay_apart(tmp_path):
    two = [piece("m1", "assistant_message", content="One."), piece("m1", "assistant_message", content="Two.")]
    two[1]["otid"] = "other"
    [found] = told(tmp_path, *({"type": "message", **p} for p in two))
    assert found.messages[0].blocks == (Text("One."), Text("Two."))


@pytest.mark.parametrize(("conversation", "own"), [("conv-1", "conv-1"), ("default", "agent-1")])
def test_a_stream_is_named_by_its_conversation_or_by_its_agent(tmp_path, conversation, own):
    [found] = told(tmp_path, {"type": "message", **PIECES[6]}, conversation=conversation)
    assert found.id == f"stream/{own}"
