"""Reported faults of weight and progress: wrong counts, loops, results that grow (K07, K08, K09)."""

import re

import pytest
from reports import (
    EVERY,
    METER,
    SLIDING,
    compacted,
    every_strategy,
    filled,
    notes,
    repeated,
    row,
    rows,
    sketch,
    sliding,
    sources,
)

from compactlab.compaction import Guard, compact
from compactlab.llm.extractive import Extractive
from compactlab.llm.prompts import rendered
from compactlab.llm.scripted import Scripted
from compactlab.pressure import Marks, crossed, pressure
from compactlab.readers._usage import anthropic_usage, openai_usage
from compactlab.shapes import anthropic, openai_chat
from compactlab.tokens import Meter
from compactlab.transcript import Message, Text, Usage

# ---- K07: one counter, for every script and kind

SCRIPTS = {
    "K07-D1": ("漢字東京都大阪府",),
    "K07-D1 kana": ("ひらがなカタカナ",),
    "K07-D1 hangul": ("가나다라마바사아",),
    "K07-D1 latin": ("twenty letters of it",),
    "K07-D1 emoji": ("👩‍👩‍👧‍👦🎉",),
}


@rows(("script",), SCRIPTS)
def test_a_tail_of_twenty_thousand_tokens_is_that_in_any_script(script):
    texts = [f"{i}: {script * (1_000 // len(script))}" for i in range(40)]
    roles = ("user", "assistant")
    given = tuple(Message(roles[i % 2], (Text(text),), source=i) for i, text in enumerate(texts * 3))
    for spec in SLIDING:
        done = compacted(given, spec, 20_000)
        assert done.receipt.tokens_after <= 20_000 or METER.messages(given) <= 20_000
    slid = compacted(given, "sliding_window", 20_000).receipt
    assert 0.85 * min(20_000, slid.tokens_before) < slid.tokens_after


@pytest.mark.parametrize("history", ["2k", "100k"])
@row("K07-D3")
def test_what_comes_with_a_list_is_added_and_never_a_share_of_it(history):
    fixed = sketch("S~18k")
    said = sketch(f"U~{history} A~500 U A")
    assert (
        METER.messages((*fixed, *said)) == METER.messages(fixed) + METER.messages(said) == 18_004 + METER.messages(said)
    )
    before = METER.messages((*fixed, *said))
    assert METER.messages((*fixed, *said, *sketch("S~14k"))) == before + 14_004


@pytest.mark.parametrize("wire", [openai_usage, anthropic_usage])
@row("K07-D4")
def test_what_came_from_a_cache_is_counted_once_by_the_convention_of_each_provider(wire):
    openai = {"prompt_tokens": 184_000, "completion_tokens": 700, "prompt_tokens_details": {"cached_tokens": 184_000}}
    apart = {"input_tokens": 0, "cache_read_input_tokens": 184_000, "output_tokens": 700}
    given = {openai_usage: openai, anthropic_usage: apart}[wire]
    assert wire(1, given) == Usage(1, input=184_000, output=700, cached=184_000)


LINES = "row 17: worker-3 took 1,204 ms\n" * 900
UNKNOWN = {
    "K07-D5": ([{"type": "toolResult", "output": LINES}],),
    "K07-D5 letters and blanks alone": ([{"type": "toolResult", "output": "a line of output\n" * 1_800}],),
    "K07-D5 an event stream": ([{"type": "toolResult", "output": f"data: {LINES}"}],),
    "K07-D5 a table": ([{"type": "table", "rows": [["17", "four"]] * 2_000}],),
    "K07-D5 deep inside": ([{"type": "x", "parts": [{"y": {"z": LINES}}]}],),
    "K07-D5 no object": (["bare words " * 3_000, 17, None],),
}


@rows(("content",), UNKNOWN)
def test_content_of_a_kind_that_no_one_knows_weighs_what_can_be_read_in_it(content):
    for shape in (anthropic, openai_chat):
        read = shape.from_wire([{"role": "user", "content": content}])
        weight = METER.messages(read)
        assert weight > 3_000
        given = (*sketch("S U'begin' A"), *read * 20, *sketch("A U A"))
        receipt = compacted(given, "sliding_window", weight * 10).receipt
        assert (receipt.outcome, receipt.over_target) == ("applied", False)
        assert receipt.tokens_after > weight * 8


