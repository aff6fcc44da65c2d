"""Distortion: values that made text invents, and facts that it changed, on cases small enough to be counted by hand."""

import time
from itertools import zip_longest

import pytest
import runs
from histories import agent, call, messages, result, system, user
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from compactlab.compaction import Guard, compact
from compactlab.controls import bag
from compactlab.facts import mine
from compactlab.harness import DEFAULT_STRATEGIES
from compactlab.history import repair
from compactlab.llm.extractive import Extractive
from compactlab.matching import fold
from compactlab.metrics import Case, Score, Trial
from compactlab.metrics.distortion import fabricated, measure, mutated
from compactlab.probes.decoys import decoys, texts_of
from compactlab.probes.hand import HandProbes
from compactlab.probes.mined import AtRisk, matcher_of
from compactlab.strategies import note
from compactlab.tokens import Meter
from compactlab.transcript import Message, Text

METER = Meter("chars/4")
SAID = (
    "The database listens on port 5433.",
    "The meters counted 30717.807 kWh last winter.",
    "The refunds are handled in src/orders/refunds.py today.",
    "The replica staging-01 lags; the replica staging-02 leads.",
    "The nightly backup takes 120 minutes.",
    "The contract ends on 2026-03-14.",
)
BASE = (system(), user("Hello."), *map(agent, SAID), user("Go on."), agent("Yes."))


def case(base=BASE):
    facts = mine(base)
    return Case(AtRisk(base, facts, matcher_of(facts)), {}, HandProbes(()), (), METER)


def trial(text, base=BASE, *more):
    """Only the protected set and a note are left, and what *more* names."""
    made = case(base)
    return Trial(made, (*made.protected[:2], note(text), *more, *made.protected[2:]))


def changed(text, base=BASE, *more):
    one = trial(text, base, *more)
    return sorted(one.case.risk.facts[index].value for index in mutated(one))


CASES = [
    ("nothing", "The rest was talk.", [], []),
    ("all as it was", "\n".join(SAID), [], []),
    ("a digit", "The database listens on port 5434.", ["5434"], ["5433"]),
    ("two digits transposed", "The database listens on port 4533.", ["4533"], ["5433"]),
    ("without its words", "5434", ["5434"], []),
    ("with other words", "A ticket 5434 was opened by Ansel.", ["5434"], []),
    ("rounded", "The meters counted 30,718 kWh.", ["30718 kWh"], ["30717.807 kWh"]),
    ("rounded and scaled", "The meters counted about 30.7 thousand last winter.", ["30.7"], ["30717.807 kWh"]),
    ("another folder", "The refunds are handled in src/billing/refunds.py today.", ["src/billing/refunds.py"],
     ["src/orders/refunds.py"]),
    ("another ending", "The refunds are handled in src/orders/refunds.toml today.", ["src/orders/refunds.toml"],
     ["src/orders/refunds.py"]),
    ("another number of the unit", "The nightly backup takes 95 minutes.", ["95 minutes"], ["120 minutes"]),
    ("the unit, and only one word", "A long backup run of 95 minutes.", ["95 minutes"], []),
    ("another day", "The contract ends on 2026-03-19.", ["2026-03-19"], ["2026-03-14"]),
    ("a remark with a number", "[5434 messages about the database port were removed]", [], []),
    ("a near duplicate, the other one", "The replica staging-02 lags.", [], []),
    ("a third near duplicate", "The replica staging-03 lags.", ["staging-03"], ["staging-01"]),
]  # fmt: skip


