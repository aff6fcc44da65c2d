"""What looks plain at one glance breaks no rule; recorded sessions do look so."""

import pytest
import runs
from histories import messages
from hypothesis import given
from hypothesis import strategies as st

from compactlab.history import repair
from compactlab.plainness import is_plain
from compactlab.readers import read
from compactlab.transcript import Image, Message, Reasoning, Text, ToolCall, ToolResult
from compactlab.validity import broken, violations

IDS = ("a", "b", "no id")
BLOCKS = (
    *(Text(words) for words in ("yes", "", " \n")),
    *(ToolCall(name, "read", "{}") for name in IDS),
    *(ToolResult(name, (Text("a line"),)) for name in IDS),
    Reasoning("a thought"),
    Reasoning("a thought", signature="signed"),
    Image("image/png"),
)
ANY = st.builds(
    Message,
    st.sampled_from(("system", "user", "assistant", "assistant", "tool")),
    st.lists(st.sampled_from(BLOCKS), max_size=3).map(tuple),
)


def by_the_rules(history):
    return [v for rules in ("openai", "anthropic") for v in violations(history, rules)]


@given(st.lists(ANY, max_size=6))
def test_a_plain_list_breaks_no_rule(history):
    if is_plain(history):
        assert by_the_rules(history) == []


@given(messages())
def test_the_names_of_broken_rules_are_those_of_the_rules_themselves(history):
    for whole in (history, repair(history).messages):
        found = frozenset(f"{rules}:{v.rule}" for rules in ("openai", "anthropic") for v in violations(whole, rules))
        assert broken(whole) == found


def steps(*parts):
    """A list of a person's request and one message for each part, its role and blocks."""
    return [Message("user", (Text("yes"),)), *(Message(role, blocks) for role, *blocks in parts)]


A, B = ToolCall("a", "read", "{}"), ToolCall("b", "read", "{}")
CAME_A, CAME_B = ToolResult("a", (Text("1"),)), ToolResult("b", (Text("2"),))


@pytest.mark.parametrize(
    ("parts", "is_one"),
    [
        ([("assistant", A), ("tool", CAME_A)], True),
        ([("assistant", A, B), ("tool", CAME_B), ("tool", CAME_A), ("user", Text("on"))], True),
        ([("assistant", A, B), ("tool", CAME_A, CAME_B), ("assistant", Reasoning("so"), Text("done"))], True),
        ([("assistant", A)], False),
        ([("assistant", A), ("user", Text("on")), ("tool", CAME_A)], False),
        ([("assistant", A), ("tool", CAME_A), ("tool", CAME_A)], False),
        ([("assistant", A, A), ("tool", CAME_A)], False),
        ([("assistant", A, Text("after")), ("tool", CAME_A)], False),
        ([("assistant", Text("so"), Reasoning("last", signature="s"))], False),
        ([("system", Text("late"))], False),
        ([("user",)], False),
    ],
)
def test_what_is_plain(parts, is_one):
    history = [Message(m.role, tuple(m.blocks)) for m in steps(*parts)]
    assert is_plain(history) is is_one


@pytest.mark.parametrize("path", runs.TRANSCRIPTS, ids=lambda path: path.stem)
def test_recorded_sessions_are_plain(path):
    (transcript,) = read(path)
    assert is_plain(repair(transcript.messages).messages)
