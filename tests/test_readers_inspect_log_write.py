"""Transcripts written as logs of Inspect: read back equal, in the form that Inspect itself writes."""

import json

import pytest
from histories import messages
from hypothesis import given

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


def told(transcript):
    return [(m.role, m.blocks, m.synthetic) for m in transcript.messages]


def log(*transcripts):
    return json.loads(written(transcripts, "inspect_log"))


@pytest.fixture(scope="module")
def back(tmp_path_factory):
    path = tmp_path_factory.mktemp("logs") / "log.json"

    def reading(*transcripts):
        write(transcripts, path, "inspect_log")
        return read(path)

    return reading


@given(messages())
def test_whatever_was_said_is_read_back(back, said):
    if said:
        [session] = back(Transcript("t", "x", said))
        assert told(session) == [(m.role, m.blocks, m.synthetic) for m in said]


ODD = [
    Message("assistant", (ToolCall("c1", "f", '{"a":1}'),)),
    Message("assistant", (ToolCall("c1", "f", '{"a": 1'),)),
    Message("assistant", (ToolCall("", "f", "{}"), ToolCall("", "", "[1]"))),
    Message("assistant", (ToolCall("c1", "f", "{}"), Text("after"), Reasoning("late"))),
    Message("assistant", (ToolCall("c1", "f", "{}"), ToolResult("c1", (Text("x"),)), Text("done"))),
    Message(
        "assistant", (Reasoning("hm", "sig"), Reasoning("", "sig", "ENC"), Reasoning("short", None, "ENC"), Text("x"))
    ),
    Message("assistant", (Text("shown"),), synthetic=True),
    Message("assistant", ()),
    Message("user", (Text("nudge"),), synthetic=True),
    Message("user", (Text("attachment://h1"), Text(""))),
    Message("user", (Image("image/png", data=b"no picture"), Image("image/png", 4, 4, digest="sha256:1"))),
    Message("user", (Image("image/*", url="https://x/y"), ToolResult("c1"))),
    Message("tool", (ToolResult("c1", (Text("a"),)), ToolResult("c2", (), is_error=True))),
    Message("tool", (ToolResult("c1", (Text("bad"), Image("image/gif", data=b"GIF89a")), is_error=True),)),
    Message("tool", (ToolResult("c1", (), is_error=True), Text("word"))),
    Message("tool", ()),
    Message("system", (Text("\ud83d half"), Text("a\u2028b"))),
    Message("system", ()),
]


@pytest.mark.parametrize("message", ODD, ids=range(len(ODD)))
def test_what_the_chat_form_cannot_hold_is_read_back_too(back, message):
    said = (Message("user", (Text("Hi"),)), message, Message("assistant", (Text("x"),)))
    [session] = back(Transcript("t", "x", said))
    assert told(session) == [(m.role, m.blocks, m.synthetic) for m in said]


def test_many_sessions_keep_their_names_types_tools_compactions_and_tokens(back):
    said = (Message("user", (Text("Hi"),)), Message("assistant", (Text("x"),)))
    made = Message("user", (Text("Summary"), Image("image/png", data=b"x")), synthetic=True)
    first = Transcript(
        "a/1",
        "x",
        said,
        title="A title",
        agent_type="subconscious",
        cluster="story",
        tools=({"name": "f"}, "g"),
        compactions=(RecordedCompaction(1, "auto", 9, 3, (0, made), "Summary", "s"),),
        usage=(Usage(1, 9, 1), Usage(None, 3)),
    )
    sessions = back(first, Transcript("b", "x", said), Transcript("b", "x", said))
    names = ("id", "title", "agent_type", "cluster", "tools", "compactions", "usage")
    assert [getattr(sessions[0], name) for name in names] == [getattr(first, name) for name in names]
    assert [session.id for session in sessions] == ["a/1", "b", "b-2"]


def test_a_log_has_what_inspect_asks_for():
    said = (
        Message("user", (Text("Find it."),), timestamp="2026-01-01T00:00:00+00:00"),
        Message("assistant", (Text("I look."), ToolCall("c1", "bash", '{"cmd": "ls"}'))),
        Message("tool", (ToolResult("c1", (Text("no"),), is_error=True), ToolResult("c2", (Text("yes"),)))),
    )
    value = log(Transcript("t", "x", said, header={"model": "openai/gpt-4o"}))
    assert (value["version"], value["status"]) == (2, "success")
    assert value["eval"].items() >= {"model": "openai/gpt-4o", "created": "2026-01-01T00:00:00+00:00"}.items()
    [sample] = value["samples"]
    assert (sample["id"], sample["epoch"], sample["input"], sample["target"]) == ("t", 1, "Find it.", "")
    asked, answered, failed, other = sample["messages"]
    assert asked == {"role": "user", "content": "Find it.", "source": "input"}
    assert answered["tool_calls"] == [{"id": "c1", "function": "bash", "arguments": {"cmd": "ls"}, "type": "function"}]
    assert (failed["tool_call_id"], failed["error"]["message"]) == ("c1", "no")
    assert (other["tool_call_id"], other["content"]) == ("c2", "yes")


def test_the_same_transcripts_always_give_the_same_log():
    transcript = Transcript("t", "x", (Message("user", (Text("Hi"),), timestamp="yesterday"),))
    assert log(transcript) == log(transcript)
    assert log(transcript)["eval"]["created"] == "1970-01-01T00:00:00+00:00"
    assert log()["samples"] == []
