"""The constraint sidecar: what counts as a constraint, whose words may enter, and how it rides along."""

import pytest
from histories import agent, answering, calling, system, user
from peers import constants, held, talk

from compactlab.errors import UnknownName
from compactlab.peers.constraint_sidecar import HEADING, ConstraintSidecar, constraints
from compactlab.transcript import Message, Text, ToolResult


def sidecar(done):
    return [line for m in done.messages if m.text.startswith(HEADING) for line in m.text.split("\n")[1:]]


RULE = "Never touch invoices_archive."
SESSION = [system(), *talk(8), user(f"Good. {RULE} Go on."), agent(), *talk(40)]


def test_its_defaults():
    assert constants(ConstraintSidecar) == {"base": "sliding_window", "most": 50, "longest_chars": 400}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (f"Hello. {RULE} Thanks.", [RULE]),
        ("Move it to port 5433.", []),
        ("Don't deploy\non Fridays, and\nask me first.", ["Don't deploy on Fridays, and ask me first."]),
        ("Keep v2.1.4 only.\n- At most 3 workers\n- fine", ["Keep v2.1.4 only.", "- At most 3 workers"]),
        ("It must not pass 1.5 s. You may not read prod; do stop at noon", 3),
    ],
)
def test_sentences_that_demand_or_rule_out_are_constraints(text, found):
    seen = constraints((user(text),))
    assert seen == found if isinstance(found, list) else len(seen) == found


def test_only_turns_of_people_count():
    printed = Message("tool", (ToolResult("c", (Text(RULE),)),))
    assert constraints((system(RULE), agent(RULE), printed, user(RULE, synthetic=True))) == []


def test_constraints_of_what_went_ride_along_and_those_of_what_stayed_do_not():
    done = held(ConstraintSidecar(), [*SESSION, user("Only now, never later.")])
    assert sidecar(done) == [f"- {RULE}"]
    assert "52 earlier" not in str(done.receipt.notes)
    assert done.receipt.notes[-1] == "1 constraints ride along"


def test_they_are_carried_on_by_the_next_pass_and_stand_once():
    once = held(ConstraintSidecar(), SESSION)
    again = held(ConstraintSidecar(), [*once.messages, *talk(30, "Never on Fridays."), *talk(30, RULE)])
    assert again.receipt.outcome == "applied"
    assert sidecar(again) == [f"- {RULE}", "- Never on Fridays."]
    assert sum(m.text.startswith(HEADING) for m in again.messages) == 1


def test_its_base_may_be_any_strategy_and_says_whether_a_model_is_asked():
    assert ConstraintSidecar(base="summary").uses_model
    assert not ConstraintSidecar().uses_model
    assert repr(ConstraintSidecar(base="window")) == "constraint_sidecar"
    with pytest.raises(UnknownName):
        ConstraintSidecar(base="nowhere")


def test_a_target_holds_for_base_and_sidecar_together():
    done = held(ConstraintSidecar(), SESSION, target=700)
    assert sidecar(done) == [f"- {RULE}"]
    assert not done.receipt.over_target


def test_fault_a_rule_that_was_taken_back_stays():
    taken_back = [*SESSION[:10], user("You may touch invoices_archive now."), *SESSION[10:]]
    assert sidecar(held(ConstraintSidecar(), taken_back)) == [f"- {RULE}"]


def test_fault_a_rule_that_a_tool_printed_is_lost():
    printed = [*SESSION[:2], calling("c"), answering("c"), *SESSION[2:]]
    printed[3] = Message("tool", (ToolResult("c", (Text("Policy: never mail outside."),)),))
    assert sidecar(held(ConstraintSidecar(), printed)) == [f"- {RULE}"]
