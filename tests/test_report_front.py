"""Tables of curves, pairs and sessions, and the sentences that say what beats what."""

import re

import pools
import pytest
import runs
from pools import sweep

from compactlab.report import budgets as of_curves
from compactlab.report import pairs as of_pairs
from compactlab.report import sessions as of_sessions
from compactlab.report.section import interval, markdown
from compactlab.summary.curves import curves
from compactlab.summary.pool import Pool

LOW = (10, 12, 14, 11, 13, 12)
HIGH = (40, 45, 42, 47, 41, 44)
MIDDLE = (20, 50, 28, 30, 24, 36)
WIDE = (0, 90, 5, 80, 10, 60)


def table(section):
    """Give cells by row name and column."""
    return {row[0]: dict(zip(section.columns, row, strict=True)) for row in section.rows}


def named(sections, start):
    return next(section for section in sections if section.title.startswith(start))


def against(name, budget, *, regex=LOW, bag=(0,) * 6):
    rows = sweep("regex_lines", {budget: regex}, size_of=name, after=100) if regex else {}
    rows |= sweep("random", {budget: LOW}, size_of=name, after=100)
    return rows | (sweep("bag", {"": bag}, after=80) if bag else {})


def two(budgets=("10", "20"), **controls):
    rows = {}
    for budget in budgets:
        rows |= sweep("a", {budget: HIGH}, after=100) | sweep("b", {budget: WIDE}, after=100)
        rows |= against("a", budget, **controls) | against("b", budget, **controls)
    return rows


# ---- curves


def test_the_table_of_budgets_flags_what_was_missed_and_names_what_has_no_curve():
    rows = (
        sweep("a", {"10": HIGH, "20": HIGH})
        | sweep("b", {"10": HIGH, "20": HIGH})
        | sweep("c", {"10": HIGH}, after=700)
    )
    rows["a", "0.4", "a", "", "10"] = (300, 90)
    rows["b", "0.4", "a", "", "20"] = (100, 45)
    rows |= {(story, "0.4", "b", "", "20"): (300, 90) for story in "ac"}
    rows |= sweep("random", {"10": LOW, "20": LOW}, size_of="a") | sweep("none", {"": [100] * 6}, after=1_000)
    section = named(of_curves.sections(curves(pools.pool(rows))), "Kept at each budget")
    found = table(section)
    assert section.columns == ("strategy", "10 %", "20 %")
    assert re.fullmatch(r"\.44±\.\d\d\*", found["a"]["10 %"])
    assert found["a"]["20 %"].endswith("*")
    assert re.fullmatch(r"\(\.44\)", found["b"]["20 %"])
    assert found["b"]["10 %"][-1].isdigit()
    assert set(found) == {"a", "b", "random, same sizes"}
    assert "c meets no budget often enough; at its own size it saves 30%±0 and keeps .43±.03" in section.legend
    assert "none: nothing saved" in section.legend


def test_the_table_of_areas_holds_the_numbers_of_the_curves():
    found = curves(pools.pool(sweep("a", {"10": (40,) * 6, "20": (60,) * 6, "30": (90,) * 6})))
    section = named(of_curves.sections(found), "Areas")
    row = table(section)["a"]
    assert row["area"] == ".73±.00"
    assert row["AURC 10-30 %"] == f"{found.curves[0].aurc.mean:.2f}±.00".replace("0.", ".", 1)
    assert [row[column] for column in ("Q@10", "Q@20", "Q@30", "tokens@.9", "behind")] == [
        ".40±.00",
        ".60±.00",
        ".90±.00",
        ".30",
        ".00",
    ]
    assert table(section)["all together"]["area"] == row["area"]


