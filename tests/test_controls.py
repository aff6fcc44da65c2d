"""The controls: rows that tell what a number is worth."""

from random import Random

import pytest
import runs
from histories import agent, answering, call, calling, messages, result, system, user
from hypothesis import given
from hypothesis import strategies as st

from compactlab.compaction import compact
from compactlab.controls import bag, null, random
from compactlab.facts import Fact, mine
from compactlab.history import protected, repair
from compactlab.metrics import Case
from compactlab.probes.hand import HandProbes
from compactlab.probes.mined import AtRisk, mask, matcher_of
from compactlab.tokens import Meter
from compactlab.transcript import Message, Reasoning, Text

METER = Meter("chars/4")
CELLS = [(name, share) for name in runs.SHORT for share in (0.4, 0.7)]
STRATEGIES = (
    "none",
    "microcompact",
    "sliding_window",
    "sliding_window(preserve_recent=0)",
    "microcompact(keep_recent=0)",
)


def case(history, facts=None, meter=METER):
    base = repair(history).messages
    facts = mine(base) if facts is None else facts
    return Case(AtRisk(base, facts, matcher_of(facts)), {}, HandProbes(()), (), meter)


PINNED = user("Mind the gate.", pinned=True)
TALK = (
    system(),
    user("Please look after the garden."),
    agent("The gate code is 5433 and the shed code is 7788."),
    PINNED,
    agent(call("c", "bash", '{"command": "cat /srv/garden/beds.txt"}')),
    Message("tool", (result("c", "bed 14021 is dry"),)),
    user("Go on."),
    agent("Yes."),
)


def test_null_keeps_the_protected_set_and_no_pin():
    assert null.build(case(TALK)) == (TALK[0], TALK[1], TALK[6], TALK[7])


@given(messages())
def test_null_keeps_whole_units_in_order_and_nothing_that_is_not_protected(history):
    made = case(history)
    kept = null.build(made)
    positions = sorted(protected(made.base, pins=False))
    assert list(kept) == [made.base[i] for i in positions]
    assert made.risk.presence(kept) == (0, 0)


def test_bag_puts_the_bare_values_behind_the_anchor_as_a_note():
    facts = (Fact("number", "5433", ("5433",)), Fact("number", "7788", ("7788",)), Fact("name", "Ansel", ("Ansel",)))
    kept = bag.build(case(TALK, facts))
    assert kept == (*TALK[:2], Message("user", (Text("5433\n7788"),), synthetic=True), *TALK[6:])


@given(messages(min_events=3))
def test_bag_holds_every_fact_at_risk_loose_and_the_protected_set_whole(history):
    made = case(history)
    kept = bag.build(made)
    assert tuple(message for message in kept if message in made.protected) == made.protected
    assert made.risk.presence(kept).loose == mask(made.risk.anchors)


@pytest.mark.parametrize(("name", "share"), CELLS)
def test_bag_of_a_recorded_session_is_all_loose_and_hardly_bound(name, share):
    made = runs.case(name, share)
    present = made.risk.presence(bag.build(made))
    assert present.loose == mask(made.risk.anchors)
    assert present.bound.bit_count() < 0.05 * len(made.risk.anchors)


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize(("name", "share"), CELLS)
def test_every_draw_of_random_weighs_what_the_strategy_weighs_within_one_percent(name, share, strategy):
    made = runs.case(name, share)
    tokens = runs.meter().messages(compact(made.base, strategy).messages)
    for seed in range(6):
        drawn = runs.meter().messages(random.build(made, tokens, Random(seed)))
        assert 0.99 * tokens <= drawn <= 1.01 * tokens


@pytest.mark.parametrize("part", [0.05, 0.1, 0.25, 0.5, 0.75, 0.95])
@pytest.mark.parametrize(("name", "share"), CELLS)
def test_random_meets_any_size_above_the_protected_set_within_one_percent(name, share, part):
    made = runs.case(name, share)
    floor = runs.meter().messages(made.protected)
    tokens = round(floor + part * (made.tokens - floor))
    for seed in range(4):
        drawn = runs.meter().messages(random.build(made, tokens, Random(seed)))
        assert 0.99 * tokens <= drawn <= 1.01 * tokens


