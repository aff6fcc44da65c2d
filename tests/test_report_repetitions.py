"""Repetitions: a session that was repeated counts once, and how much of the spread is a model's own."""

from statistics import mean, variance

import pools
import pytest

from compactlab.report.fidelity import distortion, statements
from compactlab.report.repetitions import section
from compactlab.report.table import told_apart
from compactlab.stats import clustered
from compactlab.summary import summary_of
from compactlab.summary.cells import cells
from compactlab.summary.pairs import between_strategies
from compactlab.summary.pool import Group
from compactlab.summary.power import power, repetitions

KEPT = {"a": (20, 40, 60), "b": (30, 30, 30), "c": (70, 80, 90), "d": (10, 20, 30), "e": (55, 50, 45), "f": (5, 6, 7)}
WHERE = {"family": "path", "use": "action", "home": "irrecoverable"}


def scores(kept, after=100, **more):
    needed = [("needed_bound", kept, 100, WHERE), ("needed_loose", kept, 100, WHERE)]
    counts = [
        ("decoy_kept", more.get("decoys", 0), 10, {}),
        ("statement", kept, 100, {"family": "todo", "group": "kept"}),
    ]
    return [("tokens_before", 1_000, 1, {}), ("tokens_after", after, 1, {}), *needed, *counts]


REPEATED = {(s, "slide", i): scores(k, 90 + 10 * i, decoys=2) for s, of in KEPT.items() for i, k in enumerate(of)}
ONCE = {(s, "steady", 0): scores(25) for s in KEPT}


def run(**manifest):
    """Make a run of `slide`, three times a session, and of `steady`, once."""
    return pools.told(REPEATED | ONCE, **manifest)


def test_the_mean_is_taken_inside_a_session_first():
    pool = run(replicates=3)
    means = {session: mean(of) / 100 for session, of in KEPT.items()}
    assert pool.headline(Group("slide")) == pytest.approx(means)
    row = next(row for row in summary_of(pool).rows if row.label == "slide")
    assert row.bound == clustered(list(means.items()))._replace(
        mean=pytest.approx(mean(means.values())), half=pytest.approx(clustered(list(means.items())).half)
    )
    assert (row.bound.n, row.outcomes) == (6, {"applied": 18})
    assert row.after == 100


def test_a_cell_is_the_mean_of_its_repetitions_and_met_its_budget_if_each_did():
    pool = run()
    found = cells(pool, Group("slide"))["a", "0.4"]
    assert (found.before, found.after, found.kept, found.needed, found.over) == (1_000, 100, 40, 100, 0)
    assert found._replace(budget=100).reached
    assert not found._replace(budget=100, over=1).reached


def test_pairs_hold_one_difference_a_session():
    [pair] = between_strategies(run())
    assert pair.difference.n == 6
    assert pair.difference.mean == pytest.approx(mean(mean(of) for of in KEPT.values()) / 100 - 0.25)


def test_the_spread_of_repetitions_is_told_from_that_of_sessions():
    pool = run()
    found = repetitions(pool, Group("slide"))
    within = mean(variance(of) for of in KEPT.values()) / 100**2
    assert (found.within, found.replicates) == (pytest.approx(within), 3)
    table = section(pool, summary_of(pool))
    [(name, _, times, one, between, part)] = table.rows
    seen = variance([mean(of) / 100 for of in KEPT.values()])
    assert (name, times) == ("slide", "3")
    assert one == f"{within**0.5:.2f}".replace("0.", ".")
    assert between == f"{(seen - within / 3) ** 0.5:.2f}".replace("0.", ".")
    assert part == f"{within / 3 / seen:.0%}"


def test_a_run_without_repetitions_has_no_such_table():
    pool = pools.told({(s, "slide", 0): scores(of[0]) for s, of in KEPT.items()})
    assert section(pool, summary_of(pool)).rows == []


def test_what_a_difference_would_take_is_told_with_and_without_repetitions():
    pool = run(replicates=3)
    found = power(pool)
    assert (found.one, found.other, found.replicates) == ("slide", "steady", 3)
    seen = variance([mean(of) / 100 for of in KEPT.values()])
    assert found.spread.at(3) == pytest.approx(seen)
    assert found.sessions(replicates=1) > found.sessions() > found.sessions(replicates=100)
    said = told_apart(found)
    assert f"would take about {found.sessions()} sessions" in said
    assert f"{found.sessions(replicates=1)} without repetitions" in said


def test_counts_are_those_of_one_repetition():
    pool = run()
    rows = {row[0]: row for row in distortion(pool, summary_of(pool)).rows}
    assert (rows["slide"][-1], rows["steady"][-1]) == ("12", "0")
    assert "todo 600" in statements(pool, summary_of(pool)).legend
