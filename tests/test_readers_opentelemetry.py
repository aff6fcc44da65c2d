"""OpenTelemetry files: every way of writing spans is read, each agent's story is told once, losses are compactions."""

import json
import os
from pathlib import Path

import pytest

from compactlab import catalog
from compactlab.readers import Source, read
from compactlab.transcript import Usage

CORPUS = Path(os.environ.get("COMPACTLAB_CORPUS") or Path(__file__).parent.parent.parent / "shared" / "transcripts")
recorded = pytest.mark.skipif(not CORPUS.is_dir(), reason="no folder of recorded transcripts")

ASK = {"role": "user", "parts": [{"type": "text", "content": "look"}]}
DONE = {"role": "assistant", "parts": [{"type": "text", "content": "done"}], "finish_reason": "stop"}
MORE = {"role": "user", "parts": [{"type": "text", "content": "more"}]}


def call(key="c1", arguments=None):
    part = {"type": "tool_call", "id": key, "name": "ls", "arguments": arguments or {"p": 1}}
    return {"role": "assistant", "parts": [part]}


def result(key="c1", text="a b"):
    return {"role": "tool", "parts": [{"type": "tool_call_response", "id": key, "response": text}]}


def chat(step, given, answer, parent=None, **more):
    fields = {
        "gen_ai.operation.name": "chat",
        "gen_ai.request.model": "m-1",
        "gen_ai.system_instructions": json.dumps([{"type": "text", "content": "Be brief."}]),
        "gen_ai.input.messages": json.dumps(given),
        "gen_ai.output.messages": json.dumps([answer]),
        "gen_ai.usage.input_tokens": 10,
        "gen_ai.usage.output_tokens": 2,
        **more,
    }
    return span(step, "chat m-1", fields, parent)


def agent(step, name, parent=None):
    fields = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": name}
    return span(step, f"invoke_agent {name}", fields, parent)


def tool(step, key, text, parent=None, **more):
    fields = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "ls", "gen_ai.tool.call.id": key}
    return span(step, "execute_tool ls", {**fields, "gen_ai.tool.call.result": text, **more}, parent)


def span(step, name, fields, parent=None):
    return {
        "name": name,
        "context": {"trace_id": "0xt1", "span_id": f"0xs{step}", "trace_state": "[]"},
        "parent_id": parent and f"0xs{parent}",
        "start_time": f"2026-01-01T00:00:{step:02}.000000Z",
        "end_time": f"2026-01-01T00:00:{step:02}.500000Z",
        "status": {"status_code": "UNSET"},
        "attributes": fields,
        "events": [],
    }


def otlp_value(value):
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)}
    if isinstance(value, list):
        return {"arrayValue": {"values": [otlp_value(inner) for inner in value]}}
    if isinstance(value, dict):
        return {"kvlistValue": {"values": otlp_attributes(value)}}
    return {"stringValue": value}


def otlp_attributes(fields):
    return [{"key": name, "value": otlp_value(value)} for name, value in fields.items()]


def otlp(spans):
    made = [
        {
            "traceId": each["context"]["trace_id"],
            "spanId": each["context"]["span_id"],
            "parentSpanId": each["parent_id"] or "",
            "name": each["name"],
            "startTimeUnixNano": f"17672256{each['start_time'][17:19]}000000000",
            "endTimeUnixNano": f"17672256{each['start_time'][17:19]}500000000",
            "attributes": otlp_attributes(each["attributes"]),
            "status": {"code": 2} if each["status"]["status_code"] == "ERROR" else {},
        }
        for each in spans
    ]
    return {"resourceSpans": [{"resource": {}, "scopeSpans": [{"scope": {}, "spans": made}]}]}


def jaeger(spans):
    made = [
        {
            "traceID": each["context"]["trace_id"],
            "spanID": each["context"]["span_id"],
            "operationName": each["name"],
            "references": [{"refType": "CHILD_OF", "spanID": each["parent_id"]}] if each["parent_id"] else [],
            "startTime": 1767225600_000000 + int(each["start_time"][17:19]) * 1_000_000,
            "tags": [{"key": name, "type": "string", "value": value} for name, value in each["attributes"].items()],
        }
        for each in spans
    ]
    return {"data": [{"traceID": "t1", "spans": made}]}


def transcripts(tmp_path, value):
    path = tmp_path / "trace.json"
    path.write_text(value if isinstance(value, str) else json.dumps(value))
    return read(path)


def one(tmp_path, value):
    [transcript] = transcripts(tmp_path, value)
    return transcript


