"""The tables of a run of replays, from records to texts, against figures worked out by hand."""

from statistics import mean

import pytest
import replays
from hypothesis import given, settings
from hypothesis import strategies as st
from replays import fire, life, made, turn, use

from compactlab.metrics.speed import speed
from compactlab.replay import Debt
from compactlab.report.lifetimes import cliffs, decay, survival, survival_by_family
from compactlab.report.replayed import MAIN, TABLES, amount, main_table, speeds, tables, thousands, triggers
from compactlab.report.replayed import money as money_table
from compactlab.report.section import markdown
from compactlab.stats import Estimate
from compactlab.summary.replayed import rows
from compactlab.survival import survival as curve_of

STORIES = "abcde"


def session(fires, kept=(), *, plain=1_000, sent=(100, 200, 300), **more):
    """A replay that sent so much, of *plain*; *kept* are (passes, bound) of facts that an action needed."""
    uses = tuple(use(passes, bound=bound, loose=bound) for passes, bound in kept)
    turns = [turn(tokens, shared) for tokens, shared in zip(sent, (0, *sent), strict=False)]
    return made(turns, fires, plain=plain, uses=uses, **more)


def row_of(cells, label="slide", **more):
    return next(row for row in rows(replays.pool(cells, **more)) if row.label == label)


def cells(section, name):
    """The texts of a row by column."""
    return next(dict(zip(section.columns, row, strict=True)) for row in section.rows if row[0] == name)


def test_a_session_is_pooled_over_its_repetitions_and_a_row_is_the_mean_of_its_sessions():
    row = row_of(
        {
            ("a1", "slide", 0): session([fire(1)], [(1, True), (1, False)]),
            ("a1", "slide", 1): session([fire(1), fire(2)], [(1, True), (1, True)], sent=(100, 200, 700)),
            ("b1", "slide", 0): session([], [(1, False)], sent=(50,)),
        }
    )
    assert row.quantity("fires") == Estimate(mean([1.5, 0]), None, 2, 2)
    assert row.quantity("sent").mean == mean([(600 + 1_000) / 2, 50])
    assert row.kept([1]).share.mean == pytest.approx(mean([3 / 4, 0]))
    assert row.kept([1]).uses == 5
    assert row.share("wasted").n == 1
    assert (row.sessions, row.fired) == (2, 1)


def test_savings_are_paired_with_what_the_same_session_would_have_sent():
    fires = [fire(1, model_tokens=50)]
    row = row_of(
        {
            ("a1", "slide"): session(fires, plain=1_200, debts=(Debt(3, 1, 30),)),
            ("b1", "slide"): session([], plain=600),
        }
    )
    assert row.saved("sent").mean == pytest.approx(mean([0.5, 0]))
    assert row.saved("sent", "own_tokens").mean == pytest.approx(mean([1 - 650 / 1_200, 0]))
    assert row.saved("task_tokens").mean == pytest.approx(mean([1 - 680 / 1_200, 0]))


def test_the_drift_is_the_mean_of_later_passes_over_the_first():
    kept = [(1, True), (1, True), (2, True), (2, False), (3, False), (7, False)]
    row = row_of({(f"{story}1", "slide"): session([fire(1)], kept) for story in STORIES})
    assert row.drift().mean == pytest.approx(mean([0.5, 0, 0]) / 1)
    assert row.drift().half == pytest.approx(0, abs=1e-9)
    assert row.kept(range(2, 6)).share.mean == 0.25


@pytest.mark.parametrize("kept", [(), ((1, True),), ((2, True),), ((1, False), (2, False))], ids=str)
def test_where_there_is_no_first_pass_or_no_later_one_there_is_no_drift(kept):
    assert row_of({(f"{story}1", "slide"): session([fire(1)], kept) for story in STORIES}).drift() is None


def test_other_uses_than_actions_and_families_that_chance_refuses_do_not_count():
    told = (use(1), use(1, kind="text", bound=False), use(1, kind="bulk", bound=False))
    pool = replays.pool({("a1", "slide"): made([turn()], [fire(0)], uses=told)})
    (row,) = rows(pool)
    assert row.kept([1]).share.mean == 1
    assert row.kept([1]).uses == 1
    pool.chance = {"number": None}
    pool.admitted = frozenset({"number"})
    assert row.kept([1]).uses == 0


