"""`none`: nothing is removed, whatever there is and however little room."""

import pytest
from histories import agent, answering, calling, messages, system, user
from hypothesis import given
from hypothesis import strategies as st

from compactlab import history
from compactlab.compaction import Guard, compact
from compactlab.tokens import Meter

BY_CHARACTERS = Guard(Meter("chars/4"))


@given(messages(), st.none() | st.integers(1, 1_000_000))
def test_none_keeps_every_message(given_messages, target):
    done = compact(given_messages, "none", target=target, guard=BY_CHARACTERS)
    assert (done.receipt.outcome, done.receipt.reason) == ("skipped", "nothing to remove")
    assert history.split_turns(done.messages)[0] == history.repair(given_messages).messages
    assert done.receipt.saved == 0


@pytest.mark.parametrize(("target", "over"), [(None, False), (1, True), (1_000_000, False)])
def test_none_says_when_it_is_over_its_target(target, over):
    done = compact([system(), user("Go on. " * 40), agent()], "none", target=target)
    assert done.receipt.over_target is over


def test_none_mends_what_is_broken_as_every_strategy_does():
    done = compact([user(), calling("a"), user("well?"), answering("gone")], "none")
    assert len(done.messages) == 3
    assert [repair.partition(" ")[0] for repair in done.receipt.repairs] == ["dropped"]
    closed = compact([user(), calling("a"), agent(), user()], "none")
    assert [m.role for m in closed.messages] == ["user", "assistant", "tool", "assistant", "user"]
    assert closed.messages[2].synthetic
