"""ATIF trajectories in one file: steps unfolded, results without ids, pictures, usage, versions, faults."""

import base64
import json

import pytest
from corpus_files import corpus_file

from compactlab.readers import read, sniff
from compactlab.transcript import Image, Message, Reasoning, Text, ToolCall, ToolResult, Usage

PNG = base64.b64decode("iVBORw0KGgoAAAANSUhEUgAAAAIAAAADCAYAAAC56t6BAAAADElEQVR4nGNgIB4AAAAzAAE=")


def agent_step(message="", calls=(), results=(), **fields):
    step = {"source": "agent", "message": message} | fields
    if calls:
        step["tool_calls"] = [{"tool_call_id": i, "function_name": f, "arguments": a} for i, f, a in calls]
    if results:
        step["observation"] = {"results": list(results)}
    return step


def trajectory(*steps, version="ATIF-v1.7", **fields):
    numbered = [{"step_id": number, **step} for number, step in enumerate(steps, 1)]
    agent = {"name": "a", "version": "2.0", "model_name": "m"}
    return {"schema_version": version, "session_id": "run-7", "agent": agent, "steps": numbered} | fields


def user(text="Do it.", **fields):
    return {"source": "user", "message": text} | fields


@pytest.fixture
def read_value(tmp_path):
    def reading(value, name="trajectory.json"):
        path = tmp_path / name
        path.write_text(value if isinstance(value, str) else json.dumps(value))
        return read(path)

    return reading


def test_a_step_becomes_the_response_and_one_message_a_result(read_value):
    calls = [("c1", "bash", {"cmd": "ls"}), ("c2", "read", {})]
    results = [
        {"source_call_id": "c2", "content": "text"},
        {"source_call_id": "c1", "content": None, "extra": {"is_error": True}},
    ]
    step = agent_step("I look.", calls, results, reasoning_content="Hm.", timestamp="2026-01-01T00:00:00Z")
    [session] = read_value(trajectory({"source": "system", "message": "Be brief."}, user(), step))
    assert session.messages == (
        Message("system", (Text("Be brief."),), source=0),
        Message("user", (Text("Do it."),), source=1),
        Message(
            "assistant",
            (Reasoning("Hm."), Text("I look."), ToolCall("c1", "bash", '{"cmd": "ls"}'), ToolCall("c2", "read", "{}")),
            source=2,
            timestamp="2026-01-01T00:00:00Z",
        ),
        Message("tool", (ToolResult("c2", (Text("text"),)),), source=2, timestamp="2026-01-01T00:00:00Z"),
        Message("tool", (ToolResult("c1", is_error=True),), source=2, timestamp="2026-01-01T00:00:00Z"),
    )
    assert session.place(session.messages[3]).endswith("trajectory.json: steps[2]")


@pytest.mark.parametrize(
    ("calls", "results", "expected"),
    [
        ((), ["out"], [("user", "out")]),
        (("c1",), ["out"], [("tool", "c1")]),
        (("c1", "c2"), ["both"], [("tool", "c1")]),
        (("c1", "c2"), ["one", "two"], [("tool", "c1"), ("tool", "c2")]),
        (("c1",), ["one", "two"], [("tool", "c1"), ("user", "two")]),
    ],
    ids=["plain text agent", "one call", "one result for all", "in order", "more results than calls"],
)
def test_a_result_without_a_call_id_answers_the_next_open_call(read_value, calls, results, expected):
    step = agent_step("x", [(name, "bash", {}) for name in calls], [{"content": text} for text in results])
    [session] = read_value(trajectory(user(), step))
    heard = session.messages[2:]
    assert [(m.role, m.results[0].call_id if m.results else m.text) for m in heard] == expected
    assert [m.synthetic for m in heard] == [role == "user" for role, _ in expected]


def test_a_result_that_names_its_call_leaves_the_other_open(read_value):
    step = agent_step(
        "", [("c1", "f", {}), ("c2", "f", {})], [{"content": "a"}, {"source_call_id": "c1", "content": "b"}]
    )
    [session] = read_value(trajectory(user(), step))
    assert [m.results[0].call_id for m in session.messages[2:]] == ["c2", "c1"]


def test_a_result_of_an_unknown_call_and_a_call_without_a_result_stay(read_value):
    step = agent_step("", [("c1", "f", {})], [{"source_call_id": "gone", "content": "x"}])
    [session] = read_value(trajectory(user(), step))
    assert session.messages[1].calls[0].id == "c1"
    assert session.messages[2].results[0].call_id == "gone"


def test_calls_without_ids_are_numbered_and_arguments_that_are_text_stay(read_value):
    step = agent_step("", [(None, "f", '{"a": 1'), ("", "g", None)], [{"content": "x"}, {"content": "y"}])
    [session] = read_value(trajectory(user(), step))
    assert session.messages[1].blocks == (ToolCall("call_0", "f", '{"a": 1'), ToolCall("call_1", "g", "{}"))
    assert [m.results[0].call_id for m in session.messages[2:]] == ["call_0", "call_1"]


def test_pictures_beside_the_trajectory_are_read(read_value, tmp_path):
    (tmp_path / "images").mkdir()
    (tmp_path / "images" / "a.png").write_bytes(PNG)
    parts = [
        {"type": "text", "text": "See:"},
        {"type": "image", "source": {"media_type": "image/png", "path": "images/a.png"}},
        {"type": "image", "source": {"media_type": "image/jpeg", "path": "images/gone.jpg"}},
        {"type": "image", "source": {"media_type": "image/png", "path": "../../etc/passwd"}},
        {"type": "audio", "source": {"media_type": "audio/wav", "path": "a.wav"}},
    ]
    step = agent_step("", [("c1", "shot", {})], [{"source_call_id": "c1", "content": parts[:2]}])
    read_value(trajectory(user(parts), step))
    [session] = read(tmp_path)
    assert session.messages[0].blocks == (
        Text("See:"),
        Image("image/png", 2, 3, PNG),
        Image("image/jpeg", url="images/gone.jpg"),
        Image("image/png", url="../../etc/passwd"),
        Text("a.wav"),
    )
    assert session.messages[2].results[0].content == (Text("See:"), Image("image/png", 2, 3, PNG))


