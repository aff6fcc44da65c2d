"""What a provider's cache knows of each request, and what a session costs by a price table (M14); speed (M15)."""

from functools import cache

import pytest
import replays
import runs
from hypothesis import given
from hypothesis import strategies as st
from replays import fire, made, one, scores, turn

from compactlab.compaction import Guard
from compactlab.llm.prices import Price, prices
from compactlab.metrics import cache as caches
from compactlab.metrics.cache import Edit, edits, money, pays, unbounded
from compactlab.metrics.speed import Speed, speed, timed
from compactlab.policy import policy
from compactlab.readers import read
from compactlab.replay import Window
from compactlab.replay.engine import replay
from compactlab.replay.timeline import Session

MILLION = 1_000_000
DEAR = Price(input=2.0, cached=0.2, output=10.0, stored=2.5)
PLAIN = Price(input=2.0, output=10.0)


def measured(replay, **more):
    return list(caches.replayed(replay, **more))


def test_an_untouched_session_breaks_nothing_and_reuses_all_but_what_is_new():
    found = measured(replays.GROWING)
    assert one(found, "reuse") == (450, 700)
    assert one(found, "breaks") == (0, 3)
    assert scores(found, "reread") == scores(found, "pays") == []


def test_an_empty_session_shares_and_costs_nothing():
    assert measured(replays.EMPTY) == []


def test_an_untouched_session_costs_each_token_once_as_new_and_then_from_the_cache():
    assert money(replays.GROWING, DEAR, cached=True) == pytest.approx((250 * 2.5 + 450 * 0.2 + 40 * 10) / MILLION)
    assert money(replays.GROWING, DEAR, cached=False) == pytest.approx((700 * 2.0 + 40 * 10) / MILLION)


CUT = made([turn(500), turn(800, 500), turn(450, 100), turn(500, 450)], [fire(2, 900, 450, 100, model_tokens=70)])
"""Before the third request 900 tokens, 800 of them known, become 450 that share 100 with them."""


def test_a_fire_breaks_the_cache_and_what_it_left_behind_is_read_anew():
    found = measured(CUT)
    assert one(found, "reuse") == (500 + 100 + 450, 2_250)
    assert one(found, "breaks") == (1, 3)
    assert list(edits(CUT)) == [Edit(removed=450, broken=700, turns=1, own=70, size=900, reread=250)]
    assert one(found, "reread") == (250, 1)
    new = 500 + 300 + 350 + 50
    expected = (new * 2.5 + 1_050 * 0.1 + 40 * 10 + 70 * 2.0) / MILLION
    assert one(found, "money") == (pytest.approx(expected), 1)


def test_overhead_is_no_part_of_the_view_that_a_fire_looked_at():
    replay = made([turn(500), turn(300, 150)], [fire(1, 600, 250, 100)], overhead=50)
    assert list(edits(replay)) == [Edit(removed=350, broken=350, turns=0, size=600, reread=0)]


def test_of_two_fires_before_one_request_the_second_breaks_what_the_first_left():
    replay = made([turn(800), turn(300, 50)], [fire(1, 900, 600, 200), fire(1, 600, 300, 50)])
    assert [(edit.removed, edit.broken) for edit in edits(replay)] == [(300, 600), (300, 150)]


def test_money_names_the_priced_model_and_takes_prices_of_ones_own():
    named = {score.group for score in measured(CUT) if score.metric in {"money", "money_uncached", "pays"}}
    assert named == {caches.PRICED}
    assert caches.PRICED in prices()
    own = measured(CUT, model="mine", given={"mine": {"input": 1, "output": 0}})
    assert one(own, "money") == one(own, "money_uncached") == (pytest.approx((2_250 + 70) / MILLION), 1)


def test_a_model_whose_price_nobody_knows_has_no_money_and_the_rest_is_told():
    found = measured(CUT, model="nobody-knows")
    assert {score.metric for score in found} == {"reuse", "breaks", "reread"}


def test_a_session_that_overflowed_has_no_money_and_its_reuse_is_told():
    found = measured(made(CUT.turns, CUT.fires, overflow="message 9 does not fit"))
    assert {score.metric for score in found} == {"reuse", "breaks", "reread"}


@pytest.mark.parametrize(
    ("edit", "price", "expected"),
    [
        (Edit(2_830, 8_000, 20), DEAR, False),
        (Edit(2_831, 8_000, 20), DEAR, True),
        (Edit(2_831, 8_000, 20, own=3), DEAR, False),
        (Edit(1, 8_000, 0), PLAIN, True),
        (Edit(7_360, 8_000, 0), DEAR, False),
        (Edit(7_361, 8_000, 0), DEAR, True),
        (Edit(0, 0, 50), DEAR, False),
    ],
)
def test_an_edit_pays_if_what_it_removes_outweighs_what_it_breaks(edit, price, expected):
    assert pays(edit, price) is expected


