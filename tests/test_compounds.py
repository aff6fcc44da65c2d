"""Identifiers made of plain words: where they stand decides, and no word of any text is one."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compactlab.facts import mine
from compactlab.facts.compounds import ENDS, GUESSABLE_COMPOUNDS, STARTS
from compactlab.transcript import Message, Text, ToolCall, ToolResult


def said(text):
    return values(Message("user", (Text(text),)))


def printed(text):
    return values(Message("tool", (ToolResult("c", (Text(text),)),)))


def ran(command):
    return values(Message("assistant", (ToolCall("c", "bash", json.dumps({"command": command})),)))


def values(*messages):
    return [fact.value for fact in mine(messages) if fact.family == "identifier"]


SAID = [
    ("We see that `label-service` is down and label-service stays so.", ["label-service"]),
    ("The `retry.budget` is `retry.jitter=off` there.", ["retry.budget", "retry.jitter"]),
    ("We see that label-service is down and the label-service stays so.", []),
    ("It hangs on db-7 now, they say. It was db-7 before that, too.", ["db-7"]),
    ("It hangs on db-7 now, they say.", []),
    ("In `11-spaces` there is a 20-year-old fault, a `48-hour` one.", ["11-spaces"]),
    ("A `read-only` and `well-known` thing, `twenty-four` of them, `co-op` and `up-to-date`.", []),
    ("A top-10 of the mid-90 years, and the top-10 of the mid-90 years.", []),
    ("It is `e.g` and `self.name` and `json.dumps` and `os.path` in all.", []),
    ("The logs of label-service are in logs/label-service.log now.", ["label-service"]),
    ("The `utf-8` of `content-type` is `end-to-end`.", []),
]


@pytest.mark.parametrize(("text", "expected"), SAID)
def test_in_prose_backticks_speak_for_a_compound(text, expected):
    assert said(text) == expected


PRINTED = [
    ("a,label-service,3\nb,label-service,4\n", ["label-service"]),
    ("| label-service | 3 |\n| label-service | 4 |\n", ["label-service"]),
    ("svc=label-service n=1\nsvc=label-service n=2\n", ["label-service"]),
    ("{'name': 'label-service'}\n{'name': 'label-service', 'n': 2}\n", ["label-service"]),
    ("ask-agnes\tafter the sanding\nask-agnes\tonce more\n", ["ask-agnes"]),
    ("label-service\nmanifest-import\nlabel-service\n", ["label-service"]),
    ("2026-02-17T14:22:01Z db.pool  INFO x\n2026-02-17T14:22:02Z db.pool  INFO y\n", ["db.pool"]),
    ("policy retry.budget=none\npolicy retry.budget=0.2\n", ["retry.budget"]),
    ("# the label-service and the label-service again\n# label-service\n", []),
    ("x = order.total + order.total\nreturn rates[order.total], order.total\n", []),
    ("name,read-only,3\nname,read-only,4\n", []),
    ("a,label-service,3\n", []),
    ("font-size: 12px;\nfont-size: 14px;\n", []),
]


@pytest.mark.parametrize(("text", "expected"), PRINTED)
def test_in_output_the_places_of_values_speak_for_a_compound(text, expected):
    assert printed(text) == expected


def test_one_place_in_each_of_two_blocks_is_enough():
    messages = [Message("tool", (ToolResult("c", (Text(f"a,label-service,{n}\n"),)),)) for n in (3, 4)]
    assert values(*messages) == ["label-service"]


def test_a_dotted_name_that_ends_as_a_file_of_the_session_does_is_a_path():
    facts = mine([Message("user", (Text("See /srv/desk/log.tally and then `own.tally` of it."),))])
    assert [(fact.family, fact.value) for fact in facts] == [("path", "/srv/desk/log.tally"), ("path", "own.tally")]


def test_an_option_is_no_compound():
    assert ran("run --exclude-region x; run --exclude-region y") == []


def test_short_compounds_need_an_anchor():
    (fact,) = mine([Message("user", (Text("It hangs on db-7 now. It was db-7."),))])
    assert fact.needs_anchor


PARTS = st.sampled_from("label service manifest tracking api ledger gateway".split())


@given(
    st.sampled_from(sorted(STARTS)), PARTS, st.sampled_from(sorted(ENDS)), st.sampled_from(sorted(GUESSABLE_COMPOUNDS))
)
def test_no_word_of_any_text_is_an_identifier_wherever_it_stands(start, part, end, known):
    for word in (f"{start}-{part}", f"{part}-{end}", known):
        assert printed(f"a,{word},3\nb,{word},4\n") == []
        assert said(f"We saw that `{word}` is so, and `{word}` it is.") == []


@given(PARTS, PARTS)
def test_in_plain_sentences_no_compound_is_an_identifier(one, other):
    assert said(f"We saw the {one}-{other} again, and then a {one}-{other} of ours.") == []
