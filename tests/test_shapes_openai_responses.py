"""Items of the Responses API: calls that the provider ran, what is no part of a context, and what is written back."""

import json

import pytest

from compactlab.shapes.openai_items import kind_of
from compactlab.shapes.openai_responses import Assembly, from_wire, to_wire
from compactlab.transcript import Image, Message, Reasoning, Text, ToolCall, ToolResult

PNG = "iVBORw0KGgo="
USER = {"role": "user", "content": "Go."}


def roles(messages):
    return [message.role[0] for message in messages]


FUSED = [
    (
        {
            "type": "mcp_call",
            "id": "c1",
            "server_label": "s",
            "name": "t",
            "arguments": "{}",
            "output": "x",
            "error": None,
        },
        ToolCall("c1", "s.t", "{}"),
        ToolResult("c1", (Text("x"),)),
    ),
    (
        {"type": "mcp_call", "id": "c1", "name": "t", "arguments": "{}", "output": None, "error": {"message": "no"}},
        ToolCall("c1", "t", "{}"),
        ToolResult("c1", (Text("no"),), is_error=True),
    ),
    (
        {"type": "file_search_call", "id": "c1", "queries": ["q"], "results": [{"text": "found"}]},
        ToolCall("c1", "file_search", '{"queries": ["q"]}'),
        ToolResult("c1", (Text('[{"text": "found"}]'),)),
    ),
    (
        {"type": "code_interpreter_call", "id": "c1", "code": "1+1", "outputs": [{"type": "logs", "logs": "2"}]},
        ToolCall("c1", "code_interpreter", '{"code": "1+1"}'),
        ToolResult("c1", (Text("2"),)),
    ),
]


@pytest.mark.parametrize(("item", "called", "result"), FUSED)
def test_a_call_that_the_provider_ran_is_unfolded_behind_the_response(item, called, result):
    found = from_wire([USER, item, {"role": "assistant", "content": "Done."}])
    assert roles(found) == ["u", "a", "t"]
    assert found[1].blocks == (called, Text("Done."))
    assert found[2].blocks == (result,)


OPEN = [
    ({"type": "mcp_call", "id": "c1", "name": "t", "arguments": "{}"}, "t", "{}"),
    ({"type": "file_search_call", "id": "c1", "queries": [], "results": None}, "file_search", '{"queries": []}'),
    ({"type": "code_interpreter_call", "id": "c1", "code": "1", "outputs": None}, "code_interpreter", '{"code": "1"}'),
    ({"type": "computer_call", "call_id": "c1", "action": {"type": "click"}}, "computer", '{"type": "click"}'),
    ({"type": "shell_call", "call_id": "c1", "action": {"commands": ["ls"]}}, "shell", '{"commands": ["ls"]}'),
    ({"type": "apply_patch_call", "call_id": "c1", "operation": {"path": "a"}}, "apply_patch", '{"path": "a"}'),
    ({"type": "telescope_call", "call_id": "c1", "status": "completed", "star": 1}, "telescope", '{"star": 1}'),
]


@pytest.mark.parametrize(("item", "name", "arguments"), OPEN, ids=[name for _, name, _ in OPEN])
def test_a_call_without_a_result_stays_one(item, name, arguments):
    [found] = from_wire([item])
    assert found.blocks == (ToolCall("c1", name, arguments),)


def test_outputs_of_the_tools_of_the_api_are_results():
    shot = {"type": "computer_call_output", "call_id": "c1", "output": {"type": "computer_screenshot", "file_id": "f1"}}
    ran = [{"stdout": "a", "stderr": "b", "outcome": {"type": "exit", "exit_code": 1}}]
    shell = {"type": "shell_call_output", "call_id": "c2", "output": ran}
    found = from_wire([shot, shell])
    assert found[0].results == (ToolResult("c1", (Image("image/*", digest="f1"),)),)
    assert found[1].results == (ToolResult("c2", (Text("a\nb"),), is_error=True),)


def test_reasoning_keeps_its_words_and_what_is_encrypted():
    item = {
        "type": "reasoning",
        "summary": [{"text": "a"}, {"text": "b"}],
        "content": [{"text": "c"}],
        "encrypted_content": "g",
    }
    assert from_wire([item])[0].blocks == (Reasoning("a\n\nb\n\nc", opaque="g"),)


