"""`sliding_reflect`: the slide, the note that rides on, and what happens where the model fails."""

import re

import pytest
import runs
from histories import agent, messages, split_and_turn_shape, system, user
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from compactlab.compaction import Guard, compact
from compactlab.errors import SpecError
from compactlab.llm import ModelError, Reply
from compactlab.llm.extractive import Extractive
from compactlab.llm.scripted import Scripted
from compactlab.readers import read
from compactlab.strategies.sliding_window import marker, removed_before
from compactlab.tokens import Meter
from compactlab.transcript import Text

TITLE = "[Threads I carried forward]"
METER = Meter("chars/4")
LINE = "some words that weigh something " * 10
HEAD = (system(), user("Move the orders table."))
LONG_REPLY = " ".join(f"word{i} of all" for i in range(500))
REFUSED = ModelError("refused")


def turns(count, name="t"):
    return tuple(m for i in range(count) for m in (user(f"{name} u{i} {LINE}"), agent(f"{name} a{i} {LINE}")))


BEFORE = (*HEAD, *turns(20))


def slid(given_messages, *replies, spec="sliding_reflect", target=None, meter=METER):
    model = Scripted(*replies)
    return compact(given_messages, spec, target=target, guard=Guard(meter, model=model)), model.requests


def notes(done):
    """Texts of what compaction left: threads, or the line of a plain slide."""
    return [m.text for m in done.messages if m.synthetic]


# ---- the note


def test_the_middle_goes_and_what_it_carried_rides_on_behind_the_anchor():
    done, [request] = slid(BEFORE, " - refunds are off by one cent\n- Ansel waits for an answer\n")
    note = "[Threads I carried forward]\n- refunds are off by one cent\n- Ansel waits for an answer"
    assert done.messages == (*HEAD, user(note, synthetic=True), *BEFORE[-10:])
    assert done.receipt.notes == ()
    assert request.purpose == "reflect"
    assert request.material == tuple(replace(m, source=i) for i, m in enumerate(BEFORE))[2:-10]
    assert request.max_output == 1_024


def test_it_keeps_the_very_units_that_the_plain_slide_keeps():
    for spec in ("", "(preserve_recent=0)", "(preserve_recent=3)", "(preserve_recent=25)"):
        reflected, _ = slid(BEFORE, "a thread", spec=f"sliding_reflect{spec}")
        plain = compact(BEFORE, f"sliding_window{spec}", guard=Guard(METER))
        assert [m for m in reflected.messages if not m.synthetic] == [m for m in plain.messages if not m.synthetic]


def test_no_model_is_asked_where_nothing_would_go():
    for before in ((), HEAD, BEFORE[:12], slid(BEFORE, "a thread")[0].messages):
        done, requests = slid(before, "another")
        assert (done.receipt.outcome, requests) == ("skipped", [])


@pytest.mark.parametrize("tokens", [1, 40, 1_024])
def test_the_note_is_bounded_however_much_the_model_writes(tokens):
    done, [request] = slid(BEFORE, LONG_REPLY, spec=f"sliding_reflect(max_note_tokens={tokens})")
    [note] = notes(done)
    assert request.max_output == tokens
    assert METER.text(note) <= METER.text(TITLE) + 1 + tokens


def test_on_a_later_pass_the_model_reads_the_threads_of_the_one_before():
    first, _ = slid(BEFORE, "- the gate code is 5433")
    done, [request] = slid((*first.messages, *turns(20, "later")), "- all of it")
    assert "- the gate code is 5433" in request.prompt
    assert notes(done) == [f"{TITLE}\n- all of it"]


def test_over_ten_passes_there_is_one_note():
    held = HEAD
    for turn in range(10):
        done, [request] = slid((*held, *turns(8, f"pass {turn}")), f"- thread {turn}")
        held = done.messages
        assert notes(done) == [f"{TITLE}\n- thread {turn}"]
        assert turn == 0 or f"- thread {turn - 1}" in request.prompt
    assert "".join(m.text for m in held).count(TITLE) == 1


