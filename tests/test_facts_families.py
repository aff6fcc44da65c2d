"""What each family takes and what it leaves: tables of texts and the values that stand in them."""

import json

import pytest

from compactlab.facts import Fact, mine
from compactlab.transcript import Message, Reasoning, Text, ToolCall, ToolResult


def facts_of(text, *families):
    return [f for f in mine([Message("user", (Text(text),))]) if not families or f.family in families]


def values_of(text, *families):
    return [f.value for f in facts_of(text, *families)]


def result_of(text):
    return list(mine([Message("tool", (ToolResult("c1", (Text(text),)),))]))


PATHS = [
    ("see src/app.py, please", ["src/app.py"]),
    ("see ./src/app.py.", ["src/app.py"]),
    ("stage.py:45 and `timeutil.py:51:3`", ["stage.py", "timeutil.py"]),
    ("in /workspace/memory/people.md it says", ["/workspace/memory/people.md"]),
    ("everything under /workspace/inbox/ is read", ["/workspace/inbox"]),
    (r"open C:\Users\ada\notes.txt now", [r"C:\Users\ada\notes.txt"]),
    ("~/.tally/log.tally and ../shared/a-b.toml", ["~/.tally/log.tally", "../shared/a-b.toml"]),
    ("Prüfberichte/März.csv liegt da", ["Prüfberichte/März.csv"]),
    ("readings_20251026.csv.gz", ["readings_20251026.csv.gz"]),
    ("the folders meterflow/ and data/in/late", ["meterflow/", "data/in/late"]),
    ("this and/or that, he/she, km/h, 24/7, 11/12 and 3/4", []),
    ("application/json in Node.js, self.log and np.array", []),
    ("index.html, setup.py, /tmp, /dev/null and __init__.py", []),
    ("{base}/orders/list.html or </div> or f(x)/y.z", []),
    ("a regex like [a-z0-9/_]+ or s/old/new/g", []),
    ("e.g. this one, i.e. that. The end.And", []),
]


@pytest.mark.parametrize(("text", "expected"), PATHS)
def test_paths_are_files_and_folders(text, expected):
    assert values_of(text, "path") == expected


@pytest.mark.parametrize("path", ["/srv/My Notes/to do.md", "my own/b c"])
def test_a_path_argument_may_hold_blanks(path):
    call = ToolCall("c1", "read", json.dumps({"file_path": path}))
    assert path in [f.value for f in mine([Message("assistant", (call,))])]


def test_the_only_longer_path_takes_its_file_name_as_a_form():
    (fact,) = facts_of("read meterflow/stage.py. In stage.py the pool stands.", "path")
    assert fact.forms == ("meterflow/stage.py", "stage.py")


def test_a_file_name_of_two_folders_stays_a_fact_of_its_own():
    assert values_of("a1/stage.py and b1/stage.py, which stage.py?", "path") == [
        "a1/stage.py",
        "b1/stage.py",
        "stage.py",
    ]


ALIASES = [
    ("/workspace/src/orders/refunds.py", {"workspace/src/orders/refunds.py", "src/orders/refunds.py",
                                          "orders/refunds.py", "refunds.py"}),
    ("src/orders/views.py", {"orders/views.py"}),
    ("docs/setup.py", set()),
    ("/srv/data/late", {"data/late"}),
    ("/opt/big/thing", set()),
    ("stage.py", set()),
]  # fmt: skip


@pytest.mark.parametrize(("path", "expected"), ALIASES)
def test_a_path_goes_by_its_endings_where_they_are_paths_that_nobody_would_guess(path, expected):
    (fact,) = facts_of(f"see {path} there", "path")
    assert set(fact.forms) - {path, f"{path}/"} == expected


def test_an_ending_that_two_paths_share_is_a_form_of_neither():
    first, second = facts_of("see one/api/refunds.py and two/api/refunds.py there", "path")
    assert first.forms == ("one/api/refunds.py",)
    assert second.forms == ("two/api/refunds.py",)


