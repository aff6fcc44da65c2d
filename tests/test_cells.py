"""One row at one cut: what it weighed, whether it met its budget, what it kept."""

import pools
import pytest
import runs

from compactlab.summary.cells import Cell, cells, possible
from compactlab.summary.pool import Group, Pool, session_means


@pytest.mark.parametrize(
    ("after", "budget", "reached", "underfilled"),
    [
        (100, 100, True, False),
        (101, 100, False, False),
        (90, 100, True, False),
        (89, 100, True, True),
        (500, None, True, False),
        (1, None, True, False),
    ],
)
def test_a_cell_is_over_its_budget_or_far_under_it_or_neither(after, budget, reached, underfilled):
    cell = Cell(1_000, after, budget, 3, 4)
    assert (cell.reached, cell.underfilled) == (reached, underfilled)
    assert (cell.saved, cell.quality) == (pytest.approx(1 - after / 1_000), 0.75)


def test_a_cell_that_needed_nothing_has_no_quality_and_an_empty_one_saves_nothing():
    assert Cell(0, 0, None, 0, 0).quality is None
    assert Cell(0, 0, None, 0, 0).saved == 0


def test_cells_are_those_of_one_row_with_its_budget_in_tokens():
    pool = pools.pool({("a", "0.4", "slide", "", "10"): (90, 30), ("a", "0.7", "slide", "", "10"): (120, 50, 60)})
    found = cells(pool, Group("slide", "", "10"))
    assert found == {("a", "0.4"): Cell(1_000, 90, 100, 30, 100), ("a", "0.7"): Cell(1_000, 120, 100, 50, 60)}
    assert cells(pool, Group("slide", "", "20")) == {}
    assert cells(pool, Group("slide", "", "10")) is found


def test_a_budget_is_possible_where_the_protected_set_fits_it():
    pool = pools.pool({("a", "0.4", "s", "", "10"): (90, 3), ("b", "0.4", "s", "", "10"): (90, 3)}, floor=60)
    assert [possible(pool, budget) for budget in ("", "5", "6", "10")] == [2, 0, 2, 2]


def test_the_headline_of_the_pool_is_the_quality_of_its_cells():
    pool = Pool(runs.whole().results)
    for group in pool.strategies:
        found = session_means({place: cell.quality for place, cell in cells(pool, group).items()})
        assert found == pytest.approx(pool.headline(group))
        assert len(found) == 13
