"""What other projects hold strategies of their own to: the contract, on made histories."""

from dataclasses import dataclass

import misbehaving
import pytest

from compactlab import Compacted, Strategy, catalog
from compactlab.compaction import Guard, compact
from compactlab.errors import UnknownName
from compactlab.history import repair
from compactlab.testing import conforms, faults
from compactlab.testing.conformance import fingerprint
from compactlab.testing.histories import histories, steps
from compactlab.tokens import Meter
from compactlab.transcript import Image, ToolCall, ToolResult

BROKEN = {
    "EveryOther": ["a second pass without new messages compacts again"],
    "Falls": ["it fails"],
    "Remembers": [
        "the same again gives something else",
        "labels or times of the recording change its result",
        "a second pass without new messages compacts again",
    ],
    "ReadsLabels": ["labels or times of the recording change its result"],
    "Nibbles": ["a second pass without new messages compacts again"],
    "Grows": ["the guard rejects its result"],
    "WeighsAll": ["its work grows faster than the session"],
    "Bare": ["its class is no dataclass itself"],
    "Mumbles": ["its spec cannot be read back, or it cannot be sent to another process"],
    "Refuses": ["it fails"],
}


@pytest.mark.parametrize("name", catalog.names("strategies"))
def test_every_strategy_of_the_catalog_conforms(name):
    conforms(name, in_another_process=False)


def test_one_that_conforms_does_so_in_another_process_too():
    conforms("misbehaving:LastTen(keep=4)")


@pytest.mark.parametrize("name", BROKEN)
def test_what_a_strategy_breaks_is_named_and_nothing_else(name):
    found = faults(getattr(misbehaving, name)(), in_another_process=False)
    assert sorted(line.split(": ")[0] for line in found) == sorted(BROKEN[name])


def test_what_hangs_on_the_order_of_a_set_is_seen_in_another_process():
    assert faults("misbehaving:Hashes", in_another_process=False) == []
    (line,) = faults("misbehaving:Hashes")
    assert line == "another process gives something else: with another order of sets and hashes"


def test_the_message_names_the_strategy_the_fault_and_a_few_of_the_histories():
    with pytest.raises(AssertionError) as found:
        conforms("misbehaving:Refuses", in_another_process=False)
    head, line = str(found.value).split("\n")
    assert head == "'misbehaving:Refuses' does not conform"
    assert line.startswith("  it fails: a long talk (RuntimeError: no\\x1b[31m more); sixty calls (")
    assert line.endswith(f" and {len(histories()) - 3} more")


def test_a_class_of_a_function_can_conform_though_no_spec_names_it():
    @dataclass(frozen=True, repr=False)
    class Own(Strategy):
        def compact(self, messages, context):  # noqa: ARG002
            return Compacted(messages[-6:])

    conforms(Own())


def test_a_spec_that_names_no_strategy_is_refused():
    with pytest.raises(UnknownName):
        conforms("misbehaving:Nobody")


def test_the_fingerprint_tells_strategies_apart():
    prints = {fingerprint(f"misbehaving:LastTen(keep={keep})") for keep in (4, 5)}
    assert len(prints) == 2
    assert prints == {fingerprint(f"misbehaving:LastTen(keep={keep})") for keep in (4, 5)}


# ---- the histories are as odd as they say


def test_the_histories_are_the_same_each_time_and_no_two_of_a_name():
    assert histories() == histories()
    names = [history.name for history in histories()]
    assert len(names) == len(set(names)) > 40


def test_they_hold_what_real_sessions_hold():
    messages = [message for history in histories() for message in history.messages]
    blocks = [block for message in messages for block in message.blocks]
    text = "".join(message.text for message in messages)
    assert any(isinstance(block, Image) for block in blocks)
    assert {message.role for message in messages} == {"system", "user", "assistant", "tool"}
    assert any(message.pinned for message in messages)
    assert any(message.synthetic for message in messages)
    assert any(not message.blocks for message in messages)
    assert {True, False} <= {block.is_error for block in blocks if isinstance(block, ToolResult)}
    assert any(block.id == "" for block in blocks if isinstance(block, ToolCall))
    assert any(ToolResult in map(type, m.blocks) and m.role == "assistant" for m in messages)
    assert "\ud83d" in text
    assert "\x00" in text


def test_some_take_repair_and_ordinary_ones_take_none():
    repaired = {history.name: bool(repair(history.messages).repairs) for history in histories()}
    assert not any(repaired[history.name] for history in histories() if history.ordinary)
    assert sum(repaired.values()) > 10


def test_there_is_something_to_compact_in_each_ordinary_one():
    guard = Guard(Meter("chars/4"))
    for history in histories():
        if history.ordinary:
            done = compact(history.messages, "sliding_window", guard=guard)
            assert done.receipt.outcome == "applied", history.name


def test_steps_are_as_many_calls_as_asked_for():
    assert [sum(len(message.calls) for message in steps(count)) for count in (0, 3, 50)] == [0, 3, 50]
