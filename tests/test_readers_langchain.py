"""Lists of LangChain messages: documents, lines, stores; removals; what is written is read back."""

import json
import sqlite3

import pytest

from compactlab import catalog
from compactlab.readers import Source, read, write
from compactlab.transcript import Message, Text, ToolCall, ToolResult, Transcript, Usage

SYSTEM = {"type": "system", "content": "Be brief.", "id": "s"}
HUMAN = {"type": "human", "content": "look", "id": "h"}
AI = {
    "type": "ai",
    "id": "a",
    "content": "",
    "tool_calls": [{"name": "ls", "args": {}, "id": "c1"}],
    "usage_metadata": {"input_tokens": 9, "output_tokens": 2, "input_token_details": {"cache_read": 4}},
    "response_metadata": {"model_name": "m-1"},
}
TOOL = {"type": "tool", "content": "a b", "tool_call_id": "c1", "id": "t"}
LIST = [SYSTEM, HUMAN, AI, TOOL]
ROLES = ["system", "user", "assistant", "tool"]


def one(tmp_path, value, name="x.json"):
    path = tmp_path / name
    path.write_text(value if isinstance(value, str) else json.dumps(value), encoding="utf-8")
    [transcript] = read(path)
    return transcript


def lines(*values):
    return "".join(f"{json.dumps(value)}\n" for value in values)


def wrapped(wire):
    return {"type": wire["type"], "data": {key: value for key, value in wire.items() if key != "type"}}


@pytest.mark.parametrize(
    ("value", "place"),
    [
        (LIST, "message 3"),
        ([wrapped(wire) for wire in LIST], "message 3"),
        ({"messages": LIST}, "messages[3]"),
        (lines(*LIST), "line 4"),
        (lines({"messages": LIST}), "messages[3]"),
        (lines(LIST), "message 3"),
        (json.dumps(LIST, indent=1), "message 3"),
        ("\ufeff" + lines(*LIST).replace("\n", "\r\n") + "\0\0", "line 4"),
    ],
)
def test_every_container_is_recognised_and_read(tmp_path, value, place):
    transcript = one(tmp_path, value)
    assert transcript.format == "langchain"
    assert [message.role for message in transcript.messages] == ROLES
    assert transcript.place(transcript.messages[-1]) == f"{tmp_path / 'x.json'}: {place}"
    assert transcript.usage == (Usage(2, input=9, output=2, cached=4),)
    assert transcript.header == {"models": ["m-1"]}


def test_several_conversations_of_a_file_are_several_transcripts(tmp_path):
    path = tmp_path / "x.jsonl"
    path.write_text(lines({"id": "one", "messages": LIST}, {"id": "two", "messages": LIST[:2]}, {"other": 1}))
    first, second = read(path)
    assert [first.id, second.id] == ["x/one", "x/two"]
    assert second.place(second.messages[1]) == f"{path}: line 2: messages[1]"
    assert second.intake.unknown == {"record of another kind": 1}


