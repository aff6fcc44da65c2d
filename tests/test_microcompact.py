"""`microcompact`: which results are cleared, which stay, and that all else is untouched."""

import pytest
from histories import agent, answering, call, calling, messages, result, split_and_turn_shape, system, user
from hypothesis import given, settings
from hypothesis import strategies as st

from compactlab import history
from compactlab.compaction import Guard, compact
from compactlab.markers import CLEARED
from compactlab.strategies.microcompact import TOOLS, ClearToolResults
from compactlab.tokens import Meter
from compactlab.transcript import Image, Message, Text, ToolCall, ToolResult

BY_CHARACTERS = Guard(Meter("chars/4"))
OUTPUT = "a line of output that weighs more than the placeholder does\n" * 10
SHOWN = (Text(OUTPUT),)


def step(number, tool="bash", content=SHOWN, *, is_error=False):
    """Give a call of *tool* and its result."""
    name = f"c{number}"
    asked = Message("assistant", (ToolCall(name, tool, f'{{"n": {number}}}'),))
    return asked, Message("tool", (ToolResult(name, content, is_error=is_error),))


def session(*steps):
    return (system(), user(), *(message for pair in steps for message in pair), agent(), user())


def plain(count, tool="bash"):
    return session(*(step(i, tool) for i in range(count)))


def cleared(history_):
    """Ids of the results that hold the placeholder and nothing else, in order."""
    return [r.call_id for m in history_ for r in m.results if r.content == (Text(CLEARED),)]


def compacted(history_, spec="microcompact", **more):
    return compact(history_, spec, guard=BY_CHARACTERS, **more)


def test_the_placeholder_and_the_tools_are_those_of_the_seeds():
    assert CLEARED == "[Old tool result content cleared]"
    assert set(TOOLS) == {"read", "bash", "grep", "glob", "list_dir", "edit", "write"}
    assert ClearToolResults().keep_recent == 5


@pytest.mark.parametrize(
    ("steps", "keep", "gone"),
    [(0, 5, 0), (1, 5, 0), (5, 5, 0), (6, 5, 1), (20, 5, 15), (6, 0, 6), (6, 6, 0), (6, 1_000_000, 0), (1, 0, 1)],
)
def test_all_but_the_newest_results_are_cleared(steps, keep, gone):
    done = compacted(plain(steps), f"microcompact(keep_recent={keep})")
    assert cleared(done.messages) == [f"c{i}" for i in range(gone)]
    assert done.receipt.outcome == ("applied" if gone else "skipped")


@pytest.mark.parametrize("tool", TOOLS)
def test_each_of_the_seven_tools_is_cleared(tool):
    assert cleared(compacted(plain(7, tool)).messages) == ["c0", "c1"]


@pytest.mark.parametrize(
    "tool",
    ["Read", "BASH", "read_file", "run_shell_command", "exec_command", "search_file_content", "LS", "apply_patch",
     "str_replace_based_edit_tool", "MultiEdit", "write_file", "functions.exec_command", "local_shell", "Glob"],
)  # fmt: skip
def test_the_same_tool_of_another_harness_is_cleared(tool):
    assert cleared(compacted(plain(7, tool)).messages) == ["c0", "c1"]


@pytest.mark.parametrize("tool", ["memory_write", "task", "mcp__db__query", "webfetch", "", "readable", "bashful"])
def test_the_results_of_other_tools_stay(tool):
    done = compacted(plain(9, tool))
    assert done.receipt.outcome == "skipped"
    assert cleared(done.messages) == []


def test_results_of_other_tools_do_not_count_as_recent():
    done = compacted(session(*(step(i) for i in range(6)), *(step(i, "memory") for i in range(6, 12))))
    assert cleared(done.messages) == ["c0"]


def test_the_tools_are_a_parameter_and_known_by_any_of_their_names():
    history_ = session(*(step(i, tool) for i, tool in enumerate(["Read", "bash", "memory", "view", "Bash", "memory"])))
    for tools, gone in [
        ("('memory',)", ["c2", "c5"]),
        ("('read_file',)", ["c0", "c3"]),
        ("('Shell', 'memory')", ["c1", "c2", "c4", "c5"]),
        ("()", []),
    ]:
        assert cleared(compacted(history_, f"microcompact(keep_recent=0, tools={tools})").messages) == gone


def test_calls_words_and_the_number_of_messages_stay_as_they_are():
    before = plain(12)
    after = compacted(before).messages
    assert len(after) == len(before)
    assert [m.calls for m in after] == [m.calls for m in before]
    assert [m.text for m in after if not m.results] == [m.text for m in before if not m.results]
    assert [[r.call_id for r in m.results] for m in after] == [[r.call_id for r in m.results] for m in before]


CONTENT = [
    ("a long text", (Text(OUTPUT),), True),
    ("nothing", (), False),
    ("a short text", (Text("ok"),), False),
    ("the placeholder", (Text(CLEARED),), True),
    ("as long as the placeholder", (Text("x" * len(CLEARED)),), False),
    ("four letters longer", (Text("x" * (len(CLEARED) + 4)),), True),
    ("an image of unknown size", (Image("image/png"),), True),
    ("an image beside a word", (Text("see"), Image("image/png", 640, 480)), True),
    ("an image of one pixel", (Image("image/png", 1, 1),), False),
    ("several texts", (Text(OUTPUT), Text(OUTPUT)), True),
]


@pytest.mark.parametrize(("content", "goes"), [c[1:] for c in CONTENT], ids=[c[0] for c in CONTENT])
def test_a_result_is_cleared_where_that_makes_it_lighter(content, goes):
    done = compacted(session(step(0, "bash", content), step(1)), "microcompact(keep_recent=0)")
    assert ("c0" in cleared(done.messages)) is goes
    assert "c1" in cleared(done.messages)


