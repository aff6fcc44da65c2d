"""Survival curves: a published example, cases by hand, and what must hold for any lives."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from compactlab.survival import alive, survival

lives = st.dictionaries(st.integers(1, 8), st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=6).map(
    lambda found: {k: (min(gone, n), n) for k, (gone, n) in found.items()}
)

REMISSION = {6: (3, 4), 7: (1, 1), 9: (0, 1), 10: (1, 2), 11: (0, 1), 13: (1, 1), 16: (1, 1), 17: (0, 1), 19: (0, 1)}
REMISSION |= {20: (0, 1), 22: (1, 1), 23: (1, 1), 25: (0, 1), 32: (0, 2), 34: (0, 1), 35: (0, 1)}
"""Weeks of remission under 6-MP, relapses and all, of 21 patients (Freireich et al. 1963)."""
PUBLISHED = {
    6: (0.8571, 0.6197, 0.9516),
    7: (0.8067, 0.5631, 0.9228),
    10: (0.7529, 0.5032, 0.8894),
    13: (0.6902, 0.4316, 0.8491),
    16: (0.6275, 0.3675, 0.8049),
    22: (0.5378, 0.2678, 0.7468),
    23: (0.4482, 0.1881, 0.6801),
}
"""The curve and its log-log intervals as textbooks and statistics packages print them for that trial."""


def test_the_curve_of_a_well_known_trial_is_the_published_one_with_its_intervals():
    curve = survival(REMISSION)
    assert (curve.lives, curve.lost) == (21, 9)
    found = {k: (a, low, high) for k, a, low, high in zip(*curve[2:], strict=True) if k in PUBLISHED}
    for week, expected in PUBLISHED.items():
        assert found[week] == pytest.approx(expected, abs=0.00006)
    assert curve.median == 23
    assert curve.median_range == (13, None)


@pytest.mark.parametrize(
    ("given_lives", "curve", "median"),
    [
        ({1: (2, 4), 2: (2, 2), 3: (0, 4)}, {1: 8 / 10, 2: 8 / 10 * 4 / 6, 3: 8 / 10 * 4 / 6}, None),
        ({1: (4, 4)}, {1: 0.0}, 1),
        ({1: (0, 4), 2: (0, 1)}, {1: 1.0, 2: 1.0}, None),
        ({1: (5, 5), 2: (5, 5)}, {1: 0.5, 2: 0.0}, 1),
        ({2: (1, 1), 5: (1, 1)}, {2: 0.5, 5: 0.0}, 2),
    ],
)
def test_a_curve_falls_by_what_is_lost_of_what_was_at_risk(given_lives, curve, median):
    found = survival(given_lives)
    assert dict(zip(found.passes, found.alive, strict=True)) == pytest.approx(curve)
    assert found.median == median


def test_between_passes_a_curve_stays_and_before_the_first_all_are_alive():
    curve = survival({2: (1, 4), 5: (1, 1)})
    assert [curve.after(k) for k in (0, 1, 2, 4, 5, 99)] == pytest.approx([1, 1, 0.8, 0.8, 0, 0])


@pytest.mark.parametrize("none", [{}, {1: (0, 0)}])
def test_where_there_is_no_life_there_is_no_curve(none):
    assert survival(none) is None


def test_where_all_or_none_are_alive_there_is_no_interval():
    assert survival({1: (0, 3)}).low == (None,)
    assert survival({1: (3, 3)}).high == (None,)
    assert survival({1: (3, 3)}).median_range == (1, None)


@given(lives)
def test_a_curve_never_rises_and_lies_within_its_interval(given_lives):
    curve = survival(given_lives)
    if curve is None:
        return
    assert curve.lives == sum(n for _, n in given_lives.values())
    assert list(curve.alive) == sorted(curve.alive, reverse=True)
    for share, low, high in zip(curve.alive, curve.low, curve.high, strict=True):
        assert 0 <= share <= 1
        assert (low is None) == (high is None)
        assert low is None or low <= share + 1e-9 <= high + 2e-9


@given(lives, st.integers(1, 8))
def test_one_more_loss_never_makes_a_curve_higher(given_lives, at):
    gone, n = given_lives.get(at, (0, 0))
    before, after = survival({**given_lives, at: (gone, n + 1)}), survival({**given_lives, at: (gone + 1, n + 1)})
    assert all(after.after(k) <= before.after(k) + 1e-12 for k in range(9))


@given(lives, st.integers(1, 8))
def test_weights_of_one_give_the_curve_itself(given_lives, last):
    lost, ended = np.zeros((2, last + 1))
    for k, (gone, n) in given_lives.items():
        lost[min(k, last + 1) - 1] += gone
        ended[min(k, last + 1) - 1] += n
    curve = survival(given_lives)
    found = float(alive(lost, ended))
    assert np.isnan(found) if curve is None else found == pytest.approx(curve.after(last))


@given(lives, st.integers(2, 5))
def test_twice_the_weight_changes_no_share(given_lives, times):
    lost = np.array([given_lives.get(k, (0, 0))[0] for k in range(1, 10)], float)
    ended = np.array([given_lives.get(k, (0, 0))[1] for k in range(1, 10)], float)
    many = alive(np.stack([lost, times * lost]), np.stack([ended, times * ended]))
    assert many[0] == pytest.approx(many[1], nan_ok=True)
