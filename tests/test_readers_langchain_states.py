"""States of LangGraph threads: the story of a history is told once, its losses are compactions."""

import json
import os
from pathlib import Path

import pytest

from compactlab.readers import read
from compactlab.transcript import Message, Text

CORPUS = Path(os.environ.get("COMPACTLAB_CORPUS") or Path(__file__).parent.parent.parent / "shared" / "transcripts")
recorded = pytest.mark.skipif(not CORPUS.is_dir(), reason="no folder of recorded transcripts")

SUMMARY = {
    "type": "human",
    "id": "sum",
    "content": "Here is a summary of the conversation to date:\n\nX",
    "additional_kwargs": {"lc_source": "summarization"},
}


def human(name):
    return {"type": "human", "content": f"ask {name}", "id": f"h{name}"}


def ai(name, **keys):
    return {"type": "ai", "content": f"say {name}", "id": f"a{name}", **keys}


def result(text, key="t1"):
    return {"type": "tool", "content": text, "tool_call_id": "c1", "id": key}


def state(step, messages, parent=None, thread="t"):
    before = None if parent is None else {"thread_id": thread, "checkpoint_ns": "", "checkpoint_id": f"k{parent}"}
    return {
        "values": {"messages": messages, "title": "A talk"},
        "next": [],
        "metadata": {"step": step, "graph_id": "g", "thread_id": thread},
        "created_at": f"2026-01-01T00:00:{step:02}+00:00",
        "checkpoint": {"thread_id": thread, "checkpoint_ns": "", "checkpoint_id": f"k{step}"},
        "parent_checkpoint": before,
    }


def history(*lists):
    """States of one thread, newest first, as the server gives them."""
    return [state(i, messages, i - 1 if i else None) for i, messages in enumerate(lists)][::-1]


def transcripts(tmp_path, value):
    path = tmp_path / "h.json"
    path.write_text(value if isinstance(value, str) else json.dumps(value))
    return read(path)


def one(tmp_path, value):
    [transcript] = transcripts(tmp_path, value)
    return transcript


def texts(messages):
    return [message.text for message in messages]


STORY = [human(1), ai(1), human(2), ai(2)]
WHOLE = history(STORY[:1], STORY[:2], STORY[:3], STORY)


def test_one_state_holds_the_story(tmp_path):
    transcript = one(tmp_path, WHOLE[0])
    assert texts(transcript.messages) == ["ask 1", "say 1", "ask 2", "say 2"]
    assert (transcript.id, transcript.title, transcript.header["graph_id"]) == ("h/t", "A talk", "g")
    assert transcript.place(transcript.messages[2]).endswith("values.messages[2]")


def test_a_saved_checkpoint_is_a_state_too(tmp_path):
    saved = {"v": 1, "id": "k", "ts": "2026-01-01", "channel_values": {"messages": STORY}}
    assert len(one(tmp_path, saved).messages) == 4
    held = {"config": {"configurable": {"thread_id": "z"}}, "checkpoint": saved, "metadata": {}}
    assert one(tmp_path, held).id == "h/z"


@pytest.mark.parametrize(
    "value",
    [WHOLE, WHOLE[::-1], "".join(f"{json.dumps(each)}\n" for each in WHOLE), [WHOLE[i] for i in (2, 0, 3, 1)]],
)
def test_a_history_in_any_order_tells_the_story_once(tmp_path, value):
    transcript = one(tmp_path, value)
    assert texts(transcript.messages) == ["ask 1", "say 1", "ask 2", "say 2"]
    assert (transcript.compactions, transcript.intake.records) == ((), 4)


def test_each_message_stands_where_it_first_came(tmp_path):
    transcript = one(tmp_path, WHOLE)
    assert [message.source for message in transcript.messages] == [3, 2, 1, 0]
    assert transcript.place(transcript.messages[0]).endswith("state 3")


def test_a_summary_in_place_of_the_head_is_a_compaction(tmp_path):
    transcript = one(tmp_path, history(STORY[:3], STORY, [SUMMARY, *STORY[2:]], [SUMMARY, *STORY[2:], human(3)]))
    assert texts(transcript.messages) == ["ask 1", "say 1", "ask 2", "say 2", "ask 3"]
    [compaction] = transcript.compactions
    made = Message("user", (Text(SUMMARY["content"]),), synthetic=True)
    assert (compaction.position, compaction.after, compaction.summary) == (4, (made, 2, 3), SUMMARY["content"])
    assert texts(transcript.before(0)) == ["ask 1", "say 1", "ask 2", "say 2"]
    assert texts(transcript.view(5))[1:] == ["ask 2", "say 2", "ask 3"]


