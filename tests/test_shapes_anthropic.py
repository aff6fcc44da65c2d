"""Anthropic Messages lists: all kinds of blocks are read, results find their role, and nothing said is lost."""

import base64
import json

import msgspec
import pytest
from histories import messages
from hypothesis import given
from hypothesis import strategies as st

from compactlab.errors import TranscriptError
from compactlab.history import split_turns
from compactlab.shapes.anthropic import from_wire, to_wire
from compactlab.transcript import Image, Message, Reasoning, Text, ToolCall, ToolResult

GIF = b"GIF89a" + b"\x02\x00\x03\x00" + b"rest"
GIF_BLOCK = {
    "type": "image",
    "source": {"type": "base64", "media_type": "image/gif", "data": base64.b64encode(GIF).decode()},
}
PICTURE = Image("image/gif", 2, 3, data=GIF)


def result(call_id, **more):
    return {"type": "tool_result", "tool_use_id": call_id, **more}


@pytest.mark.parametrize(
    ("wire", "block"),
    [
        ({"type": "text", "text": "Hi", "citations": None, "cache_control": {"type": "ephemeral"}}, Text("Hi")),
        ({"type": "thinking", "thinking": "2 + 2", "signature": "s"}, Reasoning("2 + 2", signature="s")),
        ({"type": "thinking", "thinking": "2 + 2"}, Reasoning("2 + 2")),
        ({"type": "redacted_thinking", "data": "xyz"}, Reasoning(opaque="xyz")),
        ({"type": "tool_use", "id": "c1", "name": "f", "input": {"a": "é"}}, ToolCall("c1", "f", '{"a": "é"}')),
        (
            {"type": "tool_use", "id": "c1", "name": "f", "input": msgspec.Raw(b'{"a":1.50}')},
            ToolCall("c1", "f", '{"a":1.50}'),
        ),
        ({"type": "tool_use", "id": "c1", "name": "f", "input": '{"a": '}, ToolCall("c1", "f", '{"a": ')),
        ({"type": "tool_use", "name": "f"}, ToolCall("", "f", "{}")),
        (
            {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {}},
            ToolCall("s1", "web_search", "{}"),
        ),
        (GIF_BLOCK, PICTURE),
        (
            {"type": "image", "source": {"type": "url", "url": "http://x/a.png"}},
            Image("image/png", url="http://x/a.png"),
        ),
        ({"type": "image", "source": {"type": "file", "file_id": "file_1"}}, Image("image/*", digest="file_1")),
        (
            {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "Dear all"}},
            Text("Dear all"),
        ),
        (
            {
                "type": "document",
                "title": "A",
                "source": {"type": "base64", "media_type": "application/pdf", "data": "QUJD" * 999},
            },
            Text('{"title": "A", "source": {"media_type": "application/pdf", "data": "[3996 characters of data]"}}'),
        ),
        ({"type": "compaction", "content": "What came before"}, Text("What came before")),
        ({"type": "container_upload", "file_id": "f1"}, Text("f1")),
        ({"type": "new_kind"}, Text("[new_kind]")),
    ],
)
def test_a_block_of_any_kind_is_read(wire, block):
    [message] = from_wire([{"role": "assistant", "content": [wire]}])
    assert message.blocks == (block,)


@pytest.mark.parametrize(
    ("more", "content", "is_error"),
    [
        ({"content": "ok"}, (Text("ok"),), False),
        ({"content": "no", "is_error": True}, (Text("no"),), True),
        ({"content": ""}, (), False),
        ({"content": None}, (), False),
        ({"content": []}, (), False),
        ({}, (), False),
        ({"content": [{"type": "text", "text": "a"}, GIF_BLOCK]}, (Text("a"), PICTURE), False),
        ({"content": [{"type": "tool_reference", "tool_name": "grep"}]}, (Text("grep"),), False),
        ({"content": {"stdout": "done"}}, (Text("done"),), False),
    ],
)
def test_the_content_of_a_result_may_have_any_form(more, content, is_error):
    [message] = from_wire([{"role": "user", "content": [result("c1", **more)]}])
    assert message == Message("tool", (ToolResult("c1", content, is_error),), source=0)


def test_a_message_of_results_and_words_becomes_two_that_share_their_source_and_join_again():
    wire = [
        {"role": "assistant", "content": [{"type": "tool_use", "id": "c1", "name": "f", "input": {}}]},
        {"role": "user", "content": [result("c1", content="ok", is_error=False), {"type": "text", "text": "and b?"}]},
        {"role": "user", "content": [{"type": "text", "text": "and c?"}]},
    ]
    read = from_wire(wire)
    assert [(m.role, m.source) for m in read] == [("assistant", 0), ("tool", 1), ("user", 1), ("user", 2)]
    assert to_wire(read).messages == wire


def test_a_system_prompt_beside_the_list_is_message_0():
    read = from_wire([{"role": "user", "content": "Hi"}], [{"type": "text", "text": "Be brief."}])
    assert read == (Message("system", (Text("Be brief."),), source=0), Message("user", (Text("Hi"),), source=1))
    assert to_wire(read).system == "Be brief."


