"""Decoys: one late digit changed, found nowhere, and what a history holds of them."""

import pytest
import runs
from histories import agent, call, messages, result, system, user
from hypothesis import given

from compactlab.compaction import Guard, compact
from compactlab.facts import Fact, mine
from compactlab.facts.text import canonical
from compactlab.history import repair
from compactlab.llm.extractive import Extractive
from compactlab.matching import fold
from compactlab.metrics import Case, Score, Trial
from compactlab.metrics import decoys as metric
from compactlab.probes.decoys import FAMILIES, by_family, decoys, decoys_needed, needed_by, texts_of
from compactlab.probes.hand import HandProbes
from compactlab.probes.mined import AtRisk, matcher_of
from compactlab.tokens import Meter, clean
from compactlab.transcript import Message

METER = Meter("chars/4")


def fact(family, *forms, exact=True, needs_anchor=False):
    return Fact(family, forms[0], forms, exact, needs_anchor)


CASES = [
    ("the last digit goes up by one", fact("number", "5433"), "", ("5434",)),
    ("what stands is passed over", fact("number", "5433"), "5434 and x5435y", ("5436",)),
    ("nine becomes zero", fact("identifier", "ETL-729"), "", ("ETL-720",)),
    ("all forms change alike", fact("number", "30717", "30,717"), "", ("30718", "30,718")),
    ("a form with other digits goes", fact("number", "12 ms", "twelve ms"), "", ("13 ms",)),
    ("a letter behind the digit stays", fact("hash", "3fa9c1db"), "", ("3fa9c2db",)),
    ("a path and its base name", fact("path", "a/b2/c10.py", "c10.py"), "", ("a/b2/c11.py", "c11.py")),
    ("a digit earlier where the last is taken", fact("number", "55"), "50 51 52 53 54 56 57 58 59", None),
    ("the one before it", fact("number", "455"), "450 451 452 453 454 456 457 458 459", ("465",)),
    ("a day of the calendar", fact("date", "2026-02-28", "28 February 2026"), "", ("2026-02-20",)),
    ("a month of the year", fact("date", "2026-12"), "", ("2026-10",)),
    ("a minute of the hour", fact("date", "14:59"), "", ("14:50",)),
    ("one digit alone is the first", fact("identifier", "db-7"), "", None),
    ("no digit", fact("path", "src/app.py"), "", None),
    ("no family of digits", fact("name", "Apollo 13"), "", None),
]


@pytest.mark.parametrize(("made_of", "text", "forms"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_a_decoy_differs_in_one_late_digit_and_stands_nowhere(made_of, text, forms):
    made = decoys({4: made_of}, [text])
    assert made == ({} if forms is None else {4: Fact(made_of.family, forms[0], forms, made_of.exact)})


def test_no_two_facts_share_a_decoy():
    made = decoys({0: fact("number", "5433"), 1: fact("number", "5434"), 2: fact("number", "5435")}, ["5433 5434 5435"])
    assert sorted(made) == [0, 1, 2]
    assert {decoy.value for decoy in made.values()} == {"5436", "5437", "5438"}


@given(messages(min_events=2))
def test_a_decoy_is_no_part_of_the_history_keeps_its_length_and_is_the_same_each_time(history):
    facts = dict(enumerate(mine(history)))
    made = decoys(facts, texts_of(history))
    assert made == decoys(facts, texts_of(history))
    text = "\n".join(fold(clean(canonical(words))) for words in texts_of(history))
    assert len({decoy.value for decoy in made.values()}) == len(made)
    for index, decoy in made.items():
        changed = [(a, b) for a, b in zip(decoy.value, facts[index].value, strict=True) if a != b]
        assert len(changed) == 1
        assert changed[0][0].isdigit()
        assert decoy.family in FAMILIES
        assert all(fold(form) not in text for form in decoy.forms)
        assert (decoy.exact, decoy.needs_anchor) == (facts[index].exact, facts[index].needs_anchor)


BASE = (
    system(),
    user("Please look after the database."),
    agent("The database listens on port 5433."),
    agent(call("c", "bash", '{"command": "cat notes"}')),
    Message("tool", (result("c", "limit 7788 in /srv/app/c.toml, and 314 rows"),)),
    user("Go on."),
    agent("Yes."),
)
FACTS = (fact("number", "5433"), fact("number", "7788"), fact("number", "314", needs_anchor=True))
RISK = AtRisk(BASE, FACTS, matcher_of(FACTS))
MADE = decoys(dict(enumerate(FACTS)), texts_of(BASE))


@pytest.mark.parametrize(
    ("future", "found"),
    [
        ((agent("On 5434 now."),), {0}),
        ((agent(call("d", "bash", '{"command": "psql -p 5434"}')),), {0}),
        ((user("It is 5434."), agent("On 5434 now.")), set()),
        ((Message("tool", (result("d", "5434"),)), agent("5434 and 7789.")), {1}),
        ((agent("315 things"),), set()),
        ((agent("315 rows"),), {2}),
        ((agent("On 5433 now."),), set()),
    ],
    ids=["said", "called", "a person first", "a tool first", "no anchor", "its anchor", "the true value"],
)
def test_a_decoy_looks_needed_as_its_fact_would(future, found):
    assert needed_by(RISK, MADE, future) == found


def test_decoys_needed_counts_by_family_beside_the_facts_that_are():
    future = (agent("On 5434 and 7788 and 7789 now."),)
    assert decoys_needed(RISK, RISK.future(future).uses, future) == [("number", 2, 1)]
    assert by_family(MADE) == [("number", frozenset({0, 1, 2}))]


NEEDING = (agent("On 5433 now, limit 7788."),)


def scores(kept, future=NEEDING):
    case = Case(RISK, RISK.future(future).uses, HandProbes(()), (), METER, future)
    return list(metric.measure(Trial(case, tuple(kept))))


@pytest.mark.parametrize(
    ("kept", "count"),
    [(BASE, 0), ((), 0), ((user("on 5434"),), 1), ((user("5434, 7789"),), 2), ((user("15434"),), 0)],
)
def test_the_metric_counts_the_decoys_that_made_text_holds(kept, count):
    assert scores(kept) == [Score("decoy_kept", count, 2, "number")]


def test_a_case_in_which_nothing_with_a_digit_is_needed_is_not_measured():
    assert scores(BASE, (agent("Done."),)) == []


@pytest.mark.parametrize("spec", ["microcompact(max_result_tokens=100)", "sliding_window", "summary", "key_value"])
@pytest.mark.parametrize("name", runs.SHORT)
def test_on_a_recorded_session_no_strategy_without_a_model_holds_a_decoy(name, spec):
    made = runs.case(name, 0.7)
    result = compact(made.base, spec, target=made.tokens // 5, guard=Guard(made.meter, model=Extractive()))
    found = list(metric.measure(Trial(made, result.messages)))
    assert sum(score.n for score in found) > 5
    assert all(score.value == 0 for score in found)


@given(messages(min_events=2))
def test_deleting_alone_never_keeps_a_decoy(history):
    base = repair(history).messages
    facts = mine(base)
    risk = AtRisk(base, facts, matcher_of(facts))
    case = Case(risk, risk.future(history).uses, HandProbes(()), (), METER, tuple(history))
    for kept in (base, base[::2], ()):
        assert all(score.value == 0 for score in metric.measure(Trial(case, kept)))
