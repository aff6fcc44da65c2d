"""Claude Code files: the tree and its live branch, split responses, parallel calls, sidechains, faults of the file."""

import itertools
import json
import random
from functools import partial

import pytest
from claude_code_records import (
    SESSION,
    agent,
    answer,
    attachment,
    boundary,
    call,
    read_records,
    record,
    result,
    summary,
    text,
    use,
    user,
)
from hypothesis import given
from hypothesis import strategies as st

from compactlab.errors import TranscriptError
from compactlab.history import pair
from compactlab.readers import read
from compactlab.transcript import Intake, Message, Reasoning, Text


@pytest.fixture
def read_all(tmp_path):
    return partial(read_records, tmp_path)


def shown(transcript):
    return [(message.role, message.blocks) for message in transcript.messages]


@pytest.mark.parametrize(
    ("entry", "kind"),
    [
        ({"type": "cost-state", "totalCostUSD": 1.9}, "cost-state"),
        ({"type": "continued-in", "continuedInSessionId": "s2"}, "continued-in"),
        (attachment("x1", "a1", "goal_status", met=False, condition="Ship it"), "attachment goal_status"),
    ],
)
def test_bookkeeping_is_known_and_no_part_of_the_context(read_all, entry, kind):
    [transcript] = read_all(user("u1", None, "Go"), agent("a1", "u1", "m1", text("Done.")), entry)
    assert len(transcript.messages) == 2
    assert (transcript.intake.skipped, transcript.intake.unknown) == ({kind: 1}, {})


def test_a_plain_session_is_read_with_sources_times_and_what_was_left_out(read_all):
    [transcript] = read_all(
        {"type": "summary", "summary": "Old title", "leafUuid": "x"},
        {"type": "file-history-snapshot", "messageId": "m", "snapshot": {}},
        user("u1", None, "List the files."),
        agent("a1", "u1", "m1", text("Two files.")),
        record("system", "s1", "a1", subtype="turn_duration", durationMs=5),
        {"type": "custom-title", "customTitle": "Files", "sessionId": SESSION},
    )
    assert transcript.messages == (
        Message("user", (Text("List the files."),), source=2, timestamp="2026-02-12T16:00:00.u1Z"),
        Message("assistant", (Text("Two files."),), source=3, timestamp="2026-02-12T16:00:00.a1Z"),
    )
    assert (transcript.id, transcript.cluster, transcript.agent_type) == (SESSION, SESSION, "primary")
    assert transcript.title == "Files"
    assert transcript.header == {"version": "2.1.39", "model": "claude-x"}
    left_out = {"summary": 1, "file-history-snapshot": 1, "system turn_duration": 1, "custom-title": 1}
    assert transcript.intake == Intake(records=6, skipped=left_out)
    assert transcript.place(transcript.messages[0]).endswith("session.jsonl: line 3")


def test_pieces_of_a_response_are_one_message_even_when_a_result_lies_between(read_all):
    [transcript] = read_all(
        user("u1", None, "Go"),
        agent("a1", "u1", "m1", {"type": "thinking", "thinking": "hm", "signature": "s"}),
        agent("a2", "a1", "m1", text("Both.")),
        agent("a3", "a2", "m1", use("c1")),
        answer("r1", "a3", "c1", "one"),
        agent("a4", "r1", "m1", use("c2")),
        answer("r2", "a4", "c2", "two"),
        agent("a5", "r2", "m2", text("Done.")),
    )
    assert shown(transcript)[1:] == [
        ("assistant", (Reasoning("hm", signature="s"), Text("Both."), call("c1"), call("c2"))),
        ("tool", (result("c1", "one"),)),
        ("tool", (result("c2", "two"),)),
        ("assistant", (Text("Done."),)),
    ]
    assert [message.source for message in transcript.messages] == [0, 1, 4, 6, 7]


def test_parallel_calls_fork_the_tree_and_all_their_results_follow(read_all):
    [transcript] = read_all(
        user("u1", None, "Go"),
        agent("a1", "u1", "m1", use("c1")),
        agent("a2", "a1", "m1", use("c2")),
        agent("a3", "a2", "m1", use("c3")),
        answer("r3", "a3", "c3", "three"),
        answer("r1", "a1", "c1", "one"),
        record("progress", "p1", "a2", data={"type": "bash_progress"}),
        answer("r2", "a2", "c2", "two"),
        agent("a4", "r3", "m2", text("Done.")),
    )
    assert shown(transcript)[1:] == [
        ("assistant", (call("c1"), call("c2"), call("c3"))),
        ("tool", (result("c3", "three"),)),
        ("tool", (result("c1", "one"),)),
        ("tool", (result("c2", "two"),)),
        ("assistant", (Text("Done."),)),
    ]
    assert "message of another branch" not in transcript.intake.skipped


