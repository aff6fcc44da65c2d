"""The journal in real repositories in real odd states: it commits its own files, and touches nothing else."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from journals import SLIDE, begun, git, journal_files, passed, talk
from reports import row, rows
from repositories import ODD, ON_BRANCH, checked_out, detached, no_hook, on_a_branch, state, unborn

from compactlab.memory import journal, repository
from compactlab.memory.chain import verified
from compactlab.memory.git import JournalError

REF = repository.REF


def changed_by(folder, commit):
    return git(folder, "show", "--format=", "--name-status", commit).split()


def assert_whole(folder):
    assert git(folder, "fsck", "--strict", "--no-dangling") == ""
    assert list((folder / ".git").glob("**/*.lock")) == []


@pytest.mark.parametrize("make", ON_BRANCH, ids=lambda make: make.__name__)
def test_on_a_branch_the_commit_has_the_journal_and_nothing_else(tmp_path, make):
    folder = make(tmp_path / "her")
    before = state(folder)
    live = talk(4)
    with no_hook(folder):
        done = journal.record(folder, passed(live))
    assert state(folder) == before
    assert git(folder, "rev-parse", f"refs/heads/{ON_BRANCH[make]}").strip() == done.commit
    marks, paths = changed_by(folder, done.commit)[::2], changed_by(folder, done.commit)[1::2]
    assert set(marks) == {"A"}
    assert len(paths) == 6
    assert all(path.startswith(("journal/compactions/", "journal/originals/")) for path in paths)
    assert (
        git(folder, "log", "-1", "--format=%an <%ae> %G?", done.commit) == "compactlab <journal@compactlab.invalid> N\n"
    )
    assert git(folder, "status", "--porcelain", "--", "journal") == ""
    assert git(folder, "diff-files", "--", "journal") == ""
    assert_whole(folder)
    assert journal.restored(folder, live, done.id).lines == tuple(one.line for one in live)


@pytest.mark.parametrize("name", ODD)
def test_in_an_odd_state_the_branch_waits_and_gets_all_with_the_next_pass(tmp_path, name):
    folder = ODD[name](tmp_path / "her")
    before, heads = state(folder), git(folder, "for-each-ref", "refs/heads")
    with no_hook(folder):
        first = journal.record(folder, passed(talk(4)))
    assert first.note
    assert state(folder) == before
    assert git(folder, "for-each-ref", "refs/heads") == heads
    assert git(folder, "rev-parse", REF).strip() == first.commit
    assert_whole(folder)
    git(folder, "reset", "-q", "--hard") if name == "detached" else git(folder, *ended(name))
    git(folder, "checkout", "-q", "main")
    before = state(folder)
    with no_hook(folder):
        second = journal.record(folder, passed(talk(5), previous=first.id))
    assert (second.note, state(folder)) == ("", before)
    assert git(folder, "rev-parse", "main").strip() == second.commit
    names = git(folder, "ls-tree", "-r", "--name-only", "main", "journal").split()
    assert {first.path, second.path} <= set(names)


def ended(name):
    return ["bisect", "reset"] if name == "bisect" else [name, "--abort"]


def test_what_a_branch_left_behind_is_still_restored_after_a_switch_a_reset_and_its_deletion(tmp_path):
    folder = begun(tmp_path / "her")
    git(folder, "checkout", "-q", "-b", "side")
    live = talk(4)
    done = journal.record(folder, passed(live))
    git(folder, "checkout", "-q", "main")
    assert not (folder / done.path).exists()
    git(folder, "branch", "-q", "-D", "side")
    git(folder, "reflog", "expire", "--expire=now", "--all")
    git(folder, "gc", "-q", "--prune=now")
    assert journal.restored(folder, live, done.id).lines == tuple(one.line for one in live)


def test_files_of_the_journal_are_not_swept_away_or_staged_by_the_way(tmp_path):
    folder = detached(tmp_path / "her")
    done = journal.record(folder, passed(talk(4)))
    git(folder, "clean", "-q", "-fd")
    git(folder, "add", "-A")
    assert (folder / done.path).is_file()
    assert "journal" not in git(folder, "diff", "--cached", "--name-only")


@rows(
    ("make",),
    {
        "K26-D5 detached": (detached,),
        "K26-D5 unborn": (unborn,),
        "K26-D5 in a rebase": (ODD["rebase"],),
        "K26-D6 a checkout of a commit": (checked_out,),
    },
)
def test_it_works_on_any_head(tmp_path, make):
    done = journal.record(make(tmp_path / "her"), passed(talk(4)))
    assert done.commit


@row("K26-D8")
def test_what_is_staged_untracked_and_dirty_stays_so(tmp_path):
    folder = on_a_branch(tmp_path / "her")
    before = git(folder, "status", "--porcelain")
    assert before == "M  a.py\n M b.py\n?? .env\n"
    done = journal.record(folder, passed(talk(4)))
    assert git(folder, "status", "--porcelain") == before
    assert ".env" not in git(folder, "log", "--all", "--name-only", "--format=")
    assert git(folder, "show", f"{done.commit}:a.py") == "a.py 2\na.py 2\n"


@row("K26-D7")
def test_in_a_hook_of_another_repository_it_finds_its_own(tmp_path):
    outer, inner = begun(tmp_path / "code"), tmp_path / "her"
    inner.mkdir()
    script = tmp_path / "record.py"
    script.write_text(
        f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r})\n"
        "from pathlib import Path\nfrom journals import *\nfrom compactlab.memory import journal\n"
        "print(journal.record(Path(sys.argv[1]), passed(talk(4))).note)\n"
    )
    hook = outer / ".git" / "hooks" / "pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\nexport GIT_DIR='{outer}/.git'\n'{sys.executable}' '{script}' '{inner}' && "
                    f"'{sys.executable}' '{script}' '{outer}' > '{tmp_path}/said'\n")  # fmt: skip
    hook.chmod(0o755)
    (outer / "a.py").write_text("more\n")
    git(outer, "commit", "-q", "-am", "Work 3", GIT_WORK_TREE=str(outer), GIT_DIR=str(outer / ".git"))
    assert git(outer, "show", "--format=%s", "--name-only", "HEAD").split("\n") == ["Work 3", "", "a.py", ""]
    assert "hook" in (tmp_path / "said").read_text()
    assert len(git(outer, "ls-tree", "-r", "--name-only", REF).split()) == 6
    assert git(inner, "rev-list", "--count", "main").strip() == "1"
    assert git(outer, "status", "--porcelain") == ""


@rows(
    ("name", "value"),
    {
        "K26-D7 GIT_DIR": ("GIT_DIR", "{other}/.git"),
        "K26-D7 GIT_WORK_TREE": ("GIT_WORK_TREE", "{other}"),
        "K26-D7 GIT_INDEX_FILE": ("GIT_INDEX_FILE", "{other}/.git/index"),
        "K26-D7 GIT_OBJECT_DIRECTORY": ("GIT_OBJECT_DIRECTORY", "{other}/.git/objects"),
        "K26-D7 GIT_COMMON_DIR": ("GIT_COMMON_DIR", "{other}/.git"),
        "K26-D7 GIT_NAMESPACE": ("GIT_NAMESPACE", "elsewhere"),
        "K26-D7 GIT_QUARANTINE_PATH": ("GIT_QUARANTINE_PATH", "{other}"),
        "K26-D7 GIT_CONFIG_COUNT": ("GIT_CONFIG_COUNT", "7"),
    },
)
def test_what_git_left_in_the_environment_leads_nowhere_and_stays_there(tmp_path, monkeypatch, name, value):
    other, folder = begun(tmp_path / "other"), begun(tmp_path / "her")
    seen = state(other)
    monkeypatch.setenv(name, value.format(other=other))
    done = journal.record(folder, passed(talk(4)))
    assert git(folder, "rev-parse", "main").strip() == done.commit
    assert state(other) == seen
    assert not git(other, "for-each-ref", REF)
    assert os.environ[name] == value.format(other=other)


@row("K26-D2")
def test_settings_for_signing_and_templates_hold_for_the_user_alone(tmp_path, monkeypatch):
    home, template = tmp_path / "home", tmp_path / "template"
    (template / "hooks").mkdir(parents=True)
    home.mkdir()
    (template / "hooks" / "post-commit").write_text("#!/bin/sh\nexit 1\n")
    (home / ".gitconfig").write_text(
        f"[commit]\n gpgsign = true\n[gpg]\n program = /bin/false\n[init]\n templateDir = {template}\n"
        f"[core]\n hooksPath = {template}/hooks\n autocrlf = true\n"
    )
    monkeypatch.setenv("HOME", str(home))
    made = journal.record(new(tmp_path / "made"), passed(talk(4)))
    assert not (tmp_path / "made" / ".git" / "hooks").exists()
    folder = new(tmp_path / "signed")
    git(folder, "init", "-q", "-b", "main")
    git(folder, "config", "commit.gpgsign", "true")
    done = journal.record(folder, passed(talk(4)))
    assert {
        git(tmp_path / "made", "log", "-1", "--format=%G?", made.commit),
        git(folder, "log", "-1", "--format=%G?"),
    } == {"N\n"}
    assert done.note == made.note == ""


def new(folder):
    folder.mkdir(parents=True)
    return folder


@row("K26-D3")
def test_a_folder_in_another_repository_gets_its_own(tmp_path):
    outer = on_a_branch(tmp_path / "outer")
    tip, inner = git(outer, "rev-parse", "HEAD"), new(outer / "notes" / "her")
    begun(outer / "notes" / "her" / "below")
    done = journal.record(inner, passed(talk(4)))
    assert git(outer, "rev-parse", "HEAD") == tip
    assert not git(outer, "for-each-ref", REF)
    assert git(inner, "rev-parse", "--show-toplevel").strip() == str(inner)
    assert git(inner, "rev-parse", "main").strip() == done.commit
    assert git(outer, "status", "--porcelain") == "M  a.py\n M b.py\n?? .env\n?? notes/\n"


@row("K26-D9")
def test_without_a_name_a_home_or_settings_it_commits_as_itself(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", "/nonexistent")
    for name in ("XDG_CONFIG_HOME", "EMAIL", "USER", "LOGNAME"):
        monkeypatch.delenv(name, raising=False)
    done = journal.record(new(tmp_path / "her"), passed(talk(4)))
    told = git(tmp_path / "her", "log", "-1", "--format=%an %cn %ae", done.commit)
    assert told == "compactlab compactlab journal@compactlab.invalid\n"


def test_a_mended_entry_on_the_branch_is_the_users_own(tmp_path):
    folder = begun(tmp_path / "her")
    first = journal.record(folder, passed(talk(4)))
    git(folder, "rm", "-q", first.path)
    git(folder, "commit", "-q", "-m", "Away with it")
    journal.record(folder, passed(talk(5), SLIDE, first.id))
    assert git(folder, "ls-tree", "--name-only", "main", first.path) == ""
    assert verified(folder, "garden", [], first.id).entries == (first.id,)


def test_where_there_is_no_git_it_says_so_and_leaves_nothing(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(JournalError, match="the journal needs git"):
        journal.record(new(tmp_path / "her"), passed(talk(4)))
    code = "from compactlab.memory.git import Commands\nfrom pathlib import Path\nCommands(Path('.')).run('version')"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path, check=False)
    assert "JournalError: the journal needs git" in told.stderr
    assert journal_files(tmp_path / "her") == []
