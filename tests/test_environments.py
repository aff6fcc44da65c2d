"""Environments and the pipe to what runs in them: held against a real process that serves a small worker."""

import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from compactlab.environments import (
    ENVIRONMENTS,
    Environment,
    PeerError,
    fingerprint,
    folder,
    install,
    is_installed,
    python_of,
)
from compactlab.environments.interpreters import NEWEST, interpreter
from compactlab.environments.process import Worker, served, worker
from compactlab.errors import UnknownName

TOY = """
import sys, os, time

def versions():
    return {"toy": "1.0"}

def echo(job):
    print("a package may print what it likes")
    return [{"at": n} for n, _ in enumerate(job.messages)]

def counted(job):
    return [{"role": "user", "content": str(job.count("a b") + job.count("a b"))}]

def asked(job):
    return [{"role": "user", "content": job.reply("who", job.options["prompt"])}]

def pid(job):
    return [{"role": "user", "content": str(os.getpid())}]

def broken(job):
    raise ValueError("no such thing")

def death(job):
    sys.stderr.write("out of memory\\n")
    sys.stderr.flush()
    os._exit(7)

def sleep(job):
    time.sleep(60)

def garbage(job):
    os.write(1, b"not json\\n")
    time.sleep(60)

def wrong(job):
    return "no list"

CALLS = {name: value for name, value in globals().items() if callable(value)}
"""


@pytest.fixture
def toy(tmp_path):
    file = tmp_path / "toy.py"
    file.write_text(TOY, encoding="utf-8")
    made = Worker(served(sys.executable, file), seconds=10)
    yield made
    made.close()


def job(call, **options):
    wires = [{"role": "user", "content": "é \ud83d 請"}, {"role": "assistant", "content": None}]
    return {"call": call, "messages": wires, "weights": [3, 1], "options": options}


def answering(question):
    if "count" in question:
        return [len(text) for text in question["count"]]
    if question["prompt"] == "fail":
        raise RuntimeError("the model is gone")
    return f"{question['system']}: {question['prompt']}"


def ask(toy, call, **options):
    return toy.ask(job(call, **options), answering)


def test_a_job_is_done_by_one_process_that_is_kept(toy):
    assert ask(toy, "echo") == [{"at": 0}, {"at": 1}]
    assert toy.versions == {"toy": "1.0"}
    assert ask(toy, "pid") == ask(toy, "pid")


def test_a_worker_may_ask_back_for_weights_and_for_a_reply(toy):
    assert ask(toy, "counted")[0]["content"] == "6"
    assert ask(toy, "asked", prompt="what, \ud83d?\n請")[0]["content"] == "who: what, \ud83d?\n請"


def test_what_fails_in_it_is_told_and_it_goes_on(toy):
    before = ask(toy, "pid")
    with pytest.raises(PeerError, match="ValueError: no such thing"):
        ask(toy, "broken")
    with pytest.raises(PeerError, match="the model is gone"):
        ask(toy, "asked", prompt="fail")
    with pytest.raises(PeerError, match="KeyError"):
        ask(toy, "nowhere")
    assert ask(toy, "pid") == before


def test_a_process_that_dies_is_told_with_its_last_words_and_started_again(toy):
    before = ask(toy, "pid")
    with pytest.raises(PeerError, match=r"ended \(exit 7\): out of memory"):
        ask(toy, "death")
    assert ask(toy, "pid") != before


def test_a_process_that_says_nothing_is_ended(toy):
    toy.seconds = 0.5
    toy.versions = {}
    with pytest.raises(PeerError, match=r"said nothing for 0\.5 seconds"):
        ask(toy, "sleep")
    toy.seconds = 10
    assert ask(toy, "echo") == [{"at": 0}, {"at": 1}]


@pytest.mark.parametrize(("call", "said"), [("garbage", "expected a line of JSON"), ("wrong", "no list of objects")])
def test_what_is_no_answer_is_refused(toy, call, said):
    with pytest.raises(PeerError, match=said):
        ask(toy, call)
    assert ask(toy, "echo") == [{"at": 0}, {"at": 1}]


