"""The figure of what was saved and kept: what stands on it, by the objects that the library draws."""

import itertools
from dataclasses import replace

import figures
import matplotlib as mpl
import pytest
import runs
from figures import GREY, bars, points
from matplotlib.colors import to_hex

from compactlab.plots import positions, savings
from compactlab.plots.palette import CONTROLS, styles
from compactlab.signature import signature
from compactlab.stats import Estimate
from compactlab.summary.pool import Pool


def drawn(summary):
    figure = savings.figure(summary)
    figure.draw_without_rendering()
    (axes,) = figure.axes
    return figure, axes


def renamed(summary, labels):
    """The summary with a strategy of each name, all of them where the first one is."""
    return replace(summary, rows=tuple(replace(summary.rows[0], label=label) for label in labels))


def test_axes_say_what_they_show_and_in_what_unit():
    figure, axes = drawn(runs.whole().summary)
    assert axes.get_xlabel() == "tokens saved (share of the weight before)"
    assert axes.get_ylabel() == "load-bearing retention, bound\n(share of needed facts)"
    summary = runs.whole().summary
    for part in (f"{summary.sessions} sessions", f"{summary.cuts} cuts", f"{summary.needed} facts"):
        assert part in figures.title(figure)
    for low, high in (axes.get_xlim(), axes.get_ylim()):
        assert low <= 0
        assert high >= 1


def test_each_row_is_a_point_of_its_own_style_and_is_named_in_the_legend_controls_in_grey():
    summary = runs.whole().summary
    figure, axes = drawn(summary)
    placed = {(x, y): (colour, marker) for x, y, colour, marker in points(axes)}
    looks = styles(row.label for row in summary.rows)
    for row in summary.rows:
        colour, marker = placed[row.saved.mean, row.bound.mean]
        assert (colour, marker) == looks[row.label][:2]
        assert (colour == GREY) == row.is_control
    assert {row.name for row in summary.rows} <= set(figures.legend(figure))
    assert len({looks[row.label] for row in summary.rows}) == len(summary.rows)


def test_each_point_has_the_interval_of_its_row_within_nought_and_one():
    summary = runs.whole().summary
    _, axes = drawn(summary)
    found = bars(axes)
    for row in summary.rows:
        (_, low), (_, high) = found[row.saved.mean, row.bound.mean]
        assert low == pytest.approx(max(0, row.bound.low))
        assert high == pytest.approx(min(1, row.bound.high))


def test_random_units_stand_in_grey_beside_their_strategy():
    summary = runs.whole().summary
    _, axes = drawn(summary)
    luck = [(x, y) for x, y, colour, marker in points(axes) if (colour, marker) == CONTROLS["random"][:2]]
    expected = {row.saved.mean: row.same_size["random"].mean for row in summary.rows if row.same_size["random"]}
    assert sorted(y for _, y in luck) == sorted(expected.values())
    assert sorted(x for x, _ in luck) == pytest.approx(sorted(expected), abs=0.02)


def test_the_legend_explains_the_grey_marks():
    figure, _ = drawn(runs.whole().summary)
    assert "random units, same size (mean of 20 draws)" in figures.legend(figure)
    assert "oracle, same size" in figures.legend(figure)


def test_the_signature_stands_underneath():
    summary = runs.whole().summary
    figure, _ = drawn(summary)
    assert figures.signature(figure) == " ".join(signature(summary).split())


@pytest.mark.parametrize("width", [4.6, 6, 10, 14])
@pytest.mark.parametrize("number", [1, 3, 12])
def test_nothing_lies_outside_of_the_figure_or_covers_anything(width, number):
    names = [f"sliding_window(preserve_recent={i}, kv_target=None, keep_recent={i})" for i in range(number)]
    assert figures.faults(savings.figure(renamed(runs.short().summary, names), width)) == []


def test_without_an_interval_there_is_a_point_alone():
    summary = runs.short().summary
    assert summary.clusters < 5
    _, axes = drawn(summary)
    assert all(low[1] == high[1] == pytest.approx(y) for (_, y), (low, high) in bars(axes).items())


def test_a_row_that_has_no_headline_is_not_drawn():
    summary = runs.short().summary
    rows = tuple(replace(row, bound=None, same_size={}) for row in summary.rows)
    figure, axes = drawn(replace(summary, rows=rows))
    assert points(axes) == []
    assert figures.legend(figure) == []


@pytest.mark.parametrize(
    "estimate", [Estimate(1.0, 0.4, 9, 9), Estimate(0.0, 0.4, 9, 9), Estimate(1.0000001, None, 9, 9)]
)
def test_an_estimate_at_the_edge_is_drawn_within_the_figure(estimate):
    summary = runs.short().summary
    _, axes = drawn(replace(summary, rows=(replace(summary.rows[0], bound=estimate), *summary.rows[1:])))
    assert all(-0.01 <= low[1] <= high[1] <= 1.01 for low, high in bars(axes).values())


def test_more_strategies_than_colours_are_all_drawn_and_told_apart():
    names = [f"own{i}" for i in range(20)]
    figure, axes = drawn(renamed(runs.short().summary, names))
    assert figures.legend(figure)[: len(names)] == names
    assert len({(colour, marker) for *_, colour, marker in points(axes)}) >= len(names)


def test_a_run_holds_its_figure():
    assert (runs.whole().results.folder / "savings.png").read_bytes().startswith(b"\x89PNG")


def test_drawing_needs_no_window_and_leaves_the_settings_of_the_library_alone(tmp_path):
    before = dict(mpl.rcParams)
    savings.save(runs.short().summary, tmp_path / "figure.svg")
    assert dict(mpl.rcParams) == before


def test_points_at_one_place_are_rings_around_each_other_so_that_all_are_seen():
    names = ["none", "cull", "defer"]
    _, axes = drawn(renamed(runs.short().summary, names))
    marks = [container.lines[0] for container in axes.containers if to_hex(container.lines[0].get_color()) != GREY]
    sizes = [mark.get_markersize() for mark in marks]
    assert sizes == sorted(sizes, reverse=True)
    assert len(set(sizes)) == len(names)
    assert [mark.get_markerfacecolor() == "white" for mark in marks] == [True, True, False]


def test_no_interval_in_grey_has_a_cap_that_looks_like_the_dash_of_the_oracle():
    _, axes = drawn(runs.whole().summary)
    caps = {to_hex(container.lines[0].get_color()): len(container.lines[1]) for container in axes.containers}
    assert caps.pop(GREY) == 0
    assert set(caps.values()) == {2}


def test_spans_of_turns_do_not_run_into_each_other():
    run = runs.whole()
    pool = Pool(run.results)
    for width in (4.2, 8, 10):
        figure = positions.figure(pool, run.summary, width)
        figure.set_dpi(150)
        figure.draw_without_rendering()
        labels = figure.axes[1].get_xticklabels()
        assert len(labels) > 7
        boxes = [label.get_window_extent() for label in labels]
        assert not any(a.overlaps(b) for a, b in itertools.pairwise(boxes))
