"""Compactions, branches and copies as they are recorded: what stood in context when, and each message once."""

import json
from functools import partial

import claude_code_records as claude
import codex_records as codex
import openhands_events as openhands
import pytest
from fuzz_sessions import AT
from story_compacted import ASKED, COMPACTED, CONTINUED, SAID, SUMMARIES

from compactlab.readers import read
from compactlab.transcript import ToolResult

TOLD = [text for pair in zip(ASKED, SAID, strict=True) for text in pair]


def write(folder, files):
    """Write files by name; the path of the first."""
    for name, data in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data if isinstance(data, bytes) else lines(*data))
    return folder / next(iter(files))


def lines(*records):
    return "".join(f"{json.dumps(record)}\n" for record in records).encode()


def texts(messages):
    return [message.text or [result.text for result in message.results] for message in messages]


@pytest.mark.parametrize("name", COMPACTED)
def test_case_14_two_compactions_of_one_session_have_each_their_own_view(tmp_path, name):
    [transcript] = read(write(tmp_path, COMPACTED[name]()))
    assert texts(transcript.messages) == TOLD
    assert len(transcript.compactions) == 2
    for turn in (1, 2):
        compaction, view = transcript.compactions[turn - 1], texts(transcript.view(2 * turn + 1))
        assert SUMMARIES[turn - 1] in compaction.summary
        assert sum(SUMMARIES[turn - 1] in text for text in view) == 1
        assert view[-1] == ASKED[turn]
        assert not {*SAID[:turn], *SUMMARIES[: turn - 1]} & set(view)
        assert all(m.synthetic for m in transcript.after(turn - 1) if SUMMARIES[turn - 1] in m.text)
    assert texts(transcript.before(0))[:2] == TOLD[:2]
    assert SAID[1] in texts(transcript.before(1))
    assert SAID[0] not in texts(transcript.before(1))


def _claude_kept():
    kept = {"anchorUuid": "s1", "uuids": ["r1"], "allUuids": ["r1"]}
    told = [claude.user("u1", None, "Go"), claude.agent("a1", "u1", "m1", claude.use("c1"))]
    told += [claude.answer("r1", "a1", "c1", "seen"), claude.boundary("b1", "r1", preservedMessages=kept)]
    return [*told, claude.summary("s1", "b1"), claude.user("u2", "s1", "On")]


def _codex_kept():
    told = [codex.meta(), codex.user("Go"), codex.call("c1"), codex.output("c1", "seen")]
    history = [codex.wire(codex.user(f"{codex.PREFIX}\nS")), codex.wire(told[3])]
    return [*told, codex.compacted("S", replacement_history=history), codex.user("On")]


def _pi_entry(**message):
    return {"type": "message", "message": message}


def _pi_kept(**kept):
    called = {"role": "assistant", "content": [{"type": "toolCall", "id": "c1", "name": "ls", "arguments": {}}]}
    seen = {"role": "toolResult", "toolCallId": "c1", "content": [{"type": "text", "text": "seen"}]}
    told = [_pi_entry(role="user", content="Go"), _pi_entry(**called), _pi_entry(**seen)]
    told += [{"type": "compaction", "summary": "S", "tokensBefore": 9, **kept}, _pi_entry(role="user", content="On")]
    if "firstKeptEntryId" in kept:
        told = [{**entry, "id": f"e{i}", "parentId": f"e{i - 1}" if i else None} for i, entry in enumerate(told)]
    head = {"type": "session", "id": "s1", "timestamp": AT, "cwd": "/"}
    return [head | ({"version": 3} if "firstKeptEntryId" in kept else {}), *told]


