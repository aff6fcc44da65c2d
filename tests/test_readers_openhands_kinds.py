"""OpenHands' later architecture: events told apart by kind, in folders and lists."""

import pytest
from openhands_events import acted, kind, observed, opened, write, write_lines

from compactlab.readers import read, sniff
from compactlab.transcript import Image, Reasoning, Text, ToolCall, ToolResult


def one(tmp_path, events):
    path = write(tmp_path / "events.json", events)
    assert sniff(path) == "openhands"
    [transcript] = read(path)
    return transcript


def test_actions_and_observations_are_calls_and_results(tmp_path):
    found = one(tmp_path, [*opened(), acted(2, "a", "r1"), observed(3, "a", "out", metadata={"suffix": "[exit 0]"})])
    assert [m.role for m in found.messages] == ["system", "user", "assistant", "tool"]
    assert found.messages[2].blocks == (Text("I look."), ToolCall("a", "terminal", '{"command":"ls a"}'))
    assert found.messages[3].blocks == (ToolResult("a", (Text("out[exit 0]"),)),)
    assert found.tools == ({"title": "terminal", "kind": "TerminalTool"},)
    assert found.messages[1].by_person


def test_actions_of_one_response_are_one_message_though_results_lie_between(tmp_path):
    first = acted(2, "a", "r1", reasoning_content="Both.")
    rest = [observed(3, "a", "one"), acted(4, "b", "r1", thought=""), observed(5, "b", "two")]
    found = one(tmp_path, [*opened(), first, *rest])
    assert [m.role for m in found.messages[2:]] == ["assistant", "tool", "tool"]
    assert found.messages[2].blocks[:2] == (Reasoning("Both."), Text("I look."))
    assert [call.id for call in found.messages[2].calls] == ["a", "b"]


@pytest.mark.parametrize(
    ("fields", "reasoning"),
    [
        (
            {"thinking_blocks": [{"type": "thinking", "thinking": "Deep.", "signature": "s=="}]},
            Reasoning("Deep.", signature="s=="),
        ),
        ({"thinking_blocks": [{"type": "redacted_thinking", "data": "x=="}]}, Reasoning(opaque="x==")),
        (
            {"responses_reasoning_item": {"id": "rs_1", "summary": ["Hm."], "encrypted_content": "g=="}},
            Reasoning("Hm.", opaque="g=="),
        ),
    ],
)
def test_reasoning_is_kept_as_its_provider_sent_it(tmp_path, fields, reasoning):
    found = one(tmp_path, [*opened(), acted(2, "a", "r1", **fields)])
    assert found.messages[2].blocks[0] == reasoning


@pytest.mark.parametrize(
    ("event", "text"),
    [
        (kind(3, "AgentErrorEvent", source="agent", tool_call_id="a", error="No such tool."), "No such tool."),
        (kind(3, "UserRejectObservation", source="user", tool_call_id="a", rejection_reason="Not now."), "Not now."),
        (observed(3, "a", "failed", is_error=True), "failed"),
    ],
)
def test_errors_and_refusals_are_failed_results(tmp_path, event, text):
    found = one(tmp_path, [*opened(), acted(2, "a", "r1"), event])
    assert (found.messages[3].results[0].text, found.messages[3].results[0].is_error) == (text, True)


@pytest.mark.parametrize(
    ("observation", "text"),
    [
        ({"output": "old form", "command": "ls"}, "old form"),
        ({"content": "one text"}, "one text"),
        ({"kind": "X", "left": 1, "right": "b"}, '{"left": 1, "right": "b"}'),
        ({"kind": "X"}, ""),
        (None, ""),
    ],
)
def test_observations_of_earlier_versions_show_what_they_have(tmp_path, observation, text):
    event = kind(3, "ObservationEvent", source="environment", tool_call_id="a", observation=observation)
    assert one(tmp_path, [*opened(), acted(2, "a", "r1"), event]).messages[3].results[0].text == text


