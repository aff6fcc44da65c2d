"""Souveraine as published: its constants, its five strategies, and the faults that it is known for."""

import pytest
from histories import agent, answering, call, calling, system, user
from peers import constants, held, raw, sources, steps, talk

from compactlab.llm import ModelError
from compactlab.llm.scripted import Scripted
from compactlab.markers import CLEARED, SUMMARY, THREADS
from compactlab.peers import souveraine
from compactlab.peers.souveraine import STRATEGIES, VARIANTS, Souveraine
from compactlab.strategies import Context
from compactlab.strategies.cull import TRIVIAL
from compactlab.strategies.microcompact import TOOLS
from compactlab.tokens import Meter
from compactlab.transcript import Message, Reasoning

PUBLISHED = {
    "strategy": "cull",
    "preserve_recent": 20,
    "max_summary_length": 2_048,
    "keep_results": 5,
    "steps_back": 8,
    "least_messages": 3,
}
TWELVE = tuple(f"c{i}" for i in range(12))


def of(name, **more):
    return Souveraine(strategy=name, **more)


def test_its_constants_are_those_that_were_published():
    assert constants(Souveraine) == PUBLISHED
    assert len(TRIVIAL) == 20
    assert set(TOOLS) == {"read", "bash", "grep", "glob", "list_dir", "edit", "write"}
    assert souveraine.REFLECT_TOKENS == 2_048
    assert (*STRATEGIES,) == ("cull", "microcompact", "sliding_window", "sliding_reflect", "summary")
    assert len(VARIANTS) == 4


@pytest.mark.parametrize(
    ("message", "goes"),
    [
        (user(" Thanks "), True),
        (user("thanks!"), False),
        (agent(""), True),
        (agent(Reasoning("hm"), "ok"), True),
        (Message("user", ()), True),
        (system("ok"), False),
        (calling("a"), False),
    ],
)
def test_cull_drops_old_messages_of_trivial_words(message, goes):
    given = raw(Souveraine(preserve_recent=2), [user(), message, *talk(4)])
    assert (1 not in sources(given)) == goes


def test_microcompact_clears_all_results_but_the_newest_five():
    given = raw(of("microcompact"), [user(), *steps(7), agent(call("m", "memory")), answering("m")])
    assert [m.results[0].text == CLEARED for m in given.messages if m.results] == [True, True, *[False] * 6]


def test_a_slide_keeps_the_first_message_and_the_newest_and_leaves_a_silent_gap():
    given = raw(of("sliding_window", preserve_recent=4), talk(30))
    assert sources(given) == [0, 26, 27, 28, 29]


def test_a_reflection_is_a_system_message_at_the_very_end():
    given = raw(of("sliding_reflect"), [system("You are Hob."), *talk(40)], "- the port")
    assert given.messages[-1] == Message("system", (given.messages[-1].blocks[0],), synthetic=True)
    assert given.messages[-1].text == f"{SUMMARY}\n{THREADS}\n- the port"
    assert sources(given) == [0, *range(21, 41), None]


@pytest.mark.parametrize("reply", [" ", ModelError("down")])
def test_a_reflection_that_fails_or_is_blank_is_a_plain_slide(reply):
    given = raw(of("sliding_reflect"), talk(40), reply)
    assert sources(given) == [0, *range(20, 40)]


def test_only_the_beginning_of_what_goes_is_read():
    model = Scripted("short")
    of("summary").compact(tuple(talk(80, length=100)), Context(Meter(), model=model))
    assert "Message 10:" in model.requests[0].prompt
    assert "Message 50:" not in model.requests[0].prompt


def test_a_summary_is_taken_as_it_comes_and_its_failure_ends_the_pass():
    given = raw(of("summary"), talk(40), "<analysis>hm</analysis> ")
    assert given.messages[-1].text == f"{SUMMARY}\n<analysis>hm</analysis> "
    assert held(of("summary"), talk(40), ModelError("down")).receipt.outcome == "failed"


# ---- known faults


def test_a_summary_parts_a_call_from_its_results_and_the_guard_rejects_the_note_behind_it():
    messages = [system(), *talk(10), calling("a"), answering("a"), *talk(19)]
    off = held(of("summary", guard="off"), messages).receipt
    assert off.broken == ("anthropic:late_system", "anthropic:orphan_result", "openai:orphan_result")
    on = held(of("summary"), messages)
    assert (on.receipt.outcome, on.receipt.reason) == ("rejected", "would break anthropic:late_system")
    assert on.messages == tuple(messages)


def test_twelve_calls_at_once_are_parted_after_eight_steps_and_the_guard_keeps_them_whole():
    messages = [user(), *talk(20), calling(*TWELVE), *map(answering, TWELVE), user(), agent(), user(), agent()]
    off = held(of("sliding_window", preserve_recent=5, guard="off"), messages)
    assert "openai:orphan_result" in off.receipt.broken
    assert len({r.call_id for m in off.messages for r in m.results}) == 9
    on = held(of("sliding_window", preserve_recent=5), messages)
    assert on.receipt.outcome == "applied"
    assert len({r.call_id for m in on.messages for r in m.results}) == 12


def test_a_step_back_to_the_beginning_ends_in_an_error():
    messages = [calling("a"), answering("a"), user()]
    assert held(of("sliding_reflect", preserve_recent=2), messages).receipt.outcome in {"failed", "skipped"}
    with pytest.raises(IndexError):
        raw(of("sliding_reflect", preserve_recent=1), [calling("a", "b"), answering("a"), answering("b")])


def test_cull_takes_answers_that_ours_keeps():
    messages = [user(), agent("Shall I delete the archive?"), user("no"), *talk(30)]
    assert 2 not in sources(raw(Souveraine(), messages))


def test_the_request_behind_a_system_prompt_goes_and_the_guard_brings_it_back():
    messages = [system(), *talk(40)]
    assert 1 not in sources(raw(of("sliding_window"), messages))
    assert held(of("sliding_window"), messages).receipt.restored == (1,)
