"""Hermes' files: snapshots, gateway transcripts, dumps of requests, and training files with marks in the text."""

import json

import pytest

from compactlab.readers import read, sniff
from compactlab.transcript import Reasoning, Text, ToolCall, ToolResult

SUMMARY = "[CONTEXT SUMMARY]: They met."
CALL = {"id": "c1", "type": "function", "function": {"name": "ls", "arguments": "{}"}}
TURN = [
    {"role": "user", "content": "List."},
    {"role": "assistant", "content": "", "tool_calls": [CALL], "reasoning": "Hm.", "finish_reason": "tool_calls"},
    {"role": "tool", "content": "a b", "tool_call_id": "c1"},
]


def snapshot(messages, **more):
    told = {
        "session_id": "20260101_000000_abc",
        "model": "m",
        "base_url": "https://example.org",
        "platform": "cli",
        "session_start": "2026-01-01T00:00:00",
        "last_updated": "2026-01-01T00:01:00",
        "system_prompt": "Be brief.",
        "tools": [{"type": "function", "function": {"name": "ls"}}],
        "message_count": len(messages),
        "messages": messages,
    }
    return told | more


def written(tmp_path, value, name="session_20260101_000000_abc.json"):
    path = tmp_path / name
    path.write_text(value if isinstance(value, str) else json.dumps(value))
    assert sniff(path) == "hermes"
    return read(path)


def lines(*records):
    return "".join(json.dumps(record) + "\n" for record in records)


def test_a_snapshot_is_its_prompt_and_its_list(tmp_path):
    [found] = written(tmp_path, snapshot(TURN))
    assert [m.role for m in found.messages] == ["system", "user", "assistant", "tool"]
    assert found.messages[2].blocks == (Reasoning("Hm."), ToolCall("c1", "ls", "{}"))
    assert found.id == "session_20260101_000000_abc"
    assert found.header == {"model": "m", "platform": "cli"}
    assert len(found.tools) == 1
    assert found.place(found.messages[3]).endswith("abc.json: messages[2]")


def test_a_prompt_that_leads_the_list_stands_once(tmp_path):
    [found] = written(tmp_path, snapshot([{"role": "system", "content": "Be brief."}, *TURN]))
    assert [m.role for m in found.messages] == ["system", "user", "assistant", "tool"]
    assert found.place(found.messages[3]).endswith("messages[3]")


@pytest.mark.parametrize(
    "summary",
    [
        SUMMARY,
        "[CONTEXT COMPACTION — REFERENCE ONLY] Earlier turns were compacted into the summary below.",
        "[PRIOR CONTEXT — for reference only]\nx\n[END OF PRIOR CONTEXT — COMPACTION SUMMARY BELOW]\ny",
    ],
)
def test_a_summary_in_a_snapshot_takes_the_place_of_what_is_gone(tmp_path, summary):
    listed = [TURN[0], {"role": "user", "content": summary}, *TURN[1:]]
    [found] = written(tmp_path, snapshot(listed))
    [compaction] = found.compactions
    assert len(found.messages) == 4
    assert compaction.position == 2
    assert [e if isinstance(e, int) else e.text for e in compaction.after] == [0, 1, summary]
    assert found.after(0)[2].synthetic


@pytest.mark.parametrize(
    ("text", "synthetic"),
    [("Hi.", False), ("[ASYNC DELEGATION BATCH COMPLETE] x", True), ("<system-reminder>x</system-reminder>", True)],
)
def test_notes_of_the_harness_are_no_words_of_a_person(tmp_path, text, synthetic):
    [found] = written(tmp_path, snapshot([{"role": "user", "content": text}]))
    assert found.messages[1].synthetic is synthetic


def test_a_gateway_file_with_a_head_is_read(tmp_path):
    head = {"role": "session_meta", "tools": [{"name": "ls"}], "model": "m", "platform": "telegram", "timestamp": "t"}
    listed = [m | {"timestamp": "2026-01-01T00:00:00"} for m in TURN]
    [found] = written(tmp_path, lines(head, *listed, {"role": "robot"}), "20260101_000000_abc.jsonl")
    assert [m.role for m in found.messages] == ["user", "assistant", "tool"]
    assert found.tools == ({"name": "ls"},)
    assert found.intake.records == 5
    assert found.intake.skipped == {"session_meta": 1}
    assert found.intake.unknown == {"message of role robot": 1}
    assert found.place(found.messages[2]).endswith("line 4")
    assert found.messages[0].timestamp == "2026-01-01T00:00:00"


