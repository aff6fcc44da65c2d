"""hermes: its constants, what it prunes, where it cuts, what it asks, and the faults that it is known for."""

import json

import pytest
from histories import agent, answering, call, calling, result, system, user
from peers import constants, held, raw, sources, steps, talk

from compactlab.llm import ModelError
from compactlab.llm.scripted import Scripted
from compactlab.peers import _hermes_border as border
from compactlab.peers import _hermes_words as words
from compactlab.peers import hermes
from compactlab.peers._hermes_prune import DUPLICATE, STRIPPED, Pruning, described
from compactlab.peers.hermes import STUB, Hermes, is_thrashing
from compactlab.strategies import Context
from compactlab.tokens import Meter
from compactlab.transcript import Image, Message, Text

PUBLISHED = {
    "threshold": 0.50,
    "least_threshold": 64_000,
    "protect_first": 3,
    "protect_last": 20,
    "target_ratio": 0.20,
    "summary_ratio": 0.20,
    "summary_least": 2_000,
    "summary_most": 12_000,
    "result_chars": 200,
    "argument_chars": 500,
    "leaf_chars": 200,
    "abort_on_failure": False,
}
LONG = [system(), user(), agent(), user("And the index?"), *talk(58, length=200)]


def test_its_constants_are_those_that_were_published():
    assert constants(Hermes) == PUBLISHED
    assert (border.SOFT, border.LEAST_TAIL, border.IMAGE_CHARS) == (1.5, (3, 8), 6_400)
    assert (words.READ_CHARS, words.READ_ARGUMENTS) == ((6_000, 4_000, 1_500), (1_500, 1_200, 0))
    assert (words.FOCUS_TURNS, words.FOCUS_CHARS, words.FOCUS_LIMIT) == (3, 260, 700)
    fallback = (words.FALLBACK_CHARS, words.FALLBACK_TURN, words.FALLBACK_TURNS)
    assert (*fallback, words.FALLBACK_FILES, words.FALLBACK_BLOCKERS) == (8_000, 700, 8, 12, 5)
    assert len(words.SECTIONS) == 13
    assert hermes.LEAST_SAVED == 0.10


@pytest.mark.parametrize(
    ("window", "threshold"), [(200_000, 100_000), (128_000, 64_000), (64_000, 64_000), (8_000, 64_000), (None, 77)]
)
def test_its_threshold_is_half_of_the_window_and_never_under_64_000(window, threshold):
    assert Hermes().threshold_of(Context(Meter(), window=window), 77) == threshold


def test_equal_results_are_named_once_the_newest_stays():
    same = [Message("tool", (result(i, "same " * 50),)) for i in "abc"]
    pruned = Pruning(200, 500, 200).pruned(same, 0)
    assert [message.results[0].text == DUPLICATE for message in pruned] == [True, True, False]


@pytest.mark.parametrize(
    ("name", "arguments", "line"),
    [
        ("terminal", '{"command": "ls -la"}', "[terminal] ran `ls -la` -> 2 lines output"),
        ("read_file", '{"path": "a.py"}', "[read_file] read a.py (7 chars)"),
        ("write_file", '{"path": "a.py", "content": "x"}', "[write_file] wrote a.py (7 chars)"),
        ("search_files", '{"pattern": "port"}', "[search_files] 2 matches for 'port'"),
        ("memory", "no json", "[memory] (7 chars)"),
    ],
)
def test_an_old_result_becomes_a_line_that_says_what_was_done(name, arguments, line):
    assert described(call("c", name, arguments), "one\ntwo") == line


def test_long_arguments_stay_json():
    arguments = json.dumps({"path": "a.py", "content": "x" * 900, "edits": [{"new": "y" * 300}]})
    cut = json.loads(Pruning(200, 500, 200).cut_arguments(arguments))
    assert cut["content"] == "x" * 200 + "...[truncated]"
    assert cut["edits"][0]["new"] == "y" * 200 + "...[truncated]"
    assert Pruning(200, 500, 200).cut_arguments("not json " * 90) == "not json " * 90


def test_head_summary_tail():
    given = raw(Hermes(), LONG, "## Goal\nMove it.")
    tail = [source for source in sources(given) if source is not None][4:]
    assert sources(given)[:5] == [0, 1, 2, 3, None]
    assert tail == list(range(tail[0], len(LONG)))
    assert given.messages[4].text.startswith(f"{words.PREFIX} {words.FRAME}\n## Goal\nMove it.")
    assert given.messages[4].text.endswith(words.END)
    assert given.messages[0].text.endswith(hermes.SYSTEM_NOTE)


def test_the_tail_is_a_fifth_of_the_threshold_and_may_be_half_over():
    weights = [border.tokens(message) for message in LONG]
    tail = [source for source in sources(raw(Hermes(), LONG)) if source is not None][4:]
    weight = sum(weights[i] for i in tail)
    assert 0.2 * sum(weights) < weight <= 0.3 * sum(weights)


