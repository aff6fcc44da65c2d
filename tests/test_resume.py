"""A run that is killed and started again ends with the bytes of one that nobody disturbed."""

import os
import signal
import subprocess
import sys
import time
from functools import cache
from random import Random

import pytest
import runs

from compactlab.errors import RunError
from compactlab.harness import Settings, run
from compactlab.records import Key
from compactlab.results import Results

FILES = ("records.jsonl", "compactions.jsonl")
OWN = """
from dataclasses import dataclass
from compactlab.strategies import Compacted, Strategy

@dataclass(frozen=True, repr=False)
class Own(Strategy):
    def compact(self, messages, context):
        return Compacted((*messages[:2], *messages[-{last}:]))
"""
PROGRAM = """
import sys
from compactlab.harness import Settings, run

if __name__ == "__main__":
    paths, out, jobs, *strategies = sys.argv[1:]
    settings = Settings(strategies=tuple(strategies), cuts=(0.4, 0.7), jobs=int(jobs), counter="chars/4")
    run(paths, out, settings)
"""


@cache
def corpus():
    folder = runs.scratch() / "resumed"
    folder.mkdir()
    for name in runs.SHORT:
        runs.shortened(name, folder, 30)
    (folder / "program.py").write_text(PROGRAM, encoding="utf-8")
    return folder


@cache
def undisturbed(jobs=1):
    out = runs.scratch() / f"undisturbed-{jobs}"
    ended(start(out, jobs))
    return contents(out)


def start(out, jobs, *strategies, cwd=None):
    """Start a run in a process group of its own, so that workers die with it."""
    arguments = [corpus(), out, jobs, *(strategies or runs.STRATEGIES)]
    program = [sys.executable, corpus() / "program.py", *map(str, arguments)]
    return subprocess.Popen(program, cwd=cwd, start_new_session=True, stderr=subprocess.PIPE)


def contents(folder):
    return {name: (folder / name).read_bytes() for name in FILES}


def size(folder):
    try:
        return (folder / "records.jsonl").stat().st_size
    except FileNotFoundError:
        return 0


def ended(process):
    """Wait for the end of a run that nobody disturbs."""
    _, stderr = process.communicate(timeout=120)
    assert (process.returncode, stderr) == (0, b"")


def killed(process, is_time):
    """Kill the whole group when it is time; True if the run had not ended by itself."""
    deadline = time.monotonic() + 120
    while process.poll() is None and not is_time() and time.monotonic() < deadline:
        time.sleep(0.001)
    alive = process.poll() is None
    if alive:
        os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    return alive


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_run_killed_at_ten_random_moments_ends_with_the_same_bytes(tmp_path, jobs):
    whole = undisturbed()
    draw = Random(jobs)
    moments = sorted(draw.randrange(len(whole["records.jsonl"])) for _ in range(8))
    kills = 0
    for seconds in (draw.uniform(0, 0.5), draw.uniform(0, 1.2)):  # before anything, or soon after, the first rows
        ends = time.monotonic() + seconds
        kills += killed(start(tmp_path / "run", jobs), lambda ends=ends: time.monotonic() > ends)
    for moment in moments:
        kills += killed(start(tmp_path / "run", jobs), lambda moment=moment: size(tmp_path / "run") > moment)
        left = contents(tmp_path / "run")
        for name, data in left.items():
            assert whole[name].startswith(data[: data.rfind(b"\n") + 1]), name
    assert kills >= 8
    ended(start(tmp_path / "run", jobs))
    assert contents(tmp_path / "run") == whole


def test_two_workers_write_the_bytes_of_one():
    assert undisturbed(2) == undisturbed(1)


def test_a_run_begun_by_one_worker_and_ended_by_two_has_the_same_bytes(tmp_path):
    out = tmp_path / "run"
    half = len(undisturbed()["records.jsonl"]) // 2
    assert killed(start(out, 1), lambda: size(out) > half)
    ended(start(out, 2))
    assert contents(out) == undisturbed()


