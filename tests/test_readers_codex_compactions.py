"""Compactions in rollouts: with the history that replaced the context, without one, encrypted, and what was counted."""

import pytest
from codex_records import (
    ENV,
    PREFIX,
    agent,
    call,
    compacted,
    counted,
    event,
    item,
    meta,
    outline,
    output,
    session,
    thought,
    user,
    wire,
)

from compactlab.transcript import Image, Message, Reasoning, Text

HEAD = [meta(base_instructions={"text": "You are Codex."}), user(ENV), user("a"), call("c1"), output("c1")]
SUMMARY = f"{PREFIX}\nThe files were listed."


def texts(messages):
    return [message.text for message in messages]


def test_a_recorded_history_is_what_stood_after_and_its_summary_is_no_message(tmp_path):
    history = [wire(user("a")), wire(user(SUMMARY))]
    found = session(
        tmp_path, *HEAD, compacted(SUMMARY, replacement_history=history), event("context_compacted"), user("b")
    )
    [told] = found.compactions
    assert outline(found) == ["s", "U", "u", "a", "t", "u"]
    assert (told.position, told.summary, told.trigger) == (5, SUMMARY, "unknown")
    assert told.after[:2] == (0, 2)
    assert (told.after[2].role, told.after[2].synthetic, told.after[2].source) == ("user", True, 5)
    assert found.before(0) == found.messages[:5]
    assert texts(found.view(6)) == ["You are Codex.", "a", SUMMARY, "b"]
    assert found.intake.skipped == {"event context_compacted": 1}


def test_without_a_history_it_is_what_codex_makes_of_the_summary(tmp_path):
    pictured = item(
        "message",
        role="user",
        content=[{"type": "input_image", "image_url": None}, {"type": "input_text", "text": "p"}],
    )
    first = compacted("First.")
    found = session(tmp_path, *HEAD, pictured, first, user("b"), agent("B"), compacted(SUMMARY))
    assert texts(found.after(0)) == ["You are Codex.", ENV, "a", "p", "First."]
    assert not any(isinstance(block, Image) for message in found.after(0) for block in message.blocks)
    assert texts(found.after(1)) == ["You are Codex.", ENV, "a", "p", "b", SUMMARY]
    assert [entry for entry in found.compactions[1].after if isinstance(entry, int)] == [0, 1, 2, 6]


def test_only_so_many_words_of_the_user_are_kept_without_a_history(tmp_path):
    long = "start " + "x" * 79_990 + " end"
    found = session(tmp_path, meta(), user("gone"), user(long), user("last"), agent("A"), compacted("Short."))
    kept = found.after(0)
    assert len(kept) == 3
    assert kept[0].text.startswith("start x")
    assert kept[0].text.endswith("x end")
    assert "tokens truncated" in kept[0].text
    assert texts(kept[1:]) == ["last", "Short."]


@pytest.mark.parametrize("kind", ["compaction", "compaction_summary", "context_compaction"])
def test_an_encrypted_summary_stays_as_it_was_sent(tmp_path, kind):
    history = [wire(user("a")), {"type": kind, "encrypted_content": "gAAA=="}]
    found = session(tmp_path, *HEAD, compacted("", replacement_history=history), user("b"))
    assert found.compactions[0].summary == ""
    assert found.after(0)[2] == Message(
        "assistant", (Reasoning(opaque="gAAA=="),), 5, synthetic=True, timestamp=found.after(0)[2].timestamp
    )


def test_an_empty_message_without_a_history_says_so(tmp_path):
    found = session(tmp_path, *HEAD, compacted(""), user("b"))
    assert found.after(0)[-1].text == "(no summary available)"
    assert found.compactions[0].summary == ""


def test_a_compaction_item_alone_is_one_and_beside_a_record_none(tmp_path):
    alone = item("compaction", encrypted_content="gAAA")
    found = session(tmp_path, *HEAD, alone, user("b"))
    assert found.compactions[0].after[0] == 0
    assert len(found.compactions[0].after) == 2
    both = session(tmp_path, *HEAD, alone, compacted("", replacement_history=[wire(user("a")), wire(alone)]), user("b"))
    assert [len(told.after) for told in both.compactions] == [3]


