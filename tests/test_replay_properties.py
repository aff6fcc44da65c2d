"""What holds of every replay, whatever the session, the policy and the window."""

import sys
from dataclasses import replace

import pytest
from histories import messages
from hypothesis import given
from hypothesis import strategies as st
from replays_told import COUNTER, line, reading, session

from compactlab import history
from compactlab.compaction import Guard
from compactlab.facts import mine
from compactlab.llm.extractive import Extractive
from compactlab.markers import without_markers
from compactlab.policy import policy
from compactlab.pressure import Marks
from compactlab.replay import Session, Window, replay
from compactlab.tokens import Meter
from compactlab.transcript import Transcript, readable
from compactlab.validity import broken

POLICIES = (
    "none",
    "defer",
    "sliding_window(preserve_recent=2)",
    "microcompact(keep_recent=1)@0.5+cull(preserve_recent=1)@0.6+summary(preserve_recent=2)@0.7",
    "key_value(preserve_recent=2)@0.4",
    "ladder",
)
METER = Meter(COUNTER)


@st.composite
def replays(draw):
    """A session, a policy, and a window that holds a part of the session, or all of it."""
    told = Session(Transcript("t", "", draw(messages(min_events=6, max_events=28))), METER)
    weight = METER.messages(told.messages)
    overhead = draw(st.sampled_from((0, 17)))
    window = overhead + max(60, round(weight * draw(st.sampled_from((0.3, 0.15, 0.5, 0.8, 1.3)))))
    return told, draw(st.sampled_from(POLICIES)), Window(window, overhead)


def replayed(told, spec, window):
    return replay(told, policy(spec), window, Guard(METER, model=Extractive()))


def answered(told):
    """Places in the session, in split form, before which a request is sent."""
    return [i for i, m in enumerate(told.messages) if m.role == "assistant" and not m.synthetic]


def common(one, other):
    """How many messages two lists share at their beginning."""
    alike = [(a.role, a.blocks) == (b.role, b.blocks) for a, b in zip(one, other, strict=False)]
    return alike.index(False) if False in alike else len(alike)


@given(replays())
def test_a_view_is_what_a_provider_accepts_and_holds_the_anchor(drawn):
    told, spec, window = drawn
    done = replayed(told, spec, window)
    for turn, at in zip(range(len(done.turns)), answered(told), strict=False):
        view, grown = done.view(turn), told.messages[:at]
        assert broken(view) <= broken(grown) | broken(told.messages)
        held = [grown[i] for i in history.anchor(grown)]
        assert [message for message in view if message in held][: len(held)] == held


@given(replays())
def test_what_is_recorded_of_a_turn_adds_up(drawn):
    told, spec, window = drawn
    done = replayed(told, spec, window)
    before = ()
    for turn, sent in enumerate(done.turns):
        view = done.view(turn)
        assert sent.tokens == METER.messages(view) + window.overhead <= window.tokens
        same = METER.messages(view[: common(before, view)]) + window.overhead
        assert sent.shared == (same if turn else 0)
        assert sent.pass_ == sum(fire.outcome == "applied" for fire in done.fires if fire.turn <= turn)
        before = view
    assert [turn.position for turn in done.turns] == [told.moments[at].position for at in answered(told)][
        : len(done.turns)
    ]
    assert (done.overflow == "") == (len(done.turns) == len(answered(told))) == (done.overflow_at is None)
    assert len(done.seconds) == len(done.fires)
    if spec == "none" and not done.overflow:
        assert done.sent_plain == sum(turn.tokens for turn in done.turns)


@given(replays())
def test_a_fire_has_its_cause_and_never_makes_a_view_heavier(drawn):
    told, spec, window = drawn
    done = replayed(told, spec, window)
    marks = policy(spec).at(Marks().of(told.transcript.agent_type))
    for fire in done.fires:
        share = (fire.tokens_before + window.overhead) / window.tokens
        assert share >= fire.mark or share > 1
        assert fire.forced == (share > 1)
        assert repr(marks[fire.mark]) == fire.strategy
        assert (fire.tokens_after < fire.tokens_before) == (fire.outcome == "applied")
        assert fire.shared <= fire.tokens_after
        assert fire.split_units == 0
    assert len({fire.turn for fire in done.fires}) == len(done.fires)
    assert spec != "none" or not done.fires


