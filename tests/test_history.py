"""Pairing, units, anchor, protected set, repair, and the two storage shapes."""

import time
from itertools import pairwise
from timeit import Timer

import pytest
from histories import agent, answering, call, calling, messages, result, split_and_turn_shape, system, user
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from compactlab.history import (
    Place,
    Repair,
    anchor,
    join_turns,
    pair,
    protected,
    repair,
    split_turns,
    units,
)
from compactlab.markers import NO_RESULT
from compactlab.transcript import Image, Message, Reasoning, Text, ToolResult

TWELVE = tuple(f"c{i}" for i in range(12))


def pairs(history):
    return {(r.message, r.block): (c.message, c.block) for r, c in pair(history).call_of.items()}


PAIRED = [
    ("nothing to pair", [user(), agent()], {}),
    ("a call and its result", [calling("a"), answering("a")], {(1, 0): (0, 0)}),
    ("results out of order", [calling("a", "b"), answering("b", "a")], {(1, 0): (0, 1), (1, 1): (0, 0)}),
    ("results in two messages", [calling("a", "b"), answering("b"), answering("a")], {(1, 0): (0, 1), (2, 0): (0, 0)}),
    ("a person between", [calling("a", "b"), answering("a"), user(), answering("b")], {(1, 0): (0, 0), (3, 0): (0, 1)}),
    (
        "an id used again",
        [calling("a"), answering("a"), calling("a"), answering("a")],
        {(1, 0): (0, 0), (3, 0): (2, 0)},
    ),
    ("an id used twice at once", [calling("a", "a"), answering("a", "a")], {(1, 0): (0, 0), (1, 1): (0, 1)}),
    ("empty ids", [calling("", ""), answering(""), answering("")], {(1, 0): (0, 0), (2, 0): (0, 1)}),
    (
        "empty ids in two steps",
        [calling(""), answering(""), calling(""), answering("")],
        {(1, 0): (0, 0), (3, 0): (2, 0)},
    ),
    ("an open id used again", [calling("a"), user(), calling("a"), answering("a")], {(3, 0): (2, 0)}),
    ("two open ones of an id", [calling("a"), calling("a"), answering("a", "a")], {(2, 0): (1, 0), (2, 1): (0, 0)}),
    (
        "a late result",
        [calling("a"), user(), agent(), calling("b"), answering("b", "a")],
        {(4, 0): (3, 0), (4, 1): (0, 0)},
    ),
    ("a whole turn", [agent(call("a"), result("a"), call("b"), result("b"), "ok")], {(0, 1): (0, 0), (0, 3): (0, 2)}),
    ("a whole turn, one id", [agent(call("a"), result("a"), call("a"), result("a"))], {(0, 1): (0, 0), (0, 3): (0, 2)}),
    ("twelve calls", [calling(*TWELVE), *map(answering, TWELVE)], {(i + 1, 0): (0, i) for i in range(12)}),
    ("twelve, backwards", [calling(*TWELVE), answering(*TWELVE[::-1])], {(1, 11 - i): (0, i) for i in range(12)}),
    ("a result before its call", [answering("a"), calling("a")], {}),
]


@pytest.mark.parametrize(("history", "expected"), [c[1:] for c in PAIRED], ids=[c[0] for c in PAIRED])
def test_results_pair_with_calls_by_id_and_occurrence(history, expected):
    assert pairs(history) == expected


def test_what_finds_no_partner_stands_beside():
    history = [calling("a", "b"), answering("b", "b"), answering("c"), user(), answering("b")]
    found = pair(history)
    assert found.open_calls == (Place(0, 0),)
    assert found.doubles == (Place(1, 1), Place(4, 0))
    assert found.orphans == (Place(2, 0),)


def test_a_result_before_its_call_is_an_orphan_and_the_call_stays_open():
    found = pair([answering("a"), calling("a")])
    assert (found.orphans, found.open_calls, found.doubles) == ((Place(0, 0),), (Place(1, 0),), ())


