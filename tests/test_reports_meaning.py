"""Reported faults of meaning: rules, requests and answers lost, notes that decay or nest (K14, K15, K17, K18)."""

import json
import re

import pytest
from histories import agent, result, user
from reports import (
    EVERY,
    METER,
    compacted,
    every_strategy,
    filled,
    growth,
    in_one_message,
    notes,
    repeated,
    row,
    rows,
    said_by,
    sketch,
    sliding,
    sources,
)

from compactlab.errors import SpecError
from compactlab.history import units
from compactlab.llm import ModelError
from compactlab.llm.extractive import Extractive
from compactlab.llm.prompts import SECTIONS, SUMMARY_TASK
from compactlab.llm.scripted import Scripted
from compactlab.markers import CLEARED
from compactlab.pins import pinned
from compactlab.plan import plan
from compactlab.shapes import anthropic, openai_chat
from compactlab.transcript import Message, Text, ToolCall, ToolResult

WITHOUT_MEMORY = Scripted("<summary>1. Primary request and intent\nThe export is half done.</summary>")
WORK = repeated(30, "A[c#] T[c#]~90")
CHATTER = repeated(30, "U~110 A~90")

# ---- K14: standing rules and dead ends

RULES = {
    "K14-D1": ("no emoji in commits; reports as CSV",),
    "K14-D1 always": ("Write the reports always as CSV, please.",),
    "K14-D1 from now on": ("from now on one commit for each file",),
    "K14-D2": ("never round a number",),
    "K14-D2 in German": ("Runde nie eine Zahl.",),
    "K14-D5": ("right, never X again",),
}


@rows(("rule",), RULES)
def test_a_rule_of_a_person_stands_word_for_word_after_a_summary_that_forgot_it(rule):
    given = sketch(f"S U'Build the export.' U'{rule}' A {WORK} U'go on' A")
    done = compacted(given, "summary(preserve_recent=4)", model=WITHOUT_MEMORY)
    assert f"> {rule}" in notes(done.messages)[0].split("\n")


@rows(("rule",), RULES)
def test_a_rule_of_a_person_outlives_talk_that_has_no_room(rule):
    given = sketch(f"S U'Build the export.' U'{rule}' A {CHATTER} U'go on' A")
    done = compacted(given, "summary", 4_000, model=WITHOUT_MEMORY)
    [note] = notes(done.messages)
    assert f"> {rule}" in note.split("\n")
    assert re.search(r"> \[\d+ messages cut\]", note)


@rows(("rule",), RULES)
def test_a_rule_of_a_person_stands_after_ten_passes(rule):
    given = sketch(f"S U'Build the export.' U'{rule}' A {WORK}")
    for number in range(10):
        given = compacted(given, "summary(preserve_recent=4)", model=WITHOUT_MEMORY).messages
        given = (*given, *sketch(repeated(4, f"U~30 A[p{number}c#] T[p{number}c#]~90")))
    done = compacted(given, "summary(preserve_recent=4)", model=WITHOUT_MEMORY)
    assert sum(note.split("\n").count(f"> {rule}") for note in notes(done.messages)) == 1


PORTUGUESE = " ".join(
    f"U'Qual é o total da linha {i}, por favor?' A'O total da linha {i} é de {1200 + i} reais e a fonte é a planilha.'"
    for i in range(10)
)


@row("K14-D3")
def test_a_model_is_asked_for_the_language_of_the_conversation():
    model = Scripted("<summary>O total.</summary>")
    for spec in ("summary(preserve_recent=1)", "sliding_reflect(preserve_recent=1)"):
        compacted(sketch(f"S {PORTUGUESE}"), spec, model=model)
    for request in model.requests:
        assert "in the language of the conversation" in request.system + request.prompt
    assert len(model.requests) == 2


