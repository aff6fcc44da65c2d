"""Compactions in Inspect logs: summary, edit and trim, rebuilt from the inputs of calls, whole or pooled."""

import pytest
from inspect_logs import asked, heard, log_of, model, said, sample, system

from compactlab.readers import read
from compactlab.transcript import Message, Reasoning, Text, ToolCall, ToolResult

START = [system(), asked("The task.")]
CLEARED = "(Tool result removed)"


def summary_wire(text):
    return {
        "role": "user",
        "content": f"[SUMMARY] {text} Go on.",
        "metadata": {"summary": True},
        "id": f"sum-{text[:3]}",
    }


def prompt():
    return {"role": "user", "content": "Summarise what was done."}


def compaction(kind="summary", **fields):
    tokens = {"tokens_before": 900, "tokens_after": 90}
    return {"event": "compaction", "type": kind, "source": "inspect", "span_id": "s1"} | tokens | fields


def turn(number):
    """A response with one call, and its result."""
    name = f"c{number}"
    return [said(f"Step {number}.", name, id=f"a{number}"), heard(name, f"out {number}", id=f"t{number}")]


def grown(context, *turns):
    """The model events of turns, one after the other, each sent all that came before."""
    events = []
    for pair in turns:
        events.append(model(list(context), pair[0]))
        context.extend(pair)
    return events


@pytest.fixture
def read_sample(tmp_path):
    return lambda value: read(log_of(tmp_path / "log.json", value))


def pooled(value):
    """The same sample with the inputs of its calls in a pool, as newer logs have them."""
    pool = []
    for event in value["events"]:
        if event["event"] == "model":
            for wire in event["input"]:
                pool.extend([] if wire in pool else [wire])
            event["input_refs"] = [[pool.index(wire), pool.index(wire) + 1] for wire in event["input"]]
            event["input"] = []
    return value | {"events_data": {"messages": pool, "calls": []}}


def summarised(*, whole=True):
    """Two turns, a summary of them, one turn more. The messages are the whole story, or what was left of it."""
    context = list(START)
    events = grown(context, turn(1), turn(2))
    made = summary_wire("Two steps were taken so far.")
    events.append(model([*context, prompt()], said("<summary>Two steps were taken so far.</summary>")))
    events.append(compaction())
    after = [*START, made]
    events += grown(after, turn(3))
    events.append(model(after, said("Done.", id="end")))
    kept = [*START, *turn(1), *turn(2), made] if whole else [*START, made]
    return sample([*kept, *turn(3), said("Done.", id="end")], events=events)


@pytest.mark.parametrize("whole", [True, False], ids=["all messages kept", "messages lost"])
@pytest.mark.parametrize("change", [dict, pooled], ids=["whole inputs", "pooled inputs"])
def test_a_summary_parts_the_story_and_stands_in_context_after_it(read_sample, whole, change):
    session, summary = read_sample(change(summarised(whole=whole)))
    texts = [m.text if not m.results else m.results[0].text for m in session.messages]
    assert texts == ["Be brief.", "The task.", "Step 1.", "out 1", "Step 2.", "out 2", "Step 3.", "out 3", "Done."]
    [compaction] = session.compactions
    assert (compaction.position, compaction.trigger) == (6, "summary")
    assert (compaction.tokens_before, compaction.tokens_after) == (900, 90)
    assert compaction.summary == "[SUMMARY] Two steps were taken so far. Go on."
    assert [m.text for m in session.before(0)][:3] == ["Be brief.", "The task.", "Step 1."]
    assert session.after(0) == (
        *session.messages[:2],
        Message("user", (Text("[SUMMARY] Two steps were taken so far. Go on."),), synthetic=True),
    )
    assert [m.text for m in session.view(7)][2:] == [compaction.summary, "Step 3."]
    assert compaction.summariser == summary.id


def test_the_call_that_summarised_is_a_session_without_the_conversation(read_sample):
    session, summary = read_sample(summarised())
    assert summary.agent_type == "subagent"
    assert summary.cluster == session.cluster
    assert [(m.role, m.text, m.synthetic) for m in summary.messages] == [
        ("user", "Summarise what was done.", True),
        ("assistant", "<summary>Two steps were taken so far.</summary>", False),
    ]


def test_a_second_summary_takes_up_the_first(read_sample):
    value = summarised()
    first, second = summary_wire("Two steps were taken so far."), summary_wire("And then a third step.")
    context = [*START, first, *turn(3)]
    ending = [model([*context, prompt()], said("And then a third step.")), compaction(tokens_before=None)]
    ending += [model([*START, second], said("Done.", id="end"))]
    value["events"] = [*value["events"][:-1], *ending]
    session, *summaries = read_sample(value)
    assert [c.position for c in session.compactions] == [6, 8]
    assert session.compactions[1].tokens_before is None
    assert [m.text or "out" for m in session.before(1)][2:] == [session.compactions[0].summary, "Step 3.", "out"]
    assert [m.text for m in session.after(1)] == ["Be brief.", "The task.", "[SUMMARY] And then a third step. Go on."]
    assert [c.summariser for c in session.compactions] == [s.id for s in summaries]


