"""Recorded compactions as rows: where they stand, what is scored of them and what is not, and why."""

import pytest
import recorded_sessions as told
from corpus_files import corpus_file
from histories import agent, messages, system, user
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from story_compacted import COMPACTED

from compactlab.harness.places import CLEARED, UNSEEN, beyond, places, sent, unscored
from compactlab.harness.recorded import changes
from compactlab.readers import read
from compactlab.tokens import Meter
from compactlab.transcript import Message, Reasoning, RecordedCompaction, Text, ToolResult, Transcript, Usage

METER = Meter(told.COUNTER)
HIDDEN = Message("assistant", (Reasoning(opaque="gAAA"),), synthetic=True)
NOTE = told.summary("What was said.")


def of(rows, metric, strategy="recorded", size_of="", **fields):
    """Sums of value and n over the rows of a metric."""
    found = [r for r in rows if (r.metric, r.strategy, r.size_of) == (metric, strategy, size_of)]
    found = [r for r in found if all(getattr(r, name) == value for name, value in fields.items())]
    return sum(r.value for r in found), sum(r.n for r in found)


def test_each_compaction_is_a_place_behind_what_the_agent_had_said_by_then():
    talk = tuple(m for _ in range(4) for m in (user(), agent()))
    made = tuple(RecordedCompaction(position, after=(0, NOTE)) for position in (2, 6))
    found = places(Transcript("t", "x", talk, compactions=made))
    assert [(cut.name, cut.before, cut.share, cut.skipped) for cut in found] == [
        ("recorded 1", 2, 0.25, ""),
        ("recorded 2", 6, 0.75, ""),
    ]
    assert places(Transcript("t", "x", talk)) == ()


TALK = (user("Do it."), agent("One."), user(), agent("Two."))
REASONS = [
    (RecordedCompaction(2, after=(0,), trigger="clear"), TALK, "the context was cleared, not compacted"),
    (RecordedCompaction(2), TALK, "what it left is not recorded"),
    (RecordedCompaction(0, after=(NOTE,)), TALK, "what stood before it is not recorded"),
    (RecordedCompaction(4, after=(NOTE,)), TALK, "the agent says nothing after it"),
    (RecordedCompaction(2, after=(0, 1, NOTE)), TALK, "all that stood before it still stands"),
    (RecordedCompaction(2, after=(0, NOTE, HIDDEN)), TALK, "1 of the 2 messages that it made cannot be read"),
    (RecordedCompaction(2, after=(0, NOTE)), TALK, ""),
    (RecordedCompaction(2, after=(NOTE, 1)), TALK, ""),
]


@pytest.mark.parametrize(("compaction", "talk", "reason"), REASONS)
def test_a_compaction_that_cannot_be_scored_says_why(compaction, talk, reason):
    found = unscored(Transcript("t", "x", talk, compactions=(compaction,)), 0)
    assert (reason in found) if reason else found == ""


def test_a_thought_of_the_agents_own_that_stays_hidden_hides_no_compaction():
    talk = (user("Do it."), agent(Reasoning(opaque="gAAA"), "One."), user(), agent("Two."))
    assert unscored(Transcript("t", "x", talk, compactions=(RecordedCompaction(2, after=(NOTE, 1)),)), 0) == ""


@pytest.mark.parametrize(
    ("producer", "left", "is_scored"),
    [
        ("pi", (0, NOTE), False),
        ("fx", (0, NOTE), False),
        ("pi", (0, NOTE, 1), True),
        ("terminus-2", (0, NOTE), True),
        ("claude-code", (NOTE,), True),
    ],
)
def test_an_atif_file_is_scored_only_where_it_tells_what_was_kept(producer, left, is_scored):
    talk = (user("Do it."), agent("One."), user("And two."), agent("Two."))
    made = (RecordedCompaction(2, after=left),)
    found = unscored(Transcript("t", "atif", (*talk[:1], *talk[1:]), compactions=made, header={"agent": producer}), 0)
    is_whole = "all that stood before it still stands" in found
    assert found == "" or is_whole if is_scored else "beside its summary is not recorded" in found


