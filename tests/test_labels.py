"""How right the miner is: what it finds in drawn excerpts of the recorded sessions, against labels of a reader.

`fixtures/labels/facts.jsonl` holds one excerpt a line and a label for each fact in it: good, wrong family, noise, or
missed. A fact counts once in each excerpt where it stands. Run with `-s` to see precision and recall by family.
"""

import random
import sys
from collections import Counter
from functools import cache

import pytest
import runs
from hypothesis import given
from hypothesis import strategies as st

from compactlab.facts import mine
from compactlab.facts.fact import fact
from compactlab.probes.mined import matcher_of
from compactlab.readers import read
from compactlab.study.evidence.figure import wilson
from compactlab.study.evidence.labels import Count, Label, by_family, joined, load, total
from compactlab.study.evidence.labels import standing as mined_in
from compactlab.tools import tool_name
from compactlab.transcript import Text, ToolCall, ToolResult, readable

LABELS = runs.CHECKOUT / "fixtures" / "labels" / "facts.jsonl"
PRECISION, RECALL = 0.99, 0.92  # measured, rounded down
KINDS = ("person", "agent", "call", "read", "command")
RESULT_KINDS = {"bash": "command", "read": "read", "grep": "read", "glob": "read", "list_dir": "read"}
ROUNDS = 2
SHORTEST, ENOUGH, LONGEST = 60, 250, 500  # characters of an excerpt
SENTENCE_ENDS = (". ", "? ", "! ", "; ")


@cache
def windows():
    return load(LABELS)


@cache
def messages_of(session):
    (transcript,) = read(runs.FIXTURES / f"{session}.jsonl")
    return transcript.messages


@cache
def matcher(session):
    facts = mine(messages_of(session))
    return facts, matcher_of(facts)


def standing(window):
    """Give the mined facts of the session that stand in the excerpt, each once."""
    return mined_in(window, *matcher(window.session))


@cache
def measured():
    return by_family([(window.facts, standing(window)) for window in windows()])


def share(hits, n):
    low, high = wilson(hits, n)
    return f"{hits} of {n} | {hits / n:.2f} ({low:.2f} to {high:.2f})" if n else "0 of 0 |"


def table(counts):
    """Write precision and recall by family with their intervals, as a table of a page."""
    rows = ["| family | mined and right | precision | seen and mined | recall |", "|---|---|---|---|---|"]
    for name, count in {**counts, "all": total(counts)}.items():
        rows.append(f"| {name} | {share(count.right, count.right + count.wrong)} | {share(count.right, count.true)} |")
    return "\n".join(rows) + "\n"


def pieces(text):
    """Cut *text* at line ends into pieces of about 250 to 500 characters; a longer line at the end of a sentence."""
    found, piece = [], ""
    for part in (part for line in text.splitlines(keepends=True) for part in parts(line)):
        if piece and (len(piece) >= ENOUGH or len(piece) + len(part) > LONGEST):
            found.append(piece)
            piece = ""
        piece += part
    return [piece for piece in (piece.strip("\n") for piece in (*found, piece)) if len(piece) >= SHORTEST]


def parts(line):
    while len(line) > LONGEST:
        ends = [line.rfind(mark, ENOUGH, LONGEST) + len(mark) for mark in SENTENCE_ENDS if mark in line[ENOUGH:LONGEST]]
        end = max(ends, default=line.rfind(" ", ENOUGH, LONGEST) + 1) or LONGEST
        yield line[:end]
        line = line[end:]
    yield line


def blocks_by_kind(session):
    """Give (kind, message, block, words) of each block that excerpts are drawn from."""
    tools = {}
    for index, message in enumerate(messages_of(session)):
        for place, block in enumerate(message.blocks):
            kind = {"user": "person", "assistant": "agent"}.get(message.role) if isinstance(block, Text) else "agent"
            if isinstance(block, ToolCall):
                tools[block.id], kind = tool_name(block.name), "call"
            elif isinstance(block, ToolResult):
                kind = RESULT_KINDS.get(tools[block.call_id])
            if kind:
                yield kind, index, place, readable(block)


def drawn(session):
    """Draw excerpts of a session, ROUNDS of each kind, by a seed; a text that stands often has one chance."""
    pools = {kind: {} for kind in KINDS}
    for kind, index, place, words in blocks_by_kind(session):
        for excerpt in pieces(words):
            pools[kind].setdefault(excerpt, (session, index, place, kind, excerpt))
    for kind, pool in pools.items():
        order = list(pool.values())
        random.Random(f"{session}/{kind}/1").shuffle(order)
        yield from order[:ROUNDS]


