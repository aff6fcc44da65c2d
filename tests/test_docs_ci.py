"""The page on the gate tells the truth: its workflow runs, its tables name every key, fault, metric and exit code."""

import os
import re
import subprocess
import sys
import tomllib
from typing import get_args, get_type_hints

import pytest
import runs
import yaml

from compactlab import testing
from compactlab.cli import parser
from compactlab.gate.measures import MEASURES
from compactlab.gate.outcome import EXIT_CODES, Fault
from compactlab.gate.rule import paired
from compactlab.gate.suite import KEYS, load

PAGE = (runs.CHECKOUT / "docs" / "ci.md").read_text(encoding="utf-8")
EXAMPLES = dict(re.findall(r"<!-- example: (\S+) -->\n```\w+\n(.*?)```", PAGE, re.DOTALL))
CHEAPER = {
    "jobs = 2": "jobs = 1",
    "cuts = [0.4, 0.55, 0.7, 0.85]": "cuts = [0.6]",
    '"constraints", ': "",
    '["microcompact", "sliding_window(preserve_recent=20)", "summary"]': '["sliding_window"]',
}
"""What makes the suite of the page one that short sessions can decide in seconds."""
SESSIONS = ("primary-garden", "primary-move", "subagent-etl", "subagent-orders", "subconscious-boatyard")
SECTIONS = dict(part.split("\n", 1) for part in PAGE.split("\n## ")[1:])
COMMANDS = re.findall(r"^    (compactlab .*)$", PAGE, re.MULTILINE)


def suite_of_the_page():
    suite = EXAMPLES["transcripts.toml"]
    for old, new in CHEAPER.items():
        assert old in suite
        suite = suite.replace(old, new)
    return suite


def cells(section, first):
    """The rows of that table of a section whose head begins with *first*, as lists of cells."""
    tables = [table.strip().split("\n") for table in re.findall(r"((?:^\|.*\n)+)", SECTIONS[section], re.MULTILINE)]
    (table,) = [table for table in tables if table[0].startswith(f"| {first}")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table[2:]]


def names(section, first):
    return [name for row in cells(section, first) for name in re.findall(r"`([^`]+)`", row[0])]


def test_every_key_of_a_suite_is_in_a_table_and_in_an_example():
    for table in ("run", "gate"):
        assert sorted(names("The suite file", f"key of `[{table}]`")) == sorted(KEYS[table])
    written = "".join(EXAMPLES[name] for name in ("transcripts.toml", "replay.toml"))
    for keys in KEYS.values():
        for key in keys:
            assert re.search(rf"^(# )?{key} = |^\[(gate\.)?{key}\]$", written, re.MULTILINE), key


@pytest.mark.parametrize("name", ["transcripts.toml", "replay.toml"])
def test_an_example_of_a_suite_is_read_also_with_each_line_that_is_commented_out(tmp_path, name):
    (tmp_path / "compactlab.toml").write_text("", encoding="utf-8")
    folder = tmp_path / "benchmarks" / "suites"
    folder.mkdir(parents=True)
    suite = folder / name
    suite.write_text(EXAMPLES[name], encoding="utf-8")
    assert load(suite).name == name.removesuffix(".toml")
    for line in re.findall(r"^# (\S+ = .*)$", EXAMPLES[name], re.MULTILINE):
        setting = re.sub(r"( =.*?[\]\"])\s+[a-z].*", r"\1", line)
        whole = EXAMPLES[name].replace(f"# {line}", setting)
        assert tomllib.loads(whole) != tomllib.loads(EXAMPLES[name])
        suite.write_text(whole, encoding="utf-8")
        load(suite)


def test_the_metrics_the_faults_and_the_exit_codes_are_those_there_are():
    assert names("The suite file", "metric") == list(MEASURES)
    kinds = get_args(get_type_hints(Fault)["kind"])
    assert sorted(names("What the three verdicts mean", "fault")) == sorted(kinds)
    codes = {int(row[0]): row[1] for row in cells("Exit codes", "code")}
    assert sorted(codes) == sorted((*EXIT_CODES.values(), 2))
    for verdict, code in EXIT_CODES.items():
        assert codes[code].startswith(verdict)