def edited():
    context = list(START)
    thought = said([{"type": "reasoning", "reasoning": "hm"}, {"type": "text", "text": "Step 1."}], "c1", id="a1")
    first = [thought, heard("c1", "out 1", id="t1")]
    events = grown(context, first, turn(2))
    plain = said([{"type": "text", "text": "Step 1."}], "c1", id="other")
    after = [*START, plain, heard("c1", CLEARED, id="new"), *turn(2)]
    events += [compaction("edit"), *grown(list(after), turn(3))]
    return sample([*START, *first, *turn(2), *turn(3)], events=events)


@pytest.mark.parametrize("change", [dict, pooled], ids=["whole inputs", "pooled inputs"])
def test_an_edit_leaves_changed_messages_in_context_and_the_story_whole(read_sample, change):
    [session] = read_sample(change(edited()))
    assert session.messages[2].blocks[0] == Reasoning("hm")
    [compaction] = session.compactions
    assert compaction.position == 6
    assert compaction.trigger == "edit"
    assert compaction.after == (
        0,
        1,
        Message("assistant", (Text("Step 1."), ToolCall("c1", "bash", '{"cmd": "ls"}')), source=2),
        Message("tool", (ToolResult("c1", (Text(CLEARED),)),), source=3),
        4,
        5,
    )
    assert compaction.summary == ""


def test_a_trim_keeps_what_it_left(read_sample):
    context = list(START)
    events = grown(context, turn(1), turn(2))
    events += [compaction("trim"), *grown([*START, *turn(2)], turn(3))]
    [session] = read_sample(sample([*START, *turn(1), *turn(2), *turn(3)], events=events))
    [compaction_] = session.compactions
    assert compaction_.after == (0, 1, 4, 5)
    assert compaction_.position == 6


def test_what_came_in_with_the_compaction_stands_before_it(read_sample):
    """Results of the last calls come before a trim, though no call was sent them until after it."""
    context = list(START)
    events = grown(context, turn(1), turn(2))
    note = asked("Also this.")
    events += [compaction("trim"), model([*START, turn(2)[0], turn(2)[1], note], said("Step 3.", id="a3"))]
    [session] = read_sample(sample([], events=events))
    assert [m.text or "out" for m in session.messages] == [
        "Be brief.",
        "The task.",
        "Step 1.",
        "out",
        "Step 2.",
        "out",
        "Also this.",
        "Step 3.",
    ]
    assert session.compactions[0].position == 7
    assert session.compactions[0].after == (0, 1, 4, 5, 6)


def test_the_harness_of_another_agent_may_leave_nothing_but_a_summary(read_sample):
    """What went before is only in the calls, nobody recorded who summarised, and the last answer was lost."""
    before = [model([asked("Old task.")], said("Old answer."))]
    other = {"role": "user", "content": "This session is being continued."}
    after = [model([other], said("New answer.", id="end"))]
    events = [*before, compaction(source="claude_code"), *after]
    [session] = read_sample(sample([other, said("New answer.", id="end")], events=events))
    assert [m.text for m in session.messages] == ["Old task.", "Old answer.", "New answer."]
    assert [m.text for m in session.view(3)] == ["This session is being continued.", "New answer."]
    assert session.compactions[0].position == 2


def test_a_compaction_that_nothing_follows_is_counted(read_sample):
    context = list(START)
    events = [*grown(context, turn(1)), compaction("trim")]
    [session] = read_sample(sample([*START, *turn(1)], events=events))
    assert session.compactions == ()
    assert session.intake.skipped == {"compaction without a call after it": 1}


def test_of_two_compactions_in_a_row_the_last_is_told(read_sample):
    context = list(START)
    events = [*grown(context, turn(1), turn(2)), compaction("edit"), compaction("trim")]
    events += grown([*START, *turn(2)], turn(3))
    [session] = read_sample(sample([*START, *turn(1), *turn(2), *turn(3)], events=events))
    assert [c.trigger for c in session.compactions] == ["trim"]
    assert session.intake.skipped == {"compaction right before another": 1}


def test_the_compaction_of_a_sub_agent_is_its_own(read_sample):
    main = [
        model(START, said("I ask.", "m1", id="m")),
        model([*START, said("I ask.", "m1"), heard("m1")], said("Bye.")),
    ]
    context = [asked("Sub task.")]
    inner = [*grown(context, turn(1), turn(2)), compaction("trim", span_id="s2")]
    inner += grown([asked("Sub task."), *turn(2)], turn(3))
    inner = [event | {"span_id": "s2"} for event in inner]
    session, agent = read_sample(
        sample([*START, said("I ask.", "m1", id="m"), heard("m1"), said("Bye.")], events=[main[0], *inner, main[1]])
    )
    assert session.compactions == ()
    [own] = agent.compactions
    assert own.after == (0, 3, 4)
    assert [m.text or "out" for m in agent.messages][:2] == ["Sub task.", "Step 1."]
