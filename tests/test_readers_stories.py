"""Whatever happens in a session, every format that has a place for it tells the same: words, calls and results."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from stories import Call, Did, Got, Said
from story_forms import FORMS, holding

from compactlab.readers import read, sniff
from compactlab.transcript import Text

WORDS = st.sampled_from(
    [
        "Three rows.",
        "two\nlines",
        'a "quoted" word',
        "Zoë 上下文 \U0001f600",
        '{"k": 1}',
        "[1, 2]",
        "null",
        "\tindented\r\n",
        "  ",
        "0",
        "\u2028",
        "back\\slash \\n",
    ]
)


@st.composite
def stories(draw):
    """A request and what came of it: words of both, calls, and results in any order, of which some are missing."""
    turns = [Said("user", f"Look: {draw(WORDS)}")]
    for number in range(draw(st.integers(1, 4))):
        if draw(st.booleans()):
            turns.append(Said(draw(st.sampled_from(["user", "assistant"])), f"{number}: {draw(WORDS)}"))
            continue
        texts = draw(st.lists(st.none() | WORDS, min_size=1, max_size=3))
        calls = [Call(f"c{number}-{i}", json.dumps({"text": draw(WORDS)})) for i in range(len(texts))]
        turns.append(Did(tuple(calls), draw(st.just("") | WORDS)))
        came = [Got(call.id, text) for call, text in zip(calls, texts, strict=True) if text is not None]
        turns += draw(st.permutations(came))
    return (*turns, Said("assistant", "Done."))


def told(turns):
    """What a story says: words by role, calls, and results."""
    words = [
        (turn.role, turn.content) if isinstance(turn, Said) else ("assistant", turn.text)
        for turn in turns
        if not isinstance(turn, Got)
    ]
    calls = [(call.id, json.loads(call.arguments)) for turn in turns if isinstance(turn, Did) for call in turn.calls]
    results = [(turn.call_id, turn.content) for turn in turns if isinstance(turn, Got)]
    return [entry for entry in words if entry[1]], calls, results


def heard(transcript):
    """What a transcript says, as `told` gives it."""
    messages = transcript.messages
    words = [(m.role, b.text) for m in messages for b in m.blocks if isinstance(b, Text)]
    calls = [(call.id, json.loads(call.arguments)) for m in messages for call in m.calls]
    results = [(result.call_id, result.text) for m in messages for result in m.results]
    return words, calls, results


@pytest.mark.parametrize("name", holding("ids"))
@settings(max_examples=15)
@given(turns=stories())
def test_every_format_tells_a_story_alike(tmp_path_factory, name, turns):
    path = tmp_path_factory.mktemp("story") / "x.file"
    path.write_bytes(FORMS[name].file(turns))
    assert sniff(path) == FORMS[name].reader
    [transcript] = read(path)
    words, calls, results = heard(transcript)
    expected = told(turns)
    assert (words, calls) == expected[:2]
    if "apart" in FORMS[name].holds:
        assert results == expected[2]
    assert sorted(results) == sorted(expected[2])
