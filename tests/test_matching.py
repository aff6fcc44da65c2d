"""Is a value in a text, where does it end, and which words stand near it."""

import pytest
from histories import agent, call, result
from hypothesis import given
from hypothesis import strategies as st

from compactlab.matching import VERDICTS, WINDOW, Matcher, Pattern, content_words, fold, is_content, is_whole
from compactlab.transcript import Image, Reasoning, Text


def stands(family, form, text, *, exact=True):
    return bool(Matcher([Pattern((form,), exact, family)]).hits(text))


WHOLE = [
    ("number", "5433", "port 5433", True),
    ("number", "5433", "5433", True),
    ("number", "5433", "Use port 5433.", True),
    ("number", "5433", "(5433)", True),
    ("number", "5433", "5433, then", True),
    ("number", "5433", "port=5433;", True),
    ("number", "5433", "54330", False),
    ("number", "5433", "15433", False),
    ("number", "5433", "5434", False),
    ("number", "5433", "x5433", False),
    ("number", "5433", "5433_old", False),
    ("number", "12", "1.2", False),
    ("number", "12", "3.12", False),
    ("number", "12", "12.5", False),
    ("number", "12", "12,500", False),
    ("number", "500", "12,500", False),
    ("number", "12", "12:30", False),
    ("number", "12", "2026-12-01", False),
    ("number", "12", "12/7", False),
    ("number", "1.2", "1.25", False),
    ("number", "1.2", "11.2", False),
    ("number", "1.2", "1.2.3", False),
    ("number", "1.2", "It grew by 1.2.", True),
    ("number", "1204", "$1204", True),
    ("number", "1204", "1204%", True),
    ("quantity", "12 kWh", "It used 12 kWh.", True),
    ("quantity", "12 kWh", "It used 1.12 kWh.", False),
    ("quantity", "12 kWh", "It used 12 kWhs.", False),
    ("quantity", "12 kWh", "It used 12\n  kWh.", True),
    ("date", "2026-12-01", "on 2026-12-01.", True),
    ("date", "2026-12-01", "on 2026-12-011", False),
    ("date", "2026-12", "on 2026-12-01", False),
    ("path", "/a/b", "see /a/b.", True),
    ("path", "/a/b", "see `/a/b`", True),
    ("path", "/a/b", "see /a/b:17", True),
    ("path", "/a/b", "see /a/b, then", True),
    ("path", "/a/b", "see /a/b/", True),
    ("path", "/a/b", "see /a/bc", False),
    ("path", "/a/b", "see /a/b/c", False),
    ("path", "/a/b", "see /a/b.c", False),
    ("path", "/a/b", "see /a/b-c", False),
    ("path", "/a/b", "see /x/a/b", False),
    ("path", "/a/b", "see x/a/b", False),
    ("path", "/a/b", "see ~/a/b", False),
    ("path", "/a/b", "see //a/b", False),
    ("path", "/a/b", "see ../a/b", False),
    ("path", "/a/b", "see ./a/b", False),
    ("path", "a/b.py", "see a/b.py", True),
    ("path", "a/b.py", "see ./a/b.py", True),
    ("path", "a/b.py", "./a/b.py", True),
    ("path", "a/b.py", "(./a/b.py)", True),
    ("path", "a/b.py", "see ../a/b.py", False),
    ("path", "a/b.py", "see x./a/b.py", False),
    ("path", "a/b.py", "see /a/b.py", False),
    ("path", "a/b.py", "see c/a/b.py", False),
    ("path", "a/b.py", "see a/b.pyc", False),
    ("path", "b.py", "b.py:118: error", True),
    ("path", "b.py", "b.py.bak", False),
    ("path", "b.py", "ab.py", False),
    ("path", "b.py", "a-b.py", False),
    ("identifier", "staging-01", "on staging-01 now", True),
    ("identifier", "staging-01", "on staging-02 now", False),
    ("identifier", "staging-01", "on staging-011", False),
    ("identifier", "staging-01", "on staging-01-b", False),
    ("identifier", "staging-01", "on prestaging-01", False),
    ("identifier", "staging-01", "on pre-staging-01", False),
    ("identifier", "parse_row", "call parse_row()", True),
    ("identifier", "parse_row", "call parse_rows()", False),
    ("identifier", "parse_row", "call _parse_row()", False),
    ("identifier", "ETL-727", "fixed by ETL-7271", False),
    ("hash", "3fa9c1d", "commit 3fa9c1d.", True),
    ("hash", "3fa9c1d", "commit 3fa9c1d2", False),
    ("hash", "3fa9c1d", "commit 03fa9c1d", False),
    ("hash", "3fa9c1d2-1b2c", "id 3fa9c1d2-1b2c-4d5e", False),
    ("url", "https://x.org/a", "at https://x.org/a.", True),
    ("url", "https://x.org/a", "(https://x.org/a)", True),
    ("url", "https://x.org/a", "https://x.org/a/", True),
    ("url", "https://x.org/a", "https://x.org/ab", False),
    ("url", "https://x.org/a", "https://x.org/a/b", False),
    ("url", "https://x.org/a", "https://x.org/a?b=1", False),
    ("url", "https://x.org/a", "https://x.org/a#b", False),
    ("url", "https://x.org", "https://x.org.evil.net", False),
    ("url", "https://x.org", "https://x.org:8080/a", False),
    ("url", "https://x.org/a", "https://x.org/a%20b", False),
    ("setting", "LEVEL_X=debug", "run with LEVEL_X=debug.", True),
    ("setting", "LEVEL_X=debug", "run with LEVEL_X=debug-all", False),
    ("setting", "retries=3", "retries=3.5", False),
    ("setting", "retries=3", "retries=3/4", False),
    ("setting", "retries=3", "max-retries=3", False),
    ("setting", "retries=3", "http.retries=3 backoff", True),
    ("setting", "retries=3", "app.toml:12:retries=3", True),
    ("identifier", "edge-gateway", "logs of edge-gateway.", True),
    ("identifier", "edge-gateway", "logs/edge-gateway.log", False),
    ("identifier", "edge-gateway", "edge-gateway.log:22", False),
    ("quantity", "3 ft", "3 ft 9 in", False),
    ("quantity", "3 feet", "3 feet 6, they say", False),
    ("quantity", "3 ft", "3 ft 9 of them", True),
    ("quantity", "3 ft", "3 ft, 9 in all", True),
    ("quantity", "147 x 61", "147 x 61 x 124", False),
    ("quantity", "147 x 61", "147 x 61, 124", True),
    ("identifier", "db.pool", "in db.pool. Then", True),
    ("identifier", "db.pool", "db.pool.size=3", False),
    ("identifier", "first_store", "first_store.close()", True),
    ("date", "14:25:06", "2026-02-17T14:25:06Z start", True),
    ("date", "14:25:06", "2026-02-17T14:25:06+01:00", True),
    ("date", "14:25:06", "2026-02-17T14:25:06.031Z", False),
    ("date", "14:25:06.031", "2026-02-17T14:25:06.031Z", True),
    ("date", "14:25:06", "at14:25:06", False),
    ("date", "14:25", "2026-02-17T14:25Z", False),
    ("date", "14:25", "at 14:25:06", False),
    ("date", "21 Jan", "13-21 Jan", True),
    ("date", "Jan 13", "Jan 13-21", True),
    ("date", "April 9", "on April 9", True),
    ("date", "April 9", "07 April 9 Friday", False),
    ("date", "April 9", "07 April\n9 Friday", False),
    ("date", "Nov 13", "11 Nov 13–21 Jan", False),
    ("date", "Nov 13", "the 11th of Nov 13", False),
    ("date", "April 9", "at 14:07 April 9", True),
    ("date", "April 9", "2027 April 9", True),
    ("date", "April 2027", "14 April 2027", False),
    ("date", "April 2027", "in April 2027", True),
    ("error", "ValueError: no rows", "ValueError: no rows found", True),
    ("error", "ValueError: no row", "ValueError: no rows", False),
    ("name", "Ann", "Ann's key", True),
    ("name", "Ann", "Anne's key", False),
    ("number", "12", "版本12是新的", True),
    ("number", "12", "版本120是新的", False),
    ("name", "台北", "我在台北市", True),
    ("name", "Ann", "問Ann吧", True),
    ("number", "1204", "１２０４", True),
    ("path", "/a/b", "／a／b", True),
    ("quantity", "20 m2", "20 m²", True),
    ("number", "1204", "12\u00ad04", False),
    ("number", "1204", "1204\ud83d", True),
    ("number", "1204", "\ud83d1204", True),
    ("number", "1204", "12\ud83d04", False),
    ("number", "1204", "a\x00 1204\x00", True),
    ("number", "1204", "", False),
]


