"""OpenHarness: its constants, the steps of its ladder, what it builds, and the faults that it is known for."""

import pytest
from histories import agent, answering, call, calling, result, system, user
from peers import SUMMARY, constants, held, long_text, raw, sources, steps, talk

from compactlab.llm import ModelError, TooLong
from compactlab.llm.scripted import Scripted
from compactlab.markers import CLEARED
from compactlab.peers.openharness import BOUNDARY, TOOLS, OpenHarness
from compactlab.strategies import Context
from compactlab.tokens import Meter
from compactlab.transcript import Image, Message, Text

PUBLISHED = {
    "trigger": "auto",
    "keep_results": 5,
    "preserve_recent": 6,
    "memory_recent": 12,
    "memory_lines": 48,
    "memory_chars": 4_000,
    "memory_line_chars": 160,
    "window": 200_000,
    "summary_tokens": 20_000,
    "buffer_tokens": 13_000,
    "collapse_chars": 2_400,
    "collapse_head": 900,
    "collapse_tail": 500,
    "clearable_chars": 4_000,
    "image_tokens": 3_072,
    "attempts": 3,
}
MANUAL = OpenHarness(trigger="manual")


def test_its_constants_are_those_that_were_published():
    assert constants(OpenHarness) == PUBLISHED
    assert TOOLS == ("read_file", "bash", "grep", "glob", "web_search", "web_fetch", "edit_file", "write_file")


@pytest.mark.parametrize(
    ("window", "threshold"), [(200_000, 167_000), (128_000, 95_000), (32_000, -1_000), (None, 40_000)]
)
def test_its_threshold_is_the_window_less_what_is_set_aside(window, threshold):
    assert OpenHarness().threshold(Context(Meter(), window=window), 40_000) == threshold


@pytest.mark.parametrize(
    ("message", "tokens"),
    [
        (user("a" * 12), 4),  # 3 tokens, and a third
        (user(""), 1),
        (agent(call("c", "bash", "{}" * 3)), 4),  # name and arguments
        (Message("user", (Image("image/png"),)), 4_096),
        (system("a" * 13), 5),
    ],
)
def test_it_counts_a_quarter_of_the_characters_and_a_third_more(message, tokens):
    assert OpenHarness().estimate([message]) == tokens


def test_old_results_are_cleared_but_for_five_and_that_may_be_enough():
    given = raw(OpenHarness(), [user(), *steps(8), user()])
    texts = [message.results[0].text for message in given.messages if message.results]
    assert given.notes == ("microcompact",)
    assert [text == CLEARED for text in texts] == [True] * 3 + [False] * 5


@pytest.mark.parametrize(
    ("name", "length", "cleared"),
    [("Read", 10, True), ("mcp__db__query", 10, True), ("memory", 10, False), ("memory", 4_000, True)],
)
def test_results_of_its_tools_of_any_mcp_tool_and_long_ones_can_be_cleared(name, length, cleared):
    given = raw(OpenHarness(), [user(), *steps(1, length, name), *steps(5)[2:], *steps(6)[2:], user()])
    assert (given.messages[2].results[0].text == CLEARED) == cleared


def test_long_texts_of_the_older_part_keep_their_ends():
    messages = [user(), long_text(3_000), *talk(7), long_text(3_000)]
    given = raw(OpenHarness(), messages, target=OpenHarness().estimate(messages) - 10)
    assert given.notes == ("context collapse",)
    assert given.messages[1].text == "a" * 900 + "\n...[collapsed 1600 chars]...\n" + "a" * 500
    assert given.messages[-1].text == "a" * 3_000


def test_forty_messages_become_fourteen_without_a_model():
    model = Scripted("never asked")
    given = OpenHarness().compact(tuple(talk(40)), Context(Meter(), model=model))
    assert given.notes == ("session memory",)
    assert len(given.messages) == 14
    assert model.requests == []
    assert given.messages[1].text.split("\n")[2].startswith("user: Move the orders table.")


def test_a_summary_stands_behind_its_marker_and_before_the_newest_six():
    given = raw(MANUAL, [system(), *talk(16)])
    assert sources(given) == [0, None, None, *range(11, 17)]
    assert given.messages[1].text.startswith(BOUNDARY)
    assert "Summary:\nThe port is 5433." in given.messages[2].text
    assert "hm" not in given.messages[2].text


def test_the_border_steps_back_from_between_a_call_and_its_results():
    messages = [*talk(6), calling("a", "b", "c"), answering("a"), answering("b", "c"), *talk(5)]
    assert sources(raw(MANUAL, messages))[2:4] == [6, 7]


def test_under_a_target_it_gives_everything_back():
    given = raw(OpenHarness(), talk(40), target=100_000)
    assert sources(given) == list(range(40))


# ---- known faults


def test_three_requests_that_are_too_long_end_as_a_success_that_made_it_longer():
    given = raw(MANUAL, talk(14), TooLong("too long"))
    assert len(given.messages) == 15
    assert sources(given)[1:] == list(range(14))
    off = held(OpenHarness(trigger="manual", guard="off"), talk(14), TooLong("too long"))
    assert off.receipt.outcome == "applied"
    assert off.receipt.tokens_after > off.receipt.tokens_before
    assert held(MANUAL, talk(14), TooLong("too long")).receipt.outcome == "rejected"


def test_a_request_that_is_too_long_is_asked_again_without_the_oldest_fifth():
    model = Scripted(TooLong("too long"), SUMMARY)
    given = MANUAL.compact(tuple(talk(40)), Context(Meter(), model=model))
    assert len(given.messages) == 8
    assert [len(request.material) for request in model.requests] == [34, 28]


def test_any_other_fault_of_the_model_ends_the_pass():
    assert held(MANUAL, talk(14), ModelError("down")).receipt.outcome == "failed"


def test_an_agent_loses_its_words_with_a_call_that_waits_and_the_guard_brings_them_back():
    messages = [*talk(14), agent("Shall I?", call("open"))]
    assert 14 not in sources(raw(MANUAL, messages))
    assert held(OpenHarness(trigger="manual", guard="off"), messages).messages[-1].text != "Shall I?"
    guarded = held(MANUAL, messages)
    assert guarded.messages[-1] == messages[-1]
    assert guarded.receipt.restored == (0, 14)


def test_a_small_window_never_reaches_its_threshold_so_that_each_pass_goes_to_the_end():
    messages = [user(), *steps(20), user()]
    assert raw(OpenHarness(), messages).notes == ("microcompact",)
    assert raw(OpenHarness(), messages, window=32_000).notes == ("session memory",)


def test_results_without_their_call_are_taken_from_the_tail():
    messages = [*talk(9), calling("a", "b"), answering("a"), user("wait"), Message("tool", (result("b"),)), *talk(2)]
    left = raw(MANUAL, messages)
    assert not any(message.calls or message.results for message in left.messages)
    assert Text("wait") in [block for message in left.messages for block in message.blocks]
