"""The metric of statements, on a case small enough to be counted by hand and on recorded sessions."""

from collections import Counter

import pytest
import runs
from histories import agent, messages, system, user
from hypothesis import given

from compactlab.compaction import Guard, compact
from compactlab.facts import mine
from compactlab.history import repair
from compactlab.llm.extractive import Extractive
from compactlab.matching import VERDICTS
from compactlab.metrics import Case, Score, Trial
from compactlab.metrics.statements import at_risk, measure
from compactlab.probes.hand import HandProbes
from compactlab.probes.mined import AtRisk, matcher_of
from compactlab.tokens import Meter
from compactlab.transcript import Message, Text

METER = Meter("chars/4")
BASE = (
    system(),
    user("Never use the blue paint. Please look after the garden."),
    agent("Gladly."),
    user("Never cut the old fig. Always water the young peas."),
    agent("We'll take the narrow ladder instead of the wide one."),
    user("Never use the blue paint. How is the weather?"),
    agent("Dry."),
)


def case_of(base):
    facts = mine(base)
    return Case(AtRisk(base, facts, matcher_of(facts)), {}, HandProbes(()), (), METER)


def measured(kept, base=BASE):
    return list(measure(Trial(case_of(base), tuple(kept))))


def counts(kept):
    return {(s.family, s.group): (s.value, s.n) for s in measured(kept) if s.metric == "statement" and s.value}


def note(text):
    return Message("user", (Text(text),), synthetic=True)


SHORT = (*BASE[:2], *BASE[5:])


@pytest.mark.parametrize(
    ("kept", "expected"),
    [
        (BASE, {("constraint", "kept"): (2, 2), ("decision", "kept"): (1, 1), ("rejected", "kept"): (1, 1)}),
        (SHORT, {("constraint", "lost"): (2, 2), ("decision", "lost"): (1, 1), ("rejected", "lost"): (1, 1)}),
        (
            (
                *SHORT,
                note(
                    "- Cut the old fig.\n- You should water the young peas.\n"
                    "- the narrow ladder instead of the wide one"
                ),
            ),
            {
                ("constraint", "contradicted"): (1, 2),
                ("constraint", "weakened"): (1, 2),
                ("decision", "kept"): (1, 1),
                ("rejected", "kept"): (1, 1),
            },
        ),
    ],
    ids=["all", "the protected set", "a bad note"],
)
def test_each_kind_is_counted_by_verdict(kept, expected):
    assert counts(kept) == expected


@pytest.mark.parametrize(
    ("kept", "inverted"), [(BASE, 0), (SHORT, 0), ((*SHORT, note("Cut the old fig. Never water the young peas.")), 2)]
)
def test_inverted_constraints_are_a_plain_count(kept, inverted):
    assert [s for s in measured(kept) if s.metric == "inverted_constraints"] == [
        Score("inverted_constraints", inverted)
    ]


def test_what_the_protected_set_says_is_not_at_risk():
    risk = at_risk(case_of(BASE))
    texts = {risk.judge.statements[i].text for indices in risk.kinds.values() for i in indices}
    assert "Never cut the old fig." in texts
    assert "Never use the blue paint." not in texts


def test_a_history_without_statements_yields_nothing():
    assert measured((user("Hello."),), (user("Hello."), agent("Hello."))) == []


@given(messages(min_events=2))
def test_scores_pool_all_is_kept_in_what_was_there_and_nothing_in_the_protected_set(history):
    base = repair(history).messages
    case = case_of(base)
    for kept, fine in ((base, {"kept", "both"}), (case.protected, {*VERDICTS} - {"kept", "both"})):
        scores = list(measure(Trial(case, kept)))
        assert scores == list(measure(Trial(case, kept)))
        sums = Counter()
        for score in scores:
            if score.metric == "statement":
                sums[score.family] += score.value
                assert score.value == 0 or score.group in fine
                assert 0 <= score.value <= score.n
        assert all(sums[s.family] == s.n for s in scores if s.metric == "statement")


@pytest.mark.parametrize("name", ["primary-boatyard", "subagent-tally"])
def test_on_a_recorded_session_none_keeps_all_and_a_strategy_that_only_deletes_turns_nothing_round(name):
    case = runs.case(name, 0.7)
    guard = Guard(runs.meter(), model=Extractive())
    for strategy in ("none", "sliding_window", "summary"):
        scores = list(measure(Trial(case, compact(case.base, strategy, target=case.tokens // 5, guard=guard).messages)))
        found = {s.group for s in scores if s.value and s.metric == "statement"}
        assert sum(s.n for s in scores if s.group == "kept") > 10
        assert [s.value for s in scores if s.metric == "inverted_constraints"] == [0]
        if strategy == "none":
            assert found <= {"kept", "both"}
        if strategy == "sliding_window":
            assert "lost" in found
            assert found <= {"kept", "both", "stale", "lost"}
