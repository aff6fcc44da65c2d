"""The front and its areas, against figures worked out by hand and against what must hold for any points."""

from itertools import product
from math import log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from compactlab.front import (
    additive_epsilon,
    aurc,
    contributions,
    hypervolume,
    losses,
    non_dominated,
    quality_at,
    tokens_at,
)

shares = st.integers(0, 20).map(lambda n: n / 20)
points = st.lists(st.tuples(shares, shares), min_size=1, max_size=8)


def area(found):
    return float(hypervolume(found))


def dominates(one, other):
    return one != other and one[0] >= other[0] and one[1] >= other[1]


@pytest.mark.parametrize(
    ("given_points", "expected"),
    [
        ([], 0),
        ([(0, 0)], 0),
        ([(1, 1)], 1),
        ([(0, 1), (1, 0)], 0),
        ([(0.5, 0.5)], 0.25),
        ([(0.5, 1), (1, 0.5)], 0.75),
        ([(0.9, 0.2), (0.5, 0.8), (0.4, 0.7)], 0.48),
        ([(0.5, 0.8), (0.5, 0.6)], 0.4),
        ([(-0.2, 0.9), (0.5, 1.4)], 0.5),
        ([(float("nan"), 0.9), (0.5, 0.5), (0.9, float("nan"))], 0.25),
    ],
)
def test_the_hypervolume_is_the_area_under_the_staircase(given_points, expected):
    assert area(given_points) == pytest.approx(expected)


@given(points)
def test_the_hypervolume_is_the_share_of_a_fine_grid_that_some_point_covers(found):
    steps = (np.arange(20) + 0.5) / 20
    covered = sum(any(x < s and y < q for s, q in found) for x, y in product(steps, steps))
    assert area(found) == pytest.approx(covered / 400)


@given(points, points)
def test_more_points_never_make_the_area_smaller_and_it_stays_within_nought_and_one(some, more):
    assert 0 <= area(some) <= area(some + more) + 1e-12 <= 1 + 1e-9


@given(points, st.randoms(use_true_random=False))
def test_the_order_of_points_does_not_matter(found, draw):
    other = draw.sample(found, len(found))
    assert area(other) == pytest.approx(area(found))
    assert sorted(other[i] for i in non_dominated(other)) == sorted(found[i] for i in non_dominated(found))


@given(points)
def test_the_front_holds_exactly_what_no_other_point_dominates(found):
    front = non_dominated(found)
    assert set(front) == {i for i, p in enumerate(found) if not any(dominates(q, p) for q in found)}
    assert [found[i][0] for i in front] == sorted((found[i][0] for i in front), reverse=True)
    assert area([found[i] for i in front]) == pytest.approx(area(found))


@given(points)
def test_a_dominated_point_adds_nothing_and_none_adds_more_than_the_whole(found):
    front = set(non_dominated(found))
    for i, added in enumerate(contributions(found)):
        assert 0 <= added <= area(found) + 1e-12
        assert added == pytest.approx(area(found) - area(found[:i] + found[i + 1 :]))
        if i not in front:
            assert added == pytest.approx(0)


def test_a_point_that_stands_twice_adds_nothing_alone_and_something_as_a_group():
    found = [(0.5, 0.5), (0.5, 0.5), (0.9, 0.1)]
    assert contributions(found).tolist() == pytest.approx([0, 0, 0.04])
    assert losses(found, [(True, True, False), (False, False, False)]).tolist() == pytest.approx([0.2, 0])


def test_many_sets_at_once_have_the_areas_of_each():
    sets = np.random.default_rng(1).random((40, 5, 2))
    assert hypervolume(sets).tolist() == pytest.approx([area(found) for found in sets])
    each = [[area(found) - area(np.delete(found, i, 0)) for i in range(5)] for found in sets]
    assert contributions(sets) == pytest.approx(np.array(each))


@given(points)
def test_a_set_is_nowhere_behind_itself(found):
    assert additive_epsilon(found, found) == 0