def _own_kept():
    made = {"role": "user", "blocks": [{"type": "text", "text": "S"}], "synthetic": True}
    head = {"type": "session", "id": "s1", "title": "x", "agent_type": "primary", "tools": []}
    head["compactions"] = [{"position": 3, "after": [made, 2], "summary": "S"}]
    used, seen = {"type": "tool_use", "id": "c1", "name": "ls", "input": {}}, {"type": "tool_result", "content": "seen"}
    told = [("user", "Go"), ("assistant", [used]), ("user", [seen | {"tool_use_id": "c1"}]), ("user", "On")]
    return [head, *({"type": "message", "role": role, "content": content} for role, content in told)]


KEPT = {
    "claude code": _claude_kept,
    "codex": _codex_kept,
    "pi by index": partial(_pi_kept, firstKeptEntryIndex=3),
    "pi by id": partial(_pi_kept, firstKeptEntryId="e2"),
    "own": _own_kept,
}


@pytest.mark.parametrize("name", KEPT)
def test_case_04_a_result_that_was_kept_without_its_call_stands_in_the_view_after_the_boundary(tmp_path, name):
    [transcript] = read(write(tmp_path, {"s.jsonl": KEPT[name]()}))
    [result] = [message.results[0] for message in transcript.view(4) if message.results]
    assert result == transcript.messages[2].results[0]
    assert isinstance(result, ToolResult)
    assert (result.call_id, result.text) == ("c1", "seen")
    assert not any(message.calls for message in transcript.view(4))
    assert [bool(message.calls) for message in transcript.messages] == [False, True, False, False]


def test_case_01_pieces_of_a_response_are_one_message_though_a_result_lies_between_them(tmp_path):
    first = claude.agent("a1", "u1", "m1", claude.text("Two at once."))
    second = claude.agent("a2", "a1", "m1", claude.use("c1"))
    between = claude.answer("r1", "a2", "c1", "one")
    third = claude.agent("a3", "a2", "m1", claude.use("c2"))
    told = [claude.user("u1", None, "Go"), first, second, between, third, claude.answer("r2", "a3", "c2", "two")]
    [transcript] = read(write(tmp_path, {"s.jsonl": told}))
    assert [message.role for message in transcript.messages] == ["user", "assistant", "tool", "tool"]
    assert [call.id for call in transcript.messages[1].calls] == ["c1", "c2"]
    assert texts(transcript.messages[2:]) == [["one"], ["two"]]


def _claude_resumed():
    told = [claude.user("u1", None, "Go"), claude.agent("a1", "u1", "m1", claude.text("Done."))]
    on = {"sessionId": "22222222-bbbb"}
    more = [claude.user("u2", "a1", "On", **on), claude.agent("a2", "u2", "m2", claude.text("End."), **on)]
    return {"11111111-aaaa.jsonl": told, "22222222-bbbb.jsonl": [*told, *more]}


def _codex_resumed():
    told = [codex.meta("u1"), codex.user("Go"), codex.agent("Done.")]
    more = [codex.meta("u2", forked_from_id="u1"), *told, codex.user("On"), codex.agent("End.")]
    return {"rollout-2026-01-01-u1.jsonl": told, "rollout-2026-01-02-u2.jsonl": more}


def _gemini_resumed():
    head = {"sessionId": "s1", "projectHash": "h", "startTime": AT, "lastUpdated": AT}
    told = [("u1", "user", "Go"), ("g1", "gemini", "Done."), ("u2", "user", "On"), ("g2", "gemini", "End.")]
    made = [{"id": name, "timestamp": AT, "type": kind, "content": text} for name, kind, text in told]
    return {"session-1.json": json.dumps(head | {"messages": made[:2]}).encode(), "session-1.jsonl": [head, *made]}


RESUMED = {"claude code": _claude_resumed, "gemini": _gemini_resumed}


@pytest.mark.parametrize("name", RESUMED)
def test_case_08_history_that_was_copied_into_another_file_stands_once_in_the_folder(tmp_path, name):
    write(tmp_path, RESUMED[name]())
    told = [text for transcript in read(tmp_path) for text in texts(transcript.messages)]
    assert sorted(told) == sorted(["Go", "Done.", "On", "End."])


