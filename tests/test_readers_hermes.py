"""Hermes' store: columns of all versions, sessions that go on from each other, and compactions in place."""

import json

import pytest
from hermes_store import NEWER, OLDER, store

from compactlab.readers import read, sniff
from compactlab.transcript import Image, Reasoning, Text, ToolCall, ToolResult, Usage

SUMMARY = "[CONTEXT COMPACTION] Earlier turns in this conversation were compacted to save context space:\nThey met."
TASKS = "[Your active task list was preserved across context compression]\n- [ ] work"
CALLS = json.dumps([{"id": "c1", "type": "function", "function": {"name": "ls", "arguments": '{"all":  1}'}}])


def row(session, role, content, **more):
    return {"session_id": session, "role": role, "content": content, "timestamp": 1783343867.0} | more


def rows(session, *texts, **more):
    """Rows of a person and the agent in turns."""
    return [row(session, ("user", "assistant")[n % 2], text, **more) for n, text in enumerate(texts)]


def archived(listed):
    return [r | {"active": 0, "compacted": 1} for r in listed]


def texts(messages):
    return [m.text for m in messages]


def entries(compaction):
    return [entry if isinstance(entry, int) else entry.text[:8] for entry in compaction.after]


@pytest.mark.parametrize("tables", [OLDER, NEWER], ids=["older", "newer"])
def test_a_session_of_any_version_is_read_with_calls_and_results(tmp_path, tables):
    path = store(
        tmp_path / "state.db",
        [{"id": "s1", "source": "cli", "model": "m", "system_prompt": "Be brief.", "title": "T", "input_tokens": 9}],
        [
            row("s1", "user", "List."),
            row("s1", "assistant", None, tool_calls=CALLS, reasoning="Hm."),
            row("s1", "tool", "a b", tool_call_id="c1", tool_name="ls"),
            row("s1", "robot", "?"),
        ],
        tables,
    )
    assert sniff(path) == "hermes"
    [found] = read(path)
    assert [m.role for m in found.messages] == ["system", "user", "assistant", "tool"]
    assert found.messages[2].blocks == (Reasoning("Hm."), ToolCall("c1", "ls", '{"all":  1}'))
    assert found.messages[3].blocks == (ToolResult("c1", (Text("a b"),)),)
    assert found.messages[1].timestamp == "2026-07-06T13:17:47Z"
    assert (found.id, found.title, found.agent_type) == ("state/s1", "T", "primary")
    assert found.usage == (Usage(None, 9),)
    assert found.header == {"model": "m", "source": "cli"}
    assert found.intake.unknown == {"message of role robot": 1}
    assert found.place(found.messages[2]) == f"{path}: messages row 2"
    assert found.place(found.messages[0]) == f"{path}: system prompt of session s1"


def test_prompts_by_hash_tools_and_cached_tokens_of_newer_versions(tmp_path):
    session = {
        "id": "s1",
        "system_prompt_hash": "h1",
        "tool_names": '["ls"]',
        "input_tokens": 1,
        "cache_read_tokens": 8,
    }
    [found] = read(store(tmp_path / "state.db", [session], rows("s1", "Hi.")))
    assert texts(found.messages) == ["Be brief.", "Hi."]
    assert found.tools == ("ls",)
    assert found.usage == (Usage(None, 9, 0, 8),)


@pytest.mark.parametrize("mark", ["\0json:", "\x01json:", ""])
def test_content_of_several_parts_is_decoded(tmp_path, mark):
    parts = [{"type": "text", "text": "See."}, {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}}]
    [found] = read(store(tmp_path / "state.db", [{"id": "s1"}], [row("s1", "user", mark + json.dumps(parts))]))
    assert found.messages[0].blocks == (Text("See."), Image("image/png", url="https://example.org/a.png"))


@pytest.mark.parametrize("content", ['[{"type": "text"', '[{"type": "fruit", "text": "x"}]', "\0json:{"])
def test_content_that_only_looks_like_parts_stays_text(tmp_path, content):
    [found] = read(store(tmp_path / "state.db", [{"id": "s1"}], [row("s1", "user", content)]))
    assert texts(found.messages) == [content]


def test_results_that_are_json_stay_text(tmp_path):
    content = '[{"type": "text", "text": "x"}]'
    [found] = read(store(tmp_path / "state.db", [{"id": "s1"}], [row("s1", "tool", content, tool_call_id="c1")]))
    assert found.messages[0].results[0].text == content