@pytest.mark.parametrize(("family", "form", "text", "expected"), WHOLE)
def test_a_value_stands_in_a_text_only_as_a_whole(family, form, text, expected):
    assert stands(family, form, text) is expected


@pytest.mark.parametrize(
    ("family", "value", "near"),
    [
        ("identifier", "staging-01", "staging-02"),
        ("number", "30717.807", "30717.817"),
        ("number", "1204", "1240"),
        ("path", "src/orders/refunds.py", "src/orders/refund.py"),
        ("path", "/a/b", "/a/bc"),
        ("hash", "3fa9c1d2e4b5a697", "3fa9c1d2e4b5a698"),
        ("url", "https://x.org/v1", "https://x.org/v2"),
        ("name", "Hollin End", "Hollin Edge"),
    ],
)
def test_a_near_value_is_another_value_both_ways(family, value, near):
    both = Matcher([Pattern((value,), exact=True, family=family), Pattern((near,), exact=True, family=family)])
    assert [hit.pattern for hit in both.hits(f"It is {value} today.")] == [0]
    assert [hit.pattern for hit in both.hits(f"It is {near} today.")] == [1]


@pytest.mark.parametrize(
    ("exact", "form", "text", "expected"),
    [
        (True, "README", "readme", False),
        (True, "README", "README", True),
        (False, "Hollin End", "HOLLIN END", True),
        (False, "hollin end", "Hollin\n End", True),
        (False, "STRASSE", "strasse", True),
        (False, "straße", "STRASSE", False),
        (False, "ÉTÉ", "été", True),
    ],
)
def test_case_counts_where_a_pattern_is_exact_and_nowhere_else(exact, form, text, expected):
    assert stands("name", form, text, exact=exact) is expected


