"""Streams of the Claude Agent SDK: bare and wrapped, as lines and as one list, with sidechains and compactions."""

import json
from functools import partial

import pytest
from claude_code_records import call, result, text, told, use
from hypothesis import given
from hypothesis import strategies as st

from compactlab.errors import TranscriptError
from compactlab.readers import read, sniff
from compactlab.transcript import Message, RecordedCompaction, Text, Usage

SESSION = "5a5a5a5a-0001"
CONTINUED = "This session is being continued from a previous conversation. All is well."


def event(kind, message=None, parent=None, **more):
    body = {} if message is None else {"message": message}
    return {"type": kind, **body, "parent_tool_use_id": parent, "session_id": SESSION, **more}


def init(**more):
    given = {"cwd": "/x", "tools": ["Bash", "Read"], "model": "claude-x", "claude_code_version": "2.1.39"}
    return {"type": "system", "subtype": "init", "session_id": SESSION, **given, **more}


def spoke(response, *content, parent=None, made=9, **more):
    usage = {"input_tokens": 3, "cache_read_input_tokens": 90, "output_tokens": made}
    message = {"id": response, "type": "message", "role": "assistant", "model": "claude-x", "usage": usage}
    return event("assistant", message | {"content": list(content)}, parent, **more)


def heard(content, parent=None, **more):
    return event("user", {"role": "user", "content": content}, parent, **more)


def came(call_id, words="ok", parent=None):
    return heard([{"type": "tool_result", "tool_use_id": call_id, "content": words}], parent, tool_use_result={"x": 1})


def boundary(**metadata):
    return event("system", subtype="compact_boundary", compact_metadata=metadata, uuid="b1")


def ended(**more):
    totals = {"is_error": False, "num_turns": 2, "duration_ms": 1200, "total_cost_usd": 0.25, "result": "Done."}
    return {"type": "result", "subtype": "success", "session_id": SESSION, **totals, **more}


def wrapped(record):
    """A record as harnesses keep it: what is no message of the API stands under `message` too."""
    kind, message = record["type"], record.get("message")
    inner = message or {key: value for key, value in record.items() if key not in {"type", "parent_tool_use_id"}}
    return {"type": kind, "message": inner, "timestamp": "2026-02-12T16:00:00Z"}


def bare(record):
    return record


@pytest.fixture
def read_all(tmp_path):
    return partial(read_stream, tmp_path)


def read_stream(folder, *records, document=False):
    file = folder / "run.jsonl"
    file.write_text(json.dumps(records) if document else "".join(json.dumps(r) + "\n" for r in records))
    assert sniff(file) == "claude_stream"
    return read(file)


RUN = [
    init(),
    spoke("m1", {"type": "thinking", "thinking": "hm", "signature": "s"}, made=1),
    spoke("m1", text("Both.")),
    spoke("m1", use("c1"), made=30),
    came("c1", "one"),
    spoke("m1", use("c2"), made=40),
    came("c2", "two"),
    spoke("m2", text("Done.")),
    ended(),
]


@pytest.mark.parametrize("form", [bare, wrapped])
@pytest.mark.parametrize("document", [False, True], ids=["lines", "list"])
def test_a_run_is_read_bare_and_wrapped_as_lines_and_as_a_list(read_all, form, document):
    [transcript] = read_all(*map(form, RUN), document=document)
    assert [(m.role, m.blocks[1:]) for m in transcript.messages] == [
        ("assistant", (Text("Both."), call("c1"), call("c2"))),
        ("tool", ()),
        ("tool", ()),
        ("assistant", ()),
    ]
    assert [m.blocks for m in transcript.messages[1:3]] == [(result("c1", "one"),), (result("c2", "two"),)]
    assert [m.source for m in transcript.messages] == [1, 4, 6, 7]
    assert transcript.usage == (Usage(0, 93, 40, 90), Usage(3, 93, 9, 90))
    assert (transcript.id, transcript.cluster) == (f"run/{SESSION}", f"run/{SESSION}")
    assert (transcript.agent_type, transcript.tools) == ("primary", ("Bash", "Read"))
    assert transcript.header == {
        "version": "2.1.39",
        "model": "claude-x",
        "outcome": "success",
        "is_error": False,
        "num_turns": 2,
        "duration_ms": 1200,
        "total_cost_usd": 0.25,
    }
    assert transcript.intake.records == 9
    assert transcript.place(transcript.messages[0]).endswith("record 1" if document else "line 2")


def test_arguments_are_the_bytes_of_the_file_also_in_a_list(tmp_path):
    raw = json.dumps([init(), spoke("m1", use("c1", a="MARK"))]).replace('{"a": "MARK"}', '{"a":1.50 ,"b":"\\u00e9"}')
    (tmp_path / "run.json").write_text(raw)
    [transcript] = read(tmp_path / "run.json")
    assert transcript.messages[0].calls[0].arguments == '{"a":1.50 ,"b":"\\u00e9"}'


@pytest.mark.parametrize("form", [bare, wrapped])
@pytest.mark.parametrize("recorded", [True, False], ids=["summary", "no summary"])
def test_a_compaction_parts_the_run(read_all, form, recorded):
    given = [heard([text(CONTINUED)], isSynthetic=True)] if recorded else []
    [transcript] = read_all(
        *map(form, [*RUN[:-1], boundary(trigger="auto", pre_tokens=155_037, post_tokens=900)]),
        *map(form, [*given, spoke("m3", text("On."))]),
    )
    assert told(transcript.messages)[-2:] == [("assistant", "Done."), ("assistant", "On.")]
    time = "2026-02-12T16:00:00Z" if form is wrapped else None
    made = (Message("user", (Text(CONTINUED),), source=9, synthetic=True, timestamp=time),)
    expected = RecordedCompaction(4, "auto", 155_037, 900, made, CONTINUED)
    assert transcript.compactions == (expected if recorded else RecordedCompaction(4, "auto", 155_037, 900),)


