"""Dialects of OpenTelemetry: each instrumentation's way of writing the same exchange gives the same messages."""

import json

import pytest

from compactlab.readers import read
from compactlab.transcript import Image, Message, Reasoning, Text, ToolCall, ToolResult, Usage

CALLS = [{"id": "c1", "type": "function", "function": {"name": "ls", "arguments": '{"p":1}'}}]
ROLES = ["system", "user", "assistant", "tool", "assistant"]


def span(fields, events=(), **keys):
    context = {"trace_id": "t1", "span_id": "s1"}
    listed = [{"name": name, "attributes": said} for name, said in events]
    return {"name": "chat", "context": context, "attributes": fields, "events": listed, **keys}


OPENINFERENCE = {
    "openinference.span.kind": "LLM",
    "llm.model_name": "m-1",
    "llm.input_messages.0.message.role": "system",
    "llm.input_messages.0.message.content": "Be brief.",
    "llm.input_messages.1.message.role": "user",
    "llm.input_messages.1.message.contents.0.message_content.type": "text",
    "llm.input_messages.1.message.contents.0.message_content.text": "look",
    "llm.input_messages.2.message.role": "assistant",
    "llm.input_messages.2.message.tool_calls.0.tool_call.id": "c1",
    "llm.input_messages.2.message.tool_calls.0.tool_call.function.name": "ls",
    "llm.input_messages.2.message.tool_calls.0.tool_call.function.arguments": '{"p":1}',
    "llm.input_messages.3.message.role": "tool",
    "llm.input_messages.3.message.tool_call_id": "c1",
    "llm.input_messages.3.message.content": "a b",
    "llm.output_messages.0.message.role": "assistant",
    "llm.output_messages.0.message.content": "done",
    "llm.token_count.prompt": 10,
    "llm.token_count.completion": 2,
    "llm.tools.0.tool.json_schema": '{"name": "ls"}',
}
NESTED = {
    "openinference": {"span": {"kind": "LLM"}},
    "llm": {
        "model_name": "m-1",
        "input_messages": [
            {"message": {"role": "system", "content": "Be brief."}},
            {"message": {"role": "user", "content": "look"}},
            {
                "message": {
                    "role": "assistant",
                    "tool_calls": [{"tool_call": {"id": "c1", "function": {"name": "ls", "arguments": '{"p":1}'}}}],
                }
            },
            {"message": {"role": "tool", "tool_call_id": "c1", "content": "a b"}},
        ],
        "output_messages": [{"message": {"role": "assistant", "content": "done"}}],
        "token_count": {"prompt": 10, "completion": 2},
    },
}
OPENLLMETRY = {
    "llm.request.type": "chat",
    "gen_ai.request.model": "m-1",
    "gen_ai.prompt.0.role": "system",
    "gen_ai.prompt.0.content": "Be brief.",
    "gen_ai.prompt.1.role": "user",
    "gen_ai.prompt.1.content": '[{"type": "text", "text": "look"}]',
    "gen_ai.prompt.2.role": "assistant",
    "gen_ai.prompt.2.tool_calls.0.id": "c1",
    "gen_ai.prompt.2.tool_calls.0.name": "ls",
    "gen_ai.prompt.2.tool_calls.0.arguments": '{"p":1}',
    "gen_ai.prompt.3.role": "tool",
    "gen_ai.prompt.3.tool_call_id": "c1",
    "gen_ai.prompt.3.content": "a b",
    "gen_ai.completion.0.role": "assistant",
    "gen_ai.completion.0.content": "done",
    "gen_ai.usage.prompt_tokens": 10,
    "gen_ai.usage.completion_tokens": "2",
}
CONVENTIONS = {
    "gen_ai.response.model": "m-1",
    "gen_ai.system_instructions": '[{"type": "text", "content": "Be brief."}]',
    "gen_ai.input.messages": json.dumps(
        [
            {"role": "user", "parts": [{"type": "text", "content": "look"}]},
            {"role": "assistant", "parts": [{"type": "tool_call", "id": "c1", "name": "ls", "arguments": '{"p":1}'}]},
            {"role": "tool", "parts": [{"type": "tool_call_response", "id": "c1", "result": "a b"}]},
        ]
    ),
    "gen_ai.output.messages": json.dumps([{"role": "assistant", "parts": [{"type": "text", "content": "done"}]}]),
    "gen_ai.usage.input_tokens": 10,
    "gen_ai.usage.output_tokens": 2,
}
TOKENS = {"gen_ai.request.model": "m-1", "gen_ai.usage.input_tokens": 10, "gen_ai.usage.output_tokens": 2}
EVENTS = [
    ("gen_ai.system.message", {"content": "Be brief."}),
    ("gen_ai.user.message", {"content": "look"}),
    ("gen_ai.assistant.message", {"tool_calls": json.dumps(CALLS)}),
    ("gen_ai.tool.message", {"id": "c1", "content": "a b"}),
    ("gen_ai.choice", {"index": 0, "message": json.dumps({"role": "assistant", "content": "done"})}),
]
LISTED = [{"event.name": name, **said} for name, said in EVENTS]
OLDEST = [
    (
        "gen_ai.content.prompt",
        {
            "gen_ai.prompt": json.dumps(
                [
                    {"role": "system", "content": "Be brief."},
                    {"role": "user", "content": "look"},
                    {"role": "assistant", "content": None, "tool_calls": CALLS},
                    {"role": "tool", "tool_call_id": "c1", "content": "a b"},
                ]
            )
        },
    ),
    ("gen_ai.content.completion", {"gen_ai.completion": '[{"role": "assistant", "content": "done"}]'}),
]
MONOCLE = [
    (
        "data.input",
        {
            "input": [
                '{"system": "Be brief."}',
                '{"human": "look"}',
                json.dumps({"ai": '[{"name": "ls", "args": {"p": 1}, "id": "c1", "type": "tool_call"}]'}),
                '{"tool": "a b"}',
            ]
        },
    ),
    ("data.output", {"response": '{"ai": "done"}'}),
    ("metadata", {"prompt_tokens": 10, "completion_tokens": 2}),
]
AI_SDK = {
    "ai.model.id": "m-1",
    "ai.prompt.messages": json.dumps(
        [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": [{"type": "text", "text": "look"}]},
            {
                "role": "assistant",
                "content": [{"type": "tool-call", "toolCallId": "c1", "toolName": "ls", "args": {"p": 1}}],
            },
            {
                "role": "tool",
                "content": [{"type": "tool-result", "toolCallId": "c1", "toolName": "ls", "result": "a b"}],
            },
        ]
    ),
    "ai.response.text": "done",
    "ai.usage.promptTokens": 10,
    "ai.usage.completionTokens": 2,
}
DETAILS = [("gen_ai.client.inference.operation.details", CONVENTIONS)]