def near(text, *forms):
    """Words near the one place of the first form; the others are values too."""
    matcher = Matcher([Pattern((form,), exact=True, family="number") for form in forms])
    (hit,) = [hit for hit in matcher.hits(text) if hit.pattern == 0]
    return set(hit.words)


@pytest.mark.parametrize("distance", [1, 7, 8, 9, 20])
@pytest.mark.parametrize("behind", [False, True])
def test_the_window_is_exactly_eight_words_on_either_side(distance, behind):
    between = " ".join(["of"] * (distance - 1))
    text = f"5433 {between} database" if behind else f"database {between} 5433"
    assert WINDOW == 8
    assert near(text, "5433") == ({"database"} if distance <= 8 else set())


def test_punctuation_is_no_word_of_the_window():
    assert near(f"database {'-- ... // ' * 20} 5433", "5433") == {"database"}


def test_a_value_between_takes_the_room_of_its_words():
    assert near(f"database {'7777 ' * 7}5433", "5433", "7777") == {"database"}
    assert near(f"database {'7777 ' * 8}5433", "5433", "7777") == set()


@pytest.mark.parametrize(
    ("text", "forms", "expected"),
    [
        ("the garden key weighs 1204 grams", ("1204",), {"garden", "key", "weighs", "grams"}),
        ("the garden key weighs 1204 grams", ("1204", "garden key"), {"weighs", "grams"}),
        ("the garden key weighs 1204 grams", ("1204", "garden", "key", "weighs", "grams"), set()),
        ("1204 1204x 77 ab of x1 Garden", ("1204",), {"garden"}),
        ("1204\n5433\n/etc/app", ("1204", "5433", "/etc/app"), set()),
        ("GARDEN 1204", ("1204",), {"garden"}),
        ("Haus-Nummer 1204 ist für Jürgen", ("1204",), {"haus", "nummer", "jürgen"}),
    ],
)
def test_anchors_are_content_words_that_are_no_part_of_a_value(text, forms, expected):
    assert near(text, *forms) == expected


