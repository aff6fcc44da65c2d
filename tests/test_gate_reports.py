"""Reported faults of gates, as cases: noise, limits by feel, errors that vanish, one bad case among good ones (K30)."""

import shutil
from dataclasses import replace

import gates
import msgspec
import pytest
from reports import row, rows

from compactlab.cli import main
from compactlab.gate import Options, gate, save
from compactlab.gate.rule import paired, verdict
from compactlab.results import Results

DRAWS = "gates:Draws"
WORSE = ("none", "microcompact", "sliding_window(preserve_recent=9)")
MANY = {"of_each": 3, "replicates": 8}


def primary(found, strategy=DRAWS):
    [check] = [c for c in found.checks if (c.strategy, c.agent_type, c.metric) == (strategy, "all", "bound")]
    return check


@row("K30-D1")
def test_scores_around_a_limit_are_no_verdict_until_the_replicates_tell():
    limit, scores = 0.6, [0.62, 0.58, 0.61]
    assert verdict(paired({"one": [score - limit for score in scores]}), 0.01) == "inconclusive"
    assert verdict(paired({"one": [score - limit for score in scores]}), 0.2) == "pass"
    assert verdict(paired({"one": [score - limit - 0.2 for score in scores]}), 0.1) == "fail"


DRAWN = {
    "K30-D2 unchanged": (DRAWS, 8, "inconclusive pass"),
    "K30-D2 worse": ("gates:Draws(keep=0.1)", 8, "fail"),
    "K30-D2 one replicate": (DRAWS, 1, "inconclusive"),
}


@rows(("strategy", "replicates", "expected"), DRAWN)
def test_the_limit_comes_from_the_measured_spread_of_the_replicates(strategy, replicates, expected):
    settings = {"of_each": 3, "replicates": replicates}
    found = primary(
        gate(gates.made("none", strategy, seed=1, **settings), gates.baseline("none", DRAWS, **MANY)), strategy
    )
    assert found.verdict in expected.split()
    assert (found.exact, found.lost) == (False, ())
    if replicates > 1:
        assert found.low < found.difference < found.high
    else:
        assert (found.low, "one replicate has no interval" in found.reason) == (None, True)


@row("K30-D2 the same seeds")
def test_the_same_seeds_give_the_same_draws_and_no_difference_at_all():
    found = primary(gate(gates.made("none", DRAWS, **MANY), gates.baseline("none", DRAWS, **MANY)))
    assert (found.verdict, found.difference, found.low, found.high) == ("pass", 0, 0, 0)


@row("K30-D3")
def test_cases_that_errored_turn_the_gate_red_though_all_others_keep_everything():
    broken = "gates:Breaks(word='Parcel', keep=40)"
    found = gate(gates.made("none", broken), gates.baseline("none", "gates:Breaks(keep=40)"))
    assert {check.verdict for check in found.checks if check.agent_type in {"all", "warden"}} == {"pass"}
    assert len(found.faults) == 5
    assert (found.verdict, found.exit_code) == ("fail", 1)


@row("K30-D4")
def test_a_session_that_loses_all_does_not_hide_behind_those_that_gain():
    made = gates.baseline()
    side = dict(made.side.found)
    [worst] = [case for case in side if (case.session, case.row) == ("courier-0", "sliding_window")]
    for case, (old,) in made.side.found.items():  # all other sessions kept nothing in the baseline
        if case.row == "sliding_window" and case != worst:
            none = {name: (0.0, n) for name, (_, n) in old.shares.items()}
            side[case] = (msgspec.structs.replace(old, shares=none, bound=(), loose=()),)
    run = gates.made("none", "microcompact", "sliding_window(preserve_recent=3)")
    rule = msgspec.structs.replace(made.rule, metrics=("bound",), margins={}, tolerances={})
    found = gate(run, made._replace(side=made.side._replace(found=side), rule=rule))
    check = primary(found, "sliding_window(preserve_recent=3)")
    assert (check.difference > 0, check.verdict) == (True, "fail")
    assert check.reason.endswith("more than 0.05 fell in courier-0")
    wide = gate(run, made._replace(side=made.side._replace(found=side), rule=rule), Options(margin=0.999))
    told = primary(wide, "sliding_window(preserve_recent=3)")
    assert (told.verdict, "which is let pass" in told.warning, len(told.lost) > 0) == ("pass", True, True)


@row("K30-D5")
def test_a_run_that_measured_ended_well_and_the_gate_decides_with_its_own_codes(tmp_path, capsys):
    out, base = gates.made(*WORSE).folder, tmp_path / "base.json"
    save(gates.baseline(), base)
    assert main(["gate", str(out), "--baseline", str(base)]) == 1
    save(gates.baseline(*WORSE), base)
    assert main(["gate", str(out), "--baseline", str(base)]) == 0
    assert main(["gate", str(out), "--baseline", str(tmp_path / "none.json")]) == 2
    assert "FAIL (exit 1)" in capsys.readouterr().out


KIN = {
    "K30-D6 kin": ("gpt-5-mini", "o3", True),
    "K30-D6 itself": ("gpt-5-mini", "gpt-5-mini", True),
    "K30-D6 alien": ("gpt-5-mini", "claude-opus-4-1", False),
}


@rows(("reader", "judge", "warned"), KIN)
def test_a_judge_of_the_family_that_it_judges_is_told_of_in_the_gate(tmp_path, reader, judge, warned):
    shutil.copytree(gates.made().folder, tmp_path / "run")
    manifest = Results(tmp_path / "run").manifest
    asked = msgspec.structs.replace(manifest, reader=reader, judge=judge)
    (tmp_path / "run" / "manifest.json").write_bytes(msgspec.json.encode(asked))
    made = gates.baseline()
    found = gate(Results(tmp_path / "run"), made._replace(of={**made.of, "reader": reader, "judge": judge}))
    assert any(judge in note and "answers the probes" in note for note in found.notes) is warned


def test_options_are_a_value():
    assert replace(Options(margin=0.1), margin=None) == Options()


@pytest.mark.parametrize("strategy", [DRAWS, "ladder(cull, gates:Draws)"])
def test_what_draws_is_repeated_each_time_by_another_seed_and_again_the_same(strategy):
    made = gates.made("none", strategy, of_each=1, replicates=3)
    left = {
        (r.session, r.replicate): r.value for r in made.records if r.strategy == strategy and r.metric == "tokens_after"
    }
    assert len(left) == 2 * 3
    assert len(set(left.values())) > 4
    again = gates.made("none", strategy, of_each=1, replicates=3, seed=0)
    assert [r for r in again.records if not r.size_of] == [r for r in made.records if not r.size_of]
    other = gates.made("none", strategy, of_each=1, replicates=3, seed=1)
    assert {r.value for r in other.records if r.metric == "tokens_after"} != set(left.values())
