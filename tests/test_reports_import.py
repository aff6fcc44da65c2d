"""Reported faults of reading: encodings, torn and welded lines, records that come twice or are of no known kind."""

import json
import os
import subprocess
import sys

import pytest
from claude_code_records import agent, answer, boundary, summary, text, use, user
from reports import compacted, every_strategy, row, rows, sketch

from compactlab.errors import TranscriptError
from compactlab.readers import read, writable, write
from compactlab.transcript import Message, Text, ToolCall, ToolResult, Transcript

ODD = ("half \ud83d", "a\x00b", "e\u0301\u2028 ends\r\nhere \t ", "請 👩‍👩‍👧‍👦")
AT = "2026-02-12T16:00:00.000Z"


def lines(*records):
    return b"".join(json.dumps(record).encode() + b"\n" for record in records)


def stored(folder, data, name="s.jsonl"):
    path = folder / name
    path.write_bytes(data)
    return path


def texts(transcript):
    return [m.text or m.results[0].text for m in transcript.messages if m.text or m.results]


def session(*, kept=()):
    """Two turns of Claude Code, a compaction that kept the records *kept*, and a turn after it."""
    preserved = {"preservedMessages": {"anchorUuid": "s1", "uuids": list(kept), "allUuids": list(kept)}} if kept else {}
    return [
        user("u1", None, "Move the table."),
        agent("a1", "u1", "m1", use("c1", command="ls")),
        answer("r1", "a1", "c1", "three files"),
        agent("a2", "r1", "m2", text("Moved.")),
        boundary("b1", "a2", trigger="auto", preTokens=155_003, **preserved),
        summary("s1", "b1"),
        agent("a3", "s1", "m3", text("Next.")),
    ]


# ---- K21: encodings


def spoken(words):
    """A session that has *words* in every place that can hold text."""
    call = ToolCall("c1", "bash", json.dumps({"command": words}))
    blocks = (Text(words), call)
    result = Message("tool", (ToolResult("c1", (Text(words),)),))
    return Transcript("t", "compactlab", (Message("user", (Text(words),)), Message("assistant", blocks), result))


@pytest.mark.parametrize("name", writable())
@rows("words", {f"K21-D1 {i}": (words,) for i, words in enumerate(ODD)})
def test_what_cannot_be_encoded_is_written_so_that_any_reader_takes_it(tmp_path, words, name):
    path = tmp_path / "x"
    write(spoken(words), path, name)
    for line in path.read_bytes().decode("utf-8").splitlines() if "\u2028" not in words else ():
        json.loads(line.encode())
    [back] = read(path, name)
    assert texts(back) == [words] * 3


@row("K21-D1 a cut that falls on an emoji")
@every_strategy
def test_no_strategy_cuts_a_character_in_two(spec):
    given = sketch(f"S U'move' {' '.join(f'A[c{i}] T[c{i}]~900 U~30 A~30' for i in range(9))}")
    given = tuple(m if m.role != "tool" else emojis(m) for m in given)
    for message in compacted(given, spec, 700).messages:
        repr(message).encode("utf-8")


def emojis(message):
    return Message(message.role, (ToolResult(message.results[0].call_id, (Text("👩‍👩‍👧‍👦🎉" * 300),)),), message.source)


@rows("words", {f"K21-D2 {i}": (words,) for i, words in enumerate(ODD)})
def test_a_recording_is_kept_byte_for_byte_and_not_repaired(tmp_path, words):
    first, second = tmp_path / "first", tmp_path / "second"
    write(spoken(words), first)
    [back] = read(first)
    assert back.messages == spoken(words).messages
    write(back, second)
    assert first.read_bytes() == second.read_bytes()


@pytest.mark.parametrize("name", writable())
@row("K21-D3")
def test_a_nul_stands_escaped_in_every_file_and_comes_back(tmp_path, name):
    path = tmp_path / "x"
    write(spoken("abc\x00def"), path, name)
    assert b"\0" not in path.read_bytes()
    assert texts(read(path, name)[0]) == ["abc\x00def"] * 3


