"""What opencode messages become: steps, calls and results, what the model never saw, compactions, pruning, reverts."""

import pytest
from opencode_records import START, agent, cleared, export, session, tool, user

from compactlab.readers import read, sniff
from compactlab.transcript import Image, Reasoning, Text, ToolCall, ToolResult, Usage

CLEARED = "[Old tool result content cleared]"
GIF = "data:image/gif;base64,R0lGODlhAQABAAAAACw="


def one(tmp_path, *messages, **info):
    path = export(tmp_path / "x.json", messages, session(**info))
    assert sniff(path) == "opencode"
    [transcript] = read(path)
    return transcript


def texts(messages):
    return [message.text or tuple(r.text for r in message.results) or message.calls for message in messages]


def file(mime, url, **more):
    return {"type": "file", "mime": mime, "url": url, **more}


def test_a_step_with_reasoning_calls_and_results_is_unfolded(tmp_path):
    thought = {"type": "reasoning", "text": "hm", "metadata": {"anthropic": {"signature": "sig"}}}
    parts = [
        {"type": "step-start"},
        thought,
        "Reading.",
        tool("c1", "one", time={"end": START + 5000}),
        tool("c2", "no", "error"),
    ]
    finish = {"type": "step-finish", "tokens": {"input": 5, "output": 7, "cache": {"read": 100, "write": 20}}}
    transcript = one(tmp_path, user(1, "Read"), agent(2, *parts, tool("c3", "", "running"), finish))
    assert [m.role for m in transcript.messages] == ["user", "assistant", "tool", "tool"]
    spoken = transcript.messages[1]
    assert spoken.blocks[:3] == (Reasoning("hm", "sig"), Text("Reading."), ToolCall("c1", "read", '{"p":"c1"}'))
    assert [call.id for call in spoken.calls] == ["c1", "c2", "c3"]
    assert transcript.messages[2].results == (ToolResult("c1", (Text("one"),)),)
    assert transcript.messages[3].results == (ToolResult("c2", (Text("no"),), is_error=True),)
    assert transcript.usage == (Usage(1, 125, 7, 100),)
    assert (transcript.id, transcript.title, transcript.agent_type) == ("ses_1", "Work", "primary")
    assert transcript.header == {"version": "1.0", "models": ["m"]}
    assert [m.timestamp for m in transcript.messages[1:3]] == ["2026-02-02T02:40:02Z", "2026-02-02T02:40:05Z"]
    assert transcript.place(spoken).endswith("x.json: messages[1]")


def test_a_message_of_several_steps_is_split_at_them(tmp_path):
    start = {"type": "step-start"}
    counts = [{"type": "step-finish", "tokens": {"input": n, "output": 1}} for n in (10, 20)]
    parts = [start, "a", tool("c1", "one"), counts[0], start, "b", counts[1]]
    transcript = one(tmp_path, user(1, "x"), agent(2, *parts, tokens={"input": 99, "output": 9}))
    assert texts(transcript.messages) == ["x", "a", ("one",), "b"]
    assert transcript.usage == (Usage(1, 10, 1), Usage(3, 20, 1))


def test_tokens_of_the_message_count_where_its_steps_have_none(tmp_path):
    transcript = one(
        tmp_path, user(1, "x"), agent(2, "a", tokens={"input": 9, "output": 1, "reasoning": 4, "total": 14})
    )
    assert transcript.usage == (Usage(1, 9, 5, 0, 4),)


@pytest.mark.parametrize(
    ("part", "expected"),
    [
        ({"type": "text", "text": "said"}, ("said", False)),
        ({"type": "text", "text": "added", "synthetic": True}, ("added", True)),
        ({"type": "subtask", "prompt": "p"}, ("The following tool was executed by the user", True)),
        (
            file("application/pdf", "data:application/pdf;base64,AAAA", filename="a.pdf"),
            ("[application/pdf: a.pdf]", False),
        ),
        (file("text/plain", "data:text/plain;base64,aGk="), ("hi", True)),
        (file("text/plain", "data:text/plain,hi%20you"), ("hi you", True)),
    ],
)
def test_parts_of_a_user(tmp_path, part, expected):
    message = one(tmp_path, user(1, part), agent(2, "a")).messages[0]
    assert (message.text, message.synthetic) == expected


