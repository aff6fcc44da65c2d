"""Changes that a conversation tells over several texts."""

import time
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compactlab.traffic.conversation import Conversation, mentions, spoken_settings


def told(*texts):
    talk = Conversation()
    return [(made.key, made.old, made.new) for text in texts for made in talk.changes(text)]


CHANGED = [
    ("now", ["The price is 3,131.", "His price is now 2,701."], [("price", "3,131", "2,701")]),
    ("now behind", ["The fee is 12 %.", "The fee is 8 % now."], [("fee", "12 %", "8 %")]),
    ("becomes", ["The list stands at £9,045.60.", "So the list becomes £9,355.60."],
     [("list", "£9,045.60", "£9,355.60")]),
    ("was moved to", ["The sale is on 19 September.", "The sale was moved to 26 September."],
     [("sale", "19 September", "26 September")]),
    ("with a verb between", ["Our safety team calls you within 24 hours.", "Our safety team now calls within 4 hours."],
     [("safety team", "24", "4")]),
    ("the latest of several", ["The list is 10.", "The list is now 20.", "The list is now 30."],
     [("list", "10", "20"), ("list", "20", "30")]),
    ("called so in more words by one thing alone", ["Garden sale Sat 19 September.", "Sale now Sat 26 September."],
     [("sale", "19 September", "26 September")]),
    ("called so by two things", ["The pear price is 30.", "The plum price is 40.", "The price is now 50."], []),
    ("what changed before has another value", ["The list is £90.", "The list is now £95.", "The list is £99."],
     [("list", "£90", "£95"), ("list", "£95", "£99")]),
    ("what never changed has another value", ["The list is £90.", "The list is £99."], []),
    ("what changed is told as it was", ["The list is £90.", "The list is now £95.", "The list is £90."],
     [("list", "£90", "£95")]),
    ("things called alike", ["The price is 30.", "A: the price is now 50. B: the price is now 60."], []),
    ("another kind", ["The delivery is 30 April.", "The delivery is now 500."], []),
    ("another unit", ["The wall is 41 m.", "The wall is now 3 days."], []),
    ("another currency", ["The wall is £41.", "The wall is now $45."], []),
    ("another thing", ["The wall is 41 m.", "The pond is now 39 m."], []),
    ("the same value", ["The wall is 41 m.", "The wall is now 41 m."], []),
    ("nobody said it before", ["The wall is now 41 m."], []),
    ("a name that ends in a number", ["Order 87803 came.", "Order 88502 now goes to Mill Row 14."], []),
    ("a place that something goes to", ["Back to the card ending in 05.", "It goes to the card ending in 34."], []),
    ("a claim about what was said", ["The frame's 61 and the door's 68.", "Frame is 64, not 61."],
     [("frame", "61", "64")]),
    ("a claim about what nobody said", ["The door's 68.", "Frame is 64, not 61."], []),
    ("a claim about what was said of another thing", ["The door's 61.", "Frame is 64, not 61."], []),
    ("an arrow about what was said", ["The waiting time is 7 days.", "Waiting time 7 -> 5 days, logged."],
     [("time waiting", "7", "5")]),
    ("a correction and what it says now are one", ["The port is 5433.", "The port is now 5434, not 5433."],
     [("port", "5433", "5434")]),
    ("settings in capitals", ["Run it with LOG_LEVEL=debug.", "Let us have LOG_LEVEL=info."],
     [("LOG_LEVEL", "debug", "info")]),
    ("settings on lines", ["max_retries: 3", "So:\n- `max_retries`: 5"], [("max_retries", "3", "5")]),
    ("the same setting", ["LOG_LEVEL=debug", "LOG_LEVEL=debug"], []),
    ("two values in one text", ["LOG_LEVEL=debug", "LOG_LEVEL=info or LOG_LEVEL=warning"], []),
    ("forms", ["Destination: MCO\nsession_key: agent-1", "Destination: SFO\nsession_key: agent-2"], []),
    ("types of code", ["let agent: Agent;", "let agent: MockAgent;"], []),
]  # fmt: skip


@pytest.mark.parametrize(("texts", "expected"), [case[1:] for case in CHANGED], ids=[case[0] for case in CHANGED])
def test_a_later_text_changes_the_value_that_an_earlier_one_gave(texts, expected):
    assert told(*texts) == expected


def test_a_pasted_text_says_nothing_of_a_thing_that_is_so_now():
    pasted = "The wall is now 39 m. " + "word " * 5_000
    assert mentions(pasted) == ()
    assert told("The wall is 41 m.", pasted) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A_B=1", {"A_B": "1"}),
        ("A_B=1 and A_B=1", {"A_B": "1"}),
        ("$A_B=1, A_B=f(x), x.A_B=2, A=3", {}),
        ("pool.size = 8", {"pool.size": "8"}),
        ("size = 8\nsize_of = eight", {}),
    ],
)
def test_settings_in_talk_are_capitals_or_numbers_on_lines(text, expected):
    assert spoken_settings(text) == expected


@given(st.lists(st.integers(0, 9_999), min_size=1, max_size=8))
def test_changes_of_one_thing_go_on_from_each_other(values):
    found = told(*(f"The level of the tank is now {value} cm." for value in values))
    steps = [(old, new) for old, new in pairwise(values) if old != new]
    assert found == [("level tank", str(old), str(new)) for old, new in steps]


@given(st.lists(st.text(alphabet="ab now is0123456789.,:=_A\n", max_size=120), max_size=6))
def test_of_any_texts_a_change_has_two_values_and_words(texts):
    for key, old, new in told(*texts):
        assert key
        assert old != new
        assert old
        assert new


@pytest.mark.parametrize(
    "text", ["The wall is now {n} m.", "The wall {w} is now {n} m.", "A_B={n}", "Wall {w} 5, not {n}."]
)
def test_reading_a_conversation_is_linear(text):
    words = ["".join(chr(97 + int(digit)) for digit in str(n)) * 2 for n in range(6_000)]
    talk = Conversation()
    began = time.process_time()
    for n, word in enumerate(words):
        list(talk.changes(text.format(n=n, w=word)))
    assert time.process_time() - began < 6
