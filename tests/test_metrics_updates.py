"""Stale values: of what changed before the cut, whether the latest value stands, an older one, or both."""

from itertools import pairwise

import pytest
import runs
from histories import messages, user
from hypothesis import given
from hypothesis import strategies as st
from trials import case_of, note, scores, session

from compactlab.compaction import compact
from compactlab.history import units


def edit(old, new, path="/srv/conf.toml"):
    return ("edit", {"path": path, "old": old, "new": new}, "ok")


HISTORY = session(
    edit("staging-01 = 5432", "staging-01 = 5433"),
    edit("staging-02 = 6000", "staging-02 = 6001"),
    edit("busy_timeout = 2000", "busy_timeout = 8000"),
)
AT_STAGING_1, AT_STAGING_2, AT_TIMEOUT = 0, 1, 2


def counts(case, kept):
    found = scores("updates", case, kept)
    return {group: int(value) for (_, _, group), (value, _) in found.items() if value}


def told(text):
    return counts(case_of(HISTORY), (HISTORY[0], note(text), *HISTORY[-2:]))


def test_the_whole_history_holds_both_values_and_the_protected_set_neither():
    assert counts(case_of(HISTORY), HISTORY) == {"both": 3}
    assert counts(case_of(HISTORY), (HISTORY[0], *HISTORY[-2:])) == {"lost": 3}


SAID = [
    ("The busy timeout is 8000.", {"kept": 1, "lost": 2}),
    ("busy_timeout = 8000", {"kept": 1, "lost": 2}),
    ("The busy timeout is 2000.", {"stale": 1, "lost": 2}),
    ("The busy timeout went from 2000 to 8000.", {"both": 1, "lost": 2}),
    ("8000", {"lost": 3}),
    ("8000 rows were loaded", {"lost": 3}),
    ("staging-01 = 5433", {"kept": 1, "lost": 2}),
    ("staging-02 = 5433", {"lost": 3}),
    ("staging-01 is on 5432, staging-011 on 5433", {"stale": 1, "lost": 2}),
    ("staging-01 5433\nstaging-02 6001\nbusy timeout 8000", {"kept": 3}),
]


@pytest.mark.parametrize(("text", "expected"), SAID)
def test_a_value_counts_where_it_stands_by_its_own_slot(text, expected):
    assert told(text) == expected


def test_a_value_that_a_person_corrected_has_a_stale_one():
    history = (user("Hello."), user("The garden door is not 88 but 92 wide."), *session("Noted.")[1:])
    case = case_of(history)
    assert counts(case, (history[0], note("The garden door is 88 wide."), *history[-2:])) == {"stale": 1}
    assert counts(case, (history[0], note("The garden door is 92 wide."), *history[-2:])) == {"kept": 1}
    assert counts(case, (history[0], note("There are 92 chairs."), *history[-2:])) == {"lost": 1}


NAMED = [("It is `load_gate`.", "stale"), ("It is `open_gate`.", "kept"), ("It is the gate.", "lost")]


@pytest.mark.parametrize(("text", "expected"), NAMED)
def test_a_name_tells_by_itself_what_it_is_of(text, expected):
    history = (user("Hello."), user("Please rename `load_gate` to `open_gate`."), *session("Noted.")[1:])
    assert counts(case_of(history), (history[0], note(text), *history[-2:])) == {expected: 1}


def test_a_value_that_was_said_before_what_is_so_now_is_stale():
    said = (user("The rent of the shed is 780."), user("The rent of the shed is now 825."))
    history = (user("Hello."), *said, *session("Noted.")[1:])
    for value, expected in ((780, "stale"), (825, "kept")):
        kept = (history[0], note(f"The shed has a rent of {value}."), *history[-2:])
        assert counts(case_of(history), kept) == {expected: 1}


def test_dates_count_in_any_way_to_write_them():
    row = "printf 'opening day\\t2026-05-{}\\n' >> /n.tsv"
    history = session(*(("bash", {"command": row.format(day)}, "") for day in (16, 24)))
    assert counts(case_of(history), (history[0], note("The opening day is 24 May 2026."), *history[-2:])) == {"kept": 1}


def test_a_broken_character_in_a_value_does_no_harm():
    history = (
        user("Hello."),
        user("They renamed `old\ud83d_gate` to `new\ud83d_gate`, the garden one."),
        *session("x")[1:],
    )
    assert counts(case_of(history), history) in ({"both": 1}, {})


def test_what_the_protected_set_tells_is_not_at_risk():
    history = (*HISTORY[:-1], user("The busy_timeout stays 8000."), HISTORY[-1])
    assert counts(case_of(history), history) == {"both": 2}


def test_nothing_is_measured_where_nothing_changed():
    assert scores("updates", case_of(session("Good morning.")), ()) == {}


@given(st.lists(st.integers(1000, 9999), min_size=2, max_size=5, unique=True))
def test_only_the_last_of_several_values_is_kept(values):
    steps = [edit(f"ring_size = {old}", f"ring_size = {new}") for old, new in pairwise(values)]
    history = session(*steps)
    for value in values:
        kept = (history[0], note(f"The ring size is {value}."), *history[-2:])
        assert counts(case_of(history), kept) == {"kept" if value == values[-1] else "stale": 1}


@given(messages(min_events=2, max_events=10), st.lists(st.integers(1000, 9999), min_size=2, max_size=4, unique=True))
def test_any_history_is_never_stale_about_itself_and_verdicts_add_up(history, values):
    steps = [edit(f"ring_size = {old}", f"ring_size = {new}") for old, new in pairwise(values)]
    case = case_of((*history, *session(*steps)))
    whole, none = (scores("updates", case, kept) for kept in (case.base, case.protected))
    assert whole["update", "", "stale"][0] == whole["update", "", "lost"][0] == whole["update", "", "kept"][0] == 0
    assert none["update", "", "kept"][0] == none["update", "", "both"][0] == 0
    some = [case.base[i] for unit in units(case.base)[::2] for i in unit]
    found = scores("updates", case, some)
    assert sum(value for value, _ in found.values()) == found["update", "", "kept"][1]


@pytest.mark.parametrize("name", ["subconscious-garden", "subconscious-move"])
def test_recorded_sessions_hold_both_values_whole_and_fewer_after_a_slide(name):
    case = runs.case(name, 0.85)
    whole, slid = (counts(case, compact(case.base, s).messages) for s in ("none", "sliding_window"))
    assert set(whole) == {"both"}
    assert whole["both"] >= 5
    assert slid["lost"] > 0
