"""A pass is applied to what it was planned for or not at all; what came meanwhile survives; identities stay."""

import errno
import os
import subprocess
import sys
from itertools import pairwise

import pytest
from conversations import COUNTER, Ledger, fixture, memory, records, said, talk, weighing
from histories import agent, answering, call, result
from hypothesis import given, settings
from hypothesis import strategies as st
from reports import row

from compactlab import catalog
from compactlab.compaction import Guard, compact
from compactlab.errors import TranscriptError
from compactlab.llm import Reply
from compactlab.llm.extractive import Extractive
from compactlab.memory import passes
from compactlab.memory.conversation import Conversation
from compactlab.settings import Project
from compactlab.tokens import Meter
from compactlab.transcript import Message

METER = Meter(COUNTER)
SLIDE = "sliding_window(preserve_recent=4)"


def planned(there, strategy=SLIDE, **guard):
    asked = passes.Asked(catalog.strategy(strategy), Guard(METER, **guard))
    return passes.plan(there.conversation.read(), asked)


def apply(there, plan, ledger):
    return passes.apply(there.conversation, plan, there.room("primary"), METER, ledger)


def lines(kept):
    return [(one.id, one.line) for one in kept]


def ids(there):
    return [one.id for one in Conversation(there.path).read().kept]


@pytest.fixture
def there(tmp_path):
    """A conversation of thirty messages."""
    found = memory(tmp_path)
    found.append(talk(30))
    return found


def test_a_pass_leaves_what_the_guard_gives_on_the_same_lines_under_the_same_identities(there):
    before = {one.id: one.line for one in there.conversation.read().kept}
    expected, _ = compact(there.messages, SLIDE, guard=Guard(METER))
    ledger = Ledger()
    done = apply(there, planned(there), ledger)
    after = Conversation(there.path).read()
    assert done.entry.id == after.entry == "entry-1"
    assert [m.blocks for m in there.messages] == [m.blocks for m in expected]
    made = [one for one in after.kept if one.id not in before]
    assert [one.message.source for one in made] == [None]
    assert all(before[one.id] == one.line for one in after.kept if one not in made)
    assert [line["type"] for line in records(there.path)].count("message") == len(expected)


def test_the_journal_hears_the_whole_lists_before_anything_is_replaced(there):
    before = there.path.read_bytes()
    standing = there.conversation.read()
    heard = []

    def record(done):
        heard.append((done, there.path.read_bytes()))
        return Ledger()(done)

    apply(there, planned(there), record)
    [(done, at_that_time)] = heard
    assert at_that_time == before
    assert done.before == standing.kept
    assert lines(done.after) == lines(there.conversation.read().kept)
    assert (done.conversation, done.agent_type, done.strategy, done.previous) == ("garden", "primary", SLIDE, "")
    fates = {change.source: change.action for change in done.receipt.changes if change.source is not None}
    dropped = {one.id for at, one in enumerate(done.before) if fates[at] == "dropped"}
    assert dropped == {one.id for one in done.before} - {one.id for one in done.after}


def test_an_edited_message_keeps_its_identity_and_its_place(tmp_path):
    there = memory(tmp_path)
    there.append(fixture("subagent-etl"))
    before = there.conversation.read().kept
    done = apply(there, planned(there, "microcompact"), Ledger())
    after = there.conversation.read().kept
    assert [one.id for one in after] == [one.id for one in before]
    edited = [new for new, old in zip(after, before, strict=True) if new.line != old.line]
    assert len(edited) == 52
    assert all("[Old tool result content cleared]" in str(one.message.results) for one in edited)
    assert done.standing.kept[-1].line == before[-1].line


@row("K25-D6")
def test_a_message_has_one_identity_through_three_passes(there):
    ledger = Ledger()
    for round_ in range(3):
        apply(there, planned(there, "sliding_window(preserve_recent=5)"), ledger)
        there.append(talk(10, words=f"round {round_}"))
    assert [done.previous for done in ledger] == ["", "entry-1", "entry-2"]
    for done, following in pairwise(ledger):
        assert lines(following.before[: len(done.after)]) == lines(done.after)
    tail = {one.id for one in ledger[0].before[-5:]}
    assert tail <= {one.id for one in ledger[0].after} & {one.id for one in ledger[1].before}
    every = [one for done in ledger for one in (*done.before, *done.after)]
    assert len({one.id for one in every}) == len({one.line for one in every})


@row("K25-D4")
def test_what_is_appended_while_a_model_writes_follows_behind_its_summary(tmp_path):
    later = [said(f"late {i}", "user" if i % 2 == 0 else "assistant") for i in range(231)]

    class Slow:
        name, window = "slow", None

        def reply(self, _request):
            memory(tmp_path).append(later)
            return Reply("<summary>1. Primary request and intent\nthe lines</summary>", "slow")

    class Asking(Project):
        def model(self):
            return Slow()

    there = memory(tmp_path, project=Asking())
    there.append([*talk(30)])
    was = ids(there)
    ledger = Ledger()
    there.__dict__["_record"] = ledger
    done = there.compact("summary")
    assert done.is_applied
    assert [m.text for m in there.messages[-231:]] == [m.text for m in later]
    assert there.messages[1].text.startswith("[Compacted summary]")
    assert [one.id for one in ledger[0].before][: len(was)] == was
    assert (
        [one.id for one in ledger[0].before[-231:]] == [one.id for one in ledger[0].after[-231:]] == ids(there)[-231:]
    )


