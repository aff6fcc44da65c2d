"""LangChain messages: every form is read alike, a call is read once, what is written is read back."""

import json

import pytest
from histories import messages
from hypothesis import given, settings

from compactlab.shapes.langchain import fields, fields_of_role, from_wire, to_wire
from compactlab.transcript import Image, Message, Reasoning, Text, ToolCall, ToolResult

PIXEL = "iVBORw0KGgo="
AI = {"content": "on it", "tool_calls": [{"name": "ls", "args": {"p": "."}, "id": "c1", "type": "tool_call"}]}


def read(*wires):
    return from_wire([fields(wire) or fields_of_role(wire) for wire in wires])


def blocks(**keys):
    [message] = read({"type": "ai", "content": "", **keys})
    return message.blocks


@pytest.mark.parametrize(
    "wire",
    [
        {"type": "ai", **AI},
        {"type": "AIMessageChunk", **AI},
        {"type": "ai", "data": {**AI, "type": "ai"}},
        {"lc": 1, "type": "constructor", "id": ["langchain", "schema", "messages", "AIMessage"], "kwargs": AI},
        {"lc": 1, "type": "constructor", "id": ["langchain_core", "messages", "AIMessageChunk"], "kwargs": AI},
        {"role": "assistant", **AI},
    ],
)
def test_a_message_reads_alike_in_every_form(wire):
    assert read(wire) == (Message("assistant", (Text("on it"), ToolCall("c1", "ls", '{"p": "."}')), source=0),)


@pytest.mark.parametrize(
    "wire", [None, 3, [], {}, {"type": "ai"}, {"type": "message", "content": ""}, {"type": "constructor", "id": []}]
)
def test_what_is_no_message_has_no_fields(wire):
    assert fields(wire) is None


@pytest.mark.parametrize(
    ("wire", "role"),
    [
        ({"type": "human", "content": "a"}, "user"),
        ({"type": "system", "content": "a"}, "system"),
        ({"type": "tool", "content": "a", "tool_call_id": "c"}, "tool"),
        ({"type": "function", "content": "a", "name": "ls"}, "tool"),
        ({"type": "chat", "role": "Assistant", "content": "a"}, "assistant"),
        ({"role": "developer", "content": "a"}, "system"),
        (["human", "a"], "user"),
    ],
)
def test_each_type_has_its_role(wire, role):
    assert [message.role for message in read(wire)] == [role]


@pytest.mark.parametrize("wire", [{"type": "remove", "id": "x"}, {"type": "chat", "role": "oracle", "content": "a"}])
def test_removals_and_unknown_roles_are_no_messages(wire):
    assert read(wire) == ()


@pytest.mark.parametrize(
    ("keys", "arguments"),
    [
        ({"tool_calls": [{"name": "f", "args": {"a": 1}, "id": "c"}]}, '{"a": 1}'),
        (
            {"additional_kwargs": {"tool_calls": [{"id": "c", "function": {"name": "f", "arguments": '{"a":1}'}}]}},
            '{"a":1}',
        ),
        ({"invalid_tool_calls": [{"name": "f", "args": '{"a":', "id": "c", "error": "x"}]}, '{"a":'),
        (
            {
                "tool_calls": [{"name": "f", "args": {"a": 1}, "id": "c"}],
                "tool_call_chunks": [{"name": "f", "args": '{"a":1}', "id": "c"}],
            },
            '{"a":1}',
        ),
        ({"content": [{"type": "tool_use", "id": "c", "name": "f", "input": {"a": 1}}]}, '{"a": 1}'),
        ({"content": [{"type": "function_call", "call_id": "c", "name": "f", "arguments": '{"a":1}'}]}, '{"a":1}'),
    ],
)
def test_the_arguments_of_a_call_are_its_recorded_text(keys, arguments):
    assert blocks(**keys) == (ToolCall("c", "f", arguments),)


def test_a_call_that_stands_in_three_places_is_read_once_with_the_text_that_the_model_wrote():
    call = {"name": "f", "args": {"a": 1}, "id": "c"}
    raw = {"id": "c", "type": "function", "function": {"name": "f", "arguments": '{"a":1}'}}
    said = [{"type": "text", "text": "x"}, {"type": "tool_use", "id": "c", "name": "f", "input": {}}]
    read_blocks = blocks(content=said, tool_calls=[call], additional_kwargs={"tool_calls": [raw]})
    assert read_blocks == (Text("x"), ToolCall("c", "f", '{"a":1}'))


def test_a_call_that_a_person_changed_has_the_changed_arguments():
    call = {"name": "f", "args": {"a": 2}, "id": "c"}
    raw = {"id": "c", "function": {"name": "f", "arguments": '{"a":1}'}}
    assert blocks(tool_calls=[call], additional_kwargs={"tool_calls": [raw]}) == (ToolCall("c", "f", '{"a": 2}'),)


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ({"additional_kwargs": {"reasoning_content": "hm"}}, Reasoning("hm")),
        ({"content": [{"type": "thinking", "thinking": "hm", "signature": "s"}]}, Reasoning("hm", signature="s")),
        ({"content": [{"type": "redacted_thinking", "data": "xx"}]}, Reasoning(opaque="xx")),
        ({"content": [{"type": "reasoning", "reasoning": "hm", "extras": {"signature": "s"}}]}, Reasoning("hm", "s")),
        (
            {"content": [{"type": "reasoning", "summary": [{"text": "a"}, {"text": "b"}], "encrypted_content": "e"}]},
            Reasoning("a\n\nb", opaque="e"),
        ),
        (
            {"content": [{"type": "reasoning_content", "reasoning_content": {"text": "hm", "signature": "s"}}]},
            Reasoning("hm", "s"),
        ),
        ({"additional_kwargs": {"reasoning": {"summary": [{"text": "a"}]}}}, Reasoning("a")),
    ],
)
def test_reasoning_is_read_wherever_integrations_put_it(keys, expected):
    assert blocks(**keys) == (expected,)


