"""Gemini CLI recordings: fused calls, rewinds, whole lists that replace others, compressions, masked outputs."""

import json
import os
from pathlib import Path

import pytest
import runs

from compactlab.readers import read, sniff
from compactlab.transcript import Reasoning, Text, ToolCall, ToolResult, Usage

CORPUS = Path(os.environ.get("COMPACTLAB_CORPUS", runs.CHECKOUT.parent / "shared" / "transcripts"))
HEAD = {"sessionId": "s-1", "projectHash": "h", "startTime": "2026-01-01T00:00:00Z", "kind": "main"}
SNAPSHOT = "<state_snapshot>\n<goal>ship</goal>\n</state_snapshot>"
READY = "Got it. Thanks for the additional context!"


def user(name, text, **more):
    return {"id": name, "timestamp": "2026-01-01T00:00:01Z", "type": "user", "content": text, **more}


def gemini(name, text, **more):
    return {"id": name, "timestamp": "2026-01-01T00:00:02Z", "type": "gemini", "content": text, **more}


def tool(call_id, output, status="success", **more):
    response = {"functionResponse": {"id": call_id, "name": "read", "response": {"output": output}}}
    return {"id": call_id, "name": "read", "args": {"p": call_id}, "status": status, "result": [response], **more}


def lines(tmp_path, *records, name="session-1.jsonl", head=HEAD):
    path = tmp_path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(record) + "\n" for record in (head, *records)))
    assert sniff(path) == "gemini_cli"
    [transcript] = read(path)
    return transcript


def old(tmp_path, *records, name="session-1.json", **more):
    path = tmp_path / name
    path.write_text(json.dumps({**HEAD, **more, "messages": records}, indent=2))
    assert sniff(path) == "gemini_cli"
    [transcript] = read(path)
    return transcript


def texts(messages):
    return [message.text or (message.results or message.calls) for message in messages]


def test_a_response_with_calls_is_unfolded(tmp_path):
    answer = gemini(
        "g1",
        "Reading both.",
        model="gemini-x",
        thoughts=[{"subject": "Plan", "description": "read"}, {"description": "only"}],
        tokens={"input": 900, "output": 20, "cached": 400, "thoughts": 5, "tool": 0, "total": 925},
        toolCalls=[
            tool("c1", "one", timestamp="t9"),
            tool("c2", None, "cancelled", result=None),
            tool("c3", "three", "error"),
        ],
    )
    transcript = old(tmp_path, user("u1", "Read"), answer, summary="About files")
    spoken = transcript.messages[1]
    assert spoken.blocks[:3] == (Reasoning("**Plan** read"), Reasoning("only"), Text("Reading both."))
    assert spoken.calls[0] == ToolCall("c1", "read", '{"p":"c1"}')
    assert [call.id for call in spoken.calls] == ["c1", "c2", "c3"]
    results = [message.results for message in transcript.messages[2:]]
    assert results == [(ToolResult("c1", (Text("one"),)),), (ToolResult("c3", (Text("three"),), is_error=True),)]
    assert [message.timestamp for message in transcript.messages[2:]] == ["t9", spoken.timestamp]
    assert transcript.usage == (Usage(1, 900, 25, 400, 5),)
    assert (transcript.id, transcript.title, transcript.agent_type) == ("s-1", "About files", "primary")
    assert transcript.header == {"models": ["gemini-x"]}
    assert transcript.place(transcript.messages[3]).endswith("session-1.json: messages[1]")


@pytest.mark.parametrize(
    ("result", "content", "is_error"),
    [
        ("plain", ("plain",), False),
        ([{"functionResponse": {"name": "read", "response": {"error": "no"}}}], ("no",), True),
        ([{"functionResponse": {"name": "read", "response": {"a": 1, "b": 2}}}], ('{"a": 1, "b": 2}',), False),
        ({"functionResponse": {"name": "read", "response": {"output": "x"}}}, ("x",), False),
        (
            [
                {"functionResponse": {"id": "c1", "response": {"output": "mine"}}},
                {"functionResponse": {"id": "c2", "response": {"output": "another's"}}},
            ],
            ("mine",),
            False,
        ),
    ],
)
def test_forms_of_results(tmp_path, result, content, is_error):
    transcript = old(tmp_path, user("u1", "x"), gemini("g1", "", toolCalls=[tool("c1", "", result=result)]))
    [found] = transcript.messages[2].results
    assert (tuple(part.text for part in found.content), found.is_error) == (content, is_error)


