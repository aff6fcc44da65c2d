"""Reported faults of content: prompts, pictures and thoughts lost, giants, odd shapes (K04, K05, K06, K22, K23)."""

import base64
from dataclasses import fields

import pytest
from hostile import Hostile
from reports import (
    EVERY,
    METER,
    compacted,
    every_strategy,
    filled,
    in_one_message,
    repeated,
    row,
    rows,
    said_by,
    sketch,
    sliding,
    sources,
    unpaired,
)

from compactlab import catalog
from compactlab.llm.prompts import rendered
from compactlab.llm.scripted import Scripted
from compactlab.markers import CLEARED
from compactlab.pressure import pressure
from compactlab.shapes import anthropic, openai_chat
from compactlab.transcript import Image, Message, Reasoning, Text, ToolCall, ToolResult

# ---- K04: prompts, tasks, options

KEPT_WORDS = {
    "K04-D1": (f"S'never buy anything' {repeated(8, 'U A~90')}", "system", ["never buy anything"]),
    "K04-D1 two at the start": (f"S'one' S'two' {repeated(8, 'U A~90')}", "system", ["one", "two"]),
    "K04-D1 one in the middle": (
        f"S'one' {repeated(4, 'U A~90')} S'two' {repeated(4, 'U A~90')}",
        "system",
        ["one", "two"],
    ),
    "K04-D2": (f"S U'migrate db' {repeated(9, 'A[c#] T[c#]~20k')}", "user", ["migrate db"]),
    "K04-D2 and the last words": (
        f"S U'migrate db' {repeated(6, 'U~90 A[c#] T[c#]~90')} U'only the orders' {repeated(3, 'A[d#] T[d#]~90')}",
        "user",
        ["migrate db", "only the orders"],
    ),
}