@pytest.mark.parametrize(
    "part",
    [
        {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PIXEL}"}},
        {"type": "image", "source_type": "base64", "mime_type": "image/png", "data": PIXEL},
        {"type": "image", "base64": PIXEL, "mime_type": "image/png"},
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PIXEL}},
        {"type": "media", "mime_type": "image/png", "data": PIXEL},
    ],
)
def test_pictures_of_every_version_are_kept_as_bytes(part):
    [message] = read({"type": "human", "content": [part]})
    assert message.blocks == (Image("image/png", data=b"\x89PNG\r\n\x1a\n"),)


def test_a_result_has_its_error_and_no_artifact():
    [message] = read(
        {"type": "tool", "content": ["a", {"x": 1}], "tool_call_id": "c", "status": "error", "artifact": [1]}
    )
    assert message.blocks == (ToolResult("c", (Text("a"), Text('{"x": 1}')), is_error=True),)


def test_older_calls_get_ids_and_their_results_are_found_by_name():
    older = {"name": "g", "arguments": "{}"}
    call = {"type": "ai", "content": "", "additional_kwargs": {"function_call": {"name": "f", "arguments": "{}"}}}
    other = {"type": "ai", "content": "", "additional_kwargs": {"function_call": older}}
    result = {"type": "function", "name": "g", "content": "x"}
    messages = read(call, other, result)
    assert [block.id for message in messages for block in message.calls] == ["call_0", "call_1"]
    assert messages[2].results[0].call_id == "call_1"


@pytest.mark.parametrize(
    "extra",
    [
        {"content": "Here is a summary of the conversation to date:\n\nX"},
        {"content": "x", "additional_kwargs": {"lc_source": "summarization"}},
        {"content": "x", "additional_kwargs": {"hide_from_ui": True}},
        {"content": "<system-reminder>\nmind the gap\n</system-reminder>"},
    ],
)
def test_what_no_person_said_is_synthetic(extra):
    assert read({"type": "human", **extra})[0].synthetic
    assert not read({"type": "human", "content": "Here is a plan"})[0].synthetic


def brief(messages):
    return [(message.role, message.blocks, message.synthetic, message.pinned) for message in messages]


def written_and_read(messages):
    return read(*json.loads(json.dumps(to_wire(messages))))


@given(messages())
@settings(deadline=None, max_examples=60)
def test_whatever_is_written_is_read_back(messages):
    assert brief(written_and_read(messages)) == brief(messages)


@pytest.mark.parametrize(
    "message",
    [
        Message("assistant", (Text("a"), ToolCall("c", "f", "{}"), ToolResult("c", (Text("r"),)), Text("b"))),
        Message(
            "tool", (ToolResult("a"), ToolResult("b", (Image("image/png", 3, 4, digest="sha256:0"),), is_error=True))
        ),
        Message("tool", (Text("no result"),)),
        Message("user", (ToolCall("", "f", "["), Reasoning("", "s", "o")), synthetic=True, pinned=True),
        Message("assistant", (ToolCall("", "f", "{}"), ToolResult(""))),
        Message("assistant", (ToolCall("c", "f", '{"a":1.50}'), Text(""), ToolCall("d", "f", "oops"))),
        Message("system", (Text("Here is a summary of the conversation to date"),)),
        Message("user", (Text("Here is a summary of the conversation to date"),)),
        Message("assistant", ()),
    ],
)
def test_odd_messages_are_read_back(message):
    assert brief(written_and_read([message])) == brief([message])


def test_plain_messages_are_written_without_keys_of_our_own():
    call = ToolCall("c", "f", '{"a": 1}')
    plain = [
        Message("system", (Text("Be brief."),)),
        Message("user", (Text("Hi"),)),
        Message("assistant", (Reasoning("hm", "s"), Text("a"), call)),
        Message("tool", (ToolResult("c", (Text("r"),), is_error=True),)),
    ]
    wires = to_wire(plain)
    assert [wire["type"] for wire in wires] == ["system", "human", "ai", "tool"]
    assert all(wire["data"]["additional_kwargs"] == {} for wire in wires)
    assert wires[2]["data"]["tool_calls"] == [{"name": "f", "args": {"a": 1}, "id": "c", "type": "tool_call"}]
    assert wires[3]["data"]["status"] == "error"


@pytest.mark.parametrize("own", [None, 3, {"role": "nobody"}, {"blocks": [{"type": "no"}]}, {"part": True}])
def test_broken_keys_of_our_own_are_read_past(own):
    [message] = read({"type": "human", "content": "a", "additional_kwargs": {"compactlab": own}})
    assert message.blocks == (Text("a"),)
