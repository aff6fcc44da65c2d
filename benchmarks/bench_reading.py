"""Reading: recorded and made sessions over parsing their JSON once; the memory that the largest file takes.

The folder is what `COMPACTLAB_CORPUS` names, else `shared/transcripts` beside the checkout, else the fixtures. A
session that lies over several files is read once with its folder.
"""

import os
import resource
import subprocess
import sys
import zipfile
from pathlib import Path

import inputs
import msgspec
import pytest

from compactlab import catalog
from compactlab.readers import stream, writable, write

BESIDE = Path(__file__).parent.parent.parent / "shared" / "transcripts"


def folder():
    given = os.environ.get("COMPACTLAB_CORPUS")
    return Path(given) if given else BESIDE if BESIDE.is_dir() else inputs.FIXTURES


def files(where):
    return [path for path in sorted(where.rglob("*")) if path.is_file() and path.suffix not in {".tsv", ".md"}]


def parts(path):
    """What there is to parse in a file: its members, its lines, or the whole of it."""
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            return [archive.read(name) for name in archive.namelist()]
    data = path.read_bytes()
    lines = [line for line in data.split(b"\n") if line.strip()]
    whole = len(lines) == 1 or not all(line.lstrip()[:1] in {b"{", b"["} for line in lines[:2])
    return [data] if whole else lines


def parse(path):
    for part in parts(path):
        try:
            msgspec.json.decode(part)
        except (msgspec.DecodeError, UnicodeDecodeError):
            continue


def drained(path):
    for _ in stream(path):
        pass


def bench_recorded_sessions_over_parsing(cost, floors):
    drained(inputs.FIXTURES)
    cost(lambda: drained(inputs.FIXTURES), floors.parsing(), "parsing the sessions once", 12)


def bench_a_corpus_over_parsing(cost, floors):
    found = folder()
    drained(found)
    once = floors.of("parsing the corpus once", lambda: [parse(path) for path in files(found)])
    cost(lambda: drained(found), once, "parsing the corpus once", 3)


@pytest.mark.parametrize("name", writable())
def bench_a_made_session_over_parsing(cost, floors, name, tmp_path):
    path = tmp_path / "made.jsonl"
    write([inputs.transcript(4_000)], path, name)
    drained(path)
    once = floors.of(f"parsing {name} once", lambda: parse(path))
    cost(lambda: drained(path), once, "parsing the file once", 30)


def bench_memory_over_the_largest_file(cost):
    """Peak memory of a process that reads the largest file above that of one that only loads the readers."""
    largest = max(files(folder()), key=lambda path: path.stat().st_size)
    above = peak(str(largest)) - peak()
    cost.told(above / 1e6, largest.stat().st_size / 1e6, "the largest file, in MB", 4)


def peak(*arguments):
    done = subprocess.run([sys.executable, __file__, *arguments], capture_output=True, text=True, check=True)
    return int(done.stdout)


def high_water():
    """Peak memory of this process in bytes; on Linux its own since it was started, not what its parent had."""
    status = Path("/proc/self/status")
    if status.is_file():
        line = next(line for line in status.read_text(encoding="ascii").splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


if __name__ == "__main__":
    for reader in catalog.names("readers"):
        catalog.load("readers", reader)
    for given in sys.argv[1:]:
        drained(Path(given))
    print(high_water())
