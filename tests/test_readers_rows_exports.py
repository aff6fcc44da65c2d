"""Rows of trajectory data sets: Harbor's export of traces, and answers of the Agent Data Protocol that never came."""

import json

import pytest

from compactlab.readers import read, sniff
from compactlab.transcript import ToolCall, ToolResult

TRIAL = {"agent": "terminus-2", "model": "m", "task": "count", "run_id": "7b96", "trial_name": "count__a1"}


def one(tmp_path, *rows):
    path = tmp_path / "data.json"
    path.write_text(json.dumps(rows))
    assert sniff(path) == "trajectory_rows"
    return read(path)


def said(*texts):
    """Words of a user and of an agent by turns; a `None` leaves the turn out."""
    turns = zip(texts, ("user", "assistant") * len(texts), strict=False)
    return [{"role": role, "content": text} for text, role in turns if text is not None]


def test_what_came_back_of_each_response_of_an_exported_trial_is_the_harnesses(tmp_path):
    [found] = one(tmp_path, {"conversations": said("Count.", "ls", "a.py", "Done."), "episode": "episode-1", **TRIAL})
    assert [(m.role, m.synthetic) for m in found.messages] == [
        ("user", False),
        ("assistant", False),
        ("user", True),
        ("assistant", False),
    ]
    assert (found.agent_type, found.id, found.cluster) == ("subagent", "data/count__a1-episode-1", "data/count__a1")


def test_the_system_prompt_that_was_exported_as_a_users_words_leaves_the_task_a_persons(tmp_path):
    [found] = one(tmp_path, {"conversations": said("Be brief.", None, "Count.", "ls", "a.py"), "episode": "e", **TRIAL})
    assert [m.synthetic for m in found.messages] == [False, False, False, True]


def test_the_episodes_of_a_trial_share_a_cluster(tmp_path):
    rows = [{"conversations": said("Count.", "ls"), "episode": f"episode-{n}", **TRIAL} for n in range(2)]
    first, second = one(tmp_path, *rows)
    assert (first.cluster, first.id != second.id) == (second.cluster, True)


def test_conversations_that_are_no_trial_are_not_an_export(tmp_path):
    path = tmp_path / "data.json"
    path.write_text(json.dumps([{"conversations": said("Hi", "Hello"), "episode": "e"}]))
    assert sniff(path) == "sharegpt"


def user(text):
    return {"class_": "text_observation", "content": text, "source": "user"}


SAID = {"class_": "message_action", "content": "Done.", "description": None}
SEEN = {"class_": "web_observation", "html": "<p>", "axtree": "", "url": "https://example.org"}


@pytest.mark.parametrize("between", [SAID, user("And now?")], ids=["words of the agent", "words of the user"])
def test_what_is_seen_behind_words_answers_no_call_before_them(tmp_path, between):
    click = {"class_": "api_action", "function": "click", "kwargs": {}, "description": None}
    [found] = one(tmp_path, {"id": "a", "content": [user("Go."), click, between, SEEN, click, SEEN]})
    assert [m.role for m in found.messages][3:] == ["user", "assistant", "tool"]
    assert found.messages[3].synthetic
    assert (found.messages[1].calls, found.messages[4].calls) == (
        (ToolCall("call_0", "click", "{}"),),
        (ToolCall("call_1", "click", "{}"),),
    )
    assert [type(r) for r in found.messages[5].results] == [ToolResult]
    assert found.messages[5].results[0].call_id == "call_1"
