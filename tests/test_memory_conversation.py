"""The file of a living conversation: whole lines or none, each message with one identity, read back as it was."""

import errno
import multiprocessing
import os
import resource
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from conversations import TRANSCRIPTS, fixture, memory, records, said, talk
from hypothesis import given, settings
from hypothesis import strategies as st
from reports import row

import compactlab
from compactlab.errors import TranscriptError
from compactlab.memory import Memory
from compactlab.memory.conversation import Conversation, Note
from compactlab.memory.lines import kept, note
from compactlab.memory.places import header
from compactlab.transcript import Image, Message, Reasoning, Text, ToolCall, ToolResult

HEADER = header("garden", "", {})


@pytest.fixture
def conversation(tmp_path):
    """A conversation that has begun."""
    found = Conversation(tmp_path / "garden.jsonl")
    with found.held() as held:
        held.append([HEADER])
    return found


def append(conversation, *lines):
    with conversation.held() as held:
        return held.append(lines)


def lines_of(*messages):
    return [kept(message).line for message in messages]


def test_the_reader_of_the_format_reads_it_as_it_is(tmp_path):
    there = memory(tmp_path)
    there.append(fixture("subagent-etl"))
    [original] = compactlab.read(TRANSCRIPTS / "subagent-etl.jsonl")
    [read] = compactlab.read(there.path)
    assert [m.blocks for m in read.messages] == [m.blocks for m in original.messages]
    assert [(m.role, m.timestamp, m.synthetic) for m in read.messages] == [
        (m.role, m.timestamp, m.synthetic) for m in original.messages
    ]
    assert (read.agent_type, read.title, read.tools) == (original.agent_type, original.title, original.tools)
    assert read.id == "garden"
    assert not read.intake.problems


BLOCKS = st.one_of(
    st.builds(Text, st.text(st.characters(codec=None, exclude_categories=()), max_size=20)),
    st.builds(Reasoning, st.text(max_size=9), st.none() | st.text(max_size=5)),
    st.builds(
        ToolCall,
        st.text(max_size=5),
        st.text(max_size=5),
        st.sampled_from(['{"a": 1.50}', '{"a"', "[1]", "", "\ud800"]),
    ),
    st.builds(
        ToolResult, st.text(max_size=5), st.tuples(st.builds(Text, st.text(min_size=1, max_size=9))), st.booleans()
    ),
    st.just(Image("image/png", url="https://example.org/a.png")),
)
MESSAGES = st.builds(
    Message,
    st.sampled_from(["system", "user", "assistant", "tool"]),
    st.lists(BLOCKS, max_size=3).map(tuple),
    source=st.none() | st.just(0),
    synthetic=st.booleans(),
    pinned=st.booleans(),
)


@settings(max_examples=60, deadline=None)
@given(message=MESSAGES)
def test_any_message_survives_the_disk_on_one_line(tmp_path_factory, message):
    conversation = Conversation(tmp_path_factory.mktemp("c") / "a.jsonl")
    one = kept(message)
    append(conversation, HEADER, one.line)
    [read] = Conversation(conversation.path).read().kept
    assert b"\n" not in one.line
    assert read == one


def test_half_a_surrogate_pair_survives(conversation):
    append(conversation, *lines_of(said("half \ud83d of it")))
    assert conversation.read().kept[0].message.text == "half \ud83d of it"


def test_every_message_has_an_identity_of_its_own_given_once(tmp_path):
    there = memory(tmp_path)
    ids = there.append(talk(30)).ids + there.append(talk(30)).ids
    assert len(set(ids)) == 60
    assert [line["id"] for line in records(there.path) if line["type"] == "message"] == list(ids)


@pytest.mark.parametrize(
    ("left", "kind"),
    [
        (b'{"a": 1, "b', "unfinished"),
        (kept(said("whole but for its end"), "00c0ffee").line, "message"),
        (kept(said("cut off in the middle")).line[:-20], "unfinished"),
        (b'{"type": "message", "role": "user", "content": "no id"}', "unfinished"),
        (b"\0\0\0\0", "unfinished"),
        (b"\xff\xfe half a character", "unfinished"),
    ],
)
def test_a_line_that_a_killed_writer_left_is_ended_or_put_aside_before_the_next(conversation, left, kind):
    append(conversation, *lines_of(said("first")))
    with conversation.path.open("ab") as file:
        file.write(left)
    assert [one.message.text for one in conversation.read().kept] == ["first"]
    assert append(conversation, *lines_of(said("second"))) == len(left)
    standing = Conversation(conversation.path).read()
    between = ["whole but for its end"] if kind == "message" else []
    assert [one.message.text for one in standing.kept] == ["first", *between, "second"]
    assert [(n.kind, n.record["bytes"]) for n in standing.notes] == ([] if between else [("unfinished", len(left))])
    assert standing.unfinished == b""


@row("K25-D1")
def test_a_header_that_was_cut_off_is_begun_anew(tmp_path):
    path = tmp_path / "garden.jsonl"
    path.write_bytes(HEADER[:30])
    assert append(Conversation(path), HEADER, *lines_of(said("hello"))) == 30
    assert [one.message.text for one in Conversation(path).read().kept] == ["hello"]


def write_many(path, writer, sizes):
    conversation = Conversation(path)
    for number, size in enumerate(sizes):
        append(conversation, *lines_of(said(f"{writer}.{number} " + "x" * size)))


