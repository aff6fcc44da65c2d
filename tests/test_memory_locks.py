"""The journal where something stands in its way: locks, kills, many processes, no permission, no room on the disk."""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from journals import SLIDE, begun, git, journal_files, passed, talk
from reports import row, rows

from compactlab.memory import journal, repository
from compactlab.memory.chain import verified
from compactlab.memory.git import JournalError

HERE = Path(__file__).parent
START = (
    f"import sys; sys.path.insert(0, {str(HERE)!r})\n"
    "from pathlib import Path\nfrom journals import *\nfrom compactlab.memory import journal\n"
    "from compactlab.memory.git import JournalError\nhome = Path(sys.argv[1])\n"
)


def started(code, folder, **options):
    """A process of its own that runs a piece of code about *home*."""
    command = [sys.executable, "-c", START + code, str(folder)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)


@pytest.fixture
def her(tmp_path):
    """Her repository, with something staged and one pass in the journal."""
    folder = begun(tmp_path / "her")
    live = talk(4)
    first = journal.record(folder, passed(live))
    (folder / "a.py").write_text("staged\n")
    git(folder, "add", "a.py")
    return folder, first


def seen(folder):
    return git(folder, "status", "--porcelain"), git(folder, "for-each-ref"), journal_files(folder)


@rows(
    ("lock",),
    {
        "K26-D1 of the index": ("index.lock",),
        "K26-D1 of the branch": ("refs/heads/main.lock",),
        "K26-D1 of the journal": ("refs/compactlab/journal.lock",),
    },
)
def test_a_stale_lock_is_named_with_its_age_and_nothing_is_written(her, monkeypatch, lock):
    folder, first = her
    before, held = seen(folder), folder / ".git" / lock
    held.touch()
    os.utime(held, (time.time() - 4_000, time.time() - 4_000))
    monkeypatch.setattr(repository, "WAIT_SECONDS", 0.2)
    with pytest.raises(JournalError) as error:
        journal.record(folder, passed(talk(5), SLIDE, first.id))
    assert str(held) in str(error.value)
    assert "locked for 400" in str(error.value)
    assert "stale and may be removed" in str(error.value)
    held.unlink()
    assert seen(folder) == before
    assert journal.record(folder, passed(talk(5), SLIDE, first.id)).note == ""


@row("K26-D1")
def test_a_lock_whose_owner_lives_is_told_so_and_one_that_falls_in_time_is_waited_for(her, monkeypatch):
    folder, first = her
    held = folder / ".git" / "index.lock"
    monkeypatch.setattr(repository, "WAIT_SECONDS", 0.2)
    code = f"import time; f = open({str(held)!r}, 'w'); print('held', flush=True); time.sleep(60)"
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as owner:
        assert owner.stdout.readline()
        with pytest.raises(JournalError, match=rf"process {owner.pid} \(python.*\) may own it"):
            journal.record(folder, passed(talk(5), SLIDE, first.id))
        owner.kill()
    monkeypatch.undo()
    with subprocess.Popen(["sh", "-c", f"sleep 0.5; rm '{held}'"]):
        assert journal.record(folder, passed(talk(5), SLIDE, first.id)).commit


def test_another_commit_in_the_meantime_is_followed(her):
    folder, first = her
    code = (
        "import time\nfor i in range(25):\n"
        "    git(home, 'commit', '-q', '--allow-empty', '-m', f'User {i}', check=False)\n"
    )
    last = first.id
    with started(code, folder) as user:
        passes = 0
        while user.poll() is None or passes < 2:
            last = journal.record(folder, passed(talk(4), SLIDE, last)).id
            passes += 1
    assert user.returncode == 0
    names = git(folder, "ls-tree", "-r", "--name-only", "main", "journal/compactions").split()
    assert len([name for name in names if name.endswith(".md")]) == passes + 1
    assert git(folder, "log", "--format=%s", "--grep=User", "main").count("User") >= 1
    assert git(folder, "fsck", "--no-dangling") == ""


