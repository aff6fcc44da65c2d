"""Which facts are at risk at a cut, which the agent needed, and which stand in a list of messages."""

import pytest
from histories import agent, answering, call, calling, messages, result, system, user
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from compactlab.facts import Fact, mine
from compactlab.history import repair
from compactlab.probes.mined import SHORT_CALL, AtRisk, Presence, Use, mask, matcher_of
from compactlab.transcript import Message, Reasoning, Text

PORT = Fact("number", "5433", ("5433",))
PATH = Fact("path", "/srv/app/config.toml", ("/srv/app/config.toml", "config.toml"))
TICKET = Fact("identifier", "ETL-727", ("ETL-727",))
PERSON = Fact("name", "Ansel", ("Ansel",), exact=False)
SMALL = Fact("number", "41", ("41",), needs_anchor=True)
FACTS = (PORT, PATH, TICKET, PERSON, SMALL)
EVERY_VALUE = {fact.value for fact in FACTS}

OPENING = (system(), user("Please look after the database."))
CLOSING = (user("Go on, then."), agent("I will."))


def shell(call_id, command):
    return call(call_id, "bash", f'{{"command": "{command}"}}')


def answer(call_id, text):
    return Message("tool", (result(call_id, text),))


def at_risk(*middle, excluded=()):
    base = repair((*OPENING, *middle, *CLOSING)).messages
    return AtRisk(base, FACTS, matcher_of(FACTS), frozenset(FACTS.index(fact) for fact in excluded))


def named(risk):
    return {risk.facts[index].value for index in risk.anchors}


MIDDLE = (
    agent("The database listens on port 5433."),
    user("Good. Ansel wants ticket ETL-727 closed."),
    agent(shell("c1", "cat /srv/app/config.toml")),
    answer("c1", "retries allowed: 41"),
)

AT_RISK = [
    ("all that stands in the middle", MIDDLE, (), EVERY_VALUE),
    ("nothing where nothing was said", (agent("Well."),), (), set()),
    ("not what is left out", MIDDLE, (PORT, SMALL), {"/srv/app/config.toml", "ETL-727", "Ansel"}),
    ("not what a pinned message says too", (*MIDDLE, user("It is 5433.", pinned=True)), (), EVERY_VALUE - {"5433"}),
    ("not what a system message says too", (*MIDDLE, system("Ansel asks.")), (), EVERY_VALUE - {"Ansel"}),
    ("what a synthetic system message says", (system("Ansel left.", synthetic=True),), (), {"Ansel"}),
    ("what a note says", (user("[Summary] port 5433", synthetic=True),), (), {"5433"}),
    ("what reasoning says", (agent(Reasoning("ETL-727 is the ticket"), "Well."),), (), {"ETL-727"}),
    ("what only a short form says", (agent("It is in config.toml."),), (), {"/srv/app/config.toml"}),
    ("not what only a near value says", (agent("It is 5434, ETL-7271, /srv/app/config.tomlx, 4.41."),), (), set()),
]


@pytest.mark.parametrize(
    ("middle", "excluded", "expected"), [case[1:] for case in AT_RISK], ids=[case[0] for case in AT_RISK]
)
def test_at_risk_is_what_stands_before_the_cut_and_not_in_the_protected_set(middle, excluded, expected):
    assert named(at_risk(*middle, excluded=excluded)) == expected


@pytest.mark.parametrize(
    "held",
    [
        (system("Port 5433."), user(), agent("The port is 5433."), user("On."), agent("Yes.")),
        (system(), user("Port 5433."), agent("The port is 5433."), user("On."), agent("Yes.")),
        (system(), user(), agent("The port is 5433."), user("Port 5433."), agent("Yes.")),
        (system(), user(), agent("The port is 5433."), user("On."), agent("Port 5433.")),
        (system(), user(), agent("The port is 5433."), user("On."), calling("c1"), answer("c1", "port 5433")),
        (system(), user(), agent("The port is 5433."), user("On."), agent("Yes."), user("Port 5433", synthetic=True)),
    ],
    ids=["leading system", "first request", "last words of a person", "last step", "its result", "what followed it"],
)
def test_a_fact_that_the_protected_set_holds_is_never_at_risk(held):
    assert AtRisk(held, FACTS, matcher_of(FACTS)).anchors == {}


