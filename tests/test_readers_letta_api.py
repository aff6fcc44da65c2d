"""Letta's messages API, in which one stored message is several entries, and the results of letta-evals."""

import json

import pytest

from compactlab.readers import read, sniff
from compactlab.transcript import Reasoning, Text, ToolCall, ToolResult, Usage


def entry(name, kind, **more):
    return {"id": name, "date": "2026-02-12T10:00:00Z", "message_type": kind, "otid": kind} | more


ENTRIES = [
    entry("m1", "user_message", content="Look."),
    entry("m2", "reasoning_message", reasoning="Hm.", signature="s"),
    entry("m2", "assistant_message", content=[{"type": "text", "text": "Now."}]),
    entry("m2", "tool_call_message", tool_call={"name": "f", "arguments": '{"a":  1}', "tool_call_id": "c1"}),
    entry("m3", "tool_return_message", tool_return="x", status="error", tool_call_id="c1"),
    entry("m4", "hidden_reasoning_message", state="redacted", hidden_reasoning="xyz"),
    entry("m4", "assistant_message", content="Done."),
]


def seen(found):
    return [(m.role, m.blocks) for m in found.messages]


ONE = [
    ("user", (Text("Look."),)),
    ("assistant", (Reasoning("Hm.", signature="s"), Text("Now."), ToolCall("c1", "f", '{"a":  1}'))),
    ("tool", (ToolResult("c1", (Text("x"),), is_error=True),)),
    ("assistant", (Reasoning(opaque="xyz"), Text("Done."))),
]


@pytest.mark.parametrize(
    "value",
    [
        json.dumps(ENTRIES),
        json.dumps({"messages": ENTRIES, "stop_reason": {}, "usage": {"prompt_tokens": 1, "completion_tokens": 1}}),
        "".join(json.dumps(e) + "\n" for e in ENTRIES),
        json.dumps([e | {"date": f"2026-02-12T10:00:0{9 - i}Z"} for i, e in enumerate(reversed(ENTRIES))]),
    ],
    ids=["list", "body", "lines", "newest first"],
)
def test_entries_of_one_message_are_one_again(tmp_path, value):
    path = tmp_path / "m.json"
    path.write_text(value)
    assert sniff(path) == "letta"
    [found] = read(path)
    expected = ONE
    if found.messages[1].blocks[0] != ONE[1][1][0]:  # entries that were turned round
        expected = [(role, blocks if role != "assistant" else blocks[::-1]) for role, blocks in ONE]
    assert seen(found)[::2] == expected[::2]
    assert sorted(map(repr, found.messages[1].blocks)) == sorted(map(repr, ONE[1][1]))


def test_results_of_evaluations_are_sessions_with_all_their_turns(tmp_path):
    second = [entry("m9", "summary_message", summary="They met."), entry("m5", "user_message", content="More.")]
    usage = [{"prompt_tokens": 10, "completion_tokens": 2}, {"prompt_tokens": 20, "completion_tokens": 3}]
    result = {
        "sample": {"id": 2, "input": "Look."},
        "trajectory": [ENTRIES, second],
        "agent_id": "agent-x",
        "grade": {"score": 0.5},
        "model_name": "m",
        "agent_usage": usage,
    }
    rows = [
        {"type": "header", "config": {}},
        {"type": "result", "result": result},
        {"type": "result", "result": result},
    ]
    path = tmp_path / "results.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert sniff(path) == "letta"
    found = read(path)[0]
    assert seen(found) == [*ONE, ("user", (Text("More."),))]
    assert found.header == {"model": "m", "score": 0.5, "sample": 2}
    assert found.usage == (Usage(None, 30, 5),)
    assert [(c.position, c.summary) for c in found.compactions] == [(4, "They met.")]
    assert found.place(found.messages[4]).endswith("line 2: result.trajectory[1][1]")
    assert read(path)[1].intake.skipped == {"record header": 1}
