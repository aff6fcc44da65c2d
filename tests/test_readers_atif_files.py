"""ATIF over several files: continuations from either end, what was in context at a seam, summaries, sub-agents."""

import json

import pytest
from corpus_files import corpus_file
from test_readers_atif import agent_step, trajectory, user

from compactlab.readers import read
from compactlab.transcript import Message, Text

COMPACTION = {"context_management": {"type": "compaction", "boundary": "replace"}}


def boundary(content=None, refs=(), **fields):
    result = {"content": content} if content is not None else {"subagent_trajectory_ref": list(refs)}
    step = {"source": "system", "message": "Performed context summarization.", "observation": {"results": [result]}}
    return step | {"extra": COMPACTION} | fields


def copied(step):
    return step | {"is_copied_context": True}


def ref(suffix):
    return {"session_id": f"run-7-summarization-1-{suffix}", "trajectory_path": f"trajectory.s-1-{suffix}.json"}


FIRST = (user("Task."), agent_step("One.", results=[{"content": "out 1"}]), agent_step("Two."))
HANDED = (user("Summary from Previous Agent: one and two."), agent_step("Questions?"), user("Answers."))
NEXT = agent_step("Three.", metrics={"prompt_tokens": 7, "completion_tokens": 1})


@pytest.fixture
def write(tmp_path):
    def writing(**files):
        for name, value in files.items():
            path = tmp_path / f"{name.replace('__', '.').replace('_', '-')}.json"
            path.write_text(json.dumps(value))
        return tmp_path

    return writing


@pytest.fixture
def continued(write):
    """A trajectory in three files, each with the context it began with copied at its head."""
    return write(
        trajectory=trajectory(*FIRST, boundary(), continued_trajectory_ref="trajectory.cont-1.json"),
        trajectory__cont_1=trajectory(
            *map(copied, (FIRST[0], *HANDED)), NEXT, boundary(), continued_trajectory_ref="trajectory.cont-2.json"
        ),
        trajectory__cont_2=trajectory(*map(copied, (FIRST[0], user("Second summary."))), agent_step("Four.")),
    )


@pytest.mark.parametrize("name", ["trajectory", "trajectory.cont-1", "trajectory.cont-2"])
def test_any_file_gives_the_whole_session_with_copies_once(continued, name):
    [session] = read(continued / f"{name}.json")
    assert session.id == "trajectory/run-7"
    assert [m.text for m in session.messages] == ["Task.", "One.", "out 1", "Two.", "Three.", "Four."]
    assert session.intake.skipped == {"copied step": 6, "compaction boundary": 2}
    assert session.intake.problems == ()


def test_a_seam_is_a_compaction_with_what_stood_before_and_after(continued):
    [session] = read(continued)
    assert [c.position for c in session.compactions] == [4, 5]
    assert [m.text for m in session.before(0)] == ["Task.", "One.", "out 1", "Two."]
    assert session.after(0) == (
        session.messages[0],
        Message("user", (Text(HANDED[0]["message"]),), synthetic=True),
        Message("assistant", (Text("Questions?"),)),
        Message("user", (Text("Answers."),), synthetic=True),
    )
    assert [m.text for m in session.before(1)] == ["Task.", *(step["message"] for step in HANDED), "Three."]
    assert [m.text for m in session.view(6)] == ["Task.", "Second summary.", "Four."]
    assert session.compactions[1].summary == "Second summary."


def test_messages_know_the_file_and_the_step_that_they_stand_in(continued):
    [session] = read(continued)
    places = [session.place(m).rpartition("/")[2] for m in session.messages]
    assert places == [
        "trajectory.json: steps[0]",
        "trajectory.json: steps[1]",
        "trajectory.json: steps[1]",
        "trajectory.json: steps[2]",
        "trajectory.cont-1.json: steps[4]",
        "trajectory.cont-2.json: steps[2]",
    ]
    assert session.usage[0].position == 4


def test_a_continuation_that_lost_nothing_is_no_compaction(write):
    folder = write(
        trajectory=trajectory(*FIRST, continued_trajectory_ref="more.json"),
        more=trajectory(*map(copied, FIRST), NEXT),
    )
    [session] = read(folder)
    assert session.compactions == ()
    assert len(session.messages) == 5


def test_a_missing_continuation_is_a_problem(write):
    folder = write(trajectory=trajectory(*FIRST, continued_trajectory_ref="trajectory.cont-1.json"))
    [session] = read(folder)
    assert session.intake.problems == (
        "trajectory.json: continues in trajectory.cont-1.json, which is no trajectory here",
    )


def test_a_continuation_without_its_beginning_keeps_what_was_copied(write):
    agent = {"name": "a", "version": "1", "extra": {"continuation_index": 1}}
    folder = write(trajectory__cont_1=trajectory(*map(copied, (FIRST[0], *HANDED)), NEXT, agent=agent))
    [session] = read(folder)
    assert len(session.messages) == 5
    assert session.intake.problems == ("trajectory.cont-1.json: the file that it continues is missing",)


def test_files_that_refer_to_each_other_in_a_ring_end(write):
    folder = write(
        a=trajectory(user("A."), continued_trajectory_ref="b.json"),
        b=trajectory(user("B."), continued_trajectory_ref="a.json"),
    )
    [session] = read(folder)
    assert sorted(m.text for m in session.messages) == ["A.", "B."]