def test_case_08_records_of_a_fork_share_the_cluster_of_their_origin(tmp_path):
    write(tmp_path, _codex_resumed())
    found = read(tmp_path)
    assert len({transcript.cluster for transcript in found}) == 1
    assert max(len(transcript.messages) for transcript in found) == 4


def test_case_08_a_record_that_stands_twice_in_one_file_counts_once(tmp_path):
    told = [claude.user("u1", None, "Go"), claude.agent("a1", "u1", "m1", claude.text("Done."))]
    [transcript] = read(write(tmp_path, {"s.jsonl": [*told, *told, claude.user("u2", "a1", "On")]}))
    assert texts(transcript.messages) == ["Go", "Done.", "On"]
    assert transcript.intake.skipped["repeated uuid"] == 2


def _claude_rewound():
    told = [claude.user("u1", None, "Go"), claude.agent("a1", "u1", "m1", claude.text("Done."))]
    told += [claude.user("u2", "a1", "Wrong"), claude.agent("a2", "u2", "m2", claude.text("Bad."))]
    return [*told, claude.user("u3", "a1", "Right"), claude.agent("a3", "u3", "m3", claude.text("Good."))]


def _pi_rewound():
    told = [("user", "Go", None), ("assistant", "Done.", "e0"), ("user", "Wrong", "e1"), ("assistant", "Bad.", "e2")]
    told += [("user", "Right", "e1"), ("assistant", "Good.", "e4")]
    made = [
        {**_pi_entry(role=role, content=[{"type": "text", "text": text}]), "id": f"e{i}", "parentId": parent}
        for i, (role, text, parent) in enumerate(told)
    ]
    return [{"type": "session", "version": 3, "id": "s1", "timestamp": AT, "cwd": "/"}, *made]


def _gemini_rewound():
    head = {"sessionId": "s1", "projectHash": "h", "startTime": AT, "lastUpdated": AT}
    told = [("u1", "user", "Go"), ("g1", "gemini", "Done."), ("u2", "user", "Wrong"), ("g2", "gemini", "Bad.")]
    told += [("u3", "user", "Right"), ("g3", "gemini", "Good.")]
    made = [{"id": name, "timestamp": AT, "type": kind, "content": text} for name, kind, text in told]
    return [head, *made[:4], {"$rewindTo": "u2"}, *made[4:]]


def _codex_rewound():
    told = [codex.user("Go"), codex.agent("Done."), codex.user("Wrong"), codex.agent("Bad.")]
    back = codex.event("thread_rolled_back", num_turns=1)
    return [codex.meta(), *told, back, codex.user("Right"), codex.agent("Good.")]


REWOUND = {"claude code": _claude_rewound, "pi": _pi_rewound, "gemini": _gemini_rewound, "codex": _codex_rewound}


@pytest.mark.parametrize("name", REWOUND)
def test_case_09_messages_that_were_rewound_are_another_branch_and_counted(tmp_path, name):
    [transcript] = read(write(tmp_path, {"s.jsonl": REWOUND[name]()}))
    assert texts(transcript.messages) == ["Go", "Done.", "Right", "Good."]
    assert transcript.intake.skipped["message of another branch"] == 2


def test_case_15_a_file_that_continues_an_older_one_without_a_boundary_begins_with_a_summary(tmp_path):
    title = {"type": "summary", "summary": "Moving tables", "leafUuid": "lost"}
    told = [claude.user("u1", None, CONTINUED + "All is well."), claude.agent("a1", "u1", "m1", claude.text("On."))]
    [transcript] = read(write(tmp_path, {"s.jsonl": [title, *told]}))
    [compaction] = transcript.compactions
    assert (compaction.position, texts(transcript.messages)) == (0, ["On."])
    assert compaction.summary.endswith("All is well.")
    assert [message.synthetic for message in transcript.view(1)] == [True, False]


