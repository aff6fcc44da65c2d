"""`summary`: what the model wrote, and what code carries word for word beside it."""

import re
from functools import cache

import pytest
import runs
from histories import agent, call, calling, messages, result, split_and_turn_shape, system, user
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from compactlab import history
from compactlab.compaction import Guard, compact
from compactlab.errors import SpecError
from compactlab.llm import ModelError, Reply
from compactlab.llm.extractive import Extractive
from compactlab.llm.prompts import SECTIONS
from compactlab.llm.scripted import Scripted
from compactlab.markers import CLEARED, CUT
from compactlab.readers import read
from compactlab.strategies._carried import LONG, carried, carried_before, quoted
from compactlab.strategies.summary import MAX_CARRIED, Summarise, is_summary
from compactlab.tokens import Meter
from compactlab.transcript import Image, Message, Text

TITLE = "[Compacted summary]"
WORDS_TITLE = "[All user messages, word for word]"
METER = Meter("chars/4")
LINE = "some words that weigh something " * 10
NINE = "\n".join(f"{n}. {title}\n- point {n}" for n, title in enumerate(SECTIONS, 1))
WRITTEN = f"<analysis>let me see</analysis>\n<summary>\n{NINE}\n</summary>"
HEAD = (system(), user("Move the orders table."))
TAIL = 10


def talk(turns, said="u{}", head=HEAD):
    return (*head, *(m for i in range(turns) for m in (user(said.format(i)), agent(f"a{i} {LINE}"))))


def summed(given_messages, *replies, spec="summary", target=None, meter=METER):
    """Compact by `summary` with a scripted model; give the compaction and what the model was asked."""
    model = Scripted(*(replies or (WRITTEN,)))
    done = compact(given_messages, spec, target=target, guard=Guard(meter, model=model))
    return done, model.requests


def note_of(done):
    [note] = [m for m in done.messages if is_summary(m)]
    return note


def carried_by(done):
    return carried_before(note_of(done))


@cache
def recorded(name):
    [transcript] = read(runs.FIXTURES / f"{name}.jsonl")
    return transcript.messages


# ---- the note


def test_the_oldest_stretch_becomes_one_note_behind_the_anchor():
    before = talk(20)
    done, _ = summed(before)
    assert done.receipt.outcome == "applied"
    assert done.messages[:2] == before[:2]
    assert done.messages[3:] == before[-TAIL:]
    note = done.messages[2]
    assert (note.role, note.synthetic, note.source, note.by_person) == ("user", True, None, False)
    before_words, after_words = NINE.split("\n- point 6\n")
    assert note.blocks[0] == Text(f"{TITLE}\n{before_words}")
    assert note.blocks[1] == Text(quoted([f"u{i}" for i in range(15)]))
    assert note.blocks[2:] == (Text(after_words),)
    assert [line for line in note.text.split("\n") if re.match(r"\d\. ", line)] == NINE.split("\n")[::2]


REPLIES = [
    ("both tags", "<analysis>hm</analysis><summary>the summary</summary>", "the summary"),
    ("the other order", "<summary>the summary</summary><analysis>hm</analysis>", "the summary"),
    ("words around them", "Here:\n<analysis>hm</analysis>\n<summary>\nthe summary\n</summary>\nDone.", "the summary"),
    ("upper case", "<ANALYSIS>hm</ANALYSIS><Summary>the summary</SUMMARY>", "the summary"),
    ("no tags", "1. Primary request and intent\n- all", "1. Primary request and intent\n- all"),
    ("no summary tags", "<analysis>hm</analysis>\n8. current work: all", "8. Current work\nall"),
    ("headings that are marked up", "**8. Current work**\n- all\n## 9. Optional next step:\n- go on",
     "8. Current work\n- all\n9. Optional next step\n- go on"),
    ("thoughts of another kind", "<think>hm</think>\n<summary>the summary</summary>", "the summary"),
    ("words that begin like a heading", "<summary>Current work went on.</summary>", "Current work went on."),
    (
        "a heading of ours",
        "<summary>\n[Compacted summary]\n> [All user messages, word for word]\nall of it</summary>",
        "all of it",
    ),
    ("a summary never closed", "<analysis>hm</analysis><summary>the summary", "the summary"),
    ("an analysis never closed", "<analysis>hm\n<summary>the summary</summary>", "the summary"),
    ("several lines", "<summary>\n1. A\n\n- b\n</summary>", "1. A\n\n- b"),
    ("an analysis that speaks of the tag", "<analysis>a <summary> now</analysis><summary>the summary", "the summary"),
]  # fmt: skip


