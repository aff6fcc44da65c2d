"""claw-code sessions: both forms, compactions, and the older files that lie beside a large one."""

import json

import pytest

from compactlab.errors import TranscriptError
from compactlab.readers import read, sniff
from compactlab.transcript import Reasoning, Text, ToolCall, ToolResult, Usage

SUMMARY = "This session is being continued from a previous conversation that ran out of context. Summary:\n- Scope: 4."


def said(role, *blocks, **more):
    return {"role": role, "blocks": list(blocks), **more}


def text(words):
    return {"type": "text", "text": words}


def call(name, arguments="{}"):
    return {"type": "tool_use", "id": name, "name": "bash", "input": arguments}


def result(name, output="done", **more):
    return {"type": "tool_result", "tool_use_id": name, "tool_name": "bash", "output": output, **more}


COUNTS = {"input_tokens": 10, "output_tokens": 4, "cache_creation_input_tokens": 1, "cache_read_input_tokens": 2}
TURN = [
    said("user", text("List the files.")),
    said("assistant", text("Now."), call("c1", '{"command":  "ls"'), usage=COUNTS),
    said("tool", result("c1", "a b", is_error=True)),
    said("assistant", text("Two files.")),
]


def lines(messages, session="session-1-0", **meta):
    head = {"type": "session_meta", "version": 1, "session_id": session, "updated_at_ms": 5, **meta}
    records = [head, {"type": "prompt_history", "timestamp_ms": 1, "text": "List the files."}]
    return "".join(json.dumps(r) + "\n" for r in [*records, *({"type": "message", "message": m} for m in messages)])


def test_the_object_of_version_1_is_read_with_arguments_and_results_as_recorded(tmp_path):
    path = tmp_path / "a.json"
    path.write_text(json.dumps({"version": 1, "messages": TURN}))
    [session] = read(path)
    assert sniff(path) == "claw_code"
    assert [m.role for m in session.messages] == ["user", "assistant", "tool", "assistant"]
    assert session.messages[1].blocks == (Text("Now."), ToolCall("c1", "bash", '{"command":  "ls"'))
    assert session.messages[2].blocks == (ToolResult("c1", (Text("a b"),), is_error=True),)
    assert session.usage == (Usage(1, 13, 4, 2),)
    assert session.place(session.messages[2]) == f"{path}: messages[2]"


def test_lines_are_read_with_their_head_and_every_record_is_accounted_for(tmp_path):
    path = tmp_path / "session-1-0.jsonl"
    thought = {"type": "thinking", "thinking": "Hm.", "signature": "s"}
    listed = [*TURN, said("assistant", thought)]
    path.write_text(lines(listed, model="m", created_at_ms=1783343867153) + '{"type": "new"}\n')
    [session] = read(path)
    assert session.id == "session-1-0"
    assert session.messages[-1].blocks == (Reasoning("Hm.", signature="s"),)
    assert session.header == {"model": "m", "created_at": "2026-07-06T13:17:47.153Z"}
    assert session.place(session.messages[0]) == f"{path}: line 3"
    assert session.intake.records == 8
    assert session.intake.skipped == {"session_meta": 1, "prompt_history": 1}
    assert session.intake.unknown == {"new": 1}


def test_a_summary_is_a_compaction_before_all_that_is_left(tmp_path):
    path = tmp_path / "s.jsonl"
    path.write_text(lines([said("system", text(SUMMARY)), *TURN[2:], said("user", text("Go on."))]))
    [session] = read(path)
    [compaction] = session.compactions
    assert [m.role for m in session.messages] == ["tool", "assistant", "user"]
    assert compaction.position == 0
    assert compaction.summary == SUMMARY
    assert [m.text for m in session.view(3)] == [SUMMARY, "", "Two files.", "Go on."]
    assert session.after(0)[0].synthetic


@pytest.mark.parametrize("opened", ["session-1-0.jsonl", "session-1-0.rot-7.jsonl"])
def test_an_older_file_beside_it_tells_what_was_before_the_compaction(tmp_path, opened):
    (tmp_path / "session-1-0.rot-7.jsonl").write_text(lines(TURN))
    later = said("user", text("Go on."))
    (tmp_path / "session-1-0.jsonl").write_text(lines([said("system", text(SUMMARY)), *TURN[2:], later]))
    [session] = read(tmp_path / opened)
    [compaction] = session.compactions
    assert session.id == "session-1-0"
    assert [m.text for m in session.messages] == ["List the files.", "Now.", "", "Two files.", "Go on."]
    assert compaction.position == 4
    assert compaction.after[1:] == (2, 3)
    assert session.intake.skipped["message of an older file"] == 2
    assert session.place(session.messages[4]).endswith("session-1-0.jsonl: line 6")
    assert session.place(session.messages[0]).endswith("session-1-0.rot-7.jsonl: line 3")
    assert session.usage[0].position == 1
    assert [t.id for t in read(tmp_path)] == ["session-1-0"]


def test_older_files_are_in_the_order_of_their_times_and_may_only_go_on(tmp_path):
    (tmp_path / "s.rot-10.jsonl").write_text(lines(TURN[:3]))
    (tmp_path / "s.rot-9.jsonl").write_text(lines(TURN[:2]))
    (tmp_path / "s.jsonl").write_text(lines(TURN))
    [session] = read(tmp_path)
    assert len(session.messages) == 4
    assert session.compactions == ()


def test_a_file_of_another_session_of_that_name_is_not_mixed_in(tmp_path):
    (tmp_path / "s.rot-9.jsonl").write_text(lines([said("user", text("Other."))], session="other"))
    (tmp_path / "s.jsonl").write_text(lines(TURN))
    assert [[m.text for m in t.messages][:1] for t in read(tmp_path / "s.jsonl")] == [["List the files."]]


def test_a_fork_shares_the_cluster_of_the_session_that_it_left(tmp_path):
    path = tmp_path / "session-2-0.jsonl"
    path.write_text(lines(TURN, session="session-2-0", fork={"parent_session_id": "session-1-0"}))
    assert [t.cluster for t in read(path)] == ["session-1-0"]


@pytest.mark.parametrize(
    ("message", "kind"),
    [
        (said("robot", text("?")), "message of role robot"),
        ({"role": "user", "blocks": "text"}, "no blocks"),
        (5, "message of role unknown"),
    ],
)
def test_a_message_that_is_none_is_counted(tmp_path, message, kind):
    path = tmp_path / "a.json"
    path.write_text(json.dumps({"version": 1, "messages": [*TURN, message]}))
    assert [t.intake.unknown for t in read(path)] == [{kind: 1}]


def test_a_session_without_messages_is_an_error(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text(lines([]))
    with pytest.raises(TranscriptError, match="no messages"):
        read(path)


def test_messages_that_a_compaction_put_among_those_it_kept_belong_to_it(tmp_path):
    collapsed = text("[Collapsed Conversation]\nCollapsed 4 messages (2 user, 2 assistant).")
    listed = [said("system", text(SUMMARY)), TURN[0], said("system", collapsed), *TURN[1:]]
    path = tmp_path / "session-1.jsonl"
    path.write_text(lines(listed))
    [found] = read(path)
    assert [m.role for m in found.messages] == ["user", "assistant", "tool", "assistant"]
    [told] = found.compactions
    assert told.position == 1
    assert [entry if isinstance(entry, int) else entry.text[:10] for entry in told.after] == [
        SUMMARY[:10],
        0,
        "[Collapsed",
    ]
    assert told.summary.startswith(SUMMARY[:20])