UNSPACED = [
    ("数据库端口是5433号", {"数据", "据库", "库端", "端口", "口是"}),
    ("这是我们的5433", set()),
    (
        "データベースのポートは5433番です",
        {"デー", "ータ", "タベ", "ベー", "ース", "スの", "のポ", "ポー", "ート", "トは", "番で"},
    ),
    ("そうですから5433なのです", set()),
    ("데이터베이스 포트는 5433", {"데이", "이터", "터베", "베이", "이스", "포트", "트는"}),
    ("the 端口 port 5433", {"端口", "port"}),
]


@pytest.mark.parametrize(("text", "expected"), UNSPACED)
def test_pairs_of_characters_anchor_where_words_have_no_blanks(text, expected):
    assert near(text, "5433") == expected


def test_two_characters_of_a_script_without_blanks_take_the_room_of_a_word():
    assert near(f"海里{'国' * 14}5433", "5433") == {"海里", "里国", "国国"}
    assert near(f"海里{'国' * 16}5433", "5433") == {"国国"}


def test_no_pair_reaches_into_a_value_or_out_of_one():
    matcher = Matcher([Pattern((form,), exact=True, family="name") for form in ("海里", "漁村")])
    assert [set(hit.words) for hit in matcher.hits("古い海里漁村は")] == [{"古い"}, {"古い"}]


@given(st.text(st.characters(max_codepoint=0x2E7F), max_size=60))
def test_one_ideograph_does_not_change_the_other_words(text):
    alone = {word for word in content_words(text) if word.isascii()}
    assert {word for word in content_words(f"{text} 漢") if word.isascii()} == alone


def test_words_are_read_when_they_are_asked_for_and_stay_the_same():
    matcher = Matcher([Pattern(("5433",), exact=True, family="number")])
    (hit,) = matcher.block(Text("the database port 5433"))
    assert hit.words == hit.words == {"database", "port"}
    assert matcher.block(Text("the database port 5433"))[0] is hit


def test_words_inside_the_value_itself_do_not_anchor_it():
    assert near("Hollin End", "Hollin End") == set()


def test_hits_stand_in_the_order_of_the_text_and_each_form_counts_for_its_pattern():
    patterns = [Pattern(("two pounds", "£2"), exact=False, family="quantity"), Pattern(("5433",), True, "number")]
    hits = Matcher(patterns).hits("5433 cost £2, yes Two Pounds, for 5433")
    assert [hit.pattern for hit in hits] == [1, 0, 0, 1]


def test_a_form_inside_another_form_is_found_too():
    patterns = [Pattern(("src/app.py",), True, "path"), Pattern(("app.py",), True, "name")]
    assert {hit.pattern for hit in Matcher(patterns).hits("see src/app.py")} == {0, 1}


@pytest.mark.parametrize("forms", [(), ("",)])
def test_a_matcher_of_nothing_finds_nothing(forms):
    assert Matcher([Pattern(forms, exact=True, family="number")]).hits("5433") == []
    assert Matcher([]).hits("5433") == []


@pytest.mark.parametrize(
    ("block", "expected"),
    [
        (Text("port 5433"), 1),
        (Reasoning("port 5433"), 1),
        (Reasoning(opaque="5433"), 0),
        (call("c1", "bash", '{"command": "psql -p 5433"}'), 1),
        (call("c1", "bash", '{"command": "psql\\n5433"}'), 1),
        (call("c1", "bash", '{"port": 5433}'), 1),
        (call("c1", "bash", '{"broken: 5433 '), 1),
        (call("5433", "bash", "{}"), 0),
        (result("c1", "listening on 5433"), 1),
        (result("5433", "listening"), 0),
        (Image("image/png", digest="5433"), 0),
    ],
)
def test_blocks_are_matched_on_the_words_that_they_say(block, expected):
    matcher = Matcher([Pattern(("5433",), exact=True, family="number")])
    assert len(matcher.block(block)) == expected
    assert matcher.block(block) == matcher.block(block)