def test_without_budgets_there_is_one_table_of_own_sizes():
    rows = sweep("a", {"": HIGH}, after=100) | sweep("b", {"": LOW}, after=200) | sweep("c", {"": [95] * 6}, after=500)
    [section] = of_curves.sections(curves(pools.pool(rows)))
    found = table(section)
    assert [found[name]["front"] for name in "abc"] == ["yes", "no", "yes"]
    assert (found["a"]["saved"], found["c"]["bound"]) == ("90%±0", ".95±.00")
    assert found["b"]["adds"] == ".000"


def test_where_no_strategy_has_a_curve_there_is_no_table():
    assert of_curves.sections(curves(pools.pool(sweep("none", {"": HIGH}, after=1_000)))) == ()


# ---- pairs


def test_what_beats_both_controls_is_named_and_what_does_not_is_not():
    said = of_pairs.sentences(pools.pool(two()))
    told = "a keeps more than bag; a keeps more than regex_lines of the same size."
    assert said == tuple(f"At {b} % of the weight, of the facts that an action needed: {told}" for b in (10, 20))


def said_of(rows):
    [said] = of_pairs.sentences(pools.pool(rows))
    return said


def test_where_nothing_beats_a_control_the_sentence_says_so():
    said = said_of(two(("10",), regex=HIGH))
    assert "no strategy keeps more than regex_lines of the same size beyond the interval" in said
    assert "a keeps more than bag" in said


def test_all_strategies_and_those_that_keep_less_are_told():
    rows = (
        sweep("a", {"10": HIGH})
        | sweep("b", {"10": LOW})
        | against("a", "10", regex=LOW)
        | against("b", "10", regex=HIGH)
    )
    said = said_of(rows)
    assert "all 2 strategies keep more than bag" in said
    assert "a keeps more than regex_lines of the same size, b less" in said


def test_what_would_stand_without_the_correction_alone_is_told_as_that():
    rows = {}
    for i in range(5):
        rows |= sweep(f"s{i}", {"10": MIDDLE if i == 0 else WIDE}) | against(
            f"s{i}", "10", regex=(8, 45, 20, 28, 22, 26)
        )
    said = said_of(rows)
    assert "no strategy keeps more than regex_lines of the same size beyond the interval once 5 comparisons" in said
    assert "(s0 (+.06±.04) would, taken alone)" in said


def test_without_budgets_it_speaks_of_own_sizes():
    rows = {(*key[:4], ""): cell for key, cell in two(("10",)).items()}
    assert said_of(rows).startswith(
        "At each strategy's own size, of the facts that an action needed: a keeps more than bag"
    )


@pytest.mark.parametrize(
    ("controls", "part"),
    [
        ({"regex": None}, "there is no regex_lines to hold them against"),
        ({"bag": None}, "there is no bag to hold them"),
    ],
)
def test_a_missing_control_is_said_to_be_missing(controls, part):
    assert part in said_of(two(("10",), **controls))


@pytest.mark.parametrize(("stories", "part"), [("a", "1 story is too few"), ("abcd", "4 stories are too few")])
def test_few_stories_are_said_to_be_too_few(stories, part):
    said = said_of({key: cell for key, cell in two(("10",)).items() if key[0] in stories})
    assert f"{part} to say what beats bag" in said
    assert f"{part} to say what beats regex_lines" in said


@pytest.mark.parametrize(
    ("rows", "part"),
    [
        (sweep("a", {"10": HIGH}, after=500), "met the budget in three quarters of the cells"),
        (sweep("none", {"": HIGH}, after=1_000), "no strategy saves anything"),
        (sweep("a", {"": HIGH}, after=1_000), "no strategy saves anything"),
    ],
)
def test_a_run_with_nothing_to_compare_says_so(rows, part):
    assert "there is nothing to compare" in said_of(rows)
    assert part in said_of(rows)
    assert of_pairs.sections(pools.pool(rows)) == ()