@pytest.mark.parametrize(("text", "invented", "lost"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_what_a_note_invents_and_which_fact_it_changed(text, invented, lost):
    assert list(fabricated(trial(text))) == invented
    assert changed(text) == lost


def test_a_fact_that_still_stands_somewhere_is_not_mutated():
    text = "The database listens on port 5434."
    assert changed(text) == ["5433"]
    assert changed(text, BASE, user("By the way: 5433.")) == []


def test_an_invented_value_speaks_of_one_fact_only_the_likeliest():
    said = (agent("The replica staging-01 lags behind."), agent("The replica staging-21 runs."))
    base = (*BASE[:2], *said, *BASE[-2:])
    assert changed("The replica staging-31 lags behind.", base) == ["staging-01"]
    assert changed("The replica staging-31 runs.", base) == ["staging-21"]


def test_a_result_that_was_shortened_in_a_value_is_no_distortion():
    body = "\n".join(f"worker {i} wrote 48{i:04d} rows into table_{i:04d}" for i in range(300))
    calls = [(agent(call(f"d{i}", "bash")), Message("tool", (result(f"d{i}"),))) for i in range(6)]
    giant = (agent(call("c", "bash")), Message("tool", (result("c", body),)))
    base = (*BASE[:2], *giant, *(message for pair in calls for message in pair), *BASE[-2:])
    for tokens in range(100, 140):
        left = compact(base, f"microcompact(keep_recent=9, max_result_tokens={tokens})")
        assert left.receipt.outcome == "applied"
        one = Trial(case(base), left.messages)
        assert fabricated(one) == {}
        assert mutated(one) == frozenset()


def test_a_placeholder_that_the_history_speaks_of_is_no_claim():
    base = (*BASE[:2], agent("The placeholder [12345 rows removed] hides table_orders."), *BASE[2:])
    assert fabricated(trial("[98765 rows removed]\n[12345 rows removed]", base)) == {}


def test_scores_are_counts_of_the_values_in_made_text_and_of_the_facts_at_risk():
    one = trial("The database listens on port 5434.\nThe contract ends on 2026-03-14.")
    found = list(measure(one))
    assert [s for s in found if s.metric == "fabricated"] == [
        Score("fabricated", 0, 1, "date"),
        Score("fabricated", 1, 1, "number"),
    ]
    sizes = {s.family: (s.value, s.n) for s in found if s.metric == "mutated"}
    assert sizes["number"][0] == 1
    assert sizes["date"] == (0, 1)
    at_risk = [one.case.risk.facts[index].family for index in one.case.risk.anchors]
    assert all(n == at_risk.count(family) for family, (_, n) in sizes.items())


def test_a_strategy_that_made_no_text_is_not_measured():
    assert list(measure(Trial(case(), BASE))) == []
    assert list(measure(Trial(case(), BASE[:2]))) == []


@pytest.mark.parametrize("spec", [s for s in DEFAULT_STRATEGIES if s != "none"])
@pytest.mark.parametrize("name", runs.SHORT)
def test_on_a_recorded_session_no_strategy_without_a_model_invents_or_changes_anything(name, spec):
    made = runs.case(name, 0.7)
    for target in (None, made.tokens // 5):
        result = compact(made.base, spec, target=target, guard=Guard(made.meter, model=Extractive()))
        one = Trial(made, result.messages)
        assert fabricated(one) == {}
        assert mutated(one) == frozenset()
    assert fabricated(Trial(made, bag.build(made))) == {}


def with_a_digit_changed(made, messages):
    """Give the index of each fact that stands bound in made text alone, and the messages with its decoy instead."""
    facts, risk = made.risk.facts, made.risk
    own = risk.presence(m for m in messages if all(b in made.own for b in m.blocks)).loose
    noted = risk.presence([Message("user", Trial(made, messages).made)]).bound
    for index, decoy in decoys({i: facts[i] for i in risk.anchors}, texts_of((*made.base, *made.future))).items():
        if noted >> index & 1 and not own >> index & 1 and facts[index].family != "date":
            swapped = [tuple(swap(b, facts[index].value, decoy.value, made.own) for b in m.blocks) for m in messages]
            yield index, tuple(replace(m, blocks=blocks) for m, blocks in zip(messages, swapped, strict=True))


def swap(block, value, other, own):
    return block if block in own or not isinstance(block, Text) else Text(block.text.replace(value, other))


@pytest.mark.parametrize("spec", ["summary", "sliding_reflect", "key_value"])
def test_most_digits_changed_in_a_note_of_a_recorded_session_are_found(spec):
    made = runs.case("subagent-orders", 0.7)
    result = compact(made.base, spec, guard=Guard(made.meter, model=Extractive()))
    tried = found = 0
    for index, altered in with_a_digit_changed(made, result.messages):
        one = Trial(made, altered)
        if not one.presence.loose >> index & 1:
            tried += 1
            found += index in mutated(one)
    assert tried >= 10
    assert found >= 0.9 * tried


@given(messages(min_events=2))
def test_an_untouched_history_invents_and_changes_nothing(history):
    base = repair(history).messages
    for kept in (base, base[::2], ()):
        assert fabricated(Trial(case(base), kept)) == {}
        assert mutated(Trial(case(base), kept)) == frozenset()


WORDS = st.sampled_from("port limit quota ledger engine harbour garden meadow".split())
NUMBERS = st.lists(st.integers(10_000, 99_999), min_size=3, max_size=6, unique=True)


def sentences(words, numbers):
    return [
        f"The {word}{i} {word} of the {word} keeps {n} there."
        for i, (word, n) in enumerate(zip(words, numbers, strict=False))
    ]


def differ(one, other):
    """In how many digits two numbers differ."""
    return sum(a != b for a, b in zip_longest(str(one), str(other)))


@st.composite
def told(draw):
    """Draw sentences with a number each, no two numbers or their successors alike, and a history that says them."""
    numbers = draw(NUMBERS.filter(lambda ns: all(differ(x + i, y + j) > 3 for x in ns for y in ns if x < y
                                                 for i in (0, 1) for j in (0, 1))))  # fmt: skip
    words = draw(st.lists(WORDS, min_size=len(numbers), max_size=len(numbers), unique=True))
    said = sentences(words, numbers)
    return said, (system(), user("Hello."), *map(agent, said), user("Go on."), agent("Yes.")), numbers


def is_mined(number):
    """False for what the miner takes for round or made up, such as 10000 and 12345."""
    return any(fact.value == str(number) for fact in mine([user(f"The port keeps {number} there.")]))


@given(told(), st.data())
def test_changing_one_digit_of_one_kept_fact_mutates_exactly_that_fact(drawn, data):
    said, base, numbers = drawn
    at = data.draw(st.integers(0, len(said) - 1))
    place = data.draw(st.integers(1, 4))
    value = str(numbers[at])
    other = value[:place] + str((int(value[place]) + 1 + data.draw(st.integers(0, 8))) % 10) + value[place + 1 :]
    text = "\n".join(line.replace(value, other) for line in said)
    assume(is_mined(value) and is_mined(other))
    assert changed("\n".join(said), base) == []
    assert changed(text, base) == [value]
    assert changed(text, base, agent(said[at])) == []


@settings(max_examples=40)
@given(told(), st.data())
def test_a_superset_never_changes_more(drawn, data):
    said, base, numbers = drawn
    text = "\n".join(line.replace(str(n), str(n + 1)) for line, n in zip(said, numbers, strict=True))
    assume(all(is_mined(n) and is_mined(n + 1) for n in numbers))
    more = data.draw(st.lists(st.sampled_from(base), max_size=4))
    small, large = trial(text, base), trial(text, base, *more)
    assert mutated(large) <= mutated(small)
    assert fabricated(large) == fabricated(small)
    assert len(mutated(small)) == len({n for n in numbers if n + 1 not in numbers})


def test_a_family_of_prose_is_not_judged():
    base = (*BASE[:2], agent("Ansel lives at Hollin End since the spring."), *BASE[2:])
    one = trial("Ansel lives at Marlow Street since the spring.", base)
    assert {fact.family for fact in one.case.risk.facts} > {"name"}
    assert fabricated(one) == {}
    assert "name" not in {score.family for score in measure(one)}
    assert fold("Marlow") not in fold("".join(SAID))


def test_many_trials_of_a_recorded_session_take_little_time():
    made = runs.case("subagent-etl", 0.7)
    trials = []
    for share in (0.1, 0.2, 0.3):
        for spec in ("summary", "sliding_reflect", "key_value", "microcompact", "sliding_window"):
            result = compact(
                made.base, spec, target=int(made.tokens * share), guard=Guard(made.meter, model=Extractive())
            )
            trials.append(Trial(made, result.messages))
            assert trials[-1].presence
    list(measure(trials[0]))
    start = time.perf_counter()
    for one in trials:
        list(measure(one))
    assert time.perf_counter() - start < 0.05 * len(trials)
