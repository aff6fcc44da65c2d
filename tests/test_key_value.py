"""`key_value`: a ledger of at most `kv_target` lines, made by code, one and bounded."""

import json
import re
import time

import pytest
import runs
from histories import agent, call, calling, messages, split_and_turn_shape, system, user
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from compactlab import history
from compactlab.compaction import Guard, compact
from compactlab.errors import SpecError
from compactlab.readers import read
from compactlab.strategies.key_value import SlideAndLedger
from compactlab.strategies.sliding_window import removed_before
from compactlab.tokens import Meter
from compactlab.transcript import Message, Text, ToolResult

TITLE = "[Ledger of what the removed messages said]"
METER = Meter("chars/4")
BY_CHARACTERS = Guard(METER)
LINE = "some words that weigh something " * 10
HEAD = (system(), user("Move the orders table."))
TAIL = (*(agent(f"tail {LINE}") for _ in range(9)), user("Go on."))
FILLER = (agent(f"filler {LINE}"),)


def kept_of(middle, spec="key_value"):
    """Lines of the ledger that is left of *middle*."""
    done = compact((*HEAD, *middle, *FILLER, *TAIL), spec, guard=BY_CHARACTERS)
    assert done.receipt.outcome == "applied"
    return ledger(done)


def is_ledger(message):
    return message.synthetic and message.text.startswith(TITLE)


def ledger(done):
    """Lines of the one ledger; none where a plain line tells that something went."""
    [note] = [m for m in done.messages if is_ledger(m) or removed_before(m)]
    title, *lines = note.text.split("\n")
    assert title == TITLE or not lines
    return lines


def called(name, arguments):
    return agent(call("a", name, arguments if isinstance(arguments, str) else json.dumps(arguments)))


def printed(text, *, is_error=False):
    return (calling("a"), Message("tool", (ToolResult("a", (Text(text),), is_error),)))


# ---- what goes into it

LINES = [
    ("key: value", user("port: 5433"), ["- port: 5433"]),
    ("key = value", user("max_workers = 4"), ["- max_workers: 4"]),
    ("a quoted value", user('path: "/srv/app"'), ["- path: /srv/app"]),
    ("a bold key in a list", agent("- **Database host**: db-7.internal:5433"), ["- Database host: db-7.internal:5433"]),
    ("a row of a table", agent("| gate code | 5433 |"), ["- gate code: 5433"]),
    ("a sentence", user("The gate code is 5433."), ["- gate code: 5433"]),
    ("a sentence with a decimal", agent("the total was 1204.50 euros. Then"), ["- total: 1204.50 euros"]),
    ("a value that tells nothing", user("status: fine"), []),
    ("prose", user("I wonder: is it so?"), []),
    ("a file read", called("read", {"path": "src/a.py"}), ["- src/a.py: read last"]),
    ("a file edited by another name", called("MultiEdit", {"file_path": "a.py"}), ["- a.py: edit last"]),
    ("a command", called("bash", {"command": "make test\nls"}), ["- last command: make test"]),
    ("arguments that are no JSON", called("read", '{"path": "a'), []),
    ("arguments that are a list", called("read", "[1]"), []),
    ("arguments that are null", called("bash", "null"), []),
    ("a path that is no text", called("read", {"path": 7}), []),
]


@pytest.mark.parametrize(("message", "lines"), [c[1:] for c in LINES], ids=[c[0] for c in LINES])
def test_what_a_message_leaves_in_the_ledger(message, lines):
    assert kept_of((message,)) == lines


def test_results_are_read_too_and_weigh_less_than_what_a_person_said():
    assert kept_of(printed("port: 5433\nname: x\n")) == ["- port: 5433"]
    said, shown = user("gate code: 5433"), printed("\n".join(f"size{i}: {i}00" for i in range(9)))
    for middle in ((said, *shown), (*shown, said)):
        assert "- gate code: 5433" in kept_of(middle, "key_value(kv_target=3)")


def test_the_newest_value_of_a_key_wins_whoever_said_it_and_however_it_is_written():
    middle = (user("Port: 5432"), *printed("port = 5433"), user("host: a1"), agent("PORT: 5434"))
    assert kept_of(middle) == ["- host: a1", "- PORT: 5434"]


def test_the_ledger_stands_behind_the_anchor_and_the_newest_units_stay():
    before = (*HEAD, user("port: 5433"), *FILLER, *TAIL)
    done = compact(before, "key_value", guard=BY_CHARACTERS)
    assert done.messages == (*HEAD, user(f"{TITLE}\n- port: 5433", synthetic=True), *TAIL)
    assert done.receipt.model_calls == 0


