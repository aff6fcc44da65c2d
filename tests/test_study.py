"""The study's findings: their parts counted by hand, all of them on short sessions, and where they cannot be shown."""

import json
from dataclasses import replace
from functools import cache
from itertools import combinations
from random import Random

import pytest
import runs
from histories import agent, call, result, system, user
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace as changed

from compactlab import catalog
from compactlab.facts import Fact
from compactlab.harness import DEFAULT_STRATEGIES
from compactlab.harness.cuts import planned
from compactlab.harness.labels import labels
from compactlab.harness.session import Job, scored
from compactlab.metrics import Case
from compactlab.pressure import Marks
from compactlab.probes.hand import HandProbes, Probe
from compactlab.probes.mined import AtRisk, Use, matcher_of
from compactlab.readers import read
from compactlab.settings import Project
from compactlab.study import GROUPS, agreement, chance, choices, needs, presence, rankings, sampling, sessions_of, study
from compactlab.study.anchors import Binding, Rule
from compactlab.study.finding import VERDICTS, judged, table, to_markdown
from compactlab.study.session import METHODS, Cell, Session, Standing, position
from compactlab.study.wording import WORDING
from compactlab.tokens import DEFAULT_COUNTER, Meter
from compactlab.transcript import Message, Text, Transcript

# ---- a session that can be counted by hand

FACTS = (
    Fact("number", "5433", ("5433",)),
    Fact("number", "7788", ("7788",)),
    Fact("path", "/srv/app/config.toml", ("/srv/app/config.toml",)),
    Fact("name", "Ansel", ("Ansel",)),
    Fact("identifier", "build-71", ("build-71",)),
)
BASE = (
    system(source=0),
    user("Please look after the database.", source=1),
    agent("The database listens on port 5433.", source=2),
    agent(call("c", "bash", '{"command": "cat notes"}'), source=3),
    Message("tool", (result("c", "limit 7788 in /srv/app/config.toml"),), source=4),
    agent(call("d", "bash", '{"command": "make --tag build-71"}'), source=5),
    Message("tool", (result("d", "Ansel was notified"),), source=6),
    user("Go on.", source=7),
    agent("Yes.", source=8),
)
FUTURE = (
    agent(call("f", "bash", '{"command": "psql -p 5433 --limit 7788"}'), source=9),
    agent("In /srv/app/config.toml, written by Ansel, port 5433 stands.", source=10),
    agent("5433 again, of build-71.", source=11),
)
NUMBER, LIMIT, PATH, NAME, BUILD = range(5)


@cache
def cell():
    transcript = Transcript("hand", "test", BASE + FUTURE)
    session = Session(transcript, FACTS, frozenset(), (), ())
    risk = AtRisk(BASE, FACTS, session.matcher)
    return Cell(session, 0.5, len(BASE), Case(risk, risk.future(FUTURE).uses, HandProbes(()), (), session.meter))


@cache
def short_sessions():
    return sessions_of([t for name in runs.SHORT for t in read(runs.short_transcripts() / f"{name}.jsonl")])


@cache
def recorded():
    """A whole recorded session, and one of another story beside it."""
    return sessions_of([read(runs.FIXTURES / f"{name}.jsonl")[0] for name in ("subagent-support", "primary-move")])[0]


@cache
def looked():
    return [tuple(group.look(session) for group in GROUPS) for session in short_sessions()]


@cache
def short_findings():
    pooled = zip(GROUPS, zip(*looked(), strict=True), strict=True)
    return sorted((f for group, seen in pooled for f in group.findings(seen)), key=lambda f: f.number)


# ---- where facts stood, what used them, how unevenly


def test_homes_are_told_apart_by_the_first_kind_that_holds():
    assert needs.homes_of(cell()) == {
        NUMBER: "words",
        LIMIT: "read again",
        PATH: "read again",
        NAME: "one-off output",
        BUILD: "own calls",
    }


def test_uses_are_counted_by_kind():
    assert cell().case.needed == {
        NUMBER: Use("action", 0),
        LIMIT: Use("action", 0),
        PATH: Use("text", 1),
        NAME: Use("text", 1),
        BUILD: Use("text", 2),
    }
    assert needs._cell(cell()).uses == {"action": 2, "text": 3}


def test_all_uses_are_weighed_a_little_less_with_every_turn():
    weights, uses = needs.weights_of_uses(cell())
    decay = needs.DECAY
    assert uses == 7
    assert weights == {
        NUMBER: pytest.approx(1 + decay + decay**2),
        LIMIT: pytest.approx(1),
        PATH: pytest.approx(decay),
        NAME: pytest.approx(decay),
        BUILD: pytest.approx(decay**2),
    }