@row("K17-D6")
def test_of_two_passes_one_wins_and_the_other_says_who_came_first(there):
    first, second = planned(there), planned(memory(there.repo), "key_value")
    ledger = Ledger()
    assert apply(there, first, ledger).entry.id == "entry-1"
    stands = there.path.read_bytes()
    done = apply(memory(there.repo), second, ledger)
    assert done.entry is None
    assert f"another pass came first ({SLIDE} of process {os.getpid()} at 20" in done.why_not
    assert "entry entry-1" in done.why_not
    assert (len(ledger), there.path.read_bytes()) == (1, stands)


def test_a_second_pass_without_anything_new_does_nothing(there):
    apply(there, planned(there), Ledger())
    receipt = planned(there).receipt
    assert (receipt.outcome, receipt.reason) == ("skipped", "nothing new since the last pass")
    there.append(talk(8))
    assert planned(there).receipt.outcome == "applied"


@row("K33-D5")
def test_if_the_journal_cannot_be_written_the_conversation_stays_as_it_was(there):
    def record(done):
        raise TranscriptError(f"journal: locked ({len(done.before)})")

    before = there.path.read_bytes()
    done = apply(there, planned(there), record)
    assert (done.entry, done.why_not) == (None, "journal: locked (30)")
    assert there.path.read_bytes() == before
    assert list(there.path.parent.iterdir()) == [there.path]


FULL = """
import resource, signal, sys
from pathlib import Path
from conversations import Ledger, memory
there = memory(Path(sys.argv[1]))
there.messages
there.__dict__["_record"] = Ledger()
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (2_000, resource.RLIM_INFINITY))
print(there.compact("sliding_window(preserve_recent=20)").why_not)
"""


def test_if_the_disk_takes_no_more_the_old_list_stands(there):
    before = there.path.read_bytes()
    tests = os.path.dirname(__file__)  # noqa: PTH120  # for a search path
    done = subprocess.run(
        [sys.executable, "-c", FULL, there.repo],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": tests},
    )
    assert f"the list stays as it was ({os.strerror(errno.EFBIG).lower()})" in done.stdout
    assert there.path.read_bytes() == before
    assert list(there.path.parent.iterdir()) == [there.path]


def test_a_pass_that_frees_enough_arms_the_marks_again_and_what_was_heard_stays(tmp_path):
    there = memory(tmp_path)
    there.append([*(weighing(40, "user" if i % 2 == 0 else "assistant") for i in range(24))])
    there.ignore("in a moment")
    apply(there, planned(there), Ledger())
    kinds = [line["type"] for line in records(there.path)]
    assert kinds[:4] == ["session", "warning", "ignored", "rearmed"]
    assert (there.status().armed, there.status().declined, there.status().unanswered) == ((0.8, 0.9, 0.95), "", ())
    assert there.append([weighing(600)]).warning.marks == (0.8,)


@row("K33-D4")
def test_pins_of_the_settings_protect_and_are_not_written_into_the_lines(tmp_path):
    there = memory(tmp_path, project=Project({"pins": ["pattern:line 7 "]}))
    there.append(talk(30))
    there.__dict__["_record"] = Ledger()
    done = there.compact(SLIDE)
    assert done.receipt.pinned_tokens == METER.message(talk(30)[7])
    assert sum("line 7 " in message.text for message in there.messages) == 1
    assert b"pinned" not in there.path.read_bytes()


def test_an_open_call_and_what_came_with_it_stay_whole(tmp_path):
    there = memory(tmp_path)
    there.append([*talk(20), agent("looking", call("c1"), call("c2")), answering("c1")])
    apply(there, planned(there, "sliding_window(preserve_recent=0)"), Ledger())
    assert [m.role for m in there.messages[-2:]] == ["assistant", "tool"]
    assert [c.id for c in there.messages[-2].calls] == ["c1", "c2"]
    there.append([answering("c2")])
    assert planned(there).receipt.repairs == ()


STRATEGIES = st.sampled_from(
    [
        "microcompact",
        "cull",
        SLIDE,
        "key_value",
        "ladder",
        "sliding_window(preserve_recent=0)",
        "summary",
        "sliding_reflect",
    ]
)
TURNS = st.lists(st.sampled_from(["person", "agent", "tool", "ok", "whole"]), min_size=1, max_size=25)


def turned(kind, number):
    if kind == "tool":
        name = f"c{number}"
        return [agent(f"step {number}", call(name)), Message("tool", (result(name, f"line {number} " * 40),))]
    if kind == "whole":  # a turn in one message: call, result, text
        name = f"w{number}"
        return [agent(call(name, "read"), result(name, f"text {number} " * 40), f"so {number}")]
    words = "ok" if kind == "ok" else f"{kind} says {number} " * 20
    return [said(words, "user" if kind in {"person", "ok"} else "assistant")]


@settings(max_examples=40, deadline=None)
@given(rounds=st.lists(st.tuples(TURNS, STRATEGIES), min_size=1, max_size=4))
def test_any_story_of_appends_and_passes_loses_no_message(tmp_path_factory, rounds):
    there = memory(tmp_path_factory.mktemp("m"), window=100_000)
    ledger, everything, number = Ledger(), set(), 0
    for turns, strategy in rounds:
        for kind in turns:
            everything |= set(there.append(turned(kind, number)).ids)
            number += 1
        plan = planned(there, strategy, model=Extractive())
        if plan.receipt.outcome == "applied":
            assert apply(there, plan, ledger).entry
    live = there.conversation.read().kept
    assert len({one.id for one in live}) == len(live)
    assert everything <= {one.id for one in live} | {one.id for done in ledger for one in done.before}
    chain = [*ledger, None]
    for done, following in zip(ledger, chain[1:], strict=True):
        head = following.before if following else live
        assert lines(head[: len(done.after)]) == lines(done.after)
