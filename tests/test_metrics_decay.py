"""What is kept after one, two and more compactions (M10)."""

from collections import Counter

import pytest
import replays
from hypothesis import given
from hypothesis import strategies as st
from replays import life, made, use

from compactlab.metrics import Score, decay
from compactlab.survival import survival


def measured(replay):
    return list(decay.replayed(replay))


@pytest.mark.parametrize("untouched", [replays.EMPTY, replays.GROWING], ids=["empty", "nobody compacts"])
def test_where_nothing_was_compacted_nothing_decays_and_nothing_is_yielded(untouched):
    assert measured(untouched) == []


def test_uses_are_counted_by_family_kind_home_and_passes():
    told = (
        use(1, bound=True),
        use(1, bound=False),
        use(1, loose=False),
        use(2, loose=False),
        use(1, family="number", home="reobtainable"),
        use(1, kind="text", loose=False),
    )
    path, number = ("path", "action", "irrecoverable"), ("number", "action", "reobtainable")
    assert measured(made(uses=told)) == [
        Score("decay_loose", 1, 1, *number, pass_=1),
        Score("decay_bound", 1, 1, *number, pass_=1),
        Score("decay_loose", 2, 3, *path, pass_=1),
        Score("decay_bound", 1, 3, *path, pass_=1),
        Score("decay_loose", 0, 1, *path, pass_=2),
        Score("decay_bound", 0, 1, *path, pass_=2),
        Score("decay_loose", 0, 1, "path", "text", "irrecoverable", pass_=1),
        Score("decay_bound", 0, 1, "path", "text", "irrecoverable", pass_=1),
        Score("supplied_again", 0, 6),
    ]


@pytest.mark.parametrize(("passes", "told"), [(4, 4), (5, 5), (6, 5), (40, 5)])
def test_five_passes_and_more_are_one_group(passes, told):
    assert {score.pass_ for score in measured(made(uses=(use(passes),))) if score.pass_} == {told}


def test_lives_are_counted_by_passes_without_end_so_that_a_curve_can_be_drawn():
    lived = (life(1), life(1, lost=False), life(1, lost=False), life(7), life(7, lost=False), life(2, family="error"))
    assert measured(made(lives=lived)) == [
        Score("life_lost", 1, 1, "error", pass_=2),
        Score("life_lost", 1, 3, "path", pass_=1),
        Score("life_lost", 1, 2, "path", pass_=7),
        Score("depth", 1 + 1 + 7, 3, "path"),
    ]


@pytest.mark.parametrize(("supplied", "uses", "expected"), [(3, 1, (3, 4)), (2, 0, (2, 2)), (0, 2, (0, 2))])
def test_how_often_someone_else_told_a_fact_again_first_is_told(supplied, uses, expected):
    assert replays.one(measured(made(supplied=supplied, uses=(use(),) * uses)), "supplied_again") == expected


@given(replays.replays())
def test_every_use_and_every_life_is_counted_once_and_bound_is_never_over_loose(replay):
    found = measured(replay)
    for metric in ("decay_loose", "decay_bound"):
        assert sum(n for _, n in replays.scores(found, metric)) == len(replay.uses)
    assert sum(value for value, _ in replays.scores(found, "decay_loose")) == sum(u.loose for u in replay.uses)
    loose, bound = replays.scores(found, "decay_loose"), replays.scores(found, "decay_bound")
    assert all(0 <= b <= a <= n == m for (a, n), (b, m) in zip(loose, bound, strict=True))
    assert sum(n for _, n in replays.scores(found, "life_lost")) == len(replay.lives)
    assert sum(value for value, _ in replays.scores(found, "life_lost")) == sum(x.lost for x in replay.lives)
    assert found == measured(replay)


@given(st.lists(replays.uses, min_size=1, max_size=12), st.data())
def test_one_fact_more_in_view_never_lowers_a_share(uses, data):
    at = data.draw(st.integers(0, len(uses) - 1))
    better = [*uses[:at], uses[at]._replace(loose=True, bound=True), *uses[at + 1 :]]
    before, after = measured(made(uses=tuple(uses))), measured(made(uses=tuple(better)))
    assert all(b.value >= a.value and b.n == a.n for a, b in zip(before, after, strict=True))


@given(st.lists(replays.lives, min_size=1, max_size=30))
def test_the_curve_of_the_scores_is_that_of_the_lives(lives):
    of_scores = {}
    for score in measured(made(lives=tuple(lives))):
        if score.metric == "life_lost":
            lost, n = of_scores.get(score.pass_, (0, 0))
            of_scores[score.pass_] = lost + int(score.value), n + score.n
    ended, lost = Counter(x.passes for x in lives), Counter(x.passes for x in lives if x.lost)
    assert survival(of_scores) == survival({k: (lost[k], n) for k, n in ended.items()})
