"""tau2-bench results: what the agent saw and what it did not, the layouts of the files, and the recorded file."""

import json

import pytest
from corpus_files import corpus_file

from compactlab.errors import TranscriptError
from compactlab.readers import read
from compactlab.transcript import Reasoning, Text, ToolCall, ToolResult, Usage

INFO = {
    "git_commit": "b02b509",
    "agent_info": {"implementation": "llm_agent", "llm": "gpt-4.1"},
    "user_info": {"llm": "gpt-4.1-mini"},
    "environment_info": {"domain_name": "telecom", "policy": "# Telecom policy", "tool_defs": None},
}


def call(name, call_id, requestor="assistant"):
    return {"id": call_id, "name": name, "arguments": {"a": 1}, "requestor": requestor}


def result(call_id, content="done", requestor="assistant", **fields):
    return {"id": call_id, "role": "tool", "content": content, "requestor": requestor, "error": False} | fields


def said(role, content=None, calls=None, **fields):
    return {"role": role, "content": content, "tool_calls": calls, "raw_data": {"message": {"content": "x"}}} | fields


MESSAGES = [
    said("assistant", "Hi!", usage=None, timestamp="2025-08-01T16:23:24"),
    said("user", "No data.", usage={"prompt_tokens": 9, "completion_tokens": 9}),
    said("assistant", None, [call("find", "c1")], usage={"prompt_tokens": 100, "completion_tokens": 20}),
    result("c1"),
    said("user", None, [call("toggle", "u1", "user")]),
    result("u1", "on", "user"),
    said("user", "It is on."),
]


def simulation(name="s1", messages=MESSAGES, **fields):
    ended = {"termination_reason": "user_stop", "reward_info": {"reward": 1.0}, "trial": 0, "agent_cost": 0.5}
    return {"id": name, "task_id": "[data]off", "messages": messages} | ended | fields


def results(*simulations, **fields):
    return {"timestamp": "t", "info": INFO, "tasks": [], "simulations": list(simulations)} | fields


@pytest.fixture
def read_value(tmp_path):
    def reading(value, name="run.json"):
        path = tmp_path / name
        path.write_text(value if isinstance(value, str) else json.dumps(value))
        return read(path)

    return reading


def test_the_agent_sees_its_own_calls_and_the_words_of_the_customer(read_value):
    [session] = read_value(results(simulation()))
    assert session.format == "tau2_bench"
    assert [(message.role, message.blocks) for message in session.messages] == [
        ("system", (Text("# Telecom policy"),)),
        ("assistant", (Text("Hi!"),)),
        ("user", (Text("No data."),)),
        ("assistant", (ToolCall("c1", "find", '{"a": 1}'),)),
        ("tool", (ToolResult("c1", (Text("done"),)),)),
        ("user", (Text("It is on."),)),
    ]
    assert [message.source for message in session.messages] == [0, 1, 2, 3, 4, 7]


def test_calls_and_results_of_the_customer_are_counted(read_value):
    [session] = read_value(results(simulation()))
    assert session.intake.skipped == {"user-side call": 1, "user-side result": 1}
    assert session.intake.records == len(MESSAGES)


def test_words_beside_the_customers_own_calls_are_kept(read_value):
    messages = [said("user", "I try it.", [call("a", "u1", "user"), call("b", "u2", "user")])]
    [session] = read_value(results(simulation(messages=messages)))
    assert session.messages[1].blocks == (Text("I try it."),)
    assert session.intake.skipped == {"user-side call": 2}


def test_several_results_in_one_message_are_one_message_each(read_value):
    several = [result("c2", "no", error=True), result("u1", "on", "user"), result("c1", None)]
    messages = [said("assistant", "", [call("f", "c1"), call("g", "c2")]), {"role": "tool", "tool_messages": several}]
    [session] = read_value(results(simulation(messages=messages)))
    assert [(m.role, m.blocks, m.source) for m in session.messages[2:]] == [
        ("tool", (ToolResult("c2", (Text("no"),), is_error=True),), 2),
        ("tool", (ToolResult("c1"),), 2),
    ]


def test_only_the_agents_own_tokens_count(read_value):
    [session] = read_value(results(simulation()))
    assert session.usage == (Usage(3, 100, 20),)
    assert session.messages[session.usage[0].position].calls


def test_reasoning_is_kept_and_a_call_that_a_user_asked_for_is_not_the_agents(read_value):
    message = said("assistant", "Well.", [call("x", "u9", "user")], reasoning="Hmm.")
    [session] = read_value(results(simulation(messages=[message])))
    assert session.messages[1].blocks == (Reasoning("Hmm."), Text("Well."))
    assert session.intake.skipped == {"user-side call": 1}


def test_arguments_that_were_recorded_as_text_stay_as_they_are(read_value):
    broken = {"id": "c1", "name": "f", "arguments": '{"a": 1'}
    [session] = read_value(results(simulation(messages=[said("assistant", None, [broken])])))
    assert session.messages[1].calls[0].arguments == '{"a": 1'


def test_header_title_and_cluster_tell_how_and_what_it_was(read_value):
    first, second = read_value(results(simulation("s1"), simulation("s2", trial=1)))
    assert first.title == "[data]off"
    assert first.cluster == second.cluster == "run/[data]off"
    assert [first.id, second.id] == ["run/s1", "run/s2"]
    assert (
        first.header.items()
        >= {
            "reward": 1.0,
            "termination_reason": "user_stop",
            "model": "gpt-4.1",
            "user_model": "gpt-4.1-mini",
            "domain": "telecom",
            "trial": 0,
        }.items()
    )


