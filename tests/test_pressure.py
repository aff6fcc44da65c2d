"""Pressure, marks and the output allowance."""

import math

import pytest
from histories import messages
from hypothesis import given
from hypothesis import strategies as st

from compactlab.errors import SpecError
from compactlab.pressure import Marks, allowance, crossed, first_reached, pressure, weights_in_view
from compactlab.tokens import Meter
from compactlab.transcript import RecordedCompaction, Transcript

WINDOWS = (4_096, 8_192, 16_384, 32_768, 65_536, 128_000)


@pytest.mark.parametrize(
    ("weight", "window", "expected"),
    [(0, 1, 0.0), (80, 100, 0.80), (95, 100, 0.95), (100, 100, 1.0), (250, 100, 2.5)],
)
def test_pressure_is_weight_over_window_and_not_clamped(weight, window, expected):
    assert pressure(weight, window) == expected


@pytest.mark.parametrize("window", [0, -1])
def test_a_window_without_room_is_refused_as_a_value_error(window):
    with pytest.raises(SpecError, match=f"window {window}: expected"):
        pressure(1, window)
    with pytest.raises(ValueError, match="window"):
        first_reached([1], window, 0.8)


@pytest.mark.parametrize(
    "values", [(), (0.9, 0.8), (0.8, 0.8), (0.0, 0.5), (-0.1,), (0.8, math.inf), (0.8, math.nan), (math.nan,)]
)
def test_marks_that_are_none_or_not_rising_or_not_above_zero_are_refused(values):
    with pytest.raises(SpecError, match="marks"):
        Marks(values)
    with pytest.raises(SpecError, match="marks of subagent"):
        Marks(by_agent_type={"subagent": values})


def test_marks_come_from_lists_as_well_and_have_three_defaults():
    assert Marks([0.5, 0.7]).values == (0.5, 0.7)
    assert Marks().values == (0.80, 0.90, 0.95)
    assert Marks().last == 0.95
    assert hash(Marks()) == hash(Marks())


def test_an_agent_type_has_its_own_marks_or_the_common_ones():
    marks = Marks((0.8,), {"subconscious": [0.5, 0.6]})
    assert marks.of("subconscious").values == (0.5, 0.6)
    assert marks.of("primary").values == (0.8,)


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ([0.79, 0.80, 0.85, 0.80], [(), (0.80,), (), ()]),
        ([0.80, 0.79, 0.80], [(0.80,), (), (0.80,)]),
        ([0.97], [(0.80, 0.90, 0.95)]),
        ([0.97, 0.92, 0.96], [(0.80, 0.90, 0.95), (), (0.95,)]),
        ([0.97, 0.3, 1.4, 1.4], [(0.80, 0.90, 0.95), (), (0.80, 0.90, 0.95), ()]),
        ([0.90, 0.95, 1.0], [(0.80, 0.90), (0.95,), ()]),
    ],
)
def test_each_mark_fires_once_per_crossing_and_is_armed_again_below_it(path, expected):
    armed, fired = Marks().armed, []
    for value in path:
        step = crossed(Marks(), armed, value)
        armed = step.armed
        fired.append(step.fired)
    assert fired == expected


@given(st.lists(st.floats(0, 2)))
def test_a_mark_fires_exactly_where_pressure_comes_from_below_it(path):
    armed, before = Marks().armed, 0.0
    for value in path:
        fired, armed = crossed(Marks(), armed, value)
        assert fired == tuple(mark for mark in Marks().values if before < mark <= value)
        before = value


def test_a_mark_that_is_set_later_fires_only_if_it_was_armed():
    assert crossed(Marks((0.5, 0.8)), frozenset({0.8}), 0.9).fired == (0.8,)


@pytest.mark.parametrize(
    ("value", "limit", "expected"),
    [
        (0.0, 8_192, 8_192),
        (0.80, 8_192, 8_192),
        (0.95, 8_192, 8_192),
        (0.975, 8_192, 4_096),
        (1.0, 8_192, 512),
        (3.0, 8_192, 512),
        (0.97, 32_000, 19_200),
        (1.0, 300, 300),
        (0.5, 300, 300),
    ],
)
def test_the_allowance_is_the_limit_up_to_the_last_mark_and_narrows_above_it(value, limit, expected):
    assert allowance(value, Marks(), limit) == expected


@pytest.mark.parametrize("marks", [Marks((0.5, 1.0)), Marks((1.5,))])
def test_a_last_mark_at_or_over_the_full_window_leaves_the_least_output_above_it(marks):
    assert allowance(marks.last, marks) == 8_192
    assert allowance(marks.last + 0.1, marks) == 512


@given(st.floats(0, 3), st.floats(0, 3), st.integers(1, 64_000))
def test_the_allowance_never_rises_with_pressure_and_is_never_nothing(one, other, limit):
    low, high = sorted((one, other))
    assert limit >= allowance(low, Marks(), limit) >= allowance(high, Marks(), limit) >= min(limit, 512)


@pytest.mark.parametrize(
    ("cumulative", "window", "mark", "expected"),
    [
        ([], 100, 0.8, None),
        ([79, 80, 81], 100, 0.8, 1),
        ([80], 100, 0.8, 0),
        ([10, 20], 100, 0.8, None),
        ([10, 500], 100, 0.8, 1),
    ],
)
def test_the_first_position_that_reaches_the_mark_is_found(cumulative, window, mark, expected):
    assert first_reached(cumulative, window, mark) == expected


@pytest.mark.parametrize("window", WINDOWS)
def test_the_position_found_is_where_the_mark_fires(window):
    cumulative = range(0, 2 * window, 97)
    armed, fired_at = Marks().armed, {}
    for position, weight in enumerate(cumulative):
        step = crossed(Marks(), armed, pressure(weight, window))
        armed = step.armed
        fired_at.update(dict.fromkeys(step.fired, position))
    assert fired_at == {mark: first_reached(cumulative, window, mark) for mark in Marks().values}


@given(messages(), st.data())
def test_the_weight_in_view_is_that_of_the_view(history, data):
    places = data.draw(st.lists(st.integers(1, max(1, len(history))), max_size=3, unique=True))
    marked = tuple(RecordedCompaction(place) for place in sorted(places) if place < len(history))
    transcript = Transcript("t", "", history, compactions=marked)
    meter = Meter("chars/4")
    for position, weight in enumerate(weights_in_view(transcript, meter)):
        assert weight == meter.messages([*transcript.view(position), history[position]])