@pytest.mark.parametrize("name", COMPACTED)
def test_the_compactions_of_every_format_that_records_them_are_places(tmp_path, name):
    for file, data in COMPACTED[name]().items():
        (tmp_path / file).write_bytes(data)
    [transcript] = read(tmp_path / next(iter(COMPACTED[name]())))
    found = places(transcript)
    assert [(cut.name, cut.skipped) for cut in found] == [("recorded 1", ""), ("recorded 2", "")]
    heads = [r for r in told.rows(transcript, "none") if r.metric == "outcome"]
    assert {r.outcome for r in heads} <= {"applied", "skipped"}
    assert [r.outcome for r in heads if r.strategy == "recorded"] == ["applied", "applied"]


def test_what_the_harness_left_is_scored_by_the_fate_of_each_fact():
    found = told.rows(told.session())
    numbers = {"family": "number", "use": "action"}
    assert of(found, "needed_bound", **numbers) == (1, 2)
    assert of(found, "needed_bound", "none", **numbers) == (2, 2)
    assert of(found, "refetched_loose", **numbers) == (0, 1)
    assert of(found, "refetched_bound", "none", **numbers) == (1, 1)
    assert of(found, "refetched_bound", "none", family="number", use="") == (1, 1)
    assert of(found, "held_bound", **numbers) == (0, 1)
    assert of(found, "harness", "facts", group="compactlab") == (1, 1)
    assert of(found, "tokens_after")[0] == METER.messages((told.BEFORE[0], told.KEPT))


def test_a_fact_that_the_harness_kept_is_not_among_those_fetched_again():
    more = told.summary(f"{told.KEPT.text} The shelf counter is {told.NUMBERS['fetched']}.")
    found = told.rows(told.session(left=(0, more)))
    assert of(found, "refetched_bound", "none", family="number", use="action") == (0, 0)
    assert of(found, "fetched_again_lost", "facts") == (1, 2)


def test_strategies_get_the_weight_of_what_the_harness_left_and_controls_are_cut_to_it():
    long = told.summary("The crate counter stands still. " * 160)
    transcript = told.session(left=(0, 1, long))
    size = METER.messages(transcript.after(0))
    found = told.rows(transcript, "none", "sliding_window", "ladder")
    floor = of(found, "tokens_after", "null")[0]
    assert floor < size < of(found, "tokens_before")[0]
    for strategy in ("sliding_window", "ladder"):
        assert 0.6 * size < of(found, "tokens_after", strategy)[0] <= size
    for control in ("random", "random_lines", "regex_lines"):
        assert of(found, "tokens_after", control, "recorded")[0] == pytest.approx(size, rel=0.02)


def test_the_second_place_begins_with_what_the_first_compaction_left():
    first = told.session()
    again = RecordedCompaction(len(first.messages) - 3, after=(told.summary("Nothing."),))
    transcript = replace(first, compactions=(*first.compactions, again))
    found = [r for r in told.rows(transcript, "none") if r.cut == "recorded 2"]
    assert of(found, "tokens_before")[0] == METER.messages(transcript.before(1))
    assert of(found, "tokens_after")[0] == METER.messages(transcript.after(1))
    assert METER.messages(transcript.before(1)) < METER.messages(transcript.before(0))


def test_a_place_that_is_skipped_has_one_block_with_its_reason_and_its_harness():
    found = told.rows(told.session(left=(), format="pi"))
    assert [(r.metric, r.outcome, r.group) for r in found] == [
        ("outcome", "skipped", ""),
        ("harness", "", "pi"),
        ("trigger", "", "auto"),
    ]
    assert found[0].reason == "recorded 1: what it left is not recorded"
    assert found[0].n == 2


