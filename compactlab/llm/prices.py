"""What a reply cost: the table of prices in `prices.toml`, and prices of one's own that win over it.

Prices are units of a currency per million tokens. A model whose price nobody knows has no cost, which is not a cost
of nothing. What a provider takes for writing to its cache is `stored`; where it stands nowhere, such tokens count as
plain input. A reply does not say how many tokens were stored: `cost` takes none to be.
"""

from __future__ import annotations

import datetime as dt
import math
import re
import tomllib
from collections.abc import Mapping
from functools import lru_cache
from importlib import resources
from typing import Any

import msgspec

from compactlab.errors import SpecError
from compactlab.llm import Reply

MILLION = 1_000_000
EXPECTED = "a table with input and output, and perhaps cached and stored, in money for a million tokens"
_DATED = re.compile(r"(?:[-@]\d{4}-?\d{2}-?\d{2})$")
"""The date that providers put behind the name of a model: `gpt-4o-2024-08-06`, `claude-haiku-4-5-20251001`."""


class Long(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The prices of a whole request that reads more than `over` tokens."""

    over: int
    input: float
    output: float
    cached: float | None = None
    stored: float | None = None


class Price(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a model costs for each million tokens; `cached` and `stored` are `input` where nothing else is said."""

    input: float
    output: float
    cached: float | None = None
    stored: float | None = None
    long: Long | None = None
    currency: str = "USD"
    date: dt.date | None = None
    source: str = ""

    def of(self, read: int, cached: int, written: int, stored: int = 0) -> float:
        """The cost of one request that reads *read* tokens of input.

        *cached* of them came out of the provider's cache, and *stored* of the others were put into it.

        >>> round(Price(input=2.0, cached=0.5, output=8.0).of(10_000, 4_000, 1_000), 6)
        0.022
        >>> round(Price(input=2.0, cached=0.5, output=8.0, stored=2.5).of(10_000, 4_000, 1_000, 6_000), 6)
        0.025
        """
        rates = self.rates(read)
        again, put = (rates.input if rate is None else rate for rate in (rates.cached, rates.stored))
        cached = min(cached, read)
        stored = min(stored, read - cached)
        plain = read - cached - stored
        return (plain * rates.input + cached * again + stored * put + written * rates.output) / MILLION

    def rates(self, read: int) -> Price | Long:
        """The prices that hold for a request of *read* tokens."""
        return self.long if self.long is not None and read > self.long.over else self


Given = Mapping[str, "Price | Mapping[str, Any]"]


@lru_cache(maxsize=1)
def _listed() -> dict[str, Price]:
    text = resources.files("compactlab.llm").joinpath("prices.toml").read_text(encoding="utf-8")
    rows: list[dict[str, Any]] = tomllib.loads(text)["price"]
    return {row.pop("model"): msgspec.convert(row, Price) for row in rows}


def prices(given: Given | None = None) -> dict[str, Price]:
    """The price of each model by its name: the table that comes with compactlab, and over it what is *given*.

    A given price is a `Price`, or a mapping with its fields (`{"input": 2, "output": 8}`), as `[llm.prices]` of
    `compactlab.toml` has it. Raises `SpecError` for one that is not a price.
    """
    return {**_listed(), **{model: own_price(model, price) for model, price in (given or {}).items()}}


def own_price(model: str, given: object) -> Price:
    """The price of one model, as a person gives it; `SpecError` says what is wrong with it.

    >>> own_price("my-model", {"input": 0.4, "output": 1.6, "cached": 0.1}).of(1_000_000, 0, 0)
    0.4
    """
    try:
        price = given if isinstance(given, Price) else msgspec.convert(given, Price)
    except msgspec.ValidationError as error:
        raise SpecError(f"the price of {model!r}: {error}; expected {EXPECTED}") from error
    rates: tuple[Price | Long, ...] = (price, price.long) if price.long else (price,)
    for number in (n or 0.0 for rate in rates for n in (rate.input, rate.output, rate.cached, rate.stored)):
        if not (math.isfinite(number) and number >= 0):
            raise SpecError(f"the price of {model!r} is {number}; expected a number of 0 or more")
    return price


def price_of(model: str, table: Mapping[str, Price]) -> Price | None:
    """The price of a model, also by its name without a date at the end; None where it is not known.

    >>> price_of("gpt-4o-mini-2024-07-18", prices()).output, price_of("gpt-4o-minimal", prices())
    (0.6, None)
    """
    return table.get(model) or table.get(_DATED.sub("", model))


def cost(reply: Reply, given: Given | None = None) -> float | None:
    """What a reply cost, in the currency of its model's price; None where the price or the usage is not known.

    >>> cost(Reply("yes", "gpt-4o-mini", input_tokens=1_000_000)), cost(Reply("yes", "my-own", input_tokens=9))
    (0.15, None)
    """
    price = price_of(reply.model, prices(given))
    if price is None or not reply.input_tokens + reply.output_tokens:
        return None
    return price.of(reply.input_tokens, reply.cached_tokens, reply.output_tokens)