def test_errors_are_cleared_too_and_stay_errors():
    done = compacted(session(step(0, is_error=True), *(step(i) for i in range(1, 6))))
    assert cleared(done.messages) == ["c0"]
    assert [r.is_error for m in done.messages for r in m.results] == [True] + [False] * 5


IDS = tuple(f"p{i}" for i in range(12))


@pytest.mark.parametrize("answers", ["in one message", "in twelve", "backwards"])
def test_parallel_results_count_one_by_one(answers):
    results = [Message("tool", (result(i, OUTPUT),)) for i in IDS]
    if answers == "in one message":
        results = [Message("tool", tuple(result(i, OUTPUT) for i in IDS))]
    elif answers == "backwards":
        results = results[::-1]
    done = compacted((user(), calling(*IDS), *results, agent(), user(), agent()))
    order = IDS[::-1] if answers == "backwards" else IDS
    assert cleared(done.messages) == list(order[:7])


def test_a_result_far_from_its_call_is_cleared_by_its_place():
    late = (calling("late"), *(m for i in range(3) for m in step(i)), Message("tool", (result("late", OUTPUT),)))
    done = compacted((user(), *late, agent(), user()), "microcompact(keep_recent=1)")
    assert cleared(done.messages) == ["c0", "c1", "c2"]


def test_ids_used_again_are_told_apart():
    steps = [m for _ in range(8) for m in (calling("same"), Message("tool", (result("same", OUTPUT),)))]
    done = compacted((user(), *steps, agent(), user()))
    assert [r.text == CLEARED for m in done.messages for r in m.results] == [True] * 3 + [False] * 5


def test_results_that_the_agent_has_not_seen_are_kept():
    unseen = (user(), *(m for i in range(3) for m in step(i)), calling(*IDS), Message("tool", tuple(
        result(i, OUTPUT) for i in IDS
    )))  # fmt: skip
    done = compacted(unseen, "microcompact(keep_recent=0)")
    assert cleared(done.messages) == ["c0", "c1", "c2"]


def test_a_pinned_result_is_kept():
    asked, answer = step(0)
    pinned = Message("tool", answer.blocks, pinned=True)
    done = compacted(session((asked, pinned), step(1)), "microcompact(keep_recent=0)")
    assert cleared(done.messages) == ["c1"]
    assert done.receipt.restored == ()


def test_a_whole_turn_in_one_message_is_cleared_within_it():
    turn = agent(*(b for i in IDS for b in (call(i), result(i, OUTPUT))), "all done")
    done = compacted((user(), turn, user(), agent(), user()))
    assert cleared(done.messages) == list(IDS[:7])
    assert len(done.messages) == 5
    assert done.messages[1].text == "all done"


@settings(max_examples=150)
@given(split_and_turn_shape(), st.integers(0, 8))
def test_both_storage_shapes_clear_the_same_results(shapes, keep):
    split, turns = (compacted(shape, f"microcompact(keep_recent={keep})") for shape in shapes)
    assert cleared(split.messages) == cleared(turns.messages)
    assert split.receipt.tokens_after == turns.receipt.tokens_after


@settings(max_examples=200)
@given(messages(), st.integers(0, 8))
def test_only_results_change_and_only_to_the_placeholder(given_messages, keep):
    before = history.repair(given_messages).messages
    after = history.split_turns(compacted(given_messages, f"microcompact(keep_recent={keep})").messages)[0]
    for old, new in zip(before, after, strict=True):
        for was, is_now in zip(old.blocks, new.blocks, strict=True):
            assert is_now == was or is_now == ToolResult(was.call_id, (Text(CLEARED),), was.is_error)


@settings(max_examples=100)
@given(messages(), st.integers(0, 8), st.none() | st.integers(1, 2_000))
def test_a_target_changes_nothing_but_the_flag(given_messages, keep, target):
    free = compacted(given_messages, f"microcompact(keep_recent={keep})")
    bound = compacted(given_messages, f"microcompact(keep_recent={keep})", target=target)
    assert bound.messages == free.messages


def test_pass_after_pass_what_was_cleared_stays_so_and_the_next_oldest_follow():
    held, number = (system(), user()), 0
    for _ in range(10):
        for _ in range(3):
            held += step(number)
            number += 1
        held = compacted((*held, agent(), user())).messages
    assert cleared(held) == [f"c{i}" for i in range(25)]
    assert not [r for m in held for r in m.results if CLEARED in r.text and r.text != CLEARED]


def test_cleared_results_count_among_the_newest():
    held = compacted(plain(10), "microcompact(keep_recent=2)").messages
    again = compacted(held, "microcompact(keep_recent=4)")
    assert again.messages == held


def test_it_takes_a_session_of_only_tool_traffic_after_one_request():
    done = compacted((user(), *(m for i in range(40) for m in step(i))))
    assert len(cleared(done.messages)) == 35
    assert done.receipt.saved > 0.5


def test_an_open_call_waits_for_its_result():
    done = compacted((user(), *(m for i in range(8) for m in step(i)), calling("open")))
    assert done.messages[-1] == calling("open")
    assert cleared(done.messages) == ["c0", "c1", "c2"]


def test_a_result_without_a_call_is_gone_before_it_counts():
    done = compacted((user(), answering("gone"), *(m for i in range(6) for m in step(i)), agent(), user()))
    assert cleared(done.messages) == ["c0"]
    assert len(done.receipt.repairs) == 1
