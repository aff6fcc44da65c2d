"""The receipt as data and as text."""

import msgspec
import pytest
from histories import agent, answering, calling, messages, system, user
from hostile import hostile
from hypothesis import given, settings

from compactlab.compaction import Guard, compact
from compactlab.receipt import OUTCOMES, Change, Receipt
from compactlab.tokens import Meter

KINDS = {"text": 90, "reasoning": 0, "call": 6, "result": 0, "image": 0, "overhead": 4}
AFTER = {"text": 40, "reasoning": 0, "call": 0, "result": 6, "image": 0, "overhead": 4}


def made(**changes):
    plain = {
        "strategy": "none",
        "outcome": "applied",
        "reason": "",
        "counter": "o200k_base",
        "target": None,
        "over_target": False,
        "tokens_before": 100,
        "tokens_after": 50,
        "kinds_before": KINDS,
        "kinds_after": AFTER,
        "changes": (),
        "repairs": (),
        "notes": (),
        "rules": ("openai",),
        "result": "0a1b",
    }
    return Receipt(**plain | changes)


def fates(*actions):
    return tuple(
        Change(None if action == "made" else i, None, "user", action, "" if action == "kept" else "by x")
        for i, action in enumerate(actions)
    )


@pytest.mark.parametrize(
    ("before", "after", "saved"), [(100, 50, 0.5), (100, 100, 0.0), (100, 0, 1.0), (0, 0, 0.0), (3, 2, 1 / 3)]
)
def test_saved_is_the_share_that_went(before, after, saved):
    assert made(tokens_before=before, tokens_after=after).saved == pytest.approx(saved)


@pytest.mark.parametrize(("action", "number"), [("kept", 2), ("dropped", 3), ("edited", 0), ("made", 1)])
def test_messages_are_counted_by_what_happened_to_them(action, number):
    assert made(changes=fates("kept", "dropped", "dropped", "dropped", "kept", "made")).count(action) == number


TEXT = [
    ("a saving", made(), "none: applied\n100 -> 50 tokens (o200k_base), 50.0% saved\n"),
    ("a reason", made(outcome="skipped", reason="nothing to remove"), "none: skipped (nothing to remove)\n"),
    ("a fallback", made(fell_back=True), "none: applied (fell back, see the notes)\n"),
    ("a reason beside a fallback", made(reason="as asked", fell_back=True), "(as asked; fell back, see the notes)\n"),
    ("over its target", made(target=20, over_target=True), "50.0% saved; over its target"),
    ("thousands", made(tokens_before=1_234_567), "1,234,567 -> 50 tokens"),
    ("kinds that weigh something", made(), "text 90 -> 40  call 6 -> 0  result 0 -> 6  overhead 4 -> 4"),
    ("what was repaired", made(repairs=("closed 'a' at message 3: no result was recorded",)), "\nrepaired: closed 'a'"),
    ("notes", made(notes=("cut twice", "fell back")), "\nnote: cut twice\nnote: fell back"),
    ("a run", made(changes=fates("kept", "dropped", "dropped")), "\n            0  kept\n          1-2  dropped  by x"),
    ("a made message", made(changes=fates("kept", "made")), "\n          new  made     by x"),
]


@pytest.mark.parametrize(("receipt", "expected"), [c[1:] for c in TEXT], ids=[c[0] for c in TEXT])
def test_the_text_says_it(receipt, expected):
    assert expected in receipt.to_text()


def test_kinds_that_weigh_nothing_are_left_out_of_the_text():
    assert "image" not in made().to_text()
    assert "reasoning" not in made().to_text()


def test_a_thousand_messages_of_one_fate_take_one_line():
    text = made(changes=fates(*["kept"] * 3, *["dropped"] * 1_000, *["kept"] * 3)).to_text()
    runs = [line.split() for line in text.splitlines() if line.startswith("  ")]
    assert runs == [["0-2", "kept"], ["3-1002", "dropped", "by", "x"], ["1003-1005", "kept"]]


@pytest.mark.parametrize("outcome", OUTCOMES)
def test_json_brings_the_same_receipt_back(outcome):
    receipt = made(outcome=outcome, changes=fates("kept", "made"), notes=("a\nb", "請把"), restored=(4, 5))
    text = receipt.to_json()
    assert msgspec.json.decode(text, type=Receipt) == receipt
    assert text.startswith('{\n "strategy": "none"')


def test_json_with_an_unknown_outcome_is_refused():
    text = made().to_json().replace('"applied"', '"done"')
    with pytest.raises(msgspec.ValidationError, match="outcome"):
        msgspec.json.decode(text, type=Receipt)


@settings(max_examples=150)
@given(messages(), hostile())
def test_every_message_is_told_of_in_the_text(given_messages, strategy):
    receipt = compact(given_messages, strategy, guard=Guard(Meter("chars/4"))).receipt
    told = {change.action for change in receipt.changes}
    assert all(f"  {action}" in receipt.to_text() for action in told)
    assert sum(receipt.count(action) for action in ("kept", "edited", "dropped", "made")) == len(receipt.changes)


def test_a_receipt_names_the_fate_of_every_message_and_why():
    talk = [system(), user(), *(m for i in range(9) for m in (calling(f"c{i}"), answering(f"c{i}"))), agent(), user()]
    receipt = compact(talk, "sliding_window(preserve_recent=2)").receipt
    assert [c.action for c in receipt.changes] == ["kept"] * 2 + ["dropped"] * 18 + ["kept"] * 2 + ["made"]
    assert receipt.changes[2].why == "by sliding_window(preserve_recent=2)"
    assert receipt.changes[-1].why == "written by sliding_window(preserve_recent=2)"
    assert (receipt.model_calls, receipt.model_tokens) == (0, 0)
