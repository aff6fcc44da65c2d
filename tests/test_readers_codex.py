"""Rollouts of Codex in all versions: items become messages, events are told once, what was taken back is counted."""

import json

import pytest
from codex_records import (
    ENV,
    agent,
    call,
    counted,
    event,
    item,
    lines,
    meta,
    outline,
    output,
    record,
    said,
    session,
    thought,
    user,
    wire,
)

from compactlab.errors import TranscriptError
from compactlab.readers import read, sniff
from compactlab.transcript import Image, Reasoning, Text, ToolCall, ToolResult, Usage

PNG = "data:image/png;base64,iVBORw0KGgo="


def test_consecutive_items_of_the_model_are_one_message_and_each_output_is_one(tmp_path):
    found = session(
        tmp_path, meta(), user("Look."), thought(), agent("I look."), call("c1"), call("c2"), output("c2"), output("c1")
    )
    assert outline(found) == ["u", "a", "t", "t"]
    assert [type(block) for block in found.messages[1].blocks] == [Reasoning, Text, ToolCall, ToolCall]
    assert [message.source for message in found.messages] == [1, 2, 6, 7]
    assert found.place(found.messages[1]).endswith("rollout-1.jsonl: line 3")
    assert found.messages[1].blocks[0] == Reasoning("Hm.", opaque="gAAA")
    assert found.messages[2].results == (ToolResult("c2", (Text("a b"),)),)


@pytest.mark.parametrize("bound", [counted(200), event("task_started"), event("turn_aborted")], ids=str)
def test_a_new_count_and_the_bound_of_a_turn_part_two_responses(tmp_path, bound):
    assert outline(session(tmp_path, meta(), user("Go."), counted(100), agent("One."), bound, agent("Two."))) == [
        *"uaa"
    ]


def test_events_that_mirror_items_are_counted_and_not_read(tmp_path):
    told = [event("user_message", message="Look."), event("agent_message", message="Done.")]
    found = session(tmp_path, told[0], meta(), user("Look."), agent("Done."), told[1])
    assert [message.text for message in found.messages] == ["Look.", "Done."]
    assert found.intake.skipped == {"event user_message": 1, "event agent_message": 1}
    assert found.intake.records == 5


BEFORE = [counted(100), agent("A"), counted(100), user("b"), counted(200, sent=120), agent("B")]
BEHIND = [agent("A"), counted(100), user("b"), counted(100), agent("B"), counted(200, sent=120)]
ALONE = [counted(100), call("c1"), output("c1"), counted(200, sent=120), agent("B")]


@pytest.mark.parametrize(("rows", "places"), [(BEFORE, (1, 3)), (BEHIND, (1, 3)), (ALONE, (1, 3))])
def test_each_response_has_its_count_wherever_it_stands_and_however_often(tmp_path, rows, places):
    found = session(tmp_path, meta(), user("a"), *rows)
    assert found.usage == (Usage(places[0], 100, 10, 60, 4), Usage(places[1], 120, 10, 60, 4))


def test_a_count_without_figures_and_one_of_no_response_tell_nothing(tmp_path):
    found = session(
        tmp_path, meta(), user("a"), event("token_count", info=None), counted(1), agent("A"), counted(2, sent=7)
    )
    assert [usage.input for usage in found.usage] == [100]
    assert found.intake.skipped["token_count of no response in the file"] == 1


SYNTHETIC = [
    ENV,
    "<user_instructions>\n\nBe brief.\n\n</user_instructions>",
    "# AGENTS.md instructions for /srv\n\n<INSTRUCTIONS>\nBe brief.\n</INSTRUCTIONS>",
    "<turn_aborted>\n  <turn_id>1</turn_id>\n</turn_aborted>",
    "<user_shell_command>\n<command>ls</command>\n</user_shell_command>",
    "<subagent_notification>\n{}\n</subagent_notification>",
]


@pytest.mark.parametrize("text", SYNTHETIC)
def test_what_codex_puts_in_is_no_word_of_a_person(tmp_path, text):
    found = session(tmp_path, meta(), user(text), user(text, ENV), user(text, "And now?"), user("Go."))
    assert outline(found) == ["U", "U", "u", "u"]


def test_the_system_prompt_stands_first_and_developers_are_of_the_system(tmp_path):
    found = session(
        tmp_path, meta(base_instructions={"text": "You are Codex."}), said("developer", "Ask."), user("Go.")
    )
    assert outline(found) == ["s", "s", "u"]
    assert (found.messages[0].text, found.messages[0].source) == ("You are Codex.", 0)


@pytest.mark.parametrize(
    ("first", "expected"),
    [(ENV, ["U", "U", "u", "a"]), ("<user_instructions>Be brief.</user_instructions>", ["U", "u", "a"])],
)
def test_instructions_come_first_unless_an_item_holds_them(tmp_path, first, expected):
    found = session(tmp_path, meta(instructions="Be brief."), user(first), user("Go."), agent("Done."))
    assert outline(found) == expected
    assert sum("Be brief." in message.text for message in found.messages) == 1


