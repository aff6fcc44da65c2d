"""The second miner: what it takes for a fact by shape alone, and what its metric makes of it."""

import ast
import time
from pathlib import Path

import pytest
import runs
from histories import agent, call, messages, result, system, user
from hypothesis import given
from hypothesis import strategies as st

from compactlab import second_miner
from compactlab.compaction import compact
from compactlab.controls import bag, null
from compactlab.facts import Fact, mine
from compactlab.facts.text import canonical
from compactlab.history import repair
from compactlab.matching import fold
from compactlab.metrics import Case, Score, Trial
from compactlab.metrics import second_miner as metric
from compactlab.probes.hand import HandProbes
from compactlab.probes.mined import AtRisk, matcher_of
from compactlab.readers import read
from compactlab.second_miner import mine_again
from compactlab.second_miner.credentials import looks_secret
from compactlab.second_miner.shapes import facts_of
from compactlab.tokens import Meter, clean
from compactlab.transcript import Message, readable

FOLDER = Path(second_miner.__file__).parent
METER = Meter("chars/4")

TOKENS = [
    ("(https://a.org/b_(c)?x=1&y=2).", [("url", "https://a.org/b_(c)?x=1&y=2")]),
    ("[docs](https://a.org/guide)", [("url", "https://a.org/guide")]),
    ("src/orders/refunds.py:118:", [("path", "src/orders/refunds.py")]),
    ("./run/app.py,", [("path", "run/app.py")]),
    ("b/src/orders/refunds.py", [("path", "src/orders/refunds.py")]),
    ("~/.config/app.toml", [("path", "~/.config/app.toml")]),
    ("refunds.py", [("path", "refunds.py")]),
    ("C:\\new\\table.txt", [("path", "C:\\new\\table.txt")]),
    ("foo.log:12:2025-11-04T01:30:48.962Z", [("path", "foo.log"), ("date", "2025-11-04")]),
    ("a\\tsoil-tests.md", [("path", "soil-tests.md")]),
    ("and/or", []),
    ("yes/no/maybe", []),
    ("436/s", []),
    ("24/7", []),
    ("fee/100", []),
    ("tam_with_oak/s/", []),
    ("/dev/null", []),
    ("__init__.py", []),
    ("$1,204.50", [("number", "1204.50")]),
    ("30,717.807,", [("number", "30717.807")]),
    ("1204ms", [("number", "1204ms")]),
    ("port=5433;", [("number", "5433")]),
    ("db-7.internal:5433", [("number", "5433")]),
    ("v2.14.3", [("number", "v2.14.3")]),
    ("1.0.0", []),
    ("42", []),
    ("5000", []),
    ("2026", []),
    ("1,2,3", []),
    ("07:40", [("date", "07:40")]),
    ("2026-13-41", []),
    ("3fa9c1d2e4b5a697", [("hash", "3fa9c1d2e4b5a697")]),
    ("9b1deb4d-3b7d-4bad-9bdd-2b0d7b3dcb6d", [("hash", "9b1deb4d-3b7d-4bad-9bdd-2b0d7b3dcb6d")]),
    ("deadbeef", []),
    ("sha256:3fa9c1d2e4b5", [("hash", "3fa9c1d2e4b5")]),
    ("ETL-727", [("identifier", "ETL-727")]),
    ("staging-01,", [("identifier", "staging-01")]),
    ("self.max_items(", [("identifier", "max_items")]),
    ("refundTotal", [("identifier", "refundTotal")]),
    ("AssertionError:", [("identifier", "AssertionError")]),
    ("HTTPError", [("identifier", "HTTPError")]),
    ("a.b@c.org", [("identifier", "a.b@c.org")]),
    ("well-known", []),
    ("NEVER", []),
    ("x" * 301 + "_1", []),
]


@pytest.mark.parametrize(("token", "expected"), TOKENS, ids=[token[:24] for token, _ in TOKENS])
def test_a_token_is_judged_by_its_shape(token, expected):
    assert [(fact.family, fact.value) for fact in facts_of(token)] == expected


@pytest.mark.parametrize(
    ("token", "forms"),
    [
        ("30,717.807", ("30717.807", "30,717.807")),
        ("96kB", ("96kB", "96 kB")),
        ("https://a.org/x/", ("https://a.org/x/", "https://a.org/x")),
        ("07:40", ("07:40",)),
    ],
)
def test_a_value_knows_the_ways_to_write_it(token, forms):
    assert facts_of(token)[0].forms == forms


@pytest.mark.parametrize(
    ("token", "anchor"), [("314", True), ("5433", False), ("3.5", True), ("3.25", False), ("2026-03-14", True)]
)
def test_short_numbers_and_days_need_an_anchor(token, anchor):
    assert facts_of(token)[0].needs_anchor is anchor


