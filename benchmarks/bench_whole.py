"""Whole runs over reading, counting and mining the recorded sessions once; two processes; growth with the corpus.

A run of cuts places all facts in every result, mines them a second time by another miner, and scores controls of each
result's own size: 20 draws of two, an integer programme, lines. That is most of what it costs, and what a comparison
is. Each run and its floor have a new process of their own, in which nothing is remembered.
"""

import tempfile
from pathlib import Path

import inputs
import pytest

from compactlab import compact
from compactlab.compaction import Guard
from compactlab.harness import Settings, run, session
from compactlab.harness.cuts import SHARES
from compactlab.readers import write
from compactlab.tokens import Meter

WINDOW = 64_000
LENGTHS = (1_000, 2_000, 4_000, 8_000)
SESSIONS = (6, 12, 24, 48)


def bench_strategies_at_all_cuts(cost, floors):
    """All strategies that need no model, under the guard, at each cut of each session, one meter a session."""
    sessions = inputs.sessions()

    def work():
        for recorded in sessions:
            guard = Guard(Meter())
            answers = [i for i, message in enumerate(recorded.messages) if message.role == "assistant"]
            for share in SHARES:
                for spec in inputs.MODEL_FREE:
                    compact(recorded.messages[: answers[int(share * len(answers))]], spec, guard=guard)

    cost(work, floors.once(), inputs.ONCE, 0.4)


@pytest.mark.slow
def bench_run_of_replays(cost, floors):
    cost.told(sum(inputs.apart(replayed)), floors.once(), inputs.ONCE, 1.6)


@pytest.mark.slow
def bench_run_of_cuts(cost, floors):
    cost.told(sum(inputs.apart(whole)), floors.once(), inputs.ONCE, 10)


@pytest.mark.slow
def bench_run_of_cuts_without_controls_of_a_size(cost, floors):
    cost.told(sum(inputs.apart(uncontrolled)), floors.once(), inputs.ONCE, 8)


@pytest.mark.slow
def bench_gain_of_two_processes(cost):
    """Processor seconds of one process over those of the driver and half of two workers: what two free cores gain."""
    own, workers = inputs.apart(whole, inputs.FILES, 2)
    cost.told(own + workers / 2, sum(inputs.apart(whole)), "one process", 1.7, is_gain=True)


@pytest.mark.slow
def bench_growth_over_sessions(cost, tmp_path):
    taken = []
    for count in SESSIONS:
        paths = tuple(written(tmp_path, f"corpus{count}-{n}", 400, 1_000 * n) for n in range(count))
        taken.append(sum(inputs.apart(whole, paths)))
    cost.told(inputs.slope(SESSIONS, taken), 1.0, "linear", 1.1)


@pytest.mark.slow
def bench_growth_over_messages(cost, tmp_path):
    paths = [written(tmp_path, f"talk{size}", size) for size in LENGTHS]
    taken = [sum(inputs.apart(whole, (path,))) for path in paths]
    cost.told(inputs.slope(LENGTHS, taken), 1.0, "linear", 1.1)


def whole(paths=inputs.FILES, jobs=1, **more):
    """One whole run into a folder that is thrown away."""
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings(strategies=inputs.MODEL_FREE, jobs=jobs, **more)
        run([str(path) for path in paths], Path(folder, "run"), settings)


def replayed():
    whole(mode="replay", window=WINDOW)


def uncontrolled():
    """A run of cuts in which a control is scored at the first size of each case alone, and given for all others too."""
    plain, known = session.of_size, {}

    def first(case, key, seed, tokens):
        place = (key.session, key.cut, key.strategy)
        if place not in known:
            known[place] = plain(case, key, seed, tokens)
        return known[place]

    session.of_size = first
    whole()


def written(folder, name, size, first=0):
    path = folder / f"{name}.jsonl"
    write([inputs.transcript(size, first)], path)
    return path
