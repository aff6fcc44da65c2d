"""The README tells the truth: its table, its commands, its tree."""

import re
from pathlib import Path

import pytest
from rerecord import EXPECTED, TABLE, readme_table

from compactlab.cli import COMMANDS, parser

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_fixtures_give_the_expected_report(fixture_report):
    assert fixture_report.markdown() == EXPECTED.read_text(encoding="utf-8")


def test_the_table_of_the_readme_is_the_one_that_the_fixtures_give(fixture_report):
    assert TABLE.search(README)[0] == readme_table(fixture_report)


def test_every_file_of_the_tree_exists_and_every_file_is_in_the_tree():
    tree = re.search(r"```\ncompactlab/\n(.*?)```", README, re.DOTALL)[1]
    named = {name.rstrip("/") for line in tree.splitlines() if line.startswith("  ") for name in line.split()[:2]}
    there = {p.name for p in (ROOT / "compactlab").iterdir() if p.is_dir() or p.suffix == ".py"}
    missing = {n for n in there if not n.startswith("__")} - named
    assert not missing
    assert {name for name in named if name.endswith(".py")} <= there


@pytest.mark.parametrize("line", re.findall(r"^    compactlab (.*?)(?:\s+#.*)?$", README, re.MULTILINE))
def test_every_command_line_of_the_readme_is_understood(line):
    assert parser().parse_args(line.split()).command in {command.name for command in COMMANDS}
