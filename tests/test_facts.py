"""What every fact promises, whatever it was mined from: its forms stand in the text, and are its alone."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compactlab.facts import FAMILIES, mine
from compactlab.facts.text import FILLER, canonical, normal, prose, unwrapped
from compactlab.facts.words import GERMAN_WORDS, NO_NAMES, NO_THINGS, STOP_WORDS
from compactlab.readers import read
from compactlab.transcript import Message, Text, ToolCall, readable

FIXTURES = Path(__file__).parent.parent / "fixtures" / "transcripts"
SESSIONS = sorted(path for path in FIXTURES.glob("*.jsonl") if not path.name.endswith(".probes.jsonl"))
NAMES = [path.stem for path in SESSIONS]


def messages_of(name):
    (transcript,) = read(FIXTURES / f"{name}.jsonl")
    return transcript.messages


def said(*texts):
    return [Message("user", (Text(text),)) for text in texts]


def stands(text, form):
    """Tell whether *form* stands in *text* with no word character on either side; a written escape is no word."""
    start = text.find(form)
    while start >= 0:
        before, after = text[max(0, start - 2) : start], text[start + len(form) : start + len(form) + 1]
        left = before[-1:].isalnum() and form[0].isalnum() and before not in {"\\n", "\\t", "\\r"}
        if not left and not (after.isalnum() and form[-1].isalnum()):
            return True
        start = text.find(form, start + 1)
    return False


def homeless(facts, messages):
    texts = [canonical(readable(block)) for message in messages for block in message.blocks]
    small = [text.lower() for text in texts]
    return [
        (fact.family, fact.value)
        for fact in facts
        if not any(
            stands(text, form if fact.exact else form.lower())
            for form in fact.forms
            for text in (texts if fact.exact else small)
        )
    ]


def shared_forms(facts):
    seen = {}
    return [
        (form, seen[form], fact.value)
        for fact in facts
        for form in {form if fact.exact else form.casefold() for form in fact.forms}
        if seen.setdefault(form, fact.value) != fact.value
    ]


def test_there_are_sessions_to_mine():
    assert len(SESSIONS) > 10


@pytest.mark.parametrize("name", NAMES)
def test_every_fact_of_a_session_stands_in_one_of_its_blocks_and_shares_no_form(name):
    messages = messages_of(name)
    facts = mine(messages)
    assert homeless(facts, messages) == []
    assert shared_forms(facts) == []
    assert {fact.family for fact in facts} <= set(FAMILIES)
    assert len({(fact.family, fact.value) for fact in facts}) == len(facts)
    for fact in facts:
        assert fact.value in fact.forms
        assert all(canonical(form) == form and FILLER not in form for form in fact.forms)


@pytest.mark.parametrize(
    ("name", "family", "least"),
    [
        ("primary-garden", "name", 40),
        ("primary-garden", "quantity", 100),
        ("primary-novel", "name", 40),
        ("primary-novel", "quote", 30),
        ("subconscious-move", "date", 40),
        ("subagent-etl", "path", 100),
        ("subagent-orders", "identifier", 300),
        ("subagent-support", "number", 100),
        ("subagent-tally", "command", 50),
    ],
)
def test_prose_and_tool_traffic_both_hold_facts(name, family, least):
    assert sum(fact.family == family for fact in mine(messages_of(name))) >= least


def test_known_facts_of_known_sessions_are_found():
    garden = {fact.value for fact in mine(messages_of("primary-garden"))}
    assert {"Mirela", "Hollin Tall", "212 grams", "87 panes", "4300 pounds", "2026-03-02"} <= garden
    novel = {fact.value for fact in mine(messages_of("primary-novel"))}
    assert {"Geske", "Lüneburg", "9.4 kilograms", "47 kilograms", "620 euros"} <= novel
    support = {fact.value for fact in mine(messages_of("subagent-support"))}
    assert {"NO473164404", "A33-L9001-30433", "88471", "1684.5 euros", "N-4", "PX-55121"} <= support


def test_facts_come_in_order_of_first_appearance():
    facts = mine(said("ETL-900 then src/zeta.py", "src/alpha.py and ETL-100, again ETL-900"))
    assert [fact.value for fact in facts] == ["ETL-900", "src/zeta.py", "src/alpha.py", "ETL-100"]


def test_nothing_holds_no_fact():
    assert mine([]) == ()
    assert mine(said("", " \n\t ", "hello there, how are you?")) == ()


def test_a_doubled_block_is_mined_once():
    assert mine(said("ETL-1 a", "ETL-1 a")) == mine(said("ETL-1 a"))


def test_every_process_gives_the_same_facts_in_the_same_order():
    program = (
        "import sys; from compactlab.facts import mine; from compactlab.readers import read\n"
        "print([f for t in read(sys.argv[1]) for f in mine(t.messages)])"
    )
    runs = [
        subprocess.run(
            [sys.executable, "-c", program, str(FIXTURES / "primary-move.jsonl")],
            env=os.environ | {"PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    ]
    assert runs[0] == runs[1] != b""


PIECES = st.sampled_from(
    [
        "src/app.py", "./a/b.md:12", "https://x.internal:9443/a", "ETL-727", "max_size_ms", "foo.bar_baz(",
        "5b1e77d",
        "1,204 kWh", "212 grams", "two hundred and twelve", "panes", "nine", "14 March", "2025-11-05",
        "14:30", "o'clock",
        "Mirela", "Larch Cottage", "The", "the", "of", "we saw", "and then", '"warm and plain', 'side"', "“",
        "”", "`x y z`",
        "ValueError: bad thing here", "FAILED tests/a.py::b", "exit code 137", "password=Xy12345z", "12",
        "3.14", ".", ",",
        "\n", "\n\n", "\\n", "\t", "  ", "|", "```", "'", "£96", "%", "€", "ß", "İ", "ﬁ", "½", "e\u0301",
        "\ud800", "\x00", "漢字",
        "A", "a", "1", "-", "/", "_", "#12", "v1.2.9", "C:\\n\\x.txt", FILLER,
    ]
)  # fmt: skip
TEXTS = st.lists(st.tuples(PIECES, st.sampled_from(["", " ", "\n"])), max_size=25).map(
    lambda pairs: "".join(piece + gap for piece, gap in pairs)
)


@given(st.lists(st.one_of(TEXTS, st.text(max_size=80)), max_size=4))
def test_whatever_the_text_facts_stand_in_it_and_share_no_form(texts):
    messages = said(*texts)
    facts = mine(messages)
    assert homeless(facts, messages) == []
    assert shared_forms(facts) == []
    assert facts == mine(messages)


@given(st.lists(TEXTS, min_size=1, max_size=3))
def test_a_call_of_a_shell_is_mined_like_any_text(texts):
    calls = [Message("assistant", (ToolCall("c", "bash", '{"command": ' + _json(text) + "}"),)) for text in texts]
    facts = mine(calls)
    assert homeless(facts, calls) == []
    assert shared_forms(facts) == []


def _json(text):
    return '"' + "".join(f"\\u{unit:04x}" for unit in _units(text)) + '"'


def _units(text):
    raw = text.encode("utf-16-be", "surrogatepass")
    return [raw[i] << 8 | raw[i + 1] for i in range(0, len(raw), 2)]


@given(
    st.permutations(["ETL-727 in src/app.py.", "We saw Mirela there, nine panes of it.", "On 14 March it cost £96."])
)
def test_unrelated_messages_do_not_change_each_others_facts(texts):
    apart = {fact for text in texts for fact in mine(said(text))}
    assert set(mine(said(*texts))) == apart


@given(st.text())
def test_canonical_text_is_stable(text):
    assert canonical(canonical(text)) == canonical(text)
    assert " ".join(normal(text).split()) == canonical(text)


STRESS = {
    "letters": "a", "blanks": " ", "digits": "7", "slashes": "/", "points": ".", "ideographs": "漢", "lines": "\n",
    "quotes": '"', "backticks": "`", "backslashes": "\\", "hyphens": "-", "underscores": "_", "surrogates": "\ud800",
    "zeros": "\x00", "brackets": "(", "equals": "=", "capitals": "A", "commas": ",", "base64": "aB3dE9fG1hK5",
}  # fmt: skip


@pytest.mark.parametrize("kind", STRESS)
def test_half_a_million_times_one_character_holds_no_fact(kind):
    assert mine(said(STRESS[kind] * (500_000 // len(STRESS[kind])))) == ()


@pytest.mark.study
@pytest.mark.parametrize("kind", STRESS)
def test_five_million_times_one_character_takes_seconds(kind):
    start = time.process_time()
    assert mine(said(STRESS[kind] * (5_000_000 // len(STRESS[kind])))) == ()
    assert time.process_time() - start < 5


SLOW = {
    "long words": "a" * 1_999, "long digits": "1" * 1_999, "long dots": "a." * 999, "long slashes": "/a" * 999,
    "long hyphens": "a-" * 999, "long underscores": "a_" * 999, "long ats": "a@" * 999, "long colons": "a:" * 999,
    "long groups": "1,111" * 399, "words": "one", "capitals": "A", "small": "a", "digits": "1", "quotes": '"',
    "exceptions": "E:", "levels": "ERROR", "joints": "Foo of", "tokens": "token", "frames": 'File "',
    "keys": "-----BEGIN PRIVATE KEY-----", "addresses": "http://", "backslashes": "\\" * 1_000,
}  # fmt: skip


@pytest.mark.study
@pytest.mark.usefixtures("unswept")
@pytest.mark.parametrize("kind", SLOW)
def test_twice_the_text_takes_about_twice_the_time(kind):
    def seconds(length):
        text = (SLOW[kind] + " ") * (length // (len(SLOW[kind]) + 1))
        start = time.process_time()
        mine(said(text))
        return time.process_time() - start

    seconds(1_000)
    assert seconds(200_000) < 3 * seconds(100_000) + 1


@pytest.mark.study
def test_a_session_is_mined_in_about_a_second():
    messages = messages_of("subagent-tally")
    start = time.process_time()
    mine(messages)
    assert time.process_time() - start < 4


def test_paragraphs_of_prose_are_told_from_code_and_tables():
    text = "We went to the wall and it was warm.\n\n```\nfor the x in a:\n    b\n\n```\n\n| a | 1 |\n|---|---|\n"
    spans = list(prose(text, spoken=True))
    assert [text[start:end].strip() for start, end in spans] == ["We went to the wall and it was warm."]


def test_wrapped_lines_of_prose_are_joined_and_others_are_not():
    wrapped = "what we saw from the door that morning was the Larch\nCottage over there.\n- a list"
    assert unwrapped(wrapped, [(0, len(wrapped))]) == wrapped.replace("Larch\n", "Larch ")


def test_word_lists_are_small_and_in_lower_case():
    assert 150 <= len(STOP_WORDS - GERMAN_WORDS) <= 250
    assert 50 <= len(GERMAN_WORDS) <= 120
    for words in (STOP_WORDS, GERMAN_WORDS, NO_NAMES, NO_THINGS):
        assert all(word == word.lower() for word in words)
