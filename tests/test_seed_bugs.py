"""What is visibly wrong in the seed system's own code, and what broke in others: that none of it is wrong here."""

import json
import sys

import pytest
from histories import agent, call, calling, result, system, user
from hostile import Hostile
from reports import (
    METER,
    compacted,
    every_strategy,
    filled,
    ids_of,
    in_one_message,
    notes,
    repeated,
    rows,
    said_by,
    sketch,
    sliding,
    sources,
)
from reports import row as bug

from compactlab import catalog, settings
from compactlab.errors import SpecError, UnknownName
from compactlab.history import units
from compactlab.llm import ModelError, Reply
from compactlab.llm.scripted import Scripted
from compactlab.markers import NO_RESULT
from compactlab.plan import plan
from compactlab.pressure import Marks, allowance, crossed, pressure
from compactlab.shapes import anthropic, openai_chat
from compactlab.transcript import Image, Message, Reasoning, ToolCall, ToolResult

BUGS = tuple(f"bug-{number}" for number in range(1, 23))
CANNOT = {
    "bug-14": "there is no store of conversations to choose the wrong one from: a caller hands over a list",
    "bug-15": "nothing is rewritten: a compaction gives a new list back, and a journal is still to come",
    "bug-16": "there is no store whose replacement could fail behind a report of success",
    "bug-17": "no audit file is written yet: names of journal entries come with the journal",
}
"""Bugs of the seed that have no place here yet, and why."""

CASES = (
    "cuts turns ends fits windows replies ten-passes meanwhile one-word odd-content usage".split()  # as they are listed
)
NOT_YET = {
    "usage": "recorded usage: no number of a provider is read yet, so none can be zero, stale or of output",
    "meanwhile": "journal: a crash between writing down and applying needs a journal; a stale plan is refused now",
}

OVER = Scripted("<summary>The work went on.</summary>")


def test_every_bug_is_tested_or_cannot_be_here():
    assert sorted({name for name in ids_of(sys.modules[__name__]) if name.startswith("bug")} | CANNOT.keys()) == sorted(
        BUGS
    )
    assert not CANNOT.keys() & ids_of(sys.modules[__name__])


def test_every_kind_of_case_is_tested_or_waits():
    named = {name.partition(":")[0] for name in ids_of(sys.modules[__name__]) if not name.startswith("bug")}
    assert sorted(named | NOT_YET.keys()) == sorted(CASES)


# ---- the twenty-two

CUTS = {
    "bug-1": (f"S U A~300 {repeated(9, 'A[c#] T[c#]~90')} A",),
    "bug-2": (f"S U A~300 A[{','.join(f'c{i}' for i in range(1, 13))}] {repeated(12, 'T[c#]~90')} A U A",),
    "bug-4": (f"U A[c1] T[c1]~90 {repeated(4, 'A~90 U~90')} A",),
    "bug-4 a result is second": (f"S T[c1]~90 U {repeated(4, 'A~90 U~90')} A",),
    "bug-5": (f"S U A[c1] U'wait' T[c1]~90 {repeated(4, 'A~90 U~90')} A",),
}


@sliding
@rows(("text",), CUTS)
def test_no_cut_of_any_length_parts_a_pair(text, spec):
    for keep in range(16):
        done = compacted(sketch(text), f"{spec.partition('(')[0]}(preserve_recent={keep})")
        assert done.receipt.outcome in {"applied", "skipped", "rejected"}


@sliding
@bug("bug-3")
def test_a_turn_in_one_message_is_no_split_pair_and_draws_nothing_behind_it_in(spec):
    given = in_one_message(sketch(f"S U {repeated(12, 'A[c#] T[c#]~90 U')} A"))
    done = compacted(given, f"{spec.partition('(')[0]}(preserve_recent=5)")
    assert sources(done.messages) == [0, 1, None, *sources(given)[-5:]]


@every_strategy
@bug("bug-6")
def test_the_first_message_stays_as_it_is(spec):
    given = sketch(f"S'the persona' U {repeated(9, 'A~90 U~90')} A")
    assert compacted(given, spec).messages[0] == given[0]
    assert compacted(given[1:], spec).messages[0] == given[1]


@bug("bug-7")
def test_what_a_ledger_removes_is_read_first():
    given = sketch(f"S U A[c1] T[c1]'port: 5433' U'The dock is on pier 17.' {repeated(9, 'A~90 U~90')} A")
    done = compacted(given, "key_value(preserve_recent=2)")
    assert [line for line in ("- port: 5433", "- dock: on pier 17") if line not in notes(done.messages)[0]] == []


