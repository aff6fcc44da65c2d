"""The guard: what it promises of every strategy, held against those of the catalog and against hostile ones."""

from collections import Counter
from dataclasses import dataclass, field

import msgspec
import pytest
from histories import agent, answering, call, calling, messages, result, split_and_turn_shape, system, user
from hostile import Hostile, hostile, of_catalog
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from compactlab import catalog, history
from compactlab.compaction import MIN_SAVED_SHARE, MIN_SAVED_TOKENS, Guard, compact
from compactlab.errors import UnknownName
from compactlab.llm import ModelError
from compactlab.llm.extractive import Extractive
from compactlab.llm.scripted import Scripted
from compactlab.receipt import OUTCOMES, Receipt
from compactlab.strategies import Compacted, Strategy
from compactlab.tokens import Meter
from compactlab.transcript import Message, Reasoning, Text, ToolCall, ToolResult
from compactlab.validity import broken

NAMES = catalog.names("strategies")
METER = Meter("chars/4")
BY_CHARACTERS = Guard(METER, model=Extractive())
STRICT = Guard(METER, ("openai", "anthropic", "strict"), Extractive())
BY_TOKENS = Guard(model=Extractive())
MODELS = (
    None,
    Scripted("The port is 5433."),
    Scripted(" \n"),
    Scripted("<analysis>hm</analysis><summary>1. Move the table.</summary>"),
    Scripted("a summary longer than what it stands for " * 500),
    Scripted("half a \ud83d"),
    Scripted(ModelError("refused")),
    Scripted(RuntimeError("the line is dead")),
)
STUDY = 20_000

targets = st.none() | st.integers(1, 600) | st.integers(1, 1_000_000)
guards = st.sampled_from((*[BY_CHARACTERS] * 5, STRICT, STRICT, *(Guard(METER, model=model) for model in MODELS)))
any_of_catalog = st.sampled_from(NAMES).flatmap(of_catalog)
every_strategy = pytest.mark.parametrize("name", NAMES)


def test_strategies_were_found():
    assert len(NAMES) >= 3


# ---- the promises, checked from outside: what came back is held against the repaired input and the receipt


def check_promises(given, strategy, target=None, guard=BY_CHARACTERS):
    """Compact *given* and hold the outcome against all that the guard promises; give the compaction back."""
    done = compact(given, strategy, target=target, guard=guard)
    repaired = history.repair(given)
    receipt = done.receipt
    check_figures(done, repaired.messages, target, guard.meter)
    if receipt.outcome == "applied":
        check_applied(done, repaired.messages, guard)
    else:
        assert receipt.reason
        check_unchanged(done, given, repaired)
    assert msgspec.json.decode(receipt.to_json(), type=Receipt) == receipt
    assert receipt.to_text().startswith(receipt.strategy)
    return done


def check_figures(done, base, target, meter):
    receipt = done.receipt
    assert receipt.outcome in OUTCOMES
    assert receipt.tokens_before == meter.messages(base)
    assert receipt.tokens_after == meter.messages(done.messages)
    assert sum(receipt.kinds_before.values()) == receipt.tokens_before
    assert sum(receipt.kinds_after.values()) == receipt.tokens_after
    assert receipt.kinds_before == meter.by_kind(base)
    assert receipt.kinds_after == meter.by_kind(done.messages)
    assert receipt.over_target == (target is not None and receipt.tokens_after > target)
    assert (receipt.target, receipt.counter) == (target, meter.counter_name)
    told = [change for change in receipt.changes if change.position is not None]
    assert [change.position for change in told] == list(range(len(base)))
    assert [(change.source, change.role) for change in told] == [(m.source, m.role) for m in base]
    assert {change.action for change in told} <= {"kept", "edited", "dropped"}
    assert {change.action for change in receipt.changes if change.position is None} <= {"made"}