def test_the_last_words_of_both_and_whole_groups_are_in_the_tail():
    messages = [system(), *talk(20, length=200), user("The request."), *steps(20, 900)]
    given = raw(Hermes(), messages)
    assert 21 in sources(given)
    assert sources(given)[-41:] == list(range(21, 62))


def test_what_the_last_pass_left_is_brought_up_to_date():
    first = raw(Hermes(), LONG, "the old one").messages
    model = Scripted("the new one")
    Hermes().compact((*first, *talk(60, length=200)), Context(Meter(), model=model))
    assert "There is a summary so far" in model.requests[0].prompt
    assert model.requests[0].prompt.count("the old one") == 1
    assert words.PREFIX not in model.requests[0].prompt


def test_secrets_are_taken_out_of_what_is_read_and_what_is_written():
    secret = "sk-ant-api03-" + "Ab3" * 30
    messages = [system(), *talk(6, length=200), user(f"The key is {secret}."), *talk(50, length=200)]
    model = Scripted(f"key {secret}")
    given = Hermes().compact(tuple(messages), Context(Meter(), model=model))
    assert secret not in model.requests[0].prompt
    assert not any(secret in message.text for message in given.messages)


def test_a_model_that_fails_leaves_a_summary_by_code_or_ends_the_pass():
    given = raw(Hermes(), LONG, ModelError("down"))
    assert given.fell_back
    assert "## Last turns" in given.messages[4].text
    assert held(Hermes(abort_on_failure=True), LONG, ModelError("down")).receipt.outcome == "failed"


@pytest.mark.parametrize(
    ("head", "tail", "role"),
    [("assistant", "assistant", "user"), ("user", "user", "assistant"), ("assistant", "user", "merged")],
)
def test_the_summary_takes_the_role_that_fits(head, tail, role):
    messages = [Message(head, (Text("head"),)), user("middle"), Message(tail, (Text("tail"),))]
    whole = Hermes()._assembled(messages, 1, 2, "SUMMARY")
    assert [m.text.split("\n")[0] for m in whole] == (
        ["head", "SUMMARY"] if role == "merged" else ["head", "SUMMARY", "tail"]
    )
    assert whole[1].role == ("user" if role == "merged" else role)


def test_pictures_before_the_newest_one_are_taken_out():
    picture = Message("user", (Text("see"), Image("image/png")))
    given = raw(Hermes(), [system(), picture, *talk(60, length=200), picture])
    assert given.messages[1].text == f"see\n{STRIPPED}"
    assert any(isinstance(block, Image) for block in given.messages[-1].blocks)


def test_two_passes_that_saved_less_than_a_tenth_stop_it():
    assert is_thrashing([0.4, 0.09, 0.02])
    assert not is_thrashing([0.4, 0.09])
    assert not is_thrashing([0.02])


# ---- known faults


def test_a_blank_summary_is_taken():
    done = held(Hermes(), LONG, "\n ")
    assert done.receipt.outcome == "applied"
    [note] = [message.text for message in done.messages if words.PREFIX in message.text]
    assert note.partition(f"{words.FRAME}\n")[2].partition(words.END)[0].strip() == ""


def test_in_a_small_window_everything_fits_the_tail_and_nothing_goes():
    assert raw(Hermes(), [system(), *talk(30)], window=64_000).notes == ("ineffective",)
    assert held(Hermes(), [system(), *talk(9)], window=8_000).receipt.outcome != "applied"


def test_a_call_that_still_runs_is_given_a_result_and_the_guard_rejects_that():
    messages = [*LONG, calling("open")]
    off = held(Hermes(guard="off"), messages)
    assert off.messages[-1].results[0].text == STUB
    on = held(Hermes(), messages)
    assert on.receipt.reason == "a made message holds a tool call or result"
    assert on.messages == tuple(messages)


def test_equal_results_are_replaced_in_the_protected_tail_and_the_guard_brings_them_back():
    same = "the very same line\n" * 30
    turn = [calling("a", "b"), Message("tool", (result("a", same),)), Message("tool", (result("b", same),))]
    off, on = held(Hermes(guard="off"), [*LONG, *turn]), held(Hermes(), [*LONG, *turn])
    assert off.messages[-2].results[0].text == DUPLICATE
    assert on.messages[-2].results[0].text == same


def test_arguments_no_longer_show_what_was_called():
    wrote = agent(call("w", "write", json.dumps({"path": "a.py", "content": "x" * 900})))
    given = raw(Hermes(), [system(), user(), wrote, answering("w"), *talk(60, length=200)])
    assert "x" * 201 not in given.messages[2].calls[0].arguments
