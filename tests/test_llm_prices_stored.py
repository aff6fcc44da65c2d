"""What it costs to put tokens into a provider's cache: the table, prices of one's own, and where nothing is said."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compactlab.errors import SpecError
from compactlab.llm.prices import Price, own_price, prices

TABLE = prices()
STORING = sorted(model for model, price in TABLE.items() if price.stored is not None)
MILLION = 1_000_000
tokens = st.integers(0, 400_000)


def test_the_vendors_that_take_more_for_storing_are_in_the_table():
    assert len(STORING) == 20
    assert {model.split("-")[0] for model in STORING} == {"claude", "gpt"}


@pytest.mark.parametrize("model", STORING)
def test_storing_costs_a_quarter_more_than_reading_also_in_a_long_request(model):
    price = TABLE[model]
    assert price.stored == pytest.approx(1.25 * price.input)
    if price.long and price.long.stored:
        assert price.long.stored == pytest.approx(1.25 * price.long.input)


@pytest.mark.parametrize(
    ("model", "read", "cached", "stored", "expected"),
    [
        ("claude-sonnet-5-5", MILLION, 0, 0, 2.0),
        ("claude-sonnet-5-5", MILLION, 0, MILLION, 2.5),
        ("claude-sonnet-5-5", MILLION, 600_000, 300_000, 0.1 * 2.0 + 0.6 * 0.1 + 0.3 * 2.5),
        ("gpt-4.1", MILLION, 0, MILLION, 2.0),
        ("gpt-6-sol", 300_000, 100_000, 200_000, (100_000 * 0.4 + 200_000 * 5.0) / MILLION),
        ("claude-sonnet-4-5", 300_000, 0, 300_000, 300_000 * 6.0 / MILLION),
        ("claude-sonnet-5-5", 10, 8, 100, (8 * 0.1 + 2 * 2.5) / MILLION),
    ],
)
def test_a_request_costs_what_its_parts_do(model, read, cached, stored, expected):
    assert TABLE[model].of(read, cached, 0, stored) == pytest.approx(expected)


@given(tokens, tokens, tokens, st.sampled_from(STORING))
def test_storing_never_makes_a_request_cheaper_and_reading_from_the_cache_never_dearer(read, cached, stored, model):
    price = TABLE[model]
    assert price.of(read, cached, 0) <= price.of(read, cached, 0, stored) + 1e-12
    assert price.of(read, cached, 0, stored) <= price.of(read, 0, 0, stored + cached) + 1e-12


def test_a_price_of_ones_own_may_say_what_storing_costs():
    assert own_price("m", {"input": 1, "output": 2, "stored": 3}).of(MILLION, 0, 0, MILLION) == 3.0
    assert Price(input=1.0, output=2.0).of(MILLION, 0, 0, MILLION) == 1.0


@pytest.mark.parametrize("wrong", [-1, float("nan"), float("inf")])
def test_a_price_of_storing_that_is_none_is_an_error(wrong):
    with pytest.raises(SpecError, match="the price of 'm' is"):
        own_price("m", {"input": 1, "output": 1, "stored": wrong})
