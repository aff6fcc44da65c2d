"""`cull`: the twenty words that go, and all that never does."""

from itertools import pairwise

import pytest
import runs
from histories import agent, answering, call, calling, messages, result, split_and_turn_shape, system, user
from hypothesis import given, settings
from hypothesis import strategies as st

from compactlab import history
from compactlab.compaction import Guard, compact
from compactlab.errors import SpecError
from compactlab.readers import read
from compactlab.strategies import Context
from compactlab.strategies.cull import TRIVIAL, DropTrivial, is_trivial
from compactlab.tokens import Meter
from compactlab.transcript import Image, Message, Reasoning, Text

METER = Meter("chars/4")
BY_CHARACTERS = Guard(METER)
THE_TWENTY = (
    "ok", "okay", "thanks", "ty", "got it", "sure", "yes", "no", "thx", "k", "👍", "🙏", "done", "yep", "nope", "right",
    "cool", "great", "will do", "on it",
)  # fmt: skip
CHAT = (user("ok"), agent("Done."))
LONG = "some words that weigh something " * 10


def culled(middle, **parameters):
    """What `cull` itself gives back, without the guard, of *middle* between an anchor and a tail of ten units."""
    tail = tuple(agent(f"tail {i}") for i in range(10))
    given_messages = (system(), user("Look after it."), *middle, *tail)
    kept = DropTrivial(**parameters).compact(given_messages, Context(METER)).messages
    assert kept[:2] == given_messages[:2]
    assert kept[-10:] == tail
    return kept[2:-10]


# ---- the closed list


def test_the_list_is_the_seeds_and_closed():
    assert frozenset(THE_TWENTY) == TRIVIAL
    assert len(THE_TWENTY) == 20


@pytest.mark.parametrize("make", [user, agent])
@pytest.mark.parametrize("word", THE_TWENTY)
def test_each_of_the_twenty_goes_whoever_says_it(word, make):
    assert culled((make(word),)) == ()


@pytest.mark.parametrize("word", ["OK", " thanks\n", "Got It", "\tWill do  ", "Done.", "Great!", "YES!!", "ok..."])
def test_case_blanks_around_it_and_a_full_stop_or_exclamation_mark_make_no_difference(word):
    assert culled((user(word),)) == ()


@pytest.mark.parametrize(
    "words",
    [
        "ok, use port 5433", "yes please", "okk", "o k", "thanks, and no", "got  it", "2", "b", "", "  ", "...", "!",
        "ok?", "on it: refunds.py", "👍👍", "nein", "hello", "ok\nok", "not ok", "¡yes",
    ],
)  # fmt: skip
def test_anything_else_stays_however_short(words):
    assert culled((user(words),)) == (user(words),)


@settings(max_examples=300)
@given(st.text(max_size=8))
def test_words_that_are_not_on_the_list_are_never_dropped(words):
    on_it = words.strip().casefold().rstrip(".!") in THE_TWENTY
    assert culled((user(words),)) == (() if on_it else (user(words),))


# ---- what never goes

NEVER = [
    ("a system message", system("ok")),
    ("a system message that a hook made", system("ok", synthetic=True)),
    ("a note of a compaction or a reminder", user("ok", synthetic=True)),
    ("a message with a call", agent("ok", call("a"))),
    ("a message of nothing but a call", calling("a")),
    ("a tool message", answering("a")),
    ("a tool message that says ok", Message("tool", (result("a", "ok"),))),
    ("words in a tool message", Message("tool", (Text("ok"),))),
    ("a result in a user message", Message("user", (result("a", "ok"), Text("ok")))),
    ("a picture", Message("user", (Image("image/png", 4, 4),))),
    ("a picture beside a word", Message("user", (Text("ok"), Image("image/png", 4, 4)))),
    ("no blocks at all", Message("user", ())),
    ("no blocks at all, of the agent", Message("assistant", ())),
    ("reasoning alone", agent(Reasoning("hm"))),
    ("a word and a sentence", Message("user", (Text("ok"), Text("use port 5433")))),
    ("a word and an empty text", Message("user", (Text("ok"), Text("")))),
]


@pytest.mark.parametrize("message", [c[1] for c in NEVER], ids=[c[0] for c in NEVER])
def test_what_never_goes(message):
    assert culled((message,)) == (message,)
    assert not is_trivial(message)


@pytest.mark.parametrize(
    "message", [Message("user", (Text("ok"), Text("Thanks"))), agent(Reasoning("They agree."), "ok")]
)
def test_several_trivial_texts_and_reasoning_beside_one_go(message):
    assert culled((message,)) == ()


@settings(max_examples=300)
@given(messages(min_events=2, max_events=24), st.integers(0, 12), st.booleans())
def test_on_any_history_only_trivial_messages_go_and_nothing_is_written(given_messages, keep, answers):
    strategy = DropTrivial(preserve_recent=keep, keep_answers=answers)
    done = compact(given_messages, strategy, guard=Guard(METER, rules=()))
    base = history.repair(given_messages).messages
    recent = {i for unit in history.units(base)[max(0, len(history.units(base)) - keep) :] for i in unit}
    for change in done.receipt.changes:
        assert change.action in {"kept", "dropped"}
        if change.action == "dropped":
            message = base[change.position]
            assert message.role in {"user", "assistant"}
            assert all(isinstance(block, Text | Reasoning) for block in message.blocks)
            assert all(t.strip().casefold().rstrip(".!") in THE_TWENTY for t in message.text.split("\n"))
            assert not message.synthetic
            assert not message.pinned
            assert change.position not in recent | history.protected(base)


