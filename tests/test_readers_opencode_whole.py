"""Databases of version 2 of opencode, whose table `session_message` holds whole messages."""

import base64
import json
import sqlite3

import pytest
from opencode_records import SES, START, database, session, user

from compactlab.readers import read, sniff
from compactlab.transcript import Image, Reasoning, Text, ToolCall, ToolResult, Usage

MODEL = {"id": "m1", "providerID": "p"}
PNG = base64.b64encode(b"\x89PNG").decode()


def made(path, rows, *, info=None):
    """A database of a session and its rows, each a type and its data; *info* is that of the session."""
    connection = sqlite3.connect(path)
    held = {"id": SES, "project_id": "p1", "directory": "/w", "title": "Work", "version": "2.0", "time_created": START}
    held |= info or {}
    connection.execute(f"CREATE TABLE session ({', '.join(held)})")
    connection.execute(f"INSERT INTO session VALUES ({', '.join('?' * len(held))})", list(held.values()))  # noqa: S608
    _add(connection, rows)
    return path


def _add(connection, rows):
    connection.execute("CREATE TABLE session_message (id, session_id, type, seq, time_created, time_updated, data)")
    for seq, (kind, data) in enumerate(rows):
        told = data if isinstance(data, str) else json.dumps({"time": {"created": START + seq}, **data})
        # equal times, and ids that fall: the order is that of `seq`
        row = (f"msg_{99 - seq}", SES, kind, seq, START, START, told)
        connection.execute("INSERT INTO session_message VALUES (?, ?, ?, ?, ?, ?, ?)", row)
    connection.commit()
    connection.close()


def said(*content, **more):
    return ("assistant", {"agent": "build", "model": MODEL, "content": list(content), **more})


def text(words):
    return {"type": "text", "text": words}


def tool(call_id, **state):
    return {"type": "tool", "id": call_id, "name": "read", "state": {"input": {"p": 1}, **state}, "time": {}}


def one(path):
    assert sniff(path) == "opencode"
    [transcript] = read(path)
    return transcript


def test_a_turn_with_reasoning_a_call_and_its_result(tmp_path):
    tokens = {"input": 10, "output": 4, "reasoning": 0, "cache": {"read": 90, "write": 0}}
    rows = [
        ("model-switched", {"model": MODEL}),
        ("system", {"text": "Use tabs."}),
        ("user", {"text": "Read it", "files": [{"mime": "image/png", "data": PNG, "name": "a.png"}]}),
        said(
            {"type": "reasoning", "text": "hm", "native": {"signature": "s1"}},
            text("I read."),
            tool("c1", status="completed", content=[text("one"), {"type": "file", "mime": "image/png", "data": PNG}]),
            tokens=tokens,
        ),
        ("idle", {"outcome": "succeeded"}),
    ]
    transcript = one(made(tmp_path / "opencode.db", rows))
    assert [message.role for message in transcript.messages] == ["system", "user", "assistant", "tool"]
    picture = Image("image/png", data=b"\x89PNG")
    assert transcript.messages[1].blocks == (Text("Read it"), picture)
    assert transcript.messages[2].blocks == (
        Reasoning("hm", "s1"),
        Text("I read."),
        ToolCall("c1", "read", '{"p":1}'),
    )
    assert transcript.messages[3].blocks == (ToolResult("c1", (Text("one"), picture)),)
    assert transcript.usage == (Usage(2, 100, 4, 90),)
    assert (transcript.id, transcript.title, transcript.header["models"]) == (SES, "Work", ["m1"])
    assert (transcript.intake.unknown, transcript.intake.problems) == ({}, ())
    assert transcript.intake.skipped == {"model-switched": 1, "idle": 1}


