"""Tests of paired differences: sign flips, equivalence, and what one may say after many of them."""

from itertools import product
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as reference

from compactlab.stats import LEVEL, MARGIN, Compared, Estimate, clustered, compared, equivalence, judged, sign_flips
from compactlab.stats.paired import DRAWS, MANY

STORIES = "abcdefghijklmno"
PAIRS = st.lists(st.tuples(st.sampled_from("abcdefgh"), st.floats(-1, 1)), min_size=1, max_size=20)


def one_each(values):
    return [(f"story {i:02}", value) for i, value in enumerate(values)]


def flipped_by_hand(differences):
    stories = sorted({story for story, _ in differences})
    sums = [sum(value for at, value in differences if at == story) for story in stories]
    reached = [
        abs(sum(s * v for s, v in zip(signs, sums, strict=True))) for signs in product((1, -1), repeat=len(sums))
    ]
    return sum(value >= abs(sum(sums)) - 1e-12 for value in reached) / len(reached)


@given(PAIRS)
def test_sign_flips_go_through_every_pattern_of_whole_stories(differences):
    assert sign_flips(differences) == pytest.approx(flipped_by_hand(differences))


@given(PAIRS)
def test_sign_flips_do_not_mind_which_comes_first_nor_the_unit(differences):
    p = sign_flips(differences)
    assert 2 / 2 ** len({story for story, _ in differences}) <= p <= 1
    assert sign_flips([(story, -2 * value) for story, value in differences]) == pytest.approx(p)
    assert sign_flips(differences[::-1]) == pytest.approx(p)


def test_with_one_session_a_story_they_are_the_paired_permutation_test():
    values = np.random.default_rng(4).normal(0.3, 1, 9)
    expected = reference.permutation_test((values,), np.mean, permutation_type="samples", n_resamples=np.inf)
    assert sign_flips(one_each(values)) == pytest.approx(expected.pvalue)


def test_over_fifteen_stories_patterns_are_drawn_and_the_same_seed_draws_the_same():
    values = np.random.default_rng(5).normal(0.35, 1, 18)
    found = sign_flips(one_each(values))
    assert found == sign_flips(one_each(values)) != sign_flips(one_each(values), seed=1)
    exact = flipped_by_hand(one_each(values[:15])), sign_flips(one_each(values[:15]))
    assert exact[0] == pytest.approx(exact[1])
    expected = reference.permutation_test(
        (values,), np.mean, permutation_type="samples", n_resamples=200_000, rng=np.random.default_rng(6)
    )
    assert found == pytest.approx(expected.pvalue, abs=4 * (0.25 / DRAWS) ** 0.5)
    assert sign_flips(one_each([1.0] * 40)) == 1 / DRAWS


@pytest.mark.parametrize("shift", [0.0, 0.1, 0.25])
def test_of_many_stories_the_normal_distribution_stands_in_for_the_patterns(shift):
    values = np.random.default_rng(6).normal(shift, 1, MANY)
    drawn = reference.permutation_test(
        (values,), np.mean, permutation_type="samples", n_resamples=20_000, rng=np.random.default_rng(7)
    )
    assert sign_flips(one_each(values)) == pytest.approx(drawn.pvalue, abs=0.015)
    assert sign_flips(one_each([0.0] * MANY)) == 1


def test_no_values_have_no_p_and_nothing_but_noughts_has_one():
    assert sign_flips([]) is None
    assert sign_flips(one_each([0.0] * 7)) == 1


@given(st.floats(-0.2, 0.2), st.floats(1e-6, 0.2), st.integers(5, 40))
def test_two_rows_are_equivalent_where_the_interval_of_ninety_per_cent_lies_within_the_margin(mean, half, clusters):
    estimate = Estimate(mean, half, clusters, clusters)
    reach = float(reference.t.ppf(0.95, clusters - 1)) * estimate.error
    inside = mean - reach > -MARGIN and mean + reach < MARGIN
    if abs(abs(mean) + reach - MARGIN) > 1e-9:
        assert (equivalence(estimate) < LEVEL) == inside
    assert 0 <= equivalence(estimate) <= 1


def test_the_two_one_sided_tests_are_those_of_the_reference():
    values = np.random.default_rng(2).normal(0.01, 0.03, 12)
    lower = reference.ttest_1samp(values, -MARGIN, alternative="greater").pvalue
    upper = reference.ttest_1samp(values, MARGIN, alternative="less").pvalue
    assert compared(one_each(values)).equal == pytest.approx(max(lower, upper))
    assert compared(one_each(values), margin=0.001).equal > 0.5


