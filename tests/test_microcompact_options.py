"""`microcompact`: what the seeds lack. Errors that keep their ends, giant results cut in place, notes of what went."""

import re

import pytest
import runs
from histories import agent, answering, call, calling, messages, split_and_turn_shape, system, user
from hypothesis import given, settings
from hypothesis import strategies as st

from compactlab import history
from compactlab.compaction import Guard, compact
from compactlab.errors import SpecError
from compactlab.markers import CLEARED
from compactlab.readers import read
from compactlab.strategies.microcompact import ENDS, ClearToolResults
from compactlab.tokens import Meter
from compactlab.transcript import Image, Message, Text, ToolResult

METER = Meter("chars/4")
BY_CHARACTERS = Guard(METER)
LINES = [f"line {i} of what it printed" for i in range(40)]
PRINTED = "\n".join(LINES)
SHORTENED = "\n".join([*LINES[:5], "[30 lines cleared]", *LINES[-5:]])


def step(name, text=PRINTED, tool="bash", *, is_error=False):
    return (agent(call(name, tool)), Message("tool", (ToolResult(name, (Text(text),), is_error),)))


def session(*steps):
    return (system(), user(), *(m for pair in steps for m in pair), agent(), user())


def compacted(given_messages, **parameters):
    return compact(given_messages, ClearToolResults(**{"keep_recent": 0, **parameters}), guard=BY_CHARACTERS)


def texts(done):
    return {r.call_id: r.text for m in done.messages for r in m.results}


MIXED = session(step("ok"), step("bad", is_error=True))

# ---- errors


@pytest.mark.parametrize(
    ("errors", "left"), [("clear", CLEARED), ("ends", SHORTENED), ("keep", PRINTED)], ids=["clear", "ends", "keep"]
)
def test_an_old_error_is_cleared_or_cut_to_its_ends_or_kept(errors, left):
    done = compacted(MIXED, errors=errors)
    assert texts(done) == {"ok": CLEARED, "bad": left}
    assert [r.is_error for m in done.messages for r in m.results] == [False, True]


def test_clearing_is_the_default_as_in_the_seeds():
    assert ClearToolResults().errors == "clear"
    assert ClearToolResults().max_result_tokens is None


@pytest.mark.parametrize(("lines", "left"), [(10, 10), (11, 11), (12, 11), (13, 11), (4_000, 11), (1, 1)])
def test_the_first_and_last_five_lines_of_an_error_stay(lines, left):
    said = [f"{i} some words of an error" for i in range(lines)]
    shown = texts(compacted(session(step("a", "\n".join(said), is_error=True), step("b")), errors="ends"))["a"]
    assert ENDS == 5
    assert len(shown.split("\n")) == left
    assert shown.split("\n")[0] == said[0]
    assert shown.split("\n")[-1] == said[-1]
    if lines > 12:
        assert f"[{lines - 10} lines cleared]" in shown


def test_recent_errors_count_among_the_newest_and_stay_whole():
    done = compacted(session(step("a", is_error=True), step("b", is_error=True)), keep_recent=1, errors="ends")
    assert texts(done) == {"a": SHORTENED, "b": PRINTED}


def test_errors_of_other_tools_stay_whole():
    done = compacted(session(step("a", tool="memory", is_error=True), step("b")), errors="ends")
    assert texts(done)["a"] == PRINTED


@settings(max_examples=150)
@given(messages(min_events=3), st.integers(0, 3), st.sampled_from(["clear", "ends", "keep"]))
def test_on_any_history_only_errors_are_treated_differently(given_messages, keep, errors):
    plain = compacted(given_messages, keep_recent=keep)
    other = compacted(given_messages, keep_recent=keep, errors=errors)
    before = history.split_turns(history.repair(given_messages).messages)[0]
    if plain.receipt.outcome == other.receipt.outcome == "applied":
        left = (history.split_turns(done.messages)[0] for done in (plain, other))
        for base, one, two in zip(before, *left, strict=True):
            for was, cleared, treated in zip(base.blocks, one.blocks, two.blocks, strict=True):
                assert treated == cleared or (isinstance(was, ToolResult) and was.is_error and errors != "clear")
                if isinstance(was, ToolResult) and was.is_error and errors == "keep":
                    assert treated == was


