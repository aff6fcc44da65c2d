"""Inspect logs: archives and documents, samples and epochs, tokens, scores, sub-agents, faults, recorded logs."""

import json

import pytest
from corpus_files import corpus_file
from inspect_logs import HEADER, MESSAGES, SPEC, archive, asked, heard, log_of, model, said, sample, system

from compactlab.errors import TranscriptError
from compactlab.readers import read, sniff
from compactlab.transcript import Text, ToolCall, Usage


@pytest.fixture
def read_log(tmp_path):
    """Read a JSON log of samples."""
    return lambda *samples, **fields: read(log_of(tmp_path / "log.json", *samples, **fields))


@pytest.mark.parametrize("zstd", [False, True], ids=["deflate", "zstd"])
def test_each_sample_and_epoch_of_an_archive_is_a_session(tmp_path, zstd):
    members = {
        "samples/15_epoch_1.json": sample(),
        "samples/15_epoch_2.json": sample(epoch=2),
        "samples/a/b_epoch_1.json": sample(name="a/b"),
        "summaries.json": [],
        "header.json": HEADER,
    }
    sessions = read(archive(tmp_path / "log.eval", members, zstd=zstd))
    assert [session.id for session in sessions] == ["log/15_epoch_1", "log/15_epoch_2", "log/a/b_epoch_1"]
    assert [session.cluster for session in sessions] == ["log/15", "log/15", "log/a/b"]
    assert {session.format for session in sessions} == {"inspect_log"}
    assert {session.header["model"] for session in sessions} == {"openai/gpt-4o"}
    assert sessions[0].place(sessions[0].messages[2]).endswith("log.eval: samples/15_epoch_1.json: messages[2]")


def test_an_archive_without_its_header_is_read_with_what_it_began_with(tmp_path):
    members = {"_journal/start.json": {"version": 2, "eval": SPEC}, "samples/15_epoch_1.json": sample()}
    [session] = read(archive(tmp_path / "log.eval", members))
    assert session.header["task"] == "ctf"
    [bare] = read(archive(tmp_path / "bare.eval", {"samples/15_epoch_1.json": sample()}))
    assert len(bare.messages) == 5


def test_a_broken_member_is_a_problem_and_the_others_are_read(tmp_path):
    members = {"samples/1_epoch_1.json": b'{"id": 1', "samples/2_epoch_1.json": sample(name=2), "header.json": HEADER}
    path = archive(tmp_path / "log.eval", members)
    [session] = read(path)
    assert session.id == "log/2_epoch_1"
    assert session.intake.problems == ("samples/1_epoch_1.json: no JSON object",)
    whole = bytearray(path.read_bytes())
    at = whole.find(b"samples/2_epoch_1.json") + 60
    whole[at : at + 4] = b"\xff\xff\xff\xff"
    path.write_bytes(whole)
    with pytest.raises(TranscriptError, match=r"samples/1_epoch_1\.json: no JSON object"):
        read(path)


def test_an_archive_without_samples_is_an_error_and_another_archive_is_not_taken(tmp_path):
    with pytest.raises(TranscriptError, match="no messages in it"):
        read(archive(tmp_path / "log.eval", {"_journal/start.json": {"version": 2, "eval": SPEC}}))
    with pytest.raises(TranscriptError, match="no reader knows this file"):
        sniff(archive(tmp_path / "x.zip", {"data/a.json": {}}))


def test_a_braces_in_the_name_of_a_member_stand_as_they_are_in_places(tmp_path):
    [session] = read(archive(tmp_path / "log.eval", {"samples/{0}_epoch_1.json": sample(name="{0}")}))
    assert session.place(session.messages[1]).endswith("samples/{0}_epoch_1.json: messages[1]")


def test_the_file_of_a_single_sample_is_read(tmp_path):
    path = tmp_path / "15_epoch_1.json"
    path.write_text(json.dumps(sample()))
    [session] = read(path)
    assert session.format == "inspect_log"
    assert session.place(session.messages[1]).endswith("15_epoch_1.json: messages[1]")


def test_tokens_and_times_come_from_the_calls(read_log):
    usage = {"input_tokens": 10, "output_tokens": 5, "total_tokens": 115, "input_tokens_cache_read": 100}
    first = model(MESSAGES[:2], MESSAGES[2], usage=usage | {"reasoning_tokens": 3}) | {"completed": "t1"}
    second = model(MESSAGES[:4], MESSAGES[4], usage={"input_tokens": 120, "output_tokens": 1, "total_tokens": 121})
    [session] = read_log(sample(events=[first, {"event": "info"}, second]))
    assert session.usage == (Usage(2, 110, 5, 100, 3), Usage(4, 120, 1))
    assert [m.timestamp for m in session.messages] == [None, None, "t1", None, "t0"]


def test_the_answer_stands_as_the_model_gave_it(read_log):
    final = [asked(), said("Working.\n\nflag", id="m1")]
    [session] = read_log(sample(final, events=[model(final[:1], said("Working.", "c9", id="m1"))]))
    assert session.messages[1].blocks == (Text("Working."), ToolCall("c9", "bash", '{"cmd": "ls"}'))


