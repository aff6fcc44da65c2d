"""pi and OpenClaw files: the list and the tree, who spoke, compactions of both kinds, forks, and broken links."""

import json
import os
from pathlib import Path

import pytest
import runs

from compactlab.readers import read, sniff
from compactlab.transcript import Image, Reasoning, Text, ToolCall, ToolResult, Usage

CORPUS = Path(os.environ.get("COMPACTLAB_CORPUS", runs.CHECKOUT.parent / "shared" / "transcripts"))
HEADER = {"type": "session", "version": 3, "id": "s1", "timestamp": "2026-01-01T00:00:00.000Z", "cwd": "/w"}
GIF = "R0lGODlhAQABAAAAACw="
WRAPPED = (
    "The conversation history before this point was compacted into the following summary:\n\n<summary>\n{}\n</summary>"
)


def write(path, records):
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def tree(*entries, header=HEADER):
    """Link entries one to the other; (parent, entry) hangs one elsewhere."""
    linked, before = [header], None
    for number, given in enumerate(entries):
        parent, entry = given if isinstance(given, tuple) else (before, given)
        before = f"e{number}"
        linked.append({"id": before, "parentId": parent, **entry})
    return linked


def entry(role, content, **more):
    return {"type": "message", "message": {"role": role, "content": content, **more}}


def said(text, **more):
    return entry("assistant", [{"type": "text", "text": text}], model="m1", **more)


def call(call_id, name="read", **arguments):
    return {"type": "toolCall", "id": call_id, "name": name, "arguments": arguments}


def one(tmp_path, records, name="2026_s1.jsonl"):
    path = write(tmp_path / name, records)
    assert sniff(path) == "pi"
    [transcript] = read(path)
    return transcript


def shown(messages):
    return [(message.role, message.text or message.blocks[0]) for message in messages]


def test_a_turn_with_reasoning_a_call_and_its_result(tmp_path):
    usage = {"input": 3, "output": 7, "cacheRead": 100, "cacheWrite": 20}
    thinking = {"type": "thinking", "thinking": "hm", "thinkingSignature": "sig"}
    transcript = one(
        tmp_path,
        tree(
            entry("user", "Read a.py"),
            entry("assistant", [thinking, call("c1", path="a.py")], model="m1", usage=usage, stopReason="toolUse"),
            entry("toolResult", [{"type": "text", "text": "print()"}], toolCallId="c1", isError=True),
        ),
    )
    assert [message.role for message in transcript.messages] == ["user", "assistant", "tool"]
    assert transcript.messages[1].blocks == (Reasoning("hm", "sig"), ToolCall("c1", "read", '{"path":"a.py"}'))
    assert transcript.messages[2].results == (ToolResult("c1", (Text("print()"),), is_error=True),)
    assert transcript.usage == (Usage(1, 123, 7, 100),)
    assert transcript.header == {"version": 3, "models": ["m1"]}
    assert (transcript.id, transcript.agent_type) == ("2026_s1", "primary")
    assert transcript.place(transcript.messages[2]).endswith("2026_s1.jsonl: line 4")


@pytest.mark.parametrize(
    ("given", "block"),
    [
        ({"type": "image", "data": GIF, "mimeType": "image/gif"}, "image"),
        ({"type": "thinking", "thinking": "", "thinkingSignature": "s"}, Reasoning("", "s")),
        ({"type": "thinking", "thinking": "x", "thinkingSignature": "s", "redacted": True}, Reasoning(opaque="s")),
        ({"type": "toolCall", "id": "c", "name": "n", "arguments": '{"a": '}, ToolCall("c", "n", '{"a": ')),
        ({"type": "novelty", "text": "words"}, Text("words")),
    ],
)
def test_kinds_of_parts(tmp_path, given, block):
    transcript = one(tmp_path, tree(entry("user", "x"), entry("assistant", [given])))
    found = transcript.messages[1].blocks[0]
    if block == "image":
        assert isinstance(found, Image)
        assert (found.media_type, found.width, found.data[:3]) == ("image/gif", 1, b"GIF")
    else:
        assert found == block


@pytest.mark.parametrize(
    ("given", "text", "synthetic"),
    [
        (entry("user", "Hello"), "Hello", False),
        (entry("bashExecution", None, command="ls", output="a", exitCode=0), "Ran `ls`\n```\na\n```", True),
        (
            entry("bashExecution", None, command="ls", output="", exitCode=2),
            "Ran `ls`\n(no output)\n\nCommand exited with code 2",
            True,
        ),
        (entry("hookMessage", "from a hook"), "from a hook", True),
        (entry("custom", [{"type": "text", "text": "from an extension"}]), "from an extension", True),
        ({"type": "custom_message", "customType": "x", "content": "kept going"}, "kept going", True),
        (entry("user", "done", provenance={"kind": "inter_session"}), "done", True),
        (entry("user", "[OpenClaw heartbeat poll]"), "[OpenClaw heartbeat poll]", True),
        (entry("user", "[Wed 2026-02-18 16:43 GMT+1] [System Message] x"), None, True),
        (entry("user", "[Wed 2026-02-18 16:43 GMT+1] buy milk"), None, False),
        (entry("assistant", [{"type": "text", "text": "none"}], model="gateway-injected"), "none", True),
    ],
)
def test_who_spoke(tmp_path, given, text, synthetic):
    message = one(tmp_path, tree(entry("user", "first"), given)).messages[1]
    assert message.synthetic is synthetic
    assert text is None or message.text == text