@pytest.mark.parametrize(
    ("weights", "expected"),
    [([1] * 9, None), ([1] * 10, 0.1), ([11] + [1] * 9, 0.55), ([5, 5] + [1] * 18, 10 / 28)],
)
def test_the_heaviest_tenth_needs_ten_facts(weights, expected):
    found = needs.top_tenth({i: float(weight) for i, weight in enumerate(weights)})
    assert found == (None if expected is None else pytest.approx(expected))


# ---- anchors


@pytest.mark.parametrize("name", runs.SHORT)
def test_the_rule_of_the_product_binds_as_the_product_does(name):
    case = runs.case(name, 0.55)
    binding = Binding(case.risk, Rule())
    anchors = binding.anchors()
    assert {fact: set(words) for fact, words in anchors.items()} == case.risk.anchors
    for kept in (case.base, case.protected, case.base[::3]):
        bound = case.risk.presence(kept).bound
        assert binding.bound(kept, anchors) == {i for i in case.risk.anchors if bound >> i & 1}


@pytest.mark.parametrize("wider", [Rule(window=20), Rule(any_word=True)])
def test_a_laxer_rule_binds_whatever_the_stricter_one_does_and_more(wider):
    case = runs.case("subagent-etl", 0.55)
    strict, lax = Binding(case.risk, Rule()), Binding(case.risk, wider)
    kept = case.base[::5]
    narrow, wide = (binding.bound(kept, binding.anchors()) for binding in (strict, lax))
    assert narrow < wide
    assert wide <= {i for i in case.risk.anchors if case.risk.presence(kept).loose >> i & 1}


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        (Rule(), {"database", "listens", "port"}),
        (Rule(any_word=True), {"the", "database", "listens", "on", "port"}),
        (Rule(window=1), {"port"}),
        (Rule(window=1, any_word=True), {"port"}),
    ],
)
def test_a_rule_says_which_words_near_a_value_may_anchor_it(rule, words):
    (near,) = Binding(cell().case.risk, rule).near(BASE[2].blocks[0])
    assert (near.fact, near.words) == (NUMBER, words)


# ---- choices of a size

UNITS = st.lists(
    st.builds(
        choices.Unit,
        st.just((0,)),
        st.integers(1, 30),
        st.frozensets(st.integers(0, 11), max_size=6),
    ),
    max_size=7,
)


@given(UNITS, st.integers(0, 80))
def test_the_best_units_are_the_best_of_all_and_the_greedy_ones_never_better(units, room):
    sets = [group for size in range(len(units) + 1) for group in combinations(units, size)]
    most = max(len(frozenset().union(*(u.facts for u in s))) for s in sets if sum(u.tokens for u in s) <= room)
    best, greedy = choices.best_units(units, room), choices.greedy_units(units, room)
    assert (best.facts, best.exact) == (most, True)
    assert greedy.facts <= most


FILLS = {
    "a bag": choices.bag,
    "prose first": choices.prose_first,
    "dropped": lambda case, tokens: choices.dropped_until_fits(case, tokens, Random(1)),
    "filled": lambda case, tokens: choices.filled(case, tokens, Random(1)),
}


@pytest.mark.parametrize("fill", FILLS.values(), ids=FILLS)
@pytest.mark.parametrize("part", [0.2, 0.6, 1.0])
@pytest.mark.parametrize("name", runs.SHORT)
def test_a_fill_meets_its_size_and_keeps_the_protected_set(name, fill, part):
    case = runs.case(name, 0.7)
    floor = case.meter.messages(case.protected)
    tokens = round(floor + part * (case.tokens - floor))
    kept = fill(case, tokens)
    assert floor <= case.meter.messages(kept) <= tokens
    assert [m for m in kept if m in case.protected] == list(case.protected)
    assert kept == fill(case, tokens)


def test_prose_first_takes_what_was_said_before_any_call_or_result():
    case = cell().case
    said = case.meter.block(Text("The database listens on port 5433.")) + 4
    kept = choices.prose_first(case, case.meter.messages(case.protected) + said)
    assert [m.text for m in kept if m not in case.protected] == ["The database listens on port 5433."]


def test_a_bag_takes_the_values_whose_last_home_is_the_newest_first():
    case = cell().case
    room = case.meter.messages(case.protected) + 4 + case.meter.text("Ansel\nbuild-71")
    (note,) = [m for m in choices.bag(case, room) if m not in case.protected]
    assert note.text.split("\n") == ["Ansel", "build-71"]


