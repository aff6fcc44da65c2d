"""Replays whose every figure was added up by hand: each plain line weighs 36 tokens and 4 for the message."""

from dataclasses import dataclass

import pytest
from replays_told import LIMIT, TABLE, agent, call, line, reading, run, session, texts

from compactlab.compaction import Guard
from compactlab.errors import SpecError
from compactlab.facts import Fact
from compactlab.policy import policy
from compactlab.pressure import Marks
from compactlab.replay import Debt, Fire, Life, Session, Turn, Use, Window, replay
from compactlab.strategies import Strategy
from compactlab.tokens import Meter
from compactlab.transcript import Message, Text, ToolResult

SLIDE = "sliding_window(preserve_recent=1)"
VALVE = (
    line("user", "Check the valve"),
    line("assistant", "Yes"),
    line("user", "The valve limit is 8321 here"),
    line("assistant", "Noted"),
    line("user", "Go on"),
    line("assistant", "The valve limit is 8321 now"),
    line("user", "And then"),
    line("assistant", "Done with valve 8321"),
)


def test_a_session_is_sent_turn_by_turn_and_compacted_at_its_mark():
    done = run(VALVE, SLIDE, 200)
    # before message 5: 5 lines are 200 of 200; left are the anchor, a note of 15, the last answer and question
    # before message 7: 135 and two lines are 215: it does not fit
    assert done.fires == (
        Fire(2, 5, 0.8, SLIDE, False, "applied", "", False, 200, 135, 40, "", 0, 0, 0, 0),
        Fire(3, 7, 0.8, SLIDE, True, "applied", "", False, 215, 135, 40, "", 0, 0, 0, 0),
    )
    assert done.turns == (
        Turn(1, 40, 0, 40, 8192, 0, 0, 0),
        Turn(3, 120, 40, 40, 8192, 0, 0, 0),
        Turn(5, 135, 40, 40, 8192, 0, 0, 1),
        Turn(7, 135, 40, 40, 8192, 0, 0, 2),
    )
    assert [texts(done.view(turn)) for turn in range(4)] == [
        ["Check the valve"],
        ["Check the valve", "Yes day day", "The valve limit"],
        ["Check the valve", "[2 earlier messages", "Noted day day", "Go on day"],
        ["Check the valve", "[4 earlier messages", "The valve limit", "And then day"],
    ]
    assert [message.source for message in done.view(3)] == [0, None, 5, 6]
    assert done.sent_plain == 40 + 120 + 200 + 280
    assert (done.overflow, done.overflow_at, done.window, done.overhead, len(done.seconds)) == ("", None, 200, 0, 2)


def test_uses_lives_and_what_was_supplied_again_are_followed_through_the_passes():
    done = run(VALVE, SLIDE, 200)
    # said in 2, slid out before 5, where the agent needs it; said by the agent in 5, it stands before 7
    assert done.uses == (
        Use(0, "number", "text", "irrecoverable", 5, 1, loose=False, bound=False),
        Use(0, "number", "text", "irrecoverable", 7, 1, loose=True, bound=True),
    )
    assert done.lives == (Life("number", 1, lost=True), Life("number", 1, lost=False))
    assert (done.debts, done.supplied) == ((), 0)
    told_again = (*VALVE[:4], line("user", "The valve limit is 8321 still"), *VALVE[5:])
    again = run(told_again, SLIDE, 200)  # message 4 is a person's last words when it fires: it stands through it
    assert ([use.bound for use in again.uses], again.supplied) == ([True, True], 0)
    late = (*VALVE[:5], line("assistant", "Fine"), line("user", "The valve limit is 8321"), line("assistant", "8321"))
    supplied = run(late, SLIDE, 200)
    assert ([use.position for use in supplied.uses], supplied.supplied) == ([7], 1)


def test_the_words_that_a_pass_puts_in_are_no_words_of_the_session():
    talk = (*VALVE[:2], line("user", "The valve limit is 2 here"), *VALVE[3:5], line("assistant", "The limit is 2"))
    done = run(talk, SLIDE, 200, facts=(Fact("number", "2", ("2",)),))
    assert done.view(2)[1].text == "[2 earlier messages removed to save context]"
    assert [use.loose for use in done.uses] == [False]


def test_what_is_always_protected_is_never_at_risk():
    safe = (line("user", "The valve limit is 8321"), *VALVE[1:])
    assert run(safe, SLIDE, 200).uses == ()
    assert run(safe, SLIDE, 200).lives == ()
    pinned = (*VALVE[:2], line("user", "The valve limit is 8321", pinned=True), *VALVE[3:])
    assert (run(pinned, SLIDE, 400).uses, run(pinned, SLIDE, 200).lives) == ((), ())


