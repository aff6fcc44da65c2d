"""`sliding_window`: the anchor, the tail, the marker between them, and what others got wrong."""

import pytest
from histories import agent, answering, call, calling, messages, result, split_and_turn_shape, system, user
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from compactlab import history
from compactlab.compaction import Guard, compact
from compactlab.strategies.sliding_window import KeepRecent, marker, removed_before
from compactlab.tokens import Meter
from compactlab.transcript import Image, Message, Reasoning
from compactlab.validity import broken

METER = Meter("chars/4")
BY_CHARACTERS = Guard(METER)
OFTEN_SKIPPED = (HealthCheck.filter_too_much,)
TWELVE = tuple(f"p{i}" for i in range(12))
LONG = "some words that weigh something " * 10
HEAD = (system(), user("Move the orders table."))


def talk(turns, *, head=HEAD):
    return (*head, *(m for i in range(turns) for m in (agent(f"a{i} {LONG}"), user(f"u{i} {LONG}"))))


def step(*ids, text=LONG):
    return (calling(*ids), *(Message("tool", (result(i, text),)) for i in ids))


def compacted(given_messages, keep=None, target=None, **more):
    spec = "sliding_window" if keep is None else f"sliding_window(preserve_recent={keep})"
    return compact(given_messages, spec, target=target, guard=BY_CHARACTERS, **more)


def markers(given_messages):
    return [removed_before(m) for m in given_messages if removed_before(m)]


def kept(done):
    return [change.position for change in done.receipt.changes if change.action == "kept"]


# ---- the anchor and the tail


@pytest.mark.parametrize(("keep", "tail"), [(None, 10), (10, 10), (3, 3), (4, 4), (15, 15)])
def test_the_anchor_and_the_newest_units_stay(keep, tail):
    before = talk(20)
    after = compacted(before, keep).messages
    assert after == (*before[:2], marker(before[2:-tail]), *before[-tail:])


@pytest.mark.parametrize("keep", [0, 1, 2])
def test_the_protected_set_stays_however_few_are_asked_for(keep):
    before = talk(20)
    after = compacted(before, keep).messages
    assert after == (*before[:2], marker(before[2:-2]), *before[-2:])


@pytest.mark.parametrize("keep", [5, 6, 38, 39, 40, 41, 42, 1_000_000])
def test_where_everything_fits_the_tail_nothing_is_removed(keep):
    before = talk(2 if keep < 38 else 20)
    if keep < 40:
        before = before[-keep:] if keep >= 38 else before
    done = compacted(before, keep)
    assert (done.receipt.outcome, done.receipt.reason) == ("skipped", "nothing to remove")


HEADS = [
    ("a system message and a person", (system(), user("first")), {0, 1}),
    ("two system messages", (system(), system("Be brief."), user("first")), {0, 1, 2}),
    ("no system message", (user("first"),), {0}),
    ("an agent that greets", (system(), agent("Hello. " * 9), user("first")), {0, 2}),
    ("reminders first", (system(), user("a reminder " * 9, synthetic=True), user("first")), {0, 2}),
    ("a late first word", (system(), *(agent(f"note {i} " * 9) for i in range(15)), user("first")), {0, 16}),
    ("tools first", (system(), *step("a"), *step("b"), user("first")), {0, 5}),
    ("a result right after it", (user("first"), calling("a"), answering("a")), {0}),
    ("a picture for a word", (system(), Message("user", (Image("image/png", 4, 4),))), {0, 1}),
]


@pytest.mark.parametrize(("head", "held"), [c[1:] for c in HEADS], ids=[c[0] for c in HEADS])
def test_the_anchor_stays_wherever_the_first_person_speaks(head, held):
    done = compacted(talk(12, head=head), 4)
    assert set(kept(done)) & set(range(len(head))) == held
    assert markers(done.messages) == [len(head) - len(held) + 20]
    [at] = [i for i, m in enumerate(done.messages) if removed_before(m)]
    assert at == len(held)


def test_where_no_person_speaks_the_marker_follows_the_system_messages():
    before = (system(), *(agent(f"{i} {LONG}") for i in range(20)))
    assert compacted(before, 4).messages == (before[0], marker(before[1:-4]), *before[-4:])


def test_what_is_pinned_or_system_stays_in_the_middle():
    before = list(talk(20))
    before[10] = agent("pinned", pinned=True)
    before[15] = system("From now on, in English.")
    after = compacted(before, 4).messages
    assert after[3:5] == (before[10], before[15])
    assert markers(after) == [34]


def test_two_removals_leave_one_marker():
    before = list(talk(20))
    before[20] = agent("pinned", pinned=True)
    after = compacted(before, 4).messages
    assert [removed_before(m) for m in after] == [0, 0, 35, *[0] * 5]


