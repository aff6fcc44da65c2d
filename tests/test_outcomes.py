"""Outcomes of commands: what harnesses say of them, and what test runs came to."""

import json

import pytest
import runs
from histories import agent, call, messages, user
from hypothesis import given

from compactlab.history import repair
from compactlab.readers import read
from compactlab.traffic.outcomes import BAD, names_of, outcomes, state_of_tests, status_of, words_on_tests
from compactlab.transcript import Message, Text, ToolCall, ToolResult


def shell(command, name="bash", call_id="c"):
    return ToolCall(call_id, name, json.dumps({"command": command}))


def answer(text, *, is_error=False, call_id="c"):
    return ToolResult(call_id, (Text(text),), is_error=is_error)


STATUSES = [
    ("done", False, "ok"),
    ("done", True, "failed"),
    ("", True, "failed"),
    ("no rule\n\n[exit status 2]", True, "failed"),
    ("no rule\n\n[exit status 2]", False, "failed"),
    ("Exit code 1\nTraceback", False, "failed"),
    ("Exit code: 0\nWall time: 1 s\nOutput:\nfine", False, "ok"),
    ("Exit code: 3\nWall time: 1 s\nOutput:\nbad", False, "failed"),
    ("out\n[Command finished with exit code 0]", False, "ok"),
    ("out\n[Command finished with exit code 5]", False, "failed"),
    ("Process exited with code 4\nout", False, "failed"),
    ('{"output": "bad", "metadata": {"exit_code": 7}}', False, "failed"),
    ("<returncode>1</returncode>\nbad", False, "failed"),
    ("line\n\nCommand failed with exit code 2.", True, "failed"),
    ("working\nKilled", True, "killed"),
    ("working\n[exit status 137]", True, "killed"),
    ("Exit code 143\n", True, "killed"),
    ("sh: line 1: 4711 Killed                  python a.py\n[exit status 137]", True, "killed"),
    ("[Request interrupted by user for tool use]", True, "killed"),
    ("Command timed out after 2m 0.0s\nout", True, "timeout"),
    ("Command timed out after 120 seconds", False, "timeout"),
    ("out\n[exit status 124]", True, "timeout"),
    ("the log says: exit code 2 was seen at noon\n" + "more\n" * 20, False, "ok"),
    ("timeout = 30\nkilled = 4", False, "ok"),
    ("| 0 | done |\n| 1 | exit code 1: problems |\n" * 10, False, "ok"),
]


@pytest.mark.parametrize(("text", "is_error", "status"), STATUSES)
def test_the_status_is_what_the_harness_says(text, is_error, status):
    assert status_of(shell("make all"), answer(text, is_error=is_error)) == status


@pytest.mark.parametrize(
    ("command", "status"),
    [
        ("grep -n x a.py", "ok"),
        ("cd src && diff a b", "ok"),
        ("git diff --exit-code", "ok"),
        ("[ -f a ]", "ok"),
        ("grep x a; python a.py", "failed"),
        ("git push", "failed"),
    ],
)
def test_that_a_search_found_nothing_is_no_failure(command, status):
    assert status_of(shell(command), answer("out\n\n[exit status 1]", is_error=True)) == status


def test_a_search_that_could_not_be_made_failed():
    assert (
        status_of(shell("grep x a.py"), answer("grep: a.py: No such file\n[exit status 2]", is_error=True)) == "failed"
    )