def test_a_fact_that_lives_through_several_passes_has_them_counted():
    talk = [line("user" if i % 2 == 0 else "assistant", "table orders_old stays" if i == 2 else "") for i in range(8)]
    done = run(talk, "sliding_window(preserve_recent=3)", 250)
    # before message 5: 200; the anchor, the note and the newest three stay, 175; before 7: 255, one of them fits
    assert [(fire.position, fire.tokens_after) for fire in done.fires] == [(5, 175), (7, 175)]
    assert done.lives == (Life("identifier", 2, lost=True),)
    assert run(talk[:6], "sliding_window(preserve_recent=3)", 250).lives == (Life("identifier", 1, lost=False),)


def test_the_policy_none_never_fires_and_ends_where_a_request_does_not_fit():
    done = run(VALVE, "none", 200)
    assert (done.fires, len(done.turns), done.overflow_at) == ((), 3, 7)
    assert [turn.tokens for turn in done.turns] == [40, 120, 200]
    assert done.sent_plain == 640
    assert done.overflow == (
        "the request before message 7 has 280 tokens and the window 200: 160 tokens of messages that could be compacted"
    )


def test_a_session_that_fits_is_sent_as_it_is():
    for spec in ("none", SLIDE, "defer"):
        done = run(VALVE, spec, 1_000)
        assert (done.fires, done.overflow, done.lives, done.uses) == ((), "", (), ())
        assert sum(turn.tokens for turn in done.turns) == done.sent_plain == 640


def test_what_the_agent_has_not_read_yet_may_be_too_much_for_any_policy():
    asked, came = reading("c1", "valve.log", "pressure", tokens=300)
    done = run([*VALVE[:2], asked, came, line("assistant")], SLIDE, 200)
    assert (done.overflow_at, len(done.turns)) == (4, 2)
    assert done.fires[-1].forced
    assert done.overflow.endswith("and the window 200: 304 tokens of results that the agent has not read yet")


@pytest.mark.parametrize(
    ("messages", "overhead", "part"),
    [
        ((line("user", "first", tokens=500), line("assistant")), 0, "504 tokens of the system prompt and the first"),
        ((line("user"), line("assistant")), 300, "300 tokens of what goes along with every request"),
        ((*VALVE[:4], line("user", tokens=400), line("assistant")), 0, "404 tokens of the last words of a person"),
        ((*VALVE[:3], line("assistant", tokens=400), *VALVE[4:]), 0, "404 tokens of the agent's last turn"),
        ((*VALVE[:2], line("user", "x", tokens=400, pinned=True), *VALVE[3:]), 0, "404 tokens of pinned messages"),
    ],
)
def test_an_overflow_says_what_holds_the_weight(messages, overhead, part):
    assert part in run(messages, SLIDE, Window(200, overhead)).overflow


def test_a_mark_fires_once_a_crossing():
    talk = [line("user" if i % 2 == 0 else "assistant", f"step {i}") for i in range(20)]
    done = run(talk, "defer@0.5", 1_000)
    assert [(fire.turn, fire.outcome, fire.forced) for fire in done.fires] == [(6, "deferred", False)]
    spec = "sliding_window(preserve_recent=2)@0.5"
    fired = [(fire.turn, fire.tokens_before, fire.tokens_after) for fire in run(talk, spec, 600).fires]
    # nine lines are 360, of which 300 is half; a note and three lines are left, then 215, 295, and 375 before turn 7
    assert fired == [(4, 360, 135), (7, 375, 136)]


def test_of_several_marks_at_once_the_highest_runs():
    talk = (*VALVE[:4], line("user", tokens=196), line("assistant"))
    done = run(talk, f"defer@0.5+microcompact@0.6+{SLIDE}@0.8", 400)
    assert [(fire.mark, fire.strategy, fire.outcome) for fire in done.fires] == [(0.8, SLIDE, "applied")]


def test_a_request_that_does_not_fit_forces_the_highest_strategy_once_a_turn_with_a_target():
    talk = [line("user" if i % 2 == 0 else "assistant", f"step {i}") for i in range(14)]
    done = run(talk, "defer@0.5+sliding_window@0.9", 400)
    assert [(f.turn, f.strategy, f.forced, f.outcome, f.tokens_after) for f in done.fires] == [
        (2, "defer", False, "deferred", 200),
        (4, "sliding_window", False, "skipped", 360),  # its newest ten units are all there is
        (5, "sliding_window", True, "applied", 175),  # below half of 400: anchor, note, and three lines
        (6, "defer", False, "deferred", 255),
    ]
    assert (done.overflow, len(done.turns)) == ("", 7)


def test_a_strategy_that_fails_is_an_outcome_and_never_the_end():
    done = run(VALVE, "test_replay:Broken", 210)
    assert [(f.forced, f.outcome, f.reason, f.tokens_after) for f in done.fires] == [
        (False, "failed", "ValueError: no", 200),
        (True, "failed", "ValueError: no", 280),
    ]
    assert (len(done.turns), done.overflow_at) == (3, 7)


