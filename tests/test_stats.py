"""Intervals, against closed forms and by simulation."""

from math import sqrt
from random import Random
from statistics import mean, stdev

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as reference

from compactlab.stats import MIN_CLUSTERS, Estimate, clustered, compared, detectable, holm

ONE_EACH = [(f"story {i}", value) for i, value in enumerate((0.2, 0.4, 0.9, 0.5, 0.6, 0.3, 0.7))]


def test_nothing_gives_no_estimate():
    assert clustered([]) is None
    assert detectable([]) is None


def test_with_one_session_a_story_the_interval_is_the_one_sample_t_interval():
    values = [value for _, value in ONE_EACH]
    found = clustered(ONE_EACH)
    error = stdev(values) / sqrt(len(values))
    low, high = reference.t.interval(0.95, len(values) - 1, loc=mean(values), scale=error)
    assert found == Estimate(pytest.approx(mean(values)), pytest.approx((high - low) / 2), 7, 7)
    assert (found.low, found.high) == (pytest.approx(low), pytest.approx(high))


def test_the_clustered_error_is_the_one_worked_out_by_hand():
    # five stories; mean 0.5; residuals .1-.1, .3, -.3+.1, .2, -.3 sum to 0, .3, -.2, .2, -.3 in their stories
    values = [("a", 0.6), ("a", 0.4), ("b", 0.8), ("c", 0.2), ("c", 0.6), ("d", 0.7), ("e", 0.2)]
    assert mean(value for _, value in values) == pytest.approx(0.5)
    error = sqrt((0 + 0.09 + 0.04 + 0.04 + 0.09) * 5 / 4) / 7
    assert clustered(values) == Estimate(pytest.approx(0.5), pytest.approx(2.776445105 * error), 7, 5)


@pytest.mark.parametrize("clusters", [5, 6, 9, 20, 100])
def test_the_quantile_is_that_of_t_with_a_degree_less_than_stories(clusters):
    values = [(str(i), float(i % 2)) for i in range(clusters)]
    found = clustered(values)
    error = stdev(value for _, value in values) / sqrt(clusters)
    assert found.half == pytest.approx(reference.t.ppf(0.975, clusters - 1) * error)


@pytest.mark.parametrize("clusters", [1, 2, 3, 4])
def test_under_five_stories_there_is_a_mean_and_no_interval(clusters):
    values = [(str(i % clusters), 0.1 * i) for i in range(12)]
    found = clustered(values)
    assert found == Estimate(pytest.approx(0.55), None, 12, clusters)
    assert (found.low, found.high) == (None, None)
    assert detectable(values) is None


def test_five_stories_are_enough():
    assert MIN_CLUSTERS == 5
    assert clustered([(str(i), 0.1 * i) for i in range(5)]).half > 0


def test_copies_of_a_session_in_its_story_make_no_interval_narrower():
    copies = [pair for pair in ONE_EACH for _ in range(4)]
    once, often = clustered(ONE_EACH), clustered(copies)
    assert often.half == pytest.approx(once.half)
    assert (often.n, often.clusters) == (28, 7)


def test_equal_values_have_an_interval_of_no_width():
    assert clustered([(str(i), 0.5) for i in range(6)]) == Estimate(0.5, 0.0, 6, 6)
    assert detectable([(str(i), 0.5) for i in range(6)]) == 0.0


@given(st.lists(st.tuples(st.sampled_from("abcdefg"), st.floats(0, 1)), min_size=1))
def test_the_order_of_sessions_does_not_matter(values):
    forth, back = clustered(values), clustered(values[::-1])
    assert forth.mean == pytest.approx(back.mean)
    assert (forth.half is None) == (back.half is None)
    assert forth.half is None or forth.half == pytest.approx(back.half, abs=1e-12)


@pytest.mark.parametrize("power", [0.5, 0.8, 0.9])
def test_the_detectable_difference_is_two_quantiles_of_the_error(power):
    values = [value for _, value in ONE_EACH]
    error = stdev(values) / sqrt(len(values))
    expected = (reference.t.ppf(0.975, 6) + reference.t.ppf(power, 6)) * error
    assert detectable(ONE_EACH, power) == pytest.approx(expected)


def test_the_detectable_difference_falls_with_the_number_of_sessions_and_grows_with_their_spread():
    found = [detectable([(str(i), float(i % 2)) for i in range(n)]) for n in range(6, 60, 2)]
    assert found == sorted(found, reverse=True)
    wide, narrow = (detectable([(c, scale * v) for c, v in ONE_EACH]) for scale in (2, 1))
    assert wide == pytest.approx(2 * narrow)


