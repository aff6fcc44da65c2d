"""Reported faults of pairs and order: stray results, parted fan-outs, lost calls, roles, twins (K01 to K03, K24)."""

import pytest
from hostile import Hostile
from reports import (
    EVERY,
    METER,
    compacted,
    every_strategy,
    growth,
    in_one_message,
    notes,
    repeated,
    row,
    rows,
    sketch,
    sliding,
    sources,
    specs,
    unpaired,
)

from compactlab import history
from compactlab.markers import NO_RESULT
from compactlab.transcript import Message, Text, ToolResult
from compactlab.validity import violations

FAN = "U A[c1,c2,c3,c4,c5,c6,c7,c8] T[c1]~90 T[c2]~90 T[c3]~90 T[c4]~90 T[c5]~90 T[c6]~90 T[c7]~90 T[c8]~90"
TEN = f"U A[{','.join(f'c{i}' for i in range(1, 11))}] {repeated(10, 'T[c#]~90')}"

# What stands in each row, in one sketch; every strategy is held to whole pairs on it, at every size.
PAIRS = {
    "K01-D1": ("U A[c1] T[c1]~200 U A U A",),
    "K01-D2": ("U A[c1,c2] T[c1]~9k T[c2]~9k U",),
    "K01-D2 followed by an answer": ("U A[c1,c2] T[c1]~9k T[c2]~9k U A U A U",),
    "K01-D3": ("U A~90 U A~90 U A~90 U A[c9] U A",),
    "K01-D3 the call is last": ("U A~90 U A~90 U A~90 U A[c9]",),
    "K01-D5": ("U A~90 A[c1] T[c1]~90 N'[3 earlier messages removed to save context]' T[c2]~90 A[c3] T[c3]~90 U A",),
    "K01-D7": ("U A[c1] T[c1]~90 U A[c2] T[c2]~90 U",),
    "K02-D1": (f"{TEN} U",),
    "K02-D1 further back": (f"{TEN} U A U A",),
    "K02-D2": (FAN,),
    "K02-D2 further back": (f"{FAN} U A U A",),
    "K02-D3 words between": ("U A[c1] A'text' T[c1]~90 U A U A",),
    "K02-D3 two calls, then both": ("U A[c1,c2] T[c1]~90 T[c2]~90 U A U A",),
    "K02-D3 a person between": ("U A[c1] U'wait' T[c1]~90 A U A",),
    "K02-D5": (f"U A[confirm:c1] U'wait, what about X?' {repeated(6, 'A~90 U')} T[c1]'yes' A",),
    "K02-D6": ("U A~90 U A~90 U A[c1,c2]",),
    "K24-D1": ("U A[c1] T[c1]'ok' T![c1]'aborted' U A~90 U A",),
    "K24-D2": ("U A[c1] A[c1] U A~90 U A",),
    "K24-D2 with one result": ("U A[c1] A[c1] T[c1]~90 U A~90 U A",),
}


