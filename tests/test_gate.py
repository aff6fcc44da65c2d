"""Unchanged passes, worse by one keep count fails by name, better says so; errors and few sessions never pass."""

import shutil

import gates
import pytest

from compactlab.errors import RunError
from compactlab.gate import EXIT_CODES, Options, accepted, gate, read, save
from compactlab.gate.baseline import encoded
from compactlab.gate.twice import twice
from compactlab.harness import Settings, run

WORSE = ("none", "microcompact", "sliding_window(preserve_recent=9)")
BREAKS = "gates:Breaks(word='Parcel')"


def checks(gated, strategy, agent_type="all"):
    """The checks of a strategy, by metric."""
    return {c.metric: c for c in gated.checks if c.strategy == strategy and c.agent_type == agent_type}


def test_an_unchanged_run_passes_and_every_difference_is_nought():
    found = gate(gates.made(), gates.baseline())
    assert (found.verdict, found.exit_code, found.faults) == ("pass", 0, ())
    assert {(c.verdict, c.difference, c.low, c.high, c.reason, c.warning) for c in found.checks} == {
        ("pass", 0, 0, 0, "unchanged", "")
    }
    assert len(found.checks) == len(gates.STRATEGIES) * 3 * 3
    assert "all came out the same" in found.notes[0]


def test_one_keep_count_less_fails_and_each_lost_fact_is_named_with_its_places():
    found = gate(gates.made(*WORSE), gates.baseline())
    assert (found.verdict, found.exit_code) == ("fail", 1)
    whole, couriers = (checks(found, WORSE[2], kind)["irrecoverable"] for kind in ("all", "courier"))
    assert (whole.verdict, whole.base, whole.new, whole.exact) == ("fail", 1.0, 0.5, True)
    assert (couriers.verdict, couriers.lost) == ("pass", ())
    assert whole.reason.startswith("worse: 5 facts fewer; none may be lost")
    assert [(fact.session, fact.cut, fact.regain) for fact in whole.lost] == [
        (f"warden-{n}", "0.6", "irrecoverable") for n in range(5)
    ]
    for fact in whole.lost:
        assert fact.value in fact.home_text
        assert fact.value in fact.used_text
        assert (fact.home, "cabinet key is" in fact.home_text, "cabinet_key" in fact.used_text) == (2, True, True)
        assert fact.used > fact.home
    assert {c.verdict for name in WORSE[:2] for c in checks(found, name).values()} == {"pass"}


def test_one_keep_count_more_passes_and_says_what_was_gained():
    found = gate(gates.made(), gates.baseline(*WORSE))
    better = checks(found, "sliding_window")["irrecoverable"]
    assert (found.verdict, better.verdict, better.reason) == ("pass", "pass", "better: 5 facts more")
    assert len(better.gained) == 5
    assert better.lost == ()
    assert "sliding_window is held against the baseline's sliding_window(preserve_recent=9)" in found.notes


def test_what_saves_less_within_the_margin_passes_with_a_warning():
    found = gate(gates.made(), gates.baseline(*WORSE))
    saved = checks(found, "sliding_window")["saved"]
    assert (saved.verdict, saved.difference < 0) == ("pass", True)
    assert "which is let pass" in saved.warning
    strict = gate(gates.made(), gates.baseline(*WORSE), Options(margin=0.001))
    assert checks(strict, "sliding_window")["saved"].verdict == "fail"
    assert any("margin 0.001 by the command line" in note for note in strict.notes)


def test_a_case_that_errored_fails_whatever_else_is_well():
    found = gate(gates.made("none", BREAKS), gates.baseline("none", "gates:Breaks"))
    assert found.verdict == "fail"
    assert {(fault.kind, fault.strategy) for fault in found.faults} == {("error", BREAKS)}
    assert {fault.session for fault in found.faults} == {f"courier-{n}" for n in range(5)}
    assert "it broke" in found.faults[0].reason


def test_no_baseline_is_made_of_a_run_with_errors():
    with pytest.raises(RunError, match=r"no baseline is made of a run with faults: gates:Breaks.*courier-0.*it broke"):
        accepted(gates.made("none", BREAKS), gates.RULE)


