"""The figure of the front: what stands on it, by the objects that the library draws."""

import itertools

import figures
import matplotlib as mpl
import pools
import pytest
import runs
from matplotlib.colors import to_hex
from pools import sweep

from compactlab.errors import SpecError
from compactlab.plots import front
from compactlab.signature import signature
from compactlab.summary import summary_of
from compactlab.summary.curves import curves
from compactlab.summary.pool import Pool

SIX = (40, 42, 44, 41, 43, 45)


def drawn(pool):
    found = curves(pool)
    figure = front.figure(found, summary_of(pool))
    figure.draw_without_rendering()
    return found, figure, figure.axes[0]


@pytest.fixture(scope="module")
def made():
    """Three strategies over two budgets, one of them nowhere ahead, one that meets none, and the controls of a size."""
    rows = sweep("none", {"": [98] * 6}, after=1_000)
    for budget, lift in (("10", 0), ("30", 30)):
        rows |= sweep("good", {budget: [kept + lift for kept in SIX]}) | sweep("bad", {budget: [30 + lift] * 6})
        for name, kept in (("random", 20), ("regex_lines", 25), ("oracle", 60)):
            rows |= sweep(name, {budget: [kept + lift] * 6}, size_of="good")
    return pools.pool(rows | sweep("clear", {"10": [90] * 6, "30": [90] * 6}, after=600))


def marked(axes):
    """Give the points that are drawn: (x, y), colour, True if full."""
    lines = [
        line for line in axes.lines if line.get_marker() not in {"None", "_", None, ""} and len(line.get_xdata()) == 1
    ]
    return {
        (line.get_xdata()[0], line.get_ydata()[0]): (to_hex(line.get_color()), line.get_markerfacecolor() != "white")
        for line in lines
    }


def test_axes_say_what_they_show_and_in_what_unit(made):
    _, figure, axes = drawn(made)
    assert axes.get_xlabel() == "tokens saved (share of the weight before)"
    assert axes.get_ylabel() == "load-bearing retention, bound\n(share of needed facts)"
    assert "6 sessions" in figures.title(figure)
    assert figures.title(figure).startswith("What is kept at each budget")


def test_each_ranked_point_is_drawn_and_is_full_exactly_if_it_is_on_the_front(made):
    found, _, axes = drawn(made)
    points = marked(axes)
    on_front = {point.at for point in found.front_points}
    for curve in found.curves:
        for point in curve.ranked:
            assert points[point.at][1] == (point.at in on_front)
    assert {curve.strategy for curve in found.curves} == {"good", "bad"}
    assert len(on_front) == 2
    assert len({points[curve.points[0].at][0] for curve in found.curves}) == 2


def test_the_band_is_the_staircase_under_the_front(made):
    found, _, axes = drawn(made)
    band = next(line for line in axes.lines if line.get_linewidth() == 7)
    (right, high), (left, higher) = (point.at for point in found.front_points)
    corners = list(zip(band.get_xdata(), band.get_ydata(), strict=True))
    assert corners[:4] == [(right, 0), (right, high), (left, high), (left, higher)]
    assert corners[4] == (axes.get_xlim()[0], higher)


def test_each_point_has_its_interval(made):
    found, _, axes = drawn(made)
    ends = {}
    for container in axes.containers:
        [segment] = container.lines[2][0].get_segments()
        ends[round(segment[0][0], 9), round(segment[:, 1].mean(), 9)] = (segment[0][1], segment[1][1])
    for curve in found.curves:
        for point in curve.ranked:
            low, high = ends[round(point.saved.mean, 9), round(point.quality.mean, 9)]
            assert (low, high) == (pytest.approx(point.quality.low), pytest.approx(point.quality.high))


def test_controls_are_grey_lines_and_their_names_stand_in_the_legend(made):
    found, figure, axes = drawn(made)
    lines = [line for line in axes.lines if to_hex(line.get_color()) == figures.GREY]
    drawn_at = [sorted(zip(line.get_xdata(), line.get_ydata(), strict=True)) for line in lines]
    assert drawn_at == [sorted(found.control(name).values()) for name in ("oracle", "regex_lines", "random")]
    assert len({str(line._dash_pattern) for line in lines}) == 3
    texts = figures.legend(figure)
    assert [text for text in texts if "same sizes" in text] == [
        "oracle, same sizes",
        "regex_lines, same sizes",
        "random, same sizes",
    ]
    assert "front of all: the full points" in texts
    assert "clear: meets no budget" in texts
    assert "nothing saved: none" in texts
    assert f"good: area {found.curves[0].hypervolume.mean:.2f}±{found.curves[0].hypervolume.half:.2f}" in texts


