"""Files of any number of sessions are read one after the other: memory is that of a session, not that of the file."""

import json
import time
import tracemalloc

import pytest
from stories import Call, Did, Got, Said
from story_forms import FORMS

from compactlab.readers import stream

MEGABYTE = 1 << 20
SESSION = 64 * 1024
LINED = [
    "own",
    "openai lines",
    "openai list",
    "anthropic lines",
    "rows",
    "rows of trajectories",
    "tau",
    "sharegpt",
    "openhands rows",
    "who and when",
    "swe agent",
    "mini swe agent",
    "atif",
]


def session(name, number):
    """The lines of one session of some 64 KB."""
    words = f"{number} rows were moved to the new table.\n" * (SESSION // 42)
    acted = [Did((Call("c1"),)), Got("c1", words)] if "calls" in FORMS[name].holds else [Said("assistant", words)]
    told = FORMS[name].file((Said("user", f"Session {number}."), *acted, Said("assistant", "Done.")))
    for known in (b'"s1"', b'"i1"', b'"x"', b'"t"'):
        told = told.replace(b'id": ' + known, b'id": "s%d"' % number)
    if name == "tau":  # a file of runs is a list; in lines each stands for itself
        told = told[1:-1]
    return told if told.endswith(b"\n") else told + b"\n"


def written(path, name, size):
    """Write sessions up to *size* bytes; how many they are."""
    count = 0
    with path.open("wb") as file:
        while file.tell() < size:
            file.write(session(name, count))
            count += 1
    return count


def streamed(path):
    """How many sessions a file holds, and the most memory that reading them one by one took, in bytes."""
    next(stream(path))  # so that modules are loaded
    tracemalloc.start()
    try:
        count = sum(len(transcript.messages) >= 2 for transcript in stream(path))
        return count, tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("name", LINED)
def test_many_sessions_are_read_in_the_memory_of_a_few(tmp_path, name):
    path = tmp_path / "many.jsonl"
    count = written(path, name, 5 * MEGABYTE)
    assert count > 70
    found, memory = streamed(path)
    assert found == count
    assert memory < 1.5 * MEGABYTE, f"{memory / MEGABYTE:.1f} MB"


@pytest.mark.study
@pytest.mark.parametrize("name", LINED)
def test_a_large_file_of_sessions_is_read_in_the_memory_of_a_few(tmp_path, name):
    path = tmp_path / "many.jsonl"
    count = written(path, name, 50 * MEGABYTE)
    found, memory = streamed(path)
    assert found == count
    assert memory < 8 * MEGABYTE, f"{memory / MEGABYTE:.1f} MB"


@pytest.mark.parametrize("name", ["own", "openai lines", "rows"])
def test_sessions_before_a_fault_are_there_before_it_is_reached(tmp_path, name):
    path = tmp_path / "many.jsonl"
    written(path, name, MEGABYTE)
    told = stream(path)
    first = next(told)
    with path.open("r+b") as file:
        file.truncate(path.stat().st_size // 2)
    rest = list(told)
    assert first.messages[0].text == "Session 0."
    assert 5 < len(rest) < 12
    assert rest[-1].intake.skipped["last line cut off"] == 1


def test_many_sessions_of_one_id_get_ids_of_their_own_in_time_that_grows_with_them(tmp_path):
    head = json.dumps({"type": "session", "id": "s1", "title": "", "agent_type": "primary"})
    said = json.dumps({"type": "message", "role": "user", "content": "Hi."})
    path = tmp_path / "many.jsonl"
    path.write_text(f"{head}\n{said}\n" * 20_000)
    before = time.perf_counter()
    ids = [transcript.id for transcript in stream(path)]
    assert time.perf_counter() - before < 10
    assert len(set(ids)) == len(ids) == 20_000
    assert ids[:3] == ["s1", "many/s1", "many/s1#2"]
