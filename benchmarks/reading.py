"""Speed and memory of the readers, as ratios within one run: `python benchmarks/reading.py [FOLDER]`.

- *time*: reading a whole folder of transcripts over parsing the same bytes with the fastest JSON parser that there is
  (of orjson, msgspec, pysimdjson and the standard library's), both with the files in the cache of the system; in total,
  and for each file alone. What a zip archive holds is parsed as its members, unpacked. A session that lies over several
  files is read once with the folder, but for each of its files alone.
- *memory*: the peak of a process that reads the folder, one transcript after the other, above that of one that only
  loads the readers, over the size of the largest file.

FOLDER is by default what `COMPACTLAB_CORPUS` names, else the folder `shared/transcripts` beside the checkout, else the
fixtures. Aims: 3 in time, 4 in memory.
"""

import json
import os
import resource
import subprocess
import sys
import time
import zipfile
from pathlib import Path

from compactlab import catalog
from compactlab.readers import stream

CHECKOUT = Path(__file__).parent.parent
FIXTURES = CHECKOUT / "fixtures" / "transcripts"
BESIDE = CHECKOUT.parent / "shared" / "transcripts"
ROUNDS = 5
AIMS = {"time": 3, "memory": 4}


def parsers():
    """The JSON parsers that are installed, by name."""
    found = {"json": json.loads}
    for name, made in (
        ("msgspec", lambda module: module.json.decode),
        ("orjson", lambda module: module.loads),
        ("simdjson", lambda module: lambda raw: module.Parser().parse(raw, recursive=True)),
    ):
        try:
            found[name] = made(__import__(name))
        except ImportError:
            continue
    return found


def parts(path):
    """What there is to parse in a file: its members, its lines, or the whole of it."""
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            return [archive.read(name) for name in archive.namelist()]
    data = path.read_bytes()
    lines = [line for line in data.split(b"\n") if line.strip()]
    whole = len(lines) == 1 or not all(line.lstrip()[:1] in {b"{", b"["} for line in lines[:2])
    return [data] if whole else lines


def parse(path, parser):
    for part in parts(path):
        try:
            parser(part)
        except ValueError:
            continue


def read(path):
    for _ in stream(path):
        pass


def best(action):
    """Seconds of the fastest of a few rounds."""
    seconds = []
    for _ in range(ROUNDS):
        started = time.perf_counter()
        action()
        seconds.append(time.perf_counter() - started)
    return min(seconds)


def peak(*arguments):
    """Peak memory in bytes of a process of this script."""
    command = [sys.executable, __file__, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603  # this script itself
    return int(done.stdout)


def files(folder):
    return [path for path in sorted(folder.rglob("*")) if path.is_file() and path.suffix not in {".tsv", ".md"}]


def load_readers():
    for name in catalog.names("readers"):
        catalog.load("readers", name)


def main(folder):
    load_readers()
    found = files(folder)
    largest = max(path.stat().st_size for path in found)
    fastest, parser = min(parsers().items(), key=lambda named: best(lambda: [parse(p, named[1]) for p in found]))
    for path in found:
        ratio = best(lambda path=path: read(path)) / best(lambda path=path: parse(path, parser))
        print(f"{ratio:6.2f}  {path.stat().st_size / 1e6:5.2f} MB  {path.relative_to(folder)}")
    time_ratio = best(lambda: read(folder)) / best(lambda: [parse(path, parser) for path in found])
    memory_ratio = (peak("--peak", str(folder)) - peak("--bare")) / largest
    print(f"time: {time_ratio:.2f} times {fastest} over {len(found)} files (aim {AIMS['time']})")
    print(f"memory: {memory_ratio:.2f} times the largest file, {largest / 1e6:.2f} MB (aim {AIMS['memory']})")


def high_water():
    """Peak memory of this process in bytes; on Linux its own since it was started, not what its parent had."""
    status = Path("/proc/self/status")
    if status.is_file():
        line = next(line for line in status.read_text(encoding="ascii").splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def told_peak(folder=None):
    """In a process of its own: load the readers, read a folder, print the peak memory."""
    load_readers()
    if folder:
        read(folder)
    print(high_water())


if __name__ == "__main__":
    if sys.argv[1:2] == ["--bare"]:
        told_peak()
    elif sys.argv[1:2] == ["--peak"]:
        told_peak(Path(sys.argv[2]))
    else:
        given = sys.argv[1] if len(sys.argv) > 1 else os.environ.get("COMPACTLAB_CORPUS")
        main(Path(given) if given else BESIDE if BESIDE.is_dir() else FIXTURES)
