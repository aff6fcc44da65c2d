"""Claude Code's published behaviour: its constants, the two steps, the files that come back, and its known faults."""

import pytest
from histories import agent, call, result, system, user
from peers import SUMMARY, constants, context, held, raw, sources, steps, talk
from test_peers import off

from compactlab.markers import CLEARED
from compactlab.peers.claude_code import FILES, HEADING, ClaudeCode
from compactlab.strategies import Context
from compactlab.tokens import Meter
from compactlab.transcript import Message

MANUAL = ClaudeCode(trigger="manual")


def use(number, name, arguments, shown="done"):
    name_ = f"f{number}"
    return agent(call(name_, name, arguments)), Message("tool", (result(name_, shown),))


def test_its_constants_are_those_that_were_published():
    assert constants(ClaudeCode) == {
        "trigger": "auto",
        "focus": "",
        "keep_results": 5,
        "window": 200_000,
        "summary_tokens": 20_000,
        "buffer_tokens": 13_000,
        "files": 5,
        "file_tokens": 5_000,
    }


@pytest.mark.parametrize(
    ("window", "threshold"), [(200_000, 167_000), (1_000_000, 967_000), (32_000, -1_000), (None, 40_000)]
)
def test_its_threshold_is_the_window_less_what_is_set_aside(window, threshold):
    assert ClaudeCode().threshold(Context(Meter(), window=window), 40_000) == threshold


@pytest.mark.parametrize(
    ("tool", "gone"), [("Bash", 3), ("Read", 3), ("WebFetch", 3), ("web_search", 3), ("Task", 0), ("mcp__db__query", 0)]
)
def test_old_results_of_its_tools_are_cleared_and_that_may_be_enough(tool, gone):
    given = raw(ClaudeCode(), [user(), *steps(8, name=tool), user()])
    assert sum(r.text == CLEARED for m in given.messages for r in m.results) == gone
    assert given.notes == (("results cleared",) if gone else ("summary",))


def test_where_that_is_not_enough_a_summary_is_all_that_is_left():
    given = raw(ClaudeCode(), [system(), *talk(20), *steps(8)], target=300)
    assert sources(given)[:1] == [0]
    assert [m.text for m in given.messages[1:]] == [f"{HEADING}\n\nSummary:\nThe port is 5433."]


def test_below_the_threshold_nothing_is_done():
    session = [user(), *steps(8)]
    assert sources(raw(ClaudeCode(), session, window=200_000)) == list(range(17))
    assert raw(ClaudeCode(), session, target=100_000).notes == ("under the threshold",)


def test_the_files_that_were_touched_last_come_back_as_they_were_last_seen():
    session = [
        user("Move the port."),
        *use(0, "Read", '{"file_path": "/srv/old.py"}', "an old file"),
        *use(1, "Write", '{"file_path": "/srv/new.py", "content": "port = 5433"}'),
        *use(2, "Read", '{"file_path": "/srv/long.py"}', "x " * 30_000),
        *use(3, "Read", '{"file_path": "/srv/port.py"}', "port = 5432"),
        *use(4, "Edit", '{"file_path": "/srv/port.py", "new_string": "5433"}'),
        *use(5, "Bash", '{"command": "cat /srv/not_a_file_tool.py"}', "no file tool"),
    ]
    note = raw(MANUAL, session).messages[-1].text
    assert note.split("\n") == [
        FILES,
        "/srv/port.py",  # edited since it was read: by its path alone
        "/srv/long.py",  # over 5,000 tokens
        "/srv/new.py:",
        "port = 5433",
        "/srv/old.py:",
        "an old file",
    ]
    assert raw(ClaudeCode(trigger="manual", files=1), session).messages[-1].text == f"{FILES}\n/srv/port.py"


def test_a_file_that_was_cleared_before_comes_back_all_the_same():
    read = use(0, "Read", '{"file_path": "/srv/a.py"}', "port = 5433")
    given = raw(ClaudeCode(), [user(), *read, *steps(8), user("x" * 4_000)], target=100)
    assert "/srv/a.py" in given.messages[-1].text


def test_a_focus_stands_in_what_the_model_is_asked():
    asked = context()
    ClaudeCode(trigger="manual", focus="the port").compact(tuple(talk(6)), asked)
    [request] = asked.model.requests
    assert request.prompt.endswith("Give most room to this: the port\n")
    assert request.max_output == 20_000


def test_fault_not_a_word_of_a_person_is_kept_and_the_guard_puts_back_what_must_stay():
    session = talk(21, length=80)
    without = held(off("claude_code(trigger='manual')"), session)
    assert [m.synthetic for m in without.messages] == [True]
    guarded = held(MANUAL, session)
    assert guarded.receipt.outcome == "applied"
    assert {0, 20} <= set(guarded.receipt.restored)


@pytest.mark.parametrize("reply", ["", "I cannot help with that.", SUMMARY.replace("5433", "5432")])
def test_fault_any_reply_is_a_summary(reply):
    assert held(MANUAL, talk(40), reply).receipt.outcome == "applied"
