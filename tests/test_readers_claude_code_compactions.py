"""Claude Code files: what a compaction put in the place of what, with and without a boundary."""

from functools import partial

import pytest
from claude_code_records import agent, answer, attachment, boundary, read_records, summary, text, use, user
from msgspec.structs import replace

from compactlab.transcript import Message, RecordedCompaction, Text, ToolResult

CLEARED = "[Old tool result content cleared]"
SUMMARY = "This session is being continued. Summary: all is well."


@pytest.fixture
def read_all(tmp_path):
    return partial(read_records, tmp_path)


def compacted(*, logical="a1", **metadata):
    return [
        user("u1", None, "Go"),
        agent("a1", "u1", "m1", text("Long work.")),
        boundary("b1", logical, **metadata),
        summary("u2", "b1"),
        user("u3", "u2", "On"),
        agent("a2", "u3", "m2", text("Done.")),
    ]


def shown(entries):
    """Entries of a context: indices as they are, messages by their text, or that of their results."""
    return [e if isinstance(e, int) else e.text or e.results[0].text for e in entries]


@pytest.mark.parametrize("logical", ["a1", "lost", None])
def test_the_summary_stands_in_the_context_and_not_in_the_story(read_all, logical):
    [transcript] = read_all(*compacted(logical=logical, trigger="auto", preTokens=155_003, postTokens=900))
    assert [message.text for message in transcript.messages] == ["Go", "Long work.", "On", "Done."]
    made = Message("user", (Text(SUMMARY),), source=3, synthetic=True, timestamp="2026-02-12T16:00:00.u2Z")
    assert transcript.compactions == (RecordedCompaction(2, "auto", 155_003, 900, (made,), SUMMARY),)
    assert transcript.before(0) == transcript.messages[:2]
    assert transcript.view(3) == (made, transcript.messages[2])


def test_two_compactions_of_one_file_have_each_its_place(read_all):
    [transcript] = read_all(
        *compacted(trigger="auto", preTokens=1),
        boundary("b2", "a2", trigger="manual", preTokens=2),
        summary("u4", "b2", "Later."),
        agent("a3", "u4", "m3", text("End.")),
    )
    assert [(c.position, c.trigger, c.summary) for c in transcript.compactions] == [
        (2, "auto", SUMMARY),
        (4, "manual", "Later."),
    ]
    assert shown(transcript.before(1)) == [SUMMARY, "On", "Done."]
    assert shown(transcript.view(5)) == ["Later.", "End."]


@pytest.mark.parametrize(
    ("again", "counted"),
    [
        ([summary("u9", "u2")], "repeated summary"),
        ([boundary("b9", "u2", trigger="auto", preTokens=1), summary("u9", "b9")], "compaction written twice"),
        ([boundary("b1", "a1"), summary("u2", "b1")], "repeated uuid"),
    ],
)
def test_a_summary_or_a_compaction_that_is_written_twice_counts_once(read_all, again, counted):
    records = compacted(trigger="auto", preTokens=1)
    [once] = read_all(*records)
    [twice] = read_all(*records[:4], *again, user("u3", again[-1]["uuid"], "On"))
    assert [shown(c.after) for c in twice.compactions] == [[SUMMARY]] == [shown(c.after) for c in once.compactions]
    assert twice.intake.skipped[counted] >= 1


def test_a_response_and_its_result_are_not_joined_across_a_boundary(read_all):
    [transcript] = read_all(
        user("u1", None, "Go"),
        agent("a1", "u1", "m1", use("c1")),
        boundary("b1", "a1", trigger="auto"),
        summary("u2", "b1"),
        answer("r1", "u2", "c1", "late"),
        agent("a2", "r1", "m1", text("Done.")),
    )
    assert [message.role for message in transcript.messages] == ["user", "assistant", "tool", "assistant"]
    assert transcript.compactions[0].position == 2


PRESERVED = [
    ({"preservedMessages": {"anchorUuid": "u3", "uuids": ["u2"], "allUuids": ["u2", "a2"]}}, [SUMMARY, 2, 3]),
    ({"preservedSegment": {"headUuid": "u2", "anchorUuid": "u3", "tailUuid": "a2"}}, [SUMMARY, 2, 3]),
    ({"preservedSegment": {"headUuid": "u1", "anchorUuid": "b1", "tailUuid": "a1"}}, [0, 1, SUMMARY]),
    ({"preservedSegment": {"headUuid": "lost", "anchorUuid": "u3", "tailUuid": "a2"}}, [SUMMARY]),
    ({"preservedMessages": {"uuids": "a2"}}, [SUMMARY]),
]