def check_unchanged(done, given, repaired):
    assert {change.action for change in done.receipt.changes} <= {"kept"}
    assert done.receipt.tokens_after == done.receipt.tokens_before
    if repaired.repairs:
        assert history.split_turns(done.messages)[0] == repaired.messages
    else:
        assert len(done.messages) == len(given)
        assert all(after is before for after, before in zip(done.messages, given, strict=True))


def check_applied(done, base, guard):
    receipt = done.receipt
    saved = receipt.tokens_before - receipt.tokens_after
    assert saved >= min(MIN_SAVED_TOKENS, MIN_SAVED_SHARE * receipt.tokens_before)
    assert saved > 0
    assert broken(done.messages, guard.rules) <= broken(base, guard.rules)
    for message in done.messages:
        assert msgspec.convert(msgspec.to_builtins(message), Message) == message
    fate = {change.position: change.action for change in receipt.changes if change.position is not None}
    for unit in history.units(base):
        assert len({fate[i] == "dropped" for i in unit}) == 1
    assert {fate[i] for i in history.protected(base)} <= {"kept"}
    check_order(history.split_turns(done.messages)[0], base, fate, receipt.count("made"))


def check_order(after, base, fate, made_count):
    """Walk through the result beside what the receipt says of the input: all else in it was made, and stands well."""
    due = [i for i in range(len(base)) if fate[i] != "dropped"]
    made = []
    found = 0
    anchor_end = max(history.anchor(base), default=-1)
    last_turn = max((i for i, message in enumerate(base) if message.role == "assistant"), default=len(base))
    earliest = min(anchor_end, last_turn - 1)  # an anchor behind the last turn: made messages stand before that turn
    for place, message in enumerate(after):
        if found < len(due) and is_it(message, base[due[found]], fate[due[found]]):
            found += 1
            continue
        made.append(place)
        assert message.source is None
        assert message.synthetic
        assert not message.pinned
        assert not message.calls
        assert not message.results
        assert message.role != "tool"
        assert found == len(due) or due[found] > earliest
    assert found == len(due)
    assert len(made) == made_count
    pairs = history.pair(after)
    for answer, asked in pairs.call_of.items():
        between = range(asked.message + 1, answer.message)
        assert not [place for place in made if place in between], "a made message parts a call from its result"
    check_open_end(after, base, made)


def check_open_end(after, base, made):
    """Where nothing but results stands behind calls that still wait, no note may come between them and what is due."""
    pairs = history.pair(base)
    waiting = [place.message for place in pairs.open_calls]
    behind = [call.message for answer, call in pairs.call_of.items() if waiting and answer.message > waiting[0]]
    if waiting and {m.role for m in base[waiting[0] + 1 :]} <= {"tool"} and set(behind) <= set(waiting):
        end = max(i for i, message in enumerate(after) if message.role == "assistant" and message.calls)
        assert not [place for place in made if place > end], "a made message stands where a result is awaited"


def is_it(message, expected, action):
    if action == "kept":
        return message == expected
    same = replace(message, blocks=()) == replace(expected, blocks=())
    return same and ids(message) == ids(expected) and message.blocks != expected.blocks


def ids(message):
    return [getattr(b, "id", None) or getattr(b, "call_id", None) for b in message.blocks if is_paired(b)]


def is_paired(block):
    return isinstance(block, ToolCall | ToolResult)


def check_second_passes(done, strategy, target, guard):
    """After a compaction nothing is new: with the receipt the guard says so, whatever the strategy would do."""
    again = compact(done.messages, strategy, target=target, guard=guard, previous=done.receipt)
    assert again.receipt.outcome == "skipped"
    assert again.messages == done.messages
    assert again.receipt.result == done.receipt.result


@every_strategy
@settings(max_examples=300)
@given(data=st.data(), given_messages=messages(), target=targets, guard=guards)
def test_the_guard_keeps_its_promises_for_every_strategy_of_the_catalog(name, data, given_messages, target, guard):
    strategy = data.draw(of_catalog(name))
    done = check_promises(given_messages, strategy, target, guard)
    check_second_passes(done, strategy, target, guard)


