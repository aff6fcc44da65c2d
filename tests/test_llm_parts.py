"""What a model reads of a stretch that is longer than its window: all of it, or what was not read is told and stays."""

import re

import pytest
from histories import agent, call, messages, result, system, user
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from compactlab import history
from compactlab.compaction import Guard, compact
from compactlab.llm import ModelError, Pending, Reply, TooLong
from compactlab.llm.extractive import Extractive
from compactlab.llm.parts import MARGIN, MOST_PARTS, in_parts, room_for_material
from compactlab.llm.prompts import SECTIONS, rendered
from compactlab.llm.scripted import Scripted
from compactlab.strategies.sliding_reflect import is_threads
from compactlab.strategies.summary import is_summary
from compactlab.tokens import Meter
from compactlab.transcript import Message
from compactlab.validity import broken

METER = Meter("chars/4")
HEAD = (system(), user("Move the orders table."))
TAIL = (user("go on"), agent("I do."))


def weigh(request):
    return METER.text(request.system) + METER.text(request.prompt)


class Small:
    """A model with a window: refuses what does not fit, and writes a line for each message that it reads."""

    name = "small"

    def __init__(self, window, factor=1.0, failing=()):
        self.window = window
        self.factor = factor  # how many of its tokens one of ours is
        self.failing = failing
        self.requests = []

    def reply(self, request):
        self.requests.append(request)
        if self.factor * weigh(request) + request.max_output > self.window:
            raise TooLong(f"{self.window} tokens at the most")
        if any(word in request.prompt for word in self.failing):
            raise ModelError("no line")
        found = dict.fromkeys(re.findall(r"fact\d+", request.prompt.partition("\n\nThe ")[2]))
        if request.purpose == "reflect" or SECTIONS[0] not in request.prompt:
            return Reply(" ".join(found) or "none", self.name)
        return Reply(f"<summary>1. Primary request and intent\n- {' '.join(found)}</summary>", self.name)


class Wordy(Small):
    """Writes as much as it may, and no line twice."""

    def reply(self, request):
        super().reply(request)
        said = "\n".join(f"line {len(self.requests)}.{i} was {i * 7919}" for i in range(request.max_output))
        text = f"1. Primary request and intent\n{said}"[: 4 * request.max_output - 60]
        return Reply(f"<summary>{text}</summary>" if SECTIONS[0] in request.prompt else text, self.name)


def words(count, name):
    return " ".join(f"{name}{i}" for i in range(count))


def talk(turns, weight=60):
    return tuple(
        m for i in range(turns) for m in (user(f"fact{i} {words(weight, 'u')}"), agent(f"so {words(weight, 'a')}"))
    )


def facts_in(done):
    [note] = [m for m in done.messages if is_summary(m) or is_threads(m)]
    return set(re.findall(r"fact\d+", note.blocks[0].text + note.blocks[-1].text))


# ---- room


@pytest.mark.parametrize(("window", "output", "frame", "room"), [
    (None, 2_048, 500, None),
    (8_192, 2_048, 500, int(6_144 * MARGIN) - 500),
    (128_000, 2_048, 900, int(125_952 * MARGIN) - 900),
])  # fmt: skip
def test_room_is_what_a_window_holds_beside_prompt_and_output(window, output, frame, room):
    assert room_for_material(window, output, frame) == room


def test_a_window_without_room_is_too_small():
    with pytest.raises(TooLong, match="leaves no room"):
        room_for_material(1_000, 500, 400)


# ---- parts


def on_one_line(text):
    """Text without the marks that set off a line that looks like a label; they stand where a line begins."""
    return re.sub(r"(?m)^(?:\| )+(?=\s*\[)", "", text).replace("\n", "")


@settings(max_examples=100, deadline=None)
@given(messages(max_events=20), st.integers(60, 2_000))
def test_every_word_stands_in_some_part_and_none_is_over_the_room(given_messages, room):
    base = history.repair(given_messages).messages
    parts, note = in_parts(base, room, METER)
    assume(len(parts) < MOST_PARTS and not note)
    shown = "".join(on_one_line(part.text) for part in parts)
    for message in base:
        for result_ in message.results:
            assert on_one_line(result_.text) in shown
    assert all(METER.text(part.text) <= room for part in parts)
    assert parts[-1].units == len(history.units(base))


def test_what_fits_is_one_part_as_it_is():
    base = talk(4)
    [part], note = in_parts(base, 10_000, METER)
    assert (part.material, part.text, note) == (base, rendered(base), "")
    assert in_parts(base, None, METER)[0][0].material is base