def test_a_strategy_that_meets_no_budget_is_a_hollow_point_of_its_own(made):
    found, _, axes = drawn(made)
    [clear] = [point for name, point in found.alone if name == "clear"]
    colour, full = marked(axes)[clear.at]
    assert not full
    assert colour not in {colour for at, (colour, _) in marked(axes).items() if at != clear.at}


def test_budgets_are_named_at_what_they_save(made):
    _, _, axes = drawn(made)
    assert {text.get_text(): round(text.get_position()[0], 9) for text in axes.texts} == {
        "10 %": 0.9,
        "budget 30 %": 0.7,
    }


def test_names_of_budgets_that_lie_close_do_not_cover_each_other():
    rows = {}
    for budget in ("2", "3", "5", "10", "11"):
        rows |= sweep("a", {budget: SIX})
    _, figure, axes = drawn(pools.pool(rows, floor=1))
    boxes = [text.get_window_extent() for text in axes.texts]
    assert len(boxes) >= 2
    assert not any(one.overlaps(other) for one, other in itertools.combinations(boxes, 2))
    assert all(box.x1 <= figure.bbox.width for box in boxes)


def test_the_signature_stands_underneath(made):
    _, figure, _ = drawn(made)
    assert figures.signature(figure) == " ".join(signature(summary_of(made)).split())


@pytest.mark.parametrize("width", [4.6, 6, 10])
def test_nothing_lies_outside_of_the_figure_or_covers_anything(made, width):
    assert figures.faults(front.figure(curves(made), summary_of(made), width)) == []


def test_everything_drawn_lies_within_the_axes(made):
    for pool in (made, Pool(runs.whole().results)):
        _, _, axes = drawn(pool)
        (left, right), (low, high) = axes.get_xlim(), axes.get_ylim()
        for x, y in marked(axes):
            assert left < x < right
            assert low < y < high


def test_more_strategies_than_colours_are_told_apart():
    rows = {}
    for i in range(14):
        rows |= sweep(f"s{i}", {"": [10 + i] * 6}, after=50 + i)
    _, figure, axes = drawn(pools.pool(rows))
    alike = {(line.get_marker(), line.get_color()) for line in axes.lines if line.get_marker() not in {"None", "_"}}
    assert len(alike) == 14
    assert len(figures.legend(figure)) == 15


def test_without_budgets_each_strategy_is_a_point_and_the_title_says_so():
    found, figure, axes = drawn(Pool(runs.whole().results))
    assert figures.title(figure).startswith("What is kept, each strategy at its own size: 13 sessions")
    assert set(marked(axes)) == {curve.points[0].at for curve in found.curves}
    assert list(axes.texts) == []


def test_a_run_without_a_curve_is_an_empty_figure_with_its_axes():
    _, figure, axes = drawn(pools.pool({("a", "0.4", "null", "", ""): (10, 0)}))
    assert (marked(axes), figure.legends) == ({}, [])


@pytest.mark.parametrize(("ending", "start"), [("png", b"\x89PNG"), ("svg", b"<?xml"), ("pdf", b"%PDF")])
def test_a_figure_is_saved_as_its_ending_says(made, tmp_path, ending, start):
    front.save(curves(made), summary_of(made), tmp_path / f"front.{ending}")
    assert (tmp_path / f"front.{ending}").read_bytes().startswith(start)


def test_an_ending_that_is_none_of_a_figure_is_refused(made, tmp_path):
    with pytest.raises(SpecError, match="expected a figure's ending"):
        front.save(curves(made), summary_of(made), tmp_path / "front.docx")


def test_drawing_leaves_the_settings_of_the_library_alone(made):
    before = dict(mpl.rcParams)
    drawn(made)
    assert dict(mpl.rcParams) == before
