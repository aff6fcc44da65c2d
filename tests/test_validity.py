"""Which message lists each provider accepts."""

import time

import pytest
from histories import agent, answering, call, calling, messages, result, split_and_turn_shape, system, user
from hypothesis import given, settings

from compactlab.errors import UnknownName
from compactlab.history import pair, repair, split_turns
from compactlab.transcript import Image, Message, Reasoning, Text
from compactlab.validity import Violation, broken, violations

RULE_SETS = ("openai", "anthropic", "strict")
ALL = {"openai", "anthropic", "strict"}
PAIRING = {"unanswered_call", "orphan_result", "doubled_result", "doubled_call_id"}
SIGNED = Reasoning("thought", signature="s")


def rules(history, rule_set):
    return {violation.rule for violation in violations(history, rule_set)}


ACCEPTED_BY = [
    ("a question", [user()], ALL),
    ("system, question, answer", [system(), user(), agent()], ALL),
    ("two system messages first", [system(), system("Be brief."), user()], ALL),
    ("one call and its result", [user(), calling("a"), answering("a"), agent()], ALL),
    ("a result at the end", [user(), calling("a"), answering("a")], ALL),
    ("calls step by step", [user(), calling("a"), answering("a"), calling("b"), answering("b"), agent()], ALL),
    ("twelve results, one message each", [user(), calling(*"abcdefghijkl"), *map(answering, "abcdefghijkl")], ALL),
    ("twelve results in one message", [user(), calling(*"abcdefghijkl"), answering(*"abcdefghijkl")], ALL),
    ("results out of order", [user(), calling("a", "b"), answering("b"), answering("a")], ALL),
    ("an id used again in a later step", [user(), calling("a"), answering("a"), calling("a"), answering("a")], ALL),
    ("a whole turn in one message", [user(), agent(call("a"), result("a"), call("b"), result("b"), "ok")], ALL),
    ("signed reasoning before words", [user(), agent(SIGNED, "Hello.")], ALL),
    ("signed reasoning before a call", [user(), agent(SIGNED, call("a")), answering("a")], ALL),
    ("a picture without words", [Message("user", (Image("image/png"),)), agent()], ALL),
    ("an empty result", [user(), calling("a"), Message("tool", (result("a", ""),))], ALL),
    ("two user messages in a row", [user(), user("And?")], {"openai", "anthropic"}),
    ("two assistant messages in a row", [user(), agent(), agent()], {"openai", "anthropic"}),
    ("a person speaks after results", [user(), calling("a"), answering("a"), user()], {"openai", "anthropic"}),
    ("the agent speaks first", [agent(), user()], {"openai"}),
    ("a later system message", [user(), agent(), system("Be brief."), user()], {"openai"}),
    ("blank words", [user(" \n"), agent("")], {"openai", "strict"}),
    ("an empty id", [user(), calling(""), answering("")], {"openai", "strict"}),
    ("an id with a colon", [user(), calling("eval:1"), answering("eval:1")], {"openai", "strict"}),
    ("words after a call", [user(), agent(call("a"), "wait"), answering("a")], {"openai", "strict"}),
    ("an empty last message of the agent", [user(), Message("assistant", ())], {"anthropic"}),
    ("a last message of unsigned reasoning", [user(), agent(Reasoning("hm"))], {"anthropic"}),
]


@pytest.mark.parametrize(
    ("history", "accepting"), [case[1:] for case in ACCEPTED_BY], ids=[case[0] for case in ACCEPTED_BY]
)
def test_lists_are_accepted_by_exactly_these_rule_sets(history, accepting):
    assert {rule_set for rule_set in RULE_SETS if not violations(history, rule_set)} == accepting


