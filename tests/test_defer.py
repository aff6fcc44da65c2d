"""`defer`: nothing is done, on purpose and with a reason."""

import pytest
import runs
from histories import agent, messages, split_and_turn_shape, system, user
from hypothesis import given
from hypothesis import strategies as st

from compactlab.compaction import Guard, compact
from compactlab.errors import SpecError, UnknownName
from compactlab.pressure import LEAST_OUTPUT, OUTPUT_LIMIT, Marks, allowance
from compactlab.readers import read
from compactlab.strategies import defer
from compactlab.strategies.defer import Defer
from compactlab.tokens import Meter

BY_CHARACTERS = Guard(Meter("chars/4"))
TALK = (system(), user(), *(agent(f"{i} " * 200) for i in range(20)))


@pytest.mark.parametrize(
    ("spec", "reason"),
    [
        ("defer", "compaction would lose more than it saves"),
        ("defer(reason='two more steps')", "two more steps"),
        ("ignore_compaction(reason='every line is needed, all (of) them')", "every line is needed, all (of) them"),
        ("ignore-compaction", "compaction would lose more than it saves"),
    ],
)
def test_the_outcome_is_deferred_with_the_reason_and_the_messages_are_the_very_same(spec, reason):
    done = compact(TALK, spec, guard=BY_CHARACTERS)
    assert (done.receipt.outcome, done.receipt.reason) == ("deferred", reason)
    assert all(after is before for after, before in zip(done.messages, TALK, strict=True))
    assert done.receipt.count("kept") == len(TALK)
    assert done.receipt.saved == 0
    assert "deferred" in done.receipt.to_text()
    assert reason in done.receipt.to_text()


@given(messages(), st.none() | st.integers(1, 5_000), st.text(min_size=1).filter(str.strip))
def test_it_never_changes_anything_whatever_the_history_and_the_target(given_messages, target, reason):
    done = compact(given_messages, Defer(reason), target=target, guard=BY_CHARACTERS)
    assert (done.receipt.outcome, done.receipt.reason) == ("deferred", reason)
    assert done.receipt.tokens_after == done.receipt.tokens_before
    assert done.receipt.model_calls == 0


@given(split_and_turn_shape())
def test_both_storage_shapes_are_deferred(shapes):
    split, turns = (compact(shape, "defer", guard=BY_CHARACTERS).receipt for shape in shapes)
    assert split.outcome == turns.outcome == "deferred"
    assert split.tokens_after == turns.tokens_after


def test_a_second_pass_is_deferred_again_or_finds_nothing_new():
    first = compact(TALK, "defer", guard=BY_CHARACTERS)
    assert compact(first.messages, "defer", guard=BY_CHARACTERS).receipt.outcome == "deferred"
    again = compact(first.messages, "defer", guard=BY_CHARACTERS, previous=first.receipt)
    assert (again.receipt.outcome, again.messages) == ("skipped", TALK)


def test_a_recorded_session_is_deferred_and_over_its_target():
    [transcript] = read(runs.FIXTURES / "primary-move.jsonl")
    done = compact(transcript.messages, "defer", target=4_000)
    assert done.receipt.over_target
    assert done.messages == transcript.messages


@pytest.mark.parametrize("reason", ["''", "'  '", "None", "7", "['a']"])
def test_a_reason_is_words(reason):
    with pytest.raises(SpecError, match="expected words"):
        compact(TALK, f"defer(reason={reason})")


def test_the_reason_reads_back_from_the_spec():
    for reason in ("two more steps", 'it\'s "near" the end', "a, b=c)", "先に終える"):
        spec = repr(Defer(reason))
        assert compact(TALK, spec).receipt.reason == reason
        assert compact(TALK, spec).receipt.strategy == spec


def test_an_unknown_name_is_never_taken_for_it():
    with pytest.raises(UnknownName, match="did you mean 'defer'"):
        compact(TALK, "defers")


@pytest.mark.parametrize(
    ("pressure", "tokens"),
    [(0.5, 8_192), (0.95, 8_192), (0.96, 6_554), (0.975, 4_096), (0.99, 1_638), (0.999, 512), (1.0, 512), (3.0, 512)],
)
def test_whoever_defers_may_say_less_the_fuller_it_gets_but_never_less_than_512_tokens(pressure, tokens):
    assert allowance(pressure, Marks()) == tokens
    assert LEAST_OUTPUT == 512
    assert OUTPUT_LIMIT == 8_192


def test_the_narrowing_is_documented_where_the_strategy_points_to():
    assert "compactlab.pressure.allowance" in defer.__doc__
    assert "512" in defer.__doc__
    assert "512 tokens" in allowance.__doc__