def test_places_name_the_simulation_and_the_message(read_value):
    session = read_value(results(simulation("s0"), simulation("s1")))[1]
    assert session.place(session.messages[0]).endswith("run.json: the policy")
    assert session.place(session.messages[1]).endswith("run.json: simulations[1].messages[0]")


def test_the_policy_of_the_simulation_itself_goes_first_and_a_recorded_prompt_before_both(read_value):
    own, prompted = read_value(
        results(simulation("a", policy="Own policy"), simulation("b", [{"role": "system", "content": "Prompt"}]))
    )
    assert own.messages[0].text == "Own policy"
    assert [message.text for message in prompted.messages] == ["Prompt"]
    assert prompted.messages[0].source == 0


@pytest.mark.parametrize(
    ("value", "ids"),
    [
        ([simulation("a"), simulation("b")], ["run/a", "run/b"]),
        (simulation("a"), ["run/a"]),
        (f"{json.dumps(simulation('a'))}\n{json.dumps(simulation('b'))}\n", ["run/a", "run/b"]),
        ({"simulations": [simulation("a")]}, ["run/a"]),
        ([{"task_id": 3, "reward_info": None, "messages": MESSAGES}], ["run/task-3-trial-None"]),
    ],
    ids=["a bare list", "one alone", "one a line", "without info", "reduced keys"],
)
def test_other_layouts_of_a_file_are_read(read_value, value, ids):
    sessions = read_value(value)
    assert [session.id for session in sessions] == ids
    assert sessions[0].messages[0].text == "Hi!"


@pytest.fixture
def folder(tmp_path):
    run = tmp_path / "voice-run"
    (run / "simulations").mkdir(parents=True)
    index = [{"id": name, "task_id": "[data]off", "trial": 0} for name in ("a", "b", "gone")]
    (run / "results.json").write_text(json.dumps({"info": INFO, "tasks": [], "simulation_index": index}))
    for name in ("a", "b"):
        (run / "simulations" / f"{name}.json").write_text(json.dumps(simulation(name)))
    return run


def test_a_folder_gives_each_simulation_once_with_the_policy(folder):
    sessions = read(folder)
    assert [session.id for session in sessions] == ["a", "b"]
    assert {session.messages[0].text for session in sessions} == {"# Telecom policy"}
    assert {session.cluster for session in sessions} == {"voice-run/[data]off"}
    assert sessions[-1].intake.problems == ("simulations/gone.json: no such file",)


def test_any_file_of_a_folder_gives_what_belongs_to_it(folder):
    whole = read(folder / "results.json")
    [alone] = read(folder / "simulations" / "b.json")
    assert [session.id for session in whole] == ["a", "b"]
    assert (alone.id, alone.cluster, alone.messages, alone.origins) == (
        whole[1].id,
        whole[1].cluster,
        whole[1].messages,
        whole[1].origins,
    )
    assert alone.place(alone.messages[0]).endswith("results.json: the policy")
    assert alone.place(alone.messages[1]).endswith("b.json: messages[0]")


def test_a_broken_file_of_a_folder_is_a_problem_and_the_others_are_read(folder):
    (folder / "simulations" / "a.json").write_text('{"id": "a"')
    [session] = read(folder / "results.json")
    assert session.id == "b"
    assert "simulations/a.json: no simulation" in session.intake.problems


def test_slices_of_voice_runs_are_counted_as_unknown(read_value):
    spoken = simulation("v", None, ticks=[{"tick_id": 0}, {"tick_id": 1}])
    both = simulation("w", ticks=[{"tick_id": 0}])
    [session] = read_value(results(spoken, both))
    assert session.id == "run/w"
    assert session.intake.unknown == {"tick": 3}
    with pytest.raises(TranscriptError, match="only ticks of voice runs"):
        read_value(results(spoken), "voice.json")


def test_sound_is_told_by_its_script_or_its_size(read_value):
    messages = [
        said("user", "UklGRg==", is_audio=True, audio_script_gold="No data."),
        said("user", "UklGRg==", is_audio=True),
    ]
    [session] = read_value(results(simulation(messages=messages)))
    assert [message.text for message in session.messages[1:]] == ["No data.", "[14 characters of data]"]


def test_what_is_no_simulation_or_of_no_known_role_is_counted(read_value):
    odd = simulation(messages=[*MESSAGES, {"role": "referee"}, "text"])
    [session] = read_value(results(odd, {"id": "x"}, 3))
    assert session.intake.unknown == {
        "message of role 'referee'": 1,
        "message of role None": 1,
        "entry that is no simulation": 2,
    }


def test_a_simulation_without_messages_is_told_with_the_last_one(read_value):
    sessions = read_value(results(simulation(), simulation("s2", messages=[]), simulation("s3")))
    assert len(sessions) == 2
    assert [p.partition(":")[0] for p in sessions[-1].intake.problems] == ["simulation run/s2"]


def test_a_context_that_was_cut_to_a_budget_is_counted(read_value):
    cut = said("assistant", "Hi", context_truncation={"messages_dropped": 3, "messages_kept": 5})
    [session] = read_value(results(simulation(messages=[cut])))
    assert session.compactions == ()
    assert session.intake.skipped == {"context cut to a budget, extent not recorded": 1}


def test_the_recorded_file_holds_forty_simulations_without_what_the_agent_never_saw():
    sessions = read(corpus_file("tau2-bench/gpt-4.1_telecom_default_gpt-4.1_1trials.json"))
    messages = [message for session in sessions for message in session.messages]
    assert (len(sessions), len(messages)) == (40, 1363)
    assert sum(len(message.calls) for message in messages) == sum(len(message.results) for message in messages) == 207
    assert sum(session.intake.skipped["user-side result"] for session in sessions) == 482
    assert {session.messages[0].role for session in sessions} == {"system"}
