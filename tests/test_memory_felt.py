"""What the agent hears after a pass is something felt: first person, no figures, and where the record rests."""

import re
from typing import get_args

import pytest
from conversations import TRANSCRIPTS, talk
from hypothesis import given
from hypothesis import strategies as st

import compactlab
from compactlab.compaction import Guard, compact
from compactlab.errors import SpecError
from compactlab.llm.extractive import Extractive
from compactlab.llm.scripted import Scripted
from compactlab.memory import felt, passes

WORDS = felt.wordings()
TEXTS = [(kind, text) for kind, texts in WORDS.items() for text in texts]
FIGURE = re.compile(
    r"\d|%|\b(tokens?|messages?|per ?cent|percent|half|twice|one hundred|dozen|two|three|four|five|six|seven|ten)\b"
)


@pytest.mark.parametrize(("kind", "text"), TEXTS)
def test_no_text_counts_anything_and_each_speaks_for_herself(kind, text):
    assert not FIGURE.search(text)
    assert re.search(r"\b(I|me|my)\b", text) or kind == "rests"
    assert (felt.PLACE in text) == (kind == "rests")
    assert text == text.strip()
    assert text.endswith(felt.PLACE if kind == "rests" else ".")


def test_every_kind_has_several_texts_and_no_two_are_the_same():
    assert set(WORDS) == set(get_args(felt.Kind))
    assert min(map(len, WORDS.values())) >= 2
    assert len({text for _, text in TEXTS}) == len(TEXTS)


KINDS = [
    ("microcompact", "blurred"),
    ("sliding_window", "released"),
    ("ladder", "released"),
    ("key_value", "gathered"),
    ("summary", "gathered"),
    ("sliding_reflect", "gathered"),
    ("none", "nothing"),
    ("cull", "nothing"),
    ("defer", "declined"),
]


@pytest.mark.parametrize(("strategy", "kind"), KINDS)
def test_the_kind_is_what_really_happened(strategy, kind):
    [transcript] = compactlab.read(TRANSCRIPTS / "subagent-etl.jsonl")
    done = compact(transcript.messages, strategy, guard=Guard(model=Extractive()))
    assert felt.kind_of(done.receipt, passes.summary_of(done)) == kind


def test_a_model_that_fails_moves_nothing_and_a_reflection_that_fell_back_is_a_plain_letting_go():
    broken = Guard(model=Scripted(""))
    for strategy, kind in (("summary", "unmoved"), ("sliding_reflect", "released")):
        done = compact(talk(40), strategy, guard=broken)
        assert felt.kind_of(done.receipt, passes.summary_of(done)) == kind


@given(st.text(), st.sampled_from(get_args(felt.Kind)[:-1]))
def test_the_same_pass_is_always_told_in_the_same_words_and_ends_where_the_record_rests(seed, kind):
    path = "journal/compactions/2026-11-30T10-00-00Z-5b1e77d0c4aa.md"
    told = felt.said(WORDS, kind, seed, path)
    assert told == felt.said(felt.wordings(), kind, seed, path)
    assert told.endswith(path)
    assert not FIGURE.search(told.removesuffix(path))
    assert felt.said(WORDS, kind, seed) in WORDS[kind]


@pytest.mark.parametrize("kind", get_args(felt.Kind)[:-1])
def test_all_texts_of_a_kind_are_heard(kind):
    assert {felt.said(WORDS, kind, str(seed)) for seed in range(200)} == set(WORDS[kind])


def test_a_file_of_ones_own_replaces_the_kinds_that_it_names(tmp_path):
    path = tmp_path / "own.toml"
    path.write_text('released = ["Fort ist es, {braces} und 100 %."]\nrests = ["→ {path}"]\n', encoding="utf-8")
    words = felt.wordings(path)
    assert felt.said(words, "released", "any", "a.md") == "Fort ist es, {braces} und 100 %.\n→ a.md"
    assert words["blurred"] == WORDS["blurred"]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("gone = ['a']", "unknown kind 'gone'; expected one of nothing, unmoved"),
        ("released = 'a'", "released = 'a'; expected a list of texts"),
        ("released = []", "expected a list of texts"),
        ("released = ['']", "expected a list of texts"),
        ("released = [7]", "expected a list of texts"),
        ("rests = ['over there']", "expected a list of texts, each with {path}"),
        ("released = ", "is not TOML"),
        (b"\xff", "cannot be read (not UTF-8 text)"),
        (None, "cannot be read (No such file or directory)"),
    ],
)
def test_a_file_that_cannot_be_used_is_refused(tmp_path, text, told):
    path = tmp_path / "own.toml"
    if text is not None:
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(SpecError) as caught:
        felt.wordings(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert told in str(caught.value)