@pytest.mark.parametrize(
    ("state", "result"),
    [
        ({"status": "error", "error": {"type": "x", "message": "No such file"}}, ("No such file", True)),
        ({"status": "completed", "content": [], "structured": {"n": 1}}, ('{"n": 1}', False)),
        ({"status": "completed", "content": [], "result": "from afar", "structured": {}}, ("from afar", False)),
        ({"status": "running"}, None),
        ({"status": "streaming", "input": '{"p": 1'}, None),
    ],
)
def test_results_of_every_state(tmp_path, state, result):
    transcript = one(made(tmp_path / "a.db", [("user", {"text": "Go"}), said(tool("c1", **state))]))
    [call] = transcript.messages[1].calls
    assert call.arguments == (state.get("input") or '{"p":1}')
    found = [(block.text, block.is_error) for message in transcript.messages for block in message.results]
    assert found == ([] if result is None else [result])


@pytest.mark.parametrize(
    ("kind", "data", "words"),
    [
        ("synthetic", {"text": "Go on."}, "Go on."),
        ("skill", {"text": "How to sail", "skill": "sail", "name": "sail"}, "How to sail"),
        ("shell", {"command": "ls", "output": {"output": "a.md"}}, "Shell command: ls\n\na.md"),
        ("shell", {"command": "ls", "output": "a.md"}, "Shell command: ls\n\na.md"),
    ],
)
def test_what_no_person_typed_is_synthetic(tmp_path, kind, data, words):
    transcript = one(made(tmp_path / "a.db", [("user", {"text": "Go"}), (kind, data), said(text("Done."))]))
    assert [(m.role, m.text, m.synthetic) for m in transcript.messages][1] == ("user", words, True)


def test_the_text_of_a_file_beside_a_prompt_is_synthetic(tmp_path):
    file = {"mime": "text/plain", "data": base64.b64encode(b"alpha").decode(), "name": "a.md"}
    transcript = one(made(tmp_path / "a.db", [("user", {"text": "Read", "files": [file]}), said(text("Done."))]))
    assert [(m.text, m.synthetic) for m in transcript.messages[:2]] == [
        ("Read", False),
        ("Attached file: a.md\n\nalpha", True),
    ]


def test_a_compaction_leaves_its_summary_and_what_was_kept_as_text(tmp_path):
    rows = [
        ("user", {"text": "One"}),
        said(text("1")),
        ("compaction", {"status": "failed", "reason": "auto", "error": {"message": "x"}}),
        ("compaction", {"status": "completed", "reason": "auto", "summary": "One is 1.", "recent": "[User]: One"}),
        ("user", {"text": "Two"}),
        said(text("2")),
    ]
    transcript = one(made(tmp_path / "a.db", rows))
    assert [message.text for message in transcript.messages] == ["One", "1", "Two", "2"]
    [found] = transcript.compactions
    assert (found.position, found.trigger, found.summary) == (2, "auto", "One is 1.")
    [left] = found.after
    assert left.synthetic
    assert "<summary>\nOne is 1.\n</summary>\n\n<recent-context>\n[User]: One\n</recent-context>" in left.text
    assert transcript.intake.skipped["compaction without summary"] == 1


def test_a_session_that_is_kept_twice_is_read_once(tmp_path):
    path = database(tmp_path / "a.db", [(session(), [user(1, "The first")])])
    connection = sqlite3.connect(path)
    _add(connection, [("user", {"text": "The copy"})])
    assert [message.text for message in one(path).messages] == ["The first"]


def test_a_revert_cuts_whole_messages_too(tmp_path):
    info = {"revert": json.dumps({"messageID": "msg_98"})}
    path = made(tmp_path / "a.db", [("user", {"text": "One"}), said(text("1"))], info=info)
    transcript = one(path)
    assert [message.text for message in transcript.messages] == ["One"]
    assert transcript.intake.skipped == {"message of another branch": 1}


@pytest.mark.parametrize("data", ["[1]", "{", '"x"', '{"text": 3, "files": 7}', '{"content": [{"type": "tool"}, 4]}'])
def test_a_broken_row_breaks_nothing_else(tmp_path, data):
    rows = [("user", {"text": "One"}), ("assistant", data), ("user", data), ("new", data), said(text("1"))]
    transcript = one(made(tmp_path / "a.db", rows))
    assert transcript.messages[0].text == "One"
    assert transcript.messages[-1].text == "1"
    assert transcript.intake.unknown.get("message of role new") == 1 or transcript.intake.problems