def test_reminders_and_empty_messages_go_with_the_rest():
    odd = (user("reminder", synthetic=True), Message("assistant", ()), agent(Reasoning("hm")), Message("user", ()))
    before = (*talk(0), *odd, *talk(8)[2:])
    assert not any(m in compacted(before, 4).messages for m in odd)


def test_one_word_answers_stay_or_go_by_their_place_and_never_by_their_length():
    before = (*talk(8), agent(f"Shall I drop it? {LONG}"), user("no"), *talk(2)[2:])
    assert user("no") in compacted(before, 6).messages
    assert user("no") not in compacted(before, 3).messages


# ---- units


@pytest.mark.parametrize("keep", range(9))
@pytest.mark.parametrize("order", ["in order", "backwards", "in one message", "in two messages"])
def test_twelve_parallel_calls_are_in_or_out_whole(keep, order):
    asked, *answers = step(*TWELVE)
    answers = {
        "in order": answers,
        "backwards": answers[::-1],
        "in one message": [answering(*TWELVE)],
        "in two messages": [answering(*TWELVE[:9]), answering(*TWELVE[9:])],
    }[order]
    done = compacted((*talk(4), asked, *answers, *talk(2)[2:]), keep)
    calls = [c.id for m in done.messages for c in m.calls]
    results = [r.call_id for m in done.messages for r in m.results]
    assert calls == (list(TWELVE) if keep >= 5 else [])
    assert sorted(results) == sorted(calls)


@pytest.mark.parametrize("steps", [1, 5, 9, 30])
def test_units_are_counted_and_not_messages(steps):
    before = (*talk(1), *(m for i in range(40) for m in step(f"s{i}")))
    done = compacted(before, steps)
    assert [c.id for m in done.messages for c in m.calls] == [f"s{i}" for i in range(40 - steps, 40)]


@pytest.mark.parametrize("between", [1, 8, 9, 40])
def test_a_call_is_found_however_far_back_it_stands(between):
    before = (*talk(6), calling("far"), *talk(between)[2:], answering("far"), *talk(2)[2:])
    for keep in range(1, 9):
        after = compacted(before, keep).messages
        ids = [b for m in after for b in (*(c.id for c in m.calls), *(r.call_id for r in m.results))]
        assert ids in ([], ["far", "far"])


@pytest.mark.parametrize("keep", range(1, 9))
def test_words_of_a_person_between_a_call_and_its_result_part_nothing(keep):
    before = (*talk(4), calling("a", "b"), answering("a"), user("wait"), answering("b"), *talk(2)[2:])
    after = compacted(before, keep).messages
    assert len([1 for m in after for _ in m.calls]) == len([1 for m in after for _ in m.results])


@pytest.mark.parametrize("keep", range(1, 9))
def test_ids_used_again_or_empty_are_told_apart(keep):
    before = (*talk(3), *step("x"), *step("x"), *step(""), *step("", ""), *talk(1)[2:])
    after = compacted(before, keep).messages
    assert history.pair(after).orphans == history.pair(after).doubles == history.pair(after).open_calls == ()


def test_a_whole_turn_in_one_message_is_cut_between_its_steps():
    turn = agent(*(b for i in range(6) for b in (call(f"t{i}"), result(f"t{i}", LONG))), "so", source=2)
    done = compacted((*talk(0), turn, user("and?"), agent()), 5)
    [left] = [m for m in done.messages if m.calls]
    assert [c.id for c in left.calls] == ["t4", "t5"]
    assert left.text == "so"


def test_a_session_of_only_tool_traffic_after_one_request_slides():
    done = compacted((system(), user("Do it all."), *(m for i in range(60) for m in step(f"s{i}"))))
    assert markers(done.messages) == [100]
    assert len(done.messages) == 2 + 1 + 20


def test_calls_still_open_stay_at_the_end():
    done = compacted((*talk(12), calling("open", "shut"), answering("shut")), 2)
    assert done.messages[-2:] == (calling("open", "shut"), answering("shut"))
    assert markers(done.messages) == [23]


@settings(max_examples=150)
@given(split_and_turn_shape(), st.integers(0, 12), st.none() | st.integers(1, 600))
def test_both_storage_shapes_keep_the_same_units(shapes, keep, target):
    split, turns = (compacted(shape, keep, target) for shape in shapes)
    assert kept(split) == kept(turns)
    assert markers(split.messages) == markers(turns.messages)