@given(messages())
def test_every_call_and_result_is_paired_or_listed_once(history):
    found = pair(history)
    results = [*found.call_of, *found.orphans, *found.doubles]
    calls = [*found.call_of.values(), *found.open_calls]
    places = [(p, i, b) for p, m in enumerate(history) for i, b in enumerate(m.blocks)]
    assert sorted(results) == [Place(p, i) for p, i, b in places if isinstance(b, ToolResult)]
    assert sorted(calls) == [Place(p, i) for p, i, b in places if type(b).__name__ == "ToolCall"]
    for result_at, call_at in found.call_of.items():
        assert call_at < result_at
        assert block(history, call_at).id == block(history, result_at).call_id


def block(history, place):
    return history[place.message].blocks[place.block]


UNITS = [
    ("nothing", [], ()),
    ("words", [system(), user(), agent()], ((0,), (1,), (2,))),
    ("a step", [user(), calling("a"), answering("a"), agent()], ((0,), (1, 2), (3,))),
    ("twelve results", [calling(*TWELVE), *map(answering, TWELVE), user()], (tuple(range(13)), (13,))),
    ("a person between", [calling("a"), user(), answering("a")], ((0, 2), (1,))),
    ("one message answers two", [calling("a"), calling("b"), answering("a", "b")], ((0, 1, 2),)),
    ("an orphan", [user(), answering("a")], ((0,), (1,))),
    ("a call never answered", [calling("a"), user(), calling("b"), answering("b")], ((0,), (1,), (2, 3))),
    ("a late result", [calling("a"), user(), calling("b"), answering("b"), answering("a")], ((0, 4), (1,), (2, 3))),
    ("a whole turn", [user(), agent(call("a"), result("a"), "ok"), user()], ((0,), (1,), (2,))),
]


@pytest.mark.parametrize(("history", "expected"), [c[1:] for c in UNITS], ids=[c[0] for c in UNITS])
def test_a_unit_is_a_message_or_a_step_with_all_its_results(history, expected):
    assert units(history) == expected


@given(messages())
def test_units_partition_the_list_and_never_cut_a_pair(history):
    found = units(history)
    assert sorted(p for unit in found for p in unit) == list(range(len(history)))
    assert all(list(unit) == sorted(unit) for unit in found)
    assert all(one[0] < other[0] for one, other in pairwise(found))
    unit_of = {p: number for number, unit in enumerate(found) for p in unit}
    assert all(unit_of[r.message] == unit_of[c.message] for r, c in pair(history).call_of.items())


ANCHORS = [
    ("nothing", [], ()),
    ("system and question", [system(), user(), agent()], (0, 1)),
    ("two system messages", [system(), system("Be brief."), user(), user()], (0, 1, 2)),
    ("no system message", [user(), agent()], (0,)),
    ("a reminder before the person", [system(), user("<hook>", synthetic=True), user("Hi")], (0, 2)),
    ("the agent greets", [system(), agent(), user("Hi")], (0, 2)),
    ("a picture is a person's word", [Message("user", (Image("image/png"),)), user()], (0,)),
    ("an empty user message is none", [Message("user", ()), user("Hi")], (1,)),
    ("nobody speaks", [system(), agent()], (0,)),
]


@pytest.mark.parametrize(("history", "expected"), [c[1:] for c in ANCHORS], ids=[c[0] for c in ANCHORS])
def test_the_anchor_is_the_leading_system_and_the_first_person(history, expected):
    assert anchor(history) == expected


TALK = [system(), user("first"), agent(), user("second"), agent(), user("third"), agent("last")]
STEPS = [user("first"), calling("a"), answering("a"), calling("b"), answering("b"), calling("c"), answering("c")]

