"""Runs in the ways in which LangSmith's client sends them and scripts export them: trees, halves, named lists."""

import json

import pytest

from compactlab.readers import read, sniff
from compactlab.transcript import Usage

ASK = {"type": "human", "content": "Look."}
CALL = {"type": "ai", "content": "", "tool_calls": [{"name": "ls", "args": {"p": 1}, "id": "c1"}]}
RESULT = {"type": "tool", "content": "a b", "tool_call_id": "c1", "name": "ls"}
DONE = {"type": "ai", "content": "Done."}
STORY = [("user", "Look."), ("assistant", ""), ("tool", "a b"), ("assistant", "Done.")]


def run(name, kind, said, *, step, children=()):
    about = {"id": name, "name": name, "run_type": kind, "start_time": f"2026-01-01T00:00:0{step}Z"}
    return {**about, "inputs": said[0], "outputs": said[1], "child_runs": list(children)}


def answer(wire):
    return {"generations": [[{"text": wire["content"], "message": wire}]]}


MODELS = [
    run("l1", "llm", ({"messages": [[ASK]]}, answer(CALL)), step=1),
    run("t1", "tool", ({"input": "{'p': 1}"}, {"output": RESULT}), step=2),
    run("l2", "llm", ({"messages": [[ASK, CALL, RESULT]]}, answer(DONE)), step=3),
]
NODE = run("n1", "chain", ({}, {}), step=1, children=MODELS[:1])
TREE = run("r1", "chain", ({"messages": [ASK]}, {"messages": [DONE]}), step=0, children=[NODE, *MODELS[1:]])


def heard(transcript):
    return [(m.role, m.text or "".join(r.text for r in m.results)) for m in transcript.messages]


def told(tmp_path, value, name="runs.json"):
    path = tmp_path / name
    path.write_text(value if isinstance(value, str) else json.dumps(value))
    assert sniff(path) == "langchain"
    return read(path)


@pytest.mark.parametrize(
    "value",
    [TREE, [TREE], {"export_metadata": {"total_traces": 1}, "traces": [TREE]}, {"rule_id": "x", "runs": [TREE]}],
    ids=["tree", "list", "traces", "runs"],
)
def test_runs_inside_others_tell_the_story_of_the_outermost(tmp_path, value):
    [found] = told(tmp_path, value)
    assert heard(found) == STORY
    assert found.intake.records == 5


def test_two_trees_are_two_conversations(tmp_path):
    other = run("l9", "llm", ({"messages": [[ASK]]}, answer(DONE)), step=1)
    found = told(tmp_path, {"traces": [TREE, run("r2", "chain", ({}, {}), step=0, children=[other])]})
    assert [(each.id, len(each.messages)) for each in found] == [("runs/r1", 4), ("runs/r2", 2)]


ORDER = {"trace_id": "a", "dotted_order": "20260101T000000000000Za"}
ASKED = {"inputs": {"model": "m-1", "messages": [{"role": "user", "content": "Hi."}]}}
BEGUN = {"id": "a", "name": "chat", "run_type": "llm", "start_time": 1_767_225_600_000, **ASKED, **ORDER}
ENDED = {
    "end_time": 1_767_225_601_000,
    "outputs": {
        "choices": [{"message": {"role": "assistant", "content": "Hello."}}],
        "usage_metadata": {"input_tokens": 4, "output_tokens": 2},
    },
    **ASKED,
    **ORDER,
}
HALVES = {
    "one body": json.dumps({"post": [BEGUN], "patch": [ENDED]}),
    "lines of halves": f"{json.dumps(BEGUN)}\n{json.dumps(ENDED | {'id': 'a', 'inputs': None})}\n",
    "lines of bodies": f"{json.dumps({'post': [BEGUN]})}\n{json.dumps({'patch': [ENDED]})}\n",
}


@pytest.mark.parametrize("value", HALVES.values(), ids=HALVES)
def test_the_beginning_and_the_end_of_a_run_go_together(tmp_path, value):
    [found] = told(tmp_path, value)
    assert heard(found) == [("user", "Hi."), ("assistant", "Hello.")]
    assert found.usage == (Usage(1, 4, 2),)
    assert not found.intake.unknown
