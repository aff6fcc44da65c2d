"""The two harnesses of Letta: their constants, where they cut, what they ask, and the faults they are known for."""

import json

import pytest
from histories import agent, answering, calling, system, user
from peers import constants, held, raw, sources, steps, talk

from compactlab.llm import ModelError, TooLong
from compactlab.llm.scripted import Scripted
from compactlab.peers import letta_code
from compactlab.peers._letta import STEP, Search, summary_in
from compactlab.peers.letta import Letta
from compactlab.peers.letta_code import LettaCode
from compactlab.strategies import Context
from compactlab.tokens import Meter

SERVER = {
    "mode": "sliding_window",
    "percentage": 0.30,
    "trigger": 0.90,
    "safety_margin": 1.3,
    "clip_chars": 50_000,
    "words": 300,
    "words_of_all": 500,
    "clamp_chars": 5_000,
    "transcript_share": 0.6,
}
CLIENT = {
    "mode": "sliding_window",
    "percentage": 0.30,
    "reserve_tokens": 16_384,
    "reserve_share": 0.20,
    "least_window": 30_000,
    "least_messages": 4,
    "image_tokens": 1_200,
    "read_result_chars": 2_000,
    "words": 300,
    "words_of_all": 500,
}
ALL = Letta(mode="all")


def test_their_constants_are_those_that_were_published():
    assert constants(Letta) == SERVER
    assert constants(LettaCode) == CLIENT
    assert STEP == 0.10
    assert letta_code.OVERFLOW == (120_000, 90_000, 60_000, 40_000, 25_000, 15_000, 10_000, 6_000, 4_000, 2_000)


def test_tokens_are_bytes_over_four_and_a_margin_at_the_server_and_characters_over_four_in_the_client():
    message = user("ä" * 20)
    assert Letta().weigh(message) == 13
    assert LettaCode().weigh(message) == 5


@pytest.mark.parametrize(
    ("goal", "border"),
    [
        (70, 39),  # 40 % of 101 messages: the last of the agent at most there
        (60, 49),  # then 10 % more, until less than the goal is left
        (10, None),  # at 90 %: the end of the search, though the border would do
        (200, None),  # nothing has to go: no border at all
    ],
)
def test_the_first_cut_takes_40_per_cent_and_each_further_one_10_more(goal, border):
    body = [user() if i % 2 == 0 else agent() for i in range(100)]
    assert Search(0.30, goal, 1, 0).border(body, lambda _: 1.0) == border


def test_it_cuts_at_a_message_of_the_agent_so_that_no_call_is_parted():
    given = raw(Letta(), [system(), user(), *steps(30), user()])
    assert given.messages[2].role == "assistant"
    assert sources(given) == [0, None, *range(given.messages[2].source, 63)]
    assert held(Letta(guard="off"), [system(), user(), *steps(30), user()]).receipt.broken == ()


def test_the_summary_is_packed_as_json_that_says_what_it_is():
    note = raw(Letta(), [system(), *talk(40)], 'the "port"').messages[1]
    packed = json.loads(note.text)
    assert packed["type"] == "system_alert"
    assert packed["compaction_stats"]["messages_before"] == 40
    assert summary_in(note) == 'the "port"'
    assert summary_in(user(note.text)) == ""


@pytest.mark.parametrize(
    ("peer", "words", "parts"),
    [(Letta(), 300, 5), (ALL, 500, 7), (LettaCode(), 300, 5), (LettaCode(mode="all"), 500, 7)],
)
def test_a_slide_asks_for_five_parts_and_all_for_seven(peer, words, parts):
    model = Scripted("short")
    peer.compact((system(), *talk(40)), Context(Meter(), model=model))
    task = model.requests[0].prompt.partition(".\n\n")[0]
    assert f"at most {words} words" in task
    assert len(task.partition("parts: ")[2].split(";")) == parts
    assert "Lookup hints" in task