@pytest.mark.parametrize(
    ("mean", "half", "expected"),
    [(0.0, 0.0, 0.0), (0.049, 0.0, 0.0), (0.06, 0.0, 1.0), (MARGIN, 0.02, 0.5), (0.0, None, None)],
)
def test_equivalence_at_its_ends(mean, half, expected):
    found = equivalence(Estimate(mean, half, 9, 9 if half is not None else 3))
    assert found == (expected if expected is None else pytest.approx(expected))


def of(p, flips=0.004, equal=1.0, mean=0.1, clusters=9):
    return Compared(Estimate(mean, 0.01, clusters, clusters), p, flips, equal, None)


@pytest.mark.parametrize(
    ("found", "verdict"),
    [
        (of(0.001), "better"),
        (of(0.001, mean=-0.1), "worse"),
        (of(0.001, equal=0.001), "better"),
        (of(0.001, flips=0.06), "inconclusive"),
        (of(0.06), "inconclusive"),
        (of(0.06, equal=0.04), "equivalent"),
        (of(0.001, flips=0.0625, clusters=5), None),
        (of(0.001, flips=0.03125, clusters=6), "better"),
        (Compared(Estimate(0.1, None, 4, 4), None, None, None, None), None),
    ],
)
def test_a_verdict_needs_both_tests_and_six_stories(found, verdict):
    assert [judged([found])[0].verdict] == [verdict]


def test_both_kinds_of_p_are_corrected_within_the_family():
    family = [of(0.02, equal=0.02), of(0.03, equal=0.9), of(0.9, equal=0.02)]
    assert [found.p for found in judged(family)] == pytest.approx([0.06, 0.06, 0.9])
    assert [found.equal for found in judged(family)] == pytest.approx([0.06, 0.9, 0.06])
    assert {found.verdict for found in judged(family)} == {"inconclusive"}
    assert [judged([found])[0].verdict for found in family] == ["better", "better", "equivalent"]


def told(rounds, draw, stories, seed):
    """Share of simulated studies with each verdict; one or two sessions a story."""
    random = np.random.default_rng(seed)
    found = []
    for _ in range(rounds):
        differences = [(STORIES[s], value) for s in range(stories) for value in draw(random, 1 + s % 2)]
        found.append(judged([compared(differences)])[0].verdict)
    return {verdict: found.count(verdict) / rounds for verdict in ("better", "worse", "equivalent", "inconclusive")}


def normal(mean, spread):
    return lambda random, k: random.normal(mean, spread) + random.normal(0, spread / 2, k)


def skewed(random, k):
    """Mostly a little under nought, now and then far over it, nought in the mean."""
    return [random.exponential(1) - 1] * k


def test_where_nothing_differs_hardly_a_study_says_so():
    found = told(800, normal(0, 1), 9, seed=1)
    assert found["better"] + found["worse"] < 0.07
    assert found["equivalent"] < 0.01


def test_where_a_difference_of_the_margin_is_true_hardly_a_study_says_equivalent():
    assert told(800, normal(MARGIN, 0.02), 9, seed=2)["equivalent"] < 0.07


def test_where_a_small_difference_is_true_most_studies_of_little_noise_say_equivalent():
    assert told(300, normal(0, 0.02), 9, seed=3)["equivalent"] > 0.9


def wrongly(test, stories, seed):
    """How often a test at 5 % is wrong about skewed differences that are nought in the mean."""
    random = np.random.default_rng(seed)
    found = [
        compared([(STORIES[s], v) for s in range(stories) for v in skewed(random, 1 + s % 2)]) for _ in range(3_000)
    ]
    return sum(test(one) < LEVEL for one in found) / len(found)


@pytest.mark.study
@pytest.mark.parametrize(("stories", "by_t", "by_both"), [(6, 0.13, 0.07), (9, 0.11, 0.09)])
def test_both_tests_together_are_less_often_wrong_about_skewed_differences(stories, by_t, by_both):
    assert wrongly(lambda one: one.p, stories, stories) == pytest.approx(by_t, abs=0.015)
    assert wrongly(lambda one: max(one.p, one.flips), stories, stories) == pytest.approx(by_both, abs=0.015)


def test_a_story_counts_once_however_often_it_was_recorded():
    draw = Random(1)
    values = [(story, draw.gauss(0.2, 0.1)) for story in STORIES[:8]]
    often = [pair for pair in values for _ in range(5)]
    assert sign_flips(often) == sign_flips(values)
    assert compared(often).p == pytest.approx(compared(values).p)
    assert clustered(often).error == pytest.approx(clustered(values).error)