@row("K07-D5")
def test_a_result_of_a_kind_that_no_one_knows_weighs_what_can_be_read_in_it():
    block = {"type": "tool_result", "tool_use_id": "c1", "content": [{"type": "rows", "values": [LINES, 17]}]}
    [message] = anthropic.from_wire([{"role": "user", "content": [block]}])
    assert METER.message(message) > 3_000
    [message] = openai_chat.from_wire([{"role": "tool", "tool_call_id": "c1", "content": block["content"]}])
    assert METER.message(message) > 3_000


@pytest.mark.parametrize("counter", ["o200k_base", "cl100k_base", "chars/4"])
@row("K07-D7")
def test_meter_marks_cut_and_receipt_read_one_counter(counter):
    meter = Meter(counter)
    given = (*sketch(f"S~300 U+img {repeated(9, 'A[c#]+think T[c#]~700 U+img')} A"),)
    target = meter.messages(given) * 8 // 10
    for spec in EVERY:
        done = compact(given, spec, target=target, guard=Guard(meter, model=Extractive()))
        receipt = done.receipt
        assert (receipt.counter, receipt.tokens_before) == (counter, meter.messages(given))
        assert receipt.tokens_after == meter.messages(done.messages) == sum(receipt.kinds_after.values())
        assert sum(receipt.kinds_before.values()) == receipt.tokens_before
        assert receipt.over_target == (pressure(meter.messages(done.messages), target) > 1)


@row("K07-D8")
def test_a_giant_result_is_seen_by_the_marks_as_soon_as_it_stands_there():
    before = sketch("S~30k U~9k A[c1]")
    assert crossed(Marks(), Marks().armed, pressure(METER.messages(before), 128_000)).fired == ()
    after = (*before, *sketch("T[c1]~90k"))
    assert crossed(Marks(), Marks().armed, pressure(METER.messages(after), 128_000)).fired == (0.8, 0.9, 0.95)


# ---- K08: progress or a reason


@every_strategy
@row("K08-D2")
def test_what_must_stay_is_part_of_the_size_and_no_second_pass_follows(spec):
    rules = Message("system", (Text(filled(24_000, "rules")),), pinned=True)
    given = (rules, *sketch(f"U {repeated(8, 'A[c#] T[c#]~900 A U')}"))
    target = int(0.8 * 32_000)
    first = compacted(given, spec, target)
    assert first.receipt.pinned_tokens == 24_004
    assert first.receipt.over_target == (first.receipt.tokens_after > target)
    again = compacted(first.messages, spec, target)
    assert again.messages == first.messages
    assert again.receipt.outcome in {"skipped", "deferred", "rejected"}


@every_strategy
@rows(
    ("text", "target"),
    {
        "K08-D3": ("S U A U A", 10),
        "K08-D3 tools": ("S U A[c1] T[c1] A", 10),
        "K08-D4": ("S U A U A U A", 60),
        "K08-D9": ("U'a' A'b' U'c' A'd' U'e'", 4),
        "K08-D9 nothing": ("U'a' A'b' U'c' A'd' U'e'", 0),
        "K08-D9 one token": ("U'a' A'b' U'c' A'd' U'e'", 1),
        "K08-D9 below the overhead": ("U'a' A'b' U'c' A'd' U'e'", 7),
    },
)
def test_a_pass_that_can_remove_nothing_ends_and_says_so_each_time(text, target, spec):
    given = sketch(text)
    for _ in range(3):
        done = compacted(given, spec.replace("preserve_recent=2", "preserve_recent=8"), target)
        if done.receipt.outcome == "applied":
            assert done.receipt.tokens_after < METER.messages(given)
            given = done.messages
        else:
            assert done.messages == given
            assert done.receipt.reason
    assert compacted(given, spec.replace("preserve_recent=2", "preserve_recent=8"), target).messages == given


@sliding
@row("K08-D4")
def test_a_session_that_was_too_short_is_compacted_once_it_is_long(spec):
    spec = f"{spec.partition('(')[0]}(preserve_recent=8)"
    short, long = sketch("S U A~300 U A~300 U A~300"), sketch(f"S U {repeated(20, 'A~300 U~300')} A")
    outcomes = [compacted(given, spec).receipt.outcome for given in (short, short, short, long, short)]
    assert outcomes == ["skipped", "skipped", "skipped", "applied", "skipped"]