def test_pictures_stay_pictures(tmp_path):
    part = {"type": "image", "image_urls": ["https://example.org/a.png", "https://example.org/b.png"]}
    told = kind(2, "MessageEvent", source="user", llm_message={"role": "user", "content": [part]})
    assert [type(block) for block in one(tmp_path, [*opened(), told]).messages[2].blocks] == [Image, Image]


def test_messages_of_the_environment_are_synthetic_and_those_of_the_agent_its_own(tmp_path):
    words = {"role": "user", "content": [{"type": "text", "text": "Hook says no."}]}
    answer = {"role": "assistant", "content": [{"type": "text", "text": "Done."}], "reasoning_content": "So."}
    events = [kind(2, "MessageEvent", source="hook", llm_message=words)]
    events += [kind(3, "MessageEvent", source="agent", llm_message=answer, llm_response_id="r2")]
    found = one(tmp_path, [*opened(), *events])
    assert found.messages[2].synthetic
    assert found.messages[3].blocks == (Reasoning("So."), Text("Done."))


def test_any_file_of_a_conversation_gives_it_once_with_its_state(tmp_path):
    root = tmp_path / "conversations" / "c0ffee"
    events = [*opened(), acted(2, "a", "r1"), observed(3, "a", "out")]
    for number, event in enumerate(events):
        write(root / "events" / f"event-{number:05d}-{event['id']}.json", event)
    usage = {"response_id": "r1", "prompt_tokens": 3778, "completion_tokens": 36, "cache_read_tokens": 3712}
    state = {"id": "c0-ffee", "agent": {"llm": {"model": "gpt"}}, "workspace": {}, "confirmation_policy": {}}
    state |= {"execution_status": "finished", "stats": {"usage_to_metrics": {"agent": {"token_usages": [usage]}}}}
    write(root / "base_state.json", state)
    for path in (tmp_path, root / "base_state.json", root / "events" / "event-00002-e2.json"):
        [found] = read(path)
        assert (found.id, len(found.messages)) == ("c0ffee", 4)
        assert [(u.position, u.input, u.output, u.cached) for u in found.usage] == [(2, 3778, 36, 3712)]
        assert found.header == {"model": "gpt", "status": "finished"}


def test_the_last_state_among_the_events_has_the_usage(tmp_path):
    def stats(sent):
        metrics = {"accumulated_token_usage": {"prompt_tokens": sent, "completion_tokens": 5}}
        return {"usage_to_metrics": {"agent": metrics}}

    first = kind(3, "ConversationStateUpdateEvent", source="environment", key="stats", value=stats(10))
    last = kind(4, "ConversationStateUpdateEvent", source="environment", key="full_state", value={"stats": stats(20)})
    found = one(tmp_path, [*opened(), acted(2, "a", "r1"), first, last])
    assert [(u.position, u.input) for u in found.usage] == [(None, 20)]
    assert found.intake.skipped == {"ConversationStateUpdateEvent": 2}


def test_events_as_json_lines_and_rows_of_events_are_read(tmp_path):
    events = [*opened(), acted(2, "a", "r1")]
    assert len(read(write_lines(tmp_path / "events.jsonl", events))[0].messages) == 3
    [found] = read(write_lines(tmp_path / "output.jsonl", [{"instance_id": "i-1", "history": events}]))
    assert (found.id, len(found.messages)) == ("output/i-1", 3)


def test_kinds_that_are_not_known_are_counted(tmp_path):
    found = one(tmp_path, [*opened(), kind(2, "DreamEvent", source="agent"), kind(3, "PauseEvent", source="user")])
    assert found.intake.unknown == {"DreamEvent": 1}
    assert found.intake.skipped == {"PauseEvent": 1}


@pytest.mark.parametrize("junk", [{"tool_call": 3}, {"thought": {"a": 1}}, {"thinking_blocks": "x"}, {"tool_call": {}}])
def test_actions_of_wrong_types_are_read(tmp_path, junk):
    assert len(one(tmp_path, [*opened(), acted(2, "a", "r1") | junk]).messages) == 3
