"""How one value may have become another, from the likeliest slip to the least likely."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compactlab.probes.nearness import SLIPS, slip

CASES = [
    ("5433", "5434", "number", "changed"),
    ("5433", "4533", "number", "transposed"),
    ("5433", "5343", "number", "transposed"),
    ("5433", "5499", "number", None),
    ("54331", "54399", "number", "changed twice"),
    ("5433", "9120", "number", None),
    ("5433", "543", "number", None),
    ("30717.807", "30718", "number", "rounded"),
    ("30717.807", "30717", "number", "rounded"),
    ("30717.807", "30717.8", "number", "rounded"),
    ("30717.807", "30700", "number", "rounded"),
    ("30717.807", "31000", "number", "rounded"),
    ("30717.807", "32000", "number", None),
    ("30717.807 kWh", "30718 kWh", "quantity", "rounded"),
    ("30717.807 kWh", "30718", "number", "rounded"),
    ("30717.807 kWh", "30718 MWh", "number", None),
    ("99.00", "99.01 euros", "number", "changed"),
    ("12 ms", "190 ms", "number", "renumbered"),
    ("12 ms", "12 s", "number", None),
    ("12 ms", "12", "number", None),
    ("staging-01", "staging-02", "identifier", "changed"),
    ("staging-01", "production-01", "identifier", None),
    ("3fa9c1d2", "3fa9cd12", "hash", "transposed"),
    ("2026-03-14", "2026-03-16", "date", "changed"),
    ("14:30", "2026-03-14 14:31", "date", "changed"),
    ("src/a/x.py", "src/b/x.py", "path", "changed"),
    ("src/orders/x.py", "src/refunds/x.py", "path", "moved"),
    ("src/orders/x.py", "src/orders/x.toml", "path", "moved"),
    ("src/orders/x.py", "src/refunds/y.py", "path", None),
    ("src/orders", "src/refunds", "path", None),
    ("src/orders/x.py", "x.py", "path", None),
    ("5433", "5433", "number", None),
    ("543", "5-3", "identifier", None),
]
SCALED = [("30717.807", "30.7", 3), ("30717", "31", 3), ("2483911", "2.5", 6), ("1240", "12", 2)]
VALUES = st.text("0123456789.- abz/_", min_size=1, max_size=12)
NUMBERS = st.decimals(1, 1_000_000, allow_nan=False, places=3)


@pytest.mark.parametrize(("value", "other", "family", "expected"), CASES)
def test_the_slip_between_two_values(value, other, family, expected):
    assert slip(value, other, family) == expected


@pytest.mark.parametrize(("value", "other", "scale"), SCALED)
def test_a_number_may_be_rounded_to_thousands_in_words(value, other, scale):
    assert slip(value, other, "number", scale) == "rounded"
    assert slip(value, other, "number") != "rounded"


@given(VALUES, VALUES, st.sampled_from(["number", "identifier", "path", "date"]))
def test_any_two_values_have_one_slip_or_none_and_no_value_slips_to_itself(value, other, family):
    assert slip(value, other, family) in {None, *SLIPS}
    assert slip(value, value, family) is None


@given(NUMBERS, st.integers(0, 2))
def test_every_rounding_of_a_number_is_seen(number, places):
    short = str(round(number, places))
    if "E" not in short and Decimal(short) != number:
        assert slip(str(number), short, "number") is not None


@given(st.integers(10_000, 99_999_999), st.data())
def test_one_changed_digit_is_seen_wherever_it_stands(number, data):
    text = str(number)
    at = data.draw(st.integers(0, len(text) - 1))
    other = text[:at] + str((int(text[at]) + 3) % 10) + text[at + 1 :]
    assert slip(text, other, "number") == "changed"
