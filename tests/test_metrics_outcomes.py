"""Status fidelity: whether what failed is still told as failed."""

import pytest
import runs
from histories import messages
from hypothesis import given
from msgspec.structs import replace
from trials import case_of, note, scores, session

from compactlab.compaction import compact
from compactlab.markers import CLEARED
from compactlab.transcript import Message, Text

HISTORY = session(
    ("bash", {"command": "npm run build"}, ("type error\n\n[exit status 2]",)),
    ("bash", {"command": "python3 train.py --all"}, ("working\nKilled\n[exit status 137]",)),
    ("bash", {"command": "make slow-check"}, ("Command timed out after 120 seconds",)),
    ("bash", {"command": "ls -la"}, "fine"),
)
FAMILIES = ("failed", "killed", "timeout")


def verdicts(case, kept):
    found = scores("outcomes", case, kept)
    assert {n for _, n in found.values()} <= {1}
    return {family: group for (_, family, group), (value, _) in found.items() if value}


def told(*made):
    return verdicts(case_of(HISTORY), (HISTORY[0], *made, *HISTORY[-2:]))


def test_the_whole_history_keeps_every_status_and_the_protected_set_none():
    assert verdicts(case_of(HISTORY), HISTORY) == dict.fromkeys(FAMILIES, "kept")
    assert told() == dict.fromkeys(FAMILIES, "lost")


SAID = [
    ("`npm run build` failed with exit code 2.", "failed", "kept"),
    ("npm run build: broken by a type error", "failed", "kept"),
    ("npm run build passed.", "failed", "contradicted"),
    ("`npm run build` completed without errors", "failed", "contradicted"),
    ("npm run build failed. Later npm run build worked.", "failed", "kept"),
    ("npm run builder passed.", "failed", "lost"),
    ("We use npm run build.", "failed", "lost"),
    ("The build passed.", "failed", "lost"),
    ("python3 train.py was killed", "killed", "kept"),
    ("python3 train.py finished", "killed", "contradicted"),
    ("make slow-check timed out", "timeout", "kept"),
    ("make slow-check ran fine", "timeout", "contradicted"),
]


@pytest.mark.parametrize(("text", "family", "verdict"), SAID)
def test_words_that_compaction_made_tell_a_failure_or_hide_it(text, family, verdict):
    assert told(note(text)) == dict.fromkeys(FAMILIES, "lost") | {family: verdict}


def test_a_command_that_worked_later_is_not_contradicted():
    history = (*HISTORY[:-2], *session(("bash", {"command": "npm run build"}, "built"))[1:3], *HISTORY[-2:])
    kept = (history[0], note("npm run build passed."), *history[-2:])
    assert verdicts(case_of(history), kept)["failed"] == "lost"


def cleared(*, is_error, text=CLEARED):
    result = HISTORY[2].results[0]
    return Message("tool", (replace(result, content=(Text(text),), is_error=is_error),))


@pytest.mark.parametrize(
    ("is_error", "text", "verdict"),
    [
        (True, CLEARED, "kept"),
        (False, CLEARED, "lost"),
        (False, "…\n[exit status 2]", "kept"),
    ],
)
def test_an_edited_result_tells_its_status_by_its_mark_or_its_words(is_error, text, verdict):
    assert told(HISTORY[1], cleared(is_error=is_error, text=text))["failed"] == verdict


def test_words_of_the_agent_that_stood_before_tell_a_failure_but_never_hide_one():
    for words, verdict in (("npm run build failed again", "kept"), ("npm run build passed", "lost")):
        history = (*HISTORY[:3], *session(words)[1:2], *HISTORY[3:])
        kept = (history[0], history[3], *history[-2:])
        assert verdicts(case_of(history), kept)["failed"] == verdict


def test_a_failure_that_the_protected_set_tells_is_not_at_risk():
    history = HISTORY[:3]  # the failing call is the open turn
    assert scores("outcomes", case_of(history), history) == {}


def test_failing_tests_behind_a_pipe_are_a_failure_too():
    history = session(("bash", {"command": "pytest -q | tail -3"}, "2 failed, 1 passed in 0.1s"))
    assert verdicts(case_of(history), history) == {"failed": "kept"}
    assert verdicts(case_of(history), (history[0], *history[-2:])) == {"failed": "lost"}


def test_nothing_is_measured_where_nothing_failed():
    history = session(("bash", {"command": "ls -la"}, "fine"))
    assert scores("outcomes", case_of(history), history) == {}


@given(messages(min_events=2))
def test_any_history_keeps_its_own_statuses_and_its_protected_set_none_at_risk(history):
    case = case_of(history)
    for kept, verdict in ((case.base, "kept"), (case.protected, "lost")):
        found = scores("outcomes", case, kept)
        assert all(value == (n if group == verdict else 0) for (_, _, group), (value, n) in found.items())


def test_a_recorded_session_loses_what_a_clearing_hides():
    case = runs.case("subagent-support", 0.85)
    whole, slid = (scores("outcomes", case, compact(case.base, s).messages) for s in ("none", "sliding_window"))
    assert whole["status", "failed", "kept"] == (5, 5)
    assert slid["status", "failed", "lost"][0] > 0
    assert slid["status", "failed", "contradicted"] == (0, 5)