def test_survival_is_that_of_all_lives_and_its_interval_is_over_stories():
    lives = {story: (life(1), life(1, lost=False), life(2), life(3, lost=False)) for story in STORIES}
    row = row_of({(f"{story}1", "slide"): made([turn()], [fire(0)], lives=of) for story, of in lives.items()})
    assert row.lives() == {1: (5, 10), 2: (5, 5), 3: (0, 5)}
    assert row.survival().alive == pytest.approx((3 / 4, 3 / 8, 3 / 8))
    for passes in (1, 2, 3, 9):
        assert row.alive(passes) == Estimate(
            pytest.approx(row.survival().after(passes)), pytest.approx(0, abs=1e-9), 5, 5
        )


@settings(max_examples=25, deadline=None)
@given(st.lists(replays.lives, min_size=1, max_size=20), st.integers(1, 6))
def test_what_is_alive_is_what_the_curve_says(lives, passes):
    row = row_of({("a1", "slide"): made([turn()], lives=tuple(lives))})
    assert row.alive(passes).mean == pytest.approx(row.survival().after(passes))
    assert row.survival() == curve_of(row.lives())


def test_the_main_table_says_what_each_policy_did_kept_and_cost():
    fires = [fire(1, 900, 150, 90), fire(2, 400, 390)]
    replayed = {(f"{story}1", "slide"): session(fires, [(1, True), (2, False)]) for story in STORIES}
    early = made([turn(900)], overflow="message 3 does not fit")
    section = main_table(rows(replays.pool(replayed | {("a1", "none"): early, ("b1", "none"): "ValueError: no"})))
    slide, none = cells(section, "slide"), cells(section, "none")
    assert section.columns == MAIN
    told = {name: slide[name] for name in ("sessions", "finished", "errors", "fired", "fires", "wasted", "thrash")}
    assert told == {"sessions": "5", "finished": "5", "errors": "0", "fired": "5"} | {
        "fires": "2.0±0.0",
        "wasted": ".50±.00",
        "thrash": "1.00±.00",
    }
    assert (slide["kept at 1"], slide["kept at 2+"], slide["drift"]) == ("1.00±.00 (5)", ".00±.00 (5)", ".00±.00")
    assert (slide["sent"], slide["saved"], slide["breaks"]) == ("1±0", ".40±.00", ".00±.00")
    assert (none["sessions"], none["finished"], none["errors"], none["sent"], none["money"]) == (
        "1",
        "0",
        "1",
        "-",
        "-",
    )
    assert "ended early: a1, none: message 3 does not fit" in section.legend
    assert "error: b1, none: ValueError: no" in section.legend
    assert "prices of claude-sonnet-5-5" in section.legend


def test_of_many_sessions_that_ended_early_five_are_named():
    early = made([turn(900)], overflow="too much")
    section = main_table(rows(replays.pool({(f"a{at}", "none"): early for at in range(8)})))
    assert section.legend.count("ended early: a") == 5
    assert "ended early: 3 more." in section.legend


def test_the_share_that_someone_else_told_again_first_is_said():
    section = main_table(rows(replays.pool({("a1", "slide"): made([turn()], uses=(use(),), supplied=3)})))
    assert "75% of the facts that came again behind a fire" in section.legend


def test_windows_and_models_stand_in_the_names_of_rows():
    one = {("a1", "slide"): session([fire(1)])}
    assert main_table(rows(replays.pool(one, model="extractive"))).rows[0][0] == "slide (extractive)"
    pool = replays.pool(one)
    wide = list(replays.pool(one, window="2,000").records)
    pool.groups[next(iter(pool.groups))].extend(wide)
    assert [row.name for row in rows(pool)] == ["slide in 1,000", "slide in 2,000"]


def test_decay_and_cliffs_tell_each_pass_with_its_number():
    kept = [(1, True)] * 3 + [(1, False), (2, True), (2, False), (3, False), (6, True)]
    found = rows(replays.pool({("a1", "slide"): session([fire(1)], kept), ("a1", "none"): session([])}))
    told = cells(decay(found), "slide")
    assert [told[k] for k in ("1", "2", "3", "4", "5+")] == [".75 (4)", ".50 (2)", ".00 (1)", "-", "1.00 (1)"]
    assert (told["loose at 1"], told["loose at 2+"]) == (".75 (4)", ".50 (4)")
    assert len(decay(found).rows) == 1
    assert cells(cliffs(found), "slide") == {"policy": "slide", "path": "3 (.75, 8)"}


