"""claw-code: its constants, the summary by code, Trident, and the faults that it is known for."""

import pytest
from histories import agent, answering, call, calling, result, system, user
from peers import constants, held, raw, sources, steps, talk

from compactlab.peers import claw_code
from compactlab.peers._trident import COLLAPSED
from compactlab.peers.claw_code import PREAMBLE, ClawCode, tokens
from compactlab.transcript import Message

PUBLISHED = {
    "automatic": True,
    "trident": False,
    "preserve_recent": 4,
    "max_tokens": 10_000,
    "requests": 3,
    "open_items": 3,
    "key_files": 8,
    "line_chars": 160,
    "current_chars": 200,
    "run_length": 4,
    "run_chars": 200,
    "topics": 5,
    "topic_chars": 80,
    "similarity": 0.6,
    "cluster_size": 3,
}
TRIDENT = ClawCode(trident=True)


def editing(call_id, path, name="edit"):
    return agent(call(call_id, name, f'{{"path": "{path}", "new": "{call_id}"}}'))


def test_its_constants_are_those_that_were_published():
    assert constants(ClawCode) == PUBLISHED
    assert claw_code.OPEN_WORK == ("todo", "next", "pending", "follow up", "remaining")
    assert claw_code.ENDINGS == (".rs", ".ts", ".tsx", ".js", ".json", ".md")


@pytest.mark.parametrize(
    ("message", "expected"), [(user("a" * 8), 3), (agent(call("c", "bash", "{}")), 2), (user("ä" * 4), 3)]
)
def test_it_counts_bytes_over_four_and_one_a_block(message, expected):
    assert tokens(message) == expected


def test_a_summary_names_what_went():
    messages = [user("Look at src/app.rs, then the next one."), *steps(6), agent("TODO: the docs."), *talk(4)]
    given = raw(ClawCode(), [system(), *messages])
    lines = given.messages[1].text.split("\n")
    assert sources(given) == [0, None, *range(15, 19)]
    assert lines[:8] == [
        PREAMBLE,
        "",
        "Summary:",
        "- Scope: 14 messages (user=1, assistant=7, tool=6)",
        "- Tools: bash",
        "- Requests of the user:",
        "  - Look at src/app.rs, then the next one.",
        "- Open work:",
    ]
    assert "- Files: src/app.rs" in lines
    assert "- Current work: TODO: the docs." in lines
    assert sum(line.startswith("  - tool: tool_result bash: result") for line in lines) == 6


def test_the_summary_before_is_carried_on_without_its_timeline():
    first = raw(ClawCode(), talk(12)).messages
    given = raw(ClawCode(), [*first, *talk(12)])
    text = given.messages[0].text
    assert text.count("- Timeline:") == 1
    assert text.count("\n  - - Scope: ") == 2
    assert sources(given) == [None, *range(13, 17)]


def test_the_border_steps_back_to_the_call():
    messages = [*talk(6), calling("a", "b", "c", "d", "e"), *map(answering, "abcde")]
    assert sources(raw(ClawCode(), messages)) == [None, *range(6, 12)]


def test_by_hand_it_does_nothing_under_ten_thousand_tokens():
    assert sources(raw(ClawCode(automatic=False), talk(20))) == list(range(20))
    assert len(raw(ClawCode(automatic=False), talk(20, length=500)).messages) == 5


def test_trident_collapses_runs_of_short_talk():
    given = raw(TRIDENT, [*(m for i in range(6) for m in (user(f"q{i}"), agent(f"a{i}"))), *steps(4)[:8]])
    assert f"{COLLAPSED} 6 assistant, 6 user" in given.messages[0].text


# ---- known faults


def test_trident_takes_a_call_and_leaves_its_result_and_the_guard_puts_the_pair_together():
    messages = [user(), editing("a", "x.py"), answering("a"), editing("b", "x.py"), answering("b"), *talk(6)]
    off = held(ClawCode(trident=True, guard="off", preserve_recent=9), messages)
    assert "a" not in {call.id for message in off.messages for call in message.calls}
    assert {"anthropic:orphan_result", "openai:orphan_result"} <= set(off.receipt.broken)
    on = held(ClawCode(trident=True, preserve_recent=9), [*messages, *talk(6)])
    assert on.receipt.broken == ()
    assert {call.id for m in on.messages for call in m.calls} == {r.call_id for m in on.messages for r in m.results}


def test_three_plain_messages_of_a_person_become_one_line_the_latest_request_among_them():
    asked = [user(f"{i} " + "Please never touch the archive. " * 8) for i in range(3)]
    messages = [m for said in asked for m in (said, *steps(1, 300, "bash", said.text[:1]))]
    off = held(ClawCode(trident=True, guard="off"), messages)
    assert not any("never touch" in message.text for message in off.messages)
    assert "[Clustered 3 messages]" in "".join(message.text for message in off.messages)
    on = held(TRIDENT, messages).messages
    assert [m for m in asked if m in on] == [asked[0], asked[2]]


def test_an_earlier_edit_goes_though_both_stand_in_the_file():
    messages = [*talk(3), editing("a", "x.py"), answering("a"), editing("b", "x.py"), answering("b"), *talk(2)]
    assert sources(raw(ClawCode(trident=True, preserve_recent=40, similarity=2), messages)) == [0, 1, 2, 4, 5, 6, 7, 8]


def test_a_summary_may_weigh_more_than_what_it_replaces_and_the_guard_rejects_it():
    messages = talk(9, "Hi.", 0)
    assert held(ClawCode(guard="off"), messages).receipt.saved < 0
    assert held(ClawCode(), messages).receipt.outcome == "rejected"


def test_the_border_looks_at_the_first_block_alone():
    mixed = Message("user", (user("and").blocks[0], result("a")))
    left = raw(ClawCode(), [*talk(6), calling("a"), mixed, *talk(3)]).messages
    assert [len(m.results) for m in left] == [0, 1, 0, 0, 0]
    assert not any(m.calls for m in left)
