"""OpenHands' first architecture: events, pairs, rows of evaluations, folders."""

import json

import pytest
from openhands_events import action, metadata, observation, response, start, turn, write, write_lines
from test_corpus import CORPUS

from compactlab.readers import read, sniff
from compactlab.transcript import Image, Reasoning, Text, ToolCall, ToolResult

PNG = "data:image/png;base64,iVBORw0KGgo="


def one(tmp_path, events):
    path = write(tmp_path / "trajectory.json", events)
    assert sniff(path) == "openhands"
    [transcript] = read(path)
    return transcript


def test_an_action_and_its_observation_are_a_call_and_its_result(tmp_path):
    found = one(tmp_path, [*start(), *turn(2)])
    assert [m.role for m in found.messages] == ["system", "user", "assistant", "tool"]
    assert found.messages[2].blocks == (Text("I look."), ToolCall("toolu_2", "execute_bash", '{"command": "ls 2"}'))
    assert found.messages[3].blocks == (ToolResult("toolu_2", (Text("out 2\n[ok]"),)),)
    assert [(u.position, u.input, u.output, u.cached) for u in found.usage] == [(2, 100, 7, 60)]
    assert found.header == {"agent": "CodeActAgent", "model": "m-1"}
    assert found.tools == ({"type": "function"},)
    assert found.messages[1].by_person


def test_parallel_calls_are_one_message_with_its_words_and_usage_once(tmp_path):
    told = response("r1", ("a", "ls"), ("b", "pwd"), reasoning_content="Both.")
    events = [
        action(2, "run", told, "a", command="ls"),
        observation(3, "run", "a.py", 2, told, "a"),
        action(4, "run", told, "b", command="pwd"),
        observation(5, "run", "/", 4, told, "b"),
    ]
    found = one(tmp_path, [*start(), *events])
    assert [m.role for m in found.messages[2:]] == ["assistant", "tool", "tool"]
    assert found.messages[2].blocks[:2] == (Reasoning("Both."), Text("I look."))
    assert [call.id for call in found.messages[2].calls] == ["a", "b"]
    assert [m.results[0].call_id for m in found.messages[3:]] == ["a", "b"]
    assert len(found.usage) == 1


def test_actions_without_a_response_are_paired_by_cause(tmp_path):
    events = [action(2, "run", command="ls", thought="First."), action(3, "read", path="a.py")]
    events += [observation(4, "read", "text", 3), observation(5, "run", "a.py", 2, exit_code=0)]
    found = one(tmp_path, [*start(), *events])
    assert found.messages[2].blocks == (Text("First."), ToolCall("call_0", "run", '{"command": "ls"}'))
    assert [m.results[0].call_id for m in found.messages[4:]] == ["call_1", "call_0"]


def test_rows_of_2024_without_ids_are_paired_by_name_and_order(tmp_path):
    def bare(event):
        return {key: value for key, value in event.items() if key not in {"id", "source", "message", "timestamp"}}

    events = [
        action(0, "message", content="Fix it."),
        action(1, "run", command="ls", thought=""),
        observation(2, "run", "a.py"),
        action(3, "message", content="May I?", wait_for_response=True),
        action(4, "message", content="Please continue working on the task on whatever approach you think is suitable."),
        action(5, "finish", thought="Done."),
    ]
    path = write_lines(tmp_path / "output.jsonl", [{"instance_id": "i-1", "history": [bare(e) for e in events]}])
    [found] = read(path)
    assert [m.role for m in found.messages] == ["user", "assistant", "tool", "assistant", "user", "assistant"]
    assert found.messages[2].results[0].call_id == "call_0"
    assert [m.synthetic for m in found.messages if m.role == "user"] == [False, True]
    assert found.id == "output/i-1"


def test_pairs_of_action_and_observation_are_read_in_order(tmp_path):
    nothing = {"message": "No observation", "observation": "null", "content": "", "extras": {}}
    said = action(0, "message", source="user", content="Fix it.")
    history = [[said, nothing], [action(5, "run", command="ls"), observation(6, "run", "a.py", 5)]]
    [found] = read(write_lines(tmp_path / "output.jsonl", [{"question_id": 7, "history": history}]))
    assert [(m.role, m.source) for m in found.messages] == [("user", 0), ("assistant", 1), ("tool", 1)]
    assert found.messages[2].results[0].call_id == "call_0"
    assert found.intake.skipped == {"null": 1}
    assert found.id == "output/7"


