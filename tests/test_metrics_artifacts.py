"""M8: which operations on files a compacted history still tells, counted by hand."""

import json

import pytest
import runs
from histories import call, messages, user
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from trials import case_of, note, scores, session

from compactlab.compaction import compact
from compactlab.history import units
from compactlab.markers import CLEARED
from compactlab.metrics import Trial
from compactlab.metrics.artifacts import measure, names_of, trail_of
from compactlab.transcript import Message, Text

HISTORY = session(
    ("read", {"path": "/srv/spec.md"}, "text"),
    ("write", {"path": "/srv/app/load.py", "content": "x"}, "ok"),
    ("edit", {"path": "/srv/app/conf.py", "old": "x", "new": "y"}, "ok"),
    ("edit", {"path": "/srv/app/fail.py", "old": "x", "new": "y"}, ("not found",)),
    ("bash", {"command": "pytest -q"}, "1 failed, 3 passed in 0.5s"),
    ("bash", {"command": "rm /srv/old.py"}, ""),
)
PROTECTED = (HISTORY[0], *HISTORY[-2:])
TRUTH = {"created": 1, "modified": 1, "deleted": 1, "read": 1}


def measured(*made):
    return scores("artifacts", case_of(HISTORY), (HISTORY[0], *made, *HISTORY[-2:]))


def recall(found):
    return {group: value for (metric, _, group), (value, _) in found.items() if metric == "artifact_found"}


def precision(found):
    return {group: share for (metric, _, group), share in found.items() if metric == "artifact_claimed"}


def test_the_whole_history_tells_everything_and_claims_nothing_else():
    found = scores("artifacts", case_of(HISTORY), HISTORY)
    assert recall(found) == TRUTH
    assert precision(found) == dict.fromkeys(TRUTH, (1, 1))
    assert found["artifact_last_write", "", ""] == (1, 1)
    assert found["artifact_tests", "", ""] == (1, 1)


def test_the_protected_set_alone_tells_nothing():
    found = measured()
    assert recall(found) == dict.fromkeys(TRUTH, 0)
    assert precision(found) == {}
    assert found["artifact_last_write", "", ""] == (0, 1)
    assert found["artifact_tests", "", ""] == (0, 1)


SAID = [
    ("Created `app/load.py`.", {"created": 1}, {"created": (1, 1)}, 0),
    ("Created load.py; edited conf.py.", {"created": 1, "modified": 1}, {"created": (1, 1), "modified": (1, 1)}, 1),
    ("Edited conf.py; created load.py.", {"created": 1, "modified": 1}, {"created": (1, 1), "modified": (1, 1)}, 0),
    ("wrote /srv/app/load.py", {"created": 1}, {"created": (1, 1)}, 0),
    ("Files modified: /srv/app/load.py, app/conf.py", {"modified": 1}, {"modified": (1, 2)}, 1),
    ("Deleted old.py, read spec.md", {"deleted": 1, "read": 1}, {"deleted": (1, 1), "read": (1, 1)}, 0),
    ("Deleted load.py", {}, {"deleted": (0, 1)}, 0),
    ("Edited app/fail.py", {}, {"modified": (0, 1)}, 0),
    ("Edited my_app/load.py", {}, {"modified": (0, 1)}, 0),
    ("load.py stands in /srv/app", {}, {}, 0),
]


@pytest.mark.parametrize(("text", "told", "claimed", "last"), SAID, ids=[case[0][:40] for case in SAID])
def test_words_that_compaction_made_are_held_against_the_calls(text, told, claimed, last):
    found = measured(note(text))
    assert recall(found) == dict.fromkeys(TRUTH, 0) | told
    assert precision(found) == claimed
    assert found["artifact_last_write", "", ""] == (last, 1)


def cleared(*positions):
    """The history with the results of some messages cleared, error marks gone."""
    return [
        Message("tool", (replace(m.results[0], content=(Text(CLEARED),), is_error=False),)) if i in positions else m
        for i, m in enumerate(HISTORY)
    ]


def test_a_kept_call_tells_what_it_did_though_its_result_is_cleared():
    assert recall(scores("artifacts", case_of(HISTORY), cleared(2, 4, 6))) == TRUTH


def test_a_failed_call_claims_what_it_did_not_do_once_its_error_is_gone():
    assert precision(scores("artifacts", case_of(HISTORY), cleared(8)))["modified"] == (1, 2)


def test_a_call_that_was_shortened_tells_its_operation_too():
    shorter = Message("assistant", (call("c1", "write", '{"path": "/srv/app/load.py", "content": "…"}'),))
    assert recall(measured(shorter))["created"] == 1