def test_what_replicates_can_see_is_what_the_rule_gives():
    for row in cells("What the margin can see", "replicates"):
        count, width = int(row[0]), float(row[1])
        spread = [0.03 * ((count - 1) / count) ** 0.5 * (-1) ** i for i in range(count - count % 2)]
        spread += [0.0] * (count % 2)
        scale = 0.03 / (sum(x * x for x in spread) / (count - 1)) ** 0.5
        found = paired({"one": [scale * x for x in spread]})
        assert (found.high - found.low) / 2 == pytest.approx(width, abs=0.0006)


@pytest.mark.parametrize("line", [*COMMANDS, *re.findall(r"(compactlab gate [^`\n]*)`", PAGE)])
def test_every_command_line_is_understood(line):
    assert parser().parse_args(line.split()[1:]).command


def test_the_names_that_tests_import_are_there_and_the_code_is_python():
    (code,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    compile(code, "docs/ci.md", "exec")
    imported = re.search(r"from compactlab.testing import (.*)", code)[1].split(", ")
    assert {*imported} <= {*testing.__all__}


# ---- the workflow, as it stands there


def shell_lines(job):
    """What a job does: the command lines of its steps, GitHub's or GitLab's."""
    steps = job.get("script") or [step["run"] for step in job["steps"] if "run" in step]
    return [step for step in steps if step.startswith("compactlab ")]


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """A project as the page describes it: five short sessions, a suite, the baseline that the page makes of it."""
    folder = tmp_path_factory.mktemp("project")
    (folder / "tests" / "transcripts").mkdir(parents=True)
    (folder / "benchmarks" / "suites").mkdir(parents=True)
    for name in SESSIONS:
        runs.shortened(name, folder / "tests" / "transcripts", messages=60)
    (folder / "benchmarks" / "suites" / "transcripts.toml").write_text(suite_of_the_page(), encoding="utf-8")
    (renewing,) = [line for line in COMMANDS if line.endswith("--update-baseline")]
    done = shell(renewing, folder)
    assert done.returncode == 0, done.stderr
    assert (folder / "benchmarks" / "baselines" / "transcripts.json").exists()
    return folder


def shell(line, folder, **environment):
    words = line.split()
    assert words[0] == "compactlab"
    return subprocess.run(
        [sys.executable, "-m", *words],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(runs.CHECKOUT), **environment},
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )


def test_the_workflow_of_github_holds_the_suite_against_its_baseline(project, tmp_path):
    workflow = yaml.safe_load(EXAMPLES["compaction.yml"])
    assert workflow.keys() == {"name", True, "permissions", "jobs"}  # YAML 1.1 reads the key `on` as true
    (line,) = shell_lines(workflow["jobs"]["gate"])
    summary = tmp_path / "summary.md"
    done = shell(line, project, GITHUB_ACTIONS="true", GITHUB_STEP_SUMMARY=str(summary))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "\n::notice title=compactlab gate::No worse than the baseline" in done.stdout
    assert summary.read_text(encoding="utf-8") == (project / "gate.md").read_text(encoding="utf-8") + "\n"
    kept = [path for step in workflow["jobs"]["gate"]["steps"] for path in step.get("with", {}).get("path", "").split()]
    assert kept == ["gate.xml", "gate.md", "runs/"]
    assert all((project / path).exists() for path in kept)


def test_the_job_of_gitlab_writes_the_report_that_it_names_and_is_red_where_something_is_lost(project):
    job = yaml.safe_load(EXAMPLES[".gitlab-ci.yml"])["compaction"]
    (line,) = shell_lines(job)
    suite = project / "benchmarks" / "suites" / "transcripts.toml"
    plain = suite.read_text(encoding="utf-8")
    suite.write_text(plain.replace('"sliding_window"', '"sliding_window(preserve_recent=4)"'), encoding="utf-8")
    done = shell(line, project)
    suite.write_text(plain, encoding="utf-8")
    assert done.returncode == 1, done.stdout + done.stderr
    assert "::error" not in done.stdout
    assert "<failure " in (project / job["artifacts"]["reports"]["junit"]).read_text(encoding="utf-8")
    assert "- lost: " in (project / job["artifacts"]["paths"][0]).read_text(encoding="utf-8")