STATES = [
    ("...\n41 passed in 3.20s", "passed"),
    ("2 failed, 185 passed in 7.15s", "failed"),
    ("===== 1 failed, 3 passed, 2 warnings in 0.5s =====", "failed"),
    ("3 passed, 1 error in 0.5s", "failed"),
    ("====== 171 passed in 26.80s ======\nother text", "passed"),
    ("test result: ok. 5 passed; 0 failed;", "passed"),
    ("test result: ok. 5 passed\ntest result: FAILED. 1 failed\ntest result: ok. 2 passed", "failed"),
    ("ok  \texample.org/a\t0.2s\nFAIL\texample.org/b\t0.1s", "failed"),
    ("Tests:       1 failed, 4 passed, 5 total", "failed"),
    (" Tests  12 passed (12)", "passed"),
    ("Ran 5 tests in 0.1s\n\nOK", "passed"),
    ("Ran 5 tests in 0.1s\n\nFAILED (failures=2)", "failed"),
    ("14 doctests, 297 tests, 0 failures", "passed"),
    ("14 doctests, 297 tests, 11 failures", "failed"),
    ("  5 passing (20ms)\n  1 failing", "failed"),
    ("# pass 5\n# fail 0", "passed"),
    ("2 failed, 1 passed in 1.0s\n... fixed ...\n3 passed in 1.0s", "passed"),
    ("no tests here", None),
    ("ok", None),
    ("", None),
]


@pytest.mark.parametrize(("text", "state"), STATES)
def test_the_state_of_a_test_run_is_in_its_last_summary(text, state):
    assert state_of_tests(text) == state


@pytest.mark.parametrize(
    ("text", "state"),
    [
        ("All 171 tests pass.", "passed"),
        ("The tests are green now.", "passed"),
        ("Suite: 161 passed, twice.", "passed"),
        ("3 tests still fail.", "failed"),
        ("The test suite is failing", "failed"),
        ("2 failed. After the fix all tests pass.", "passed"),
        ("All tests passed; then 1 test failed", "failed"),
        ("0 failures", "passed"),
        ("I tested the pump.", None),
        ("The pass is closed and the test drive was fine", None),
    ],
)
def test_words_tell_the_state_of_tests(text, state):
    assert words_on_tests(text) == state


NAMES = [
    ("cd web && npm run build 2>&1 | tail -5", ("npm run build",)),
    ("python3 desk.py refund --ticket T-1", ("python3 desk.py refund --ticket T-1", "python3 desk.py refund")),
    ('git commit -m "feat: x"', ('git commit -m "feat: x"', "git commit")),
    ("ls -la; echo x; cat a.py", ()),
    ("make", ()),
]


@pytest.mark.parametrize(("command", "names"), NAMES)
def test_a_command_has_names_that_texts_call_it_by(command, names):
    assert names_of(command) == names


def test_outcomes_tell_every_answered_shell_call_in_order():
    history = [
        user(),
        agent(
            shell("make all", call_id="a"), call("b", "read", '{"path": "x"}'), shell("pytest -q | tail", call_id="d")
        ),
        Message("tool", (answer("bad\n[exit status 2]", is_error=True, call_id="a"), answer("x", call_id="b"))),
        Message("tool", (answer("1 failed, 2 passed in 0.1s", call_id="d"),)),
        agent(shell("ls", "Shell", "e")),
    ]
    made = [(one.command, one.status, one.position, one.tests) for one in outcomes(history)]
    assert made == [("make all", "failed", 2, None), ("pytest -q | tail", "failed", 3, "failed")]


def test_a_call_that_a_person_declined_never_ran():
    said = answer("The user doesn't want to proceed with this tool use.", is_error=True)
    assert outcomes([user(), agent(shell("rm -rf build")), Message("tool", (said,))]) == ()


def test_a_stand_in_is_no_outcome():
    assert outcomes(repair([user(), agent(shell("make all")), agent()]).messages) == ()


@given(messages())
def test_outcomes_of_any_history_point_to_their_results(history):
    base = repair(history).messages
    for made in outcomes(base):
        assert made.result in base[made.position].blocks
        assert made.status == "ok" or made.status in BAD


def test_the_failures_of_a_recorded_session_were_counted_by_hand():
    (transcript,) = read(runs.FIXTURES / "subagent-support.jsonl")
    made = outcomes(repair(transcript.messages).messages)
    assert len(made) == 192
    assert [one.status for one in made if one.status != "ok"] == ["failed"] * 6
