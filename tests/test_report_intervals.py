"""Every mean in every table carries n and an interval, or the legend says why not; and no terminal cuts a number."""

import re

import pytest
import runs
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from compactlab.report import Report, terminal
from compactlab.report.modes import CUTS
from compactlab.report.section import Section, percent, sample
from compactlab.report.table import main_table
from compactlab.stats import Estimate

WITH = re.compile(r"[+-]?\d*\.\d\d±\d*\.\d\d\*?( \w+)?|-?\d+(\.\d)?%±\d+(\.\d)?")
"""A mean with half its interval, and the verdict on it."""
ALONE = re.compile(r"[+-]?\d*\.\d+|\d+(\.\d)?%")
"""A mean with nothing beside it."""

NO_INTERVAL = {
    "tokens@.9": "read off the means and so without an interval",
    "p": "p: clustered t",
    "Holm": "Holm: the same, corrected",
    "flips": "flips: sign-flip permutation",
    "equal": "equal: the two one-sided tests",
    "d_z": "d_z: the mean difference over the sessions' standard deviation",
}
"""Columns of numbers that are no means over sessions, and the words of the legend that say what they are."""


@pytest.fixture(scope="module")
def report():
    return Report(runs.whole().results)


def few(section, column):
    """True of a column whose means come from under five stories, as the legend says."""
    return re.search(rf"\b{re.escape(column)}( turns)?(, [^:;]*)?: [\d-]+ of [1-4]\b", section.legend) is not None


def last_of(section):
    """Give the table of sessions its last row, their mean; each other row is a single session, as the legend says."""
    if section.columns[0] != "session":
        return section
    assert "A single session has no interval" in section.legend
    return section._replace(rows=section.rows[-1:])


def columns(section):
    return [(name, [row[i] for row in section.rows]) for i, name in enumerate(section.columns)]


@pytest.mark.parametrize("name", [name for name in CUTS if name != "main"])
def test_every_mean_carries_an_interval_or_the_legend_says_why_not(report, name):
    for section in report.tables([name]):
        for column, texts in columns(last_of(section))[1:]:
            bare = [text for text in texts if ALONE.fullmatch(text)]
            if section.title == "How the sessions lie":
                assert "single sessions, no means" in section.legend
            elif column in NO_INTERVAL:
                assert NO_INTERVAL[column] in section.legend
            elif few(section, column):
                assert "under five stories: none" in section.legend
            else:
                assert [text for text in bare if text not in {".00", ".000"}] == [], (section.title, column)


def test_the_main_table_has_intervals_in_all_columns_but_those_that_its_legend_names(report):
    section = main_table(report.summary)
    bare = {column for column, texts in columns(section)[1:] if any(ALONE.fullmatch(text) for text in texts)}
    assert bare == set()
    counted = {name for name, texts in columns(section)[1:] if not any(WITH.fullmatch(text) for text in texts)}
    assert counted == {"before", "after", "valid", "outcomes", "errors"}
    assert "without an interval: before and after" in section.legend
    assert all(name in section.legend for name in counted)


@pytest.mark.parametrize("name", CUTS)
def test_every_table_says_over_how_many_sessions_and_stories(report, name):
    for section in [main_table(report.summary)] if name == "main" else report.tables([name]):
        assert re.search(r"n = \d+ sessions? of \d+ stor(y|ies)|mean of all: over \d+ sessions", section.legend)


@pytest.mark.parametrize("width", [60, 80, 120, 200])
@pytest.mark.parametrize("name", CUTS)
def test_no_terminal_cuts_a_number(report, name, width):
    for section in [main_table(report.summary)] if name == "main" else report.tables([name]):
        console = Console(width=width, no_color=True)
        with console.capture() as capture:
            for table in terminal.tables(section, width):
                console.print(table)
        text = capture.get()
        assert "…" not in text
        assert max(map(len, text.splitlines())) <= width
        words = {section.columns[0], *section.words}
        numbers = {cell for column, cells in columns(section) if column not in words for cell in cells}
        assert [cell for cell in numbers if cell not in text] == []


def test_parts_of_a_table_are_about_as_wide_as_each_other():
    section = Section("wide", ("strategy", *(f"c{i}" for i in range(9))), [("none", *["1.00±.00"] * 9)], ".")
    assert [len(part.columns) for part in terminal.tables(section, 104)] == [10]
    assert [len(part.columns) for part in terminal.tables(section, 95)] == [6, 5]


def test_one_screen_of_several_tables_is_signed_once(report):
    done = runs.command("report", report.results.folder, "--table", "rules", "age", "miners")
    assert done.returncode == 0
    flat = " ".join(done.stdout.split())
    assert flat.count("compactlab 0.1.0 · scorer") == 1
    assert flat.index("A second miner") < flat.index("compactlab 0.1.0 · scorer")


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        ({}, "n = 0."),
        ({"a": [None]}, "n = 0."),
        ({"a": [Estimate(0.1, None, 1, 1)]}, "n = 1 session of 1 story."),
        (
            {"a": [Estimate(0.1, 0.1, 9, 7), Estimate(0.1, 0.1, 8, 6)], "b": [Estimate(0.1, 0.1, 9, 7)]},
            "n = 9 sessions of 7 stories; a: 8-9 of 6-7.",
        ),
        (
            {name: [Estimate(0.1, 0.1, n, 5)] * (3 if n == 9 else 1) for name, n in (("a", 9), ("b", 6), ("c", 6))},
            "n = 9 sessions of 5 stories; b, c: 6 of 5.",
        ),
    ],
)
def test_n_is_said_once_and_for_the_columns_that_differ(columns, expected):
    assert sample(columns) == expected


@given(st.floats(0, 1), st.floats(0, 0.5))
def test_a_percentage_is_the_share_to_the_nearest_point(mean, half):
    text = percent(Estimate(mean, half, 9, 9))
    shown, reach = re.fullmatch(r"(\d+)%±(\d+)", text).groups()
    assert abs(int(shown) - 100 * mean) <= 0.5000001
    assert abs(int(reach) - 100 * half) <= 0.5000001
