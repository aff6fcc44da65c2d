"""Curves over budgets, their areas and the front, of runs small enough to work out and of the recorded ones."""

from statistics import mean

import pools
import pytest
import runs
from pools import sweep

from compactlab.harness import Settings, run
from compactlab.stats import clustered
from compactlab.summary import summary_of
from compactlab.summary.curves import AT, curves
from compactlab.summary.pool import OF_A_SIZE, Pool

SIX = (10, 20, 30, 40, 50, 60)


def one(found, strategy):
    return next(curve for curve in found.curves if curve.strategy == strategy)


def test_a_point_is_the_mean_of_the_cells_that_lie_within_the_budget():
    rows = {
        ("a", "0.4", "slide", "", "10"): (100, 40),
        ("a", "0.7", "slide", "", "10"): (50, 20),
        ("b", "0.4", "slide", "", "10"): (101, 90),
        ("b", "0.7", "slide", "", "10"): (100, 60),
    }
    [point] = one(curves(pools.pool(rows)), "slide").points
    assert point.quality.mean == pytest.approx(mean([mean([0.4, 0.2]), 0.6]))
    assert point.saved.mean == pytest.approx(mean([mean([0.9, 0.95]), 0.9]))
    assert (point.met, point.possible, point.underfilled) == (3, 4, 1)
    assert (point.ranked, point.flagged) == (True, True)


def test_a_point_that_too_few_cells_met_is_shown_and_stands_in_no_area():
    rows = sweep("slide", {"10": SIX, "20": SIX})
    rows |= {(s, "0.4", "slide", "", "10"): (300, 90) for s in "ab"}
    pool = pools.pool(rows | sweep("other", {"10": SIX, "20": SIX}))
    curve = one(curves(pool), "slide")
    assert [(p.budget, p.met, p.ranked) for p in curve.points] == [("10", 4, False), ("20", 6, True)]
    assert [p.budget for p in curve.ranked] == ["20"]
    assert curve.hypervolume.mean == pytest.approx(0.8 * 0.35)
    assert (curve.quality_at(10), curve.quality_at(20)) == (None, pytest.approx(0.35))


def test_cells_whose_protected_set_is_over_the_budget_are_nobodys_failing():
    rows = sweep("s", {"10": SIX})
    for story in "abcd":
        rows[story, "0.4", "s", "", "10"] = (150, 90)
    assert curves(pools.pool(rows)).curves == ()
    rows |= {(story, "0.4", "null", "", ""): (150, 0) for story in "abcd"}
    [point] = one(curves(pools.pool(rows)), "s").points
    assert (point.met, point.possible, point.ranked, point.flagged) == (2, 2, True, False)


def test_a_strategy_that_meets_no_budget_has_no_curve_and_stands_at_its_own_size():
    rows = sweep("slide", {"10": SIX}) | sweep("clear", {"10": SIX, "20": SIX}, after=400)
    rows |= sweep("none", {"": [100] * 6}, after=1_000)
    found = curves(pools.pool(rows))
    assert [curve.strategy for curve in found.curves] == ["slide"]
    alone = dict(found.alone)
    assert set(alone) == {"clear", "none"}
    assert alone["clear"].at == (pytest.approx(0.6), pytest.approx(0.35))
    assert alone["none"].at == (0, 1)


def test_the_areas_are_those_of_the_mean_curve():
    kept = {"10": (20,) * 6, "20": (40,) * 6, "40": (80,) * 6}
    found = curves(pools.pool(sweep("slide", kept)))
    [curve] = found.curves
    area = (0.9 - 0.8) * 0.2 + (0.8 - 0.6) * 0.4 + 0.6 * 0.8
    assert curve.hypervolume.mean == pytest.approx(area)
    assert curve.aurc.mean == pytest.approx(0.45)
    assert found.common == ("10", "20", "40")
    assert found.hypervolume.mean == curve.contribution.mean == pytest.approx(area)
    assert (curve.behind.mean, curve.behind.half, curve.tokens) == (0, None, None)
    assert curve.quality_at(28.284271) == pytest.approx(0.6)
    assert curve.quality_at(5) is None


