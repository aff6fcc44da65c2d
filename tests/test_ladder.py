"""`ladder`: rungs in order, until the target is met; one guard at the end."""

from dataclasses import dataclass

import pytest
import runs
from histories import agent, calling, messages, result, split_and_turn_shape, system, user
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from compactlab import catalog, history
from compactlab.compaction import Guard, compact
from compactlab.errors import SpecError, UnknownName
from compactlab.llm import ModelError, Pending
from compactlab.llm.extractive import Extractive
from compactlab.llm.recorded import Missing
from compactlab.llm.scripted import Scripted
from compactlab.markers import CLEARED
from compactlab.readers import read
from compactlab.strategies import Context, Strategy
from compactlab.strategies.ladder import STEPS, Ladder
from compactlab.tokens import Meter
from compactlab.transcript import Message


@dataclass(frozen=True, repr=False)
class Broken(Strategy):
    """A strategy with a fault of its own."""

    def compact(self, messages, context):
        raise ZeroDivisionError(len(messages) + len(context.originals))


METER = Meter("chars/4")
BY_CHARACTERS = Guard(METER, model=Extractive())
LINE = "some words that weigh something " * 10
HEAD = (system(), user("Move the orders table."))


def session(steps=20):
    """Steps of a tool that printed much, each with a throwaway word behind it."""
    middle = (
        (calling(f"c{i}"), Message("tool", (result(f"c{i}", f"port {5000 + i} {LINE * 2}"),)), user("ok"))
        for i in range(steps)
    )
    return (*HEAD, *(m for step in middle for m in step), agent("So."), user("Go on."))


BEFORE = session()
WEIGHT = METER.messages(BEFORE)


def climbed(spec, target=None, before=BEFORE, guard=BY_CHARACTERS):
    return compact(before, spec, target=target, guard=guard)


def alone(spec, before=BEFORE):
    return climbed(spec, before=before).messages


# ---- the climb


def test_the_default_climbs_from_the_cheapest_to_the_most_disruptive():
    assert STEPS == ("microcompact", "cull", "sliding_window")
    assert repr(Ladder()) == "ladder"


def test_without_a_target_every_rung_is_climbed_each_on_what_the_last_one_left():
    after = alone("cull", alone("microcompact"))
    assert climbed("ladder(microcompact, cull)").messages == after
    assert climbed("ladder").messages == alone("sliding_window", after)
    assert climbed("ladder").receipt.notes[0].startswith("microcompact: cleared: c0, c1")


def test_it_stops_where_the_target_is_met():
    light = METER.messages(alone("microcompact"))
    done = climbed("ladder", light)
    assert done.messages == alone("microcompact")
    assert done.receipt.notes[1:] == ("cull: not needed", "sliding_window: not needed")
    further = climbed("ladder", light - 1)
    assert further.receipt.notes[1:] == ("sliding_window: not needed",)
    assert METER.messages(further.messages) < light
    last = climbed("ladder", 400)
    assert not any(note.endswith("not needed") for note in last.receipt.notes)
    assert last.receipt.tokens_after <= 400


@pytest.mark.parametrize("target", [WEIGHT, WEIGHT + 1, 1_000_000])
def test_where_the_target_is_met_already_no_rung_is_climbed(target):
    done = climbed("ladder(summary, sliding_window)", target)
    assert (done.receipt.outcome, done.messages, done.receipt.model_calls) == ("skipped", BEFORE, 0)
    assert done.receipt.notes == ("summary: not needed", "sliding_window: not needed")


@settings(max_examples=200)
@given(messages(min_events=3, max_events=24), st.none() | st.integers(1, 2_000))
def test_on_any_history_it_climbs_on_until_the_target_is_met_and_leaves_what_is_protected(given_messages, target):
    base = tuple(replace(m, source=i) for i, m in enumerate(history.repair(given_messages).messages))
    left, notes, *_ = Ladder().compact(base, Context(METER, target, None, base))
    stopped = [note for note in notes if note.endswith(": not needed")]
    assert stopped == [f"{step}: not needed" for step in STEPS[len(STEPS) - len(stopped) :]]
    if stopped:
        assert METER.messages(left) <= target
    assert [m for m in left if m.source in history.protected(base)] == [
        base[i] for i in sorted(history.protected(base))
    ]


def test_a_window_at_the_end_makes_anything_fit():
    for spec in (
        "ladder(microcompact, sliding_window)",
        "ladder(cull, sliding_window)",
        "ladder(none, sliding_window)",
    ):
        for target in (200, 400, 800, 1_600):
            assert not climbed(spec, target).receipt.over_target


# ---- rungs that fail or decline


def test_a_rung_that_fails_is_passed_over_and_noted():
    for error in (ModelError("refused"), ValueError("a fault")):
        guard = Guard(METER, model=Scripted(error))
        done = climbed("ladder(microcompact, summary, sliding_window)", guard=guard)
        assert done.receipt.outcome == "applied"
        assert done.messages == alone("sliding_window", alone("microcompact"))
        assert f"summary: {type(error).__name__}: {error}" in done.receipt.notes
        assert done.receipt.fell_back
        assert done.receipt.model_calls == 1


