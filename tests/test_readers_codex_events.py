"""Events of Codex where nothing else was recorded: rollouts without items, and what `codex exec --json` prints."""

import json

import pytest
from codex_records import compacted, counted, event, lines, meta, outline, session, user, wire

from compactlab.readers import sniff
from compactlab.transcript import Image, Reasoning, Text, ToolCall, ToolResult, Usage

SHELL = ToolCall("c1", "shell", '{"command": ["ls"], "workdir": "/srv"}')
ENDED = {"call_id": "c1", "command": ["ls"], "cwd": "/srv", "aggregated_output": "a b", "exit_code": 1}


def test_a_rollout_of_events_alone_is_read_by_them(tmp_path):
    rows = [
        event("user_message", message="Look.", images=["data:image/png;base64,iVBORw0KGgo="]),
        event("agent_reasoning", text="Hm."),
        event("exec_command_end", **ENDED),
        counted(100),
        event("agent_message", message="Two files."),
        counted(200, sent=7),
    ]
    found = session(tmp_path, meta(), *rows)
    assert outline(found) == ["u", "a", "t", "a"]
    assert isinstance(found.messages[0].blocks[1], Image)
    assert found.messages[1].blocks == (Reasoning("Hm."), SHELL)
    assert found.messages[2].results == (ToolResult("c1", (Text("a b"),), is_error=True),)
    assert [usage.position for usage in found.usage] == [1, 3]


def test_completed_items_are_read_where_no_older_events_tell_the_same(tmp_path):
    asked = {"type": "UserMessage", "id": "i1", "content": [{"type": "text", "text": "Look."}]}
    ran = {
        "type": "CommandExecution",
        "id": "c1",
        "command": ["ls"],
        "cwd": "/srv",
        "aggregated_output": "a",
        "exit_code": 0,
    }
    told = {"type": "AgentMessage", "id": "i2", "content": [{"type": "Text", "text": "Done."}]}
    thought = {"type": "Reasoning", "id": "i3", "summary_text": ["Hm."], "raw_content": []}
    rows = [event("item_completed", item=item) for item in (asked, thought, ran, told)]
    found = session(tmp_path, meta(), *rows)
    assert outline(found) == ["u", "a", "t", "a"]
    assert found.messages[1].blocks == (Reasoning("Hm."), SHELL)
    doubled = session(
        tmp_path, meta(), event("user_message", message="Look."), event("agent_message", message="Done."), *rows
    )
    assert outline(doubled) == ["u", "a"]


def test_a_compaction_and_a_rollback_among_events_are_read(tmp_path):
    rows = [event("user_message", message="a"), event("agent_message", message="A"), compacted("Short.")]
    more = [
        event("user_message", message="b"),
        event("thread_rolled_back", num_turns=1),
        event("user_message", message="c"),
    ]
    found = session(tmp_path, meta(), *rows, *more)
    assert outline(found) == ["u", "a", "u"]
    assert [message.text for message in found.view(3)] == ["a", "Short.", "c"]


TOOLS = [
    (
        event(
            "mcp_tool_call_end",
            call_id="c1",
            invocation={"server": "s", "tool": "t", "arguments": {"a": 1}},
            result={"Ok": {"content": [{"type": "text", "text": "x"}], "isError": False}},
        ),
        ToolCall("c1", "s.t", '{"a": 1}'),
        ToolResult("c1", (Text("x"),)),
    ),
    (
        event("mcp_tool_call_end", call_id="c1", invocation={"server": "s", "tool": "t"}, result={"Err": "gone"}),
        ToolCall("c1", "s.t", "{}"),
        ToolResult("c1", (Text("gone"),), is_error=True),
    ),
    (
        event("patch_apply_end", call_id="c1", changes={"a": {}}, stdout="ok", stderr="", success=True),
        ToolCall("c1", "apply_patch", '{"changes": {"a": {}}}'),
        ToolResult("c1", (Text("ok"),)),
    ),
    (
        event(
            "dynamic_tool_call_response",
            call_id="c1",
            tool="t",
            arguments={},
            success=False,
            content_items=[{"type": "inputText", "text": "no"}],
        ),
        ToolCall("c1", "t", "{}"),
        ToolResult("c1", (Text("no"),), is_error=True),
    ),
]


@pytest.mark.parametrize(("row", "called", "result"), TOOLS, ids=str)
def test_tools_of_all_kinds_are_a_call_and_a_result(tmp_path, row, called, result):
    found = session(tmp_path, meta(), event("user_message", message="Go."), row)
    assert [message.blocks for message in found.messages[1:]] == [(called,), (result,)]


def test_items_that_follow_make_the_events_before_them_mirrors(tmp_path):
    found = session(
        tmp_path, meta(), event("user_message", message="Look."), event("agent_message", message="x"), user("Look.")
    )
    assert outline(found) == ["u"]
    assert wire(user("Look."))["content"][0]["text"] == found.messages[0].text


COMMAND = {"id": "i1", "type": "command_execution", "command": "ls", "aggregated_output": "a", "exit_code": 0}
PRINTED = [
    {"type": "thread.started", "thread_id": "t1"},
    {"type": "turn.started"},
    {"type": "item.completed", "item": {"id": "i0", "type": "reasoning", "text": "Hm."}},
    {"type": "item.started", "item": COMMAND | {"aggregated_output": "", "exit_code": None}},
    {"type": "item.completed", "item": COMMAND},
    {"type": "item.completed", "item": {"id": "i2", "type": "agent_message", "text": "Done."}},
    {"type": "turn.completed", "usage": {"input_tokens": 9, "cached_input_tokens": 4, "output_tokens": 2}},
]


def test_what_exec_prints_is_read(tmp_path):
    found = session(tmp_path, *PRINTED)
    assert (outline(found), found.cluster) == (["a", "t", "a"], "t1")
    assert found.messages[0].blocks == (Reasoning("Hm."), ToolCall("i1", "shell", '{"command": "ls"}'))
    assert found.messages[1].results == (ToolResult("i1", (Text("a"),)),)
    assert found.usage == (Usage(None, 9, 2, 4),)


def test_a_command_that_never_ended_stays_a_call(tmp_path):
    found = session(tmp_path, *PRINTED[:4])
    assert outline(found) == ["a"]
    assert found.messages[0].calls[0].id == "i1"


def test_what_older_versions_of_exec_printed_is_read(tmp_path):
    rows = [
        {"model": "m", "sandbox": "read-only"},
        {"prompt": "Look."},
        {"id": "0", "msg": {"type": "task_started"}},
        {"id": "0", "msg": {"type": "exec_command_begin", "call_id": "c1", "command": ["ls"], "cwd": "/srv"}},
        {"id": "0", "msg": {"type": "exec_command_end", "call_id": "c1", "stdout": "a", "stderr": "", "exit_code": 0}},
        {"id": "0", "msg": {"type": "agent_message", "message": "Done."}},
    ]
    path = tmp_path / "x.jsonl"
    path.write_text(lines(*rows))
    assert sniff(path) == "codex"
    found = session(tmp_path, *rows, name="x.jsonl")
    assert outline(found) == ["u", "a", "t", "a"]
    assert found.messages[1].blocks == (SHELL,)


def test_events_of_any_form_are_read_past(tmp_path):
    for broken in (None, [], "x", 7, {}):
        row = event("exec_command_end", call_id=broken, command=broken, aggregated_output=broken, exit_code=broken)
        found = session(tmp_path, meta(), event("user_message", message="a"), row)
        assert outline(found)[0] == "u"
        assert json.dumps([call.arguments for message in found.messages for call in message.calls])