def test_records_that_are_no_messages_are_passed_through_in_the_chain(read_all):
    [transcript] = read_all(
        record("progress", "p0", None, data={"type": "hook_progress"}),
        user("u1", "p0", "Go"),
        attachment("t1", "u1", "command_permissions", allowedTools=[]),
        record("brand-new", "n1", "t1"),
        agent("a1", "n1", "m1", use("c1")),
        record("progress", "p1", "a1", data={"type": "bash_progress"}),
        answer("r1", "p1", "c1"),
        agent("a2", "r1", "m2", text("Done.")),
    )
    assert [message.role for message in transcript.messages] == ["user", "assistant", "tool", "assistant"]
    assert transcript.intake.skipped == {"progress": 2, "attachment command_permissions": 1}
    assert transcript.intake.unknown == {"brand-new": 1}


def test_the_live_branch_ends_at_the_last_message_and_a_rewind_is_counted(read_all):
    [transcript] = read_all(
        user("u1", None, "Go"),
        agent("a1", "u1", "m1", text("Which way?")),
        user("u2", "a1", "Left"),
        agent("a2", "u2", "m2", text("Left it is.")),
        user("u3", "a1", "No, right"),
        agent("a3", "u3", "m3", text("Right it is.")),
        record("system", "s1", "a2", subtype="stop_hook_summary"),
    )
    assert [message.text for message in transcript.messages] == ["Go", "Which way?", "No, right", "Right it is."]
    assert transcript.intake.skipped["message of another branch"] == 2


def test_a_link_that_leads_nowhere_goes_on_at_the_record_before(read_all):
    [transcript] = read_all(
        user("u1", "lost", "Go"), agent("a1", "also-lost", "m1", text("Yes.")), user("u2", "a1", "Good")
    )
    assert [message.text for message in transcript.messages] == ["Go", "Yes.", "Good"]


def test_a_circle_of_links_ends(read_all):
    [transcript] = read_all(user("u1", "a1", "Go"), agent("a1", "u1", "m1", text("Yes.")), user("u2", "u2", "Self"))
    assert transcript.messages[-1].text == "Self"


def test_a_repeated_uuid_counts_once_and_a_fork_shares_the_cluster_of_its_origin(tmp_path):
    first = [user("u1", None, "Go"), agent("a1", "u1", "m1", text("Yes."))]
    fork = [*first, first[1], user("u2", "a1", "On", sessionId="22222222-bbbb")]
    for name, records in (("one", first), ("two", fork)):
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(r) + "\n" for r in records))
    original, forked = read(tmp_path)
    assert [message.text for message in forked.messages] == ["Go", "Yes.", "On"]
    assert forked.intake.skipped == {"repeated uuid": 1}
    assert (original.id, forked.id) == (SESSION, "22222222-bbbb")
    assert original.cluster == forked.cluster == SESSION


def test_a_call_without_a_result_and_a_result_without_a_call_stay(read_all):
    [transcript] = read_all(
        answer("r0", None, "c0", "orphan"), user("u1", "r0", "Go"), agent("a1", "u1", "m1", use("c1"), use("c2"))
    )
    pairing = pair(transcript.messages)
    assert (len(pairing.open_calls), len(pairing.orphans)) == (2, 1)


def test_sidechains_in_the_file_of_their_session_are_transcripts_of_their_own(read_all):
    main, one, two = read_all(
        user("u1", None, "Go"),
        agent("a1", "u1", "m1", use("t1"), use("t2")),
        user("s1aaaaaaaa", None, "Look left", isSidechain=True),
        user("s2aaaaaaaa", None, "Look right", isSidechain=True),
        agent("s3", "s1aaaaaaaa", "m2", text("Left is free."), isSidechain=True),
        agent("s4", "s2aaaaaaaa", "m3", text("Right is free."), isSidechain=True),
        answer("r1", "a1", "t1"),
        answer("r2", "a1", "t2"),
        agent("a2", "r2", "m4", text("Both free.")),
    )
    assert [message.text for message in main.messages if message.text] == ["Go", "Both free."]
    assert [message.text for message in one.messages] == ["Look left", "Left is free."]
    assert [message.text for message in two.messages] == ["Look right", "Right is free."]
    assert (one.id, two.id) == (f"{SESSION}-side-s1aaaaaa", f"{SESSION}-side-s2aaaaaa")
    assert (main.agent_type, one.agent_type, two.agent_type) == ("primary", "subagent", "subagent")
    assert main.cluster == one.cluster == two.cluster == SESSION


