"""TapeAgents: steps of every kind and age become messages, results follow their actions, versions are told once."""

import json
import os
import sqlite3
from pathlib import Path

import pytest

from compactlab import catalog
from compactlab.readers import Source, read
from compactlab.transcript import Image, Message, Text, ToolCall, ToolResult, Usage

CORPUS = Path(os.environ.get("COMPACTLAB_CORPUS") or Path(__file__).parent.parent.parent / "shared" / "transcripts")
recorded = pytest.mark.skipif(not CORPUS.is_dir(), reason="no folder of recorded transcripts")


def step(kind, prompt="", **fields):
    about = {"id": "s", "prompt_id": prompt, "node": "act", "agent": "Solver" if prompt else "", "other": {}}
    return {"metadata": about, "kind": kind, **fields}


def tape(*steps, context=None, **about):
    known = {"id": "t1", "parent_id": None, "author": "Solver", "n_added_steps": 1, "error": None, "result": "17"}
    return {"metadata": {**known, **about}, "context": context or {"tools": []}, "steps": list(steps)}


def transcripts(tmp_path, value):
    path = tmp_path / "tape.json"
    path.write_text(value if isinstance(value, str) else json.dumps(value))
    return read(path)


def one(tmp_path, *steps, **about):
    [transcript] = transcripts(tmp_path, tape(*steps, **about))
    return transcript


def test_a_tape_is_read_whole(tmp_path):
    transcript = one(
        tmp_path,
        step("question", content="How far?", filename=None),
        step("plan_thought", "p1", plan=["look", "count"]),
        step("search_action", "p2", query="moon"),
        step("set_next_node", "p2", next_node="act"),
        step("search_results_observation", query="moon", serp=[{"title": "Moon"}]),
        step("reasoning_thought", "p3", reasoning="17 it is"),
        step("gaia_answer_action", "p3", answer="17"),
    )
    assert [(message.role, message.source) for message in transcript.messages] == [
        ("user", 0),
        ("assistant", 1),
        ("assistant", 2),
        ("tool", 4),
        ("assistant", 5),
    ]
    assert transcript.messages[1].blocks == (Text('{"plan": ["look", "count"]}'),)
    assert transcript.messages[2].blocks == (ToolCall("call_0", "search_action", '{"query": "moon"}'),)
    assert transcript.messages[3].results[0].call_id == "call_0"
    assert transcript.messages[4].blocks == (
        Text("17 it is"),
        ToolCall("call_1", "gaia_answer_action", '{"answer": "17"}'),
    )
    assert transcript.intake.skipped == {"control step": 1}
    assert (transcript.id, transcript.header["result"]) == ("tape", "17")
    assert transcript.place(transcript.messages[3]).endswith("steps[4]")


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (step("user", content="Hi"), Message("user", (Text("Hi"),), source=0)),
        (step("task", task="Do it"), Message("user", (Text("Do it"),), source=0)),
        (step("system", content="Be brief."), Message("system", (Text("Be brief."),), source=0)),
        (step("assistant", "p", content="Hello"), Message("assistant", (Text("Hello"),), source=0)),
        (
            step("assistant", "p", tool_calls=[{"id": "c", "function": {"name": "f", "arguments": '{"a":1}'}}]),
            Message("assistant", (ToolCall("c", "f", '{"a":1}'),), source=0),
        ),
        (
            step("tool", content="r", tool_call_id="c"),
            Message("tool", (ToolResult("c", (Text("r"),)),), source=0),
        ),
        (step("page_observation", text="a page"), Message("user", (Text("a page"),), source=0, synthetic=True)),
        (step("all_verbs", "p", verbs=["go"]), Message("assistant", (Text('{"verbs": ["go"]}'),), source=0)),
        (
            step("image", image_path="a.png", image_caption="a cat"),
            Message("user", (Image("image/png", url="a.png"), Text("a cat")), source=0, synthetic=True),
        ),
    ],
)
def test_each_kind_of_step_is_read(tmp_path, given, expected):
    assert one(tmp_path, given).messages == (expected,)