def test_what_is_no_part_of_the_context_is_counted(tmp_path):
    transcript = one(
        tmp_path,
        tree(
            {"type": "model_change", "modelId": "m"},
            entry("user", "x"),
            entry("assistant", [], stopReason="aborted"),
            entry("bashExecution", None, command="ls", excludeFromContext=True),
            {"type": "session_info", "name": "My work"},
            {"type": "novelty"},
            entry("stranger", "y"),
            said("ok"),
        ),
    )
    assert shown(transcript.messages) == [("user", "x"), ("assistant", "ok")]
    assert transcript.title == "My work"
    assert transcript.intake.records == 9
    assert transcript.intake.skipped == {
        "session header": 1,
        "model_change": 1,
        "session_info": 1,
        "aborted response without content": 1,
        "shell command kept out of the context": 1,
    }
    assert transcript.intake.unknown == {"entry novelty": 1, "message of role stranger": 1}


def test_the_branch_of_the_last_entry_is_followed(tmp_path):
    transcript = one(
        tmp_path,
        tree(
            entry("user", "a"),
            said("b"),
            entry("user", "wrong way"),
            said("dead end"),
            ("e1", {"type": "branch_summary", "fromId": "e3", "summary": "tried it"}),
            entry("user", "right way"),
        ),
    )
    texts = [message.text for message in transcript.messages]
    assert texts[:2] + texts[3:] == ["a", "b", "right way"]
    assert "<summary>\ntried it</summary>" in texts[2]
    assert transcript.messages[2].synthetic
    assert transcript.intake.skipped["message of another branch"] == 2


def test_a_leaf_record_moves_to_another_branch(tmp_path):
    records = tree(entry("user", "a"), said("b"), entry("user", "c"), {"type": "leaf", "targetId": "e1"})
    assert [m.text for m in one(tmp_path, records).messages] == ["a", "b"]


def test_a_link_that_leads_nowhere_goes_on_at_the_record_before_it(tmp_path):
    transcript = one(tmp_path, tree(entry("user", "a"), said("b"), ("lost", entry("user", "c"))))
    assert [m.text for m in transcript.messages] == ["a", "b", "c"]
    assert transcript.intake.repaired == {"link that leads nowhere": 1}


def test_a_circle_of_links_ends(tmp_path):
    records = tree(("e1", entry("user", "a")), ("e0", said("b")))
    assert [m.text for m in one(tmp_path, records).messages] == ["a", "b"]


def test_a_record_written_twice_counts_once(tmp_path):
    records = tree(entry("user", "a"), said("b"), entry("user", "c"))
    transcript = one(tmp_path, [*records[:3], records[2], *records[3:]])
    assert [m.text for m in transcript.messages] == ["a", "b", "c"]
    assert transcript.intake.skipped["repeated id"] == 1


def test_the_first_version_counts_all_records_of_the_file(tmp_path):
    flat = [
        {"type": "session", "id": "s1", "timestamp": "t", "cwd": "/w"},
        entry("user", "old"),
        {"type": "thinking_level_change", "thinkingLevel": "high"},
        said("older answer"),
        entry("user", "kept"),
        {"type": "compaction", "summary": "S", "firstKeptEntryIndex": 4, "tokensBefore": 900},
        entry("user", "next"),
    ]
    transcript = one(tmp_path, flat)
    [compaction] = transcript.compactions
    assert (compaction.position, compaction.tokens_before, compaction.summary) == (3, 900, "S")
    assert [m.text for m in transcript.before(0)] == ["old", "older answer", "kept"]
    assert [m.text for m in transcript.after(0)] == [WRAPPED.format("S"), "kept"]
    assert transcript.after(0)[0].synthetic
    assert [m.text for m in transcript.view(4)] == [WRAPPED.format("S"), "kept", "next"]
    assert [m.text for m in transcript.messages] == ["old", "older answer", "kept", "next"]