def test_a_picture_behind_a_response_belongs_to_it(tmp_path):
    parts = [
        {"functionResponse": {"id": "c1", "response": {"output": "see"}}},
        {"inlineData": {"mimeType": "image/gif", "data": "R0lGODlhAQABAAAAACw="}},
        {"inlineData": {"mimeType": "application/pdf", "data": "AAAA"}},
    ]
    transcript = old(tmp_path, user("u1", "x"), gemini("g1", "", toolCalls=[tool("c1", "", result=parts)]))
    content = transcript.messages[2].results[0].content
    assert [getattr(part, "text", None) or part.media_type for part in content] == [
        "see",
        "image/gif",
        "[application/pdf: data]",
    ]


@pytest.mark.parametrize("tokens", [None, {"input": 0, "output": 0, "cached": 0, "total": 0}, "many"])
def test_no_tokens_are_no_usage(tmp_path, tokens):
    assert old(tmp_path, user("u1", "x"), gemini("g1", "y", tokens=tokens)).usage == ()


def test_notes_of_the_screen_and_commands_are_counted(tmp_path):
    notes = [{"id": kind, "type": kind, "content": "n"} for kind in ("info", "warning", "error", "novelty")]
    transcript = old(tmp_path, user("u0", "/help"), *notes, user("u1", "/etc/hosts says?"), gemini("g1", "y"))
    assert texts(transcript.messages) == ["/etc/hosts says?", "y"]
    assert transcript.intake.records == 7
    assert transcript.intake.skipped == {
        "command that the model never saw": 1,
        "info shown to the user": 1,
        "warning shown to the user": 1,
        "error shown to the user": 1,
    }
    assert transcript.intake.unknown == {"message of type novelty": 1}


def test_what_the_client_added_to_a_prompt_is_synthetic(tmp_path):
    parts = [
        {"text": "explain @a.py"},
        {"text": "\n--- Content from referenced files ---"},
        {"text": "\nContent from @a.py:\n"},
        {"text": "print()"},
        {"text": "\n--- End of content ---"},
        {"text": "briefly"},
    ]
    transcript = old(tmp_path, user("u0", "<session_context>\nToday is"), user("u1", parts), gemini("g1", "y"))
    assert [(m.synthetic, len(m.blocks)) for m in transcript.messages] == [
        (True, 1),
        (False, 1),
        (True, 4),
        (False, 1),
        (False, 1),
    ]


def test_the_last_version_of_a_message_counts_in_the_place_of_the_first(tmp_path):
    transcript = lines(
        tmp_path,
        user("u1", "x"),
        gemini("g1", "thinking"),
        {"$set": {"lastUpdated": "later"}},
        gemini("g1", "thinking", toolCalls=[tool("c1", "one")], tokens={"input": 5, "output": 1}),
        gemini("g2", "done"),
    )
    assert texts(transcript.messages) == ["x", "thinking", (ToolResult("c1", (Text("one"),)),), "done"]
    assert transcript.usage == (Usage(1, 5, 1),)
    assert transcript.intake.skipped == {"metadata": 2, "earlier version of a message": 1}
    assert transcript.place(transcript.messages[3]).endswith("session-1.jsonl: line 6")


def test_a_rewind_leaves_the_branch(tmp_path):
    transcript = lines(
        tmp_path,
        user("u1", "a"),
        gemini("g1", "b"),
        user("u2", "wrong"),
        gemini("g2", "way"),
        {"$rewindTo": "u2"},
        user("u3", "right"),
        {"$rewindTo": "never"},
    )
    assert texts(transcript.messages) == ["a", "b", "right"]
    assert transcript.intake.skipped["message of another branch"] == 2
    assert transcript.intake.unknown == {"rewind to a message that is not there": 1}


def compressed(tmp_path, *more):
    kept = [user("u2", "kept question"), gemini("g2", "kept answer")]
    return lines(
        tmp_path,
        user("u1", "first"),
        gemini("g1", "old", toolCalls=[tool("c1", "long output")]),
        *kept,
        {"$set": {"messages": [user("n1", [{"text": SNAPSHOT}]), gemini("n2", [{"text": READY}]), *kept]}},
        user("u3", "next"),
        *more,
    )


def test_a_list_with_a_snapshot_is_a_compaction(tmp_path):
    transcript = compressed(tmp_path)
    assert texts(transcript.messages)[::2] == ["first", (ToolResult("c1", (Text("long output"),)),), "kept answer"]
    [compaction] = transcript.compactions
    assert (compaction.position, compaction.summary, compaction.after[2:]) == (5, SNAPSHOT, (3, 4))
    assert texts(transcript.after(0)) == [SNAPSHOT, READY, "kept question", "kept answer"]
    assert [message.synthetic for message in transcript.after(0)] == [True, True, False, False]
    assert len(transcript.before(0)) == 5
    assert texts(transcript.view(6)) == [SNAPSHOT, READY, "kept question", "kept answer", "next"]


