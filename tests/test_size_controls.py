"""The controls that meet a strategy's very size: random lines, lines that look like facts, and the best blocks."""

from itertools import combinations
from random import Random

import pytest
import runs
from histories import agent, answering, call, calling, messages, result, system, user
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from compactlab.compaction import compact
from compactlab.controls import oracle, random_lines, regex_lines
from compactlab.controls import random as random_units
from compactlab.facts import Fact, mine
from compactlab.history import pair, repair
from compactlab.metrics import Case
from compactlab.probes.hand import HandProbes
from compactlab.probes.mined import AtRisk, Use, matcher_of
from compactlab.strategies.sliding_window import removed_before
from compactlab.tokens import Meter
from compactlab.transcript import Image, Message, Reasoning, Text, ToolCall, ToolResult, readable
from compactlab.validity import broken

METER = Meter("chars/4")
CELLS = [(name, share) for name in runs.SHORT for share in (0.4, 0.85)]
DELETING = (
    "microcompact",
    "microcompact(keep_recent=0)",
    "microcompact(tools=('read',))",
    "cull",
    "cull(preserve_recent=0, keep_answers=False)",
    "sliding_window",
    "sliding_window(preserve_recent=0)",
    "sliding_window(preserve_recent=40)",
)
every_cell = pytest.mark.parametrize(("name", "share"), CELLS)


def case(history, facts=None, needed=None, meter=METER):
    """A case of *history*; by default all that is mined in it is needed, every third fact in words only."""
    base = repair(history).messages
    facts = mine(base) if facts is None else facts
    risk = AtRisk(base, facts, matcher_of(facts))
    kinds = {fact: "text" if n % 3 == 2 else "action" for n, fact in enumerate(risk.anchors)}
    uses = {fact: Use(kind, 0) for fact, kind in (kinds if needed is None else needed(risk)).items()}
    return Case(risk, uses, HandProbes(()), (), meter)


def floor_of(made):
    return made.meter.messages(made.protected)


def size(made, part):
    """A weight between the protected set alone and the whole history."""
    return round(floor_of(made) + part * (made.tokens - floor_of(made)))


def lines_of(kept, made):
    """Lines that a control kept outside the protected set, with the recorded message that each is said to be of."""
    own = {id(message) for message in made.protected}
    return [(m.source, block.text) for m in kept if id(m) not in own for block in m.blocks]


def worth(made, kept):
    """Needed facts that stand bound: those of actions, and all others."""
    return counted(made, made.risk.presence(kept).bound)


def counted(made, bound):
    standing = [use.kind for fact, use in made.needed.items() if bound >> fact & 1]
    return standing.count("action"), len(standing) - standing.count("action")


# ---- lines

BUILD = {
    "random_lines": lambda made, tokens: random_lines.build(made, tokens, Random(1)),
    "regex_lines": regex_lines.build,
}
every_line_control = pytest.mark.parametrize("build", BUILD.values(), ids=BUILD.keys())


@every_line_control
@pytest.mark.parametrize("part", [0.02, 0.1, 0.3, 0.6, 0.9])
@every_cell
def test_lines_of_a_recorded_session_weigh_what_was_asked_within_one_percent(name, share, part, build):
    made = runs.case(name, share)
    tokens = size(made, part)
    all_lines = made.meter.messages(build(made, 10 * tokens))  # without the JSON of calls, less than the whole
    assert 0.99 * min(tokens, all_lines) <= made.meter.messages(build(made, tokens)) <= tokens


@every_line_control
@pytest.mark.parametrize("spec", ["microcompact", "cull(preserve_recent=0, keep_answers=False)", "key_value"])
@every_cell
def test_lines_weigh_what_a_strategy_left_within_one_percent(name, share, spec, build):
    made = runs.case(name, share)
    tokens = made.meter.messages(compact(made.base, spec).messages)
    all_lines = made.meter.messages(build(made, 10 * tokens))  # without the JSON of calls, less than the whole
    assert 0.99 * min(tokens, all_lines) <= made.meter.messages(build(made, tokens)) <= tokens