def test_where_nothing_is_worth_a_line_a_plain_one_tells_that_something_went():
    done = compact((*HEAD, user("Hello."), *FILLER, *TAIL), "key_value", guard=BY_CHARACTERS)
    assert [removed_before(m) for m in done.messages if m.synthetic] == [2]
    again = compact((*done.messages, user("port: 5433"), *FILLER, *TAIL), "key_value", guard=BY_CHARACTERS)
    assert ledger(again) == ["- port: 5433"]
    assert not [m for m in again.messages if removed_before(m)]


# ---- its size


@pytest.mark.parametrize("most", [1, 2, 16, 100])
def test_it_holds_at_most_as_many_lines_as_asked_for(most):
    middle = tuple(user(f"key{i}: {i}00") for i in range(60))
    assert len(kept_of(middle, f"key_value(kv_target={most})")) == min(most, 60)


@pytest.mark.parametrize(
    "path", ["a\nb", "a\n- gate: 1\n- code: 2", "x" * 5_000, "a: b", "", " ", "- x", "a\r\nb", "/srv/with blank/ä"]
)
def test_a_path_makes_one_line_of_bounded_length(path):
    lines = kept_of((called("edit", {"path": path}), agent("size: 100")), "key_value(kv_target=2)")
    assert len(lines) <= 2
    assert all(line.startswith("- ") and len(line) <= 300 for line in lines)


@settings(max_examples=300)
@given(messages(min_events=4, max_events=24), st.integers(1, 5), st.integers(0, 4))
def test_on_any_history_the_ledger_is_bounded_and_the_rest_untouched(given_messages, most, keep):
    done = compact(given_messages, SlideAndLedger(most, keep), guard=Guard(METER, ()))
    assume(done.receipt.outcome == "applied")
    made = [m for m in done.messages if m.source is None and (is_ledger(m) or removed_before(m))]
    assert len(made) == done.receipt.count("made") == 1
    assert made[0].text.count("\n") <= most
    assert done.receipt.count("edited") == 0
    assert done.receipt.restored == ()


@settings(max_examples=200)
@given(st.lists(st.tuples(st.from_regex(r"[a-z]{3,8}", fullmatch=True), st.integers(0, 99)), min_size=1, max_size=12))
def test_the_ledger_holds_what_a_dictionary_would(pairs):
    newest = {}
    for key, value in pairs:
        newest.pop(key, None)
        newest[key] = value
    lines = kept_of(tuple(user(f"{key}: {value}") for key, value in pairs), "key_value(kv_target=50)")
    assert lines == [f"- {key}: {value}" for key, value in newest.items()]


def test_a_target_that_holds_the_protected_set_and_the_ledger_is_met():
    meter, over = Meter(), {}
    before = (*HEAD, *(user(f"the key number {i}: {LINE[:80]} {i}") for i in range(400)), *TAIL)
    for target in (*range(1_600, 2_400, 37), 4_000):
        receipt = compact(before, "key_value", target=target, guard=Guard(meter)).receipt
        assert receipt.outcome == "applied"
        if receipt.over_target:
            over[target] = receipt.tokens_after
    assert over == {}


@pytest.mark.parametrize("more", [0, 1, 300, 600, 1_000_000])
def test_what_already_fits_its_target_does_not_slide(more):
    before = (*HEAD, *FILLER * 20, *TAIL)
    done = compact(before, "key_value", target=METER.messages(before) + more, guard=BY_CHARACTERS)
    assert done.receipt.outcome == "skipped"


HARD_TO_READ = [
    ("blank lines", "\n" * 20_000),
    ("blanks behind a key", "key:" + " " * 2_000 + "!"),
    ("lines of blanks", "   \n" * 6_000),
    ("bars behind a value", "a: b" + "| " * 10_000 + "!"),
    ("quoted blank lines", "\n> " * 6_000),
    ("one long word", "a" * 40_000),
]


@pytest.mark.study
@pytest.mark.parametrize("text", [c[1] for c in HARD_TO_READ], ids=[c[0] for c in HARD_TO_READ])
def test_no_text_takes_long_to_read(text):
    started = time.process_time()
    kept_of((agent(text),))
    assert time.process_time() - started < 0.5


# ---- passes and shapes