def covered(rounds, clusters, seed):
    """Share of simulated studies whose interval holds the true mean; one to three sessions a story, alike in part."""
    draw = Random(seed)
    hits = 0
    for _ in range(rounds):
        values = []
        for story in range(clusters):
            shared = draw.gauss(0, 1)
            values += [(str(story), shared + draw.gauss(0, 0.7)) for _ in range(1 + story % 2)]
        found = clustered(values)
        hits += found.low <= 0 <= found.high
    return hits / rounds


def test_the_interval_covers_the_truth_nineteen_times_in_twenty_with_nine_stories():
    assert 0.92 <= covered(2_000, 9, seed=1) <= 0.97


@pytest.mark.study
@pytest.mark.parametrize("clusters", [5, 7, 9, 13, 30])
def test_the_interval_covers_the_truth_for_few_and_many_stories(clusters):
    assert 0.925 <= covered(6_000, clusters, seed=2) <= 0.97


def test_a_difference_as_large_as_the_detectable_one_is_found_four_times_in_five():
    draw = Random(3)
    found = 0
    rounds = 1_500
    true = (reference.t.ppf(0.975, 8) + reference.t.ppf(0.8, 8)) / 3
    for _ in range(rounds):
        estimate = clustered([(str(i), draw.gauss(true, 1)) for i in range(9)])
        found += estimate.low > 0
    assert 0.75 <= found / rounds <= 0.88


def test_with_one_session_a_story_the_comparison_is_the_paired_t_test():
    differences = [value - 0.3 for _, value in ONE_EACH]
    found = compared([(str(i), value) for i, value in enumerate(differences)])
    expected = reference.ttest_1samp(differences, 0)
    assert found.p == pytest.approx(expected.pvalue)
    assert found.d_z == pytest.approx(mean(differences) / stdev(differences))
    assert found.difference == clustered([(str(i), value) for i, value in enumerate(differences)])


@given(st.lists(st.tuples(st.sampled_from("abcdefgh"), st.floats(-1, 1)), min_size=5, max_size=30))
def test_p_is_under_a_twentieth_exactly_where_the_interval_leaves_nought_out(values):
    found = compared(values)
    if found.p is None:
        assert found.difference.half is None
        return
    assert 0 <= found.p <= 1
    if abs(abs(found.difference.mean) - found.difference.half) > 1e-9:
        assert (found.p < 0.05) == (abs(found.difference.mean) > found.difference.half)
    assert compared([(story, -value) for story, value in values]).p == pytest.approx(found.p)


@pytest.mark.parametrize(("value", "p"), [(0.0, 1.0), (0.3, 0.0), (-0.3, 0.0)])
def test_equal_differences_are_sure_and_have_no_size_of_effect(value, p):
    found = compared([(str(i), value) for i in range(6)])
    assert (found.p, found.d_z) == (p, None)
    assert found.flips == (1.0 if value == 0 else 2 / 2**6)
    assert found.equal == (0.0 if value == 0 else 1.0)


def test_under_five_stories_nothing_is_tested():
    assert compared([(str(i), 0.3 + i / 100) for i in range(4)])[1:] == (None, None, None, None)
    assert compared([]) is None


@pytest.mark.parametrize(
    ("given_p", "expected"),
    [
        ([], []),
        ([0.04], [0.04]),
        ([0.01, 0.04, 0.03], [0.03, 0.06, 0.06]),
        ([0.04, 0.01], [0.04, 0.02]),
        ([0.5, 0.9, 0.6], [1, 1, 1]),
        ([None, 0.01, None, 0.02], [None, 0.02, None, 0.02]),
    ],
)
def test_holm_multiplies_the_smallest_by_all_and_so_on_down(given_p, expected):
    assert holm(given_p) == [value if value is None else pytest.approx(value) for value in expected]


@given(st.lists(st.floats(0, 1), max_size=12))
def test_holm_keeps_the_order_and_lies_between_the_value_and_bonferroni(probabilities):
    found = holm(probabilities)
    for p, adjusted in zip(probabilities, found, strict=True):
        assert p <= adjusted <= min(1, p * len(probabilities)) + 1e-12
    ordered = [adjusted for _, adjusted in sorted(zip(probabilities, found, strict=True))]
    assert ordered == sorted(ordered)