@given(replays())
def test_a_mark_fires_again_only_after_the_pressure_fell_below_it(drawn):
    told, spec, window = drawn
    done = replayed(told, spec, window)
    last = {}
    for number, fire in enumerate(done.fires):
        if not fire.forced and fire.mark in last:
            first = done.fires[last[fire.mark]]
            weights = [turn.tokens for turn in done.turns[first.turn : fire.turn]]
            weights += [other.tokens_after + window.overhead for other in done.fires[last[fire.mark] : number]]
            assert min(weights) < fire.mark * window.tokens
        last[fire.mark] = number


@given(replays())
def test_a_fact_that_is_told_as_kept_stands_in_what_was_sent_and_one_that_is_lost_does_not(drawn):
    told, spec, window = drawn
    done = replayed(told, spec, window)
    places = dict(zip(answered(told), range(len(done.turns)), strict=False))
    by_position = {}
    for at, turn in places.items():
        by_position.setdefault(told.moments[at].position, []).append(turn)
    for use in done.uses:
        stands = [standing(told, done.view(turn)) for turn in by_position[use.position]]
        assert any((use.fact in facts) == use.loose for facts in stands)
        assert use.loose or not use.bound
        assert 1 <= use.passes <= max(turn.pass_ for turn in done.turns)


def standing(told, view):
    """Facts in a view, looked for anew."""
    texts = [(block in told.own, readable(block)) for message in view for block in message.blocks]
    return {hit.pattern for own, text in texts for hit in told.matcher.hits(text if own else without_markers(text))}


@given(replays())
def test_the_same_input_gives_an_equal_replay(drawn):
    told, spec, window = drawn
    fresh = Session(told.transcript, METER)
    first, second = (replace(replayed(each, spec, window), seconds=()) for each in (told, fresh))
    assert first == second


@given(replays())
def test_lives_and_passes_are_no_more_than_the_applied_fires(drawn):
    told, spec, window = drawn
    done = replayed(told, spec, window)
    applied = sum(fire.outcome == "applied" for fire in done.fires)
    assert all(1 <= life.passes <= applied for life in done.lives)
    assert len({debt.result for debt in done.debts}) <= len(done.debts)
    assert bool(done.lives or done.uses or done.debts or done.supplied) <= bool(applied)


def long(turns):
    """A session of reads, edits and talk that grows by the same every turn."""
    made = [line("user", "Look at every file")]
    for n in range(turns):
        made += [
            *reading(f"c{n}", f"src/part_{n % 40}.py", f"limit_{n} is {1000 + n}"),
            line("assistant", f"limit_{n - 3}"),
        ]
    return made


def calls_of(action):
    """How many Python functions an action calls."""
    count = 0

    def tell(_frame, event, _argument):
        nonlocal count
        count += event == "call"

    sys.setprofile(tell)
    try:
        action()
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.parametrize(
    "spec", ["none", "sliding_window", "microcompact@0.7+cull@0.8+sliding_window@0.9", "ladder", "key_value"]
)
def test_the_work_grows_as_the_session_does(spec):
    counts = []
    for turns in (150, 300):
        told = session(long(turns), mine(long(turns)))
        assert told.moments
        window = 200_000 if spec == "none" else 1_200
        done = []
        counts.append(calls_of(lambda told=told, window=window, done=done: done.append(replayed(told, spec, window))))
        assert spec == "none" or len(done[0].fires) > turns // 20
    assert counts[1] < 2.1 * counts[0]


def test_a_session_is_read_once_for_all_policies():
    told = session(long(100), mine(long(100)))
    first = calls_of(lambda: told.moments)
    again = calls_of(lambda: told.moments)
    assert again < first / 1_000
