"""Chat messages of Inspect logs: parts, failed results, attachments, older forms, whose words they are."""

import pytest
from inspect_logs import DATA_URL, PNG, asked, call, heard, log_of, said, sample

from compactlab.readers import read
from compactlab.transcript import Image, Reasoning, Text, ToolCall, ToolResult


@pytest.fixture
def read_log(tmp_path):
    """Read a JSON log of samples."""
    return lambda *samples, **fields: read(log_of(tmp_path / "log.json", *samples, **fields))


def test_messages_keep_role_words_calls_and_results(read_log):
    [session] = read_log(sample())
    assert [(m.role, m.blocks, m.source) for m in session.messages] == [
        ("system", (Text("Be brief."),), 0),
        ("user", (Text("Find the flag."),), 1),
        ("assistant", (Text("I look."), ToolCall("c1", "bash", '{"cmd": "ls"}')), 2),
        ("tool", (ToolResult("c1", (Text("out"),)),), 3),
        ("assistant", (Text("Done."),), 4),
    ]


@pytest.mark.parametrize(
    ("part", "blocks"),
    [
        ({"type": "text", "text": "a"}, (Text("a"),)),
        ({"type": "reasoning", "reasoning": "hm", "signature": "s"}, (Reasoning("hm", "s"),)),
        ({"type": "reasoning", "reasoning": "ENC", "redacted": True}, (Reasoning(opaque="ENC"),)),
        (
            {"type": "reasoning", "reasoning": "ENC", "redacted": True, "summary": "short", "signature": "rs_1"},
            (Reasoning("short", "rs_1", "ENC"),),
        ),
        ({"type": "image", "image": DATA_URL}, (Image("image/png", 2, 3, PNG),)),
        ({"type": "image", "image": "https://x/a.png"}, (Image("image/png", url="https://x/a.png"),)),
        ({"type": "image", "image": "<base64-data-removed>"}, (Image("image/*"),)),
        (
            {"type": "tool_use", "id": "t", "name": "search", "arguments": '{"q":1}', "result": "found"},
            (ToolCall("t", "search", '{"q":1}'), ToolResult("t", (Text("found"),))),
        ),
        (
            {"type": "tool_use", "id": "t", "name": "search", "arguments": "{}", "result": "", "error": "down"},
            (ToolCall("t", "search", "{}"), ToolResult("t", (Text("down"),), is_error=True)),
        ),
        ({"type": "data", "data": {"x": "kept"}}, (Text("kept"),)),
        ("bare", (Text("bare"),)),
    ],
)
def test_parts_of_a_response_become_blocks(read_log, part, blocks):
    [session] = read_log(sample([asked(), said([part])]))
    assert session.messages[1].blocks == blocks


@pytest.mark.parametrize(
    ("fields", "content", "failed"),
    [
        ({}, "out", False),
        ({"content": "", "error": {"type": "timeout", "message": "too slow"}}, "too slow", True),
        ({"content": "part", "error": {"type": "timeout", "message": "too slow"}}, "part\ntoo slow", True),
        ({"content": "too slow, it was", "error": {"message": "too slow"}}, "too slow, it was", True),
        ({"content": "", "tool_error": "old"}, "old", True),
        ({"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}, "a\nb", False),
    ],
)
def test_a_failed_result_says_what_the_model_was_told(read_log, fields, content, failed):
    [session] = read_log(sample([asked(), said("", "c1"), heard("c1") | fields]))
    [result] = session.messages[2].results
    assert (result.text, result.is_error) == (content, failed)


def test_older_forms_of_reasoning_and_of_missing_ids_are_read(read_log):
    calls = [call(None, arguments="{broken"), call("")]
    [session] = read_log(sample([asked(), said("x", reasoning="hm", tool_calls=calls)]))
    assert session.messages[1].blocks == (
        Reasoning("hm"),
        Text("x"),
        ToolCall("call_0", "bash", "{broken"),
        ToolCall("call_1", "bash", '{"cmd": "ls"}'),
    )


def test_attachments_are_put_in_their_places(read_log):
    attached = {"h1": "A long text.", "h2": DATA_URL, "h3": "a long argument"}
    messages = [
        asked("attachment://h1"),
        said([{"type": "image", "image": "attachment://h2"}], tool_calls=[call("c1", arguments={"a": ["tc://h3"]})]),
        heard("c1", "attachment://gone"),
    ]
    [session] = read_log(sample(messages, attachments=attached))
    assert session.messages[0].text == "A long text."
    assert session.messages[1].blocks == (
        Image("image/png", 2, 3, PNG),
        ToolCall("c1", "bash", '{"a": ["a long argument"]}'),
    )
    assert session.messages[2].results[0].text == "attachment://gone"


def test_words_of_the_solver_are_synthetic_where_the_data_sets_are_marked(read_log):
    nudge = {"role": "user", "content": "Please proceed."}
    operator = {"role": "user", "content": "Try again.", "source": "operator"}
    shown = {"role": "assistant", "content": "Like this.", "source": "input"}
    payload = asked("the picture", tool_call_id=["c1"])
    [marked] = read_log(sample([asked(), shown, nudge, operator, payload]))
    assert [m.synthetic for m in marked.messages] == [False, True, True, False, True]
    [unmarked] = read_log(sample([{"role": "user", "content": "Hi"}, nudge]))
    assert [m.synthetic for m in unmarked.messages] == [False, False]


def test_what_an_operator_typed_is_a_persons_though_older_versions_do_not_mark_it(read_log):
    typed, nudge = {"role": "user", "content": "How cold is it?"}, {"role": "user", "content": "Go on."}
    empty = {"role": "user", "content": ""}
    events = [
        {"event": "input", "input": "-- Request --\nA question, please: How cold is it?", "input_ansi": "x"},
        {"event": "input", "input": 3},
    ]
    [session] = read_log(sample([asked(), typed, nudge, empty], events=events))
    assert [m.synthetic for m in session.messages] == [False, False, True, True]