@settings(max_examples=1_500)
@given(messages(), hostile(), targets, guards)
def test_the_guard_keeps_its_promises_whatever_a_strategy_does(given_messages, strategy, target, guard):
    check_promises(given_messages, strategy, target, guard)


@settings(max_examples=300)
@given(messages(), hostile(), targets)
def test_a_second_pass_with_the_receipt_of_the_first_changes_nothing(given_messages, strategy, target):
    done = compact(given_messages, strategy, target=target, guard=BY_CHARACTERS)
    check_second_passes(done, strategy, target, BY_CHARACTERS)


@pytest.mark.study
@settings(max_examples=STUDY)
@given(messages(), any_of_catalog, targets, guards)
def test_at_length_the_guard_keeps_its_promises_for_the_catalog(given_messages, strategy, target, guard):
    done = check_promises(given_messages, strategy, target, guard)
    check_second_passes(done, strategy, target, guard)


@pytest.mark.study
@settings(max_examples=STUDY)
@given(messages(max_events=30), hostile(most=8), targets, guards)
def test_at_length_the_guard_keeps_its_promises_whatever_a_strategy_does(given_messages, strategy, target, guard):
    done = check_promises(given_messages, strategy, target, guard)
    check_second_passes(done, strategy, target, guard)


@settings(max_examples=60)
@given(messages(min_events=4), hostile() | any_of_catalog, targets)
def test_the_promises_hold_in_real_tokens_too(given_messages, strategy, target):
    check_promises(given_messages, strategy, target, BY_TOKENS)


# ---- passes after passes


@every_strategy
@settings(max_examples=150)
@given(data=st.data(), given_messages=messages(min_events=4, max_events=24), target=targets)
def test_a_second_pass_without_new_messages_changes_nothing_even_without_a_receipt(name, data, given_messages, target):
    strategy = data.draw(of_catalog(name))
    first = compact(given_messages, strategy, target=target, guard=BY_CHARACTERS)
    second = compact(first.messages, strategy, target=target, guard=BY_CHARACTERS)
    assert second.receipt.outcome != "applied"
    assert second.messages == first.messages


@settings(max_examples=150)
@given(messages(), hostile() | any_of_catalog, targets)
def test_the_same_input_gives_the_same_result(given_messages, strategy, target):
    once = compact(given_messages, strategy, target=target, guard=BY_CHARACTERS)
    twice = compact(given_messages, strategy, target=target, guard=Guard(Meter("chars/4"), model=Extractive()))
    assert twice == once


@settings(max_examples=100)
@given(messages(), hostile() | any_of_catalog, targets)
def test_the_messages_given_are_never_changed(given_messages, strategy, target):
    handed = list(given_messages)
    before = repr(given_messages)
    compact(handed, strategy, target=target, guard=BY_CHARACTERS)
    assert all(after is kept for after, kept in zip(handed, given_messages, strict=True))
    assert repr(given_messages) == before


@every_strategy
@settings(max_examples=40)
@given(data=st.data(), target=st.none() | st.integers(50, 2_000))
def test_markers_do_not_nest_over_ten_passes_with_new_messages_between(name, data, target):
    strategy = data.draw(of_catalog(name))
    held = (system(), user("Please move the orders table."))
    most_made = 0
    receipt = None
    for turn in range(10):
        new = data.draw(messages(min_events=1, max_events=6))
        held += tuple(replace(m, source=turn, synthetic=m.role == "user" and m.synthetic) for m in own_ids(new, turn))
        done = compact(held, strategy, target=target, guard=BY_CHARACTERS, previous=receipt)
        receipt = done.receipt
        held = done.messages
        most_made = max(most_made, receipt.count("made"))
        notes = [m.text for m in held if m.source is None and m.synthetic and m.role == "user"]
        assert len(notes) <= most_made
        assert len(set(notes)) == len(notes)


