"""The recorded sessions replayed in the windows that people have: real tools, real results, several passes."""

from functools import cache
from pathlib import Path

import pytest
from test_replay_properties import answered, standing

from compactlab import history
from compactlab.compaction import Guard
from compactlab.llm.extractive import Extractive
from compactlab.policy import MARKED, policy
from compactlab.readers import read
from compactlab.replay import Session, replay
from compactlab.tokens import Meter
from compactlab.validity import broken

FOLDER = Path(__file__).parent.parent / "fixtures" / "transcripts"
NAMES = sorted(path.stem for path in FOLDER.glob("*.jsonl") if not path.stem.endswith(".probes"))
SPECS = ("none", "microcompact", "sliding_window", "summary", "key_value", "ladder", "defer", MARKED)
METER = Meter()


@cache
def told(name):
    return Session(read(FOLDER / f"{name}.jsonl")[0], METER)


@cache
def replayed(name, spec, window):
    return replay(told(name), policy(spec), window, Guard(METER, model=Extractive()))


def test_the_sessions_were_found():
    assert len(NAMES) == 13


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("window", [32_000, 64_000])
def test_every_policy_replays_every_session_and_each_turn_fits(name, window):
    plain = sum(METER.messages(told(name).messages[:at]) for at in answered(told(name))[::10])
    for spec in SPECS:
        done = replayed(name, spec, window)
        assert all(0 <= turn.shared <= turn.tokens <= window for turn in done.turns)
        assert bool(done.overflow) == (len(done.turns) < len(answered(told(name))))
        assert sum(turn.tokens for turn in done.turns) <= done.sent_plain
        assert sum(fire.split_units for fire in done.fires) == 0
        assert done.sent_plain > plain > 0


@pytest.mark.parametrize("spec", ["sliding_window", "summary", "key_value", "ladder", MARKED])
def test_policies_that_can_make_room_bring_every_session_to_its_end(spec):
    assert [name for name in NAMES if replayed(name, spec, 32_000).overflow] == []
    several = [name for name in NAMES if replayed(name, spec, 32_000).turns[-1].pass_ > 1]
    assert len(several) >= 6


def test_a_turn_of_unread_results_that_nothing_can_shrink_ends_in_an_honest_overflow():
    done = replayed("subagent-incident", "microcompact", 32_000)
    assert done.overflow == (
        "the request before message 18 has 45,391 tokens and the window 32,000: "
        "25,952 tokens of results that the agent has not read yet"
    )
    assert (done.overflow_at, len(done.turns)) == (18, 8)
    assert [fire.outcome for fire in done.fires] == ["applied", "applied"]


@pytest.mark.parametrize("name", ["subagent-etl", "primary-garden", "subconscious-novel"])
@pytest.mark.parametrize("spec", ["sliding_window", "summary", MARKED])
def test_views_are_valid_hold_the_anchor_and_what_is_told_as_kept(name, spec):
    session, done = told(name), replayed(name, spec, 32_000)
    held = [session.messages[i] for i in history.anchor(session.messages)]
    turn_of = {turn.position: i for i, turn in enumerate(done.turns)}
    allowed = broken(session.messages)
    for turn in range(0, len(done.turns), 7):
        assert list(done.view(turn)[: len(held)]) == held
        assert broken(done.view(turn)) <= allowed
    for use in done.uses[::9]:
        assert (use.fact in standing(session, done.view(turn_of[use.position]))) == use.loose
    assert any(not use.loose for use in done.uses)
    assert any(use.bound for use in done.uses)


def test_debts_are_of_results_that_were_read_and_not_in_view():
    session, done = told("subagent-etl"), replayed("subagent-etl", "sliding_window", 32_000)
    turn_of = {turn.position: i for i, turn in enumerate(done.turns)}
    assert len(done.debts) > 5
    for debt in done.debts:
        results = session.transcript.messages[debt.result].results
        assert debt.result < debt.position
        owed = [result for result in results if METER.block(result) == debt.tokens]
        view = [block for message in done.view(turn_of[debt.position]) for block in message.results]
        assert owed
        assert any(result not in view for result in owed)


def test_the_more_room_there_is_the_more_stays():
    small, large = (replayed("subagent-tally", "sliding_window", window) for window in (32_000, 64_000))
    assert len(small.fires) > len(large.fires) > 0
    assert sum(life.lost for life in small.lives) > sum(life.lost for life in large.lives)
    assert replayed("subagent-tally", "sliding_window", 200_000).fires == ()