@pytest.mark.parametrize(("metadata", "after"), PRESERVED, ids=["listed", "segment", "prefix", "lost", "malformed"])
@pytest.mark.parametrize("parent", ["a2", "u3"])
def test_messages_that_a_compaction_preserved_stand_in_its_context_by_their_index(read_all, metadata, after, parent):
    [transcript] = read_all(
        user("u1", None, "Go"),
        agent("a1", "u1", "m1", text("Long work.")),
        user("u2", "a1", "And now?"),
        agent("a2", "u2", "m2", text("Nearly.")),
        boundary("b1", "a2", trigger="auto", **metadata),
        summary("u3", "b1"),
        user("u4", parent if after[-1] == 3 else "u3", "On"),
        agent("a3", "u4", "m3", text("Done.")),
    )
    assert [message.text for message in transcript.messages] == [
        "Go",
        "Long work.",
        "And now?",
        "Nearly.",
        "On",
        "Done.",
    ]
    assert [(c.position, shown(c.after)) for c in transcript.compactions] == [(4, after)]


def test_a_kept_message_that_was_written_late_hangs_from_the_summary_and_loses_nothing_before_it(read_all):
    """The last of what was kept came to the file behind the boundary, and the boundary names it as its parent."""
    kept = {"preservedMessages": {"anchorUuid": "u3", "uuids": ["a1", "u2", "a2"]}}
    [transcript] = read_all(
        user("u1", None, "Go"),
        agent("a1", "u1", "m1", text("Long work.")),
        user("u2", "a1", "And now?"),
        boundary("b1", "a2", trigger="auto", **kept),
        summary("u3", "b1"),
        agent("a2", "u3", "m2", text("Nearly.")),
        user("u4", "a2", "On"),
    )
    assert [message.text for message in transcript.messages] == ["Go", "Long work.", "And now?", "Nearly.", "On"]
    assert [(c.position, shown(c.after)) for c in transcript.compactions] == [(3, [SUMMARY, 1, 2])]


def test_what_was_kept_may_be_the_summary_of_an_earlier_compaction(read_all):
    kept = {"preservedMessages": {"anchorUuid": "u5", "uuids": ["u2", "a2"]}}
    [transcript] = read_all(
        *compacted(trigger="auto"),
        boundary("b2", "a2", trigger="auto", **kept),
        summary("u5", "b2", "Later."),
        agent("a3", "u5", "m3", text("End.")),
    )
    assert shown(transcript.compactions[1].after) == ["Later.", SUMMARY, 3]


def test_what_the_tool_attached_after_the_summary_belongs_to_the_new_context(read_all):
    file = {"type": "text", "file": {"filePath": "/a.py", "content": "x = 1"}}
    [transcript] = read_all(
        *compacted(trigger="auto", preservedMessages={"anchorUuid": "u2", "uuids": ["a1"]})[:4],
        attachment("t1", "u2", "file", filename="/a.py", content=file),
        attachment("t2", "t1", "invoked_skills", skills=[{"name": "s", "content": "Skill text."}]),
        user("u3", "t2", "On"),
        attachment("t3", "u3", "date_change", newDate="2026-02-13"),
        agent("a2", "t3", "m2", text("Done.")),
    )
    assert shown(transcript.compactions[0].after) == [SUMMARY, 1, "x = 1", "Skill text."]
    assert [(m.text, m.synthetic) for m in transcript.messages][2:] == [
        ("On", False),
        ("2026-02-13", True),
        ("Done.", False),
    ]


def test_a_rewind_to_before_a_compaction_leaves_it_on_the_other_branch(read_all):
    [transcript] = read_all(*compacted(trigger="auto"), user("u9", "a1", "Not like this"))
    assert [message.text for message in transcript.messages] == ["Go", "Long work.", "Not like this"]
    assert transcript.compactions == ()
    off = {"message of another branch": 3, "boundary off the live branch": 1}
    assert transcript.intake.skipped == off


RESULTS = [
    user("u1", None, "Go"),
    agent("a1", "u1", "m1", use("c1")),
    answer("r1", "a1", "c1"),
    agent("a2", "r1", "m2", use("c2")),
    answer("r2", "a2", "c2"),
]
END = agent("a3", "b1", "m3", text("Done."))


def test_a_microcompact_clears_the_results_that_it_names_and_keeps_the_rest(read_all):
    metadata = {"trigger": "auto", "preTokens": 100, "tokensSaved": 30, "compactedToolIds": ["c1"]}
    [transcript] = read_all(*RESULTS, boundary("b1", "r2", "microcompact_boundary", **metadata), END)
    cleared = replace(transcript.messages[2], blocks=(ToolResult("c1", (Text(CLEARED),)),))
    assert transcript.compactions == (RecordedCompaction(5, "microcompact", 100, 70, (0, 1, cleared, 3, 4)),)
    assert transcript.messages[2].results[0].text == "ok"
    assert transcript.view(6)[2:] == (cleared, *transcript.messages[3:])


