"""What each metric measures, on cases small enough to be counted by hand."""

import importlib
from itertools import pairwise

import pytest
import runs
from histories import agent, answering, call, calling, messages, result, system, user
from hypothesis import given

from compactlab import catalog, metrics
from compactlab.compaction import compact
from compactlab.facts import Fact, mine
from compactlab.history import protected, repair
from compactlab.metrics import Case, Score, Trial
from compactlab.metrics.position import standing
from compactlab.probes.hand import HandProbes, Probe
from compactlab.probes.mined import AtRisk, Use, matcher_of
from compactlab.tokens import Meter
from compactlab.transcript import Message

METER = Meter("chars/4")
FACTS = (
    Fact("number", "5433", ("5433",)),
    Fact("number", "7788", ("7788",)),
    Fact("path", "/srv/app/config.toml", ("/srv/app/config.toml",)),
    Fact("name", "Ansel", ("Ansel",), exact=False),
)
PROBES = (
    Probe("a", "Which port has the database?", "5433", (2,), 2),
    Probe("b", "Where does Ansel live?", "Hollin End", (3,), 3, kind="thread", superseded=("Marlow Street",)),
    Probe("c", "Where is the shop?", "Marlow Street", (3,), 3, kind="thread"),
    Probe("d", "What comes last?", "nothing at all", (99,), 99),
)
BASE = (
    system(source=0),
    user("Please look after the database.", source=1),
    agent("The database listens on port 5433.", source=2),
    user("Ansel moved from Marlow Street to Hollin End.", source=3),
    agent(call("c", "bash", '{"command": "cat notes"}'), source=4),
    Message("tool", (result("c", "limit 7788 in /srv/app/config.toml"),), source=5),
    user("Go on.", source=6),
    agent("Yes.", source=7),
)
FUTURE = (agent(call("f", "bash", '{"command": "psql -p 5433"}')), agent("In /srv/app/config.toml the limit is 7788."))


def case(base=BASE, facts=FACTS):
    risk = AtRisk(base, facts, matcher_of(facts))
    hand = HandProbes(PROBES)
    return Case(risk, risk.future(FUTURE).uses, hand, hand.admitted(7, ()), METER)


def measured(family, kept, base=BASE, receipt=None):
    module = importlib.import_module(f"compactlab.metrics.{family}")
    return list(module.measure(Trial(case(base), tuple(kept), receipt)))


WITHOUT_RESULT = tuple(message for i, message in enumerate(BASE) if i not in {4, 5})
BARE = (*BASE[:2], user("5433\n7788\n/srv/app/config.toml\nAnsel"), *BASE[6:])
EMPTY = (*BASE[:2], *BASE[6:])


@pytest.mark.parametrize(
    ("kept", "loose", "bound"),
    [
        (BASE, (1, 1, 1, 1), (1, 1, 1, 1)),
        (WITHOUT_RESULT, (1, 0, 1, 0), (1, 0, 1, 0)),
        (BARE, (1, 1, 1, 1), (0, 0, 0, 0)),
        (EMPTY, (0, 0, 0, 0), (0, 0, 0, 0)),
        ((), (0, 0, 0, 0), (0, 0, 0, 0)),
    ],
    ids=["all", "without the result", "bare values", "the protected set", "nothing"],
)
def test_retention_counts_the_facts_at_risk_by_family_and_home(kept, loose, bound):
    groups = [
        ("name", "irrecoverable"),
        ("number", "irrecoverable"),
        ("number", "reobtainable"),
        ("path", "reobtainable"),
    ]
    order = [2, 0, 1, 3]  # the tables above give: number said, number read, name, path
    assert measured("retention", kept) == [
        Score(metric, values[at], 1, family, home=home)
        for at, (family, home) in zip(order, groups, strict=True)
        for metric, values in (("retention_loose", loose), ("retention_bound", bound))
    ]


