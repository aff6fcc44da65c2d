"""Message lists of both providers in all the ways that people keep them, and never a tie between the two readers."""

import json

import pytest
from histories import messages
from hypothesis import assume, given
from hypothesis import strategies as st

from compactlab.errors import TranscriptError
from compactlab.readers import Source, anthropic_messages, openai_chat, read, sniff, write
from compactlab.transcript import Text, ToolCall, ToolResult, Transcript

USER = {"role": "user", "content": "List the files."}
SAID = {"role": "assistant", "content": "Two files."}
OPENAI = [
    {"role": "system", "content": "Be brief."},
    USER,
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "ls", "arguments": '{"all":1.0}'}}],
    },
    {"role": "tool", "tool_call_id": "c1", "content": "a b"},
    SAID,
]
ANTHROPIC = [
    USER,
    {"role": "assistant", "content": [{"type": "tool_use", "id": "c1", "name": "ls", "input": {"all": 1.0}}]},
    {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "a b"}]},
    SAID,
]
OLDER = [USER, {"role": "assistant", "content": None, "function_call": {"name": "ls", "arguments": "{}"}}]


def document(value):
    return json.dumps(value, indent=1)


def lines(*values):
    return "".join(json.dumps(value) + "\n" for value in values)


@pytest.mark.parametrize(
    ("text", "name", "counts"),
    [
        (document(OPENAI), "openai_chat", [5]),
        (document({"messages": OPENAI, "tools": []}), "openai_chat", [5]),
        (document({"messages": json.dumps(OPENAI)}), "openai_chat", [5]),
        (document([{"messages": OPENAI}, {"messages": OLDER}]), "openai_chat", [5, 2]),
        (document([OPENAI, OLDER]), "openai_chat", [5, 2]),
        (lines({"messages": OPENAI}), "openai_chat", [5]),
        (lines({"messages": OPENAI}, {"messages": OLDER}), "openai_chat", [5, 2]),
        (lines(OPENAI, OLDER), "openai_chat", [5, 2]),
        (lines(*OPENAI), "openai_chat", [5]),
        (lines(USER), "openai_chat", [1]),
        (document(OLDER), "openai_chat", [2]),
        (document([USER, SAID]), "openai_chat", [2]),
        (document([{"role": "developer", "content": "Be brief."}, USER]), "openai_chat", [2]),
        (document({"messages": [USER, SAID], "system": None}), "openai_chat", [2]),
        (document({"messages": ANTHROPIC, "system": "Be brief."}), "anthropic_messages", [5]),
        (document({"messages": ANTHROPIC}), "anthropic_messages", [4]),
        (document(ANTHROPIC), "anthropic_messages", [4]),
        (document({"messages": [USER, SAID], "system": "Be brief."}), "anthropic_messages", [3]),
        (document({"messages": [USER], "system": [{"type": "text", "text": "x"}]}), "anthropic_messages", [2]),
        (lines({"messages": [USER, SAID]}, {"messages": ANTHROPIC}), "anthropic_messages", [2, 4]),
        (lines(*ANTHROPIC), "anthropic_messages", [4]),
        (lines(ANTHROPIC, ANTHROPIC), "anthropic_messages", [4, 4]),
        (lines(*[USER, SAID] * 2_000, *ANTHROPIC), "anthropic_messages", [4_004]),
    ],
)
def test_each_way_to_keep_conversations_belongs_to_one_reader(tmp_path, text, name, counts):
    file = tmp_path / "chats.json"
    file.write_text(text)
    assert sniff(file) == name
    assert [len(transcript.messages) for transcript in read(file)] == counts


@pytest.mark.parametrize("value", [OPENAI, ANTHROPIC], ids=["openai", "anthropic"])
def test_calls_and_results_of_both_shapes_are_the_same_afterwards(tmp_path, value):
    (tmp_path / "chat.json").write_text(document(value))
    [transcript] = read(tmp_path / "chat.json")
    blocks = [block for message in transcript.messages for block in message.blocks]
    [call] = [block for block in blocks if isinstance(block, ToolCall)]
    assert (call.name, json.loads(call.arguments)) == ("ls", {"all": 1.0})
    assert ToolResult("c1", (Text("a b"),)) in blocks


CALL = b'{"role": "assistant", "content": [{"type": "tool_use", "id": "c", "name": "f", "input": {"a":1.50,"a":2}}]}'


@pytest.mark.parametrize("raw", [b"[%s]" % CALL, CALL + b"\n", b'{"messages": [%s]}\n' % CALL * 2])
def test_arguments_of_anthropic_calls_are_the_bytes_of_the_file(tmp_path, raw):
    (tmp_path / "chat.json").write_bytes(raw)
    assert read(tmp_path / "chat.json")[0].messages[0].calls[0].arguments == '{"a":1.50,"a":2}'