def test_words_of_a_neighbouring_block_bind_nothing():
    matcher = Matcher([Pattern(("5433",), exact=True, family="number")])
    said = agent("The database port is", "5433")
    assert [hit.words for block in said.blocks for hit in matcher.block(block)] == [frozenset()]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("How much does the garden key weigh?", {"garden", "key", "weigh"}),
        ("Is it so?", set()),
        ("port-5433 ab x1 DB", {"port"}),
        ("Was kostet die Straße?", {"kostet", "straße"}),
        ("ﬁle", {"file"}),
        ("bro\ud83dken words", {"bro", "ken", "words"}),
        ("", set()),
    ],
)
def test_content_words_are_long_enough_and_say_something(text, expected):
    assert content_words(text) == expected


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("port", True),
        ("端口", True),
        ("的了", False),
        ("端", False),
        ("of", False),
        ("the", False),
        ("x1y2", False),
        ("ab", False),
        ("", False),
    ],
)
def test_a_content_word_has_three_letters_and_no_digit(word, expected):
    assert is_content(word) is expected


def test_the_verdicts_are_a_closed_list():
    assert VERDICTS == ("kept", "stale", "both", "mutated", "weakened", "contradicted", "lost")


ANY_TEXT = st.text(st.characters(), max_size=40)


@given(ANY_TEXT, ANY_TEXT)
def test_a_value_between_blanks_is_found_in_any_text(before, after):
    for family in ("number", "path", "identifier", "hash", "url", "name"):
        assert stands(family, "5433", f"{before} 5433 {after}")


@given(st.from_regex(r"[a-z0-9_]{0,5}", fullmatch=True), st.from_regex(r"[a-z0-9_]{0,5}", fullmatch=True))
def test_a_value_inside_a_word_is_found_nowhere(before, after):
    whole = not before and not after
    for family in ("number", "path", "identifier", "hash", "url", "name"):
        assert stands(family, "5433", f"say {before}5433{after} now") is whole


@given(st.integers(1_000, 99_999), st.integers(0, 4), st.integers(1, 9), st.sampled_from([".", ":", "-", "/", ""]))
def test_a_number_is_not_found_in_one_with_a_digit_changed_or_added(number, place, step, joiner):
    digits = str(number)
    place %= len(digits)
    changed = f"{digits[:place]}{(int(digits[place]) + step) % 10}{digits[place + 1 :]}"
    for near_value in (changed, f"{digits}{joiner}{step}", f"{step}{joiner}{digits}"):
        assert not stands("number", digits, f"It was {near_value} in all.")


@given(ANY_TEXT)
def test_folding_keeps_the_length_and_is_done_once(text):
    assert len(fold(text)) == len(text)
    assert fold(fold(text)) == fold(text)


@pytest.mark.parametrize(
    ("text", "start", "end", "joiners", "expected"),
    [
        ("12", 0, 2, ".,", True),
        ("a12", 1, 3, "", False),
        ("12a", 0, 2, "", False),
        ("1.12", 2, 4, "", True),
        ("1.12", 2, 4, ".", False),
        (".12", 1, 3, ".", True),
        ("12.", 0, 2, ".", True),
        ("12.a", 0, 2, ".", False),
        ("12..a", 0, 2, ".", True),
    ],
)
def test_joiners_make_longer_values_only_together_with_a_word(text, start, end, joiners, expected):
    assert is_whole(text, start, end, joiners) is expected


CLOSE = st.text(st.sampled_from("54a_ .,:/-~?&=#%\\n!\"$'()*;<>@[]^`{|}é漢"), max_size=4)


@given(CLOSE, CLOSE, st.sampled_from(["number", "path", "url", "hash", "command", "name"]))
def test_a_matcher_finds_the_places_where_a_value_is_whole_and_no_others(before, after, family):
    matcher = Matcher([Pattern(("54",), exact=True, family=family)])
    (joiners,) = matcher._searches[0]._joiners
    text = f"{before}54{after}"
    whole = [at for at in range(len(text)) if text.startswith("54", at) and is_whole(text, at, at + 2, joiners)]
    assert [start for start, _, _ in matcher.spans(text)] == whole


def test_a_long_text_full_of_values_is_read_in_linear_time():
    matcher = Matcher([Pattern((str(n),), exact=True, family="number") for n in range(1_000, 1_200)])
    hits = matcher.hits("".join(f"worker {n % 200 + 1_000} took long, " for n in range(20_000)))
    assert len(hits) == 20_000
    assert hits[77].words == {"worker", "took", "long"}
