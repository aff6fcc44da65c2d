"""What a reply cost: the table of prices in `prices.toml`, and prices of one's own that win over it.

Prices are units of a currency per million tokens. A model whose price nobody knows has no cost, which is not a cost
of nothing. What a provider takes for writing to its cache is not in the table: such tokens count as plain input.
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
_DATED = re.compile(r"(?:[-@]\d{4}-?\d{2}-?\d{2})$")
"""The date that providers put behind the name of a model: `gpt-4o-2024-08-06`, `claude-haiku-4-5-20251001`."""


class Long(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The prices of a whole request that reads more than `over` tokens."""

    over: int
    input: float
    output: float
    cached: float | None = None


class Price(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a model costs for each million tokens; `cached` is `input` where nothing else is said."""

    input: float
    output: float
    cached: float | None = None
    long: Long | None = None
    currency: str = "USD"
    date: dt.date | None = None
    source: str = ""

    def of(self, read: int, cached: int, written: int) -> float:
        """The cost of one request, with *read* tokens of input, *cached* of them out of the provider's cache.

        >>> round(Price(input=2.0, cached=0.5, output=8.0).of(10_000, 4_000, 1_000), 6)
        0.022
        """
        rates = self.long if self.long is not None and read > self.long.over else self
        again = rates.input if rates.cached is None else rates.cached
        cached = min(cached, read)
        return ((read - cached) * rates.input + cached * again + written * rates.output) / MILLION


Given = Mapping[str, "Price | Mapping[str, Any]"]


@lru_cache(maxsize=1)
def _listed() -> dict[str, Price]:
    text = resources.files("compactlab.llm").joinpath("prices.toml").read_text(encoding="utf-8")
    rows: list[dict[str, Any]] = tomllib.loads(text)["price"]
    return {row.pop("model"): msgspec.convert(row, Price) for row in rows}


def prices(given: Given | None = None) -> dict[str, Price]:
    """The price of each model by its name: the table that comes with compactlab, and over it what is *given*.

    A given price is a `Price`, or a mapping with its fields (`{"input": 2, "output": 8}`). Raises `SpecError` for one
    that is not a price.
    """
    own = {model: price if isinstance(price, Price) else _read(model, price) for model, price in (given or {}).items()}
    for model, price in own.items():
        rates: tuple[Price | Long, ...] = (price, price.long) if price.long else (price,)
        for number in (number for rate in rates for number in (rate.input, rate.output, rate.cached or 0.0)):
            if not (math.isfinite(number) and number >= 0):
                raise SpecError(f"the price of {model!r} is {number}; expected a number of 0 or more")
    return {**_listed(), **own}


def _read(model: str, price: object) -> Price:
    try:
        return msgspec.convert(price, Price)
    except msgspec.ValidationError as error:
        raise SpecError(f"the price of {model!r}: {error}; expected input, output, and perhaps cached") from error


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