def own_ids(new, turn):
    """Give the calls of each turn ids of their own, so that no turn answers the calls of one before."""
    for message in new:
        blocks = (
            replace(block, id=f"{turn}-{block.id}")
            if isinstance(block, ToolCall)
            else replace(block, call_id=f"{turn}-{block.call_id}")
            if isinstance(block, ToolResult)
            else block
            for block in message.blocks
        )
        yield replace(message, blocks=tuple(blocks))


@settings(max_examples=200)
@given(split_and_turn_shape(), any_of_catalog, targets)
def test_both_storage_shapes_are_compacted_the_same(shapes, strategy, target):
    split = check_promises(shapes.split, strategy, target)
    turns = check_promises(shapes.turns, strategy, target)
    assert fates(split.receipt) == fates(turns.receipt)
    assert (split.receipt.outcome, split.receipt.tokens_after) == (turns.receipt.outcome, turns.receipt.tokens_after)
    assert history.split_turns(split.messages)[0] == history.split_turns(turns.messages)[0]


def fates(receipt):
    return [(change.position, change.role, change.action) for change in receipt.changes]


@settings(max_examples=300)
@given(split_and_turn_shape(), hostile(), targets)
def test_no_strategy_makes_the_storage_shapes_differ(shapes, strategy, target):
    split = check_promises(shapes.split, strategy, target)
    turns = check_promises(shapes.turns, strategy, target)
    assert fates(split.receipt) == fates(turns.receipt)
    assert split.receipt.tokens_after == turns.receipt.tokens_after


@dataclass(frozen=True, repr=False)
class Witness(Strategy):
    """Keeps what it was given to see, and removes nothing."""

    seen: list = field(default_factory=list)

    def compact(self, messages, context):
        self.seen.append((messages, context))
        return Compacted(messages)


@settings(max_examples=200)
@given(messages(), targets)
def test_a_strategy_sees_whole_pairs_and_its_own_numbering(given_messages, target):
    witness = Witness()
    compact(given_messages, witness, target=target, guard=Guard(METER))
    [(seen, context)] = witness.seen
    assert [message.source for message in seen] == list(range(len(seen)))
    found = history.pair(seen)
    assert (found.orphans, found.doubles) == ((), ())
    last = max((i for i, message in enumerate(seen) if message.role == "assistant"), default=None)
    assert {place.message for place in found.open_calls} <= {last}
    assert not [m for m in seen if m.results and (m.role != "tool" or len(m.results) != len(m.blocks))]
    assert (context.target, context.model, context.meter) == (target, None, METER)
    assert context.originals == seen


def test_a_rung_that_drops_the_first_request_does_not_make_the_next_hold_another():
    wordy = [user(f"line {i} " * 20) for i in range(9)]
    talk = (system(), user("yes"), *wordy, agent("so " * 20))
    alone = check_promises(talk, "sliding_window", 1)
    climbed = check_promises(talk, "ladder(cull, sliding_window)", 1)
    assert climbed.messages == alone.messages
    assert compact(climbed.messages, "ladder(cull, sliding_window)", target=1).receipt.outcome != "applied"


# ---- outcomes, one by one


TALK = (system(), *(m for i in range(8) for m in (user(f"question {i} " * 20), agent(f"answer {i} " * 20))), user("Go"))
DROP = ("drop", 3, 3)