@pytest.mark.parametrize(
    ("record", "after"),
    [
        ({"message": "S", "replacement_history": [codex.wire(codex.user("kept"))]}, ["kept"]),
        ({"message": "S"}, ["Go", "S"]),
        ({"message": "", "replacement_history": []}, []),
    ],
    ids=["with a history", "without one", "empty"],
)
def test_case_17_a_compaction_of_codex_is_read_with_and_without_a_history(tmp_path, record, after):
    told = [codex.meta(), codex.user("Go"), codex.agent("Done."), codex.compacted(**record), codex.user("On")]
    [transcript] = read(write(tmp_path, {"rollout-1.jsonl": told}))
    assert texts(transcript.messages) == ["Go", "Done.", "On"]
    [compaction] = transcript.compactions
    assert (compaction.position, compaction.summary) == (2, record["message"])
    assert [text.replace(f"{codex.PREFIX}\n", "") for text in texts(transcript.after(0))] == after


SENT = {"input_tokens": 3, "cache_read_input_tokens": 90}


def _claude_pieces():
    first = claude.agent("a1", "u1", "m1", claude.text("Look."), usage=SENT | {"output_tokens": 1})
    second = claude.agent("a2", "a1", "m1", claude.use("c1"), usage=SENT | {"output_tokens": 26})
    third = claude.agent("a3", "a2", "m1", claude.use("c2"), usage=SENT | {"output_tokens": 26})
    return [claude.user("u1", None, "Go"), first, claude.answer("r0", "a1", "c0"), second, third]


def _stream_pieces():
    head = {"type": "system", "subtype": "init", "session_id": "s1", "tools": [], "model": "m"}
    pieces = [claude.text("Look."), claude.use("c1"), claude.use("c2")]
    told = [{"id": "m1", "role": "assistant", "content": [p], "usage": SENT | {"output_tokens": 26}} for p in pieces]
    return [head, *({"type": "assistant", "message": message, "session_id": "s1"} for message in told)]


def _openhands_pieces():
    told = openhands.response("r1", ("c1", "ls"), ("c2", "pwd"))
    told["usage"] = {"prompt_tokens": 93, "completion_tokens": 26, "prompt_tokens_details": {"cached_tokens": 90}}
    return [openhands.action(n, "run", told, f"c{n}", command="x") for n in (1, 2)]


def _codex_pieces():
    count = codex.counted(93, sent=93, made=26)
    return [codex.meta(), codex.user("Go"), codex.agent("Look."), codex.call("c1"), codex.call("c2"), count, count]


def _gemini_pieces():
    head = {"sessionId": "s1", "projectHash": "h", "startTime": AT, "lastUpdated": AT}
    counted = {"tokens": {"input": 93, "output": 26, "cached": 90}}
    said = {"id": "g1", "timestamp": AT, "type": "gemini", "content": "Look."}
    return [head, said | counted, said | counted | {"toolCalls": [{"id": "c1", "name": "ls", "args": {}}]}]


def _atif_pieces():
    metrics = {"metrics": {"prompt_tokens": 93, "completion_tokens": 26, "cached_tokens": 90}}
    steps = [{"step_id": 1, "source": "agent", "message": "Look."} | metrics]
    told = {"schema_version": "ATIF-v1.7", "session_id": "s1", "agent": {"name": "a", "version": "1"}, "steps": steps}
    return [told | {"final_metrics": {"total_prompt_tokens": 93, "total_completion_tokens": 26}}]


PIECES = {
    "claude code": _claude_pieces,
    "claude stream": _stream_pieces,
    "openhands": _openhands_pieces,
    "codex": _codex_pieces,
    "gemini": _gemini_pieces,
    "atif": _atif_pieces,
}


@pytest.mark.parametrize("name", PIECES)
def test_case_31_tokens_of_a_response_in_several_records_are_never_summed(tmp_path, name):
    [transcript] = read(write(tmp_path, {"s.jsonl": PIECES[name]()}))
    [usage] = transcript.usage
    assert (usage.input, usage.output) == (93, 26)
    assert transcript.messages[usage.position].role == "assistant"