# ---- giant results

GIANT = "\n".join(f"{i} worker-3 took 1,204 ms for GET /api/v2/orders/{88_000 + i}" for i in range(3_000))


@pytest.mark.parametrize("tokens", [50, 60, 100, 500, 5_000, 20_000])
@pytest.mark.parametrize("tool", ["bash", "memory", "mcp__db__query"])
def test_a_giant_result_of_any_tool_loses_its_middle_where_it_stands(tokens, tool):
    meter = Meter()
    done = compact(
        session(step("a", GIANT, tool), step("b")),
        f"microcompact(max_result_tokens={tokens})",
        guard=Guard(meter),
    )
    left = texts(done)["a"]
    head, mark, tail = re.split(r"\n(\[… [\d,]+ characters, the middle cut …\])\n", left)
    assert mark == f"[… {len(GIANT):,} characters, the middle cut …]"
    assert GIANT.startswith(head)
    assert GIANT.endswith(tail)
    [block] = [r for m in done.messages for r in m.results if r.call_id == "a"]
    assert meter.block(block) <= tokens
    assert texts(done)["b"] == PRINTED or tokens < 300
    if tokens >= 500:
        assert meter.block(block) > 0.6 * tokens
        assert tail


TEXTS = [
    ("plain words", "some words that weigh something " * 2_000),
    ("another script", "請把資料庫搬到新的主機，版本是三點五。" * 800),
    ("emoji", "👩‍👩‍👧‍👦🎉" * 1_000),
    ("no blanks", "x" * 60_000),
    ("blank lines", "\n" * 60_000),
    ("a light head and a heavy tail", "a " * 2_000 + "語" * 9_000),
    ("half characters", "\ud83d" * 4_000),
    ("digits", "8675309" * 4_000),
]


@pytest.mark.parametrize("text", [c[1] for c in TEXTS], ids=[c[0] for c in TEXTS])
@pytest.mark.parametrize("tokens", [50, 300, 1_000])
def test_whatever_it_holds_it_weighs_at_most_what_was_asked(text, tokens):
    meter = Meter()
    before = session(step("a", text), step("b", "fine"))
    done = compact(before, f"microcompact(max_result_tokens={tokens})", guard=Guard(meter))
    weights = [meter.block(r) for m in done.messages for r in m.results]
    assert all(weight <= tokens for weight in weights), weights


@pytest.mark.parametrize("errors", ["clear", "ends", "keep"])
@pytest.mark.parametrize("text", [GIANT, "one line " * 5_000], ids=["many lines", "one line"])
def test_an_old_error_that_is_kept_is_cut_to_the_same_bound(errors, text):
    done = compacted(session(step("a", text, is_error=True), step("b")), errors=errors, max_result_tokens=100)
    assert METER.block(ToolResult("a", (Text(texts(done)["a"]),), is_error=True)) <= 100


def test_pictures_in_a_result_stay_where_its_text_is_cut():
    picture = Image("image/png", 75, 10)
    shown = (calling("a"), Message("tool", (ToolResult("a", (Text(GIANT), picture)),)))
    done = compacted(session(shown), keep_recent=5, max_result_tokens=100)
    [left] = [r for m in done.messages for r in m.results]
    assert left.content[1:] == (picture,)
    assert METER.block(left) <= 100


def test_results_that_the_agent_has_not_seen_are_not_cut():
    before = (system(), user(), calling("a"), Message("tool", (ToolResult("a", (Text(GIANT),)),)))
    assert compacted(before, max_result_tokens=100).messages == before


@settings(max_examples=100)
@given(messages(min_events=3), st.integers(0, 4), st.integers(50, 400), st.sampled_from(["clear", "ends", "keep"]))
def test_a_second_pass_with_any_options_changes_nothing(given_messages, keep, tokens, errors):
    parameters = {"keep_recent": keep, "max_result_tokens": tokens, "errors": errors}
    first = compacted(given_messages, **parameters)
    assert compacted(first.messages, **parameters).messages == first.messages


