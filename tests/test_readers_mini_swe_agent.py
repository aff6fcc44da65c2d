"""mini-swe-agent's trajectories, of both formats and both kinds of API."""

import json

import pytest
from test_corpus import CORPUS

from compactlab.readers import read, sniff
from compactlab.transcript import Image, Reasoning, Text, ToolCall, ToolResult

SYSTEM = {"role": "system", "content": "You are helpful."}
TASK = {"role": "user", "content": "Fix it."}


def said(number, **fields):
    given = {"name": "bash", "arguments": json.dumps({"command": f"ls {number}"})}
    call = {"id": f"c{number}", "type": "function", "function": given}
    usage = {"prompt_tokens": 100 + number, "completion_tokens": 9, "prompt_tokens_details": {"cached_tokens": 64}}
    extra = {"response": {"usage": usage}, "timestamp": 1775816147.5 + 10 * number, "actions": [], "cost": 0.1}
    return {"role": "assistant", "content": None, "tool_calls": [call], "extra": extra, **fields}


def heard(number, **extra):
    told = {
        "raw_output": "a.py",
        "returncode": 0,
        "timestamp": 1775816148.5 + 10 * number,
        "exception_info": "",
        **extra,
    }
    return {"role": "tool", "tool_call_id": f"c{number}", "content": f"<output>{number}.py</output>", "extra": told}


def leave():
    return {"role": "exit", "content": "diff --git", "extra": {"exit_status": "Submitted", "submission": "diff --git"}}


def trajectory(messages, version="mini-swe-agent-1.1", **fields):
    config = {"model": {"model_name": "deepseek"}}
    info = {"model_stats": {"api_calls": 2, "instance_cost": 0.2}, "config": config, "exit_status": "Submitted"}
    info["mini_version"] = "2.2.7"
    return {"info": info, "messages": messages, "trajectory_format": version, "instance_id": "django-1", **fields}


def one(tmp_path, value):
    path = tmp_path / "django-1.traj.json"
    path.write_text(json.dumps(value))
    assert sniff(path) == "mini_swe_agent"
    [transcript] = read(path)
    return transcript


def test_a_run_with_tools_has_calls_results_usage_and_no_exit(tmp_path):
    found = one(tmp_path, trajectory([SYSTEM, TASK, said(0), heard(0), said(1), leave()]))
    assert [m.role for m in found.messages] == ["system", "user", "assistant", "tool", "assistant"]
    assert found.messages[2].blocks == (ToolCall("c0", "bash", '{"command": "ls 0"}'),)
    assert found.messages[3].results[0].text == "<output>0.py</output>"
    assert found.intake.skipped == {"exit": 1}
    assert [(u.position, u.input, u.output, u.cached) for u in found.usage] == [(2, 100, 9, 64), (4, 101, 9, 64)]
    assert found.messages[2].timestamp == "2026-04-10T10:15:47.500Z"
    assert (found.id, found.header["model"], found.header["exit_status"]) == ("django-1", "deepseek", "Submitted")
    assert found.agent_type == "subagent"


@pytest.mark.parametrize("extra", [{"returncode": 1}, {"exception_info": "timed out"}])
def test_a_command_that_failed_is_an_error(tmp_path, extra):
    found = one(tmp_path, trajectory([SYSTEM, TASK, said(0), heard(0, **extra)]))
    assert found.messages[3].results[0].is_error


def test_observations_of_a_text_run_are_synthetic(tmp_path):
    texts = [{"role": "assistant", "content": "```bash\nls\n```"}, {"role": "user", "content": "<output>a.py</output>"}]
    found = one(tmp_path, trajectory([SYSTEM, TASK, *texts], "mini-swe-agent-1"))
    assert [m.synthetic for m in found.messages] == [False, False, False, True]
    assert found.agent_type == "subagent"


@pytest.mark.parametrize(
    ("message", "synthetic"),
    [
        ({"content": "Interrupted by user: use rg", "extra": {"interrupt_type": "UserInterruption"}}, False),
        ({"content": "Tool call error", "extra": {"interrupt_type": "FormatError"}}, True),
        ({"content": "The user added a new task: and test it"}, False),
        ({"content": "User command: \n```bash\nls\n```"}, False),
        ({"content": "Please always provide EXACTLY ONE action"}, True),
    ],
)
def test_words_of_a_person_in_an_interactive_run_are_told_from_the_harness(tmp_path, message, synthetic):
    found = one(tmp_path, trajectory([SYSTEM, TASK, {"role": "user", **message}]))
    assert found.messages[2].synthetic is synthetic


