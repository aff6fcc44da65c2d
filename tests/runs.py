"""Runs that several tests look at: each is made once, in a folder that goes when the tests end."""

import atexit
import os
import shutil
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace

from compactlab import history
from compactlab.facts import mine
from compactlab.harness import Settings, run
from compactlab.llm.locks import locked
from compactlab.metrics import Case
from compactlab.probes.hand import HandProbes, load
from compactlab.probes.mined import AtRisk, matcher_of
from compactlab.readers import read, write
from compactlab.report import Report
from compactlab.results import Results
from compactlab.summary import Summary, summarise
from compactlab.tokens import Meter

CHECKOUT = Path(__file__).parent.parent
FIXTURES = CHECKOUT / "fixtures" / "transcripts"
TRANSCRIPTS = sorted(path for path in FIXTURES.glob("*.jsonl") if not path.name.endswith(".probes.jsonl"))
STRATEGIES = ("none", "microcompact", "sliding_window")
SHARED = "COMPACTLAB_TESTS_FOLDER"
FINISHED = "COMPACTLAB_FIXTURES_RUN"
SHORT = ("primary-move", "subagent-etl", "subconscious-novel")


class Run(NamedTuple):
    """A finished run, what its command printed, and its numbers."""

    results: Results
    stdout: str
    stderr: str
    summary: Summary


@cache
def scratch():
    folder = Path(tempfile.mkdtemp(prefix="compactlab-tests-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


@cache
def shared():
    """A folder of all processes that run the tests; `conftest` makes it, and takes it away."""
    return Path(os.environ[SHARED])


def command(*arguments, **options):
    """Run the command line in a process of its own."""
    program = [sys.executable, "-m", "compactlab", *map(str, arguments)]
    return subprocess.run(program, capture_output=True, text=True, encoding="utf-8", check=False, **options)


def printed_in_two_processes(code):
    """Run Python code in two processes with other hash seeds and give what they printed, as a set."""
    return {
        subprocess.run(
            [sys.executable, "-c", code],
            cwd=CHECKOUT,
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "77")
    }


@cache
def whole():
    """Make the run of all recorded sessions under three strategies, as anyone would from the command line."""
    folder = scratch() / "whole"
    settings = ("--strategies", *STRATEGIES, "--out", folder, "--jobs", 2)
    done = command("run", FIXTURES.relative_to(CHECKOUT), *settings, cwd=CHECKOUT)
    assert done.returncode == 0, done.stderr
    results = Results(folder)
    return Run(results, done.stdout, done.stderr, summarise(results))


def shortened(name, folder, messages=44):
    """Write the start of a recorded session, and its probes, under its own name."""
    (transcript,) = read(FIXTURES / f"{name}.jsonl")
    write(replace(transcript, messages=transcript.messages[:messages]), folder / f"{name}.jsonl")
    shutil.copy(FIXTURES / f"{name}.probes.jsonl", folder)


@cache
def short_transcripts():
    folder = scratch() / "short"
    folder.mkdir()
    for name in SHORT:
        shortened(name, folder)
    return folder


@cache
def short():
    """Make a run of three short sessions in this process."""
    results = run(short_transcripts(), scratch() / "short-run", Settings(strategies=STRATEGIES, jobs=1))
    return Run(results, "", "", summarise(results))


@cache
def meter():
    return Meter()


@cache
def case(name, share):
    """Prepare a recorded session, cut behind a share of its assistant messages."""
    (transcript,) = read(FIXTURES / f"{name}.jsonl")
    spoken = [i for i, message in enumerate(transcript.messages) if message.role == "assistant"]
    cut = spoken[int(share * len(spoken))]
    facts = mine(transcript.messages)
    risk = AtRisk(history.repair(transcript.messages[:cut]).messages, facts, matcher_of(facts))
    hand = HandProbes(load(FIXTURES / f"{name}.probes.jsonl"))
    after = tuple(transcript.messages[cut:])
    future = risk.future(after)
    made = Case(risk, future.uses, hand, (), meter(), after)
    return Case(risk, future.uses, hand, hand.admitted(cut, made.protected), meter(), after)


@cache
def everything():
    """Make the run of the README, all recorded sessions under every strategy, once; give its report.

    One that was made already, such as that of the gate, is taken where `COMPACTLAB_FIXTURES_RUN` names its folder.
    """
    if os.environ.get(FINISHED):
        return Report(Results(os.environ[FINISHED]))
    folder, done = shared() / "everything", shared() / "everything.done"
    with locked(shared() / "everything.lock"):
        if not done.exists():
            run(FIXTURES, folder, Settings(jobs=2))
            done.touch()
    return Report(Results(folder))
