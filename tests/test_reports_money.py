"""Reported faults of what compaction costs: a broken prompt cache, two rewrites at once, calls that nobody books."""

from functools import cache

import pytest
from reports import METER, row, rows, sketch

from compactlab.compaction import Guard
from compactlab.llm.extractive import Extractive
from compactlab.llm.prices import Price, prices
from compactlab.metrics import cache as caches
from compactlab.metrics import rederivation
from compactlab.metrics.cache import PRICED, Edit, edits, pays
from compactlab.policy import MARKED, policy
from compactlab.replay.engine import replay
from compactlab.replay.timeline import Session
from compactlab.transcript import Transcript

TALK = "S'be brief' U'go on'" + "".join(f" A[c{at}] T[c{at}]~400" for at in range(100)) + " A'done'"


@cache
def session(text=TALK):
    return Session(Transcript("s", "sketch", sketch(text)), meter=METER)


@cache
def replayed(spec, window, text=TALK):
    return replay(session(text), policy(spec), window, Guard(METER, model=Extractive()))


def measured(made):
    found = [*caches.replayed(made), *rederivation.replayed(made)]
    return {score.metric: score for score in found}


@row("K27-D1")
def test_a_prompt_that_is_half_as_long_may_cost_more_and_both_are_told():
    made = replayed("sliding_window(preserve_recent=20)", 11_000)
    found = measured(made)
    assert not made.overflow
    assert found["sent"].value < 0.5 * found["sent_plain"].value
    assert found["money"].value > 1.9 * found["money_plain"].value
    assert found["money"].group == PRICED
    assert found["money_uncached"].value < 0.5 * found["sent_plain"].value * prices()[PRICED].input / 1e6
    assert found["breaks"].value > 0.7 * found["breaks"].n
    assert found["reread"].value / found["reread"].n > 7_000
    assert found["pays"].value < 0.2 * found["pays"].n


FEWER = {"K27-D1 once for many": ("sliding_window(preserve_recent=10)", 40_000)}


@rows(("spec", "window"), FEWER)
def test_one_rewrite_for_many_turns_pays(spec, window):
    found = measured(replayed(spec, window))
    assert found["money"].value < found["money_plain"].value
    assert found["pays"].value == found["pays"].n == 1


@row("K27-D2")
def test_there_is_at_most_one_rewrite_before_a_request():
    made = replayed(MARKED, 11_000)
    turns = [fire.turn for fire in made.fires]
    assert len(turns) > 5
    assert len(set(turns)) == len(turns)


@row("K27-D3")
def test_a_break_of_the_cache_is_told_with_its_place_and_its_cost():
    made = replayed("sliding_window(preserve_recent=10)", 40_000)
    (fire,) = made.fires
    (edit,) = edits(made)
    before, at = made.turns[fire.turn - 1], made.turns[fire.turn]
    assert at.shared == fire.shared == METER.messages(session().messages[:2])
    assert edit.broken == before.tokens - fire.shared
    assert [turn for turn, later in zip(made.turns, made.turns[1:], strict=False) if later.shared < turn.tokens] == [
        before
    ]


BOOKED = {
    "K09-D7": (60_000, 2, False),
    "K09-D7 many turns later": (60_000, 200, True),
    "K09-D7 without a call": (0, 2, True),
}


@rows(("read", "turns", "expected"), BOOKED)
def test_what_the_call_of_a_summary_reads_is_booked_before_a_pass_pays(read, turns, expected):
    price = Price(input=2.0, cached=0.2, output=10.0, stored=2.5)
    assert pays(Edit(removed=20_000, broken=20_000, turns=turns, own=read), price) is expected


@row("K09-D7")
def test_what_a_model_read_and_wrote_stands_beside_what_was_sent():
    made = replayed("summary", 11_000)
    found = measured(made)
    assert found["own_tokens"].value > 0
    assert found["task_tokens"].value == found["sent"].value + found["own_tokens"].value + found["debt"].value
    price = prices()[PRICED]
    own = found["own_tokens"].value * price.input / 1e6
    assert found["money"].value == pytest.approx(caches.of_turns(made.turns, price, cached=True) + own)