def test_blocks_come_in_the_order_of_their_keys_and_those_done_are_left_out():
    whole = told.job(told.session())
    blocks = list(whole.blocks())
    assert [block.key for block in blocks] == whole.keys
    assert all(block.records[0].n == len(block.records) - 1 for block in blocks)
    rest = whole.without(frozenset(whole.keys[:5]))
    assert [block.records for block in rest.blocks()] == [block.records for block in blocks[5:]]
    assert whole.without(frozenset(whole.keys)).complete


def test_a_run_into_the_same_folder_ends_with_the_same_bytes(tmp_path):
    files = ("records.jsonl", "compactions.jsonl")
    whole = told.run(tmp_path / "a", [told.session()])
    expected = [(whole.folder / name).read_bytes() for name in files]
    lines = expected[0].split(b"\n")
    (whole.folder / "records.jsonl").write_bytes(b"\n".join(lines[: len(lines) // 2]))
    assert [(told.run(whole.folder, [told.session()]).folder / name).read_bytes() for name in files] == expected
    [lost] = [f for f in whole.needed if f.strategy == "recorded" and f.family == "number" and f.verdict == "lost"]
    assert (lost.value, lost.home, lost.used) == ("15033", 5, 29)


def sized(sizes, inputs, *compactions):
    """Make a session of texts of *sizes* tokens before each answer, with the recorded *inputs* of those answers."""
    talk = tuple(m for n in sizes for m in (user("x" * 4 * (n - 8)), agent("y" * 0)))
    return Transcript(
        "t",
        "x",
        talk,
        compactions=compactions,
        usage=tuple(Usage(2 * i + 1, given) for i, given in enumerate(inputs) if given),
    )


def test_recorded_counts_tell_what_was_sent_beside_what_is_recorded_and_what_no_longer_was():
    left = (told.summary("z" * 4 * 996),)  # 1,000 tokens
    sizes = (1_000, 2_000, 3_000, 4_000, 5_000, 500)
    weights = [1_000 - 4, 3_000 - 4, 6_000 - 4, 10_000 - 4, 15_000 - 4, 1_500 - 4]
    plain = [900 + 1.5 * weight for weight in weights]
    compaction = RecordedCompaction(10, after=left)
    [found] = sent(sized(sizes, plain, compaction), METER)
    assert abs(found.cleared) <= 4
    assert abs(found.unseen) <= 4
    [found] = sent(sized(sizes, [*plain[:4], plain[4] - 9_000, plain[5] + 4_500], compaction), METER)
    assert found.cleared == pytest.approx(6_000, abs=5)
    assert found.unseen == pytest.approx(3_000, abs=5)
    assert beyond(found.unseen, 1_000, UNSEEN)
    assert beyond(found.cleared, 15_000, CLEARED)
    assert sent(sized(sizes, (), compaction), METER) == [(None, None)]
    first, second = sent(sized(sizes, plain, compaction, compaction), METER)
    assert first.unseen is None  # what it left was compacted again before anything was sent
    assert second.cleared is None
    assert abs(second.unseen) <= 4


def test_a_row_of_which_more_was_sent_says_that_it_is_a_part():
    transcript = told.session()
    spoken = [i for i, message in enumerate(transcript.messages) if message.role == "assistant"]
    border = transcript.compactions[0].position
    usage = tuple(Usage(i, METER.messages(transcript.view(i)) + 100 + 3_000 * (i >= border)) for i in spoken)
    [head] = [
        r for r in told.rows(replace(transcript, usage=usage)) if r.strategy == "recorded" and r.metric == "outcome"
    ]
    assert head.outcome == "applied"
    assert head.reason == "about 3,000 tokens more were sent after it than are recorded: scored is the recorded part"


def test_what_became_of_each_message_is_told():
    before = told.BEFORE[:4]
    before = tuple(replace(message, source=i) for i, message in enumerate(before))
    cleared = replace(before[3], blocks=(ToolResult("c1", (Text("cleared"),)),))
    found = [(c.position, c.action) for c in changes(before, (before[0], NOTE, before[2], cleared))]
    assert found == [(0, "kept"), (1, "dropped"), (2, "kept"), (3, "edited"), (None, "made")]


@st.composite
def compacted(draw):
    """Draw a session that a harness compacted somewhere: any of its messages stayed, beside one that it made."""
    said = draw(messages(4, 14))
    talk = (system(), user("Please move the orders table to port 5433."), *said, agent("On port 5433."))
    position = draw(st.integers(2, len(talk) - 1))
    kept = tuple(i for i in range(position) if draw(st.booleans()))
    made = told.summary(draw(st.sampled_from(["Port 5433.", "The orders table moves to port 5433.", "Nothing."])))
    return Transcript("t", "x", talk, compactions=(RecordedCompaction(position, after=(made, *kept)),))


@given(compacted())
def test_no_compaction_keeps_more_than_all_and_nothing_lost_still_stands(transcript):
    found = told.rows(transcript, "none")
    assert [r.reason for r in found if r.outcome == "failed"] == []
    for r in found:
        if r.metric in {"needed_bound", "refetched_bound", "held_bound", "retention_bound"}:
            assert 0 <= r.value <= r.n
    kept, of_all = of(found, "refetched_loose", "none")
    assert kept == of_all
    assert of(found, "refetched_loose")[0] == 0
    assert of(found, "needed_bound")[0] <= of(found, "needed_loose")[0] <= of(found, "needed_loose", "none")[0]


RECORDED = [
    ("claude-code-erk/41140470-f3f6-4945-bf7f-884c4a037ab0.jsonl", ["", ""], (True, True), (True, False)),
    ("claude-code-erk/34748be3-5a05-4aa0-a05b-2b3b99a4674c.jsonl", [""], (True,), (False,)),
    ("claude-code-spotter/4d5611e5-241a-462a-8d15-5122611a9569.jsonl", [""], (True,), (False,)),
    ("claude-code-spotter/ae4a77f8-aedd-4bc1-888f-c94edc91af04.jsonl", [""], (True,), (False,)),
    ("pi-mono/before-compaction.jsonl", ["", ""], (False, False), (False, False)),
    ("openclaw/b2e732c1-5f16-4ebe-ba84-0a11adc45c66.jsonl", [""], (False,), (False,)),
    ("letta/lettabot-builder.af", ["what it dropped is not recorded"], (False,), (False,)),
    ("codex-format-fixture/codex-all-record-types.jsonl", ["", *["encrypted"] * 5], (False,) * 6, (False,) * 6),
]


@pytest.mark.parametrize(("name", "reasons", "in_part", "thinned"), RECORDED)
def test_recorded_files_tell_what_is_whole_what_is_a_part_and_what_is_hidden(name, reasons, in_part, thinned):
    [transcript] = [t for t in read(corpus_file(name)) if t.compactions]
    meter = Meter()
    for cut, reason in zip(places(transcript), reasons, strict=True):
        assert (reason in cut.skipped) if reason else cut.skipped == ""
    figures = sent(transcript, meter)
    after = [meter.messages(transcript.after(i)) for i in range(len(figures))]
    before = [meter.messages(transcript.before(i)) for i in range(len(figures))]
    assert tuple(beyond(f.unseen, n, UNSEEN) for f, n in zip(figures, after, strict=True)) == in_part
    assert tuple(beyond(f.cleared, n, CLEARED) for f, n in zip(figures, before, strict=True)) == thinned


def test_the_estimate_of_what_was_sent_is_right_where_all_is_recorded():
    [transcript] = read(corpus_file("pi-mono/before-compaction.jsonl"))
    for index, figure in enumerate(sent(transcript, Meter())):
        assert abs(figure.unseen) < 0.05 * Meter().messages(transcript.after(index))
        assert abs(figure.cleared) < 0.05 * Meter().messages(transcript.before(index))