def test_anchors_are_gathered_from_all_homes():
    risk = at_risk(agent("The database port is 5433."), user("Is 5433 the replica?"))
    assert risk.anchors == {0: {"database", "port", "replica"}}


CUT = (
    agent("The database listens on port 5433."),
    user("Ansel wants ticket ETL-727 closed."),
    agent("There are 41 retries allowed; see /srv/app/config.toml."),
)
LONG = "x" * SHORT_CALL
FUTURES = [
    ("nothing follows", (), {}, set()),
    ("in a short call", (agent(shell("f", "psql -p 5433")),), {"5433": Use("action", 0)}, set()),
    ("in a call of 799 characters", (agent(call("f", "w", "5433 " + LONG[:794])),), {"5433": Use("action", 0)}, set()),
    ("in a call of 800 characters", (agent(call("f", "w", "5433 " + LONG[:795])),), {"5433": Use("bulk", 0)}, set()),
    ("in words", (agent("It is 5433."),), {"5433": Use("text", 0)}, set()),
    ("in reasoning", (agent(Reasoning("5433, then"), "Well."),), {"5433": Use("text", 0)}, set()),
    ("later", (agent("Well."), user("Yes?"), agent("5433.")), {"5433": Use("text", 2)}, set()),
    (
        "the first use alone",
        (agent("5433."), agent(shell("f", "psql -p 5433")), agent("5433")),
        {"5433": Use("text", 0)},
        set(),
    ),
    ("words before the call", (agent("5433.", shell("f", "psql -p 5433")),), {"5433": Use("text", 0)}, set()),
    ("the call before words", (agent(shell("f", "psql -p 5433"), "5433."),), {"5433": Use("action", 0)}, set()),
    ("a person says it first", (user("5433!"), agent("5433.")), {}, {"5433"}),
    ("a tool says it first", (agent(shell("f", "ls")), answer("f", "5433"), agent("5433.")), {}, {"5433"}),
    ("a tool says it later", (agent(call("f", "w", "5433")), answer("f", "5433")), {"5433": Use("action", 0)}, set()),
    ("a system message says it first", (system("5433"), agent("5433.")), {}, {"5433"}),
    ("a note says it first", (user("[Summary] 5433", synthetic=True), agent("5433.")), {}, {"5433"}),
    (
        "a result inside the same message first",
        (agent(shell("f", "ls"), result("f", "port 5433"), "5433."),),
        {},
        {"5433"},
    ),
    (
        "a call inside the same message first",
        (agent(shell("f", "psql -p 5433"), result("f", "5433")),),
        {"5433": Use("action", 0)},
        set(),
    ),
    ("a near value", (agent("It is 54331."), agent("15433 or 5.433")), {}, set()),
    ("another form of it", (agent(shell("f", "cat config.toml")),), {"/srv/app/config.toml": Use("action", 0)}, set()),
    ("in another case", (agent("ansel said so, etl-727"),), {"Ansel": Use("text", 0)}, set()),
    ("a small number without its word", (agent("It took 41 minutes."),), {}, set()),
    ("a small number with its word", (agent("So 41 retries."),), {"41": Use("text", 0)}, set()),
    ("a small number, first without", (agent("41 minutes."), agent("41 retries.")), {"41": Use("text", 1)}, set()),
    ("a person's small number without", (user("I am 41."), agent("41 retries.")), {"41": Use("text", 1)}, set()),
    ("a person's small number with", (user("41 retries?"), agent("41 retries.")), {}, {"41"}),
    (
        "several facts",
        (agent("ETL-727 for Ansel:", shell("f", "psql -p 5433")), user("See /srv/app/config.toml")),
        {"ETL-727": Use("text", 0), "Ansel": Use("text", 0), "5433": Use("action", 0)},
        {"/srv/app/config.toml"},
    ),
]