# ---- cuts, rankings, chance, samples, gates


def test_a_cut_stands_before_the_first_words_of_the_agent_behind_its_share_of_the_weight():
    meter = Meter("chars/4")
    said = [user("x" * 400), agent("y" * 40), user("z" * 400), agent("y" * 40), agent("y" * 40)]
    transcript = Transcript("t", "test", tuple(said))
    assert [position(transcript, share, meter) for share in (0.1, 0.41, 0.42, 0.9)] == [1, 1, 3, 4]
    assert position(transcript, 0.95, meter) is None
    assert position(Transcript("t", "test", tuple(said[:1])), 0.5, meter) is None


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ([1, 2, 3, 4], [1, 2, 3, 4], 1.0),
        ([1, 2, 3, 4], [4, 3, 2, 1], -1.0),
        ([1, 2, 3, 4], [1, 2, 4, 3], 4 / 6),
        ([1, 1, 2], [1, 2, 3], 2 / 6**0.5),
        ([1, 1], [1, 2], None),
        ([], [], None),
    ],
)
def test_tau_takes_ties_into_account(one, other, expected):
    found = rankings.tau(one, other)
    assert found == (None if expected is None else pytest.approx(expected))


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=2, max_size=8))
def test_tau_is_that_of_scipy_and_symmetric(pairs):
    from scipy.stats import kendalltau

    one, other = ([pair[i] for pair in pairs] for i in (0, 1))
    found = rankings.tau(one, other)
    assert rankings.tau(other, one) == found
    if found is None:
        assert len(set(one)) == 1 or len(set(other)) == 1
    else:
        assert found == pytest.approx(kendalltau(one, other).statistic)


def of_methods(**loose):
    return {("10", method): Standing(value, value / 2) for method, value in loose.items()}


def test_wins_and_best_means_count_the_cells_of_the_lines_that_look_like_facts():
    cells = [
        of_methods(random=0.2, regex_lines=0.5),
        of_methods(random=0.5, regex_lines=0.5),
        of_methods(random=0.6, regex_lines=0.1),
        of_methods(random=0.6),
    ]
    assert rankings.wins(cells) == (2, 3)
    assert rankings.best_means(cells, ("random", "regex_lines")) == (0, 1)
    assert rankings.best_means(cells[:2], ("random", "regex_lines")) == (1, 1)


NUMBERS = [
    ("take 3 of 120, 0.25 each", ["3", "120", "0.25"]),
    ("v2, x3, 1/2, 4:5, 7%, #8, a.9", []),
    ("(12) [13], 14; 15.", ["12", "13", "14", "15"]),
    ("1234567890123 is too long", []),
    ("7 and 7 again", ["7"]),
    ("version 1.2.3 is none", []),
]


@pytest.mark.parametrize(("text", "expected"), NUMBERS)
def test_numbers_that_stand_by_themselves_are_found_however_short(text, expected):
    assert [fact.value for fact in chance.numbers_in((user(text),))] == expected


def test_chance_is_what_others_need_over_what_one_needs_oneself():
    counts = [chance.Counts({"path": 4, "name": 1}, {"path": 0.5}), chance.Counts({"path": 6}, {"date": 1.0})]
    assert [chance.rate(counts, name) for name in ("path", "name", "date", "")] == [0.05, 0.0, None, 1.5 / 11]


@pytest.mark.parametrize(("integer", "decimal", "expected"), [(4, 3, 3), (3, 2, 15), (1, 1, 15), (6, 5, 0)])
def test_numbers_are_admitted_by_their_length(integer, decimal, expected):
    assert chance.admitted({"3": 5, "4": 2, "2.": 7, "3.": 1}, integer, decimal) == expected


def test_a_session_needs_its_own_facts_and_another_one_those_that_it_shares():
    base = (user("Look."), agent("The port is 5433, the limit 77."), agent("Noted."), user("Go on."))
    said, other, silent = (
        (*base, agent(words)) for words in ("Set 5433, then 77.", "We count to 77.", "We do not count.")
    )
    transcripts = [
        Transcript(name, "test", messages) for name, messages in zip("abc", (said, other, silent), strict=True)
    ]
    session = sessions_of(transcripts)[0]
    case = Case(AtRisk(base, session.facts, session.matcher), {}, HandProbes(()), (), session.meter)
    numbers = chance.numbers_in(said)
    found = chance._cell(Cell(session, 0.5, 4, case), numbers, matcher_of(numbers))
    assert found.bare.own == {"number": 1}
    assert found.numbers.own == {"4": 1, "2": 1}
    assert found.numbers.foreign == {"2": 0.5}


