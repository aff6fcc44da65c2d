"""Figures of replays: curves of survival, timelines, money against the window."""

import itertools

import figures
import pytest
import replays
import runs
from figures import points
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.path import Path
from replays import fire, life, made, turn

from compactlab.errors import SpecError
from compactlab.harness import Settings, run
from compactlab.plots import survival, timeline, windows
from compactlab.plots.palette import styles
from compactlab.plots.windows import Costs, compared
from compactlab.pressure import OUTPUT_LIMIT
from compactlab.results import Results
from compactlab.summary.pool import Pool
from compactlab.summary.replayed import rows

POLICIES = ("none", "microcompact", "sliding_window", "microcompact@0.5+sliding_window@0.8")


@pytest.fixture(scope="module")
def replayed():
    settings = Settings(mode="replay", window=6_000, policies=POLICIES, jobs=1)
    return run(runs.short_transcripts(), runs.scratch() / "plots-replayed", settings)


def lived(**lost):
    """The rows of a run of five stories under each policy; *lost* are how many of ten facts each of its fires loses."""
    cells = {}
    for policy, counts in lost.items():
        lives = [life(k, lost=i < n) for k, n in enumerate(counts, 1) for i in range(10)]
        lives += [life(k, lost=False, family="error") for k in range(1, len(counts) + 1)]
        cells |= {(story, policy): made([turn()], [fire(0)], lives=tuple(lives)) for story in "abcde"}
    return rows(replays.pool(cells))


def test_a_curve_of_survival_goes_through_the_estimates_of_its_policy():
    found = lived(cull=(5, 5, 2), summary=(9, 9))
    figure = survival.figure(found, "signed")
    (axes,) = figure.axes
    looks = styles(["cull", "summary"])
    expected = {(k, round(row.alive(k).mean, 9), looks[row.label].colour) for row in found for k in (1, 2, 3)}
    expected = {point for point in expected if point[0] < 3 or point[2] == looks["cull"].colour}
    assert {(int(x), round(y, 9), colour) for x, y, colour, _ in points(axes)} == expected
    assert axes.lines[0].get_ydata()[0] == 1
    assert figures.legend(figure) == ["cull: 165 lives", "summary: 110 lives"]
    assert "5 sessions, 5 of them compacted" in figures.title(figure)
    assert axes.get_xlabel()
    assert axes.get_ylabel() == "alive (share of facts, needed or not)"


def test_each_family_has_a_part_with_its_number_the_most_frequent_first():
    found = lived(cull=(5, 5, 2), summary=(9, 9))
    figure = survival.families(found, "signed")
    assert [axes.get_title() for axes in figure.axes if axes.axison] == ["path, n = 150", "error, n = 15"]
    path = found[0].survival("path")
    lines = [line for line in figure.axes[0].lines if line.get_color() == styles(["cull"])["cull"].colour]
    markers = next(line for line in lines if line.get_marker() not in {"None", "", None})
    assert list(markers.get_ydata()) == pytest.approx(list(path.alive))


@pytest.mark.parametrize("width", [4.6, 6, 10])
@pytest.mark.parametrize("number", [1, 3, 12])
def test_nothing_on_a_curve_lies_outside_or_covers_anything(width, number):
    found = lived(**{f"microcompact@0.{10 + i}+summary(preserve_recent={i})@0.95": (3, 4) for i in range(number)})
    for draw in (survival.figure, survival.families):
        figure = draw(found, "signed " * 40, width)
        assert figures.faults(figure) == []
        assert figures.signature(figure) == ("signed " * 40).strip()


def test_without_lives_there_is_an_empty_figure():
    found = rows(replays.pool({("a", "none"): made([turn()], spec="none")}))
    for draw in (survival.figure, survival.families):
        assert figures.faults(draw(found, "signed")) == []


def test_a_timeline_shows_what_was_sent_what_fired_and_where_it_ended():
    turns = [turn(500), turn(790, 500), turn(410, 100), turn(960, 410, allowance=512, cut=30)]
    fires = [fire(2, 820, 400), fire(3, 700, 700, outcome="skipped", strategy="cull")]
    shown = timeline.of_replay(made(turns, fires, spec="sliding_window@0.8", overflow="too large", overflow_at=9))
    figure = timeline.figure([shown], "signed")
    (axes,) = figure.axes
    lines = {line.get_label(): line for line in axes.lines}
    assert shown.marks == (0.8,)
    sent = next(
        line for line in lines.values() if list(line.get_xdata()) == [1, 2, 3, 4] and len(line.get_ydata()) == 4
    )
    assert list(sent.get_ydata()) == [0.5, 0.79, 0.41, 0.96]
    assert {round(line.get_ydata()[0], 9) for line in axes.lines if list(line.get_xdata()) == [0, 1]} == {1.0, 0.8}
    full = styles(["sliding_window", "cull"])["sliding_window"]
    assert any(
        (line.get_color(), line.get_marker()) == full[:2] and list(line.get_xdata()) == [3] for line in axes.lines
    )
    legend = figures.legend(figure)
    for words in ("window", "marks", "sliding_window", "cull", "less output allowed", "answer cut short"):
        assert words in legend
    assert "did not fit: the session ends" in legend
    assert "hollow: a fire that changed nothing" in legend
    assert "4 turns, fires: 1 applied, 1 skipped" in axes.get_title(loc="left")
    assert "1 → 0" in {text.get_text() for text in axes.texts}


