"""Git commands through GitPython, in an environment of their own.

What GitPython would let through is taken away here: it can add to the environment but not take from it, so inherited
`GIT_*` variables are unset while a command runs; it falls back to the current folder where the wanted one cannot be
entered; it fails at import where there is no git. Global and system settings are not read, no hook and no monitor of
files runs, nothing is signed, nobody is asked. A command runs in a session of its own: what kills its caller does not
kill it halfway, so that no lock of it stays behind.
"""

from __future__ import annotations

import os
import re
import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, cast

from compactlab.errors import CompactlabError

AUTHOR, EMAIL = "compactlab", "journal@compactlab.invalid"
_SETTINGS = (
    *("-c", "core.fsmonitor=false", "-c", "commit.gpgSign=false", "-c", "core.quotePath=false"),
    *("-c", "core.fsync=committed,loose-object,reference", "-c", "gc.auto=0", "-c", f"core.hooksPath={os.devnull}"),
)
_OWN = {
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_AUTHOR_NAME": AUTHOR,
    "GIT_AUTHOR_EMAIL": EMAIL,
    "GIT_COMMITTER_NAME": AUTHOR,
    "GIT_COMMITTER_EMAIL": EMAIL,
}
_LOCK = re.compile(r"Unable to create '(?P<path>[^\n]+\.lock)': File exists")
_TURN = threading.RLock()


class JournalError(CompactlabError, RuntimeError):
    """The journal cannot be written or read; the conversation is as it was."""


class GitError(JournalError):
    """A git command failed; `said` is what it wrote."""

    def __init__(self, command: str, said: str) -> None:
        super().__init__(f"git {command} failed: {' '.join(said.split()) or 'it said nothing'}")
        self.said = said

    @property
    def lock(self) -> Path | None:
        """The lock that another holds, or has left; None if the fault is another one."""
        found = _LOCK.search(self.said)
        return Path(found["path"]) if found else None

    @property
    def has_moved(self) -> bool:
        """Whether a branch was moved by another in the meantime."""
        return "cannot lock ref" in self.said and self.lock is None


class Answer(NamedTuple):
    """How a command ended, and what it wrote."""

    status: int
    out: bytes
    said: str


@dataclass(frozen=True)
class Commands:
    """Git commands for the repository in `git_dir` (where there is one yet) and the files in `folder`."""

    folder: Path
    git_dir: Path | None = None

    def run(self, *arguments: str, index: Path | None = None, given: bytes = b"") -> bytes:
        """Run a command and give what it wrote; `GitError` if it fails. *index* stands in for that of the user."""
        answer = self.ask(*arguments, index=index, given=given)
        if answer.status:
            raise GitError(arguments[0], answer.said)
        return answer.out

    def ask(self, *arguments: str, index: Path | None = None, given: bytes = b"") -> Answer:
        """Run a command that may fail, and give how it ended; `JournalError` where there is no git."""
        if not self.folder.is_dir() or not os.access(self.folder, os.X_OK):
            raise JournalError(f"{self.folder}: no folder that can be entered")
        own = dict(_OWN)
        if self.git_dir is not None:
            own |= {"GIT_DIR": str(self.git_dir), "GIT_WORK_TREE": str(self.folder)}
        if index is not None:
            own["GIT_INDEX_FILE"] = str(index)
        with _turned_in(given) as stream, _nothing_inherited():
            return self._answer(arguments, own, stream)

    def _answer(self, arguments: Sequence[str], own: dict[str, str], stream: BinaryIO | None) -> Answer:
        try:
            from git.cmd import Git
            from git.exc import GitCommandNotFound
        except ImportError as error:  # GitPython looks for git when it is imported
            raise _no_git() from error
        try:
            told: Any = Git(self.folder).execute(
                [Git.GIT_PYTHON_GIT_EXECUTABLE or "git", *_SETTINGS, *arguments],
                istream=stream,
                env=own,
                with_extended_output=True,
                with_exceptions=False,
                stdout_as_string=False,
                strip_newline_in_stdout=False,
                start_new_session=True,
            )
        except (GitCommandNotFound, PermissionError) as error:
            raise _no_git() from error
        status, out, said = told
        return Answer(int(status), bytes(out), str(said))


def _no_git() -> JournalError:
    return JournalError("the journal needs git, and no program of that name can be started here")


@contextmanager
def _turned_in(given: bytes) -> Iterator[BinaryIO | None]:
    """What a command reads, as a file, since GitPython passes on nothing else."""
    if not given:
        yield None
        return
    with tempfile.TemporaryFile() as stream:
        stream.write(given)
        stream.seek(0)
        yield cast("BinaryIO", stream)


@contextmanager
def _nothing_inherited() -> Iterator[None]:
    """No variable of git stands in the environment: those of a hook would lead to the repository that it runs for."""
    with _TURN:
        names = [name for name in os.environ if name.startswith("GIT_") and not name.startswith("GIT_PYTHON_")]
        held = {name: os.environ.pop(name) for name in names}
        try:
            yield
        finally:
            os.environ.update(held)
