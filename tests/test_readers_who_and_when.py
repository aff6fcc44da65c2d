"""Who&When: the team's shared history, with each agent's name, what a person asked, and who was found at fault."""

import json
import os
from pathlib import Path

import pytest

from compactlab import catalog
from compactlab.readers import Source, read
from compactlab.transcript import Message, Text

CORPUS = Path(os.environ.get("COMPACTLAB_CORPUS") or Path(__file__).parent.parent.parent / "shared" / "transcripts")
recorded = pytest.mark.skipif(not CORPUS.is_dir(), reason="no folder of recorded transcripts")

HAND_MADE = {
    "history": [
        {"role": "human", "content": "How far?"},
        {"role": "Orchestrator (thought)", "content": "Plan."},
        {"role": "Orchestrator (-> WebSurfer)", "content": "Look."},
        {"role": "WebSurfer", "content": "Looked."},
        {"role": "ComputerTerminal", "content": "exit 0"},
        {"role": "Orchestrator (termination condition)", "content": "Max rounds."},
    ],
    "question": "How far?",
    "ground_truth": "17",
    "question_ID": "q1",
    "is_corrected": False,
    "mistake_agent": "WebSurfer",
    "mistake_step": "3",
    "mistake_reason": "Looked away.",
}
GENERATED = {
    "history": [
        {"name": "Planner", "role": "user", "content": "You are given a task: How far?"},
        {"name": "Expert", "role": "assistant", "content": "Run this."},
        {"name": "Computer_terminal", "role": "user", "content": "17"},
        {"name": "Expert", "role": "assistant", "content": None},
    ],
    "question": "How far?",
    "question_ID": "q2",
    "level": "1",
    "system_prompt": {"Planner": "You plan.", "Expert": "You know."},
    "mistake_agent": "Expert",
    "mistake_step": 1,
}


def transcripts(tmp_path, value):
    path = tmp_path / "15.json"
    path.write_text(value if isinstance(value, str) else json.dumps(value))
    return read(path)


def test_a_hand_made_case_is_the_teams_shared_story(tmp_path):
    [transcript] = transcripts(tmp_path, HAND_MADE)
    assert [(m.role, m.synthetic) for m in transcript.messages] == [
        ("user", False),
        ("assistant", False),
        ("assistant", False),
        ("assistant", False),
        ("user", True),
        ("assistant", True),
    ]
    assert transcript.messages[0].blocks == (Text("How far?"),)
    assert transcript.messages[3].blocks == (Text("WebSurfer:"), Text("Looked."))
    assert transcript.messages[1].text == "Orchestrator (thought):\nPlan."
    assert (transcript.id, transcript.title) == ("15/q1", "How far?")
    assert transcript.header == {
        "mistake_agent": "WebSurfer",
        "mistake_step": "3",
        "mistake_reason": "Looked away.",
        "is_corrected": False,
    }
    assert transcript.place(transcript.messages[3]).endswith("15.json: history[3]")


def test_a_generated_case_has_names_and_system_prompts(tmp_path):
    [transcript] = transcripts(tmp_path, GENERATED)
    assert [(m.role, m.synthetic) for m in transcript.messages] == [
        ("system", False),
        ("user", False),
        ("assistant", False),
        ("user", True),
        ("assistant", False),
    ]
    assert transcript.messages[0].text == "Planner:\nYou plan.\nExpert:\nYou know."
    assert transcript.messages[2].text == "Expert:\nRun this."
    assert transcript.messages[4].blocks == (Text("Expert:"),)
    assert transcript.place(transcript.messages[0]).endswith("system_prompt")
    assert transcript.place(transcript.messages[1]).endswith("history[0]")


def test_the_only_agent_of_a_case_needs_no_name(tmp_path):
    history = [{"role": "human", "content": "a"}, {"role": "Solver", "content": "b"}]
    [transcript] = transcripts(tmp_path, {"history": history, "mistake_agent": "Solver"})
    assert transcript.messages == (
        Message("user", (Text("a"),), source=0),
        Message("assistant", (Text("b"),), source=1),
    )


@pytest.mark.parametrize("by_line", [False, True])
def test_several_cases_of_a_file_are_several_transcripts(tmp_path, by_line):
    cases = [HAND_MADE, GENERATED, {"other": 1}]
    value = "".join(f"{json.dumps(case)}\n" for case in cases) if by_line else cases
    first, second = transcripts(tmp_path, value)
    assert [first.id, second.id] == ["15/q1", "15/q2"]
    assert second.intake.unknown == {"record that is no case": 1}
    assert second.place(second.messages[1]).endswith("line 2: history[0]" if by_line else "case 1: history[0]")


def test_an_entry_without_a_speaker_is_counted(tmp_path):
    [transcript] = transcripts(tmp_path, {**HAND_MADE, "history": [*HAND_MADE["history"], 3, {"content": "x"}]})
    assert transcript.intake.unknown == {"entry without a speaker": 2}


@pytest.mark.parametrize(
    "value", [{"history": []}, {"history": [{"role": "a", "content": "b"}]}, {"mistake_agent": "x"}, []]
)
def test_what_is_no_case_is_not_taken(tmp_path, value):
    path = tmp_path / "x.json"
    path.write_text(json.dumps(value))
    assert catalog.load("readers", "who_and_when").sniff(Source(path)) == 0


@recorded
def test_a_recorded_case_is_read_whole():
    [transcript] = read(CORPUS / "who-and-when" / "hand-crafted-15.json")
    assert len(transcript.messages) == 129
    assert [i for i, message in enumerate(transcript.messages) if message.by_person] == [0]
    assert [i for i, message in enumerate(transcript.messages) if message.synthetic] == [128]


@pytest.mark.parametrize(
    ("key", "speaker"), [("trajectory", "agent_name"), ("history", "agent_name"), ("trajectory", "name")]
)
def test_steps_of_cases_that_others_hand_on_are_read_alike(tmp_path, key, speaker):
    steps = [
        {"step": i, speaker: said["role"], "content": said["content"]} for i, said in enumerate(HAND_MADE["history"])
    ]
    case = {"question": "How far?", key: steps, "mistake_agent": "WebSurfer", "mistake_step": 3}
    (tmp_path / "old.json").write_text(json.dumps(HAND_MADE))
    (tmp_path / "new.json").write_text(json.dumps(case))
    [old], [new] = read(tmp_path / "old.json"), read(tmp_path / "new.json")
    assert (new.format, new.messages) == ("who_and_when", old.messages)
    assert new.origins[-1].where.startswith(key)