def test_reasoning_of_all_columns(tmp_path):
    details = json.dumps([{"type": "reasoning.text", "text": "Hm.", "signature": "s"}])
    items = json.dumps([{"type": "reasoning", "encrypted_content": "abc", "summary": []}])
    listed = [
        row("s1", "assistant", "A", reasoning="Hm.", reasoning_details=details),
        row("s1", "assistant", "B", reasoning="So.", codex_reasoning_items=items),
    ]
    [found] = read(store(tmp_path / "state.db", [{"id": "s1"}], listed))
    assert found.messages[0].blocks[0] == Reasoning("Hm.", signature="s")
    assert found.messages[1].blocks[0] == Reasoning("So.", opaque="abc")


def test_calls_that_are_no_json_are_kept(tmp_path):
    [found] = read(store(tmp_path / "state.db", [{"id": "s1"}], [row("s1", "assistant", "", tool_calls="[{")]))
    assert found.messages[0].calls == (ToolCall("", "", "[{"),)
    assert found.intake.repaired == {"calls that are no JSON": 1}


def chain(*names, **last):
    """Sessions of which each but the last was compacted."""
    listed = [{"id": n, "parent_session_id": p, "end_reason": "compression"} for n, p in zip(names, (None, *names))]  # noqa: B905
    return [*listed[:-1], listed[-1] | {"end_reason": None} | last]


def test_sessions_that_a_compaction_parted_are_one_story(tmp_path):
    first = rows("s1", "1", "2", "3", "4", "5", "6")
    second = [*rows("s2", "1"), row("s2", "assistant", SUMMARY), *rows("s2", "5", "6"), row("s2", "user", TASKS)]
    path = store(tmp_path / "state.db", chain("s1", "s2"), [*first, *second, *rows("s2", "7", "8")])
    [found] = read(path)
    [compaction] = found.compactions
    assert texts(found.messages) == ["1", "2", "3", "4", "5", "6", "7", "8"]
    assert (compaction.position, entries(compaction)) == (6, [0, SUMMARY[:8], 4, 5, TASKS[:8]])
    assert compaction.summary == SUMMARY
    assert texts(found.view(8))[-3:] == [TASKS, "7", "8"]
    assert found.intake.skipped == {"copy of a message": 3}
    assert found.intake.records == 13


def test_a_chain_of_three_sessions_has_two_compactions(tmp_path):
    second = [row("s2", "user", SUMMARY), *rows("s2", "3", "4", "5", "6")]
    third = [row("s3", "user", f"{SUMMARY} Again."), *rows("s3", "5", "6", "7")]
    listed = [*rows("s1", "1", "2", "3", "4"), *second, *third]
    [found] = read(store(tmp_path / "state.db", chain("s1", "s2", "s3"), listed))
    assert texts(found.messages) == ["1", "2", "3", "4", "5", "6", "7"]
    assert [(c.position, entries(c)) for c in found.compactions] == [(4, [SUMMARY[:8], 2, 3]), (6, [SUMMARY[:8], 4, 5])]
    assert texts(found.before(1)) == [SUMMARY, "3", "4", "5", "6"]


def test_results_that_a_compaction_shortened_are_what_it_made(tmp_path):
    call = row("s", "assistant", "", tool_calls=CALLS)
    result = row("s", "tool", "long " * 50, tool_call_id="c1")
    first = [*rows("s1", "1", "2"), call | {"session_id": "s1"}, result | {"session_id": "s1"}, *rows("s1", "3")]
    short = result | {"session_id": "s2", "content": "[Old tool output cleared to save context space]"}
    second = [row("s2", "user", SUMMARY), call | {"session_id": "s2"}, short, *rows("s2", "3")]
    [found] = read(store(tmp_path / "state.db", chain("s1", "s2"), [*first, *second]))
    [compaction] = found.compactions
    assert len(found.messages) == 5
    assert [type(entry) for entry in compaction.after] == [type(found.messages[0]), int, type(found.messages[0]), int]
    assert found.after(0)[2].results[0].text.startswith("[Old tool")


def test_a_session_that_goes_on_with_all_that_was_there_has_no_compaction(tmp_path):
    listed = [*rows("s1", "1", "2"), *rows("s2", "1", "2", "3")]
    [found] = read(store(tmp_path / "state.db", chain("s1", "s2"), listed))
    assert texts(found.messages) == ["1", "2", "3"]
    assert found.compactions == ()


def test_a_prompt_that_was_built_anew_is_what_the_compaction_changed(tmp_path):
    first, last = chain("s1", "s2")
    sessions = [first | {"system_prompt": "Old."}, last | {"system_prompt": "New."}]
    listed = [*rows("s1", "1", "2"), row("s2", "user", SUMMARY), *rows("s2", "1", "2")[1:], *rows("s2", "3")]
    [found] = read(store(tmp_path / "state.db", sessions, listed))
    assert texts(found.messages) == ["Old.", "1", "2", "3"]
    assert [(c.position, entries(c)) for c in found.compactions] == [(3, ["New.", SUMMARY[:8], 2])]