def roles(transcript):
    return [message.role for message in transcript.messages]


SPANS = [chat(1, [ASK], call()), tool(2, "c1", "a b"), chat(3, [ASK, call(), result()], DONE)]
WHOLE = ["system", "user", "assistant", "tool", "assistant"]


@pytest.mark.parametrize(
    ("value", "place"),
    [
        (SPANS, "span 2"),
        (SPANS[::-1], "span 0"),
        ("".join(f"{json.dumps(each)}\n" for each in SPANS), "line 3"),
        ("".join(f"{json.dumps(each, indent=4)}\n" for each in SPANS), "span 2"),
        (otlp(SPANS), "span 2"),
        (json.dumps(otlp(SPANS), indent=2), "span 2"),
        ("".join(f"{json.dumps(otlp([each]))}\n" for each in SPANS), "line 3"),
        ({"spans": SPANS}, "span 2"),
        (jaeger(SPANS), "span 2"),
    ],
)
def test_every_way_of_writing_spans_tells_the_same_story(tmp_path, value, place):
    transcript = one(tmp_path, value)
    assert (transcript.format, roles(transcript)) == ("opentelemetry", WHOLE)
    assert transcript.messages[2].calls[0].arguments == '{"p": 1}'
    assert transcript.messages[3].results[0].text == "a b"
    assert transcript.usage == (Usage(2, 10, 2), Usage(4, 10, 2))
    assert transcript.place(transcript.messages[-1]).endswith(place)
    assert (transcript.id, transcript.header["model"]) == ("trace/t1", "m-1")
    assert transcript.intake.records == 3


def test_values_may_be_structured_and_not_text(tmp_path):
    fields = {"gen_ai.input.messages": [ASK], "gen_ai.output.messages": [DONE]}
    assert roles(one(tmp_path, otlp([chat(1, [], DONE, **fields)]))) == ["system", "user", "assistant"]


def test_a_result_that_no_request_shows_comes_from_the_span_of_the_tool(tmp_path):
    failed = {**tool(2, "c1", "boom"), "status": {"status_code": "ERROR"}}
    transcript = one(tmp_path, [chat(1, [ASK], call()), failed])
    [given] = transcript.messages[-1].results
    assert (given.call_id, given.text, given.is_error) == ("c1", "boom", True)
    assert transcript.messages[-1].timestamp == "2026-01-01T00:00:02.500000Z"


def test_a_result_that_a_request_shows_is_told_once(tmp_path):
    assert roles(one(tmp_path, SPANS)).count("tool") == 1


def test_a_conversation_joins_traces_and_others_stay_apart(tmp_path):
    first = chat(1, [ASK], DONE, **{"gen_ai.conversation.id": "talk"})
    second = chat(2, [ASK, DONE, MORE], DONE, **{"gen_ai.conversation.id": "talk"})
    third = chat(3, [MORE], DONE)
    second["context"]["trace_id"], third["context"]["trace_id"] = "0xt2", "0xt3"
    talk, other = transcripts(tmp_path, [first, second, third])
    assert [talk.id, other.id] == ["trace/talk", "trace/t3"]
    assert [len(talk.messages), len(other.messages)] == [5, 3]


def test_agents_with_lists_of_their_own_are_transcripts_of_their_own(tmp_path):
    task = {"role": "user", "parts": [{"type": "text", "content": "sub"}]}
    spans = [
        agent(1, "lead"),
        chat(2, [ASK], call(), parent=1),
        tool(3, "c1", "found", parent=1),
        agent(4, "scout", parent=3),
        chat(5, [task], DONE, parent=4),
        chat(6, [ASK, call(), result(text="found")], DONE, parent=1),
    ]
    main, scout = transcripts(tmp_path, spans)
    assert roles(main) == WHOLE
    assert [message.text for message in scout.messages] == ["Be brief.", "sub", "done"]
    assert [(each.agent_type, each.header["agent"]) for each in (main, scout)] == [
        ("primary", "lead"),
        ("subagent", "scout"),
    ]
    assert main.cluster == scout.cluster == "trace/t1"


def test_a_request_that_lost_the_head_is_a_compaction(tmp_path):
    summary = {"role": "user", "parts": [{"type": "text", "content": "So far: looked."}]}
    transcript = one(tmp_path, [*SPANS, chat(4, [summary, DONE, MORE], call("c2"))])
    assert roles(transcript) == [*WHOLE, "user", "assistant"]
    [compaction] = transcript.compactions
    assert compaction.position == 5
    assert [entry if isinstance(entry, int) else (entry.text, entry.synthetic) for entry in compaction.after] == [
        0,
        ("So far: looked.", True),
        4,
    ]
    assert compaction.summary == "So far: looked."
    assert [message.text for message in transcript.view(6)] == ["Be brief.", "So far: looked.", "done", "more"]


