"""From a path to its transcripts: patterns, compression, standard input, agent types, limits, sessions over files."""

import gzip
import io
import json
import sys

import pytest
import zstandard

from compactlab import readers
from compactlab.errors import TranscriptError
from compactlab.readers import Source, read, stream, survey

HEADER = {"type": "session", "id": "primary-x", "title": "X", "agent_type": "primary", "tools": []}
USER = {"type": "message", "role": "user", "content": [{"type": "text", "text": "Hi"}]}


def lines(*values):
    return "".join(json.dumps(value) + "\n" for value in values).encode()


def session(name):
    return lines(HEADER | {"id": name}, USER)


PACKED = [
    ("plain", lambda data: data),
    ("gzip", gzip.compress),
    ("zstd", zstandard.ZstdCompressor().compress),
    ("zstd in two frames", lambda data: b"".join(zstandard.compress(half) for half in (data[:40], data[40:]))),
]


@pytest.mark.parametrize("pack", [pack for _, pack in PACKED], ids=[name for name, _ in PACKED])
def test_a_compressed_file_is_read_as_what_is_in_it(tmp_path, pack):
    (tmp_path / "x.bin").write_bytes(pack(session("one") + session("two")))
    assert [t.id for t in read(tmp_path / "x.bin")] == ["one", "two"]


@pytest.mark.parametrize("name", ["a.jsonl.gz", "a.jsonl.zst", "a.jsonl", "a"])
def test_a_session_without_an_id_is_named_by_its_file_without_its_endings(tmp_path, name):
    pack = gzip.compress if name.endswith("gz") else zstandard.compress if name.endswith("zst") else bytes
    (tmp_path / name).write_bytes(pack(json.dumps([{"role": "user", "content": "Hi"}]).encode()))
    assert [t.id for t in read(tmp_path / name)] == ["a"]


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.compress])
def test_compressed_lines_that_break_off_are_read_up_to_there_and_the_fault_is_told(tmp_path, pack):
    many = session("one") + b"".join(lines(USER | {"n": n, "noise": str(hash(str(n)))}) for n in range(20_000))
    packed = pack(many)
    (tmp_path / "x").write_bytes(packed[: len(packed) * 3 // 4])
    [transcript] = read(tmp_path / "x")
    assert 100 < len(transcript.messages) < 20_000
    told = (*transcript.intake.problems, *transcript.intake.skipped)
    assert "last line cut off" in told or any("compressed data that breaks off" in line for line in told)


@pytest.mark.parametrize(
    "packed", [b"\x1f\x8b\x08broken", b"\x28\xb5\x2f\xfdbroken", gzip.compress(b"{" * 999, mtime=0)[:15]]
)
def test_compressed_rubbish_is_one_clean_error(tmp_path, packed):
    (tmp_path / "x").write_bytes(packed)
    with pytest.raises(TranscriptError, match=r"x: compressed data that breaks off or is malformed"):
        read(tmp_path / "x")


def test_a_pattern_reads_the_files_that_match_it(tmp_path):
    for path in ("a/one.jsonl", "a/two.json", "b/three.jsonl", "b/notes.md"):
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_bytes(session(path) if path[-1] != "d" else b"# Notes")
    assert [t.id for t in read(f"{tmp_path}/*/*.jsonl")] == ["a/one.jsonl", "b/three.jsonl"]
    assert [t.id for t in read(f"{tmp_path}/**/two*")] == ["a/two.json"]
    found = survey(f"{tmp_path}/*")
    assert len(found.transcripts) == 3
    assert len(found.unread) == 1
    with pytest.raises(TranscriptError, match=r"no transcript in this pattern \(0 files looked at\)"):
        read(f"{tmp_path}/*.none")


def test_a_name_with_brackets_is_the_file_of_that_name(tmp_path):
    (tmp_path / "run[1].jsonl").write_bytes(session("one"))
    assert [t.id for t in read(tmp_path / "run[1].jsonl")] == ["one"]


def test_standard_input_is_read_like_a_file(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(session("one") + session("two"))))
    found = read("-")
    assert [t.id for t in found] == ["one", "two"]
    assert {t.path for t in found} == {"-"}
    assert found[0].place(found[0].messages[0]) == "-: message 0"


def test_rubbish_on_standard_input_is_told_without_the_name_of_a_hidden_file(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"rubbish")))
    with pytest.raises(TranscriptError) as caught:
        read("-")
    assert str(caught.value) == "-: no reader knows this file; it is text, not JSON"


TYPES = [
    ("critic", "critic"),
    ({"*/logs/*": "subconscious"}, "subconscious"),
    ({"logs/*": "subconscious", "*": "critic"}, "subconscious"),
    ({"other/*": "critic"}, "primary"),
    ("", "primary"),
]


