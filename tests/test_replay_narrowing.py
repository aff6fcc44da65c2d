import pytest
from hypothesis import given
from hypothesis import strategies as st
from replays_told import LIMIT, TABLE, agent, call, line, run, session, words

from compactlab.facts import Fact
from compactlab.markers import CUT
from compactlab.pressure import OUTPUT_LIMIT, Marks
from compactlab.replay.narrowing import narrowed
from compactlab.tokens import Meter
from compactlab.transcript import Reasoning, Text, ToolCall

METER = Meter("chars/4")
LONG = words("first", 100)
SHORT_CALL = call("c1", "bash", "{}")  # 3 tokens: `c1 bash {}`


def cut(message, allowed, facts=(LIMIT, TABLE)):
    told = session([message], facts)
    return narrowed(told.moments[0], allowed, METER, told.matcher)


def test_words_are_cut_at_the_allowance_and_a_mark_stands_behind_them():
    done = cut(agent(Text(LONG)), 40)
    text = done.message.blocks[0].text
    assert text.endswith(f" {CUT}")
    assert LONG.startswith(text.removesuffix(f" {CUT}"))
    assert 38 <= METER.block(done.message.blocks[0]) <= 40


@pytest.mark.parametrize("allowed", [100, 101, 99_999])
def test_an_answer_that_fits_stays_the_very_same(allowed):
    message = agent(Text(LONG))
    told = session([message])
    done = narrowed(told.moments[0], allowed, METER, told.matcher)
    assert done.message is told.messages[0]
    assert done.calls_over == 0


def test_what_follows_the_cut_goes_but_for_calls_which_are_counted_where_they_are_beyond_the_allowance():
    message = agent(Text(LONG), SHORT_CALL, Text("and more of it"), call("c2"))
    done = cut(message, 40)
    assert [type(block) for block in done.message.blocks] == [Text, ToolCall, ToolCall]
    assert done.calls_over == 2
    assert cut(agent(SHORT_CALL, Text(LONG)), 40).calls_over == 0
    assert [type(block) for block in cut(agent(SHORT_CALL, Text(LONG)), 40).message.blocks] == [ToolCall, Text]


def test_reasoning_is_cut_like_words_unless_it_is_signed_or_opaque_then_it_goes_whole():
    thought = cut(agent(Reasoning(LONG), Text("so be it")), 40).message.blocks
    assert len(thought) == 1
    assert thought[0].text.endswith(CUT)
    for signed in (Reasoning(LONG, signature="sig"), Reasoning(LONG, opaque="sealed")):
        assert cut(agent(signed, Text(LONG)), 40).message.blocks == (Text(CUT),)
        assert cut(agent(signed), 40).message.blocks == (Text(CUT),)
        assert cut(agent(signed, SHORT_CALL), 40).message.blocks == (SHORT_CALL,)


def test_a_fact_behind_the_cut_or_cut_through_does_not_stand():
    before = "The valve limit is 8321 here. "
    said = agent(Text(before + "day " * 100 + "table orders_old"))
    assert dict(cut(said, 20).standing) == {0: True}
    through = agent(Text("The valve limit is: 83219774 " + "day " * 100))
    for value, room, stands in (("83219774", 6, False), ("8321", 6, False), ("83219774", 7, True)):
        done = cut(through, room + METER.text(f" {CUT}"), (Fact("number", value, (value,)),))
        assert done.message.text.startswith("The valve limit is: 8321")
        assert bool(done.standing) is stands


@given(st.lists(st.sampled_from(["text", "thought", "signed", "call"]), max_size=6), st.integers(0, 400))
def test_narrowing_never_adds_weight_drops_a_call_or_passes_the_allowance_with_words(kinds, allowed):
    made = {
        "text": Text(LONG),
        "thought": Reasoning(LONG),
        "signed": Reasoning(LONG, signature="s"),
        "call": SHORT_CALL,
    }
    message = agent(*(made[kind] for kind in kinds), "end")
    done = cut(message, allowed)
    assert METER.message(done.message) <= METER.message(message)
    assert done.message.calls == message.calls
    assert done.message.blocks
    spoken = [block for block in done.message.blocks if not isinstance(block, ToolCall)]
    least = METER.block(Text(CUT))
    assert sum(map(METER.block, spoken)) <= allowed + least or done.message.blocks == message.blocks


TALK = [line("user" if i % 2 == 0 else "assistant", f"step {i}") for i in range(4)]


def test_above_the_last_mark_the_recorded_answer_is_cut_for_every_policy_but_none():
    marks = Marks((0.5, 0.6))
    talk = [*TALK, line("user"), line("assistant", "a long answer", tokens=3_000), line("user"), line("assistant")]
    done = run(talk, "defer", 10_000, marks)
    assert [(turn.cut, turn.allowance) for turn in done.turns] == [(0, OUTPUT_LIMIT)] * 4  # low pressure: all of it
    heavy = [line("user", tokens=7_000), line("assistant", tokens=2_900), line("user"), line("assistant")]
    first, second = run(heavy, "defer", 10_000, marks).turns
    assert (first.tokens, first.allowance) == (7_004, round(8_192 * (1 - 0.7004) / 0.4))
    assert (first.cut, first.output) == (0, 2_904)  # it may be twice as long
    assert (second.tokens, second.allowance) == (9_948, 512)


def test_the_view_holds_what_is_left_of_the_answer_from_then_on():
    heavy = [line("user", tokens=9_200), line("assistant", tokens=700), line("user", tokens=46), line("assistant")]
    marks = Marks((0.01, 0.03))
    done = run(heavy, "defer", 9_900, marks)
    first, second = done.turns
    assert first.allowance == round(8_192 * (1 - 9_204 / 9_900) / 0.97) == 594
    assert (first.output, first.cut) == (594 + 4, 700 - 594)
    assert second.tokens == 9_204 + 598 + 50
    assert done.view(1)[1].text.endswith(CUT)
    assert run(heavy, "none", 9_900, marks).overflow_at == 3  # nobody narrows: 9,958 tokens


def test_a_use_in_the_part_that_was_cut_off_counts_and_does_not_stand_anew():
    talk = [line("user", tokens=19_000), line("assistant"), line("user", "valve orders_old"), line("assistant")]
    talk += [line("user"), agent("The answer" + " day" * 700 + " valve orders_old"), line("user")]
    done = run(
        [*talk, line("assistant", "orders_old")], "sliding_window(preserve_recent=1)@0.955", 20_000, Marks((0.1,))
    )
    assert [(fire.tokens_before, fire.tokens_after) for fire in done.fires] == [(19_164, 19_099), (19_655, 19_575)]
    assert [(turn.allowance, turn.cut) for turn in done.turns] == [(512, 0), (512, 0), (512, 195), (512, 0)]
    assert [(use.position, use.passes, use.loose) for use in done.uses] == [(5, 1, False), (7, 2, False)]
    assert done.view(3)[2].text.endswith(CUT)
