"""Take one fact out of a context, or alter it: its verdict falls, and no other one.

Values overlap (a path stands inside a command), so taking one out may hurt those that it overlaps. What overlaps is
found here by plain search for substrings, so that the package is not asked to judge itself.
"""

import pytest
import runs
from histories import agent, call, messages, result, system, user
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from compactlab.compaction import compact
from compactlab.facts import mine
from compactlab.history import repair
from compactlab.matching import fold
from compactlab.probes.mined import AtRisk, mask, matcher_of
from compactlab.study.evidence.mutation import altered, changed, erased, overlapping, places, plain, said
from compactlab.transcript import Message

CASES = [("primary-move", 0.85), ("subagent-etl", 0.55), ("subconscious-novel", 0.7)]
CONTEXTS = ("none", "microcompact", "sliding_window")


def check(risk, texts, fact, how):
    """Change every place of one fact; it is lost, and of the others at most those that overlap it."""
    before = risk.presence(said(texts)).loose
    both = texts, [fold(text) for text in texts]
    spots = places(risk.facts[fact], both)
    after = risk.presence(said(changed(texts, spots, how))).loose
    assert before >> fact & 1
    assert not after >> fact & 1
    fallen = [other for other in risk.anchors if other != fact and (before ^ after) >> other & 1]
    apart = [other for other in fallen if not overlapping(spots, places(risk.facts[other], both))]
    assert [risk.facts[other] for other in apart] == []
    return fallen


@pytest.mark.parametrize("strategy", CONTEXTS)
@pytest.mark.parametrize(("name", "share"), CASES)
@settings(max_examples=20)
@given(how=st.sampled_from([erased, altered]), data=st.data())
def test_changing_one_fact_of_a_recorded_session_changes_its_verdict_alone(name, share, strategy, how, data):
    risk = runs.case(name, share).risk
    texts = context(name, share, strategy)
    present = risk.presence(said(texts)).loose
    fact = data.draw(st.sampled_from([fact for fact in sorted(risk.anchors) if present >> fact & 1]))
    check(risk, texts, fact, how)


KNOWN = {}


def context(name, share, strategy):
    key = name, share, strategy
    if key not in KNOWN:
        KNOWN[key] = plain(compact(runs.case(name, share).base, strategy).messages)
    return KNOWN[key]


@pytest.mark.parametrize(("name", "share"), CASES)
def test_the_words_of_a_context_hold_what_the_context_holds(name, share):
    made = runs.case(name, share)
    for strategy in CONTEXTS:
        kept = compact(made.base, strategy).messages
        assert made.risk.presence(said(plain(kept))) == made.risk.presence(kept)


@pytest.mark.parametrize(("name", "share"), CASES)
def test_most_facts_of_a_recorded_session_stand_apart_from_all_others(name, share):
    risk = runs.case(name, share).risk
    texts = context(name, share, "none")
    falls = [bool(check(risk, texts, fact, erased)) for fact in sorted(risk.anchors)[::40]]
    assert len(falls) >= 3
    assert sum(falls) <= len(falls) * 0.6


@given(messages(min_events=3), st.sampled_from([erased, altered]), st.data())
def test_changing_one_fact_of_any_history_changes_its_verdict_alone(history, how, data):
    base = repair(history).messages
    facts = mine(base)
    risk = AtRisk(base, facts, matcher_of(facts))
    if risk.anchors:
        check(risk, plain(base), data.draw(st.sampled_from(sorted(risk.anchors))), how)


SENTENCES = (
    "The database listens on port {number}.",
    "Read the limits in /srv/{word}/limits-{number}.toml before you start.",
    "Ticket ABC-{number} waits for review.",
    "The host staging-{word}-{number} is full.",
    "It drew {number}.75 kWh last month.",
    "See https://docs.example.org/{word}/{number} for the table.",
    "Commit {hash} broke the build.",
)


