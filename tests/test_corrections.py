"""Corrections: words that name the old and the new value of one thing."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compactlab.traffic.corrections import claims, corrections, shape, unit_after

TOLD = [
    ("The port is not 5433 but 5434.", ("5433", "5434")),
    ("The port is no longer 5433 but 5434.", ("5433", "5434")),
    ("The port of the database is now 54399, not 54330.", ("54330", "54399")),
    ("The port is now 5434 instead of 5433.", ("5433", "5434")),
    ("The toll is now 18 pennies for the cart, not 24 a wheel.", ("24", "18")),
    ("The toll is now 18 pennies for the cart, not 24 pennies.", ("24", "18")),
    ("Use port 5434, not 5433.", ("5433", "5434")),
    ("For staging, please take port 5434 and not port 5433.", ("5433", "5434")),
    ("It's port 5434 now, no longer 5433", ("5433", "5434")),
    ("The port is 5434 now, not 5433.", ("5433", "5434")),
    ("The port is now 5434, it was 5433.", ("5433", "5434")),
    ("timeout was 30 s, make it 45 s", ("30", "45")),
    ("The timeout was 30 s. Make it 45 s.", ("30", "45")),
    ("The database port was 54330 and is now 54399.", ("54330", "54399")),
    ("not staging-01 but staging-02", ("staging-01", "staging-02")),
    ("We deploy not to `staging-01` but `staging-02`.", ("staging-01", "staging-02")),
    ("Use `pnpm`, not `npm`.", ("npm", "pnpm")),
    ("Use `ruff`, not `flake8`.", None),
    ("The visit moved from 12 May to 19 May.", ("12 May", "19 May")),
    ("I changed the timeout from 30 to 45.", ("30", "45")),
    ("The promised call back goes from 24 hours to 4 hours, for all cases.", ("24", "4")),
    ("Waiting for parcels goes from 7 working days to 5, all carriers.", ("7", "5")),
    ("The cap goes from EUR 60.00 to EUR 45.00 per case.", ("60.00", "45.00")),
    ("Please set workers in CI from 8 to 4", ("8", "4")),
    ("Please cut the workers of CI from 8 to 4.", ("8", "4")),
    ("Chapter 7 stays at 2,000 words, down from 4,090.", ("4,090", "2,000")),
    ("The door costs 340 (was 310).", ("310", "340")),
    ("The door costs 340 pounds (previously 310).", ("310", "340")),
    ("renamed `load_transcript` to `load_session`", ("load_transcript", "load_session")),
    ("renamed `first` to `other`", None),
    ("The import renames `pool.old_size` to `pool.new_size`.", None),
    ("They renamed the loader: `first` is gone, we renamed `first` to `other`.", ("first", "other")),
    ("The target is 115,500, then, and no longer 112,000.", ("112,000", "115,500")),
    ("The review is due 2026-03-06 instead of 2026-02-20.", ("2026-02-20", "2026-03-06")),
    ("It starts now at 14:22:23.618Z, not 14:25:06.", ("14:25:06", "14:22:23.618Z")),
    ("From 6 to 10 May the yard is closed.", None),
    ("The lots are no longer 4417 to 4423 but 4415 to 4426.", None),
    ("The wait is now 12 to 18 ms, not 13 to 18.", None),
    ("It had 8 connections instead of 48.", None),
    ("Not before 10:00, and at the latest at 11:00.", None),
    ("The reading moved from 12 May to 40.", None),
    ("The depth is now 9 in, not 3 ft.", None),
    ("The tractor is now 130, not 90, if the day is a Sunday.", None),
    ("Take the bus from 5433 to 5434.", None),
    ("The port is now 5434, not 5434.", None),
]


@pytest.mark.parametrize(("text", "expected"), TOLD)
def test_words_that_name_both_values_tell_a_change(text, expected):
    assert [(made.old, made.new) for made in corrections(text)] == ([] if expected is None else [expected])


CLAIMED = [
    ("Frame is 64, not 61; 61 is the depth.", ("61", "64")),
    ("84 less 18 less 42 leaves 24 pennies, not 48.", ("48", "24")),
    ("The bar needs a tide of 1.11 m, not 1.0.", ("1.0", "1.11")),
    ("Restocking fee 12 % -> 8 %, the minimum stays.", ("12 %", "8 %")),
    ("The waiting time 7 → 5 working days.", ("7", "5")),
    ("The share went up, 29.5 -> 35.1 -> 36.5 %.", None),
    ("True times of the change (pool 48 -> 8).", None),
    ("The tractor is 130, not 90, if the day is a Sunday.", None),
    ("The wait: 12 to 18 ms, not 13 to 18.", None),
    ("It is 3 ft 9 in, not 3 ft.", None),
]


@pytest.mark.parametrize(("text", "expected"), CLAIMED)
def test_words_that_may_tell_a_change_are_a_claim_and_no_correction(text, expected):
    assert [(made.old, made.new) for made in claims(text)] == ([] if expected is None else [expected])
    assert corrections(text) == ()


def test_things_that_are_called_alike_in_one_text_have_no_change():
    text = "A1:\n- Price: $241 (previously $3,538)\nA2:\n- Price: $465 (previously $2,210)\n"
    assert corrections(text) == ()
    assert len(corrections(text.replace("A2:\n- Price", "A2:\n- Fare"))) == 2
    assert len(corrections(text.replace("2,210", "241"))) == 2


KEYS = [
    ("The port of the database is now 54399, not 54330.", {"port", "database"}),
    ("SURFACE: the frame of the door is now 64, not 61.", {"frame", "door"}),
    ("It has jitter, the network team, due 2026-03-06 instead of 2026-02-20.", {"due", "network", "team"}),
    ("It was 5433 and is now 5434 for the port of it.", {"port"}),
    ("It is now 5434, not 5433.", None),
    ("not staging-01 but staging-02", {"staging"}),
]


@pytest.mark.parametrize(("text", "words"), KEYS)
def test_the_key_is_made_of_the_words_of_the_nearest_clauses_or_of_what_names_share(text, words):
    assert [set(made.words) for made in corrections(text)] == ([] if words is None else [words])


@pytest.mark.parametrize(
    ("text", "unit"),
    [
        ("30 seconds", "second"),
        ("30s", "s"),
        ("30 to 40", ""),
        ("30, then", ""),
        ("30 %", "%"),
        ("30 in a row", ""),
        ("30 in, then", "in"),
        ("30", ""),
    ],
)
def test_the_word_behind_a_value_may_be_its_unit(text, unit):
    assert unit_after(text, 2) == unit


@pytest.mark.parametrize(("value", "kind"), [("5", "number"), ("5 May", "date"), ("09:30", "time"), ("a_b", "name")])
def test_a_value_has_a_shape(value, kind):
    assert shape(value) == kind


WORDINGS = [
    "The port of the relay is now {new}, not {old}.",
    "The port of the relay is not {old} but {new}.",
    "The port of the relay is {new} now, no longer {old}.",
    "The port of the relay was {old}, make it {new}.",
    "The port of the relay was moved from {old} to {new}.",
    "Set the port of the relay to {new}, not {old}.",
]


@given(st.sampled_from(WORDINGS), st.integers(0, 99_999), st.integers(0, 99_999))
def test_every_wording_tells_the_same_change_of_any_two_numbers(wording, old, new):
    found = corrections(wording.format(old=old, new=new))
    if old == new:
        assert found == ()
    else:
        assert [(made.old, made.new) for made in found] == [(str(old), str(new))]
        assert {"port", "relay"} <= found[0].words


@given(st.text(alphabet="abcnowt 0123456789.,-→>`()", max_size=300))
def test_of_any_text_both_values_stand_in_it_and_differ(text):
    for made in (*corrections(text), *claims(text)):
        assert made.old in text
        assert made.new in text
        assert made.old != made.new
        assert made.words


PIECES = [
    "from 1 to 2 ", "moved ", "not 5 but ", "`a` to `b` ", "was (was 3 ", "12 May ", "now 5 a b c d e ",
    "use use 7, not ", "1 -> 2 -> ", "was 3, make it ", "EUR EUR ", "a-b_c.d/", "now now ", "5 a 6 b, ",
]  # fmt: skip


@pytest.mark.parametrize("piece", PIECES)
def test_reading_corrections_is_linear(piece):
    text = piece * (90_000 // len(piece))
    began = time.process_time()
    corrections.__wrapped__(text)
    claims.__wrapped__(text)
    assert time.process_time() - began < 6
