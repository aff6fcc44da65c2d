"""The page on the settings tells the truth: its example is read whole and holds every key, its tables name all."""

import re
import tomllib
from dataclasses import fields

import pytest
import runs

from compactlab import catalog
from compactlab.settings import DEFAULTS, FALLBACK, Project, load
from compactlab.settings.reading import COMPACTION_KEYS, MEMORY_KEYS, MODEL_KEYS, ROLE_KEYS, TABLES, TYPE_KEYS

PAGE = (runs.CHECKOUT / "docs" / "settings.md").read_text(encoding="utf-8")
EXAMPLES = dict(re.findall(r"<!-- example: (\S+) -->\n```toml\n(.*?)```", PAGE, re.DOTALL))
WHOLE = tomllib.loads(EXAMPLES["compactlab.toml"])
SECTIONS = dict(part.split("\n", 1) for part in PAGE.split("\n## ")[1:])


@pytest.fixture
def project(tmp_path):
    """The page's example, read as a file with its prompts beside it."""
    for name, text in EXAMPLES.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    return load(tmp_path / "compactlab.toml")


def rows(section):
    """The cells of a section's tables, without their heads."""
    lines = [line for line in SECTIONS[section].split("\n") if line.startswith("|")]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return [row for row in cells if re.match(r"`|any other", row[0])]


def keys(section):
    return [row[0].strip("`") for row in rows(section)]


def test_the_example_is_read_and_means_what_its_comments_say(project):
    assert repr(project.policy("primary")) == "microcompact@0.8+summary@0.95"
    assert project.strategy("subconscious") == "sliding_reflect(preserve_recent=4)"
    assert project.strategy("subagent") == "sliding_window(preserve_recent=2)"
    assert project.strategy("my reviewer") == "key_value(kv_target=24, preserve_recent=8)"
    assert [project.window(kind) for kind in ("primary", "subagent")] == [128_000, 64_000]
    assert project.pins("subagent") == ("role:system", "pattern:(?i)never", "index:0")
    assert project.of("primary").llm["model"] == "gpt-5-mini"
    assert "what you would miss" in project.of("primary").prompts.reflect_system
    assert project.role("judge").llm["max_output"] == 512


def test_the_example_holds_every_key_that_there_is(project):
    types = [set(table) for table in project.per_type.values()]
    assert set.union(set(project.compaction), *types) == {*COMPACTION_KEYS, *TYPE_KEYS}
    assert set(WHOLE["llm"]) == set(MODEL_KEYS)
    assert set(WHOLE["memory"]) == set(MEMORY_KEYS) == set(keys("`[memory]`"))
    assert set(WHOLE) == set(TABLES)


def test_every_line_of_the_example_that_sets_a_value_has_a_comment_with_it_or_above():
    lines = EXAMPLES["compactlab.toml"].split("\n")
    for number, line in enumerate(lines):
        table = next(i for i in range(number, -1, -1) if lines[i].startswith("[")) if number else 0
        told = "#" in line or lines[table - 1].startswith("#")
        assert told or not re.match(r"[\w\"]", line), line


def test_the_tables_name_every_key_once_and_no_other():
    of_types = "`[compaction]` and `[compaction.per_type.TYPE]`"
    found = [key for key in keys(of_types) if key not in {*DEFAULTS, "any other"}]
    assert sorted(found) == sorted((*COMPACTION_KEYS, *TYPE_KEYS))
    models = rows("`[llm]`, `[reader]`, `[judge]`")
    assert sorted(row[0].strip("`") for row in models) == sorted(MODEL_KEYS)
    assert {row[0].strip("`") for row in models if row[-1] == "yes"} == set(ROLE_KEYS)


def test_the_defaults_are_those_that_hold():
    told = {row[0].strip("`"): row[1:] for row in rows("`[compaction]` and `[compaction.per_type.TYPE]`")}
    for kind, default in DEFAULTS.items():
        assert told[kind] == [f"`{default['strategy']}`", str(default["preserve_recent"])]
    assert told["any other"] == [f"`{FALLBACK['strategy']}`", "10"]
    marks = ", ".join(f"{mark:.2f}" for mark in Project().marks.values)
    assert told["marks"][1] == marks


@pytest.mark.parametrize("key", ["preserve_recent", "keep_recent", "kv_target"])
def test_the_strategies_that_take_a_parameter_are_named_and_its_default_is_theirs(key):
    row = next(row for row in rows("`[compaction]` and `[compaction.per_type.TYPE]`") if row[0] == f"`{key}`")
    built = [catalog.strategy(name) for name in catalog.names("strategies")]
    taking = [strategy for strategy in built if key in {f.name for f in fields(strategy)}]
    assert taking
    assert {strategy.name for strategy in taking} == set(re.findall(r"`(\w+)`", row[1]))
    assert {str(getattr(strategy, key)) for strategy in taking} == {row[2].removeprefix("by type, else ")}