def test_random_keeps_the_whole_history_where_it_fits():
    made = case(TALK)
    assert random.build(made, made.tokens, Random(0)) == made.base
    assert random.build(made, made.tokens + 50, Random(0)) == made.base


@pytest.mark.parametrize("over", [-100, -1, 0])
def test_random_keeps_the_protected_set_where_there_is_no_room_for_more(over):
    made = case(TALK)
    assert random.build(made, METER.messages(made.protected) + over, Random(0)) == made.protected


@given(messages(), st.floats(0, 1.2), st.integers(0, 3))
def test_random_keeps_units_whole_the_protected_set_and_never_more_than_its_size(history, part, seed):
    made = case(history)
    floor = METER.messages(made.protected)
    tokens = round(floor + part * (made.tokens - floor))
    kept = random.build(made, tokens, Random(seed))
    assert METER.messages(kept) <= tokens or kept == made.protected
    assert kept == random.build(made, tokens, Random(seed))
    sizes = [len(message.blocks) for message in kept]
    assert all(size > 0 or not message.blocks for size, message in zip(sizes, kept, strict=True))
    ids = [
        (sorted(c.id for m in kept for c in m.calls), sorted(r.call_id for m in kept for r in m.results)),
        (sorted(c.id for m in made.base for c in m.calls), sorted(r.call_id for m in made.base for r in m.results)),
    ]
    if part >= 1:
        assert ids[0] == ids[1]
    held = [message for message in kept if any(message is own for own in made.protected)]
    assert len(held) == len(made.protected)


def test_random_draws_differ_by_seed_and_repeat_by_seed():
    made = runs.case("primary-move", 0.7)
    draws = [random.build(made, made.tokens // 3, Random(seed)) for seed in (1, 2, 1)]
    assert draws[0] == draws[2] != draws[1]


def test_random_takes_units_from_all_over_the_history():
    made = runs.case("primary-move", 0.7)
    thirds = [0, 0, 0]
    for seed in range(20):
        kept = {id(message) for message in random.build(made, made.tokens // 3, Random(seed))}
        for i, message in enumerate(made.base):
            thirds[3 * i // len(made.base)] += id(message) in kept
    assert min(thirds) > 0.7 * max(thirds)


LONG = " ".join(f"word{i}" for i in range(400))
CUT = [
    ("words", (agent(LONG),)),
    ("reasoning", (agent(Reasoning(LONG), "Well."),)),
    ("a result", (calling("a"), Message("tool", (result("a", LONG),)))),
    ("two results", (calling("a", "b"), Message("tool", (result("a", LONG), result("b", LONG))))),
    ("results in two messages", (calling("a", "b"), Message("tool", (result("a", LONG),)), answering("b"))),
    ("a person's words", (user(LONG), user("Go on."))),
]


@pytest.mark.parametrize("middle", [case[1] for case in CUT], ids=[case[0] for case in CUT])
def test_the_unit_that_does_not_fit_is_cut_in_its_texts_to_the_very_size(middle):
    made = case((system(), user(), *middle, user("On."), agent("Yes.")), (), Meter())
    tokens = Meter().messages(made.protected) + 200
    kept = random.build(made, tokens, Random(0))
    assert tokens - 3 <= Meter().messages(kept) <= tokens
    assert sorted(c.id for m in kept for c in m.calls) == sorted(r.call_id for m in kept for r in m.results)


def test_a_unit_whose_calls_alone_do_not_fit_is_passed_over():
    heavy = (agent(call("a", "write", f'{{"content": "{LONG}"}}')), answering("a"))
    made = case((system(), user(), *heavy, agent(LONG), user("On."), agent("Yes.")), (), Meter())
    tokens = Meter().messages(made.protected) + 200
    for seed in range(8):
        kept = random.build(made, tokens, Random(seed))
        assert not any(message.calls for message in kept)
        assert tokens - 3 <= Meter().messages(kept) <= tokens
