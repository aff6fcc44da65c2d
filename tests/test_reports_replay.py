"""Reported faults that show only where a session grows under a policy: marks, weights, loops (K07, K08, K13, K18)."""

from itertools import pairwise

from reports import METER, repeated, row, rows, sketch

from compactlab.compaction import Guard
from compactlab.llm.extractive import Extractive
from compactlab.policy import MARKED, policy
from compactlab.pressure import Marks
from compactlab.replay import Session, Window, replay
from compactlab.transcript import Transcript, Usage

SLIDE = "sliding_window(preserve_recent=2)"
GROWING = f"S U {repeated(40, 'A~2k U~2k ')} A"


def replayed(text, spec, window, marks=None, usage=()):
    told = Session(Transcript("s", "compactlab", sketch(text), usage=usage), METER, given=())
    return replay(told, policy(spec), window, Guard(METER, model=Extractive()), marks)


def sizes(done):
    """What was sent at each turn, in thousands of tokens."""
    return [round(turn.tokens / 1_000) for turn in done.turns]


def fired(done):
    """The turns at which the policy acted, and with which outcome."""
    return [(fire.turn, fire.outcome) for fire in done.fires]


BASES = {
    "K13-D1": (Window(128_000, reserve=64_000), 64_000),
    "K13-D1 with schemas": (Window(128_000, overhead=10_000, reserve=64_000), 64_000),
    "K13-D1 without a reserve": (Window(128_000), 128_000),
}


@rows(("window", "room"), BASES)
def test_a_mark_is_a_share_of_what_a_request_may_have(window, room):
    done = replayed(GROWING, SLIDE, window)
    assert done.window == room
    assert done.overflow == ""
    assert max(turn.tokens for turn in done.turns) < 0.8 * room
    first = done.fires[0]
    assert 0.8 * room <= first.tokens_before + window.overhead < 0.8 * room + 5_000


@row("K13-D7")
def test_what_is_held_against_the_window_is_the_whole_next_request():
    done = replayed(f"U {repeated(5, 'A~20k U~20k ')} A", SLIDE, 192_000)
    assert [(f.turn, round(f.tokens_before / 1_000), f.outcome) for f in done.fires] == [(4, 160, "applied")]
    assert sizes(done)[:4] == [0, 40, 80, 120]


ARRIVING = f"S U~30k {repeated(16, 'A~1k U~4k ')} A[read:c1] T[c1]~30k A U A"


@rows(("spec", "fits"), {"K13-D8": (SLIDE, True), "K13-D8 nobody acts": ("none", False)})
def test_a_result_that_arrives_is_weighed_before_the_request_that_holds_it_is_sent(spec, fits):
    done = replayed(ARRIVING, spec, Window(128_000), Marks((0.95,)))
    assert max(turn.tokens for turn in done.turns) <= 128_000
    assert (done.overflow == "") is fits
    if fits:
        assert [(f.forced, round(f.tokens_before / 1_000), f.outcome) for f in done.fires] == [(True, 140, "applied")]
    else:
        assert sizes(done)[-1] == 110
        assert done.overflow.startswith("the request before message 36 has 140,")


@row("K13-D8 no pass can help")
def test_a_result_that_no_pass_can_make_fit_ends_the_session_with_words_for_it():
    done = replayed("S U A[read:c1] T[c1]~130k A", SLIDE, Window(128_000))
    assert (len(done.turns), done.overflow_at) == (1, 4)
    assert "tokens of results that the agent has not read yet" in done.overflow


@row("K13-D11")
def test_a_mark_that_stays_reached_acts_once_and_not_at_every_turn():
    text = f"S~3k U~91k {repeated(8, 'A~50 U~50 ')} A"
    done = replayed(text, "microcompact", Window(98_000))
    assert all(0.95 < turn.tokens / 98_000 < 0.98 for turn in done.turns)
    assert fired(done) == [(0, "skipped")]


LOADED = {
    "K07-D2": (((12, 28_000),), [14_000] * 6 + [28_000] * 5),
    "K07-D2 from the start": ((), [14_000] * 11),
}


@rows(("later", "overheads"), LOADED)
def test_schemas_count_at_every_turn_and_those_loaded_later_from_there_on(later, overheads):
    text = f"U {repeated(10, 'A~1k U~1k ')} A"
    window = Window(64_000, overhead=14_000, later=later)
    plain, loaded = replayed(text, "none", 64_000), replayed(text, "none", window)
    assert [t.tokens - p.tokens for t, p in zip(loaded.turns, plain.turns, strict=True)] == overheads
    assert bool(replayed(text, "defer@0.7", window).fires) == bool(later)
    changed = [turn.shared for turn in loaded.turns].count(0)
    assert changed == 1 + len(later)  # schemas stand before it all: a change leaves nothing of the beginning


@row("K07-D6")
def test_a_leap_in_the_recorded_counts_moves_no_mark():
    text = f"S U {repeated(12, 'A~4k U~4k ')} A"
    leap = tuple(Usage(position, input=tokens) for position, tokens in ((8, 30_000), (10, 211_000), (12, 38_000)))
    with_counts, without = (replayed(text, SLIDE, 100_000, usage=usage) for usage in (leap, ()))
    assert fired(with_counts) == fired(without)
    assert [fire.position for fire in without.fires] == [22]


FILES = " ".join(f"A[read:c#{n}] T[c#{n}]~4k" for n in range(5))


@row("K08-D1")
def test_reads_that_come_back_after_every_pass_show_as_passes_that_lie_close_together():
    done = replayed(f"S U {repeated(5, FILES + ' ')} A", SLIDE, 24_000)
    turns = [fire.turn for fire in done.fires]
    assert len(turns) == len(set(turns)) >= 5
    assert {later - earlier for earlier, later in pairwise(turns)} <= {3, 4}
    assert (done.overflow, len(done.turns)) == ("", 26)
    roomy = replayed(f"S U {repeated(5, FILES + ' ')} A", SLIDE, 200_000)
    assert fired(roomy) == []


@rows(("spec",), {f"K18-D6 {spec}": (spec,) for spec in ("microcompact", MARKED, "ladder")})
def test_nothing_is_cleared_while_there_is_room(spec):
    text = f"S U {repeated(30, 'A[read:c#] T[c#]~20 ')} A"
    done = replayed(text, spec, 64_000)
    assert (done.fires, len(done.turns)) == ((), 31)
    assert len(done.view(30)) == 62
    assert replayed(text, spec, 1_500).fires[0].turn > 20
