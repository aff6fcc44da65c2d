"""Finding the reader of a file, folders, ids, faults of files, and errors that say what a file looks like."""

import json
import os
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compactlab import readers
from compactlab.errors import TranscriptError, UnknownName
from compactlab.readers import (
    Lines,
    default_agent_type,
    read,
    read_json,
    sniff,
    survey,
    write,
)
from compactlab.transcript import Message, Text, ToolCall, ToolResult, Transcript

HEADER = {"type": "session", "id": "primary-x", "title": "X", "agent_type": "primary", "tools": []}
USER = {"type": "message", "role": "user", "content": [{"type": "text", "text": "Hi"}]}
CHAT = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]


def lines(*values):
    return "".join(json.dumps(value) + "\n" for value in values).encode()


@pytest.mark.parametrize(
    ("data", "name"),
    [
        (lines(HEADER, USER), "compactlab"),
        (json.dumps(CHAT).encode(), "openai_chat"),
        (json.dumps({"messages": CHAT}, indent=2).encode(), "openai_chat"),
        (json.dumps({"messages": CHAT, "system": "Be brief."}).encode(), "anthropic_messages"),
        (b"\xef\xbb\xbf" + lines(HEADER, USER).replace(b"\n", b"\r\n"), "compactlab"),
        (b"\0" * 600 + lines(HEADER, USER), "compactlab"),
    ],
)
def test_a_file_is_known_by_its_content_whatever_its_name(tmp_path, data, name):
    file = tmp_path / "notes.txt"
    file.write_bytes(data)
    assert sniff(file) == name
    assert read(file)[0].format == name


@pytest.mark.parametrize(
    ("data", "found"),
    [
        (b"", "it is an empty file"),
        (b"\0\0\0 \n", "it is an empty file"),
        (b"\x01\x00\x02\x00", "it is binary data"),
        ('{"a": 1}'.encode("utf-16"), "it is UTF-16 text"),
        (b"# A page\n\nof words", "it is text, not JSON"),
        (b'{"messages": [{"role": "us', "it is JSON that breaks off or is malformed"),
        (b'{"a": 1, "b": []}', "it is JSON without messages of a known form (its first object has 'a', 'b')"),
        (b'{"a": 1}\n{"b": 2}\n', "it is JSON lines without messages of a known form (its first object has 'a')"),
        (b"[1, 2, 3]", "it is JSON without messages of a known form"),
        (b'[["a"]]', "it is JSON without messages of a known form"),
        (b"{}", "it is JSON without messages of a known form (its first object has no keys)"),
        (b'"a text"', "it is text, not JSON"),
    ],
)
def test_a_file_that_no_reader_knows_is_an_error_of_one_line_that_says_what_it_is(tmp_path, data, found):
    file = tmp_path / "what.json"
    file.write_bytes(data)
    for ask in (sniff, read):
        with pytest.raises(TranscriptError) as caught:
            ask(file)
        assert str(caught.value) == f"{file}: no reader knows this file; {found}"


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"PK\x03\x04rest", "a zip archive that cannot be read"),
        (b"SQLite format 3\0rest", "an SQLite database that cannot be read"),
        (b"PK\x05\x06" + b"\0" * 18, "no reader knows this file; it is a zip archive"),
    ],
)
def test_an_archive_that_holds_nothing_is_an_error_of_one_line(tmp_path, data, said):
    file = tmp_path / "what.json"
    file.write_bytes(data)
    with pytest.raises(TranscriptError, match=said) as caught:
        read(file)
    assert str(caught.value).startswith(f"{file}: ")


def test_a_missing_file_is_an_error_of_one_line(tmp_path):
    with pytest.raises(TranscriptError, match=r"none.jsonl: no such file or folder$"):
        read(tmp_path / "none.jsonl")


def test_a_file_that_cannot_be_opened_says_why(tmp_path):
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    with pytest.raises(TranscriptError, match=r"loop: cannot be read \(too many levels of symbolic links\)"):
        read(tmp_path / "loop")


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may read everything")
def test_a_file_without_permission_says_so(tmp_path):
    file = tmp_path / "closed.jsonl"
    file.write_bytes(lines(HEADER, USER))
    file.chmod(0)
    with pytest.raises(TranscriptError, match=r"cannot be read \(permission denied\)"):
        read(file)