def test_an_answer_of_a_wrong_form_is_counted(tmp_path):
    extra = {"interrupt_type": "FormatError", "response": {"choices": [], "usage": {"prompt_tokens": 3}}}
    found = one(tmp_path, trajectory([SYSTEM, TASK, {"role": "user", "content": "Wrong.", "extra": extra}]))
    assert found.intake.skipped == {"answer of a wrong form": 1}
    assert found.usage == ()


def test_responses_of_the_responses_api_are_one_message_each(tmp_path):
    output = [
        {"type": "reasoning", "summary": [{"type": "summary_text", "text": "Hm."}], "encrypted_content": "gAAA=="},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "I look."}]},
        {"type": "function_call", "call_id": "c1", "id": "fc_1", "name": "bash", "arguments": '{"command": "ls"}'},
    ]
    usage = {"input_tokens": 70, "output_tokens": 8, "output_tokens_details": {"reasoning_tokens": 5}}
    response = {"object": "response", "id": "r1", "output": output, "usage": usage, "extra": {"timestamp": 1775816147}}
    picture = {"type": "input_image", "image_url": "https://example.org/a.png"}
    answers = {"type": "function_call_output", "call_id": "c1", "output": "a.py", "extra": {"returncode": 0}}
    seen = {**answers, "output": [{"type": "input_text", "text": "b"}, picture]}
    found = one(tmp_path, trajectory([SYSTEM, TASK, response, answers, seen]))
    assert found.messages[2].blocks == (
        Reasoning("Hm.", opaque="gAAA=="),
        Text("I look."),
        ToolCall("c1", "bash", '{"command": "ls"}'),
    )
    assert found.messages[3].blocks == (ToolResult("c1", (Text("a.py"),)),)
    assert isinstance(found.messages[4].results[0].content[1], Image)
    assert [(u.position, u.input, u.output, u.reasoning) for u in found.usage] == [(2, 70, 8, 5)]


def test_listed_compactions_stand_before_the_first_younger_answer(tmp_path):
    messages = [SYSTEM, TASK, said(0), heard(0), said(1), heard(1), said(2), leave()]
    record = {"summary": "Looked around.", "compacted_until": 4, "reason": "auto", "timestamp": 1775816166.0}
    record |= {"estimated_tokens_before": 900, "estimated_tokens_after": 300}
    lost = {"summary": "?", "compacted_until": 4}
    found = one(tmp_path, trajectory(messages, compaction={"records": [record, lost]}))
    [compaction] = found.compactions
    assert (compaction.position, compaction.tokens_before, compaction.tokens_after) == (6, 900, 300)
    assert [m.text or m.role for m in found.view(6)] == ["You are helpful.", "Looked around.", "assistant", "tool"]
    assert found.after(0)[1].synthetic
    assert found.intake.unknown == {"compaction without a place": 1}


def test_runs_of_a_file_of_lines_have_ids_of_their_own(tmp_path):
    path = tmp_path / "all.jsonl"
    path.write_text("".join(json.dumps(trajectory([SYSTEM, TASK, said(0)])) + "\n" for _ in range(2)))
    assert [t.id for t in read(path)] == ["all/django-1", "all/django-1-2"]


def test_a_file_of_the_first_version_without_a_format_is_known(tmp_path):
    value = trajectory([SYSTEM, TASK])
    del value["trajectory_format"], value["info"]["mini_version"]
    assert len(one(tmp_path, value).messages) == 2


@pytest.mark.parametrize("messages", [[7, None, "x"], [{"role": 5}], {"a": 1}, [{"object": "response", "output": 3}]])
def test_wrong_types_are_counted_and_not_fatal(tmp_path, messages):
    held = [SYSTEM, *messages] if isinstance(messages, list) else messages
    path = tmp_path / "x.traj.json"
    path.write_text(json.dumps(trajectory(held)))
    if isinstance(messages, list):
        assert read(path)[0].messages[0].role == "system"
    else:
        with pytest.raises(ValueError, match="no messages"):
            read(path)


@pytest.mark.skipif(not CORPUS.is_dir(), reason="no folder of transcripts here")
def test_a_real_run_is_read_whole():
    [found] = read(next(CORPUS.glob("mini-swe-agent/*.json")))
    assert len(found.messages) == 277
    assert (sum(len(m.calls) for m in found.messages), sum(len(m.results) for m in found.messages)) == (138, 137)
    assert len(found.usage) == 138
    assert found.intake.skipped == {"exit": 1}
