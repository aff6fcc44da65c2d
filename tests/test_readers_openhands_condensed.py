"""What OpenHands' condensations leave in the context, in both architectures."""

import pytest
from openhands_events import acted, action, condensation, kind, observed, opened, response, start, turn, write

from compactlab.readers import read
from compactlab.transcript import Text


def one(tmp_path, events):
    [transcript] = read(write(tmp_path / "t.json", events))
    return transcript


def shown(messages):
    """Messages in short: their text, or that of their result, or the command they call."""
    return [m.text or (m.results[0].text if m.results else m.calls[0].arguments) for m in messages]


def turns(*numbers):
    return [event for number in numbers for event in turn(number)]


@pytest.mark.parametrize(
    "args",
    [
        {"forgotten_event_ids": [2, 3, 4, 5], "forgotten_events_start_id": None, "forgotten_events_end_id": None},
        {"forgotten_event_ids": None, "forgotten_events_start_id": 2, "forgotten_events_end_id": 5},
        {"forgotten_events_start_id": 2, "forgotten_events_end_id": 5},
    ],
)
def test_both_forms_of_forgetting_put_the_summary_at_its_offset(tmp_path, args):
    events = [*start(), *turns(2, 4, 6), condensation(8, **args, summary="SUMMARY", summary_offset=2), *turns(9)]
    found = one(tmp_path, events)
    assert len(found.messages) == 10
    [compaction] = found.compactions
    assert (compaction.position, compaction.summary, compaction.trigger) == (8, "SUMMARY", "auto")
    after = ["Be OpenHands.", "Fix it.", "SUMMARY", "I look.", "out 6\n[ok]"]
    assert shown(found.after(0)) == after
    assert shown(found.view(10)) == [*after, "I look.", "out 9\n[ok]"]
    assert len(found.before(0)) == 8
    assert (found.after(0)[2].role, found.after(0)[2].synthetic, found.after(0)[2].source) == ("user", True, None)


def test_a_second_condensation_goes_on_from_the_first_and_replaces_its_summary(tmp_path):
    first = condensation(6, forgotten_events_start_id=2, forgotten_events_end_id=3, summary="ONE", summary_offset=2)
    second = condensation(11, forgotten_events_start_id=4, forgotten_events_end_id=8, summary="TWO", summary_offset=2)
    found = one(tmp_path, [*start(), *turns(2, 4), first, *turns(7, 9), second, *turns(12)])
    assert [c.position for c in found.compactions] == [6, 10]
    assert shown(found.after(0)) == ["Be OpenHands.", "Fix it.", "ONE", "I look.", "out 4\n[ok]"]
    assert shown(found.before(1)) == [*shown(found.after(0)), "I look.", "out 7\n[ok]", "I look.", "out 9\n[ok]"]
    assert shown(found.after(1)) == ["Be OpenHands.", "Fix it.", "TWO", "I look.", "out 9\n[ok]"]


def test_events_that_are_no_messages_count_for_the_offset_but_changes_of_state_do_not(tmp_path):
    recall = action(2, "recall", source="user", query="Fix it.")
    state = action(3, "change_agent_state", agent_state="running")
    told = condensation(10, forgotten_event_ids=[6, 7], summary="SUMMARY", summary_offset=3)
    found = one(tmp_path, [*start(), recall, state, *turns(4, 6), told])
    assert shown(found.after(0)) == ["Be OpenHands.", "Fix it.", "SUMMARY", "I look.", "out 4\n[ok]"]


def test_a_forgotten_task_is_put_back_by_the_agent(tmp_path):
    told = condensation(8, forgotten_events_start_id=0, forgotten_events_end_id=5, summary="SUMMARY", summary_offset=0)
    found = one(tmp_path, [*start(), *turns(2, 4, 6), told])
    assert shown(found.after(0)) == ["Be OpenHands.", "Fix it.", "SUMMARY", "I look.", "out 6\n[ok]"]


