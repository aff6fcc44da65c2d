"""Where person and agent must take turns (the rule set `strict`), compaction keeps them taking turns."""

import pytest
import runs
from histories import messages
from hypothesis import given, settings

from compactlab import catalog, read
from compactlab.compaction import Guard, compact
from compactlab.llm.extractive import Extractive
from compactlab.tokens import Meter
from compactlab.validity import broken

STRICT = Guard(Meter("chars/4"), rules=("openai", "anthropic", "strict"), model=Extractive())
ALL = ("openai", "anthropic", "strict")


@pytest.mark.parametrize("name", catalog.names("strategies"))
@pytest.mark.parametrize("path", [p for p in runs.TRANSCRIPTS if p.name.startswith("primary")], ids=lambda p: p.stem)
def test_a_recorded_conversation_that_takes_turns_still_does(path, name):
    said = read(path)[0].messages[:150]
    assert broken(said, ("strict",)) == frozenset()
    done = compact(said, name, guard=STRICT)
    assert done.receipt.outcome != "rejected"
    assert broken(done.messages, ("strict",)) == frozenset()


@pytest.mark.parametrize("name", ["sliding_window", "sliding_reflect", "summary", "key_value"])
def test_the_note_of_a_slide_takes_the_agents_turn_between_two_of_a_person(name):
    done = compact(read(runs.FIXTURES / "primary-move.jsonl")[0].messages[:150], name, guard=STRICT)
    assert done.receipt.outcome == "applied"
    place = next(i for i, message in enumerate(done.messages) if message.synthetic)
    assert [m.role for m in done.messages[place - 1 : place + 2]] == ["user", "assistant", "user"]
    again = compact(done.messages, name, guard=STRICT)
    assert again.receipt.outcome == "skipped"


@pytest.mark.parametrize("name", catalog.names("strategies"))
@settings(max_examples=100)
@given(given_messages=messages())
def test_no_rule_of_any_set_is_newly_broken(name, given_messages):
    done = compact(given_messages, name, guard=STRICT)
    repaired = compact(given_messages, "none", guard=STRICT).messages
    assert broken(done.messages, ALL) <= broken(repaired, ALL)