def storm(path, writers, sizes):
    context = multiprocessing.get_context("fork" if sys.platform == "linux" else None)
    workers = [context.Process(target=write_many, args=(path, writer, sizes)) for writer in range(writers)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert [worker.exitcode for worker in workers] == [0] * writers


def seen(path, writers, count):
    """Numbers in the order of the file, a list a writer."""
    found = [[] for _ in range(writers)]
    for one in Conversation(path).read().kept:
        writer, number = one.message.text.split(" ")[0].split(".")
        found[int(writer)].append(int(number))
    assert found == [list(range(count))] * writers


@row("K25-D2")
def test_eight_writers_weld_no_lines_and_lose_none(conversation):
    sizes = [200_000 if i % 10 == 0 else 100 for i in range(20)]
    storm(conversation.path, 8, sizes)
    seen(conversation.path, 8, len(sizes))


@pytest.mark.study
def test_eight_writers_of_two_hundred_records_each(conversation):
    storm(conversation.path, 8, [1_000 + 995 * i for i in range(200)])
    seen(conversation.path, 8, 200)


def test_threads_of_one_process_share_an_object(tmp_path):
    there = memory(tmp_path)
    there.append(talk(2))
    workers = [threading.Thread(target=there.append, args=(talk(2),)) for _ in range(12)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert len(there.messages) == 26
    assert there.messages == memory(tmp_path).messages


def test_what_others_append_is_seen_without_reading_everything_again(conversation):
    append(conversation, *lines_of(*talk(5)))
    first = conversation.read()
    append(Conversation(conversation.path), *lines_of(said("from elsewhere")))
    again = conversation.read()
    assert again.kept[:5] == first.kept
    assert all(new.message is old.message for new, old in zip(again.kept, first.kept, strict=False))
    assert again.kept[5].message.text == "from elsewhere"


def test_a_list_that_was_replaced_is_read_anew_by_who_had_read_the_old_one(conversation):
    append(conversation, *lines_of(*talk(5)))
    other = Conversation(conversation.path)
    standing = other.read()
    line = note("warning", marks=[0.8])
    with conversation.held() as held:
        fresh = standing.header | {"memory": {"version": 1, "generation": 1, "entry": "e1"}}
        held.replace(held.read()._replace(header=fresh, kept=standing.kept[3:], notes=(Note({}, line),)))
    assert [one.id for one in other.read().kept] == [one.id for one in standing.kept[3:]]
    assert (other.read().generation, other.read().entry) == (1, "e1")
    assert [n.line for n in other.read().notes] == [line]
    append(other, *lines_of(said("goes on")))
    assert conversation.read().kept[-1].message.text == "goes on"


def test_what_a_killed_pass_left_beside_the_file_is_removed_by_the_next_and_no_mode_is_lost(conversation):
    append(conversation, *lines_of(*talk(3)))
    conversation.path.chmod(0o600)
    left = conversation.path.with_name(".garden.jsonl.4711.new")
    left.write_bytes(b"half a list")
    with conversation.held() as held:
        held.replace(held.read())
    assert not left.exists()
    assert conversation.path.stat().st_mode & 0o777 == 0o600
    assert len(Conversation(conversation.path).read().kept) == 3


def test_bad_lines_of_others_stay_where_they_are_and_end_nothing(conversation):
    with conversation.path.open("ab") as file:
        file.write(b"not JSON at all\n[1, 2]\n")
    append(conversation, *lines_of(said("still here")))
    standing = conversation.read()
    assert [n.line for n in standing.notes] == [b"not JSON at all", b"[1, 2]"]
    assert len(standing.kept) == 1


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (b'{"type": "session", "id": "a"}\n', "begins no living conversation"),
        (b'{"role": "user", "content": "hi"}\n', "begins no living conversation"),
        (b'{"type": "session", "id": "a", "memory": {"version": 2}}\n', "memory version 2; expected 1"),
        (HEADER + b'\n{"type": "message", "role": "user", "content": "hi"}\n', "line 2 is a message without an id"),
        (HEADER + b'\n{"type": "message", "role": "king", "id": "a"}\n', "line 2 has role 'king'"),
        (HEADER + b"\n" + 2 * (kept(said("hi"), "twice").line + b"\n"), "line 3 has the id 'twice' of an earlier"),
    ],
)
def test_a_file_that_is_no_living_conversation_is_refused_with_its_line(tmp_path, text, told):
    (tmp_path / "conversations").mkdir()
    (tmp_path / "conversations" / "garden.jsonl").write_bytes(text)
    with pytest.raises(TranscriptError, match=told):
        _ = Memory(tmp_path).messages


FULL = """
import resource, signal, sys
from pathlib import Path
from compactlab.memory import Memory
there = Memory(Path(sys.argv[1]), "garden")
print(len(there.messages))
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (there.path.stat().st_size + 300, resource.RLIM_INFINITY))
there.append([{"role": "user", "content": "x" * 5_000}])
"""


def test_a_disk_that_takes_no_more_is_told_and_nothing_half_is_left(tmp_path):
    there = memory(tmp_path)
    there.append(talk(4))
    before = there.path.read_bytes()
    done = subprocess.run([sys.executable, "-c", FULL, tmp_path], capture_output=True, text=True, check=False)
    assert done.stdout == "4\n"
    assert f"nothing was appended ({os.strerror(errno.EFBIG).lower()})" in done.stderr
    assert there.path.read_bytes() == before


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
def test_a_write_that_fails_at_once_leaves_no_file_of_a_conversation_that_was_to_begin(tmp_path):
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    there = memory(tmp_path)
    resource.setrlimit(resource.RLIMIT_FSIZE, (40, limits[1]))
    try:
        with pytest.raises(TranscriptError, match="nothing was appended"):
            there.append(talk(1))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert not there.path.exists()
