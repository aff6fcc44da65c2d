"""The dot plot of families: each dot is the estimate of its row, each family has its number."""

import itertools
from dataclasses import replace

import figures
import pytest
import runs
from figures import bars, points

from compactlab.plots import families
from compactlab.plots.palette import styles
from compactlab.signature import signature
from compactlab.summary.pool import Pool


@pytest.fixture(scope="module")
def drawn():
    run = runs.short()
    pool = Pool(run.results)
    return pool, run.summary, families.figure(pool, run.summary)


def test_every_family_that_an_action_needed_has_its_number_the_most_needed_first(drawn):
    pool, _, figure = drawn
    needed = families.needed(pool)
    assert list(needed.values()) == sorted(needed.values(), reverse=True)
    assert sum(needed.values()) == sum(r.n for r in pool.any_row("needed_loose") if r.use == "action") > 0
    labels = [label.get_text() for label in figure.axes[0].get_yticklabels()]
    assert [label.split("\n")[1] for label in labels] == [f"n = {n:,}" for n in needed.values()]
    assert [label.split("\n")[0].strip("()") for label in labels] == list(needed)
    assert f"{sum(needed.values()):,} facts needed by an action" in figures.title(figure)


def test_each_dot_is_the_estimate_of_its_row_in_its_style_with_its_interval(drawn):
    pool, summary, figure = drawn
    (axes,) = figure.axes
    rows = families.shown_rows(summary)
    looks = styles(row.label for row in rows)
    expected = {
        (round(row.by_family[family].mean, 9), place, looks[row.label].colour)
        for row in rows
        for place, family in enumerate(families.needed(pool))
        if row.by_family.get(family)
    }
    assert {(round(x, 9), round(y), colour) for x, y, colour, _ in points(axes)} == expected
    assert all(-1e-9 <= low[0] <= x <= high[0] <= 1 + 1e-9 for (x, _), (low, high) in bars(axes).items())
    assert figures.legend(figure) == [row.name for row in rows]


def test_what_saves_nothing_is_left_out_but_for_none(drawn):
    _, summary, _ = drawn
    idle = tuple(replace(row, saved=row.saved._replace(mean=0.0)) for row in summary.rows)
    assert [row.label for row in families.shown_rows(replace(summary, rows=idle))] == ["none"]


@pytest.mark.parametrize("width", [4.6, 6, 10])
@pytest.mark.parametrize("number", [1, 3, 12])
def test_nothing_lies_outside_of_the_figure_or_covers_anything(drawn, width, number):
    pool, summary, _ = drawn
    slide = summary.rows[2]
    rows = tuple(replace(slide, label=f"sliding_window(preserve_recent={i}, kv_target=None)") for i in range(number))
    figure = families.figure(pool, replace(summary, rows=rows), width)
    assert figures.faults(figure) == []
    assert figures.signature(figure) == " ".join(signature(replace(summary, rows=rows)).split())


def test_a_run_in_which_nothing_was_needed_is_an_empty_figure(drawn):
    pool, summary, _ = drawn
    bare = Pool(runs.short().results)
    bare.groups = {}
    assert figures.faults(families.figure(bare, replace(summary, rows=()))) == []
    assert families.needed(pool)


@pytest.mark.parametrize("number", [2, 7, 20])
def test_the_dots_of_a_family_stand_nearer_to_each_other_than_to_those_of_the_next(drawn, number):
    pool, summary, _ = drawn
    slide = next(row for row in summary.rows if row.saved.mean > 0 and len(row.by_family) > 1)
    rows = tuple(replace(slide, label=f"sliding_window(preserve_recent={i})") for i in range(number))
    (axes,) = families.figure(pool, replace(summary, rows=rows)).axes
    heights = sorted(y for _, y, _, _ in points(axes))
    steps = [b - a for a, b in itertools.pairwise(heights)]
    within = min(steps)
    between = [step for step in steps if step > 1.5 * within]
    assert len(between) == len(heights) // number - 1 > 0
    assert min(between) == pytest.approx(2 * within)