@given(points, points)
def test_adding_epsilon_is_enough_and_less_is_not(one, other):
    epsilon = additive_epsilon(one, other)

    def covers(by):
        return all(any(s + by >= x - 1e-9 and q + by >= y - 1e-9 for s, q in other) for x, y in one)

    assert -1 <= epsilon <= 1
    assert covers(epsilon)
    assert not covers(epsilon - 0.001)


@given(points, points)
def test_a_set_that_holds_another_is_not_behind_it(some, more):
    assert additive_epsilon(some, some + more) <= 0


def test_epsilon_of_no_points_is_refused():
    for one, other in (([], [(0, 0)]), ([(0, 0)], [])):
        with pytest.raises(ValueError, match="at least one point"):
            additive_epsilon(one, other)


budgets = st.lists(st.integers(1, 100), min_size=2, max_size=6, unique=True)


@given(budgets, st.data())
def test_the_area_over_budgets_is_a_mean_quality_that_does_not_know_the_order(taken, data):
    kept = data.draw(st.lists(shares, min_size=len(taken), max_size=len(taken)))
    found = float(aurc(taken, kept))
    assert min(kept) - 1e-9 <= found <= max(kept) + 1e-9
    pairs = data.draw(st.permutations(list(zip(taken, kept, strict=True))))
    assert float(aurc(*zip(*pairs, strict=True))) == pytest.approx(found)


@given(budgets, shares)
def test_the_same_quality_at_every_budget_is_the_area(taken, kept):
    assert float(aurc(taken, [kept] * len(taken))) == pytest.approx(kept)


def test_the_area_over_budgets_is_the_integral_over_the_logarithm():
    fine = np.exp(np.linspace(log(5), log(50), 20_001))
    kept = np.interp(np.log(fine), np.log([5, 10, 20, 30, 50]), [0.1, 0.3, 0.5, 0.65, 0.8])
    assert float(aurc([5, 10, 20, 30, 50], [0.1, 0.3, 0.5, 0.65, 0.8])) == pytest.approx(kept.mean(), abs=1e-4)


def test_a_budget_without_a_quality_leaves_no_area():
    assert np.isnan(aurc([5, 10, 20], [[0.1, np.nan, 0.3]])).all()


@pytest.mark.parametrize("taken", [[], [10], [10, 10], [0, 10], [-5, 10], [10, 20, 20]])
def test_an_area_over_no_range_is_refused(taken):
    with pytest.raises(ValueError, match="two or more"):
        aurc(taken, [0.5] * len(taken))


@pytest.mark.parametrize(
    ("budget", "expected"), [(10, 0.2), (20, 0.4), (40, 0.6), (80, 0.6), (5, None), (100, None), (10 * 2**0.5, 0.3)]
)
def test_the_quality_at_a_budget_lies_between_its_neighbours(budget, expected):
    found = quality_at(budget, [(40, 0.6), (10, 0.2), (80, 0.6)])
    assert found == (None if expected is None else pytest.approx(expected))


@pytest.mark.parametrize(
    ("quality", "measured", "expected"),
    [
        (0.9, [], None),
        (0.9, [(0.1, 0.5), (0.5, 0.89)], None),
        (0.9, [(0.5, 1.0), (0.1, 0.5), (0.3, 0.8)], 0.4),
        (0.5, [(0.1, 0.5), (0.3, 0.8)], 0.1),
        (0.2, [(0.1, 0.5), (0.3, 0.8)], 0.1),
        (0.9, [(0.1, 0.95), (0.3, 0.8), (0.5, 1.0)], 0.1),
        (0.9, [(0.1, 0.7), (0.1, 0.95)], 0.1),
        (0.6, [(0.1, 0.4), (0.2, 0.3), (0.4, 0.9)], 0.3),
    ],
)
def test_the_smallest_size_that_keeps_enough_is_read_between_points(quality, measured, expected):
    found = tokens_at(quality, measured)
    assert found == (None if expected is None else pytest.approx(expected))


@given(st.lists(st.tuples(shares, shares), max_size=8), shares, shares)
def test_keeping_more_never_takes_fewer_tokens(measured, one, other):
    less, more = (tokens_at(quality, measured) for quality in sorted((one, other)))
    assert more is None or (less is not None and less <= more + 1e-9)