@sliding
@bug("bug-8")
def test_a_note_stands_where_the_stretch_was_and_is_sent(spec):
    given = sketch(f"S U {repeated(9, 'A~90 U~90')} A U'the newest'")
    done = compacted(given, spec, model=OVER)
    assert [message.source is None for message in done.messages].index(True) == 2
    made = done.messages[2]
    assert (made.role, made.synthetic, done.messages[-1]) == ("user", True, given[-1])
    words = json.dumps(made.blocks[0].text)[1:-1]
    for wire in (openai_chat.to_wire(done.messages), anthropic.to_wire(done.messages).messages):
        assert sum(words in json.dumps(message) for message in wire if message["role"] == "user") == 1


@sliding
@bug("bug-9")
def test_a_note_has_one_heading_and_none_of_the_analysis(spec):
    given = sketch(f"S U {repeated(9, 'A~90 U~90')} A")
    reply = "<analysis>first I looked about</analysis>\n<summary>1. Primary request</summary>"
    note = notes(compacted(given, spec, model=Scripted(reply)).messages)[0]
    assert sum(line.startswith("[") for line in note.split("\n") if "word for word" not in line) == 1
    assert spec.startswith("sliding_reflect") or "first I looked" not in note


@pytest.mark.parametrize("spec", ["summary(preserve_recent=1)", "sliding_reflect(preserve_recent=1)"])
@bug("bug-10")
def test_a_model_reads_the_newest_of_what_goes_too(spec):
    given = sketch(f"S U A'the oldest'~20k {repeated(4, 'A[c#] T[c#]~20k')} A'the newest that goes'~900 U A")
    model = Scripted("<summary>Read.</summary>")
    compacted(given, spec, model=model)
    assert "the oldest" in model.requests[0].prompt
    assert "the newest that goes" in model.requests[0].prompt


BLANK = {
    "bug-11": ("",),
    "bug-11 blanks": (" \n\t ",),
    "bug-11 empty tags": ("<summary>\n</summary>",),
    "bug-11 analysis alone": ("<analysis>hm, let me see</analysis>",),
}


@rows(("reply",), BLANK)
def test_a_blank_summary_removes_nothing(reply):
    given = sketch(f"S U {repeated(9, 'A~90 U~90')} A")
    done = compacted(given, "summary(preserve_recent=1)", model=Scripted(reply))
    assert (done.receipt.outcome, done.messages) == ("failed", given)


@every_strategy
@bug("bug-12")
def test_pressure_falls_by_what_the_receipt_says(spec):
    given = sketch(f"S U {repeated(9, 'A[c#] T[c#]~90 U~90')} A")
    done = compacted(given, spec)
    window = 2_000
    fell = pressure(METER.messages(given), window) - pressure(METER.messages(done.messages), window)
    assert fell == pytest.approx((done.receipt.tokens_before - done.receipt.tokens_after) / window)


@bug("bug-13")
def test_a_plan_for_a_session_that_went_on_is_refused():
    given = sketch(f"S U {repeated(9, 'A~90 U~90')} A")
    made = plan(given, "sliding_window(preserve_recent=2)")
    with pytest.raises(SpecError, match="make a new one"):
        made.apply((*given, user("one more thing")))
    assert made.apply(given) == made.compaction.messages


@pytest.mark.parametrize("at", [0.951, 0.99, 1.0, 1.5, 40.0])
@bug("bug-18")
def test_an_agent_can_always_say_something(at):
    assert allowance(at, Marks()) >= 512
    assert allowance(at, Marks(), limit=100) == 100


@bug("bug-19")
def test_marks_of_a_settings_file_are_those_that_fire(tmp_path):
    file = tmp_path / "compactlab.toml"
    file.write_text("[compaction]\nmarks = [0.5, 0.6]\n[compaction.per_type.subagent]\nmarks = [0.3]\n")
    marks = settings.load(file).marks
    for agent_type, at, fired in (("primary", 0.5, (0.5,)), ("primary", 0.49, ()), ("subagent", 0.3, (0.3,))):
        own = marks.of(agent_type)
        assert crossed(own, own.armed, at).fired == fired


@pytest.mark.parametrize("name", catalog.names("strategies"))
@bug("bug-20")
def test_a_parameter_has_one_default_wherever_a_strategy_is_named(name, tmp_path):
    file = tmp_path / "compactlab.toml"
    file.write_text(f'[compaction.per_type.mine]\nstrategy = "{name}"\n')
    assert catalog.strategy(name) == catalog.strategy(f"{name}()") == catalog.strategy_class(name)()
    assert settings.load(file).strategy("mine") == repr(catalog.strategy(name))