def test_first_the_middles_of_calls_and_results_are_cut_visibly():
    long = words(4_000, "x")
    base = (
        *talk(2),
        agent(call("a", "write", f'{{"content": "{long}"}}')),
        Message("tool", (result("a", f"begin {long} end"),)),
    )
    [part], note = in_parts(base, 6_000, METER)
    assert METER.text(part.text) <= 6_000
    assert "2 messages with the middle" in note
    assert len(re.findall(r"\[… [\d,]+ characters, the middle cut …\]", part.text)) == 2
    for end in ('{"content": "x0 ', 'x3999"}', "begin x0", "x3999 end", "fact0", "fact1"):
        assert end in part.text
    assert part.material[:4] == base[:4]


def test_then_the_stretch_is_cut_between_units():
    steps = tuple(
        m
        for i in range(20)
        for m in (agent(call(f"c{i}", "bash", "{}")), Message("tool", (result(f"c{i}", f"fact{i} {words(40, 'r')}"),)))
    )
    parts, _ = in_parts(steps, 200, METER)
    assert len(parts) > 5
    for part in parts:
        assert [m.role for m in part.material] == ["assistant", "tool"] * (len(part.material) // 2)
        assert "[tool bash]" in part.text


def test_a_message_longer_than_a_part_is_read_in_slices():
    base = (agent(words(3_000, "w")),)
    parts, _ = in_parts(base, 500, METER)
    assert all(METER.text(part.text) <= 500 for part in parts)
    assert "".join(part.material[0].text for part in parts) == base[0].text
    assert [part.units for part in parts] == [0] * (len(parts) - 1) + [1]


# ---- strategies with a small window

SPECS = ["summary(preserve_recent=1)", "sliding_reflect(preserve_recent=1)"]


OUTCOMES = [(SPECS[0], "failed"), (SPECS[1], "applied")]


@pytest.mark.parametrize("spec", SPECS)
@pytest.mark.parametrize("window", [2_600, 4_000, 8_192, 16_000, 64_000, None])
def test_every_message_that_goes_is_read_whatever_the_window(spec, window):
    before = (*HEAD, *talk(60), *TAIL)
    model = Small(window) if window else Scripted("<summary>1. Current work\n- it went on</summary>")
    done = compact(before, spec, guard=Guard(METER, model=model))
    assert done.receipt.outcome == "applied"
    read = "".join(request.prompt for request in model.requests)
    assert [i for i in range(60) if f"fact{i} " not in read] == []
    assert not [note for note in done.receipt.notes if "not read" in note]
    if window:
        assert all(weigh(r) + r.max_output <= window for r in model.requests)
        assert facts_in(done) == {f"fact{i}" for i in range(60)}
        assert (len(model.requests) > 1) == (window < 16_000)
        assert bool(done.receipt.notes) == (window < 16_000)


@pytest.mark.parametrize("spec", ["summary(preserve_recent=2)", "sliding_reflect(preserve_recent=2)"])
@pytest.mark.parametrize("window", [2_600, 3_300, 4_000, 8_192, 16_000])
def test_a_model_that_writes_all_it_may_fills_no_window_pass_after_pass(spec, window):
    held = HEAD
    for number in range(3):
        model = Wordy(window)
        new = (*talk(40), *TAIL)
        done = compact((*held, *new), spec, guard=Guard(METER, model=model))
        assert (done.receipt.outcome, done.receipt.fell_back) == ("applied", False), done.receipt.reason
        assert all(weigh(r) + r.max_output <= window for r in model.requests)
        assert not [note for note in done.receipt.notes if "not read" in note]
        assert number == 0 or "[Compacted summary]" in model.requests[-1].prompt or spec.startswith("sliding")
        held = done.messages


def test_several_parts_are_merged_into_one_flat_summary():
    model = Small(4_000)
    done = compact((*HEAD, *talk(60), *TAIL), SPECS[0], guard=Guard(METER, model=model))
    assert {r.purpose for r in model.requests} == {"summary", "merge"}
    assert model.requests[-1].purpose == "merge"
    [note] = [m for m in done.messages if is_summary(m)]
    assert note.text.count("1. Primary request and intent") == 1
    assert "[part " not in note.text


@pytest.mark.parametrize("spec", SPECS)
def test_a_model_that_counts_more_tokens_than_we_do_is_given_smaller_parts(spec):
    model = Small(8_192, factor=2.0)
    done = compact((*HEAD, *talk(80), *TAIL), spec, guard=Guard(METER, model=model))
    assert done.receipt.outcome == "applied"
    assert not done.receipt.notes[0].startswith("a plain slide")
    assert facts_in(done) == {f"fact{i}" for i in range(80)}


@pytest.mark.parametrize("spec", SPECS)
def test_a_model_of_unknown_window_that_says_too_long_is_given_parts(spec):
    model = Small(8_192)
    model.window, limit = None, 8_192
    asked = model.reply

    def reply(request):
        model.window = limit
        try:
            return asked(request)
        finally:
            model.window = None

    model.reply = reply
    done = compact((*HEAD, *talk(80), *TAIL), spec, guard=Guard(METER, model=model))
    assert facts_in(done) == {f"fact{i}" for i in range(80)}


def test_what_could_not_be_read_stays_in_its_place_and_is_told():
    before = (*HEAD, *talk(60), *TAIL)
    model = Small(4_000, failing=("fact40 ",))
    done = compact(before, SPECS[0], guard=Guard(METER, model=model))
    assert done.receipt.outcome == "applied"
    [told] = [note for note in done.receipt.notes if "were not read and stay" in note]
    assert told.endswith("no line")
    stays = [m.text.split()[0] for m in done.messages if m.by_person][1:-1]
    first = int(stays[0].removeprefix("fact"))
    assert 20 < first <= 40
    assert stays == [f"fact{i}" for i in range(first, 60)]
    assert facts_in(done) == {f"fact{i}" for i in range(first)}
    [note] = [m for m in done.messages if is_summary(m)]
    assert f"fact{first} " not in note.text


@pytest.mark.parametrize(("spec", "outcome"), OUTCOMES)
def test_where_nothing_could_be_read_the_fallback_is_taken(spec, outcome):
    before = (*HEAD, *talk(60), *TAIL)
    done = compact(before, spec, guard=Guard(METER, model=Small(4_000, failing=("fact0 ",))))
    assert done.receipt.outcome == outcome
    if outcome == "failed":
        assert (done.messages, "no line" in done.receipt.reason) == (before, True)
    else:
        assert done.receipt.notes == ("a plain slide: no line",)


@pytest.mark.parametrize(("spec", "outcome"), OUTCOMES)
def test_a_window_too_small_for_anything_is_no_hang(spec, outcome):
    for window in (1, 100, 400):
        done = compact((*HEAD, *talk(60), *TAIL), spec, guard=Guard(METER, model=Small(window)))
        assert done.receipt.outcome == outcome
        assert "window" in done.receipt.reason + "".join(done.receipt.notes)


@pytest.mark.parametrize("spec", SPECS)
def test_a_model_that_finds_everything_too_long_ends(spec):
    model = Scripted(TooLong("too long"), window=None)
    done = compact((*HEAD, *talk(60), *TAIL), spec, guard=Guard(METER, model=model))
    assert len(model.requests) <= 5
    assert "too long" in done.receipt.reason + "".join(done.receipt.notes)


@pytest.mark.parametrize("spec", SPECS)
def test_replies_that_are_not_there_yet_are_asked_for_together_and_no_fallback_is_taken(spec):
    before = (*HEAD, *talk(60), *TAIL)
    model = Scripted(Pending("the reply is not there yet"), window=4_000)
    done = compact(before, spec, guard=Guard(METER, model=model))
    assert (done.receipt.outcome, done.messages) == ("failed", before)
    assert done.receipt.reason.startswith("Pending: ")
    assert len(model.requests) > 3
    assert len({request.prompt for request in model.requests}) == len(model.requests)


def test_where_turns_alternate_what_was_not_read_begins_with_a_person():
    before = (*HEAD, agent("yes"), *talk(60), *TAIL)
    model = Small(4_000, failing=("fact40 ",))
    done = compact(before, SPECS[0], guard=Guard(METER, ("openai", "strict"), model))
    assert done.receipt.outcome == "applied"
    assert not broken(done.messages, ("openai", "strict"))
    assert "were not read and stay" in "".join(done.receipt.notes)
    text = "\n".join(m.text for m in done.messages)
    assert [i for i in range(60) if f"fact{i} " not in text] == []


def test_the_stand_in_reads_parts_too_if_it_has_a_window():
    model = Extractive()
    model.window = 4_000
    for spec in SPECS:
        done = compact((*HEAD, *talk(60), *TAIL), spec, guard=Guard(METER, model=model))
        assert done.receipt.outcome == "applied"


# ---- many passes


@pytest.mark.parametrize("window", [None, 8_192])
def test_ten_passes_on_a_growing_session_stay_bounded_flat_and_keep_the_first_request(window):
    held, sizes = HEAD, []
    for number in range(10):
        new = tuple(
            m
            for i in range(12)
            for m in (user(f"fact{number * 100 + i} never drop t{number}"), agent(f"{number}.{i} {words(300, 'z')}"))
        )
        model = Small(window) if window else Extractive()
        done = compact((*held, *new), "summary(preserve_recent=2)", guard=Guard(METER, model=model))
        assert done.receipt.outcome == "applied"
        held = done.messages
        [note] = [m for m in held if is_summary(m)]
        sizes.append(METER.message(note))
        for title in ("[Compacted summary]", "[All user messages, word for word]", "1. Primary request and intent"):
            assert sum(m.text.count(title) for m in held) == 1
        assert sum(m.text.count("[Standing rules and prohibitions, word for word]") for m in held) <= 1
        assert held[:2] == HEAD
    assert max(sizes) <= 2_048 + 4_000 + 100
    words_of_people = "\n".join(m.text for m in held)
    assert all(
        f"fact{number * 100 + i} never drop t{number}" in words_of_people for number in range(10) for i in range(11)
    )