def test_results_of_the_providers_own_tools_stay_in_the_message_of_the_agent():
    found = [{"type": "web_search_result", "title": "Tides", "url": "https://x.org", "encrypted_content": "zzz"}]
    content = [
        {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"query": "tides"}},
        {"type": "web_search_tool_result", "tool_use_id": "s1", "content": found},
        {"type": "text", "text": "High at noon."},
    ]
    [message] = from_wire([{"role": "assistant", "content": content}])
    listed = ToolResult("s1", (Text('{"title": "Tides", "url": "https://x.org"}'),))
    assert message.blocks == (ToolCall("s1", "web_search", '{"query": "tides"}'), listed, Text("High at noon."))
    assert [entry["role"] for entry in to_wire([message]).messages] == ["assistant", "user", "assistant"]


def test_a_failed_result_of_a_providers_tool_is_an_error():
    failed = {"type": "web_search_tool_result_error", "error_code": "max_uses_exceeded"}
    content = [{"type": "web_search_tool_result", "tool_use_id": "s1", "content": failed}]
    [message] = from_wire([{"role": "assistant", "content": content}])
    assert message.results == (ToolResult("s1", (Text("max_uses_exceeded"),), is_error=True),)


def test_neighbouring_result_messages_are_sent_in_one_user_message():
    made = [
        Message("assistant", (ToolCall("a", "f", "{}"), ToolCall("b", "f", "{}")), source=0),
        Message("tool", (ToolResult("b"),), source=1),
        Message("tool", (ToolResult("a"),), source=2),
    ]
    assert [[b.get("tool_use_id") for b in m["content"]] for m in to_wire(made).messages] == [[None, None], ["b", "a"]]


def test_an_unknown_role_is_an_error_that_names_the_message():
    with pytest.raises(TranscriptError, match=r"message 0 has role 'bot'; expected system, user, assistant or tool"):
        from_wire([{"role": "bot", "content": "b"}])


texts = st.builds(Text, st.text(max_size=20))
parts = st.lists(texts | st.just(PICTURE), max_size=3).map(tuple)
thoughts = st.builds(
    Reasoning, st.text(min_size=1, max_size=9), signature=st.none() | st.text(min_size=1, max_size=3)
) | st.builds(Reasoning, opaque=st.text(max_size=9))
objects = st.dictionaries(st.text(max_size=4), st.integers() | st.text(max_size=4), max_size=2)
arguments = objects.map(lambda value: json.dumps(value, ensure_ascii=False))
calls = st.builds(ToolCall, st.text(max_size=4), st.text(max_size=4), arguments)
results = st.builds(ToolResult, st.text(max_size=4), parts, st.booleans())
said = st.lists(thoughts | texts | st.just(PICTURE) | calls, max_size=4).map(lambda b: (("assistant", tuple(b)),))
asked = parts.map(lambda b: (("user", b),))
heard = st.lists(results, min_size=1, max_size=3).map(lambda b: (("tool", tuple(b)),))
mixed = st.builds(lambda r, p: (*r, ("user", (Text("x"), *p))), heard, parts)


@given(st.lists(said | asked | mixed | st.tuples(heard, said).map(lambda pair: (pair[0][0], *pair[1])), max_size=5))
def test_messages_without_lost_information_come_back_equal(groups):
    made, source, before = [Message("system", (Text("Be brief."),), source=0)], 0, ""
    for group in groups:
        for role, blocks in group:
            if role == "tool" and before == "tool":
                continue
            source += not (before == "tool" and role == "user")
            made.append(Message(role, blocks, source=source))
            before = role
    wire = to_wire(made)
    assert from_wire(json.loads(json.dumps(wire.messages)), wire.system) == tuple(made)


@given(messages())
def test_no_text_call_or_result_is_lost_on_the_wire(made):
    wire = to_wire(made)
    blocks = [block for message in wire.messages for block in message["content"]]
    shown = json.dumps(wire, ensure_ascii=False)
    found = {
        kind: [b.get("id", b.get("tool_use_id")) for b in blocks if b["type"] == kind]
        for kind in ("tool_use", "tool_result")
    }
    split, _ = split_turns(made)
    assert found["tool_use"] == [call.id for message in split for call in message.calls]
    assert found["tool_result"] == [answer.call_id for message in split for answer in message.results]
    assert all(
        json.dumps(b.text, ensure_ascii=False) in shown
        for m in made
        for b in m.blocks
        if isinstance(b, Text) and b.text
    )


@given(messages())
def test_reading_what_was_written_changes_nothing_any_more(made):
    first = to_wire(made)
    once = from_wire(first.messages, first.system)
    second = to_wire(once)
    assert from_wire(second.messages, second.system) == once


json_values = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(max_size=5),
    lambda v: (
        st.lists(v, max_size=2)
        | st.dictionaries(st.sampled_from(["type", "text", "data", "content", "source", "url"]), v, max_size=3)
    ),
    max_leaves=6,
)
kinds = st.sampled_from(
    ["text", "thinking", "redacted_thinking", "tool_use", "tool_result", "image", "mcp_tool_result", "?"]
)
keys = st.sampled_from(
    ["text", "thinking", "signature", "data", "id", "name", "input", "source", "content", "tool_use_id"]
)


@given(st.builds(lambda kind, more: more | {"type": kind}, kinds, st.dictionaries(keys, json_values)))
def test_values_of_any_kind_are_read_without_a_fall(block):
    assert hash(from_wire([{"role": "assistant", "content": [block]}]))