@row("K21-D4")
def test_the_code_page_of_the_system_changes_nothing(tmp_path):
    path = stored(
        tmp_path, json.dumps([{"role": "user", "content": "\u201dx\u201d é 請"}], ensure_ascii=False).encode()
    )
    assert b"\x9d" in path.read_bytes()
    code = f"from compactlab.readers import read; print(ascii(read({str(path)!r})[0].messages[0].text))"
    bare = {**os.environ, "LC_ALL": "C", "LANG": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    done = subprocess.run([sys.executable, "-c", code], env=bare, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ascii("\u201dx\u201d é 請")


@row("K21-D4 bytes that are no text")
def test_bytes_that_are_no_text_are_reported_with_their_line(tmp_path):
    data = lines(*session())
    [transcript] = read(stored(tmp_path, data.replace(b"three files", b"three \x9d files")))
    assert transcript.intake.problems == ("line 3: bytes that are no UTF-8, replaced",)
    assert texts(transcript)[1] == "three \ufffd files"


@row("K21-D5")
def test_a_byte_order_mark_hides_no_record(tmp_path):
    [transcript] = read(stored(tmp_path, b"\xef\xbb\xbf" + lines(*session()[:4])))
    assert (transcript.format, len(transcript.messages), transcript.intake.records) == ("claude_code", 4, 4)


# ---- K25: torn lines, welded lines, one identity

RECORDS = [line + b"\n" for line in lines(*session()).splitlines()]
TORN = {
    "K25-D1": ([*RECORDS[:2], RECORDS[3][:60], *RECORDS[2:4]], 4),
    "K25-D1 a stub of many parts": ([*RECORDS[:2], lines({"a": [{"b": i} for i in range(50)]})[:-9], *RECORDS[2:4]], 4),
    "K25-D1 at the very end": ([*RECORDS[:4], RECORDS[4][:60]], 4),
    "K25-D2": ([RECORDS[0].strip() + RECORDS[1], b"\n", *RECORDS[2:4]], 4),
    "K25-D2 all on one line": ([b"".join(RECORDS[:4]).replace(b"\n", b"") + b"\n"], 4),
    "K25-D5": ([RECORDS[0], RECORDS[1], RECORDS[2].replace(b"three files", b"three\nor four\nfiles"), RECORDS[3]], 4),
}


@rows(("pieces", "count"), TORN)
def test_a_torn_line_costs_no_record_but_itself(tmp_path, pieces, count):
    [transcript] = read(stored(tmp_path, b"".join(pieces)))
    assert len(transcript.messages) == count
    assert [len(m.calls) for m in transcript.messages] == [0, 1, 0, 0]


@row("K25-D2 records of any size")
def test_long_records_of_several_writers_are_all_read(tmp_path):
    sizes = [1_000 * (1 + 25 * (i % 9)) for i in range(200)]
    records = [user(f"u{i}", f"u{i - 1}" if i else None, "x" * size) for i, size in enumerate(sizes)]
    [transcript] = read(stored(tmp_path, lines(*records)))
    assert [len(m.text) for m in transcript.messages] == sizes


def kept_thrice():
    """Three passes that each keep the same five entries."""
    head = [{"type": "session", "version": 3, "id": "s"}]
    said = [{"type": "message", "message": {"role": "user", "content": f"part {i}"}} for i in range(8)]
    passes = [
        {"type": "compaction", "summary": f"pass {i}", "firstKeptEntryId": "e3", "tokensBefore": 9} for i in (1, 2, 3)
    ]
    entries = [*said, *passes, {"type": "message", "message": {"role": "user", "content": "go on"}}]
    linked = [{**entry, "id": f"e{i}", "parentId": f"e{i - 1}" if i else None} for i, entry in enumerate(entries)]
    return [*head, *linked]


@row("K25-D6")
def test_a_tail_that_three_passes_kept_stands_once(tmp_path):
    [transcript] = read(stored(tmp_path, lines(*kept_thrice())))
    assert texts(transcript) == [*(f"part {i}" for i in range(8)), "go on"]
    assert [[entry for entry in c.after if isinstance(entry, int)] for c in transcript.compactions] == [
        [3, 4, 5, 6, 7]
    ] * 3
    assert [message.text.count("pass") for message in transcript.view(9)] == [1, 0, 0, 0, 0, 0, 0]


@row("K25-D6 in Claude Code")
def test_messages_that_a_boundary_kept_are_the_old_ones(tmp_path):
    [transcript] = read(stored(tmp_path, lines(*session(kept=("r1", "a2")))))
    assert texts(transcript) == ["Move the table.", "three files", "Moved.", "Next."]
    assert {2, 3} <= {entry for entry in transcript.compactions[0].after if isinstance(entry, int)}


# ---- K28: import and usage

NEW = {"type": "new-thing", "payload": {"x": 1}, "data": [1]}
ITEM = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Look."}]}
KINDS = {
    "K28-D1": [*session()[:4], {**user("n1", "a2", "x"), "type": "new-thing"}],
    "K28-D1 without links": [*session()[:4], NEW],
    "K28-D1 codex": [
        {"timestamp": AT, "type": "session_meta", "payload": {"id": "s", "cwd": "/"}},
        {"timestamp": AT, "type": "response_item", "payload": ITEM},
        {"timestamp": AT, **NEW},
    ],
    "K28-D1 codex item": [
        {"timestamp": AT, "type": "session_meta", "payload": {"id": "s", "cwd": "/"}},
        {"timestamp": AT, "type": "response_item", "payload": ITEM},
        {"timestamp": AT, "type": "response_item", "payload": {**NEW, "type": "new-thing"}},
    ],
    "K28-D1 pi": [*kept_thrice()[:4], {**NEW, "id": "n", "parentId": "e2"}],
    "K28-D1 stream": [
        {"type": "system", "subtype": "init", "session_id": "s", "tools": []},
        {"type": "assistant", "message": {"id": "m", "role": "assistant", "content": [text("Hi")]}, "session_id": "s"},
        NEW,
    ],
    "K28-D1 own": [
        {"type": "session", "id": "s", "title": "", "agent_type": "primary"},
        {"type": "message", "role": "user", "content": [text("Hi")]},
        NEW,
    ],
}


@rows("records", {name: (records,) for name, records in KINDS.items()})
def test_a_record_of_a_new_kind_is_counted_and_passed_over(tmp_path, records):
    [transcript] = read(stored(tmp_path, lines(*records)))
    [without] = read(stored(tmp_path, lines(*records[:-1])))
    assert sum(transcript.intake.unknown.values()) == 1
    assert any("new-thing" in kind for kind in transcript.intake.unknown)
    assert transcript.messages == without.messages


@row("K28-D2")
def test_usage_of_one_response_over_three_records_counts_once(tmp_path):
    pieces = [agent(f"a{i}", f"a{i - 1}" if i else "u1", "m1", text(f"piece {i}")) for i in range(3)]
    for piece in pieces:
        piece["message"]["usage"] = {"input_tokens": 10, "cache_read_input_tokens": 90, "output_tokens": 7}
    [transcript] = read(stored(tmp_path, lines(user("u1", None, "Go."), *pieces)))
    assert [(u.position, u.input, u.output, u.cached) for u in transcript.usage] == [(1, 100, 7, 90)]


def turns(count, names):
    """Turns whose records have uuids led by *names*, and whose message ids are the same whatever their names."""
    last, made = None, []
    for i in range(count):
        made.append(user(f"{names}u{i}", last, f"turn {i}"))
        made.append(agent(f"{names}a{i}", f"{names}u{i}", f"m{i}", text(f"answer {i}")))
        last = f"{names}a{i}"
    return made


@row("K28-D3")
def test_turns_that_a_resume_wrote_again_stand_once(tmp_path):
    again = turns(6, "y")
    again[0]["parentUuid"] = "xa4"
    [transcript] = read(stored(tmp_path, lines(*turns(5, "x"), *again)))
    assert texts(transcript) == [word for i in range(6) for word in (f"turn {i}", f"answer {i}")]
    assert [usage.output for usage in transcript.usage] == [9] * 6


@row("K28-D4")
def test_a_summary_that_is_written_twice_is_no_fault(tmp_path):
    twice = [*session()[:6], *session()[4:6], session()[6]]
    [transcript] = read(stored(tmp_path, lines(*twice)))
    assert texts(transcript) == ["Move the table.", "three files", "Moved.", "Next."]
    assert {compaction.position for compaction in transcript.compactions} == {4}


EMPTY = {
    "K28-D5": lines({"type": "user", "message": {"role": "user", "content": "Hi"}}),
    "K28-D5 two levels deeper": lines({"type": "user", "data": {"message": {"role": "user", "content": "Hi"}}}),
    "K28-D5 a header alone": lines({"type": "session", "version": 3, "id": "s", "cwd": "/"}),
    "K28-D5 an empty list": b'{"messages": []}',
    "K28-D5 records without turns": lines({"type": "summary", "summary": "x"}, boundary("b1", None)),
}


@rows("data", {name: (data,) for name, data in EMPTY.items()})
def test_a_file_without_turns_is_an_error_and_never_an_empty_session(tmp_path, data):
    path = stored(tmp_path, data)
    try:
        found = [len(transcript.messages) for transcript in read(path)]
    except TranscriptError as error:
        found = str(error).removeprefix(f"{path}: ").split(";")[0]
    assert found in ("no messages in it", "no reader knows this file", [1])


@row("K28-D6")
def test_a_summary_and_its_boundary_are_a_compaction_and_no_turn(tmp_path):
    [transcript] = read(stored(tmp_path, lines(*session())))
    assert texts(transcript) == ["Move the table.", "three files", "Moved.", "Next."]
    [compaction] = transcript.compactions
    assert (compaction.position, compaction.trigger, compaction.tokens_before) == (4, "auto", 155_003)
    assert compaction.summary.startswith("This session is being continued")
    assert [(m.role, m.synthetic) for m in transcript.after(0)] == [("user", True)]
