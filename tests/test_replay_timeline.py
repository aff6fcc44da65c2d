import pytest
from histories import agent, answering, call, calling, result, split_and_turn_shape, user
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from replays_told import COUNTER, line, reading, run, session

from compactlab.compaction import Guard
from compactlab.facts import Fact
from compactlab.history import Place
from compactlab.llm.extractive import Extractive
from compactlab.markers import CLEARED, NO_RESULT
from compactlab.policy import policy
from compactlab.replay import Session, Window, replay
from compactlab.tokens import Meter
from compactlab.transcript import Message, Text, ToolResult, Transcript

SLIDE = "sliding_window(preserve_recent=1)"


def kinds(told):
    """By message the facts that it says, with how they are used."""
    return [[(one.fact, one.kind) for one in moment.said] for moment in told.moments]


def test_what_the_agent_says_is_a_use_and_all_else_supplies():
    long = '{"content": "8321 ' + "x" * 800 + '"}'
    talk = [line("user"), user("8321"), agent("8321"), agent(call("c1", "set", '{"to": 8321}'))]
    talk += [Message("tool", (result("c1", "8321"),)), agent(call("c2", "write", long))]
    talk += [Message("tool", (result("c2", "8321"),)), Message("assistant", (Text("8321"),), synthetic=True)]
    assert kinds(session(talk)) == [
        [],
        [(0, None)],
        [(0, "text")],
        [(0, "action")],
        [(0, None)],
        [(0, "bulk")],
        [(0, None)],
        [(0, None)],
    ]


def test_a_value_that_is_too_common_by_itself_counts_again_only_near_a_word_of_before():
    often = Fact("number", "42", ("42",), needs_anchor=True)
    talk = [line("user"), user("the garden holds 42"), agent("42"), agent("answers come to 42"), agent("garden 42")]
    told = session(talk, (often,))
    assert kinds(told) == [[], [(0, None)], [], [], [(0, "text")]]
    assert [dict(moment.standing) for moment in told.moments][2:] == [{0: False}, {0: True}, {0: True}]


def test_a_fact_has_a_home_where_a_reading_call_brought_it_and_none_where_that_failed():
    asked, came = reading("c1", "valve.log", "limit 8321")
    failed = Message("tool", (ToolResult("c1", came.results[0].content, is_error=True),))
    for brought, home, place in ((came, "reobtainable", Place(2, 0)), (failed, "irrecoverable", None)):
        said = session([line("user"), asked, brought, agent("8321")]).moments[3].said[0]
        assert (said.home, said.result) == (home, place)


@pytest.mark.parametrize(
    ("fetch", "later", "relied"),
    [
        (call("c1", "web_fetch", '{"url": "https://e.org/a"}'), call("c2", "post", '{"to": "https://e.org/a"}'), 1),
        (
            call("c1", "web_fetch", '{"url": "https://e.org/a"}'),
            call("c2", "web_fetch", '{"url": "https://e.org/a"}'),
            0,
        ),
        (call("c1", "web_fetch", '{"url": "https://e.org/a"}'), call("c2", "note", '{"t": "see https://e.org/a."}'), 1),
        (call("c1", "web_fetch", '{"url": "https://e.org/a"}'), call("c2", "post", '{"to": "https://e.org/ab"}'), 0),
        (
            call("c1", "read", '{"path": "/srv/a.py"}'),
            call("c2", "bash", '{"command": "cd /srv && sed -i s/a/b/ a.py"}'),
            1,
        ),
        (call("c1", "bash", '{"command": "cat /srv/a.py"}'), call("c2", "edit", '{"path": "/srv/a.py"}'), 1),
        (call("c1", "bash", '{"command": "make /srv/a.py"}'), call("c2", "edit", '{"path": "/srv/a.py"}'), 0),
        (call("c1", "read", '{"path": "/srv/a.py"}'), call("c2", "edit", "not json"), 0),
    ],
)
def test_a_call_relies_on_the_newest_result_about_what_it_touches(fetch, later, relied):
    told = session([line("user"), agent(fetch), Message("tool", (result("c1"),)), agent(later)])
    assert len(told.moments[3].relied) == relied


