"""The figure: what stands on it, by the objects that the library draws."""

import re
from dataclasses import replace

import matplotlib as mpl
import pytest
import runs
from matplotlib.colors import to_hex
from matplotlib.text import Text

from compactlab.plots import savings
from compactlab.signature import signature
from compactlab.stats import Estimate

GREY = "#9a9a9a"


def drawn(summary):
    figure = savings.figure(summary)
    figure.draw_without_rendering()
    (axes,) = figure.axes
    return figure, axes


def points(axes):
    """Centre, colour and marker of each point that is drawn with an interval."""
    found = []
    for container in axes.containers:
        line, *_ = container.lines
        (x,), (y,) = line.get_xdata(), line.get_ydata()
        found.append((x, y, to_hex(line.get_color()), line.get_marker()))
    return found


def bars(axes):
    """Lower and upper end of each interval, by the centre of its point."""
    found = {}
    for container in axes.containers:
        line, _, (collection,) = container.lines
        (segment,) = collection.get_segments()
        found[float(line.get_xdata()[0]), float(line.get_ydata()[0])] = (segment[0][1], segment[1][1])
    return found


def test_axes_say_what_they_show_and_in_what_unit():
    _, axes = drawn(runs.whole().summary)
    assert axes.get_xlabel() == "tokens saved (share of the weight before)"
    assert axes.get_ylabel() == "load-bearing retention, bound (share of needed facts)"
    summary = runs.whole().summary
    for part in (f"{summary.sessions} sessions", f"{summary.cuts} cuts", f"{summary.needed} facts"):
        assert part in axes.get_title()
    for low, high in (axes.get_xlim(), axes.get_ylim()):
        assert low <= 0
        assert high >= 1


def test_each_row_is_a_point_with_its_name_strategies_in_colours_of_their_own_controls_in_grey():
    summary = runs.whole().summary
    _, axes = drawn(summary)
    placed = {(x, y): (colour, marker) for x, y, colour, marker in points(axes)}
    colours = []
    for row in summary.rows:
        colour, marker = placed[row.saved.mean, row.bound.mean]
        assert (colour == GREY) == row.is_control
        assert marker == ("s" if row.is_control else "o")
        colours += [] if row.is_control else [colour]
    assert len(set(colours)) == len(colours) == len(runs.STRATEGIES)
    assert {text.get_text() for text in axes.texts} == {row.name for row in summary.rows}


def test_each_point_has_the_interval_of_its_row_within_nought_and_one():
    summary = runs.whole().summary
    _, axes = drawn(summary)
    found = bars(axes)
    for row in summary.rows:
        low, high = found[row.saved.mean, row.bound.mean]
        assert low == pytest.approx(max(0, row.bound.low))
        assert high == pytest.approx(min(1, row.bound.high))


def test_random_units_stand_in_grey_beside_their_strategy():
    summary = runs.whole().summary
    _, axes = drawn(summary)
    luck = [(x, y) for x, y, colour, marker in points(axes) if marker == "x" and colour == GREY]
    expected = [row.same_size["random"].mean for row in summary.rows if row.same_size["random"]]
    assert [y for _, y in luck] == expected
    for (x, _), row in zip(luck, [row for row in summary.rows if row.same_size["random"]], strict=True):
        assert x == pytest.approx(row.saved.mean, abs=0.02)


def test_the_legend_explains_the_grey_marks():
    _, axes = drawn(runs.whole().summary)
    texts = [text.get_text() for text in axes.get_legend().get_texts()]
    assert any("random units, same size" in text for text in texts)
    assert any("controls" in text for text in texts)


def test_the_signature_stands_underneath():
    summary = runs.whole().summary
    figure, axes = drawn(summary)
    text = figure.get_supxlabel()
    assert " ".join(text.split()) == " ".join(signature(summary).split())
    label = figure._supxlabel.get_window_extent()
    assert label.y1 <= axes.get_window_extent().y0
    assert label.x0 >= 0
    assert label.x1 <= figure.bbox.width


def test_every_word_stands_inside_the_figure():
    figure, axes = drawn(runs.whole().summary)
    for text in (*axes.texts, axes.title, axes.xaxis.label, axes.yaxis.label):
        box = text.get_window_extent()
        assert box.x0 >= 0
        assert box.y0 >= 0
        assert box.x1 <= figure.bbox.width
        assert box.y1 <= figure.bbox.height


def test_names_do_not_cover_each_other():
    _, axes = drawn(runs.whole().summary)
    boxes = [Text.get_window_extent(text) for text in axes.texts]  # the words without the line that leads to them
    covered = [(i, j) for i, a in enumerate(boxes) for j, b in enumerate(boxes[:i]) if a.overlaps(b)]
    assert covered == []


def test_without_an_interval_there_is_a_point_alone():
    summary = runs.short().summary
    assert summary.clusters < 5
    _, axes = drawn(summary)
    assert all(low == high == pytest.approx(y) for (_, y), (low, high) in bars(axes).items())


def test_a_row_that_has_no_headline_is_not_drawn():
    summary = runs.short().summary
    rows = tuple(replace(row, bound=None, same_size={}) for row in summary.rows)
    _, axes = drawn(replace(summary, rows=rows))
    assert points(axes) == []
    assert list(axes.texts) == []


@pytest.mark.parametrize(
    "estimate", [Estimate(1.0, 0.4, 9, 9), Estimate(0.0, 0.4, 9, 9), Estimate(1.0000001, None, 9, 9)]
)
def test_an_estimate_at_the_edge_is_drawn_within_the_figure(estimate):
    summary = runs.short().summary
    _, axes = drawn(replace(summary, rows=(replace(summary.rows[0], bound=estimate), *summary.rows[1:])))
    assert all(-0.01 <= low <= high <= 1.01 for low, high in bars(axes).values())


def test_more_strategies_than_colours_are_all_drawn():
    summary = runs.short().summary
    many = tuple(replace(summary.rows[0], label=f"own{i}") for i in range(12))
    _, axes = drawn(replace(summary, rows=many))
    named = [name for text in axes.texts for name in re.split(r",\s", text.get_text())]
    assert named == [row.label for row in many]


def test_a_label_that_looks_like_mathematics_is_drawn_as_it_is():
    summary = runs.short().summary
    _, axes = drawn(replace(summary, rows=(replace(summary.rows[0], label="own(x='$^{')"),)))
    assert axes.texts[0].get_text() == "own(x='$^{')"


@pytest.mark.parametrize(("ending", "start"), [("png", b"\x89PNG"), ("svg", b"<?xml"), ("pdf", b"%PDF")])
def test_a_figure_is_saved_as_its_ending_says(tmp_path, ending, start):
    savings.save(runs.short().summary, tmp_path / f"figure.{ending}")
    assert (tmp_path / f"figure.{ending}").read_bytes().startswith(start)


def test_a_run_holds_its_figure():
    assert (runs.whole().results.folder / "savings.png").read_bytes().startswith(b"\x89PNG")


def test_drawing_needs_no_window_and_leaves_the_settings_of_the_library_alone():
    before = dict(mpl.rcParams)
    savings.figure(runs.short().summary)
    assert dict(mpl.rcParams) == before