def test_an_ending_that_is_a_path_of_its_own_stays_one():
    texts = [[f.forms for f in facts_of(f"see one/api/{name} and two/api/{name}, and {name}", "path")]
             for name in ("refunds.py", "tax.py")]  # fmt: skip
    assert texts == [[(f"one/api/{n}",), (f"two/api/{n}",), (n,)] for n in ("refunds.py", "tax.py")]


URLS = [
    ("at https://edge.internal:8443/cfg?id=3.", ["https://edge.internal:8443/cfg?id=3"]),
    ("(see http://shop.example.net/a_(b))", ["http://shop.example.net/a_(b"]),
    ("write to ilse@salt-road.org today", ["ilse@salt-road.org"]),
    ("db-7.internal:5432 and 10.20.0.7", ["db-7.internal:5432", "10.20.0.7"]),
    ("config-server:7070 answers", ["config-server:7070"]),
    ("localhost:5433", ["localhost:5433"]),
    ("http://localhost, localhost:8080, 127.0.0.1:80 and example.com", []),
    ("line:1200, stage.py:4512, note:2025", []),
    ("Enum.at(x), self.io, reading.local and e.g.", []),
]


@pytest.mark.parametrize(("text", "expected"), URLS)
def test_urls_are_addresses_and_hosts_with_ports(text, expected):
    assert values_of(text, "url") == expected


COMMANDS = [
    ("cd repo && pytest tests/a.py -q | tail -3", ["pytest tests/a.py -q"]),
    ("git log --oneline; ls -la\ngit diff --stat", ["git log --oneline", "git diff --stat"]),
    ("grep -n 'a && b; c' x.py", ["grep -n 'a && b; c' x.py"]),
    ('grep -c "x | \\" y" f.txt || true', ['grep -c "x | \\" y" f.txt']),
    ("make build 2>&1 >/dev/null", ["make build"]),
    ("cat > a.py <<'EOF'\nrm -rf everything here\nEOF\nwc -l a.py", ["wc -l a.py"]),
    ("for f in a b; do sha256sum $f.csv --tag x; done", ["sha256sum $f.csv --tag x"]),
    ("n=$(wc -l a.txt | cut -c1-3) && head -2 b.txt", ["head -2 b.txt"]),
    ("echo hello world; true; cd somewhere/else; ls", []),
    ("x", []),
]


@pytest.mark.parametrize(("script", "expected"), COMMANDS)
def test_commands_are_the_telling_simple_commands_of_a_shell_call(script, expected):
    call = ToolCall("c1", "bash", json.dumps({"command": script}))
    found = [f.value for f in mine([Message("assistant", (call,))]) if f.family == "command"]
    assert found == expected


def test_a_command_may_be_a_list_for_a_shell_and_any_tool_may_run_it():
    call = ToolCall("c1", "local_shell", json.dumps({"cmd": ["bash", "-lc", "cargo test --workspace"]}))
    assert "cargo test --workspace" in [f.value for f in mine([Message("assistant", (call,))])]


def test_a_call_whose_arguments_are_no_json_is_mined_all_the_same():
    call = ToolCall("c1", "bash", '{"command": "cat src/half.py')
    assert [f.value for f in mine([Message("assistant", (call,))])] == ["src/half.py"]


IDENTIFIERS = [
    ("fix ETL-727 for A-10442", ["ETL-727", "A-10442"]),
    ("serial A33-L9001-30433, parcel NO473164404", ["A33-L9001-30433", "NO473164404"]),
    ("max_wh_per_interval and FoldResolver or readTimeout", ["max_wh_per_interval", "FoldResolver", "readTimeout"]),
    ("set METERFLOW_ENV for edge.retry.enabled", ["METERFLOW_ENV", "edge.retry.enabled"]),
    ("on ci-runner-03 and staging-01, staging-02", ["ci-runner-03", "staging-01", "staging-02"]),
    ("settings.db_busy_timeout_ms is read", ["db_busy_timeout_ms"]),
    ("def discover(root):", ["discover()"]),
    ("issue #4812 and zone Europe/Oslo", ["#4812", "Europe/Oslo"]),
    ("UTF-8, ISO-8601, SHA-256, COVID-19, GitHub and JavaScript", []),
    ("a 20-year-old, mid-1990s, top-10, well-known thing", []),
    ("self.run, os.path.join, json.loads and __init__", []),
    ("the URLs and IDs of PDFs, a PhD", []),
    ("cut -c1-140 or [a-z0-9]", []),
]