def test_an_event_alone_is_counted_and_is_no_compaction(tmp_path):
    found = session(tmp_path, *HEAD, event("context_compacted"), user("b"))
    assert found.compactions == ()
    assert found.intake.skipped == {"event context_compacted without a record of what it left": 1}


def test_tokens_before_are_those_of_the_last_response_and_after_those_that_were_estimated(tmp_path):
    estimate = counted(100, sent=0, made=0, cached_input_tokens=0, reasoning_output_tokens=0, total_tokens=33)
    rows = [agent("A"), counted(100), user("b"), estimate]
    [told] = session(tmp_path, *HEAD, *rows, compacted("Short."), user("c")).compactions
    assert (told.tokens_before, told.tokens_after) == (110, 33)
    [later] = session(tmp_path, *HEAD, *rows[:-1], compacted("Short."), estimate, user("c")).compactions
    assert (later.tokens_before, later.tokens_after) == (110, 33)


def test_what_the_summariser_was_sent_is_what_stood_before(tmp_path):
    rows = [agent("A"), counted(100), counted(400, sent=300)]
    found = session(tmp_path, *HEAD, *rows, compacted("Short."), user("b"), agent("B"), counted(500, sent=50))
    assert found.compactions[0].tokens_before == 300
    assert [(usage.position, usage.input) for usage in found.usage] == [(5, 100), (7, 50)]


def test_equal_messages_are_taken_from_the_end_and_in_order(tmp_path):
    rows = [user("go"), agent("A"), user("go"), agent("B")]
    history = [wire(user("go")), wire(user(SUMMARY))]
    found = session(tmp_path, meta(), *rows, compacted(SUMMARY, replacement_history=history), user("go"))
    assert found.compactions[0].after[0] == 2
    both = session(
        tmp_path, meta(), *rows, compacted("", replacement_history=[*map(wire, (rows[0], rows[2]))]), user("x")
    )
    assert both.compactions[0].after == (0, 2)


def test_a_message_that_lost_its_reasoning_is_one_that_was_made(tmp_path):
    found = session(
        tmp_path,
        meta(),
        user("a"),
        thought(),
        agent("A"),
        compacted("", replacement_history=[wire(agent("A"))]),
        user("b"),
    )
    [kept] = found.after(0)
    assert (kept.role, kept.blocks, kept.synthetic) == ("assistant", (Text("A"),), False)


def test_a_rollback_takes_back_the_compactions_in_its_turns(tmp_path):
    rows = [
        compacted("One."),
        user("b"),
        agent("B"),
        compacted("Two."),
        event("thread_rolled_back", num_turns=1),
        user("c"),
    ]
    found = session(tmp_path, *HEAD, *rows)
    assert [told.summary for told in found.compactions] == ["One."]
    assert texts(found.view(len(found.messages))) == ["You are Codex.", ENV, "a", "One.", "c"]


def test_a_rollback_leaves_what_was_counted_before_the_compactions_that_stay(tmp_path):
    rows = [agent("A"), counted(100), compacted("One."), user("b"), agent("B"), counted(200, sent=40)]
    found = session(
        tmp_path, *HEAD, *rows, event("thread_rolled_back", num_turns=1), user("c"), agent("C"), counted(300, sent=50)
    )
    assert found.compactions[0].tokens_before == 110
    assert [(usage.position, usage.input) for usage in found.usage] == [(5, 100), (7, 50)]


def test_bookkeeping_in_a_history_is_counted(tmp_path):
    history = [wire(user("a")), {"type": "ghost_snapshot"}, {"type": "hologram"}]
    found = session(tmp_path, *HEAD, compacted("", replacement_history=history), user("b"))
    assert found.intake.skipped["ghost_snapshot in a replaced history"] == 1
    assert found.intake.unknown == {"hologram in a replaced history": 1}


def test_many_compactions_in_one_session_each_have_their_own_view(tmp_path):
    rows = []
    for turn in range(5):
        rows += [
            user(f"ask {turn}"),
            agent(f"answer {turn}"),
            compacted(f"{PREFIX} {turn}", replacement_history=[wire(user(f"{PREFIX} {turn}"))]),
        ]
    found = session(tmp_path, meta(), *rows, user("end"))
    assert [told.position for told in found.compactions] == [2, 4, 6, 8, 10]
    assert texts(found.before(3)) == [f"{PREFIX} 2", "ask 3", "answer 3"]
