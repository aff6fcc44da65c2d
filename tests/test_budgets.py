"""Budgets: every strategy at the same sizes, what misses one is flagged, and the curve is drawn."""

import json

import figures
import pytest
import runs

from compactlab.errors import SpecError
from compactlab.harness import Settings, run
from compactlab.plots import savings
from compactlab.report import Report
from compactlab.report.table import to_markdown
from compactlab.summary import summarise
from compactlab.summary.budgets import budget_tokens

STRATEGIES = ("none", "microcompact", "sliding_window", "ladder(microcompact, sliding_window)")
BUDGETS = (10.0, 30.0)


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    path = runs.FIXTURES / "subagent-etl.jsonl"
    settings = Settings(strategies=STRATEGIES, budgets=BUDGETS, jobs=1)
    return run(path, tmp_path_factory.mktemp("budgets") / "run", settings)


def test_a_strategy_that_takes_a_target_meets_every_budget(results):
    weights = {r.key: r.value for r in results.records if r.metric == "tokens_after" and r.budget and not r.size_of}
    before = {r.key: r.value for r in results.records if r.metric == "tokens_before" and r.budget and not r.size_of}
    met = {key for key in weights if weights[key] <= budget_tokens(key.budget, before[key])}
    assert {key.strategy for key in weights} == set(STRATEGIES) - {"none"}
    assert {key for key in weights if "sliding_window" in key.strategy} <= met
    assert {key.budget for key in weights} == {"10", "30"}


def test_what_cannot_be_met_is_unreachable_and_has_no_place_in_the_ranking(results):
    summary = summarise(results)
    rows = {(row.label, row.budget): row for row in summary.rows}
    assert rows["microcompact", "10"].missed.unreachable == 4
    assert rows["sliding_window", "10"].missed.unreachable == 0
    assert rows["none", ""].missed == (0, 0)
    kept = Report(results).tables(["budgets"])[0]
    assert kept.columns == ("strategy", "10 %", "30 %")
    table = {name: row for name, *row in kept.rows}
    assert table["microcompact"][0] == "-"
    assert table["sliding_window"][0] not in {"-", ""}
    assert "unreachable" in to_markdown(summary)


def test_more_room_keeps_no_less(results):
    kept = {(row.label, row.budget): row.bound.mean for row in summarise(results).rows if row.bound}
    for label in ("sliding_window", "ladder(microcompact, sliding_window)"):
        assert kept[label, "10"] <= kept[label, "30"]


def test_controls_have_the_size_of_their_strategy_at_that_budget(results):
    weights = {r.key: r.value for r in results.records if r.metric == "tokens_after"}
    floor = {key.cut: weight for key, weight in weights.items() if key.strategy == "null"}
    for key, weight in weights.items():
        if key.strategy == "random" and key.size_of == "sliding_window":
            own = next(
                w for k, w in weights.items() if (k.strategy, k.cut, k.budget) == (key.size_of, key.cut, key.budget)
            )
            assert own <= floor[key.cut] or abs(weight / own - 1) <= 0.01


def test_the_figure_joins_the_points_of_a_strategy(results):
    figure = savings.figure(summarise(results))
    assert {"sliding_window", "ladder(microcompact, sliding_window)"} <= set(figures.legend(figure))
    curves = [line for line in figure.axes[0].lines if len(line.get_xdata()) == 2]
    assert len(curves) >= 2


def test_the_command_line_takes_budgets_and_prints_them_side_by_side(tmp_path):
    path = runs.FIXTURES / "subconscious-move.jsonl"
    common = ("--strategies", "none", "sliding_window", "--cut", "0.6", "--jobs", "1")
    done = runs.command("run", path, *common, "--budgets", "50,20", "--out", tmp_path / "run")
    assert done.returncode == 0
    assert "Kept at each budget" in done.stdout
    assert done.stdout.index("20 %") < done.stdout.index("50 %")
    manifest = json.loads((tmp_path / "run" / "manifest.json").read_bytes())
    assert manifest["budgets"] == ["20", "50"]


@pytest.mark.parametrize("budgets", [(0,), (100,), (-5.0,), (20.0, 400.0)])
def test_a_budget_that_is_no_share_is_refused(budgets):
    with pytest.raises(SpecError, match="between 0 and 100"):
        Settings(budgets=budgets)
