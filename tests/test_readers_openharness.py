"""OpenHarness snapshots: blocks, pictures, what a compaction left, and the copy of the newest session."""

import json

import pytest

from compactlab.readers import read, sniff
from compactlab.transcript import Image, Text, ToolCall, ToolResult, Usage

GIF = "R0lGODlhAQABAAAAACw="
BOUNDARY = """[Compact boundary marker]
Earlier conversation was compacted. Use the summary and preserved assets below as the continuity boundary.
Trigger: auto
Compaction kind: full
Pre-compact footprint: messages=120, tokens=98000
Post-compact footprint: messages={}, tokens=4000"""
SUMMARY = "This session is being continued from a previous conversation that ran out of context. Summary:\nTests fail."


def said(role, *blocks):
    return {"role": role, "content": [{"type": "text", "text": b} if isinstance(b, str) else b for b in blocks]}


CALL = {"type": "tool_use", "id": "t1", "name": "bash", "input": {"command": "ls", "timeout": 1.50}}
RESULT = {"type": "tool_result", "tool_use_id": "t1", "content": "a b", "is_error": True, "result_metadata": {}}
PICTURE = {"type": "image", "media_type": "image/gif", "data": GIF, "source_path": "/a.gif"}
TURN = [
    said("user", "Look.", PICTURE),
    said("assistant", "Now.", CALL),
    said("user", RESULT),
    said("assistant", "Two."),
]


def snapshot(messages, **more):
    told = {
        "session_id": "abcdef012345",
        "cwd": "/w",
        "model": "m",
        "system_prompt": "Be brief.",
        "messages": messages,
        "usage": {"input_tokens": 30, "output_tokens": 4},
        "tool_metadata": {},
        "created_at": 1783343867.0,
        "summary": "Look.",
        "message_count": len(messages),
    }
    return told | more


def session(tmp_path, messages, **more):
    path = tmp_path / "session-abcdef012345.json"
    path.write_text(json.dumps(snapshot(messages, **more), indent=2) + "\n")
    assert sniff(path) == "openharness"
    [found] = read(path)
    return found


def test_blocks_become_ours_and_the_system_prompt_comes_first(tmp_path):
    found = session(tmp_path, TURN)
    assert [m.role for m in found.messages] == ["system", "user", "assistant", "tool", "assistant"]
    picture = found.messages[1].blocks[1]
    assert isinstance(picture, Image)
    assert (picture.width, picture.media_type) == (1, "image/gif")
    assert found.messages[2].calls == (ToolCall("t1", "bash", '{"command": "ls", "timeout": 1.5}'),)
    assert found.messages[3].results == (ToolResult("t1", (Text("a b"),), is_error=True),)
    assert found.usage == (Usage(None, 30, 4),)
    assert (found.id, found.title) == ("session-abcdef012345", "Look.")
    assert found.header == {"model": "m", "created_at": "2026-07-06T13:17:47Z"}
    assert found.place(found.messages[1]).endswith("session-abcdef012345.json: messages[0]")


def test_what_a_compaction_left_is_as_long_as_its_boundary_says(tmp_path):
    kept = [said("user", "Run them."), said("assistant", "They fail.")]
    attachment = said("user", "[Compact attachment: recent_files] Recently read files\n- a.py")
    later = [said("user", "Why?"), said("assistant", "A typo.")]
    made = [said("user", BOUNDARY.format(5)), said("user", SUMMARY)]
    found = session(tmp_path, [*made, *kept, attachment, *later])
    [compaction] = found.compactions
    assert [m.text for m in found.messages] == ["Be brief.", "Run them.", "They fail.", "Why?", "A typo."]
    assert (compaction.position, compaction.trigger, compaction.summary) == (3, "auto", SUMMARY)
    assert (compaction.tokens_before, compaction.tokens_after) == (98000, 4000)
    assert [e if isinstance(e, int) else e.text[:8] for e in compaction.after] == [
        0,
        "[Compact",
        SUMMARY[:8],
        1,
        2,
        "[Compact",
    ]
    assert all(m.synthetic for m in found.after(0) if m not in found.messages)
    assert [m.text for m in found.view(5)][-3:] == [attachment["content"][0]["text"], "Why?", "A typo."]


def test_a_boundary_that_came_before_the_last_one_stays_what_a_compaction_made(tmp_path):
    older = [said("user", BOUNDARY.format(2)), said("user", SUMMARY)]
    found = session(tmp_path, [said("user", BOUNDARY.format(5)), said("user", SUMMARY), *older, said("user", "Hi.")])
    assert [m.text for m in found.messages] == ["Be brief.", "Hi."]
    assert [c.position for c in found.compactions] == [2]


@pytest.mark.parametrize(
    "made",
    [
        [said("user", "[conversation summary]\nuser: hi")],
        [
            said("user", "[Compact boundary marker]\nEarlier."),
            said("user", "Session memory summary from earlier in this conversation:\nx"),
        ],
    ],
)
def test_a_summary_without_a_count_stands_before_what_is_left(tmp_path, made):
    steps = [
        {"checkpoint": "compact_start", "trigger": "manual", "token_count": 1},
        {"checkpoint": "compact_end", "trigger": "manual", "pre_compact_tokens": 900, "post_compact_tokens": 90},
    ]
    found = session(tmp_path, [*made, *TURN], tool_metadata={"compact_checkpoints": steps})
    [compaction] = found.compactions
    assert (compaction.position, compaction.trigger) == (1, "manual")
    assert (compaction.tokens_before, compaction.tokens_after) == (900, 90)
    assert compaction.summary == made[-1]["content"][0]["text"]
    assert found.header["compactions"] == 1
    assert len(found.messages) == 5


def test_reminders_are_no_words_of_a_person(tmp_path):
    found = session(tmp_path, [said("user", "<system-reminder>x</system-reminder>"), said("user", "Hi.")])
    assert [m.synthetic for m in found.messages] == [False, True, False]


def test_the_copy_of_the_newest_session_counts_once_in_a_folder(tmp_path):
    for name in ("latest.json", "session-abcdef012345.json"):
        (tmp_path / name).write_text(json.dumps(snapshot(TURN)))
    (tmp_path / "session-0123456789ab.json").write_text(json.dumps(snapshot(TURN, session_id="0123456789ab")))
    assert [t.id for t in read(tmp_path)] == ["session-abcdef012345", "session-0123456789ab"]
    assert [t.id for t in read(tmp_path / "latest.json")] == ["session-abcdef012345"]


def test_a_copy_whose_session_has_no_file_is_read(tmp_path):
    (tmp_path / "latest.json").write_text(json.dumps(snapshot(TURN)))
    assert [t.id for t in read(tmp_path)] == ["session-abcdef012345"]


def test_snapshots_of_before_there_were_metadata_are_known(tmp_path):
    path = tmp_path / "s.json"
    told = snapshot(TURN)
    del told["tool_metadata"]
    path.write_text(json.dumps(told))
    assert sniff(path) == "openharness"


def test_an_unknown_role_is_counted(tmp_path):
    assert session(tmp_path, [*TURN, said("robot", "?"), 5]).intake.unknown == {
        "message of role robot": 1,
        "message of role unknown": 1,
    }