def values(text, family=None, role="user"):
    found = mine_again([Message(role, user(text).blocks)])
    return [fact.value for fact in found if family in {None, fact.family}]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("We meet on 14 March 2026.", ["2026-03-14"]),
        ("from the 3rd of March to April 9th", ["3 March", "9 April"]),
        ("on 31 February", []),
        ("in March, with 3 of them", []),
    ],
)
def test_a_day_is_read_from_its_words(text, expected):
    assert values(text, "date") == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Then I saw Ansel near Hollin End today.", ["Ansel", "Hollin End"]),
        ("I asked Ansel's mother, and Tilde said no.", ["Ansel", "Tilde"]),
        ("Then he came. Tomorrow we talk about it.", []),
        ("On Monday the Python code runs.", []),
        ("We keep the Bishop and the bishop keeps us.", []),
        ("Wir haben das Haus und die Küche nicht mit Farbe gestrichen.", []),
        ("x = Foo", []),
    ],
)
def test_a_name_has_a_capital_inside_a_sentence_and_is_never_written_small(text, expected):
    assert values(text, "name") == expected


SECRETS = (
    "ghp_A1b2C3d4E5f6G7h8I9j0K1l2M3n4",
    "sk-proj-a1B2c3D4e5F6g7H8",
    "AKIAIOSFODNN7EXAMPLE",
    "https://user:hunter22x@db.example.org/main",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abc",
    "password: hunter22x",
    "API_KEY=q9w8e7r6t5",
    "api_key = q9w8e7r6t5",
    "the token is q9w8e7r6t5",
    "Authorization: Bearer 12ab34cd56ef78ab",
    "pA55w0rdLooksLikeAKey4U2See9",
)


@pytest.mark.parametrize("secret", SECRETS)
def test_no_piece_of_a_credential_is_a_fact(secret):
    found = values(f"the port is 5433\n{secret} here\nand 7788", role="tool")
    assert found[0] == "5433"
    assert found[-1] == "7788"
    assert [value for value in found[1:-1] if value != "api_key"] == []


@pytest.mark.parametrize(
    ("token", "expected"),
    [
        ("max_items=4096", ["max_items", "4096"]),
        ("token_count:1200", ["token_count", "1200"]),
        ("src/password_reset.py", ["src/password_reset.py"]),
        ("sk-learn", []),
    ],
)
def test_a_word_that_only_reminds_of_a_credential_is_none(token, expected):
    assert not looks_secret(token)
    assert values(f"see {token} now") == expected


def test_ways_to_write_one_path_are_one_fact():
    found = mine_again([user("see /srv/app/src/stage.py"), user("src/stage.py or stage.py"), user("and other/x.py")])
    assert [(f.value, set(f.forms)) for f in found] == [
        ("/srv/app/src/stage.py", {"/srv/app/src/stage.py", "src/stage.py", "stage.py"}),
        ("other/x.py", {"other/x.py", "x.py"}),
    ]


def test_a_base_name_of_two_files_is_a_way_to_write_neither():
    found = mine_again([user("a1/x.py and b1/x.py and x.py")])
    assert [(f.value, f.forms) for f in found] == [
        ("a1/x.py", ("a1/x.py",)),
        ("b1/x.py", ("b1/x.py",)),
        ("x.py", ("x.py",)),
    ]


def test_names_of_tools_and_of_their_arguments_are_no_facts():
    made = agent(call("c", "memory_write", '{"file_path": "notes/a.md", "line_2": "the old_name"}'))
    assert [f.value for f in mine_again([made])] == ["notes/a.md", "old_name"]


def test_numbers_of_lines_are_no_facts():
    read_file = Message("tool", (result("c", "  1204\tport = 5433\n1205→limit = 7788\n1206:x = 3344"),))
    assert [f.value for f in mine_again([read_file])] == ["5433", "7788", "3344"]


def test_it_reads_none_of_the_first_miners_files():
    allowed = {"fact", "text", "words"}
    for path in FOLDER.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module.startswith("compactlab.facts"):
                assert node.module.rpartition(".")[2] in allowed, f"{path.name} imports {node.module}"


@given(messages(min_events=2))
def test_every_value_is_found_once_and_stands_in_the_text(history):
    found = mine_again(history)
    assert found == mine_again(history)
    assert len({fact.value for fact in found}) == len(found)
    text = "\n".join(clean(canonical(readable(block))) for message in history for block in message.blocks)
    for fact in found:
        searched, forms = (text, fact.forms) if fact.exact else (fold(text), map(fold, fact.forms))
        assert any(form in searched for form in forms), fact


@given(st.text(max_size=60))
def test_any_token_is_read_without_an_error(text):
    for token in text.split():
        assert all(fact.forms[0] == fact.value != "" for fact in facts_of(token))


def test_it_grows_with_the_length_of_the_text_and_no_faster():
    def seconds(times):
        text = " ".join(f"src/a{i}/m_{i}.py:{i} took {i}.25ms on 14 March" for i in range(times))
        best = 9.0
        for _ in range(3):
            start = time.perf_counter()
            mine_again([user("\n".join(text[i : i + 900] for i in range(0, len(text), 900)))])
            best = min(best, time.perf_counter() - start)
        return best

    assert seconds(4_000) < 12 * seconds(1_000)