@pytest.mark.parametrize(("text", "expected"), IDENTIFIERS)
def test_identifiers_have_the_shape_of_a_made_up_name(text, expected):
    assert values_of(text, "identifier") == expected


def test_short_codes_need_an_anchor_and_long_ones_do_not():
    assert [(f.value, f.needs_anchor) for f in facts_of("code N-4 of AP-330-X", "identifier")] == [
        ("N-4", True),
        ("AP-330-X", False),
    ]


HASHES = [
    ("merge 5b1e77d came", ["5b1e77d"]),
    ("id 019c5386-236b-7f98-aa4e-b8dee76345bf", ["019c5386-236b-7f98-aa4e-b8dee76345bf"]),
    ("deadbeef, effaced, 1234567 and 12e4567", []),
]


@pytest.mark.parametrize(("text", "expected"), HASHES)
def test_hashes_are_hexadecimal_with_digits_and_letters(text, expected):
    assert values_of(text, "hash") == expected


def test_a_digest_cut_short_is_a_form_of_the_whole():
    whole = "d4237e672e59c40f9a3716a1cad2619a65aeb870ea014acb6e6abea172d1a338"
    (fact,) = facts_of(f"{whole} is {whole[:8]}", "hash")
    assert fact.forms == (whole, whole[:8])


ERRORS = [
    ("ValueError: no such meter OSL-M9", ["ValueError: no such meter OSL-M9"]),
    ("FAILED tests/e2e/test_rerun.py::test_same[osl] - boom", ["tests/e2e/test_rerun.py::test_same[osl]"]),
    ('  File "src/app.py", line 45, in main', ["src/app.py:45"]),
    ("/workspace/tests/test_a.py:15: AssertionError", ["/workspace/tests/test_a.py:15"]),
    ("FAILED tests/a.py::test_x[one two] - assert 1", ["tests/a.py::test_x[one two]"]),
    ("FAILED tests/a.py::test_x[one tw...", []),
    ("12:00:01 ERROR lbl-1 print job=89 db login failed: pgb-2 no more left", ["db login failed"]),
    ("tests/e2e/test_rerun.py:25: AssertionError", ["tests/e2e/test_rerun.py:25"]),
    ("2026-02-17T14:25:01Z trk-1 ERROR pool acquire timeout waited_ms=502", ["pool acquire timeout"]),
    ("src/a.c:3:5: error: expected ';' before return", ["expected ';' before return"]),
    ("Command exited with exit code 137", ["exit code 137"]),
    ("E   AssertionError: assert 3 == 4", []),
    ("exit code 1, exit status 0, no ERROR at all", []),
]


@pytest.mark.parametrize(("text", "expected"), ERRORS)
def test_errors_are_messages_tests_and_places_in_traces(text, expected):
    assert [f.value for f in result_of(text) if f.family == "error"] == expected


NUMBERS = [
    ("order 88471 over 1,204 pieces at 65.033", ["88471", "1204", "65.033"]),
    ("it took 450 ms at 12 % of 1,204 kWh", ["450 ms", "12 %", "1204 kWh"]),
    ("v3.7.9 of it", ["3.7.9"]),
    ("they cost £96 and EUR 1,684.50", ["96 pounds", "1684.5 euros"]),
    ("in 1911, since 2024, 12 of 99, 3.5 and 0.23", []),
    ("1.0.0 has 1024 or 65536 on port 8080", []),
    ("A-10442, 2026-03-14, 10:25:31, /a/12345/b and x12345", []),
    ("list 286,231,162,88,74,156", []),
    ("sed -n 1225,1405p", []),
]


@pytest.mark.parametrize(("text", "expected"), NUMBERS)
def test_numbers_are_long_or_have_a_unit(text, expected):
    assert values_of(text, "number") == expected


def test_line_numbers_are_no_facts():
    text = "  1204\tfirst = 1\n  1205\tsecond = 2\n 1206→third\n4711:match\n"
    assert result_of(text) == []