def test_a_second_microcompact_goes_on_from_the_first(read_all):
    [transcript] = read_all(
        *RESULTS,
        boundary("b1", "r2", "microcompact_boundary", compactedToolIds=["c1"]),
        END,
        boundary("b2", "a3", "microcompact_boundary", compactedToolIds=["c2"]),
        user("u2", "b2", "On"),
    )
    assert [shown(c.after) for c in transcript.compactions] == [[0, 1, CLEARED, 3, 4], [0, 1, CLEARED, 3, CLEARED, 5]]


def test_a_microcompact_may_also_clear_what_was_attached(read_all):
    [transcript] = read_all(
        *RESULTS[:1],
        attachment("t1", "u1", "nested_memory", content={"content": "Use tabs."}),
        agent("a1", "t1", "m1", text("Yes.")),
        boundary("b1", "a1", "microcompact_boundary", clearedAttachmentUUIDs=["t1"]),
        END,
    )
    assert shown(transcript.compactions[0].after) == [0, 2]


def test_a_microcompact_heeds_its_own_metadata_and_not_those_of_the_other_kind(read_all):
    [transcript] = read_all(
        user("u1", None, "Go"),
        agent("a1", "u1", "m1", use("c1")),
        answer("r1", "a1", "c1", "long"),
        boundary("b1", "r1", "microcompact_boundary", compactedToolIds=["c1"]) | {"compactMetadata": {"trigger": "x"}},
        user("u2", "b1", "On"),
    )
    assert [(c.position, c.trigger) for c in transcript.compactions] == [(3, "microcompact")]


def test_a_microcompact_that_names_nothing_is_counted_only(read_all):
    [transcript] = read_all(*RESULTS, boundary("b1", "r2", "microcompact_boundary", preTokens=100), END)
    assert transcript.compactions == ()
    assert transcript.intake.skipped == {"microcompact_boundary without effect": 1}


def test_a_boundary_with_nothing_after_it_is_counted_only(read_all):
    [transcript] = read_all(user("u1", None, "Go"), boundary("b1", "u1", trigger="auto"))
    assert len(transcript.messages) == 1
    assert transcript.compactions == ()
    assert transcript.intake.skipped == {"boundary off the live branch": 1}


def test_a_boundary_without_a_summary_leaves_an_empty_context(read_all):
    records = compacted(trigger="auto")
    [transcript] = read_all(*records[:3], user("u3", "b1", "On"))
    assert transcript.compactions == (RecordedCompaction(2, "auto"),)
    assert shown(transcript.view(3)) == ["On"]


def test_a_summary_that_nothing_follows_is_a_compaction_at_the_end(read_all):
    [transcript] = read_all(*compacted(trigger="auto")[:4])
    assert [(c.position, shown(c.after)) for c in transcript.compactions] == [(2, [SUMMARY])]


@pytest.mark.parametrize("flagged", [True, False])
def test_an_older_file_starts_with_titles_and_a_summary_and_goes_on_without_a_boundary(read_all, flagged):
    first = "This session is being continued from a previous conversation that ran out of context. So far: all."
    opening = summary("u1", None, first) if flagged else user("u1", None, [text(first)])
    [transcript] = read_all(
        {"type": "summary", "summary": "First title", "leafUuid": "x"},
        {"type": "summary", "summary": "Second title", "leafUuid": "a2"},
        {"type": "summary", "summary": "Third title", "leafUuid": "z"},
        opening,
        agent("a1", "u1", "m1", text("Going on.")),
        summary("u2", None, "Once more."),
        agent("a2", "u2", "m2", text("And on.")),
    )
    assert transcript.title == "Second title"
    assert [message.text for message in transcript.messages] == ["Going on.", "And on."]
    assert [(c.position, c.trigger, shown(c.after)) for c in transcript.compactions] == [
        (0, "unknown", [first]),
        (1, "unknown", ["Once more."]),
    ]
    assert transcript.before(0) == ()


def test_a_sidechain_has_compactions_of_its_own(read_all):
    side = [dict(record, isSidechain=True, agentId="a7") for record in compacted(trigger="auto")]
    main, agent_of_it = read_all(user("m1", None, "Main"), agent("m2", "m1", "mm", text("Yes.")), *side)
    assert main.compactions == ()
    assert [(c.position, shown(c.after)) for c in agent_of_it.compactions] == [(2, [SUMMARY])]