@pytest.mark.parametrize("path", runs.TRANSCRIPTS, ids=lambda path: path.stem)
def test_on_a_recorded_session_both_miners_agree_on_most_and_not_on_all(path):
    (transcript,) = read(path)
    first = [fact for fact in mine(transcript.messages) if fact.family in {"path", "url", "identifier", "hash"}]
    second = [fact for fact in mine_again(transcript.messages) if not fact.needs_anchor]
    forms = {form for fact in mine(transcript.messages) for form in fact.forms}
    again = {form for fact in mine_again(transcript.messages) for form in fact.forms}
    shared = sum(not forms.isdisjoint(fact.forms) for fact in second)
    found = sum(not again.isdisjoint(fact.forms) for fact in first)
    assert 0.6 * len(second) < shared <= len(second)
    assert 0.4 * len(first) < found <= len(first)
    assert forms != again


BASE = (
    system(),
    user("Please look after the database."),
    agent("The database listens on port 5433."),
    agent(call("c", "bash", '{"command": "cat notes"}')),
    Message("tool", (result("c", "limit 7788 in /srv/app/config.toml"),)),
    user("Go on."),
    agent("Yes."),
)
FUTURE = (
    agent(call("f", "bash", '{"command": "psql -p 5433 -f /srv/app/config.toml"}')),
    agent("The limit is 7788."),
)


def case(facts=(), excluded=()):
    risk = AtRisk(BASE, facts, matcher_of(facts), frozenset(excluded))
    return Case(risk, {}, HandProbes(()), (), METER, FUTURE)


@pytest.mark.parametrize(
    ("kept", "bound", "loose"),
    [
        (BASE, (1, 1), (1, 1)),
        ((user("5433\n/srv/app/config.toml"),), (0, 0), (1, 1)),
        ((user("the database: 5433"),), (1, 0), (1, 0)),
        ((), (0, 0), (0, 0)),
    ],
    ids=["all", "bare values", "one of two", "nothing"],
)
def test_the_metric_scores_what_an_action_needed_by_family(kept, bound, loose):
    assert list(metric.measure(Trial(case(), tuple(kept)))) == [
        Score(name, found[at], 1, family, "action")
        for at, family in enumerate(("number", "path"))
        for name, found in (("second_bound", bound), ("second_loose", loose))
    ]


def test_a_value_that_the_first_miner_found_common_is_left_out():
    facts = (Fact("number", "5433", ("5433",)),)
    assert [s.family for s in metric.measure(Trial(case(facts, excluded={0}), BASE))] == ["path", "path"]


def test_a_word_of_the_first_miners_facts_binds_nothing():
    quote = Fact("quote", "database listens", ("database listens",))
    kept = (user("5433 database listens"),)
    bound = [
        next(s.value for s in metric.measure(Trial(case(facts), kept)) if s.metric == "second_bound")
        for facts in ((), (quote,))
    ]
    assert bound == [1, 0]


def test_a_case_without_a_future_is_not_measured():
    risk = AtRisk(BASE, (), matcher_of(()))
    assert list(metric.measure(Trial(Case(risk, {}, HandProbes(()), (), METER), BASE))) == []


@pytest.mark.parametrize("share", [0.4, 0.7])
@pytest.mark.parametrize("name", ["primary-garden", "subagent-etl", "subconscious-novel"])
def test_on_a_recorded_session_the_whole_keeps_all_and_a_bag_binds_nothing(name, share):
    made = runs.case(name, share)

    def total(kept, which):
        scores = [s for s in metric.measure(Trial(made, tuple(kept))) if s.metric == which]
        return sum(s.value for s in scores), sum(s.n for s in scores)

    needed = total(made.base, "second_loose")[1]
    assert total(made.base, "second_loose") == (needed, needed)
    assert total(made.base, "second_bound")[0] >= 0.85 * needed
    assert total(bag.build(made), "second_bound")[0] <= 0.1 * needed
    assert total(null.build(made), "second_loose")[0] == 0


@given(messages(min_events=2))
def test_more_messages_never_score_less(history):
    base = repair(history).messages
    risk = AtRisk(base, (), matcher_of(()))
    made = Case(risk, {}, HandProbes(()), (), METER, tuple(history))
    scores = [[s.value for s in metric.measure(Trial(made, kept))] for kept in (base, base[::2], ())]
    assert scores[0] >= scores[1] >= scores[2]
    assert all(a >= b >= c for a, b, c in zip(*scores, strict=True))


def test_controls_of_a_strategys_size_are_scored_by_it_too():
    rows = [r for r in runs.short().results.records if r.metric == "second_bound"]
    assert {"regex_lines", "bag", "oracle", "random"} <= {r.strategy for r in rows}
    assert all(r.use == "action" and 0 <= r.value <= r.n for r in rows)


def test_a_strategy_that_keeps_all_binds_as_much_as_before():
    made = runs.case("primary-move", 0.85)
    whole = compact(made.base, "none")
    assert list(metric.measure(Trial(made, whole.messages))) == list(metric.measure(Trial(made, made.base)))