def test_two_compactions_of_which_the_second_reaches_behind_the_first(tmp_path):
    transcript = one(
        tmp_path,
        tree(
            entry("user", "a"),
            said("b"),
            {"type": "compaction", "summary": "S1", "firstKeptEntryId": "e1", "tokensBefore": 10, "fromHook": True},
            entry("user", "c"),
            {"type": "compaction", "summary": "S2", "firstKeptEntryId": "e1", "tokensBefore": 20},
            said("d"),
        ),
    )
    assert [(c.position, c.trigger, c.summary) for c in transcript.compactions] == [
        (2, "hook", "S1"),
        (3, "unknown", "S2"),
    ]
    assert [m.text for m in transcript.before(1)] == [WRAPPED.format("S1"), "b", "c"]
    assert [m.text for m in transcript.after(1)] == [WRAPPED.format("S2"), "b", "c"]


def test_a_compaction_that_names_itself_keeps_nothing(tmp_path):
    own = {"type": "compaction", "summary": "S", "firstKeptEntryId": "e1", "tokensBefore": 10}
    transcript = one(tmp_path, tree(entry("user", "a"), own, entry("user", "b")))
    assert [m.text for m in transcript.after(0)] == [WRAPPED.format("S")]


def test_a_compaction_with_nothing_before_it_is_counted(tmp_path):
    transcript = one(tmp_path, tree({"type": "compaction", "summary": "S"}, entry("user", "a")))
    assert transcript.compactions == ()
    assert transcript.intake.skipped["compaction with nothing before it"] == 1


def test_a_copy_of_a_response_is_synthetic_and_its_tokens_count_once(tmp_path):
    usage = {"input": 5, "output": 2}
    first = entry("assistant", [{"type": "text", "text": "wait"}, call("c1", "yield")], usage=usage, model="m")
    records = tree(entry("user", "x"), first, entry("toolResult", "ok", toolCallId="c1"), said("wait", usage=usage))
    transcript = one(tmp_path, records)
    assert [m.synthetic for m in transcript.messages] == [False, False, False, True]
    assert transcript.usage == (Usage(1, 5, 2),)


def test_forks_share_the_cluster_of_the_session_that_they_began_in(tmp_path):
    write(tmp_path / "2026-01_p1.jsonl", tree(entry("user", "a"), header=HEADER | {"id": "p1"}))
    middle = HEADER | {"id": "m1", "parentSession": "C:\\pi\\2026-01_p1.jsonl"}
    write(tmp_path / "2026-02_m1.jsonl", tree(entry("user", "a"), header=middle))
    last = HEADER | {"id": "l1", "branchedFrom": "/else/2026-02_m1.jsonl"}
    write(tmp_path / "2026-03_l1.jsonl", tree(entry("user", "a"), header=last))
    assert {t.id: t.cluster for t in read(tmp_path)} == dict.fromkeys(
        ("2026-01_p1", "2026-02_m1", "2026-03_l1"), "2026-01_p1"
    )


def test_a_subagent_of_openclaw_is_told_so(tmp_path):
    task = "[Mon 2026-02-16 10:00 UTC] [Subagent Context] You are running as a subagent (depth 1/1)."
    assert one(tmp_path, tree(entry("user", task), said("ok"))).agent_type == "subagent"


def test_a_file_without_its_header_is_still_known(tmp_path):
    records = tree(entry("user", "a"), said("b"))[1:]
    assert [m.text for m in one(tmp_path, records).messages] == ["a", "b"]


def test_a_file_with_byte_order_mark_windows_ends_bad_line_and_cut_end(tmp_path):
    lines = [json.dumps(record).encode() for record in tree(entry("user", "a\u2028b"), said("c"))]
    path = tmp_path / "s.jsonl"
    path.write_bytes(b"\xef\xbb\xbf" + b"\r\n".join([*lines[:2], b"{oops", lines[2], b'{"type": "mess']))
    [transcript] = read(path)
    assert [m.text for m in transcript.messages] == ["a\u2028b", "c"]
    assert [problem.partition(" (")[0] for problem in transcript.intake.problems] == ["line 3: not JSON"]
    assert transcript.intake.skipped["last line cut off"] == 1


@pytest.mark.skipif(not (CORPUS / "pi-mono").is_dir(), reason="no COMPACTLAB_CORPUS and no folder of transcripts here")
def test_recorded_sessions_of_pi_and_openclaw():
    [pi] = read(CORPUS / "pi-mono" / "before-compaction.jsonl")
    assert len(pi.messages) == 977
    assert [(c.position, c.tokens_before, len(pi.after(i))) for i, c in enumerate(pi.compactions)] == [
        (352, 175004, 67),
        (613, 185014, 78),
    ]
    assert pi.after(0)[1].text.startswith("i reviwed what we have")
    [claw] = read(next((CORPUS / "openclaw").glob("*.jsonl")))
    assert (len(claw.messages), sum(m.by_person for m in claw.messages)) == (131, 18)
    assert [(c.position, len(claw.after(i))) for i, c in enumerate(claw.compactions)] == [(76, 1)]
