"""When a policy fired and what came of it (M13)."""

import pytest
import replays
from hypothesis import given
from replays import fire, made, one, scores, turn

from compactlab.metrics import Score, triggers


def measured(replay):
    return list(triggers.replayed(replay))


TEN = [turn()] * 10


def test_an_untouched_session_fired_never_and_came_to_its_end():
    found = measured(replays.GROWING)
    assert one(found, "fires") == (0, 4)
    assert one(found, "overflow") == one(found, "overflow_unfired") == (0, 1)
    assert one(found, "fill") == (0.7, 4)
    assert one(found, "peak") == (0.25, 1)
    assert not {"wasted", "thrash", "first_fire", "forced", "split_units"} & {score.metric for score in found}


def test_of_an_empty_session_nothing_can_be_said():
    assert measured(replays.EMPTY) == []


def test_fires_outcomes_and_what_they_did_are_counted():
    fires = [
        fire(2, split_units=1, open_tasks=2),
        fire(3, 700, 700, outcome="skipped"),
        fire(8, 700, 640, forced=True),
        fire(9, 700, 700, outcome="deferred"),
    ]
    found = measured(made(TEN, fires))
    assert one(found, "fires") == (4, 10)
    assert [score for score in found if score.metric == "fire"] == [
        Score("fire", 2, 4, group="applied"),
        Score("fire", 1, 4, group="deferred"),
        Score("fire", 1, 4, group="skipped"),
    ]
    assert one(found, "first_fire") == (3, 1)
    assert one(found, "forced") == (1, 4)
    assert one(found, "wasted") == (2, 3)
    assert one(found, "thrash") == (1, 2)
    assert one(found, "split_units") == (1, 2)
    assert one(found, "open_tasks") == (1, 2)


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [(1_000, 899, False), (1_000, 900, False), (1_000, 901, True), (1_000, 1_000, True), (9, 8, False), (0, 0, True)],
)
def test_a_fire_that_frees_under_a_tenth_is_wasted(before, after, expected):
    assert triggers.wasted(before, after) is expected


@pytest.mark.parametrize(("turns", "close"), [((1, 5), 1), ((1, 6), 0), ((1, 1, 9), 1), ((1, 3, 5), 2)])
def test_thrash_are_fires_less_than_five_turns_behind_the_last(turns, close):
    assert one(measured(made(TEN, [fire(at) for at in turns])), "thrash") == (close, len(turns) - 1)


def test_a_policy_that_only_defers_neither_wastes_nor_thrashes():
    found = measured(made(TEN, [fire(at, 800, 800, outcome="deferred") for at in (1, 2, 3)], spec="defer"))
    assert one(found, "fires") == (3, 10)
    assert scores(found, "wasted") == scores(found, "thrash") == scores(found, "split_units") == []


@pytest.mark.parametrize(
    ("fires", "unfired"), [([], 1), ([fire(1)], 0), ([fire(1, 800, 800)], 1)], ids=["none", "one", "one in vain"]
)
def test_an_overflow_says_whether_anything_had_been_compacted_by_then(fires, unfired):
    found = measured(made([turn(900)], fires, overflow="message 3 does not fit"))
    assert one(found, "overflow") == (1, 1)
    assert one(found, "overflow_unfired") == (unfired, 1)


def test_a_session_whose_first_request_does_not_fit_is_an_overflow_without_a_turn():
    assert measured(made([], overflow="message 1 does not fit")) == [
        Score("overflow", 1),
        Score("overflow_unfired", 1),
    ]


def test_narrowed_answers_are_counted_with_what_was_cut_off_and_what_could_not_be():
    turns = [turn(900), turn(980, allowance=700, cut=40), turn(990, allowance=512, calls_over=3)]
    found = measured(made(turns))
    assert one(found, "narrowed") == (2, 3)
    assert one(found, "shortened") == (1, 3)
    assert one(found, "tokens_cut") == (40, 1)
    assert one(found, "calls_over") == (3, 1)


@given(replays.replays())
def test_counts_never_pass_what_they_are_counted_of(replay):
    found = measured(replay)
    shares = {"fire", "wasted", "thrash", "forced", "open_tasks", "narrowed", "shortened", "overflow"}
    assert all(0 <= score.value <= score.n for score in found if score.metric in shares)
    assert all(score.n > 0 for score in found)
    assert sum(value for value, _ in scores(found, "fire")) == len(replay.fires)
    assert found == measured(replay)
    if replay.turns:
        (fill, n), (peak, _) = one(found, "fill"), one(found, "peak")
        assert fill / n <= peak + 1e-9


@given(replays.replays())
def test_a_fire_that_frees_more_is_never_more_wasted(replay):
    harder = [f._replace(tokens_after=f.tokens_after // 2) if f.applied else f for f in replay.fires]
    before, after = (scores(measured(made(replay.turns, fires)), "wasted") for fires in (replay.fires, harder))
    assert all(b[0] <= a[0] for a, b in zip(before, after, strict=True))