def test_what_is_nowhere_ahead_adds_nothing_and_is_behind_by_what_it_lacks():
    rows = sweep("good", {"10": [40] * 6, "20": [60] * 6}) | sweep("bad", {"10": [20] * 6, "20": [50] * 6})
    found = curves(pools.pool(rows))
    good, bad = one(found, "good"), one(found, "bad")
    assert (bad.contribution.mean, bad.contribution.half) == (0, None)
    assert good.contribution.mean == pytest.approx(good.hypervolume.mean - bad.hypervolume.mean)
    assert (good.behind.mean, bad.behind.mean) == (0, pytest.approx(0.1))
    assert found.front == ((0, 0), (0, 1))
    assert [point.budget for point in found.front_points] == ["10", "20"]
    assert found.hypervolume.mean == pytest.approx(good.hypervolume.mean)


def test_areas_over_budgets_compare_the_same_budgets():
    rows = sweep("all", {"5": SIX, "10": SIX, "20": SIX}) | sweep("some", {"10": SIX, "20": SIX})
    rows |= sweep("one", {"20": SIX})
    found = curves(pools.pool(rows))
    assert found.common == ("10", "20")
    assert one(found, "all").aurc.mean == pytest.approx(0.35)
    assert one(found, "one").aurc is None


def test_tokens_at_nine_tenths_are_read_between_sizes():
    found = curves(pools.pool(sweep("slide", {"20": [80] * 5, "40": [100] * 5})))
    assert found.curves[0].tokens == pytest.approx(0.3)


def test_skill_is_the_difference_to_random_units_of_the_same_size_in_the_same_cells():
    rows = sweep("slide", {"10": (60, 60, 60, 60, 60, 90)}) | sweep("random", {"10": (20,) * 6}, size_of="slide")
    rows |= sweep("oracle", {"10": (100,) * 6}, size_of="slide")
    rows["f", "0.4", "slide", "", "10"] = (500, 90)
    rows["f", "0.4", "random", "slide", "10"] = (500, 80)
    [curve] = curves(pools.pool(rows)).curves
    [point] = curve.points
    assert point.controls == {"random": pytest.approx(0.2), "oracle": 1}
    assert point.skill.mean == pytest.approx((0.6 - 0.2) / (1 - 0.2))
    assert point.skill.clusters == 5


def test_a_control_that_keeps_everything_leaves_no_skill():
    rows = sweep("slide", {"10": SIX}) | sweep("random", {"10": (100,) * 6}, size_of="slide")
    assert curves(pools.pool(rows)).curves[0].points[0].skill is None


def test_the_curve_of_a_control_is_the_mean_over_the_sizes_of_all_strategies():
    rows = sweep("s", {"10": SIX, "20": SIX}) | sweep("t", {"10": SIX}, after=60)
    rows |= sweep("random", {"10": [10] * 6, "20": [30] * 6}, size_of="s")
    rows |= sweep("random", {"10": [20] * 6}, size_of="t")
    found = curves(pools.pool(rows)).control("random")
    assert found == {"10": (pytest.approx(0.92), pytest.approx(0.15)), "20": (pytest.approx(0.8), pytest.approx(0.3))}


def test_what_a_control_keeps_at_each_budget_has_an_interval_over_sessions():
    rows = sweep("s", {"10": SIX, "20": SIX}) | sweep("t", {"10": SIX})
    for name, kept in (("s", SIX), ("t", [2 * kept for kept in SIX])):
        rows |= sweep("random", {"10": kept, "20": kept} if name == "s" else {"10": kept}, size_of=name)
    found = curves(pools.pool(rows)).controls
    assert {budget: kept.mean for budget, kept in found["random"].items()} == pytest.approx({"10": 0.525, "20": 0.35})
    at = [clustered([(s, factor * kept / 100) for s, kept in zip("abcdef", SIX, strict=True)]) for factor in (1.5, 1)]
    assert [kept.half for kept in found["random"].values()] == pytest.approx([of.half for of in at], rel=0.35)
    assert found["oracle"] == {}


