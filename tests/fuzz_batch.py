"""Read many spoiled files in a process of its own, and print what went wrong, one JSON object a line, and the memory.

`python -W error fuzz_batch.py FIRST_SEED COUNT [CORPUS]`: bases in turn, seed by seed; with a corpus also the heads of
its files. What may come of a file: transcripts that hold what their types say, or one line that names the file.
"""

from __future__ import annotations

import json
import resource
import shutil
import signal
import sys
import tempfile
import traceback
import zipfile
from pathlib import Path
from random import Random
from time import perf_counter
from typing import TYPE_CHECKING, Any

import msgspec
from fuzz_bases import Base, bases, zipped
from mutations import spoiled

from compactlab.errors import TranscriptError
from compactlab.readers import read
from compactlab.transcript import Transcript

if TYPE_CHECKING:
    from collections.abc import Iterator

SLOWEST = 5
HEAD_BYTES = 60_000


def heads(corpus: Path) -> dict[str, Base]:
    """The files of a corpus with those beside them, each cut down to what is read in milliseconds."""
    files = {path: head(path) for path in sorted(corpus.glob("*/*")) if path.is_file()}
    found = {}
    for path, data in files.items():
        beside = {other.name: files[other] for other in files if other.parent == path.parent}
        found[str(path.relative_to(corpus))] = Base("", {path.name: data, **beside})
    return found


def head(path: Path) -> bytes:
    """The first records of a file, long texts and lists in them cut."""
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            names = [*archive.namelist()[:2], "header.json"]
            return zipped({name: _cut(archive.read(name), 20_000) for name in names})
    return _cut(path.read_bytes(), HEAD_BYTES)


def _cut(data: bytes, size: int) -> bytes:
    try:
        return _fitted(json.loads(data), size)
    except ValueError:
        pass
    rows = b""
    for row in data.split(b"\n"):
        piece = row if len(row) < size // 10 else _fitted(json.loads(row), size // 10)
        if len(rows) + len(piece) > size:
            break
        rows += piece + b"\n"
    return rows


def _fitted(value: Any, size: int) -> bytes:
    for texts, lists in ((2_000, 40), (300, 20), (100, 8), (40, 4), (20, 2)):
        made = json.dumps(_pruned(value, texts, lists)).encode()
        if len(made) <= size:
            break
    return made


def _pruned(value: Any, texts: int, lists: int) -> Any:
    if isinstance(value, dict):
        return {key: _pruned(inner, texts, lists) for key, inner in value.items()}
    if isinstance(value, list):
        return [_pruned(inner, texts, lists) for inner in value[:lists]]
    if isinstance(value, str) and len(value) > texts:
        return json.dumps(_pruned(json.loads(value), texts, lists)) if _is_json(value) else value[:texts]
    return value


def _is_json(text: str) -> bool:
    try:
        return text[:1] in {"{", "["} and bool(json.loads(text))
    except ValueError:
        return False


def faults(path: Path) -> Iterator[str]:
    """Read a file or folder, and say what is wrong with what came of it."""
    signal.alarm(SLOWEST)
    try:
        transcripts = read(path)
        yield from (fault for transcript in transcripts for fault in _wrong(transcript))
        if len({transcript.id for transcript in transcripts}) < len(transcripts):
            yield "two transcripts of one id"
    except TranscriptError as error:
        text = str(error)
        if "\n" in text or not text.startswith(str(path)):
            yield f"an error that does not name the file in one line: {text!r}"
    except BaseException as error:  # noqa: BLE001  # whatever it is, it is the finding
        where = traceback.extract_tb(error.__traceback__)
        last = ([frame for frame in where if "compactlab" in frame.filename] or where)[-1]
        place = "/".join(Path(last.filename).parts[-2:])
        yield f"{type(error).__name__}: {str(error)[:200]!r} in {place}:{last.lineno}"
    finally:
        signal.alarm(0)


def _wrong(transcript: Transcript) -> Iterator[str]:
    """What a transcript holds that its types do not allow, and what it says of places that are not there."""
    try:
        msgspec.convert(msgspec.to_builtins(transcript), Transcript)
    except (msgspec.ValidationError, TypeError) as error:
        yield f"not what its types say: {error}"
        return
    size = len(transcript.messages)
    positions = [compaction.position for compaction in transcript.compactions]
    if positions != sorted(positions) or not all(0 <= position <= size for position in positions):
        yield f"compactions at {positions} of {size} messages"
    for compaction in transcript.compactions:
        later = [i for i in compaction.after if isinstance(i, int) and not 0 <= i < compaction.position]
        if later:
            yield f"kept {later} behind a compaction at {compaction.position}"
    for usage in transcript.usage:
        if usage.position is not None and not 0 <= usage.position < size:
            yield f"usage of message {usage.position} of {size}"
    for message in transcript.messages:
        transcript.place(message)
    transcript.view(size)


def spoilt(base: Base, seed: int, folder: Path) -> tuple[Path, str]:
    """Write the files of a base, one of them spoiled; give the path to read and what was done."""
    rng = Random(seed)
    chosen = rng.choice(list(base.files))
    made = spoiled(base.files[chosen], seed)
    for name, data in base.files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(made.data if name == chosen else data)
    return (folder if rng.random() < 0.1 else folder / chosen), f"{chosen}: {made.deed}"


def main(first: int, count: int, corpus: str = "") -> None:
    """Read *count* spoiled files, print the faults and last the figures."""
    signal.signal(signal.SIGALRM, _too_slow)
    held = list((bases() | (heads(Path(corpus)) if corpus else {})).items())
    slowest = (0.0, "")
    for seed in range(first, first + count):
        name, base = held[seed % len(held)]
        folder = Path(tempfile.mkdtemp(prefix="fuzz-"))
        path, deed = spoilt(base, seed, folder)
        started = perf_counter()
        for fault in faults(path):
            _print({"base": name, "seed": seed, "deed": deed, "fault": fault.replace(str(folder), "")})
        slowest = max(slowest, (perf_counter() - started, f"{name} {seed}"))
        shutil.rmtree(folder)
    memory = high_water()
    _print({"read": count, "bases": len(held), "memory": memory, "seconds": slowest[0], "slowest": slowest[1]})


def _print(value: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(value) + "\n")


def high_water():
    """Peak memory of this process in bytes; on Linux its own since it was started, not what its parent had."""
    status = Path("/proc/self/status")
    if status.is_file():
        line = next(line for line in status.read_text(encoding="ascii").splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def _too_slow(*_: object) -> None:
    raise TimeoutError(f"not read after {SLOWEST} seconds")


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), *sys.argv[3:])