@row("K14-D3")
def test_what_the_stand_in_writes_is_in_the_language_of_the_conversation():
    done = compacted(sketch(f"S {PORTUGUESE} {PORTUGUESE} U A"), "summary(preserve_recent=2, max_summary_tokens=200)")
    lines = [line for line in notes(done.messages)[0].split("\n") if line.startswith("> ")]
    assert "> Qual é o total da linha 3, por favor?" in lines


ORDERS = re.compile(r"\b(start|begin|run|read|continue|proceed|resume|restart|load|execute|you|your)\b", re.IGNORECASE)


@sliding
@row("K14-D4")
def test_what_code_writes_around_a_note_gives_no_order_and_the_note_stands_in_the_next_request(spec):
    model = Scripted("<summary>WHAT WAS SAID</summary>")
    given = sketch(f"S U A~90 {repeated(6, 'A[c#] T[c#]~90')} U A")
    done = compacted(given, spec, model=model)
    [made] = [message for message in done.messages if message.source is None]
    around = re.sub(r"<?/?summary>?|WHAT WAS SAID|^- .*|^> .*", "", made.text, flags=re.MULTILINE)
    assert ORDERS.findall(around.replace("Threads I carried forward", "")) == []
    if model.requests:
        assert "WHAT WAS SAID" in json.dumps(openai_chat.to_wire(done.messages)[2])
        assert "WHAT WAS SAID" in json.dumps(anthropic.to_wire(done.messages).messages[1])


@row("K14-D5")
def test_a_summary_is_asked_for_what_failed_and_why():
    assert "Errors and fixes" in SECTIONS
    assert "what was tried and failed and why" in SUMMARY_TASK
    given = sketch(
        f"S U A[c1]'Try X.' T![c1]'X fails: library Y lacks Z' U'right, never X' A {repeated(40, 'A[d#] T[d#]~40')} U A"
    )
    model = Scripted("<summary>The work went on.</summary>")
    done = compacted(given, "summary(preserve_recent=2)", model=model)
    assert "[tool bash error] X fails: library Y lacks Z" in model.requests[0].prompt
    assert "> right, never X" in notes(done.messages)[0]
    assert "X fails: library Y lacks Z" in notes(compacted(given, "summary(preserve_recent=2)").messages)[0]


# ---- K15: the current request comes last

REQUESTS = {
    "K15-D1": ("S U'do A' A~300 A'done' U'do B' A[c1] T[c1]", ["do B"]),
    "K15-D1 with older work": (f"S U'do A' {repeated(6, 'A~300 U~300')} A'done' U'do B' A[c1] T[c1]", ["do B"]),
    "K15-D2": (
        f"S U'do A' {repeated(6, 'A~300 U~300')} U'stop, never mind' A'Stopped.' U'what time is it in Oslo?'",
        ["what time is it in Oslo?"],
    ),
    "K15-D4": ("S U A", ["part 1"]),
    "K15-D4 newest words": (f"S U {repeated(6, 'A~300 U~300')} A U'the newest'", ["the newest"]),
    "K15-D4 several": (f"S U {repeated(6, 'A~300 U~300')} A U'one' U'two' U'three'", ["one", "two", "three"]),
    "K15-D5": (f"S U'old' A~300 U'do B' {repeated(12, 'A[c#] T[c#]~90')}", ["do B"]),
}