@pytest.mark.parametrize(
    "part",
    [
        {"type": "text", "text": "never seen", "ignored": True},
        {"type": "agent", "name": "x"},
        {"type": "patch", "files": []},
        {"type": "snapshot", "snapshot": "s"},
        {"type": "retry", "attempt": 1},
        file("text/plain", "file:///w/a.py"),
        file("application/x-directory", "file:///w"),
    ],
)
def test_parts_that_the_model_never_saw_are_counted(tmp_path, part):
    transcript = one(tmp_path, user(1, "x", part), agent(2, "a"))
    assert texts(transcript.messages) == ["x", "a"]
    assert sum(transcript.intake.skipped.values()) == 1
    assert transcript.intake.records == 5


def test_what_nobody_knows_is_counted(tmp_path):
    stranger = user(3, "y")
    stranger["info"]["role"] = "stranger"
    transcript = one(tmp_path, user(1, "x", {"type": "novelty"}), agent(2, "a"), stranger)
    assert transcript.intake.unknown == {"novelty part": 1, "message of role stranger": 1}


def test_pictures_stay_pictures(tmp_path):
    shot = tool("c1", "see", attachments=[file("image/gif", GIF)])
    transcript = one(tmp_path, user(1, "x", file("image/gif", GIF)), agent(2, shot))
    pictures = [transcript.messages[0].blocks[1], transcript.messages[2].results[0].content[1]]
    assert all(isinstance(picture, Image) and picture.data[:3] == b"GIF" for picture in pictures)


@pytest.mark.parametrize(
    ("state", "arguments", "result"),
    [
        ({"status": "pending", "input": {}, "raw": '{"a": '}, '{"a": ', None),
        (
            {"status": "error", "input": {}, "error": "x", "metadata": {"interrupted": True, "output": "half"}},
            "{}",
            ("half", False),
        ),
        ({"status": "completed", "input": None, "output": ""}, "{}", ("", False)),
        ("nonsense", "{}", None),
    ],
)
def test_states_of_a_call(tmp_path, state, arguments, result):
    transcript = one(tmp_path, user(1, "x"), agent(2, {"type": "tool", "callID": "c", "tool": "t", "state": state}))
    assert transcript.messages[1].calls == (ToolCall("c", "t", arguments),)
    found = [(r.text, r.is_error) for m in transcript.messages for r in m.results]
    assert found == ([] if result is None else [result])


def test_responses_without_content_are_counted(tmp_path):
    error = {"name": "APIError"}
    transcript = one(tmp_path, user(1, "x"), agent(2, error=error), agent(3), agent(4, "half", error=error))
    assert texts(transcript.messages) == ["x", "half"]
    assert transcript.intake.skipped == {"failed response without content": 1, "assistant message without content": 1}


def test_a_recorded_system_prompt_leads(tmp_path):
    transcript = one(tmp_path, user(1, "x"), agent(2, "a", system=["Be brief.", "Be kind."], tokens={"input": 3}))
    assert transcript.messages[0].role == "system"
    assert transcript.messages[0].text == "Be brief.\nBe kind."
    assert transcript.usage == (Usage(2, 3),)


def ask(number, **more):
    return user(number, {"type": "compaction", "auto": True, **more})


def test_a_summary_is_a_compaction(tmp_path):
    story = [user(1, "a"), agent(2, "b", system=["S"]), ask(3), agent(4, "so far", summary=True), user(5, "c")]
    transcript = one(tmp_path, *story)
    assert texts(transcript.messages) == ["S", "a", "b", "c"]
    [compaction] = transcript.compactions
    assert (compaction.position, compaction.trigger, compaction.summary) == (3, "auto", "so far")
    assert [(m.role, m.text) for m in transcript.after(0)] == [
        ("system", "S"),
        ("user", "What did we do so far?"),
        ("assistant", "so far"),
    ]
    assert [m.synthetic for m in transcript.after(0)] == [False, True, True]
    assert texts(transcript.view(4))[2:] == ["so far", "c"]