def test_a_pipe_is_no_transcript(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(TranscriptError, match="pipe: expected a file or a folder"):
        read(tmp_path / "pipe")


def test_a_folder_is_read_in_the_order_of_its_paths_and_says_what_it_passed_over(tmp_path):
    for path in ("b/two.jsonl", "a/one.jsonl", ".hidden/three.jsonl", "a/.four.jsonl", "a/one.probes.jsonl"):
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_bytes(lines(HEADER | {"id": path}, USER))
    (tmp_path / "README.md").write_text("# Words")
    reading = survey(tmp_path)
    assert [transcript.id for transcript in reading.transcripts] == ["a/one.jsonl", "b/two.jsonl"]
    assert reading.unread == (f"{tmp_path}/README.md: no reader knows this file; it is text, not JSON",)
    assert read(tmp_path) == list(reading.transcripts)


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({}, r": no transcript in this folder \(0 files looked at\)"),
        ({"a.md": b"words"}, r": no transcript in this folder \(1 files looked at, such as .*a.md: no reader knows"),
    ],
)
def test_a_folder_without_transcripts_is_an_error(tmp_path, files, said):
    for name, data in files.items():
        (tmp_path / name).write_bytes(data)
    with pytest.raises(TranscriptError, match=said):
        read(tmp_path)


def test_ids_that_collide_are_led_by_the_name_of_their_file(tmp_path):
    for name in ("one", "two"):
        (tmp_path / f"{name}.jsonl").write_bytes(lines(HEADER, USER))
    (tmp_path / "three.jsonl").write_bytes(lines(HEADER, USER, HEADER, USER))
    ids = [transcript.id for transcript in read(tmp_path)]
    assert ids == ["one/primary-x", "three/primary-x", "three/primary-x#2", "two/primary-x"]


def test_a_format_can_be_named_and_a_wrong_name_is_told_from_the_known_ones(tmp_path):
    file = tmp_path / "chat.json"
    file.write_text(json.dumps(CHAT))
    assert read(file, "anthropic_messages")[0].format == "anthropic_messages"
    with pytest.raises(UnknownName, match="'openai_chat'"):
        read(file, "openai_cat")


def test_a_named_format_that_finds_no_messages_is_an_error(tmp_path):
    file = tmp_path / "chat.json"
    file.write_text(json.dumps(CHAT))
    with pytest.raises(TranscriptError, match=r"chat.json: no messages in it"):
        read(file, "claude_code")


READER = """
from compactlab.transcript import Message, Transcript


def sniff(source):
    return 1.0 if source.first.get("type") in {"session", "mine"} else 0.0


def read(source):
    yield Transcript("x", "mine", (Message("user", ()),))
"""


@pytest.fixture
def reader_of_ones_own(tmp_path, monkeypatch):
    (tmp_path / "readers").mkdir()
    (tmp_path / "readers" / "mine.py").write_text(READER)
    monkeypatch.setattr(readers, "__path__", [*readers.__path__, str(tmp_path / "readers")])
    yield
    sys.modules.pop("compactlab.readers.mine", None)


@pytest.mark.usefixtures("reader_of_ones_own")
def test_a_new_file_is_enough_for_a_new_reader(tmp_path):
    (tmp_path / "mine.json").write_bytes(lines({"type": "mine"}))
    assert read(tmp_path / "mine.json") == [Transcript("x", "mine", (Message("user", ()),))]


@pytest.mark.usefixtures("reader_of_ones_own")
def test_two_readers_that_are_equally_sure_are_named(tmp_path):
    (tmp_path / "x.jsonl").write_bytes(lines(HEADER, USER))
    with pytest.raises(TranscriptError, match="compactlab and mine are equally sure of this file; name the format"):
        sniff(tmp_path / "x.jsonl")


def test_a_format_that_can_only_be_read_is_not_written(tmp_path):
    with pytest.raises(TranscriptError, match=r"'tau_bench' can be read but not written; expected one of .*compactlab"):
        write(Transcript("x", "compactlab", ()), tmp_path / "x.jsonl", "tau_bench")


def test_a_place_that_cannot_be_written_says_why(tmp_path):
    with pytest.raises(TranscriptError, match="cannot be written"):
        write(Transcript("x", "compactlab", ()), tmp_path / "none" / "x.jsonl")