def test_ten_passes_of_the_extractive_stand_in_leave_one_note_of_plain_bullets():
    held = HEAD
    for turn in range(10):
        new = tuple(m for i in range(8) for m in (user(f"set port_{turn}_{i} to {5_000 + turn}"), agent(LINE)))
        done = compact((*held, *new), "sliding_reflect", guard=Guard(METER, model=Extractive()))
        held = done.messages
    [note] = notes(done)
    title, *bullets = note.split("\n")
    assert title == TITLE
    assert bullets
    assert not [line for line in bullets if re.match(r"- (- |\[Threads|\[\d+ earlier|none$)", line)]


# ---- where the model fails

FAILURES = [
    ("an error", REFUSED, "refused"),
    ("a blank reply", " \n", "blank"),
    ("nothing but a heading", "[Threads I carried forward]\n", "nothing but a heading"),
    ("a reply that a filter cut", Reply("half", "m", finish_reason="content_filter"), "content_filter"),
    ("a reply that was cut off", Reply("half a thr", "m", finish_reason="length"), "cut off after 1,024 tokens"),
]


@pytest.mark.parametrize(("reply", "said"), [c[1:] for c in FAILURES], ids=[c[0] for c in FAILURES])
def test_a_model_that_fails_makes_it_a_plain_slide_that_says_so(reply, said):
    done, _ = slid(BEFORE, reply)
    assert done.receipt.outcome == "applied"
    assert done.messages == compact(BEFORE, "sliding_window", guard=Guard(METER)).messages
    [note] = done.receipt.notes
    assert note.startswith("a plain slide: ")
    assert said in note
    assert done.receipt.fell_back
    assert done.receipt.to_text().startswith("sliding_reflect: applied (fell back, see the notes)\n")
    assert "note: a plain slide: " in done.receipt.to_text()
    assert done.receipt.model_calls == (1 if reply is REFUSED else 2)


def test_a_reply_that_is_better_the_second_time_is_carried_and_the_receipt_says_so():
    done, requests = slid(BEFORE, "I'm sorry, but I can't help with that.", "- a thread")
    assert notes(done) == [f"{TITLE}\n- a thread"]
    assert not done.receipt.fell_back
    assert "a refusal" in done.receipt.notes[0]
    assert "a refusal" in requests[1].system
    assert requests[0].system in requests[1].system


def test_without_a_model_it_is_a_plain_slide_that_says_so():
    done = compact(BEFORE, "sliding_reflect", guard=Guard(METER))
    assert notes(done) == [marker(BEFORE[2:-10]).text]
    assert done.receipt.notes == ("a plain slide: no model was given",)


@pytest.mark.parametrize(("reply", "said"), [c[1:] for c in FAILURES], ids=[c[0] for c in FAILURES])
def test_a_model_that_fails_later_leaves_the_earlier_threads_as_they_are(reply, said):
    first, _ = slid(BEFORE, "- the gate code is 5433\n- Ansel waits")
    later, _ = slid((*first.messages, *turns(20, "later")), reply)
    assert notes(later) == notes(first) == [f"{TITLE}\n- the gate code is 5433\n- Ansel waits"]
    assert said in later.receipt.notes[0]


def test_plain_slides_after_plain_slides_count_all_that_went_and_a_good_reply_replaces_the_line():
    first, _ = slid(BEFORE, REFUSED)
    second, _ = slid((*first.messages, *turns(10, "b")), REFUSED)
    assert [removed_before(m) for m in second.messages if m.synthetic] == [30 + 20]
    third, _ = slid((*second.messages, *turns(10, "c")), "- a thread")
    assert notes(third) == [f"{TITLE}\n- a thread"]


def test_an_error_that_is_no_models_fails_the_pass_and_the_messages_stay():
    done, _ = slid(BEFORE, ValueError("a fault of the program"))
    assert (done.receipt.outcome, done.messages) == ("failed", BEFORE)
    assert "a fault of the program" in done.receipt.reason


# ---- targets, passes, shapes