@pytest.mark.parametrize(
    ("future", "uses", "supplied"), [case[1:] for case in FUTURES], ids=[case[0] for case in FUTURES]
)
def test_needed_is_what_the_agent_uses_first_and_no_one_supplies_again_before(future, uses, supplied):
    risk = at_risk(*CUT)
    found = risk.future(future)
    assert {risk.facts[index].value: use for index, use in found.uses.items()} == uses
    assert {risk.facts[index].value for index in found.supplied} == supplied


def test_what_was_not_at_risk_is_neither_needed_nor_supplied():
    risk = at_risk(*CUT, excluded=(PORT,))
    assert risk.future([agent("5433"), user("5433")]) == ({}, frozenset())


HOMES = [
    ("a person's words", (user("The port is 5433."), agent("Well.")), "irrecoverable"),
    ("the agent's words", (agent("The port is 5433."),), "irrecoverable"),
    ("the agent's own call", (agent(shell("c", "psql -p 5433")), answer("c", "ok")), "irrecoverable"),
    ("a reading call", (agent(shell("c", "cat notes")), answer("c", "port 5433")), "reobtainable"),
    ("a reading tool", (agent(call("c", "Read", '{"path": "notes"}')), answer("c", "port 5433")), "reobtainable"),
    ("one-off output", (agent(shell("c", "pytest -q")), answer("c", "port 5433")), "irrecoverable"),
    ("output of a call that writes", (agent(shell("c", "cat a > b")), answer("c", "port 5433")), "irrecoverable"),
    ("two homes", (user("Port 5433."), agent(shell("c", "cat notes")), answer("c", "port 5433")), "reobtainable"),
    (
        "a reading call beside a test run",
        (agent(shell("c", "pytest"), shell("d", "cat notes")), answer("d", "fine"), answer("c", "port 5433")),
        "irrecoverable",
    ),
    (
        "the arguments of a reading call alone",
        (agent(shell("c", "grep -r 5433 src")), answer("c", "no match")),
        "irrecoverable",
    ),
]


@pytest.mark.parametrize(("middle", "expected"), [case[1:] for case in HOMES], ids=[case[0] for case in HOMES])
def test_a_home_is_reobtainable_only_in_the_result_of_a_call_that_reads(middle, expected):
    risk = at_risk(*middle)
    assert risk.anchors.keys() == {0}
    assert risk.home(0) == expected


def test_a_result_inside_a_whole_turn_is_a_home_like_any_other():
    risk = at_risk(agent(shell("c", "cat notes"), result("c", "port 5433"), "So it is."))
    assert risk.home(0) == "reobtainable"


def test_a_fact_of_a_call_and_its_result_is_one_fact_with_two_homes():
    risk = at_risk(agent(shell("c", "psql --port 5433")), answer("c", "listening on 5433"))
    assert risk.anchors == {0: {"bash", "command", "psql", "port", "listening"}}


def test_a_fact_at_risk_that_only_a_result_holds_goes_with_the_result():
    risk = at_risk(agent(shell("c", "cat notes")), answer("c", "database port 5433"))
    cleared = [replace(m, blocks=(result("c", "[cleared]"),)) if m.results else m for m in risk.base]
    assert risk.presence(risk.base) == Presence(1, 1)
    assert risk.presence(cleared) == Presence(0, 0)


PRESENT = [
    ("its own home", agent("The database listens on port 5433."), True, True),
    ("a word of its home", user("port 5433"), True, True),
    ("in another case", user("DATABASE 5433"), True, True),
    ("another word", user("number 5433"), True, False),
    ("bare", user("5433"), True, False),
    ("a near value", user("port 54330"), False, False),
    ("eight words away", user(f"port {'of ' * 7}5433"), True, True),
    ("nine words away", user(f"port {'of ' * 8}5433"), True, False),
    ("the word in another block", agent("port", "5433"), True, False),
    ("among bare values", user("5433\nETL-727\nconfig.toml"), True, False),
    ("in a call", agent(call("x", "bash", '{"port": 5433}')), True, True),
    ("in a result", Message("tool", (result("x", "database on 5433"),)), True, True),
    ("nowhere", user("port"), False, False),
]


@pytest.mark.parametrize(
    ("message", "loose", "bound"), [case[1:] for case in PRESENT], ids=[case[0] for case in PRESENT]
)
def test_a_value_is_bound_by_a_word_of_a_home_of_its_own(message, loose, bound):
    risk = at_risk(agent("The database listens on port 5433."))
    assert risk.presence([message]) == Presence(int(loose), int(bound))


