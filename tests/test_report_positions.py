"""Half-age and density: formulas on numbers that can be worked out by hand."""

import pools
import pytest
import runs
from hypothesis import given
from hypothesis import strategies as st

from compactlab.errors import SpecError
from compactlab.metrics.position import age_span
from compactlab.plots.positions import figure, save
from compactlab.report.density import density
from compactlab.report.density import section as by_density
from compactlab.report.positions import of_ages, of_positions
from compactlab.stats import clustered
from compactlab.summary.pool import Group, Pool
from compactlab.summary.positions import by_tenth, half_age, half_age_of, shares

SPANS = [age_span(1 << power) for power in range(8)]


@pytest.mark.parametrize(
    ("spans", "age"),
    [
        ({}, None),
        ({"0-1": (9, 10)}, None),
        ({"0-1": (9, 10), "2-3": (8, 10)}, None),
        ({"0-1": (1, 10), "2-3": (0, 10)}, None),
        ({"0-1": (10, 10), "2-3": (0, 10)}, 1.5),
        ({"0-1": (10, 10), "2-3": (0, 10), "4-7": (10, 10)}, None),  # the fit rises nowhere: 1, .5, .5
        ({"0-1": (10, 10), "2-3": (0, 30), "4-7": (10, 10)}, 0.5 + 2 * 2 / 3),  # the fit: 1, .25, .25
    ],
)
def test_the_half_age_is_where_a_falling_fit_crosses_one_half(spans, age):
    assert half_age(spans) == (None if age is None else pytest.approx(age))


@given(st.lists(st.tuples(st.integers(0, 50), st.integers(1, 50)), min_size=8, max_size=8))
def test_a_half_age_lies_within_the_ages(pairs):
    age = half_age({span: (min(kept, n), n) for span, (kept, n) in zip(SPANS, pairs, strict=True)})
    assert age is None or 0.5 <= age <= 191.5


@pytest.mark.parametrize(
    ("numbers", "expected"),
    [
        ((100, 100, 1_000, 1_000), (100, 100, 1, None)),
        ((100, 0, 1_000, 500), (100, 0, 0, 200)),
        ((100, 80, 1_000, 500), (100, 160, 1.6, 40)),
        ((0, 0, 1_000, 500), (0, 0, None, 0)),
        ((100, 0, 1_000, 0), (100, None, None, 100)),
    ],
)
def test_lift_is_retention_over_the_keep_ratio(numbers, expected):
    facts, kept, before, after = numbers
    scores = [("retention_bound", kept, facts, {}), ("tokens_before", before, 1, {}), ("tokens_after", after, 1, {})]
    found = density(pools.told({("a", "slide", 0): scores}), Group("slide"), ["a"])
    means = [estimate if estimate is None else estimate.mean for estimate in found]
    assert means == [value if value is None else pytest.approx(value) for value in expected]


def test_the_interval_of_lift_is_that_of_the_whole_quantity():
    scores = {
        (story, "slide", 0): [
            ("retention_bound", kept, 100, {}),
            ("tokens_before", 1_000, 1, {}),
            ("tokens_after", 200, 1, {}),
        ]
        for story, kept in zip("abcdef", (20, 30, 40, 50, 60, 70), strict=True)
    }
    found = density(pools.told(scores), Group("slide"), list("abcdef"))
    assert found[2].mean == pytest.approx(0.45 * 5)
    assert found[2].half == pytest.approx(
        5 * clustered([(s, k / 100) for s, k in zip("abcdef", range(20, 80, 10), strict=True)]).half, rel=0.4
    )
    assert found[0].half == pytest.approx(0, abs=1e-9)


def ages(*spans):
    """Scores of a session: facts of 10 that stand bound, by span of ages."""
    return [("age_bound", kept, 10, {"group": span}) for span, kept in zip(SPANS, spans, strict=False)]


def test_a_half_age_is_told_with_how_far_it_moves_as_one_story_is_left_out():
    scores = {(story, "slide", 0): ages(10, 8, 2, 0) for story in "abcde"}
    steady = half_age_of(pools.told(scores), Group("slide"))
    assert steady == (pytest.approx(4), pytest.approx(4), pytest.approx(4))
    moved = half_age_of(pools.told(scores | {("f", "slide", 0): ages(10, 10, 10, 0)}), Group("slide"))
    assert moved.low == pytest.approx(4)
    assert moved.low < moved.turns < moved.high
    few = {key: of for key, of in scores.items() if key[0] in "abc"}
    assert half_age_of(pools.told(few), Group("slide")) == (pytest.approx(4), None, None)
    assert half_age_of(pools.told({("a", "slide", 0): ages(10, 10)}), Group("slide")) is None


def test_the_shares_by_tenth_are_those_of_the_figure_with_an_interval():
    pool = Pool(runs.whole().results)
    for strategy in runs.STRATEGIES:
        kept = by_tenth(pool, Group(strategy))
        found = shares(pool, Group(strategy), "position_bound")
        assert {tenth: estimate.mean for tenth, estimate in found.items()} == pytest.approx(
            {tenth: value / n for tenth, (value, n) in kept.items()}
        )
        assert all(estimate.half is not None and estimate.clusters == 9 for estimate in found.values())


@pytest.mark.parametrize("made", [of_positions, of_ages, by_density])
def test_a_section_has_a_row_for_each_of_the_table_and_as_many_cells_as_columns(made):
    run = runs.short()
    section = made(Pool(run.results), run.summary)
    assert [row[0] for row in section.rows] == [row.name for row in run.summary.rows]
    assert {len(row) for row in section.rows} == {len(section.columns)}
    none, slide = (section.rows[i] for i in (0, 2))
    assert none != slide


def test_the_figure_has_a_line_a_strategy_that_saves_and_one_for_all_that_was_there():
    run = runs.short()
    left, right = figure(Pool(run.results), run.summary).axes
    saving = [
        row.name for row in run.summary.rows if not row.is_control and (row.saved.mean > 0 or row.label == "none")
    ]
    assert [line.get_label() for line in left.lines] == saving
    assert len(right.lines) == len(saving)
    kept = by_tenth(Pool(run.results), Group("none"))
    assert left.lines[0].get_ydata().tolist() == [kept[n][0] / kept[n][1] for n in kept]
    assert left.get_ylim() == right.get_ylim()


def test_a_figure_needs_an_ending_that_says_how(tmp_path):
    run = runs.short()
    save(Pool(run.results), run.summary, tmp_path / "positions.svg")
    assert (tmp_path / "positions.svg").read_text(encoding="utf-8").startswith("<?xml")
    with pytest.raises(SpecError, match="ending"):
        save(Pool(run.results), run.summary, tmp_path / "positions.txt")
