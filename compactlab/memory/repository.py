"""The memory repository: commits exactly the journal's own files, and touches nothing that is not the journal's.

- Every commit of the journal goes onto `refs/compactlab/journal`, which holds the journal's files alone, all of them.
  It is no branch: no switch, rebase, reset or deletion of a branch reaches it.
- Where the repository stands on a branch (an unborn one too), the same files are committed there as well. In the middle
  of a merge, rebase, cherry-pick, revert or bisect, and where HEAD is detached, the branch waits: the next commit on a
  branch takes along what lies in the folder and is not committed there yet.
- Trees are built in an index of the journal's own; the user's index gets only the journal's paths. References move
  together, and only from where they were read; another who was faster is followed.
- A lock that another holds is waited for, a few seconds long, then named. Processes take turns by a lock that falls
  with its holder.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, TypeVar

from compactlab.llm.locks import try_lock, unlock
from compactlab.memory.git import Commands, GitError, JournalError
from compactlab.memory.holders import told_of_lock

REF = "refs/compactlab/journal"
WAIT_SECONDS = 5.0
"""How long a lock of git is waited for."""
TURN_SECONDS = 120.0
"""How long another process that writes the journal is waited for."""
_FRESH = ".git-new-"
_ODD = {
    "MERGE_HEAD": "in the middle of a merge",
    "rebase-merge": "in the middle of a rebase",
    "rebase-apply": "in the middle of a rebase",
    "CHERRY_PICK_HEAD": "in the middle of a cherry-pick",
    "REVERT_HEAD": "in the middle of a revert",
    "sequencer": "in the middle of a cherry-pick or a revert",
    "BISECT_LOG": "in the middle of a bisect",
}
_Given = TypeVar("_Given")


class Committed(NamedTuple):
    """A commit of the journal: its id on the branch, else on the journal's own reference; and why no branch has it."""

    commit: str
    note: str = ""


class _Place(NamedTuple):
    """Where a commit goes: a reference, the commit at its tip and the tree of that, empty if there is none yet."""

    ref: str
    tip: str = ""
    tree: str = ""