def test_words_of_the_agent_that_stood_before_are_believed_where_they_are_right():
    history = session(("write", {"path": "/srv/load.py", "content": ""}, "ok"), "Created load.py, deleted x9.py.")
    found = scores("artifacts", case_of(history), (history[0], history[3], *history[-2:]))
    assert (recall(found), precision(found)) == ({"created": 1}, {"created": (1, 1)})


def test_words_that_compaction_repeats_from_another_are_not_held_against_it():
    history = (user("Ada wrote /home/ada/plan.md."), *session("Noted."))
    kept = (history[1], note("Ada wrote /home/ada/plan.md, deleted /home/ada/old.md."), *history[-2:])
    assert precision(scores("artifacts", case_of(history), kept)) == {"deleted": (0, 1)}


def test_what_the_protected_set_tells_is_not_at_risk():
    open_turn = session(("write", {"path": "/srv/load.py", "content": ""}, "ok"))[1:3]
    history = (*HISTORY, *open_turn)
    found = scores("artifacts", case_of(history), history)
    assert found["artifact_found", "", "created"] == (1, 1)
    assert ("artifact_last_write", "", "") not in found


TESTS = [
    ("The tests fail.", 1),
    ("1 failed, 3 passed", 1),
    ("All tests pass.", 0),
    ("2 tests fail. All tests pass now.", 0),
    ("Nothing of note.", 0),
]


@pytest.mark.parametrize(("text", "value"), TESTS)
def test_the_state_of_the_last_test_run_may_be_told_in_words(text, value):
    assert measured(note(text))["artifact_tests", "", ""] == (value, 1)


def test_a_shortened_result_still_tells_the_state_of_its_tests():
    shorter = replace(HISTORY[10].results[0], content=(Text("[cut]\n1 failed, 3 passed in 0.5s"),))
    assert measured(HISTORY[9], Message("tool", (shorter,)))["artifact_tests", "", ""] == (1, 1)


def test_a_history_without_files_and_tests_yields_nothing():
    history = session("Good morning.", "It rains.")
    assert scores("artifacts", case_of(history), history) == {}


@given(st.sets(st.text(alphabet="ab/", min_size=1, max_size=6).map(lambda path: f"/r/{path}"), max_size=6))
def test_a_name_stands_for_one_path_alone(paths):
    names = names_of(paths)
    assert all(names[path] == path for path in paths)
    for name, path in names.items():
        assert path.lstrip("/").endswith(name.lstrip("/"))
        others = [p for p in paths if p.lstrip("/") == name or p.lstrip("/").endswith(f"/{name}")]
        assert path in others or path == name


@given(messages(min_events=2), st.data())
def test_recall_is_full_untouched_empty_protected_and_grows_with_what_is_kept(history, data):
    case = case_of(history)
    whole, none = (scores("artifacts", case, kept) for kept in (case.base, case.protected))
    assert all(value == n for (metric, _, _), (value, n) in whole.items() if metric != "artifact_tests")
    assert all(value == 0 for (metric, _, _), (value, _) in none.items() if metric == "artifact_found")
    groups = [unit for unit in units(case.base) if case.held.isdisjoint(unit)]
    some = data.draw(st.sets(st.integers(0, max(0, len(groups) - 1))))
    more = some | data.draw(st.sets(st.integers(0, max(0, len(groups) - 1))))
    kept = [
        recall(
            scores("artifacts", case, [m for i, m in enumerate(case.base) if i in case.held | positions(groups, of)])
        )
        for of in (some, more)
    ]
    assert all(kept[0][op] <= kept[1][op] for op in kept[0])


def positions(groups, chosen):
    return {i for at in chosen if at < len(groups) for i in groups[at]}


@pytest.mark.parametrize("name", runs.SHORT)
def test_recorded_sessions_are_told_in_full_by_themselves_and_in_part_by_a_slide(name):
    case = runs.case(name, 0.85)
    whole, slid, micro = (
        scores("artifacts", case, compact(case.base, strategy).messages)
        for strategy in ("none", "sliding_window", "microcompact")
    )
    assert all(value == n for value, n in whole.values())
    assert recall(micro) == recall(whole)
    assert sum(recall(slid).values()) < 0.8 * sum(recall(whole).values())
    assert all(json.dumps(score) for score in slid.values())


@pytest.mark.parametrize("path", runs.TRANSCRIPTS, ids=lambda path: path.stem)
def test_the_untouched_history_tells_what_was_written_last(path):
    for share in (0.4, 0.7):
        made = runs.case(path.stem, share)
        last = [s.value for s in measure(Trial(made, made.base)) if s.metric == "artifact_last_write"]
        assert last in ([], [1.0])


def test_a_file_that_one_call_writes_twice_is_written_last_where_it_is_written_last():
    made = runs.case("subconscious-garden", 0.4)
    assert trail_of(made).written_last(made.base) == "/workspace/ledger/commitments.tsv"