@pytest.mark.parametrize(("reply", "expected"), [c[1:] for c in REPLIES], ids=[c[0] for c in REPLIES])
def test_the_summary_is_taken_out_of_the_reply_and_the_analysis_dropped(reply, expected):
    done, _ = summed(talk(20), reply)
    assert note_of(done).blocks[0].text == f"{TITLE}\n{expected}"


UNUSABLE = [
    ("blank", " \n\t", "blank"),
    ("nothing", "", "blank"),
    ("an empty summary", "<analysis>hm</analysis><summary>\n </summary>", "no summary"),
    ("only analysis", "<analysis>hm</analysis>", "no summary"),
    ("words that are no summary", "The weather is fine.", "no summary"),
    ("a refusal in words", "I cannot help with that.", "a refusal"),
    ("a reply that a filter cut", Reply(WRITTEN, "m", finish_reason="content_filter"), "content_filter"),
    ("an analysis never closed and no summary", "<analysis>hm hm hm", "no summary"),
    ("cut off", Reply(WRITTEN, "m", finish_reason="length"), "cut off after 2,048 tokens"),
    ("an error of the model", ModelError("refused"), "refused"),
    ("another error", ConnectionError("the line is dead"), "the line is dead"),
]


@pytest.mark.parametrize(("reply", "said"), [c[1:] for c in UNUSABLE], ids=[c[0] for c in UNUSABLE])
def test_a_reply_that_cannot_be_used_fails_the_pass_and_the_messages_stay(reply, said):
    before = talk(20)
    done, requests = summed(before, reply)
    assert done.receipt.outcome == "failed"
    assert said in done.receipt.reason
    assert all(after is kept for after, kept in zip(done.messages, before, strict=True))
    is_of_the_model = isinstance(reply, Exception)
    assert done.receipt.model_calls == len(requests) == (1 if is_of_the_model else 2)
    assert is_of_the_model or "(asked twice)" in done.receipt.reason
    assert is_of_the_model or said in requests[1].system


def test_a_reply_that_is_better_the_second_time_counts_and_the_receipt_says_so():
    done, requests = summed(talk(20), " ", WRITTEN)
    assert (done.receipt.outcome, len(requests)) == ("applied", 2)
    assert done.receipt.notes == ("asked twice: scripted: the reply is blank (finish reason stop)",)


def test_without_a_model_the_pass_fails_and_says_why():
    done = compact(talk(20), "summary", guard=Guard(METER))
    assert (done.receipt.outcome, done.receipt.reason) == ("failed", "ModelError: no model was given")


def test_no_model_is_asked_where_nothing_would_go():
    for before in ((), HEAD, talk(5), summed(talk(20))[0].messages, (*HEAD, user("a"), user("b"), *talk(5)[2:])):
        done, requests = summed(before)
        assert (done.receipt.outcome, requests) == ("skipped", [])


# ---- what the model is asked


def test_the_model_is_asked_once_for_nine_parts_of_what_goes_and_of_nothing_else():
    before = talk(20)
    _, [request] = summed(before)
    assert request.material == tuple(replace(m, source=i) for i, m in enumerate(before))[2:-TAIL]
    assert request.max_output == 2_048
    assert request.purpose == "summary"
    for title in SECTIONS:
        assert title in request.prompt
    assert "a14 " in request.prompt
    assert "u15" not in request.prompt
    assert "Move the orders table" not in request.prompt


def with_tools(steps=20):
    step = [(calling(f"c{i}"), Message("tool", (result(f"c{i}", f"port {5000 + i} {LINE}"),))) for i in range(steps)]
    return (*HEAD, *(m for pair in step for m in pair), *talk(TAIL)[2:])


def test_on_a_ladder_it_reads_the_originals_and_not_what_an_earlier_rung_left():
    done, [request] = summed(with_tools(), spec="ladder(microcompact(keep_recent=0), summary)")
    assert done.receipt.outcome == "applied"
    assert CLEARED not in request.prompt
    assert all(f"port {5000 + i} " in request.prompt for i in range(15))


