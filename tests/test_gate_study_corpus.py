"""The corpus that is made for the study of the gate, its strategy that draws, and what draws keep."""

import json
import re
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compactlab.compaction import Guard, compact
from compactlab.errors import SpecError
from compactlab.gate.alarms.drawn import Drawn
from compactlab.gate.alarms.losses import UNCHANGED, computed, sought
from compactlab.gate.alarms.outcomes import Drawer, Task, drawn, holders, jobs_of
from compactlab.gate.alarms.sessions import sessions
from compactlab.gate.measures import admitted_of, shares
from compactlab.harness import Settings, run
from compactlab.history import protected, units
from compactlab.readers import read, write
from compactlab.summary.pool import Pool
from compactlab.transcript import readable
from compactlab.validity import broken


@cache
def jobs():
    return jobs_of(sessions(3), seed=0)


# ---- the corpus


def test_sessions_are_stories_of_their_own_of_three_types_and_the_same_for_the_same_seed():
    made = sessions()
    assert (
        len(made)
        == len({t.id for t in made})
        == len({t.cluster for t in made})
        == len({t.messages for t in made})
        == 40
    )
    assert {t.agent_type for t in made} == {"primary", "subagent", "subconscious"}
    assert made == sessions() != sessions(seed=1)
    assert sessions(3) == made[:3]


def test_every_session_is_what_a_provider_takes_and_survives_its_file(tmp_path):
    for transcript in sessions(3):
        assert broken(transcript.messages, ("openai", "anthropic")) == frozenset()
        assert all(isinstance(json.loads(call.arguments), dict) for m in transcript.messages for call in m.calls)
        write([transcript], tmp_path / f"{transcript.id}.jsonl", "compactlab")
        (again,) = read(tmp_path / f"{transcript.id}.jsonl")
        assert (again.id, again.messages, again.agent_type) == (
            transcript.id,
            transcript.messages,
            transcript.agent_type,
        )


def test_no_place_of_a_scene_stays_unfilled():
    texts = [readable(block) for t in sessions(9) for message in t.messages for block in message.blocks]
    assert len(texts) > 1_000
    assert not [text for text in texts if re.search(r"\{\w+\}", text)]


# ---- the strategy


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 10**9), st.floats(0, 1), st.floats(0, 1), st.sampled_from(["", "words", "bash"]))
def test_a_smaller_share_keeps_a_part_of_what_a_larger_one_keeps_and_no_share_touches_what_is_protected(
    seed, first, second, kind
):
    messages = sessions(1)[0].messages[:70]
    low, high = sorted((first, second))
    held = {messages[i] for i in protected(messages)}

    def kept(share):
        strategy = Drawn(kind=kind, share=share) if kind else Drawn(share)
        return compact(messages, strategy, guard=Guard(seed=seed)).messages

    assert held <= set(kept(low)) <= set(kept(high))
    assert kept(low) == kept(low)


def test_only_units_of_the_kind_have_a_share_of_their_own():
    messages = sessions(1)[0].messages
    kept = compact(messages, Drawn(1.0, kind="bash", share=0.0)).messages
    gone = [unit for unit in units(messages) if messages[unit[0]] not in kept]
    assert gone
    assert all({call.name for i in unit for call in messages[i].calls} == {"bash"} for unit in gone)
    words = compact(messages, Drawn(0.0, kind="words", share=1.0)).messages
    assert all(message in words for message in messages if not message.calls and not message.results)


@pytest.mark.parametrize("given", [{"keep": 1.5}, {"keep": -0.1}, {"kind": "words", "share": 2}])
def test_a_share_that_is_none_is_refused(given):
    with pytest.raises(SpecError, match="expected a share"):
        Drawn(**given)


# ---- what draws keep


def test_a_draw_is_what_a_run_records_of_that_replicate_and_no_family_is_refused(tmp_path):
    for transcript in sessions(2):
        write([transcript], tmp_path / f"{transcript.id}.jsonl", "compactlab")
    own = jobs_of(sessions(2), seed=7)
    strategy = Drawn(0.6)
    found = run([tmp_path], tmp_path / "run", Settings((strategy,), seed=7, replicates=2, jobs=1))
    pool = Pool(found)
    needed = {record.family for record in found.records if record.metric == "needed_bound"}
    assert admitted_of(pool) >= needed
    for job in own:
        assert drawn(Task(job, (strategy,), range(2)))[0] == pytest.approx(
            [recorded(found, job, strategy, number) for number in range(2)]
        )


def recorded(found, job, strategy, number):
    """The value of a session in the records of a run: the mean over cuts."""
    values = []
    for cut in job.cuts:
        place = (job.transcript.id, cut.name, repr(strategy), "", number)
        of = [r for r in found.records if (r.session, r.cut, r.strategy, r.size_of, r.replicate) == place]
        value, n = shares(of, None, "cuts")["irrecoverable"]
        values.append(value / n)
    return sum(values) / len(values)


def test_draws_keep_on_average_what_probability_says():
    held = [holders(job) for job in jobs()]
    strategies = [UNCHANGED, Drawn(0.4), Drawn(kind="bash", share=0.1)]
    for strategy, values in zip(strategies, Drawer(jobs()).draws(strategies, range(30)), strict=True):
        means = [sum(of) / 30 for of in values.values()]
        squares = [sum((x - mean) ** 2 for x in of) / 29 / 30 for mean, of in zip(means, values.values(), strict=True)]
        assert abs(sum(means) / 3 - computed(held, strategy)) < 3.5 * sum(squares) ** 0.5 / 3


@pytest.mark.parametrize(("points", "kind"), [(2, ""), (15, ""), (10, "words"), (5, "bash")])
def test_a_loss_that_is_sought_is_found(points, kind):
    held = [holders(job) for job in jobs()]
    loss = sought(held, points, kind)
    assert 100 * (computed(held, UNCHANGED) - computed(held, loss.strategy)) == pytest.approx(points, abs=0.02)
    assert loss.strategy.kind == kind


def test_a_loss_that_there_is_not_is_refused():
    with pytest.raises(SpecError, match="95 points of all units"):
        sought([holders(job) for job in jobs()], 95)