def test_a_list_repeated_after_a_compression_changes_nothing(tmp_path):
    kept = [user("u2", "kept question"), gemini("g2", "kept answer")]
    again = [user("n1", [{"text": SNAPSHOT}]), gemini("n2", [{"text": READY}]), *kept, user("u3", [{"text": "next"}])]
    transcript = compressed(tmp_path, {"$set": {"messages": again}}, gemini("g3", "end"))
    assert len(transcript.compactions) == 1
    assert texts(transcript.messages)[-2:] == ["next", "end"]


def test_a_rewind_behind_a_compression_shortens_what_it_kept(tmp_path):
    transcript = compressed(tmp_path, {"$rewindTo": "u2"}, user("u4", "again"))
    assert texts(transcript.after(0)) == [SNAPSHOT, READY]
    assert texts(transcript.messages)[-2:] == ["kept answer", "again"]


def test_a_shorter_list_without_a_snapshot_is_a_rewind(tmp_path):
    first = [user("u1", "a"), gemini("g1", "b")]
    transcript = lines(tmp_path, *first, user("u2", "c"), {"$set": {"messages": first}}, user("u3", "d"))
    assert texts(transcript.messages) == ["a", "b", "d"]
    assert transcript.compactions == ()
    assert transcript.intake.skipped["message of another branch"] == 1


def test_a_list_with_masked_outputs_is_a_compaction(tmp_path):
    """The list also holds each call among the content and each response as a message: neither counts twice."""
    call = {"functionCall": {"id": "c1", "name": "read", "args": {"p": "c1"}}}
    masked = {"functionResponse": {"id": "c1", "name": "read", "response": {"output": "[masked]"}}}
    listed = [
        user("u1", [{"text": "a"}]),
        gemini("g1", [{"text": "b"}, call], toolCalls=[tool("c1", "", result=[masked])]),
        user("r1", [masked]),
        gemini("g2", [{"text": "c"}]),
    ]
    before = [user("u1", "a"), gemini("g1", "b", toolCalls=[tool("c1", "long")]), gemini("g2", "c")]
    transcript = lines(tmp_path, *before, {"$set": {"messages": listed}}, user("u2", "d"))
    assert texts(transcript.messages) == ["a", "b", (ToolResult("c1", (Text("long"),)),), "c", "d"]
    [compaction] = transcript.compactions
    assert (compaction.position, compaction.trigger) == (4, "mask")
    assert [compaction.after[i] for i in (0, 1, 3)] == [0, 1, 3]
    assert texts(transcript.after(0))[2] == (ToolResult("c1", (Text("[masked]"),)),)


def test_a_subagent_is_in_the_cluster_of_the_root(tmp_path):
    chats = tmp_path / "chats"
    lines(chats, user("u1", "a"), name="session-1.jsonl")
    lines(chats, user("u1", "b"), name="s-1/sub.jsonl", head=HEAD | {"sessionId": "sub", "kind": "subagent"})
    lines(chats, user("u1", "c"), name="sub/deep.jsonl", head=HEAD | {"sessionId": "deep", "kind": "subagent"})
    found = {t.id: (t.agent_type, t.cluster) for t in read(chats)}
    assert found == {"s-1": ("primary", "s-1"), "sub": ("subagent", "s-1"), "deep": ("subagent", "s-1")}


def test_a_session_that_went_on_as_json_lines_is_given_once(tmp_path):
    old(tmp_path, user("u1", "a"))
    lines(tmp_path, user("u1", "a"), gemini("g1", "b"))
    assert [texts(t.messages) for t in read(tmp_path)] == [["a", "b"]]


@pytest.mark.skipif(not (CORPUS / "gemini-cli").is_dir(), reason="no COMPACTLAB_CORPUS and no folder here")
def test_a_recorded_session():
    [transcript] = read(CORPUS / "gemini-cli" / "gemini-cli-pomodoro-timer.json")
    calls = [call for message in transcript.messages for call in message.calls]
    results = [result for message in transcript.messages for result in message.results]
    assert (len(transcript.messages), len(transcript.usage)) == (30, 13)
    assert [call.id for call in calls] == [result.call_id for result in results]
    assert (len(calls), sum(result.is_error for result in results)) == (11, 1)