OUTCOME = [
    ("all is kept", Hostile(), "skipped", "nothing to remove"),
    ("some is dropped", Hostile((DROP,)), "applied", ""),
    ("nothing comes back", Hostile((), "nothing"), "applied", ""),
    ("the very input", Hostile((DROP,), "the very input"), "skipped", "nothing to remove"),
    ("deferred", Hostile((DROP,), "deferred"), "deferred", "the turn ends soon"),
    ("one word less", Hostile((("reword", 3, 1),), "list"), "rejected", "empty_text"),
    ("heavier", Hostile((("reword", 3, 3),)), "rejected", "instead of"),
    ("a note more", Hostile((("make", 5, 8 + 5),)), "rejected", "instead of"),
    ("a call made", Hostile((("make_odd", 5, 5 + 3),)), "rejected", "call or result"),
    ("a result made", Hostile((("make_odd", 5, 5 + 4),)), "rejected", "call or result"),
    ("a tool message made", Hostile((("make", 5, 24 + 5),)), "rejected", "call or result"),
    ("a system message made late", Hostile((DROP, ("make", 5, 5))), "rejected", "late_system"),
    ("a role changed", Hostile((("change_role", 3, 2),)), "rejected", "role"),
    ("turned round", Hostile((("reverse", 0, 1),)), "rejected", "out of order"),
    ("doubled", Hostile((("double", 3, 9),)), "rejected", "twice"),
    ("a position before the first", Hostile((("change_source", 3, 1),)), "rejected", "position -1 of 18"),
    ("a position past the last", Hostile((("change_source", 3, 2),)), "rejected", "position 18 of 18"),
    ("flags flipped", Hostile((("flip_flags", 3, 3),)), "skipped", "nothing to remove"),
    ("an error", Hostile((), "KeyError"), "failed", "KeyError: 'no'"),
    ("an unknown error", Hostile((), "Mischief"), "failed", "Mischief"),
    ("out of memory", Hostile((), "MemoryError"), "failed", "MemoryError"),
    ("an endless answer", Hostile((), "endless"), "failed", "over 1,036 messages for 18"),
    ("an answer that breaks off", Hostile((), "broken off"), "failed", "in the middle of it"),
    ("a bare list", Hostile((), "no Compacted"), "failed", "gave list; expected Compacted"),
    ("None", Hostile((), "None"), "failed", "gave NoneType"),
    ("no messages", Hostile((), "messages None"), "failed", "NoneType"),
    ("a string for messages", Hostile((), "words"), "failed", "gave str among its messages"),
    ("a dict for a message", Hostile((("break_types", 3, 10),)), "failed", "gave dict among its messages"),
]


@pytest.mark.parametrize(("strategy", "outcome", "reason"), [c[1:] for c in OUTCOME], ids=[c[0] for c in OUTCOME])
def test_a_strategy_meets_the_outcome_it_deserves(strategy, outcome, reason):
    done = check_promises(TALK, strategy)
    assert done.receipt.outcome == outcome
    assert reason in done.receipt.reason


def test_every_outcome_stands_in_the_table():
    assert Counter(case[2] for case in OUTCOME).keys() == set(OUTCOMES)


WRONG_TYPES = [
    "source is a string",
    "source is a fraction",
    "blocks are a list",
    "a block is a string",
    "blocks are None",
    "a text of None",
    "an unknown role",
    "a text of a number",
    "made blocks are a list",
    "a made block is a string",
    "a dict for a message",
    "None for a message",
]


@pytest.mark.parametrize("number", range(len(WRONG_TYPES)), ids=WRONG_TYPES)
@pytest.mark.parametrize("position", [3, 17], ids=["free", "protected"])
def test_a_message_of_wrong_types_is_an_outcome_and_gets_nowhere(number, position):
    check_promises(TALK, Hostile((DROP, ("break_types", position, number))))
    check_promises(TALK, Hostile((("break_types", position, number),)))


def test_an_error_whose_text_cannot_be_had_is_an_outcome_too():
    class Unspeakable(Exception):  # noqa: N818  # names no error, on purpose
        def __str__(self):
            raise ValueError("no words")

    @dataclass(frozen=True, repr=False)
    class Silent(Strategy):
        def compact(self, messages, context):  # noqa: ARG002
            raise Unspeakable

    assert compact(TALK, Silent()).receipt.outcome == "failed"


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit])
def test_an_interruption_is_not_swallowed(error):
    @dataclass(frozen=True, repr=False)
    class Interrupted(Strategy):
        def compact(self, messages, context):  # noqa: ARG002
            raise error

    with pytest.raises(error):
        compact(TALK, Interrupted())