def test_a_word_of_another_facts_home_binds_nothing():
    risk = at_risk(agent("The database listens on port 5433."), agent("Ticket ETL-727 waits."))
    assert risk.presence([user("ticket 5433"), user("port ETL-727")]) == Presence(0b101, 0)


def test_a_name_that_is_itself_a_fact_binds_no_other():
    risk = at_risk(agent("Ansel 5433"))
    assert risk.anchors[0] == set()
    assert risk.presence(risk.base) == Presence(0b1001, 0)


def test_presences_join_bit_by_bit():
    assert Presence(0b01, 0b00) | Presence(0b10, 0b10) == Presence(0b11, 0b10)


@pytest.mark.parametrize(("facts", "expected"), [((), 0), ((0,), 1), ((0, 3), 9), ((3, 3, 0), 9), ((70,), 1 << 70)])
def test_a_mask_has_a_bit_a_fact(facts, expected):
    assert mask(facts) == expected


def risk_of(history):
    base = repair(history).messages
    facts = mine(base)
    return AtRisk(base, facts, matcher_of(facts))


@given(messages(min_events=2))
def test_everything_at_risk_stands_in_the_whole_history_and_nothing_in_the_protected_set(history):
    risk = risk_of(history)
    whole = risk.presence(risk.base)
    assert whole.loose == mask(risk.anchors)
    assert whole.bound == mask(fact for fact, near in risk.anchors.items() if near)
    assert risk.presence(()) == Presence(0, 0)


@given(messages(min_events=2), st.data())
def test_more_messages_never_hold_less(history, data):
    risk = risk_of(history)
    more = data.draw(st.lists(st.sampled_from(risk.base or (user(),)), unique_by=id))
    fewer = data.draw(st.lists(st.sampled_from(more), unique_by=id)) if more else []
    large, small = risk.presence(more), risk.presence(fewer)
    assert small.loose & ~large.loose == 0
    assert small.bound & ~large.bound == 0
    assert large.bound & ~large.loose == 0


@given(messages(min_events=2), st.data())
def test_needed_and_supplied_again_are_apart_and_were_at_risk(history, data):
    cut = data.draw(st.integers(0, len(history)))
    base = repair(history[:cut]).messages
    facts = mine(history)
    risk = AtRisk(base, facts, matcher_of(facts))
    found = risk.future(history[cut:])
    assert found.supplied.isdisjoint(found.uses)
    assert {*found.uses, *found.supplied} <= risk.anchors.keys()
    assert all(use.after < len(history) - cut for use in found.uses.values())


@given(messages(min_events=2))
def test_a_home_counts_the_same_in_both_storage_shapes(history):
    risk = risk_of(history)
    again = risk_of(risk.base)
    assert risk.anchors == again.anchors
    assert risk.reobtainable == again.reobtainable <= risk.anchors.keys()


def test_unanswered_calls_and_lone_results_are_no_obstacle():
    base = repair((*OPENING, calling("a", "b"), answering("b"), answering("z"), user("port 5433"), *CLOSING)).messages
    risk = AtRisk(base, FACTS, matcher_of(FACTS))
    assert risk.anchors == {0: {"port"}}


def test_the_same_words_twice_are_read_once_and_count_alike():
    risk = at_risk(user("port 5433"), user("port 5433"))
    assert risk.presence([Message("user", (Text("port 5433"),))]) == risk.presence(risk.base)


def test_the_number_that_a_marker_counts_is_no_number_of_the_history():
    base = (user("Go."), agent("The log has 12904 characters, the middle of it was cut."), user("Go on."), agent())
    facts = mine(base)
    risk = AtRisk(base, facts, matcher_of(facts))
    [index] = [i for i in risk.anchors if facts[i].value.startswith("12904")]
    marked = user("[… 12,904 characters, the middle cut …]\nThe log was long, its characters many.")
    assert not risk.presence([marked]).loose >> index & 1
    assert risk.presence([user("The log has 12,904 characters.")]).bound >> index & 1
