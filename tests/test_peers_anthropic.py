"""Anthropic's context editing: its parameters, what is cleared and what stays, and what it is known for."""

import pytest
from histories import agent, answering, calling, system, user
from peers import constants, held, raw, steps
from test_peers import off

from compactlab import catalog
from compactlab.errors import SpecError
from compactlab.markers import CLEARED
from compactlab.peers.clear_thinking import ClearThinking
from compactlab.peers.clear_tool_uses import ClearToolUses
from compactlab.transcript import Reasoning

SESSION = [system(), user(), *steps(8), user("And now?")]


def cleared(given):
    return [r.call_id for m in given.messages for r in m.results if r.text == CLEARED]


def thoughts(given):
    return [block.text for m in given.messages for block in m.blocks if isinstance(block, Reasoning)]


def test_its_constants_are_those_that_were_published():
    assert constants(ClearToolUses) == {
        "trigger": 100_000,
        "trigger_type": "input_tokens",
        "keep": 3,
        "clear_at_least": 0,
        "exclude_tools": (),
        "clear_tool_inputs": False,
    }
    assert constants(ClearThinking) == {"keep": 1}


@pytest.mark.parametrize(("keep", "gone"), [(3, 5), (0, 8), (8, 0), (100, 0)])
def test_the_oldest_results_are_cleared_and_every_call_stays(keep, gone):
    given = raw(ClearToolUses(keep=keep), SESSION)
    assert cleared(given) == [f"c{i}" for i in range(gone)]
    assert [m.calls for m in given.messages] == [m.calls for m in SESSION]


@pytest.mark.parametrize(
    ("inputs", "emptied"), [(False, 0), (True, 5), (("bash",), 5), (("read",), 0), (("read", "bash"), 5)]
)
def test_inputs_of_all_tools_or_of_some_are_cleared_with_their_results(inputs, emptied):
    given = raw(ClearToolUses(clear_tool_inputs=inputs), SESSION)
    assert sum(call.arguments == "{}" for m in given.messages for call in m.calls) == emptied
    assert cleared(given) == [f"c{i}" for i in range(5)]


def test_an_excluded_tool_keeps_its_results_and_counts_among_the_newest():
    session = [user(), *steps(4), *steps(2, name="memory")]
    assert cleared(raw(ClearToolUses(exclude_tools=("bash",)), session)) == []
    assert cleared(raw(ClearToolUses(exclude_tools=("memory",)), session)) == ["c0", "c1", "c2"]


@pytest.mark.parametrize(("least", "gone"), [(0, 5), (400, 5), (100_000, 0)])
def test_nothing_is_cleared_where_it_would_not_be_worth_a_new_cache(least, gone):
    assert len(cleared(raw(ClearToolUses(clear_at_least=least), SESSION))) == gone


@pytest.mark.parametrize(
    ("spec", "more", "is_due"),
    [
        ("clear_tool_uses", {}, True),  # called for, and nobody says how large the window is
        ("clear_tool_uses", {"window": 32_000}, True),  # one in which the trigger cannot be reached
        ("clear_tool_uses", {"window": 200_000}, False),
        ("clear_tool_uses(trigger=500)", {"window": 200_000}, True),
        ("clear_tool_uses(trigger=7, trigger_type='tool_uses')", {"window": 200_000}, True),
        ("clear_tool_uses(trigger=8, trigger_type='tool_uses')", {"window": 200_000}, False),
        ("clear_tool_uses", {"target": 100}, True),
        ("clear_tool_uses", {"target": 100_000}, False),
    ],
)
def test_it_waits_for_its_trigger(spec, more, is_due):
    assert bool(cleared(raw(catalog.strategy(spec), SESSION, **more))) is is_due


def test_a_second_pass_changes_nothing():
    once = held(ClearToolUses(), SESSION)
    assert once.receipt.outcome == "applied"
    assert held(ClearToolUses(), once.messages).receipt.outcome == "skipped"


def test_fault_a_result_that_is_shorter_than_the_placeholder_grows_and_the_guard_refuses_that():
    session = [user(), *(m for i in range(6) for m in (calling(f"c{i}"), answering(f"c{i}"))), user()]
    assert held(off("clear_tool_uses"), session).receipt.outcome == "applied"
    assert held(ClearToolUses(), session).receipt.outcome == "rejected"


THINKING = [
    user("Begin."),
    agent(Reasoning("first"), "One."),
    user("Go on."),
    agent(Reasoning("second"), "Two."),
    agent(Reasoning("also second"), "Still two."),
    user("And?"),
    agent("Three, without a thought."),
    user("Done?"),
]


@pytest.mark.parametrize(("keep", "left"), [(1, ["second", "also second"]), (2, ["first", "second", "also second"])])
def test_reasoning_of_the_newest_turns_that_hold_any_stays(keep, left):
    assert thoughts(raw(ClearThinking(keep=keep), THINKING)) == left


def test_all_reasoning_stays_where_that_is_said():
    assert raw(ClearThinking(keep="all"), THINKING).messages == raw(ClearThinking(keep=9), THINKING).messages
    for wrong in (0, -1, "some", True, 1.5):
        with pytest.raises(SpecError, match="keep"):
            ClearThinking(keep=wrong)


def test_fault_one_long_turn_is_never_cleared():
    session = [user(), *(agent(Reasoning(f"thought {i}"), "On.") for i in range(20)), user()]
    assert len(thoughts(raw(ClearThinking(), session))) == 20


def test_signed_reasoning_is_put_back_by_the_guard_and_goes_without_it():
    signed = [
        user(),
        agent(Reasoning("a " * 200, signature="sig"), "One."),
        user(),
        agent(Reasoning("b"), "Two."),
        user(),
    ]
    assert len(thoughts(held(ClearThinking(), signed))) == 2
    assert thoughts(held(off("clear_thinking"), signed)) == ["b"]