@pytest.mark.parametrize(
    "value",
    [
        [{"role": "user", "content": "a"}],
        {"messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]},
        [{"type": "system", "content": "a"}],
        [{"type": "human"}],
        {"type": "human", "message": {"role": "user", "content": "a"}},
        {"run_type": 3, "inputs": {}},
        {"values": {"messages": []}},
    ],
)
def test_lists_of_others_are_not_taken(tmp_path, value):
    path = tmp_path / "x.json"
    path.write_text(json.dumps(value))
    assert catalog.load("readers", "langchain").sniff(Source(path)) == 0


def test_unknown_messages_are_counted_and_read_past(tmp_path):
    transcript = one(tmp_path, [HUMAN, {"type": "chat", "role": "oracle", "content": "x"}, *[AI] * 20, 3])
    assert len(transcript.messages) == 21
    assert transcript.intake.unknown == {"message of type chat": 1, "record that is no message": 1}
    assert transcript.intake.records == 23


def test_a_call_without_a_result_and_a_result_without_a_call_stay(tmp_path):
    orphan = {"type": "tool", "content": None, "tool_call_id": "gone"}
    transcript = one(tmp_path, [HUMAN, orphan, AI])
    assert transcript.messages[1].results == (ToolResult("gone"),)
    assert transcript.messages[2].calls == (ToolCall("c1", "ls", "{}"),)


def test_a_system_message_in_mid_list_stays_there(tmp_path):
    assert [message.role for message in one(tmp_path, [HUMAN, SYSTEM, AI]).messages] == ["user", "system", "assistant"]


def test_removing_single_messages_is_a_compaction(tmp_path):
    remove = [{"type": "remove", "content": "", "id": "h"}]
    later = {"type": "human", "content": "more", "id": "h2"}
    transcript = one(tmp_path, [*LIST, *remove, later])
    assert [message.text for message in transcript.messages] == ["Be brief.", "look", "", "", "more"]
    [compaction] = transcript.compactions
    assert (compaction.position, compaction.after, compaction.summary) == (4, (0, 2, 3), "")


def test_removing_all_and_a_summary_is_a_compaction_of_what_is_listed_again(tmp_path):
    summary = {"type": "human", "content": "Here is a summary of the conversation to date:\n\nX", "id": "n"}
    remove = {"type": "remove", "id": "__remove_all__", "content": ""}
    transcript = one(tmp_path, [*LIST, remove, summary, AI, TOOL, {"type": "ai", "content": "done", "id": "d"}])
    assert [message.role for message in transcript.messages] == [*ROLES, "assistant"]
    [compaction] = transcript.compactions
    made = Message("user", (Text(summary["content"]),), synthetic=True)
    assert (compaction.position, compaction.after) == (4, (made, 2, 3))
    assert compaction.summary == summary["content"]
    assert transcript.view(5) == (made, *transcript.messages[2:5])
    assert transcript.before(0) == transcript.messages[:4]


def test_a_message_store_gives_one_transcript_a_session(tmp_path):
    path = tmp_path / "memory.db"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE message_store (id INTEGER PRIMARY KEY, session_id TEXT, message TEXT)")
        rows = [(s, json.dumps(wrapped(wire))) for wire in LIST for s in ("a", "b")] + [("b", "{")]
        connection.executemany("INSERT INTO message_store (session_id, message) VALUES (?, ?)", rows)
    connection.close()
    first, second = read(path)
    assert [first.id, second.id] == ["memory/a", "memory/b"]
    assert [message.role for message in second.messages] == ROLES
    assert second.intake.unknown == {"record that is no message": 1}


def test_a_cut_last_line_is_skipped_and_a_bad_middle_line_is_told(tmp_path):
    text = lines(HUMAN) + "oops\n" + lines(AI, TOOL) + '{"type": "ai", "con'
    transcript = one(tmp_path, text, "x.jsonl")
    assert len(transcript.messages) == 3
    assert transcript.intake.skipped == {"last line cut off": 1}
    assert [problem.partition(":")[0] for problem in transcript.intake.problems] == ["line 2"]


def test_written_transcripts_are_read_back(tmp_path):
    call = ToolCall("c", "f", '{"a":1.50}')
    messages = (
        Message("user", (Text("Hi \ud800"),), source=0, timestamp="2026-01-01"),
        Message("assistant", (Text("a"), call), source=1),
        Message("tool", (ToolResult("c", (Text("r"),), is_error=True),), source=2),
        Message("user", (Text("hook"),), source=3, synthetic=True, pinned=True),
    )
    tools = ({"name": "f"}, "g")
    written = [Transcript(i, "", messages, title=f"T {i}", agent_type="subconscious", tools=tools) for i in ("x", "y")]
    path = tmp_path / "two.jsonl"
    write(written, path, "langchain")
    found = read(path)
    assert [transcript.id for transcript in found] == ["two/x", "two/y"]
    for given, transcript in zip(written, found, strict=True):
        assert transcript.messages == messages
        assert (transcript.title, transcript.agent_type, transcript.tools) == (given.title, "subconscious", tools)