def test_a_second_summary_takes_the_place_of_the_first(tmp_path):
    again = {**SUMMARY, "id": "sum2", "content": "Here is a summary of the conversation to date:\n\nY"}
    lists = [STORY, [SUMMARY, *STORY[2:]], [SUMMARY, *STORY[2:], human(3)], [again, human(3)]]
    transcript = one(tmp_path, history(*lists))
    assert [compaction.position for compaction in transcript.compactions] == [4, 5]
    assert len(transcript.before(1)) == 4
    assert texts(transcript.after(1)) == [again["content"], "ask 3"]


def test_a_summary_that_keeps_nothing_is_a_compaction(tmp_path):
    transcript = one(tmp_path, history(STORY, [SUMMARY], [SUMMARY, human(3)]))
    assert texts(transcript.messages)[-1] == "ask 3"
    assert [c.position for c in transcript.compactions] == [4]
    assert texts(transcript.after(0)) == [SUMMARY["content"]]


def test_a_trimmed_list_is_a_compaction_without_a_summary(tmp_path):
    transcript = one(tmp_path, history(STORY, [*STORY[2:], human(3)]))
    [compaction] = transcript.compactions
    assert (compaction.position, compaction.after, compaction.summary) == (4, (2, 3), "")
    assert texts(transcript.messages)[4:] == ["ask 3"]


def test_a_cleared_result_is_a_compaction_that_changed_it(tmp_path):
    call = ai(1, tool_calls=[{"name": "f", "args": {}, "id": "c1"}])
    lists = [[human(1), call, result("long")], [human(1), call, result("long"), ai(2)]]
    cleared = [human(1), call, result("[cleared]"), ai(2)]
    transcript = one(tmp_path, history(*lists, cleared))
    assert transcript.messages[2].results[0].text == "long"
    [compaction] = transcript.compactions
    assert compaction.position == 4
    assert [entry if isinstance(entry, int) else entry.results[0].text for entry in compaction.after] == [
        0,
        1,
        "[cleared]",
        3,
    ]


def test_a_last_message_that_grew_is_no_compaction(tmp_path):
    grown = {**ai(1), "content": "say 1, at length"}
    transcript = one(tmp_path, history([human(1), ai(1)], [human(1), grown], [human(1), grown, human(2)]))
    assert texts(transcript.messages) == ["ask 1", "say 1, at length", "ask 2"]
    assert transcript.compactions == ()


def test_branches_are_left_out_and_counted(tmp_path):
    main = [
        state(0, STORY[:1]),
        state(1, STORY[:2], 0),
        state(3, [*STORY[:1], ai(9)], 0),
        state(4, [*STORY[:1], ai(9), human(8)], 3),
    ]
    other = state(2, STORY[:3], 1)
    transcript = one(tmp_path, [*main, other])
    assert texts(transcript.messages) == ["ask 1", "say 9", "ask 8"]
    assert transcript.intake.skipped == {"message of another branch": 2}
    assert transcript.compactions == ()


def test_a_missing_link_does_not_lose_the_older_states(tmp_path):
    transcript = one(tmp_path, [WHOLE[0], WHOLE[3]])
    assert len(transcript.messages) == 4
    assert transcript.intake.skipped == {}


def test_each_thread_is_a_transcript(tmp_path):
    first, second = transcripts(tmp_path, [state(1, STORY[:2]), state(2, STORY[:1], thread="u")])
    assert [first.id, second.id] == ["h/t", "h/u"]
    assert [len(first.messages), len(second.messages)] == [2, 1]


@recorded
@pytest.mark.parametrize(
    ("name", "messages", "calls"), [("7cfa5f8f-trends-research", 60, 27), ("ad76c455-data-analysis", 27, 12)]
)
def test_recorded_threads_are_read_whole(name, messages, calls):
    [transcript] = read(CORPUS / "deer-flow" / f"{name}.thread.json")
    asked = [call.id for message in transcript.messages for call in message.calls]
    answered = [found.call_id for message in transcript.messages for found in message.results]
    assert (len(transcript.messages), len(asked), answered) == (messages, calls, asked)
    assert not any(message.synthetic for message in transcript.messages)
