"""Lists that are large in one way: everything done with them takes time linear in their size.

A size and its double are done by each strategy, each peer, the guard, the rules of providers, mining, matching and
replay. Twice the size takes twice the time, four times where something is quadratic; processor time, the best of a few
rounds. The sizes of real trouble, 5 MB in one message, a million blanks, 100,000 messages, 10,000 parallel calls, are
done under `pytest -m study`.
"""

import gc
import time

import pytest

from compactlab import catalog
from compactlab.compaction import Guard, compact
from compactlab.facts import mine
from compactlab.history import repair
from compactlab.llm.extractive import Extractive
from compactlab.policy import policy
from compactlab.probes.mined import matcher_of
from compactlab.replay import Session, replay
from compactlab.tokens import Meter
from compactlab.transcript import Message, Text, ToolCall, ToolResult, Transcript
from compactlab.validity import violations

MOST = 3.2
"""Times as long for twice the size: over it something grows faster than the list."""
UNSEEN = 0.04
"""Seconds under which a ratio says nothing: noise is larger."""
ROUNDS = 6


def around(*middle):
    """What is large, with a plain session before and behind it, so that it may go."""
    begin = [Message("system", (Text("You mend valves."),)), Message("user", (Text("Look at all of src/."),))]
    end = []
    for n in range(24):
        call = ToolCall(f"end_{n}", "bash", f'{{"command": "make part_{n}"}}')
        end += [Message("assistant", (call,)), Message("tool", (ToolResult(call.id, (Text(f"part {n} is 1{n:03}"),)),))]
    return (*begin, *middle, *end, Message("user", (Text("And now?"),)))


def one_message(size):
    lines = "".join(
        f"line {n} of the log: worker-{n % 7} took {n % 977} ms for /srv/part_{n}.py\n" for n in range(size // 50)
    )
    asked = ToolCall("big", "bash", '{"command": "cat log"}')
    return around(Message("assistant", (asked,)), Message("tool", (ToolResult("big", (Text(lines[:size]),)),)))


def one_word(size):
    return around(Message("assistant", (Text("Here it is."),)), Message("user", (Text("x" * size),)))


def blanks(size):
    return around(Message("assistant", (Text("a" + " " * size + "b"),)))


def many_messages(size):
    said = []
    for n in range(size // 4):
        call = ToolCall(f"call_{n}", "read", f'{{"path": "src/part_{n}.py"}}')
        said += [
            Message("assistant", (Text(f"I read part {n}."), call)),
            Message("tool", (ToolResult(call.id, (Text(f"limit_{n} = {1_000 + n}\nfine\n"),)),)),
            Message("assistant", (Text(f"The limit of part {n} is {1_000 + n}."),)),
            Message("user", (Text(f"Good. Go on with step {n}."),)),
        ]
    return around(*said)


def parallel_calls(size):
    calls = tuple(ToolCall(f"call_{n}", "read", f'{{"path": "src/part_{n}.py"}}') for n in range(size))
    results = tuple(ToolResult(call.id, (Text(f"limit_{n} = {1_000 + n}"),)) for n, call in enumerate(calls))
    return around(Message("assistant", calls), Message("tool", results))


def same_id(size):
    """As many calls under one id, and their results."""
    calls = tuple(ToolCall("call", "read", f'{{"path": "src/part_{n}.py"}}') for n in range(size))
    results = tuple(ToolResult("call", (Text(f"limit_{n} = {1_000 + n}"),)) for n in range(size))
    return around(Message("assistant", calls), Message("tool", results))


SHAPES = {
    one_message: (30_000, 2_500_000),
    one_word: (40_000, 500_000),
    blanks: (100_000, 500_000),
    many_messages: (400, 50_000),
    parallel_calls: (400, 5_000),
    same_id: (400, 5_000),
}
"""Each shape, its small size and half of its large one."""


def passes(spec):
    return lambda messages: compact(messages, spec, guard=Guard(Meter(), model=Extractive()))


def mended(messages):
    for rules in ("openai", "anthropic", "strict"):
        violations(messages, rules)
    return repair(messages)


def matched(messages):
    matcher = matcher_of(mine(messages))
    for message in messages:
        for block in message.blocks:
            [hit.words for hit in matcher.block(block)]


def replayed(messages):
    session = Session(Transcript("t", "", tuple(messages)), Meter())
    return replay(session, policy("microcompact@0.8+sliding_window@0.95"), 3_000, Guard(session.meter))


DEEDS = {spec: passes(spec) for spec in (*catalog.names("strategies"), *catalog.peer_specs())}
DEEDS |= {"counting": lambda messages: Meter().messages(messages), "rules and repair": mended}
DEEDS |= {"mining": mine, "mining and matching": matched, "replay": replayed}


def seconds(deed, messages):
    """Processor time of a deed on a list that nobody has seen, so that nothing is remembered."""
    fresh = list(messages)
    gc.disable()  # a sweep of the whole heap falls into one size or the other by chance
    try:
        started = time.process_time()
        deed(fresh)
        return time.process_time() - started
    finally:
        gc.enable()


def grows_linearly(deed, shape, size):
    """Tell whether the double takes less than MOST times as long, or too little to tell; asked again before a no."""
    once, twice = shape(size), shape(2 * size)
    longest = seconds(deed, twice)
    for _ in range(ROUNDS):
        shortest = seconds(deed, once)
        if longest < max(UNSEEN, MOST * shortest):
            return True
        longest = min(longest, seconds(deed, twice))
    return False


every_deed = pytest.mark.parametrize("name", DEEDS)
every_shape = pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.__name__)


@every_deed
@every_shape
def test_twice_the_size_takes_twice_the_time(name, shape):
    assert grows_linearly(DEEDS[name], shape, SHAPES[shape][0])


@pytest.mark.study
@every_deed
@every_shape
def test_twice_a_size_of_real_trouble_takes_twice_the_time(name, shape):
    assert grows_linearly(DEEDS[name], shape, SHAPES[shape][1])


def test_what_is_not_linear_is_seen():
    """By eight times as long, so that no noise can hide it."""

    def every_three(messages):
        return sum(a is b is c for a in messages for b in messages for c in messages)

    assert not grows_linearly(every_three, lambda size: [Message("user", (Text("And now?"),))] * size, 100)
