"""OpenHands' condensers: their constants, which events are left, what is made of them, and their known faults."""

import json

import pytest
from histories import agent, answering, calling, messages, system, user
from hypothesis import given, settings
from peers import constants, context, held, raw, sources, steps, talk
from test_peers import off

from compactlab import catalog
from compactlab.errors import SpecError
from compactlab.llm import ModelError
from compactlab.peers._openhands import HEADING, View
from compactlab.peers.openhands_amortized import AmortizedForgetting
from compactlab.peers.openhands_attention import Attention
from compactlab.peers.openhands_masking import MASK, ObservationMasking
from compactlab.peers.openhands_recent import RecentEvents
from compactlab.peers.openhands_structured import NAMES, StructuredSummary
from compactlab.peers.openhands_summary import SummarisingCondenser
from compactlab.validity import broken

TALK = [system(), *talk(40)]
WORK = [system(), user("Fix it."), *steps(30)]
STATE = json.dumps(dict.fromkeys(NAMES[:3], "port 5433"))


@pytest.mark.parametrize(
    ("cls", "published"),
    [
        (RecentEvents, {"keep_first": 1, "max_events": 100}),
        (ObservationMasking, {"attention_window": 100}),
        (AmortizedForgetting, {"max_size": 100, "keep_first": 1}),
        (SummarisingCondenser, {"max_size": 100, "keep_first": 1, "max_event_length": 10_000}),
        (StructuredSummary, {"max_size": 100, "keep_first": 1, "max_event_length": 10_000}),
        (Attention, {"max_size": 100, "keep_first": 1}),
    ],
)
def test_their_constants_are_those_of_its_settings(cls, published):
    assert constants(cls) == published


@pytest.mark.parametrize(
    "name", ["openhands_amortized", "openhands_summary", "openhands_structured", "openhands_attention"]
)
def test_the_first_events_must_leave_half_of_the_size_free(name):
    assert catalog.strategy(f"{name}(max_size=10, keep_first=4)").keep_first == 4
    with pytest.raises(SpecError, match="keep_first"):
        catalog.strategy(f"{name}(max_size=10, keep_first=5)")


def test_a_call_and_a_result_are_events_of_their_own():
    session = [system(), user(), calling("a", "b"), answering("a", "b"), agent()]
    assert len(View(tuple(session)).events) == 7


@given(messages())
@settings(max_examples=100)
def test_all_events_together_make_no_call_without_its_result(drawn):
    view = View(tuple(drawn))
    pairs = {rule for rule in broken(view.wire(view.events)) if "orphan" in rule or "unanswered" in rule}
    assert pairs <= broken(drawn)


# ---- which events are left


def test_recent_keeps_the_first_and_the_newest_and_the_task_is_put_back():
    assert sources(raw(RecentEvents(max_events=4), TALK)) == [0, 1, 38, 39, 40]
    assert sources(raw(RecentEvents(max_events=6, keep_first=3), TALK)) == [0, 1, 2, 38, 39, 40]


def test_amortized_forgets_down_to_half_of_its_size():
    assert sources(raw(AmortizedForgetting(max_size=12), TALK)) == [0, 1, *range(36, 41)]
    assert sources(raw(AmortizedForgetting(max_size=12, keep_first=3), TALK)) == [0, 1, 2, *range(38, 41)]
    once = held(AmortizedForgetting(max_size=12), TALK)
    assert held(AmortizedForgetting(max_size=12), once.messages).receipt.outcome == "skipped"


def test_masking_leaves_what_stands_in_its_window():
    given_ = raw(ObservationMasking(attention_window=4), WORK)
    assert given_.notes == ("28 observations masked",)
    assert [m.text for m in given_.messages if m.synthetic] == [MASK] * 28
    assert [r.call_id for m in given_.messages for r in m.results] == ["c28", "c29"]
    assert sources(raw(ObservationMasking(), WORK)) == list(range(62))