@pytest.mark.parametrize("reply", ["- a thread", LONG_REPLY], ids=["a short note", "a note as long as it may be"])
def test_a_target_that_holds_the_protected_set_and_the_note_is_met(reply):
    meter, over = Meter(), {}
    before = (*HEAD, *turns(60))
    for target in (*range(1_600, 2_200, 23), 4_000, 6_000):
        receipt = slid(before, reply, target=target, meter=meter)[0].receipt
        assert receipt.outcome == "applied"
        if receipt.over_target:
            over[target] = receipt.tokens_after
    assert over == {}


@pytest.mark.parametrize("more", [0, 1, 500, 1_100, 1_000_000])
def test_what_already_fits_its_target_does_not_slide(more):
    done, requests = slid(BEFORE, "a thread", target=METER.messages(BEFORE) + more)
    assert (done.receipt.outcome, requests) == ("skipped", [])


@pytest.mark.parametrize("target", [4_000, 16_000, 64_000, 1_000_000])
@pytest.mark.parametrize("name", ["primary-boatyard", "subagent-support"])
@pytest.mark.parametrize("model", [Extractive(), Scripted(REFUSED)], ids=["extractive", "failing"])
def test_a_recorded_session_slides_to_any_target(name, target, model):
    [transcript] = read(runs.FIXTURES / f"{name}.jsonl")
    receipt = compact(
        transcript.messages, "sliding_reflect", target=target, guard=Guard(runs.meter(), model=model)
    ).receipt
    assert receipt.outcome in {"applied", "skipped"}
    if receipt.protected_tokens + 1_024 + 20 <= target:
        assert not receipt.over_target


@settings(max_examples=100)
@given(
    messages(min_events=4, max_events=24),
    st.integers(0, 6),
    st.none() | st.integers(1, 3_000),
    st.sampled_from(["a thread", REFUSED]),
)
def test_without_new_messages_a_second_pass_asks_no_model_and_changes_nothing(given_messages, keep, target, reply):
    spec = f"sliding_reflect(preserve_recent={keep}, max_note_tokens=8)"
    first, _ = slid(given_messages, reply, spec=spec, target=target)
    assume(first.receipt.outcome == "applied")
    second, requests = slid(first.messages, "another", spec=spec, target=target)
    assert second.messages == first.messages
    assert requests == []


@settings(max_examples=100)
@given(split_and_turn_shape(), st.integers(0, 6), st.none() | st.integers(1, 3_000))
def test_both_storage_shapes_slide_alike_and_the_model_reads_the_same(shapes, keep, target):
    spec = f"sliding_reflect(preserve_recent={keep}, max_note_tokens=8)"
    (split, asked), (whole, asked_too) = (slid(shape, "a thread", spec=spec, target=target) for shape in shapes)
    assert split.receipt.tokens_after == whole.receipt.tokens_after
    assert notes(split) == notes(whole)
    assert [r.prompt for r in asked] == [r.prompt for r in asked_too]


def test_what_a_person_wrote_is_no_note():
    said = user(f"{TITLE}\n- mine")
    done, [request] = slid((*HEAD, said, *turns(20)), "- a thread")
    assert f"[user] {TITLE}" in request.prompt
    assert [m.blocks for m in done.messages if m.text.startswith(TITLE)] == [(Text(f"{TITLE}\n- a thread"),)]


@pytest.mark.parametrize(
    ("spec", "shown"),
    [
        ("reflect", "sliding_reflect"),
        ("sliding-reflect(min_messages=4)", "sliding_reflect(preserve_recent=4)"),
        ("sliding_reflect(preserve_recent=10, max_note_tokens=1024)", "sliding_reflect"),
    ],
)
def test_it_goes_by_its_other_names(spec, shown):
    assert compact((), spec).receipt.strategy == shown


@pytest.mark.parametrize("spec", ["sliding_reflect(max_note_tokens=0)", "sliding_reflect(preserve_recent=None)"])
def test_a_bad_parameter_is_refused(spec):
    with pytest.raises(SpecError, match="expected a whole number"):
        compact((), spec)