def test_quality_at_a_budget_between_two_is_read_in_every_sample():
    curve = one(curves(pools.pool(sweep("s", {"5": SIX, "20": [2 * kept for kept in SIX[:5]] + [90], "30": SIX}))), "s")
    assert set(curve.at) == {10, 20, 30}
    assert curve.at[20] == curve.points[1].quality
    assert curve.at[10].mean == pytest.approx((curve.at[20].mean + curve.points[0].quality.mean) / 2)
    assert curve.points[0].quality.half < curve.at[10].half < curve.at[20].half * 1.5


def test_intervals_need_five_stories():
    five, four = (curves(pools.pool(sweep("s", {"10": SIX[:n], "20": SIX[:n]}))).curves[0] for n in (5, 4))
    for curve, known in ((five, True), (four, False)):
        for found in (curve.hypervolume, curve.aurc, curve.contribution):
            assert (found.half is not None) == known
    assert five.hypervolume.half > 0


def test_a_run_without_a_compacting_strategy_has_no_curve():
    found = curves(pools.pool({("a", "0.4", "none", "", ""): (1_000, 100)}))
    assert (found.curves, found.front, found.hypervolume, found.common) == ((), (), None, ())
    assert [name for name, _ in found.alone] == ["none"]


def test_the_name_says_who_wrote_the_text():
    assert curves(pools.pool(sweep("s", {"10": SIX}), model="m-1")).curves[0].name == "s (m-1)"


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    strategies = ("none", "microcompact", "sliding_window", "key_value")
    settings = Settings(strategies=strategies, budgets=(10.0, 20.0, 40.0), jobs=1)
    return Pool(run(runs.short_transcripts(), tmp_path_factory.mktemp("curves") / "run", settings))


def test_points_of_recorded_sessions_are_the_rows_of_the_table_where_every_cell_met_the_budget(recorded):
    rows = {(row.label, row.budget): row for row in summary_of(recorded).rows}
    same = 0
    for curve in curves(recorded).curves:
        for point in curve.points:
            row = rows[curve.strategy, point.budget]
            cells = sum(row.outcomes.values())
            assert point.met == cells - row.missed.unreachable
            if point.met == cells:
                same += 1
                assert point.quality.mean == pytest.approx(row.bound.mean)
                assert point.saved.mean == pytest.approx(row.saved.mean)
                assert point.controls["random"] == pytest.approx(row.same_size["random"].mean)
    assert same >= 2


def test_what_holds_for_any_run_holds_for_recorded_ones(recorded):
    for pool in (recorded, Pool(runs.whole().results)):
        found = curves(pool)
        assert found.curves
        total = found.hypervolume.mean
        assert 0 < total < 1
        for curve in found.curves:
            assert 0 <= curve.contribution.mean <= curve.hypervolume.mean <= total + 1e-12
            assert curve.behind.mean >= 0
            assert {at: kept.mean for at, kept in curve.at.items()} == pytest.approx(
                {at: kept for at in AT if (kept := curve.quality_at(at)) is not None}
            )
            for point in curve.points:
                assert point.met <= point.possible
                assert set(point.controls) == set(OF_A_SIZE)
                assert point.controls["oracle"] >= point.controls["random"]


def test_the_whole_run_has_intervals_and_says_so_the_same_each_time():
    pool = Pool(runs.whole().results)
    found = curves(pool)
    assert {curve.strategy for curve in found.curves} == {"microcompact", "sliding_window"}
    assert [name for name, _ in found.alone] == ["none"]
    assert all(0 < curve.hypervolume.half < 0.4 for curve in found.curves)
    assert all(curve.points[0].skill.half > 0 for curve in found.curves)
    assert found == curves(Pool(runs.whole().results))
