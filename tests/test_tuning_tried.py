"""What tuning counts of a replay is what the metrics count of it, and rules are those of the statements metric."""

from functools import cache

import corpora
import pytest
import runs

from compactlab import history
from compactlab.compaction import Guard
from compactlab.facts import mine
from compactlab.llm.extractive import Extractive
from compactlab.llm.scripted import Scripted
from compactlab.metrics import decay, rederivation
from compactlab.policy import policy
from compactlab.readers import read
from compactlab.replay import Session, Window, replay
from compactlab.settings import Project
from compactlab.statements import mine_statements
from compactlab.statements.judging import Judge, verdict
from compactlab.tokens import Meter
from compactlab.transcript import Message, Text, ToolCall, ToolResult, Transcript
from compactlab.tuning.standing import Rules
from compactlab.tuning.tried import Bench, Material, Tried, tried_all

WINDOWS = {"primary-garden": 32_000, "subagent-tally": 48_000, "subconscious-novel": 16_000}
POLICIES = ("none", "sliding_window@0.7", "microcompact@0.5+summary(preserve_recent=20)@0.9", "key_value@0.8")


def material(transcript, window, **more):
    given = {"project": Project(), "counter": "o200k_base", "model": Extractive()} | more
    return Material(transcript, mine(transcript.messages), frozenset(), window, **given)


@cache
def bench(name):
    [transcript] = read(runs.FIXTURES / f"{name}.jsonl")
    return Bench(material(transcript, WINDOWS[name]))


@cache
def replayed(name, spec):
    one = bench(name)
    guard = Guard(one.session.meter, model=Extractive())
    return replay(one.session, policy(spec), Window(WINDOWS[name]), guard)


def value(scores, metric, **of):
    """The sum of a metric's values and sizes over the scores that have these fields."""
    found = [s for s in scores if s.metric == metric and all(getattr(s, name) == want for name, want in of.items())]
    return sum(score.value for score in found), sum(score.n for score in found)


@pytest.mark.parametrize("name", WINDOWS)
@pytest.mark.parametrize("spec", POLICIES)
def test_savings_and_retention_are_those_of_the_metrics(name, spec):
    row, done = bench(name).tried(spec), replayed(name, spec)
    assert (row.kept, row.uses) == value(list(decay.replayed(done)), "decay_bound", use="action")
    assert row.fires == sum(fire.applied for fire in done.fires)
    assert row.faults == 0
    assert row.finished == (not done.overflow)
    if row.finished:
        scores = list(rederivation.replayed(done))
        task, plain = value(scores, "task_tokens")[0], done.sent_plain
        assert row.saved == pytest.approx(1 - task / plain)
    assert row.model == ("extractive" if "summary" in spec and row.fires else "")


@pytest.mark.parametrize("name", WINDOWS)
def test_rules_are_those_that_are_mined_from_what_was_said_so_far(name):
    one = bench(name)
    messages = one.session.messages
    for at in range(0, len(messages), 29):
        before = messages[:at]
        wanted = [s for s in mine_statements(before) if s.kind == "constraint"]
        judge, at_risk = one.rules._risk(at)
        assert list(judge.statements) == wanted
        held = history.protected(before, pins=False)
        safe = Judge(wanted, one.session.own).found(m for i, m in enumerate(before) if i in held)
        assert [bool(at_risk >> i & 1) for i in range(len(wanted))] == [
            not safe.kept >> i & 1 for i in range(len(wanted))
        ]


@pytest.mark.parametrize("spec", POLICIES)
def test_rules_kept_are_judged_in_the_view_after_each_fire(spec):
    one, done = bench("primary-garden"), replayed("primary-garden", spec)
    kept = at_risk = 0
    for fire in (fire for fire in done.fires if fire.applied and fire.turn < len(done.turns)):
        view = done.view(fire.turn)
        judge, free = one.rules._risk(one.answers[fire.turn])
        verdicts = [verdict(judge.found(view), i) for i in range(len(judge.statements)) if free >> i & 1]
        kept, at_risk = kept + sum(v in {"kept", "both"} for v in verdicts), at_risk + len(verdicts)
    row = one.tried(spec)
    assert (row.rules_kept, row.rules) == (kept, at_risk)
    assert (at_risk > 0) == (row.fires > 0)


def test_a_rule_that_is_said_anew_in_other_words_of_a_later_system_message_is_read_there():
    said = (
        Message("user", (Text("Hello."),)),
        Message("user", (Text("Never push to main."),)),
        Message("system", (Text("Never delete the archive."),)),
        Message("assistant", (Text("Fine."),)),
    )
    rules = Rules(Session(Transcript("t", "", said), Meter()))
    assert [[one.text for one in rules._risk(at)[0].statements] for at in (1, 2, 3)] == [
        [],
        ["Never push to main."],
        ["Never push to main.", "Never delete the archive."],
    ]


def test_an_answer_that_a_tool_asked_a_person_for_lays_down_rules_too():
    said = (
        Message("user", (Text("Hello."),)),
        Message("assistant", (ToolCall("c1", "AskUserQuestion", '{"question": "Any rules?"}'),)),
        Message("tool", (ToolResult("c1", (Text("Never push to main."),)),)),
        Message("assistant", (Text("Fine."),)),
    )
    rules = Rules(Session(Transcript("t", "", said), Meter()))
    assert [one.text for one in rules._risk(4)[0].statements] == [one.text for one in mine_statements(said)]
    assert len(rules._risk(4)[0].statements) == 1


def test_a_strategy_that_fails_is_a_fault():
    transcript = corpora.transcript(corpora.COURIER, 0)
    given = material(transcript, corpora.WINDOW, counter="chars/4", model=Scripted(()))
    assert Bench(given).tried("summary(strict=True)@0.8").faults > 0


def test_a_process_reads_a_session_once_and_anew_where_anything_differs():
    transcript = corpora.transcript(corpora.COURIER, 1)
    one, other = (material(transcript, window, counter="chars/4") for window in (4_000, 3_000))
    first = tried_all(one, ["sliding_window@0.5"])
    assert first == tried_all(one, ["sliding_window@0.5"])
    assert tried_all(other, ["sliding_window@0.5"]) != first
    assert [row.window for row in tried_all(one, ["none"])] == [4_000]


def test_what_is_not_there_is_kept():
    row = Tried("none", "s", "s", 1_000, None)
    assert (row.retention, row.obedience, row.finished) == (1.0, 1.0, False)