def test_the_ledger_is_read_again_and_stays_one_over_ten_passes():
    held = (*HEAD, user("standing rule: never touch invoices_archive"), *TAIL)
    for turn in range(10):
        new = (user(f"port: {5_000 + turn}"), agent(f"step {turn}: {turn}00"), *TAIL)
        held = compact((*held, *new), "key_value", guard=BY_CHARACTERS).messages
    lines = [line for m in held if is_ledger(m) for line in m.text.split("\n")[1:]]
    assert "- standing rule: never touch invoices_archive" in lines
    assert "- port: 5009" in lines
    assert len(lines) == len({line.partition(":")[0] for line in lines}) <= 16
    assert "".join(m.text for m in held).count(TITLE) == 1
    assert not [line for line in lines if re.match(r"- -|- \[Ledger", line)]


def test_a_full_ledger_still_takes_in_what_is_new():
    first = compact((*HEAD, *(agent(f"old{i}: {i}00") for i in range(30)), *TAIL), "key_value", guard=BY_CHARACTERS)
    new = (*(agent(f"new{i}: {i}00") for i in range(30)), *TAIL)
    second = compact((*first.messages, *new), "key_value", guard=BY_CHARACTERS)
    assert any(line.startswith("- new") for line in ledger(second))


def test_what_a_person_wrote_like_a_ledger_is_no_ledger():
    done = compact((*HEAD, user(f"{TITLE}\n- port: 1"), user("port: 2"), *FILLER, *TAIL), "kv", guard=BY_CHARACTERS)
    assert ledger(done) == ["- port: 2"]


@settings(max_examples=100)
@given(messages(min_events=4, max_events=24), st.integers(1, 5), st.integers(0, 5), st.none() | st.integers(1, 3_000))
def test_without_new_messages_a_second_pass_changes_nothing(given_messages, most, keep, target):
    strategy = SlideAndLedger(most, keep)
    first = compact(given_messages, strategy, target=target, guard=BY_CHARACTERS)
    second = compact(first.messages, strategy, target=target, guard=BY_CHARACTERS)
    assert second.messages == first.messages


@settings(max_examples=100)
@given(split_and_turn_shape(), st.integers(1, 5), st.integers(0, 5))
def test_both_storage_shapes_leave_the_same_ledger(shapes, most, keep):
    left = []
    for shape in shapes:
        done = compact(shape, SlideAndLedger(most, keep), guard=BY_CHARACTERS)
        left.append((done.receipt.tokens_after, [m.text for m in done.messages if is_ledger(m)]))
    assert left[0] == left[1]


@pytest.mark.parametrize("target", [None, 4_000, 16_000, 1_000_000])
@pytest.mark.parametrize("path", runs.TRANSCRIPTS[::3], ids=lambda path: path.stem)
def test_every_line_of_a_recorded_sessions_ledger_is_short_and_says_what_stood_there(path, target):
    [transcript] = read(path)
    done = compact(transcript.messages, "key_value", target=target, guard=Guard(runs.meter()))
    assert done.receipt.outcome in {"applied", "skipped"}
    if done.receipt.outcome == "skipped":
        return
    base = history.repair(transcript.messages).messages
    said = " ".join(" ".join(m.text.split()) for m in base)
    printed_and_called = " ".join(" ".join(r.text.split()) for m in base for r in m.results)
    arguments = " ".join(json.dumps(json.loads(c.arguments), ensure_ascii=False) for m in base for c in m.calls)
    lines = ledger(done)
    assert len(lines) <= 16
    for line in lines:
        value = line.partition(": ")[2]
        assert value in said or value in printed_and_called or value.endswith(" last") or (
            json.dumps(value, ensure_ascii=False)[1:-1] in arguments
        )  # fmt: skip
        assert len(line) <= 200


# ---- its parameters


@pytest.mark.parametrize(
    ("spec", "shown"),
    [
        ("kv", "key_value"),
        ("key-value(kv_target=8)", "key_value(kv_target=8)"),
        ("kv(min_messages=3, kv_target=16)", "key_value(preserve_recent=3)"),
    ],
)
def test_it_goes_by_its_other_names(spec, shown):
    assert compact((), spec).receipt.strategy == shown


@pytest.mark.parametrize("spec", ["key_value(kv_target=0)", "key_value(kv_target=True)", "kv(preserve_recent='a')"])
def test_a_bad_parameter_is_refused(spec):
    with pytest.raises(SpecError, match="expected a whole number"):
        compact((), spec)