@settings(max_examples=300, suppress_health_check=OFTEN_SKIPPED)
@given(messages(min_events=4), st.integers(0, 12))
def test_what_stays_is_the_protected_set_the_newest_units_and_one_marker(given_messages, keep):
    done = compacted(given_messages, keep)
    assume(done.receipt.outcome == "applied")
    base = history.repair(given_messages).messages
    groups = [unit for unit in history.units(base) if not all(removed_before(base[i]) for i in unit)]
    newest = {i for unit in groups[max(0, len(groups) - keep) :] for i in unit}
    assert kept(done) == sorted(history.protected(base) | newest)
    assert done.receipt.count("made") == 1
    assert done.receipt.restored == ()


# ---- a token target


@pytest.mark.parametrize(
    ("target", "units_kept"), [(10_000, 40), (4_000, 40), (1_700, 16), (800, 6), (400, 2), (200, 2), (1, 2)]
)
def test_a_target_keeps_what_fits_whatever_the_number_asked_for(target, units_kept):
    done = [compacted(talk(20), keep, target) for keep in (0, 3, 10, 100)]
    assert len({d.messages for d in done}) == 1
    assert len(kept(done[0])) - 2 == pytest.approx(units_kept, abs=4)
    assert done[0].receipt.over_target == (done[0].receipt.tokens_after > target)


@settings(max_examples=400, suppress_health_check=OFTEN_SKIPPED)
@given(messages(min_events=6, max_events=24), st.integers(0, 99))
def test_a_target_is_met_wherever_the_protected_set_and_the_marker_fit(given_messages, percent):
    base = history.repair(given_messages).messages
    held = METER.messages(base[i] for i in history.protected(base))
    least = held + METER.message(marker(base))
    target = least + (METER.messages(base) - least) * percent // 100
    assume(target < METER.messages(base))
    done = compact(given_messages, "sliding_window", target=target, guard=Guard(METER, rules=()))
    if done.receipt.outcome == "applied":
        assert done.receipt.tokens_after <= target
    else:
        assert "would save only" in done.receipt.reason
        assert METER.messages(base) - target < 64


@settings(max_examples=200, suppress_health_check=OFTEN_SKIPPED)
@given(messages(min_events=4, max_events=24), st.integers(1, 1_500))
def test_no_newer_unit_goes_before_an_older_one(given_messages, target):
    done = compacted(given_messages, target=target)
    assume(done.receipt.outcome == "applied")
    base = history.repair(given_messages).messages
    held = history.protected(base)
    free = [unit for unit in history.units(base) if not held.intersection(unit)]
    stays = [unit[0] in kept(done) for unit in free if not all(removed_before(base[i]) for i in unit)]
    assert stays == sorted(stays)


def test_a_result_larger_than_the_target_goes_and_what_is_newer_stays():
    before = (*talk(3), *step("big", text="x" * 40_000), *talk(3)[2:])
    after = compacted(before, target=1_500).messages
    assert not any(m.calls or m.results for m in after)
    assert after[-6:] == before[-6:]


def test_a_result_that_may_not_go_is_over_the_target_and_says_so():
    before = (*talk(9), *step("big", text="x" * 40_000))
    done = compacted(before, target=1_500)
    assert done.receipt.over_target
    assert done.messages[-2:] == before[-2:]
    assert len(markers(done.messages)) == 1


def test_a_target_in_tokens_is_met_in_tokens():
    for target in (300, 600, 900, 1_200):
        receipt = compact(talk(20), "sliding_window", target=target).receipt
        assert target * 0.7 < receipt.tokens_after <= target


# ---- the marker


@pytest.mark.parametrize(
    ("gone", "text"),
    [
        ([user()], "[1 earlier message removed to save context]"),
        ([user()] * 2, "[2 earlier messages removed to save context]"),
        ([marker([user()] * 7), user()], "[8 earlier messages removed to save context]"),
        ([marker([user()])], "[1 earlier message removed to save context]"),
        ([marker([user()] * 3), marker([user()] * 4)], "[7 earlier messages removed to save context]"),
        (step(*TWELVE), "[13 earlier messages removed to save context]"),
    ],
)
def test_the_marker_counts_what_earlier_ones_stood_for(gone, text):
    made = marker(gone)
    assert (made.role, made.text, made.synthetic, made.pinned, made.source) == ("user", text, True, False, None)
    assert not made.by_person


@pytest.mark.parametrize(
    ("message", "count"),
    [
        (marker([user()] * 5), 5),
        (user("[5 earlier messages removed to save context]"), 0),
        (user("Look: [5 earlier messages removed to save context]", synthetic=True), 0),
        (user("[5 earlier messages removed to save context]\n", synthetic=True), 0),
        (user("[x earlier messages removed to save context]", synthetic=True), 0),
        (user("[12 earlier messages were removed here]", synthetic=True), 0),
        (agent(), 0),
    ],
)
def test_only_a_marker_of_ours_is_taken_for_one(message, count):
    assert removed_before(message) == count


