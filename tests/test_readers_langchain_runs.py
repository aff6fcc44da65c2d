"""Runs that LangSmith recorded: the last run of a thread tells the story, whatever form its messages have."""

import json

import pytest

from compactlab.readers import read
from compactlab.transcript import Usage

SYSTEM = {"type": "system", "content": "Be brief."}
ASK = {"type": "human", "content": "look"}
CALL = {"type": "ai", "content": "", "tool_calls": [{"name": "ls", "args": {"p": 1}, "id": "c1"}]}
RESULT = {"type": "tool", "content": "a b", "tool_call_id": "c1"}
DONE = {"type": "ai", "content": "done"}


def dumped(wire):
    name = {"human": "HumanMessage", "ai": "AIMessage", "system": "SystemMessage", "tool": "ToolMessage"}[wire["type"]]
    return {"lc": 1, "type": "constructor", "id": ["langchain", "schema", "messages", name], "kwargs": wire}


def wrapped(wire):
    return {"type": wire["type"], "data": wire}


def of_role(wire):
    role = {"human": "user", "ai": "assistant", "system": "system", "tool": "tool"}[wire["type"]]
    calls = [
        {"id": c["id"], "type": "function", "function": {"name": c["name"], "arguments": json.dumps(c["args"])}}
        for c in wire.get("tool_calls", ())
    ]
    return {
        "role": role,
        "content": wire["content"],
        **({"tool_calls": calls} if calls else {}),
        **({"tool_call_id": wire["tool_call_id"]} if role == "tool" else {}),
    }


def model(step, given, answer, form=dumped, **keys):
    return {
        "id": f"r{step}",
        "trace_id": "trace",
        "run_type": "llm",
        "name": "ChatX",
        "dotted_order": f"2026{step:04}",
        "inputs": {"messages": [[form(wire) for wire in given]]},
        "outputs": {"generations": [[{"text": "", "message": form(answer)}]]},
        "extra": {"metadata": {"ls_model_name": "m-1"}, "invocation_params": {"tools": [{"name": "ls"}]}},
        **keys,
    }


def tool(step, output, **keys):
    about = {"id": f"r{step}", "trace_id": "trace", "run_type": "tool", "name": "ls", "dotted_order": f"2026{step:04}"}
    return about | {"inputs": {"p": 1}, "outputs": {"output": output}, **keys}


def transcripts(tmp_path, runs, *, by_line=False):
    path = tmp_path / "runs.json"
    path.write_text("".join(f"{json.dumps(r)}\n" for r in runs) if by_line else json.dumps(runs))
    return read(path)


def one(tmp_path, runs):
    [transcript] = transcripts(tmp_path, runs)
    return transcript


def roles(transcript):
    return [message.role for message in transcript.messages]


@pytest.mark.parametrize("form", [dumped, wrapped, dict, of_role])
@pytest.mark.parametrize("by_line", [False, True])
def test_the_last_run_tells_the_story_in_every_form(tmp_path, form, by_line):
    runs = [model(3, [SYSTEM, ASK, CALL, RESULT], DONE, form), model(1, [SYSTEM, ASK], CALL, form)]
    [transcript] = transcripts(tmp_path, runs, by_line=by_line)
    assert roles(transcript) == ["system", "user", "assistant", "tool", "assistant"]
    assert transcript.messages[2].calls[0].arguments == '{"p": 1}'
    assert transcript.intake.skipped == {"request that goes on with another": 1}
    assert (transcript.header["model"], transcript.tools) == ("m-1", ({"name": "ls"},))
    assert transcript.place(transcript.messages[-1]).endswith("line 1" if by_line else "run 0")


@pytest.mark.parametrize(
    "run",
    [
        {"inputs": {"messages": [of_role(ASK)]}, "outputs": {"choices": [{"message": of_role(DONE)}]}},
        {
            "inputs": {"messages": [of_role(ASK)]},
            "outputs": {"role": "assistant", "content": [{"type": "text", "text": "done"}]},
        },
        {"inputs": {"prompts": ["look"]}, "outputs": {"generations": [[{"text": "done"}]]}},
        {"inputs": {"messages": [["user", "look"]]}, "outputs": {"output": dumped(DONE)}},
        {"inputs": json.dumps({"messages": [[ASK]]}), "outputs": json.dumps({"generations": [[{"message": DONE}]]})},
    ],
)
def test_inputs_and_outputs_of_other_wrappers_are_read(tmp_path, run):
    transcript = one(tmp_path, [{"id": "r", "trace_id": "t", "run_type": "llm", **run}])
    assert [(message.role, message.text) for message in transcript.messages] == [
        ("user", "look"),
        ("assistant", "done"),
    ]


