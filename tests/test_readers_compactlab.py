"""Our own format: fixtures are read and written byte for byte, and whatever a transcript holds comes back equal."""

import json
from pathlib import Path

import pytest
from histories import messages
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from compactlab.errors import TranscriptError
from compactlab.readers import read, write
from compactlab.readers._sessions import only_there
from compactlab.readers.compactlab import write as as_text
from compactlab.transcript import (
    Image,
    Intake,
    Message,
    Reasoning,
    RecordedCompaction,
    Text,
    ToolCall,
    ToolResult,
    Transcript,
    Usage,
)

FIXTURES = sorted(
    path
    for path in (Path(__file__).parent.parent / "fixtures" / "transcripts").glob("*.jsonl")
    if not path.name.endswith(".probes.jsonl")
)
HEADER = {"type": "session", "id": "primary-x", "title": "X", "agent_type": "primary", "tools": []}


def without_file(transcript):
    """A transcript without what tells of the file that it was read from."""
    return replace(transcript, path="", origins=(), intake=Intake())


def message(role, *content, **more):
    return {"type": "message", "role": role, "content": list(content), **more}


def text(words):
    return {"type": "text", "text": words}


def read_back(tmp_path, *records):
    file = tmp_path / "x.jsonl"
    file.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return read(file, "compactlab")


def test_there_are_fixtures():
    assert len(FIXTURES) == 13


@pytest.mark.parametrize("path", FIXTURES, ids=lambda path: path.stem)
def test_a_fixture_is_read_whole_and_written_byte_for_byte(tmp_path, path):
    [transcript] = read(path)
    recorded = [json.loads(line) for line in path.read_bytes().split(b"\n") if line]
    assert transcript.id == path.stem
    assert f"{transcript.agent_type}-{transcript.cluster}" == path.stem
    assert [m.source for m in transcript.messages] == list(range(len(recorded) - 1))
    assert (transcript.intake.skipped, transcript.intake.unknown, transcript.intake.problems) == ({}, {}, ())
    write(transcript, tmp_path / path.name)
    assert (tmp_path / path.name).read_bytes() == path.read_bytes()


def test_a_mixed_message_is_two_that_share_their_source(tmp_path):
    answer = {"type": "tool_result", "tool_use_id": "c1", "content": "ok"}
    [transcript] = read_back(tmp_path, HEADER, message("user", text("Hi")), message("user", answer, text("b?"), ts="t"))
    assert transcript.messages == (
        Message("user", (Text("Hi"),), source=0),
        Message("tool", (ToolResult("c1", (Text("ok"),)),), source=1, timestamp="t"),
        Message("user", (Text("b?"),), source=1, timestamp="t"),
    )


def test_arguments_are_the_bytes_of_the_file(tmp_path):
    file = tmp_path / "x.jsonl"
    given_bytes = b'{ "a" : 1.50,"b":"\\u00e9",  "a": 1e2 }'
    call = b'{"type": "tool_use", "id": "c1", "name": "f", "input":  ' + given_bytes + b" }"
    file.write_bytes(
        json.dumps(HEADER).encode() + b'\n{"type": "message", "role": "assistant", "content": [' + call + b"]}\n"
    )
    [transcript] = read(file)
    assert transcript.messages[0].calls[0].arguments == given_bytes.decode()


@pytest.mark.parametrize(
    ("records", "said"),
    [
        ([HEADER, message("bot")], "x.jsonl: line 2 has role 'bot'; expected system, user, assistant or tool"),
        ([HEADER, {"type": "message"}], "x.jsonl: line 2 has role None; expected system, user, assistant or tool"),
        ([message("user")], "x.jsonl: line 1 is no session header; expected"),
        ([[1], HEADER], "x.jsonl: line 1 is no session header; expected"),
        ([{"type": "session"}], "x.jsonl: line 1: Object missing required field `id`"),
        ([HEADER | {"title": 3}], r"x.jsonl: line 1: Expected `str \| null`, got `int` - at `\$.title`"),
        (
            [HEADER | {"compactions": [{}]}],
            r"line 1: Object missing required field `position` - at `\$.compactions\[0\]`",
        ),
        ([HEADER, message("user") | {"content": {"a": 1}}], "line 2 has content of another kind; expected a list"),
        ([HEADER, message("user", source="1")], r"line 2: Expected `int \| null`, got `str` - at `\$.source`"),
        (
            [HEADER, message("user", {"type": "image", "source": {"media_type": "image/png", "width": "8"}})],
            r"line 2: a picture of wrong form: Expected `int \| null`, got `str` - at `\$.width`",
        ),
    ],
)
def test_what_the_format_does_not_allow_is_an_error_that_names_the_line(tmp_path, records, said):
    with pytest.raises(TranscriptError, match=said):
        read_back(tmp_path, *records)


def test_a_short_header_and_foreign_lines_are_enough(tmp_path):
    short = {"type": "session", "id": "mine"}
    [transcript] = read_back(tmp_path, short, {"type": "note"}, 3, {"role": "user", "content": "Hi"})
    assert transcript.messages == (Message("user", (Text("Hi"),), source=0),)
    assert (transcript.agent_type, transcript.cluster, transcript.title) == ("primary", "mine", "")
    assert transcript.intake.unknown == {"note": 1, "no object": 1}


def test_an_agent_type_of_ones_own_is_allowed(tmp_path):
    [transcript] = read_back(tmp_path, HEADER | {"id": "critic-x", "agent_type": "critic"}, message("user", text("Hi")))
    assert (transcript.agent_type, transcript.cluster) == ("critic", "x")