@pytest.mark.parametrize(("difference", "spread", "sessions"), [(0.1, 0.2, 32), (0.05, 0.2, 126), (0.1, 0.114, 11)])
def test_the_sessions_that_a_difference_asks_for(difference, spread, sessions):
    assert sampling.sessions_for(difference, spread) == sessions


def test_t_covers_what_it_says_and_a_percentile_bootstrap_half_of_it_at_two_sessions():
    draw = Random(1)
    normal = [draw.gauss(0, 1) for _ in range(400)]
    two, twelve = (sampling.coverage(normal, size, 0) for size in (2, 12))
    assert min(two.t, twelve.t) >= 0.92
    assert two.percentile == pytest.approx(0.5, abs=0.07)
    assert 0.85 < twelve.percentile < twelve.t
    assert sampling.coverage(normal, 2, 0) == two


def gate(draws, replicates):
    seen = [sampling.Seen(f"s{i}", f"s{i}", [], [draws(Random(i))]) for i in range(7)]
    return sampling.gate_passes(seen, replicates, 6)


def test_a_gate_passes_what_does_not_vary_and_stops_what_varies_until_there_are_seeds_enough():
    def steady(_):
        return [0.5] * 40

    def wild(draw):
        return [draw.random() for _ in range(40)]

    assert gate(steady, 1) == 1.0
    assert gate(wild, 1) < gate(wild, 20)
    assert sampling.gate_passes([], 1, 6) is None


def test_probes_are_answered_early_elsewhere_and_by_the_rule():
    probes = (
        Probe("a", "Which port has the database?", "5433", (4,), 4),
        Probe("b", "Which limit is set?", "7788", (4,), 4),
        Probe("c", "Who was told?", "Ansel", (6,), 6),
    )
    strange = Transcript("other", "test", (user("7788 trees stand there.", source=4), agent("Ansel", source=6)))
    session = replace(cell().session, probes=probes, others=(strange,))
    early = agreement.look(session).early
    assert early == (1 / 3, 2 / 3, 1 / 3, 0.0)


# ---- all findings


def test_every_finding_is_there_once_with_a_number_for_every_line():
    assert [finding.number for finding in short_findings()] == list(range(1, 17)) == list(WORDING)
    for finding in short_findings():
        assert finding.verdict in VERDICTS
        assert [row.line for row in finding.rows] == list(WORDING[finding.number].lines)
        words = WORDING[finding.number]
        assert finding.sentence == dict(zip(VERDICTS, words[1:4], strict=True))[finding.verdict]


def test_shares_lie_between_none_and_all_and_ranges_rise():
    shares = [row for f in short_findings() for row in f.rows if "{:.2f}" in row.line.form and f.number in {1, 2, 4, 5}]
    assert len(shares) > 10
    assert all(0 <= value <= 1 for row in shares for value in row.now if value is not None)
    ranges = [row.now for f in short_findings() for row in f.rows if " to " in row.line.form and f.number != 16]
    assert len(ranges) > 8
    assert all(low <= high for low, high in ranges if low is not None)


def test_a_strategy_that_deletes_keeps_none_of_what_it_did_not_keep():
    (zero, cells), _ = (row.now for row in short_findings()[2].rows)
    assert zero == cells > 3


def test_presence_is_bought_by_a_bag_and_meaning_is_not():
    for seen in (s for groups in looked() for s in groups[GROUPS.index(presence)]):
        assert seen.bag_bound["product"] == 0
        assert all(seen.bag_beside[size] >= seen.bag.get(size, 0) for size in presence.SIZES)
        assert seen.none_bound["product"] <= seen.none_bound["any word"]


@pytest.mark.parametrize("group", GROUPS, ids=lambda group: group.__name__.rpartition(".")[2])
def test_a_group_says_that_nothing_can_be_shown_where_there_is_nothing(group):
    assert {finding.verdict for finding in group.findings([])} == {"cannot be shown here"}
    nothing = Session(Transcript("empty", "test", ()), (), frozenset(), (), ())
    assert {finding.verdict for finding in group.findings([group.look(nothing)])} == {"cannot be shown here"}


