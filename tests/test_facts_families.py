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
    ("git log --since=2026-03-01; ls -la\ngit diff v2 v3", ["git log --since=2026-03-01", "git diff v2 v3"]),
    ("git log --oneline -5; git status --short; git diff; git diff --stat -- src/a.py; git stash list", []),
    ("python3 --version; python3 -m pytest -q; npm test; make; make build; pytest -x tests; ruff check .", []),
    ("head -12 a.txt; tail -n 1 b.txt; wc -l c.txt; tail -n +2 d.txt; sed -n '12,40p' src/e.py; rm -rf tmp", []),
    ("head -12 a.txt b.txt; sed -n /x/,/y/p src/e.py", ["head -12 a.txt b.txt", "sed -n /x/,/y/p src/e.py"]),
    ("grep -n 'a && b; c' x.py", ["grep -n 'a && b; c' x.py"]),
    ('grep -c "x | \\" y" f.txt || true', ['grep -c "x | \\" y" f.txt']),
    ("make label-db 2>&1 >/dev/null", ["make label-db"]),
    ("cat > a.py <<'EOF'\nrm -rf everything here\nEOF\nwc -l a.py b.py", ["wc -l a.py b.py"]),
    ("for f in a b; do sha256sum $f.csv --tag x; done", ["sha256sum $f.csv --tag x"]),
    ("n=$(wc -l a.txt | cut -c1-3) && head -2 b.txt c.txt", ["head -2 b.txt c.txt"]),
    ("echo hello world; true; cd somewhere/else; ls", []),
    ("x", []),
]


@pytest.mark.parametrize(("script", "expected"), COMMANDS)
def test_commands_are_the_telling_simple_commands_of_a_shell_call(script, expected):
    call = ToolCall("c1", "bash", json.dumps({"command": script}))
    found = [f.value for f in mine([Message("assistant", (call,))]) if f.family == "command"]
    assert found == expected


def test_a_command_may_be_a_list_for_a_shell_and_any_tool_may_run_it():
    call = ToolCall("c1", "local_shell", json.dumps({"cmd": ["bash", "-lc", "cargo test -p ledger"]}))
    assert "cargo test -p ledger" in [f.value for f in mine([Message("assistant", (call,))])]


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
    ("it is about 30.7 thousand kWh, or 1.2 million pounds", ["30700 kWh", "1200000 pounds"]),
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
    (
        "The crate is 147 x 61 x 124 and the rooms are 2.30 × 1.55 and 24x36.",
        ["147 x 61 x 124", "2.30 x 1.55", "24 x 36"],
    ),
    ("The tax of it is 9479 x 0.07 in that region.", []),
    (
        "The keel is 3 ft 9 in, it is 12 feet 6 long, and 7 ft. 5 inches of it.",
        ["3 feet 9 inches", "12 feet 6 inches", "7 feet 5 inches"],
    ),
    ("We sold 14 orders, and 11 damaged orders came back.", ["14 orders", "11 damaged orders"]),
    ("We sold 14 orders, and 11 slowly orders and 1998 late orders and 3 of orders.", ["14 orders"]),
    ("There are 11 damaged crates in the yard.", []),
    ("It waits for status=504 attempts=4 to come up in it.", []),
    ("She wrote 30.7 thousand words of it.", ["30700 words"]),
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


REPORTED = [
    ("(122 rows)", ["122 rows"]),
    ("loaded: 186,400 rows, 3 files; 12 batches.", ["186400 rows", "3 files", "12 batches"]),
    ("78 rows written", ["78 rows"]),
    ("rows = 12 rows[3]", []),
    ("0 rows, 2 rows, 5 passed", []),
]


@pytest.mark.parametrize(("text", "expected"), REPORTED)
def test_programs_report_counts_of_usual_things(text, expected):
    assert [f.value for f in result_of(text) if f.family == "quantity"] == expected


def test_a_bare_number_is_a_form_of_the_only_count_that_has_it():
    (fact,) = facts_of("There are 11366 lines in it, well, 11,366.", "number", "quantity")
    assert (fact.value, "11,366" in fact.forms) == ("11366 lines", True)
    assert values_of("There are 11366 lines, or 11366 rows, so 11366.", "number") == ["11366"]


def test_an_amount_with_noughts_is_a_form_of_the_price_and_the_bare_number_is_not():
    found = facts_of("It costs 189 euros. The total is 189.00 today.", "number")
    assert [f.value for f in found] == ["189 euros"]
    assert "189.00" in found[0].forms
    assert "189" not in found[0].forms
    assert values_of("It took 30 days. The total is 30.00 today.", "number") == ["30.00"]


def test_counted_things_in_code_and_tables_are_no_quantities():
    assert result_of("rows = 12 pieces[3]; x |= 9 panes\n| 12 panes | 4 |\n") == []