@settings(max_examples=100)
@given(split_and_turn_shape(), st.integers(0, 4), st.integers(50, 400), st.sampled_from(["clear", "ends", "keep"]))
def test_both_storage_shapes_are_treated_alike(shapes, keep, tokens, errors):
    parameters = {"keep_recent": keep, "max_result_tokens": tokens, "errors": errors}
    split, turns = (compacted(shape, **parameters) for shape in shapes)
    assert texts(split) == texts(turns)
    assert split.receipt.notes == turns.receipt.notes


# ---- notes of what went


def noted(done):
    lines = [note.removeprefix("cleared: ") for note in done.receipt.notes if note.startswith("cleared: ")]
    return [name for line in lines for name in line.split(", ")]


def test_a_note_names_the_calls_whose_results_were_cleared_and_no_others():
    done = compacted(
        session(*(step(f"c{i}") for i in range(8)), step("e", is_error=True)), keep_recent=3, errors="ends"
    )
    assert done.receipt.notes == ("cleared: c0, c1, c2, c3, c4, c5",)
    assert "note: cleared: c0, c1" in done.receipt.to_text()


def test_where_nothing_was_cleared_there_is_no_note():
    assert compacted(session(step("a"), step("b")), keep_recent=5).receipt.notes == ()
    again = compacted(compacted(MIXED).messages)
    assert again.receipt.notes == ()


PUT_BACK = [
    ("a pinned result", (calling("a"), Message("tool", (ToolResult("a", (Text(PRINTED),)),), pinned=True))),
    ("a result of a pinned call", (calling("a", pinned=True), Message("tool", (ToolResult("a", (Text(PRINTED),)),)))),
]


@pytest.mark.parametrize("pair", [c[1] for c in PUT_BACK], ids=[c[0] for c in PUT_BACK])
def test_a_result_that_may_not_be_touched_is_not_said_to_be_cleared(pair):
    done = compacted((system(), user(), *pair, *step("b"), agent(), user()))
    assert texts(done) == {"a": PRINTED, "b": CLEARED}
    assert noted(done) == ["b"]


@settings(max_examples=200)
@given(messages(min_events=3), st.integers(0, 4))
def test_on_any_history_the_note_names_just_what_was_cleared(given_messages, keep):
    done = compacted(given_messages, keep_recent=keep)
    if done.receipt.outcome != "applied":
        return
    before = history.repair(given_messages).messages
    after = history.split_turns(done.messages)[0]
    pairs = [
        (b, a) for old, new in zip(before, after, strict=True) for b, a in zip(old.blocks, new.blocks, strict=True)
    ]
    assert noted(done) == [b.call_id for b, a in pairs if a != b]


@pytest.mark.parametrize("path", runs.TRANSCRIPTS[4::4], ids=lambda path: path.stem)
def test_a_recorded_session_keeps_its_errors_ends_and_loses_its_giants(path):
    [transcript] = read(path)
    meter = runs.meter()
    done = compact(transcript.messages, "micro(errors='ends', max_result_tokens=800)", guard=Guard(meter))
    assert done.receipt.outcome == "applied"
    assert all(meter.block(r) <= 800 for m in done.messages[:-1] for r in m.results)
    assert done.receipt.tokens_after < done.receipt.tokens_before


# ---- parameters


@pytest.mark.parametrize(
    "spec",
    [
        "microcompact(errors='some')", "microcompact(errors=None)", "microcompact(max_result_tokens=49)",
        "microcompact(max_result_tokens=True)", "microcompact(max_result_tokens='100')", "micro(tools='read')",
        "micro(tools=(1,))", "tool_results(keep_recent=-1)",
    ],
)  # fmt: skip
def test_a_bad_option_is_refused(spec):
    with pytest.raises(SpecError, match="expected"):
        compact((), spec)


@pytest.mark.parametrize(
    ("spec", "shown"),
    [
        ("micro", "microcompact"),
        ("tool_results(errors='ends')", "microcompact(errors='ends')"),
        ("micro(max_result_tokens=None, errors='clear')", "microcompact"),
        ("microcompact(max_result_tokens=500)", "microcompact(max_result_tokens=500)"),
    ],
)
def test_it_goes_by_its_other_names(spec, shown):
    assert compact((answering("a"),), spec).receipt.strategy == shown
