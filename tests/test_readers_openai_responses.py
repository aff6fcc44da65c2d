"""Responses items in all the ways that people keep them: lists, bodies, stored conversations, logs that grow."""

import json

import pytest

from compactlab.errors import TranscriptError
from compactlab.readers import read, sniff
from compactlab.transcript import Reasoning, Text, ToolCall, ToolResult, Usage

ASK = {"role": "user", "content": "Look."}
THOUGHT = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAA"}
CALL = {"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "ls", "arguments": '{"all": 1.0}'}
HEARD = {"type": "function_call_output", "call_id": "c1", "output": "a b"}
DONE = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Two files."}]}
MORE = {"role": "user", "content": [{"type": "input_text", "text": "And now?"}]}
ITEMS = [ASK, THOUGHT, CALL, HEARD, DONE]
USAGE = {
    "input_tokens": 90,
    "input_tokens_details": {"cached_tokens": 64},
    "output_tokens": 8,
    "output_tokens_details": {"reasoning_tokens": 3},
}


def lines(*values):
    return "".join(json.dumps(value) + "\n" for value in values)


def given(folder, text, name="log.json"):
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def roles(transcript):
    return "".join(message.role[0] for message in transcript.messages)


FORMS = [
    json.dumps(ITEMS),
    json.dumps(ITEMS, indent=2),
    json.dumps({"items": ITEMS}),
    json.dumps({"object": "list", "data": ITEMS, "has_more": False}),
    json.dumps({"object": "list", "data": ITEMS[::-1], "has_more": False}),
    json.dumps({"input": ITEMS[:4], "output": ITEMS[4:]}),
    json.dumps([{"input": ITEMS[:4], "output": ITEMS[4:]}]),
    lines(*ITEMS),
    lines(ITEMS),
    lines({"input": ITEMS[:1], "output": ITEMS[1:3]}, {"input": ITEMS[:4], "output": ITEMS[4:]}),
]


@pytest.mark.parametrize("text", FORMS, ids=range(len(FORMS)))
def test_items_are_read_however_they_are_kept(tmp_path, text):
    path = given(tmp_path, text)
    assert sniff(path) == "openai_responses"
    [found] = read(path)
    assert roles(found) == "uata"
    assert found.messages[1].blocks == (Reasoning(opaque="gAAA"), ToolCall("c1", "ls", '{"all": 1.0}'))
    assert found.messages[2].results == (ToolResult("c1", (Text("a b"),)),)
    assert (found.id, found.cluster) == ("log", "log")


def test_a_body_has_its_instructions_its_tools_and_the_counts_of_its_answer(tmp_path):
    body = {"model": "m", "instructions": "Be brief.", "input": "Look.", "tools": [{"name": "ls"}]}
    [found] = read(given(tmp_path, json.dumps(body | {"id": "resp_1", "output": [CALL], "usage": USAGE})))
    assert roles(found) == "sua"
    assert found.usage == (Usage(2, 90, 8, 64, 3),)
    assert (found.tools, found.header) == (({"name": "ls"},), {"model": "m"})
    assert [found.place(message).partition(": ")[2] for message in found.messages] == [
        "instructions",
        "input[0]",
        "output[0]",
    ]


def test_a_request_without_an_answer_and_a_response_alone_are_read(tmp_path):
    asked = {"model": "m", "instructions": "Be brief.", "input": "Look."}
    assert roles(read(given(tmp_path, json.dumps(asked)))[0]) == "su"
    answered = {"object": "response", "id": "resp_1", "output": [DONE], "instructions": None}
    assert roles(read(given(tmp_path, json.dumps(answered)))[0]) == "a"


def test_requests_that_repeat_what_was_said_are_one_conversation(tmp_path):
    first = {"input": [ASK], "output": [THOUGHT, CALL], "usage": USAGE}
    second = {"input": [ASK, CALL, HEARD], "output": [DONE], "usage": USAGE | {"input_tokens": 99}}
    third = {"input": [ASK, CALL, HEARD, DONE, MORE], "output": [DONE]}
    [found] = read(given(tmp_path, lines(first, second, third)))
    assert roles(found) == "uataua"
    assert found.messages[1].blocks[0] == Reasoning(opaque="gAAA")
    assert [(usage.position, usage.input) for usage in found.usage] == [(1, 90), (3, 99)]
    assert [found.place(message).partition(": ")[2] for message in found.messages] == [
        "line 1: input[0]",
        "line 1: output[0]",
        "line 2: input[2]",
        "line 2: output[0]",
        "line 3: input[4]",
        "line 3: output[0]",
    ]


def test_what_was_logged_again_is_dropped_and_what_was_asked_anew_is_another_branch(tmp_path):
    first = {"input": [ASK], "output": [CALL]}
    second = {"input": [ASK, CALL, HEARD], "output": [DONE]}
    anew = {"input": [ASK, CALL, HEARD], "output": [DONE | {"content": [{"type": "output_text", "text": "Two."}]}]}
    [found] = read(given(tmp_path, lines(first, second, first, anew, second)))
    assert found.messages[-1].text == "Two files."
    assert found.intake.skipped == {"request that was logged again": 1, "message of another branch": 2}
    assert found.intake.records == 5


def test_conversations_that_are_mixed_are_told_apart(tmp_path):
    other = ASK | {"content": "Other."}
    rows = [
        {"input": [ASK], "output": [DONE]},
        {"input": [other], "output": [DONE]},
        {"input": [ASK, DONE, MORE], "output": [DONE]},
        {"input": [other, DONE, MORE], "output": [DONE]},
    ]
    found = read(given(tmp_path, lines(*rows)))
    assert [(t.id, roles(t), t.messages[0].text) for t in found] == [
        ("log-0", "uaua", "Look."),
        ("log-1", "uaua", "Other."),
    ]


def test_a_response_is_followed_by_those_that_name_it(tmp_path):
    first = {"id": "r1", "input": [ASK], "output": [CALL], "model": "m"}
    second = {"id": "r2", "previous_response_id": "r1", "input": [HEARD], "output": [DONE], "model": "m"}
    [found] = read(given(tmp_path, lines(first, second)))
    assert roles(found) == "uata"
    [headless] = read(given(tmp_path, lines(second)))
    assert roles(headless) == "ta"


def test_an_answer_that_came_back_in_other_words_is_the_one_that_was_sent(tmp_path):
    rows = [{"input": [ASK], "output": [DONE]}, {"input": [ASK, CALL, HEARD], "output": [DONE]}]
    [found] = read(given(tmp_path, lines(*rows)))
    assert roles(found) == "uata"
    assert found.intake.skipped == {"message of another branch": 1}


def test_the_finished_response_of_a_stream_counts(tmp_path):
    rows = [
        {"type": "response.created", "response": {"id": "r1", "output": []}},
        {"type": "response.output_text.delta", "delta": "Two"},
        {"type": "response.completed", "response": {"id": "r1", "output": [DONE], "usage": USAGE}},
    ]
    [found] = read(given(tmp_path, lines(*rows)))
    assert (roles(found), found.usage[0].input) == ("a", 90)
    assert found.intake.skipped == {"event of a stream": 2}


def test_a_compaction_item_behind_words_of_the_user_keeps_them(tmp_path):
    made = {"type": "compaction", "encrypted_content": "gBBB"}
    [found] = read(given(tmp_path, json.dumps([ASK, MORE, made, DONE])))
    assert roles(found) == "uua"
    [told] = found.compactions
    assert (told.position, told.after[:2]) == (2, (0, 1))
    assert told.after[2].blocks == (Reasoning(opaque="gBBB"),)


def test_a_compaction_item_in_an_answer_stands_for_all_before_it(tmp_path):
    made = {"type": "compaction", "encrypted_content": "gBBB"}
    body = {"instructions": "Be brief.", "input": ITEMS, "output": [made, DONE], "usage": USAGE}
    [found] = read(given(tmp_path, json.dumps(body)))
    assert roles(found) == "suataa"
    assert found.compactions[0].position == 5
    assert found.compactions[0].after[0] == 0
    assert len(found.after(0)) == 2
    assert found.usage[0].position == 5


def test_what_is_no_item_is_counted(tmp_path):
    [found] = read(given(tmp_path, lines({"input": [ASK, 7, {"type": "hologram"}], "output": [CALL]}, {"other": 1}, 5)))
    assert found.intake.unknown == {"item that is no object": 1, "hologram": 1, "record without items": 2}


NOT_OURS = [
    [ASK, {"role": "assistant", "content": "Done."}],
    {"messages": [ASK]},
    {"model": "embed", "input": "some words"},
    {"instruction": "a", "input": "b", "output": "c"},
    [{"type": "message", "role": "assistant", "content": [{"type": "text", "text": "x"}]}],
    {"items": [{"id": 1}]},
    {"object": "list", "data": [{"id": "gpt-5", "object": "model"}]},
]


@pytest.mark.parametrize("value", NOT_OURS, ids=str)
def test_what_only_looks_alike_is_left_to_others(tmp_path, value):
    path = given(tmp_path, json.dumps(value))
    try:
        assert sniff(path) != "openai_responses"
    except TranscriptError:
        assert read_by_nobody(path)


def read_by_nobody(path):
    with pytest.raises(TranscriptError, match="no reader knows"):
        read(path)
    return True