DATES = [
    ("from 2025-11-05 on", ["2025-11-05"]),
    ("on 14 March, March 3rd, Tue 14 Apr and the second of May", ["14 March", "3 March", "14 April", "2 May"]),
    ("on 14 March 2026, in April 2027 and on the 13. Januar", ["2026-03-14", "2027-04", "13 January"]),
    ("We meet at 14:30, or at 8 am, or about four o'clock.", ["14:30", "08:00", "4 o'clock"]),
    ("At 14:25:06 it broke, at 14:25 too, and at 14:50:12.640 it came up.", ["14:25:06", "14:25", "14:50:12.640"]),
    (
        "We came at half past nine, at ten to six, and by quarter to 4 we left.",
        ["half past nine", "ten to six", "quarter to four"],
    ),
    ("He counted from ten to nine times, the score was ten to six.", []),
    ("He died on 6 Dec 1397 in May 1398. Then on 6 December 397, in all.", ["1397-12-06", "1398-05", "0397-12-06"]),
    ("On 6 May 1204 pieces came, and on 7 May 120 people.", ["6 May", "7 May"]),
    ("On 7 June 1398 was the fair, on 8 June 2026 another.", ["1398-06-07", "2026-06-08"]),
    (
        "It is 13–21 Jan, then 3-9 May 2026 and March 3-5, or 14 to 20 June.",
        ["13 January", "21 January", "2026-05-03", "2026-05-09", "3 March", "5 March", "14 June", "20 June"],
    ),
    ("The 21-13 Jan and 30-40 May are none.", []),
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


def test_times_with_other_seconds_are_other_times():
    found = facts_of("It began at 14:15:02 and ended at 14:15:30, they say.", "date")
    assert [f.value for f in found] == ["14:15:02", "14:15:30"]
    assert not any("14:15" in f.forms for f in found)
    assert "2:15:02 pm" in found[0].forms


def test_a_day_without_its_year_is_a_form_of_the_only_one_with_it():
    (fact,) = facts_of("It is due on 2026-09-01. Yes, on 1 September then.", "date")
    assert (fact.value, "1 September" in fact.forms) == ("2026-09-01", True)


def test_a_day_without_its_year_that_may_be_in_two_years_or_long_ago_stays_one():
    assert values_of("On 2026-09-01, on 2027-09-01, and on 1 September.", "date")[-1] == "1 September"
    assert values_of("On 2026-09-01, on 2026-09-02, born 1911-06-03; come on 3 June.", "date")[-1] == "3 June"
    assert values_of("He died on 6 Dec 1397, and we came on 6 December too.", "date") == ["1397-12-06", "6 December"]


def test_a_year_long_ago_is_no_number_in_a_session_with_days_of_that_time():
    assert values_of("He died on 6 Dec 1397 and the canal of 1391 was new.", "number") == []
    assert values_of("He counted 1391 and then he died on 6 Dec 1911.", "number") == ["1391"]


NAMES = [
    ("We saw Mirela at Larch Cottage. Mirela waved.", ["Mirela", "Larch Cottage"]),
    ("I met Jory's mother and the Bishop of Wenbury there.", ["Jory", "Bishop of Wenbury"]),
    ("On Monday in March the English asked. Then Rowan left, said Rowan.", ["Rowan"]),
    ("The wall is warm. Nothing grows there. Perhaps it will.", []),
    ("I saw Dunnock there. DUNNOCK is her name.", ["Dunnock"]),
    ("We have it of the Early Horn there. Early Horn is late, and it is early yet.", ["Early Horn"]),
    ("We ran s/Outdoors: hollyhocks to H/ there. Then I said, 'Halves,' and it was so.", []),
    ("See row P11. Released by a breach. In it Released when it is done.", []),
    ("I saw that Dad and my Mum came.", []),
    ("Ask the Hask Carriers. Then I asked Hask again.", ["Hask Carriers"]),
    ("I asked Hask first. Then the Hask Carriers came, and Hask.", ["Hask", "Hask Carriers"]),
    ("You see Hope there, and there is hope in it.", []),
    ("I use Python on Linux with Docker, and the SQL of it.", []),
    ("Ich habe der Frau und dem Mann die Karte auf den Tisch gelegt, nicht das Buch.", []),
]


@pytest.mark.parametrize(("text", "expected"), NAMES)
def test_names_are_capitalised_inside_a_sentence_and_nowhere_small(text, expected):
    assert values_of(text, "name") == expected


def test_a_name_goes_by_its_capitals_too():
    (fact,) = facts_of("I saw Dunnock there, she is the DUNNOCK of old.", "name")
    assert fact.forms == ("Dunnock", "DUNNOCK")


def test_the_first_word_of_a_name_goes_by_the_longer_name_that_came_first():
    (fact,) = facts_of("We asked the Hask Carriers there. Then I asked Hask again.", "name")
    assert "Hask" in fact.forms


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
    ('They call it "the book". The book and the wall, a book, my book, that book.\nThis book.\nHis book.\nA book.', []),
    ('They call it "the cannonball" there, no other.', ["the cannonball"]),
    ('They call it "the Book" there. The book.\nThis book.\nHis book.\nA book.\nMy book.', ["the Book"]),
    ("Please run `git status` and `npm test -q` for me.", []),
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
