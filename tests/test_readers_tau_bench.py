"""tau-bench results: runs of a list, alone and one a line; what is no run; and the recorded file of 200 runs."""

import json

import pytest
from corpus_files import corpus_file

from compactlab.readers import read, sniff
from compactlab.transcript import Text, ToolCall, ToolResult

POLICY = {"role": "system", "content": "# Airline policy"}
CALLS = {
    "role": "assistant",
    "content": None,
    "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "get_user", "arguments": '{"id":"mia"}'}}],
}
TRAJECTORY = [
    POLICY,
    {"role": "user", "content": "I am mia."},
    CALLS,
    {"role": "tool", "tool_call_id": "c1", "name": "get_user", "content": "Mia Li"},
    {"role": "assistant", "content": "Hello Mia."},
    {"role": "user", "content": "###STOP###"},
]


def run(task=0, trial=0, traj=TRAJECTORY, **fields):
    info = {"source": "user", "user_cost": 0.25, "task": {"instruction": "You are mia"}, "reward_info": {"reward": 1.0}}
    return {"task_id": task, "reward": 1.0, "info": info, "traj": traj, "trial": trial} | fields


@pytest.fixture
def read_value(tmp_path):
    def reading(value, name="gpt-4o-airline.json"):
        path = tmp_path / name
        path.write_text(value if isinstance(value, str) else json.dumps(value))
        return read(path)

    return reading


def test_a_run_is_a_session_with_policy_calls_and_results(read_value):
    [session] = read_value([run(3, 1)])
    assert session.format == "tau_bench"
    assert [message.role for message in session.messages] == [wire["role"] for wire in TRAJECTORY]
    assert session.messages[0].blocks == (Text("# Airline policy"),)
    assert session.messages[2].blocks == (ToolCall("c1", "get_user", '{"id":"mia"}'),)
    assert session.messages[3].blocks == (ToolResult("c1", (Text("Mia Li"),)),)
    assert not any(message.synthetic for message in session.messages)


def test_ids_name_task_and_trial_and_trials_of_a_task_share_a_cluster(read_value):
    sessions = read_value([run(0, 0), run(1, 0), run(0, 1), run(0, 1)])
    assert [session.id.removeprefix("gpt-4o-airline/") for session in sessions] == [
        "task-0-trial-0",
        "task-1-trial-0",
        "task-0-trial-1",
        "task-0-trial-1-2",
    ]
    clusters = [session.cluster.removeprefix("gpt-4o-airline/") for session in sessions]
    assert clusters == ["task-0", "task-1", "task-0", "task-0"]


def test_the_reward_and_what_the_customer_cost_stand_in_the_header(read_value):
    [session] = read_value([run(3, 1)])
    assert session.header == {"task_id": 3, "trial": 1, "reward": 1.0, "source": "user", "user_cost": 0.25}


def test_a_message_knows_its_place_in_the_file(read_value, tmp_path):
    sessions = read_value([run(0), run(1)])
    place = sessions[1].place(sessions[1].messages[3])
    assert place == f"{tmp_path / 'gpt-4o-airline.json'}: [1].traj[3]"


@pytest.mark.parametrize(
    ("value", "place"),
    [
        (run(), "traj[1]"),
        (f"{json.dumps(run())}\n{json.dumps(run(1))}\n", "line 1: traj[1]"),
    ],
    ids=["one run alone", "one run a line"],
)
def test_runs_are_read_outside_a_list_too(read_value, value, place):
    session = read_value(value)[0]
    assert session.id == "gpt-4o-airline/task-0-trial-0"
    assert session.place(session.messages[1]).endswith(f": {place}")


def test_what_the_tools_of_a_plain_text_agent_gave_back_is_synthetic(read_value):
    traj = [
        POLICY,
        {"role": "user", "content": "I am mia."},
        {"role": "assistant", "content": 'Action:\n{"name": "get_user", "arguments": {}}'},
        {"role": "user", "content": "API output: Mia Li"},
        {"role": "assistant", "content": "Hello."},
    ]
    [session] = read_value([run(traj=traj)])
    assert [message.synthetic for message in session.messages] == [False, False, False, True, False]


def test_the_older_call_without_an_id_is_paired_by_name(read_value):
    traj = [
        POLICY,
        {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": "{}"}},
        {"role": "function", "name": "f", "content": "done"},
    ]
    [session] = read_value([run(traj=traj)])
    assert session.messages[1].calls[0].id == session.messages[2].results[0].call_id == "call_0"


def test_messages_of_unknown_roles_are_counted_and_the_others_keep_their_place(read_value):
    [session] = read_value([run(traj=[POLICY, {"role": "judge", "content": "x"}, 7, TRAJECTORY[1]])])
    assert [message.source for message in session.messages] == [0, 3]
    assert session.intake.unknown == {"message of role 'judge'": 1, "message of role None": 1}
    assert session.intake.records == 4


def test_entries_that_are_no_runs_are_counted_with_the_last(read_value):
    first, last = read_value([run(0), {"task_id": 9}, None, run(1)])
    assert first.intake.unknown == {}
    assert last.intake.unknown == {"entry without a trajectory": 2}


def test_a_bad_line_is_a_problem_of_the_last_session(read_value):
    sessions = read_value(f"{json.dumps(run(0))}\noops\n{json.dumps(run(1))}\n")
    assert [len(session.intake.problems) for session in sessions] == [0, 1]


@pytest.mark.parametrize("value", [[{"task_id": 1, "traj": "text"}], [{"traj": []}], [], {"traj": {}, "reward": 1}])
def test_what_only_looks_like_runs_is_not_taken(tmp_path, value):
    path = tmp_path / "x.json"
    path.write_text(json.dumps(value))
    with pytest.raises(ValueError, match="no reader knows this file"):
        sniff(path)


def test_the_recorded_file_holds_two_hundred_runs():
    sessions = read(corpus_file("tau-bench/gpt-4o-airline.json"))
    messages = [message for session in sessions for message in session.messages]
    assert (len(sessions), len(messages)) == (200, 5308)
    assert sum(len(message.calls) for message in messages) == sum(len(message.results) for message in messages) == 1164
    assert len({session.id for session in sessions}) == 200
    assert len({session.cluster for session in sessions}) == 50
    assert {session.messages[0].role for session in sessions} == {"system"}