PROTECTED = [
    ("nothing", [], set()),
    ("anchor, last person, last answer", TALK, {0, 1, 5, 6}),
    ("all after the last answer", [*TALK[:5], user("more"), user("and more")], {0, 1, 4, 5, 6}),
    ("no answer yet", [system(), user("first"), user("<hook>", synthetic=True)], {0, 1, 2}),
    ("only tool traffic after one question", STEPS, {0, 5, 6}),
    ("open calls at the end", [*STEPS, calling("d", "e"), answering("e")], {0, 7, 8}),
    ("a later system message", [*TALK[:3], system("Never push."), *TALK[3:]], {0, 1, 3, 6, 7}),
    ("not a synthetic one", [*TALK[:3], system("<hook>", synthetic=True), *TALK[3:]], {0, 1, 6, 7}),
    ("a pin", [*TALK[:3], user("Keep this.", pinned=True), *TALK[3:]], {0, 1, 3, 6, 7}),
    (
        "a pinned call keeps its result",
        [*TALK[:3], calling("a", pinned=True), answering("a"), *TALK[3:]],
        {0, 1, 3, 4, 7, 8},
    ),
    (
        "a pinned result keeps its call",
        [*TALK[:3], calling("a"), answering("a", pinned=True), *TALK[3:]],
        {0, 1, 3, 4, 7, 8},
    ),
    ("a late result keeps its call", [user(), calling("a"), user("x"), agent(), answering("a")], {0, 1, 2, 3, 4}),
    ("reminders are no person's word", [*TALK, user("<hook>", synthetic=True)], {0, 1, 5, 6, 7}),
    ("a whole turn is the last answer", [*TALK, user("x"), agent(call("a"), result("a"), "ok")], {0, 1, 7, 8}),
]


@pytest.mark.parametrize(("history", "expected"), [c[1:] for c in PROTECTED], ids=[c[0] for c in PROTECTED])
def test_the_protected_set_is_what_no_strategy_may_touch(history, expected):
    assert protected(history) == expected


def test_pins_can_be_left_out_and_other_protection_stays():
    history = [*TALK[:3], user("Keep this.", pinned=True), *TALK[3:-1], agent("last", pinned=True)]
    assert protected(history) - protected(history, pins=False) == {3}


@given(messages())
def test_the_protected_set_is_closed_over_units_and_holds_all_that_it_must(history):
    held = protected(history)
    assert all(set(unit) <= held or held.isdisjoint(unit) for unit in units(history))
    assert set(anchor(history)) <= held
    last = max((i for i, m in enumerate(history) if m.role == "assistant"), default=0)
    assert set(range(last, len(history))) <= held
    assert {i for i, m in enumerate(history) if m.pinned} <= held
    assert {i for i, m in enumerate(history) if m.role == "system" and not m.synthetic} <= held
    assert {i for i, m in enumerate(history) if m.by_person} == set() or max(
        i for i, m in enumerate(history) if m.by_person
    ) in held
    assert protected(history, pins=False) <= held


@given(split_and_turn_shape())
def test_pieces_of_a_whole_turn_take_turns_and_share_its_source(shapes):
    split, origins = split_turns(shapes.turns)
    assert split == shapes.split
    assert list(origins) == sorted(origins)
    assert [shapes.turns[o].source for o in origins] == [m.source for m in split]


@given(messages())
def test_joining_undoes_splitting(history):
    assert join_turns(*split_turns(history)) == history


@given(messages())
def test_splitting_twice_is_splitting_once(history):
    split, _ = split_turns(history)
    again, origins = split_turns(split)
    assert again == split
    assert origins == tuple(range(len(split)))


@given(messages())
def test_splitting_loses_no_block_and_keeps_the_marks_of_a_message(history):
    split, origins = split_turns(history)
    assert [b for m in split for b in m.blocks] == [b for m in history for b in m.blocks]
    for message, origin in zip(split, origins, strict=True):
        whole = history[origin]
        assert replace(message, role=whole.role, blocks=whole.blocks) == whole


MIXED = [
    ("a result and words of a person", Message("user", (result("a"), Text("and?"))), ["tool", "user"]),
    ("words, then a result", Message("user", (Text("see"), result("a"))), ["user", "tool"]),
    ("a whole turn", agent(Reasoning("hm"), call("a"), result("a"), "ok"), ["assistant", "tool", "assistant"]),
    ("results alone", answering("a", "b"), ["tool"]),
    ("results alone, stored with the agent", agent(result("a")), ["tool"]),
    ("no blocks", Message("assistant", ()), ["assistant"]),
]