def test_without_a_model_the_rung_that_needs_one_is_passed_over():
    done = climbed("ladder(summary, sliding_window)", guard=Guard(METER))
    assert done.receipt.notes == ("summary: ModelError: no model was given",)
    assert done.messages == alone("sliding_window")


def test_where_every_rung_fails_nothing_changes_and_the_receipt_says_why():
    done = climbed("ladder(summary, summary(preserve_recent=2))", guard=Guard(METER))
    assert (done.receipt.outcome, done.messages) == ("skipped", BEFORE)
    assert "skipped (nothing to remove; fell back, see the notes)" in done.receipt.to_text()
    assert len(done.receipt.notes) == 2


def test_a_rung_that_defers_changes_nothing_and_says_so():
    done = climbed("ladder(defer(reason='not yet, (no)'), microcompact)")
    assert done.messages == alone("microcompact")
    assert done.receipt.notes[0] == "defer(reason='not yet, (no)'): not yet, (no)"
    assert climbed("ladder(defer)").receipt.outcome == "skipped"


def test_a_plain_slide_of_a_rung_is_noted_under_its_name():
    done = climbed("ladder(sliding_reflect)", guard=Guard(METER))
    assert done.receipt.notes == ("sliding_reflect: a plain slide: no model was given",)
    assert done.receipt.fell_back


FELL_BACK = [
    ("no rung asks", "ladder", None, False),
    ("a rung that failed by itself", "ladder(cull, test_ladder:Broken)", None, True),
    ("a failed rung that is not needed", "ladder(sliding_window, summary)", 2_000, False),
    ("a plain slide under a rung that did its work", "ladder(sliding_reflect, cull)", None, True),
    ("a rung that declines", "ladder(defer, microcompact)", None, False),
    ("a failed rung below the top of two ladders", "ladder(ladder(summary, cull), microcompact)", None, True),
]


@pytest.mark.parametrize(("spec", "target", "expected"), [c[1:] for c in FELL_BACK], ids=[c[0] for c in FELL_BACK])
def test_it_fell_back_where_a_rung_that_was_climbed_did_or_failed(spec, target, expected):
    receipt = climbed(spec, target, guard=Guard(METER)).receipt
    assert (receipt.outcome, receipt.fell_back) == ("applied", expected)


def test_a_model_that_does_its_work_is_no_fallback():
    assert not climbed("ladder(sliding_reflect, summary)").receipt.fell_back


@pytest.mark.parametrize("error", [Pending("not there yet"), Missing("no reply in the store")])
def test_a_rung_whose_reply_is_not_there_yet_ends_the_climb(error):
    model = Scripted(error)
    done = climbed("ladder(microcompact, summary, sliding_reflect, sliding_window)", guard=Guard(METER, model=model))
    assert (done.receipt.outcome, done.messages, len(model.requests)) == ("failed", BEFORE, 1)
    assert str(error) in done.receipt.reason
    assert not done.receipt.fell_back


# ---- one guard at the end


def test_a_summary_rung_reads_originals_and_another_after_it_finds_one_flat_note():
    model = Scripted("<summary>all of it</summary>")
    guard = Guard(METER, model=model)
    done = climbed("ladder(microcompact(keep_recent=0), cull, summary(preserve_recent=2))", guard=guard)
    [asked] = model.requests
    assert CLEARED not in asked.prompt
    assert "port 5000" in asked.prompt
    assert sum("[Compacted summary]" in m.text for m in done.messages) == 1


def test_the_receipt_speaks_of_the_messages_as_they_were_before_the_first_rung():
    receipt = climbed("ladder(microcompact, cull)").receipt
    assert receipt.tokens_before == WEIGHT
    assert [c.position for c in receipt.changes] == list(range(len(BEFORE)))
    assert (receipt.count("edited"), receipt.count("dropped")) == (15, 16)
    assert {c.why for c in receipt.changes if c.action in {"edited", "dropped"}} == {"by ladder(microcompact, cull)"}


def test_what_is_pinned_outlives_every_rung():
    before = (*BEFORE[:2], user("Mind the gate.", pinned=True), user("ok", pinned=True), *BEFORE[2:])
    after = climbed("ladder(cull, sliding_window(preserve_recent=0))", before=before).messages
    assert after[3:5] == before[2:4] or after[2:4] == before[2:4]


# ---- its spec