def test_a_gateway_file_without_a_head_is_a_list_of_messages(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text(lines(*TURN))
    assert sniff(path) == "openai_chat"


def dump(body):
    request = {"method": "POST", "url": "https://example.org", "headers": {}, "body": body}
    return {"timestamp": "2026-01-01T00:00:00", "session_id": "s1", "reason": "max_retries", "request": request}


def test_dumps_of_requests_are_read_in_the_shape_of_their_provider(tmp_path):
    anthropic = [
        {"role": "user", "content": "List."},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "c1", "name": "ls", "input": {}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "a b"}]},
    ]
    [one] = written(
        tmp_path, dump({"model": "m", "messages": TURN, "tools": [{"name": "ls"}]}), "request_dump_s1_1.json"
    )
    [two] = written(
        tmp_path, dump({"model": "m", "system": "Be brief.", "messages": anthropic}), "request_dump_s1_2.json"
    )
    assert [m.role for m in one.messages] == ["user", "assistant", "tool"]
    assert [m.role for m in two.messages] == ["system", "user", "assistant", "tool"]
    assert one.messages[2].results == two.messages[3].results == (ToolResult("c1", (Text("a b"),)),)
    assert one.cluster == two.cluster == "s1"
    assert one.header == {"model": "m", "reason": "max_retries", "timestamp": "2026-01-01T00:00:00"}
    assert two.place(two.messages[1]).endswith("request.body.messages[0]")


SYSTEM = 'You are a function calling AI. <tools>\n[{"name": "ls", "parameters": {}}]\n</tools>'
GPT = (
    "<think>\nHm.\n</think>\nLet me see.\n"
    '<tool_call>\n{"name": "ls", "arguments": {"a": 1}}\n</tool_call>\n'
    '<tool_call>\n{"name": "wc", "arguments": {}}\n</tool_call>'
)
TOOL = (
    '<tool_response>\n{"tool_call_id": "x2", "name": "wc", "content": {"n": 2}}\n</tool_response>\n'
    '<tool_response>\n{"tool_call_id": "x1", "name": "ls", "content": "a b"}\n</tool_response>'
)


def training(*turns, **more):
    listed = [{"from": speaker, "value": value} for speaker, value in turns]
    return {"conversations": listed, "timestamp": "2026-01-01T00:00:00", "model": "m", "completed": True} | more


def test_marks_in_training_files_are_calls_results_and_reasoning(tmp_path):
    row = training(
        ("system", SYSTEM), ("human", "List."), ("gpt", GPT), ("tool", TOOL), ("gpt", "<think>\n</think>\nTwo.")
    )
    [found] = written(tmp_path, lines(row), "trajectory_samples.jsonl")
    assert found.messages[2].blocks == (
        Reasoning("Hm."),
        Text("Let me see."),
        ToolCall("call_0", "ls", '{"a": 1}'),
        ToolCall("call_1", "wc", "{}"),
    )
    assert found.messages[3].results == (
        ToolResult("call_1", (Text('{"n": 2}'),)),
        ToolResult("call_0", (Text("a b"),)),
    )
    assert found.messages[4].blocks == (Text("Two."),)
    assert found.tools == ({"name": "ls", "parameters": {}},)
    assert found.header == {"timestamp": "2026-01-01T00:00:00", "model": "m", "completed": True}
    assert found.place(found.messages[3]).endswith(".jsonl: conversations[3]")


def test_rows_of_a_batch_have_ids_and_a_summary_in_one_is_a_compaction(tmp_path):
    turns = [("human", "List."), ("human", SUMMARY), ("gpt", "<think>\nHm.\n</think>\nTwo.")]
    rows = [training(*turns, prompt_index=n) for n in range(2)]
    one, two = written(tmp_path, lines(*rows), "batch_0.jsonl")
    assert (one.id, two.id) == ("batch_0/prompt-0", "batch_0/prompt-1")
    assert [m.text for m in one.messages] == ["List.", "Two."]
    assert [(c.position, c.summary) for c in one.compactions] == [(1, SUMMARY)]
    assert two.intake.records == 2


def test_a_marked_call_that_is_no_json_stays_as_words(tmp_path):
    broken = "<tool_call>\n{'name': 'ls'}\n</tool_call>"
    [found] = written(tmp_path, lines(training(("human", "List."), ("gpt", broken))), "failed_trajectories.jsonl")
    assert found.messages[1].blocks == (Text(broken),)
    assert found.intake.repaired == {"call that is no JSON, kept as words": 1}


def test_plain_chats_are_left_to_sharegpt(tmp_path):
    path = tmp_path / "chats.jsonl"
    path.write_text(lines({"conversations": [{"from": "human", "value": "What is <tool_call>?"}]}))
    assert sniff(path) == "sharegpt"


@pytest.mark.parametrize("role", ["user", "assistant"])
def test_a_gateway_file_without_a_head_is_known_by_the_summary_in_it(tmp_path, role):
    summary = {"role": role, "content": "[CONTEXT COMPACTION — REFERENCE ONLY] Earlier turns: they met."}
    path = tmp_path / "chat.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in (TURN[0], summary, *TURN)))
    assert sniff(path) == "hermes"
    [found] = read(path)
    assert [m.role for m in found.messages] == ["user", "user", "assistant", "tool"]
    [told] = found.compactions
    assert (told.position, told.after[0], told.after[1].synthetic) == (1, 0, True)


def test_lines_of_messages_without_a_summary_are_plain_lists(tmp_path):
    path = tmp_path / "chat.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in TURN))
    assert sniff(path) == "openai_chat"