def one(tmp_path, value):
    path = tmp_path / "trace.json"
    path.write_text(json.dumps(value))
    [transcript] = read(path)
    return transcript


@pytest.mark.parametrize(
    "recorded",
    [
        span(CONVENTIONS),
        span(TOKENS, DETAILS),
        span(OPENINFERENCE),
        span(NESTED),
        span(OPENLLMETRY),
        span(TOKENS, EVENTS),
        span({**TOKENS, "events": json.dumps(LISTED)}),
        span(TOKENS, OLDEST),
        span({"span.type": "inference.framework", "entity.2.name": "m-1"}, MONOCLE),
        span(AI_SDK),
    ],
)
def test_each_dialect_tells_the_same(tmp_path, recorded):
    transcript = one(tmp_path, [recorded])
    assert [message.role for message in transcript.messages] == ROLES
    assert [message.text for message in transcript.messages] == ["Be brief.", "look", "", "", "done"]
    [call] = transcript.messages[2].calls
    assert (call.id, call.name, json.loads(call.arguments)) == ("c1", "ls", {"p": 1})
    assert transcript.messages[3].results == (ToolResult("c1", (Text("a b"),)),)
    assert transcript.usage == (Usage(4, 10, 2),)
    assert transcript.header["model"] == "m-1"


def test_log_records_belong_to_their_span(tmp_path):
    about = {"trace_id": "t1", "span_id": "s1", "severity_number": 9}
    records = [{"body": said, "attributes": {"event.name": name}, **about} for name, said in EVENTS]
    transcript = one(tmp_path, [span(TOKENS), *records])
    assert [message.role for message in transcript.messages] == ROLES
    assert transcript.usage == (Usage(4, 10, 2),)


def test_log_records_of_otlp_are_read_without_their_span(tmp_path):
    body = {"kvlistValue": {"values": [{"key": "content", "value": {"stringValue": "look"}}]}}
    records = [
        {
            "timeUnixNano": "1",
            "body": body,
            "attributes": [],
            "eventName": "gen_ai.user.message",
            "traceId": "t1",
            "spanId": "s",
        }
    ]
    transcript = one(tmp_path, {"resourceLogs": [{"scopeLogs": [{"logRecords": records}]}]})
    assert transcript.messages == (Message("user", (Text("look"),), source=0),)