def test_a_compaction_may_keep_a_tail(tmp_path):
    story = [user(1, "a"), agent(2, "b"), user(3, "kept"), agent(4, "too", tool("c", "out"))]
    transcript = one(tmp_path, *story, ask(5, tail_start_id="msg_003"), agent(6, "so far", summary=True), user(7, "c"))
    assert texts(transcript.after(0)) == ["What did we do so far?", "so far", "kept", "too", ("out",)]


@pytest.mark.parametrize("failed", [True, False])
def test_a_compaction_without_a_summary_is_none(tmp_path, failed):
    tried = [agent(4, "half", summary=True, error={"name": "E"})] if failed else []
    transcript = one(tmp_path, user(1, "a"), agent(2, "b"), ask(3), *tried, user(5, "c"))
    assert transcript.compactions == ()
    assert texts(transcript.messages) == ["a", "b", "c"]
    assert transcript.intake.skipped["compaction without summary"] == 1


def test_a_summary_of_older_versions_stands_alone(tmp_path):
    transcript = one(tmp_path, user(1, "a"), agent(2, "b"), agent(3, "so far", summary=True, parent=1), user(4, "c"))
    assert texts(transcript.messages) == ["a", "b", "c"]
    assert texts(transcript.after(0)) == ["so far"]
    assert transcript.compactions[0].trigger == "unknown"


def test_pruned_outputs_are_compactions_at_the_time_of_their_pruning(tmp_path):
    story = [
        user(1, "a"),
        agent(2, cleared("c1", "one", 15), cleared("c2", "two", 25)),
        user(10, "b"),
        agent(11, "x", cleared("c3", "three", 25)),
        user(20, "c"),
        agent(21, "y"),
        user(30, "d"),
    ]
    transcript = one(tmp_path, *story)
    assert texts(transcript.messages)[2:4] == [("one",), ("two",)]
    first, second = transcript.compactions
    assert (first.position, first.trigger, second.position, second.trigger) == (7, "prune", 9, "prune")
    assert texts(transcript.after(0))[2:] == [(CLEARED,), ("two",), "b", "x", ("three",)]
    assert texts(transcript.before(1))[2:4] == [(CLEARED,), ("two",)]
    assert texts(transcript.after(1))[2:] == [(CLEARED,), (CLEARED,), "b", "x", (CLEARED,), "c", "y"]
    assert transcript.after(0)[2].results[0].call_id == "c1"


def test_outputs_pruned_after_the_last_message_or_out_of_view(tmp_path):
    last = one(tmp_path, user(1, "a"), agent(2, cleared("c1", "one", 99)))
    assert [(c.position, texts(last.after(0))[2]) for c in last.compactions] == [(3, (CLEARED,))]
    story = [user(1, "a"), agent(2, cleared("c1", "one", 9)), ask(3), agent(4, "so far", summary=True), user(5, "c")]
    gone = one(tmp_path, *story, agent(6, "d"), user(10, "e"))
    assert len(gone.compactions) == 1
    assert gone.intake.skipped["pruned result that was not in view"] == 1


@pytest.mark.parametrize(
    ("revert", "left", "others"),
    [
        ({"messageID": "msg_003"}, ["a", "b"], 2),
        ({"messageID": "msg_004", "partID": "prt_004_01"}, ["a", "b", "c", "keep"], 0),
        ({"messageID": "msg_999"}, ["a", "b", "c", "keep\ndrop"], 0),
    ],
)
def test_messages_behind_a_revert_stand_on_another_branch(tmp_path, revert, left, others):
    story = [user(1, "a"), agent(2, "b"), user(3, "c"), agent(4, "keep", "drop")]
    transcript = one(tmp_path, *story, revert=revert)
    assert texts(transcript.messages) == left
    assert transcript.intake.skipped.get("message of another branch", 0) == others


def test_a_call_without_an_id_gets_one(tmp_path):
    bare = [{**tool("", "out"), "callID": "", "id": ""} for _ in range(2)]
    transcript = one(tmp_path, user(1, "x"), agent(2, *bare))
    assert [call.id for call in transcript.messages[1].calls] == ["call_0", "call_1"]
    assert [r.call_id for m in transcript.messages[2:] for r in m.results] == ["call_0", "call_1"]
