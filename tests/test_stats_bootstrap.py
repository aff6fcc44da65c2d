"""Intervals of whole quantities, against closed forms and by simulation."""

import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from compactlab.front import hypervolume
from compactlab.stats import clustered, t_quantile
from compactlab.stats.bootstrap import DRAWS, MANY, WIDEST, SessionMean, resamples, whole, whole_of

STORIES = "abcdefghijklmnop"


def mean_of(values):
    """Give the statistic of the mean of one session a story."""
    return SessionMean({str(i): v for i, v in enumerate(values)}, {str(i): str(i) for i in range(99)}, names(values))


def names(values):
    return [str(i) for i in range(len(values))]


def test_a_resample_holds_as_many_stories_as_there_are_and_is_the_same_each_time():
    drawn = resamples(7)
    assert drawn.shape == (DRAWS, 7)
    assert set(drawn.sum(axis=1)) == {7}
    assert (drawn == resamples(7)).all()
    assert (drawn != resamples(7, seed=1)).any()
    assert drawn.mean(axis=0) == pytest.approx(np.ones(7), abs=0.1)


@given(st.lists(st.tuples(st.sampled_from("abcdef"), st.floats(0, 1)), min_size=1, max_size=20))
def test_the_mean_of_sessions_is_that_of_the_estimate_in_every_table(pairs):
    values = {f"s{i}": value for i, (_, value) in enumerate(pairs)}
    mean = SessionMean(values, {f"s{i}": story for i, (story, _) in enumerate(pairs)}, "abcdef")
    found = whole_of(mean, [mean])
    expected = clustered(pairs)
    assert found.mean == pytest.approx(expected.mean)
    assert (found.n, found.clusters) == (expected.n, expected.clusters)
    assert (found.half is None) == (expected.half is None)


def test_the_interval_of_a_mean_is_near_that_of_t_and_never_over_twice_of_it():
    values = np.random.default_rng(3).normal(0.5, 0.1, 12)
    mean = mean_of(values)
    expected = clustered([(str(i), v) for i, v in enumerate(values)])
    assert whole_of(mean, [mean]).half == pytest.approx(expected.half, rel=0.35)
    for seed in range(10):
        few = np.random.default_rng(seed).exponential(0.2, 5)
        mean = mean_of(few)
        found, by_t = whole_of(mean, [mean]), clustered([(str(i), v) for i, v in enumerate(few)])
        assert found.half <= WIDEST * by_t.half * 1.0001


def test_with_many_stories_it_is_that_of_t():
    values = np.random.default_rng(3).normal(0.5, 0.1, MANY)
    mean = mean_of(values)
    expected = t_quantile(MANY - 1) * values.std(ddof=1) / MANY**0.5
    assert whole_of(mean, [mean]).half == pytest.approx(expected)


@pytest.mark.parametrize("stories", [1, 2, 3, 4])
def test_under_five_stories_there_is_no_interval(stories):
    mean = mean_of([0.2, 0.4, 0.6, 0.8][:stories])
    found = whole_of(mean, [mean])
    assert (found.half, found.clusters) == (None, stories)


def test_what_has_no_value_has_no_estimate():
    assert whole(lambda weights: np.full(len(weights), np.nan), 6, 6) is None
    nothing = SessionMean({}, {}, "abc")
    assert whole_of(nothing, [nothing]) is None


def test_what_hangs_on_one_story_has_a_value_and_no_interval():
    def only_with_the_first(weights):
        return np.where(weights[:, 0] > 0, 0.5 + weights[:, 1] / 100, np.nan)

    found = whole(only_with_the_first, 6, 6)
    assert (found.mean, found.half) == (pytest.approx(0.51), None)


def test_what_does_not_vary_has_an_interval_of_no_width():
    mean = mean_of([0.5] * 8)
    assert whole_of(mean, [mean]).half == pytest.approx(0, abs=1e-9)


def test_stories_that_know_nothing_of_a_quantity_are_no_part_of_its_interval():
    values = {str(i): i / 10 for i in range(6)}
    cluster = {str(i): str(i) for i in range(6)}
    alone, among = (SessionMean(values, cluster, [*map(str, range(6)), *extra]) for extra in ("", "xyz"))
    assert whole_of(alone, [alone]).half == pytest.approx(whole_of(among, [among]).half)
    assert whole_of(among, [among]).clusters == 6


def test_a_thousand_resamples_of_an_area_take_little_time():
    means = [mean_of(np.random.default_rng(i).random(30)) for i in range(10)]

    def area(weights):
        at = [mean(weights) for mean in means]
        return hypervolume(np.stack([np.stack(at[:5], -1), np.stack(at[5:], -1)], -1))

    started = time.perf_counter()
    assert whole_of(area, means).half > 0
    assert time.perf_counter() - started < 5


SAVED = 1 - np.array([5, 10, 20, 30, 50]) / 100
TRUE = np.array([0.1, 0.3, 0.5, 0.65, 0.82])


def covered(rounds, stories, seed):
    """Share of simulated studies whose interval of the hypervolume holds the true one; one or two sessions a story."""
    draw = np.random.default_rng(seed)
    hits = 0
    for _ in range(rounds):
        story = np.repeat(np.arange(stories), 1 + np.arange(stories) % 2)
        kept = TRUE + draw.normal(0, 0.1, stories)[story, None] + draw.normal(0, 0.07, (len(story), 5))
        cluster = {str(i): STORIES[s] for i, s in enumerate(story)}
        columns = ({str(i): v for i, v in enumerate(column)} for column in kept.T)
        means = [SessionMean(column, cluster, STORIES[:stories]) for column in columns]
        found = whole_of(lambda w, means=means: area_at(np.stack([m(w) for m in means], -1)), means)
        hits += found.low <= float(area_at(TRUE)) <= found.high
    return hits / rounds


def area_at(kept):
    return hypervolume(np.stack([np.broadcast_to(SAVED, kept.shape), kept], -1))


def test_the_interval_of_an_area_covers_the_truth_with_nine_stories():
    assert 0.9 <= covered(120, 9, seed=5) <= 1


@pytest.mark.study
@pytest.mark.parametrize("stories", [5, 6, 9, 13])
def test_the_interval_of_an_area_covers_the_truth_for_few_stories(stories):
    assert 0.93 <= covered(1_000, stories, seed=6) <= 0.995