def test_a_bare_number_is_a_form_of_the_only_measure_that_has_it():
    (fact,) = facts_of("9,385.60 it was, £9385.60 in all", "number")
    assert fact.value == "9385.6 pounds"
    assert {"£9,385.60", "9385.60", "9,385.60"} <= set(fact.forms)


def test_a_bare_number_that_two_measures_have_stays_a_fact_of_its_own():
    found = facts_of("4,300 pounds or 4,300 kWh, well 4,300", "number")
    assert [f.value for f in found] == ["4300 pounds", "4300 kWh", "4300"]
    assert sum("4,300" in f.forms for f in found) == 1


QUANTITIES = [
    ("There are nine panes missing and 52 metres of wall.", ["9 panes", "52 metres"]),
    ("The key weighs two hundred and twelve grams.", ["212 grams"]),
    ("The key weighs 212g on the scales.", ["212 grams"]),
    ("It takes three weeks, a dozen eggs and 3.4 metres of string.", ["3 weeks", "12 eggs", "3.4 metres"]),
    ("Sie trug siebenundvierzig Kilo über den Pass, und drei Karten.", ["47 kilograms", "3 Karten"]),
    ("The pane is 610 x 255 and the bolt is 9 3/8 inches long.", ["610 x 255", "9 3/8"]),
    ("It counts as lost after 5 working days of waiting.", ["5 working days"]),
    ("There are one or two things, and the 4300 becomes a 5000 in 1911 plays.", []),
    ("He was nine, it is two, and 3 was the answer to both of us.", []),
    ("The server said 503s all day in the 1920s and in 90 seconds flat.", ["90 seconds"]),
]


@pytest.mark.parametrize(("text", "expected"), QUANTITIES)
def test_quantities_are_counted_things_in_prose(text, expected):
    assert values_of(text, "quantity") == expected


def test_a_quantity_has_its_words_and_its_digits_as_forms():
    (fact,) = facts_of("The key weighs 212 g, Rowan said to me.", "quantity")
    assert {"212 grams", "212 g", "212g", "two hundred and twelve grams"} <= set(fact.forms)
    assert not fact.exact
    assert fact.needs_anchor


def test_counted_things_in_code_and_tables_are_no_quantities():
    assert result_of("rows = 12 pieces[3]; x |= 9 panes\n| 12 panes | 4 |\n") == []


DATES = [
    ("from 2025-11-05 on", ["2025-11-05"]),
    ("on 14 March, March 3rd, Tue 14 Apr and the second of May", ["14 March", "3 March", "14 April", "2 May"]),
    ("on 14 March 2026, in April 2027 and on the 13. Januar", ["2026-03-14", "2027-04", "13 January"]),
    ("We meet at 14:30, or at 8 am, or about four o'clock.", ["14:30", "08:00", "4 o'clock"]),
    ("It may be 5 and march 5 people, ratio 3:4, 99:99", []),
    ("it was 45 March or 2025-13-40", []),
]


@pytest.mark.parametrize(("text", "expected"), DATES)
def test_dates_are_days_and_times(text, expected):
    found = facts_of(text, "date")
    assert [f.value for f in found] == expected
    assert all(f.needs_anchor and not f.exact for f in found)


def test_a_day_has_its_usual_spellings_as_forms():
    (fact,) = facts_of("It is the 14th of March, then.", "date")
    assert {"14 March", "March 14", "14 Mar", "14th of March", "fourteenth of March", "14. März"} <= set(fact.forms)


def test_time_stamps_of_log_lines_are_no_facts():
    assert result_of("2025-11-17T01:30:20.027Z start\n2025-11-17T01:30:20.052Z stop\n") == []


NAMES = [
    ("We saw Mirela at Larch Cottage. Mirela waved.", ["Mirela", "Larch Cottage"]),
    ("I met Jory's mother and the Bishop of Wenbury there.", ["Jory", "Bishop of Wenbury"]),
    ("On Monday in March the English asked. Then Rowan left, said Rowan.", ["Rowan"]),
    ("The wall is warm. Nothing grows there. Perhaps it will.", []),
    ("You see Hope there, and there is hope in it.", []),
    ("I use Python on Linux with Docker, and the SQL of it.", []),
    ("Ich habe der Frau und dem Mann die Karte auf den Tisch gelegt, nicht das Buch.", []),
]


