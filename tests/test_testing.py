"""What other projects assert on strategies of their own: what they keep and save on transcripts."""

import gc
import subprocess
import sys
from functools import cache

import misbehaving
import pytest
import runs

from compactlab.errors import SpecError, UnknownName
from compactlab.harness import Settings, run
from compactlab.summary import summarise
from compactlab.testing import assert_no_worse, check


@cache
def checked(spec):
    return check(spec, runs.short_transcripts())


def one():
    """A short session."""
    return runs.short_transcripts() / f"{runs.SHORT[1]}.jsonl"


def message_of(assertion, *arguments, **named):
    with pytest.raises(AssertionError) as found:
        assertion(*arguments, **named)
    return str(found.value).split("\n")


def test_the_three_lines_hold_for_a_strategy_that_is_good_enough():
    check("microcompact", one()).valid().keeps(irrecoverable=0.5, probes=0.1).saves(0.01)


@pytest.fixture(scope="module")
def run_of_one(tmp_path_factory):
    """A run of a short session, with all its controls, as anyone makes it."""
    return run(one(), tmp_path_factory.mktemp("run"), Settings(strategies=("sliding_window",), jobs=1))


def test_the_numbers_are_those_of_a_run(run_of_one):
    (row,) = (row for row in summarise(run_of_one).rows if row.label == "sliding_window")
    here = check("sliding_window", one())
    for metric, estimate in (("bound", row.bound), ("irrecoverable", row.irrecoverable), ("saved", row.saved)):
        assert here.share(metric) == pytest.approx(estimate.mean, abs=1e-9)
    lost = {(fact.cut, fact.value) for fact in run_of_one.needed if fact.use == "action" and not fact.bound}
    assert {(fact.cut, fact.value) for fact in here.lost("bound")} == lost != set()


def test_what_is_not_kept_is_named_with_where_it_stood_and_who_needed_it():
    here = checked("sliding_window")
    head, *lines = message_of(here.keeps, bound=0.99)
    assert head.startswith(f"sliding_window has {here.share('bound'):.3f} of bound (")
    assert head.endswith("expected 0.99 or more")
    lost = here.lost("bound")
    assert len(lines) == min(10, len(lost)) + (len(lost) > 10)
    for line, fact in zip(lines, lost[:10], strict=False):
        assert line.startswith(f"  lost: {fact.family} {fact.value[:20]}")
        assert f"stood in message {fact.home}: " in line
        assert f"needed by message {fact.used}: " in line


def test_what_is_not_saved_is_told_by_session():
    head, *lines = message_of(checked("microcompact").saves, 0.99)
    assert head.endswith("of saved (tokens saved); expected 0.99 or more")
    assert {line.split(":")[0].strip() for line in lines} == {*runs.SHORT}


def test_one_that_is_worse_than_another_is_told_by_what_it_lost_more():
    low, high = checked("sliding_window"), checked("microcompact")
    high.no_worse(low, metric="bound")
    head, *lines = message_of(low.no_worse, high, metric="bound")
    assert head.startswith("sliding_window has ")
    assert "expected 0.05 less at most" in head
    more = [fact for fact in low.lost("bound") if fact not in high.lost("bound")]
    assert len(lines) == min(10, len(more)) + (len(more) > 10)
    assert more[0].value[:20] in lines[0]


def test_two_strategies_are_compared_in_one_line():
    message_of(assert_no_worse, "misbehaving:LastTen", than="none", on=[one()], metric="loose")


def test_what_was_checked_on_other_transcripts_is_not_compared():
    other = check("none", [one()], Settings(cuts=(0.5,), counter="chars/4"))
    with pytest.raises(SpecError, match="other transcripts"):
        checked("microcompact").no_worse(other)


def test_a_margin_lets_as_much_pass():
    low, high = checked("sliding_window"), checked("microcompact")
    gap = high.share("bound") - low.share("bound")
    assert gap > 0
    low.no_worse(high, margin=gap, metric="bound")
    message_of(low.no_worse, high, margin=gap - 1e-6, metric="bound")


def test_no_assertion_holds_while_a_case_failed():
    here = check("misbehaving:Refuses", one())
    for assertion, given in ((here.valid, ()), (here.saves, (0.0,)), (here.no_worse, ("none",))):
        lines = message_of(assertion, *given)
        assert "4 " in lines[0]
        assert "RuntimeError: no\\x1b[31m more" in lines[1]
    message_of(here.keeps, bound=0.0)


@pytest.mark.parametrize(
    ("name", "kind", "reason"),
    [
        ("Grows", "validity", "the guard rejected its result"),
        ("Remembers", "determinism", "made a second time, of the same messages, it came out otherwise"),
    ],
)
def test_what_a_gate_never_lets_pass_is_not_valid(name, kind, reason):
    head, *lines = message_of(check(f"misbehaving:{name}", one()).valid)
    assert f"misbehaving:{name} has " in head
    assert all(line.strip().startswith(f"{kind}: ") and reason in line for line in lines[:2])


def test_an_object_is_taken_too_and_where_sessions_are_cut_can_be_said():
    here = check(misbehaving.LastTen(keep=12), [one()], Settings(cuts=(0.5,), counter="chars/4"))
    assert here.spec == "misbehaving:LastTen(keep=12)"
    assert 0 < here.valid().share("saved") < 1
    assert {fact.cut for fact in here.lost("loose")} <= {"0.5"}


def test_a_replay_is_taken_too_and_what_does_not_fit_there_is_not_valid():
    here = check("microcompact", [one()], Settings(mode="replay", window=60_000))
    assert 0 < here.valid().share("saved") < 1
    small = check("microcompact", [one()], Settings(mode="replay", window=20_000))
    head, line = message_of(small.valid)
    assert head == "microcompact has 1 fault"
    assert line.startswith("  overflow: subagent-etl at replay 20000")


def test_what_no_session_has_is_not_kept(tmp_path):
    alone = tmp_path / "alone.jsonl"
    alone.write_bytes(one().read_bytes())
    here = check("none", alone, Settings(cuts=(0.5,), counter="chars/4"))
    assert message_of(here.keeps, probes=0.0) == ["none: no session has probes to measure"]


@pytest.mark.parametrize(
    ("call", "error", "said"),
    [
        (lambda: checked("microcompact").keeps(bond=0.5), SpecError, "did you mean 'bound'"),
        (lambda: checked("microcompact").keeps(saved=0.5), SpecError, r"expected .saves\(0.5\)"),
        (lambda: check("microcompct", []), UnknownName, "did you mean 'microcompact'"),
        (lambda: check("none", one(), Settings(budgets=(5, 10))), SpecError, "one at most"),
    ],
)
def test_what_cannot_be_asserted_is_refused(call, error, said):
    with pytest.raises(error, match=said):
        call()


def test_nothing_is_left_on_the_disk():
    here = check("none", [one()], Settings(cuts=(0.5,), counter="chars/4"))
    folder = here.results.folder.parent
    assert folder.exists()
    del here
    gc.collect()
    assert not folder.exists()


def test_it_takes_no_test_framework():
    code = "import sys, compactlab.testing; sys.exit('pytest' in sys.modules or 'hypothesis' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], cwd=runs.CHECKOUT, check=False).returncode == 0
