"""Pins: which messages they choose, and that what is pinned outlives every strategy."""

import json
import re

import pytest
import runs
from histories import agent, answering, call, calling, messages, result, system, user
from hypothesis import given, settings
from hypothesis import strategies as st

from compactlab import catalog, history
from compactlab.cli import main
from compactlab.compaction import Guard, compact
from compactlab.errors import SpecError
from compactlab.llm.extractive import Extractive
from compactlab.pins import pinned
from compactlab.readers import read
from compactlab.tokens import Meter
from compactlab.transcript import Message, Reasoning, readable

METER = Meter("chars/4")
GUARD = Guard(METER, model=Extractive())
LINE = "some words that weigh something " * 10
TALK = (
    system("Be careful."),
    user("Never touch prod."),
    agent("I will never do that."),
    agent(Reasoning("never mind"), call("a", "bash", '{"command": "cat \\"never.txt\\"\\n"}')),
    Message("tool", (result("a", "NEVER\nport 5433"),)),
    user("ok"),
    agent("So."),
)

CHOSEN = [
    ("role:system", {0}),
    ("role:user", {1, 5}),
    ("role:assistant", {2, 3, 6}),
    ("role:tool", {4}),
    ("index:0", {0}),
    ("index:6", {6}),
    ("4", {4}),
    ("004", {4}),
    ("pattern:never", {2, 3}),
    ("/never/", {2, 3}),
    ("/(?i)never/", {1, 2, 3, 4}),
    ("pattern:^Never", {1}),
    ("pattern:\\bport \\d+", {4}),
    ('pattern:"never', {3}),
    ("pattern:role:user", set()),
    ("/[/]/", set()),
    ("pattern:/", set()),
    ("pattern: ", {0, 1, 2, 3, 4}),
]


@pytest.mark.parametrize(("pin", "positions"), CHOSEN, ids=[pin for pin, _ in CHOSEN])
def test_a_pin_chooses_by_role_by_index_or_by_what_is_said(pin, positions):
    marked = pinned(TALK, [pin])
    assert {i for i, message in enumerate(marked) if message.pinned} == positions
    assert [m.blocks for m in marked] == [m.blocks for m in TALK]


def test_several_pins_add_up_and_none_takes_a_mark_away():
    marked = pinned((user("a", pinned=True), *TALK[1:]), ["1", "role:tool", "1"])
    assert [m.pinned for m in marked] == [True, True, False, False, True, False, False]
    assert pinned(TALK, ()) == TALK
    assert pinned((), ["role:user", "/x/"]) == ()


BAD = [
    "", "user", "role:", "role:person", "role:User", "index:", "index:-1", "-1", "index:1.0", "index:one", "pattern:",
    "pattern:(", "/(/", "//", "/", "Index:1", "line:3", ":", "index:²", " 3",
]  # fmt: skip


@pytest.mark.parametrize("pin", BAD)
def test_a_pin_that_cannot_be_read_is_named(pin):
    with pytest.raises(SpecError) as raised:
        pinned(TALK, ["role:user", pin])
    assert repr(pin) in str(raised.value) or "pattern" in str(raised.value)


@pytest.mark.parametrize("index", ["index:7", "7", "index:999999999999"])
def test_an_index_out_of_range_says_how_many_messages_there_are(index):
    with pytest.raises(SpecError, match="there are 7 messages; the last has index 6"):
        pinned(TALK, [index])


@settings(max_examples=100)
@given(messages(), st.sampled_from(["port", "[0-9]{4}", "請", "\\x00"]))
def test_a_pattern_is_searched_in_the_words_of_every_block(given_messages, pattern):
    marked = pinned(given_messages, [f"pattern:{pattern}"])
    for before, after in zip(given_messages, marked, strict=True):
        words = [readable(block) for block in before.blocks]
        there = any(re.search(pattern, said) for said in words)
        assert after.pinned == (before.pinned or there)


# ---- what is pinned is kept


def holding(middle):
    filler = tuple(agent(f"filler {i} {LINE}") for i in range(20))
    return (*TALK[:2], *filler, *middle, *filler, *TALK[5:])