@pytest.mark.parametrize(("agent_type", "expected"), TYPES)
def test_the_agent_type_can_be_given_for_all_or_by_patterns_of_paths(tmp_path, agent_type, expected):
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "one.jsonl").write_bytes(session("one"))
    assert [t.agent_type for t in read(tmp_path, agent_type=agent_type)] == [expected]


def test_progress_is_told_each_file_before_it_is_read(tmp_path):
    for name in ("a", "b"):
        (tmp_path / f"{name}.jsonl").write_bytes(session(name))
    told = []
    survey(tmp_path, progress=told.append)
    assert told == [str(tmp_path / "a.jsonl"), str(tmp_path / "b.jsonl")]


def test_a_limit_ends_the_reading(tmp_path):
    (tmp_path / "a.jsonl").write_bytes(session("one") + session("two") + b'{"type": "session"}\n')
    assert [t.id for t in read(tmp_path / "a.jsonl", limit=1)] == ["one"]


def test_transcripts_are_streamed_one_by_one_with_ids_that_differ(tmp_path):
    (tmp_path / "a.jsonl").write_bytes(session("one") + session("one") + b'{"type": "session"}\n')
    found = stream(tmp_path / "a.jsonl")
    assert [next(found).id, next(found).id] == ["one", "a/one"]
    with pytest.raises(TranscriptError, match="line 5"):
        next(found)


def test_a_session_without_messages_is_told_and_one_alone_is_an_error(tmp_path):
    (tmp_path / "a.jsonl").write_bytes(session("one") + lines(HEADER | {"id": "empty"}))
    found = survey(tmp_path / "a.jsonl")
    assert [t.id for t in found.transcripts] == ["one"]
    assert found.unread == (f"{tmp_path}/a.jsonl: session empty: no messages in it",)
    (tmp_path / "b.jsonl").write_bytes(lines(HEADER | {"id": "empty"}, {"type": "note"}))
    with pytest.raises(TranscriptError, match=r"b.jsonl: no messages in it"):
        read(tmp_path / "b.jsonl", "compactlab")


PAIR = """
from compactlab.transcript import Message, Text, Transcript

WHERE = ""


def sniff(source):
    return 1.0 if "half" in source.first else 0.0


def read(source):
    whole = sorted(source.path.parent.glob("half*"))
    texts = [source.beside(path).first["half"] for path in whole]
    yield Transcript("whole", "pair", tuple(Message("user", (Text(text),)) for text in texts), path=str(source.path))
"""


def test_a_session_over_several_files_is_given_once_for_a_folder_and_whole_for_each_of_its_files(tmp_path, monkeypatch):
    (tmp_path / "readers").mkdir()
    (tmp_path / "readers" / "pair.py").write_text(PAIR)
    monkeypatch.setattr(readers, "__path__", [*readers.__path__, str(tmp_path / "readers")])
    (tmp_path / "data").mkdir()
    for n in (1, 2):
        (tmp_path / "data" / f"half{n}.json").write_text(json.dumps({"half": f"part {n}"}))
    try:
        for path in (tmp_path / "data", tmp_path / "data" / "half1.json", tmp_path / "data" / "half2.json"):
            [whole] = read(path)
            assert [message.text for message in whole.messages] == ["part 1", "part 2"]
    finally:
        sys.modules.pop("compactlab.readers.pair", None)


def test_a_file_is_parsed_once_however_often_it_is_looked_at(tmp_path):
    (tmp_path / "a.json").write_text(json.dumps({"a": [1, 2]}, indent=1))
    source = Source(tmp_path / "a.json")
    assert source.values[0] is source.document
    assert source.first is source.document


RESUMED = """
from pathlib import Path

from compactlab.transcript import Message, Text, Transcript

WHERE = ""


def sniff(source):
    return 1.0 if "resumes" in source.first else 0.0


def read(source):
    if source.first["resumes"]:
        source.beside(source.path.parent / source.first["resumes"])
    yield Transcript(source.stem, "resumed", (Message("user", (Text("Hi"),)),), path=str(source.path))
"""


@pytest.mark.parametrize(("first", "second"), [("", "a.json"), ("b.json", "")])
def test_a_file_that_another_takes_up_is_given_once_whichever_comes_first(tmp_path, monkeypatch, first, second):
    (tmp_path / "readers").mkdir()
    (tmp_path / "readers" / "resumed.py").write_text(RESUMED)
    monkeypatch.setattr(readers, "__path__", [*readers.__path__, str(tmp_path / "readers")])
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "a.json").write_text(json.dumps({"resumes": first}))
    (tmp_path / "data" / "b.json").write_text(json.dumps({"resumes": second}))
    try:
        assert [t.id for t in read(tmp_path / "data")] == ["a" if first else "b"]
    finally:
        sys.modules.pop("compactlab.readers.resumed", None)