def test_the_system_prompt_beside_the_messages_leads(tmp_path):
    run = {
        "id": "r",
        "run_type": "llm",
        "inputs": {"system": "Be brief.", "messages": [of_role(ASK)]},
        "outputs": of_role(DONE),
    }
    assert roles(one(tmp_path, [run])) == ["system", "user", "assistant"]


def test_a_result_that_no_later_run_shows_comes_from_the_run_of_the_tool(tmp_path):
    transcript = one(tmp_path, [model(1, [ASK], CALL), tool(2, dumped(RESULT), end_time="2026-01-01")])
    assert roles(transcript) == ["user", "assistant", "tool"]
    assert transcript.messages[2].results[0].text == "a b"
    assert transcript.messages[2].timestamp == "2026-01-01"


def test_a_tool_that_failed_gives_its_error(tmp_path):
    transcript = one(tmp_path, [model(1, [ASK], CALL), tool(2, None, outputs=None, error="Boom")])
    [result] = transcript.messages[2].results
    assert (result.call_id, result.text, result.is_error) == ("c1", "Boom", True)


def test_tokens_are_those_of_each_run(tmp_path):
    runs = [
        model(1, [ASK], CALL, prompt_tokens=7, completion_tokens=3),
        model(2, [ASK, CALL, RESULT], {**DONE, "usage_metadata": {"input_tokens": 20, "output_tokens": 4}}),
    ]
    assert one(tmp_path, runs).usage == (Usage(1, 7, 3), Usage(3, 20, 4))


def test_threads_join_traces_and_several_threads_are_several_transcripts(tmp_path):
    about = {"extra": {"metadata": {"thread_id": "th"}}}
    runs = [
        model(1, [ASK], DONE, trace_id="x", **about),
        model(2, [ASK, DONE, {"type": "human", "content": "more"}], DONE, trace_id="y", **about),
        model(3, [{"type": "human", "content": "another"}], DONE, trace_id="z"),
    ]
    first, second = transcripts(tmp_path, runs)
    assert [first.id, second.id] == ["runs/th", "runs/z"]
    assert [len(first.messages), len(second.messages)] == [4, 2]


def test_a_run_that_lost_the_head_is_a_compaction_and_names_the_summariser(tmp_path):
    summary = {"type": "human", "content": "Here is a summary of the conversation to date:\n\nSUM"}
    runs = [
        model(1, [SYSTEM, ASK], CALL),
        model(2, [{"type": "human", "content": "Sum this up: look"}], {"type": "ai", "content": "SUM"}),
        model(3, [SYSTEM, summary, CALL, RESULT], DONE),
    ]
    main, summariser = transcripts(tmp_path, runs)
    assert roles(main) == ["system", "user", "assistant", "tool", "assistant"]
    [compaction] = main.compactions
    assert (compaction.position, compaction.summary) == (3, summary["content"])
    assert compaction.after[0] == 0
    assert compaction.after[2:] == (2,)
    assert compaction.summariser == summariser.id
    assert (main.agent_type, summariser.agent_type, summariser.cluster) == ("primary", "subagent", main.cluster)


def test_an_answer_that_was_given_twice_is_told_once(tmp_path):
    again = {"type": "ai", "content": "better"}
    runs = [model(1, [ASK], DONE), model(2, [ASK], again), model(3, [ASK, again, ASK], DONE)]
    transcript = one(tmp_path, runs)
    assert [message.text for message in transcript.messages] == ["look", "better", "look", "done"]
    assert transcript.intake.skipped["message of another branch"] == 1


def test_without_model_runs_the_last_state_of_the_graph_is_read(tmp_path):
    run = {
        "id": "r",
        "trace_id": "t",
        "run_type": "chain",
        "inputs": {"messages": [ASK]},
        "outputs": {"messages": [ASK, DONE]},
    }
    transcript = one(tmp_path, {"runs": [run]})
    assert roles(transcript) == ["user", "assistant"]