def test_the_newest_reading_counts_and_an_older_one_no_more():
    one, first = reading("c1", "/srv/a.py", "one")
    two, second = reading("c2", "/srv/a.py", "two")
    edit = agent(call("c3", "edit", '{"path": "/srv/a.py"}'), call("c4", "edit", '{"path": "/srv/a.py"}'))
    told = session([line("user"), one, first, two, second, edit])
    assert told.moments[5].relied == (Place(4, 0),)


def late(*, pinned):
    """A session in which a result comes after four more messages; the policy acts in between, and not after it."""
    talk = [line("user"), calling("c1", pinned=pinned), line("user", tokens=100), line("assistant"), line("user")]
    return [*talk, line("assistant", tokens=2), answering("c1"), line("user", tokens=2), line("assistant")]


def test_a_result_that_comes_after_its_call_is_gone_does_not_come_in():
    assert run(late(pinned=False), "none", 1_000).view(3)[6].results
    done = run(late(pinned=False), SLIDE, 280)
    assert [(fire.position, fire.outcome) for fire in done.fires] == [(5, "applied")]
    assert len(done.view(3)) == 6
    assert not any(message.calls or message.results for message in done.view(3))


def test_a_result_that_comes_after_its_call_was_closed_does_not_come_in():
    done = run(late(pinned=True), SLIDE, 280)
    assert [(fire.position, fire.outcome) for fire in done.fires] == [(5, "applied")]
    results = [block.text for message in done.view(3) for block in message.results]
    assert results == [NO_RESULT]


def test_a_message_that_was_edited_keeps_its_place_in_the_recording():
    asked, came = reading("c1", "/srv/a.py", "old", tokens=100)
    talk = (line("user"), asked, came, line("assistant"), line("user"), line("assistant"))
    told = Transcript("t", "", tuple(replace(message, source=10 + i) for i, message in enumerate(talk)))
    done = run(Session(told, Meter(COUNTER), ()), "microcompact(keep_recent=0)", 280)
    assert [fire.outcome for fire in done.fires] == ["applied"]
    assert [message.source for message in done.view(2)] == [10, 11, 12, 13, 14]
    assert done.view(2)[2].results[0].text == CLEARED


@given(split_and_turn_shape(max_events=14), st.sampled_from(["none", SLIDE, "microcompact(keep_recent=1)@0.5"]))
def test_both_ways_to_store_a_turn_replay_alike(shapes, spec):
    meter = Meter(COUNTER)
    window = max(60, round(0.4 * meter.messages(shapes.split)))
    both = []
    for messages in (shapes.split, shapes.turns):
        told = Session(Transcript("t", "", messages), meter)
        done = replay(told, policy(spec), window, Guard(meter, model=Extractive()))
        views = [[(m.role, m.blocks) for m in done.view(turn)] for turn in range(len(done.turns))]
        figures = [turn._replace(position=0) for turn in done.turns], [fire._replace(position=0) for fire in done.fires]
        both.append((views, figures, [use._replace(position=0) for use in done.uses], done.lives, bool(done.overflow)))
    assert both[0] == both[1]


def test_positions_are_those_of_the_recorded_messages():
    turn = Message("assistant", (Text("look"), call("c1"), result("c1"), Text("8321 it is")), source=1)
    done = run([line("user"), turn, line("user"), line("assistant")], "none", 1_000)
    assert [sent.position for sent in done.turns] == [1, 1, 3]
    assert len(done.view(2)) == 5


def test_an_overhead_is_the_newest_that_was_stated():
    window = Window(1_000, 10, later=((3, 40), (7, 20)))
    assert [window.overhead_at(position) for position in (0, 2, 3, 6, 7, 99)] == [10, 10, 40, 40, 20, 20]