def test_rows_of_an_evaluation_are_sessions_with_totals_where_nothing_else_is_known(tmp_path):
    metrics = {"accumulated_token_usage": {"prompt_tokens": 500, "completion_tokens": 20, "cache_read_tokens": 300}}
    silent = response("r2", ("c", "ls")) | {"usage": None}
    history = [*start(), action(2, "run", silent, "c"), observation(3, "run", "x", 2, silent, "c")]
    rows = [{"instance_id": name, "history": history, "metrics": metrics, "error": None} for name in ("i-1", "i-1")]
    listed = {"token_usages": [{"response_id": "r2", "prompt_tokens": 90, "completion_tokens": 4}]}
    rows.append({"instance_id": "i-2", "history": history, "metrics": listed, "error": "Timed out"})
    found = read(write_lines(tmp_path / "output.jsonl", [*rows, {"instance_id": "i-3", "history": []}]))
    assert [t.id for t in found] == ["output/i-1", "output/i-1-2", "output/i-2"]
    assert [(u.position, u.input, u.cached) for u in found[0].usage] == [(None, 500, 300)]
    assert [(u.position, u.input) for u in found[2].usage] == [(2, 90)]
    assert found[2].header["error"] == "Timed out"
    assert found[2].intake.skipped == {"row without events": 1}
    assert found[1].place(found[1].messages[3]).endswith("line 2: history[3]")


def test_a_download_with_its_events_under_a_key_is_read(tmp_path):
    assert len(one(tmp_path, {"trajectory": [*start(), *turn(2)]}).messages) == 4


def test_any_file_of_a_folder_gives_the_session_once(tmp_path):
    root = tmp_path / "sessions" / "abc"
    events = [*start(), *turn(2), *turn(4), *turn(6), *turn(8)]
    for event in events:
        write(root / "events" / f"{event['id']}.json", event)
    write(root / "event_cache" / "0-25.json", events)
    write(root / "metadata.json", {"conversation_id": "abc", "title": "A fix"})
    for path in (tmp_path, root / "events" / "3.json", root / "events"):
        [found] = read(path)
        assert (found.id, found.title, len(found.messages)) == ("abc", "A fix", 10)
        assert [m.source for m in found.messages] == list(range(10))
        assert found.place(found.messages[9]) == f"{root / 'events' / '9.json'}: event"


def test_a_page_of_cached_events_alone_is_a_session(tmp_path):
    path = write(tmp_path / "event_cache" / "0-25.json", [*start(), *turn(2)])
    assert len(read(path)[0].messages) == 4


def test_one_event_is_not_the_folder_of_other_files(tmp_path):
    path = write(tmp_path / "task.json", start()[1])
    write(tmp_path / "7.json", start()[1])
    [found] = read(path)
    assert (found.id, len(found.messages)) == ("task", 1)


def test_changes_of_state_are_counted_and_no_messages(tmp_path):
    events = [action(2, "change_agent_state", agent_state="running"), observation(3, "agent_state_changed", "")]
    events += [observation(4, "null", ""), action(5, "recall", source="user", query="Fix it.")]
    found = one(tmp_path, [*start(), *events])
    assert len(found.messages) == 2
    assert found.intake.skipped == {"change_agent_state": 1, "agent_state_changed": 1, "null": 1, "recall": 1}


def test_what_was_recalled_is_synthetic(tmp_path):
    known = [{"name": "github", "trigger": "github", "content": "Use the API."}]
    told = observation(3, "recall", "Added", 2, date="2025-04-30", repo_name="", microagent_knowledge=known)
    found = one(tmp_path, [*start(), told, observation(4, "recall", "Added", 2, microagent_knowledge=[])])
    assert found.messages[2].blocks == (Text("date: 2025-04-30"), Text("Use the API."))
    assert found.messages[2].synthetic
    assert found.intake.skipped == {"recall": 1}


