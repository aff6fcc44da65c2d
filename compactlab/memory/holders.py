"""Who holds a lock that stands in the way: how old it is, and whether a process is seen that may own it."""

from __future__ import annotations

import os
import time
from pathlib import Path

_PROCESSES = Path("/proc")


def told_of_lock(lock: Path, folder: Path, waited: float) -> str:
    """Say in one sentence which lock stood in the way, its age, and whether an owner lives.

    A lock of git names no owner. Where processes can be seen, the owner is one that has the file open, or a git that
    works in *folder*; where none is, the lock is told to be stale, and is left to the user.
    """
    age = _age(lock)
    if age is None:
        return f"{lock}: another kept this lock for {waited:g} s; nothing was written"
    return f"{lock}: locked for {age:.0f} s now, waited {waited:g} s; {_owner(lock, folder)}; nothing was written"


def _age(lock: Path) -> float | None:
    try:
        return max(0.0, time.time() - lock.stat().st_mtime)
    except OSError:
        return None


def _owner(lock: Path, folder: Path) -> str:
    if not _PROCESSES.is_dir():
        return "whether its owner lives cannot be seen here"
    for process in _PROCESSES.iterdir():
        if process.name.isdigit() and int(process.name) != os.getpid() and _may_own(process, lock, folder):
            return f"process {process.name} ({_name(process)}) may own it"
    return "no process has it open and no git runs here, so it is stale and may be removed"


def _may_own(process: Path, lock: Path, folder: Path) -> bool:
    try:
        if any(_leads(opened, lock) for opened in (process / "fd").iterdir()):
            return True
        return _name(process) == "git" and (process / "cwd").resolve().is_relative_to(folder)
    except OSError:  # it ended, or belongs to another user
        return False


def _leads(opened: Path, lock: Path) -> bool:
    try:
        return opened.readlink() == lock
    except OSError:
        return False


def _name(process: Path) -> str:
    try:
        return (process / "comm").read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""