def test_the_same_sessions_give_the_same_numbers_in_one_process_and_in_two_and_progress_is_told():
    def steady(found):
        return [(f.number, f.verdict, [r.now for r in f.rows if r.line.steady]) for f in found]

    told = []
    alone = study([runs.short_transcripts()], jobs=1, progress=lambda *at: told.append(at))
    assert steady(alone.findings) == steady(study([runs.short_transcripts()], jobs=2).findings)
    assert steady(alone.findings) == steady(short_findings())
    assert alone.sessions == tuple(sorted(runs.SHORT))
    assert told == [(n, 3, name) for n, name in enumerate(sorted(runs.SHORT), 1)]


@pytest.mark.parametrize(("holds", "verdict"), [(True, "holds"), (False, "differs"), (None, "cannot be shown here")])
def test_a_verdict_is_one_of_three_words_and_has_its_sentence(holds, verdict):
    found = judged(7, [(0.1, 0.2), (None,)], holds=holds)
    assert found.verdict == verdict
    assert [row.shown for row in found.rows] == ["10% to 20%", "-"]
    assert table([found])[0] == ("7", "May all later uses count?", "", verdict)
    assert f"7. *{verdict}*: {found.sentence}" in to_markdown([found])


def test_a_finding_with_a_line_too_few_is_refused():
    with pytest.raises(ValueError, match="zip"):
        judged(7, [(0.1, 0.2)], holds=True)


@pytest.mark.parametrize("budget", ["10", "30"])
def test_every_method_that_is_ranked_meets_its_budget(budget):
    (first, *_) = recorded().cells
    ranked = [method for method in METHODS if (budget, method) in first.scores]
    assert len(ranked) > 5
    for method in ranked:
        for left in first.left(method, budget, 2):
            assert first.case.meter.messages(left) <= first.tokens(budget)


def test_a_method_that_does_not_meet_a_budget_has_no_score():
    case, floor = cell().case, cell().case.meter.messages(cell().case.protected)
    assert floor > 0.3 * case.tokens
    assert cell().scores == {}


# ---- a strategy sees no label


def job(facts=None, probes=()):
    """All strategies on a recorded session, with and without a budget, its labels as given."""
    transcript, own = recorded().transcript, recorded().facts
    strategies = tuple(catalog.strategy(spec) for spec in (*DEFAULT_STRATEGIES, "ladder(summary, sliding_window)"))
    cuts = planned(transcript, (0.55,), None, Marks(), Meter())
    made_by = {label[:2]: "" for label in labels(strategies, ())}
    head = (transcript, own if facts is None else facts, cuts, probes, frozenset(), recorded().others, strategies)
    return Job(*head, ("15",), Project(), DEFAULT_COUNTER, 0, made_by)


def left_by_strategies(made):
    """What every strategy left, in bytes, by its spec and budget."""
    blocks = [block for block in scored(made) if not block.key.size_of]
    kept = {(b.key.strategy, b.key.budget): b.compaction.get("messages") for b in blocks if b.compaction}
    return {key: json.dumps(entries) for key, entries in kept.items() if entries is not None}


def turned(facts):
    """The same values, each with the flags of another."""
    others = (*facts[7:], *facts[:7])
    return tuple(changed(f, exact=o.exact, needs_anchor=o.needs_anchor) for f, o in zip(facts, others, strict=True))


def with_another_future(made):
    """The same session until the cut; what comes after it, and says what was needed, turned round."""
    (cut,) = made.cuts
    messages = made.transcript.messages
    future = (messages[cut.before], *reversed(messages[cut.before + 1 :]))
    return replace(made, transcript=changed(made.transcript, messages=messages[: cut.before] + future))


LABELS = {
    "reversed facts and probes": lambda: job(tuple(reversed(recorded().facts)), tuple(reversed(recorded().probes))),
    "flags of other facts": lambda: job(turned(recorded().facts), recorded().probes),
    "every third fact": lambda: job(recorded().facts[::3], recorded().probes[::3]),
    "no fact and no probe": lambda: job((), ()),
    "the facts and probes of another session": lambda: job(short_sessions()[0].facts, short_sessions()[0].probes),
    "another future": lambda: with_another_future(job(probes=recorded().probes)),
}


@cache
def with_its_own_labels():
    return left_by_strategies(job(probes=recorded().probes))


def test_the_run_under_test_holds_every_strategy_and_real_work():
    left = with_its_own_labels()
    assert {spec for spec, _ in left} == {*DEFAULT_STRATEGIES, "ladder(summary, sliding_window)"}
    assert sum('"role"' in entries for entries in left.values()) >= 6


@pytest.mark.parametrize("made", LABELS.values(), ids=LABELS)
def test_permuting_labels_changes_no_output_of_any_strategy(made):
    assert left_by_strategies(made()) == with_its_own_labels()