def test_notes_and_reasons_with_half_a_character_can_be_written():
    @dataclass(frozen=True, repr=False)
    class Noted(Strategy):
        reason: str | None = None

        def compact(self, messages, context):  # noqa: ARG002
            return Compacted(messages[:4], ("half a \ud83d",), self.reason)

    for strategy in (Noted(), Noted("half a \ud83d"), Hostile((), "an odd error")):
        receipt = compact(TALK, strategy).receipt
        assert msgspec.json.decode(receipt.to_json(), type=Receipt).outcome == receipt.outcome


def test_a_spec_that_names_nothing_raises():
    with pytest.raises(UnknownName, match="sliding_window"):
        compact(TALK, "sliding_windw")


def test_an_empty_list_is_skipped():
    assert check_promises((), "sliding_window").receipt.outcome == "skipped"


# ---- units


TWELVE = tuple(f"c{i}" for i in range(12))
STEPS = (
    system(),
    user("Read them all. " * 30),
    calling(*TWELVE),
    *(Message("tool", (result(i, "a long line of output " * 20),)) for i in TWELVE),
    agent("All read. " * 30),
    user("And now?"),
    agent("Done. " * 30),
    user("Thanks."),
)


@pytest.mark.parametrize("position", range(2, 15))
def test_dropping_any_one_of_thirteen_restores_the_unit_and_says_so(position):
    done = check_promises(STEPS, Hostile((("drop", position, 0), ("drop", 15 - 1, 0))))
    assert done.receipt.restored == (position,)
    assert done.receipt.changes[position].why.startswith("restored by the guard")
    assert [c.position for c in done.receipt.changes if c.action == "dropped"] == [15]


def test_keeping_any_one_of_thirteen_restores_the_rest():
    done = check_promises(STEPS, Hostile((("drop", 3, 7), ("drop", 3, 3), ("drop", 3, 0))))
    assert done.receipt.restored == tuple(range(3, 15))


SPLIT = [
    ("a person between", [calling("a"), user("wait"), answering("a")]),
    ("results in two messages", [calling("a", "b"), answering("b"), answering("a")]),
    ("one message answers two", [calling("a"), calling("b"), answering("a", "b")]),
    ("an id used again", [calling("a"), answering("a"), calling("a"), answering("a")]),
    ("empty ids", [calling("", ""), answering(""), answering("")]),
    ("a late result", [calling("a"), user(), calling("b"), answering("b"), answering("a")]),
    ("a whole turn", [agent(call("a"), result("a"), call("b"), result("b"), "ok")]),
    ("a turn answered by the next", [agent(call("a")), agent("so", result("a"), "then")]),
]


@pytest.mark.parametrize("middle", [c[1] for c in SPLIT], ids=[c[0] for c in SPLIT])
@pytest.mark.parametrize("dropped", range(6))
@pytest.mark.parametrize("run", range(3))
def test_no_call_is_parted_from_its_result(middle, dropped, run):
    talk = (*TALK[:3], *middle, *TALK[3:])
    check_promises(talk, Hostile((("drop", 2 + dropped, run), ("drop", 8, 4))))


def test_what_the_anchor_hides_behind_a_result_still_lets_a_note_stand_well():
    talk = (calling("a"), user("first words"), answering("a"), *TALK[2:])
    done = check_promises(talk, Hostile((("keep_ends", 3, 2), ("make", 1, 8 + 5))))
    assert done.receipt.outcome == "applied"


def test_a_note_never_stands_behind_calls_that_still_wait():
    talk = (*TALK, calling("open"))
    done = check_promises(talk, Hostile((DROP, ("make", 255, 8 + 5), ("make", 254, 8 + 5))))
    assert done.receipt.count("made") in {0, 2}


# ---- the protected set