@every_strategy
@rows(("text",), PAIRS)
def test_whole_pairs_stand_after_any_strategy_at_any_target(text, spec):
    given = sketch(text)
    weight = METER.messages(history.repair(given).messages)
    for target in (None, 1, weight // 3, weight // 2, weight - 100):
        compacted(given, spec, target)
        compacted(in_one_message(given), spec, target)


@rows(("text",), PAIRS)
def test_whole_pairs_stand_after_any_slide_of_any_length(text):
    given = sketch(text)
    for keep in range(9):
        for spec in specs(preserve_recent=keep, keep_recent=keep):
            compacted(given, spec)


KEPT = {
    # the tail is counted in units, so it cannot begin inside one
    "K01-D1": ("U A[c1] T[c1]~200 U A U A", "sliding_window(preserve_recent=4)", None, [0, None, 3, 4, 5, 6]),
    "K01-D1 the unit still fits": ("U A[c1] T[c1]~200 U A U A", "sliding_window(preserve_recent=5)", None, [*range(7)]),
    # results that the agent has not seen stay though they miss the target; seen ones go together
    "K01-D2": ("U A[c1,c2] T[c1]~9k T[c2]~9k U", "sliding_window", 3_000, [0, 1, 2, 3, 4]),
    "K01-D2 seen": ("U A[c1,c2] T[c1]~9k T[c2]~9k U A", "sliding_window", 3_000, [0, None, 4, 5]),
    "K02-D1": (f"{TEN} U", "sliding_window(preserve_recent=6)", None, [*range(13)]),
    "K02-D1 the cut falls among the reads": (f"{TEN} U A", "sliding_window", 900, [0, None, 12, 13]),
    "K02-D2": (f"{FAN} U A", "sliding_window", 700, [0, None, 10, 11]),
    "K02-D2 the whole run fits": (f"U A~90 U A~90 {FAN[2:]} U A", "sliding_window", 900, [0, None, *range(4, 15)]),
    "K02-D6": ("U A~90 U A~90 U A[c1,c2]", "sliding_window(preserve_recent=0)", None, [0, None, 4, 5]),
}


@rows(("text", "spec", "target", "kept"), KEPT)
def test_a_cut_falls_between_units(text, spec, target, kept):
    done = compacted(sketch(text), spec, target)
    assert sources(done.messages) == kept
    assert done.receipt.over_target == (target is not None and done.receipt.tokens_after > target)


CLOSED = {
    "K01-D3": ("U A~90 U A[c9] U A U A", ["closed 'c9' at message 3: no result was recorded"]),
    "K01-D3 one of two": (
        "U A~90 U A[c8,c9] T[c8] U A U A",
        ["closed 'c9' at message 4: no result was recorded"],
    ),
    "K01-D3 still running": ("U A~90 U A~90 U A[c9]", []),
    "K01-D5": ("U N'note' T[c2]~90 A[c3] T[c3]~90 U A", ["dropped 'c2' at message 2: no call before it"]),
    "K02-D3 words between": ("U A[c1] A'text' T[c1]~90 U A", []),
    "K02-D3 in another order": ("U A[c1,c2] T[c2]~90 T[c1]~90 U A", []),
    "K02-D3 a person between": ("U A[c1] U'wait' T[c1]~90 U A", []),
    # a call that still waits for a person when the session has gone on counts as never answered
    "K02-D5": (f"U A[ask:c1] U'wait' {repeated(6, 'A~90 U')} A", ["closed 'c1' at message 1: no result was recorded"]),
    "K24-D1": ("U A[c1] T[c1]'ok' T![c1]'aborted' U A", ["dropped 'c1' at message 3: its call was answered before"]),
    "K24-D2": (
        "U A[c1] A[c1] U A",
        ["closed 'c1' at message 1: no result was recorded", "closed 'c1' at message 2: no result was recorded"],
    ),
    "K24-D2 with one result": ("U A[c1] A[c1] T[c1]~90 U A", ["closed 'c1' at message 1: no result was recorded"]),
}


@every_strategy
@rows(("text", "repairs"), CLOSED)
def test_what_is_repaired_is_listed_and_nothing_else_is(text, repairs, spec):
    assert list(compacted(sketch(text), spec).receipt.repairs) == repairs


@pytest.mark.parametrize("window", [1, 3, 10, 20])
@row("K01-D4")
def test_twenty_five_steps_of_tools_stay_valid_at_every_step(window):
    given = sketch(f"S U {repeated(25, 'A[c#] T[c#]~60')}")
    for end in range(2, len(given) + 1):
        done = compacted(given[:end], f"sliding_window(preserve_recent={window})", rules=("openai", "anthropic"))
        for rules in ("openai", "anthropic"):
            assert [v.rule for v in violations(done.messages, rules) if v.rule != "open_call"] == []


@every_strategy
@row("K01-D5")
def test_markers_of_earlier_passes_part_no_pair_in_later_ones(spec):
    given = sketch(f"S U {repeated(6, 'A[a#] T[a#]~80 U A~80')}")
    for more in ("A[b1] T[b1]~80", "A[b1] T[b1]~80 A[b2,b3] T[b3]~80 T[b2]~80", "U A[a1] T[a1]~80 A"):
        given = (*compacted(given, spec).messages, *sketch(more))
        for target in (None, 300, 600):
            compacted(given, spec, target)


@row("K01-D6")
def test_a_plan_that_parts_a_pair_is_widened_and_the_rest_of_it_still_runs():
    given = sketch("S U A~90 A[c7] T[c7]~90 A~90 U A")
    alone = compacted(given, Hostile((("drop", 3, 0),)))
    assert (alone.receipt.outcome, alone.messages) == ("skipped", given)
    both = compacted(given, Hostile((("drop", 3, 0), ("drop", 2, 0))))
    assert (both.receipt.outcome, sources(both.messages)) == ("applied", [0, 1, 3, 4, 5, 6, 7])
    assert both.receipt.restored == (3,)


DEEP = {
    "K01-D7 a result": ("U A[c1] T[c1] U T[c2] U A", "orphan_result", 4),
    "K01-D7 a call": ("U A[c1] T[c1] U A[c2] U A", "unanswered_call", 4),
    "K01-D4": (f"S U {repeated(20, 'A[c#] T[c#]')} T[c99] A", "orphan_result", 42),
    "K03-D1 the last place": ("U A U A[c9]", "open_call", 3),
}


@rows(("text", "rule", "position"), DEEP)
def test_a_fault_is_seen_wherever_it_stands(text, rule, position):
    assert [(v.rule, v.position) for v in violations(sketch(text), "openai")] == [(rule, position)]


@pytest.mark.parametrize("position", range(7))
@row("K01-D7")
def test_taking_any_message_out_of_the_middle_leaves_no_stray(position):
    given = sketch("U A[c1] T[c1]~90 U A[c2] T[c2]~90 U A U")
    compacted(given, Hostile((("drop", position, 0),)))
    compacted(given, Hostile((("drop", position, 0), ("drop", position, 1))))


@row("K01-D8")
def test_weight_is_counted_here_and_for_lists_that_no_provider_takes():
    given = sketch(f"S U {repeated(12, 'A[c#] T[c#]~150 A')} U A")
    assert len(given) == 40
    trimmed = [message for message in given if not message.calls]
    assert METER.messages(trimmed) == sum(METER.message(message) for message in trimmed)
    done = compacted(given, "sliding_window", METER.messages(given) * 6 // 10)
    assert (done.receipt.outcome, done.receipt.over_target) == ("applied", False)


ORDERS = {
    "K02-D3 words between": ("U A[c1] A'text' T[c1]~90",),
    "K02-D3 two calls, then both": ("U A[c1,c2] T[c2]~90 T[c1]~90",),
    "K02-D3 a person between": ("U A[c1] U'wait' T[c1]~90",),
    "K02-D3 in two messages": ("U A[c1,c2,c3] T[c3,c1]~90 U'wait' T[c2]~90",),
}


@rows(("text",), ORDERS)
def test_an_awkward_order_is_one_unit_and_stays_as_it_is(text):
    given = sketch(f"{text} U A U A")
    unit = next(unit for unit in history.units(given) if len(unit) > 1)
    assert {i for i, m in enumerate(given) if m.calls or m.results} <= set(unit)
    kept = compacted(given, "none").messages
    assert kept == given
    gone = sources(compacted(given, "sliding_window(preserve_recent=2)").messages)
    assert gone == [0, None, len(given) - 2, len(given) - 1]


@row("K02-D4")
def test_a_batch_too_large_for_the_window_shrinks_with_all_of_its_ids():
    names = [f"c{i}" for i in range(1, 13)]
    given = sketch(f"S U A[{','.join(names)}] {repeated(12, 'T[c#]~15k')} A")
    assert METER.messages(given) > 128_000
    for spec in ("microcompact", "microcompact(keep_recent=12, max_result_tokens=8_000)"):
        done = compacted(given, spec)
        assert [result.call_id for message in done.messages for result in message.results] == names
        assert done.receipt.tokens_after < 128_000


@row("K02-D4")
def test_a_batch_that_the_agent_has_not_seen_is_named_as_what_is_too_large():
    names = ",".join(f"c{i}" for i in range(1, 13))
    given = sketch(f"S U A[{names}] {repeated(11, 'T[c#]~15k')} T[c12]~16k")
    for spec in EVERY:
        receipt = compacted(given, spec, 128_000).receipt
        assert (receipt.outcome in {"skipped", "deferred", "failed"}, receipt.over_target) == (True, True)
        assert "no strategy can meet the target of 128,000: message 14 is the heaviest" in receipt.to_text()


@every_strategy
@row("K02-D5")
def test_an_answer_that_came_much_later_stays_with_its_call(spec):
    given = sketch(f"U A[confirm:c1] U'wait, what about X?' {repeated(12, 'A~90 U')} T[c1]'yes' A U A")
    done = compacted(given, spec)
    answers = [r.text for m in done.messages for r in m.results]
    assert [c.id for m in done.messages for c in m.calls] == (["c1"] if answers else [])
    assert answers in ([], ["yes"])


@every_strategy
@row("K02-D6")
def test_a_pass_between_calls_and_their_results_loses_neither(spec):
    given = sketch("S U A~90 U A~90 U A~90 U A[c1,c2]")
    later = sketch("T[c2]'two' T[c1]'one'")
    for target in (None, 1, 200):
        done = compacted(given, spec, target)
        assert done.messages[-1] == given[-1]
        assert unpaired((*done.messages, *later)) == []
        again = compacted((*done.messages, *later), spec, target)
        assert [r.text for m in again.messages for r in m.results] == ["two", "one"]


OPENINGS = {
    "K03-D1": ("U A~90 U A~90 U",),
    "K03-D1 with a system prompt": ("S U A~90 U A~90 U",),
    "K03-D1 the call is last": ("U A~90 U A~90 U A[c9]",),
    "K03-D1 after a note": ("S N'hook' U A~90 U A~90 U A",),
    "K03-D3": ("S U A~90 U A~90 U A~90",),
}


@every_strategy
@rows(("text",), OPENINGS)
def test_the_list_opens_with_a_person_and_is_never_empty(text, spec):
    given = sketch(text)
    for target in (None, 1, 120):
        rest = [m for m in compacted(given, spec, target).messages if m.role != "system"]
        assert rest
        assert rest[0].role == "user"
        assert any(message.by_person for message in rest)


@every_strategy
@row("K03-D2")
def test_no_note_stands_behind_the_words_that_a_turn_begins_with(spec):
    given = sketch("S U A~90 U A~90 U A~90 U'next step'")
    done = compacted(given, spec)
    assert done.messages[-1].text == "next step"
    assert len(notes(done.messages)) <= 1


@every_strategy
@row("K03-D2")
def test_where_people_and_agent_must_take_turns_they_still_do(spec):
    given = sketch(f"S U {repeated(6, 'A~90 U')} A[c1] T[c1]~90 A U")
    assert violations(given, "strict") == ()
    done = compacted(given, spec, rules=("openai", "anthropic", "strict"))
    assert violations(done.messages, "strict") == ()


@row("K03-D2")
def test_a_note_that_the_strict_rules_forbid_is_a_reason_and_not_a_broken_list():
    done = compacted(sketch("S U A~90 U A~90 U A~90 U"), "sliding_window(preserve_recent=1)", rules=("strict",))
    assert done.receipt.outcome in {"applied", "rejected"}
    assert done.receipt.reason in {"", "would break strict:not_alternating"}


@sliding
@row("K03-D3")
def test_a_history_that_goes_whole_leaves_words_of_a_person_and_a_note_that_is_no_system_message(spec):
    given = sketch(f"S {repeated(8, 'U~90 A~90')} U A")
    name = spec.partition("(")[0]
    done = compacted(given, f"{name}(preserve_recent=0)")
    made = [message for message in done.messages if message.source is None]
    assert [message.role for message in made] == ["user"]
    assert sources(done.messages) == [0, 1, None, 17, 18]


@every_strategy
@rows(("text",), {"K03-D4": ("S U A[c1] T[c1]",), "K03-D4 answered": ("S U A[c1] T[c1] A",)})
def test_a_history_shorter_than_the_window_passes_as_it_is(text, spec):
    given = sketch(text)
    for part in growth(given):
        done = compacted(part, spec.replace("preserve_recent=2", "preserve_recent=6"))
        assert done.messages == part
        assert done.receipt.outcome in {"skipped", "deferred"}


TWINS = {
    "K24-D1": ("U A[c1] T[c1]'ok' T![c1]'aborted' U A", ["ok"]),
    "K24-D1 the aborted one first": ("U A[c1] T![c1]'aborted' T[c1]'ok' U A", ["ok"]),
    "K24-D1 in one message": ("U A[c1] T[c1,c1]'ok' U A", ["ok"]),
    "K24-D2 with one result": ("U A[c1] A[c1] T[c1]'ok' U A", [NO_RESULT, "ok"]),
    "K24-D2 used again later": ("U A[c1] T[c1]'first' U A[c1] T[c1]'second' U A", ["first", "second"]),
}


@rows(("text", "results"), TWINS)
def test_a_call_has_one_result_and_it_is_the_one_that_ran(text, results):
    done = compacted(sketch(text), "none")
    assert [r.text for m in done.messages for r in m.results] == results


@row("K24-D2")
def test_a_message_that_held_nothing_but_a_twin_is_gone_and_listed():
    twin = Message("tool", (ToolResult("c1", (Text("ok"),)),))
    given = (*sketch("U A[c1] T[c1]'ok'"), twin, twin, *sketch("U A"))
    done = compacted(given, "none")
    assert len(done.messages) == 5
    assert len(done.receipt.repairs) == 2
