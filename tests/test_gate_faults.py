"""What no margin excuses: what the guard rejects, rules turned round, overflows; what a baseline knows is no fault."""

import gates
import msgspec
import pytest

from compactlab.gate import gate
from compactlab.gate.compared import Rows
from compactlab.gate.faults import against, invalid
from compactlab.gate.sides import Case, taken

KEPT = "gates:Breaks"
SAME = Rows({row: row for row in gates.STRATEGIES}, (), ())


def with_found(side, row, **fields):
    """A side whose cases of one row have other fields."""
    found = {
        case: tuple(msgspec.structs.replace(one, **(fields if case.row == row else {})) for one in passes)
        for case, passes in side.found.items()
    }
    return side._replace(found=found)


def test_a_result_that_the_guard_had_to_reject_is_a_fault_though_it_keeps_everything():
    swollen = gates.made("none", "gates:Swells")
    found = gate(swollen, gates.baseline("none", KEPT)._replace(rule=gates.RULE), gates.renamed(KEPT, "gates:Swells"))
    assert {check.verdict for check in found.checks if check.metric == "bound"} == {"pass"}
    assert {(fault.kind, fault.strategy) for fault in found.faults} == {("validity", "gates:Swells")}
    assert len(found.faults) == 10
    assert "the guard rejected it: would weigh" in found.faults[0].reason
    assert found.verdict == "fail"
    known = gate(swollen, gates.baseline("none", "gates:Swells"))
    assert (known.verdict, known.faults) == ("pass", ())


@pytest.mark.parametrize(
    ("kind", "field", "said"),
    [
        ("inverted", "inverted", "2 demands of people say the opposite now, 0 in the baseline"),
        ("overflow", "overflow", "it does not fit any more"),
    ],
)
def test_more_than_the_baseline_knows_is_a_fault_and_as_much_is_none(kind, field, said):
    run = taken(gates.made())
    many = run._replace(side=with_found(run.side, "sliding_window", **{field: 2}))
    assert list(against(run, run.side, SAME)) == []
    faults = list(against(many, run.side, SAME))
    assert {(fault.kind, fault.strategy) for fault in faults} == {(kind, "sliding_window")}
    assert len(faults) == 10
    assert all(said in fault.reason for fault in faults)
    assert list(against(many, many.side, SAME)) == []
    assert list(against(run, many.side, SAME)) == []


def test_what_a_provider_would_refuse_is_a_fault_that_no_baseline_excuses():
    run = taken(gates.made())
    assert list(invalid(run)) == []
    broken = run._replace(side=with_found(run.side, "microcompact", invalid=1))
    assert {(fault.kind, fault.strategy) for fault in invalid(broken)} == {("validity", "microcompact")}


def test_an_overflow_of_a_real_replay_is_seen_unless_the_baseline_has_it():
    settings = {"mode": "replay", "window": 1_500, "of_each": 1}
    full = gates.made("none", **settings)
    base = gates.baseline("none", **settings)
    assert [fault.kind for fault in gate(full, base).faults] == []
    cases = {case: found for case, found in base.side.found.items() if found[0].overflow}
    assert cases
    fits = base._replace(side=with_found(base.side, "none", overflow=0))
    found = gate(full, fits)
    assert {Case(f.session, f.cut, f.strategy) for f in found.faults} == cases.keys()
    assert {(fault.kind, "tokens" in fault.reason) for fault in found.faults} == {("overflow", True)}
    assert found.verdict == "fail"  # two sessions are no verdict, and a fault is one all the same