@sliding
@row("K08-D5")
def test_after_a_pass_the_count_is_that_of_the_new_list(spec):
    given = sketch(f"S U {repeated(24, 'A[c#] T[c#]~8k U')} A")
    window = 206_000
    first = compacted(given, spec, 120_000)
    assert pressure(first.receipt.tokens_before, window) > 0.9
    for more in ("U'one' A'two'", "U'three' A'four'"):
        later = (*first.messages, *sketch(more))
        assert pressure(METER.messages(later), window) < 0.6
        assert compacted(later, "none").receipt.tokens_before == METER.messages(later)


@every_strategy
@row("K08-D6")
def test_ten_passes_on_a_growing_session_each_end_below_where_they_began(spec):
    given = sketch("S U A")
    sizes = []
    for number in range(10):
        given = (*given, *sketch(repeated(6, f"U~200 A[p{number}c#] T[p{number}c#]~700 A~200")))
        done = compacted(given, spec, 12_000)
        given = done.messages
        sizes.append(done.receipt.tokens_after)
    if spec in SLIDING:
        assert max(sizes) <= 12_000


@sliding
@rows(
    ("text", "target"),
    {
        "K08-D7": (f"{repeated(97, 'U~20 A~20')} {repeated(3, 'U~6k A~6k')} U A", 20_000),
        "K08-D8": (f"U {repeated(16, 'A[c#] T[c#]~60 A~40')} {repeated(3, 'A[d#] T[d#]~30k')} A U A", 50_000),
        "K08-D8 a small target": (f"U {repeated(3, 'A[d#] T[d#]~30k')} {repeated(40, 'A[c#] T[c#]~60')} U A", 8_000),
    },
)
def test_a_target_is_met_by_weight_whatever_the_number_of_messages(text, target, spec):
    given = sketch(text)
    done = compacted(given, spec, target)
    assert done.receipt.tokens_after <= target
    assert done.messages[-2:] == given[-2:]


@row("K08-D7")
def test_one_kept_message_over_the_target_is_named_once():
    given = sketch(f"{repeated(97, 'U~20 A~20')} U A~30k")
    for spec in EVERY:
        done = compacted(given, spec, 20_000)
        assert done.receipt.to_text().count("message 195 is the heaviest") == 1
        assert done.receipt.over_target


# ---- K09: never heavier, and honest about it

NINE = "\n".join(f"{n}. Heading number {n}\n{'- a line that says little ' * 12}" for n in range(1, 10))
SMALL = "S U A U A U A"


@rows(
    ("text", "spec", "reply"),
    {
        "K09-D1": (SMALL, "summary(preserve_recent=0)", NINE),
        "K09-D1 threads": (SMALL, "sliding_reflect(preserve_recent=0)", NINE),
        "K09-D2": (
            f"U {repeated(10, 'A~50 U~50')} A~30k U~30k A~30k",
            "summary(preserve_recent=3)",
            filled(2_000, "x"),
        ),
        "K09-D3": (f"U {repeated(9, 'A~50 U~50')} A", "summary(preserve_recent=0)", ""),
    },
)
def test_a_summary_heavier_than_what_it_stands_for_is_not_taken(text, spec, reply):
    given = sketch(text)
    reply = reply or rendered(given)
    done = compacted(given, spec, model=Scripted(f"<summary>{reply}</summary>"))
    if done.receipt.outcome == "applied":  # the words are not taken, the slide is
        assert done.receipt.notes[0].startswith("a plain slide: ")
        return
    assert done.messages == given
    assert done.receipt.saved == 0
    if done.receipt.outcome == "skipped":  # too little to summarise: the model is not even asked
        assert done.receipt.model_calls == 0
    else:
        assert done.receipt.outcome in {"rejected", "failed"}
        assert re.search("would weigh|goes on with the conversation", done.receipt.reason)
        assert done.receipt.model_calls == 2  # it is asked for once more


