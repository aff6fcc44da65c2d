"""The tables behind the main one: each is named on the command line, made for any run, and prints."""

import json

import numpy as np
import pytest
import runs

from compactlab import cli
from compactlab.report import Report
from compactlab.report.fidelity import f1
from compactlab.report.modes import CUTS
from compactlab.report.modes import TABLES as BY_MODE
from compactlab.report.section import markdown

TABLES = [name for name in CUTS if name != "main"]


@pytest.fixture(scope="module")
def report():
    return Report(runs.short().results)


def test_the_command_line_knows_every_table():
    assert set(cli.TABLES) == {name for tables in BY_MODE.values() for name in tables}
    assert len(cli.TABLES) == len(set(cli.TABLES))


@pytest.mark.parametrize("name", TABLES)
def test_a_table_has_as_many_cells_as_columns_and_says_what_its_numbers_mean(report, name):
    for section in report.tables([name]):
        assert section.title
        assert section.legend.endswith((".", "!"))
        assert section.columns[0] in {"strategy", "session"}
        assert {len(row) for row in section.rows} == {len(section.columns)}
        text = markdown(section)
        assert text.startswith(f"## {section.title}\n")
        assert text.count("\n|") == 2 + len(section.rows)


def test_all_tables_stand_on_the_page_in_order(report):
    page = report.markdown()
    titles = [section.title for section in report.tables()]
    assert [line[3:] for line in page.splitlines() if line.startswith("## ")] == titles
    assert len(titles) == len(set(titles)) >= len([name for name in TABLES if report.tables([name])])


def row_of(report, name, strategy):
    [section] = report.tables([name])
    [row] = [row for row in section.rows if row[0] == strategy]
    return dict(zip(section.columns, row, strict=True))


def test_the_untouched_history_keeps_all_rules_and_operations_and_invents_nothing(report):
    rules, trail = (row_of(report, name, "none") for name in ("rules", "artifacts"))
    kinds = {text for name, text in rules.items() if name not in {"strategy", "weakened", "contradicted"}}
    assert kinds <= {"1.00", "-"}
    assert {trail[name] for name in ("recall", "precision", "F1", "last write")} == {"1.00"}
    distortion = row_of(report, "distortion", "none")
    assert (distortion["inverted"], distortion["decoys"]) == ("0", "0")
    assert distortion["stale"] in {".00", "-"}


def test_the_floor_keeps_none_of_them(report):
    rules, trail = (row_of(report, name, "null") for name in ("rules", "artifacts"))
    assert {text for name, text in rules.items() if name != "strategy"} <= {".00", "-"}
    assert {trail[name] for name in ("recall", "last write")} == {".00"}


@pytest.mark.parametrize(
    ("pair", "expected"), [((1, 1), 1), ((1, 0), 0), ((0, 0), 0), ((0.5, 1), 2 / 3), ((np.nan, 1), np.nan)]
)
def test_f1_is_the_harmonic_mean(pair, expected):
    assert f1(*map(np.array, pair)) == pytest.approx(expected, nan_ok=True)


def test_tables_are_printed_by_name_and_given_as_json(report):
    folder = report.results.folder
    done = runs.command("report", folder, "--table", "main", "age", "rules")
    assert done.returncode == 0
    assert [done.stdout.index(title) for title in ("Main", "Age", "Rules, decisions, tasks")] == sorted(
        done.stdout.index(title) for title in ("Main", "Age", "Rules, decisions, tasks")
    )
    given = json.loads(runs.command("report", folder, "--table", "age", "--json").stdout)
    assert [section["title"] for section in given] == ["Age"]
    wrong = runs.command("report", folder, "--table", "ages")
    assert wrong.returncode == 2
    assert "ages" in wrong.stderr


def test_the_sentences_come_first_and_name_both_bars(report):
    assert report.sentences
    text = report.markdown()
    assert text.index(report.sentences[0]) < text.index("bound and loose")
    assert all("bag" in sentence or "nothing to compare" in sentence for sentence in report.sentences)