def test_an_error_without_a_cause_is_the_harness_speaking(tmp_path):
    found = one(tmp_path, [*start(), *turn(2), observation(4, "error", "Parameter 'command' is expected.")])
    assert (found.messages[4].role, found.messages[4].synthetic) == ("user", True)


@pytest.mark.parametrize(
    ("kind", "more", "failed"),
    [("error", {}, True), ("user_rejected", {}, True), ("run", {"success": False}, True), ("run", {}, False)],
)
def test_results_are_errors_where_the_event_says_so(tmp_path, kind, more, failed):
    told = response("r2", ("c", "ls"))
    events = [action(2, "run", told, "c"), observation(3, kind, "no", 2, told, "c") | more]
    assert one(tmp_path, [*start(), *events]).messages[3].results[0].is_error is failed


def test_pictures_stay_pictures(tmp_path):
    asked = action(2, "message", source="user", content="See", image_urls=[PNG])
    events = [asked, action(3, "browse_interactive", browser_actions="goto"), observation(4, "browse", "page", 3)]
    events[-1]["extras"] = {"screenshot": PNG, "set_of_marks": ""}
    found = one(tmp_path, [*start(), *events])
    assert isinstance(found.messages[2].blocks[1], Image)
    assert isinstance(found.messages[4].results[0].content[1], Image)


def test_a_delegate_is_a_session_of_its_own(tmp_path):
    events = [
        action(2, "delegate", agent="BrowsingAgent", inputs={"task": "search"}, thought="Ask."),
        action(3, "message", source="user", content="TASK: search"),
        action(4, "browse", url="https://example.org"),
        observation(5, "browse", "page", 4),
        observation(6, "delegate", "found it", 2, outputs={}),
    ]
    main, side = read(write(tmp_path / "t.json", [*start(), *events]))
    assert [m.role for m in main.messages] == ["system", "user", "assistant", "tool"]
    assert main.messages[3].results[0].text == "found it"
    assert [m.role for m in side.messages] == ["user", "assistant", "tool"]
    assert (side.id, side.agent_type, side.cluster) == ("t-delegate-2", "subagent", main.cluster)


def test_an_action_with_a_response_that_was_stripped_keeps_its_call(tmp_path):
    event = action(2, "run", command="ls", thought={"text": "Hm.", "reasoning_content": "Deep."})
    event["tool_call_metadata"] = metadata(None, "c1")
    found = one(tmp_path, [*start(), event])
    call = ToolCall("c1", "execute_bash", '{"command": "ls"}')
    assert found.messages[2].blocks == (Reasoning("Deep."), Text("Hm."), call)


@pytest.mark.parametrize("junk", [7, None, [], {"action": 3}, {"action": "run"}, {"observation": "run"}])
def test_what_is_no_event_is_counted(tmp_path, junk):
    found = one(tmp_path, [*start(), *turn(2), junk])
    assert len(found.messages) == 4
    assert sum((found.intake.unknown | found.intake.skipped).values()) == (junk != [])


def test_steps_of_other_tools_are_not_taken_for_events(tmp_path):
    path = write(tmp_path / "x.json", [{"action": "ls", "observation": "a.py", "thought": ""}])
    with pytest.raises(ValueError, match="no reader knows"):
        sniff(path)


@pytest.mark.skipif(not CORPUS.is_dir(), reason="no folder of transcripts here")
def test_real_rows_are_read_whole():
    path = CORPUS / "openhands" / "output.jsonl"
    found = read(path)
    counts = [(len(t.messages), sum(len(m.calls) for m in t.messages), len(t.usage)) for t in found]
    assert counts == [(48, 23, 23), (69, 33, 33), (102, 49, 49)]
    recorded = [json.loads(line)["history"] for line in path.read_bytes().splitlines()]
    for transcript, events in zip(found, recorded, strict=True):
        seen = [e["content"] for e in events if "tool_call_metadata" in e and "observation" in e]
        told = [m.results[0].text for m in transcript.messages if m.results]
        assert [text.startswith(content) for text, content in zip(told, seen, strict=True)] == [True] * len(seen)