@st.composite
def talks(draw):
    """A conversation of sentences that each hold one fact of their own, told in different blocks."""
    numbers = draw(st.lists(st.integers(21_000, 99_999), min_size=3, max_size=9, unique=True))
    middle = []
    for number in numbers:
        word = draw(st.sampled_from(("orders", "garden", "billing", "north")))
        text = draw(st.sampled_from(SENTENCES)).format(number=number, word=word, hash=f"3f{number}9c1d2e4b5a697")
        kind = draw(st.integers(0, 3))
        step = [agent(call(f"c{number}", "notes", "{}")), Message("tool", (result(f"c{number}", text),))]
        middle += [[user(text)], [agent(text)], step, [user(text, synthetic=True)]][kind]
    return (system(), user("Please help."), *middle, user("Go on."), agent("Yes."))


@given(talks(), st.data())
def test_dropping_the_only_message_of_a_fact_loses_that_fact_alone(history, data):
    base = repair(history).messages
    facts = mine(base)
    risk = AtRisk(base, facts, matcher_of(facts))
    homes = {
        fact: {i for i, message in enumerate(base) if risk.presence([message]).loose >> fact & 1}
        for fact in risk.anchors
    }
    assume(homes)
    fact = data.draw(st.sampled_from(sorted(homes)))
    left = [message for i, message in enumerate(base) if i not in homes[fact]]
    gone = {other for other, own in homes.items() if own <= homes[fact]}
    assert fact in gone
    assert risk.presence(left).loose == mask(risk.anchors.keys() - gone)


@given(talks(), st.data())
def test_a_digit_changed_is_a_fact_lost(history, data):
    base = repair(history).messages
    facts = mine(base)
    risk = AtRisk(base, facts, matcher_of(facts))
    fact = data.draw(st.sampled_from(sorted(risk.anchors)))

    def next_digit(value):
        first = next(i for i, c in enumerate(value) if c.isdigit())
        return f"{value[:first]}{(int(value[first]) + 1) % 10}{value[first + 1 :]}"

    texts = plain(base)
    spots = places(risk.facts[fact], (texts, [fold(text) for text in texts]))
    assert not risk.presence(said(changed(texts, spots, next_digit))).loose >> fact & 1


@pytest.mark.parametrize(("name", "share"), CASES)
@settings(max_examples=15)
@given(data=st.data())
def test_more_of_a_recorded_session_never_scores_lower(name, share, data):
    made = runs.case(name, share)
    picked = data.draw(st.lists(st.booleans(), min_size=len(made.base), max_size=len(made.base)))
    fewer = [message for message, is_in in zip(made.base, picked, strict=True) if is_in]
    more = [*fewer, *data.draw(st.lists(st.sampled_from(made.base), max_size=5))]
    small, large = made.risk.presence(fewer), made.risk.presence(more)
    assert small.loose & ~large.loose == 0
    assert small.bound & ~large.bound == 0
    scores = list(zip(made.hand.verdicts(fewer), made.hand.verdicts(more), strict=True))
    assert all(after in {"kept", "both"} for before, after in scores if before in {"kept", "both"})


@pytest.mark.parametrize(("name", "share"), CASES)
def test_the_whole_history_keeps_every_fact_at_risk_and_the_empty_list_none(name, share):
    made = runs.case(name, share)
    assert len(made.risk.anchors) > 100
    assert made.risk.presence(compact(made.base, "none").messages).loose == mask(made.risk.anchors)
    assert made.risk.presence(()) == (0, 0)
    assert made.risk.presence(made.protected) == (0, 0)


@pytest.mark.study
@pytest.mark.parametrize("how", [erased, altered])
@pytest.mark.parametrize("name", [path.stem for path in runs.TRANSCRIPTS])
def test_changing_any_fact_of_any_recorded_session_changes_its_verdict_alone(name, how):
    risk = runs.case(name, 0.85).risk
    texts = context(name, 0.85, "none")
    for fact in sorted(risk.anchors)[::6]:
        check(risk, texts, fact, how)
