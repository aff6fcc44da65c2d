"""The agent decides: a mark that is crossed warns once, a decline holds until the next, nothing is ever forced."""

import pytest
from conversations import memory, records, talk, weighing
from hypothesis import given
from hypothesis import strategies as st
from reports import row

from compactlab.errors import SpecError, TranscriptError
from compactlab.memory.attention import Attention, Room, attention, declined, next_mark, step
from compactlab.memory.conversation import Note
from compactlab.pressure import Marks
from compactlab.readers import read_json
from compactlab.replay.window import Window
from compactlab.settings import Project

ROOM = Room(Window(1_000), Marks())
MARKS = (0.8, 0.9, 0.95)


def noted(line):
    return Note(read_json(line), line)


@pytest.mark.parametrize(
    ("tokens", "fired", "allowed"),
    [
        (799, (), 8_192),
        (800, (0.8,), 8_192),
        (899, (0.8,), 8_192),
        (900, (0.8, 0.9), 8_192),
        (949, (0.8, 0.9), 8_192),
        (950, MARKS, 8_192),
        (951, MARKS, 8_028),
        (975, MARKS, 4_096),
        (1_000, MARKS, 512),
        (1_500, MARKS, 512),
    ],
)
def test_exact_at_every_mark_at_the_full_window_and_beyond(tmp_path, tokens, fired, allowed):
    there = memory(tmp_path)
    done = there.append([weighing(tokens)])
    assert (done.tokens, done.pressure, done.allowance) == (tokens, tokens / 1_000, allowed)
    assert (done.warning.marks if done.warning else ()) == fired
    assert there.status().allowance == allowed
    assert len(there.messages) == 1


def test_each_mark_warns_once_a_crossing_and_again_only_after_pressure_fell_below_it(tmp_path):
    there = memory(tmp_path)
    heard = [there.append([weighing(tokens)]).warning for tokens in (780, 20, 50, 20, 40, 60)]
    assert [warning and warning.marks for warning in heard] == [None, (0.8,), None, None, (0.9,), (0.95,)]
    heard = memory(tmp_path, window=2_000).append([weighing(10)]).warning  # a wider window: all are armed again
    assert heard is None
    assert memory(tmp_path, window=2_000).status().armed == MARKS
    assert there.append([weighing(10)]).warning.marks == MARKS
    assert there.append([weighing(10)]).warning is None


def test_what_was_heard_stands_in_the_file_and_holds_for_the_next_process(tmp_path):
    memory(tmp_path).append([weighing(860)])
    assert memory(tmp_path).append([weighing(20)]).warning is None
    there = memory(tmp_path)
    assert (there.status().unanswered, there.status().armed) == ((0.8,), (0.9, 0.95))
    [line] = [line for line in records(there.path) if line["type"] == "warning"]
    assert (line["marks"], line["pressure"], line["tokens"], line["window"]) == ([0.8], 0.86, 860, 1_000)


def test_a_warning_says_what_each_strategy_would_free_and_asks_no_model(tmp_path):
    class Never:
        name, window = "never", None

        def reply(self, request):
            raise AssertionError(f"nobody was to be asked: {request}")

    class Loud(Project):
        def model(self):
            return Never()

    there = memory(tmp_path, project=Loud())
    warning = there.append([*talk(14), *talk(5)]).warning
    by_name = {estimate.strategy: estimate for estimate in warning.estimates}
    assert set(by_name) > {"microcompact", "cull", "sliding_window", "sliding_reflect", "summary", "key_value"}
    assert [e.strategy for e in warning.estimates if e.by_default] == ["summary"]
    assert [e.strategy for e in warning.estimates if e.stands_in] == ["summary", "sliding_reflect"]
    slide = by_name["sliding_window"]
    assert slide.outcome == "applied"
    assert (
        slide.frees
        == there.compact("sliding_window", dry_run=True).receipt.tokens_before
        - there.compact("sliding_window", dry_run=True).receipt.tokens_after
    )
    assert slide.pressure == pytest.approx((warning.tokens - slide.frees) / 1_000)
    assert (
        f"\n  sliding_window   frees {slide.frees:,} tokens, leaves pressure {slide.pressure:.2f}\n"
        in warning.to_text()
    )
    assert "(yours by default; asks a model)" in warning.to_text()
    assert len(there.messages) == 19


@pytest.mark.parametrize("reason", ["", "  ", "\n"])
def test_a_decline_needs_a_reason(tmp_path, reason):
    there = memory(tmp_path)
    there.append([weighing(850)])
    with pytest.raises(SpecError, match="needs a reason"):
        there.ignore(reason)
    assert there.status().unanswered == (0.8,)