@given(
    news=st.integers(0, 500),
    known=st.integers(0, 2_000),
    numbers=st.tuples(st.integers(0, 2_500), st.integers(0, 2_500)),
    later=st.integers(0, 30),
    price=st.sampled_from((DEAR, PLAIN, Price(input=3.0, cached=0.3, output=15.0))),
)
def test_an_edit_pays_just_where_the_session_is_cheaper_with_it(news, known, numbers, later, price):
    """Priced request by request: the same session with the edit, and left alone, with as much said later."""
    before = known + news
    shared, after = sorted(min(number, before - 1) for number in numbers) if before else (0, 0)
    shared = min(shared, known)
    if after >= before or not known:
        return
    with_it, alone = [turn(known), turn(after, shared, 0)], [turn(known), turn(before, known, 0)]
    for said in range(1, later + 1):
        with_it.append(turn(after + 10 * said, after + 10 * (said - 1), 0))
        alone.append(turn(before + 10 * said, before + 10 * (said - 1), 0))
    replay = made(with_it, [fire(1, before, after, shared)])
    gain = money(made(alone), price, cached=True) - money(replay, price, cached=True)
    if abs(gain) > 1e-8:
        (edit,) = edits(replay)
        assert pays(edit, price) is (gain > 0)


@given(replays.replays())
def test_a_cache_is_never_dearer_than_its_dearest_rate_and_shares_are_shares(replay):
    found = measured(replay)
    shares = {"reuse", "breaks", "pays"}
    assert all(0 <= score.value <= score.n for score in found if score.metric in shares)
    assert all(score.value >= 0 for score in found)
    assert money(replay, PLAIN, cached=True) == pytest.approx(money(replay, PLAIN, cached=False))
    if scores(found, "money"):
        assert one(found, "money")[0] <= 1.25 * one(found, "money_uncached")[0] + 1e-9
    assert found == measured(replay)


@given(replays.replays())
def test_the_longer_the_beginnings_that_stay_the_cheaper(replay):
    nothing = [t._replace(shared=0) for t in replay.turns]
    assert money(replay, DEAR, cached=True) <= money(made(nothing, replay.fires), DEAR, cached=True) + 1e-9


def test_speed_is_of_single_fires_and_their_weights():
    replay = made([turn()] * 4, [fire(1, 900), fire(2, 600, 600)], seconds=(0.5, 0.25))
    assert timed(replay) == ((0.5, 900), (0.25, 600))
    assert speed(timed(replay)) == Speed(2, 0.25, 0.5, 2.0)
    assert speed([(at / 100, 1) for at in range(100, 0, -1)])[1:3] == (0.5, 0.95)
    assert speed(()) is None
    assert speed([(0.0, 5)]) is None


def test_the_unbounded_session_holds_what_each_request_said_and_all_that_fires_took_away():
    cut = CUT.turns[2]._replace(cut=7)
    replay = made([*CUT.turns[:2], cut, CUT.turns[3]], CUT.fires, plain=500 + 800 + 900 + 957)
    plain = unbounded(replay)
    assert [(t.tokens, t.shared, t.output) for t in plain] == [
        (500, 0, 10),
        (800, 500, 10),
        (900, 800, 17),
        (957, 900, 10),
    ]
    expected = (957 * 2.5 + 2_200 * 0.1 + 47 * 10) / MILLION
    assert one(measured(replay), "money_plain") == (pytest.approx(expected), 1)


def test_what_the_unbounded_session_costs_is_not_told_where_it_is_not_known():
    changed = made(CUT.turns, CUT.fires, plain=9_999)
    assert scores(measured(changed), "money_plain") == []


@cache
def recorded(name):
    (transcript,) = read(runs.FIXTURES / f"{name}.jsonl")
    return Session(transcript, meter=runs.meter())


@pytest.mark.parametrize("spec", ["microcompact", "sliding_window", "ladder"])
@pytest.mark.parametrize("name", ["subagent-etl", "subagent-tally"])
def test_of_a_recorded_session_the_unbounded_one_is_the_same_whatever_was_taken_away(name, spec):
    done = replay(recorded(name), policy(spec), Window(64_000, overhead=700), Guard())
    assert done.fires
    assert not done.overflow
    plain = unbounded(done)
    assert sum(t.tokens for t in plain) == done.sent_plain
    assert plain[-1].tokens == 700 + done.meter.messages(recorded(name).messages[: _last_answer(recorded(name))])
    assert one(measured(done), "money_plain")[0] > 0


def _last_answer(session):
    return max(at for at, message in enumerate(session.messages) if message.role == "assistant")


def test_nobody_compacting_costs_what_the_unbounded_session_does():
    found = measured(replays.GROWING)
    assert one(found, "money_plain") == one(found, "money")
