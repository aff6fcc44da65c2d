"""OpenHands: agents behind the Agent Client Protocol, summaries by name, and rows of a table of feedback."""

import pytest
from openhands_events import acted, condensation, kind, observed, opened, start, turn, write, write_lines

from compactlab.readers import read, sniff
from compactlab.transcript import Image, Text, ToolCall, ToolResult


def one(tmp_path, events):
    path = write(tmp_path / "events.json", events)
    assert sniff(path) == "openhands"
    [transcript] = read(path)
    return transcript


def outside(number, **fields):
    told = {"tool_call_id": "t1", "title": "List", "tool_kind": "execute", "raw_input": None, "raw_output": None}
    told |= {"status": "pending", "content": None, "is_error": False}
    return kind(number, "ACPToolCallEvent", source="agent", **told | fields)


def test_a_call_outside_that_is_told_step_by_step_is_one_call_and_one_result(tmp_path):
    given, out = {"command": "ls"}, [{"type": "content", "content": {"type": "text", "text": "a.py"}}]
    steps = [
        outside(2),
        outside(3, raw_input=given, status="in_progress"),
        outside(4, raw_input=given, content=[{"type": "text", "text": "a"}]),
        outside(5, status="completed", content=out, raw_output={"stdout": "a.py"}),
    ]
    found = one(tmp_path, [*opened(), *steps])
    assert [m.role for m in found.messages] == ["system", "user", "assistant", "tool"]
    assert found.messages[2].blocks == (ToolCall("t1", "execute", '{"command": "ls"}'),)
    assert found.messages[3].blocks == (ToolResult("t1", (Text("a.py"),)),)
    assert (found.intake.unknown, found.messages[2].source) == ({}, 2)


@pytest.mark.parametrize(
    ("fields", "result"),
    [
        ({"raw_output": "no", "is_error": True, "status": "failed"}, ToolResult("t1", (Text("no"),), is_error=True)),
        ({"raw_output": {"n": 1}, "status": "completed"}, ToolResult("t1", (Text('{"n": 1}'),))),
        ({"status": "completed"}, ToolResult("t1")),
        (
            {"content": [{"type": "image", "mimeType": "image/png", "data": "iVBORw0KGgo="}], "status": "completed"},
            ToolResult("t1", (Image("image/png", data=b"\x89PNG\r\n\x1a\n"),)),
        ),
        (
            {"content": [{"type": "diff", "path": "a"}, 3], "status": "completed"},
            ToolResult("t1", (Text('{"type": "diff", "path": "a"}'),)),
        ),
    ],
)
def test_what_came_back_of_a_call_outside_is_its_content_or_its_output(tmp_path, fields, result):
    found = one(tmp_path, [*opened(), outside(2, **fields)])
    assert found.messages[2].blocks == (ToolCall("t1", "execute", '{"title": "List"}'),)
    assert found.messages[3].blocks == (result,)


def test_calls_outside_without_an_id_are_told_apart(tmp_path):
    found = one(tmp_path, [*opened(), outside(2, tool_call_id=None), outside(3, tool_call_id=7)])
    assert [m.role for m in found.messages[2:]] == ["assistant", "assistant"]


def test_interruptions_and_verdicts_are_counted(tmp_path):
    told = [kind(2, "InterruptEvent", source="user"), kind(3, "SecurityAnalysisEvent", source="environment")]
    found = one(tmp_path, [*opened(), *told])
    assert found.intake.skipped == {"InterruptEvent": 1, "SecurityAnalysisEvent": 1}
    assert found.intake.unknown == {}


@pytest.mark.parametrize("later", [True, False], ids=["later", "first"])
def test_a_summary_without_an_offset_is_not_sent(tmp_path, later):
    if later:
        told = {"forgotten_event_ids": ["e2", "e3"], "summary": "S", "summary_offset": None}
        steps = [acted(2, "a", "r1"), observed(3, "a", "one"), kind(4, "Condensation", source="environment", **told)]
        found = one(tmp_path, [*opened(), *steps])
    else:
        found = one(tmp_path, [*start(), *turn(2), condensation(4, forgotten_event_ids=[2, 3], summary="S")])
    assert found.compactions[0].after == (0, 1)
    assert found.compactions[0].summary == "S"


def test_a_summary_is_forgotten_by_its_name_where_no_other_takes_its_place(tmp_path):
    first = {"forgotten_event_ids": ["e2", "e3"], "summary": "S", "summary_offset": 2}
    second = {"forgotten_event_ids": ["e4-summary"], "summary": None, "summary_offset": None}
    steps = [acted(2, "a", "r1"), observed(3, "a", "one"), kind(4, "Condensation", source="environment", **first)]
    found = one(tmp_path, [*opened(), *steps, kind(5, "Condensation", source="environment", **second)])
    assert [len(compaction.after) for compaction in found.compactions] == [3, 2]


def row(action=None, observation=None, source="agent", **fields):
    """A record of a table that has the columns of actions and of observations, and one for what either holds."""
    empty = {"id": None, "message": None, "timestamp": None, "content": None, "extras": None}
    return {"action": action, "observation": observation, "source": source, **empty, **fields}


@pytest.mark.parametrize("as_lines", [True, False], ids=["lines", "list"])
def test_rows_of_feedback_hold_the_arguments_of_actions_beside_what_was_observed(tmp_path, as_lines):
    events = [
        row("initialize", source="environment", extras={"AGENT": "CodeActAgent"}),
        row(source="environment", content="ok"),
        row(observation="agent_state_changed", id=1, content="", extras={"agent_state": "init"}),
        row("message", source="user", content="Fix it.", extras={"content": "Fix it."}),
        row("run_ipython", id=8, extras={"code": "ls()", "thought": "I look.", "is_confirmed": "confirmed"}),
        row(observation="run_ipython", id=9, content="a.py", extras={"code": "ls()"}),
    ]
    rows = [{"version": "1.0", "feedback": "positive", "trajectory": events}] * 2
    path = write_lines(tmp_path / "rows.jsonl", rows) if as_lines else write(tmp_path / "rows.json", rows)
    assert sniff(path) == "openhands"
    first, second = read(path)
    assert [m.role for m in first.messages] == ["user", "assistant", "tool"]
    assert first.messages[1].blocks == (Text("I look."), ToolCall("call_0", "run_ipython", '{"code": "ls()"}'))
    assert first.messages[2].blocks == (ToolResult("call_0", (Text("a.py"),)),)
    assert first.intake.skipped == {"initialize": 1, "status": 1, "agent_state_changed": 1}
    assert (first.intake.unknown, [first.id, second.id]) == ({}, ["rows", "rows-2"])