def settings(*strategies, **more):
    return Settings(strategies=strategies or runs.STRATEGIES, cuts=(0.4, 0.7), jobs=1, counter="chars/4", **more)


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("tail", [b'{"session":"pri', b"\x00" * 300, b"\xff\xfe\xfd", b"no json\n", b"{}\n", b"\n"])
@pytest.mark.parametrize("kept", [1.0, 0.4])
def test_a_cut_off_or_broken_end_is_mended(tmp_path, name, tail, kept):
    whole = undisturbed()
    out = tmp_path / "run"
    out.mkdir()
    manifest = runs.scratch() / "undisturbed-1" / "manifest.json"
    (out / "manifest.json").write_bytes(manifest.read_bytes())
    for file, data in whole.items():
        (out / file).write_bytes(data)
    data = whole[name]
    end = data.rfind(b"\n", 0, int(kept * len(data))) + 1
    if name == "records.jsonl":
        (out / name).write_bytes(data[:end] + tail)
    else:
        (out / name).write_bytes(data + tail)
    run(corpus(), out, settings())
    assert contents(out) == whole


def module(folder, last):
    (folder / "own_strategies.py").write_text(OWN.format(last=last), encoding="utf-8")


def test_rows_of_an_edited_strategy_run_again_and_only_those(tmp_path):
    module(tmp_path, last=6)
    spec = "own_strategies:Own"
    out, fresh = tmp_path / "run", tmp_path / "fresh"
    ended(start(out, 1, "none", spec, "sliding_window", cwd=tmp_path))
    before = Results(out).records
    seconds = (out / "timings.jsonl").read_bytes()
    module(tmp_path, last=12)
    ended(start(out, 1, "none", spec, "sliding_window", cwd=tmp_path))
    ended(start(fresh, 1, "none", spec, "sliding_window", cwd=tmp_path))
    after = Results(out).records
    touched = {r.key for r in {*before} ^ {*after}}
    assert {(key.strategy, key.size_of) for key in touched if not key.size_of} == {(spec, "")}
    assert {key.size_of for key in touched} <= {spec, ""}
    new = (out / "timings.jsonl").read_bytes().removeprefix(seconds)
    assert b"sliding_window" not in new.replace(spec.encode(), b"")
    assert new.count(b"\n") >= len([key for key in touched if key.strategy == spec])
    assert contents(out) == contents(fresh)


def test_controls_of_the_size_of_an_edited_strategy_have_its_new_size(tmp_path):
    module(tmp_path, last=6)
    spec = "own_strategies:Own"
    ended(start(tmp_path / "run", 1, spec, cwd=tmp_path))
    module(tmp_path, last=12)
    ended(start(tmp_path / "run", 1, spec, cwd=tmp_path))
    weight = {r.key: r.value for r in Results(tmp_path / "run").records if r.metric == "tokens_after"}
    own = {(key.session, key.cut): value for key, value in weight.items() if key.strategy == spec}
    assert len(own) == 6
    for (session, cut), tokens in own.items():
        assert weight[Key(session, cut, "random", spec)] == pytest.approx(tokens, rel=0.02)


def test_an_unchanged_run_started_again_runs_nothing(tmp_path):
    out = tmp_path / "run"
    run(corpus(), out, settings())
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    run(corpus(), out, settings())
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before
    assert contents(out) == undisturbed()


def test_a_folder_with_another_run_is_refused(tmp_path):
    out = tmp_path / "run"
    run(corpus(), out, settings("none"))
    before = contents(out)
    for other in (settings("none", "sliding_window"), settings("none", seed=1), Settings(strategies=("none",), jobs=1)):
        with pytest.raises(RunError, match="holds a run with another"):
            run(corpus(), out, other)
    with pytest.raises(RunError, match=r"another (corpus|sessions)"):
        run(corpus() / f"{runs.SHORT[0]}.jsonl", out, settings("none"))
    assert contents(out) == before
