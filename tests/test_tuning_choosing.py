"""Which policy is chosen: what holds the constraints, saves most, and is simplest within one standard error."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compactlab.errors import SpecError
from compactlab.pressure import Marks
from compactlab.stats import clustered, t_quantile
from compactlab.tuning.candidates import NONE, Space, complexity, listed, with_mark
from compactlab.tuning.choosing import Goal, bounds, by_policy, choose, levels, lower_bound
from compactlab.tuning.held_out import Cell, Fold, Held, Row, best_of, folds_of, regret, transfer
from compactlab.tuning.options import Options, default_window
from compactlab.tuning.tried import Tried

POLICIES = ("none", "sliding_window@0.8", "sliding_window(preserve_recent=4)@0.8", "microcompact@0.5+cull@0.9")
STORIES = ("a", "b", "c", "d", "e", "f")
PLAIN, SLIDING, CHANGED, TWO = POLICIES


def tried(policy, story, saved=0.0, kept=10, rules=10, **more):
    """A row with ten needed facts and ten rules at risk, of which so many were kept."""
    return Tried(policy, f"s-{story}", story, 1_000, saved, kept, 10, rules, 10, **more)


def rows(policy, saved, **more):
    """A row a story; *saved* is one value for all, or one each."""
    each = saved if isinstance(saved, tuple) else (saved,) * len(STORIES)
    return [tried(policy, story, value, **more) for story, value in zip(STORIES, each, strict=True)]


@pytest.mark.parametrize(
    ("others", "chosen"),
    [
        ([], PLAIN),
        (rows(SLIDING, 0.5), SLIDING),
        (rows(SLIDING, 0.5, kept=7), PLAIN),
        (rows(SLIDING, 0.5, kept=8), SLIDING),
        (rows(SLIDING, 0.5, rules=8), PLAIN),
        (rows(SLIDING, 0.5, faults=1), PLAIN),
        (rows(SLIDING, (0.5, 0.5, 0.5, 0.5, 0.5, None)), PLAIN),
        (rows(SLIDING, 0.5) + rows(TWO, 0.6), TWO),
        (rows(SLIDING, 0.5) + rows(TWO, (0.45, 0.6, 0.5, 0.5, 0.46, 0.52)), SLIDING),
        (rows(SLIDING, 0.5) + rows(CHANGED, 0.5), SLIDING),
        (rows(SLIDING, -0.1), PLAIN),
    ],
)
def test_the_simplest_of_the_best_that_hold_is_chosen(others, chosen):
    assert choose(rows(PLAIN, 0.0) + others, Goal()).policy == chosen


def test_nothing_is_chosen_where_nothing_holds_and_the_nearest_is_named():
    found = choose(rows(PLAIN, None) + rows(SLIDING, 0.5, kept=3) + rows(TWO, 0.4, kept=7), Goal())
    assert (found.policy, found.best, found.holding, found.nearest.policy) == (None, None, 0, TWO)


@pytest.mark.parametrize("goal", [(0.9, 0.0), (0.0, 0.9)])
def test_the_choice_changes_when_a_constraint_does(goal):
    loose = rows(PLAIN, 0.0) + rows(SLIDING, 0.5, kept=5, rules=5)
    assert choose(loose, Goal(0.5, 0.5)).policy == SLIDING
    assert choose(loose, Goal(*goal)).policy == PLAIN


def test_one_standard_error_is_that_of_paired_differences():
    # all sessions differ a lot from each other, and by the same little from policy to policy
    spread = (0.1, 0.3, 0.5, 0.7, 0.9, 0.2)
    better = tuple(value + 0.02 for value in spread)
    assert choose(rows(SLIDING, spread) + rows(TWO, better), Goal()).policy == TWO


@given(st.lists(st.tuples(st.sampled_from(STORIES), st.floats(0, 1)), min_size=1, max_size=12))
def test_a_lower_bound_is_the_one_sided_bound_of_the_clustered_mean(values):
    bound, estimate = lower_bound(values), clustered(values)
    assert (bound is None) == (len({story for story, _ in values}) < 2)
    if bound is not None:
        assert bound <= estimate.mean + 1e-12
    if estimate.error is not None:
        wanted = estimate.mean - t_quantile(estimate.clusters - 1, 0.95) * estimate.error
        assert bound == pytest.approx(wanted, abs=1e-9)


@st.composite
def tables(draw):
    """Rows of all policies on the same sessions."""
    stories = STORIES[: draw(st.integers(2, len(STORIES)))]
    some = st.integers(0, 10)
    return [
        tried(
            policy,
            story,
            draw(st.none() | st.floats(-1, 1)),
            draw(some),
            draw(some),
            faults=draw(st.sampled_from((0, 0, 1))),
        )
        for policy in POLICIES
        for story in stories
    ]


@given(tables(), st.floats(0, 1), st.floats(0, 1), st.randoms())
def test_what_is_chosen_holds_is_no_more_complex_than_the_best_and_does_not_hang_on_the_order(
    table, quality, rules, draw
):
    goal = Goal(quality, rules)
    found = choose(table, goal)
    shuffled = list(table)
    draw.shuffle(shuffled)
    assert choose(shuffled, goal) == found
    held = [spec for spec, of in by_policy(table).items() if bounds(of).holds(goal)]
    assert found.holding == len(held)
    if not held:
        assert found.policy is None
        return
    assert {found.policy, found.best} <= set(held)
    assert complexity(found.policy) <= complexity(found.best)
    assert bounds(by_policy(table)[found.best]).saved == max(bounds(by_policy(table)[spec]).saved for spec in held)


@given(tables(), st.floats(0, 1))
def test_asking_for_more_never_saves_more(table, rules):
    best = [choose(table, Goal(quality, rules)) for quality in (0.2, 0.5, 0.8)]
    saved = [bounds(by_policy(table)[one.best]).saved if one.best else -2.0 for one in best]
    assert saved == sorted(saved, reverse=True)
    told = levels(table, Goal(0.2, rules))
    assert {Goal(0.2, rules), Goal(0.9, rules), Goal(0.9, 0.0)} <= {goal for goal, _ in told}
    assert all((found.policy if found else None) == choose(table, goal).policy for goal, found in told)


@pytest.mark.parametrize("share", [-0.1, 1.1])
def test_a_goal_that_is_no_share_is_refused(share):
    with pytest.raises(SpecError, match="expected a share"):
        Goal(quality=share)
    with pytest.raises(SpecError, match="expected a share"):
        Goal(constraints=share)


def test_a_space_holds_each_policy_once_with_none_first_and_every_point_is_one_of_them():
    for space in (Space(), Space(writes=False)):
        policies = space.policies
        assert policies[0] == NONE
        assert len(set(policies)) == len(policies)
        assert list(policies) == sorted(policies, key=complexity)
        assert {space.at(start) for start in space.starts} <= set(policies)
        assert any("summary" in policy for policy in policies) == space.writes


@given(st.data())
def test_any_point_of_a_space_is_a_policy_of_it(data):
    space = Space()
    point = {name: data.draw(st.integers(0, size - 1)) for name, size in space.dimensions.items()}
    assert space.at(point) in WHOLE


WHOLE = frozenset(Space().policies)


def test_what_a_person_names_always_has_none_beside_it():
    assert listed(["cull @ .9", "cull@0.9"]) == ("none", "cull@0.9")
    assert with_mark("cull", Marks((0.6, 0.9))) == "cull@0.6"


@pytest.mark.parametrize(
    ("weights", "window"),
    [([], 1_000), ([900], 1_000), ([2_001], 2_000), ([2_000], 1_000), ([9_000, 9_000, 9_000, 1], 8_000)],
)
def test_three_quarters_of_the_sessions_outgrow_the_default_window(weights, window):
    assert default_window(weights) == window


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"window": 0}, "above 0"),
        ({"trials": -1}, "candidates"),
        ({"jobs": -1}, "processes"),
        ({"policies": ("x",)}, "x"),
    ],
)
def test_options_out_of_range_are_refused(options, said):
    with pytest.raises((SpecError, LookupError), match=said):
        Options(**options)


def test_the_best_of_a_session_keeps_there_what_the_goal_asks_for():
    table = [tried(PLAIN, "a", 0.0), tried(SLIDING, "a", 0.5, kept=7), tried(TWO, "a", 0.3, kept=8)]
    assert best_of(table, Goal()).policy == TWO
    assert best_of(table[1:2], Goal()) is None


def test_regret_is_what_each_session_could_have_saved_more():
    chosen, best = rows(SLIDING, 0.2), rows(TWO, (0.3, 0.4, 0.2, 0.5, 0.2, 0.2))
    folds = [Fold((a.story,), (a.session,), a.policy, (a,), (b,)) for a, b in zip(chosen, best, strict=True)]
    assert regret(folds).mean == pytest.approx(0.1)
    assert regret([fold._replace(tried=()) for fold in folds]) is None


@given(st.lists(st.text(max_size=3), min_size=1, max_size=40))
def test_every_story_is_left_out_once_in_ten_rounds_at_most(stories):
    folds = folds_of(stories)
    assert sorted(story for fold in folds for story in fold) == sorted(set(stories))
    assert len(folds) == min(10, len(set(stories)))


def test_a_choice_holds_on_its_own_type_only_if_every_round_had_one():
    row = Row("held", tuple(rows(SLIDING, 0.5)))
    asked = []

    def attempt(policy, agent_type):
        asked.append((policy, agent_type))
        return rows(policy, 0.5, kept=2)

    for unchosen in ((), ("a",)):
        cells = transfer({"x": SLIDING}, {"x": Held(row, unchosen)}, ("x", "y"), attempt, Goal())
        assert cells[0] == Cell("x", "x", row, not unchosen, True)
        assert (cells[1].holds, cells[1].held_out) == (False, False)
    assert asked == [(SLIDING, "y")] * 2