def test_a_family_that_never_falls_has_no_cliff_and_one_without_uses_a_dash():
    told = (use(1), use(2), use(2, family="error", bound=False))
    section = cliffs(
        rows(replays.pool({("a1", "one"): made([turn()], uses=told), ("a1", "two"): made([turn()], uses=told[:1])}))
    )
    assert cells(section, "one") == {"policy": "one", "error": "2 (-, 1)", "path": "none (1.00, 2)"}
    assert cells(section, "two")["error"] == "-"


def test_survival_tells_lives_half_lives_and_depth():
    lives = (life(1), life(1), life(1, lost=False), life(3, lost=False), life(2, family="error"))
    found = rows(replays.pool({("a1", "slide"): made([turn()], lives=lives), ("a1", "none"): made([turn()])}))
    told = cells(survival(found), "slide")
    assert [told[name] for name in ("lives", "lost", "alive at 1", "alive at 2", "half-life", "depth")] == [
        "5",
        "3",
        ".60",
        ".30",
        "2",
        "2.0",
    ]
    by_family = cells(survival_by_family(found), "slide")
    assert by_family["error"] == "2 [2, ?] (1.00, 1)"
    assert by_family["path"].endswith("(.50, 4)")
    assert len(survival(found).rows) == len(survival_by_family(found).rows) == 1


def test_triggers_tell_outcomes_as_shares_of_fires_also_of_sessions_without_them():
    found = rows(
        replays.pool(
            {("a1", "slide"): session([fire(1), fire(2, 9, 9)]), ("b1", "slide"): session([fire(1)], sent=(100,) * 10)}
        )
    )
    told = cells(triggers(found), "slide")
    assert told["per 100 turns"] == amount(Estimate(mean([200 / 3, 10]), None, 2, 2))
    assert (told["applied"], told["skipped"], told["failed"]) == (".75", ".25", ".00")


def test_money_tells_each_policy_with_and_without_a_cache():
    turns = [turn(100_000, 0, 100), turn(150_000, 100_000, 100), turn(60_000, 10_000, 100)]
    replay = made(turns, [fire(2, 200_000, 60_000, 10_000)], plain=450_000)
    told = cells(money_table(rows(replays.pool({("a1", "slide"): replay}))), "slide")
    assert told["prices of"] == "claude-sonnet-5-5"
    assert (told["sent"], told["again"], told["reuse"], told["breaks"]) == ("310", "0", ".35", ".50")
    assert told["money"] == f"{0.2 * 2.5 + 0.11 * 0.1 + 0.0003 * 10:.2f}"
    assert told["unbounded"] == f"{0.2 * 2.5 + 0.25 * 0.1 + 0.0003 * 10:.2f}"
    assert told["uncached"] == f"{0.31 * 2 + 0.0003 * 10:.2f}"


def test_every_table_is_there_by_its_name_and_empty_ones_are_left_out():
    kept = [(1, True), (2, False)]
    pool = replays.pool({("a1", "slide"): session([fire(1)], kept, lives=(life(),))})
    assert [section.title for section in tables(pool)] == [table(rows(pool)).title for table in TABLES.values()]
    assert [section.title for section in tables(pool, ("money",))] == ["Cache and money"]
    for section in tables(pool):
        assert all(len(row) == len(section.columns) for row in section.rows)
        assert markdown(section).startswith(f"## {section.title}\n")
    assert tables(replays.pool({})) == []


def test_speed_is_told_in_milliseconds():
    section = speeds({"slide": [(0.001, 500), (0.003, 1_500)], "none": []})
    assert section.rows == [("slide", "2", "1.0", "3.0", "500")]
    assert speed([(0.001, 500), (0.003, 1_500)]).thousands == 500


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (amount(Estimate(12, 3.25, 9, 9)), "12.0±3.2"),
        (thousands(Estimate(900, None, 2, 2)), "1"),
        (thousands(None), "-"),
    ],
)
def test_numbers_are_written_short(text, expected):
    assert text == expected
