"""`key_value` with `labels` and `kv_share`: a label is no key, an update replaces, the ledger fills its share."""

import pytest
from histories import agent, messages, user
from hypothesis import HealthCheck, given, settings

from compactlab import compact
from compactlab.compaction import Guard
from compactlab.errors import SpecError
from compactlab.markers import BRIEF_LEDGER, LEDGER
from compactlab.tokens import Meter
from compactlab.transcript import Message, Text

LABELS = "key_value(labels=True, preserve_recent=1)"


def talk(*said, fillers=12):
    """A request, what was *said*, fillers, a last question."""
    found = [user("Mend the valve.")]
    for text in said:
        found += [user(text), agent("Noted.")]
    for n in range(fillers):
        found += [
            user(f"We looked at something or other again, and it is as it was before {'so ' * 9}{n}."),
            agent("Yes."),
        ]
    return [*found, user("And now?")]


def ledger(history, spec=LABELS, **more):
    done = compact(history, spec, **more)
    assert done.receipt.outcome == "applied", done.receipt.reason
    return next(message.text for message in done.messages if message.text.startswith((LEDGER, BRIEF_LEDGER)))


def test_statements_under_one_label_all_stay():
    said = ledger(talk("Rule: never touch the red valve.", "Rule: tell me before you open a gate."))
    assert "never touch the red valve." in said
    assert "tell me before you open a gate." in said
    assert said.count("Rule:") == 1  # the label is written once
    plain = ledger(
        talk("Rule: never touch the red Valve.", "Rule: tell me before you open Gate 7."),
        "key_value(preserve_recent=1)",
    )
    assert "red Valve" not in plain  # without labels the newest value of a key wins


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Limit: the cap is $390 in total, no more.", "Limit: the cap is $878 in total, no more."),
        ("Fact: the launch is due on 2027-03-19.", "Fact: the launch is due on 2027-04-02."),
        (
            "State: the branch is based on commit edbbbe5 and stays here.",
            "State: the branch is based on commit 91c2f00 and stays here.",
        ),
        ("Note: the owner of the gate is Mara this week.", "Note: the owner of the gate is Tomas this week."),
    ],
)
def test_a_statement_that_says_the_same_with_other_values_replaces_the_older(old, new):
    said = ledger(talk(old, new))
    assert new.partition(": ")[2] in said
    assert old.partition(": ")[2] not in said


def test_a_short_value_behind_a_key_is_still_a_value_and_the_newest_wins():
    said = ledger(talk("port: 5432", "port: 5433"))
    assert "- port: 5433" in said
    assert "5432" not in said


def test_what_tools_print_behind_labels_is_no_statement():
    line = "INFO: the worker has begun to read all of the files"
    printed = [Message("assistant", (Text("I look."),)), Message("user", (Text(line),), synthetic=True)]
    assert "begun to read" not in ledger([*talk("port: 5433")[:3], *printed, *talk()[1:]])


def test_a_second_pass_reads_the_ledger_back():
    first = compact(
        talk("Rule: never touch the red valve.", "Rule: tell me before you open a gate.", "port: 5433"), LABELS
    )
    more = [*first.messages, *talk("Rule: the blue pump stays off at night.")[1:]]
    said = ledger(more)
    for statement in (
        "never touch the red valve.",
        "tell me before you open a gate.",
        "the blue pump stays off at night.",
    ):
        assert said.count(statement) == 1
    assert "- port: 5433" in said
    assert said.count(LEDGER) == 1
    assert compact(compact(more, LABELS).messages, LABELS).receipt.outcome == "skipped"


def test_the_ledger_takes_its_share_of_a_target_and_the_tail_the_rest():
    history = talk(
        *(f"Rule: part {name} of the plant is never to be opened." for name in "abcdefghijklmnop"), fillers=30
    )
    meter = Meter()
    by_share = {
        share: compact(history, f"key_value(labels=True, kv_share={share})", target=400, guard=Guard(meter))
        for share in (0.2, 0.9)
    }
    held = {
        share: "\n".join(m.text for m in done.messages).count("is never to be opened")
        for share, done in by_share.items()
    }
    assert held[0.2] < held[0.9]
    assert all(done.receipt.tokens_after <= 400 for done in by_share.values())
    assert len(by_share[0.2].messages) > len(by_share[0.9].messages)


@given(messages())
@settings(max_examples=80, suppress_health_check=[HealthCheck.too_slow], deadline=None)
def test_a_target_that_can_be_met_is_met(drawn):
    done = compact(drawn, "key_value(labels=True, kv_share=0.6)", target=300)
    receipt = done.receipt
    assert receipt.outcome in {"applied", "skipped"} or receipt.protected_tokens > 300  # a note over it weighs more
    if receipt.outcome == "applied" and receipt.protected_tokens <= 250:
        assert receipt.tokens_after <= 300


@pytest.mark.parametrize(
    "spec", ["labels=1", "labels='yes'", "kv_share=0", "kv_share=1.5", "kv_share=True", "kv_share='all'", "terse=1"]
)
def test_a_value_that_makes_no_sense_is_refused(spec):
    with pytest.raises(SpecError, match=r"labels|kv_share|terse"):
        compact([user()], f"key_value({spec})")


TERSE = "key_value(labels=True, preserve_recent=1, terse=True)"


def test_terse_leaves_labels_and_most_of_the_heading_out():
    said = ledger(talk("Rule: never touch the red valve.", "Rule: ask me before you open a gate.", "Port: 5433"), TERSE)
    assert said.split("\n") == [
        BRIEF_LEDGER,
        "- never touch the red valve.",
        "- ask me before you open a gate.",
        "- Port: 5433",
    ]


@pytest.mark.parametrize(
    "statement",
    ["never touch the red valve.", "write every time as: hours and then minutes.", "do all of the following in turn:"],
)
def test_a_second_terse_pass_reads_its_own_ledger_word_for_word(statement):
    first = compact(talk(f"Rule: {statement}", "Port: 5433"), TERSE).messages
    again = ledger([*first, *talk("Rule: tell me what you have found first.")], TERSE)
    heading, *lines = again.split("\n")
    assert heading == BRIEF_LEDGER
    assert sorted(lines) == sorted([f"- {statement}", "- Port: 5433", "- tell me what you have found first."])


def test_a_terse_statement_is_replaced_by_one_with_other_values():
    first = compact(talk("Limit: the cap is $390 in total, no more."), TERSE).messages
    again = ledger([*first, *talk("Limit: the cap is $878 in total, no more.")], TERSE)
    assert "$878" in again
    assert "$390" not in again


def test_terse_holds_more_statements_in_the_same_room():
    said = [f"Rule of room {word}: in there keep the {word} valve shut at night." for word in "abcdefghijklmnop"]
    history, room = talk(*said, fillers=20), 300
    held = {
        spec: ledger(history, f"key_value(labels=True, kv_share=1.0{spec})", target=room).count("valve shut")
        for spec in ("", ", terse=True")
    }
    assert held[", terse=True"] > held[""]
