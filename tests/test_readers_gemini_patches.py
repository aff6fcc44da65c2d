"""Gemini CLI recordings that change some of their messages by a `$patch`, and dialects of the records."""

import pytest
from test_readers_gemini_cli import SNAPSHOT, gemini, lines, old, texts, tool, user

from compactlab.transcript import Text, ToolResult

LONG = [
    user("u1", "a"),
    gemini("g1", "b", toolCalls=[tool("c1", "long"), tool("c2", "short")], thoughts=[{"description": "hm"}]),
    gemini("g2", "c"),
]


def response(call_id, output):
    return [{"functionResponse": {"id": call_id, "name": "read", "response": {"output": output}}}]


def result(call_id, output):
    return (ToolResult(call_id, (Text(output),)),)


def patch(**more):
    return {"$patch": more}


@pytest.mark.parametrize(
    "given",
    [
        patch(id="g1", toolCalls=[{"id": "c1", "result": response("c1", "[masked]")}]),
        patch(updates=[{"id": "g1", "toolCalls": [{"id": "c1", "result": response("c1", "[masked]")}]}]),
    ],
)
def test_a_result_that_a_patch_masks_is_a_compaction(tmp_path, given):
    transcript = lines(tmp_path, *LONG, given, user("u2", "d"))
    assert texts(transcript.messages) == ["a", "b", result("c1", "long"), result("c2", "short"), "c", "d"]
    [found] = transcript.compactions
    assert (found.position, found.trigger) == (5, "mask")
    assert [entry for entry in found.after if isinstance(entry, int)] == [0, 1, 3, 4]
    assert texts(transcript.after(0))[2] == result("c1", "[masked]")
    assert (transcript.intake.unknown, transcript.intake.skipped["change to messages"]) == ({}, 1)


def test_other_contents_leave_the_reasoning_and_the_calls_where_they_are(tmp_path):
    given = patch(updates=[{"id": "u1", "content": "A"}, {"id": "g1", "content": "B"}])
    transcript = lines(tmp_path, *LONG, given)
    after = transcript.after(0)
    assert texts(after)[:2] == ["A", "B"]
    assert [type(block).__name__ for block in after[1].blocks] == ["Reasoning", "Text", "ToolCall", "ToolCall"]
    assert texts(transcript.messages)[:2] == ["a", "b"]


def test_what_a_patch_takes_out_at_the_end_is_another_branch(tmp_path):
    transcript = lines(tmp_path, *LONG, patch(removeIds=["g2"]), user("u2", "d"))
    assert texts(transcript.messages)[-2:] == [result("c2", "short"), "d"]
    assert transcript.compactions == ()
    assert transcript.intake.skipped["message of another branch"] == 1


def test_messages_that_are_taken_out_for_a_snapshot_are_a_compaction(tmp_path):
    """The new message is recorded first, and put in its place by the patch."""
    records = [*LONG, user("s1", SNAPSHOT), patch(removeIds=["u1", "g1"], orderIds=["s1", "g2"]), user("u2", "d")]
    transcript = lines(tmp_path, *records)
    assert texts(transcript.view(len(transcript.messages))) == [SNAPSHOT, "c", "d"]
    assert len(transcript.compactions) == 1


@pytest.mark.parametrize(
    "given",
    [
        patch(),
        patch(id="never", content="x"),
        patch(updates=[{"id": "g1", "toolCalls": [{"id": "never", "result": []}]}, 4], removeIds=7, orderIds=[3]),
        patch(orderIds=["u1", "g1", "g2"]),
    ],
)
def test_a_patch_that_changes_nothing_leaves_no_trace(tmp_path, given):
    transcript = lines(tmp_path, *LONG, given, user("u2", "d"))
    assert texts(transcript.messages) == ["a", "b", result("c1", "long"), result("c2", "short"), "c", "d"]
    assert transcript.compactions == ()


def test_a_second_patch_goes_on_from_the_first(tmp_path):
    first, second = (
        patch(id="g1", toolCalls=[{"id": name, "result": response(name, "[masked]")}]) for name in ("c1", "c2")
    )
    transcript = lines(tmp_path, *LONG, first, user("u2", "d"), second)
    assert [found.position for found in transcript.compactions] == [5, 6]
    assert texts(transcript.after(1)) == ["a", "b", result("c1", "[masked]"), result("c2", "[masked]"), "c", "d"]


def test_a_response_may_be_of_type_model_and_have_parts(tmp_path):
    answer = {"id": "m1", "timestamp": "2026-01-01T00:00:02Z", "type": "model", "parts": [{"text": "b"}]}
    transcript = old(tmp_path, user("u1", "a"), answer)
    assert [(message.role, message.text) for message in transcript.messages] == [("user", "a"), ("assistant", "b")]
    assert transcript.intake.unknown == {}