@dataclass(frozen=True)
class Repository:
    """The repository whose files are in `folder`; `own` is the journal's folder in that of git."""

    git: Commands
    git_dir: Path
    own: Path

    @property
    def folder(self) -> Path:
        """The folder of its files."""
        return self.git.folder

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Hold the journal for one process; `JournalError` that names the holder if it takes too long."""
        self.own.mkdir(exist_ok=True)
        with (self.own / "lock").open("a+b", buffering=0) as file:
            ends = time.monotonic() + TURN_SECONDS
            while not try_lock(file):
                if time.monotonic() > ends:
                    raise JournalError(told_of_lock(self.own / "lock", self.folder, TURN_SECONDS))
                time.sleep(0.01)
            try:
                for left in self.own.glob("index*"):  # of a holder that was killed
                    left.unlink()
                yield
            finally:
                unlock(file)

    def commit(self, paths: Sequence[str], title: str) -> Committed:
        """Commit files of the journal, by their paths in the folder; only in one's turn.

        `JournalError` if git cannot: then no reference has moved.
        """
        blobs = self._stored(paths)
        return self._waiting(lambda: self._commit(blobs, title))

    def names(self, under: str) -> dict[str, str]:
        """Paths below a folder that were ever committed by the journal here, each with the id of its content."""
        return self._listed(self._places(REF)[0], under)

    def content(self, blob: str) -> bytes:
        """The content of that id."""
        return self.git.run("cat-file", "blob", blob)

    def _stored(self, paths: Sequence[str]) -> dict[str, str]:
        if not paths:
            return {}
        listed = "".join(f"{path}\n" for path in paths).encode()
        found = self.git.run("hash-object", "-w", "--no-filters", "--stdin-paths", given=listed)
        return dict(zip(paths, found.decode().split(), strict=True))

    def _commit(self, blobs: Mapping[str, str], title: str) -> Committed:
        ref, why_not = self._branch()
        journal, *branches = self._places(REF, *([ref] if ref else []))
        known = {**self._listed(journal, "journal"), **blobs}
        moves = [(journal, self._made(journal, blobs, title))]
        fresh: list[str] = []
        for branch in branches:
            there = self._listed(branch, "journal")
            lying = self._unchanged({path: blob for path, blob in known.items() if path not in there})
            added = {**lying, **{path: blob for path, blob in blobs.items() if there.get(path) != blob}}
            fresh = [path for path in added if path not in there]
            is_one = branch.tip == journal.tip  # nothing but the journal was ever committed here
            moves.append((branch, moves[0][1] if is_one else self._made(branch, added, title)))
            self._into_index(added, [path for path in self._staged() if path not in known and path not in there])
        try:
            self._move([(place, made) for place, made in moves if made != place.tip], title)
        except GitError:
            self._out_of_index(fresh)
            raise
        return Committed(moves[-1][1], why_not)

    def _branch(self) -> tuple[str, str]:
        """The branch that a commit goes onto, or why none does."""
        for name, what in _ODD.items():
            if (self.git_dir / name).exists():
                return "", f"{what}: kept on {REF} until a branch is free"
        if self._is_hook():
            return "", f"inside a hook of git, whose commit the branch waits for: kept on {REF}"
        ref = self.git.ask("symbolic-ref", "-q", "HEAD").out.decode().strip()
        return (ref, "") if ref.startswith("refs/heads/") else ("", f"HEAD is on no branch: kept on {REF} until it is")

    def _is_hook(self) -> bool:
        """Whether a git that works on this very repository started us, and may be about to move the branch."""
        given = (os.environ[name] for name in ("GIT_DIR", "GIT_INDEX_FILE") if name in os.environ)
        return any(Path(path).resolve().is_relative_to(self.git_dir.resolve()) for path in given)

    def _places(self, *refs: str) -> list[_Place]:
        told = self.git.run("for-each-ref", "--format=%(refname) %(objectname) %(tree)", *refs).decode()
        found = {place.ref: place for place in (_Place(*row.split(" ")) for row in told.splitlines())}
        return [found.get(ref, _Place(ref)) for ref in refs]

    def _listed(self, place: _Place, under: str) -> dict[str, str]:
        if not place.tip:
            return {}
        rows = self.git.run("ls-tree", "-r", "-z", "--full-tree", place.tip, "--", under).decode().split("\0")
        return {path: about.split()[2] for about, _, path in (row.partition("\t") for row in rows if row)}

    def _unchanged(self, blobs: Mapping[str, str]) -> dict[str, str]:
        """Those of the journal's files that lie in the folder as they were committed."""
        lying = [path for path in blobs if (self.folder / path).is_file()]
        return {path: blob for path, blob in self._stored(lying).items() if blob == blobs[path]}

    def _made(self, place: _Place, blobs: Mapping[str, str], title: str) -> str:
        """Make the commit that has these files beside all that its parent has; the parent if it has them already."""
        index = self.own / "index"
        index.unlink(missing_ok=True)
        self.git.run("read-tree", *([place.tip] if place.tip else ["--empty"]), index=index)
        rows = "".join(f"100644 {blob}\t{path}\n" for path, blob in blobs.items())
        self.git.run("update-index", "--add", "--index-info", index=index, given=rows.encode())
        tree = self.git.run("write-tree", index=index).decode().strip()
        if tree == place.tree:
            return place.tip
        parents = ["-p", place.tip] if place.tip else []
        return self.git.run("commit-tree", tree, *parents, given=f"{title}\n".encode()).decode().strip()

    def _staged(self) -> list[str]:
        return (
            self.git.run("ls-files", "-z", "--", "journal/compactions", "journal/originals").decode().split("\0")[:-1]
        )

    def _into_index(self, blobs: Mapping[str, str], strays: Sequence[str]) -> None:
        """Give the user's index what is about to be committed; take out what a killed pass left in it."""
        if strays:
            self._out_of_index(strays)
        for some in _parted(blobs):
            self.git.run("update-index", "--add", "--", *some)

    def _out_of_index(self, paths: Sequence[str]) -> None:
        for some in _parted(paths):
            with suppress(GitError):
                self.git.run("update-index", "--force-remove", "--", *some)

    def _move(self, moves: Sequence[tuple[_Place, str]], title: str) -> None:
        """Move references, all or none, each from where it was read."""
        rows = [
            f"update {place.ref}\0{made}\0{place.tip}\0" if place.tip else f"create {place.ref}\0{made}\0"
            for place, made in moves
        ]
        if rows:
            self.git.run("update-ref", "-m", title, "--create-reflog", "--stdin", "-z", given="".join(rows).encode())

    def _waiting(self, work: Callable[[], _Given]) -> _Given:
        """Do it again while a lock of another stands in the way, or another moved a reference first."""
        ends = time.monotonic() + WAIT_SECONDS
        while True:
            try:
                return work()
            except GitError as error:
                if time.monotonic() > ends and error.lock:
                    raise JournalError(told_of_lock(error.lock, self.folder, WAIT_SECONDS)) from error
                if time.monotonic() > ends or not (error.lock or error.has_moved):
                    raise
            time.sleep(0.05)


def opened(folder: Path) -> Repository:
    """Open the memory repository whose files are in *folder*, never one around it; `JournalError` if it has none."""
    folder = folder.resolve()
    if not (folder / ".git").exists():
        raise JournalError(f"{folder}: no git repository of its own")
    git = Commands(folder, folder / ".git")
    git_dir, common = git.run("rev-parse", "--git-dir", "--git-common-dir").decode().splitlines()
    return Repository(git, folder / git_dir, folder / common / "compactlab")


def made(folder: Path) -> Repository:
    """Open the memory repository in *folder*; make it there if it has none, also inside another repository."""
    folder = folder.resolve()
    for left in folder.glob(f"{_FRESH}*"):  # of a holder that was killed
        if time.time() - left.stat().st_mtime > TURN_SECONDS:
            shutil.rmtree(left, ignore_errors=True)
    if not (folder / ".git").exists():
        fresh = Path(tempfile.mkdtemp(prefix=_FRESH, dir=folder))
        try:
            Commands(fresh).run("init", "-q", "--template=", "--initial-branch=main")
            with suppress(OSError):  # another made it first
                (fresh / ".git").rename(folder / ".git")
        finally:
            shutil.rmtree(fresh, ignore_errors=True)
    return opened(folder)


def _parted(paths: Iterable[str]) -> Iterator[list[str]]:
    """Paths in parts that a command line holds."""
    listed = list(paths)
    return (listed[i : i + 200] for i in range(0, len(listed), 200))
