"""jcode: its constants, the summary and the emergency, its proactive trigger, and the faults that it is known for."""

import pytest
from histories import agent, answering, call, calling, system, user
from peers import constants, held, raw, sources, steps, talk

from compactlab.llm.scripted import Scripted
from compactlab.peers import jcode
from compactlab.peers.jcode import EMERGENCY, FORM, HEADING, JCode
from compactlab.strategies import Context, note
from compactlab.tokens import Meter
from compactlab.transcript import Image, Message

PUBLISHED = {
    "trigger": "manual",
    "budget": 200_000,
    "threshold": 0.80,
    "critical": 0.95,
    "manual_from": 0.10,
    "keep_recent": 10,
    "keep_least": 2,
    "image_tokens": 1_600,
    "overhead_tokens": 18_000,
    "overhead_from": 100_000,
    "result_chars": 4_000,
    "image_chars": 1_024,
    "read_result_bytes": 500,
    "set_aside_tokens": 4_000,
    "file_mentions": 30,
}


def test_its_constants_are_those_that_were_published():
    assert constants(JCode) == PUBLISHED
    assert (jcode.SMOOTHING, jcode.AHEAD, jcode.SAMPLES, jcode.LEAST_USE, jcode.COOLDOWN) == (0.3, 15, 20, 0.40, 10)


@pytest.mark.parametrize(
    ("message", "tokens"),
    [
        (user("a" * 40), 10),
        (agent(call("c", "a_long_name", "{}")), 13),  # 2 characters and 50
        (answering("c"), 6),  # 4 and 20
        (Message("user", (Image("image/png"),)), 1_600),
    ],
)
def test_it_counts_characters_with_what_it_adds(message, tokens):
    assert JCode().tokens([message], 50_000) == tokens
    assert JCode().tokens([message], 100_000) == tokens + 18_000


def test_the_newest_ten_stay_behind_one_summary():
    given = raw(JCode(), [system(), *talk(30)], "**Context** moved")
    assert sources(given) == [0, None, *range(21, 31)]
    assert given.messages[1].text.startswith(f"{HEADING}\n\n**Context** moved")


def test_the_summary_so_far_is_written_anew():
    model = Scripted("the new one")
    messages = (system(), note(f"{HEADING}\n\nthe old one\n\n---"), *talk(30))
    given = JCode().compact(messages, Context(Meter(), model=model))
    assert "the old one" in model.requests[0].prompt
    assert "the old one" not in given.messages[1].text
    assert len(given.messages) == 12


def test_results_are_read_to_five_hundred_bytes():
    model = Scripted("short")
    JCode().compact((user(), *steps(12, 2_000)), Context(Meter(), model=model))
    shown = model.requests[0].prompt
    assert max(len(line) for line in shown.split("\n\n") if line.startswith("[Result:")) == len("[Result: ]") + 500
    assert all(part in FORM.task for part in ("Context", "What we did", "Current state", "User preferences"))


def test_the_border_steps_back_until_each_result_has_its_call():
    twelve = [f"c{i}" for i in range(12)]
    given = raw(JCode(), [*talk(9), calling(*twelve), *map(answering, twelve)])
    assert sources(given) == [None, *range(9, 22)]


def test_over_95_per_cent_a_hint_by_code_stands_for_a_summary():
    model = Scripted("never asked")
    messages = [user("See src/app.py and https://a.example/b.toml."), *steps(30, 1_000)]
    given = raw(JCode(), messages, window=5_000)
    assert model.requests == []
    assert given.notes == ("emergency: 10 messages stay",)
    assert EMERGENCY in given.messages[0].text
    assert "Tools used: bash. Files: src/app.py." in given.messages[0].text


@pytest.mark.parametrize(("budget", "kept"), [(9_000, 10), (4_000, 5), (1_000, 2)])
def test_in_an_emergency_ten_then_five_then_two_messages_stay(budget, kept):
    given = raw(JCode(trigger="emergency"), talk(60, length=500), target=budget)
    assert len(given.messages) == 1 + kept


def test_what_is_still_too_much_loses_the_middle_of_its_results():
    given = raw(JCode(), [user(), *steps(12, 20_000)], target=2_000)
    assert [len(m.results[0].text) for m in given.messages if m.results] == [3_046]
    assert "chars truncated for context recovery]" in given.messages[-1].results[0].text


@pytest.mark.parametrize(
    ("trigger", "window", "deferred"),
    [("manual", 3_000, False), ("manual", 60_000, True), ("reactive", 3_000, True), ("reactive", 2_400, False)],
)
def test_it_defers_under_its_trigger(trigger, window, deferred):
    given = raw(JCode(trigger=trigger), talk(40), window=window)
    assert bool(given.deferred) == deferred


@pytest.mark.parametrize(
    ("messages", "budget", "fires"),
    [
        (steps(20), 5_000, True),  # about 140 tokens a turn, fifteen turns ahead
        (steps(20), 20_000, False),  # less than 40 % is used
        (steps(9), 4_000, False),  # less than ten turns
        ([*steps(20), *(agent("") for _ in range(6))], 4_500, False),  # it grows no more
    ],
)
def test_the_proactive_trigger_looks_fifteen_turns_ahead(messages, budget, fires):
    assert JCode().grows_over(messages, budget) == fires


# ---- known faults


def test_an_orphaned_result_in_the_tail_ends_compaction_and_the_guard_takes_it_away_first():
    messages = [*talk(30), answering("never called"), user()]
    assert sources(raw(JCode(), messages)) == list(range(32))
    guarded = held(JCode(), messages)
    assert guarded.receipt.outcome == "applied"
    assert guarded.receipt.repairs == ("dropped 'never called' at message 30: no call before it",)


def test_the_first_request_goes_and_the_guard_brings_it_back():
    off, on = held(JCode(guard="off"), talk(30)), held(JCode(), talk(30))
    assert "Move the orders table." not in [message.text for message in off.messages]
    assert on.messages[0].text == "Move the orders table."
    assert on.receipt.restored == (0,)


def test_emergency_paragraphs_add_up():
    strategy = JCode(trigger="emergency", guard="off")
    once = held(strategy, talk(30)).messages
    twice = held(strategy, (*once, *talk(30))).messages
    assert [m[0].text.count(EMERGENCY) for m in (once, twice)] == [1, 2]


def test_ten_messages_stay_whatever_they_weigh():
    given = held(JCode(), [*talk(30), *steps(4, 8_000), user()], window=20_000)
    assert given.receipt.outcome == "applied"
    assert given.receipt.tokens_after > 0.4 * 20_000
