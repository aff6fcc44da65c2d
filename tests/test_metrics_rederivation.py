"""What a session sent, what it would have to fetch again, and what a task is predicted to take (M11)."""

import pytest
import replays
from hypothesis import given
from replays import fire, made, turn

from compactlab.metrics import rederivation
from compactlab.replay import Debt


def measured(replay):
    return {score.metric: score.value for score in rederivation.replayed(replay)}


def test_an_untouched_session_takes_what_it_sent_and_saves_nothing():
    found = measured(replays.GROWING)
    assert found == {"sent": 700, "sent_plain": 700, "own_tokens": 0, "debt": 0, "debts": 0, "task_tokens": 700}


def test_an_empty_session_has_no_task():
    assert measured(replays.EMPTY) == {}


def test_own_calls_of_a_model_and_debts_come_on_top_of_what_was_sent():
    fires = [fire(1, model_tokens=120), fire(2, outcome="failed", after=800, model_tokens=30)]
    debts = (Debt(7, 3, 40), Debt(9, 3, 40), Debt(9, 5, 5))
    replay = made([turn(500), turn(200, 50), turn(300, 200)], fires, plain=2_400, debts=debts)
    assert measured(replay) == {
        "sent": 1_000,
        "sent_plain": 2_400,
        "own_tokens": 150,
        "debt": 85,
        "debts": 3,
        "task_tokens": 1_235,
    }


@pytest.mark.parametrize("turns", [[], [turn(500)]])
def test_a_session_that_overflowed_has_an_unfinished_task_and_no_figure(turns):
    assert measured(made(turns, overflow="message 3 does not fit", debts=(Debt(1, 1, 5),))) == {}


@given(replays.replays())
def test_the_prediction_is_the_sum_of_its_parts_and_each_is_a_score_of_one(replay):
    found = measured(replay)
    assert bool(found) == bool(replay.turns and not replay.overflow)
    if found:
        assert found["task_tokens"] == found["sent"] + found["own_tokens"] + found["debt"]
        assert all(score.n == 1 for score in rederivation.replayed(replay))
        assert all(value >= 0 for value in found.values())


@given(replays.replays())
def test_one_debt_more_costs_its_tokens(replay):
    found = measured(replay)
    more = measured(made(replay.turns, replay.fires, overflow=replay.overflow, debts=(*replay.debts, Debt(1, 1, 17))))
    assert more.get("task_tokens", 0) == (found["task_tokens"] + 17 if found else 0)