def test_scores_status_and_task_stand_in_the_header(read_log):
    scored = sample(scores={"a": {"value": 1.0}, "b": {"value": {"x": 1}}}, limit={"type": "token"})
    [session] = read_log(scored, status="error")
    assert session.title == "ctf"
    assert session.header == {
        "task": "ctf",
        "model": "openai/gpt-4o",
        "created": SPEC["created"],
        "version": "0.3.95",
        "status": "error",
        "sample": 15,
        "epoch": 1,
        "limit": "token",
        "score_a": 1.0,
    }
    [old] = read_log(sample(scores=None, score={"value": "I"}, error={"message": "died"}))
    assert (old.header["score"], old.header["error"]) == ("I", "died")


def test_a_sub_agent_that_shares_nothing_is_a_session_of_the_same_cluster(read_log):
    helper = [system("You help."), asked("Count."), said("I count.", "h1"), heard("h1", "2"), said("Two.")]
    events = [
        {"event": "span_begin", "id": "sub", "type": "agent", "name": "helper"},
        model(MESSAGES[:2], MESSAGES[2]),
        model(helper[:2], helper[2], "sub") | {"tools": [{"name": "count"}]},
        model(helper[:4], helper[4], "sub"),
        model(MESSAGES[:4], MESSAGES[4]),
    ]
    main, agent = read_log(sample(events=events))
    assert (agent.id, agent.title, agent.agent_type) == ("log/15_epoch_1/agent-0", "helper", "subagent")
    assert agent.cluster == main.cluster
    assert [m.text or m.role for m in agent.messages] == ["You help.", "Count.", "I count.", "tool", "Two."]
    assert agent.tools == ({"name": "count"},)
    assert len(main.messages) == 5


@pytest.mark.parametrize("nested", ["subtask", "tool"])
def test_calls_inside_the_events_of_older_logs_are_found(read_log, nested):
    inner = model([asked("Count.")], said("Two."))
    _, agent = read_log(sample(events=[{"event": nested, "events": [inner]}]))
    assert [m.text for m in agent.messages] == ["Count.", "Two."]


def test_events_and_attachments_of_logs_of_2024_are_found(read_log):
    events = [model([asked("tc://h1")], said("Done.", source=None), usage={"input_tokens": 9, "output_tokens": 1})]
    older = sample([asked("tc://h1"), said("Done.")], transcript={"events": events, "content": {"h1": "Long."}})
    del older["events"], older["attachments"]
    [session] = read_log(older)
    assert [m.text for m in session.messages] == ["Long.", "Done."]
    assert session.usage == (Usage(1, 9, 1),)


def test_calls_of_scorers_and_beside_the_conversation_are_counted(read_log):
    graded = model([asked("Grade this.")], said("GRADE: C"), "score")
    events = [
        {"event": "span_begin", "id": "scorers", "type": "scorers", "name": "scorers"},
        {"event": "span_begin", "id": "score", "type": None, "name": "x", "parent_id": "scorers"},
        graded,
        {"event": "step", "action": "begin", "type": "scorer", "name": "x"},
        graded | {"span_id": None},
        {"event": "step", "action": "end", "type": "scorer", "name": "x"},
        model(MESSAGES[:2], said("Refused.")),
        model(MESSAGES[:2], {}) | {"output": {"choices": []}, "error": "down"},
    ]
    [session] = read_log(sample(events=events))
    assert session.intake.skipped == {
        "model call of a scorer": 2,
        "model call beside the conversation": 1,
        "model call without an answer": 1,
    }


def test_a_sample_that_died_before_its_messages_were_kept_is_rebuilt_from_its_calls(read_log):
    events = [model(MESSAGES[:2], MESSAGES[2]), model(MESSAGES[:4], MESSAGES[4])]
    [session] = read_log(sample([], events=events))
    assert [m.role for m in session.messages] == [wire["role"] for wire in MESSAGES]


def test_unknown_roles_and_samples_that_are_no_objects_are_counted(read_log):
    [session] = read_log(sample([asked(), {"role": "critic", "content": "x"}]), "text")
    assert session.intake.unknown == {"message of role 'critic'": 1}
    assert session.intake.problems == ("samples[1]: no object",)


@pytest.mark.parametrize(
    ("name", "counts"),
    [("inspect/log.eval", (15, 332, 121, 120)), ("inspect/2025-05-12T20-27-36-04-00_browser.json", (1, 10, 4, 4))],
)
def test_the_recorded_logs_are_read(name, counts):
    sessions = read(corpus_file(name))
    messages = [message for session in sessions for message in session.messages]
    calls, results = (sum(len(getattr(message, kind)) for message in messages) for kind in ("calls", "results"))
    assert (len(sessions), len(messages), calls, results) == counts
    assert len({session.cluster for session in sessions}) == len(sessions)
    answers = sum(message.role == "assistant" for message in messages)
    assert sum(len(session.usage) for session in sessions) == answers
    assert all("attachment://" not in message.text for message in messages)