def test_a_call_whose_result_was_forgotten_goes_too_and_the_other_way_round(tmp_path):
    told = condensation(8, forgotten_event_ids=[3, 4])
    found = one(tmp_path, [*start(), *turns(2, 4, 6), told])
    assert found.compactions[0].after == (0, 1, 6, 7)
    assert found.compactions[0].summary == ""


def test_a_message_of_several_actions_goes_when_one_of_them_does(tmp_path):
    both = response("r1", ("a", "ls"), ("b", "pwd"))
    pair = [action(2, "run", both, "a"), action(3, "run", both, "b")]
    found = one(tmp_path, [*start(), *pair, *turns(4), condensation(6, forgotten_event_ids=[3])])
    assert found.compactions[0].after == (0, 1, 3, 4)


def test_a_requested_condensation_says_so(tmp_path):
    told = condensation(5, forgotten_event_ids=[2, 3], summary="S", summary_offset=1)
    found = one(tmp_path, [*start(), *turns(2), action(4, "condensation_request"), told])
    assert found.compactions[0].trigger == "requested"


def test_a_range_of_any_length_and_ids_of_any_kind_do_no_harm(tmp_path):
    odd = {**turn(4)[0], "id": "four"}
    told = condensation(
        8, forgotten_events_start_id=2, forgotten_events_end_id=10**18, summary="S", summary_offset=10**9
    )
    found = one(tmp_path, [*start(), *turns(2), odd, told, condensation(9, forgotten_event_ids=[[1], {}, None, 0])])
    assert shown(found.after(0)) == ["Be OpenHands.", "Fix it.", "I look.", "S"]


def test_the_later_architecture_forgets_by_name(tmp_path):
    steps = [acted(2, "a", "r1"), observed(3, "a", "one"), acted(4, "b", "r2"), observed(5, "b", "two")]
    request = kind(6, "CondensationRequest", source="environment", reason="context_limit")
    told = {"forgotten_event_ids": ["e2", "e3"], "summary": "SUMMARY", "summary_offset": 2, "llm_response_id": "r9"}
    condensed = kind(7, "Condensation", source="environment", **told)
    found = one(tmp_path, [*opened(), *steps, request, condensed, acted(8, "c", "r3"), observed(9, "c", "three")])
    [compaction] = found.compactions
    assert (compaction.position, compaction.trigger) == (6, "context_limit")
    assert shown(found.view(8)) == ["Be OpenHands.", "Fix it.", "SUMMARY", "I look.", "two", "I look.", "three"]
    assert found.after(0)[2].blocks == (Text("SUMMARY"),)


def test_the_later_architecture_counts_only_what_a_model_is_sent(tmp_path):
    update = kind(2, "ConversationStateUpdateEvent", source="environment", key="execution_status", value="running")
    steps = [acted(3, "a", "r1"), observed(4, "a", "one"), acted(5, "b", "r2"), observed(6, "b", "two")]
    told = {"forgotten_event_ids": ["e3", "e4"], "summary": "S", "summary_offset": 2, "llm_response_id": "r9"}
    found = one(tmp_path, [*opened(), update, *steps, kind(7, "Condensation", source="environment", **told)])
    assert shown(found.after(0)) == ["Be OpenHands.", "Fix it.", "S", "I look.", "two"]


def test_words_that_the_harness_adds_to_a_message_are_forgotten_with_it(tmp_path):
    events = opened()
    events[1]["extended_content"] = [{"type": "text", "text": "<skill>"}]
    told = {"forgotten_event_ids": ["e1"], "summary": "S", "summary_offset": 1, "llm_response_id": "r9"}
    steps = [acted(2, "a", "r1"), observed(3, "a", "one")]
    found = one(tmp_path, [*events, *steps, kind(4, "Condensation", source="environment", **told)])
    assert [(m.text, m.synthetic) for m in found.messages[1:3]] == [("Fix it.", False), ("<skill>", True)]
    assert shown(found.after(0)) == ["Be OpenHands.", "S", "I look.", "one"]