@row("K26-D4")
def test_a_kill_at_any_time_leaves_a_whole_repository_and_no_lock(her):
    folder, first = her
    own = (folder / ".git").stat().st_ino
    code = "print('go', flush=True)\nfor i in range(9):\n    journal.record(home, passed(talk(4)))\n"
    for _ in range(5):
        with started(code, folder, start_new_session=True) as process:
            assert process.stdout.readline()
            time.sleep(random.uniform(0, 0.6))
            os.killpg(process.pid, signal.SIGKILL)
        assert (folder / ".git").stat().st_ino == own
        assert git(folder, "fsck", "--strict", "--no-dangling") == ""
        wait_for_the_last_command(folder)
        assert "D  journal" not in git(folder, "status", "--porcelain")
    done = journal.record(folder, passed(talk(5), SLIDE, first.id))
    assert git(folder, "status", "--porcelain") == "M  a.py\n"
    assert not list((folder / ".git").glob("**/*.lock"))
    assert sorted(p.name for p in (folder / ".git" / "compactlab").iterdir()) == ["index", "lock"]
    assert verified(folder, "garden", [], done.id).entries == (first.id, done.id)


def test_a_repository_that_a_killed_process_had_begun_is_swept_away_and_a_young_one_stays(tmp_path):
    for name, age in (("old", 4_000), ("young", 0)):
        (tmp_path / f".git-new-{name}" / ".git").mkdir(parents=True)
        os.utime(tmp_path / f".git-new-{name}", (time.time() - age, time.time() - age))
    journal.record(tmp_path, passed(talk(4)))
    assert [path.name for path in tmp_path.glob(".git-new-*")] == [".git-new-young"]


def wait_for_the_last_command(folder):
    """What was killed left one command of git at most, which ends by itself."""
    for _ in range(100):
        if not list((folder / ".git").glob("**/*.lock")):
            return
        time.sleep(0.02)
    raise AssertionError(list((folder / ".git").glob("**/*.lock")))


def test_many_processes_take_turns_and_none_of_their_entries_is_lost(tmp_path):
    folder = tmp_path / "her"
    folder.mkdir()
    code = (
        "last = ''\nfor i in range(3):\n"
        "    last = journal.record(home, passed(talk(4), SLIDE, last, conversation=sys.argv[2])).id\n"
    )
    command = [sys.executable, "-c", START + code, str(folder)]
    running = [subprocess.Popen([*command, f"c{i}"], stderr=subprocess.PIPE, text=True) for i in range(3)]
    assert [(process.communicate()[1], process.returncode) for process in running] == [("", 0)] * 3
    for i in range(3):
        entries = {entry.id: entry.previous for entry in journal.entries(folder, f"c{i}")}
        assert len(entries) == 3
        assert len(set(entries.values()) - {""}) == 2
    assert git(folder, "status", "--porcelain") == ""
    assert git(folder, "fsck", "--strict", "--no-dangling") == ""
    assert git(folder, "rev-list", "--count", "main").strip() == "9"


def test_no_room_on_the_disk_is_reported_and_nothing_stays_half(her):
    folder, first = her
    before = seen(folder)
    code = (
        "import resource\nresource.setrlimit(resource.RLIMIT_FSIZE, (4000, 4000))\ntry:\n"
        f"    journal.record(home, passed(talk(40), SLIDE, {first.id!r}))\n"
        "except JournalError as error:\n    print(error)\n"
    )
    with started(code, folder) as process:
        said, faults = process.communicate()
    assert "the journal cannot be written (file too large)" in said, faults
    assert seen(folder) == before


@pytest.mark.parametrize("what", [".git", "journal"])
def test_without_permission_it_is_reported_and_nothing_stays_half(her, what):
    folder, first = her
    before = seen(folder)
    places = [p for p in [folder / what, *(folder / what).rglob("*")] if p.is_dir()]
    for place in places:
        place.chmod(0o555)
    code = (
        "warm = home.parent / 'warm'; warm.mkdir(); journal.record(warm, passed(talk(4)))\n"
        "if not os.getuid():\n    for place in home.parents[:3]:\n        place.chmod(place.stat().st_mode | 0o011)\n"
        "    os.setgid(65534)\n    os.setuid(65534)\ntry:\n"
        f"    journal.record(home, passed(talk(5), SLIDE, {first.id!r}))\n"
        "except JournalError as error:\n    print(error)\n"
    )
    with started(code, folder) as process:
        said, faults = process.communicate()
    for place in places:
        place.chmod(0o755)
    assert "ermission denied" in said, faults
    assert seen(folder) == before