def test_the_answer_of_a_logged_request_comes_last(tmp_path):
    body = {"messages": OPENAI[:2], "tools": [{"type": "function", "function": {"name": "ls"}}], "cost": 0.5}
    log = body | {"response": {"choices": [{"index": 0, "message": OPENAI[2]}], "usage": {"total_tokens": 7}}}
    (tmp_path / "log.json").write_text(json.dumps(log))
    [transcript] = read(tmp_path / "log.json")
    assert [message.role for message in transcript.messages] == ["system", "user", "assistant"]
    assert transcript.messages[2].calls[0].name == "ls"
    assert transcript.messages[2].source == 2
    assert transcript.tools == ({"type": "function", "function": {"name": "ls"}},)
    assert transcript.header == {"cost": 0.5}
    assert transcript.agent_type == "subagent"


def test_a_logged_answer_of_anthropic_is_the_response_itself(tmp_path):
    log = {"system": "Be brief.", "messages": [USER], "response": ANTHROPIC[1] | {"id": "msg_1"}}
    (tmp_path / "log.json").write_text(json.dumps(log))
    [transcript] = read(tmp_path / "log.json")
    assert [message.role for message in transcript.messages] == ["system", "user", "assistant"]
    assert [message.source for message in transcript.messages] == [0, 1, 2]


def test_ids_come_from_the_rows_or_the_file(tmp_path):
    rows = [{"messages": [USER]}, {"messages": [USER], "instance_id": "row-7"}, {"messages": [USER], "title": "T"}]
    (tmp_path / "rows.jsonl").write_text(lines(*rows))
    assert [(t.id, t.cluster, t.title) for t in read(tmp_path / "rows.jsonl")] == [
        ("rows-0", "rows-0", ""),
        ("row-7", "row-7", ""),
        ("rows-2", "rows-2", "T"),
    ]


def test_bad_lines_are_reported_with_the_first_conversation(tmp_path):
    text = lines({"messages": [USER]}) + "{oops\n" + lines({"messages": [USER]}) + '{"messages": ['
    (tmp_path / "rows.jsonl").write_text(text)
    first, second = read(tmp_path / "rows.jsonl")
    assert (first.intake.problems, first.intake.skipped) == ((), {})
    assert (len(second.intake.problems), second.intake.skipped) == (1, {"last line cut off": 1})


@pytest.mark.parametrize(
    "value",
    [
        {"trajectory_format": "mini-1", "messages": [USER]},
        {"messages": [USER, {"role": "exit", "content": "done"}]},
        {"messages": [{"role": "user", "blocks": []}]},
        {"messages": []},
        {"messages": [{"type": "gemini", "content": "Hi"}]},
        [{"role": "user", "parts": []}],
        [{"role": "user", "text": "Hi"}],
        [USER, {"type": "function_call", "name": "f"}],
    ],
)
def test_lists_of_other_formats_are_refused(tmp_path, value):
    (tmp_path / "other.json").write_text(document(value))
    source = Source(tmp_path / "other.json")
    assert (openai_chat.sniff(source), anthropic_messages.sniff(source)) == (0.0, 0.0)


def test_lines_that_are_no_messages_are_counted_as_long_as_most_are(tmp_path):
    note, said = {"type": "new-thing"}, USER
    (tmp_path / "x.jsonl").write_text(lines(said, note, said, said))
    [transcript] = read(tmp_path / "x.jsonl")
    assert len(transcript.messages) == 3
    assert transcript.intake.unknown == {"line without messages": 1}
    (tmp_path / "y.jsonl").write_text(lines(said, note, note, note))
    with pytest.raises(TranscriptError, match="no reader knows this file"):
        read(tmp_path / "y.jsonl")


def test_a_role_that_a_provider_does_not_have_is_an_error_that_names_the_place(tmp_path):
    older = {"messages": [{"role": "function", "content": ""}]}
    (tmp_path / "rows.json").write_text(lines({"messages": ANTHROPIC}, older))
    with pytest.raises(TranscriptError, match=r"rows.json: line 2: message 0 has role 'function'"):
        read(tmp_path / "rows.json", "anthropic_messages")


@given(made=messages(max_events=6), name=st.sampled_from(["openai_chat", "anthropic_messages"]))
def test_what_a_reader_writes_it_reads_again_with_all_calls_and_results(tmp_path_factory, made, name):
    file = tmp_path_factory.getbasetemp() / "written.jsonl"
    write([Transcript("a", "compactlab", made, tools=("ls",)), Transcript("b", "compactlab", made)], file, name)
    assume(any(message.blocks for message in made))
    read_back = read(file, name)
    for transcript in read_back:
        assert [c.id for m in transcript.messages for c in m.calls] == [c.id for m in made for c in m.calls]
        found = [r.call_id for m in transcript.messages for r in m.results]
        assert found == [r.call_id for m in made for r in m.results]
    assert [t.id for t in read_back] == ["a", "b"]


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["messages", "role", "content", "type", "system", "response", "tool_calls"]),
            inner,
            max_size=3,
        )
    ),
    max_leaves=12,
)


@given(
    st.lists(values | st.just(USER) | st.just({"messages": [USER]}) | st.just(OPENAI) | st.just(ANTHROPIC), max_size=4)
)
def test_any_json_lines_are_read_or_refused(tmp_path_factory, records):
    file = tmp_path_factory.getbasetemp() / "any-lines.jsonl"
    file.write_text(lines(*records))
    try:
        read_back = read(file)
    except TranscriptError:
        read_back = []
    assert all(isinstance(transcript, Transcript) for transcript in read_back)
