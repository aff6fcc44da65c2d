"""What the producers of ATIF mark in their own words: compactions, and steps of sub-agents among the agent's own."""

import json

import pytest
from test_readers_atif import agent_step, trajectory, user

from compactlab.readers import read, stream
from compactlab.transcript import Message, Text

SYSTEM = {"source": "system", "message": "Be brief."}
CONTINUED = "This session is being continued from a previous conversation that ran out of context. It was about words."


@pytest.fixture
def read_steps(tmp_path):
    def reading(*steps, **fields):
        path = tmp_path / "trajectory.json"
        path.write_text(json.dumps(trajectory(*steps, **fields)))
        return read(path)

    return reading


def summary(text):
    return Message("user", (Text(text),), synthetic=True)


def says(text, **extra):
    return {"source": "system", "message": text} | ({"extra": extra} if extra else {})


@pytest.mark.parametrize(
    ("marking", "told", "tokens"),
    [
        (says("Context compacted: We counted words."), "We counted words.", (None, None)),
        (
            agent_step(
                "We counted words.", extra={"pi_event_type": "compaction", "tokens_before": 900}, llm_call_count=1
            ),
            "We counted words.",
            (900, None),
        ),
    ],
    ids=["words of a system step", "step of the agent"],
)
def test_a_step_that_holds_the_summary_of_a_compaction_is_none_of_the_story(read_steps, marking, told, tokens):
    [session] = read_steps(SYSTEM, user(), agent_step("One."), marking, user("Go on."), agent_step("Two."))
    assert [m.text for m in session.messages] == ["Be brief.", "Do it.", "One.", "Go on.", "Two."]
    [compaction] = session.compactions
    assert (compaction.position, compaction.after, compaction.summary) == (3, (0, summary(told)), told)
    assert (compaction.tokens_before, compaction.tokens_after) == tokens
    assert session.intake.skipped == {"compaction boundary": 1}


@pytest.mark.parametrize(
    "marking",
    [says("Context compaction #1: compressed 900 -> 200 tokens"), says("Context compacted", muse_compaction={"a": 1})],
)
def test_a_step_that_only_tells_that_there_was_a_compaction_is_counted(read_steps, marking):
    [session] = read_steps(SYSTEM, user(), agent_step("One."), marking, agent_step("Two."))
    assert [m.text for m in session.messages] == ["Be brief.", "Do it.", "One.", "Two."]
    assert session.compactions == ()
    assert session.intake.skipped == {"compaction boundary": 1, "compaction that left no trace": 1}


def test_the_tokens_that_a_system_step_tells_are_the_compactions(read_steps):
    marking = says("Context compaction #1: compressed 900 -> 200 tokens")
    [session] = read_steps(SYSTEM, user(), agent_step("One."), marking, user("Summary: words."), agent_step("Two."))
    [compaction] = session.compactions
    assert (compaction.tokens_before, compaction.tokens_after) == (900, 200)


def test_a_step_that_says_what_comes_next_tells_that_the_next_message_is_handed_over(read_steps):
    marking = says(
        "Compacted; the next user message carries it.", context_management={"type": "compaction", "boundary": "replace"}
    )
    [session] = read_steps(SYSTEM, user(), agent_step("One."), marking, user("## Goals"), agent_step("Two."))
    assert [m.text for m in session.messages] == ["Be brief.", "Do it.", "One.", "Two."]
    assert session.compactions[0].after == (0, summary("## Goals"))


def test_the_message_that_claude_code_goes_on_from_is_a_summary(read_steps):
    [session] = read_steps(user(), agent_step("One."), user(CONTINUED), agent_step("Two."))
    assert [m.text for m in session.messages] == ["Do it.", "One.", "Two."]
    [compaction] = session.compactions
    assert (compaction.position, compaction.after, compaction.summary) == (2, (summary(CONTINUED),), CONTINUED)


def test_a_session_that_begins_with_such_a_message_has_no_compaction(read_steps):
    [session] = read_steps(user(CONTINUED), agent_step("Two."))
    assert (session.compactions, len(session.messages)) == ((), 2)


def test_what_pi_tells_of_a_branch_that_was_left_is_the_harnesses(read_steps):
    left = agent_step("We tried b.", extra={"pi_event_type": "branch_summary"}, llm_call_count=1)
    [session] = read_steps(user(), agent_step("One."), left, agent_step("Two."))
    assert [(m.role, m.synthetic) for m in session.messages][2] == ("user", True)


def test_steps_of_a_sidechain_are_sessions_of_sub_agents(read_steps, tmp_path):
    def of(agent, step):
        return step | {"extra": {"is_sidechain": True} | ({"agent_id": agent} if agent else {})}

    metrics = {"prompt_tokens": 10, "completion_tokens": 2}
    steps = [
        user(extra={"is_sidechain": False}),
        agent_step("I ask.", [("c1", "Task", {})], [{"source_call_id": "c1", "content": "Four."}]),
        of("a1", user("Count the words.")),
        of("", user("Count the lines.")),
        of("a1", agent_step("Four.", metrics=metrics)),
        agent_step("Four words."),
    ]
    totals = {"total_prompt_tokens": 99, "total_completion_tokens": 9}
    main, first, second = read_steps(*steps, final_metrics=totals)
    assert [m.text for m in main.messages] == ["Do it.", "I ask.", "", "Four words."]
    assert (main.intake.records, main.intake.skipped) == (6, {"step of a sub-agent": 3})
    assert [(u.position, u.input) for u in main.usage] == [(None, 99)]
    assert [m.text for m in first.messages] == ["Count the words.", "Four."]
    assert [(u.position, u.input) for u in first.usage] == [(1, 10)]
    assert [m.source for m in first.messages] == [2, 4]
    assert [m.text for m in second.messages] == ["Count the lines."]
    assert second.usage == ()
    assert [s.agent_type for s in (first, second)] == ["subagent", "subagent"]
    assert [s.id for s in (first, second)] == ["trajectory/run-7/a1", "trajectory/run-7/sidechain"]
    assert {s.cluster for s in (main, first, second)} == {main.id}
    assert [s.id for s in stream(tmp_path / "trajectory.json")] == [s.id for s in (main, first, second)]