# ---- answers

QUESTIONS = ["Shall I drop the table?", "Which: A or B? I wait.", "本当ですか？", "هل أحذفه؟", "¿Lo borro"]


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_short_reply_to_a_question_stays(question):
    assert culled((agent(question), user("yes"))) == (agent(question), user("yes"))
    assert culled((user(question), agent("no"))) == (user(question), agent("no"))


@pytest.mark.parametrize("question", QUESTIONS)
def test_keeping_answers_can_be_switched_off(question):
    assert culled((agent(question), user("yes")), keep_answers=False) == (agent(question),)


def test_a_reply_to_a_statement_goes_and_so_does_the_second_of_two():
    assert culled((agent("I moved it."), user("yes"))) == (agent("I moved it."),)
    assert culled((agent("Now?"), user("yes"), agent("ok"))) == (agent("Now?"), user("yes"))


STANDS_BETWEEN = [
    ("a result of a call in the same message", (agent("Shall I drop it?", call("a")), answering("a"))),
    ("a reminder that no one said", (agent("Shall I drop it?"), user("<reminder>", synthetic=True))),
]


@pytest.mark.parametrize("before", [c[1] for c in STANDS_BETWEEN], ids=[c[0] for c in STANDS_BETWEEN])
def test_an_answer_stays_where_something_that_is_no_reply_stands_between(before):
    assert culled((*before, user("no"))) == (*before, user("no"))


# ---- the tail, targets, passes


@pytest.mark.parametrize("keep", range(6))
def test_the_newest_units_stay(keep):
    before = (system(), user("Look after it."), *(user("ok") for _ in range(8)), agent(LONG), user(LONG))
    kept = DropTrivial(preserve_recent=keep).compact(before, Context(METER)).messages
    assert len(kept) == 4 + max(0, keep - 2)


def test_a_unit_counts_once_in_the_tail_however_many_results_it_has():
    ids = tuple(f"p{i}" for i in range(12))
    before = (system(), user("Look after it."), user("ok"), calling(*ids), *map(answering, ids), agent(), user())
    assert user("ok") in DropTrivial(preserve_recent=4).compact(before, Context(METER)).messages
    assert user("ok") not in DropTrivial(preserve_recent=3).compact(before, Context(METER)).messages


def chatter(turns=30):
    return (system(), user("Look after it."), *CHAT * turns, agent("So."), user("Go on."))


def test_under_the_guard_it_drops_chatter_and_says_of_each_message_why():
    done = compact(chatter(), "cull", guard=BY_CHARACTERS)
    assert done.receipt.outcome == "applied"
    assert done.receipt.count("dropped") == 52
    assert done.receipt.count("made") == done.receipt.count("edited") == 0
    assert {change.why for change in done.receipt.changes if change.action == "dropped"} == {"by cull"}


@settings(max_examples=100)
@given(messages(min_events=2, max_events=20), st.integers(1, 2_000))
def test_a_target_plays_no_part(given_messages, target):
    free = compact(given_messages, "cull(preserve_recent=2)", guard=BY_CHARACTERS)
    assert compact(given_messages, "cull(preserve_recent=2)", target=target, guard=BY_CHARACTERS).messages == (
        free.messages
    )


@settings(max_examples=150)
@given(messages(min_events=2, max_events=24), st.integers(0, 6), st.booleans())
def test_what_is_left_is_culled_no_further(given_messages, keep, answers):
    strategy, context = DropTrivial(keep, answers), Context(METER)
    base = history.repair(given_messages).messages
    once = strategy.compact(base, context).messages
    assert strategy.compact(tuple(once), context).messages == once


@settings(max_examples=100)
@given(split_and_turn_shape(), st.integers(0, 4))
def test_both_storage_shapes_lose_the_same_messages(shapes, keep):
    split, turns = (compact(shape, DropTrivial(keep), guard=BY_CHARACTERS) for shape in shapes)
    assert [(c.position, c.action) for c in split.receipt.changes] == [
        (c.position, c.action) for c in turns.receipt.changes
    ]


@pytest.mark.parametrize("path", runs.TRANSCRIPTS, ids=lambda path: path.stem)
def test_of_a_recorded_session_only_words_of_the_list_go(path):
    [transcript] = read(path)
    base = history.repair(transcript.messages).messages
    kept = DropTrivial().compact(base, Context(METER)).messages
    gone = [m for m in base if not any(m is k for k in kept)]
    assert all(m.text.strip().casefold().rstrip(".!") in THE_TWENTY for m in gone)
    asked = [m for before, m in pairwise(base) if is_trivial(m) and "?" in before.text]
    assert not [m for m in asked if m in gone]


# ---- its parameters


@pytest.mark.parametrize(
    ("spec", "shown"),
    [
        ("cull(min_messages=4)", "cull(preserve_recent=4)"),
        ("cull(preserve_recent=10, keep_answers=True)", "cull"),
        ("cull(keep_answers=False)", "cull(keep_answers=False)"),
    ],
)
def test_its_spec_reads_back_and_knows_the_old_name_of_its_parameter(spec, shown):
    assert compact((), spec).receipt.strategy == shown


@pytest.mark.parametrize("spec", ["cull(keep_answers=1)", "cull(preserve_recent=-1)", "cull(preserve_recent=2.0)"])
def test_a_bad_parameter_is_refused(spec):
    with pytest.raises(SpecError, match="expected"):
        compact((), spec)