@pytest.mark.parametrize(("agent_id", "agent_type"), [("a2898e3", "subagent"), ("acompact-e1f845", "subconscious")])
def test_a_sidechain_in_its_own_file_belongs_to_its_session(read_all, agent_id, agent_type):
    side = {"isSidechain": True, "agentId": agent_id}
    [transcript] = read_all(
        user("s1", "not-here", "<system-reminder>x</system-reminder>", isMeta=True, **side),
        user("s2", "not-here-either", "Look left", **side),
        agent("s3", "s2", "m2", text("Left is free."), **side),
    )
    assert (transcript.id, transcript.agent_type, transcript.cluster) == (
        f"{SESSION}-agent-{agent_id}",
        agent_type,
        SESSION,
    )
    assert [message.text for message in transcript.messages][1:] == ["Look left", "Left is free."]


def test_a_cut_line_at_the_end_and_a_bad_one_inside_do_no_harm(tmp_path):
    whole = [json.dumps(user("u1", None, "Go")), "{oops", json.dumps(agent("a1", "u1", "m1", text("Yes\u2028.")))]
    (tmp_path / "x.jsonl").write_text("\n".join([*whole, whole[0][:50]]))
    [transcript] = read(tmp_path / "x.jsonl")
    assert [message.text for message in transcript.messages] == ["Go", "Yes\u2028."]
    assert transcript.intake.problems[0].startswith("line 2: not JSON")
    assert transcript.intake.skipped == {"last line cut off": 1}


def test_records_without_messages_are_no_transcript(tmp_path):
    (tmp_path / "x.jsonl").write_text(json.dumps(record("system", "s1", None, subtype="session_start")) + "\n")
    with pytest.raises(TranscriptError, match=r"x.jsonl: no messages in it"):
        read(tmp_path / "x.jsonl")


def test_leading_records_longer_than_the_sample_are_no_hindrance(read_all):
    long = {"type": "file-history-snapshot", "messageId": "m", "snapshot": {"text": "x" * 200_000}}
    [transcript] = read_all(long, user("u1", None, "Go"))
    assert transcript.messages[0].text == "Go"


def session(seed):
    """A session of parallel, split and interleaved responses, and the calls and words that stand in it."""
    draw, fresh = random.Random(seed), itertools.count()
    records, said, tip = [user("u", None, "Go")], ["Go"], "u"
    for turn in range(draw.randint(1, 6)):
        calls = [f"c{next(fresh)}" for _ in range(draw.randint(0, 3))]
        pieces = [text(f"words {turn}"), *(use(c) for c in calls)]
        said.append(f"words {turn}")
        home = {}
        for piece in pieces:
            uuid = f"a{next(fresh)}"
            records.append(agent(uuid, tip, f"m{turn}", piece))
            home[piece.get("id")] = tip = uuid
        draw.shuffle(calls)
        for call_id in calls:
            records.append(answer(f"r{next(fresh)}", home[call_id], call_id, f"out {call_id}"))
            tip = records[-1]["uuid"] if draw.random() < 0.7 else tip
        if draw.random() < 0.3:
            records.append(boundary(f"b{turn}", draw.choice([tip, "lost"]), trigger="auto"))
            records.append(summary(f"z{turn}", f"b{turn}", f"summary {turn}"))
            tip = f"z{turn}"
    return records, said


@given(st.integers(0, 10_000))
def test_whatever_the_order_no_word_call_or_result_is_lost_or_doubled(tmp_path_factory, seed):
    records, said = session(seed)
    file = tmp_path_factory.getbasetemp() / "drawn.jsonl"
    file.write_text("".join(json.dumps(r) + "\n" for r in records))
    [transcript] = read(file)
    ids = [
        block["id"] for r in records if r["type"] == "assistant" for block in r["message"]["content"] if "id" in block
    ]
    assert [message.text for message in transcript.messages if message.text] == said
    assert sorted(c.id for m in transcript.messages for c in m.calls) == sorted(ids)
    assert sorted(r.call_id for m in transcript.messages for r in m.results) == sorted(ids)
    assert not pair(transcript.messages).orphans
    summaries = [r["message"]["content"] for r in records if r.get("isCompactSummary")]
    assert [compaction.summary for compaction in transcript.compactions] == summaries
    for place, compaction in enumerate(transcript.compactions):
        assert [message.text for message in transcript.after(place)] == [compaction.summary]
