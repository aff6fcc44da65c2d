"""What replies cost: the table that comes with the package, prices of one's own, and what nobody knows."""

import datetime as dt
import tomllib
from importlib import resources

import pytest

from compactlab.errors import SpecError
from compactlab.llm import Reply
from compactlab.llm.prices import Price, cost, price_of, prices

ROWS = tomllib.loads(resources.files("compactlab.llm").joinpath("prices.toml").read_text(encoding="utf-8"))["price"]


def reply(model, read=0, written=0, cached=0):
    return Reply("text", model, input_tokens=read, output_tokens=written, cached_tokens=cached)


def test_the_table_has_each_model_once():
    names = [row["model"] for row in ROWS]
    assert len(names) > 40
    assert len(set(names)) == len(names) == len(prices())


@pytest.mark.parametrize("row", ROWS, ids=[row["model"] for row in ROWS])
def test_each_price_says_its_date_and_source_and_makes_sense(row):
    price = prices()[row["model"]]
    assert 0 < price.input <= price.output < 1_000
    assert price.cached is None or 0 < price.cached < price.input
    assert price.currency == "USD"
    assert dt.date(2026, 1, 1) < price.date
    assert price.source.startswith("https://")
    if price.long:
        assert price.long.over >= 100_000
        assert price.input < price.long.input < price.long.output


@pytest.mark.parametrize(
    ("model", "read", "written", "cached", "expected"),
    [
        ("gpt-4o-mini", 1_000_000, 0, 0, 0.15),
        ("gpt-4o-mini", 0, 1_000_000, 0, 0.6),
        ("gpt-4o-mini", 1_000_000, 0, 1_000_000, 0.075),
        ("gpt-4o-mini-2024-07-18", 1_000_000, 0, 0, 0.15),
        ("claude-haiku-4-5-20251001", 1_000_000, 1_000_000, 0, 6.0),
        ("gpt-5.4", 200_000, 0, 0, 0.5),
        ("gpt-5.4", 300_000, 10_000, 100_000, (200_000 * 5 + 100_000 * 0.5 + 10_000 * 22.5) / 1e6),
    ],
)
def test_a_reply_costs_what_its_tokens_do(model, read, written, cached, expected):
    assert cost(reply(model, read, written, cached)) == pytest.approx(expected)


@pytest.mark.parametrize(
    "unknown",
    [
        reply("my-own", 1_000, 10),
        reply("gpt-4o-minimal", 1_000, 10),
        reply("gpt-4o:free", 1_000, 10),
        reply("", 1_000, 10),
        reply("gpt-4o"),
    ],
)
def test_a_model_or_a_usage_that_nobody_knows_has_no_cost_rather_than_none(unknown):
    assert cost(unknown) is None


def test_a_price_of_ones_own_wins_and_what_is_cached_costs_as_input_where_nothing_is_said():
    own = {"gpt-4o": {"input": 1, "output": 2}, "mine": Price(input=4.0, output=8.0, currency="EUR")}
    assert cost(reply("gpt-4o", 1_000_000, 0, 500_000), own) == 1.0
    assert cost(reply("mine", 0, 500_000), own) == 4.0
    assert cost(reply("gpt-4o-mini", 1_000_000), own) == 0.15
    assert cost(reply("gpt-4o", 1_000_000)) == 2.5


def test_a_price_of_nothing_is_a_price():
    assert cost(reply("local", 1_000, 10), {"local": {"input": 0, "output": 0}}) == 0.0
    assert price_of("local", prices()) is None


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"input": 1}, "the price of 'm': Object missing required field `output`"),
        ({"input": "1", "output": 1}, "Expected `float`, got `str`"),
        ({"input": 1, "output": 1, "inptu": 2}, "unknown field `inptu`"),
        ({"input": -1, "output": 1}, "the price of 'm' is -1"),
        ({"input": 1, "output": float("nan")}, "the price of 'm' is nan"),
        ({"input": 1, "output": 1, "long": {"over": 5, "input": 1, "output": float("inf")}}, "is inf"),
        ({"input": True, "output": 1}, "Expected `float`, got `bool`"),
        (7, "Expected `object`, got `int`.*; expected a table with input and output"),
        (None, "got `null`"),
    ],
)
def test_a_price_that_is_none_is_an_error(given, said):
    with pytest.raises(SpecError, match=said):
        prices({"m": given})