def test_a_timeline_of_a_run_is_that_of_the_replay(replayed):
    found = timeline.of_run(replayed)
    assert [shown.policy for shown in found] == list(POLICIES)
    assert len({shown.session for shown in found}) == 1
    counts = {}
    for record in replayed.records:
        if record.metric == "fires":
            counts[record.session] = counts.get(record.session, 0) + record.value
    assert sum(len(shown.fires) for shown in found) == max(counts.values()) > 0
    for shown in found:
        sent = [
            r.n for r in replayed.records if (r.session, r.strategy, r.metric) == (shown.session, shown.policy, "reuse")
        ]
        assert [sum(turn.tokens for turn in shown.turns)] == sent
        assert all(turn.allowance <= OUTPUT_LIMIT for turn in shown.turns)
    assert found[-1].marks == (0.5, 0.8)
    assert {shown.session for shown in timeline.of_run(replayed, runs.SHORT[0])} == {runs.SHORT[0]}


def test_what_a_run_does_not_hold_has_no_timeline(replayed):
    with pytest.raises(SpecError, match="is none of the run"):
        timeline.of_run(replayed, "nobody")
    with pytest.raises(SpecError, match="expected one that replays sessions"):
        timeline.of_run(runs.short().results)


@pytest.mark.parametrize("width", [4.6, 6, 10])
def test_nothing_on_a_timeline_lies_outside_or_covers_anything(replayed, width):
    shown = timeline.of_run(replayed)
    for number in (0, 1, 4, 12):
        assert figures.faults(timeline.figure((shown * 3)[:number], "signed", width)) == []


def cost(session, policy, window=1_000, value=1.0):
    return Costs(session, session, policy, window, value, 2 * value, 1_000 * value, 3.0, 9_000.0)


def test_money_is_that_of_the_run_over_sessions_that_all_finished(replayed):
    pool = Pool(Results(replayed.folder))
    costs = windows.of_runs([pool])
    for row in rows(pool):
        own = {one.session: one.cached for one in costs if one.policy == row.label}
        assert own == row.quantities("money")
    assert {one.window for one in costs} == {6_000}
    figure = windows.figure(costs, "signed")
    assert [axes.get_ylabel() for axes in figure.axes] == [
        "USD a session",
        "USD a session",
        "thousand tokens a session",
    ]
    shown = compared(costs)
    assert f"{len(shown.sessions)} of {shown.of} sessions" in figures.title(figure)


def test_points_are_means_of_the_same_sessions_and_what_did_not_finish_is_named():
    costs = [cost(s, "cull", w, v) for s, v in (("a", 1.0), ("b", 3.0), ("c", 9.0)) for w in (1_000, 2_000)]
    costs += [cost(s, "ladder", w, 4.0) for s in "ab" for w in (1_000, 2_000)]
    costs += [cost("a", "none", 2_000, 7.0)]
    shown = compared(costs)
    assert (shown.policies, set(shown.sessions), shown.left_out, shown.of) == (
        ("cull", "ladder"),
        {"a", "b"},
        {"none": 0},
        3,
    )
    figure = windows.figure(costs, "signed")
    looks = styles(shown.policies)
    heights = {(round(x), y, colour) for x, y, colour, _ in points(figure.axes[0])}
    assert heights == {(i, y, looks[p].colour) for i in (0, 1) for p, y in (("cull", 2.0), ("ladder", 4.0))}
    assert "left out: none (0 of 3 finished)" in figures.legend(figure)
    assert "the same sessions with no window" in figures.legend(figure)


@given(
    st.lists(
        st.builds(
            cost,
            st.sampled_from("abcdef"),
            st.sampled_from(["cull", "ladder", "own", "none"]),
            st.sampled_from([1_000, 2_000]),
        ),
        max_size=40,
    )
)
def test_only_sessions_that_every_drawn_policy_finished_in_every_window_are_compared(costs):
    shown = compared(costs)
    done = {(one.session, one.policy, one.window) for one in costs}
    every = {one.window for one in costs}
    assert all((s, p, w) in done for s in shown.sessions for p in shown.policies for w in every)
    assert {one.policy for one in costs} == {*shown.policies, *shown.left_out}
    assert not shown.policies or 2 * len(shown.sessions) >= shown.of > 0


@pytest.mark.parametrize("width", [4.6, 6, 10])
@pytest.mark.parametrize("number", [0, 1, 3, 12])
def test_nothing_of_money_lies_outside_or_covers_anything(width, number):
    names = [f"microcompact@0.{10 + i}+summary(preserve_recent={i})@0.95" for i in range(number)]
    costs = [cost(s, name, w) for s in "abcde" for name in names for w in (32_000, 64_000, 200_000)]
    assert figures.faults(windows.figure(costs, "signed " * 40, width)) == []


@pytest.mark.parametrize("width", [4.6, 10])
def test_words_at_a_fire_cover_no_line_and_no_mark_of_the_timeline(replayed, width):
    turns = [turn(300 + 97 * i % 600) for i in range(40)]
    fires = [fire(i, 900, 300 + 97 * i % 600) for i in range(2, 40, 3)]
    for timelines in ([timeline.of_replay(made(turns, fires, spec="cull@0.8"))], timeline.of_run(replayed)):
        figure = timeline.figure(timelines, "signed", width)
        figure.draw_without_rendering()
        told = 0
        for axes, one in zip(figure.axes, timelines, strict=True):
            at = axes.transData.transform
            sent = Path(at([(i, turn.tokens / 1_000) for i, turn in enumerate(one.turns, 1)]))
            marks = at([(fire.turn + 1, fire.tokens_before / 1_000) for fire in one.fires] or [(-1, -1)])
            boxes = [text.get_window_extent().padded(-1) for text in axes.texts]
            told += len(boxes)
            assert not any(sent.intersects_bbox(box, filled=False) for box in boxes)
            assert not any(box.contains(*mark) for box in boxes for mark in marks)
            assert not any(a.overlaps(b) for a, b in itertools.combinations(boxes, 2))
        assert told > 0
