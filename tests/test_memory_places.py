"""Which conversation is meant, and whose it is."""

import pytest
from conversations import memory, talk, weighing
from reports import row

from compactlab.errors import SpecError
from compactlab.memory import Memory
from compactlab.memory.attention import attention
from compactlab.memory.places import named


@pytest.mark.parametrize("name", ["../x", "a/b", ".hidden", "-x", "a b", "zoë", "x" * 101, "a.probes", "a\n", "con."])
def test_names_that_are_no_safe_file_names_are_refused(tmp_path, name):
    with pytest.raises(SpecError, match="expected letters"):
        named(tmp_path, name)


def test_without_a_name_it_is_the_only_conversation_there(tmp_path):
    with pytest.raises(SpecError, match="no conversation yet"):
        Memory(tmp_path)
    memory(tmp_path, "novel").append(talk(1))
    assert Memory(tmp_path).name == "novel"
    memory(tmp_path, "move").append(talk(1))
    with pytest.raises(SpecError, match="expected one of move, novel"):
        Memory(tmp_path)
    with pytest.raises(SpecError, match="no such folder"):
        Memory(tmp_path / "nowhere")


def test_the_first_append_says_whose_conversation_it_is_and_no_later_one_may_differ(tmp_path):
    there = memory(tmp_path)
    there.append(talk(1), "subconscious")
    there.append(talk(1), "subconscious")
    with pytest.raises(SpecError, match="is of a subconscious agent, not 'primary'"):
        there.append(talk(1), "primary")
    assert there.status().agent_type == "subconscious"
    assert len(there.messages) == 2


@row("K25-D3")
def test_two_that_go_on_with_one_conversation_share_one_story(tmp_path):
    one, other = memory(tmp_path), memory(tmp_path)
    one.append([weighing(300)])
    assert other.status().messages == 1
    for number in range(6):
        warned = (one if number % 2 else other).append([weighing(100)]).warning
        assert (warned and warned.marks) == {4: (0.8,), 5: (0.9,)}.get(number)
    assert one.messages == other.messages
    assert one.append([weighing(100)]).warning.marks == (0.95,)
    assert other.append([weighing(10)]).warning is None
    assert attention(other.conversation.read().notes).unanswered == (0.8, 0.9, 0.95)