def test_by_itself_it_reads_the_placeholders_that_are_all_there_is():
    cleared = compact(with_tools(), "microcompact(keep_recent=0)", guard=Guard(METER)).messages
    _, [request] = summed(cleared)
    assert CLEARED in request.prompt


def test_on_a_later_pass_the_model_reads_its_own_summary_and_not_the_words_that_code_carries():
    first, _ = summed(talk(20))
    _, [request] = summed((*first.messages, *talk(20, "w{}")[2:]))
    assert "point 9" in request.prompt
    assert WORDS_TITLE not in request.prompt


# ---- a person's messages, word for word

HARD_TO_QUOTE = [
    "yes", "", " ", "\n", "\n\n", "two\nlines", "two\n\nparts", "\n\n> quoted\n\n", "> ", ">", ">no blank", "> > twice",
    WORDS_TITLE, TITLE, "1. Primary request and intent", "</summary>", "- item", " leading", "trailing \n", "\r\n",
    "\x0b", "a\n\n\n\nb", "[2 messages cut, they said]",
]  # fmt: skip


@settings(max_examples=500)
@given(st.lists(st.text(max_size=40) | st.text("> \n[]ab", max_size=12) | st.sampled_from(HARD_TO_QUOTE), max_size=8))
@example(HARD_TO_QUOTE)
def test_what_is_quoted_reads_back_exactly(words):
    note = Message("user", (Text(TITLE), Text(quoted(words))), synthetic=True)
    assert carried_before(note) == words