def test_threads_take_turns(toy):
    found = []
    asking = [threading.Thread(target=lambda: found.append(ask(toy, "counted"))) for _ in range(8)]
    for thread in asking:
        thread.start()
    for thread in asking:
        thread.join()
    assert found == [[{"role": "user", "content": "6"}]] * 8


@pytest.mark.parametrize("command", [("/nowhere/python",), (sys.executable, "-c", "raise SystemExit('not this one')")])
def test_a_program_that_does_not_start_is_told(command):
    with pytest.raises(PeerError, match=r"cannot be started|not this one"):
        Worker(command, seconds=10).ask(job("echo"), answering)


def test_an_environment_lies_where_it_is_said(tmp_path, monkeypatch):
    monkeypatch.setenv("COMPACTLAB_PEERS", str(tmp_path))
    assert folder() == tmp_path
    assert python_of("langchain").is_relative_to(tmp_path / "langchain")
    monkeypatch.delenv("COMPACTLAB_PEERS")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert folder().parts[-2:] == ("compactlab", "peers")


def test_one_that_is_unknown_or_not_there_is_told_with_what_to_do(tmp_path, monkeypatch):
    monkeypatch.setenv("COMPACTLAB_PEERS", str(tmp_path))
    with pytest.raises(UnknownName, match="known are agent_framework"):
        python_of("langchian")
    with pytest.raises(PeerError, match="compactlab peers install langchain"):
        worker("langchain")
    assert fingerprint("langchain") == ""


def test_one_that_was_broken_off_counts_as_not_there(tmp_path, monkeypatch):
    monkeypatch.setenv("COMPACTLAB_PEERS", str(tmp_path))
    python = python_of("strands")
    python.parent.mkdir(parents=True)
    python.touch()
    assert is_installed("strands")
    (tmp_path / "strands.unfinished").touch()
    assert not is_installed("strands")


@pytest.mark.skipif(os.name == "nt", reason="stands for uv with a script of the shell")
def test_what_an_installer_says_was_wrong_is_told(tmp_path, monkeypatch):
    uv = tmp_path / "bin" / "uv"
    uv.parent.mkdir()
    uv.write_text("#!/bin/sh\necho 'no route to any index' >&2\nexit 2\n", encoding="utf-8")
    uv.chmod(0o755)
    monkeypatch.setenv("PATH", f"{uv.parent}:{os.environ['PATH']}")
    monkeypatch.setenv("COMPACTLAB_PEERS", str(tmp_path / "peers"))
    with pytest.raises(PeerError, match=r"environment langchain could not be installed .*no route to any index"):
        install("langchain")
    assert not is_installed("langchain")


# ---- which Python

HERE = sys.version_info[:2]
NEXT, AFTER = (3, HERE[1] + 1), (3, HERE[1] + 2)
NEVER = (NEWEST[0], NEWEST[1] + 1)
with_a_shell = pytest.mark.skipif(os.name == "nt", reason="stands for Pythons with scripts of the shell")


@pytest.fixture
def path(tmp_path, monkeypatch):
    """A search path of empty folders, and pyenv's own folder."""
    folders = {name: tmp_path / name for name in ("first", "second", "pyenv")}
    for place in folders.values():
        place.mkdir()
    monkeypatch.setenv("PATH", os.pathsep.join(str(folders[name]) for name in ("first", "second")))
    monkeypatch.setenv("PYENV_ROOT", str(folders["pyenv"]))
    return folders


def program(file, says, code=0):
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"#!/bin/sh\necho {says}\nexit {code}\n", encoding="utf-8")
    file.chmod(0o755)
    return str(file)


@pytest.mark.usefixtures("path")
def test_this_python_is_taken_where_it_will_do():
    assert interpreter(HERE, NEXT) == interpreter((3, 0), (4, 0)) == sys.executable


@pytest.mark.usefixtures("path")
def test_where_there_is_no_other_none_is_found():
    assert interpreter(NEXT, (4, 0)) == interpreter(NEVER, (4, 0)) == ""