HELD = [
    ("the system message", 0),
    ("the first words of a person", 1),
    ("a pinned message", 4),
    ("a late system message", 7),
    ("the last words of a person", 10),
    ("the last step", 11),
    ("its results", 12),
    ("what came after", 13),
]
LONG_TALK = (
    system(),
    user("first " * 40),
    agent("one " * 40),
    user("second " * 40),
    agent("pinned " * 40, pinned=True),
    user("third " * 40),
    agent("two " * 40),
    system("From now on, answer briefly. " * 10),
    user("fourth " * 40),
    agent("three " * 40),
    user("last " * 40),
    calling("z"),
    answering("z"),
    user("a reminder " * 20, synthetic=True),
)


@pytest.mark.parametrize("position", [c[1] for c in HELD], ids=[c[0] for c in HELD])
def test_what_is_protected_is_put_back(position):
    alone = check_promises(LONG_TALK, Hostile((("drop", position, 0), ("drop", 2, 0))))
    edited = check_promises(LONG_TALK, Hostile((("reword", position, 0), ("drop", 2, 0))))
    for done in (alone, edited):
        assert done.receipt.changes[position].action == "kept"
        assert LONG_TALK[position] in done.messages


def test_dropping_everything_leaves_the_protected_set():
    done = check_promises(LONG_TALK, Hostile((), "nothing"))
    held = history.protected(LONG_TALK)
    assert done.messages == tuple(m for i, m in enumerate(LONG_TALK) if i in held)
    assert held == {position for _, position in HELD}


# ---- saving


def test_saving_less_than_one_percent_and_64_tokens_is_skipped():
    talk = (system(), user("words " * 4_000), agent("x" * 12), user("more words " * 4_000), agent(), user())
    done = check_promises(talk, Hostile((("drop", 2, 0),)))
    assert (done.receipt.outcome, done.receipt.reason) == ("skipped", "would save only 7 tokens")


@pytest.mark.parametrize(
    ("total", "saved", "outcome"),
    [(1_000, 10, "applied"), (1_000, 9, "skipped"), (100_000, 64, "applied"), (100_000, 63, "skipped")],
)
def test_the_least_saving_is_one_percent_or_64_tokens(total, saved, outcome):
    def weighing(tokens):
        return Text("x" * 4 * (tokens - 4))

    rest = total - saved - 4 * 5
    talk = (
        Message("system", (weighing(5),)),
        Message("user", (weighing(5),)),
        Message("assistant", (weighing(saved),)),
        Message("assistant", (weighing(rest),)),
        Message("user", (weighing(5),)),
        Message("assistant", (weighing(5),)),
    )
    done = check_promises(talk, Hostile((("drop", 2, 0),)))
    assert (done.receipt.tokens_before, done.receipt.outcome) == (total, outcome)


# ---- repair, and the whole turn in one message


REPAIRED = [
    ("an orphan", [answering("gone")]),
    ("an orphan among words", [agent("before", result("gone"), "after")]),
    ("a call never answered", [calling("a"), user("well?")]),
    ("one of two answered", [calling("a", "b"), answering("b"), user("well?")]),
    ("a call in the midst of a turn", [agent(call("a"), call("b"), result("b"), "so")]),
    ("results twice", [calling("a"), answering("a"), answering("a")]),
    ("words beside an orphan", [Message("tool", (result("gone"), Text("words")))]),
    ("a result before its call", [answering("a"), calling("a"), user("well?")]),
]


@pytest.mark.parametrize("middle", [c[1] for c in REPAIRED], ids=[c[0] for c in REPAIRED])
@pytest.mark.parametrize("strategy", [Hostile(), Hostile((DROP,)), Hostile((), "ValueError"), Hostile((), "nothing")])
def test_what_was_broken_is_repaired_once_and_listed(middle, strategy):
    talk = (*TALK[:3], *middle, *TALK[3:])
    done = check_promises(talk, strategy)
    assert done.receipt.repairs
    again = compact(done.messages, strategy, guard=BY_CHARACTERS, previous=done.receipt)
    assert again.receipt.repairs == ()
    assert again.receipt.reason == "nothing new since the last pass"
    assert again.messages == done.messages