SPECS = [
    ("ladder", "ladder", STEPS),
    ("ladder()", "ladder", STEPS),
    ("ladder(microcompact, cull, sliding_window)", "ladder", STEPS),
    ("ladder(cull)", "ladder(cull)", ("cull",)),
    ("ladder(micro, window, reflect, summarize, kv)",
     "ladder(microcompact, sliding_window, sliding_reflect, summary, key_value)",
     ("microcompact", "sliding_window", "sliding_reflect", "summary", "key_value")),
    ("ladder(sliding_window(min_messages=3), summary(preserve_recent=2, max_summary_tokens=100))",
     "ladder(sliding_window(preserve_recent=3), summary(preserve_recent=2, max_summary_tokens=100))",
     ("sliding_window(preserve_recent=3)", "summary(preserve_recent=2, max_summary_tokens=100)")),
    ("ladder(microcompact(tools=('read', 'a,(b')), defer(reason='a, b)'))",
     "ladder(microcompact(tools=('read', 'a,(b')), defer(reason='a, b)'))",
     ("microcompact(tools=('read', 'a,(b'))", "defer(reason='a, b)')")),
    ("ladder(ladder(cull, none), sliding_window)", "ladder(ladder(cull, none), sliding_window)",
     ("ladder(cull, none)", "sliding_window")),
    ("ladder(steps=('cull', 'window'))", "ladder(cull, sliding_window)", ("cull", "sliding_window")),
    ("ladder(sliding-window, cull)", "ladder(sliding_window, cull)", ("sliding_window", "cull")),
    ("ladder(hostile:Hostile, sliding_window)", "ladder(hostile:Hostile, sliding_window)",
     ("hostile:Hostile", "sliding_window")),
]  # fmt: skip


@pytest.mark.parametrize(("spec", "shown", "steps"), SPECS, ids=[spec for spec, _, _ in SPECS])
def test_its_spec_reads_back(spec, shown, steps):
    built = catalog.strategy(spec)
    assert (repr(built), built.steps) == (shown, steps)
    assert catalog.strategy(repr(built)) == built


steps_of_the_catalog = st.sampled_from(
    [
        "none", "cull", "cull(keep_answers=False)", "microcompact(keep_recent=0)", "microcompact(errors='ends')",
        "sliding_window(preserve_recent=3)", "defer(reason='it is \"near\"')", "key_value(kv_target=2)", "ladder",
        "ladder(cull, none)", "summary(max_summary_tokens=30)", "sliding_reflect",
    ]
)  # fmt: skip


@given(st.lists(steps_of_the_catalog, min_size=1, max_size=5))
def test_any_ladder_reads_back_from_its_own_repr(steps):
    built = Ladder(tuple(steps))
    assert catalog.strategy(repr(built)) == built
    assert built.steps == tuple(steps)


def test_an_outside_strategy_given_in_python_reads_back_too():
    built = Ladder(("hostile:Hostile(ending='list')", "sliding_window"))
    assert catalog.strategy(repr(built)) == built


BAD = [
    ("ladder(nope)", UnknownName, "'nope' is unknown"),
    ("ladder(cull(nope=1))", SpecError, "nope"),
    ("ladder(cull", SpecError, "cannot be read"),
    ("ladder(steps=())", SpecError, "one strategy or more"),
    ("ladder(steps='cull')", SpecError, "one strategy or more"),
    ("ladder(steps=(1,))", SpecError, "steps"),
    ("ladder(cull, steps=('none',))", SpecError, "steps"),
    ("ladder(sliding_window(preserve_recent=-1))", SpecError, "expected a whole number"),
]


@pytest.mark.parametrize(("spec", "error", "said"), BAD, ids=[spec for spec, _, _ in BAD])
def test_a_bad_spec_is_refused(spec, error, said):
    with pytest.raises(error, match=said):
        catalog.strategy(spec)


@pytest.mark.parametrize(("spec", "uses"), [("ladder", False), ("ladder(cull, summary)", True), ("ladder(kv)", False)])
def test_it_uses_a_model_where_a_rung_does(spec, uses):
    assert catalog.strategy(spec).uses_model is uses


# ---- passes, shapes, sessions


@settings(max_examples=100)
@given(messages(min_events=4, max_events=24), st.none() | st.integers(1, 2_000))
def test_without_new_messages_a_second_pass_changes_nothing(given_messages, target):
    first = climbed("ladder", target, given_messages)
    assert climbed("ladder", target, first.messages).messages == first.messages


@settings(max_examples=100)
@given(split_and_turn_shape(), st.none() | st.integers(1, 2_000))
def test_both_storage_shapes_climb_alike(shapes, target):
    split, turns = (climbed("ladder(microcompact, summary, window)", target, shape).receipt for shape in shapes)
    assert (split.tokens_after, split.outcome, split.notes) == (turns.tokens_after, turns.outcome, turns.notes)


@pytest.mark.parametrize("target", [4_000, 8_000, 16_000, 32_000, 64_000, 128_000, 1_000_000])
@pytest.mark.parametrize("name", ["primary-move", "subagent-etl"])
def test_a_recorded_session_climbs_to_any_target_that_its_protected_set_fits(name, target):
    [transcript] = read(runs.FIXTURES / f"{name}.jsonl")
    receipt = compact(transcript.messages, "ladder", target=target, guard=Guard(runs.meter())).receipt
    assert receipt.outcome in {"applied", "skipped"}
    assert receipt.over_target == (receipt.tokens_after > target)
    if receipt.protected_tokens + 20 <= target:
        assert not receipt.over_target
