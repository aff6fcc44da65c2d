"""compactlab guards itself: the run of the README against the committed baseline, and the suite that made it."""

from functools import cache
from pathlib import Path

import pytest
import runs

from compactlab import harness
from compactlab.gate import gate, read
from compactlab.gate.suite import load

HOME = Path(__file__).parent.parent / "benchmarks"
SUITE = HOME / "suites" / "fixtures.toml"


@cache
def gated():
    return gate(runs.everything().results, read(load(SUITE).baseline))


def test_the_run_of_the_readme_is_no_worse_than_the_committed_baseline():
    found = gated()
    worse = [f"{check.name}: {check.reason}" for check in found.checks if check.verdict == "fail"]
    assert (found.verdict, worse, found.faults) == ("pass", [], ())
    assert {check.exact for check in found.checks} == {True}


def test_the_suite_runs_what_the_readme_runs_and_its_baseline_has_its_rule():
    suite = load(SUITE)
    assert tuple(map(repr, suite.settings.built)) == harness.DEFAULT_STRATEGIES
    assert (suite.settings.cuts, suite.settings.seed) == (harness.Settings().cuts, harness.Settings().seed)
    assert [Path(path).resolve() for path in suite.transcripts] == [runs.FIXTURES.resolve()]
    assert read(suite.baseline).rule == suite.rule


def test_the_baseline_is_small_and_has_one_line_a_case():
    text = (HOME / "baselines" / "fixtures.json").read_text(encoding="utf-8")
    assert len(text.encode()) < 100_000
    assert max(map(len, text.splitlines())) < 600
    sides = read(HOME / "baselines" / "fixtures.json").side
    assert len(sides.found) == 13 * 4 * len(harness.DEFAULT_STRATEGIES)
    assert text.count('"irrecoverable":') >= len(sides.found) / 2


@pytest.mark.parametrize("metric", ["irrecoverable", "bound"])
def test_the_means_of_the_gate_are_those_of_the_table(metric):
    means = {c.strategy: c.new for c in gated().checks if (c.metric, c.agent_type) == (metric, "all")}
    rows = {row.label: getattr(row, metric).mean for row in runs.everything().summary.rows if not row.is_control}
    assert means == pytest.approx(rows)