def test_a_decline_is_recorded_and_honoured_until_the_next_mark(tmp_path):
    there = memory(tmp_path)
    there.append([weighing(850)])
    done = there.ignore("nearly done\nwith the walls")
    assert (done.pressure, done.next_mark) == (0.85, 0.9)
    assert (there.status().unanswered, there.status().declined) == ((), "nearly done\nwith the walls")
    assert there.append([weighing(40)]).warning is None
    assert there.append([weighing(20)]).warning.marks == (0.9,)
    assert (there.status().unanswered, there.status().declined) == ((0.9,), "")
    [line] = [line for line in records(there.path) if line["type"] == "ignored"]
    assert (line["reason"], line["mark"], line["pressure"]) == ("nearly done\nwith the walls", 0.8, 0.85)


def test_to_defer_is_to_decline(tmp_path):
    there = memory(tmp_path)
    there.append([weighing(960)])
    done = there.compact("defer(reason='all of it is needed')")
    assert (done.is_applied, done.is_done, done.receipt.outcome) == (False, True, "deferred")
    assert there.status().declined == "all of it is needed"
    assert there.status().next_mark is None
    assert there.ignore("still").next_mark is None


def test_nothing_can_be_declined_where_there_is_no_conversation(tmp_path):
    with pytest.raises(TranscriptError, match="cannot be read"):
        memory(tmp_path).ignore("no")
    assert not memory(tmp_path).path.exists()


def test_marks_are_those_of_the_agents_type(tmp_path):
    project = Project({"marks": [0.5, 0.9]}, {"subagent": {"marks": [0.3], "window": 500}})
    other = memory(tmp_path, "a", project=project, window=None)
    own = memory(tmp_path, "b", project=project, window=None)
    assert other.append([weighing(160)], "primary").warning is None
    assert own.append([weighing(160)], "subagent").warning.marks == (0.3,)
    assert own.append([weighing(200)]).allowance == round(8_192 * (1 - 0.72) / 0.7)


@row("K13-D3")
def test_a_window_that_nobody_named_is_a_stated_one_and_told(tmp_path):
    there = memory(tmp_path, window=None)
    there.append(talk(2))
    assert (there.status().window, there.status().window_is_assumed) == (128_000, True)
    assert "no window is set: this one is assumed" in there.status().to_text()
    assert "assumed" not in memory(tmp_path).status().to_text()


@row("K13-D1")
def test_pressure_is_on_what_is_left_for_input_with_what_each_request_carries(tmp_path):
    there = memory(tmp_path, window=2_000, reserve=1_000, overhead=100)
    assert there.append([weighing(700)]).warning.marks == (0.8,)
    with pytest.raises(SpecError, match="something left for input"):
        memory(tmp_path, reserve=1_000).status()


@given(st.lists(st.integers(0, 1_300), max_size=40))
def test_the_lines_tell_the_same_as_one_who_never_forgets(weights):
    notes, armed = [], set(MARKS)
    for tokens in weights:
        looked = step(attention(notes), ROOM, tokens)
        notes += [noted(looked.line)] if looked.line else []
        reached = {mark for mark in MARKS if tokens / 1_000 >= mark}
        assert set(looked.fired) == reached & armed
        armed = set(MARKS) - reached
        assert set(attention(notes).armed(ROOM.marks)) == armed


@given(st.lists(st.integers(0, 1_300) | st.just("no"), max_size=40))
def test_between_two_warnings_of_one_mark_pressure_was_below_it_and_a_decline_never_brings_one(moves):
    notes, tokens, last = [], 0, {}
    for at, move in enumerate(moves):
        if move == "no":
            notes.append(noted(declined("no", ROOM, tokens)))
            assert attention(notes).unanswered == ()
            assert step(attention(notes), ROOM, tokens).line is None
            continue
        tokens = move
        looked = step(attention(notes), ROOM, tokens)
        notes += [noted(looked.line)] if looked.line else []
        for mark in looked.fired:
            between = [move for move in moves[last.get(mark, -1) + 1 : at] if move != "no"]
            assert mark not in last or any(weight / 1_000 < mark for weight in between)
            last[mark] = at
        assert set(attention(notes).unanswered) <= attention(notes).spent


@given(st.integers(0, 3_000))
def test_only_the_allowance_narrows_and_never_below_its_floor(tokens):
    assert 512 <= ROOM.allowance(tokens) <= 8_192
    assert ROOM.allowance(tokens) <= ROOM.allowance(max(0, tokens - 1))
    assert (ROOM.allowance(tokens) == 8_192) == (tokens <= 950)


@pytest.mark.parametrize(
    ("tokens", "mark"), [(0, 0.8), (799, 0.8), (800, 0.9), (949, 0.95), (950, None), (2_000, None)]
)
def test_she_hears_of_it_again_at_the_next_mark(tokens, mark):
    assert next_mark(ROOM, tokens) == mark


@pytest.mark.parametrize(
    "line", [b'{"type": "warning"}', b'{"type": "warning", "spent": 3}', b'{"type": "ignored"}', b"{}", b'{"type": 7}']
)
def test_lines_that_say_nothing_change_nothing(line):
    assert attention([noted(line)]) == Attention()