@with_a_shell
def test_another_is_taken_by_what_it_says_not_by_its_name(path):
    name = f"python3.{NEXT[1]}"
    program(path["first"] / name, "command not found", 127)  # a shim that runs nothing
    assert interpreter(NEXT, (4, 0)) == ""
    program(path["first"] / name, f"{HERE[0]} {HERE[1]}")
    assert interpreter(NEXT, (4, 0)) == ""
    right = program(path["second"] / name, f"{NEXT[0]} {NEXT[1]}")
    assert interpreter(NEXT, (4, 0)) == right
    assert interpreter(AFTER, (4, 0)) == ""


@with_a_shell
def test_the_oldest_that_will_do_is_taken_and_those_of_pyenv_count(path):
    later = program(path["first"] / f"python3.{AFTER[1]}", f"3 {AFTER[1]}")
    assert interpreter(NEXT, (4, 0)) == later
    assert interpreter(NEXT, AFTER) == ""
    sooner = program(path["pyenv"] / "versions" / f"3.{NEXT[1]}.4" / "bin" / "python", f"3 {NEXT[1]}")
    assert interpreter(NEXT, (4, 0)) == sooner


@pytest.mark.usefixtures("path")
def test_one_for_which_no_python_is_there_says_which_it_needs(tmp_path, monkeypatch):
    monkeypatch.setenv("COMPACTLAB_PEERS", str(tmp_path / "peers"))
    monkeypatch.setitem(ENVIRONMENTS, "toy", Environment(("toy",), "", least=NEVER))
    with pytest.raises(PeerError, match=rf"toy needs Python 3\.{NEVER[1]}\+, .*as python3\.{NEVER[1]}"):
        install("toy")
    assert not is_installed("toy")


@with_a_shell
def test_uv_is_asked_for_that_python_and_its_words_are_told(path, tmp_path, monkeypatch):
    program(path["first"] / "uv", '"asked: $*" >&2', 2)
    monkeypatch.setenv("COMPACTLAB_PEERS", str(tmp_path / "peers"))
    monkeypatch.setitem(ENVIRONMENTS, "toy", Environment(("toy",), "", least=NEVER))
    with pytest.raises(PeerError, match=rf"needs Python 3\.{NEVER[1]}\+, .*asked: .*--python 3\.{NEVER[1]} "):
        install("toy")


def test_an_environment_is_made_with_the_python_that_was_found(tmp_path, monkeypatch):
    found, uv = interpreter(NEXT, (4, 0)), shutil.which("uv")
    if not found or not uv:
        pytest.skip(f"no Python 3.{NEXT[1]} or newer, or no uv, is on this machine")
    monkeypatch.setenv("COMPACTLAB_PEERS", str(tmp_path))
    monkeypatch.setitem(ENVIRONMENTS, "toy", Environment(("nowhere @ file:///nowhere",), "", least=NEXT))
    with pytest.raises(PeerError, match="nowhere"):
        install("toy")
    asked = [python_of("toy"), "-c", "import sys; print(sys.version_info[:2] >= tuple(map(int, sys.argv[1:])))"]
    done = subprocess.run([*asked, *map(str, NEXT)], capture_output=True, text=True, check=True)
    assert done.stdout == "True\n"


@pytest.mark.skipif(not shutil.which("uv"), reason="no uv is on this machine")
def test_one_that_uv_made_is_brought_up_to_date_without_uv(tmp_path, monkeypatch):
    monkeypatch.setenv("COMPACTLAB_PEERS", str(tmp_path))
    monkeypatch.setitem(ENVIRONMENTS, "toy", Environment(("nowhere @ file:///nowhere",), ""))
    subprocess.run(["uv", "venv", "--quiet", "--python", sys.executable, tmp_path / "toy"], check=True)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(PeerError, match="file:///nowhere"):  # as pip says it, which was not there
        install("toy")
    assert (
        subprocess.run([python_of("toy"), "-m", "pip", "--version"], capture_output=True, check=False).returncode == 0
    )


def test_every_environment_has_a_worker_and_adapters():
    here = Path(sys.modules["compactlab.environments"].__file__).parent
    assert {path.stem for path in (here / "workers").glob("[a-z]*.py")} == set(ENVIRONMENTS)
    assert {path.stem for path in (here.parent / "adapters").glob("[a-z]*.py")} == set(ENVIRONMENTS)
