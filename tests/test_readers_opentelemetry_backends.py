"""Spans as backends store and give them out: other names for the same fields, trees, columns, bodies of log records."""

import json

import pytest

from compactlab.readers import read, sniff
from compactlab.transcript import Text, ToolCall, ToolResult, Usage

TIME = "2026-01-01T00:00:0{}.000000Z"
START = 1_767_225_600_000_000_000


def told(tmp_path, value, name="spans.json"):
    path = tmp_path / name
    path.write_text(value if isinstance(value, str) else json.dumps(value))
    assert sniff(path) == "opentelemetry"
    return read(path)


def lines(*records):
    return "".join(json.dumps(record) + "\n" for record in records)


def seen(transcript):
    return [(m.role, m.blocks) for m in transcript.messages]


def prompt(*said, answer):
    pairs = [(f"gen_ai.prompt.{i}.{key}", value) for i, one in enumerate(said) for key, value in one.items()]
    return dict(pairs) | {"gen_ai.completion.0.role": "assistant", "gen_ai.completion.0.content": answer}


ASK, SAID, AGAIN = ({"role": r, "content": c} for r, c in (("user", "Hi."), ("assistant", "Hello."), ("user", "More?")))
FIRST, SECOND = prompt(ASK, answer="Hello."), prompt(ASK, SAID, AGAIN, answer="Yes.")
COUNTS = {"gen_ai.usage.prompt_tokens": "10", "gen_ai.usage.completion_tokens": "5"}


def stored(number, fields, parent="root"):
    named = {"trace_id": "t", "span_id": f"s{number}", "parent_span_id": parent, "span_name": "chat"}
    return {**named, "timestamp": TIME.format(number), "span_attributes": fields, "status_code": "Unset", "events": []}


def column(number, fields):
    named = {"TraceId": "t", "SpanId": f"s{number}", "ParentSpanId": "", "SpanName": "chat", "StatusCode": "Unset"}
    return {**named, "Timestamp": f"2026-01-01 00:00:0{number}.000000001", "SpanAttributes": fields}


ROOT = {"span_id": "root", "span_name": "run", "span_attributes": {}, "timestamp": TIME.format(0)}
FORMS = {
    "tree": {"trace_id": "t", "spans": [ROOT | {"child_spans": [stored(1, FIRST | COUNTS), stored(2, SECOND)]}]},
    "list": {"trace_id": "t", "spans": [stored(2, SECOND), stored(1, FIRST | COUNTS)]},
    "rows": lines(column(1, FIRST | COUNTS), column(2, SECOND)),
}


@pytest.mark.parametrize("value", FORMS.values(), ids=FORMS)
def test_spans_of_backends_tell_what_those_of_sdks_tell(tmp_path, value):
    [found] = told(tmp_path, value)
    assert [(m.role, m.text) for m in found.messages] == [
        ("user", "Hi."),
        ("assistant", "Hello."),
        ("user", "More?"),
        ("assistant", "Yes."),
    ]
    assert found.usage == (Usage(1, 10, 5),)


@pytest.mark.parametrize("flat", [True, False])
def test_events_that_stand_in_columns_are_read(tmp_path, flat):
    names = ["gen_ai.user.message", "gen_ai.choice"]
    said = [{"content": "Hi."}, {"message": '{"content": "Hello."}'}]
    columns = {"Events.Name": names, "Events.Attributes": said} if flat else {"Events": {"Name": names}}
    columns = columns if flat else {"Events": {"Name": names, "Attributes": said}}
    [found] = told(tmp_path, lines(column(1, {}) | columns, column(2, {})))
    assert [(m.role, m.text) for m in found.messages] == [("user", "Hi."), ("assistant", "Hello.")]


def entity(number, kind, entities, said, parent="s1"):
    events = zip(("data.input", "data.output"), ({"input": said[0]}, {"response": said[1]}), strict=True)
    about = {"span_name": "invoke", "trace_id": "t", "span_id": f"s{number}", "parent_id": parent}
    return about | {
        "start_time": TIME.format(number),
        "end_time": TIME.format(number),
        "status": {"code": "ok"},
        "attributes": {"entity": entities, "span.type": kind},
        "events": [{"name": name, "attributes": fields} for name, fields in events],
    }