BROKEN = [
    ("openai", "unanswered_call", 1, [user(), calling("a"), user(), agent()]),
    ("openai", "unanswered_call", 1, [user(), calling("a", "b"), answering("a"), agent()]),
    ("openai", "unanswered_call", 1, [user(), calling("a"), user(), answering("a")]),
    ("openai", "orphan_result", 3, [user(), calling("a"), user(), answering("a")]),
    ("openai", "orphan_result", 0, [answering("a"), user()]),
    ("openai", "orphan_result", 1, [user(), answering("a")]),
    ("openai", "orphan_result", 3, [user(), calling("a"), answering("a"), answering("b")]),
    ("openai", "orphan_result", 3, [user(), calling("a"), system("Hurry."), answering("a")]),
    ("openai", "doubled_result", 3, [user(), calling("a"), answering("a"), answering("a")]),
    ("openai", "doubled_result", 2, [user(), calling("a"), answering("a", "a")]),
    ("openai", "doubled_call_id", 1, [user(), calling("a", "a"), answering("a", "a")]),
    ("openai", "doubled_call_id", 1, [user(), calling("", ""), answering("", "")]),
    ("openai", "unanswered_call", 1, [user(), calling("a", "a"), answering("a"), agent()]),
    ("openai", "open_call", 1, [user(), calling("a")]),
    ("openai", "open_call", 1, [user(), calling("a", "b"), answering("a")]),
    ("openai", "open_call", 1, [user(), calling("a"), user()]),
    ("openai", "open_call", 1, [user(), agent(call("a"), result("a"), call("b"))]),
    ("openai", "empty_message", 1, [user(), Message("assistant", ()), user()]),
    ("openai", "empty_message", 1, [user(), agent(Reasoning("hm")), user()]),
    ("openai", "empty_message", 0, [Message("user", ()), agent()]),
    ("openai", "empty_message", 1, [user(), Message("tool", ())]),
    ("openai", "no_messages", 0, []),
    ("openai", "no_messages", 0, [system()]),
    ("openai", "orphan_result", 1, [user(), Message("user", (result("a"), Text("see?")))]),
    ("anthropic", "late_result", 2, [user(), calling("a"), Message("user", (Text("see"), result("a")))]),
    ("anthropic", "misplaced_block", 0, [Message("system", (call("a"),)), user()]),
    ("openai", "misplaced_block", 0, [Message("user", (call("a"),))]),
    ("openai", "misplaced_block", 1, [user(), Message("tool", (Text("fine"),))]),
    ("anthropic", "unanswered_call", 1, [user(), calling("a"), agent(), user()]),
    ("anthropic", "unanswered_call", 1, [user(), calling("a"), user(), agent(), answering("a")]),
    ("anthropic", "orphan_result", 4, [user(), calling("a"), user(), agent(), answering("a")]),
    ("anthropic", "late_result", 3, [user(), calling("a"), user(), answering("a")]),
    ("anthropic", "late_result", 4, [user(), calling("a", "b"), answering("a"), user(), answering("b")]),
    ("anthropic", "doubled_result", 3, [user(), calling("a"), answering("a"), answering("a")]),
    ("anthropic", "doubled_call_id", 1, [user(), calling("a", "a"), answering("a", "a")]),
    ("anthropic", "doubled_call_id", 2, [user(), calling("a"), calling("a"), answering("a", "a")]),
    ("anthropic", "open_call", 1, [user(), calling("a")]),
    ("anthropic", "open_call", 1, [user(), calling("a"), user()]),
    ("anthropic", "unanswered_call", 1, [user(), calling("a"), calling("b")]),
    ("anthropic", "open_call", 2, [user(), calling("a"), calling("b")]),
    ("anthropic", "empty_text", 0, [user("")]),
    ("anthropic", "empty_text", 1, [user(), agent("\n"), user()]),
    ("anthropic", "empty_text", 0, [system(" "), user()]),
    ("anthropic", "empty_message", 1, [user(), Message("assistant", ()), user()]),
    ("anthropic", "empty_message", 1, [user(), agent(Reasoning("unsigned")), user()]),
    ("anthropic", "empty_message", 0, [Message("user", ())]),
    ("anthropic", "malformed_id", 1, [user(), calling("a|b"), answering("a|b")]),
    ("anthropic", "reasoning_last", 1, [user(), agent(SIGNED), user()]),
    ("anthropic", "reasoning_last", 1, [user(), agent("Hm.", Reasoning(opaque="xx")), user()]),
    ("anthropic", "words_after_call", 1, [user(), agent(call("a"), "wait"), answering("a")]),
    ("anthropic", "words_after_call", 2, [user(), calling("a"), agent("wait"), answering("a")]),
    ("anthropic", "first_not_user", 1, [system(), agent(), user()]),
    ("anthropic", "late_system", 2, [system(), user(), system("Be brief.")]),
    ("anthropic", "no_messages", 0, [system(), system()]),
    ("strict", "not_alternating", 1, [user(), user()]),
    ("strict", "not_alternating", 2, [user(), agent(), agent()]),
    ("strict", "not_alternating", 3, [user(), calling("a"), answering("a"), user()]),
    ("strict", "not_alternating", 1, [system(), agent(), user()]),
    ("strict", "late_system", 1, [user(), system()]),
    ("strict", "unanswered_call", 1, [user(), calling("a"), agent()]),
]