def test_an_action_owes_the_evicted_result_that_it_relied_on_once():
    asked, came = reading("c1", "src/valve.py", "The valve limit is 8321")
    edit = agent(call("c2", "edit", '{"path": "src/valve.py", "old_string": "8321", "new_string": "9"}'))
    ok = Message("tool", (ToolResult("c2", (Text("ok"),)),))
    talk = (line("user", "Go"), asked, came, line("assistant"), line("user"), line("assistant"), line("user"))
    done = run([*talk, edit, ok, agent(call("c3", "edit", edit.calls[0].arguments))], SLIDE, Window(240), Marks((0.7,)))
    assert done.debts == (Debt(7, 2, 36),)
    assert [(use.kind, use.home, use.loose) for use in done.uses] == [("action", "reobtainable", False)]


@pytest.mark.parametrize(
    ("action", "owed"),
    [
        (call("c2", "edit", '{"path": "src/valve.py", "old_string": "a", "new_string": "b"}'), 1),
        (call("c2", "read", '{"path": "src/valve.py"}'), 0),
        (call("c2", "bash", '{"command": "cat src/valve.py"}'), 0),
        (call("c2", "bash", '{"command": "rm src/valve.py"}'), 1),
        (call("c2", "edit", '{"path": "src/other.py", "old_string": "a", "new_string": "b"}'), 0),
        (call("c2", "bash", '{"command": "set-limit 8321"}'), 1),
        (call("c2", "bash", '{"command": "cat src/valve.py | grep 8321"}'), 0),
        (call("c2", "bash", '{"command": "set-limit 8322"}'), 0),
    ],
)
def test_an_action_that_reads_again_or_touches_something_else_owes_nothing(action, owed):
    asked, came = reading("c1", "src/valve.py", "The valve limit is 8321")
    talk = (line("user", "Go"), asked, came, line("assistant"), line("user"), line("assistant"), line("user"))
    assert len(run([*talk, agent(action)], SLIDE, 240, Marks((0.7,))).debts) == owed
    assert run([*talk, agent(action)], SLIDE, 1_000).debts == ()


def test_a_window_without_room_and_another_counter_are_refused():
    with pytest.raises(SpecError, match="expected something left for input"):
        run(VALVE, SLIDE, Window(1_000, reserve=1_000))
    with pytest.raises(SpecError, match="expected tokens, 0 or more"):
        run(VALVE, SLIDE, Window(1_000, overhead=-1))
    with pytest.raises(SpecError, match="the guard counts by o200k_base; expected chars/4"):
        replay(session(VALVE), policy(SLIDE), 200, Guard(Meter()))


def test_marks_are_those_of_the_type_of_agent():
    marks = Marks(by_agent_type={"subagent": (0.5, 0.6)})
    assert [fire.mark for fire in run(VALVE, "defer", 400, marks).fires] == []
    given = session(VALVE, agent_type="subagent")
    assert [fire.mark for fire in run(given, "defer", 400, marks).fires] == [0.5]


def test_todo_items_in_progress_are_counted_at_a_fire():
    items = '{"todos": [{"content": "a b", "status": "in_progress"}, {"content": "c d", "status": "pending"}]}'
    talk = (*VALVE[:3], agent(call("c1", "TodoWrite", items)), *VALVE[4:])
    assert [fire.open_tasks for fire in run(talk, "defer@0.6", 300).fires] == [1]


def test_values_that_other_sessions_share_are_left_out():
    both = (*VALVE[:2], line("user", "limit 8321, table orders_old"), *VALVE[3:5], line("assistant", "orders_old 8321"))
    told = session(both)
    assert [told.facts[use.fact] for use in run(told, SLIDE, 200).uses] == [TABLE, LIMIT]
    shared = Session(told.transcript, told.meter, told.given, frozenset({"8321"}))
    assert [told.facts[use.fact] for use in run(shared, SLIDE, 200).uses] == [TABLE]


@dataclass(frozen=True, repr=False)
class Broken(Strategy):
    """Fails."""

    def compact(self, messages, context):  # noqa: ARG002
        raise ValueError("no")


def test_a_pass_that_saves_less_than_closing_an_open_call_adds_is_skipped():
    asked = "Please move the orders table to port 5433, and never touch invoices_archive."
    said = [
        Message("system", (Text("You are a careful agent."),)),
        Message("user", (Text(asked),)),
        agent(call("call_0", "bash", '{"command": "ls -la /srv"}')),
        *(Message(role, (Text(asked),)) for role in ("user", "assistant", "assistant")),
        Message("tool", (ToolResult("call_0", (Text("yes"),)),)),
        *(Message(role, (Text("yes"),)) for role in ("user", "assistant")),
    ]
    done = run(said, "sliding_window(preserve_recent=2)", 88)
    assert [(fire.outcome, fire.tokens_before, fire.tokens_after) for fire in done.fires] == [("skipped", 93, 93)]
    assert done.fires[0].reason == "would weigh 94 tokens instead of 93, with open calls closed"
