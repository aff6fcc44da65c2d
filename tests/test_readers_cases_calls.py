"""Calls and results as they are recorded in every format: in parallel, open, orphaned, empty, broken."""

import json

import pytest
from stories import MISSING, Call, Did, Got, Said
from story_forms import FORMS, holding

from compactlab.readers import read, sniff
from compactlab.transcript import Image, Text

ASKED, DONE = Said("user", "Move the table."), Said("assistant", "Moved.")
PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + (1200).to_bytes(4) + (800).to_bytes(4) + b"\x08\x02\0\0\0rest"
BROKEN = '{"path": "a.py", "text": "Zo\\u00eb'


def told(tmp_path, name, *turns):
    """The one transcript of a story in the form of that name, read by recognition."""
    form = FORMS[name]
    path = tmp_path / "story.file"
    path.write_bytes(form.file(turns))
    assert sniff(path) == form.reader
    [transcript] = read(path)
    assert transcript.intake.unknown == {}
    return transcript


def calls(transcript):
    return [call for message in transcript.messages for call in message.calls]


def results(transcript):
    return [result for message in transcript.messages for result in message.results]


def answers(transcript):
    """What came back for each call, by its arguments."""
    held = {call.id: json.loads(call.arguments)["a"] for call in calls(transcript)}
    return {held[result.call_id]: result.text for result in results(transcript)}


def words(transcript):
    blocks = [block for message in transcript.messages for block in message.blocks]
    return [block.text for block in blocks if isinstance(block, Text)]


def every(*wanted):
    return pytest.mark.parametrize("name", holding(*wanted))


@pytest.mark.parametrize("name", FORMS)
def test_a_story_is_read_in_every_form(tmp_path, name):
    turns = [ASKED, Did((Call("c1"),)), Got("c1", "ok"), DONE]
    if "calls" not in FORMS[name].holds:
        turns = [ASKED, DONE]
    transcript = told(tmp_path, name, *turns)
    roles = {Said: None, Did: "assistant", Got: "tool"}
    assert [message.role for message in transcript.messages] == [roles[type(t)] or t.role for t in turns]
    assert words(transcript) == ["Move the table.", "Moved."]


@every("calls", "ids")
def test_case_02_parallel_calls_with_results_out_of_order_are_paired_by_id(tmp_path, name):
    did = Did((Call("c1", '{"a":1}'), Call("c2", '{"a":2}', "read"), Call("c3", '{"a":3}')), "I look.")
    got = [Got("c3", "three"), Got("c1", "one"), Got("c2", "two", "read")]
    transcript = told(tmp_path, name, ASKED, did, *got, DONE)
    assert [len(message.calls) for message in transcript.messages] == [0, 3, 0, 0, 0, 0]
    assert answers(transcript) == {1: "one", 2: "two", 3: "three"}
    if "apart" in FORMS[name].holds:
        assert [result.text for result in results(transcript)] == ["three", "one", "two"]


@every("calls")
def test_case_03_a_call_without_a_result_at_the_end_stays_and_gets_none(tmp_path, name):
    transcript = told(tmp_path, name, ASKED, Did((Call("c1"),)), Got("c1", "one"), Did((Call("c2", '{"a":2}'),)))
    assert [json.loads(call.arguments)["a"] for call in calls(transcript)] == [1, 2]
    assert answers(transcript) == {1: "one"}
    assert transcript.messages[-1].calls


@every("calls")
def test_case_03_a_turn_that_was_cut_off_among_its_results_keeps_those_it_has(tmp_path, name):
    turns = [Did((Call("c1"), Call("c2", '{"a":2}'))), Got("c1", "one")]
    transcript = told(tmp_path, name, ASKED, *turns)
    assert [json.loads(call.arguments)["a"] for call in calls(transcript)] == [1, 2]
    assert answers(transcript) == {1: "one"}


@every("calls", "ids", "apart")
def test_case_04_a_result_whose_call_is_gone_stays_with_its_id(tmp_path, name):
    transcript = told(tmp_path, name, ASKED, Got("gone", "late"), Did((Call("c1"),)), Got("c1", "one"), DONE)
    assert [(result.call_id, result.text) for result in results(transcript)] == [("gone", "late"), ("c1", "one")]
    assert [call.id for call in calls(transcript)] == ["c1"]


def shown(content):
    """The content that a result should have."""
    if content is None or content is MISSING:
        return []
    parts = content if isinstance(content, list) else ['{"rows": 3}' if isinstance(content, dict) else content]
    return [("picture", part) if isinstance(part, bytes) else part for part in parts]


CONTENTS = {
    "text": ("calls ids", "12 rows"),
    "several lines": ("calls ids", "12 rows\r\n\n 3 left\n"),
    "text that looks like JSON": ("calls ids", '{"rows": [1, 2], "note": "caf\\u00e9"}'),
    "text that looks like parts": ("calls ids", '[{"kind": "row"}]'),
    "list": ("calls ids list", ["12 rows", "3 left"]),
    "list with a picture": ("calls ids result", ["12 rows", PNG]),
    "object": ("calls ids apart", {"rows": 3}),
    "null": ("calls ids nothing", None),
    "missing": ("calls ids nothing", MISSING),
    "empty": ("calls ids", ""),
}


@pytest.mark.parametrize(
    ("name", "kind"), [(name, kind) for kind, (holds, _) in CONTENTS.items() for name in holding(*holds.split())]
)
def test_case_05_the_content_of_a_result_may_have_any_form(tmp_path, name, kind):
    content = CONTENTS[kind][1]
    transcript = told(tmp_path, name, ASKED, Did((Call("c1"),)), Got("c1", content), DONE)
    [result] = results(transcript)
    assert result.call_id == "c1"
    assert not result.is_error
    seen = [("picture", part.data) if isinstance(part, Image) else part.text for part in result.content]
    assert seen == [part for part in shown(content) if part != ""]


@every("calls", "ids")
def test_case_06_null_beside_calls_is_no_word(tmp_path, name):
    transcript = told(
        tmp_path, name, ASKED, Did((Call("c1"),)), Got("c1", "one"), Did((Call("c2"),), "Next."), Got("c2", ""), DONE
    )
    assert words(transcript) == ["Move the table.", "Next.", "Moved."]
    assert [len(message.calls) for message in transcript.messages if message.role == "assistant"] == [1, 1, 0]


@every("null")
def test_case_06_a_message_whose_content_is_null_does_no_harm(tmp_path, name):
    nothing = Said("user", None)
    transcript = told(tmp_path, name, ASKED, Did((Call("c1"),)), Got("c1", "one"), nothing, DONE)
    assert words(transcript) == ["Move the table.", "Moved."]
    assert answers(transcript) == {1: "one"}


@every("text")
def test_case_07_arguments_that_are_no_json_are_kept_as_they_are(tmp_path, name):
    did = Did((Call("c1", BROKEN), Call("c2", '{"b" :\t1.50}'), Call("c3", "")))
    transcript = told(tmp_path, name, ASKED, did, Got("c1", "one"), DONE)
    assert [call.arguments for call in calls(transcript)] == [BROKEN, '{"b" :\t1.50}', ""]
    assert [result.call_id for result in results(transcript)] == ["c1"]
