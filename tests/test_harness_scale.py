"""Runs of many sessions: the spool, who does the work, clusters; the same records whoever made them."""

import os
import pickle
import random
import signal
import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from threading import Semaphore

import corpora
import pytest
import runs
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from compactlab.errors import RunError, SpecError
from compactlab.facts import mine
from compactlab.harness import Settings, run
from compactlab.harness.corpus import FOREIGN, Corpus
from compactlab.harness.models import models
from compactlab.harness.spool import Spool
from compactlab.harness.workers import in_order
from compactlab.readers import read, write

PLAIN = {"strategies": ("none", "sliding_window(preserve_recent=4)"), "cuts": (0.6,)}


def sessions(count, messages=16):
    """Short sessions, each of its own story."""
    for number in range(count):
        transcript = corpora.transcript(corpora.COURIER, number)
        yield replace(transcript, messages=transcript.messages[:messages])


def written(folder, count):
    """A file of so many sessions."""
    path = folder / f"{count}.jsonl"
    write(sessions(count), path)
    return path


def content(results):
    return [(results.folder / name).read_bytes() for name in ("records.jsonl", "compactions.jsonl")]


def test_what_is_put_into_the_spool_comes_out_equal_with_its_facts():
    with Spool() as spool:
        (etl,) = read(runs.FIXTURES / "subagent-etl.jsonl")
        kept = [spool.put(transcript, ()) for transcript in (etl, *sessions(3))]
        place = spool.place(replace(kept[0], id="renamed"))
        place.mined()
        assert place.transcript() == replace(etl, id="renamed")
        assert place.facts() == mine(etl.messages)
        assert spool.place(kept[2]).transcript() == [*sessions(3)][1]
        folder = spool.folder
    assert not folder.exists()


@given(st.lists(st.lists(st.sampled_from("abcdefghij"), max_size=6), min_size=1, max_size=9))
def test_values_of_more_than_two_sessions_are_common_and_no_others(texts):
    (told,) = sessions(1)
    with Spool() as spool:
        places = []
        for letters in texts:
            said = " ".join(f"The file is /srv/{letter}/{letter * 3}.txt." for letter in letters)
            message = replace(told.messages[0], blocks=(replace(told.messages[0].blocks[0], text=said),))
            places.append(spool.place(spool.put(replace(told, messages=(message,)), ())))
        spool.count([place.mined() for place in places])
        spread = Counter(value for place in places for value in {fact.value for fact in place.facts()})
        for place in places:
            facts = place.facts()
            assert place.common(facts) == {fact.value for fact in facts if spread[fact.value] > 2}


@given(st.lists(st.sampled_from("abc"), min_size=1, max_size=12))
def test_chance_is_told_by_the_next_sessions_of_other_stories_going_round(stories):
    (told,) = sessions(1)
    with Spool() as spool:
        kept = tuple(spool.put(replace(told, id=str(i), cluster=story), ()) for i, story in enumerate(stories))
        corpus = Corpus(Settings(), spool, kept, {}, ())
        for at, story in enumerate(stories):
            round_trip = [*range(at + 1, len(stories)), *range(at)]
            expected = [kept[i] for i in round_trip if stories[i] != story][:FOREIGN]
            assert [place.session for place in corpus._unrelated(at)] == expected


def test_work_is_given_out_in_order_and_never_more_than_so_many_pieces_ahead():
    started, gate = [], Semaphore(0)

    def work(number):
        started.append(number)
        gate.acquire()
        return number * number

    with ThreadPoolExecutor(8) as pool:
        made = in_order(pool, work, iter(range(20)), 3)
        gate.release(1)
        assert next(made) == (0, 0)
        assert len(started) <= 4
        gate.release(19)
        assert list(made) == [(n, n * n) for n in range(1, 20)]


def test_a_job_is_light_on_its_way(tmp_path):
    path = written(tmp_path, 4)
    with Spool() as spool:
        corpus = Corpus.read([path], Settings(**PLAIN), spool)
        asked = models(corpus.settings, tmp_path / "spending", corpus.types)
        lengths = [len(pickle.dumps(task)) for task in corpus.tasks(frozenset(), asked)]
        assert max(lengths) < 8_000


@pytest.mark.parametrize("executor", ["mpi", "dask:", "spark:local"])
def test_an_executor_that_is_none_is_refused(executor):
    with pytest.raises(SpecError, match="expected dask"):
        Settings(executor=executor)


def test_a_scheduler_that_is_not_there_is_one_line(tmp_path):
    with pytest.raises(RunError, match=r"dask:tcp://127.0.0.1:9: cannot be reached"):
        run(written(tmp_path, 2), tmp_path / "run", Settings(**PLAIN, executor="dask:tcp://127.0.0.1:9"))


def on_a_cluster_with_a_death(folder, count):
    """Run on two workers, of which one is killed when a third of the blocks is there; the run, and that of one process.

    Also whether the death came before the end.
    """
    distributed = pytest.importorskip("distributed", reason="the package distributed is not installed")
    path = written(folder, count)
    alone = run(path, folder / "alone", Settings(**PLAIN, jobs=1))
    killed = []
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=None, silence_logs=50
    ) as cluster:

        def watch(done, total, _):
            if not killed and 0 < total < 3 * done:
                victim = random.Random(count).choice([worker.pid for worker in cluster.workers.values()])
                os.kill(victim, signal.SIGKILL)
                killed.append(done < total)

        there = run(path, folder / "there", Settings(**PLAIN, executor=f"dask:{cluster.scheduler_address}"), watch)
    return alone, there, killed


def test_a_cluster_that_loses_a_worker_makes_the_same_records(tmp_path):
    alone, there, killed = on_a_cluster_with_a_death(tmp_path, 40)
    assert killed == [True]
    assert content(there) == content(alone)
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".compactlab")]


@pytest.mark.study
def test_a_cluster_that_loses_a_worker_makes_the_same_records_of_a_thousand_sessions(tmp_path):
    alone, there, killed = on_a_cluster_with_a_death(tmp_path, 1_000)
    assert killed == [True]
    assert content(there) == content(alone)


PEAK = """
import resource, sys
from compactlab.harness import Settings, run
run(sys.argv[1], sys.argv[2], Settings(strategies=("none",), cuts=(0.6,), jobs=2))
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


def peak_kib(folder, count):
    """Peak memory of the process that drives a run, in KiB."""
    arguments = [sys.executable, "-c", PEAK, written(folder, count), folder / f"run-{count}"]
    done = subprocess.run(arguments, capture_output=True, text=True, check=True)
    return int(done.stdout)


@pytest.mark.study
def test_the_memory_of_the_driver_does_not_grow_with_the_corpus(tmp_path):
    few, many = peak_kib(tmp_path, 200), peak_kib(tmp_path, 2_000)
    assert (many - few) / 1_800 < 4  # a few words of each session; a session of theirs is 4.6 KiB, a real one hundreds
