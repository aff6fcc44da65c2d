"""Facts that an agent fetched again: by which calls, and which it then used."""

import json

import pytest
from histories import agent, call, messages, result, system, user
from hypothesis import given
from hypothesis import strategies as st

from compactlab.facts import mine
from compactlab.history import protected, repair
from compactlab.probes.mined import AtRisk, matcher_of
from compactlab.probes.refetched import Held, keys_of, refetched
from compactlab.traffic.artifacts import Paths
from compactlab.transcript import Message, ToolCall

LINE = "the shelf counter is 16047"


def step(name, tool, answer, **arguments):
    return agent(call(name, tool, json.dumps(arguments))), Message("tool", (result(name, answer),))


def told(home, *future):
    """Say by position after the compaction, and by which kind of use, the number came back; None if it did not."""
    before = (system(), user("Count."), *home, user("Well?"), agent("Yes."))
    risk = AtRisk(repair(before).messages, facts := mine((*before, *future)), matcher_of(facts))
    found = refetched(risk, future, Paths((*before, *future)))
    return next(((back.after, back.use) for fact, back in found.items() if facts[fact].value == "16047"), None)


HOME = step("c1", "read", LINE, path="/srv/a.toml")
USE = agent(call("u", "bash", '{"command": "./set --counter 16047"}'))
BULK = agent(call("u", "write", json.dumps({"path": "x.py", "content": "counter = 16047\n" + "# rain\n" * 200})))
AGAIN = [
    (HOME, step("d", "Read", LINE, file_path="/srv/a.toml", offset=3), (1, "")),
    (HOME, step("d", "bash", LINE, command="cd /srv && cat ./a.toml"), (1, "")),
    (HOME, (*step("d", "read", LINE, path="/srv/a.toml"), USE), (1, "action")),
    (HOME, (*step("d", "read", LINE, path="/srv/a.toml"), BULK), (1, "bulk")),
    (HOME, (*step("d", "read", LINE, path="/srv/a.toml"), agent("It was 16047."), USE), (1, "text")),
    (HOME, (*step("d", "read", LINE, path="/srv/a.toml"), *step("e", "bash", LINE, command="./count")), (1, "")),
    (HOME, step("d", "read", LINE, path="/srv/b.toml"), None),
    (HOME, step("d", "edit", LINE, path="/srv/a.toml", old_string="a", new_string="b"), None),
    (HOME, (USE, *step("d", "read", LINE, path="/srv/a.toml")), None),
    (HOME, (user(LINE), *step("d", "read", LINE, path="/srv/a.toml")), None),
    (HOME, (Message("tool", (result("c9", LINE),)),), None),
    (step("c1", "bash", LINE, command="grep -r shelf ."), step("d", "bash", LINE, command="grep  -r shelf ."), (1, "")),
    (step("c1", "grep", LINE, pattern="shelf"), step("d", "grep", LINE, pattern="shelf"), (1, "")),
    (step("c1", "grep", LINE, pattern="shelf"), step("d", "grep", LINE, pattern="ladder"), None),
    (step("c1", "WebFetch", LINE, url="https://a.org/x"), step("d", "WebFetch", LINE, url="https://a.org/x"), (1, "")),
    (step("c1", "WebFetch", LINE, url="https://a.org/x"), step("d", "WebFetch", LINE, url="https://a.org/y"), None),
    (step("c1", "write", "ok", path="/srv/a.toml", content=LINE), step("d", "read", LINE, path="/srv/a.toml"), (1, "")),
    ((user(LINE),), step("d", "read", LINE, path="/srv/a.toml"), None),
    (step("c1", "bash", LINE, command="./count"), step("d", "bash", LINE, command="./count"), None),
]


@pytest.mark.parametrize(("home", "future", "expected"), AGAIN)
def test_a_fact_is_fetched_again_by_a_call_that_only_reads_what_its_home_was_about(home, future, expected):
    assert told(home, *future) == expected


def test_a_short_number_that_comes_back_beside_other_words_is_another():
    home = step("c1", "read", "the shelf counter is 47", path="/srv/a.toml")
    future = step("d", "read", "the rain fell 47 times", path="/srv/a.toml")
    before = (system(), user("Count."), *home, user("Well?"), agent("Yes."))
    risk = AtRisk(repair(before).messages, facts := mine((*before, *future)), matcher_of(facts))
    assert [facts[fact].value for fact in refetched(risk, future, Paths(before))] == []


@pytest.mark.parametrize(
    ("made", "keys"),
    [
        (ToolCall("1", "read", '{"path": "./src/a.py"}'), {("path", "src/a.py")}),
        (ToolCall("1", "fetch", '{"url": "https://a.org"}'), {("address", "https://a.org")}),
        (ToolCall("1", "glob", '{"pattern": "*.py"}'), {("search", 'glob {"pattern": "*.py"}')}),
        (ToolCall("1", "memory", "no json"), set()),
    ],
)
def test_a_call_is_about_what_it_names(made, keys):
    assert keys_of(made, Paths([])) == keys


def test_the_facts_of_the_protected_set_are_those_that_are_never_at_risk():
    before = (system(), user("Part ALPHA-7001 first."), *HOME, agent("The lamp is 17059."))
    before += step("c2", "bash", "the drawer counter shows 18061", command="./count")
    facts = mine(before)
    base = repair(before).messages
    risk, held = (kind(base, facts, matcher_of(facts)) for kind in (AtRisk, Held))
    named = {facts[fact].value for fact in held.anchors}
    assert {"ALPHA-7001", "18061"} <= named
    assert not {"16047", "17059"} & named
    assert held.presence(base[i] for i in protected(base)).loose == sum(1 << fact for fact in held.anchors)
    assert risk.anchors.keys().isdisjoint(held.anchors)
    assert all("drawer" in held.anchors[f] for f in held.anchors if facts[f].value == "18061")


@given(messages(2, 12), st.integers(1, 12))
def test_what_is_fetched_again_was_at_risk_recurs_in_a_result_and_was_not_used_before(talk, cut):
    before, future = talk[:cut], talk[cut:]
    facts = mine(talk)
    risk = AtRisk(repair(before).messages, facts, matcher_of(facts))
    known = risk.future(future)
    for fact, back in refetched(risk, future, Paths(talk)).items():
        assert fact in known.supplied
        assert fact not in known.uses
        hits = {h.pattern for block in future[back.after].results for h in risk.matcher.block(block)}
        assert fact in hits