@bug("bug-20")
def test_a_name_that_is_no_strategy_falls_back_to_nothing(tmp_path):
    with pytest.raises(UnknownName, match="slinding_window"):
        catalog.strategy("slinding_window")
    file = tmp_path / "compactlab.toml"
    file.write_text('[compaction]\nstrategy = "slinding_window"\n')
    with pytest.raises((SpecError, UnknownName), match="slinding_window"):
        settings.load(file)


@pytest.mark.parametrize("answer", ["yes", "no", "done", "ok", "sure", "👍"])
@bug("bug-21")
def test_a_one_word_answer_to_a_question_is_not_culled(answer):
    trivial = repeated(20, "U'thanks' A'so'")
    given = sketch(f"S U A'Drop the table?' U'{answer}' A~60 {trivial} U A")
    done = compacted(given, "cull(preserve_recent=0)")
    assert done.receipt.outcome == "applied"
    assert answer in said_by(done.messages, "user")


@bug("bug-21")
def test_the_settings_of_a_primary_agent_do_more_than_cull():
    assert settings.Project().strategy("primary").startswith("summary")


@bug("bug-22")
def test_what_is_said_to_be_saved_is_what_went_less_the_note_that_came():
    given = sketch(f"S U {repeated(9, 'A[c#] T[c#]~70 U~20')} A")
    done = compacted(given, "sliding_window(preserve_recent=2)")
    gone = METER.messages(given[c.position] for c in done.receipt.changes if c.action == "dropped")
    made = METER.messages(m for m in done.messages if m.source is None)
    assert done.receipt.tokens_before - done.receipt.tokens_after == gone - made


# ---- cases in which other systems broke

TWELVE = ",".join(f"c{i}" for i in range(1, 13))
LISTS = {
    "cuts: twelve calls": (f"S U A~90 A[{TWELVE}] {repeated(12, 'T[c#]~90')} A U A",),
    "cuts: a person between results": ("S U A~90 A[c1,c2,c3] T[c1]~90 U'wait' T[c2]~90 T[c3]~90 A~90 U A",),
    "cuts: results in two messages": ("S U A~90 A[c1,c2,c3] T[c3,c1]~90 T[c2]~90 A~90 U A",),
    "turns: first after the anchor is a result": ("S T[c0]~90 U T[c1]~90 A~90 U~90 A",),
    "turns: one after the other": (f"S U {repeated(6, 'A[c#] T[c#]~90')} A U A",),
    "ends: a call without an answer": (f"S U {repeated(4, 'A~90 U~90')} A[c9]",),
    "ends: its call is gone": (f"S U T[c0]~90 {repeated(4, 'A~90 U~90')} A",),
    "ends: ids doubled": (f"S U A[c1,c1] T[c1]~90 T[c1]~90 {repeated(4, 'A~90 U~90')} A",),
    "ends: an id used again": (f"S U A[c1] T[c1]~90 {repeated(4, 'A~90 U~90')} A[c1] T[c1]~90 A",),
    "fits: all of it is tail": ("S U A U A",),
    "fits: one result over the window": (f"S U {repeated(3, 'A~90 U~90')} A[c1] T[c1]~70k A U A",),
    "fits: tools alone after one request": (f"S U {repeated(20, 'A[c#] T[c#]~400')}",),
}


@pytest.mark.parametrize("window", [4_000, 8_000, 16_000, 32_000, 64_000])
@every_strategy
@rows(("text",), LISTS)
def test_no_list_breaks_a_strategy_in_any_window(text, spec, window):
    for given in (sketch(text), in_one_message(sketch(text))):
        done = compacted(given, spec, window)
        assert done.receipt.outcome in {"applied", "skipped", "deferred", "rejected"}
        if spec.startswith(("sliding", "key_value", "summary")) and done.receipt.protected_tokens < window // 2:
            assert not done.receipt.over_target


CLOSED = {
    "ends: a call without an answer": ("S U A[c9] U A U A", [NO_RESULT]),
    "ends: its call is gone": ("S U T[c0]'stray' A U A", []),
    "ends: ids doubled": ("S U A[c1,c1] T[c1]'one' T[c1]'two' A U A", ["one", "two"]),
    "ends: an id used again": ("S U A[c1] T[c1]'one' A[c1] T[c1]'two' A U A", ["one", "two"]),
}


@rows(("text", "results"), CLOSED)
def test_results_pair_by_occurrence_and_calls_are_closed(text, results):
    done = compacted(sketch(text), "none")
    assert [r.text for m in done.messages for r in m.results] == results


