"""OpenAI Chat Completions lists: every dialect that people have is read, and nothing said is lost on the way back."""

import base64
import json

import pytest
from histories import messages
from hypothesis import given
from hypothesis import strategies as st

from compactlab.errors import TranscriptError
from compactlab.shapes.openai_chat import from_wire, to_wire
from compactlab.transcript import Image, Message, Reasoning, Text, ToolCall, ToolResult

GIF = b"GIF89a" + b"\x02\x00\x03\x00" + b"rest"
GIF_URL = "data:image/gif;base64," + base64.b64encode(GIF).decode()
PICTURE = Image("image/gif", 2, 3, data=GIF)


def read(*wire):
    return [(message.role, message.blocks) for message in from_wire(wire)]


def function(name, arguments, call_id="c1"):
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


@pytest.mark.parametrize(
    ("wire", "role", "blocks"),
    [
        ({"role": "system", "content": "Be brief."}, "system", (Text("Be brief."),)),
        ({"role": "developer", "content": "Be brief."}, "system", (Text("Be brief."),)),
        ({"role": "user", "content": "Hi"}, "user", (Text("Hi"),)),
        ({"role": "user", "content": ""}, "user", ()),
        ({"role": "user", "content": None}, "user", ()),
        ({"role": "user", "content": []}, "user", ()),
        (
            {"role": "user", "content": [{"type": "text", "text": "a", "cache_control": {"type": "ephemeral"}}, "b"]},
            "user",
            (Text("a"), Text("b")),
        ),
        (
            {"role": "user", "content": [{"type": "image_url", "image_url": {"url": GIF_URL, "detail": "low"}}]},
            "user",
            (PICTURE,),
        ),
        ({"role": "user", "content": [{"type": "input_image", "image_url": GIF_URL}]}, "user", (PICTURE,)),
        ({"role": "user", "content": [{"type": "image_url", "image_url": None}]}, "user", (Image("image/*"),)),
        (
            {
                "role": "user",
                "content": [{"type": "file", "file": {"filename": "a.pdf", "file_data": "data:x;base64,AA"}}],
            },
            "user",
            (Text('{"file": {"filename": "a.pdf", "file_data": "[16 characters of data]"}}'),),
        ),
        ({"role": "assistant", "content": None, "refusal": "I cannot."}, "assistant", (Text("I cannot."),)),
        (
            {"role": "assistant", "content": "4", "reasoning_content": "2 + 2"},
            "assistant",
            (Reasoning("2 + 2"), Text("4")),
        ),
        ({"role": "assistant", "content": "4", "reasoning": "2 + 2"}, "assistant", (Reasoning("2 + 2"), Text("4"))),
        (
            {
                "role": "assistant",
                "content": "4",
                "reasoning_content": "2 + 2",
                "thinking_blocks": [
                    {"type": "thinking", "thinking": "2 + 2", "signature": "s"},
                    {"type": "redacted_thinking", "data": "xyz"},
                ],
            },
            "assistant",
            (Reasoning("2 + 2", signature="s"), Reasoning(opaque="xyz"), Text("4")),
        ),
        (
            {"role": "assistant", "content": "4", "reasoning_details": [{"type": "reasoning.text", "text": "2 + 2"}]},
            "assistant",
            (Reasoning("2 + 2"), Text("4")),
        ),
        (
            {"role": "assistant", "content": None, "tool_calls": [function("bash", '{"command": "ls"')]},
            "assistant",
            (ToolCall("c1", "bash", '{"command": "ls"'),),
        ),
        (
            {"role": "assistant", "content": "", "function_call": None, "tool_calls": [function("f", {"a": [1, "é"]})]},
            "assistant",
            (ToolCall("c1", "f", '{"a": [1, "é"]}'),),
        ),
        (
            {
                "role": "assistant",
                "tool_calls": [{"type": "custom", "id": "c1", "custom": {"name": "sql", "input": "x"}}],
            },
            "assistant",
            (ToolCall("c1", "sql", "x"),),
        ),
        ({"role": "assistant", "tool_calls": [{"function": {"name": "f"}}]}, "assistant", (ToolCall("", "f", "{}"),)),
        ({"role": "tool", "tool_call_id": "c1", "content": "ok"}, "tool", (ToolResult("c1", (Text("ok"),)),)),
        ({"role": "tool", "tool_call_id": "c1", "content": None}, "tool", (ToolResult("c1"),)),
        (
            {
                "role": "tool",
                "tool_call_id": "c1",
                "content": [{"type": "text", "text": "ok"}, {"type": "image_url", "image_url": {"url": GIF_URL}}],
            },
            "tool",
            (ToolResult("c1", (Text("ok"), PICTURE)),),
        ),
        ({"role": "tool", "content": "ok"}, "tool", (ToolResult("", (Text("ok"),)),)),
    ],
)
def test_a_message_of_any_dialect_is_read(wire, role, blocks):
    assert read(wire) == [(role, blocks)]