@pytest.mark.parametrize(("text", "expected"), NAMES)
def test_names_are_capitalised_inside_a_sentence_and_nowhere_small(text, expected):
    assert values_of(text, "name") == expected


def test_a_word_written_small_in_another_message_is_no_name():
    said = [Message("user", (Text(text),)) for text in ("then I saw Reed again", "the reed by the pond is cut")]
    assert mine(said) == ()


QUOTES = [
    ('He said "the warm side of the wall" to me.', ["the warm side of the wall"]),
    (
        "It says „auf der kalten Seite“ and “later on the cold side,” there.",
        ["auf der kalten Seite", "later on the cold side"],
    ),
    ("Please run `svc restart orders` again for me.", ["svc restart orders"]),
    ('He said "no", and "x = f(1)", and "one" and "of the".', []),
    ("```\nprint('a b c', \"several words in here\")\n```", []),
]


@pytest.mark.parametrize(("text", "expected"), QUOTES)
def test_quotes_are_phrases_between_marks_in_prose(text, expected):
    assert values_of(text, "quote") == expected


SECRETS = [
    "sk-proj-a8F3kQ92mZx71LpT0vRw",
    "ghp_16C7e42F292c6912E7710c838347Ae178B4a",
    "AKIAIOSFODNN7EXAMPLE",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N",
    "password=Tr0ub4dor-3391",
    'api_key: "q9w8e7-r6t5_1204"',
    "Authorization: Bearer abcdef1234567890_long-12345",
    "postgres://ada:hunter22-4711@db-7.internal/orders",
    "-----BEGIN RSA PRIVATE KEY-----\nMIIEowIBAAKCAQEA12345\nabc_def_99887\n-----END RSA PRIVATE KEY-----",
]


@pytest.mark.parametrize("secret", SECRETS)
def test_no_piece_of_a_secret_is_a_fact(secret):
    found = facts_of(f"the line is\n{secret}\nand that was it")
    pieces = (
        "a8F3",
        "16C7",
        "IOSF",
        "hbGc",
        "c3ViI",
        "dozj",
        "Tr0u",
        "3391",
        "q9w8",
        "1204",
        "12345",
        "hunter",
        "4711",
    )
    pieces += ("abc_def", "99887")
    assert not [f for f in found if any(piece in form for form in f.forms for piece in pieces)]


@pytest.mark.parametrize("secret", SECRETS)
def test_what_stands_around_a_secret_is_read(secret):
    assert "ETL-727" in [f.value for f in facts_of(f"before it\n{secret}\nthen ETL-727 came")]


def test_a_secret_in_capitals_is_one_too():
    assert facts_of("PASSWORD=TR0UB4DOR-3391 and BEARER ABCDEF1234567890_LONG-12345") == []


def test_what_a_lone_surrogate_stands_in_is_no_fact_and_its_neighbours_are():
    assert values_of("max_\ud83dsize of ETL-727") == ["ETL-727"]


def test_code_that_only_names_a_password_is_read():
    assert "read_password" in values_of("password = read_password(prompt)", "identifier")


def test_reasoning_results_and_arguments_are_all_mined():
    messages = [
        Message("assistant", (Reasoning("so ETL-101 it is"), ToolCall("c1", "grep", '{"pattern": "ETL-102"}'))),
        Message("tool", (ToolResult("c1", (Text("ETL-103"),)),)),
    ]
    assert [f.value for f in mine(messages)] == ["ETL-101", "ETL-102", "ETL-103"]


def test_names_of_tools_are_no_facts():
    messages = [Message("assistant", (Text("I use list_dir"), ToolCall("c1", "list_dir", "{}")))]
    assert mine(messages) == ()


def test_a_value_belongs_to_the_most_specific_family():
    assert mine([Message("user", (Text('He wrote "2026 March" and 5b1e77d.'),))])[-1] == Fact(
        "hash", "5b1e77d", ("5b1e77d",)
    )