def test_entities_in_a_list_name_the_model_the_agent_and_the_tool(tmp_path):
    asked = '{"ai": {"name": "ls", "args": {"p": 1}, "id": "c1", "type": "tool_call"}}'
    models = [{"type": "inference"}, {"name": "m-1", "type": "model"}]
    spans = [
        entity(1, "agentic.invocation", [{"name": "finder", "type": "agent"}], (["Look."], "a b"), None),
        entity(2, "inference.framework", models, (['{"human": "Look."}'], asked)),
        entity(3, "agentic.tool.invocation", [{"name": "ls", "type": "tool"}], (["{'p': 1}"], "a b")),
    ]
    [found] = told(tmp_path, {"trace_id": "t", "spans": spans})
    assert (found.header["model"], found.header["agent"]) == ("m-1", "finder")
    assert seen(found)[1:] == [
        ("assistant", (ToolCall("c1", "ls", '{"p": 1}'),)),
        ("tool", (ToolResult("c1", (Text("a b"),)),)),
    ]


def test_calls_and_results_that_a_framework_retells_in_words_are_synthetic(tmp_path):
    given = [("user", "Look."), ("assistant", "I look."), ("tool-call", "Calling: ls"), ("tool-response", "Seen: a b")]
    fields = {
        f"llm.input_messages.{i}.message.{key}": value
        for i, said in enumerate(given)
        for key, value in zip(("role", "content"), said, strict=True)
    }
    [found] = told(tmp_path, [stored(1, fields), stored(2, {})])
    assert [(m.role, m.synthetic) for m in found.messages] == [
        ("user", False),
        ("assistant", False),
        ("assistant", True),
        ("user", True),
    ]
    assert not found.intake.unknown


USE = json.dumps([{"text": "Now."}, {"toolUse": {"toolUseId": "c1", "name": "ls", "input": {"p": 1}}}])
GAVE = json.dumps([{"toolResult": {"toolUseId": "c1", "status": "success", "content": [{"text": "a b"}]}}])
WORDS = json.dumps([{"text": "Look."}])
DONE = [
    ("user", (Text("Look."),)),
    ("assistant", (Text("Now."), ToolCall("c1", "ls", '{"p": 1}'))),
    ("tool", (ToolResult("c1", (Text("a b"),)),)),
    ("assistant", (Text("Done."),)),
]


def record(number, given, gave, name="agents.tracer", **keys):
    body = {"input": {"messages": given}, "output": {"messages": gave}}
    about = {"traceId": "t", "spanId": f"s{number}", "timeUnixNano": START + number, "severityNumber": 9}
    return {**about, "body": body, "attributes": {"event.name": name, "session.id": "chat-1"}, **keys}


def said(role, text, key="content"):
    return {"role": role, "content": {key: text}}


REQUESTS = [
    record(1, [said("user", WORDS)], [said("assistant", USE, "message")]),
    record(2, [{"role": "tool", "content": {"content": "{}", "id": "c1"}}], [said("assistant", "a b", "message")]),
    record(
        3, [said("user", WORDS), said("assistant", USE), said("tool", GAVE)], [said("assistant", "Done.", "message")]
    ),
    record(4, [said("user", WORDS)], [said("assistant", "Done.\n", "message")]),
]


def test_bodies_of_log_records_hold_the_requests_of_a_conversation(tmp_path):
    [found] = told(tmp_path, "\n".join(json.dumps(each, indent=4) for each in REQUESTS))
    assert (seen(found), found.id) == (DONE, "spans/chat-1")
    assert "message of another branch" not in found.intake.skipped  # the last record tells the whole run once more


def test_what_a_tracer_was_told_of_a_run_is_no_message(tmp_path):
    run = record(5, [{"role": "user", "content": '{"inputs": {"q": 1}}'}], [{"role": "assistant", "content": "{}"}])
    [found] = told(tmp_path, lines(REQUESTS[0], run))
    assert len(found.messages) == 2
    assert found.intake.skipped["span without messages"] == 1


