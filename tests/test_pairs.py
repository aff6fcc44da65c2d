"""What separates from what, in runs where every difference is known."""

import pools
import pytest
import runs
from pools import sweep

from compactlab.stats import compared
from compactlab.summary.pairs import against_controls, between_strategies
from compactlab.summary.pool import Group, Pool

LOW = (10, 12, 14, 11, 13, 12)
HIGH = (40, 45, 42, 47, 41, 44)
WIDE = (0, 90, 5, 80, 10, 60)


def verdicts(pairs):
    return {(pair.one, pair.other): pair.verdict for pair in pairs}


def test_a_pair_is_the_paired_difference_of_its_sessions():
    rows = sweep("a", {"10": HIGH}) | sweep("b", {"10": LOW})
    [pair] = between_strategies(pools.pool(rows))
    found = compared([(s, (h - low) / 100) for s, h, low in zip("abcdef", HIGH, LOW, strict=True)])
    assert (pair.one, pair.other, pair.budget, pair.cells, pair.saved.mean) == ("a", "b", "10", 6, 0)
    assert pair.difference.mean == pytest.approx(found.difference.mean)
    assert pair.difference.half == pytest.approx(found.difference.half)
    assert pair.found[1:] == pytest.approx(found[1:])
    assert (pair.judged.p, pair.verdict) == (pair.found.p, "better")


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        (HIGH, LOW, "better"),
        (LOW, HIGH, "worse"),
        (HIGH, HIGH, "equivalent"),
        (HIGH, [kept + 1 for kept in HIGH], "worse"),
        (HIGH, (41, 44, 43, 45, 42, 44), "equivalent"),
        (WIDE, LOW, "inconclusive"),
        (HIGH[:4], LOW[:4], None),
        (HIGH[:5], LOW[:5], None),
    ],
)
def test_the_verdict_is_that_of_the_first(one, other, expected):
    pool = pools.pool(sweep("a", {"10": one}) | sweep("b", {"10": other}))
    assert verdicts(between_strategies(pool)) == {("a", "b"): expected}


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ((100, HIGH), (90, LOW), "better"),
        ((100, HIGH), (89, LOW), "unranked"),
        ((89, HIGH), (100, LOW), "better"),
        ((89, LOW), (100, HIGH), "unranked"),
        ((100, LOW), (89, HIGH), "worse"),
        ((100, HIGH), (50, HIGH), "equivalent"),
        ((100, WIDE), (50, LOW), "inconclusive"),
    ],
)
def test_keeping_more_in_more_room_is_not_better(one, other, expected):
    rows = sweep("a", {"10": one[1]}, after=one[0]) | sweep("b", {"10": other[1]}, after=other[0])
    [pair] = between_strategies(pools.pool(rows))
    assert pair.verdict == expected
    assert pair.saved.mean == pytest.approx((other[0] - one[0]) / 1_000)
    assert pair.saved.half == pytest.approx(0)


def test_only_cells_that_both_met_are_compared():
    rows = sweep("a", {"10": (*HIGH, 90)}) | sweep("b", {"10": (*LOW, 10)})
    rows["g", "0.4", "b", "", "10"] = (101, 10)
    rows |= {("f", "0.7", "a", "", "10"): (100, 90), ("f", "0.7", "b", "", "10"): (100, 80)}
    [pair] = between_strategies(pools.pool(rows))
    assert (pair.cells, pair.difference.n) == (7, 6)
    sessions = [(h - low) / 100 for h, low in zip(HIGH[:5], LOW[:5], strict=True)] + [((44 - 12) / 100 + 0.1) / 2]
    assert pair.difference.mean == pytest.approx(sum(sessions) / 6)


def test_pairs_stand_within_a_budget_and_holm_counts_those_of_one_budget():
    rows = {}
    for name, kept in (("a", HIGH), ("b", LOW), ("c", WIDE)):
        rows |= sweep(name, {"10": kept, "20": kept})
    pairs = between_strategies(pools.pool(rows))
    assert [(p.one, p.other, p.budget) for p in pairs] == [
        (one, other, budget) for budget in ("10", "20") for one, other in (("a", "b"), ("a", "c"), ("b", "c"))
    ]
    first = next(p for p in pairs if (p.one, p.other) == ("a", "b"))
    assert first.judged.p == pytest.approx(3 * first.found.p)


def test_what_meets_a_budget_too_rarely_or_saves_nothing_takes_no_part():
    rows = sweep("a", {"10": HIGH}) | sweep("b", {"10": LOW}) | sweep("rare", {"10": HIGH}, after=400)
    rows["a", "0.4", "rare", "", "10"] = (100, 90)
    rows |= sweep("none", {"": [100] * 6}, after=1_000) | sweep("idle", {"10": [100] * 6}, after=1_000)
    assert verdicts(between_strategies(pools.pool(rows))) == {("a", "b"): "better"}
    own = sweep("idle", {"": [100] * 6}, after=1_000) | sweep("a", {"": HIGH}, after=90)
    assert between_strategies(pools.pool(own)) == ()


def test_each_strategy_is_held_against_controls_of_its_size_and_against_bag():
    rows = sweep("a", {"10": HIGH}) | sweep("b", {"10": WIDE})
    for name in ("a", "b"):
        rows |= sweep("random", {"10": LOW}, size_of=name) | sweep("regex_lines", {"10": HIGH}, size_of=name)
    rows |= sweep("bag", {"": [0] * 6}, after=20)
    found = against_controls(pools.pool(rows))
    assert verdicts(found) == {
        ("a", "bag"): "better",
        ("b", "bag"): "inconclusive",
        ("a", "regex_lines"): "equivalent",
        ("b", "regex_lines"): "inconclusive",
        ("a", "random"): "better",
        ("b", "random"): "inconclusive",
    }
    first = found[0]
    assert first.saved.mean == pytest.approx(-0.08)
    assert first.judged.p == pytest.approx(2 * first.found.p)


def test_a_control_that_is_not_in_the_run_makes_no_pair():
    assert against_controls(pools.pool(sweep("a", {"10": HIGH}))) == ()


def test_the_whole_run_gives_the_differences_of_the_pool():
    pool = Pool(runs.whole().results)
    found = {(pair.one, pair.other): pair for pair in (*between_strategies(pool), *against_controls(pool))}
    clear, slide = Group("microcompact"), Group("sliding_window")
    for pair, other in (
        (found["microcompact", "sliding_window"], slide),
        (found["microcompact", "random"], Group("random", "microcompact")),
        (found["microcompact", "bag"], Group("bag")),
    ):
        expected = pool.estimate(pool.differences(clear, other))
        assert pair.difference == expected._replace(
            mean=pytest.approx(expected.mean), half=pytest.approx(expected.half)
        )
    assert found["microcompact", "sliding_window"].verdict == "unranked"
    assert found["microcompact", "random"].verdict == "better"
    assert found["sliding_window", "random"].verdict == "inconclusive"


@pytest.mark.parametrize("one", [(50, 40, 20, 5, 2, 1), (60, 30, 20, 10, 2, -1), (90, 4, 3, 2, 1, 0)])
def test_no_verdict_of_a_difference_stands_without_the_sign_flips(one):
    rows = sweep("a", {"10": [10 + kept for kept in one]}) | sweep("b", {"10": [10] * 6})
    [pair] = between_strategies(pools.pool(rows))
    assert (pair.verdict == "better") == (max(pair.found.p, pair.found.flips) < 0.05)