OUTPUTS = [
    ("plain", ("plain",), False),
    ("", (), False),
    (None, (), False),
    ('{"output":"wrapped","metadata":{"exit_code":0}}', ('{"output":"wrapped","metadata":{"exit_code":0}}',), False),
    ('{"output":"bad","metadata":{"exit_code":2}}', ('{"output":"bad","metadata":{"exit_code":2}}',), True),
    ('{"output": "cut', ('{"output": "cut',), False),
    ('{"output": 1, "rows": []}', ('{"output": 1, "rows": []}',), False),
    ({"content": "no", "success": False}, ("no",), True),
    ({"type": "input_text", "text": "one"}, ("one",), False),
    ([{"type": "input_text", "text": "a"}, {"type": "input_text", "text": "b"}], ("a", "b"), False),
    ("Exit code: 1\nWall time: 0.1 seconds\nOutput:\nno", ("Exit code: 1\nWall time: 0.1 seconds\nOutput:\nno",), True),
    ("Exit code: 0\nOutput:\nok", ("Exit code: 0\nOutput:\nok",), False),
]


@pytest.mark.parametrize(("given", "texts", "failed"), OUTPUTS)
def test_outputs_of_all_forms_are_read(tmp_path, given, texts, failed):
    found = session(tmp_path, meta(), call("c1"), output("c1", given))
    assert found.messages[1].results == (ToolResult("c1", tuple(Text(text) for text in texts), is_error=failed),)


def test_a_picture_in_an_output_stays_one(tmp_path):
    found = session(tmp_path, meta(), call("c1"), output("c1", [{"type": "input_image", "image_url": PNG}]))
    [image] = found.messages[1].results[0].content
    assert isinstance(image, Image)
    assert image.data == b"\x89PNG\r\n\x1a\n"


CALLS = [
    (
        item("custom_tool_call", call_id="c1", name="apply_patch", input="*** Begin"),
        ToolCall("c1", "apply_patch", "*** Begin"),
    ),
    (
        item("function_call", call_id="c1", namespace="mcp", name="get", arguments="{oops"),
        ToolCall("c1", "mcp.get", "{oops"),
    ),
    (item("function_call", call_id="c1", name="get", arguments=None), ToolCall("c1", "get", "{}")),
    (
        item("local_shell_call", id="c1", action={"command": ["ls"]}),
        ToolCall("c1", "local_shell", '{"command": ["ls"]}'),
    ),
    (item("web_search_call", id="c1", action={"query": "x"}), ToolCall("c1", "web_search", '{"query": "x"}')),
    (item("tool_search_call", call_id="c1", arguments={"query": "x"}), ToolCall("c1", "tool_search", '{"query": "x"}')),
]


@pytest.mark.parametrize(("line", "expected"), CALLS, ids=[call.name for _, call in CALLS])
def test_calls_of_all_kinds_are_read_without_a_result(tmp_path, line, expected):
    found = session(tmp_path, meta(), user("Go."), line)
    assert found.messages[1].blocks == (expected,)
    assert outline(found) == ["u", "a"]


def test_a_generated_picture_is_a_call_and_a_result(tmp_path):
    made = item("image_generation_call", id="c1", revised_prompt="a cat", result=PNG.partition(",")[2])
    found = session(tmp_path, meta(), made, agent("Here."))
    assert outline(found) == ["a", "t"]
    assert found.messages[0].blocks == (ToolCall("c1", "image_generation", '{"prompt": "a cat"}'), Text("Here."))
    assert found.messages[1].results[0].call_id == "c1"


def test_bookkeeping_is_counted_and_what_is_unknown_too(tmp_path):
    snapshot = item("ghost_snapshot", ghost_commit={"id": "1"})
    state = record("world_state", {"full": True})
    found = session(
        tmp_path, meta(), user("a"), snapshot, state, record("turn_context", {"model": "m1"}), item("hologram"), 7
    )
    assert found.intake.skipped == {"ghost_snapshot": 1, "world_state": 1, "turn_context": 1}
    assert found.intake.unknown == {"hologram": 1, "no object": 1}
    assert found.header == {"version": "0.146.0", "originator": "codex_cli_rs", "cwd": "/srv", "models": ["m1"]}


def test_messages_of_other_agents_are_synthetic(tmp_path):
    told = item("agent_message", author="/root", content=[{"type": "input_text", "text": "New task."}])
    sent = record("inter_agent_communication", {"author": "/root", "content": "", "encrypted_content": "gAAA"})
    found = session(tmp_path, meta(), told, sent)
    assert outline(found) == ["U", "U"]
    assert found.messages[1].blocks == (Reasoning(opaque="gAAA"),)