@every_strategy
@rows(("text", "role", "words"), KEPT_WORDS)
def test_what_a_session_began_with_stands_byte_for_byte_and_once(text, role, words, spec):
    given = sketch(text)
    for target in (None, 1, METER.messages(given) // 2):
        said = said_by(compacted(given, spec, target).messages, role)
        assert [text for text in said if text in words] == words
        assert said == words or role == "user"


@sliding
@row("K04-D2")
def test_a_window_of_a_hundred_thousand_is_met_with_the_task_in_it(spec):
    done = compacted(sketch(f"S U'migrate db' {repeated(9, 'A[c#] T[c#]~20k')}"), spec, 100_000)
    assert (done.receipt.outcome, done.receipt.over_target) == ("applied", False)
    assert said_by(done.messages, "user") == ["migrate db"]


@pytest.mark.parametrize("keep", range(9))
@sliding
@row("K04-D3")
def test_what_stands_behind_the_cut_is_unchanged(spec, keep):
    given = sketch(f"U {repeated(8, 'A~900 U~900')} A")
    done = compacted(given, f"{spec.partition('(')[0]}(preserve_recent={keep})")
    tail = max(keep, 2)
    assert done.messages[-tail:] == given[-tail:]
    assert [message for message in done.messages if message.source is not None] == [given[0], *given[-tail:]]


OPTIONS = {
    "cull": {"preserve_recent": 60, "keep_answers": False},
    "defer": {"reason": "the turn ends soon"},
    "key_value": {"kv_target": 1, "preserve_recent": 3, "labels": True, "kv_share": 0.9, "terse": True},
    "ladder": {"steps": ("sliding_window(preserve_recent=3)",)},
    "microcompact": {"keep_recent": 1, "tools": ("read",), "errors": "keep", "max_result_tokens": 100},
    "none": {},
    "sliding_reflect": {"preserve_recent": 3, "max_note_tokens": 10},
    "sliding_window": {"preserve_recent": 3},
    "summary": {"preserve_recent": 3, "max_summary_tokens": 10, "strict": True},
}
VARIED = (
    "U "
    + repeated(20, "A U'thanks'")
    + " A'Port?' U'ok' A'rows: 4411' U'ok' A'cost: 12.50' A'The port is 5433.'"
    + " U'Rule: never open part b of the plant.' A U'Rule: never open part c of the yard.' A"
    + "".join(
        f" A[{tool}:c{i}] T{error}[c{i}]~300" for i, (tool, error) in enumerate([("bash", "!"), ("read", "")] * 5)
    )
    + " U A"
)


@row("K04-D4")
def test_every_option_of_every_strategy_stands_in_the_table():
    declared = {name: {f.name for f in fields(catalog.strategy_class(name))} for name in catalog.names("strategies")}
    assert declared == {name: set(options) for name, options in OPTIONS.items()}


@pytest.mark.parametrize(
    ("name", "option"), [(name, option) for name, options in OPTIONS.items() for option in options]
)
@row("K04-D4")
def test_turning_an_option_changes_what_comes_out(name, option):
    cls = catalog.strategy_class(name)
    given = sketch(VARIED)
    model = Scripted("<summary>" + " ".join(f"Host {n} has {5000 + n}." for n in range(90)) + "</summary>")
    specs = (repr(cls()), repr(cls(**{option: OPTIONS[name][option]})))
    for target in (None, METER.messages(given) // 2):  # some matter where there is a target, or where there is none
        plain, turned = (compacted(given, spec, target, model=model) for spec in specs)
        if (plain.messages, plain.receipt.reason) != (turned.messages, turned.receipt.reason):
            return
    raise AssertionError(f"{specs[1]} does what {specs[0]} does")


# ---- K05: pictures

NO_PICTURE = b"\x89PNG, and bytes that no one can read"
UNKNOWN_SIZES = (Image("image/png"), Image("image/jpeg", 0, 0), Image("image/*", data=NO_PICTURE), Image("x", url="u"))


@row("K05-D1")
def test_a_picture_from_a_tool_weighs_by_its_size_and_not_by_its_bytes():
    large = Image("image/png", data=bytes(2_500_000))
    given = (*sketch("U A[view:c1]"), Message("tool", (ToolResult("c1", (large,)),)))
    assert METER.messages(given) < 2_000
    assert pressure(METER.messages(given), 200_000) < 0.01
    assert METER.block(Image("image/png", 1_500, 1_000, data=bytes(2_500_000))) == 2_000


@row("K05-D2")
def test_forty_pictures_fill_a_window_wherever_they_stand():
    pictures = [UNKNOWN_SIZES[i % 4] for i in range(40)]
    shown = [Message("user", (picture,)) for picture in pictures]
    found = [Message("tool", (ToolResult(f"c{i}", (picture,)),)) for i, picture in enumerate(pictures)]
    assert min(METER.block(picture) for picture in pictures) > 0
    assert pressure(METER.messages(shown), 64_000) >= 0.95
    assert pressure(METER.messages(found), 64_000) >= 0.95


DATA = "data:application/pdf;base64," + base64.b64encode(bytes(3_000_000)).decode()
ATTACHED = {
    "K05-D3": ({"content": "What is it?", "files": [{"url": DATA}]},),
    "K05-D3 a part of the content": (
        {"content": [{"type": "text", "text": "What is it?"}, {"type": "file", "file": {"file_data": DATA}}]},
    ),
    "K05-D3 a part without a kind": ({"content": [{"text": "What is it?", "attachment": {"deep": [DATA]}}]},),
    "K05-D3 a picture": ({"content": [{"type": "image_url", "image_url": {"url": DATA}}]},),
}


@rows(("wire",), ATTACHED)
def test_attached_data_is_never_counted_as_text(wire):
    for shape in (openai_chat.from_wire, anthropic.from_wire):
        assert 0 < METER.messages(shape([{"role": "user", **wire}])) < 2_000


@every_strategy
@rows(
    ("text",),
    {
        "K05-D4": ("U'what is this?'+img",),
        "K05-D4 with a system prompt": ("S U'what is this?'+img",),
        "K05-D4 and a call that runs": ("S U'what is this?'+img A[view:c1]",),
    },
)
def test_the_only_words_of_a_person_are_never_compacted(text, spec):
    given = sketch(text)
    for target in (None, 0, 1, 100):
        done = compacted(given, spec, target)
        assert done.messages == given
        assert done.receipt.outcome in {"skipped", "deferred"}


@pytest.mark.parametrize("words", ["(plot.png):", "ok", "", "thanks"])
@row("K05-D5")
def test_a_message_with_a_picture_is_never_too_short_to_stay(words):
    after = repeated(20, "U'thanks' A'so'")
    given = sketch(f"U A U'{words}'+img A'so' {after} {repeated(10, 'U A')}")
    done = compacted(given, "cull(keep_answers=False)")
    assert sources(done.messages) == [i for i, m in enumerate(given) if m.text != "thanks" or i == 2]


NAMED = {
    "K05-D5": ("U'(plot.png):'+img",),
    "K05-D5 nothing else": ("U''+img",),
    "K05-D5 from a tool": ("A[view:c1] T[c1]'(plot.png):'+img",),
}


@rows(("text",), NAMED)
def test_a_summariser_is_told_that_a_picture_stood_there(text):
    assert "picture, image/png" in rendered(sketch(text))


@sliding
@row("K05-D6")
def test_a_picture_near_the_end_hinders_no_pass(spec):
    done = compacted(sketch(f"S U {repeated(10, 'A~20k U')} U+img A"), spec, 100_000)
    assert (done.receipt.outcome, done.receipt.over_target) == ("applied", False)
    assert done.messages[-2].blocks[-1] == Image("image/png", digest="sha256:0a1b")


@row("K05-D6")
def test_a_strategy_that_breaks_is_seen_and_flagged_and_not_taken_for_a_pass():
    given = sketch(f"S U {repeated(10, 'A~20k U')} U+img A")
    done = compacted(given, Hostile((), "KeyError"), 100_000)
    assert (done.receipt.outcome, done.receipt.reason) == ("failed", "KeyError: 'no'")
    assert (done.receipt.over_target, done.receipt.saved) == (True, 0)


# ---- K06: thoughts

THOUGHTS = {
    "K06-D1": (f"S U {repeated(6, 'A~90 U')} A[c1]'so:'+think T[c1]",),
    "K06-D1 older ones": (f"S U {repeated(6, 'A[c#]+think T[c#]~90 A+think U')} A",),
    "K06-D2": ("S U A[c1]+think T[c1]~90 A~90 U A~90 U A",),
    "K06-D3": (f"S U {repeated(6, 'A[c#]+think T[c#]~90')} U A",),
}


@every_strategy
@rows(("text",), THOUGHTS)
def test_a_thought_is_unchanged_or_gone_with_its_whole_message(text, spec):
    given = sketch(text)
    for target in (None, 1, METER.messages(given) // 2):
        for message in compacted(given, spec, target).messages:
            if message.role == "assistant":
                assert message == given[message.source]


@every_strategy
@rows(("text",), THOUGHTS)
def test_in_a_turn_stored_as_one_message_a_thought_goes_with_its_call(text, spec):
    given = in_one_message(sketch(text))
    thoughts = {message.source: message.blocks for message in sketch(text) if message.role == "assistant"}
    for message in compacted(given, spec).messages:
        for i, block in enumerate(message.blocks):
            if isinstance(block, Reasoning):
                number = int(block.text.removeprefix("thought "))
                assert message.blocks[i : i + len(thoughts[number])] == thoughts[number]


MISCHIEF = {
    "K06-D1 reworded": (("edit_thoughts", 0, 1),),
    "K06-D1 emptied": (("edit_thoughts", 1, 0),),
    "K06-D2 the call goes": (("drop_blocks", 2, 1),),
    "K06-D2 all goes": (("drop_blocks", 2, 0),),
    "K06-D2 turned about": (("turn_blocks", 2, 1),),
}


@pytest.mark.parametrize("text", ["S U A[c1]+think T[c1]~90", "S U A[c1]+think T[c1]~90 A~90 U A~90 U A"])
@rows(("operations",), {name: (operations,) for name, operations in MISCHIEF.items()})
def test_the_guard_lets_no_strategy_change_a_signed_thought_or_part_it_from_its_call(operations, text):
    given = sketch(text)
    done = compacted(given, Hostile((*operations, ("drop", 4, 0))))
    assert [message.blocks for message in done.messages if message.source == 2] == [given[2].blocks]


@rows(("operations",), {"K06-D3": ((("drop_blocks", 2, 1),),), "K06-D3 and its result": ((("drop", 3, 0),),)})
def test_no_message_is_left_with_a_thought_alone(operations):
    given = sketch("S U A[c1]+think T[c1]~90 A+think U A~90 U A")
    done = compacted(given, Hostile((*operations, ("drop_blocks", 4, 1))))
    for message in done.messages:
        assert not message.blocks or not all(isinstance(block, Reasoning) for block in message.blocks)


NEW_KINDS = ({"type": "reasoning_file", "file": {"name": "plan.md"}}, {"type": "thought", "steps": ["a", "b"]})


@pytest.mark.parametrize("part", NEW_KINDS, ids=lambda part: part["type"])
@row("K06-D4")
def test_a_kind_of_thought_that_no_one_knows_yet_weighs_something_and_passes(part):
    wire = {"role": "assistant", "content": [part, {"type": "text", "text": "So."}]}
    for shape in (openai_chat.from_wire, anthropic.from_wire):
        given = (*sketch("S U"), *shape([wire]), *sketch("U A"))
        assert METER.block(given[2].blocks[0]) > 0
        assert METER.message(given[2]) > METER.message(Message("assistant", (Text("So."),)))
        for spec in EVERY:
            kept = [m for m in compacted(given, spec).messages if m.role == "assistant"]
            assert all(message in given for message in kept)


# ---- K22: one message larger than the target

LARGE = "S U A[c1] T[c1]~150k"


@every_strategy
@row("K22-D1")
def test_a_result_that_the_agent_has_not_seen_and_no_window_holds_is_named_as_the_reason(spec):
    given = sketch(LARGE)
    done = compacted(given, spec, 128_000)
    assert (done.messages, done.receipt.over_target, done.receipt.heaviest) == (given, True, 3)
    assert "no strategy can meet the target of 128,000: message 3 is the heaviest" in done.receipt.to_text()


@row("K22-D1")
def test_a_giant_result_that_was_seen_is_shortened_where_it_stands():
    given = sketch(f"{LARGE} A")
    done = compacted(given, "microcompact(max_result_tokens=20_000)", 128_000)
    [result] = done.messages[3].results
    assert (done.receipt.outcome, done.receipt.over_target) == ("applied", False)
    assert 15_000 < METER.block(result) <= 20_000
    assert result.text.startswith("result c1 day day")
    assert result.text.endswith(" day")
    assert "the middle cut" in result.text
    assert unpaired(done.messages) == []


@pytest.mark.parametrize("weight", ["11k", "100k", "482k"])
@row("K22-D2")
def test_the_cap_of_a_result_holds_at_any_total_and_on_each_pass(weight):
    given = sketch(f"S U A[c1] T[c1]~{weight} A")
    for number in range(3):
        done = compacted(given, "microcompact(max_result_tokens=10_000)")
        assert done.receipt.outcome == "applied"
        assert max(METER.block(r) for m in done.messages for r in m.results) <= 10_000
        given = (*done.messages, *sketch(f"U A[d{number}] T[d{number}]~{weight} A"))


@every_strategy
@row("K22-D3")
def test_where_nothing_old_is_left_the_receipt_says_what_fills_the_window(spec):
    done = compacted(sketch("N'summary'~5k A[c1]~5k T[c1]~195k"), spec, 160_000)
    assert (done.receipt.over_target, done.receipt.heaviest) == (True, 2)
    assert done.receipt.outcome in {"applied", "skipped", "deferred", "rejected"}
    assert [message.source for message in done.messages][-2:] == [1, 2]
    assert "no strategy can meet the target of 160,000: message 2 is the heaviest" in done.receipt.to_text()


# ---- K23: empty and odd shapes

CALLS = [{"id": "c1", "type": "function", "function": {"name": "bash", "arguments": "{}"}}]
EMPTY = {
    "K23-D1": ({"role": "assistant", "content": None, "tool_calls": CALLS},),
    "K23-D1 missing": ({"role": "assistant", "tool_calls": CALLS},),
    "K23-D1 blank": ({"role": "assistant", "content": "", "tool_calls": CALLS},),
    "K23-D1 an empty list": ({"role": "assistant", "content": [], "tool_calls": CALLS},),
}


@rows(("wire",), EMPTY)
def test_a_message_of_calls_alone_weighs_its_calls_and_passes(wire):
    [asked] = openai_chat.from_wire([wire])
    assert asked.blocks == (ToolCall("c1", "bash", "{}"),)
    given = (*sketch("U A~90 U A~90 U A~90 U"), asked, *sketch("T[c1] U A"))
    assert METER.message(asked) == METER.block(asked.blocks[0]) + 4
    for spec in EVERY:
        compacted(given, spec)


@every_strategy
@row("K23-D2")
def test_parts_are_cut_like_words_and_what_cannot_be_cut_is_flagged(spec):
    wire = {"role": "user", "content": [{"type": "text", "text": filled(10_000, "part")}]}
    alone = compacted(openai_chat.from_wire([wire]), spec, 50)
    assert (alone.receipt.over_target, alone.receipt.tokens_before) == (True, 10_004)
    later = (*sketch("U A"), *openai_chat.from_wire([wire]), *sketch("A U A"))
    done = compacted(later, "sliding_window", 50)
    assert (done.receipt.over_target, sources(done.messages)[:2]) == (False, [0, None])


@pytest.mark.parametrize("spec", ["summary(preserve_recent=1)", "sliding_reflect(preserve_recent=1)"])
@row("K23-D3")
def test_a_summariser_reads_tool_traffic_as_text_and_needs_no_tools(spec):
    model = Scripted("<summary>Done.</summary>")
    compacted(sketch("U A[grep:c1] T[c1]'row 17'~90 T![c1] A~90 U A"), spec, model=model)
    [request] = model.requests
    assert '[assistant -> grep] {"n": "c1"}' in request.prompt
    assert "[tool grep] row 17" in request.prompt


BLANKS = {
    "K23-D4": ((),),
    "K23-D4 no block": ((Message("user", ()),),),
    "K23-D4 an empty text": ((Message("user", (Text(""),)),),),
    "K23-D4 blanks": ((Message("user", (Text("   "),)), Message("assistant", (Text(""),))),),
    "K23-D4 empty fields": (
        (
            Message("user", (Text('{"a": ""}'),)),
            Message("assistant", (ToolCall("", "", ""),)),
            Message("tool", (ToolResult(""),)),
        ),
    ),
}


@every_strategy
@rows(("given",), BLANKS)
def test_nothing_in_gives_nothing_out_and_a_share_that_is_defined(given, spec):
    for target in (None, 0, 10):
        done = compacted(given, spec, target)
        assert done.messages == given
        assert done.receipt.saved == 0
        assert done.receipt.to_text()


@row("K23-D4")
def test_an_empty_result_stays_lighter_than_what_would_stand_for_it():
    given = sketch(f"U {repeated(8, 'A[c#] T[c#]')} A")
    blank = tuple(
        Message("tool", (ToolResult(m.results[0].call_id),), source=m.source) if m.results else m for m in given
    )
    done = compacted(blank, "microcompact(keep_recent=0)")
    assert done.messages == blank
    assert CLEARED not in str(done.messages)
