"""Claude Code files: boundaries, what a compaction preserved or cleared, and older files that have none."""

from functools import partial

import pytest
from claude_code_records import agent, answer, boundary, read_records, summary, text, use, user

from compactlab.transcript import RecordedCompaction


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


@pytest.mark.parametrize("logical", ["a1", "lost", None])
def test_history_before_a_compaction_stays_and_the_view_knows_what_was_in_context(read_all, logical):
    [transcript] = read_all(*compacted(logical=logical, trigger="auto", preTokens=155_003, postTokens=900))
    assert [message.text[:12] for message in transcript.messages] == ["Go", "Long work.", "This session", "On", "Done."]
    assert transcript.compactions == (RecordedCompaction(2, "auto", 155_003, 900),)
    assert transcript.messages[2].synthetic
    assert transcript.view(2) == ()
    assert transcript.view(4) == (2, 3)


def test_two_compactions_of_one_file_have_each_its_place(read_all):
    [transcript] = read_all(
        *compacted(trigger="auto", preTokens=1),
        boundary("b2", "a2", trigger="manual", preTokens=2),
        summary("u4", "b2"),
        agent("a3", "u4", "m3", text("End.")),
    )
    assert [(c.position, c.trigger) for c in transcript.compactions] == [(2, "auto"), (5, "manual")]
    assert transcript.view(6) == (5,)


def test_a_response_and_its_result_are_not_joined_across_a_boundary(read_all):
    [transcript] = read_all(
        user("u1", None, "Go"),
        agent("a1", "u1", "m1", use("c1")),
        boundary("b1", "a1", trigger="auto"),
        summary("u2", "b1"),
        answer("r1", "u2", "c1", "late"),
        agent("a2", "r1", "m1", text("Done.")),
    )
    assert [message.role for message in transcript.messages] == ["user", "assistant", "user", "tool", "assistant"]
    assert transcript.compactions[0].position == 2


PRESERVED = [
    {"preservedMessages": {"anchorUuid": "u3", "uuids": ["u2"], "allUuids": ["u2", "a2"]}},
    {"preservedSegment": {"headUuid": "u2", "anchorUuid": "u3", "tailUuid": "a2"}},
]


@pytest.mark.parametrize("metadata", PRESERVED, ids=["listed", "segment"])
@pytest.mark.parametrize("parent", ["a2", "u3"])
def test_messages_that_a_compaction_preserved_are_kept_in_view(read_all, metadata, parent):
    [transcript] = read_all(
        user("u1", None, "Go"),
        agent("a1", "u1", "m1", text("Long work.")),
        user("u2", "a1", "And now?"),
        agent("a2", "u2", "m2", text("Nearly.")),
        boundary("b1", "a2", trigger="auto", **metadata),
        summary("u3", "b1"),
        user("u4", parent, "On"),
        agent("a3", "u4", "m3", text("Done.")),
    )
    assert len(transcript.messages) == 7
    assert transcript.compactions == (RecordedCompaction(4, "auto", kept=(2, 3)),)
    assert transcript.view(6) == (2, 3, 4, 5)


def test_a_rewind_to_before_a_compaction_leaves_it_on_the_other_branch(read_all):
    [transcript] = read_all(*compacted(trigger="auto"), user("u9", "a1", "Not like this"))
    assert [message.text for message in transcript.messages] == ["Go", "Long work.", "Not like this"]
    assert transcript.compactions == ()
    assert transcript.skipped["message of another branch"] == 3


def test_a_microcompact_that_names_what_it_cleared_keeps_the_rest_in_view(read_all):
    records = [
        user("u1", None, "Go"),
        agent("a1", "u1", "m1", use("c1")),
        answer("r1", "a1", "c1"),
        agent("a2", "r1", "m2", use("c2")),
        answer("r2", "a2", "c2"),
    ]
    given_ids = {"trigger": "auto", "preTokens": 100, "tokensSaved": 30, "compactedToolIds": ["c1"]}
    end = agent("a3", "b1", "m3", text("Done."))
    [transcript] = read_all(*records, boundary("b1", "r2", "microcompact_boundary", **given_ids), end)
    kept = (0, 1, 3, 4)
    assert transcript.compactions == (RecordedCompaction(5, "microcompact", 100, 70, kept=kept, summarised=False),)
    assert transcript.view(5) == kept
    [unnamed] = read_all(*records, boundary("b1", "r2", "microcompact_boundary", preTokens=100), end)
    assert unnamed.compactions == ()
    assert unnamed.skipped == {"microcompact_boundary without effect": 1}
    assert unnamed.messages == transcript.messages


def test_a_boundary_with_nothing_after_it_is_counted_only(read_all):
    [transcript] = read_all(user("u1", None, "Go"), boundary("b1", "u1", trigger="auto"))
    assert len(transcript.messages) == 1
    assert transcript.compactions == ()


def test_an_older_file_starts_with_titles_and_a_summary_and_goes_on_without_a_boundary(read_all):
    [transcript] = read_all(
        {"type": "summary", "summary": "First title", "leafUuid": "x"},
        {"type": "summary", "summary": "Second title", "leafUuid": "y"},
        summary("u1", None),
        agent("a1", "u1", "m1", text("Going on.")),
        summary("u2", None, "This session is being continued once more."),
        agent("a2", "u2", "m2", text("And on.")),
    )
    assert transcript.title == "Second title"
    assert [message.synthetic for message in transcript.messages] == [True, False, True, False]
    assert transcript.compactions == (RecordedCompaction(2, "unknown"),)