@pytest.mark.parametrize(
    ("kept", "loose", "bound"),
    [(BASE, (1, 1, 1), (1, 1, 1)), (WITHOUT_RESULT, (1, 0, 0), (1, 0, 0)), (BARE, (1, 1, 1), (0, 0, 0))],
    ids=["all", "without the result", "bare values"],
)
def test_load_bearing_counts_the_needed_facts_by_family_use_and_home(kept, loose, bound):
    assert case().needed == {0: Use("action", 0), 1: Use("text", 1), 2: Use("text", 1)}
    groups = [
        ("number", "action", "irrecoverable"),
        ("number", "text", "reobtainable"),
        ("path", "text", "reobtainable"),
    ]
    assert measured("load_bearing", kept) == [
        Score(metric, values[at], 1, *group)
        for at, group in enumerate(groups)
        for metric, values in (("needed_loose", loose), ("needed_bound", bound))
    ]


@pytest.mark.parametrize(
    ("kept", "recall", "thread"),
    [
        (BASE, "kept", ["both", "kept"]),
        (EMPTY, "lost", ["lost", "lost"]),
        ((user("Ansel left Marlow Street"),), "lost", ["stale", "lost"]),
        ((user("database 5433; Ansel: Hollin End; shop: Marlow Street"),), "kept", ["both", "kept"]),
    ],
)
def test_hand_made_counts_one_verdict_a_probe_by_kind(kept, recall, thread):
    assert case().asked == (0, 1, 2)
    assert measured("hand_made", kept) == [
        Score(f"probe_{verdict}", found.count(verdict), len(found), kind)
        for kind, found in (("recall", [recall]), ("thread", thread))
        for verdict in ("kept", "both", "stale", "lost")
    ]


def test_tokens_are_weighed_by_the_meter_of_the_case():
    before, after = METER.messages(BASE), METER.messages(EMPTY)
    assert before > after > 0
    assert measured("tokens", EMPTY) == [Score("tokens_before", before), Score("tokens_after", after)]
    assert measured("tokens", ())[1] == Score("tokens_after", 0)


PAIRED = (user(), calling("a", "b"), answering("a"), answering("b"), agent())
OPEN = (user(), calling("a"), agent(), user())
STRUCTURES = [
    ("all kept", PAIRED, PAIRED, 1, 0),
    ("the unit gone", PAIRED, (PAIRED[0], PAIRED[4]), 1, 0),
    ("a result gone", PAIRED, PAIRED[:3] + PAIRED[4:], 0, 1),
    ("both results gone", PAIRED, PAIRED[:2] + PAIRED[4:], 0, 2),
    ("the calls gone", PAIRED, PAIRED[:1] + PAIRED[2:], 0, 2),
    ("nothing left", PAIRED, (), 0, 0),
    ("the agent first", PAIRED, PAIRED[4:], 0, 0),
    ("a fault that the input had", OPEN, OPEN, 1, 0),
    ("a fault that the input had, and a new one", OPEN, (*OPEN, answering("z")), 0, 0),
]


@pytest.mark.parametrize(
    ("before", "after", "valid", "parted"), [case[1:] for case in STRUCTURES], ids=[case[0] for case in STRUCTURES]
)
def test_structure_tells_new_faults_from_those_of_the_input(before, after, valid, parted):
    receipt = compact(before, "none").receipt
    assert measured("structure", after, before, receipt) == [Score("valid", valid), Score("parted", parted)]


def test_the_structure_of_a_control_is_not_measured():
    assert measured("structure", PAIRED[:3], PAIRED) == []


def test_a_case_protects_what_no_strategy_may_touch_pins_left_out():
    pinned = user("Keep this.", pinned=True)
    made = case((*BASE[:3], pinned, *BASE[3:]))
    assert made.protected == (BASE[0], BASE[1], BASE[6], BASE[7])
    assert pinned not in made.protected
    assert 3 in protected(made.base)


@pytest.mark.parametrize("name", catalog.names("metrics"))
def test_a_metric_says_what_it_is_and_measures_nothing_where_there_is_nothing(name):
    module = importlib.import_module(f"compactlab.metrics.{name}")
    assert module.__doc__.count("\n") > 2
    nothing = AtRisk((), (), matcher_of(()))
    trial = Trial(Case(nothing, {}, HandProbes(()), (), METER), ())
    scores = list(module.measure(trial)) if hasattr(module, "measure") else []
    assert all(score.metric in {"tokens_before", "tokens_after"} for score in scores)