PINNED = [
    ("a word of the agent", (agent("the gate code is 5433", pinned=True),), 1),
    ("a throwaway word", (user("ok", pinned=True),), 1),
    ("a call, and so its result", (calling("a", pinned=True), Message("tool", (result("a", LINE * 3),))), 2),
    ("a result, and so its call", (calling("a"), Message("tool", (result("a", LINE * 3),), pinned=True)), 2),
    ("one result of two", (calling("a", "b"), answering("a"), answering("b", pinned=True)), 3),
    ("a reminder", (user("a reminder " + LINE, synthetic=True, pinned=True),), 1),
]


@pytest.mark.parametrize(("middle", "held"), [c[1:] for c in PINNED], ids=[c[0] for c in PINNED])
@pytest.mark.parametrize("name", catalog.names("strategies"))
def test_a_pinned_message_stands_whole_after_every_strategy(name, middle, held):
    before = holding(middle)
    done = compact(before, name, guard=GUARD)
    positions = range(22, 22 + held)
    assert [c.action for c in done.receipt.changes if c.position in positions] == ["kept"] * held
    for i in positions:
        assert before[i] in done.messages
    assert done.receipt.pinned_tokens == sum(METER.message(m) for m in before if m.pinned)
    assert done.receipt.protected_tokens >= METER.messages(middle)


@pytest.mark.parametrize("name", catalog.names("strategies"))
@settings(max_examples=60)
@given(data=st.data(), given_messages=messages(min_events=4, max_events=20), target=st.none() | st.integers(1, 2_000))
def test_on_any_history_what_is_pinned_is_kept_to_the_letter(name, data, given_messages, target):
    base = history.repair(given_messages).messages
    chosen = data.draw(st.sets(st.integers(0, max(0, len(base) - 1)), max_size=3)) if base else ()
    marked = pinned(base, [str(i) for i in chosen])
    done = compact(marked, name, target=target, guard=GUARD)
    kept = {c.position for c in done.receipt.changes if c.action == "kept"}
    assert {i for i, message in enumerate(marked) if message.pinned} <= kept
    assert [m for m in done.messages if m.pinned] == [m for m in marked if m.pinned]
    assert done.receipt.pinned_tokens == METER.messages(m for m in marked if m.pinned)


def test_the_receipt_says_what_pins_weigh_and_where_a_target_cannot_be_met():
    before = holding((agent("the code " + LINE * 40, pinned=True),))
    receipt = compact(before, "sliding_window", target=1_000, guard=GUARD).receipt
    assert receipt.over_target
    assert f"of which pinned {receipt.pinned_tokens:,}" in receipt.to_text()
    assert "no strategy can meet the target of 1,000: message 22 is the heaviest" in receipt.to_text()
    assert next(c.why for c in receipt.changes if c.position == 22) == "pinned"


# ---- from the command line


def test_pins_of_the_command_line_count_messages_of_the_file(capsys, tmp_path):
    out = tmp_path / "out.jsonl"
    path = runs.FIXTURES / "primary-move.jsonl"
    arguments = ["compact", str(path), "--strategy", "sliding_window", "--json", "-o", str(out)]
    assert main([*arguments, "--pin", "index:30", "/Hollin/"]) == 0
    receipt = json.loads(capsys.readouterr().out)
    [before], [after] = read(path), read(out)
    chosen = {i for i, m in enumerate(before.messages) if "Hollin" in " ".join(map(readable, m.blocks))} | {30}
    assert {c["position"] for c in receipt["changes"] if c["action"] == "kept"} >= chosen
    assert {m.source for m in after.messages if m.pinned} == {before.messages[i].source for i in chosen}
    assert receipt["pinned_tokens"] == runs.meter().messages(before.messages[i] for i in chosen)


@pytest.mark.parametrize("pin", ["role:nobody", "index:99999", "pattern:("])
def test_a_bad_pin_is_one_line_on_standard_error_and_exit_code_two(capsys, pin):
    assert main(["compact", str(runs.FIXTURES / "primary-move.jsonl"), "--pin", pin]) == 2
    said = capsys.readouterr()
    assert said.err.startswith("compactlab: pin ")
    assert said.err.count("\n") == 1