def test_an_answer_of_which_only_one_call_was_recorded_is_completed_by_the_next_request(tmp_path):
    both = [{"name": "ls", "args": {"p": p}, "id": f"c{p}"} for p in (1, 2)]
    first = [
        ("data.input", {"input": ['{"human": "look"}']}),
        ("data.output", {"response": json.dumps({"ai": both[0]})}),
    ]
    spoken = ['{"human": "look"}', json.dumps({"ai": json.dumps(both)}), '{"tool": "a"}', '{"tool": "b"}']
    second = [("data.input", {"input": spoken}), ("data.output", {"response": '{"ai": "done"}'})]
    spans = [span({"span.type": "inference"}, events) for events in (first, second)]
    spans[1]["context"] = {"trace_id": "t1", "span_id": "s2"}
    transcript = one(tmp_path, spans)
    assert [call.id for call in transcript.messages[1].calls] == ["c1", "c2"]
    assert [(r.call_id, r.text) for m in transcript.messages for r in m.results] == [("c1", "a"), ("c2", "b")]


def test_reasoning_that_later_requests_leave_out_stays(tmp_path):
    thought = {"type": "reasoning", "content": "hm"}
    said = {"type": "text", "content": "done"}
    fields = [
        {"gen_ai.input.messages": [{"role": "user", "parts": [said]}]},
        {"gen_ai.input.messages": [{"role": "user", "parts": [said]}, {"role": "assistant", "parts": [said]}]},
    ]
    fields[0]["gen_ai.output.messages"] = [{"role": "assistant", "parts": [thought, said]}]
    fields[1]["gen_ai.output.messages"] = [{"role": "assistant", "parts": [said]}]
    transcript = one(
        tmp_path, [{**span(each), "context": {"trace_id": "t", "span_id": str(i)}} for i, each in enumerate(fields)]
    )
    assert transcript.messages[1].blocks == (Reasoning("hm"), Text("done"))


def parts(*given, role="user"):
    return span({"gen_ai.input.messages": [{"role": role, "parts": list(given)}]})


PIXEL = "iVBORw0KGgo="


@pytest.mark.parametrize(
    ("part", "expected"),
    [
        (
            {"type": "blob", "modality": "image", "mime_type": "image/png", "content": PIXEL},
            Image("image/png", data=b"\x89PNG\r\n\x1a\n"),
        ),
        (
            {"type": "uri", "modality": "image", "uri": "https://a.org/b.png"},
            Image("image/png", url="https://a.org/b.png"),
        ),
        ({"type": "file", "modality": "image", "file_id": "f1"}, Image("image/*", digest="f1")),
        (
            {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PIXEL}"}},
            Image("image/png", data=b"\x89PNG\r\n\x1a\n"),
        ),
        ({"type": "tool_call", "id": "c", "name": "f", "arguments": '{"a":'}, ToolCall("c", "f", '{"a":')),
        (
            {"type": "server_tool_call", "id": "c", "name": "f", "server_tool_call": {"type": "x"}},
            ToolCall("c", "f", "{}"),
        ),
        ({"toolUse": {"toolUseId": "c", "name": "f", "input": {"a": 1}}}, ToolCall("c", "f", '{"a": 1}')),
        ({"type": "reasoning", "content": "hm"}, Reasoning("hm")),
        ({"type": "thinking", "thinking": "hm", "signature": "s"}, Reasoning("hm", signature="s")),
        ({"type": "poem", "verse": "x"}, Text("x")),
    ],
)
def test_each_kind_of_part_is_read(tmp_path, part, expected):
    assert one(tmp_path, [parts(part, role="assistant")]).messages[0].blocks == (expected,)


@pytest.mark.parametrize(
    ("response", "content"),
    [
        ("a", (Text("a"),)),
        (None, ()),
        ({"x": 1}, (Text('{"x": 1}'),)),
        ([1, 2], (Text("[1, 2]"),)),
        ([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}], (Text("a"), Text("b"))),
        ('{"query": "a"}', (Text('{"query": "a"}'),)),
    ],
)
def test_each_kind_of_response_is_read(tmp_path, response, content):
    part = {"type": "tool_call_response", "id": "c", "response": response}
    assert one(tmp_path, [parts(part, role="tool")]).messages[0].results == (ToolResult("c", content),)


def test_a_message_of_an_unknown_role_is_counted(tmp_path):
    transcript = one(tmp_path, [parts({"type": "text", "content": "a"}), {**parts({}, role="oracle"), "name": "x"}])
    assert transcript.intake.unknown == {"message of role 'oracle'": 1}
