"""SWE-agent's trajectories: the history is the story, and masked observations in the prompts are compactions."""

import json

import pytest
from test_corpus import CORPUS

from compactlab.readers import read, sniff
from compactlab.transcript import Reasoning, Text, ToolResult

NEEDS_CORPUS = pytest.mark.skipif(not CORPUS.is_dir(), reason="no folder of transcripts here")


def item(role, content, kind="observation", **fields):
    return {"role": role, "content": content, "agent": "main", "message_type": kind, **fields}


def system():
    return item("system", "Solve tasks.", "system_prompt")


def call(number, command):
    given = {"name": "bash", "arguments": json.dumps({"command": command})}
    wire = {"id": f"c{number}", "type": "function", "function": given}
    return item("assistant", f"step {number}", "action", action=command, tool_calls=[wire])


def result(number, text):
    return item("tool", [{"type": "text", "text": text}], tool_call_ids=[f"c{number}"])


def history(steps):
    said = [system(), item("user", "Fix the bug.")]
    for number in range(steps):
        said += [call(number, f"cat {number}.py"), result(number, f"line a\nline b of {number}")]
    return said


def masked(said, keep):
    """What the last `n` observations leave of a history, as the harness writes it."""
    places = [place for place, held in enumerate(said) if held["message_type"] == "observation"]
    hidden = places[1 : max(0, len(places) - keep)]
    return [
        {**held, "content": "Old environment output: (2 lines omitted)"} if place in hidden else held
        for place, held in enumerate(said)
    ]


def step(number, **fields):
    return {"action": f"cat {number}.py", "response": f"step {number}", "thought": "", "state": {}, **fields}


def write(tmp_path, value, name="astropy__astropy-1.traj"):
    path = tmp_path / name
    path.write_text(json.dumps(value))
    return path


def one(tmp_path, value):
    [transcript] = read(write(tmp_path, value))
    return transcript


def run(said, steps=(), **fields):
    return {"environment": "swe_main", "trajectory": list(steps), "history": said, "info": {}, **fields}


def test_the_history_is_the_story_and_results_name_their_calls(tmp_path):
    found = one(tmp_path, run(history(2)))
    assert sniff(tmp_path / "astropy__astropy-1.traj") == "swe_agent"
    assert [m.role for m in found.messages] == ["system", "user", "assistant", "tool", "assistant", "tool"]
    assert [m.source for m in found.messages] == list(range(6))
    assert found.messages[3].results == (ToolResult("c0", (Text("line a\nline b of 0"),)),)
    assert found.messages[2].calls[0].arguments == '{"command": "cat 0.py"}'
    assert (found.id, found.agent_type) == ("astropy__astropy-1", "subagent")
    assert found.place(found.messages[3]).endswith("history[3]")


def test_arguments_stay_as_recorded_though_they_are_no_json(tmp_path):
    said = history(1)
    said[2]["tool_calls"][0]["function"]["arguments"] = '{"command": "cat'
    assert one(tmp_path, run(said)).messages[2].calls[0].arguments == '{"command": "cat'


@pytest.mark.parametrize("key", ["messages", "query"])
def test_each_step_that_masks_one_more_observation_is_a_compaction(tmp_path, key):
    said = history(5)
    ends = range(2, 12, 2)
    steps = [step(number, **{key: masked(said[:end], 2)}) for number, end in enumerate(ends)]
    found = one(tmp_path, run(said, steps))
    assert [c.position for c in found.compactions] == [8, 10]
    assert {c.trigger for c in found.compactions} == {"observation masking"}
    for end in (4, 6, 8, 10):
        shown = [block for m in found.view(end) for block in (m.text, *(r.text for r in m.results)) if block]
        told = masked(said[:end], 2)
        texts = [held["content"] if isinstance(held["content"], str) else held["content"][0]["text"] for held in told]
        assert shown == texts
    assert found.view(10)[3].results[0].call_id == "c0"
    assert found.before(1)[3].results[0].text == "Old environment output: (2 lines omitted)"
    assert found.before(1)[5].results[0].text == "line a\nline b of 1"


def test_a_mask_that_stays_is_told_once(tmp_path):
    said = history(4)
    hidden = [{**held, "content": "gone"} if place == 3 else held for place, held in enumerate(said)]
    steps = [step(number, query=hidden[:end]) for number, end in enumerate((2, 4, 6, 8))]
    found = one(tmp_path, run(said, steps))
    assert [(c.position, len(c.after)) for c in found.compactions] == [(4, 4)]
    assert found.view(8)[3].results[0].text == "gone"


def test_marks_for_the_cache_change_nothing(tmp_path):
    said = history(2)
    part = {"type": "text", "text": "Fix the bug.", "cache_control": {"type": "ephemeral"}}
    prompt = [said[0], {**said[1], "content": [part]}, *said[2:4]]
    assert one(tmp_path, run(said, [step(1, query=prompt)])).compactions == ()


def test_a_prompt_with_a_message_left_out_is_a_compaction_without_it(tmp_path):
    said = history(3)
    found = one(tmp_path, run(said, [step(2, query=[*said[:3], *said[4:6]])]))
    assert [(c.position, c.after) for c in found.compactions] == [(6, (0, 1, 2, 4, 5))]


def test_an_answer_that_was_asked_for_again_is_in_no_context_and_is_counted(tmp_path):
    said = history(2)
    wrong = {"role": "assistant", "content": "no command", "agent": "main", "message_type": "assistant"}
    error = {"role": "user", "content": "Use a command.", "agent": "main", "message_type": "user"}
    steps = [step(0, query=said[:2]), {"response": "no command", "query": said[:4]}]
    found = one(tmp_path, run(said, [*steps, step(1, query=[*said[:4], wrong, error])]))
    assert found.compactions == ()
    assert found.intake.skipped == {"answer that was asked for again": 1}


