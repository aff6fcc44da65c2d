"""A line is read word by word, or as a whole where a match may lie across a blank: both ways give the same."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compactlab.facts import mine
from compactlab.facts.code import ARGUMENTS
from compactlab.facts.fact import fact
from compactlab.facts.lines import MONTH, NUMERAL, Look, Looks, Rule, Rules, signs_of
from compactlab.facts.reading import STAGES, Lines
from compactlab.facts.sheet import Sheet
from compactlab.facts.text import FILLER
from compactlab.readers import read
from compactlab.transcript import Message, Text

FIXTURES = Path(__file__).parent.parent / "fixtures" / "transcripts"
SESSIONS = sorted(path for path in FIXTURES.glob("*.jsonl") if not path.name.endswith(".probes.jsonl"))
EVERYTHING = Rules(*(rule for stage in STAGES if stage is not ARGUMENTS for rule in stage.rules))


def by_words(line, *, prose):
    return Lines(Looks(), prose=prose, arguments=False)[line]


def by_rules(line, *, prose):
    """Read the whole line with every rule, as if any match might lie across a blank."""
    return EVERYTHING(line, signs_of(line) | {MONTH, NUMERAL}, prose=prose)


def same(line, *, prose):
    one, other = by_words(line, prose=prose), by_rules(line, prose=prose)
    return sorted(one.found, key=str) == sorted(other.found, key=str) and one.taken == other.taken


ACROSS = [
    ("it took 450 ms of 12 kWh", False, ["450 ms", "12 kWh"]),
    ("EUR 96.50 or £ 1204", False, ["96.5 euros", "1204 pounds"]),
    ("a pane of 610 x 255 and of 30 x40", False, ["610 x 255", "30 x 40"]),
    ("2026-03-14 10:25 start", False, ["2026-03-14"]),
    ("on 14 March and March 3rd, 2027", False, ["14 March", "2027-03-03"]),
    ("there are nine panes, and 12 pots", True, ["9 panes", "12 pots"]),
    ("thirty-one notches and two hundred and twelve grams", True, ["31 notches", "212 grams"]),
    ("at four o'clock or 8 pm", True, ["4 o'clock", "20:00"]),
    ("drei Karten und siebenundvierzig Kilo", True, ["3 Karten", "47 kilograms"]),
    ("a bolt of 9 3/8 and 12 per cent of it", True, ["9 3/8", "12 %"]),
    ("six lines of it", True, ["6 lines"]),
    ("about 30.7 thousand kWh of it, 3 ft 9 in long", True, ["30700 kWh", "3 feet 9 inches"]),
    ("from 13–21 Jan and on 6 Dec 1397", False, ["13 January", "21 January", "1397-12-06"]),
    ("a crate of 147 x 61 x 124", False, ["147 x 61 x 124"]),
    ("nine panes and 8 pm", False, []),
]


@pytest.mark.parametrize(("line", "prose", "expected"), ACROSS)
def test_what_lies_across_blanks_is_found(line, prose, expected):
    found = sorted(by_words(line, prose=prose).found, key=lambda one: one[0])
    assert [made.value for _, made in found] == expected
    assert same(line, prose=prose)


@pytest.mark.parametrize("name", [path.stem for path in SESSIONS])
def test_both_ways_give_the_same_on_the_lines_of_a_recorded_session(name):
    (transcript,) = read(FIXTURES / f"{name}.jsonl")
    blocks = list(dict.fromkeys(block for message in transcript.messages for block in message.blocks))
    lines = {
        (line, part.prose) for block in blocks for part in Sheet(block).stretches for line in part.text.split("\n")
    }
    sample = sorted(lines)[:: max(1, len(lines) // 150)]
    assert len(sample) >= 100
    assert [line for line, prose in sample if not same(line, prose=prose)] == []


PIECES = st.sampled_from(
    """src/app.py ./a/b.md:12 https://x.internal:9443/a ETL-727 max_size_ms foo.bar_baz( 5b1e77d 1,204 212 12 3.14 £ $
    EUR x × 610x255 nine two hundred and forty-one thirty panes pots people grams metres kWh ms % per cent working
    days March May. 14 14th of second 2027 2025-11-05 10:25 8 pm am o'clock 9 3/8 drei Karten Kilo v1.2.9 #12
    (March -5 1.204, "12 it's 'nine six one thousand million ft in inches 30.7 1397 13–21 Jan
    label-service db.pool rows""".split()
)
LINES = st.lists(st.tuples(PIECES, st.sampled_from([" ", " ", " ", "  ", "", "\t", ","])), max_size=14).map(
    lambda pairs: "".join(piece + gap for piece, gap in pairs)
)


@given(LINES, st.booleans())
def test_both_ways_give_the_same_on_any_line(line, prose):
    assert same(line, prose=prose)


def test_a_later_rule_sees_what_an_earlier_one_left():
    words = Rule(re.compile(r"\w+b"), lambda match: (fact("name", match[0]),), ("b",))
    letters = Rule(re.compile(r"\w"), lambda match: (fact("name", match[0]),), ("a",))
    reading = Rules(words, letters)("ab a", frozenset("ab"), prose=False)
    assert [(at, made.value) for at, made in reading.found] == [(0, "ab"), (3, "a")]
    assert reading.taken == ((0, 2), (3, 4))


@pytest.mark.parametrize(("prose", "expected"), [(True, ["b", "c"]), (False, ["a", "c"])])
def test_a_rule_may_be_for_prose_alone_or_for_all_else(prose, expected):
    rules = [
        Rule(re.compile(letter), lambda match: (fact("name", match[0]),), (letter,), prose=where)
        for letter, where in (("a", False), ("b", True), ("c", None))
    ]
    reading = Rules(*rules)("abc", frozenset("abc"), prose=prose)
    assert [made.value for _, made in reading.found] == expected


def test_a_rule_that_hides_makes_no_facts_and_leaves_nothing():
    hiding = Rule(re.compile("a+"), lambda _: (), ("a",), hides=True)
    letters = Rule(re.compile(r"[ab]"), lambda match: (fact("name", match[0]),), ("a",))
    assert Rules(hiding, letters)("aab", frozenset("ab"), prose=False).found == ((2, fact("name", "b")),)


def test_a_rule_is_not_tried_without_its_signs():
    rules = Rules(Rule(re.compile("a"), lambda match: (fact("name", match[0]),), ("a", "xy")))
    assert rules("ab", frozenset("ab"), prose=False).found == ()
    assert rules("aby", frozenset("aby"), prose=False).found == ((0, fact("name", "a")),)


def test_signs_tell_kinds_of_characters_and_foreign_digits():
    assert signs_of("Ab9 x") == {"A", "a", "0", " ", "x"}
    assert "0" in signs_of("٣ km")


def test_looks_are_tried_where_a_word_of_theirs_stands_and_pass_over_what_is_masked():
    looks = Looks(
        Look(re.compile(r"def (\S+)"), lambda match: (fact("identifier", match[1]),), ("def",)),
        Look(re.compile(r"\d+"), lambda match: (fact("number", match[0]),), ("line",)),
    )
    assert looks("def load, 12") == ((0, fact("identifier", "load,")),)
    assert looks("line 12 of it") == ((5, fact("number", "12")),)
    assert looks(f"def {FILLER}load") == ()
    assert looks("nothing 12") == ()


def test_the_same_line_means_the_same_behind_any_line_number():
    line = "limit = 30717 in src/app.py"
    assert mine([Message("user", (Text(f"  12\t{line}"),))]) == mine([Message("user", (Text(f"3456\t{line}"),))])