def test_metrics_were_found():
    assert {"retention", "load_bearing", "hand_made", "structure", "tokens"} <= set(catalog.names("metrics"))


SHARES = {"retention_loose", "retention_bound", "needed_loose", "needed_bound"}


@pytest.mark.parametrize("share", [0.4, 0.85])
@pytest.mark.parametrize("name", runs.SHORT)
def test_on_a_recorded_session_the_whole_keeps_all_and_nothing_keeps_none(name, share):
    made = runs.case(name, share)
    whole, empty = (list(metrics.measure(Trial(made, kept))) for kept in (made.base, ()))
    loose = [score for score in whole if score.metric in {"retention_loose", "needed_loose"}]
    assert len(loose) > 8
    assert all(score.value == score.n for score in loose)
    assert all(score.value == 0 for score in empty if score.metric in SHARES)
    assert sum(s.n for s in whole if s.metric == "retention_loose") == len(made.risk.anchors)
    assert sum(s.n for s in whole if s.metric == "needed_loose") == len(made.needed)


@given(messages(min_events=2))
def test_scores_are_shares_of_their_n_bound_never_over_loose_and_repeatable(history):
    base = repair(history).messages
    facts = mine(base)
    risk = AtRisk(base, facts, matcher_of(facts))
    made = Case(risk, risk.future(history).uses, HandProbes(PROBES), (0, 1), METER)
    for kept in (base, made.protected, base[::2]):
        scores = list(metrics.measure(Trial(made, kept)))
        assert scores == list(metrics.measure(Trial(made, kept)))
        assert all(0 <= score.value <= score.n for score in scores if score.metric in SHARES)
        pairs = [(a, b) for a, b in pairwise(scores) if b.metric == a.metric.replace("loose", "bound") != a.metric]
        assert all(bound.value <= loose.value for loose, bound in pairs)
    whole = list(metrics.measure(Trial(made, base, compact(base, "none").receipt)))
    assert all(score.value == score.n for score in whole if score.metric.endswith("_loose"))
    assert [score.value for score in whole if score.metric in {"valid", "parted"}] == [1, 0]


AGES = (
    user("Start."),
    agent("The first port is 5433."),
    agent("Then a while passes."),
    agent("The second limit is 7788, and port 5433 again."),
    *(agent("Nothing new here at all, just words to pass the time with.") for _ in range(7)),
    agent("The file is /srv/app/config.toml."),
    user("Go on."),
    agent("Yes."),
)


def test_age_is_counted_in_turns_since_the_last_mention_and_position_from_the_first():
    found = standing(case(AGES))
    assert {fact: at.age for fact, at in found.items()} == {0: 10, 1: 10, 2: 2}
    assert found[0].tenth < found[1].tenth < found[2].tenth <= 10


@pytest.mark.parametrize(
    ("kept", "old", "new"), [(AGES, 2, 1), (AGES[:4], 2, 0), (AGES[8:], 0, 1), ((), 0, 0)], ids=str
)
def test_position_counts_the_bound_facts_of_each_age_and_each_tenth(kept, old, new):
    module = importlib.import_module("compactlab.metrics.position")
    scores = list(module.measure(Trial(case(AGES), tuple(kept))))
    assert [s for s in scores if s.metric == "age_bound"] == [
        Score("age_bound", new, 1, group="2-3"),
        Score("age_bound", old, 2, group="8-15"),
    ]
    tenths = [score for score in scores if score.metric == "position_bound"]
    assert sum(score.n for score in tenths) == 3
    assert sum(score.value for score in tenths) == old + new


TAIL = (user("Use port 5433, please."), agent("The limit is 7788."), user("Is the name Ansel?"), agent("Yes."))


@pytest.mark.parametrize(("kept", "found"), [(TAIL, 2), ((TAIL[0], *TAIL[2:]), 2), (TAIL[2:], 1), (TAIL[1:2], 0)])
def test_facts_of_the_protected_set_are_checked_apart(kept, found):
    tail = [score for score in measured("retention", kept, TAIL) if score.metric == "tail_loose"]
    assert tail == [Score("tail_loose", found, 2)]
