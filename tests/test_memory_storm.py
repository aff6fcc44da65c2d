"""Killed at any moment, and all at once: nothing that was ever appended is lost, and the journal proves it.

Processes are real and are really killed (SIGKILL), alone or with the git that they had started, at moments spread over
what a pass takes. The normal run is small; the mark `study` has a hundred kills and twenty processes.
"""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from conversations import COUNTER, said, talk

from compactlab.memory import Choices, Memory

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are forked")

SLIDE = "sliding_window(preserve_recent=4)"
REASONS = ("another pass came first", "nothing", "would save only", "would weigh")


def at(repo):
    return Memory(repo, "garden", choices=Choices(window=100_000, counter=COUNTER))


class Process:
    """A process with everything loaded that does *work*, which may tell lines; what it told is read from a file."""

    def __init__(self, repo, number, work):
        self.path = Path(repo) / f".told-{number}"
        self.pid = os.fork()
        if not self.pid:
            code = 1
            try:
                os.setsid()
                with self.path.open("ab", buffering=0) as file:
                    work(at(repo), lambda *words: file.write(" ".join(words).encode() + b"\n"))
                code = 0
            finally:
                os._exit(code)

    def lines(self):
        """What it told in whole lines."""
        return self.path.read_text().split("\n")[:-1] if self.path.exists() else []

    def kill(self, *, with_its_own):
        """Kill it, and what it had started too, or leave that to run on."""
        (os.killpg if with_its_own else os.kill)(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)

    def ended(self):
        """Wait for its end and give its exit code."""
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


def compacts(there, told):
    done = there.compact(SLIDE)
    told(*(["applied", done.entry] if done.is_applied else ["not applied:", done.why_not]))


def busy(number, turns):
    def work(there, told):
        chance = random.Random(number)
        for turn in range(turns):
            words = f"{number}.{turn} " + "and more of it " * 10
            told("appended", *there.append([said(words), said(words, "assistant")]).ids)
            if chance.random() < 0.5:
                done = there.compact(chance.choice([SLIDE, "key_value", "microcompact"]))
                told(*(["applied", done.entry] if done.is_applied else ["not applied:", done.why_not]))

    return work


def lines_of(there):
    return {one.id: one.line for one in there.conversation.read().kept}


def proved(there, first_lines):
    """Nothing was lost: the proof holds, and each message of *first_lines* is live, or comes back byte for byte."""
    log = there.log(verify=True)
    assert log.verified.faults == ()
    lists = lines_of(there)
    for one in reversed([one for one in log.passes if one.is_applied]):
        lists |= {kept.id: kept.line for kept in there.restore(one.id).messages}
    assert {name: lists.get(name) for name in first_lines} == first_lines
    return log


def whole(repo):
    done = subprocess.run(["git", "-C", repo, "fsck", "--strict"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert not list(Path(repo, ".git").rglob("*.lock"))


def seconds_of_a_pass(repo):
    """What a pass takes in a repository that is there."""
    assert Process(repo, "first", compacts).ended() == 0
    at(repo).append(talk(12))
    begun = time.perf_counter()
    assert Process(repo, "second", compacts).ended() == 0
    return time.perf_counter() - begun


def killed_again_and_again(repo, kills):
    """Kill passes at moments spread over what one takes; give how many were applied, how many recorded and no more."""
    there, chance = at(repo), random.Random(7)
    there.append(talk(30))
    first_lines = lines_of(there)
    takes = seconds_of_a_pass(repo)
    first_lines |= lines_of(there)
    applied = 0
    for number in range(kills):
        there.append(talk(12, words=f"round {number}"))
        first_lines |= lines_of(there)
        stood, before = there.path.read_bytes(), there.conversation.read().generation
        process = Process(repo, number, compacts)
        time.sleep(takes * (number + chance.random()) / kills)
        process.kill(with_its_own=number % 2 == 0)
        generation = there.conversation.read().generation
        assert generation - before in {0, 1}
        assert generation > before or there.path.read_bytes() == stood
        applied += generation > before
        assert there.log(verify=True).verified.faults == ()
    there.append(talk(12, words="the last"))
    assert there.compact(SLIDE).is_applied
    log = proved(there, first_lines)
    whole(repo)
    return applied, sum(not one.is_applied for one in log.passes), takes


def test_a_kill_at_any_moment_of_a_pass_leaves_the_old_list_or_the_new_one_and_loses_nothing(tmp_path):
    killed_again_and_again(tmp_path, 12)


@pytest.mark.study
def test_a_hundred_kills(tmp_path):
    applied, recorded_only, takes = killed_again_and_again(tmp_path, 100)
    sys.stderr.write(f"\n100 kills over {takes:.2f} s: {applied} applied, {recorded_only} recorded and not applied\n")
    assert 0 < applied < 100


def all_at_once(repo, processes, turns):
    there = at(repo)
    there.append(talk(4))
    first_lines = lines_of(there)
    workers = [Process(repo, number, busy(number, turns)) for number in range(processes)]
    assert [worker.ended() for worker in workers] == [0] * processes
    told = [line for worker in workers for line in worker.lines()]
    appended = {name for line in told if line.startswith("appended ") for name in line.split()[1:]}
    applied = [line.split()[1] for line in told if line.startswith("applied ")]
    refused = [line.removeprefix("not applied: ") for line in told if line.startswith("not applied: ")]
    assert len(appended) == 2 * processes * turns
    assert [line for line in refused if not line.startswith(REASONS)] == []
    log = proved(there, first_lines)
    assert sorted(log.verified.entries) == sorted(applied)
    assert log.verified.not_applied == ()
    every = set(lines_of(there)).union(*({k.id for k in there.restore(one.id).messages} for one in log.passes))
    assert appended <= every
    whole(repo)
    return len(applied), refused


def test_processes_that_append_and_compact_at_once_lose_nothing_and_each_refused_pass_says_why(tmp_path):
    applied, _ = all_at_once(tmp_path, 6, 3)
    assert applied


@pytest.mark.study
def test_twenty_processes_at_once(tmp_path):
    applied, refused = all_at_once(tmp_path, 20, 10)
    came_first = sum("another pass came first" in line for line in refused)
    sys.stderr.write(f"\n20 processes, 400 messages: {applied} passes applied, {came_first} came second\n")
    assert came_first


def test_appenders_that_are_killed_lose_nothing_that_they_had_said_was_appended(tmp_path):
    there, chance, appended = at(tmp_path), random.Random(3), set()
    there.append(talk(2))
    for number in range(4):
        process = Process(tmp_path, number, busy(number, 1_000))
        time.sleep(0.05 + 0.2 * chance.random())
        process.kill(with_its_own=True)
        told = [line.split()[1:] for line in process.lines() if line.startswith("appended ")]
        appended |= {name for names in told for name in names}
    log = there.log(verify=True)
    assert log.holds
    every = set(lines_of(there)).union(*({k.id for k in there.restore(one.id).messages} for one in log.passes))
    assert len(appended) > 10
    assert appended <= every