def test_a_model_that_fails_makes_a_slide_an_all():
    given = raw(Letta(), [system(), *talk(40)], ModelError("down"), "all of it")
    assert sources(given) == [0, None]
    assert held(ALL, talk(40), ModelError("down")).receipt.outcome == "failed"


def test_a_request_that_is_too_long_is_tried_with_shorter_results_and_then_without_its_middle():
    model = Scripted(TooLong("long"), TooLong("long"), "short")
    ALL.compact((user(), *steps(10, 9_000)), Context(Meter(), model=model, window=4_000))
    whole, clamped, ends = (len(request.prompt) for request in model.requests)
    assert whole > 90_000 > clamped > 50_000 > ends
    assert ends < 4_000 * 0.6 * 4 + 700


def test_the_client_cuts_more_and_more_of_the_middle():
    model = Scripted(*[TooLong("long")] * 4, "short")
    LettaCode(mode="all").compact((user(), *talk(600, length=60)), Context(Meter(), model=model))
    assert [len(r.prompt) // 10_000 for r in model.requests] == [19, 12, 9, 6, 4]


@pytest.mark.parametrize(
    ("window", "threshold"), [(200_000, 183_616), (81_920, 65_536), (50_000, 40_000), (4, 3), (2, 1)]
)
def test_the_client_compacts_above_the_window_less_16_384_or_a_fifth(window, threshold):
    assert LettaCode().threshold(window) == threshold


def test_the_client_refuses_a_system_prompt_over_the_window_and_minds_a_small_one():
    assert raw(LettaCode(), [system("x" * 8_000), *talk(9)], window=1_000).deferred.startswith("the system prompt")
    assert "a window under 30,000 tokens" in raw(LettaCode(), talk(40), window=2_000).notes


def test_the_client_summarises_what_has_less_than_four_messages():
    assert sources(raw(LettaCode(), talk(3))) == [None]


# ---- known faults


def test_a_slide_that_left_too_much_loses_what_slid_out_as_text_and_as_summary():
    messages = [system("s" * 4_000), *talk(30), agent("x" * 4_000), user("Now?")]
    given = raw(Letta(guard="off"), messages, "FIRST " * 1_000, "SECOND", window=6_000)
    assert "FIRST" not in given.messages[-1].text
    assert summary_in(given.messages[-1]) == "SECOND"
    client = raw(LettaCode(), messages, "FIRST " * 1_500, "SECOND", window=4_800)
    assert summary_in(client.messages[-1]) == "SECOND"


def test_the_second_summary_of_the_client_reads_the_first():
    model = Scripted("FIRST " * 1_500, "SECOND")
    messages = (system("s" * 4_000), *talk(30), agent("x" * 4_000), user("Now?"))
    LettaCode().compact(messages, Context(Meter(), model=model, window=4_800))
    assert len(model.requests) == 2
    assert "FIRST" in model.requests[1].prompt


def test_all_keeps_not_even_the_request_at_hand_and_the_guard_brings_it_back():
    messages = [system(), *talk(20), user("Delete nothing. Which port?")]
    off, on = held(Letta(mode="all", guard="off"), messages), held(ALL, messages)
    assert [m.role for m in off.messages] == ["system", "user"]
    assert [m.text for m in on.messages][-1] == "Delete nothing. Which port?"
    assert on.receipt.restored == (1, 20, 21)


def test_a_list_that_is_under_the_goal_is_wiped_whole():
    assert raw(Letta(), talk(30), window=100_000).notes == ("all summarised",)
    assert raw(LettaCode(), talk(30), window=100_000).notes == ("all summarised",)


def test_a_blank_summary_is_taken():
    assert summary_in(held(Letta(), talk(40), " ").messages[1]) == " "


def test_a_call_that_waits_is_parted_from_nothing_by_a_slide():
    messages = [*talk(40), calling("a"), answering("a"), calling("open")]
    assert held(Letta(guard="off"), messages).receipt.broken == ()