@pytest.mark.parametrize(("message", "roles"), [c[1:] for c in MIXED], ids=[c[0] for c in MIXED])
def test_words_and_results_of_one_message_get_roles_of_their_own(message, roles):
    assert [m.role for m in split_turns([message])[0]] == roles


def stand_in(call_id):
    return Message("tool", (ToolResult(call_id, (Text(NO_RESULT),), is_error=True),), synthetic=True)


REPAIRED = [
    ("nothing to mend", TALK, TALK),
    ("open calls of the last turn", [user(), calling("a", "b")], [user(), calling("a", "b")]),
    ("still open while a person speaks", [user(), calling("a"), user()], [user(), calling("a"), user()]),
    ("a call never answered", [calling("a"), user(), agent()], [calling("a"), stand_in("a"), user(), agent()]),
    (
        "one of two never answered",
        [calling("a", "b"), answering("b"), agent()],
        [calling("a", "b"), answering("b"), stand_in("a"), agent()],
    ),
    ("an empty id", [calling(""), agent()], [calling(""), stand_in(""), agent()]),
    ("a doubled answer", [calling("a"), answering("a"), answering("a")], [calling("a"), answering("a")]),
    ("a doubled answer in one", [calling("a"), answering("a", "a")], [calling("a"), answering("a")]),
    ("an orphan", [user(), answering("a"), agent()], [user(), agent()]),
    ("an orphan beside a result", [calling("a"), answering("x", "a")], [calling("a"), answering("a")]),
    ("a result before its call", [answering("a"), calling("a")], [calling("a")]),
    (
        "a late result stays",
        [calling("a"), user(), agent(), answering("a")],
        [calling("a"), user(), agent(), answering("a")],
    ),
    ("an orphan beside words", [Message("user", (result("x"), Text("hi")))], [user("hi")]),
    ("a message without blocks stays", [Message("user", ()), agent()], [Message("user", ()), agent()]),
    (
        "a whole turn with an open call",
        [agent(call("a"), result("a"), call("b")), agent()],
        [calling("a"), answering("a"), calling("b"), stand_in("b"), agent()],
    ),
    (
        "an id used twice at once, answered once",
        [calling("a", "a"), answering("a"), agent()],
        [calling("a", "a"), answering("a"), stand_in("a"), agent()],
    ),
    (
        "twelve calls, one answer",
        [calling(*TWELVE), answering("c5"), agent()],
        [calling(*TWELVE), answering("c5"), *(stand_in(i) for i in TWELVE if i != "c5"), agent()],
    ),
]


@pytest.mark.parametrize(("history", "expected"), [c[1:] for c in REPAIRED], ids=[c[0] for c in REPAIRED])
def test_repair_closes_what_was_never_answered_and_drops_what_answers_nothing(history, expected):
    assert list(repair(history).messages) == expected


def test_repair_lists_what_it_did_at_positions_of_its_input():
    history = [
        agent(call("a"), result("a"), call("b")),
        user(),
        answering("b"),
        answering("b"),
        answering("x"),
        agent(),
    ]
    assert repair(history).repairs == (
        Repair("dropped", "b", 3, "its call was answered before"),
        Repair("dropped", "x", 4, "no call before it"),
    )
    closed = repair([user(), calling("a"), agent()])
    assert closed.repairs == (Repair("closed", "a", 1, "no result was recorded"),)
    assert closed.origins == (0, 1, None, 2)


def test_a_list_without_faults_comes_back_equal_and_in_order():
    history = [system(), user(), calling("a", "b"), answering("b"), answering("a"), agent(), user()]
    assert repair(history).messages == tuple(history)
    assert repair(history).origins == tuple(range(7))
    assert repair(history).repairs == ()