def test_an_observation_with_an_error_is_one(tmp_path):
    page = step("page_observation", text="a page", error="Timeout", current_page=1)
    code = step("code_execution_result", result={"exit_code": 1, "output": "Traceback"})
    messages = one(
        tmp_path, step("click_action", "p1", bid="q-a"), page, step("run_action", "p2", code="x"), code
    ).messages
    first, second = (message.results[0] for message in messages if message.results)
    assert (first.is_error, second.is_error) == (True, True)
    assert first.content == (Text("a page"), Text('{"error": "Timeout", "current_page": 1}'))
    assert second.content == (Text("Traceback"), Text('{"exit_code": 1}'))


def test_several_actions_of_one_prompt_are_answered_by_kind_and_order(tmp_path):
    def observed(kind, text):
        given = step("some_observation", text=text)
        return {**given, "metadata": {**given["metadata"], "other": {"action_kind": kind}}}

    steps = [step("click_action", "p", bid="q-a"), step("type_action", "p", text="b")]
    messages = one(tmp_path, *steps, observed("type_action", "typed"), observed("click_action", "clicked")).messages
    assert [call.name for call in messages[0].calls] == ["click_action", "type_action"]
    assert [(r.call_id, r.text) for m in messages for r in m.results] == [("call_1", "typed"), ("call_0", "clicked")]


def test_output_that_nobody_could_parse_is_told_with_its_error(tmp_path):
    messages = one(tmp_path, step("llm_output_parsing_failure_action", "p", llm_output="{", error="no JSON")).messages
    assert [(m.role, m.text, m.synthetic) for m in messages] == [("assistant", "{", False), ("user", "no JSON", True)]


def test_older_tapes_name_the_role_of_a_step(tmp_path):
    older = [
        {"role": "call", "by": "Boss", "prompt_id": "a", "content": "Plot it", "agent_name": "Coder", "task": "call"},
        {"role": "broadcast", "by": "Boss", "prompt_id": "b", "content": "Plot it", "to": ["Coder"], "from_": "Boss"},
        {"role": "execute_code", "by": "Coder", "prompt_id": "c", "task": "run", "code": [{"code": "1"}]},
        {"role": "code_execution_result", "result": {"exit_code": 0, "output": "1"}},
        {"role": "return", "by": "Coder", "prompt_id": "d", "content": "It is 1", "task": "respond"},
    ]
    messages = one(tmp_path, *older).messages
    assert [message.role for message in messages] == ["user", "assistant", "tool", "assistant"]
    assert messages[0].text == "Plot it"
    assert messages[1].calls[0].arguments == '{"code": [{"code": "1"}]}'
    assert messages[3].text == "It is 1"


def test_a_team_is_set_to_work_by_its_first_call_and_hands_on_in_silence(tmp_path):
    later = {**step("execute_code", "b", code=[{"code": "1"}]), "by": "Team/Coder", "task": "run"}
    steps = [
        step("call", "a", content="Plot it", agent_name="Coder"),
        later,
        step("code_execution_result", result={"exit_code": 0, "output": "1"}),
        step("call", "c", content="", agent_name="Checker"),
        step("call", "d", content="Is it 1?", agent_name="Checker"),
        step("respond", "e", content="", copy_output=True),
        step("present_results", "f", content="It is 1."),
    ]
    transcript = one(tmp_path, *steps)
    assert [(m.role, m.text) for m in transcript.messages if m.text] == [
        ("user", "Plot it"),
        ("assistant", "Is it 1?"),
        ("assistant", "It is 1."),
    ]
    assert transcript.messages[1].calls[0].arguments == '{"code": [{"code": "1"}]}'
    assert (len(transcript.messages), transcript.intake.skipped) == (5, {"control step": 2})


def test_a_context_of_words_leads(tmp_path):
    transcript = one(tmp_path, step("user", content="Hi"), context="A text.")
    assert transcript.messages[0] == Message("user", (Text("A text."),), source=0, synthetic=True)
    assert transcript.place(transcript.messages[0]).endswith("context")
    assert transcript.place(transcript.messages[1]).endswith("steps[0]")