@bug("cuts: in both shapes")
def test_a_cut_on_the_ninth_of_twelve_results_keeps_all_or_none():
    given = sketch(f"S U A~90 A[{TWELVE}] {repeated(12, 'T[c#]~90')} A U A")
    weights = [METER.messages(given[i:]) for i in range(4, 16)]
    for weight in weights:
        for shape in (given, in_one_message(given)):
            done = compacted(shape, "sliding_window", weight + 30)
            assert len([r for m in done.messages for r in m.results]) in {0, 12}


@pytest.mark.parametrize("window", [4_000, 8_000, 16_000, 32_000, 64_000])
@sliding
@bug("windows: targets")
def test_the_lowest_mark_of_a_small_window_is_a_target_that_is_met(spec, window):
    given = sketch(f"S~200 U {repeated(window // 400, 'A[c#] T[c#]~300 A~90 U~90')} A")
    assert pressure(METER.messages(given), window) > 1
    target = int(0.8 * window)
    done = compacted(given, spec, target)
    assert (done.receipt.outcome, done.receipt.over_target) == ("applied", False)
    assert crossed(Marks(), Marks().armed, pressure(done.receipt.tokens_after - 1, window)).fired == ()
    assert compacted(done.messages, spec, target).messages == done.messages


MARKS = {
    "windows: below": (0.799, (), 8_192),
    "windows: at the first mark": (0.80, (0.80,), 8_192),
    "windows: at the second": (0.90, (0.80, 0.90), 8_192),
    "windows: at the last": (0.95, (0.80, 0.90, 0.95), 8_192),
    "windows: full": (1.0, (0.80, 0.90, 0.95), 512),
    "windows: over": (1.75, (0.80, 0.90, 0.95), 512),
}


@pytest.mark.parametrize("window", [4_000, 8_000, 16_000, 32_000, 64_000])
@rows(("at", "fired", "output"), MARKS)
def test_marks_fire_at_their_own_value_in_every_window(at, fired, output, window):
    reached = pressure(round(at * window), window)
    assert crossed(Marks(), Marks().armed, reached).fired == fired
    assert allowance(reached, Marks()) == output


USELESS = {
    "replies: blank": (" \n", "failed"),
    "replies: a refusal": (Reply("I cannot help with that.", "scripted", finish_reason="content_filter"), "failed"),
    "replies: a refusal by its own name": (Reply("I cannot help.", "scripted", finish_reason="refusal"), "failed"),
    "replies: a refusal in words": ("I'm sorry, but I can't help with that.", "failed"),
    "replies: cut off": (Reply("1. Primary", "scripted", finish_reason="length"), "failed"),
    "replies: too long for the model": (ModelError("prompt is too long"), "failed"),
    "replies: no answer in time": (TimeoutError("after 60 s"), "failed"),
    "replies: the stream broke": (ConnectionError("peer closed"), "failed"),
    "replies: longer than its source": (f"<summary>{filled(2_000, 'Then')}</summary>", "rejected"),
}


@rows(("reply", "outcome"), USELESS)
def test_a_reply_that_is_no_summary_leaves_the_session_as_it_was_each_time(reply, outcome):
    given = sketch(f"S U {repeated(9, 'A~90 U~9')} A")
    model = Scripted(reply)
    asked = 1 if isinstance(reply, Exception) else 2  # a reply of no use is asked for once more
    for number in range(1, 4):
        done = compacted(given, "summary(preserve_recent=1)", model=model)
        assert (done.receipt.outcome, done.messages, len(model.requests)) == (outcome, given, asked * number)
    after = compacted(given, "summary(preserve_recent=1)", model=OVER)
    assert after.receipt.outcome == "applied"


@rows(("reply",), {"replies: no line": (ModelError("no line"),), "replies: nothing": (" ",)})
def test_a_slide_whose_model_fails_is_a_plain_slide_and_says_so(reply):
    given = sketch(f"S U {repeated(9, 'A~90 U~90')} A")
    done = compacted(given, "sliding_reflect(preserve_recent=1)", model=Scripted(reply))
    assert done.receipt.outcome == "applied"
    assert done.receipt.notes[0].startswith("a plain slide: ")
    assert notes(done.messages) == ["[17 earlier messages removed to save context]"]