@pytest.mark.parametrize(
    ("budgets", "expected"),
    [
        ((), ("",)),
        (("5", "10", "20", "30"), ("10", "20")),
        (("50", "20"), ("20",)),
        (("7.5",), ("7.5",)),
        (("60", "9", "40"), ("9", "40")),
    ],
)
def test_ten_and_twenty_are_told_or_else_the_two_smallest(budgets, expected):
    assert of_pairs.told(budgets) == expected
    rows = {}
    for budget in budgets or ("",):
        rows |= sweep("a", {budget: HIGH}, after=50)
    assert len(of_pairs.sentences(pools.pool(rows))) == len(expected)


def test_the_tables_of_pairs_hold_differences_and_verdicts():
    sections = of_pairs.sections(pools.pool(two()))
    assert [s.title for s in sections] == [
        f"{title}, at {budget} %"
        for budget in ("10", "20")
        for title in ("Over the controls", "What separates from what")
    ]
    over = table(sections[0])
    assert over["a"]["bag"] == "+.43±.03 better"
    assert over["b"]["random"].endswith("inconclusive")
    [pair] = sections[1].rows
    assert pair[:2] == ("a", "b")
    assert pair[3:5] == ("+.00±.00", "6")
    assert pair[-1] == "inconclusive"


# ---- sessions


def test_each_session_is_a_row_and_each_strategy_a_column():
    rows = (
        sweep("none", {"": [100] * 6}, after=1_000)
        | sweep("a", {"20": HIGH})
        | sweep("idle", {"20": HIGH}, after=1_000)
    )
    rows["a", "0.7", "a", "", "20"] = (300, 90)
    rows["b", "0.4", "a", "", "20"] = (300, 90)
    rows["c2", "0.4", "a", "", "20"] = (200, 33, 50)
    [section] = of_sessions.sections(pools.pool(rows))
    assert section.title == "Each session, at 20 %"
    assert section.columns == ("session", "n", "none", "a")
    assert section.rows == [
        ("a", "200", "1.00*", ".40*"),
        ("b", "100", "1.00", "-"),
        ("c", "100", "1.00", ".42"),
        ("c2", "50", "-", ".66"),
        ("d", "100", "1.00", ".47"),
        ("e", "100", "1.00", ".41"),
        ("f", "100", "1.00", ".44"),
        ("mean of all", "750", "1.00±.00*", ".47±.09*"),
    ]


def test_of_many_sessions_those_that_needed_most_are_shown():
    many = of_sessions.SHOWN + 3
    rows = {(f"s{i:02}", "0.4", "a", "", ""): (100, 5, 10 + i) for i in range(many)}
    [section] = of_sessions.sections(pools.pool(rows))
    assert [row[0] for row in section.rows] == [*(f"s{i:02}" for i in range(3, many)), "mean of all"]
    assert f"Of {many} sessions, the {of_sessions.SHOWN} that needed most" in section.legend


def test_sessions_that_needed_nothing_make_no_table():
    assert of_sessions.sections(pools.pool({("a", "0.4", "a", "", ""): (100, 0, 0)})) == ()


# ---- recorded sessions


def every(pool):
    return (*of_curves.sections(curves(pool)), *of_pairs.sections(pool), *of_sessions.sections(pool))


def test_the_tables_of_recorded_sessions_are_whole():
    for results in (runs.whole().results, runs.short().results):
        sections = every(Pool(results))
        assert len(sections) == 4
        for section in sections:
            assert section.rows
            assert {len(row) for row in section.rows} == {len(section.columns)}
            assert "nan" not in markdown(section)
    [said] = of_pairs.sentences(Pool(runs.whole().results))
    assert "all 2 strategies keep more than bag" in said


def test_the_table_of_sessions_has_the_means_of_the_summary():
    run = runs.whole()
    [section] = of_sessions.sections(Pool(run.results))
    last = dict(zip(section.columns, section.rows[-1], strict=True))
    for row in run.summary.rows:
        if not row.is_control:
            assert last[row.label] == interval(row.bound)
    assert last["n"] == str(run.summary.needed)
    assert len(section.rows) == 14