STEPS = [step("user", content="Hi"), step("assistant", "p1", content="Hello"), step("user", content="Bye")]


@pytest.mark.parametrize("by_line", [False, True])
def test_a_tape_that_another_goes_on_with_is_told_once(tmp_path, by_line):
    tapes = [tape(*STEPS[:2], id="q-a"), tape(*STEPS, id="q-b", parent_id="q-a"), tape(STEPS[0], id="q-c")]
    value = "".join(f"{json.dumps(each)}\n" for each in tapes) if by_line else tapes
    whole, other = transcripts(tmp_path, value)
    assert [whole.id, other.id] == ["tape/q-b", "tape/q-c"]
    assert [len(whole.messages), len(other.messages)] == [3, 1]
    assert other.intake.skipped == {"tape that another one goes on with": 1}


def database(path, *tapes):
    with sqlite3.connect(path) as connection:
        connection.execute(
            "CREATE TABLE Tapes (tape_id TEXT, timestamp TEXT, length INTEGER, metadata TEXT, context TEXT, steps TEXT)"
        )
        connection.execute(
            "CREATE TABLE LLMCalls (prompt_id TEXT, timestamp TEXT, prompt TEXT, output TEXT,"
            " prompt_length_tokens INTEGER, output_length_tokens INTEGER, cached INTEGER)"
        )
        for each in tapes:
            texts = [json.dumps(each[name]) for name in ("metadata", "context", "steps")]
            connection.execute("INSERT INTO Tapes VALUES (?, 'now', 1, ?, ?, ?)", (each["metadata"]["id"], *texts))
        connection.execute("INSERT INTO LLMCalls VALUES ('p1', 'now', '{}', '{}', 90, 7, 0)")
    connection.close()


def test_a_database_gives_its_tapes_with_their_tokens(tmp_path):
    path = tmp_path / "tapedata.sqlite"
    database(path, tape(*STEPS, id="q-a"), tape(STEPS[0], id="q-b"))
    first, second = read(path)
    assert [first.id, second.id] == ["tapedata/q-a", "tapedata/q-b"]
    assert first.usage == (Usage(1, 90, 7),)
    assert first.place(first.messages[1]).endswith("tape q-a: steps[1]")


def test_a_folder_gives_each_tape_once_and_a_file_takes_its_tokens_from_the_database(tmp_path):
    (tmp_path / "tapes").mkdir()
    (tmp_path / "tapes" / "one.json").write_text(json.dumps(tape(*STEPS, id="q-a")))
    (tmp_path / "tapes" / "two.json").write_text(json.dumps(tape(*STEPS, id="q-z")))
    database(tmp_path / "tapedata.sqlite", tape(*STEPS, id="q-a"))
    assert [transcript.id for transcript in read(tmp_path)] == ["tapedata/q-a", "two"]
    [alone] = read(tmp_path / "tapes" / "one.json")
    assert alone.usage == (Usage(1, 90, 7),)


@pytest.mark.parametrize(
    "value",
    [
        {},
        {"steps": [], "metadata": {}},
        {"steps": [{"kind": "x"}], "metadata": {}},
        {"steps": [3], "metadata": {"author": ""}, "context": 1},
    ],
)
def test_what_is_no_tape_is_not_taken(tmp_path, value):
    path = tmp_path / "x.json"
    path.write_text(json.dumps(value))
    assert catalog.load("readers", "tapeagents").sniff(Source(path)) == 0


@recorded
def test_a_recorded_tape_is_read_whole():
    [transcript] = read(CORPUS / "tapeagents" / "workarena-task5-create-incident.tape.json")
    calls = [call for message in transcript.messages for call in message.calls]
    results = [result for message in transcript.messages for result in message.results]
    assert (len(transcript.messages), len(calls), len(results)) == (60, 19, 19)
    assert [call.id for call in calls] == [result.call_id for result in results]
    assert transcript.intake.records == 79