def test_tokens_of_each_response_are_kept(read_value):
    metrics = {"prompt_tokens": 90, "completion_tokens": 5, "cached_tokens": 64, "extra": {"reasoning_tokens": 3}}
    [session] = read_value(
        trajectory(user(), agent_step("a", metrics=metrics), final_metrics={"total_prompt_tokens": 9})
    )
    assert session.usage == (Usage(1, 90, 5, 64, 3),)


def test_totals_stand_for_tokens_that_no_step_records(read_value):
    totals = {
        "total_prompt_tokens": 900,
        "total_completion_tokens": 50,
        "total_cached_tokens": 64,
        "total_cost_usd": 0.5,
    }
    [session] = read_value(trajectory(user(), agent_step("a"), final_metrics=totals))
    assert session.usage == (Usage(None, 900, 50, 64),)
    assert session.header["total_cost_usd"] == 0.5


def test_header_and_tools_are_the_agents(read_value):
    agent = {"name": "terminus-2", "version": "2.0", "model_name": "m", "tool_definitions": [{"type": "function"}, 3]}
    [session] = read_value(trajectory(user(), agent=agent))
    assert session.tools == ({"type": "function"},)
    assert session.header == {"schema_version": "ATIF-v1.7", "agent": "terminus-2", "version": "2.0", "model": "m"}
    assert session.id == "trajectory/run-7"


@pytest.mark.parametrize("version", [f"ATIF-v1.{minor}" for minor in range(9)])
def test_every_version_is_read(read_value, version, tmp_path):
    [session] = read_value(trajectory(user(), agent_step("a"), version=version))
    assert [m.role for m in session.messages] == ["user", "assistant"]
    assert sniff(tmp_path / "trajectory.json") == "atif"


def test_steps_of_an_agent_are_read_without_a_version(read_value):
    value = trajectory(user(), agent_step("a"))
    del value["schema_version"]
    assert read_value(value)[0].format == "atif"


def test_a_dispatch_without_a_model_is_synthetic(read_value):
    [session] = read_value(trajectory(user(), agent_step("go", llm_call_count=0), agent_step("a", llm_call_count=1)))
    assert [m.synthetic for m in session.messages] == [False, True, False]


def test_an_observation_that_is_text_or_a_list_is_read(read_value):
    steps = (agent_step("a", observation="out"), agent_step("b", observation=[{"content": "more"}]))
    [session] = read_value(trajectory(user(), *steps))
    assert [m.text for m in session.messages if m.synthetic] == ["out", "more"]


def test_steps_that_say_nothing_or_come_from_elsewhere_are_counted(read_value):
    odd = [{"source": "judge", "message": "x"}, {"source": "system", "message": ""}, "text"]
    value = trajectory(user(), agent_step(""))
    value["steps"] += odd
    [session] = read_value(value)
    assert [m.role for m in session.messages] == ["user", "assistant"]
    assert session.intake.unknown == {"step of source 'judge'": 1, "step of source None": 1}
    assert session.intake.skipped == {"step without content": 1}
    assert session.intake.records == 5


@pytest.mark.parametrize("as_lines", [True, False], ids=["lines", "list"])
def test_several_trajectories_of_a_file_are_sessions(read_value, as_lines):
    values = [trajectory(user()), {"other": 1}, trajectory(user("Again."))]
    text = "\n".join(json.dumps(value) for value in values)
    sessions = read_value(text if as_lines else values, "rows.json")
    assert [session.id for session in sessions] == ["rows/run-7", "rows/run-7-2"]
    assert sessions[-1].intake.unknown == {"entry that is no trajectory": 1}


def test_embedded_sub_agents_are_sessions_of_the_same_cluster(read_value):
    child = trajectory(user("Count."), agent_step("Two."), session_id=None, trajectory_id="child")
    other = trajectory(user("Unnamed."), session_id="run-7", trajectory_id=None)
    named = {"source_call_id": "c1", "content": None, "subagent_trajectory_ref": [{"trajectory_id": "child"}]}
    step = agent_step("", [("c1", "delegate", {})], [named])
    sessions = read_value(trajectory(user(), step, subagent_trajectories=[child, other, {"no": 1}]))
    assert [session.id for session in sessions] == [
        "trajectory/run-7",
        "trajectory/run-7/child",
        "trajectory/run-7/run-7",
    ]
    assert [session.agent_type for session in sessions[1:]] == ["subagent", "subagent"]
    assert {session.cluster for session in sessions} == {"trajectory/run-7"}
    assert sessions[0].messages[2].results == (ToolResult("c1"),)
    assert sessions[1].messages[1].text == "Two."


def test_the_recorded_openhands_trajectory_is_read():
    [session] = read(corpus_file("atif/openhands_hello-world.trajectory.json"))
    assert [m.role for m in session.messages] == [
        "system",
        "user",
        "system",
        "system",
        "assistant",
        "tool",
        "assistant",
    ]
    assert [c.name for m in session.messages for c in m.calls] == ["str_replace_editor", "finish"]
    assert [use.position for use in session.usage] == [4, 6]
    assert len(session.tools) == 6