@pytest.mark.parametrize(
    ("persons", "calls", "expected"),
    [(0, 1, "subagent"), (1, 1, "subagent"), (2, 1, "primary"), (1, 0, "primary"), (0, 0, "primary")],
)
def test_the_agent_type_follows_from_who_speaks_where_the_format_does_not_say(persons, calls, expected):
    heard = [Message("user", (Text("Hi"),))] * persons + [Message("user", (Text("note"),), synthetic=True)]
    said = [Message("assistant", (ToolCall("c", "f", "{}"),)), Message("tool", (ToolResult("c"),))] * calls
    assert default_agent_type((*heard, *said)) == expected


@pytest.mark.parametrize(
    ("data", "values", "skipped", "problems"),
    [
        (b"", [], {}, ()),
        (b'{"a": 1}', [{"a": 1}], {}, ()),
        (b'{"a": 1}\n\n  \n{"a": 2}\n', [{"a": 1}, {"a": 2}], {}, ()),
        (b'\xef\xbb\xbf{"a": 1}\r\n{"a": 2}\r\n', [{"a": 1}, {"a": 2}], {}, ()),
        (b'{"a": "x\\r\\ny"}\r\n', [{"a": "x\r\ny"}], {}, ()),
        (b'{"a": 1}\n{"a": 2}\n\0\0\0\0', [{"a": 1}, {"a": 2}], {}, ()),
        (b'{"a": 1}\n\0\0\0{"a": 2}\n', [{"a": 1}, {"a": 2}], {}, ()),
        (b'{"a": 1}\n{"a": ', [{"a": 1}], {"last line cut off": 1}, ()),
        (b'{"a": 1}\n{"a": \n\n', [{"a": 1}], {"last line cut off": 1}, ()),
        (
            b'{"a": 1}\n{"a" 2}\n{"a": 3}\n',
            [{"a": 1}, {"a": 3}],
            {},
            ("line 2: not JSON (Expecting ':' delimiter at character 5)",),
        ),
        (
            b'{"a": "\xff"}\n{"a": 3}\n',
            [{"a": "\ufffd"}, {"a": 3}],
            {},
            ("line 1: bytes that are no UTF-8, replaced",),
        ),
        ('{"a": "\u2028\u2029\x85"}\n'.encode(), [{"a": "\u2028\u2029\x85"}], {}, ()),
        (b'{"a": "\\ud83d"}\n', [{"a": "\ud83d"}], {}, ()),
        (b'{"a": "\xed\xa0\xbd"}\n', [{"a": "\ud83d"}], {}, ()),
        (b'{"a": 12345678901234567890123}\n', [{"a": 12345678901234567890123}], {}, ()),
    ],
)
def test_lines_are_read_as_the_tools_of_the_world_leave_them(data, values, skipped, problems):
    read_back = Lines(data.split(b"\n"))
    assert [line.value for line in read_back] == values
    intake = read_back.intake()
    assert (intake.records, intake.skipped, intake.problems) == (len(values), skipped, problems)


def test_json_that_is_nested_too_deep_is_an_error_and_no_fall():
    with pytest.raises(TranscriptError, match="not JSON"):
        read_json(b"[" * 200_000)


@given(st.lists(st.dictionaries(st.text(max_size=4), st.text(st.characters(exclude_categories=[])), max_size=2)))
def test_any_texts_come_back_from_json_lines(values):
    data = "".join(json.dumps(value) + "\n" for value in values).encode()
    assert [line.value for line in Lines(data.split(b"\n"))] == json.loads(json.dumps(values))


@given(st.binary(max_size=200), st.sampled_from([b"", lines(HEADER), lines(HEADER, USER), json.dumps(CHAT).encode()]))
def test_any_bytes_are_read_or_refused_with_one_clear_error(tmp_path_factory, tail, start):
    file = tmp_path_factory.getbasetemp() / "any.jsonl"
    file.write_bytes(start + tail)
    said = ""
    try:
        assert read(file)
    except TranscriptError as error:
        said = str(error)
    assert "\n" not in said
    assert said.startswith((str(file), file.name)) or not said


def test_a_first_line_longer_than_the_sample_is_no_hindrance(tmp_path):
    file = tmp_path / "long.jsonl"
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64," + "QUJD" * 1_300_000}}
    chat = [{"role": "user", "content": [picture]}, {"role": "assistant", "content": "A long picture."}]
    file.write_bytes(lines({"messages": chat}, {"messages": chat}))
    first, second = read(file)
    assert len(first.messages[0].blocks[0].data) == 3_900_000
    assert first.messages == second.messages
