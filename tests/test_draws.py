"""Draws that are scored without being built: the same weight and the same facts as the messages they stand for."""

from random import Random

import numpy as np
import pytest
import runs
from histories import agent, messages, system, user
from hypothesis import given, settings
from hypothesis import strategies as st

from compactlab.controls import _draws, oracle, random, random_lines, regex_lines
from compactlab.controls._draws import Holders, Ranking, Things
from compactlab.facts import Fact, mine
from compactlab.history import repair
from compactlab.metrics import Case, Trial
from compactlab.probes.hand import HandProbes
from compactlab.probes.mined import AtRisk, matcher_of
from compactlab.tokens import Meter
from compactlab.transcript import Message, Text

CELLS = [(name, share) for name in runs.SHORT for share in (0.4, 0.85)]
PARTS = [-0.1, 0.0, 0.02, 0.1, 0.3, 0.6, 0.9, 1.2]
DRAWN = {
    "random": (random.trial, lambda made, tokens, seed: random.build(made, tokens, Random(seed))),
    "random_lines": (random_lines.trial, lambda made, tokens, seed: random_lines.build(made, tokens, Random(seed))),
    "regex_lines": (
        lambda made, tokens, _: regex_lines.trial(made, tokens),
        lambda made, tokens, _: regex_lines.build(made, tokens),
    ),
}
every_control = pytest.mark.parametrize(("trial", "build"), DRAWN.values(), ids=DRAWN.keys())


def case(history, meter):
    base = repair(history).messages
    facts = mine(base)
    return Case(AtRisk(base, facts, matcher_of(facts)), {}, HandProbes(()), (), meter)


def size(made, part):
    floor = made.meter.messages(made.protected)
    return round(floor + part * (made.tokens - floor))


def other_facts(made):
    """Another miner's idea of the same history: every second fact, and common words."""
    facts = (*made.risk.facts[::2], Fact("name", "the", ("the",)), Fact("name", "done", ("done",)))
    return AtRisk(made.base, facts, matcher_of(facts))


def agrees(drawn, made, kept):
    assert drawn.tokens == made.meter.messages(kept)
    assert drawn.presence == made.risk.presence(kept)
    assert drawn.messages == kept


@every_control
@pytest.mark.parametrize(("name", "share"), CELLS)
def test_a_draw_from_a_recorded_session_weighs_and_holds_what_its_messages_do(name, share, trial, build):
    made = runs.case(name, share)
    other = other_facts(made)
    for part in PARTS:
        for seed in ("a", "b"):
            tokens = size(made, part)
            drawn, kept = trial(made, tokens, seed), build(made, tokens, seed)
            agrees(drawn, made, kept)
            assert drawn.presence_in(other) == other.presence(kept)


@every_control
@settings(max_examples=150, deadline=None)
@given(history=messages(min_events=2), part=st.floats(-0.2, 1.2), counter=st.sampled_from(["chars/4", "o200k_base"]))
def test_a_draw_from_any_history_weighs_and_holds_what_its_messages_do(trial, build, history, part, counter):
    made = case(history, Meter(counter))
    tokens = size(made, part)
    agrees(trial(made, tokens, "seed"), made, build(made, tokens, "seed"))


@every_control
def test_a_very_long_history_is_drawn_from_in_the_same_way(monkeypatch, trial, build):
    monkeypatch.setattr(_draws, "MANY", 3)
    made = runs.case("primary-move", 0.4)
    agrees(trial(made, size(made, 0.5), "seed"), made, build(made, size(made, 0.5), "seed"))


def test_rankings_are_made_once_a_case_and_seed():
    made = case((system(), user(), agent("one\ntwo"), agent("three"), user("Go on."), agent("Yes.")), Meter("chars/4"))
    one = random_lines.trial(made, made.tokens - 1, "seed").ranking
    assert random_lines.trial(made, made.tokens - 2, "seed").ranking is one
    assert random_lines.trial(made, made.tokens - 1, "other").ranking is not one
    assert regex_lines.trial(made, made.tokens - 1).ranking is regex_lines.trial(made, made.tokens - 2).ranking


def test_the_trial_of_an_oracle_is_that_of_its_messages():
    made = runs.case("subagent-etl", 0.4)
    tokens = size(made, 0.3)
    trial = oracle.trial(made, tokens)
    assert isinstance(trial, Trial)
    assert trial.messages == oracle.build(made, tokens)
    assert trial.presence.bound.bit_count() > 0


THINGS = Things(
    [(Text("a"),), (Text("b"),), (Text("c"),), (Text("d"),)], np.array([5, 1, 2, 7]), np.array([3, 0, 3, 1])
)
SIZES = [(-1, 0, 0), (0, 0, 0), (8, 0, 0), (9, 1, 9), (10, 1, 9), (11, 2, 11), (16, 3, 16), (26, 3, 16), (27, 4, 27)]


@pytest.mark.parametrize(("room", "count", "weight"), SIZES)
def test_the_first_of_a_message_costs_its_overhead_and_the_next_does_not(room, count, weight):
    ranking = Ranking(THINGS, np.array([0, 2, 1, 3]))
    assert ranking.fitting(room) == count
    assert ranking.weight(count) == weight


def test_a_ranking_of_nothing_holds_nothing():
    ranking = Ranking(Things([], np.array([], np.int64), np.array([], np.int64)), np.array([], np.int64))
    risk = AtRisk((), (), matcher_of(()))
    assert (ranking.fitting(100), ranking.weight(0), ranking.presence(risk, 0)) == (0, 0, (0, 0))


@given(st.lists(st.integers(0, 1 << 70), max_size=12), st.randoms(use_true_random=False))
def test_the_first_n_hold_what_their_bit_sets_hold_together(held, shuffler):
    order = list(range(len(held)))
    shuffler.shuffle(order)
    holders = Holders.of(held)
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    first = holders.first(rank)
    for count in range(len(held) + 1):
        together = 0
        for thing in order[:count]:
            together |= held[thing]
        assert sum(1 << int(fact) for fact in holders.facts[first < count]) == together


def test_messages_of_a_draw_are_those_that_build_makes_and_no_others():
    made = case(
        (system(), user(), agent("port 5433 is open"), agent("port 7788 is not"), user("On."), agent("Yes.")), Meter()
    )
    drawn = random.trial(made, made.tokens - 4, "seed")
    assert any(isinstance(m, Message) and m.role == "assistant" for m in drawn.messages)
    assert drawn.messages == random.build(made, made.tokens - 4, Random("seed"))


@pytest.mark.parametrize(("name", "share"), [("subagent-etl", 0.55), ("primary-novel", 0.7)])
def test_what_a_cut_unit_holds_is_what_its_start_holds(name, share):
    case = runs.case(name, share)
    cut = 0
    for seed in range(12):
        size = case.tokens * (seed + 2) // 20
        trial = random.trial(case, size, str(seed))
        cut += bool(trial.rest.whole)
        assert trial.presence == case.risk.presence(random.build(case, size, Random(str(seed))))
    assert cut > 6