def test_turns_that_were_rolled_back_are_another_branch(tmp_path):
    rows = [user("a"), agent("A"), user(ENV), user("b"), agent("B"), counted(9), user("c")]
    found = session(
        tmp_path, meta(), *rows, event("thread_rolled_back", num_turns=2), user("d"), agent("D"), counted(11, sent=5)
    )
    assert [message.text for message in found.messages] == ["a", "A", "d", "D"]
    assert found.intake.skipped["message of another branch"] == 4
    assert [(usage.position, usage.input) for usage in found.usage] == [(3, 5)]


def test_a_rollback_of_more_turns_than_there_are_keeps_what_was_put_in_before_them(tmp_path):
    found = session(
        tmp_path, meta(), user(ENV), user("a"), agent("A"), event("thread_rolled_back", num_turns=9), user("d")
    )
    assert [message.text for message in found.messages] == [ENV, "d"]


def test_records_that_a_resumed_session_copied_stand_once(tmp_path):
    first = [user(ENV), user("a"), call("c1"), output("c1")]
    again = [{**line, "timestamp": "2026-02-02T00:00:00Z"} for line in first]
    found = session(tmp_path, meta(), *first, meta("u2"), *again, user("b"))
    assert outline(found) == ["U", "u", "a", "t", "u"]
    assert found.intake.skipped["copied record"] == 4


def test_a_session_that_begins_alike_is_no_copy(tmp_path):
    found = session(tmp_path, meta(), user(ENV), user("a"), agent("A"), meta("u2"), user(ENV), user("b"))
    assert outline(found) == ["U", "u", "a", "U", "u"]


def test_a_fork_shares_the_cluster_of_the_session_that_it_came_from(tmp_path):
    found = session(tmp_path, meta("u2", forked_from_id="u1"), meta("u1", forked_from_id="u0"), user("a"))
    assert (found.id, found.cluster) == ("rollout-1/u2", "u0")
    spawned = meta("u3", source={"subagent": {"thread_spawn": {"parent_thread_id": "u1", "depth": 1}}})
    child = session(tmp_path, spawned, user("a"))
    assert (child.cluster, child.agent_type) == ("u1", "subagent")


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("cli", "primary"),
        ({"subagent": "review"}, "subagent"),
        ({"subagent": {"other": "guardian"}}, "subconscious"),
        ({"internal": "memory_consolidation"}, "subconscious"),
    ],
)
def test_the_agent_type_is_told_by_how_the_session_was_started(tmp_path, source, expected):
    assert session(tmp_path, meta(source=source), user("a"), call("c1")).agent_type == expected


def test_a_title_and_tools_are_kept(tmp_path):
    found = session(
        tmp_path, meta(dynamic_tools=[{"name": "t"}]), event("thread_name_updated", thread_name="Fix"), user("a")
    )
    assert (found.title, found.tools) == ("Fix", ({"name": "t"},))


LEGACY = [
    {"id": "u1", "timestamp": "2025-08-06T18:02:11Z", "instructions": "Be brief.", "git": {}},
    {"record_type": "state"},
    wire(user("Look.")),
    {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": None},
    wire(call("c1")),
    wire(output("c1")),
]


def test_flat_lines_of_2025_are_read(tmp_path):
    found = session(tmp_path, *LEGACY)
    assert outline(found) == ["U", "u", "a", "t"]
    assert found.messages[0].text == "Be brief."
    assert found.intake.skipped == {"record_type state": 1, "reasoning without content": 1}


def test_the_oldest_sessions_are_one_document(tmp_path):
    path = tmp_path / "rollout.json"
    path.write_text(json.dumps({"session": {"id": "u1", "timestamp": "t", "instructions": ""}, "items": LEGACY[2:]}))
    [found] = read(path)
    assert (outline(found), found.cluster) == ([*"uat"], "u1")
    assert found.place(found.messages[1]) == f"{path}: items[2]"


def test_what_breaks_off_or_is_broken_is_told(tmp_path):
    path = tmp_path / "x.jsonl"
    rows = lines(meta(), user("a\u2028b")).replace("\n", "\r\n")
    path.write_bytes(b"\xef\xbb\xbf" + rows.encode() + b"oops\r\n" + lines(agent("A")).encode() + b'{"timestamp": "2')
    [found] = read(path)
    assert outline(found) == ["u", "a"]
    assert found.messages[0].text == "a\u2028b"
    assert found.intake.problems == ("line 3: not JSON (Expecting value at character 0)",)


def test_a_rollout_without_messages_is_an_error(tmp_path):
    path = tmp_path / "x.jsonl"
    path.write_text(lines(meta(), event("task_started")))
    assert sniff(path) == "codex"
    with pytest.raises(TranscriptError, match="no messages"):
        read(path)


def test_calls_without_ids_get_some_and_are_paired(tmp_path):
    bare = item("function_call", name="ls", arguments="{}")
    found = session(tmp_path, meta(), bare, item("function_call_output", output="a"))
    assert found.messages[0].calls[0].id == found.messages[1].results[0].call_id == "call_0"