def test_the_excerpts_are_those_that_the_seed_draws():
    places = [window.place for window in windows()]
    assert sorted(places) == sorted(place for path in runs.TRANSCRIPTS for place in drawn(path.stem))
    assert len(set(places)) == len(places) >= 60


def test_every_excerpt_stands_in_its_block():
    lost = [
        window.place[:3]
        for window in windows()
        if window.excerpt not in readable(messages_of(window.session)[window.message].blocks[window.block])
    ]
    assert lost == []


def test_there_are_labels_of_mined_facts_from_every_session():
    labelled = Counter(window.session for window in windows() for label in window.facts if label.label != "missed")
    assert set(labelled) == {path.stem for path in runs.TRANSCRIPTS}
    assert labelled.total() >= 200


def test_a_fact_has_one_label_in_an_excerpt_and_a_fault_says_why():
    for window in windows():
        names = Counter((label.family, label.value.casefold()) for label in window.facts)
        assert [name for name, times in names.items() if times > 1] == [], window.place
        assert [label for label in window.facts if label.label != "good" and not label.note] == [], window.place


def test_every_mined_fact_in_an_excerpt_has_a_label():
    new = [
        f"{window.session} message {window.message} {window.kind}: {one.family} {one.value!r}"
        for window in windows()
        for one, label in joined(window.facts, standing(window)).items()
        if label is None
    ]
    assert new == [], f"read the excerpts and add labels to {LABELS.name}:\n" + "\n".join(new)


def test_precision_and_recall_are_what_was_measured():
    sys.stdout.write("\n" + table(measured()))
    count = total(measured())
    assert count.right / (count.right + count.wrong) >= PRECISION, table(measured())
    assert count.right / count.true >= RECALL, table(measured())


HAND = (
    Label("ETL-727", "identifier", "good"),
    Label("5433", "number", "noise", "a port"),
    Label("db-7", "identifier", "missed", "short"),
    Label("1397", "number", "wrong family", "a year"),
)


@pytest.mark.parametrize(
    ("mined", "identifiers", "numbers"),
    [
        ([], Count(0, 0, 2), Count(0, 0, 0)),
        ([fact("identifier", "ETL-727")], Count(1, 0, 2), Count(0, 0, 0)),
        ([fact("identifier", "ETL-727"), fact("number", "5433")], Count(1, 0, 2), Count(0, 1, 0)),
        ([fact("identifier", "DB-7")], Count(1, 0, 2), Count(0, 0, 0)),
        ([fact("identifier", "host db-7", "db-7")], Count(1, 0, 2), Count(0, 0, 0)),
        ([fact("number", "1397"), fact("number", "5433")], Count(0, 0, 2), Count(0, 2, 0)),
        ([fact("identifier", "unread")], Count(0, 0, 2), Count(0, 0, 0)),
    ],
)
def test_what_is_mined_is_counted_by_its_label(mined, identifiers, numbers):
    counts = by_family([(HAND, mined)])
    assert (counts["identifier"], counts["number"]) == (identifiers, numbers)
    assert total(counts) == Count(*(sum(pair) for pair in zip(identifiers, numbers, strict=True)))


def test_the_label_of_the_value_goes_before_that_of_another_form():
    labels = (Label("14:25", "date", "noise", "cut"), Label("14:25:06", "date", "missed", "seconds"))
    cut, whole = fact("date", "14:25", "14:25:06"), fact("date", "14:25:06")
    assert joined(labels, [cut]) == {cut: labels[0]}
    assert joined(labels, [cut, whole]) == {cut: labels[0], whole: labels[1]}


@given(st.sets(st.sampled_from(HAND)), st.sampled_from(HAND))
def test_one_more_true_fact_never_harms_and_one_more_false_never_helps(mined, more):
    def count(labels):
        return total(by_family([(HAND, [fact(label.family, label.value) for label in labels])]))

    before, after = count(mined - {more}), count(mined | {more})
    assert (after.right - before.right, after.wrong - before.wrong) == ((1, 0) if more.true else (0, 1))
    assert after.true == before.true


@given(st.text(alphabet="ab.? \n", max_size=3000))
def test_pieces_are_cut_from_the_text_and_none_is_too_long_or_too_short(text):
    for piece in pieces(text):
        assert piece in text
        assert SHORTEST <= len(piece) <= LONGEST


@pytest.mark.parametrize(
    ("hits", "n", "low", "high"), [(8, 10, 0.490, 0.943), (0, 10, 0.0, 0.278), (10, 10, 0.722, 1.0), (0, 0, 0.0, 1.0)]
)
def test_the_interval_is_wilsons(hits, n, low, high):
    assert wilson(hits, n) == pytest.approx((low, high), abs=0.001)