@pytest.mark.parametrize("reference", ["../trajectory.cont-1.json", "/etc/passwd", "http://x/y.json", "", "."])
def test_a_reference_out_of_the_folder_is_not_followed(write, reference):
    [session] = read(write(trajectory=trajectory(*FIRST, continued_trajectory_ref=reference)) / "trajectory.json")
    assert len(session.messages) == 4


def test_files_that_were_renamed_together_and_paths_of_a_container_are_found(write):
    write(
        x__trajectory=trajectory(user("A."), continued_trajectory_ref="/logs/agent/trajectory.cont-1.json"),
        x__trajectory__cont_1=trajectory(agent_step("B.")),
    )
    [session] = read(write())
    assert [m.text for m in session.messages] == ["A.", "B."]


def test_a_summary_in_the_observation_of_a_boundary_stands_in_context_after_it(write):
    leading = {"source": "system", "message": "Be brief."}
    steps = (
        leading,
        *FIRST,
        boundary(
            "The summary.",
            extra={
                "context_management": COMPACTION["context_management"]
                | {"tokens_before": 900, "tokens_after": 90, "trigger": "auto"}
            },
        ),
        user("And now?"),
        NEXT,
    )
    [session] = read(write(trajectory=trajectory(*steps)))
    assert [m.text for m in session.messages] == ["Be brief.", "Task.", "One.", "out 1", "Two.", "And now?", "Three."]
    [compaction] = session.compactions
    assert (compaction.position, compaction.trigger) == (5, "auto")
    assert (compaction.tokens_before, compaction.tokens_after, compaction.summary) == (900, 90, "The summary.")
    assert [m.text for m in session.view(7)] == ["Be brief.", "The summary.", "And now?", "Three."]


def test_the_users_step_that_hands_over_a_summary_is_the_harnesses(write):
    steps = (*FIRST, boundary(None), user("Summary of prior work: one, two."), NEXT)
    [session] = read(write(trajectory=trajectory(*steps)))
    assert [m.text for m in session.messages] == ["Task.", "One.", "out 1", "Two.", "Three."]
    assert [m.text for m in session.after(0)] == ["Summary of prior work: one, two."]
    assert session.after(0)[0].synthetic
    assert session.intake.skipped["handed over by the harness"] == 1


def test_a_boundary_that_leaves_no_trace_or_ends_the_session_is_counted(write):
    steps = (*FIRST, boundary(None), user("What is next?"), NEXT, boundary(None))
    [session] = read(write(trajectory=trajectory(*steps)))
    assert session.compactions == ()
    assert "What is next?" in [m.text for m in session.messages]
    assert (
        session.intake.skipped.items() >= {"compaction that left no trace": 1, "compaction without effect": 1}.items()
    )


@pytest.fixture
def summarised(write):
    """A trajectory whose context was summarised by sub-agents with files of their own."""
    asked = user("You are about to hand off your work.")
    refs = [ref(suffix) for suffix in ("summary", "questions", "gone")]
    return write(
        trajectory=trajectory(*FIRST, boundary(refs=refs, extra={}), user("Here are the answers."), NEXT),
        trajectory__s_1_summary=trajectory(
            *map(copied, FIRST[:2]), asked, agent_step("I did one and two."), session_id="run-7-summarization-1-summary"
        ),
        trajectory__s_1_questions=trajectory(*HANDED[:2], session_id="run-7-summarization-1-questions"),
    )


def test_what_sub_agents_summarised_stands_in_context_after_it(summarised):
    session, summary, questions = read(summarised)
    [compaction] = session.compactions
    assert compaction.summary == "I did one and two."
    assert compaction.summariser == summary.id
    assert [(m.role, m.text, m.synthetic) for m in session.after(0)] == [
        ("user", "Task.", False),
        ("user", HANDED[0]["message"], True),
        ("assistant", "Questions?", False),
        ("user", "Here are the answers.", True),
    ]
    assert [m.text for m in session.messages] == ["Task.", "One.", "out 1", "Two.", "Three."]
    assert session.intake.problems == ("trajectory.json: sub-agent trajectory.s-1-gone.json is not here",)
    assert [m.text for m in questions.messages] == [HANDED[0]["message"], "Questions?"]


def test_sub_agents_in_files_are_given_once_without_the_copied_head(summarised):
    sessions = read(summarised)
    assert [session.agent_type for session in sessions[1:]] == ["subagent", "subagent"]
    assert {session.cluster for session in sessions} == {sessions[0].id}
    assert [m.text for m in sessions[1].messages] == ["You are about to hand off your work.", "I did one and two."]
    assert sessions[1].intake.skipped == {"copied step": 2}


@pytest.mark.parametrize("name", ["trajectory.json", "trajectory.s-1-summary.json", "trajectory.s-1-questions.json"])
def test_the_file_of_a_sub_agent_gives_its_whole_session(summarised, name):
    assert [session.id for session in read(summarised / name)] == [session.id for session in read(summarised)]


@pytest.mark.parametrize("suffix", ["", ".cont-1"])
def test_the_recorded_terminus_session_is_one_from_either_file(suffix):
    stem = "terminus_2_hello-world-context-summarization-linear-history.trajectory"
    [session] = read(corpus_file(f"atif/{stem}{suffix}.json"))
    assert session.id == f"{stem}/NORMALIZED_SESSION_ID"
    assert len(session.messages) == 15
    [compaction] = session.compactions
    assert compaction.position == 7
    assert (len(session.before(0)), len(session.after(0))) == (7, 4)
    assert session.after(0)[0] == session.messages[0]
    assert len(session.usage) == 7