@every_strategy
@bug("ten-passes: growth")
def test_ten_passes_leave_one_note_of_bounded_size_and_the_identifiers_a_person_gave(spec):
    given = sketch("S U'Move ord_9f8e7d to db-7.internal:5433.' A")
    sizes = []
    for number in range(10):
        given = (*given, *sketch(repeated(4, f"U'See ticket T-{number}#.' A[p{number}c#] T[p{number}c#]~300 A~60")))
        given = compacted(given, spec).messages
        again = compacted(given, spec)
        assert again.messages == given
        sizes.append(sum(METER.message(m) for m in given if m.source is None))
        assert len(notes(given)) <= 1
    assert said_by(given, "user")[0] == "Move ord_9f8e7d to db-7.internal:5433."
    assert max(sizes) < 6_500
    if spec.startswith("summary"):
        assert [n for n in range(9) if f"> See ticket T-{n}1." not in notes(given)[0]] == []


@bug("meanwhile: a message")
def test_what_was_added_while_a_plan_lay_there_is_neither_lost_nor_overwritten():
    given = sketch(f"S U {repeated(9, 'A~90 U~90')} A")
    one, two = (plan(given, spec) for spec in ("sliding_window(preserve_recent=2)", "summary(preserve_recent=2)"))
    done = one.apply(given)
    for late in (two, one):
        with pytest.raises(SpecError, match="other messages"):
            late.apply(done)
    with pytest.raises(SpecError, match="other messages"):
        one.apply((*given, user("one more thing")))


WORDS = {
    "one-word: an approval": ("A'Shall I push?' U'yes'", "yes"),
    "one-word: a prohibition": ("A'so' U'do not touch invoices_archive'", "do not touch invoices_archive"),
    "one-word: a stop": ("A'so' U'stop'", "stop"),
    "one-word: an undo": ("A'so' U'undo'", "undo"),
}


@rows(("text", "words"), WORDS)
def test_a_persons_short_words_are_carried_and_never_culled(text, words):
    trivial = repeated(20, "A'so' U'thanks'")
    given = sketch(f"S U {text} {trivial} {repeated(9, 'A~90 U~9')} A")
    carried = notes(compacted(given, "summary(preserve_recent=1)", model=OVER).messages)[0]
    assert f"> {words}" in carried.split("\n")
    assert words in said_by(compacted(given, "cull(preserve_recent=0)").messages, "user")


LARGE = json.dumps({"path": "a.py", "content": "x = 1\n" * 9_000})
ODD = {
    "odd-content: large arguments": ((agent(ToolCall("c1", "write", LARGE)), Message("tool", (result("c1"),))),),
    "odd-content: no JSON": ((agent(ToolCall("c1", "bash", '{"command": "ls')), Message("tool", (result("c1"),))),),
    "odd-content: a list as arguments": ((agent(call("c1", "bash", "[1, 2]")), Message("tool", (result("c1"),))),),
    "odd-content: a picture alone": ((Message("user", (Image("image/png"),)), agent("I see.")),),
    "odd-content: a picture as result": ((calling("c1"), Message("tool", (ToolResult("c1", (Image("image/png"),)),))),),
    "odd-content: a thought alone": ((Message("assistant", (Reasoning("hm"),)), user("Well?"), agent("So.")),),
    "odd-content: no block": ((Message("user", ()), Message("assistant", ()), Message("tool", ())),),
    "odd-content: an empty system": ((system(""), agent(""), user("")),),
}


@every_strategy
@rows(("middle",), ODD)
def test_odd_content_breaks_no_strategy(middle, spec):
    for text in ("A U A", f"{repeated(9, 'A~90 U~90')} A"):
        given = (*sketch("S U"), *middle, *sketch(text))
        for target in (None, 1, 2_000):
            done = compacted(given, spec, target)
            assert done.receipt.outcome in {"applied", "skipped", "deferred", "rejected"}


@bug("odd-content: weight")
def test_large_arguments_weigh_what_they_are():
    assert METER.message(agent(ToolCall("c1", "write", LARGE))) > 20_000


@bug("turns: units")
def test_a_session_has_the_same_units_in_both_shapes():
    given = sketch(f"S U {repeated(6, 'A[c#] T[c#]~90')} A U A")
    assert [len(unit) for unit in units(given)] == [1, 1, *[2] * 6, 1, 1, 1]
    for keep in range(10):
        spec = f"sliding_window(preserve_recent={keep})"
        split, joined = (compacted(shape, spec) for shape in (given, in_one_message(given)))
        assert split.receipt.tokens_after == joined.receipt.tokens_after


@bug("cuts: a hostile plan")
def test_a_plan_that_takes_out_one_of_twelve_results_is_widened():
    given = sketch(f"S U A~90 A[{TWELVE}] {repeated(12, 'T[c#]~90')} A U A")
    done = compacted(given, Hostile((("drop", 11, 0), ("drop", 2, 0))))
    assert sources(done.messages) == [0, 1, *range(3, 19)]