@given(messages())
def test_after_repair_only_calls_of_the_last_turn_are_open(history):
    mended = repair(history).messages
    found = pair(mended)
    last = max((i for i, m in enumerate(mended) if m.role == "assistant"), default=None)
    assert found.orphans == ()
    assert found.doubles == ()
    assert {place.message for place in found.open_calls} <= {last}


@given(messages())
def test_repairing_twice_is_repairing_once(history):
    once = repair(history)
    twice = repair(once.messages)
    assert twice.repairs == ()
    assert twice.messages == once.messages
    assert twice.origins == tuple(range(len(once.messages)))


@given(messages())
def test_repair_invents_stand_ins_only_and_drops_results_only(history):
    mended = repair(history)
    made = [m for m, origin in zip(mended.messages, mended.origins, strict=True) if origin is None]
    assert all(m.synthetic and m.results[0].text == NO_RESULT and m.source is None for m in made)
    assert len(made) == sum(r.what == "closed" for r in mended.repairs)
    kept = [b for m, o in zip(mended.messages, mended.origins, strict=True) if o is not None for b in m.blocks]
    dropped = [b for m in history for b in m.blocks]
    for one in kept:
        dropped.remove(one)
    assert len(dropped) == sum(r.what == "dropped" for r in mended.repairs)
    assert all(isinstance(b, ToolResult) for b in dropped)


@given(messages())
def test_repair_leaves_a_list_without_faults_alone(history):
    mended = repair(history).messages
    split, origins = split_turns(mended)
    assert repair(mended) == (split, origins, ())


@given(split_and_turn_shape())
def test_a_session_is_mended_and_grouped_the_same_in_both_shapes(shapes):
    split, turns = repair(shapes.split), repair(shapes.turns)
    assert split.messages == turns.messages
    assert units(split.messages) == units(turns.messages)
    assert protected(split.messages) == protected(turns.messages)


STEP = [user(), calling("a", "b"), answering("b"), user("wait", synthetic=True), answering("a"), agent("Next.")]
LONG = {
    "steps": lambda n: STEP * (n // len(STEP)),
    "open calls": lambda n: [message for i in range(n // 2) for message in (calling(f"c{i}"), user())],
    "open calls of one id": lambda n: [message for _ in range(n // 2) for message in (calling("a"), user())],
    "orphans": lambda n: [answering(f"c{i}") for i in range(n)],
    "one unit of results": lambda n: [calling(*(f"c{i}" for i in range(n))), *(answering(f"c{i}") for i in range(n))],
    "late results": lambda n: [calling(f"c{i}") for i in range(n // 2)] + [answering(f"c{i}") for i in range(n // 2)],
    "one whole turn": lambda n: [agent(*(b for i in range(n // 2) for b in (call(f"c{i}"), result(f"c{i}"))))],
}


@pytest.mark.study
@pytest.mark.parametrize("function", [pair, units, protected, repair, split_turns], ids=lambda f: f.__name__)
@pytest.mark.parametrize("shape", LONG)
def test_time_grows_with_the_length_and_not_with_its_square(function, shape):
    short, long = LONG[shape](1_000), LONG[shape](10_000)
    assert cpu_seconds(function, long, 2) < 30 * cpu_seconds(function, short, 7)


@pytest.mark.study
@pytest.mark.parametrize("shape", LONG)
def test_a_hundred_thousand_messages_take_ten_times_as_long_as_ten_thousand(shape):
    short, long = LONG[shape](10_000), LONG[shape](100_000)
    assert cpu_seconds(repair, long, 1) < 30 * cpu_seconds(repair, short, 3)


def cpu_seconds(function, history, repeats):
    return min(Timer(lambda: function(history), timer=time.process_time).repeat(repeats, number=1))


@settings(max_examples=30)
@given(messages(), st.randoms(use_true_random=False))
def test_units_of_a_list_do_not_depend_on_what_stands_in_its_texts(history, random):
    shuffled = [
        replace(m, blocks=tuple(Text(str(random.random())) if isinstance(b, Text) else b for b in m.blocks))
        for m in history
    ]
    assert units(shuffled) == units(history)
