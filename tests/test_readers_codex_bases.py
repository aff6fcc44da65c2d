"""Codex sessions whose history began in another rollout, which they name and do not copy."""

import json

import pytest
from codex_records import item, meta, record, said, user

from compactlab.readers import read
from compactlab.transcript import Usage

ONE, TWO, THREE = (f"0199aaaa-0000-7000-8000-00000000000{number}" for number in (1, 2, 3))


def write(folder, name, *records, start=0):
    """A rollout in pages: each record has its ordinal."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"rollout-{name}.jsonl"
    path.write_text("".join(json.dumps(r | {"ordinal": start + i}) + "\n" for i, r in enumerate(records)))
    return path


def paginated(name, base=None, end=None, **more):
    given = {} if base is None else {"history_base": {"thread_id": base, "end_ordinal_exclusive": end}}
    return meta(name, history_mode="paginated", source="cli", **given, **more)


def counted(tokens):
    return record("event_msg", {"type": "token_count", "info": {"last_token_usage": {"input_tokens": tokens}}})


def texts(transcript):
    return [message.text for message in transcript.messages]


def parent(folder):
    turns = (user("One"), said("assistant", "1"), counted(11), user("Two"), said("assistant", "2"))
    return write(folder, f"2026-08-01T10-{ONE}", paginated(ONE), *turns)


def test_a_fork_has_the_start_of_the_session_that_it_names_in_front(tmp_path):
    base = parent(tmp_path)
    fork = write(
        tmp_path, f"2026-08-02T10-{TWO}", paginated(TWO, ONE, 4, forked_from_id=ONE), user("Else"), counted(12)
    )
    [transcript] = read(fork)
    assert texts(transcript) == ["One", "1", "Else"]
    assert (transcript.id, transcript.cluster) == (f"rollout-2026-08-02T10-{TWO}", ONE)
    assert [transcript.place(message) for message in transcript.messages] == [
        f"{base}: line 2",
        f"{base}: line 3",
        f"{fork}: line 2",
    ]
    assert transcript.usage[0] == Usage(1, 11, 0)
    assert transcript.intake.skipped["item behind the part that was inherited"] == 2
    assert (transcript.intake.records, transcript.intake.problems) == (6, ())


def test_the_session_that_a_fork_names_is_still_one_of_its_own(tmp_path):
    parent(tmp_path)
    write(tmp_path, f"2026-08-02T10-{TWO}", paginated(TWO, ONE, 3, forked_from_id=ONE), user("Else"))
    assert [texts(found) for found in read(tmp_path)] == [["One", "1", "Two", "2"], ["One", "1", "Else"]]
    assert {found.cluster for found in read(tmp_path)} == {ONE}


def test_a_base_may_lie_in_the_folder_of_another_day_and_have_a_base_itself(tmp_path):
    sessions = tmp_path / "sessions" / "2026"
    parent(tmp_path / "archived_sessions")
    write(sessions / "08" / "02", f"2026-08-02T10-{TWO}", paginated(TWO, ONE, 3), user("B"), said("assistant", "b"))
    last = write(sessions / "08" / "03", f"2026-08-03T10-{THREE}", paginated(THREE, TWO, 2), user("C"))
    [transcript] = read(last)
    assert texts(transcript) == ["One", "1", "B", "C"]


def test_a_base_that_is_not_there_is_a_problem(tmp_path):
    [transcript] = read(write(tmp_path, f"2026-08-02T10-{TWO}", paginated(TWO, ONE, 3), user("Else")))
    assert texts(transcript) == ["Else"]
    assert transcript.intake.problems == (f"what came before, in rollout {ONE}, is not there",)


def test_a_session_behind_turns_that_were_taken_back_is_told_once_by_any_of_its_rollouts(tmp_path):
    first = parent(tmp_path)
    last = write(tmp_path, f"2026-08-02T10-{ONE}_{THREE}", paginated(ONE, ONE, 4), user("Other"), start=4)
    for path in (first, last, tmp_path):
        [transcript] = read(path)
        assert texts(transcript) == ["One", "1", "Other"]
        assert transcript.cluster == ONE


def test_the_system_prompt_of_a_fork_is_its_own(tmp_path):
    parent(tmp_path)
    prompt = {"base_instructions": {"text": "Be brief."}}
    fork = write(tmp_path, f"2026-08-02T10-{TWO}", paginated(TWO, ONE, 3, **prompt), user("Else"))
    [transcript] = read(fork)
    assert [(message.role, message.text) for message in transcript.messages][:2] == [
        ("system", "Be brief."),
        ("user", "One"),
    ]
    assert transcript.place(transcript.messages[0]) == f"{fork}: line 1"


def test_a_compaction_of_the_base_stands_in_the_fork(tmp_path):
    compacted = record("compacted", {"message": "One is 1.", "replacement_history": [user("Sum")["payload"]]})
    turns = (user("One"), said("assistant", "1"), compacted, item("message", role="user", content="Two"))
    write(tmp_path, f"2026-08-01T10-{ONE}", paginated(ONE), *turns)
    [transcript] = read(write(tmp_path, f"2026-08-02T10-{TWO}", paginated(TWO, ONE, 5), said("assistant", "2")))
    assert [compaction.position for compaction in transcript.compactions] == [2]
    assert [message.text for message in transcript.view(4)] == ["Sum", "Two", "2"]


def test_counts_beside_the_events_are_read_where_there_are_no_events(tmp_path):
    usage = {"input_tokens": 20, "cached_input_tokens": 8, "output_tokens": 5, "reasoning_output_tokens": 2}
    beside = record("token_usage_record", {"response_id": "r1", "usage": usage, "thread_token_usage": usage})
    turns = [paginated(ONE), user("One"), said("assistant", "1"), beside]
    [alone] = read(write(tmp_path, f"2026-08-01T10-{ONE}", *turns))
    assert alone.usage == (Usage(1, 20, 5, 8, 2),)
    assert (alone.intake.unknown, alone.intake.skipped["token_usage_record"]) == ({}, 1)
    [both] = read(write(tmp_path, f"2026-08-01T10-{ONE}", *turns, counted(11)))
    assert both.usage == (Usage(1, 11, 0),)


@pytest.mark.parametrize("base", [7, [], {"thread_id": 3}, {"thread_id": TWO}, {"thread_id": "../x"}])
def test_a_base_of_a_wrong_type_or_that_is_the_file_itself_is_none(tmp_path, base):
    head = meta(TWO, history_mode="paginated", history_base=base)
    [transcript] = read(write(tmp_path, f"2026-08-02T10-{TWO}", head, user("Else")))
    assert texts(transcript) == ["Else"]