def test_reasoning_beside_a_step_belongs_to_its_answer(tmp_path):
    found = one(tmp_path, run(history(1), [step(0, reasoning_content="I should look.")]))
    assert found.messages[2].blocks[0] == Reasoning("I should look.")


def test_a_demonstration_and_observations_in_user_messages_are_no_words_of_a_person(tmp_path):
    demo = item("user", "Here is a demonstration ...", "demonstration", is_demo=True)
    said = [
        system(),
        demo,
        item("user", "The task."),
        item("assistant", "```\nls\n```", "action"),
        item("user", "a.py"),
    ]
    found = one(tmp_path, run(said))
    assert [m.text for m in found.messages if m.by_person] == ["The task."]
    assert [m.synthetic for m in found.messages] == [False, True, False, False, True]
    assert found.agent_type == "subagent"


def test_a_demonstration_step_by_step_is_synthetic_whoever_speaks_in_it(tmp_path):
    demo = [{**item("user", "Other task."), "is_demo": True}, {**item("assistant", "ls", "action"), "is_demo": True}]
    found = one(tmp_path, run([system(), *demo, item("user", "The task."), item("assistant", "pwd", "action")]))
    assert [m.synthetic for m in found.messages] == [False, True, True, False, False]


def test_the_oldest_files_name_neither_kinds_nor_agents(tmp_path):
    said = [{"role": role, "content": text} for role, text in (("system", "s"), ("user", "task"), ("assistant", "ls"))]
    old = {"environment": "swe_main", "trajectory": [{"action": "ls", "state": '{"open_file": "n/a"}'}], "info": {}}
    found = one(tmp_path, {**old, "history": [*said, {"role": "user", "content": "a.py"}]})
    assert [m.synthetic for m in found.messages] == [False, False, False, True]


def test_other_agents_in_the_history_are_sessions_of_their_own(tmp_path):
    other = [{**held, "agent": "reviewer"} for held in history(1)]
    main, side = read(write(tmp_path, run([*history(1), *other, call(1, "ls"), result(1, "x")])))
    assert (len(main.messages), main.id, main.agent_type) == (6, "astropy__astropy-1", "subagent")
    assert (len(side.messages), side.id, side.cluster) == (4, "astropy__astropy-1/reviewer", main.cluster)
    assert side.messages[0].source == 4


def test_attempts_are_sessions_and_the_best_one_is_not_read_twice(tmp_path):
    attempts = [run(history(1)), run(history(2))]
    found = read(write(tmp_path, {**run(history(2), info={"best_attempt_idx": 1}), "attempts": attempts}))
    assert [(t.id, len(t.messages)) for t in found] == [
        ("astropy__astropy-1/attempt-0", 4),
        ("astropy__astropy-1/attempt-1", 6),
    ]
    assert {t.cluster for t in found} == {"astropy__astropy-1"}
    assert found[1].place(found[1].messages[5]).endswith("attempts[1].history[5]")
    assert found[0].header["best_attempt"] == 1


def test_a_demonstration_file_holds_a_history_only(tmp_path):
    path = write(tmp_path, {"history": history(1)})
    assert sniff(path) == "swe_agent"
    assert len(read(path)[0].messages) == 4


def test_lines_of_runs_are_read_one_by_one(tmp_path):
    path = tmp_path / "runs.jsonl"
    path.write_text("".join(json.dumps(run(history(1), environment=name)) + "\n" for name in ("a", "b", "a")))
    found = read(path)
    assert [t.id for t in found] == ["runs/a", "runs/b", "runs/a-3"]
    assert found[2].place(found[2].messages[0]).endswith("line 3: history[0]")


def test_what_the_client_wrote_when_it_gave_up_is_synthetic(tmp_path):
    ended = item("assistant", "Exit due to cost limit", "action", action="", tool_calls=None)
    found = one(tmp_path, run([*history(1), ended, item("user", "Exited (autosubmitted)")]))
    assert [m.synthetic for m in found.messages[-2:]] == [True, True]


def test_totals_and_outcome_are_told(tmp_path):
    stats = {"tokens_sent": 900, "tokens_received": 50, "api_calls": 3, "instance_cost": 0.5}
    info = {"exit_status": "submitted", "submission": "diff", "model_stats": stats, "swe_agent_version": "1.1.0"}
    config = json.dumps({"agent": {"model": {"name": "claude"}}})
    found = one(tmp_path, run(history(1), info=info, replay_config=config))
    assert [(u.position, u.input, u.output) for u in found.usage] == [(None, 900, 50)]
    assert found.header["model"] == "claude"
    assert (found.header["exit_status"], found.header["version"]) == ("submitted", "1.1.0")


@pytest.mark.parametrize(
    ("broken", "unknown"),
    [([7], {"no object": 1}), ([{"role": "ghost"}], {"role 'ghost'": 1}), ([{"role": ["user"]}], {"role ['user']": 1})],
)
def test_what_is_no_message_is_counted(tmp_path, broken, unknown):
    found = one(tmp_path, run([*history(1), *broken]))
    assert (len(found.messages), found.intake.unknown) == (4, unknown)


@NEEDS_CORPUS
def test_a_real_run_is_read_whole():
    [found] = read(next(CORPUS.glob("swe-agent/*.traj")))
    recorded = json.loads(next(CORPUS.glob("swe-agent/*.traj")).read_bytes())["history"]
    assert len(found.messages) == len(recorded) == 76
    assert (sum(len(m.calls) for m in found.messages), sum(len(m.results) for m in found.messages)) == (37, 37)
    assert found.compactions == ()