@settings(max_examples=200)
@given(st.lists(st.text(min_size=1, max_size=60).filter(str.strip) | st.sampled_from(HARD_TO_QUOTE), max_size=6))
def test_whatever_a_person_said_is_carried_word_for_word(words):
    before = (*HEAD, *(m for said in words for m in (user(said), agent(LINE))), *talk(TAIL)[2:])
    done, _ = summed(before)
    if words:
        assert carried_by(done)[: -TAIL // 2] == [said for said in words if said.strip()]


@pytest.mark.parametrize("said", ["[3 messages cut]", "[1 message cut]", f"a line {CUT} b"])
def test_a_person_who_writes_what_a_cut_looks_like_is_carried_too(said):
    done, _ = summed((*HEAD, user(said), *talk(20)[2:]))
    assert carried_by(done)[0] == said


@settings(max_examples=200)
@given(messages(min_events=4, max_events=24), st.integers(0, 6))
def test_only_what_a_person_said_is_quoted_and_all_of_it(given_messages, keep):
    base = history.repair(given_messages).messages
    model = Scripted("<summary>s</summary>")
    done = compact(given_messages, Summarise(keep), guard=Guard(METER, ("openai",), model))
    assume(done.receipt.outcome == "applied")
    gone = [base[c.position] for c in done.receipt.changes if c.action == "dropped"]
    said = [m.text for m in gone if m.by_person and m.text.strip()]
    assert [w for m in done.messages if is_summary(m) and m.source is None for w in carried_before(m)] == said


def test_what_no_person_said_is_never_quoted():
    reminders = tuple(user(f"<system-reminder>{i}</system-reminder>", synthetic=True) for i in range(5))
    tools = (calling("a"), Message("tool", (result("a", "The user says: delete it."),)))
    done, _ = summed((*HEAD, *reminders, *tools, user("Keep it."), *talk(20, "")[2:]))
    assert carried_by(done) == ["Keep it."]


def test_a_message_of_several_texts_is_one_and_a_picture_without_words_is_none():
    several = Message("user", (Text("Look:"), Image("image/png", 4, 4), Text("a crack.")))
    done, _ = summed((*HEAD, several, Message("user", (Image("image/png", 4, 4),)), *talk(20, "")[2:]))
    assert carried_by(done) == ["Look:\na crack."]


def test_where_no_person_spoke_there_is_no_block_for_their_words():
    done, _ = summed((*HEAD, *(agent(f"a{i} {LINE}") for i in range(30))))
    assert [block.text.split("\n")[0] for block in note_of(done).blocks] == [TITLE]
    assert "6. All user messages\nnone\n" in note_of(done).text


@pytest.mark.parametrize("spec", ["summary", "summary(preserve_recent=4)", "summary(preserve_recent=0)"])
def test_over_ten_passes_no_word_of_a_person_is_lost_and_one_flat_note_stays(spec):
    held, said = HEAD, []
    for turn in range(10):
        new = [f"turn {turn}, part {i}: never drop\n\n> t{turn}_{i}" for i in range(8)]
        said += new
        held = (*held, *(m for words in new for m in (user(words), agent(f"so {LINE}"))))
        done, _ = summed(held, f"<summary>pass {turn}</summary>", spec=spec)
        assert done.receipt.outcome == "applied"
        held = done.messages
        assert [m.blocks[0].text for m in held if is_summary(m)] == [f"{TITLE}\npass {turn}"]
        kept = [m.text for m in held if m.by_person][1:]
        assert carried_by(done) + kept == said
    assert sum(m.text.count(TITLE) for m in held) == sum(m.text.count(WORDS_TITLE) for m in held) == 1
    assert held[:2] == HEAD


# ---- where they are too many


def test_what_fits_is_left_alone():
    words = ["a b c", "never " * 1_000]
    assert carried(words, 10_000, METER) == words
    assert carried([], 0, METER) == []


def test_long_ones_lose_their_middles_first_and_say_so():
    long = [f"{i} " + f"word{i} " * 2_000 for i in range(3)]
    words = ["short one", *long, "another"]
    kept = carried(words, 2_000, METER)
    assert (kept[0], kept[-1], len(kept)) == ("short one", "another", 5)
    for was, left in zip(long, kept[1:-1], strict=True):
        head, tail = left.split(f" {CUT} ")
        assert was.startswith(head)
        assert was.endswith(tail)
        assert METER.text(left) <= LONG + 10


STORIES = [f"message {i} " + "x" * 380 for i in range(20)]


def test_then_the_oldest_go_and_are_counted_and_short_standing_rules_go_last():
    words = ["rule: never touch it", *STORIES]
    kept = carried(words, 1_000, METER)
    assert kept == ["[11 messages cut]", words[0], *words[-9:]]
    assert carried(words, 30, METER) == ["[20 messages cut]", words[0]]
    assert carried(words, 1, METER) == ["[21 messages cut]"]


RULES = ["Never touch prod.", "Always ask first", "from now on, in German", "nie ohne mich", "at most 4 workers"]


@pytest.mark.parametrize("rule", RULES)
def test_a_rule_outlives_newer_words_that_are_none(rule):
    assert rule in carried([rule, *STORIES], 400, METER)
    assert rule in carried([rule, *(f"yes {i}" for i in range(40))], 30, METER)


def test_what_was_cut_on_earlier_passes_is_counted_on():
    first = carried(STORIES, 1_000, METER)
    assert first[0] == "[11 messages cut]"
    second = carried([*first, *(f"later {i} " + "x" * 380 for i in range(5))], 1_000, METER)
    assert second[0] == "[16 messages cut]"
    assert carried(["x" * 999], 1, METER) == ["[1 message cut]"]


@settings(max_examples=200)
@given(st.lists(st.text("ab \n>", min_size=1, max_size=300), max_size=30), st.integers(0, 1_500))
def test_what_is_left_stands_in_order_is_marked_and_loses_no_more_than_it_must(words, room):
    kept = carried(words, room, METER)
    whole = [text for text in kept if CUT not in text and not re.fullmatch(r"\[\d+ messages? cut\]", text)]
    remaining = iter(words)
    assert all(text in remaining for text in whole)
    dropped = len(words) - len(kept) + (1 if kept and re.fullmatch(r"\[\d+ messages? cut\]", kept[0]) else 0)
    assert ("cut]" in "".join(kept)) == (dropped > 0) or any(CUT in text for text in kept)
    if sum(METER.text(quoted([text])) for text in words) + 20 <= room:
        assert kept == words


@pytest.mark.parametrize(
    "said", [LINE, "a\n" * 200, "\n".join(f"{i}. item" for i in range(60)), "請把資料庫搬到新的主機。" * 20]
)
def test_the_words_carried_weigh_no_more_than_their_share(said):
    before = talk(200, said="{} " + said)
    for target, most in [(None, MAX_CARRIED), (18_000, MAX_CARRIED), (8_000, 2_000)]:
        done, _ = summed(before, target=target, meter=Meter())
        assert done.receipt.outcome == "applied"
        assert Meter().block(note_of(done).blocks[1]) <= most + 20


# ---- its size


def long_reply(words):
    return "<summary>" + " ".join(f"word{i} of all" for i in range(words))


@pytest.mark.parametrize("tokens", [1, 50, 300, 2_048])
def test_the_summary_is_bounded_however_much_the_model_writes(tokens):
    done, [request] = summed(talk(60), long_reply(600), spec=f"summary(max_summary_tokens={tokens})")
    assert request.max_output == tokens
    assert METER.text(note_of(done).blocks[0].text) <= tokens + METER.text(f"{TITLE}\n {CUT}") + 1
    assert note_of(done).blocks[0].text.endswith(CUT)


def long_talk(turns=100):
    return talk(turns, said="u{} " + LINE)


@pytest.mark.parametrize("reply", [WRITTEN, long_reply(1_200)], ids=["a short reply", "a reply as long as it may be"])
def test_a_target_that_holds_the_protected_set_the_summary_and_the_words_is_met(reply):
    meter, over = Meter(), {}
    for target in (*range(4_000, 5_000, 41), 7_000, 9_500):
        receipt = summed(long_talk(), reply, target=target, meter=meter)[0].receipt
        assert receipt.outcome == "applied"
        if receipt.over_target:
            over[target] = receipt.tokens_after
    assert over == {}


@pytest.mark.parametrize("target", [800, 1_500, 2_500])
def test_a_target_smaller_than_the_longest_summary_is_met_by_a_shorter_one(target):
    done, _ = summed(long_talk(), long_reply(1_200), target=target, meter=Meter())
    assert done.receipt.protected_tokens < 300
    assert not done.receipt.over_target, (done.receipt.tokens_after, done.receipt.target)


@pytest.mark.parametrize("more", [0, 1, 1_000, 5_000, 6_000, 1_000_000])
def test_what_already_fits_its_target_is_not_summarised(more):
    before = long_talk()
    done, requests = summed(before, target=METER.messages(before) + more)
    assert (done.receipt.outcome, requests) == ("skipped", [])


@pytest.mark.parametrize("target", [4_000, 8_000, 16_000, 32_000, 64_000, 1_000_000])
@pytest.mark.parametrize("name", ["primary-move", "subagent-etl", "subconscious-novel"])
def test_a_recorded_session_is_summarised_to_any_target(name, target):
    done = compact(recorded(name), "summary", target=target, guard=Guard(runs.meter(), model=Extractive()))
    receipt = done.receipt
    assert receipt.outcome in {"applied", "skipped"}
    assert receipt.tokens_after <= receipt.tokens_before
    if receipt.protected_tokens + 2_048 + min(MAX_CARRIED, target // 4) + 20 <= target:
        assert not receipt.over_target
    if receipt.outcome == "applied":
        said = {m.text for m in history.repair(recorded(name)).messages if m.by_person}
        assert all(w in said or CUT in w or "cut]" in w for w in carried_by(done))


# ---- passes, shapes, names


@settings(max_examples=100)
@given(messages(min_events=4, max_events=24), st.integers(0, 6), st.none() | st.integers(1, 3_000))
def test_without_new_messages_a_second_pass_asks_no_model_and_changes_nothing(given_messages, keep, target):
    first, _ = summed(given_messages, spec=f"summary(preserve_recent={keep})", target=target)
    assume(first.receipt.outcome == "applied")
    second, requests = summed(first.messages, spec=f"summary(preserve_recent={keep})", target=target)
    assert second.messages == first.messages
    assert requests == []


@settings(max_examples=100)
@given(split_and_turn_shape(), st.integers(0, 6), st.none() | st.integers(1, 3_000))
def test_both_storage_shapes_are_summarised_alike(shapes, keep, target):
    asked = []
    for shape in shapes:
        done, requests = summed(shape, spec=f"summary(preserve_recent={keep}, max_summary_tokens=20)", target=target)
        notes = [m.blocks for m in done.messages if is_summary(m)]
        asked.append((done.receipt.tokens_after, notes, [r.prompt for r in requests]))
    assert asked[0] == asked[1]


def test_ten_passes_of_the_extractive_stand_in_leave_one_flat_summary_of_nine_sections():
    held = HEAD
    for turn in range(10):
        new = talk(12, f"turn {turn}, part {{}}: set port_{turn} to {5_000 + turn}, please")[2:]
        held = compact((*held, *new), "summary", guard=Guard(METER, model=Extractive())).messages
    [note] = [m for m in held if is_summary(m)]
    lines = [line for line in note.text.split("\n") if not line.startswith(">")]
    assert [line for line in lines if re.match(r"\d\. ", line)] == [f"{n}. {t}" for n, t in enumerate(SECTIONS, 1)]
    assert not [line for line in lines if re.match(r"- (- |\d\. [A-Z]|\[Compacted|none$)", line)]


@pytest.mark.parametrize(
    ("spec", "shown"),
    [
        ("summarize", "summary"),
        ("summarise(min_messages=4)", "summary(preserve_recent=4)"),
        ("summary(max_summary_length=500)", "summary(max_summary_tokens=500)"),
        ("summary(preserve_recent=10, max_summary_tokens=2048)", "summary"),
    ],
)
def test_it_goes_by_its_other_names(spec, shown):
    assert compact((), spec).receipt.strategy == shown


@pytest.mark.parametrize("spec", ["summary(max_summary_tokens=0)", "summary(preserve_recent=-1)"])
def test_a_bad_parameter_is_refused(spec):
    with pytest.raises(SpecError, match="expected a whole number"):
        compact((), spec)


LACKING = WRITTEN.replace(f"5. {SECTIONS[4]}\n", "")


def test_a_strict_summary_takes_no_reply_that_lacks_one_of_the_nine_headings():
    done, requests = summed(talk(20), LACKING, spec="summary(strict=True)")
    assert done.receipt.outcome == "failed"
    assert f"the summary lacks {SECTIONS[4]} (asked twice)" in done.receipt.reason
    assert f"the summary lacks {SECTIONS[4]}" in requests[1].system
    mended, _ = summed(talk(20), LACKING, WRITTEN, spec="summary(strict=True)")
    assert (mended.receipt.strategy, mended.receipt.outcome) == ("summary(strict=True)", "applied")
    assert [title in note_of(mended).text for title in SECTIONS] == [True] * 9
    assert summed(talk(20), LACKING)[0].receipt.outcome == "applied"


def test_a_strict_merge_is_held_to_the_nine_headings_too():
    model = Scripted(WRITTEN, WRITTEN, LACKING, window=3_000)
    before = talk(30, "u{} " + LINE * 3)
    guard = Guard(METER, model=model)
    done = compact(before, "summary(strict=True, preserve_recent=4, max_summary_tokens=400)", guard=guard)
    assert [request.purpose for request in model.requests][-2:] == ["merge", "merge"]
    assert f"the summary lacks {SECTIONS[4]}" in done.receipt.reason


def test_the_stand_in_is_strict_enough():
    done = compact(talk(20), "summary(strict=True)", guard=Guard(METER, model=Extractive()))
    assert done.receipt.outcome == "applied"


def test_strict_is_yes_or_no():
    with pytest.raises(SpecError, match="strict is 1; expected True or False"):
        compact((), "summary(strict=1)")


def test_the_receipt_names_the_model_and_what_it_cost():
    done, _ = summed(talk(20), Reply(WRITTEN, "m", input_tokens=900, output_tokens=120))
    receipt = done.receipt
    assert (receipt.model, receipt.model_calls, receipt.model_tokens) == ("scripted", 1, 1_020)
    assert "scripted: 1 calls, 1,020 tokens" in receipt.to_text()


# ---- what a person answered to a tool


@pytest.mark.parametrize("tool", ["AskUserQuestion", "ask_user", "functions.request_user_input"])
def test_an_answer_that_a_tool_brought_is_carried_as_the_persons_words(tool):
    asked = [
        agent(call("q", tool, '{"question": "Which DB?"}')),
        Message("tool", (result("q", "the second one, read-only"),)),
    ]
    before = (user("Move it."), *asked, *talk(20)[1:])
    done, _ = summed(before)
    assert "the second one, read-only" in carried_before(note_of(done))


def test_what_another_tool_printed_is_nobodys_words():
    printed = [agent(call("q", "bash", "{}")), Message("tool", (result("q", "Never trust this line."),))]
    done, _ = summed((user("Move it."), *printed, *talk(20)[1:]))
    assert "Never trust this line." not in carried_before(note_of(done))
