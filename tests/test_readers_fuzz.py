"""Whatever became of a file: reading it gives transcripts, or one line that names it; soon, and in little memory."""

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from fuzz_bases import bases
from mutations import spoiled

from compactlab import catalog
from compactlab.readers import read, sniff

TESTS = Path(__file__).parent
BESIDE = TESTS.parent.parent / "shared" / "transcripts"
CORPUS = Path(os.environ.get("COMPACTLAB_CORPUS") or BESIDE)
FEW, MANY = 2_000, 20_000
FEW_SECONDS, MANY_SECONDS = 60, 900
MEMORY = 1 << 30

every_base = pytest.mark.parametrize("name", bases())


def written(name, folder):
    """Write the files of a base into a folder, and give the path of the one that is read."""
    for place, data in bases()[name].files.items():
        path = folder / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return folder / next(iter(bases()[name].files))


def batch(first, count, seconds):
    """Read spoiled files in a process of its own; give its faults and its figures."""
    program = [sys.executable, "-W", "error", str(TESTS / "fuzz_batch.py"), str(first), str(count)]
    corpus = [str(CORPUS)] if CORPUS.is_dir() else []
    done = subprocess.run([*program, *corpus], capture_output=True, text=True, timeout=seconds, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    *faults, figures = [json.loads(line) for line in done.stdout.splitlines()]
    return faults, figures


@every_base
def test_a_base_is_known_to_its_reader_and_holds_messages(tmp_path, name):
    path = written(name, tmp_path)
    assert sniff(path) == bases()[name].reader
    transcripts = read(path)
    assert {transcript.format for transcript in transcripts} == {bases()[name].reader}
    assert sum(len(transcript.messages) for transcript in transcripts) >= 2


def test_every_reader_has_a_base():
    assert {base.reader for base in bases().values()} == set(catalog.names("readers"))


@pytest.mark.parametrize("name", [name for name, base in bases().items() if len(base.files) > 1])
def test_any_file_of_a_session_gives_the_whole_of_it_and_the_folder_gives_it_once(tmp_path, name):
    written(name, tmp_path)
    whole = [transcript.messages for transcript in read(tmp_path)]
    assert [len(messages) > 2 for messages in whole] == [True]
    for place in bases()[name].files:
        assert [transcript.messages for transcript in read(tmp_path / place)] == whole


@every_base
def test_a_seed_spoils_a_file_the_same_each_time(name):
    data = next(iter(bases()[name].files.values()))
    assert [spoiled(data, seed) for seed in range(20)] == [spoiled(data, seed) for seed in range(20)]


def test_files_are_spoiled_in_many_ways():
    data = bases()["claude code"].files["s1.jsonl"]
    made = [spoiled(data, seed) for seed in range(400)]
    deeds = Counter(deed for one in made for deed in one.deed.split(", "))
    assert len(deeds) >= 20
    assert sum(one.data == data for one in made) < len(made) / 10


def test_spoiled_files_are_read_or_refused_in_one_line():
    faults, figures = batch(0, FEW, FEW_SECONDS)
    assert faults == []
    assert figures["read"] == FEW
    assert figures["memory"] < MEMORY


@pytest.mark.study
@pytest.mark.parametrize("first", range(FEW, FEW + MANY, MANY // 5))
def test_many_spoiled_files_are_read_or_refused_in_one_line(first):
    faults, figures = batch(first, MANY // 5, MANY_SECONDS)
    assert faults == []
    assert figures["memory"] < MEMORY
