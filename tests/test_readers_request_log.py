"""Wrapped logs of requests, of three providers and in many wrappings: one conversation of those that go on."""

import json

import pytest

from compactlab.readers import read, sniff
from compactlab.transcript import Reasoning, Text, ToolCall, ToolResult, Usage

SYSTEM = {"role": "system", "content": "Be brief."}
ASK = {"role": "user", "content": "Look."}
FUNCTION = {"id": "c1", "type": "function", "function": {"name": "ls", "arguments": '{"all": 1.0}'}}
CALLED = {"role": "assistant", "content": None, "tool_calls": [FUNCTION]}
HEARD = {"role": "tool", "tool_call_id": "c1", "content": "a b"}
DONE = {"role": "assistant", "content": "Two files."}
CHAT = [
    (
        {"messages": [SYSTEM, ASK]},
        {"choices": [{"message": CALLED}], "usage": {"prompt_tokens": 9, "completion_tokens": 2}},
    ),
    (
        {"messages": [SYSTEM, ASK, CALLED, HEARD]},
        {"choices": [{"message": DONE}], "usage": {"prompt_tokens": 19, "completion_tokens": 3}},
    ),
]
USE = {"role": "assistant", "content": [{"type": "tool_use", "id": "c1", "name": "ls", "input": {"all": 1.0}}]}
GAVE = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "a b"}]}
ANTHROPIC = [
    (
        {"system": "Be brief.", "messages": [ASK]},
        {"type": "message", **USE, "usage": {"input_tokens": 4, "cache_read_input_tokens": 5}},
    ),
    (
        {"system": "Be brief.", "messages": [ASK, USE, GAVE]},
        {"type": "message", **DONE, "usage": {"input_tokens": 4, "cache_read_input_tokens": 15, "output_tokens": 3}},
    ),
]
CALL_ITEM = {"type": "function_call", "call_id": "c1", "name": "ls", "arguments": '{"all": 1.0}'}
SAID_ITEM = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Two files."}]}
HEARD_ITEM = {"type": "function_call_output", "call_id": "c1", "output": "a b"}
RESPONSES = [
    ({"instructions": "Be brief.", "input": "Look."}, {"output": [CALL_ITEM], "usage": {"input_tokens": 9}}),
    (
        {"instructions": "Be brief.", "input": [ASK, CALL_ITEM, HEARD_ITEM]},
        {"output": [SAID_ITEM], "usage": {"input_tokens": 19, "output_tokens": 3}},
    ),
]
PROVIDERS = {"chat": CHAT, "anthropic": ANTHROPIC, "responses": RESPONSES}


def wrapped(pairs, asked="request", answered="response"):
    return [{asked: request, answered: response} for request, response in pairs]


def lines(values):
    return "".join(json.dumps(value) + "\n" for value in values)


def given(folder, text):
    path = folder / "log.jsonl"
    path.write_text(text, encoding="utf-8")
    return path


def roles(transcript):
    return "".join(message.role[0] for message in transcript.messages)


@pytest.mark.parametrize("name", PROVIDERS)
@pytest.mark.parametrize("text", [lines, json.dumps], ids=["lines", "list"])
def test_requests_of_each_provider_are_one_conversation_with_its_counts(tmp_path, name, text):
    path = given(tmp_path, text(wrapped(PROVIDERS[name])))
    assert sniff(path) == "request_log"
    [found] = read(path)
    assert roles(found) == "suata"
    assert found.messages[2].blocks == (ToolCall("c1", "ls", '{"all": 1.0}'),)
    assert found.messages[3].results == (ToolResult("c1", (Text("a b"),)),)
    assert [(usage.position, usage.input) for usage in found.usage] == [(2, 9), (4, 19)]
    assert found.intake.records == 2


def nested(pair):
    request, response = pair
    return {"request": {"method": "POST", "body": request}, "response": {"status": 200, "body": response}}


def as_text(pair):
    request, response = pair
    return {"request_body": json.dumps(request), "response_body": json.dumps(response)}


def har(pairs):
    entries = [
        {
            "request": {"method": "POST", "postData": {"mimeType": "application/json", "text": json.dumps(request)}},
            "response": {"status": 200, "content": {"text": json.dumps(response)}},
        }
        for request, response in pairs
    ]
    return json.dumps({"log": {"version": "1.2", "entries": entries}})


WRAPPINGS = [
    lines(wrapped(CHAT, "kwargs", "result")),
    lines(wrapped(CHAT, "body", "output")),
    lines(wrapped(CHAT, "input", "output")),
    lines(nested(pair) for pair in CHAT),
    lines(as_text(pair) for pair in CHAT),
    har(CHAT),
    lines([{"input": request["messages"], "output": response["choices"][0]["message"]} for request, response in CHAT]),
]


@pytest.mark.parametrize("text", WRAPPINGS, ids=range(len(WRAPPINGS)))
def test_bodies_are_found_under_other_names_and_deeper(tmp_path, text):
    path = given(tmp_path, text)
    assert sniff(path) == "request_log"
    [found] = read(path)
    assert roles(found) == "suata"


def test_a_batch_file_has_a_conversation_a_line(tmp_path):
    rows = [
        {
            "custom_id": f"task-{n}",
            "method": "POST",
            "url": "/v1/chat/completions",
            "body": {"messages": [{"role": "user", "content": f"{n}"}]},
        }
        for n in range(3)
    ]
    assert [roles(found) for found in read(given(tmp_path, lines(rows)))] == ["u", "u", "u"]


def test_sessions_of_the_same_name_are_one_cluster_and_have_ids_of_their_own(tmp_path):
    rows = [
        {
            "session_id": "s1",
            "request": {"messages": [{"role": "user", "content": text}]},
            "response": {"choices": [{"message": DONE}]},
        }
        for text in ("a", "b")
    ]
    found = read(given(tmp_path, lines(rows)))
    assert [(one.id, one.cluster) for one in found] == [("log/s1", "s1"), ("log/s1-1", "s1")]


def test_reasoning_that_a_client_left_out_later_is_kept(tmp_path):
    thought = CALLED | {"reasoning_content": "Hm."}
    pairs = [(CHAT[0][0], {"choices": [{"message": thought}]}), CHAT[1]]
    [found] = read(given(tmp_path, lines(wrapped(pairs))))
    assert found.messages[2].blocks[0] == Reasoning("Hm.")
    assert roles(found) == "suata"


def test_the_counts_of_a_response_are_those_of_its_own_form(tmp_path):
    [found] = read(given(tmp_path, lines(wrapped(ANTHROPIC))))
    assert found.usage == (Usage(2, 9, 0, 5), Usage(4, 19, 3, 15))


def test_what_is_no_request_is_counted(tmp_path):
    odd = {"request": {"messages": [ASK, {"role": "elf", "content": "x"}, 7]}, "response": {"choices": []}}
    [found] = read(given(tmp_path, lines([odd, {"level": "info"}])))
    assert roles(found) == "u"
    assert found.intake.unknown == {"message without a known role": 2, "record without a request": 1}


def test_a_log_in_which_nothing_goes_on_is_read_in_time_that_grows_with_it(tmp_path):
    rows = [
        {
            "request": {"messages": [{"role": "user", "content": f"task {n}"}, DONE]},
            "response": {"choices": [{"message": DONE}]},
        }
        for n in range(2_000)
    ]
    assert len(read(given(tmp_path, lines(rows)))) == 2_000