def test_what_a_person_says_is_no_marker_and_is_counted_as_one_message():
    said = user("[500 earlier messages removed to save context]")
    assert markers(compacted((*talk(1), said, *talk(12)[2:]), 4).messages) == [2 + 1 + 20]


@pytest.mark.parametrize(("keep", "target"), [(4, None), (10, None), (0, None), (10, 800), (10, 300)])
def test_over_ten_passes_one_marker_counts_all_that_went(keep, target):
    held, seen, receipt = talk(0), 2, None
    for number in range(10):
        new = (*step(f"n{number}"), agent(f"so {LONG}"), user(f"next {number} {LONG}"))
        held, receipt = compacted((*held, *new), keep, target, previous=receipt)
        seen += len(new)
        stay = [m for m in held if not removed_before(m)]
        assert sum(markers(held)) == seen - len(stay)
        assert len(markers(held)) <= 1
    assert len(markers(held)) == 1
    assert not [m for m in held if m.text.count("removed to save context") > 1]


LATE = [
    ("the anchor comes late", (system(), *(agent(f"{i} {LONG}") for i in range(6)), *talk(4, head=(user("first"),)))),
    ("it comes at the very end", (system(), *(agent(f"{i} {LONG}") for i in range(14)), user("first"), agent())),
    ("it stands between a call and its result", (calling("a"), user("first"), answering("a"), *talk(6)[2:])),
]


@pytest.mark.parametrize("before", [c[1] for c in LATE], ids=[c[0] for c in LATE])
@pytest.mark.parametrize("keep", range(1, 13))
def test_a_second_pass_finds_nothing_and_the_marker_takes_no_place_in_the_tail(before, keep):
    first = compacted(before, keep)
    second = compacted(first.messages, keep)
    assert second.receipt.outcome != "applied"
    assert second.messages == first.messages
    assert len(markers(second.messages)) <= 1


@pytest.mark.parametrize("target", range(100, 400, 10))
def test_a_marker_behind_the_last_message_of_the_agent_is_not_kept_beside_the_next(target):
    before = (system(), agent(f"a {LONG}"), agent(f"b {LONG}"), agent(f"c {LONG}"), user("first"))
    first = compacted(before, target=target)
    second = compacted(first.messages, target=target)
    assert second.messages == first.messages


@pytest.mark.parametrize("keep", [4, 5, 6])
def test_the_marker_parts_no_call_from_its_result_where_the_anchor_stands_between_them(keep):
    before = (system(), agent(LONG), calling("a"), user("first"), user("second"), answering("a"), agent())
    after = compacted(before, keep).messages
    assert not [m for m in after[after.index(calling("a")) : after.index(answering("a"))] if removed_before(m)]


def test_a_wider_window_brings_nothing_back_and_a_narrower_one_keeps_one_marker():
    first = compacted(talk(20), 10)
    wider = compacted(first.messages, 20)
    narrower = compacted(first.messages, 4)
    assert wider.messages == first.messages
    assert markers(narrower.messages) == [36]


def test_a_person_who_first_speaks_after_a_pass_becomes_the_anchor():
    first = compacted((system(), *(agent(f"{i} {LONG}") for i in range(20))), 4)
    later = compacted((*first.messages, user("Hello?"), *(agent(f"x{i} {LONG}") for i in range(9))), 4)
    assert user("Hello?") in later.messages
    assert markers(later.messages) == [16 + 4 + 5]


@settings(max_examples=200, suppress_health_check=OFTEN_SKIPPED)
@given(messages(min_events=4), st.integers(0, 12), st.none() | st.integers(1, 900))
def test_what_a_provider_takes_is_never_made_into_what_it_refuses(given_messages, keep, target):
    base = history.repair(given_messages).messages
    assume(history.anchor(base) == tuple(range(len(history.anchor(base)))))
    rules = tuple(name for name in ("openai", "anthropic") if not broken(base, (name,)))
    done = compact(given_messages, KeepRecent(keep), target=target, guard=Guard(METER, rules))
    assert done.receipt.outcome in {"applied", "skipped", "rejected"}
    if done.receipt.outcome == "rejected":
        assert "would weigh" in done.receipt.reason


def test_savings_are_what_the_meter_says_and_not_a_figure_a_message():
    done = compact(talk(20), "sliding_window")
    meter = Meter()
    assert done.receipt.tokens_before == meter.messages(talk(20))
    assert done.receipt.tokens_after == meter.messages(done.messages)


def test_the_last_message_is_still_the_persons_and_no_system_note_follows():
    after = compacted(talk(20), 4).messages
    assert after[-1].by_person
    assert [m.role for m in after].count("system") == 1
    assert not broken(after)