@every_strategy
@rows(("text", "last"), REQUESTS)
def test_what_a_person_asked_last_stays_as_it_was_and_behind_any_note(text, last, spec):
    given = sketch(text)
    for target in (None, 10, METER.messages(given) // 2):
        done = compacted(given, spec, target)
        at = [i for i, message in enumerate(done.messages) if message.by_person and message.text in last]
        assert [done.messages[i].text for i in at] == last
        assert all(i < at[0] for i, message in enumerate(done.messages) if message.source is None)


@row("K15-D1")
def test_a_summary_is_asked_to_part_what_is_done_from_what_is_open():
    assert SECTIONS[-3:] == ("Pending tasks", "Current work", "Optional next step")
    assert "whether it is done" in SUMMARY_TASK.replace("\n", " ")


@row("K15-D2")
def test_words_that_cancel_a_task_are_carried_word_for_word():
    given = sketch(
        f"S U'do A' {repeated(6, 'A~300 U~300')} U'stop, never mind' A'Stopped.' U'what time is it in Oslo?' A"
    )
    done = compacted(given, "summary(preserve_recent=1)", model=WITHOUT_MEMORY)
    assert notes(done.messages)[0].endswith("> stop, never mind")
    for spec in ("cull(preserve_recent=0)", "cull(preserve_recent=0, keep_answers=False)"):
        assert "stop, never mind" in said_by(compacted(given, spec).messages, "user")


@every_strategy
@row("K15-D3")
def test_words_typed_during_a_pass_end_up_behind_it(spec):
    given = sketch(f"S U'do A' {repeated(6, 'A~300 U~300')} A")
    typed = user("no, do Z instead", source=99)
    now = (*compacted(given, spec).messages, typed)
    assert compacted(now, spec).messages[-1] == typed


@row("K15-D3")
def test_a_plan_made_before_the_words_were_typed_is_not_applied_over_them():
    given = sketch(f"S U'do A' {repeated(6, 'A~300 U~300')} A")
    made = plan(given, "sliding_window(preserve_recent=2)")
    with pytest.raises(SpecError, match="made for 15 other messages"):
        made.apply((*given, user("no, do Z instead")))


@sliding
@row("K15-D5")
def test_a_request_that_an_earlier_pass_left_stays_through_long_work(spec):
    given = sketch(f"S U'old' {repeated(6, 'A~300 U~300')} U'do B' A[c0] T[c0]")
    for number in range(4):
        given = (*compacted(given, spec).messages, *sketch(repeated(12, f"A[p{number}c#] T[p{number}c#]~90")))
        assert said_by(given, "user") == ["old", "do B"]


@row("K15-D5")
def test_the_request_in_a_summary_of_another_harness_goes_on_to_the_next_summary():
    given = sketch(f"S N'[Compacted summary]\nThe person asked for B.' {repeated(12, 'A[c#] T[c#]~90')}")
    model = Scripted("<summary>B is under way.</summary>")
    done = compacted(given, "summary(preserve_recent=2)", model=model)
    assert done.receipt.outcome == "applied"
    assert "The person asked for B." in model.requests[0].prompt


@sliding
@row("K15-D6")
def test_only_the_first_words_of_a_person_stand_before_the_note_in_any_pass(spec):
    given = sketch(f"S U'first' U'second' {repeated(6, 'A~300 U~300')} A")
    for number in range(3):
        done = compacted(given, spec).messages
        at = next(i for i, message in enumerate(done) if message.source is None)
        assert [message.text for message in done[:at]] == ["part 0", "first"]
        given = (*done, *sketch(f"U'question {number}' {repeated(4, 'A~300 U~300')} A"))


# ---- K17: many passes

FACTS = (
    "The gate code is 4711.",
    "The dock is on pier 17.",
    "The captain is Maren Voss.",
    "The tank is for 2,350 litres.",
    "The call sign is DK7-44.",
    "The permit is number 88-2031.",
    "The draught is 1.85 metres.",
    "The insurer is Nordsee Kontor.",
)


@pytest.mark.parametrize("target", [None, 16_000])
@pytest.mark.parametrize("model", [WITHOUT_MEMORY, Extractive()], ids=["forgetful", "extractive"])
@row("K17-D1")
def test_what_a_person_said_early_stands_after_twelve_passes(model, target):
    given = (*sketch("S U A"), *(message for fact in FACTS for message in (user(fact), agent("Noted."))))
    for _ in range(12):
        given = (*given, *sketch(repeated(4, "U~60 A~900")))
        given = compacted(given, "summary(preserve_recent=2)", target, model=model).messages
    everything = "\n".join(message.text for message in given)
    assert [fact for fact in FACTS if fact not in everything] == []


@row("K17-D1")
def test_a_ledger_keeps_its_facts_for_twelve_passes():
    given = (*sketch("S U A"), *(message for fact in FACTS for message in (user(fact), agent("Noted."))))
    for _ in range(12):
        given = (*given, *sketch(repeated(4, "U~60 A~300")))
        given = compacted(given, "key_value(preserve_recent=2)").messages
    values = [fact.partition(" is ")[2].rstrip(".") for fact in FACTS]
    assert [value for value in values if value not in notes(given)[0]] == []


LONG_TALK = f"S U {repeated(12, 'A[c#]+think T[c#]~300 A~90 U~90')} A"


@pytest.mark.parametrize("target", [None, 2_000, 1])
@every_strategy
@row("K17-D2")
def test_five_passes_on_an_unchanged_session_do_what_one_does(spec, target):
    first = compacted(sketch(LONG_TALK), spec, target)
    again = first.messages
    for _ in range(4):
        done = compacted(again, spec, target)
        assert (done.messages, done.receipt.saved) == (first.messages, 0)
        assert done.receipt.outcome in {"skipped", "deferred", "rejected", "failed"}
        again = done.messages


@pytest.mark.parametrize("spec", ["summary(preserve_recent=2)", "sliding_reflect(preserve_recent=2)"])
@row("K17-D3")
def test_a_note_stays_within_its_bound_though_its_model_writes_more_each_time(spec):
    given = sketch("S U A")
    model = Scripted(*(f"<summary>{filled(1_000 * 2**n, f'pass {n}')}</summary>" for n in range(6)))
    bound = 2_048 + 4_000 if spec.startswith("summary") else 1_024
    for _ in range(6):
        given = (*given, *sketch(repeated(8, "U~300 A~900")))
        given = compacted(given, spec, model=model).messages
        [note] = [message for message in given if message.source is None]
        assert METER.message(note) < bound + 200
    assert 6 <= len(model.requests) <= 12  # one that is longer than its source is asked for once more


TITLES = (
    "[Compacted summary]",
    "[Threads I carried forward]",
    "[Ledger of what the removed messages said]",
    "earlier messages removed to save context]",
    "[All user messages, word for word]",
)
ECHOES = {
    "K17-D4": ("The work went on.",),
    "K17-D4 the model repeats the last note": ("[Compacted summary]\nThe work went on.\n[Compacted summary]\nAgain.",),
    "K17-D4 the model repeats the threads": ("[Threads I carried forward]\n- the work went on",),
    "K17-D4 the model repeats the words": ("The work went on.\n[All user messages, word for word]\n> never asked",),
}


@sliding
@rows(("reply",), ECHOES)
def test_ten_passes_leave_one_flat_note(reply, spec):
    given = sketch("S U A")
    for number in range(10):
        given = (*given, *sketch(repeated(4, f"U'question {number}.#'~60 A~300")))
        given = compacted(given, spec, model=Scripted(f"<summary>{reply}</summary>")).messages
        made = notes(given)
        assert len(made) == 1
        assert max(made[0].count(title) for title in TITLES) == 1


@every_strategy
@row("K17-D5")
def test_every_message_is_kept_or_accounted_for_in_each_pass(spec):
    given = sketch("S U A~300 U~300 A~300 U~300 A~300")
    for number in range(3):
        done = compacted(given, spec)
        fates = {change.position: change.action for change in done.receipt.changes if change.position is not None}
        assert sorted(fates) == list(range(len(given)))
        stays = [i for i, fate in fates.items() if fate != "dropped"]
        assert [m.source for m in done.messages if m.source is not None] == [
            given[i].source for i in stays if given[i].source is not None
        ]
        given = (*done.messages, *sketch(f"U'u{number}'~300 A'a{number}'~300"))


@pytest.mark.parametrize("spec", ["summary(preserve_recent=2)", "sliding_reflect(preserve_recent=2)"])
@row("K17-D5")
def test_all_that_goes_is_read_by_the_model_first(spec):
    given = sketch("S U A'a1'~300 U'u2'~300 A'a2'~300 U'u3'~300 A'a3'~300")
    for number in range(4, 7):
        model = Scripted("<summary>note</summary>")
        done = compacted(given, spec, model=model)
        gone = [message for message in given if message not in done.messages]
        assert gone
        assert [message.text for message in gone if message.blocks[0].text not in model.requests[0].prompt] == []
        given = (*done.messages, *sketch(f"U'u{number}'~300 A'a{number}'~300"))


def summaries(role):
    """Twenty messages, and among them seven summaries that earlier passes left."""
    made = [Message(role, (Text(f"[Compacted summary]\nPart {i}."),), synthetic=True) for i in range(7)]
    talk = sketch(f"S U {repeated(9, 'A~90 U~90')}")
    return (*talk[:3], *(m for pair in zip(made, talk[3:10], strict=True) for m in pair), *talk[10:], *sketch("A"))


@pytest.mark.parametrize("role", ["user", "system"])
@row("K17-D6")
def test_summaries_that_piled_up_are_folded_into_one(role):
    given = summaries(role)
    model = Scripted("<summary>All of it.</summary>")
    done = compacted(given, "summary(preserve_recent=2)", model=model)
    assert sum(message.text.startswith("[Compacted summary]") for message in done.messages) == 1
    assert [i for i in range(7) if f"Part {i}." not in model.requests[0].prompt] == []


# ---- K18: short words, answers, errors, clearing

SHORT = {
    "K18-D1": ("bump it",),
    "K18-D1 a tool": ("use pnpm",),
    "K18-D1 a choice": ("drop v1",),
    "K18-D1 a number": ("2",),
    "K18-D1 a stop": ("stop",),
    "K18-D1 a name": ("Oslo",),
}


@pytest.mark.parametrize(
    "spec", ["cull(preserve_recent=0)", "cull(preserve_recent=0, keep_answers=False)", "ladder(cull)"]
)
@rows(("words",), SHORT)
def test_a_short_message_that_says_something_stays(words, spec):
    trivial = repeated(20, "U'thanks' A'so'")
    done = compacted(sketch(f"S U A U'{words}' A'so' {trivial} U A"), spec)
    assert done.receipt.outcome == "applied"
    assert words in said_by(done.messages, "user")


@pytest.mark.parametrize("answer", ["yes", "no", "ok", "done", "👍"])
@row("K18-D1")
def test_a_trivial_word_that_answers_a_question_stays(answer):
    trivial = repeated(20, "U'thanks' A'so'")
    done = compacted(sketch(f"S U A'Shall I delete it?' U'{answer}' A'so' {trivial} U A"), "cull(preserve_recent=0)")
    assert answer in said_by(done.messages, "user")
    assert done.receipt.count("dropped") == 20


@pytest.mark.parametrize("tool", ["ask", "ask_user", "AskUserQuestion", "ask_followup_question", "user_input"])
@rows(
    ("spec",),
    {
        "K18-D2": ("microcompact(keep_recent=1)",),
        "K18-D2 cull": ("cull(preserve_recent=0)",),
        "K18-D2 both": ("ladder(microcompact(keep_recent=1), cull(preserve_recent=0))",),
    },
)
def test_what_a_person_answered_through_a_tool_is_not_cleared(spec, tool):
    after = repeated(10, "A[d#] T[d#]~90 U'thanks' A'so'")
    done = compacted(sketch(f"S U A[{tool}:c1] T[c1]'the second one, read-only' A {after} U A"), spec)
    assert done.receipt.outcome == "applied"
    assert next(r.text for m in done.messages for r in m.results) == "the second one, read-only"


PATCH = "patch failed: line 88\n" + "a line of context in between\n" * 40 + "hunk 3 of 7 rejected"
FAILURES = {
    "K18-D3": ("ends", ["patch failed: line 88", "hunk 3 of 7 rejected", "lines cleared]"]),
    "K18-D3 kept": ("keep", [PATCH]),
    "K18-D3 cleared": ("clear", [CLEARED]),
}


@rows(("errors", "stays"), FAILURES)
def test_an_old_error_stays_an_error_and_keeps_its_ends_where_that_is_asked(errors, stays):
    failed = Message("tool", (ToolResult("c1", (Text(PATCH),), is_error=True),))
    given = (*sketch("S U A[edit:c1]"), failed, *sketch(f"A {repeated(8, 'A[d#] T[d#]~90')} U A"))
    done = compacted(given, f"microcompact(errors='{errors}')")
    kept = done.messages[3].results[0]
    assert kept.is_error
    assert [words for words in stays if words not in kept.text] == []
    assert done.receipt.outcome == "applied"


@row("K18-D4")
def test_clearing_is_announced_with_the_ids_of_what_was_cleared():
    given = sketch(f"S U {repeated(8, 'A[c#] T[c#]~90')} A")
    receipt = compacted(given, "microcompact").receipt
    assert receipt.notes == ("cleared: c1, c2, c3",)
    assert "note: cleared: c1, c2, c3" in receipt.to_text()
    assert [c.position for c in receipt.changes if c.action == "edited"] == [3, 5, 7]
    ladder = compacted(given, "ladder(microcompact)").receipt
    assert ladder.notes == ("microcompact: cleared: c1, c2, c3",)


@pytest.mark.parametrize("spec", EVERY)
@row("K18-D5")
def test_guidance_read_from_a_file_survives_where_its_path_or_words_are_pinned(spec):
    reading = agent(ToolCall("c1", "read", '{"path": "memory/rules.md"}'))
    found = Message("tool", (result("c1", "MARKER-17: " + "a rule of the house. " * 20),))
    given = (*sketch("S U"), reading, found, *sketch(f"A {repeated(8, 'A[read:d#] T[read:d#]~90')} U A"))
    for pin in ("/memory/rules/", "pattern:MARKER-17", "3"):
        done = compacted(pinned(given, [pin]), spec)
        assert [r for m in done.messages for r in m.results if "MARKER-17" in r.text] == [found.results[0]]


@row("K18-D5")
def test_the_tools_whose_results_are_cleared_can_be_named():
    given = sketch(f"S U A[read:c1] T[c1]~90 {repeated(8, 'A[bash:d#] T[d#]~90')} A")
    done = compacted(given, "microcompact(tools=('bash',), keep_recent=1)")
    assert [r.call_id for m in done.messages for r in m.results if r.text != CLEARED] == ["c1", "d8"]


@row("K18-D6")
def test_tiny_results_are_never_cleared_and_nothing_is_below_its_target():
    tiny = sketch(f"S U {repeated(30, 'A[c#] T[c#]')} A")
    assert compacted(tiny, "microcompact").messages == tiny
    small = sketch(f"S U {repeated(30, 'A[c#] T[c#]~40')} A")
    calm = compacted(small, "ladder", METER.messages(small))
    assert (calm.messages, calm.receipt.outcome) == (small, "skipped")
    assert calm.receipt.notes[0] == "microcompact: not needed"
    pressed = compacted(small, "ladder", METER.messages(small) - 1)
    assert pressed.receipt.outcome == "applied"


@pytest.mark.parametrize("last", ["summary(preserve_recent=2)", "sliding_reflect(preserve_recent=2)"])
@row("K18-D7")
def test_a_model_asked_behind_a_clearing_reads_what_was_cleared(last):
    model = Scripted("<summary>Valves were read.</summary>")
    done = compacted(long_ago(), f"ladder(microcompact(keep_recent=1), {last})", model=model)
    assert done.receipt.outcome == "applied"
    assert "valve: 9 leaks" in model.requests[0].prompt
    assert CLEARED not in model.requests[0].prompt


@row("K18-D7")
def test_a_ledger_behind_a_clearing_reads_what_was_cleared():
    done = compacted(long_ago(), "ladder(microcompact(keep_recent=1), key_value(preserve_recent=2))")
    assert "- valve: 9 leaks" in notes(done.messages)[0]


def long_ago():
    """Build a session in which the result that matters is an old one."""
    return sketch(f"S U A[c1] T[c1]~90 A[c2] T[c2]'valve: 9 leaks\n'~90 {repeated(18, 'A[d#] T[d#]~90')} U A")


@every_strategy
@rows(("shape",), {"K18-D8": (tuple,), "K18-D8 in one message": (in_one_message,)})
def test_the_messages_given_are_the_same_bytes_after_any_strategy(spec, shape):
    given = shape(sketch(LONG_TALK))
    before = json.dumps(openai_chat.to_wire(given))
    for target in (None, 500):
        compacted(given, spec, target)
        assert json.dumps(openai_chat.to_wire(given)) == before


OUTPUT = "row 17 of the table"
COPIES = {
    "K18-D9": ({"raw": OUTPUT * 40},),
    "K18-D9 in a field of its own": ({"tool_output": {"stdout": OUTPUT * 40}},),
}


@rows(("side",), COPIES)
def test_no_second_copy_of_a_cleared_result_is_written(side):
    wire = [
        {"role": "user", "content": "Begin."},
        {"role": "assistant", "tool_calls": [{"id": "c1", "function": {"name": "bash", "arguments": "{}"}}]},
        {"role": "tool", "tool_call_id": "c1", "content": OUTPUT * 40, **side},
    ]
    given = (*openai_chat.from_wire(wire), *sketch(f"A {repeated(5, 'A[d#] T[d#]~90')} A"))
    assert METER.message(given[2]) == METER.message(Message("tool", (result("c1", OUTPUT * 40),)))
    done = compacted(given, "microcompact")
    assert done.receipt.count("edited") == 1
    for written in (openai_chat.to_wire(done.messages), anthropic.to_wire(done.messages)):
        assert OUTPUT not in json.dumps(written)


@pytest.mark.parametrize("keep", [1, 3, 9])
@row("K18-D11")
def test_results_that_travel_as_a_persons_messages_are_no_turns(keep):
    wire = [{"role": "user", "content": "go"}]
    for i in range(10):
        wire.append(
            {"role": "assistant", "content": [{"type": "tool_use", "id": f"c{i}", "name": "bash", "input": {}}]}
        )
        found = {"type": "tool_result", "tool_use_id": f"c{i}", "content": "row 17 of the table " * 30}
        wire.append({"role": "user", "content": [found]})
    given = anthropic.from_wire(wire)
    raw = tuple(Message("user", m.blocks, source=m.source) if m.role == "tool" else m for m in given)
    assert len(units(given)) == 11
    for messages in (given, raw):
        done = compacted(messages, f"sliding_window(preserve_recent={keep})")
        assert [r.call_id for m in done.messages for r in m.results] == [f"c{i}" for i in range(10 - keep, 10)]
        assert sources(done.messages)[:2] == [0, None]


@sliding
@row("K15-D4")
def test_the_last_words_are_never_part_of_what_a_model_reads(spec):
    given = sketch(f"S U {repeated(6, 'A~300 U~300')} A~300 U'the newest' A[c1] T[c1]'what came back'")
    model = Scripted("<summary>It went on.</summary>")
    for part in growth(given):
        compacted(part, spec, model=model)
    assert [r for r in model.requests if "what came back" in r.prompt or "the newest" in r.prompt] == []


@row("K15-D3")
def test_a_model_that_fails_leaves_the_words_where_they_were():
    given = sketch(f"S U {repeated(6, 'A~300 U~300')} A U'the newest'")
    done = compacted(given, "summary(preserve_recent=1)", model=Scripted(ModelError("no line")))
    assert (done.messages, done.receipt.outcome) == (given, "failed")
    slid = compacted(given, "sliding_reflect(preserve_recent=1)", model=Scripted(ModelError("no line")))
    assert (slid.receipt.outcome, slid.messages[-1]) == ("applied", given[-1])