def test_a_summary_stands_behind_the_first_events_and_is_brought_up_to_date():
    condenser = SummarisingCondenser(max_size=12)
    once = held(condenser, TALK, "COMPLETED: moved")
    assert [m.text for m in once.messages if m.synthetic] == [f"{HEADING}\nCOMPLETED: moved"]
    assert [m.role for m in once.messages][:3] == ["system", "user", "user"]
    asked = context("COMPLETED: all")
    again = condenser.compact(tuple(m for m in (*once.messages, *talk(10)[2:])), asked)
    assert "COMPLETED: moved" in asked.model.requests[0].prompt
    assert [m.text for m in again.messages if m.synthetic] == [f"{HEADING}\nCOMPLETED: all"]


def test_a_long_event_loses_its_middle_before_the_model_reads_it():
    asked = context("fine")
    session = [system(), user("Go."), agent("a" * 900 + "MIDDLE" + "b" * 900), *talk(30)]
    SummarisingCondenser(max_size=12, max_event_length=100).compact(tuple(session), asked)
    prompt = asked.model.requests[0].prompt
    assert "MIDDLE" not in prompt
    assert "aaaa" in prompt
    assert "bbbb" in prompt


def test_the_form_is_filled_in_by_name():
    [note] = [m.text for m in held(StructuredSummary(max_size=12), TALK, STATE).messages if m.synthetic]
    assert "user_context: port 5433" in note
    assert all(f"{name}:" in note for name in NAMES)
    fenced = held(StructuredSummary(max_size=12), TALK, f"```json\n{STATE}\n```")
    assert [m.text for m in fenced.messages if m.synthetic] == [note]


def test_attention_keeps_what_the_model_put_first_and_fills_up_with_the_newest():
    given_ = raw(Attention(max_size=12), TALK, '{"ids": [8, 20, 0]}')
    assert sources(given_) == [0, 1, 8, 20, 38, 39, 40]


# ---- known faults


def test_fault_a_short_list_has_its_first_event_twice_and_the_guard_refuses_that():
    assert sources(raw(RecentEvents(), TALK[:10])) == [0, *range(10)]
    assert held(off("openhands_recent"), TALK[:10]).receipt.count("kept") == 10
    assert held(RecentEvents(), TALK[:10]).receipt.outcome == "rejected"


def test_fault_any_words_of_a_person_that_come_second_pass_for_the_task():
    assert sources(raw(RecentEvents(max_events=5), TALK)) == [0, 37, 38, 39, 40]
    assert held(RecentEvents(max_events=5), TALK).receipt.restored == (1,)


def test_fault_half_a_pair_vanishes_without_a_word():
    given_ = raw(AmortizedForgetting(max_size=10), [system(), user(), *steps(20)])
    assert sources(given_) == [0, 1, *range(38, 42)]  # the newest four, not five: one had lost its call


def test_fault_what_was_masked_takes_its_call_with_it():
    masked = held(off("openhands_masking(attention_window=4)"), WORK)
    assert sum(len(m.calls) for m in masked.messages) == 2
    assert masked.receipt.count("dropped") == 56


@pytest.mark.parametrize("name", ["openhands_summary", "openhands_structured"])
def test_fault_a_list_of_half_the_size_cannot_be_condensed_whatever_it_weighs(name):
    done = held(catalog.strategy(name), [system(), user("x" * 50_000), *talk(30)], "fine")
    assert done.receipt.outcome == "failed"
    assert done.receipt.reason == "ValueError: 32 events, of which none would be forgotten: the pass breaks off"


@pytest.mark.parametrize(
    "reply", [STATE[:-1], '{"user_context": 5433}', '{"user_context": ["a"], "pr_status": "open"}']
)
def test_fault_a_form_that_cannot_be_read_is_empty_and_the_events_go_all_the_same(reply):
    done = held(StructuredSummary(max_size=12), TALK, reply)
    assert done.receipt.outcome == "applied"
    assert done.receipt.notes == ("the reply could not be read: the form is empty",)
    assert all(
        line.endswith((": ", "]")) or line[:2] in ("", "##")
        for m in done.messages
        if m.synthetic
        for line in m.text.split("\n")
    )


def test_fault_numbers_that_stand_for_no_event_take_up_places():
    assert len(sources(raw(Attention(max_size=12), TALK, '{"ids": [900, 901, 902, 903, 904]}'))) == 2


def test_attention_needs_a_real_model():
    with pytest.raises(ModelError, match="no list of ids"):
        raw(Attention(max_size=12), TALK, "- the port is 5433")