def test_refusals_and_older_messages_are_read():
    refused = {"role": "assistant", "content": [{"type": "refusal", "refusal": "No."}]}
    called = {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "c1", "function": {"name": "f", "arguments": "{}"}}],
    }
    found = from_wire([refused, USER, called, {"role": "tool", "tool_call_id": "c1", "content": "x"}])
    assert found[0].text == "No."
    assert found[2].calls[0].id == found[3].results[0].call_id == "c1"


def test_what_is_no_part_of_a_context_is_counted_by_kind():
    assembly = Assembly()
    for wire in (
        {"type": "item_reference", "id": "x"},
        {"type": "mcp_list_tools"},
        {"type": "hologram"},
        {"id": 1},
        {"role": "elf"},
    ):
        assembly.add(wire)
    assert assembly.skipped == {"item_reference": 1, "mcp_list_tools": 1}
    assert assembly.unknown == {"hologram": 1, "item without type": 1, "message": 1}


@pytest.mark.parametrize("value", [None, [], {}, 7, "x", [7], {"type": []}, True], ids=str)
def test_fields_of_any_form_are_read(value):
    kinds = ["message", "reasoning", "function_call", "custom_tool_call_output", "mcp_call", "image_generation_call"]
    kinds += ["code_interpreter_call", "computer_call_output", "shell_call_output", "compaction", "agent_message"]
    names = [
        "role",
        "content",
        "summary",
        "arguments",
        "output",
        "outputs",
        "result",
        "call_id",
        "name",
        "encrypted_content",
    ]
    for kind in kinds:
        for message in from_wire([{"type": kind, "role": "user"} | dict.fromkeys(names, value)]):
            assert isinstance(message, Message)
    assert kind_of({"type": value}) in {"", "x"}


WRITTEN = [
    (
        Message("system", (Text("s"),)),
        [{"type": "message", "role": "developer", "content": [{"type": "input_text", "text": "s"}]}],
    ),
    (
        Message("user", (Text("a"), Image("image/png", data=b"\x89PNG"))),
        [
            {
                "type": "message",
                "role": "user",
                "content": [
                    {"type": "input_text", "text": "a"},
                    {"type": "input_image", "image_url": "data:image/png;base64,iVBORw=="},
                ],
            }
        ],
    ),
    (
        Message("assistant", (Reasoning("t", "sig", "g"), Text("a"), ToolCall("c1", "f", '{"a": 1}'))),
        [
            {"type": "reasoning", "summary": [{"type": "summary_text", "text": "t"}], "encrypted_content": "g"},
            {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "a"}]},
            {"type": "function_call", "name": "f", "arguments": '{"a": 1}', "call_id": "c1"},
        ],
    ),
    (
        Message(
            "tool", (ToolResult("c1", (Text("x"),), is_error=True), ToolResult("c2", (Text("{}"), Image("image/png"))))
        ),
        [
            {"type": "function_call_output", "call_id": "c1", "output": "x"},
            {
                "type": "function_call_output",
                "call_id": "c2",
                "output": [
                    {"type": "input_text", "text": "{}"},
                    {"type": "input_text", "text": "[image/png, not recorded]"},
                ],
            },
        ],
    ),
]


@pytest.mark.parametrize(("message", "items"), WRITTEN, ids=[message.role for message, _ in WRITTEN])
def test_messages_are_written_as_the_api_takes_them(message, items):
    assert to_wire([message]) == items


def test_raw_input_is_that_of_a_custom_tool_and_its_output_says_so():
    said = [
        Message("assistant", (ToolCall("c1", "patch", "*** Begin"),)),
        Message("tool", (ToolResult("c1", (Text("x"),)),)),
    ]
    assert [item["type"] for item in to_wire(said)] == ["custom_tool_call", "custom_tool_call_output"]
    assert [message.blocks for message in from_wire(to_wire(said))] == [message.blocks for message in said]


def test_a_turn_in_one_message_becomes_call_result_call_result():
    turn = Message("assistant", tuple(b for i in "12" for b in (ToolCall(i, "f", "{}"), ToolResult(i, (Text("x"),)))))
    assert [item["call_id"] for item in to_wire([turn])] == ["1", "1", "2", "2"]
    assert roles(from_wire(to_wire([turn]))) == ["a", "t", "a", "t"]


def test_pictures_of_a_provider_are_bytes():
    [said, heard] = from_wire([{"type": "image_generation_call", "id": "c1", "result": PNG, "output_format": "webp"}])
    assert said.calls[0].arguments == json.dumps({})
    assert heard.results[0].content[0].media_type == "image/webp"