@pytest.mark.parametrize("strategy", ["sliding_window", "sliding_window(preserve_recent=3)"])
def test_two_sessions_are_no_verdict_and_their_facts_are_named_all_the_same(strategy):
    found = gate(gates.made("none", strategy, of_each=1), gates.baseline("none", "sliding_window", of_each=1))
    assert (found.verdict, found.exit_code) == ("inconclusive", EXIT_CODES["inconclusive"])
    whole = checks(found, strategy)["irrecoverable"]
    assert (whole.verdict, whole.stories, "a verdict takes 5" in whole.reason) == ("inconclusive", 2, True)
    assert bool(whole.lost) == (strategy != "sliding_window")


def test_a_type_with_few_stories_is_told_of_and_does_not_decide():
    few = gate(gates.made("none", "sliding_window", of_each=3), gates.baseline("none", "sliding_window", of_each=3))
    assert few.verdict == "pass"
    assert {(c.agent_type, c.verdict, c.decides) for c in few.checks} == {
        ("all", "pass", True),
        ("courier", "inconclusive", False),
        ("warden", "inconclusive", False),
    }


def test_facts_that_may_be_lost_are_let_pass_up_to_the_tolerance_and_the_margin_holds_still():
    lenient = gates.baseline(rule="lenient")
    found = gate(gates.made(*WORSE), lenient)
    one = checks(found, WORSE[2])["irrecoverable"]
    assert (one.verdict, "none may be lost" in one.reason, "fell by 0.500" in one.reason) == ("fail", False, True)
    wide = gate(gates.made(*WORSE), lenient, Options(margin=0.9999))
    assert checks(wide, WORSE[2])["irrecoverable"].verdict == "fail"  # of five sessions each lost all that it had


def test_what_is_called_deterministic_and_is_not_is_a_fault():
    made = gates.made("none", "gates:Wavers")
    with pytest.raises(RunError, match="determinism, made a second time"):
        accepted(made, gates.RULE)
    found = twice(made, lambda _: False)
    assert {fault.kind for fault in found.faults} == {"determinism"}
    assert {fault.strategy for fault in found.faults} == {"gates:Wavers"}
    assert (len(found.faults), found.cases, found.unchecked) == (10, 20, "")


def test_a_run_whose_sessions_are_gone_is_not_taken_for_one_that_was_made_twice(tmp_path):
    home = tmp_path / "sessions"
    shutil.copytree(gates.sessions(), home)
    made = run(home, tmp_path / "run", Settings(strategies=gates.STRATEGIES, cuts=gates.CUT, counter="chars/4", jobs=1))
    assert gate(made, gates.baseline()).verdict == "pass"
    shutil.rmtree(home)
    found = gate(made, gates.baseline())
    assert found.verdict == "inconclusive"
    assert "no compaction could be made a second time" in found.notes[0]


def test_a_baseline_reads_back_as_it_was_and_has_a_line_a_case(tmp_path):
    made = gates.baseline()
    path = tmp_path / "deep" / "one.json"
    save(made, path)
    again = read(path)
    assert (again.side, again.rule, again.of, again.origin) == (made.side, made.rule, made.of, made.origin)
    assert encoded(again) == path.read_text(encoding="utf-8")
    lines = path.read_text(encoding="utf-8").splitlines()
    assert sum('"sliding_window"' in line for line in lines if "bound facts" in line) == 10
    assert gate(gates.made(), again).verdict == "pass"


def test_replays_and_budgets_are_judged_too():
    replay = {"mode": "replay", "window": 4_000, "cuts": (0.4,), "of_each": 3}
    short = ("none", "sliding_window(preserve_recent=4)")
    kept = gate(gates.made(*short, **replay), gates.baseline(*short, **replay))
    assert kept.verdict == "pass"
    assert checks(kept, short[1])["bound"].sessions > 0
    assert not checks(kept, "none")["bound"].decides  # it never fires, and no fact is asked for behind a fire
    less = gate(gates.made("none", "sliding_window(preserve_recent=2)", **replay), gates.baseline(*short, **replay))
    assert (less.verdict, checks(less, "sliding_window(preserve_recent=2)")["bound"].verdict) == ("fail", "fail")
    at = gates.made("none", "sliding_window", budgets=(30.0,), of_each=3)
    found = gate(at, gates.baseline("none", "sliding_window", budgets=(30.0,), of_each=3))
    assert found.verdict == "pass"
    assert "sliding_window at 30 %" in {c.strategy for c in found.checks}