def test_older_calls_without_ids_are_paired_by_name_and_order():
    read_back = from_wire(
        [
            {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": "{}"}},
            {"role": "assistant", "content": None, "function_call": {"name": "g", "arguments": "{}"}},
            {"role": "function", "name": "g", "content": "of g"},
            {"role": "function", "name": "renamed", "content": "of f"},
            {"role": "function", "name": "f", "content": "of nothing"},
        ]
    )
    assert [call.id for message in read_back for call in message.calls] == ["call_0", "call_1"]
    assert [result.call_id for message in read_back for result in message.results] == ["call_1", "call_0", ""]


def test_empty_and_doubled_ids_stay_as_recorded():
    read_back = from_wire(
        [
            {"role": "assistant", "tool_calls": [function("f", "{}", ""), function("f", "{}", "")]},
            {"role": "tool", "tool_call_id": "", "content": "1"},
            {"role": "tool", "tool_call_id": "", "content": "2"},
        ]
    )
    assert [call.id for call in read_back[0].calls] == ["", ""]
    assert [result.call_id for message in read_back[1:] for result in message.results] == ["", ""]


def test_each_message_keeps_its_index_as_source():
    assert [message.source for message in from_wire([{"role": "user", "content": "a"}] * 3)] == [0, 1, 2]


def test_an_unknown_role_is_an_error_that_names_the_message():
    with pytest.raises(TranscriptError, match=r"message 1 has role 'bot'; expected system, developer, user, assistant"):
        from_wire([{"role": "user", "content": "a"}, {"role": "bot", "content": "b"}])


def test_a_turn_in_one_message_becomes_messages_that_the_api_takes():
    turn = (Reasoning("why"), ToolCall("c1", "f", "{}"), ToolResult("c1", (Text("ok"),)), Text("done"))
    assert to_wire([Message("assistant", turn)]) == [
        {"role": "assistant", "content": None, "reasoning_content": "why", "tool_calls": [function("f", "{}")]},
        {"role": "tool", "tool_call_id": "c1", "content": "ok"},
        {"role": "assistant", "content": "done"},
    ]


def test_a_picture_that_was_not_recorded_becomes_words():
    [wire] = to_wire([Message("user", (Image("image/png", 8, 6, digest="d"),))])
    assert wire["content"] == [{"type": "text", "text": "[image/png, 8x6, not recorded]"}]


texts = st.builds(Text, st.text(max_size=20))
parts = st.lists(texts | st.just(PICTURE), max_size=3).map(tuple)
thoughts = st.lists(
    st.builds(Reasoning, st.text(min_size=1, max_size=9), signature=st.none() | st.text(min_size=1, max_size=3))
    | st.builds(Reasoning, opaque=st.text(max_size=9)),
    max_size=2,
).map(tuple)
calls = st.lists(st.builds(ToolCall, st.text(max_size=4), st.text(max_size=4), st.text(max_size=9)), max_size=2)
bare = (
    st.builds(Message, st.sampled_from(["system", "user"]), parts)
    | st.builds(lambda r, p, c: Message("assistant", (*r, *p, *c)), thoughts, parts, calls)
    | st.builds(lambda i, p: Message("tool", (ToolResult(i, p),)), st.text(max_size=4), parts)
)


@given(st.lists(bare, max_size=6))
def test_messages_without_lost_information_come_back_equal(made):
    numbered = tuple(Message(m.role, m.blocks, source=index) for index, m in enumerate(made))
    wire = json.loads(json.dumps(to_wire(numbered)))
    assert from_wire(wire) == numbered


@given(messages())
def test_no_text_call_or_result_is_lost_on_the_wire(made):
    wire = to_wire(made)
    shown = json.dumps(wire, ensure_ascii=False)
    calls = [call for entry in wire for call in entry.get("tool_calls", ())]
    results = [entry["tool_call_id"] for entry in wire if entry["role"] == "tool"]
    assert [(c["id"], c["function"]["arguments"]) for c in calls] == [
        (c.id, c.arguments) for m in made for c in m.calls
    ]
    assert results == [result.call_id for message in made for result in message.results]
    assert all(
        json.dumps(b.text, ensure_ascii=False) in shown
        for m in made
        for b in m.blocks
        if isinstance(b, Text) and b.text
    )


@given(messages())
def test_reading_what_was_written_changes_nothing_any_more(made):
    once = from_wire(to_wire(made))
    assert from_wire(to_wire(once)) == once


names = st.sampled_from(["type", "text", "image_url", "url", "function", "arguments", "thinking", "data"])
json_values = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(max_size=5),
    lambda v: st.lists(v, max_size=2) | st.dictionaries(names, v, max_size=3),
    max_leaves=6,
)
keys = ("content", "tool_calls", "function_call", "tool_call_id", "refusal", "reasoning", "thinking_blocks", "name")


@given(
    st.lists(
        st.builds(
            lambda role, d: d | {"role": role},
            st.sampled_from(["user", "assistant", "tool", "function"]),
            st.dictionaries(st.sampled_from(keys), json_values),
        ),
        max_size=4,
    )
)
def test_values_of_any_kind_are_read_without_a_fall(wire):
    read_back = from_wire(wire)
    assert len(read_back) == len(wire)
    assert hash(read_back)
