"""How many sessions a difference asks for, shares pooled over sessions, and repetitions, against closed forms."""

from statistics import mean, pvariance, stdev, variance

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as reference

from compactlab.stats import Estimate, Spread, clustered, pooled, repeated, sessions_for, spread_of

PARTS = st.lists(st.tuples(st.sampled_from("abcdefg"), st.integers(0, 20), st.integers(0, 20)), max_size=25)


def one_each(values):
    return [(f"story {i}", value) for i, value in enumerate(values)]


# ---- shares pooled over sessions


@given(PARTS)
def test_a_pooled_share_is_the_mean_of_all_things_with_their_clustered_error(parts):
    parts = [(story, min(kept, n), n) for story, kept, n in parts]
    found = pooled(parts)
    things = [(story, 1.0 * (i < kept)) for story, kept, n in parts for i in range(n)]
    expected = clustered(things)
    if expected is None:
        assert found is None
        return
    assert found.mean == pytest.approx(expected.mean)
    assert found.clusters == expected.clusters
    assert found.n == sum(n > 0 for _, _, n in parts)
    assert (found.half is None) == (expected.half is None)
    assert found.half is None or found.half == pytest.approx(expected.half)


@given(st.lists(st.tuples(st.sampled_from("abcdefg"), st.floats(0, 1)), min_size=1))
def test_shares_of_equal_size_are_pooled_as_their_mean(values):
    assert pooled([(story, 7 * value, 7) for story, value in values])[:2] == (
        pytest.approx(clustered(values).mean),
        clustered(values).half if clustered(values).half is None else pytest.approx(clustered(values).half, abs=1e-12),
    )


def test_the_ratio_estimate_is_the_one_worked_out_by_hand():
    # shares 3/10, 5/10, 8/20, 1/10, 6/10 of 60: 23/60; residuals 3-23/6, 5-23/6, 8-23/3, 1-23/6, 6-23/6
    parts = [("a", 3, 10), ("b", 5, 10), ("c", 8, 20), ("d", 1, 10), ("e", 6, 10)]
    residuals = [value - 23 / 60 * size for _, value, size in parts]
    error = (sum(r * r for r in residuals) * 5 / 4) ** 0.5 / 60
    assert pooled(parts) == Estimate(pytest.approx(23 / 60), pytest.approx(2.776445105 * error), 5, 5)
    assert pooled(parts).error == pytest.approx(error)


def test_a_share_of_nothing_is_none():
    assert pooled([]) is None
    assert pooled([("a", 0, 0)]) is None


def test_the_interval_of_a_pooled_share_covers_the_truth():
    draw = np.random.default_rng(7)
    hits = 0
    for _ in range(1_000):
        truth = draw.beta(4, 4, 9)
        sizes = draw.integers(5, 60, 9)
        found = pooled([(str(i), draw.binomial(n, p), n) for i, (n, p) in enumerate(zip(sizes, truth, strict=True))])
        hits += found.low <= 0.5 <= found.high
    assert 0.9 <= hits / 1_000 <= 0.975


# ---- sessions for a difference


@pytest.mark.parametrize("power", [0.5, 0.8, 0.9])
@pytest.mark.parametrize("replicates", [1, 4])
def test_the_number_of_sessions_is_that_of_the_formula(power, replicates):
    spread = Spread(0.03, 0.02, 0.01)
    reach = reference.norm.ppf(0.975) + reference.norm.ppf(power)
    exact = reach**2 * (0.03 + 0.03 / replicates) / 0.05**2
    assert sessions_for(0.05, spread, replicates, power) == int(np.ceil(exact))


@given(st.floats(0.01, 0.5), st.floats(0, 0.2), st.floats(0, 0.2), st.integers(1, 20))
def test_more_noise_asks_for_more_sessions_and_repetitions_for_fewer(difference, between, noise, replicates):
    found = sessions_for(difference, Spread(between, noise), replicates)
    assert found >= sessions_for(difference, Spread(between, noise), replicates + 1) >= 1
    assert found <= sessions_for(difference, Spread(between + 0.1, noise), replicates)
    assert found <= sessions_for(difference / 2, Spread(between, noise), replicates)
    assert sessions_for(-difference, Spread(between, noise), replicates) == found


def test_so_many_sessions_show_the_difference_four_times_in_five():
    draw = np.random.default_rng(8)
    n = sessions_for(0.05, Spread(0.01, 0.005), replicates=2)
    shown = 0
    for _ in range(600):
        noise = draw.normal(0, 0.005**0.5, (n, 2)).mean(axis=1)
        shown += clustered(one_each(0.05 + draw.normal(0, 0.1, n) + noise)).low > 0
    assert 0.73 <= shown / 600 <= 0.86


def test_no_number_of_sessions_shows_that_nothing_differs():
    with pytest.raises(ValueError, match="difference of 0"):
        sessions_for(0, Spread(0.01))


def test_the_spread_is_the_variance_of_the_sessions_less_what_repetitions_brought_in():
    values = (0.1, 0.3, 0.2, 0.6, 0.4)
    assert spread_of(one_each(values)).between == pytest.approx(variance(values))
    assert spread_of(one_each(values), within=0.01).between == pytest.approx(variance(values) - 0.01)
    assert spread_of(one_each(values), within=1).between == 0
    assert spread_of(one_each(values[:4])) is None


def test_sessions_that_tell_the_same_story_count_as_one():
    values = one_each((0.1, 0.3, 0.2, 0.6, 0.4))
    once, twice = (spread_of([pair for pair in values for _ in range(k)]).between for k in (1, 2))
    assert twice == pytest.approx(2 * once)


# ---- repetitions


def test_a_session_is_the_mean_of_its_repetitions_and_counts_once():
    found = repeated({"one": [0.2, 0.4, 0.6], "two": [1.0], "three": []})
    assert found.means == {"one": pytest.approx(0.4), "two": 1.0}
    assert found.within == pytest.approx(variance([0.2, 0.4, 0.6]))
    assert found.replicates == 2


@pytest.mark.parametrize("values", [{}, {"one": [0.5]}, {"one": [0.5], "two": [0.7]}])
def test_without_repetitions_nothing_is_known_of_their_spread(values):
    assert repeated(values).within is None


def test_the_spread_within_is_that_of_the_analysis_of_variance():
    groups = np.random.default_rng(9).normal(0, 1, (6, 4)) + np.arange(6)[:, None]
    found = repeated({str(i): list(of) for i, of in enumerate(groups)})
    between = 4 * variance(list(found.means.values()))
    assert between / found.within == pytest.approx(reference.f_oneway(*groups).statistic)


@given(st.lists(st.lists(st.floats(0, 1), min_size=2, max_size=5), min_size=2, max_size=8))
def test_the_spread_within_does_not_mind_where_sessions_stand(groups):
    here, there = (repeated({str(i): [v + step * i for v in of] for i, of in enumerate(groups)}) for step in (0, 3))
    assert here.within == pytest.approx(there.within, abs=1e-9)
    assert here.within >= 0
    assert min(map(pvariance, groups)) <= here.within * 2 + 1e-12


def test_an_estimate_on_another_scale_keeps_what_it_rests_on():
    values = one_each((0.1, 0.3, 0.2, 0.6, 0.4))
    found = clustered(values).scaled(-2, 1)
    assert found[:2] == pytest.approx(clustered([(story, 1 - 2 * value) for story, value in values])[:2])
    assert found.error == pytest.approx(2 * stdev(v for _, v in values) / 5**0.5)
    assert found.mean == pytest.approx(1 - 2 * mean(v for _, v in values))
    assert Estimate(0.5, None, 2, 2).scaled(3).half is None