@row("K09-D2")
def test_where_the_small_part_can_shrink_a_little_the_gain_is_told_as_it_is():
    given = sketch(f"U {repeated(10, 'A~50 U~50')} A~30k U~30k A~30k")
    done = compacted(given, "summary(preserve_recent=3)", model=Scripted("<summary>Nothing of note.</summary>"))
    assert done.receipt.outcome in {"applied", "skipped"}
    assert done.receipt.saved < 0.02


@pytest.mark.parametrize("spec", ["summary(preserve_recent=0)", "sliding_reflect(preserve_recent=0)"])
@row("K09-D3")
def test_a_model_that_copies_its_source_saves_nothing(spec):
    given = sketch(f"S U {repeated(9, 'A~50 U~50')} A")
    done = compacted(given, spec, model=Scripted(rendered(given)))
    assert rendered(given)[:40] not in "".join(notes(done.messages))
    assert done.receipt.outcome == "failed" or done.receipt.notes[0].startswith("a plain slide: ")


@rows(
    ("text", "spec", "share"),
    {
        "K09-D4": (f"S~60k U {repeated(40, 'A~1k U~1k')} A", "sliding_window(preserve_recent=40)", 0.28),
        "K09-D4 no prompt": (f"U {repeated(40, 'A~1k U~1k')} A", "sliding_window(preserve_recent=40)", 0.5),
        "K09-D5": (f"U {repeated(14, 'A[c#] T[c#]~2k')} U A", "summary(preserve_recent=2)", 0.96),
        "K09-D6": ("S~60k U~1k A~1k U~1k", "sliding_window(preserve_recent=3)", 0),
    },
)
def test_the_share_saved_is_that_of_the_whole_list_by_one_counter(text, spec, share):
    given = sketch(text)
    reply = f"<summary>{filled(900, 'It was read.')}</summary>"
    done = compacted(given, spec, model=Scripted(reply))
    after = METER.messages(done.messages)
    assert done.receipt.saved == pytest.approx(1 - after / METER.messages(given))
    assert done.receipt.saved == pytest.approx(share, abs=0.02)
    assert f"{METER.messages(given):,} -> {after:,} tokens (o200k_base)" in done.receipt.to_text()


@every_strategy
@row("K09-D6")
def test_a_pass_that_frees_nothing_saves_nothing_however_large_the_prompt(spec):
    given = sketch("S~60k U~1k A~1k U~1k")
    for _ in range(3):
        receipt = compacted(given, spec, 40_000).receipt
        assert (receipt.saved, receipt.tokens_after, receipt.over_target) == (0, receipt.tokens_before, True)
        assert receipt.outcome in {"skipped", "deferred", "rejected"}
        assert notes(compacted(given, spec, 40_000).messages) == []


@pytest.mark.parametrize("spec", ["summary(preserve_recent=2)", "sliding_reflect(preserve_recent=2)"])
@pytest.mark.parametrize("reply", ["<summary>Short.</summary>", " "])
@row("K09-D7")
def test_what_a_summary_cost_is_booked_whether_it_was_of_use_or_not(reply, spec):
    given = sketch(f"S U {repeated(3, 'A~20k U')} A")
    receipt = compacted(given, spec, model=Scripted(reply)).receipt
    calls = 2 if reply.isspace() else 1  # a blank one is asked for once more, and both are booked
    assert receipt.model_calls == calls
    assert 60_000 * calls < receipt.model_tokens < 62_000 * calls
    assert f"scripted: {calls} calls, {receipt.model_tokens:,} tokens" in receipt.to_text()


@row("K09-D7")
def test_a_pass_without_a_model_costs_none():
    for spec in EVERY:
        receipt = compacted(sketch(f"S U {repeated(3, 'A~2k U')} A"), spec).receipt
        assert (receipt.model_calls > 0) == (spec.startswith(("summary", "sliding_reflect", "ladder(")))


@row("K08-D8")
def test_what_goes_and_what_a_target_asks_are_both_in_tokens():
    given = sketch(f"U {repeated(3, 'A[d#] T[d#]~30k')} {repeated(40, 'A[c#] T[c#]~60')} U A")
    receipt = compacted(given, "sliding_window", 8_000).receipt
    assert 90_000 < receipt.tokens_before - receipt.tokens_after < 92_000
    assert (receipt.target, receipt.over_target) == (8_000, False)
    assert sources(compacted(given, "sliding_window(preserve_recent=42)").messages)[2] == 7