@every_line_control
@settings(max_examples=150)
@given(given_messages=messages(min_events=2, max_events=14), part=st.floats(-0.2, 1.1))
def test_every_line_stands_in_the_history_where_it_is_said_to(build, given_messages, part):
    made = case(tuple(replace(m, source=i) for i, m in enumerate(repair(given_messages).messages)), ())
    tokens = size(made, part)
    kept = build(made, tokens)
    assert made.meter.messages(kept) <= max(tokens, floor_of(made))
    assert [m for m in kept if any(m is own for own in made.protected)] == list(made.protected)
    for source, text in lines_of(kept, made):
        lines = [line for block in made.base[source].blocks for line in readable(block).split("\n")]
        assert any(line.startswith(text) for line in lines)
        assert text.strip() or made.meter.counter_name == "chars/4"
    sources = [m.source for m in kept]
    assert sources == sorted(sources)


@every_line_control
@every_cell
def test_lines_of_a_recorded_session_are_whole_but_for_one_and_stand_once(name, share, build):
    made = runs.case(name, share)
    kept = lines_of(build(made, size(made, 0.3)), made)
    by_source = {m.source: m for m in made.base}
    cut = [
        (source, text)
        for source, text in kept
        if text not in [line for b in by_source[source].blocks for line in readable(b).split("\n")]
    ]
    assert kept
    assert len(cut) <= 1
    assert all(message.synthetic for message in build(made, size(made, 0.3)) if message not in made.protected)


@every_line_control
@pytest.mark.parametrize("below", [0, 1, 1_000_000])
def test_where_there_is_no_room_the_protected_set_alone_is_left(build, below):
    made = runs.case("primary-move", 0.4)
    assert build(made, floor_of(made) - below) == made.protected


IN_ANOTHER_PROCESS = """
import hashlib, sys
from random import Random
sys.path.insert(0, "tests")
import runs
from compactlab.controls import oracle, random_lines, regex_lines
made = runs.case("primary-move", 0.4)
tokens = made.tokens // 4
kept = [random_lines.build(made, tokens, Random("7|x")), regex_lines.build(made, tokens), oracle.build(made, tokens)]
print(*[hashlib.sha256(repr(messages).encode()).hexdigest() for messages in kept])
"""


def test_the_same_seed_gives_the_same_draw_in_every_process_and_the_chosen_are_the_same_too():
    assert len(runs.printed_in_two_processes(IN_ANOTHER_PROCESS)) == 1