def test_what_a_compaction_kept_is_found_by_the_uuids_of_the_stream(read_all):
    kept = {"head_uuid": "x1", "anchor_uuid": "b1", "tail_uuid": "x2"}
    [transcript] = read_all(
        init(),
        heard("Go", uuid="x0"),
        spoke("m1", text("One."), uuid="x1"),
        heard("On", uuid="x2"),
        boundary(trigger="manual", preserved_segment=kept),
        heard(CONTINUED, uuid="x3"),
        spoke("m2", text("Two."), uuid="x4"),
    )
    [compaction] = transcript.compactions
    assert [entry if isinstance(entry, int) else entry.text for entry in compaction.after] == [1, 2, CONTINUED]


def test_records_of_a_sub_agent_are_a_transcript_of_their_own(read_all):
    main, helper = read_all(
        init(),
        heard("Go"),
        spoke("m1", use("t1")),
        heard("Look left", parent="t1"),
        spoke("m2", text("Left is free."), parent="t1"),
        came("t1", "Left is free."),
        spoke("m3", text("Done.")),
        ended(),
    )
    assert told(main.messages) == [("user", "Go"), ("assistant", ["t1"]), ("tool", ["t1"]), ("assistant", "Done.")]
    assert told(helper.messages) == [("user", "Look left"), ("assistant", "Left is free.")]
    assert (helper.id, helper.agent_type, helper.cluster) == (f"{main.id}-t1", "subagent", main.cluster)
    assert (helper.tools, "outcome" in helper.header, "outcome" in main.header) == ((), False, True)


def test_events_that_are_no_context_are_counted_and_unknown_ones_as_unknown(read_all):
    [transcript] = read_all(
        init(),
        {"type": "system", "subtype": "status", "status": "compacting", "session_id": SESSION},
        {"type": "stream_event", "event": {"type": "content_block_delta"}, "session_id": SESSION},
        {"type": "rate_limit_event", "session_id": SESSION},
        {"type": "brand_new", "session_id": SESSION},
        spoke("m1", text("Hi.")),
        [1],
    )
    assert transcript.intake.skipped == {"system status": 1, "stream_event": 1, "rate_limit_event": 1}
    assert transcript.intake.unknown == {"brand_new": 1, "no object": 1}


def test_several_sessions_in_one_file_are_told_apart(read_all):
    second = [dict(record, session_id="other") for record in RUN]
    one, two = read_all(*RUN, *second)
    assert (one.id, two.id) == (f"run/{SESSION}", "run/other")
    assert told(one.messages) == told(two.messages)
    assert (one.intake.records, two.intake.records) == (0, 18)


def test_a_later_turn_of_the_same_session_goes_on(read_all):
    [transcript] = read_all(*RUN, init(), heard("More"), spoke("m9", text("More it is.")), ended(num_turns=5))
    assert told(transcript.messages)[-2:] == [("user", "More"), ("assistant", "More it is.")]
    assert transcript.header["num_turns"] == 5


def test_a_single_result_is_the_one_message_that_was_kept(tmp_path):
    file = tmp_path / "answer.json"
    file.write_text(json.dumps(ended(usage={"input_tokens": 3, "cache_read_input_tokens": 90, "output_tokens": 7})))
    [transcript] = read(file)
    assert (sniff(file), told(transcript.messages)) == ("claude_stream", [("assistant", "Done.")])
    assert transcript.usage == (Usage(None, 93, 7, 90),)


def test_a_stream_without_its_beginning_is_known_by_its_messages(read_all):
    assert told(read_all(*RUN[4:])[0].messages)[0] == ("tool", ["c1"])
    assert told(read_all(*map(wrapped, RUN[3:]))[0].messages)[0] == ("assistant", ["c1", "c2"])


def test_local_texts_of_the_client_are_synthetic_and_errors_are_left_out(read_all):
    local = spoke("m1", text("No response requested."))
    local["message"]["model"] = "<synthetic>"
    [transcript] = read_all(init(), local, spoke("m2", text("API Error"), isApiErrorMessage=True))
    assert [(m.text, m.synthetic) for m in transcript.messages] == [("No response requested.", True)]
    assert transcript.intake.skipped == {"api error shown to the user": 1}


odd = st.recursive(
    st.none() | st.booleans() | st.integers(0, 3) | st.sampled_from(["", "user", "tool_result", "x1"]),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(
            st.sampled_from(["type", "id", "content", "subtype", "session_id", "usage"]), inner, max_size=3
        )
    ),
    max_leaves=6,
)
keys = st.sampled_from(
    "type subtype message parent_tool_use_id session_id compact_metadata uuid timestamp tools result usage isSynthetic "
    "isCompactSummary".split()
)


@given(st.lists(st.tuples(st.sampled_from([*RUN, boundary()]), st.dictionaries(keys, odd, max_size=4)), max_size=5))
def test_records_of_any_form_are_read_or_refused(tmp_path_factory, drawn):
    file = tmp_path_factory.getbasetemp() / "odd-stream.jsonl"
    file.write_text("".join(json.dumps(record | more) + "\n" for record, more in [(init(), {}), *drawn]))
    try:
        found = read(file)
    except TranscriptError:
        found = []
    assert all(hash(transcript.messages) for transcript in found)
