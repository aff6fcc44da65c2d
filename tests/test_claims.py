"""What made text claims: not what it quotes, not what the compactor says of itself, no value cut in its middle."""

import pytest
from histories import messages, result, user
from hypothesis import given

from compactlab.facts import Fact, mine
from compactlab.probes.claims import Claimed
from compactlab.transcript import Message, Text, ToolCall, readable

HISTORY = (
    user("The database listens on port 5433, see src/orders/refunds.py for the refunds."),
    user("The total is 30,717.807 kWh on 2026-03-14T10:02:11Z, and the replica is staging-01."),
    Message("tool", (result("c", "rows_total=48210 at 14:30:05\nhttps://a.org/guide/intro\nlimit: 7788 entries"),)),
)

CASES = [
    ("quoted", "The database listens on port 5433", []),
    ("quoted as a bullet", "- > The database listens on port 5433", []),
    ("quoted behind a key", "database: listens on port 5433", []),
    ("another number", "The database listens on port 5434 now.", ["5434"]),
    ("reworded, the same number", "Port of the database: it is 5433, as said.", []),
    ("reworded, without commas", "In all 30717.807 kWh were used there.", []),
    ("rounded", "In all 30,718 kWh were used there.", ["30718 kWh"]),
    ("a day in words", "All that was on 14 March 2026, he said.", []),
    ("another day", "All that was on 15 March 2026, he said.", ["2026-03-15"]),
    ("a near duplicate that stands", "Only staging-01 failed this time.", []),
    ("a near duplicate that does not", "Only staging-02 failed this time.", ["staging-02"]),
    ("a file by its name", "We changed refunds.py and nothing else.", []),
    ("a folder of a path", "We looked into src/orders and nothing else.", []),
    ("a file in another folder", "We changed src/billing/refunds.py and nothing else.", ["src/billing/refunds.py"]),
    ("another ending", "We changed src/orders/refunds.toml and nothing else.", ["src/orders/refunds.toml"]),
    ("the start of an address", "It stands at https://a.org/guide if needed.", []),
    ("another address", "It stands at https://a.org/other if needed.", ["https://a.org/other"]),
    ("a remark", "[12345 earlier messages were removed here]", []),
    ("a remark in a quotation", "> [12345 messages cut]", []),
    ("a remark in a line", "It began [… 12,345 characters, the middle cut …] and went on", []),
    ("a list is no remark", "[48211, 48212]", ["48211", "48212"]),
    ("cut at the end", "We changed src/orders/refu", []),
    ("cut before a remark", "We changed src/orders/refu [… cut] and more", []),
    ("cut behind a remark", "We go on [… cut]\n17.807 kWh were used there", []),
    ("cut before dots", "They used rows_total and staging-0...", []),
    ("cut in a key", "- src/orders/refu: read last", []),
    ("an invented key", "- src/billing/refunds.py: read last", ["src/billing/refunds.py"]),
    ("an invented value behind a key", "- port of the database: 5434", ["5434"]),
    ("cut inside a number", "They wrote 4821", []),
    ("rounded at the end is no cut", "It used in all 30718", ["30718"]),
    ("cut to its whole part is rounded", "It used in all 30717", ["30717"]),
    ("a changed value at the end", "They wrote 48219", ["48219"]),
]


@pytest.mark.parametrize(("text", "expected"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_what_a_made_text_claims_and_the_history_does_not_hold(text, expected):
    assert list(Claimed(HISTORY).of(Text(text)).fabricated) == expected


def test_a_way_to_write_a_known_fact_is_held():
    path = Fact("path", "/srv/src/orders/refunds.py", ("/srv/src/orders/refunds.py", "src/orders/refunds.py"))
    text = Text("We changed /srv/src/orders/refunds.py and nothing else.")
    assert list(Claimed(HISTORY).of(text).fabricated) == [path.value]
    assert list(Claimed(HISTORY, [path]).of(text).fabricated) == []


def test_a_blob_is_no_claim():
    blob = "aGVsbG8gd29ybGQgMTIzNDUgNjc4OTAgYWJjZGVmZ2hpamtsbW5vcHFyc3R1dnd4eXo0MzIx" * 4
    assert Claimed(HISTORY).of(Text(f"The picture is {blob} here.")).fabricated == {}


@pytest.mark.parametrize(
    ("family", "value", "held"),
    [
        ("number", "5433", True),
        ("number", "543", False),
        ("number", "717.807", False),
        ("number", "30717", False),
        ("identifier", "staging-0", False),
        ("date", "14:30", True),
        ("date", "30:05", False),
        ("date", "2026-03-14", True),
        ("path", "orders/refunds.py", True),
        ("path", "funds.py", False),
        ("path", "src/orders/refunds", False),
    ],
)
def test_a_value_is_held_as_a_whole_only(family, value, held):
    assert Claimed(HISTORY).holds(Fact(family, value, (value,))) is held


@given(messages(min_events=2))
def test_a_history_claims_nothing_that_it_does_not_hold(history):
    claimed = Claimed(history)
    for message in history:
        for block in message.blocks:
            assert claimed.of(block).fabricated == {}
            assert claimed.of(Text(readable(block))).fabricated == {}


@given(messages(min_events=2))
def test_every_cut_of_a_text_of_the_history_claims_nothing(history):
    claimed = Claimed(history)
    for message in history:
        for block in message.blocks:
            text = readable(block)
            half = len(text) // 2
            shortened = f"{text[:half]}\n[… {len(text):,} characters, the middle cut …]\n{text[half + 7 :]}"
            found = claimed.of(Text(shortened)).fabricated
            assert found == {}, (shortened, found)


@given(messages(min_events=2))
def test_a_text_claims_in_an_empty_history_all_that_is_mined_from_it(history):
    nothing = Claimed(())
    for message in history:
        known = {form for fact in mine([message]) for form in fact.forms}
        for block in message.blocks:
            if not isinstance(block, ToolCall):  # the name of a tool is a fact in no session that calls it
                claims = nothing.of(block)
                assert claims.fabricated == claims.mined
                assert claims.mined.keys() <= known