@pytest.mark.parametrize(("rule_set", "rule", "position", "history"), BROKEN)
def test_a_broken_rule_is_named_with_its_place(rule_set, rule, position, history):
    assert (rule, position) in {(v.rule, v.position) for v in violations(history, rule_set)}


def test_every_rule_set_that_breaks_is_named_before_the_rule():
    assert broken([user(), calling("a"), agent()]) == {
        "openai:unanswered_call",
        "anthropic:unanswered_call",
        "anthropic:words_after_call",
    }
    assert broken([user(), user()], ("strict",)) == {"strict:not_alternating"}
    assert broken([user()], RULE_SETS) == frozenset()


def test_results_in_several_messages_are_joined_on_the_wire():
    history = [user(), calling("a", "b"), answering("a"), answering("b"), user("And now?"), agent()]
    assert violations(history, "anthropic") == ()


def test_calls_of_neighbouring_assistant_messages_are_one_turn_for_anthropic_only():
    history = [user(), calling("a"), calling("b"), answering("a", "b")]
    assert violations(history, "anthropic") == ()
    assert rules(history, "openai") == {"unanswered_call", "orphan_result"}


def test_only_calls_of_the_last_assistant_message_can_be_open():
    history = [user(), calling("a"), user(), calling("b", "c"), answering("b")]
    found = violations(history, "openai")
    assert found == (
        Violation("unanswered_call", 1, "call 'a'"),
        Violation("open_call", 3, "call 'c'"),
    )


def test_a_last_call_that_is_answered_too_late_is_not_open():
    assert "open_call" not in rules([user(), calling("a"), user(), answering("a")], "openai")


def test_positions_are_those_of_the_list_as_given_in_either_shape():
    whole = agent(call("a"), result("a"), call("b"), call("b"))
    assert [(v.rule, v.position) for v in violations([user(), whole, agent()], "openai")] == [
        ("doubled_call_id", 1),
        ("unanswered_call", 1),
        ("unanswered_call", 1),
    ]


def test_an_unknown_rule_set_is_refused_with_the_known_ones():
    with pytest.raises(UnknownName, match="'gemini' is unknown; known are openai, anthropic, strict"):
        violations([user()], "gemini")


@given(messages())
def test_violations_are_ordered_and_stand_inside_the_list(history):
    for rule_set in RULE_SETS:
        positions = [v.position for v in violations(history, rule_set)]
        assert positions == sorted(positions)
        assert all(0 <= position < max(1, len(history)) for position in positions)


@given(messages())
def test_a_call_that_no_result_ever_answers_is_found(history):
    split, _ = split_turns(history)
    found = {v.position for v in violations(split, "openai") if v.rule in {"open_call", "unanswered_call"}}
    assert {place.message for place in pair(split).open_calls if split[place.message].role == "assistant"} <= found


@given(messages())
def test_a_list_and_its_split_form_break_the_same_rules(history):
    assert broken(history, RULE_SETS) == broken(split_turns(history)[0], RULE_SETS)


@given(split_and_turn_shape())
def test_both_storage_shapes_break_the_same_rules(shapes):
    assert broken(shapes.split, RULE_SETS) == broken(shapes.turns, RULE_SETS)


@given(split_and_turn_shape())
def test_repair_leaves_no_broken_pair_where_nothing_stands_between_call_and_result(shapes):
    assert not PAIRING & rules(repair(shapes.turns).messages, "openai")


@settings(max_examples=30)
@given(messages(max_events=6))
def test_a_list_without_violations_keeps_none_after_repair(history):
    for rule_set in RULE_SETS:
        if not violations(history, rule_set):
            assert violations(repair(history).messages, rule_set) == ()


@pytest.mark.study
def test_time_grows_with_the_length_and_not_with_its_square():
    step = [user(), calling("a", "b"), answering("b"), answering("a"), agent(Reasoning("hm"), "Next.")]
    short, long = step * 400, step * 4_000

    def seconds(history):
        start = time.process_time()
        for rule_set in RULE_SETS:
            violations(history, rule_set)
        return time.process_time() - start

    assert min(seconds(long) for _ in range(2)) < 30 * min(seconds(short) for _ in range(5))