def test_rows_that_were_archived_in_place_are_the_story_before(tmp_path):
    before = archived(rows("s1", "1", "2", "3", "4"))
    listed = [*before, *rows("s1", "1"), row("s1", "user", SUMMARY), *rows("s1", "3", "4", "5")]
    session = {"id": "s1", "system_prompt": "Be brief."}
    [found] = read(store(tmp_path / "state.db", [session], listed))
    assert texts(found.messages) == ["Be brief.", "1", "2", "3", "4", "5"]
    assert [(c.position, entries(c)) for c in found.compactions] == [(5, [0, 1, SUMMARY[:8], 3, 4])]


def test_two_compactions_in_place(tmp_path):
    before = archived(rows("s1", "1", "2", "3", "4"))
    between = archived([*rows("s1", "1"), row("s1", "user", SUMMARY), *rows("s1", "3", "4", "5", "6")])
    after = [*rows("s1", "1"), row("s1", "user", SUMMARY + "!"), *rows("s1", "5", "6", "7")]
    [found] = read(store(tmp_path / "state.db", [{"id": "s1"}], [*before, *between, *after]))
    assert texts(found.messages) == ["1", "2", "3", "4", "5", "6", "7"]
    assert [(c.position, entries(c)) for c in found.compactions] == [
        (4, [0, SUMMARY[:8], 2, 3]),
        (6, [0, SUMMARY[:8], 4, 5]),
    ]


def test_rows_that_were_rewound_are_of_another_branch(tmp_path):
    gone = [r | {"active": 0} for r in rows("s1", "x", "y")]
    [found] = read(store(tmp_path / "state.db", [{"id": "s1"}], [*rows("s1", "1", "2"), *gone, *rows("s1", "3")]))
    assert texts(found.messages) == ["1", "2", "3"]
    assert found.intake.skipped == {"message of another branch": 2}


@pytest.mark.parametrize(
    ("child", "agent_type", "cluster"),
    [
        ({"model_config": '{"_delegate_from": "s1"}'}, "subagent", "state/s1"),
        ({"source": "subagent"}, "subagent", "state/s1"),
        ({"model_config": '{"_branched_from": "s1"}'}, "primary", "state/s1"),
        ({"model_config": '{"_reset_from": "s1"}'}, "primary", "state/s2"),
    ],
)
def test_children_are_subagents_branches_or_new_conversations(tmp_path, child, agent_type, cluster):
    sessions = [{"id": "s1", "end_reason": None}, {"id": "s2", "parent_session_id": "s1"} | child]
    found = read(store(tmp_path / "state.db", sessions, [*rows("s1", "1"), *rows("s2", "2")]))
    assert [(t.id, t.agent_type, t.cluster) for t in found] == [
        ("state/s1", "primary", "state/s1"),
        ("state/s2", agent_type, cluster),
    ]


def test_of_two_continuations_the_one_that_went_on_is_the_story(tmp_path):
    sessions = [*chain("s1", "s2"), {"id": "s3", "parent_session_id": "s1", "end_reason": "closed", "ended_at": 5.0}]
    listed = [*rows("s1", "1", "2"), *rows("s3", "1", "x"), row("s2", "user", SUMMARY), *rows("s2", "3")]
    found = read(store(tmp_path / "state.db", sessions, listed))
    assert [texts(t.messages) for t in found] == [["1", "2", "3"], ["1", "x"]]
    assert [t.cluster for t in found] == ["state/s1", "state/s1"]


def test_a_circle_of_parents_ends(tmp_path):
    sessions = [
        {"id": "s1", "parent_session_id": "s2", "end_reason": "compression"},
        {"id": "s2", "parent_session_id": "s1", "end_reason": "compression"},
        {"id": "s3"},
    ]
    found = read(store(tmp_path / "state.db", sessions, [*rows("s1", "1"), *rows("s2", "2"), *rows("s3", "3")]))
    assert sorted(text for t in found for text in texts(t.messages)) == ["1", "2", "3"]


def test_messages_of_a_session_that_is_not_listed_are_read(tmp_path):
    assert [t.id for t in read(store(tmp_path / "state.db", [], rows("lost", "1")))] == ["state/lost"]


def test_the_summary_of_an_orphan_stands_before_what_is_left(tmp_path):
    listed = [*rows("s1", "1"), row("s1", "user", SUMMARY), *rows("s1", "5", "6")]
    [found] = read(store(tmp_path / "state.db", [{"id": "s1", "parent_session_id": "gone"}], listed))
    assert [(c.position, entries(c)) for c in found.compactions] == [(1, [0, SUMMARY[:8]])]
    assert texts(found.view(3)) == ["1", SUMMARY, "5", "6"]