def test_a_bad_line_in_the_middle_is_reported_and_a_cut_one_at_the_end_is_counted(tmp_path):
    file = tmp_path / "x.jsonl"
    whole = json.dumps(message("user", text("Hi")))
    file.write_text("\n".join([json.dumps(HEADER), "{oops", whole, whole[:20]]), encoding="utf-8")
    [transcript] = read(file)
    assert [m.text for m in transcript.messages] == ["Hi"]
    assert transcript.intake.problems[0].startswith("line 2: not JSON")
    assert transcript.intake.skipped == {"last line cut off": 1}


def test_a_file_may_hold_many_sessions(tmp_path):
    transcripts = [
        Transcript(f"primary-{n}", "compactlab", (Message("user", (Text(n),), source=0),), cluster=n) for n in "abc"
    ]
    write(transcripts, tmp_path / "all.jsonl")
    assert [without_file(t) for t in read(tmp_path / "all.jsonl")] == transcripts


PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x02\0\0\0\x03"
ODD = (
    ToolCall("c", "f", '{"a": 1.50}'),
    ToolCall("c", "f", '{"a": 1}\n'),
    ToolCall("c", "f", "{}\r{}"),
    ToolCall("c", "f", " {}"),
    ToolCall("c", "f", '["a"]'),
    ToolCall("c", "f", '{"a": NaN}'),
    ToolCall("c", "f", '{"a": "\ud800"}'),
    ToolCall("c", "f", '{"a": "\\ud800"}'),
    ToolCall("c", "f", "[" * 5_000),
    ToolCall("c", "f", '{"a":' * 3_000 + "1" + "}" * 3_000),
    ToolResult("c", (Text(""),)),
    ToolResult("c", (Text("a"), Image("image/png", data=PNG), Text("")), is_error=True),
    Reasoning("shown", signature="s", opaque="hidden"),
    Reasoning(signature="s", opaque="hidden"),
    Reasoning(opaque=""),
    Reasoning(signature=""),
    Image("image/png", 2, 3, data=PNG),
    Image("image/png", None, None, data=PNG),
    Image("image/png", 9, None, data=b"", url="data:image/png;base64,AAAA", digest="d"),
    Image("", url="data:image/png;base64,AAAA"),
    Image("image/*"),
    Text("half \ud83d"),
    Text("\u2028\x00\r\n"),
)


@pytest.mark.parametrize("block", ODD, ids=lambda block: repr(block)[:40])
@pytest.mark.parametrize("beside", [Text("plain"), Text("half \ud83d"), ToolCall("d", "g", '{"b":  1.0}')])
def test_an_odd_block_comes_back_equal_whatever_stands_beside_it(tmp_path, block, beside):
    spoken = Transcript("primary-x", "compactlab", (Message("assistant", (beside, block), source=0),), cluster="x")
    write(spoken, tmp_path / "x.jsonl")
    assert [without_file(t) for t in read(tmp_path / "x.jsonl")] == [spoken]


words = st.text(st.characters(exclude_categories=[]), max_size=8).map(
    lambda t: t.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | words,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(words, inner, max_size=2),
    max_leaves=4,
)
objects = st.dictionaries(
    words | st.sampled_from(["type", "id", "header", "recorded", "title"]), json_values, max_size=3
)
made = messages(max_events=2).filter(bool).map(lambda history: history[0])
compactions = st.builds(
    RecordedCompaction,
    st.integers(0, 99),
    trigger=words,
    tokens_before=st.none() | st.integers(0, 9),
    after=st.lists(st.integers(0, 9) | made, max_size=2).map(tuple),
    summary=words,
    summariser=words,
)
usages = st.builds(Usage, st.none() | st.integers(0, 9), st.integers(0, 9), output=st.integers(0, 9))
transcripts = st.builds(
    Transcript,
    id=words,
    format=st.sampled_from(["compactlab", "claude_code"]),
    messages=messages(max_events=6).filter(bool),
    title=words,
    agent_type=st.sampled_from(["primary", "subagent", "critic", ""]),
    cluster=words,
    tools=st.lists(words | objects, max_size=2).map(tuple),
    compactions=st.lists(compactions, max_size=2).map(tuple),
    usage=st.lists(usages, max_size=2).map(tuple),
    header=objects,
)


def test_word_of_messages_that_are_not_there_is_left_out_and_counted(tmp_path):
    here, gone = RecordedCompaction(1, after=(0,)), RecordedCompaction(2, after=(0, 1))
    counts = (Usage(None, 5), Usage(0, 3), Usage(1, 4))
    said = Transcript("x", "compactlab", (Message("user", (Text("Hi"),)),), compactions=(here, gone), usage=counts)
    write(said, tmp_path / "x.jsonl")
    [transcript] = read(tmp_path / "x.jsonl")
    assert (transcript.compactions, transcript.usage) == ((here,), counts[:2])
    assert transcript.intake.repaired == {"word of messages that are not there": 2}


@given(transcripts.map(only_there))
def test_any_transcript_comes_back_equal(tmp_path_factory, transcript):
    file = tmp_path_factory.getbasetemp() / "any-transcript.jsonl"
    write(transcript, file)
    [came_back] = read(file)
    assert came_back.intake.records == file.read_bytes().count(b"\n")
    assert without_file(came_back) == without_file(transcript)


@given(messages(max_events=4))
def test_what_is_written_is_one_record_a_line(made):
    written = as_text([Transcript("x", "compactlab", made)])
    assert written.endswith("\n")
    assert all(isinstance(json.loads(line), dict) for line in written[:-1].split("\n"))