def test_draws_differ_by_seed_and_come_from_all_over_the_history():
    made = runs.case("primary-move", 0.85)
    tokens = size(made, 0.3)
    draws = [random_lines.build(made, tokens, Random(seed)) for seed in (1, 2, 1)]
    assert draws[0] == draws[2] != draws[1]
    thirds = [0, 0, 0]
    for seed in range(10):
        for source, _ in lines_of(random_lines.build(made, tokens, Random(seed)), made):
            thirds[3 * source // (made.base[-1].source + 1)] += 1
    assert min(thirds) > 0.4 * max(thirds)


PROSE = "We walked on along the shore for a while and then went home again."
DENSE = "see src/orders/refunds.py:118, total 1204.50 for ord_9f8e7d"


def test_lines_that_look_like_facts_are_kept_first_and_later_ones_first_among_equals():
    made = case((system(), user(), agent(PROSE), agent(DENSE), agent(PROSE), user("On."), agent()), ())
    kept = regex_lines.build(made, floor_of(made) + METER.text(DENSE) + 4)
    assert [text for _, text in lines_of(kept, made)] == [DENSE]
    same = case((system(), user(), agent("port 5433"), agent("port 7788"), user("On."), agent()), ())
    [(_, text)] = lines_of(regex_lines.build(same, floor_of(same) + METER.text("port 5433") + 4), same)
    assert text == "port 7788"


def test_a_long_line_does_not_win_by_its_length():
    made = case((system(), user(), agent(f"{DENSE} " * 200), agent(DENSE), user("On."), agent()), ())
    kept = regex_lines.build(made, floor_of(made) + METER.text(DENSE) + 4)
    assert [text for _, text in lines_of(kept, made)] == [DENSE]


# ---- the best blocks: what it is made of


def check_blocks(made, kept, tokens):
    """Every block of what the oracle kept is one of the history, or a result of it that was emptied."""
    assert made.meter.messages(kept) <= max(tokens, floor_of(made))
    own = {b for m in made.base for b in m.blocks}
    for block in (b for m in kept for b in m.blocks):
        assert block in own or (isinstance(block, ToolResult) and block.content == ())
    pairing = pair(kept)
    assert not pairing.orphans
    assert not pairing.doubles
    assert len(pairing.open_calls) == len(pair(made.base).open_calls)
    assert [m for m in kept if any(m is held for held in made.protected)] == list(made.protected)
    assert all(m.blocks for m in kept if m not in made.base)


@pytest.mark.parametrize("part", [0.0, 0.01, 0.05, 0.2, 0.5, 1.0])
@every_cell
def test_the_best_blocks_of_a_recorded_session_weigh_no_more_than_asked_and_stood_there(name, share, part):
    made = runs.case(name, share)
    kept = oracle.build(made, size(made, part))
    check_blocks(made, kept, size(made, part))
    assert broken(kept) == broken(made.base) == frozenset()


@settings(max_examples=150)
@given(messages(min_events=2, max_events=14), st.floats(-0.2, 1.1))
def test_the_best_blocks_of_any_history_weigh_no_more_than_asked_and_stood_there(given_messages, part):
    made = case(given_messages)
    check_blocks(made, oracle.build(made, size(made, part)), size(made, part))


THOUGHT = (system(), user(), agent(Reasoning("The port is 54331."), "Well."), user("On."), agent())


def test_a_message_is_never_left_with_nothing_but_a_thought():
    made = case(THOUGHT, (Fact("number", "54331", ("54331",)),))
    for part in (0.3, 0.6, 0.9, 1.0):
        assert not broken(oracle.build(made, size(made, part)))


def test_all_that_is_needed_is_kept_where_it_fits_and_nothing_that_is_not():
    history = (
        system(),
        user(),
        agent(PROSE),
        agent(call("a", "bash", '{"command": "cat notes"}')),
        Message("tool", (result("a", "limit 77881 in /srv/app/config.toml"),)),
        agent(Reasoning(PROSE), "The port is 54331."),
        user("On."),
        agent(),
    )
    facts = (Fact("number", "54331", ("54331",)), Fact("number", "77881", ("77881",)))
    made = case(history, facts)
    whole = oracle.build(made, made.tokens)
    assert whole == (*history[:2], *history[3:5], agent("The port is 54331."), *history[-2:])
    one = oracle.build(made, METER.messages(whole) - 1)
    assert worth(made, one) == (1, 0)
    assert oracle.build(made, floor_of(made)) == made.protected


def test_facts_of_actions_go_before_any_number_of_others():
    words = " ".join(f"item{i} costs {10_000 + i}" for i in range(12))
    facts = tuple(Fact("number", str(n), (str(n),)) for n in (54_331, *(10_000 + i for i in range(12))))
    made = case(
        (system(), user(), agent("The port is 54331." + " and so on" * 20), agent(words), user("On."), agent()),
        facts,
        lambda risk: {f: "action" if risk.facts[f].value == "54331" else "text" for f in risk.anchors},
    )
    tokens = floor_of(made) + 4 + METER.block(made.base[2].blocks[0])
    assert worth(made, oracle.build(made, tokens)) == (1, 0)


# ---- the best blocks: at least as good as whatever only deletes


def without_marker(made, spec):
    return tuple(m for m in compact(made.base, spec).messages if not removed_before(m))


@pytest.mark.parametrize("spec", DELETING)
@every_cell
def test_no_strategy_that_only_deletes_keeps_more_than_the_best_blocks_of_its_size(name, share, spec):
    made = runs.case(name, share)
    left = without_marker(made, spec)
    best = oracle.build(made, made.meter.messages(left))
    assert worth(made, best)[0] >= worth(made, left)[0]


@every_cell
def test_no_draw_of_whole_units_keeps_more_than_the_best_blocks_of_its_size(name, share):
    made = runs.case(name, share)
    for seed in range(20):
        drawn = random_units.build(made, size(made, 0.05 * (seed % 10 + 1)), Random(seed))
        whole = {i for m in drawn for i, own in enumerate(made.base) if m is own}
        drawn = tuple(m for i, m in enumerate(made.base) if i in whole)
        best = oracle.build(made, made.meter.messages(drawn))
        assert worth(made, best)[0] >= worth(made, drawn)[0]


@pytest.mark.parametrize("name", runs.SHORT)
def test_more_room_never_makes_it_worse_and_all_room_keeps_all_that_can_be_kept(name):
    made = runs.case(name, 0.4)
    kept = [worth(made, oracle.build(made, size(made, part / 10)))[0] for part in range(11)]
    assert kept == sorted(kept)
    assert kept[-1] == worth(made, made.base)[0]


# ---- against every subset of blocks


def options(unit):
    """All ways to keep a unit: not at all, or its calls with any choice of its other blocks, results emptied or not."""
    yield None
    loose = [(i, at) for i, m in enumerate(unit) for at, b in enumerate(m.blocks) if not isinstance(b, ToolCall)]
    for count in range(len(loose) + 1):
        for chosen in combinations(loose, count):
            blocks = [
                tuple(
                    block if isinstance(block, ToolCall) or (i, at) in chosen else replace(block, content=())
                    for at, block in enumerate(m.blocks)
                    if isinstance(block, ToolCall | ToolResult) or (i, at) in chosen
                )
                for i, m in enumerate(unit)
            ]
            if not any(thought_alone(left, m.blocks) for m, left in zip(unit, blocks, strict=True)):
                yield tuple(replace(m, blocks=left) for m, left in zip(unit, blocks, strict=True) if left)


def thought_alone(left, whole):
    """A message left with nothing but thoughts, where it said something beside them: no provider takes it."""
    return (
        bool(left) and all(isinstance(b, Reasoning) for b in left) and not all(isinstance(b, Reasoning) for b in whole)
    )


def best_by_trying_all(made, tokens):
    """The most needed facts that any choice of blocks within *tokens* keeps: of actions first, then others."""
    cheapest = {0: floor_of(made)}
    for unit in made.free:
        priced = {}
        for kept in options([made.base[i] for i in unit]):
            bound, price = (made.risk.presence(kept).bound, made.meter.messages(kept)) if kept else (0, 0)
            priced[bound] = min(price, priced.get(bound, price))
        grown = {}
        for held, paid in cheapest.items():
            for bound, price in priced.items():
                if paid + price <= tokens:
                    grown[held | bound] = min(paid + price, grown.get(held | bound, tokens))
        cheapest = grown
    return max((counted(made, held) for held in cheapest), default=(0, 0))


SAID = (
    "The port is 54331.",
    "limit 77881 in /srv/app/config.toml",
    "order ord_9f8e7d7c weighs 12046 g and costs 88213 cents",
    "nothing at all",
    "the port 54331 again, and the limit 77881" + " of it all" * 8,
)
VALUES = ("54331", "77881", "/srv/app/config.toml", "ord_9f8e7d7c", "12046", "88213")
FACTS = tuple(Fact("path" if "/" in value else "number", value, (value,)) for value in VALUES)


@st.composite
def small_histories(draw):
    """A few units of words, thoughts, pictures, calls and results that say the facts again and again."""
    said = st.sampled_from(SAID)
    middle = []
    for n in range(draw(st.integers(1, 5))):
        text, other = draw(said), draw(said)
        middle += draw(
            st.sampled_from(
                [
                    [agent(text)],
                    [user(text)],
                    [agent(text, Text(other))],
                    [agent(Reasoning(text), other)],
                    [agent(text, Image("image/png", 90, 90))],
                    [agent(text, call(f"c{n}")), Message("tool", (result(f"c{n}", other),))],
                    [calling(f"c{n}"), answering(f"c{n}")],
                    [
                        agent(call(f"c{n}", "bash", f'{{"command": "{text}"}}')),
                        Message("tool", (result(f"c{n}", other),)),
                    ],
                    [calling(f"c{n}", f"d{n}"), Message("tool", (result(f"c{n}", text), result(f"d{n}", other)))],
                ]
            )
        )
    return (system(), user(), *middle, user("On."), agent())


@settings(max_examples=150)
@given(small_histories(), st.floats(0, 1.1))
def test_the_best_blocks_of_a_well_formed_history_are_what_a_provider_takes(history, part):
    made = case(history, FACTS)
    assert not broken(oracle.build(made, size(made, part)))


@settings(max_examples=250)
@given(small_histories(), st.floats(0, 1), st.integers(0, 63))
def test_no_choice_of_blocks_keeps_more_than_the_best_blocks(history, part, actions):
    made = case(
        history, FACTS, lambda risk: {fact: "action" if actions >> fact & 1 else "text" for fact in risk.anchors}
    )
    tokens = size(made, part)
    kept = oracle.build(made, tokens)
    check_blocks(made, kept, tokens)
    assert worth(made, kept) >= best_by_trying_all(made, tokens)