def event(number, body, name=""):
    about = {"traceId": "t", "spanId": "s1", "timeUnixNano": 0, "observedTimeUnixNano": START + number}
    return {**about, "body": body, "attributes": {"event.name": name} if name else {"gen_ai.system": "aws.bedrock"}}


def test_events_without_a_name_or_a_time_are_known_by_their_bodies(tmp_path):
    use = {"type": "tool_use", "id": "c1", "name": "ls", "input": {"p": 1}}
    again = {"id": "c1", "type": "function", "function": {"name": "ls", "arguments": {"p": 1}}}
    answer = {"message": {"role": "assistant", "content": [{"text": "Done."}]}, "finish_reason": "end", "index": 0}
    events = [
        event(1, {"content": [{"text": "Look."}]}, "gen_ai.user.message"),
        event(2, {"content": [{"text": "Now."}, use], "tool_calls": [again]}),
        event(3, {"content": "a b", "id": "c1"}),
        event(4, answer),
    ]
    [found] = told(tmp_path, lines(*events))
    assert seen(found) == DONE
    assert found.messages[-1].timestamp.startswith("2026-01-01")


def printed(number, name, kind, events, parent="s9"):
    context = {"trace_id": "t", "span_id": f"s{number}"}
    listed = [{"name": event, "attributes": fields} for event, fields in events]
    fields = {"gen_ai.operation.name": kind} if kind else {}
    return {"name": name, "context": context, "parent_id": parent, "attributes": fields, "events": listed} | {
        "start_time": TIME.format(number),
        "end_time": TIME.format(number),
    }


CYCLE = [
    printed(1, "cycle", "", [("gen_ai.user.message", {"content": WORDS}), ("gen_ai.choice", {"message": USE})]),
    printed(
        2,
        "chat",
        "chat",
        [
            ("gen_ai.system.message", {"content": "Be brief."}),
            ("gen_ai.user.message", {"content": WORDS}),
            ("gen_ai.choice", {"message": USE}),
        ],
        parent="s1",
    ),
    printed(
        3,
        "execute_tool ls",
        "execute_tool",
        [
            ("gen_ai.tool.message", {"role": "tool", "content": '{"p": 1}', "id": "c1"}),
            ("gen_ai.choice", {"message": json.dumps([{"text": "a b"}]), "id": "c1"}),
        ],
    ),
]


def test_the_span_of_the_model_tells_more_than_one_around_it(tmp_path):
    [found] = told(tmp_path, CYCLE)
    assert seen(found)[:3] == [("system", (Text("Be brief."),)), *DONE[:2]]
    assert found.intake.skipped["span around one of the same request"] == 1


def test_what_a_tool_gave_is_its_choice_and_not_what_it_was_asked(tmp_path):
    CYCLE[2]["attributes"] |= {"gen_ai.tool.call.id": "c1", "gen_ai.tool.name": "ls"}
    [found] = told(tmp_path, CYCLE)
    assert seen(found)[-1] == DONE[2]


@pytest.mark.parametrize(
    "fields",
    [
        {"gen_ai.tool.call.id": "c1", "gen_ai.tool.name": "ls", "ai.toolCall.output": "a b"},
        {
            "gen_ai.tool.call.id": "c1",
            "traceloop.entity.output": json.dumps({"output": {"type": "tool", "content": "a b"}, "kwargs": {}}),
        },
    ],
    ids=["later name", "message of a run"],
)
def test_results_are_found_under_later_names_and_inside_messages(tmp_path, fields):
    tool = printed(3, "execute_tool ls", "execute_tool", [])
    tool["attributes"] |= fields
    [found] = told(tmp_path, [CYCLE[1], tool])
    assert seen(found)[-1] == DONE[2]


def test_an_object_that_was_asked_for_is_the_answer(tmp_path):
    fields = {
        "ai.operationId": "ai.generateObject.doGenerate",
        "ai.prompt.messages": json.dumps([{"role": "user", "content": [{"type": "text", "text": "A fruit."}]}]),
        "ai.response.object": '{"fruit": "fig"}',
    }
    [found] = told(tmp_path, [stored(1, fields), stored(2, {})])
    assert [m.text for m in found.messages] == ["A fruit.", '{"fruit": "fig"}']