def test_results_are_told_before_the_compaction_that_hid_them(tmp_path):
    summary = {"role": "user", "parts": [{"type": "text", "content": "So far: looked."}]}
    spans = [chat(1, [ASK], call()), tool(2, "c1", "long"), chat(3, [ASK, summary], DONE)]
    transcript = one(tmp_path, spans)
    assert roles(transcript) == WHOLE
    assert transcript.messages[3].results[0].text == "long"
    assert [compaction.position for compaction in transcript.compactions] == [4]


def test_a_cleared_result_is_a_compaction_that_changed_it(tmp_path):
    transcript = one(tmp_path, [*SPANS, chat(4, [ASK, call(), result(text="[cleared]"), DONE, MORE], DONE)])
    [compaction] = transcript.compactions
    assert [entry if isinstance(entry, int) else entry.results[0].text for entry in compaction.after] == [
        0,
        1,
        2,
        "[cleared]",
        4,
    ]
    assert transcript.messages[3].results[0].text == "a b"


def test_a_system_prompt_that_changes_is_no_compaction_and_is_counted(tmp_path):
    later = {"gen_ai.system_instructions": json.dumps([{"type": "text", "content": "It is noon."}])}
    transcript = one(tmp_path, [SPANS[0], chat(3, [ASK, call(), result()], DONE, **later)])
    assert (roles(transcript), transcript.compactions) == (WHOLE, ())
    assert transcript.intake.repaired == {"system prompt that changed": 1}


def test_a_span_inside_one_of_the_same_request_is_counted_and_not_told(tmp_path):
    transcript = one(tmp_path, [chat(1, [ASK], DONE), chat(2, [ASK], DONE, parent=1)])
    assert len(transcript.messages) == 3
    assert transcript.intake.skipped["span inside one of the same request"] == 1


def test_without_calls_of_models_the_runs_of_agents_are_read(tmp_path):
    whole = {"gen_ai.input.messages": json.dumps([ASK]), "gen_ai.output.messages": json.dumps([DONE])}
    run = agent(1, "lead")
    assert roles(one(tmp_path, [{**run, "attributes": {**run["attributes"], **whole}}])) == ["user", "assistant"]


def test_a_file_without_contents_has_no_messages(tmp_path):
    with pytest.raises(ValueError, match="no messages in it"):
        transcripts(tmp_path, [agent(1, "lead")])


def test_a_value_that_was_cut_is_counted_and_read_past(tmp_path):
    cut = chat(4, [], DONE, **{"gen_ai.input.messages": json.dumps([ASK, DONE])[:40]})
    transcript = one(tmp_path, [*SPANS, cut])
    assert roles(transcript) == WHOLE
    assert transcript.intake.skipped["span whose messages are cut off"] == 1


def test_tokens_from_a_cache_count_as_input(tmp_path):
    cached = {"gen_ai.usage.cache_read.input_tokens": 90, "gen_ai.usage.cache_creation.input_tokens": 5}
    assert one(tmp_path, [chat(1, [ASK], DONE, **cached)]).usage == (Usage(2, 105, 2, cached=90),)
    whole = {**cached, "gen_ai.usage.input_tokens": 100}
    assert one(tmp_path, [chat(1, [ASK], DONE, **whole)]).usage == (Usage(2, 100, 2, cached=90),)


@pytest.mark.parametrize(
    "value", [[], {}, {"name": "x", "attributes": {}}, {"resourceSpans": 3}, {"spans": [3]}, {"body": 1}]
)
def test_what_has_no_spans_is_not_taken(tmp_path, value):
    path = tmp_path / "x.json"
    path.write_text(json.dumps(value))
    assert catalog.load("readers", "opentelemetry").sniff(Source(path)) == 0


@recorded
def test_a_recorded_trace_is_read_whole():
    [transcript] = read(CORPUS / "deer-flow" / "web_research_ev_battery.otel.json")
    calls = [found.id for message in transcript.messages for found in message.calls]
    answered = [found.call_id for message in transcript.messages for found in message.results]
    assert (len(transcript.messages), len(calls), answered) == (12, 6, calls)
    assert [usage.input for usage in transcript.usage] == [9808, 10459, 10853, 11138]
    assert transcript.compactions == ()