def test_a_turn_that_loses_a_result_between_its_words_weighs_what_the_receipt_says():
    talk = (*TALK[:3], calling("a"), agent("so " * 9, result("a", "x" * 400), "then " * 9), *TALK[3:])
    dropped = [i for i, m in enumerate(history.repair(talk).messages) if m.calls or m.results]
    done = check_promises(talk, Hostile(tuple(("drop", i, 0) for i in reversed(dropped))))
    assert done.receipt.outcome == "applied"
    check_second_passes(done, Hostile(tuple(("drop", i, 0) for i in reversed(dropped))), None, BY_CHARACTERS)


def test_a_turn_whose_last_words_are_emptied_weighs_what_the_receipt_says():
    turn = agent(call("a"), result("a", "x" * 400), "ok " * 99)
    emptied = Hostile((("drop_blocks", 6, 0),))
    done = check_promises((Message("system", ()), *TALK[:3], turn, *TALK[3:]), emptied)
    check_second_passes(done, emptied, None, BY_CHARACTERS)


def test_words_put_into_a_tool_message_do_not_become_a_persons():
    talk = (*TALK[:3], calling("a"), Message("tool", (result("a", "x" * 400),), source=1), *TALK[3:])
    done = check_promises(talk, Hostile((("drop", 8, 1), ("add_block", 4, 2))))
    assert not [m for m in history.split_turns(done.messages)[0] if m.by_person and m.text == "more"]


def test_turns_stay_turns_and_steps_stay_steps():
    turn = agent(Reasoning("hm"), call("a"), result("a", "x" * 400), call("b"), result("b"), "ok")
    done = check_promises((*TALK[:3], turn, *TALK[3:]), Hostile((("clear_results", 0, 0),)))
    assert [len(m.blocks) for m in done.messages if m.calls] == [6]
    assert len(done.messages) == len(TALK) + 1


def test_the_receipt_counts_messages_of_the_repaired_input():
    turn = agent(call("a"), result("a", "x" * 400), "ok", source=9)
    receipt = compact((*TALK[:3], turn, *TALK[3:]), "none").receipt
    assert [(c.role, c.source) for c in receipt.changes[3:6]] == [("assistant", 9), ("tool", 9), ("assistant", 9)]


# ---- passes


def test_a_new_message_or_another_target_or_strategy_is_something_new():
    first = compact(TALK, "sliding_window(preserve_recent=2)")
    assert first.receipt.outcome == "applied"
    same = compact(first.messages, "sliding_window(preserve_recent=2)", previous=first.receipt)
    longer = compact((*first.messages, agent("x")), "sliding_window(preserve_recent=2)", previous=first.receipt)
    other = compact(first.messages, "sliding_window(preserve_recent=1)", previous=first.receipt)
    tighter = compact(first.messages, "sliding_window(preserve_recent=2)", target=10, previous=first.receipt)
    assert same.receipt.reason == "nothing new since the last pass"
    for done in (longer, other, tighter):
        assert done.receipt.reason != "nothing new since the last pass"


def test_a_strategy_that_always_finds_something_is_stopped_by_the_receipt():
    greedy = Hostile((("keep_ends", 2, 5),))
    first = compact(TALK, greedy)
    again = compact(first.messages, greedy, previous=first.receipt)
    assert (first.receipt.outcome, again.receipt.outcome) == ("applied", "skipped")


@pytest.mark.parametrize("target", [1, 50, 400, 1_000_000])
@every_strategy
def test_over_target_is_a_flag_and_never_an_error(name, target):
    done = check_promises(TALK, name, target, BY_TOKENS)
    assert done.receipt.over_target == (done.receipt.tokens_after > target)
