"""Sessions written as rollouts: what is read back says the same, and other tools find their own records in it."""

import json

import pytest
from codex_records import meta, session, user
from histories import messages
from hypothesis import given
from hypothesis import strategies as st

from compactlab.errors import TranscriptError
from compactlab.readers import read, write, written
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


def key(found):
    return [(message.role, message.blocks, message.synthetic) for message in found]


def back(transcript, folder):
    path = folder / "back.jsonl"
    write(transcript, path, "codex")
    [found] = read(path)
    return found


@given(st.data())
def test_whatever_a_session_holds_is_read_back(tmp_path_factory, data):
    said = data.draw(messages())
    if said:
        found = back(Transcript("t1", "", tuple(said)), tmp_path_factory.mktemp("w"))
        assert key(found.messages) == key(said)


SAID = [
    [Message("system", (Text("Be brief."),)), Message("system", (Text("Never."),)), Message("user", (Text("a"),))],
    [Message("system", (Text("s"),), timestamp="2026-01-01T00:00:00Z"), Message("user", (Text("a"),))],
    [Message("system", (Text("s"),)), Message("user", (Text("a"),), timestamp="2026-01-01T00:00:00Z")],
    [Message("system", ()), Message("user", ()), Message("assistant", ()), Message("tool", ())],
    [
        Message("assistant", (Text("a"),)),
        Message("assistant", (Text("b"),)),
        Message("assistant", (ToolCall("c", "f", "{}"),)),
    ],
    [Message("assistant", (ToolCall("c", "f", "{"), ToolResult("c", (Text("x"),)), Text("done")))],
    [Message("tool", (ToolResult("c", (Text("x"),), is_error=True), ToolResult("d", ())))],
    [Message("tool", (ToolResult("c", (Text('{"output": "x", "metadata": {"exit_code": 3}}'),)),))],
    [Message("tool", (ToolResult("", (Text("Exit code: 1\nx"),)),)), Message("tool", (Text("x"),))],
    [Message("user", (Text("<turn_aborted>\n</turn_aborted>"),)), Message("user", (Text("plain"),), synthetic=True)],
    [Message("assistant", (Reasoning(), Reasoning("t", "sig", "gAAA"), Reasoning(opaque="")))],
    [Message("assistant", (Text("no model said it"),), synthetic=True), Message("assistant", (Text("it did"),))],
    [Message("user", (Image("image/png", 3, 4, digest="sha256:1"), Image("image/png", url="https://e.org/a.png")))],
    [Message("user", (Text("a"), ToolResult("c", (Text("x"),)), Text("b")), timestamp="2026-01-01T00:00:00Z")],
]


@pytest.mark.parametrize("said", SAID, ids=range(len(SAID)))
def test_messages_of_odd_forms_are_read_back(tmp_path, said):
    found = back(Transcript("t1", "", tuple(said)), tmp_path)
    assert key(found.messages) == key(said)
    assert [message.timestamp for message in found.messages] == [message.timestamp for message in said]


@pytest.mark.parametrize("prompt", ["Be brief.", ""])
def test_compactions_counts_and_names_are_read_back(tmp_path, prompt):
    system = Message("system", (Text(prompt),))
    said = (system, *(Message(role, (Text(role),)) for role in ("user", "assistant", "user", "assistant")))
    summary = Message("user", (Text("Short."),), synthetic=True)
    agents = (Message("assistant", (Text("A"),)), Message("assistant", (Text("B"),)))
    told = RecordedCompaction(3, "auto", 900, 80, (0, 1, summary, *agents), "Short.")
    usage = (Usage(2, 100, 10, 60, 4), Usage(4, 100, 10, 60, 4))
    given = Transcript("t1", "", said, title="Fix", cluster="t0", tools=("ls",), compactions=(told,), usage=usage)
    found = back(given, tmp_path)
    assert key(found.messages) == key(said)
    assert key(found.after(0)) == key(given.after(0))
    [read_back] = found.compactions
    assert (read_back.position, read_back.trigger, read_back.summary) == (3, "auto", "Short.")
    assert (read_back.tokens_before, read_back.tokens_after) == (900, 80)
    assert (found.usage, found.title, found.cluster, found.tools) == (usage, "Fix", "t0", ("ls",))


def test_counts_of_a_whole_session_are_read_back(tmp_path):
    given = Transcript("t1", "", (Message("assistant", (Text("a"),)),), usage=(Usage(None, 9, 2, 1),))
    assert back(given, tmp_path).usage == given.usage


@pytest.mark.parametrize("kind", ["primary", "subagent", "subconscious"])
def test_agent_types_are_read_back(tmp_path, kind):
    assert back(Transcript("t1", "", (Message("user", (Text("a"),)),), agent_type=kind), tmp_path).agent_type == kind


def test_only_what_codex_knows_is_written_where_that_is_enough():
    said = (
        Message("user", (Text("a"),)),
        Message("assistant", (Reasoning("t", opaque="g"), ToolCall("c", "patch", "*** Begin"))),
        Message("tool", (ToolResult("c", (Text("x"),)),)),
    )
    records = [json.loads(line) for line in written([Transcript("t1", "", said)], "codex").splitlines()]
    assert [record["payload"].get("type", record["type"]) for record in records] == [
        "session_meta",
        "message",
        "reasoning",
        "custom_tool_call",
        "custom_tool_call_output",
    ]
    assert records[2]["payload"] == {
        "type": "reasoning",
        "summary": [{"type": "summary_text", "text": "t"}],
        "encrypted_content": "g",
    }
    assert all(record["timestamp"] == "" for record in records)


def test_writing_is_the_same_each_time_and_takes_one_session(tmp_path):
    found = session(tmp_path, meta(), user("a"))
    assert written([found], "codex") == written([found], "codex")
    with pytest.raises(TranscriptError, match="one session a file, and these are 2"):
        written([found, found], "codex")
