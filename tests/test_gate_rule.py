"""The rule: the interval over replicates, the verdict by the margin, the session that falls alone."""

from math import sqrt
from statistics import mean, stdev

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import t, ttest_rel

from compactlab.gate.rule import Interval, fallen, paired, verdict

DIFFERENCES = st.floats(-1, 1, allow_nan=False)


@st.composite
def tables(draw):
    """Differences by session, as many replicates for each."""
    count = draw(st.integers(2, 6))
    names = draw(st.lists(st.sampled_from("abcdefgh"), min_size=1, max_size=5, unique=True))
    return {name: draw(st.lists(DIFFERENCES, min_size=count, max_size=count)) for name in names}


def test_the_interval_is_that_of_a_paired_t_test_over_replicates():
    base = {"garden": [0.5, 0.6, 0.4, 0.55], "novel": [0.2, 0.3, 0.25, 0.15]}
    new = {"garden": [0.6, 0.58, 0.5, 0.57], "novel": [0.25, 0.28, 0.24, 0.2]}
    found = paired({s: [b - a for a, b in zip(base[s], new[s], strict=True)] for s in base})
    whole = [[mean(row) for row in zip(*side.values(), strict=True)] for side in (new, base)]
    low, high = ttest_rel(*whole).confidence_interval(0.95)
    assert (found.low, found.high) == (pytest.approx(low), pytest.approx(high))


@given(tables())
def test_the_mean_lies_in_its_interval_and_turned_round_the_interval_is_too(table):
    found = paired(table)
    turned = paired({session: [-value for value in values] for session, values in table.items()})
    assert found.low <= found.difference <= found.high
    assert (turned.low, turned.high) == (pytest.approx(-found.high), pytest.approx(-found.low))


@given(tables(), st.integers(2, 4))
def test_sessions_told_twice_change_nothing_since_the_corpus_is_no_sample(table, times):
    found, again = paired(table), paired({f"{s}{n}": values for s, values in table.items() for n in range(times)})
    assert again == Interval(*(pytest.approx(value) for value in found))


@given(tables(), st.floats(0.001, 0.5))
def test_a_verdict_is_one_of_three_and_a_wider_margin_is_never_stricter(table, margin):
    rank = {"fail": 0, "inconclusive": 1, "pass": 2}
    found = paired(table)
    assert rank[verdict(found, margin)] <= rank[verdict(found, 2 * margin)]
    assert (verdict(found, margin) == "pass") == (found.low > -margin)


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (-0.049, 0.2, "pass"),
        (-0.05, 0.2, "inconclusive"),
        (-0.2, -0.05, "inconclusive"),
        (-0.2, -0.051, "fail"),
        (None, None, "inconclusive"),
    ],
)
def test_the_ends_of_the_interval_decide(low, high, expected):
    assert verdict(Interval(0.0, low, high), 0.05) == expected


def test_one_session_that_falls_is_seen_behind_the_mean_of_many():
    steady = {f"s{n}": [0.01, -0.01, 0.0, 0.005] for n in range(20)}
    table = steady | {"novel": [-0.4, -0.41, -0.39, -0.4]}
    assert verdict(paired(table), 0.05) == "pass"
    assert fallen(table, 0.05) == ("novel",)
    assert fallen(steady, 0.05) == ()


def test_many_sessions_do_not_raise_the_alarm_more_easily_than_one():
    values = [-0.11, -0.05, -0.08, -0.1, -0.09]
    below = mean(values) + t.ppf(0.975, 4) * stdev(values) / sqrt(5)
    assert below < -0.05
    assert fallen({"novel": values}, 0.05) == ("novel",)
    assert fallen({"novel": values} | {f"s{n}": [0.0, 0.01, 0.0, 0.01, 0.0] for n in range(39)}, 0.05) == ()


def test_without_chance_a_difference_is_its_own_interval():
    assert fallen({"a": [-0.06], "b": [-0.05], "c": [0.2]}, 0.05) == ("a",)


@pytest.mark.parametrize("table", [{}, {"a": []}, {"a": [0.1], "b": [0.1, 0.2]}])
def test_differences_that_do_not_pair_are_refused(table):
    with pytest.raises(ValueError):
        paired(table)
