"""Claude Code files that were written: what is read back is what was written, and is Claude Code's own form."""

import json
from pathlib import Path

import pytest
from histories import agent, answering, calling, messages, user
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from compactlab.errors import TranscriptError
from compactlab.readers import read, sniff, write, written
from compactlab.readers._sessions import only_there
from compactlab.transcript import (
    Image,
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
PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 8 + b"\0\0\0\2\0\0\0\3"


def written_and_read(folder, transcript):
    file = folder / "written.jsonl"
    write(transcript, file, "claude_code")
    assert sniff(file) == "claude_code"
    [back] = read(file)
    return back


def bare(message):
    return replace(message, source=None) if isinstance(message, Message) else message


def story(transcript):
    return tuple(bare(message) for message in transcript.messages)


def contexts(transcript):
    return tuple(replace(c, after=tuple(bare(entry) for entry in c.after)) for c in transcript.compactions)


def records(transcript):
    return [json.loads(line) for line in written((transcript,), "claude_code").splitlines()]


def test_all_our_fixtures_were_found():
    assert len(FIXTURES) == 13


@pytest.mark.parametrize("path", FIXTURES, ids=lambda path: path.stem)
def test_a_recorded_session_comes_back_equal(tmp_path, path):
    [transcript] = read(path)
    back = written_and_read(tmp_path, transcript)
    assert story(back) == story(transcript)
    for name in ("id", "title", "agent_type", "cluster", "tools"):
        assert getattr(back, name) == getattr(transcript, name)


made = messages(min_events=1, max_events=2).filter(bool).map(lambda history: bare(history[-1]))
compactions = st.builds(
    RecordedCompaction,
    st.integers(0, 12),
    trigger=st.sampled_from(["auto", "manual", "unknown", "microcompact", ""]),
    tokens_before=st.none() | st.integers(0, 9),
    tokens_after=st.none() | st.integers(0, 9),
    after=st.lists(st.integers(0, 2) | made, max_size=4).map(tuple),
    summary=st.sampled_from(["", "All is well.", "\ud83d"]),
    summariser=st.sampled_from(["", "s1"]),
)
whole = st.builds(
    Transcript,
    id=st.sampled_from(["s1", "", "a/b", "\ud83d"]),
    format=st.just("claude_code"),
    messages=messages(min_events=3, max_events=8).filter(lambda history: len(history) > 2),
    compactions=st.lists(compactions, max_size=3).map(lambda many: tuple(sorted(many, key=lambda c: c.position))),
    agent_type=st.sampled_from(["primary", "subagent", "critic"]),
)


@given(whole)
def test_any_session_comes_back_equal(tmp_path_factory, transcript):
    times = (None, "2026-02-12T16:00:00Z", "2026-02-12T16:00:00Z", "")
    timed = tuple(replace(m, timestamp=times[i % 4]) for i, m in enumerate(transcript.messages))
    length = len(timed)
    held = tuple(replace(c, position=min(c.position, length)) for c in transcript.compactions)
    transcript = only_there(replace(transcript, messages=timed, compactions=held))
    back = written_and_read(tmp_path_factory.getbasetemp(), transcript)
    assert story(back) == story(transcript)
    expected = tuple(replace(c, trigger=c.trigger or "unknown") for c in contexts(transcript))
    assert contexts(back) == expected
    assert back.agent_type == transcript.agent_type
    assert back.intake.skipped == ({"custom-title": 1} if transcript.title else {})


ODD = [
    ToolCall("c", "f", '{"a":  1.50}'),
    ToolCall("c", "f", '{"command": "echo '),
    ToolCall("c", "f", '{"a": "\\ud800"}'),
    ToolCall("", "", ""),
    Reasoning("signed", signature="sig=="),
    Reasoning(opaque="gAAAAABn-opaque"),
    Reasoning("shown", signature="s", opaque="hidden"),
    Image("image/png", 2, 3, data=PNG),
    Image("image/*", digest="sha256:0a1b"),
    ToolResult("c", (Text("a"), Image("image/png", 2, 3, data=PNG)), is_error=True),
    Text(""),
    Text("half \ud83d \u2028\x00\r\n"),
]


@pytest.mark.parametrize("role", ["user", "assistant", "tool", "system"])
def test_odd_blocks_come_back_equal_under_every_role(tmp_path, role):
    said = tuple(
        Message(role, (block,), synthetic=place % 2 == 0, pinned=place % 3 == 0) for place, block in enumerate(ODD)
    )
    spoken = Transcript("s1", "compactlab", (*said, Message(role, tuple(ODD)), Message(role, ())))
    assert story(written_and_read(tmp_path, spoken)) == spoken.messages


def test_what_is_written_is_the_form_that_the_tool_itself_writes():
    spoken = Transcript(
        "s1",
        "compactlab",
        (
            user("Go"),
            calling("c1"),
            answering("c1"),
            user("<reminder>", synthetic=True),
            agent(Reasoning("hm", "sig"), "Yes"),
        ),
        usage=(Usage(1, 993, 122, 890),),
        title="A title",
        header={"model": "claude-x"},
    )
    head, title, *tree = records(spoken)
    assert (head["type"], title["customTitle"]) == ("compactlab", "A title")
    assert [record["type"] for record in tree] == ["user", "assistant", "user", "user", "assistant"]
    assert [record["parentUuid"] for record in tree] == [None, *(record["uuid"] for record in tree[:-1])]
    assert len({record["uuid"] for record in tree}) == 5
    assert tree[1]["message"]["content"] == [{"type": "tool_use", "id": "c1", "name": "bash", "input": {}}]
    assert tree[1]["message"]["usage"]["cache_read_input_tokens"] == 890
    assert tree[1]["message"]["model"] == "claude-x"
    assert tree[2]["message"]["content"][0]["tool_use_id"] == "c1"
    assert tree[3]["isMeta"] is True
    assert tree[4]["message"]["content"][0] == {"type": "thinking", "thinking": "hm", "signature": "sig"}
    assert {record["sessionId"] for record in tree} == {"s1"}


def compacted():
    summary = user("All is well.", synthetic=True)
    after = (summary, 2, 3)
    return Transcript(
        "s1",
        "compactlab",
        (user("Go"), agent("One"), user("On"), agent("Two"), user("Last")),
        compactions=(RecordedCompaction(4, "auto", 900, 90, after, "All is well.", "s1-agent-acompact-1"),),
    )


def test_a_compaction_is_written_as_a_boundary_and_a_summary_and_names_what_was_kept(tmp_path):
    tree = records(compacted())[1:]
    mark, summary, last = tree[4:]
    assert (mark["subtype"], mark["parentUuid"], mark["logicalParentUuid"]) == (
        "compact_boundary",
        None,
        tree[3]["uuid"],
    )
    assert mark["compactMetadata"] == {
        "trigger": "auto",
        "preTokens": 900,
        "postTokens": 90,
        "preservedMessages": {
            "anchorUuid": summary["uuid"],
            "uuids": [tree[2]["uuid"], tree[3]["uuid"]],
            "allUuids": [tree[2]["uuid"], tree[3]["uuid"]],
        },
    }
    assert (summary["isCompactSummary"], summary["parentUuid"], last["parentUuid"]) == (
        True,
        mark["uuid"],
        summary["uuid"],
    )
    assert contexts(written_and_read(tmp_path, compacted())) == contexts(compacted())


def test_a_reader_that_does_not_know_our_keys_finds_the_same_compaction(tmp_path):
    plain = [
        {key: value for key, value in record.items() if key != "compactlab"} for record in records(compacted())[1:]
    ]
    file = tmp_path / "plain.jsonl"
    file.write_text("".join(json.dumps(record) + "\n" for record in plain))
    [back] = read(file)
    assert story(back) == compacted().messages
    [expected] = contexts(compacted())
    assert contexts(back) == (replace(expected, summariser=""),)


def test_the_same_session_gives_the_same_bytes():
    assert written((compacted(),), "claude_code") == written((compacted(),), "claude_code")
    other = replace(compacted(), id="s2")
    assert {r.get("uuid") for r in records(other)} & {r.get("uuid") for r in records(compacted())} == {None}


@pytest.mark.parametrize("count", [0, 2])
def test_a_file_holds_one_session(count):
    with pytest.raises(TranscriptError, match=f"holds one session; expected 1 transcript, got {count}"):
        written((compacted(),) * count, "claude_code")
